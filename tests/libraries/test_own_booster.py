"""A booster of one's own is the equal of ours: one file says everything that is asked of it."""

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.base import clone
from sklearn.datasets import make_regression
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sksearch import HyperbandSearchCV, PBTSearchCV, RandomSearchCV, SearchCV
from sksearch.estimators import Growth
from sksearch.estimators._family import family_of
from sksearch.fitting.finish._choose import complexity
from sksearch.reader._read import read
from sksearch.reporting._ranges import largest_of
from sksearch.resources import as_resource
from sksearch.space import Outcome, default_space, first_candidates
from tests.libraries.own_booster import OwnBooster, OwnBoosters, OwnGrowth

X, y = make_regression(90, 4, noise=5, random_state=0)
DEPTHS = {"depth": [1, 2, 3]}


def by_hand(search):
    return clone(OwnBooster()).set_params(**search.best_params_).fit(X, y)


def test_its_family_is_found():
    assert isinstance(family_of(OwnBooster()), OwnBoosters)


def test_its_default_space_and_its_first_candidates_are_its_own():
    space = default_space(OwnBooster())
    assert list(space) == ["rate", "rounds", "depth"]
    assert isinstance(space["rounds"], Outcome)
    assert first_candidates(OwnBooster()) == [{"rate": 0.3, "depth": 2}]


@pytest.mark.few(1)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_its_count_is_found_by_training(n_jobs):
    space = default_space(OwnBooster())
    search = RandomSearchCV(OwnBooster(), space, n_iter=2, cv=2, n_jobs=n_jobs, random_state=0)
    search.fit(X, y)
    assert 1 < search.best_params_["rounds"] <= 60
    np.testing.assert_array_equal(search.predict(X), by_hand(search).predict(X))


class Coarse(Growth):
    """Looks seldom, and has counts of a curve between the looks."""

    def looks(self, high, estimator):
        return [20, high]


class LeavesOut(Growth):
    leaves_out = True


class EachStep(Growth):
    patience, slack = 1.0, 5

    def known(self, high, estimator):
        return list(range(1, high + 1))


class Forgetful(OwnGrowth):
    """Its own way to train does not say how far it came."""

    def train(self, state, rows, count, classes, params):
        model = state.estimator.set_params(rounds=count - state.n_steps)
        model.fit(*rows, begun=model if state.n_steps else None)


@pytest.mark.parametrize("growth", [Growth, Coarse, LeavesOut, EachStep, Forgetful, OwnGrowth])
def test_a_candidate_has_the_score_of_its_count_whether_or_not_models_can_be_cut(
    growth, monkeypatch
):
    monkeypatch.setattr(OwnBoosters, "growth", growth)
    space = {"rate": [0.2, 0.3, 0.9], "depth": [1, 3], "rounds": Outcome(45)}
    search = SearchCV(
        OwnBooster(rounds=36), space, n_iter=3, cv=KFold(2), resource="folds", random_state=0
    ).fit(X, y)
    for row, params in enumerate(search.cv_results_["params"]):
        for fold, (train, test) in enumerate(KFold(2).split(X)):
            again = clone(OwnBooster()).set_params(**params).fit(X[train], y[train])
            told = search.cv_results_[f"split{fold}_test_score"][row]
            assert np.isnan(told) or told == pytest.approx(again.score(X[test], y[test]))
    np.testing.assert_array_equal(search.predict(X), by_hand(search).predict(X))


def test_its_count_is_found_in_a_pipeline():
    pipe = make_pipeline(StandardScaler(), OwnBooster())
    space = {"ownbooster__rate": [0.2], "ownbooster__rounds": Outcome(40)}
    search = RandomSearchCV(pipe, space, n_iter=1, cv=2, error_score="raise", random_state=0)
    search.fit(X, y)
    again = clone(pipe).set_params(**search.best_params_)
    assert search.best_score_ == pytest.approx(cross_val_score(again, X, y, cv=2).mean())


def test_it_continues_from_rung_to_rung():
    assert as_resource("rounds", OwnBooster()).continues
    search = HyperbandSearchCV(
        OwnBooster(), DEPTHS, resource="rounds", max_resources=9, cv=2, random_state=0
    ).fit(X, y)
    np.testing.assert_array_equal(search.predict(X), by_hand(search).predict(X))


def test_its_rate_changes_while_it_is_trained():
    search = PBTSearchCV(
        OwnBooster(), {"rate": loguniform(0.05, 1)}, resource="rounds", max_resources=6,
        population_size=4, step=2, cv=2, random_state=0,
    ).fit(X, y)  # fmt: skip
    rates = {rate for rate, _ in search.best_estimator_.steps_}
    assert len(search.best_estimator_.steps_) == search.best_n_resources_
    assert rates == {entry["params"]["rate"] for entry in search.schedule_}


def test_reports_know_what_is_simpler_and_what_is_too_large():
    simple, larger = {"rounds": 3, "rate": 0.5}, {"rounds": 9, "rate": 0.1}
    assert list(complexity([simple, larger])) == [0, 1]
    search = RandomSearchCV(OwnBooster(), DEPTHS, n_iter=2, cv=2, random_state=0).fit(X, y)
    assert largest_of(read(search), "depth") == 4


@pytest.mark.whole
def test_one_line_is_enough():
    search = SearchCV(OwnBooster(), n_iter=3, cv=2, random_state=0).fit(X, y)
    assert search.best_score_ > 0
