"""`timeout` counts the seconds of all starts of a search, and a search that has ended stays so."""

import json
import shutil
import signal
import time
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import uniform
from sklearn.base import BaseEstimator

import sksearch as sks
from sksearch import load_history, minimize
from sksearch.checkpoint._checkpoint import read_journal
from sksearch.checkpoint._lines import encode
from sksearch.checkpoint._records import Spool, output_of_record
from sksearch.checkpoint.identity._digests import digest
from sksearch.executors import VirtualClock, spend
from sksearch.progress._status_line import duration
from sksearch.search import JournalError
from tests.interrupted import Hidden

pytestmark = pytest.mark.filterwarnings("ignore:The first bracket will take")

X = np.arange(20.0).reshape(10, 2)
SPACE = {"quality": uniform()}
SECONDS = 5  # simulated ones, of a training


# Counts trainings, and does something in one of them. An object's attributes are no part of the
# code that a checkpoint compares.
Meter = Hidden(n=0, at=None, happens=None)


@pytest.fixture(autouse=True)
def meter():
    """Nothing was trained."""
    Meter.n, Meter.at, Meter.happens = 0, None, None


class Slow(BaseEstimator):
    """Takes simulated seconds: five for a training, or one for an epoch."""

    def __init__(self, quality=0.5):
        self.quality = quality

    def _train(self, seconds):
        Meter.n += 1
        if Meter.n == Meter.at:
            Meter.happens()
        spend(seconds)
        return self

    def fit(self, X, y=None):
        return self._train(SECONDS)

    def partial_fit(self, X, y=None):
        return self._train(1)

    def score(self, X, y=None):
        return -((self.quality - 0.3) ** 2)


SEARCHES = {
    "random": (sks.RandomSearchCV, {"n_iter": 40}),
    "endless": (sks.RandomSearchCV, {"n_iter": None}),
    "tpe": (sks.TPESearchCV, {"n_iter": 40, "n_initial": 4}),
    "hyperband": (sks.HyperbandSearchCV, {"resource": "epochs", "max_resources": 27}),
    "asha": (sks.ASHASearchCV, {"resource": "epochs", "max_resources": 9, "n_candidates": 99}),
    "folds": (sks.SuccessiveHalvingSearchCV, {"resource": "folds", "cv": 5, "n_candidates": 20}),
    "pbt": (
        sks.PBTSearchCV,
        {"resource": "epochs", "max_resources": 27, "population_size": 4, "step": 3},
    ),
    "race": (sks.SearchCV, {"cv": 5, "sampler": sks.samplers.RandomSampler(), "n_iter": 40}),
}


def make(name="random", folder=None, **kwargs):
    cls, defaults = SEARCHES[name]
    return cls(
        Slow(),
        SPACE,
        checkpoint_dir=folder,
        **{"cv": 2, "random_state": 0, "timeout": 60, "refit": False} | defaults | kwargs,
    )


def fit(search, n_workers=1):
    """Fit in simulated time; return the search, how long it took, and how much it trained."""
    before = Meter.n
    with VirtualClock(n_workers) as clock:
        search.fit(X)
    return search, clock.seconds, Meter.n - before


def outcome(search):
    """All that a search has found, times included."""
    return {
        "results": {name: repr(list(values)) for name, values in search.cv_results_.items()},
        "log": list(search.history_.log),
        "best": search.best_params_,
        "statuses": search.statuses_,
    }


def results(search):
    """The scores of each candidate, by its number and resource."""
    return {
        (t.id, r): result.score for t in search.history_.trials for r, result in t.results.items()
    }


def kill_at(n, folder, copy):
    """Have what a kill in the n-th training would leave in a copy of the folder."""
    Meter.at, Meter.happens = n, lambda: shutil.copytree(folder, copy)


def seconds_in(folder):
    """All seconds that a journal knows."""
    header, events, earlier = read_journal(folder)
    return [event["seconds"] for event in (*earlier, header, *events) if "seconds" in event]


