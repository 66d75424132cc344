"""Python's logging, a line for each rung, and the line of a notebook."""

import logging
import re
import sys
import types

import numpy as np
import pytest
from scipy.stats import uniform

import sksearch
from sksearch import HyperbandSearchCV, RandomSearchCV, SearchCV
from sksearch.progress import _status_line
from tests import scripts
from tests.fakes import Curve, Failing

X, Y = np.zeros((12, 1)), np.arange(12.0)
SPACE = {"quality": uniform(0, 1)}
FAILURES = pytest.mark.filterwarnings("ignore:.*non-finite", "ignore:(?s).*fits failed")


def hyperband(estimator=None, **kwargs):
    kwargs = {"resource": "epochs", "max_resources": 9, "cv": 2, "random_state": 0} | kwargs
    return HyperbandSearchCV(estimator or Curve(), SPACE, **kwargs)


def messages(caplog, level):
    return [r.getMessage() for r in caplog.records if r.levelno == level]


def test_info_is_begin_rungs_and_end(caplog):
    caplog.set_level(logging.INFO, logger="sksearch")
    search = hyperband().fit(X, Y)
    told = messages(caplog, logging.INFO)
    assert {record.name for record in caplog.records} == {"sksearch"}
    assert told[0] == "Hyperband: starts, 15 candidates, 2 folds"
    assert told[-1].startswith("Hyperband: done in ")
    rungs = told[1:-1]
    assert len(rungs) == len(search.plan_.rungs)
    results = search.cv_results_
    for line in rungs:
        bracket, resource, n, best, middle = re.fullmatch(
            r"Hyperband: bracket (\d), (\d) epochs?: (\d) candidates?, best (\S+), median (\S+)",
            line,
        ).groups()
        rows = (results["bracket"] == int(bracket)) & (results["n_resources"] == int(resource))
        scores = results["mean_test_score"][rows]
        assert len(scores) == int(n)
        assert (best, middle) == (f"{scores.max():.4g}", f"{np.median(scores):.4g}")


def test_a_search_without_end_says_when_it_ends(caplog):
    caplog.set_level(logging.INFO, logger="sksearch")
    SearchCV(Curve(), SPACE, timeout=0.2, cv=2).fit(X, Y)
    assert messages(caplog, logging.INFO)[0] == (
        "Search: starts, candidates until the time is up, 2 folds"
    )


def test_debug_is_each_result(caplog):
    caplog.set_level(logging.DEBUG, logger="sksearch")
    search = RandomSearchCV(Curve(), SPACE, n_iter=3, cv=2, random_state=0).fit(X, Y)
    told = messages(caplog, logging.DEBUG)
    assert len(told) == 3
    params = search.cv_results_["params"][2]
    assert told[2].startswith("Random: candidate 2 at 1 fit: ")
    assert told[2].endswith(repr(params))
    assert len(messages(caplog, logging.INFO)) == 2  # one rung says no more than the end


@FAILURES
def test_a_failed_candidate_is_a_warning(caplog):
    search = hyperband(Failing()).fit(X, Y)
    told = messages(caplog, logging.WARNING)
    assert len(told) == sum(status != "ok" for status in search.statuses_)
    assert "failed (error, 'RuntimeError: quality" in told[0]


def test_entries_of_a_journal_are_not_told_again(caplog, tmp_path):
    hyperband(checkpoint_dir=tmp_path).fit(X, Y)
    caplog.clear()
    caplog.set_level(logging.DEBUG, logger="sksearch")
    hyperband(checkpoint_dir=tmp_path).fit(X, Y)
    begin, _ = messages(caplog, logging.INFO)
    assert begin == "Hyperband: starts, 15 candidates, 2 folds, with 20 earlier evaluations"
    assert not messages(caplog, logging.DEBUG)


def test_a_search_that_was_stopped_tells_of_the_rung_that_is_not_complete(caplog):
    caplog.set_level(logging.INFO, logger="sksearch")
    hyperband(stop={"score": -100}).fit(X, Y)
    assert any("1 of 1 " in m or "of 9 candidates" in m for m in messages(caplog, logging.INFO))


def test_the_library_is_silent_without_a_listener():
    code = (
        "import numpy as np; from tests.fakes import Failing; from sksearch import RandomSearchCV;"
        "import warnings; warnings.simplefilter('ignore');"
        "s = RandomSearchCV(Failing(), {'quality': [0.1, 0.9]}, n_iter=2, cv=2);"
        "s.fit(np.zeros((9, 1)), np.zeros(9)); assert 'error' in s.statuses_"
    )
    done = scripts.run(["-c", code])
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@FAILURES
def test_verbose_2_is_a_line_for_each_rung(capsys):
    search = hyperband(Failing(), verbose=2).fit(X, Y)
    err = capsys.readouterr().err
    rungs = {(row["b"], row["r"]) for row in map(dict, ({"b": b, "r": r} for b, r in zip(
        search.cv_results_["bracket"].tolist(), search.cv_results_["n_resources"].tolist(),
        strict=True,
    )))}  # fmt: skip
    for bracket, resource in rungs:
        unit = "epoch" if resource == 1 else "epochs"
        assert err.count(f"bracket {bracket}, {resource} {unit}: ") == 1
    assert " failed" in err


def test_verbose_1_has_no_line_for_a_rung(capsys):
    hyperband(verbose=1).fit(X, Y)
    assert "median" not in capsys.readouterr().err


class Handle:
    """What IPython's `display` returns."""

    def __init__(self):
        self.shown = []

    def update(self, data, raw):
        assert raw
        self.shown.append(data["text/plain"])


def test_in_a_notebook_one_line_changes_in_place(monkeypatch, capsys):
    handle = Handle()
    ipython = types.ModuleType("IPython")
    ipython.get_ipython = lambda: types.SimpleNamespace(kernel=object())
    ipython.display = types.ModuleType("IPython.display")

    def display(data, raw, display_id):
        handle.update(data, raw)
        return handle

    ipython.display.display = display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", ipython.display)
    monkeypatch.setattr(_status_line, "REFRESHES", 1e9)
    hyperband(verbose=1).fit(X, Y)
    assert len(handle.shown) == 20 + 2
    assert handle.shown[5].startswith("Hyperband: 5/15 candidates, ")
    assert handle.shown[-1].startswith("Hyperband: done in ")
    assert capsys.readouterr().err == ""


@pytest.mark.whole
def test_a_real_kernel_shows_the_line_and_nothing_on_standard_error():
    pytest.importorskip("ipykernel")
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(kernel_name="python3")
    code = (
        f"import sys; sys.path[:0] = {[p for p in sys.path if p]!r}\n"
        "from tests.progress.test_search_log import X, Y, hyperband\n"
        "hyperband(verbose=1).fit(X, Y);"
    )
    seen = []
    try:
        client.execute_interactive(code, timeout=120, output_hook=seen.append)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    kinds = [message["msg_type"] for message in seen]
    assert "error" not in kinds
    assert kinds.count("display_data") == 1
    last = [m for m in seen if m["msg_type"] == "update_display_data"][-1]
    assert last["content"]["data"]["text/plain"].startswith("Hyperband: done in ")
    errors = [m["content"] for m in seen if m["msg_type"] == "stream"]
    assert not [each for each in errors if each["name"] == "stderr"]


def test_the_logger_has_no_handler_that_prints():
    logger = logging.getLogger("sksearch")
    assert [type(h) for h in logger.handlers] == [logging.NullHandler]
    assert logger.level == logging.NOTSET
    assert sksearch.__name__ == logger.name
