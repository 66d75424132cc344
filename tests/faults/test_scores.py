"""Candidates that fail, and scorers without a number, on each engine."""

import sys

import numpy as np
import pytest
from sklearn.exceptions import FitFailedWarning

from sksearch._utils._compat import cloudpickle
from sksearch.checkpoint._checkpoint import read_journal
from tests.faults.estimators import (
    FEW,
    Everywhere,
    Fake,
    X,
    Y,
    fit_with_one_warning,
    halving,
    random_search,
    statuses,
    trainings,
)

cloudpickle.register_pickle_by_value(sys.modules[__name__])
pytestmark = [
    pytest.mark.usefixtures("engine"),
    pytest.mark.filterwarnings("ignore:One or more of the test scores:UserWarning"),
]


def bad_value():
    raise ValueError("bad value")


def system_exit():
    raise SystemExit(3)


def keyboard_interrupt():
    raise KeyboardInterrupt


def score_at(value, *qualities):
    """A scorer that returns, or raises, the value at some qualities, the quality at others."""

    def my_scorer(estimator, X, y):
        if estimator.quality not in qualities:
            return estimator.quality
        if isinstance(value, Exception):
            raise value
        return value

    return my_scorer


def test_a_search_in_which_all_fail_alike_raises_after_three_candidates(tmp_path):  # row 14
    log = tmp_path / "log"
    search = halving(Fake(act=bad_value, at=Everywhere(), log=str(log)), checkpoint_dir=tmp_path)
    with pytest.raises(ValueError, match=r"(?s)^Every .*bad value.*All the 6 fits failed"):
        search.fit(X, Y)
    n_trainings = len(trainings(log))
    # The first rung, which other workers continue; the untuned estimator; the rest of the space.
    assert n_trainings <= 18 + 1 + 6
    assert search.interrupted_
    _, events, _ = read_journal(tmp_path)
    assert [event["k"] for event in events].count("tell") == 3
    with pytest.raises(ValueError, match="bad value"):  # and again it is the same
        search.fit(X, Y)
    assert len(trainings(log)) <= n_trainings + 1 + 6


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Scoring failed:UserWarning")
def test_a_scorer_that_returns_no_number_raises_soon(tmp_path):  # row 19
    for value in ("good", np.array([1.0, 2.0])):
        log = tmp_path / f"log of {type(value).__name__}"
        search = halving(Fake(log=str(log)), scoring=score_at(value, *np.arange(10) / 10))
        with pytest.raises(ValueError, match=r"must return a number.*my_scorer") as caught:
            search.fit(X, Y)
        assert isinstance(caught.value, TypeError)
        assert len(trainings(log)) <= 18  # the first rung
    search = random_search(scoring=score_at(np.array(0.9), 0.1)).fit(X, Y)
    assert search.best_params_ == {"quality": 0.1}


def test_an_exit_or_interrupt_in_a_training_costs_that_candidate_only():  # row 22
    for act, name in ((system_exit, "SystemExit"), (keyboard_interrupt, "KeyboardInterrupt")):
        search = random_search(Fake(act=act, at=(0.4,)), FEW)
        fit_with_one_warning(search, name, FitFailedWarning)
        assert not search.interrupted_
        assert search.best_params_ == {"quality": 0.3}
        assert statuses(search)[0.4] == {"error"}
