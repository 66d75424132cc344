"""``stop="converged"``: when the rest of a search is not worth its time."""

import numpy as np
import pytest
from scipy.stats import loguniform, uniform
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import ShuffleSplit
from sklearn.svm import SVC

from sksearch import RandomSearchCV, SearchCV, TPESearchCV
from sksearch.fitting.run._convergence import FEWEST, Convergence
from sksearch.history import History, Problem, Result
from sksearch.space import Space

X, y = load_iris(return_X_y=True)
WIDE = {"C": loguniform(1e-3, 1e3), "gamma": loguniform(1e-4, 1e2)}


def told(score, n=40, spread=0.01, cost=lambda x: 1.0, n_folds=3):
    """A history of `n` points of [0, 1] with scores on some folds, and its askers."""
    history = History(Problem(Space({"x": uniform(0, 1)}), seed=0))
    convergence, reached = Convergence(1), []
    rng = np.random.default_rng(0)
    for i, x in enumerate(rng.random(n)):
        trial = history.start({"x": x}, 0, 1)
        mean, noise = score(x, i), rng.normal(0, spread, n_folds)
        folds = tuple(mean + noise - noise.mean())
        history.tell(trial.id, 1, Result(mean, cost(x), fold_scores=folds))
        reached.append(convergence.reached(history))
    return reached


def test_a_search_that_has_found_the_top_stops():
    reached = told(lambda x, i: -((x - 0.4) ** 2))
    assert not any(reached[: FEWEST - 1])
    assert reached[FEWEST - 1]


def test_a_difference_has_the_error_of_overlapping_folds():
    history = History(Problem(Space({"x": uniform(0, 1)}), seed=0))
    folds = [(0.9, 0.8, 0.7), (0.6, 0.7, 0.8), (0.9, 0.5, 0.4), (0.7,)]
    for x, each in enumerate(folds):
        trial = history.start({"x": x / 9}, 0, 1)
        history.tell(trial.id, 1, Result(float(np.mean(each)), 1.0, fold_scores=each))
    differences = np.subtract(folds[0], folds[1:3])
    variance = np.mean([np.var(each, ddof=1) for each in differences])
    expected = np.sqrt(variance * (1 / 3 + 1 / 2))
    assert Convergence(1)._standard_error(history) == pytest.approx(expected)


@pytest.mark.parametrize(("gain", "ends"), [(0.99, True), (1.01, False)])
def test_a_search_ends_when_the_gain_is_under_the_error(gain, ends, monkeypatch):
    monkeypatch.setattr(Convergence, "_standard_error", lambda self, history: 0.03)
    monkeypatch.setattr(Convergence, "_expected_gain", lambda self, history, data: gain * 0.03)
    assert any(told(lambda x, i: x)) == ends


def test_a_search_that_gets_better_and_better_continues():
    # The standard error is tiny, and what is expected of the next candidates is not.
    assert not any(told(lambda x, i: float(np.sin(40 * x)), n=30, spread=1e-6))


def test_scores_that_never_differ_end_it():
    assert told(lambda x, i: 0.5)[FEWEST - 1]


def test_equal_fold_scores_give_no_test():
    assert not any(told(lambda x, i: -((x - 0.4) ** 2), n_folds=1))


def test_a_gain_that_takes_too_long_is_not_worth_its_time():
    def score(x, i):  # the best ones are in a corner that nobody has seen
        return 4 * x

    def n_until(cost):
        return ([*told(score, n=60, spread=0.001, cost=cost), True]).index(True)

    # Where the best are a thousand times as dear as the others, the end comes earlier.
    assert n_until(lambda x: 1000.0 ** (4 * x)) <= n_until(lambda x: 1000.0 ** (-4 * x))


@pytest.mark.few(1)
@pytest.mark.parametrize("search", [SearchCV, RandomSearchCV, TPESearchCV])
def test_any_search_stops_with_the_same_candidates_as_one_that_continues(search):
    whole = search(SVC(), WIDE, n_iter=40, cv=5, random_state=0).fit(X, y)
    ended = clone(whole).set_params(stop="converged").fit(X, y)
    n = len(ended.history_.trials)
    assert FEWEST <= n < 40
    assert [t.params for t in ended.history_.trials] == [
        t.params for t in whole.history_.trials[:n]
    ]
    results = ended.cv_results_
    error = np.std([results[f"split{i}_test_score"][ended.best_index_] for i in range(5)])
    assert whole.best_score_ - ended.best_score_ <= error


def test_it_needs_no_count_and_no_time(tmp_path):
    search = SearchCV(SVC(), WIDE, stop="converged", random_state=0, checkpoint_dir=tmp_path)
    n = len(search.fit(X, y).history_.trials)
    assert n >= FEWEST
    again = clone(search).fit(X, y)
    assert len(again.history_.trials) == n
    assert again.best_params_ == search.best_params_


@pytest.mark.parametrize(
    ("params", "match"),
    [
        ({"stop": "soon"}, "stop"),
        ({"stop": "converged", "cv": ShuffleSplit(1, random_state=0)}, "cv has one fold"),
    ],
)
def test_bad_arguments_are_refused(params, match):
    with pytest.raises(ValueError, match=match):
        SearchCV(SVC(), WIDE, **params).fit(X, y)