def write_journal(folder, records):
    (folder / "journal.jsonl").write_bytes(b"".join(map(encode, records)))


def journal(folder):
    return (folder / "journal.jsonl").read_bytes()


# ---- killed


@pytest.mark.parametrize("n_workers", [1, 3])
@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_that_was_killed_has_the_seconds_that_are_left(name, n_workers, tmp_path):
    expected, _, n = fit(make(name), n_workers)
    kill_at(int(n * 1.8), tmp_path / "whole", tmp_path / "killed")
    fit(make(name, tmp_path / "whole"), n_workers)
    known = seconds_in(tmp_path / "killed")[-1]
    assert known > 20
    search, seconds, n_again = fit(make(name, tmp_path / "killed"), n_workers)
    assert n_again < n / 2
    longest = SECONDS * 2 + 9
    assert known + seconds < 60 + longest
    # What was under way had taken seconds that the journal does not know.
    a, b = results(search), results(expected)
    assert all(a[key] == b[key] for key in a.keys() & b.keys())
    if n_workers == 1:
        assert a.keys() >= b.keys()
        assert len(search.history_.trials) <= len(expected.history_.trials) + 5


def test_seconds_are_counted_over_several_starts_and_not_between_them(tmp_path):
    folders = [tmp_path / f"{i}" for i in range(4)]
    expected = outcome(fit(make(timeout=100))[0])
    for folder, copy in pairwise(folders):
        kill_at(Meter.n + 5, folder, copy)
        with VirtualClock():
            spend(10_000)  # the machine was down
            search = make(folder=folder, timeout=100).fit(X)
        assert outcome(search) == expected
    assert [seconds_in(folder)[-1] for folder in folders] == [100, 100, 100, 60]


@pytest.mark.parametrize("killed", [None, 5, 11])
@pytest.mark.parametrize("timeout", [None, 60])
def test_a_report_has_the_seconds_of_all_starts(killed, timeout, tmp_path):
    options, copy = {"n_iter": 10, "timeout": timeout}, tmp_path / "copy"
    if killed is not None:
        kill_at(killed, tmp_path / "a", copy)
    first, seconds, _ = fit(make(folder=tmp_path / "a", **options))
    folder = tmp_path / "a" if killed is None else copy
    again = fit(make(folder=folder, **options))[0]
    for search in (first, again):
        assert search._about["made"].endswith(f" in {duration(seconds)}")
    assert f" in {duration(seconds)}" in str(again.report())


def test_a_clock_that_is_set_to_another_time_does_not_count(tmp_path, monkeypatch):
    year = 365 * 24 * 3600
    monkeypatch.setattr(time, "time", iter(range(0, 10**6 * year, year)).__next__)
    make(folder=tmp_path / "c", n_iter=3, timeout=None).fit(X)
    assert 0 <= seconds_in(tmp_path / "c")[-1] < year


def test_seconds_up_to_an_interrupt_count(tmp_path):
    expected = outcome(fit(make())[0])
    Meter.at, Meter.happens = Meter.n + 11, lambda: signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        fit(make(folder=tmp_path / "c"))
    assert seconds_in(tmp_path / "c")[-1] == 50
    search, seconds, _ = fit(make(folder=tmp_path / "c"))
    assert seconds == 10
    assert outcome(search)["log"] == expected["log"]


def test_a_search_that_was_stopped_at_once_has_all_its_time(tmp_path):
    Meter.at, Meter.happens = 1, lambda: signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        fit(make(folder=tmp_path / "c"))
    assert seconds_in(tmp_path / "c")[-1] == 0
    fit(make(folder=tmp_path / "c"))
    assert seconds_in(tmp_path / "c")[-1] == 60


# ---- ended


