"""Rows 1 to 13 of the table of faults: the space, and how much to spend on it."""

import sys

import numpy as np
import pytest
from scipy.stats import loguniform, uniform
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sksearch import HyperbandSearchCV
from sksearch._compat import cloudpickle
from tests.faults.estimators import (
    Fake,
    X,
    Y,
    fit_with_one_warning,
    halving,
    random_search,
    trainings,
)

cloudpickle.register_pickle_by_value(sys.modules[__name__])
pytestmark = pytest.mark.usefixtures("engine")
non_finite = pytest.mark.filterwarnings("ignore:One or more of the test scores:UserWarning")


@pytest.fixture
def log(tmp_path):
    """Where estimators note their trainings."""
    return str(tmp_path / "log")


def refuses(error, match, search, log):
    """See that fit raises, and that nothing was trained before."""
    with pytest.raises(error, match=match):
        search.fit(X, Y)
    assert trainings(log) == []


@pytest.mark.filterwarnings("ignore:The total space of parameters:UserWarning")
def test_an_empty_dict_is_one_candidate_and_an_empty_list_is_refused(log):  # row 1
    search = random_search(Fake(log=log), {})
    assert search.fit(X, Y).cv_results_["params"] == [{}]
    refuses(ValueError, "empty", random_search(Fake(log=log + "2"), []), log + "2")


def test_a_parameter_without_choices_is_named(log):  # row 2
    refuses(ValueError, "quality.*empty", random_search(Fake(log=log), {"quality": []}), log)


def test_a_value_that_is_in_no_list_is_refused(log):  # row 3
    for value in ("l2", 3):
        search = random_search(Fake(log=log), {"ballast": value})
        refuses(TypeError, r"(?i)ballast.*list", search, log)


def test_an_unknown_parameter_is_refused_with_close_matches(log):  # row 4
    search = random_search(Fake(log=log), {"qualitty": [1]})
    refuses(ValueError, "qualitty.*Did you mean 'quality'", search, log)
    pipe = make_pipeline(StandardScaler(), Fake(log=log))
    search = random_search(pipe, {"fake__qualty": [1]})
    refuses(ValueError, "Did you mean 'fake__quality'", search, log)


def test_choices_and_bounds_that_are_not_possible_are_refused_by_name(log):  # row 5
    for bad in ([0.1, np.nan], [0.1, np.inf], uniform(0, -1), uniform(np.nan, 1)):
        refuses(ValueError, "quality", random_search(Fake(log=log), {"quality": bad}), log)
    search = halving(Fake(log=log), {"quality": loguniform(0, 1)})
    refuses(ValueError, "quality", search, log)


class SometimesNaN:
    """A distribution of which every second draw or so is no number."""

    def rvs(self, random_state):
        draw = random_state.uniform(-1, 1)
        return draw if draw > 0.3 else (np.nan if draw > -0.5 else np.inf)


class Picky(Fake):
    """Takes finite qualities alone."""

    def fit(self, X, y):
        if not np.isfinite(self.quality):
            raise ValueError(f"quality={self.quality} makes no sense")
        return super().fit(X, y)


@non_finite
def test_a_distribution_that_draws_nan_costs_that_candidate_only():  # row 6
    search = random_search(Picky(), {"quality": SometimesNaN()}, n_iter=8, random_state=1)
    fit_with_one_warning(search, "makes no sense")
    finite = np.isfinite(search.cv_results_["param_quality"].astype(float))
    assert 0 < finite.sum() < 8
    assert [status == "ok" for status in search.statuses_] == finite.tolist()
    assert np.isfinite(search.best_params_["quality"])


def test_a_candidate_that_is_there_twice_is_trained_once(log):  # row 7
    search = random_search(Fake(log=log), {"quality": [0.2, 0.4, 0.2]}, n_iter=3, refit=False)
    with pytest.warns(UserWarning, match="2 are distinct"):
        search.fit(X, Y)
    assert len(trainings(log)) == 2 * 2
    scores = search.cv_results_["mean_test_score"]
    np.testing.assert_allclose(sorted(scores), np.array([0.2, 0.2, 0.4]) - 0.01)


def test_more_candidates_than_there_are_run_all_of_them():  # row 8
    with pytest.warns(UserWarning, match="smaller than n_iter=50"):
        search = random_search(n_iter=50).fit(X, Y)
    assert sorted(search.cv_results_["param_quality"]) == [0.1, 0.2, 0.3, 0.4]


def test_a_count_of_candidates_that_is_none_is_refused(log):  # row 9
    for bad in (0, -1, 2.5):
        refuses(ValueError, "n_iter", random_search(Fake(log=log), n_iter=bad), log)
        refuses(ValueError, "n_candidates", halving(Fake(log=log), n_candidates=bad), log)


def test_a_factor_that_halves_nothing_is_refused(log):  # row 10
    for bad in (1, 0.5, np.nan, 1.0000001):
        refuses(ValueError, "factor", halving(Fake(log=log), factor=bad), log)


def test_resources_that_make_no_range_are_refused(log):  # row 11
    for bad in ({"min_resources": 10}, {"min_resources": 0}, {"max_resources": 8.5}):
        refuses(ValueError, "_resources", halving(Fake(log=log), **bad), log)


class Bare(BaseEstimator):
    """Has nothing that a search could grow."""

    def fit(self, X, y):
        raise AssertionError("trained")

    def score(self, X, y):
        return 0.5


def test_a_resource_that_the_estimator_lacks_is_refused_with_the_ways(log):  # row 12
    match = r"'epochs'.*integer parameter.*'n_samples' or 'folds'"
    for resource in ("epochs", "n_estimators"):
        refuses(ValueError, match, halving(Bare(), {}, resource=resource), log)


def test_a_resource_that_is_searched_as_well_is_refused(log):  # row 13
    search = HyperbandSearchCV(Fake(log=log), {"n_units": [1, 2]}, resource="n_units")
    refuses(ValueError, "n_units.*also in param_distributions", search, log)
