"""The seconds of earlier starts count, and a search whose time was up has ended."""

import signal

import numpy as np
import pytest
from scipy.stats import uniform
from sklearn.base import BaseEstimator

from sksearch import HyperbandSearchCV, RandomSearchCV, minimize
from sksearch.checkpoint import read_journal
from sksearch.checkpoint._lines import encode
from sksearch.executors import VirtualClock, spend
from tests.checkpoint.test_resume import outcome

X, Y = np.zeros((8, 1)), np.array([0, 1] * 4)
SPACE = {"a": uniform(0, 1)}


class Slow(BaseEstimator):
    """A second of simulated time for each fit; may be interrupted after so many."""

    n_left = None
    n_fits = 0

    def __init__(self, a=0.0, units=1):
        self.a = a
        self.units = units

    def fit(self, X, y):
        spend(self.units)
        Slow.n_fits += 1
        if Slow.n_left is not None:
            Slow.n_left -= 1
            if Slow.n_left == 0:
                signal.raise_signal(signal.SIGINT)
        return self

    def score(self, X, y):
        return self.a


@pytest.fixture(autouse=True)
def fresh():
    Slow.n_left, Slow.n_fits = None, 0
    yield
    Slow.n_left = None


def search_of(folder, timeout=None, **params):
    return RandomSearchCV(
        Slow(), SPACE, n_iter=100, cv=2, random_state=0, refit=False, checkpoint_dir=folder,
        timeout=timeout, **params,
    )  # fmt: skip


def fit(search):
    """Fit in simulated time; return how many fits that took."""
    before = Slow.n_fits
    with VirtualClock():
        search.fit(X, Y)
    return Slow.n_fits - before


def interrupt(search, after):
    Slow.n_left = after
    with pytest.raises(KeyboardInterrupt):
        fit(search)
    Slow.n_left = None


def test_the_seconds_of_an_interrupted_start_count(tmp_path):
    alone = search_of(None, 20)
    fit(alone)
    Slow.n_fits = 0
    interrupt(search_of(tmp_path, 20), 7)
    interrupt(search_of(tmp_path, 20), 5)
    search = search_of(tmp_path, 20)
    fit(search)
    n_trials = len(alone.history_.trials)
    assert n_trials - 2 <= len(search.history_.trials) <= n_trials
    assert Slow.n_fits <= 22


def test_a_search_whose_time_was_up_returns_what_it_found(tmp_path):
    first = search_of(tmp_path, 10)
    assert fit(first) >= 10
    for timeout in (10, 5):
        again = search_of(tmp_path, timeout)
        assert fit(again) == 0
        assert outcome(again) == outcome(first)


def test_it_returns_that_with_a_refit_too(tmp_path):
    first = search_of(tmp_path, 10).set_params(refit=True)
    fit(first)
    again = search_of(tmp_path, 10).set_params(refit=True)
    assert fit(again) == 1
    assert outcome(again) == outcome(first)


def test_a_larger_timeout_goes_on_for_the_rest(tmp_path):
    first = search_of(tmp_path, 10)
    fit(first)
    more = search_of(tmp_path, 16)
    assert 5 <= fit(more) <= 8
    alone = search_of(None, 16)
    fit(alone)
    assert outcome(more)["params"] == outcome(alone)["params"]


def test_without_a_timeout_it_goes_on_to_its_end(tmp_path):
    fit(search_of(tmp_path, 10))
    search = search_of(tmp_path)
    fit(search)
    assert len(search.history_.trials) == 100


def test_a_larger_count_goes_on_only_within_the_time(tmp_path):
    fit(search_of(tmp_path).set_params(n_iter=4))  # 8 seconds
    assert 1 <= fit(search_of(tmp_path, 12)) <= 5
    assert fit(search_of(tmp_path, 12).set_params(n_iter=200)) == 0


def test_a_race_that_is_out_of_time_has_ended_too(tmp_path):
    def race(timeout):
        return HyperbandSearchCV(
            Slow(), SPACE, resource="units", min_resources=1, max_resources=9, cv=2,
            random_state=0, refit=False, checkpoint_dir=tmp_path, timeout=timeout,
        )  # fmt: skip

    first = race(20)
    with pytest.warns(UserWarning, match="The first bracket will take about"):
        fit(first)
    again = race(20)
    assert fit(again) == 0
    assert outcome(again) == outcome(first)


def test_plain_functions_too(tmp_path):
    calls = []

    def slow(params):
        calls.append(params)
        spend(1)
        return params["a"]

    def run(timeout):
        with VirtualClock():
            return minimize(
                slow, SPACE, n_iter=100, timeout=timeout, random_state=0, checkpoint_dir=tmp_path
            )

    first = run(5)
    n_calls = len(calls)
    again = run(5)
    assert (again.x, again.fun, again.message) == (first.x, first.fun, "Time is up.")
    assert len(calls) == n_calls
    run(9)
    assert 3 <= len(calls) - n_calls <= 5


def test_a_journal_without_seconds_is_read(tmp_path):
    first = search_of(tmp_path).set_params(n_iter=3)
    fit(first)
    journal = tmp_path / "journal.jsonl"
    header, events, _ = read_journal(tmp_path)
    assert all("seconds" in event for event in events if event["k"] in ("ask", "tell", "stop"))
    for event in events:
        event.pop("seconds", None)
    journal.write_bytes(b"".join(map(encode, [header, *events])))
    again = search_of(tmp_path, 6).set_params(n_iter=3)
    assert fit(again) == 0
    assert outcome(again) == outcome(first)