@pytest.mark.few(8)
@pytest.mark.parametrize("refit", [False, True])
@pytest.mark.parametrize("n_workers", [1, 3])
@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_whose_time_was_up_returns_its_results(name, n_workers, refit, tmp_path):
    folder = tmp_path / "c"
    search, _, _ = fit(make(name, folder, refit=refit), n_workers)
    expected, before = outcome(search), journal(folder)
    for _ in range(2):
        search, seconds, n_trained = fit(make(name, folder, refit=refit), n_workers)
        assert outcome(search) == expected
        assert (n_trained > 0, seconds > 0) == (refit, refit)
        assert journal(folder) == before
        assert load_history(folder).best_params_ == search.best_params_


class Uneven(Slow):
    """The better one is the faster one."""

    def fit(self, X, y=None):
        return self._train(20 if self.quality == 0.9 else 12)


def test_a_last_training_that_turns_out_shorter_leaves_no_time(tmp_path):
    """After 20 of 59 seconds the best needs 40 more; a better one that runs needs 24 at 24."""
    search = make(folder=tmp_path / "c", n_iter=None, timeout=59, refit=True)
    search.set_params(estimator=Uneven(), known__params=[{"quality": 0.9}, {"quality": 0.3}])
    expected = outcome(fit(search, 3)[0])
    before = journal(tmp_path / "c")
    assert search.best_params_ == {"quality": 0.3}
    assert fit(search, 3)[2] == 1
    assert outcome(search) == expected
    assert journal(tmp_path / "c") == before


@pytest.mark.parametrize(
    "ends",
    [
        {"stop": {"score": -0.01}},
        {"stop": {"patience": 3}},
        {"stop": "converged"},
        {"timeout": None},
    ],
    ids=str,
)
def test_a_search_that_ended_for_another_reason_returns_its_results(ends, tmp_path):
    folder = tmp_path / "c"
    ends = {"timeout": 10_000} | ends
    search, _, _ = fit(make(folder=folder, **ends))
    expected, before = outcome(search), journal(folder)
    assert fit(search) == (search, 0, 0)
    assert outcome(search) == expected
    assert journal(folder) == before


def test_a_search_that_ended_just_in_time_ends_in_the_same_way_again(tmp_path, monkeypatch):
    folder = tmp_path / "c"
    fit(make(folder=folder, n_iter=5, timeout=50.001))
    before = journal(folder)
    assert b'"why":"finished"' in before
    prepare = sks.RandomSearchCV._prepare

    def prepare_slowly(search, *args):
        spend(1)
        setup = prepare(search, *args)
        spend(1)
        return setup

    monkeypatch.setattr(sks.RandomSearchCV, "_prepare", prepare_slowly)
    fit(make(folder=folder, n_iter=5, timeout=50.001))
    assert journal(folder) == before


class Enough:
    """A callback that ends a search after so many trainings."""

    def __init__(self, n):
        self.n, self.n_seen = n, 0

    def setup(self, estimator, context):
        """Nothing to do."""

    def on_fit_task_begin(self, estimator, context, **kwargs):
        """Nothing to do."""

    def on_fit_task_end(self, estimator, context, **kwargs):
        self.n_seen += context.task_name == "candidate-split-evaluation"
        return self.n_seen == self.n

    def teardown(self, estimator, context):
        """Nothing to do."""


def test_a_search_that_a_callback_ended_continues_without_it(tmp_path):
    pytest.importorskip("sklearn.callback", reason="callbacks came with scikit-learn 1.9")
    folder = tmp_path / "c"
    search, _, _ = fit(make(folder=folder, timeout=None).set_callbacks(Enough(5)))
    expected, before = outcome(search), journal(folder)
    assert len(search.cv_results_["params"]) == 3
    again, seconds, _ = fit(make(folder=folder, timeout=None).set_callbacks(Enough(5)))
    assert (outcome(again), seconds, journal(folder)) == (expected, 0, before)
    assert fit(make(folder=folder, timeout=None))[2] == 37 * 2


