"""An evaluation that has ended is not trained again, whatever the journal knows of it."""

import os
import signal
import threading
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import joblib
import pytest

from sksearch import BOHBSearchCV
from sksearch.checkpoint._records import Spool
from sksearch.executors import FuturesBackend
from sksearch.executors.remote import _executor
from sksearch.executors.remote._worker import TaskMessage
from sksearch.fitting.run._tasks import Output
from tests.checkpoint.test_resume import fit_and_stop, leftovers, lines, make, outcome
from tests.executors.engines import new_process_pool
from tests.interrupted import Noisy, Trouble, X, Y, scorer

QUALITIES = [0.75, 0.5, 0.25, 0.9, 0.1]


def interrupt_after(search, n):
    """Fit, and be interrupted when so many scores have been computed in this process."""
    Trouble.after, Trouble.happens = n, lambda: signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, Y)


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["halving", "asha", pytest.param("bohb", marks=pytest.mark.slow)])
def test_an_interrupt_between_folds_repeats_the_one_evaluation_that_ran(name, tmp_path):
    """The steps that are repeated are those since the last score."""

    def log_score(estimator, X, y):
        score = scorer(estimator, X, y)
        with open(tmp_path / "log", "a") as file:
            file.write("score\n")
        return score

    log = tmp_path / "log"
    undisturbed = make(name, log=log, scoring=log_score).fit(X, Y)
    expected = lines(log)
    for n in range(2, expected.count("score"), 5):
        log.unlink()
        search = make(name, tmp_path / f"checkpoint {n}", log, scoring=log_score)
        interrupt_after(search, n)
        in_flight = lines(log)[::-1].index("score")
        assert outcome(search.fit(X, Y)) == outcome(undisturbed)
        assert len(lines(log)) == len(expected) + in_flight
        assert leftovers(tmp_path / f"checkpoint {n}") == []


Straggler = SimpleNamespace(others_ended=threading.Event(), n_scores=0)


def straggling(estimator, X, y):
    """Score the first candidate last; then comes Ctrl-C."""
    if estimator.quality == QUALITIES[0] and not Straggler.others_ended.is_set():
        Straggler.others_ended.wait(30)
    Straggler.n_scores += 1
    if Straggler.n_scores == 16:
        signal.raise_signal(signal.SIGINT)
        Straggler.others_ended.set()
    return estimator.score(X, y)


def test_what_ended_behind_a_straggler_is_not_trained_again(tmp_path):
    guesses = [{"quality": quality} for quality in QUALITIES]
    log, again = tmp_path / "undisturbed", tmp_path / "log"
    kwargs = {"known": {"params": guesses}, "n_jobs": 3, "scoring": straggling}
    plain = make("halving", log=log, **kwargs | {"scoring": scorer})
    search = make("halving", tmp_path / "checkpoint", again, **kwargs)
    with joblib.parallel_config("threading"):
        plain.set_params(estimator__random_state=0).fit(X, Y)
        search.set_params(estimator__random_state=0)
        with pytest.raises(KeyboardInterrupt):
            search.fit(X, Y)
        n_ended = len(lines(again))
        assert outcome(search.fit(X, Y)) == outcome(plain)
    assert 16 <= n_ended <= 18
    assert len(lines(again)) - len(lines(log)) <= n_ended - 16


def test_a_fold_that_had_ended_outlives_a_larger_search_that_is_killed_at_once(tmp_path):
    log, folder = tmp_path / "log", tmp_path / "checkpoint"

    def search(n_iter):
        random = make("random", folder, log, n_iter=n_iter)
        return random.set_params(estimator__random_state=0)

    interrupt_after(search(12), 6)  # in the second fold of the third candidate
    interrupt_after(search(20), 1)
    search(20).fit(X, Y)
    assert len(lines(log)) == 20 * 2 + 2


@pytest.fixture
def elsewhere(monkeypatch):
    """Workers see no file of ours, as on another machine."""

    def message(ref, folder, **kwargs):
        hidden = replace(ref, path=f"/elsewhere{ref.path}")
        return TaskMessage(ref=hidden, folder="/elsewhere", **kwargs)

    def hidden_spool(spool):
        return Spool, (Path("/elsewhere"), spool.search)

    monkeypatch.setattr(_executor, "TaskMessage", message)
    monkeypatch.setattr(Spool, "__reduce__", hidden_spool)


@pytest.mark.whole
@pytest.mark.slow
@pytest.mark.timeout(240)
@pytest.mark.usefixtures("elsewhere")
def test_what_machines_without_our_files_have_sent_behind_a_straggler_is_kept(tmp_path):
    stuck, released, log = tmp_path / "stuck", tmp_path / "released", tmp_path / "log"
    folder = tmp_path / "checkpoint"

    def one_waits(estimator, X, y):
        if estimator.quality == QUALITIES[0] and not stuck.exists():
            stuck.touch()
            while not released.exists():
                time.sleep(0.02)
        return estimator.score(X, y)

    def interrupt():
        end = time.monotonic() + 100
        while time.monotonic() < end and len(list((folder / "spool").glob("*.json"))) < 17:
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    kwargs = {"known": {"params": [{"quality": QUALITIES[0]}]}}
    undisturbed = make("halving", log=tmp_path / "undisturbed", **kwargs).fit(X, Y)
    search = make("halving", folder, log, n_jobs=2, scoring=one_waits, **kwargs)
    with new_process_pool() as pool, joblib.parallel_config(FuturesBackend(pool)):
        thread = threading.Thread(target=interrupt)
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            search.fit(X, Y)
        thread.join()
        released.touch()
        assert outcome(search.fit(X, Y)) == outcome(undisturbed)
    assert len(lines(log)) == len(lines(tmp_path / "undisturbed")) + 1
    assert leftovers(folder) == []


@pytest.mark.filterwarnings(
    "ignore:The (larger search cannot reuse|fitted models of).*:UserWarning"
)
def test_a_larger_search_overwrites_no_model_of_the_smaller_one(tmp_path):
    """Their candidates have other numbers; a model that is lost would be a warning."""

    def search(max_resources, folder=None):
        return BOHBSearchCV(
            Noisy(random_state=0), {"quality": [i / 100 for i in range(1, 30)]}, n_initial=3,
            resource="epochs", max_resources=max_resources, min_resources=1, n_iterations=2, cv=2,
            random_state=0, scoring=scorer, refit=False, checkpoint_dir=folder,
        )  # fmt: skip

    fit_and_stop(search(9, tmp_path), 48)
    assert outcome(search(27, tmp_path).fit(X, Y)) == outcome(search(27).fit(X, Y))
    assert leftovers(tmp_path) == []


def test_what_a_worker_of_an_earlier_search_writes_late_is_not_used(tmp_path):
    fit_and_stop(make("random", tmp_path), 4)
    late = Output(test_scores=9.0)
    Spool(tmp_path / "spool", "another").write("1.1.1", late)
    assert outcome(make("random", tmp_path).fit(X, Y)) == outcome(make("random").fit(X, Y))
    assert leftovers(tmp_path) == []
