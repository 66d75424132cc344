"""An evaluation that has ended is not trained again, whatever the journal knows of it."""

import signal
import threading
from types import SimpleNamespace

import joblib
import pytest

from tests.checkpoint.test_resume import leftovers, lines, make, outcome
from tests.interrupted import Trouble, X, Y, scorer

QUALITIES = [0.75, 0.5, 0.25, 0.9, 0.1]


@pytest.fixture(autouse=True)
def calm():
    """No trouble."""
    Trouble.after = None
    yield
    Trouble.after = None


def interrupt_after(search, n):
    """Fit, and be interrupted when so many scores have been computed in this process."""
    Trouble.after, Trouble.happens = n, lambda: signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, Y)


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
    kwargs = {"initial_params": guesses, "n_jobs": 3, "scoring": straggling}
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