@pytest.mark.parametrize("name", ["random", "tpe", "hyperband", "asha", "pbt", "race"])
def test_with_a_larger_timeout_the_difference_is_spent(name, tmp_path):
    expected, _, _ = fit(make(name, timeout=100))
    folder = tmp_path / "c"
    _, first, _ = fit(make(name, folder))
    search, second, _ = fit(make(name, folder, timeout=100))
    assert outcome(search) == outcome(expected)
    assert first + second < 100 + 19


def test_without_a_timeout_it_continues_to_its_end(tmp_path):
    fit(make(folder=tmp_path / "c"))
    search, _, n_trained = fit(make(folder=tmp_path / "c", timeout=None))
    assert (len(search.history_.trials), n_trained) == (40, 2 * 34)


def test_with_a_smaller_timeout_what_was_found_comes_back_at_once(tmp_path):
    kill_at(8, tmp_path / "c", tmp_path / "killed")
    ended, _, _ = fit(make(folder=tmp_path / "c"))
    for folder, n_candidates in ((tmp_path / "killed", 3), (tmp_path / "c", 6)):
        search, seconds, n_trained = fit(make(folder=folder, timeout=10))
        assert (seconds, n_trained) == (0, 0)
        found = search.cv_results_["mean_test_score"]
        np.testing.assert_array_equal(found, ended.cv_results_["mean_test_score"][:n_candidates])


def test_a_search_without_a_result_gets_one_though_its_time_is_up(tmp_path):
    kill_at(2, tmp_path / "c", tmp_path / "killed")
    fit(make(folder=tmp_path / "c"))
    search, _, _ = fit(make(folder=tmp_path / "killed", timeout=1e-9))
    assert len(search.cv_results_["params"]) == 1


def test_only_finished_jobs_are_told_after_the_time_is_up(tmp_path):
    """The journal has not the last two candidates; of one the workers' own files are left."""
    folder = tmp_path / "c"
    fit(make(folder=folder))
    header, events, _ = read_journal(folder)
    told = [event for event in events if event["k"] == "tell"]
    left = [event for event in events if event["k"] in ("ask", "tell") and event not in told[-2:]]
    write_journal(folder, [header, *left])
    spool = Spool(folder / "spool", digest(json.dumps(header, sort_keys=True)))
    for fold, output in enumerate(told[-2]["o"]):
        spool.write(f"{told[-2]['t']}.{told[-2]['r']}.{fold}", output_of_record(output))
    for _ in range(2):
        search, seconds, n_trained = fit(make(folder=folder, timeout=10))
        assert (seconds, n_trained) == (0, 0)
        assert len(search.cv_results_["params"]) == len(told) - 1


# ---- a larger search


def test_a_larger_search_has_the_seconds_that_the_smaller_one_left(tmp_path):
    folder = tmp_path / "c"
    fit(make(folder=folder, n_iter=4))
    search, seconds, n_trained = fit(make(folder=folder, n_iter=40))
    assert (seconds, n_trained) == (20, 4)
    assert outcome(search)["log"] == outcome(fit(make())[0])["log"]


@pytest.mark.parametrize("name", ["random", "tpe", "race"])
def test_a_larger_search_without_time_left_returns_what_the_smaller_one_found(name, tmp_path):
    folder = tmp_path / "c"
    small, _, _ = fit(make(name, folder))
    expected = outcome(small)
    for _ in range(2):
        search, seconds, n_trained = fit(make(name, folder, n_iter=80))
        assert (seconds, n_trained) == (0, 0)
        assert outcome(search)["results"] == expected["results"]
        assert outcome(search)["best"] == expected["best"]
    alone, _, _ = fit(make(name, n_iter=80, timeout=100))
    assert (
        outcome(fit(make(name, folder, n_iter=80, timeout=100))[0])["best"] == alone.best_params_
    )


# ---- overtime, minimize


def test_nobody_gets_overtime_twice(tmp_path):
    def hang():
        spend(1000)

    kill_at(11, tmp_path / "c", tmp_path / "killed")
    fit(make(folder=tmp_path / "c"))
    Meter.at, Meter.happens = Meter.n + 1, hang
    search, seconds, n_trained = fit(
        make(folder=tmp_path / "killed", timeout=30, stop={"overtime": 5})
    )
    assert (seconds, n_trained) == (0, 0)
    assert len(search.cv_results_["params"]) == 5


def loss(params):
    Meter.n += 1
    if Meter.n == Meter.at:
        Meter.happens()
    spend(SECONDS)
    return (params["quality"] - 0.3) ** 2


def minimum(folder=None, **kwargs):
    """Minimise in simulated time; return the result, how long it took, and how many calls."""
    before = Meter.n
    kwargs = {"n_iter": 99, "timeout": 42, "random_state": 0} | kwargs
    with VirtualClock() as clock:
        found = minimize(loss, SPACE, checkpoint_dir=folder, **kwargs)
    return found, clock.seconds, Meter.n - before


def test_the_time_of_a_function_is_counted_over_all_starts(tmp_path):
    expected, _, n = minimum()
    kill_at(n + 7, tmp_path / "c", tmp_path / "killed")
    whole, seconds, _ = minimum(tmp_path / "c")
    again, seconds_again, n_again = minimum(tmp_path / "killed")
    assert seconds_again == seconds - 30
    assert n_again == n - 6
    for found in (whole, again):
        assert (found.x, found.fun, found.nit) == (expected.x, expected.fun, expected.nit)
        assert found.message == "Time is up."


def test_a_function_is_called_for_the_rest_of_a_larger_timeout(tmp_path):
    expected, _, n = minimum(timeout=70)
    _, _, n_first = minimum(tmp_path / "c")
    found, _, n_second = minimum(tmp_path / "c", timeout=70)
    assert (found.x, n_first + n_second) == (expected.x, n)


@pytest.mark.parametrize(
    "ends", [{"timeout": 42}, {"target": 0.01}, {"n_iter": 5}, {"callback": "five"}], ids=str
)
def test_a_minimum_that_was_found_comes_back(ends, tmp_path):
    if "callback" in ends:
        ends = {"callback": lambda history: len(history.trials) >= 5}
    ends = {"timeout": 10_000} | ends
    first, _, _ = minimum(tmp_path / "c", **ends)
    before = journal(tmp_path / "c")
    again, seconds, n_calls = minimum(tmp_path / "c", **ends)
    assert (seconds, n_calls) == (0, 0)
    assert (again.x, again.fun, again.nfev) == (first.x, first.fun, first.nfev)
    assert again.message == first.message
    assert journal(tmp_path / "c") == before


def test_a_callback_can_let_the_search_continue(tmp_path):
    ends = {"timeout": None, "n_iter": 12}
    minimum(tmp_path / "c", callback=lambda history: len(history.trials) >= 5, **ends)
    found, _, n_calls = minimum(tmp_path / "c", callback=None, **ends)
    assert (found.nit, n_calls) == (12, 7)


# ---- journals


def rewritten(folder, change):
    """Write each record again, as `change` returns it."""
    header, events, earlier = read_journal(folder)
    write_journal(folder, map(change, (*earlier, header, *events)))


@pytest.mark.parametrize("value", ["60", -1.0, float("nan"), float("inf"), 1e300, [1], True])
def test_seconds_that_no_search_writes_are_refused(value, tmp_path):
    folder = tmp_path / "c"
    fit(make(folder=folder, n_iter=2))
    forged = {"seconds": value}
    rewritten(folder, lambda record: record | (forged if record["k"] == "tell" else {}))
    with pytest.raises(JournalError, match="'seconds' is"):
        fit(make(folder=folder, n_iter=2))
    with pytest.raises(JournalError, match="'seconds' is"):
        load_history(folder)
