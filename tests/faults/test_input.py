"""Bad and odd input; "row" is the line of the table of faults that a test is for."""

import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from scipy.stats import loguniform, randint, uniform
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.exceptions import FitFailedWarning
from sklearn.impute import SimpleImputer
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import KFold, LeaveOneOut
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from sksearch import (
    GPBayesSearchCV,
    HyperbandSearchCV,
    RandomSearchCV,
    SearchCV,
    SuccessiveHalvingSearchCV,
)
from sksearch._utils._compat import cloudpickle
from sksearch.search import QuasiRandomSearchCV

# Workers cannot import this file, so its estimators travel by value.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

SEARCHES = [
    RandomSearchCV,
    QuasiRandomSearchCV,
    SuccessiveHalvingSearchCV,
    HyperbandSearchCV,
    SearchCV,
]
HALVING = [SuccessiveHalvingSearchCV, HyperbandSearchCV]
X, Y = make_classification(60, 4, n_informative=3, n_redundant=0, random_state=0)


class Counted(ClassifierMixin, BaseEstimator):
    """Counts the calls of fit in its class, and scores its parameter."""

    n_fits = 0

    def __init__(self, quality=0.5, n_units=9, label="", prior=None):
        self.quality = quality
        self.n_units = n_units
        self.label = label
        self.prior = prior

    def fit(self, X, y, sample_weight=None):
        type(self).n_fits += 1
        if sample_weight is not None and len(sample_weight) != len(X):
            raise ValueError("sample_weight has another length than X")
        if not np.isfinite(self.quality):
            raise ValueError(f"quality={self.quality} makes no sense")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.repeat(self.classes_[:1], len(X))

    def score(self, X, y):
        return float(self.quality)


class Bare(BaseEstimator):
    """Has nothing that a search could grow."""

    def fit(self, X, y):
        return self

    def score(self, X, y):
        return 0.5


class SometimesNaN:
    """A distribution of which every second draw or so is no number."""

    def rvs(self, random_state):
        draw = random_state.uniform(-1, 1)
        return draw if draw > 0.3 else (np.nan if draw > -0.5 else np.inf)


@pytest.fixture(autouse=True)
def _reset_count():
    Counted.n_fits = 0


def refuses(error, match, search, X=X, y=Y, **fit_params):
    """See that fit raises, and that nothing was fitted before."""
    with pytest.raises(error, match=match):
        search.fit(X, y, **fit_params)
    assert Counted.n_fits == 0


# ---- the space


@pytest.mark.filterwarnings("ignore:The total space of parameters:UserWarning")
@pytest.mark.parametrize("cls", SEARCHES)
def test_an_empty_dict_is_one_candidate_with_the_defaults(cls):  # row 1
    search = cls(Counted(), {}).fit(X, Y)
    assert len(search.history_.trials) == 1
    assert search.best_params_ == {}
    assert search.best_score_ == 0.5


@pytest.mark.parametrize("cls", SEARCHES)
def test_an_empty_list_of_dicts_is_refused(cls):  # row 1
    refuses(ValueError, "empty", cls(Counted(), []))


@pytest.mark.parametrize("cls", SEARCHES)
def test_a_parameter_without_choices_is_refused_by_name(cls):  # row 2
    refuses(ValueError, "quality.*empty", cls(Counted(), {"quality": []}))


@pytest.mark.parametrize("value", ["l2", 3, None, 0.5], ids=repr)
@pytest.mark.parametrize("cls", SEARCHES)
def test_a_single_value_is_refused_and_a_list_suggested(cls, value):  # row 3
    refuses(TypeError, r"(?i)label.*list", cls(Counted(), {"label": value}))


@pytest.mark.parametrize("cls", SEARCHES)
def test_an_unknown_parameter_is_refused_with_close_matches(cls):  # row 4
    refuses(ValueError, "qualitty.*Did you mean 'quality'", cls(Counted(), {"qualitty": [1, 2]}))


@pytest.mark.parametrize("cls", SEARCHES)
def test_an_unknown_nested_parameter_is_refused_with_close_matches(cls):  # row 4
    pipe = make_pipeline(StandardScaler(), Counted())
    refuses(ValueError, "Did you mean 'counted__quality'", cls(pipe, {"counted__qualty": [1, 2]}))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_choices_that_are_not_finite_are_refused_by_name(bad):  # row 5
    refuses(ValueError, "quality", RandomSearchCV(Counted(), {"quality": [0.1, bad]}))


def test_non_finite_choices_pass_if_the_estimator_allows_them():  # row 5
    pipe = make_pipeline(SimpleImputer(), GaussianNB())
    space = {"simpleimputer__missing_values": [np.nan, -1]}
    search = RandomSearchCV(pipe, space, n_iter=2, cv=2).fit(X, Y)
    assert len(search.cv_results_["params"]) == 2
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize(
    "bad",
    [
        uniform(0, -1),
        uniform(0, 0),
        uniform(np.nan, 1),
        uniform(0, np.inf),
        loguniform(0, 1),
        loguniform(-1, 1),
        loguniform(2, 1),
        randint(5, 2),
    ],
    ids=lambda d: f"{d.dist.name}{d.args}",
)
@pytest.mark.parametrize("cls", [QuasiRandomSearchCV, HyperbandSearchCV, RandomSearchCV])
def test_distributions_with_impossible_bounds_are_refused_by_name(cls, bad):  # row 5
    refuses(ValueError, "quality", cls(Counted(), {"quality": bad}))


@pytest.mark.filterwarnings("ignore:One or more of the test scores:UserWarning")
@pytest.mark.parametrize("cls", SEARCHES)
def test_a_distribution_that_draws_nan_costs_that_candidate_only(cls):  # row 6
    search = cls(Counted(), {"quality": SometimesNaN()}, random_state=1, cv=2)
    if cls is SearchCV:
        search.set_params(n_iter=12)
    with pytest.warns(FitFailedWarning, match="fits failed"):
        search.fit(X, Y)
    statuses = {"ok": [], "error": []}
    for trial in search.history_.trials:
        statuses[next(iter(trial.results.values())).status].append(trial.params["quality"])
    assert np.isfinite(statuses["ok"]).all()
    assert not np.isfinite(statuses["error"]).any()
    assert search.best_params_["quality"] == max(statuses["ok"])


@pytest.mark.filterwarnings("ignore:One or more of the test scores:UserWarning")
@pytest.mark.parametrize("cls", SEARCHES)
def test_values_that_the_estimator_rejects_cost_that_candidate_only(cls):  # row 6
    search = cls(SVC(), {"C": uniform(-1, 2)}, random_state=0, cv=2)
    if cls is SearchCV:
        search.set_params(n_iter=8)
    with pytest.warns(FitFailedWarning, match="'C' parameter of SVC must be a float"):
        search.fit(X, Y)
    for trial in search.history_.trials:
        expected = "ok" if trial.params["C"] > 0 else "error"
        assert {result.status for result in trial.results.values()} == {expected}


def test_entries_that_a_list_has_twice_are_fitted_once_and_share_the_score():  # row 7
    search = RandomSearchCV(Counted(), {"quality": [0.2, 0.4, 0.2]}, n_iter=3, cv=2, refit=False)
    with pytest.warns(UserWarning, match="2 are distinct"):
        search.fit(X, Y)
    assert Counted.n_fits == 2 * 2
    assert sorted(search.cv_results_["mean_test_score"]) == [0.2, 0.2, 0.4]


@pytest.mark.filterwarnings("ignore:The total space of parameters:UserWarning")
@pytest.mark.parametrize("cls", [QuasiRandomSearchCV, HyperbandSearchCV, GPBayesSearchCV])
def test_entries_that_a_list_has_twice_are_started_once(cls):  # row 7
    with pytest.warns(UserWarning, match="distinct"):
        search = cls(Counted(), {"quality": [0.2, 0.4, 0.2, 0.6] * 3}).fit(X, Y)
    qualities = [trial.params["quality"] for trial in search.history_.trials]
    assert sorted(qualities) == [0.2, 0.4, 0.6]


@pytest.mark.parametrize("cls", [RandomSearchCV, QuasiRandomSearchCV])
def test_more_iterations_than_candidates_run_all_of_them_and_warn(cls):  # row 8
    search = cls(Counted(), {"quality": [0.1, 0.2, 0.3]}, n_iter=50)
    with pytest.warns(UserWarning, match="smaller than n_iter=50"):
        search.fit(X, Y)
    assert sorted(search.cv_results_["param_quality"]) == [0.1, 0.2, 0.3]


def test_more_candidates_than_the_space_has_run_all_of_them_once():  # row 8
    search = SuccessiveHalvingSearchCV(
        Counted(), {"quality": [0.1, 0.2, 0.3]}, n_candidates=50, resource="n_units"
    ).fit(X, Y)
    assert sorted(t.params["quality"] for t in search.history_.trials) == [0.1, 0.2, 0.3]
    assert search.best_params_ == {"quality": 0.3, "n_units": 9}


# ---- counts


@pytest.mark.parametrize("bad", [0, -1, 2.5, "3", None])
@pytest.mark.parametrize(
    ("cls", "name"),
    [
        (RandomSearchCV, "n_iter"),
        (QuasiRandomSearchCV, "n_iter"),
        (SuccessiveHalvingSearchCV, "n_candidates"),
        (HyperbandSearchCV, "n_iterations"),
    ],
)
def test_a_count_of_candidates_that_is_none_is_refused(cls, name, bad):  # row 9
    if bad is None and (name == "n_candidates" or cls is RandomSearchCV):
        pytest.skip("None has a meaning there")
    refuses(ValueError, name, cls(Counted(), {"quality": [0.1]}, **{name: bad}))


@pytest.mark.parametrize("bad", [1, 0.5, 0, -3, np.nan, np.inf, 1.0000001])
@pytest.mark.parametrize("cls", HALVING)
def test_a_factor_that_halves_nothing_is_refused(cls, bad):  # row 10
    refuses(ValueError, "factor", cls(Counted(), {"quality": uniform()}, factor=bad))


@pytest.mark.parametrize(
    "bad",
    [
        {"min_resources": 5, "max_resources": 3},
        {"min_resources": 0},
        {"min_resources": -1},
        {"min_resources": 1.5},
        {"max_resources": 0},
        {"max_resources": 8.5},
        {"max_resources": "much"},
        {"max_resources": np.nan},
    ],
    ids=str,
)
@pytest.mark.parametrize("cls", [*HALVING, SearchCV])
def test_limits_of_the_resource_that_make_no_sense_are_refused(cls, bad):  # row 11
    search = cls(Counted(), {"quality": uniform()}, resource="n_units", **bad)
    refuses(ValueError, "_resources", search)


@pytest.mark.parametrize(("resource", "there_are"), [("n_samples", "60"), ("folds", "5")])
def test_more_resources_than_there_are_is_refused(resource, there_are):  # row 11
    search = HyperbandSearchCV(
        Counted(), {"quality": uniform()}, resource=resource, max_resources=61
    )
    refuses(ValueError, f"61.* {there_are} ", search)


@pytest.mark.parametrize("resource", ["n_estimators", "epochs", "seconds"])
@pytest.mark.parametrize("cls", HALVING)
def test_a_resource_that_the_estimator_lacks_is_refused_with_the_ways(cls, resource):  # row 12
    search = cls(Bare(), {}, resource=resource, max_resources=9)
    with pytest.raises(ValueError, match=r"'epochs'.*integer parameter.*'n_samples' or 'folds'"):
        search.fit(X, Y)


@pytest.mark.parametrize("cls", HALVING)
def test_a_resource_that_is_searched_as_well_is_refused(cls):  # row 13
    search = cls(Counted(), {"n_units": [1, 2]}, resource="n_units")
    refuses(ValueError, "n_units as the resource.*param_distributions", search)


# ---- metrics, data, folds


@pytest.mark.parametrize("cls", SEARCHES)
def test_several_metrics_and_refit_true_are_refused(cls):  # row 21
    search = cls(Counted(), {"quality": [0.1]}, scoring=["accuracy", "f1"])
    refuses(ValueError, "multi-metric", search)


@pytest.mark.parametrize("cls", [RandomSearchCV, HyperbandSearchCV])
@pytest.mark.parametrize(
    ("y", "match"),
    [
        (None, "requires y"),
        (np.linspace(0, 1, 60), "continuous"),
        (Y[:-1], "inconsistent numbers of samples"),
    ],
)
def test_a_target_that_no_candidate_can_learn_is_refused(cls, y, match):  # row 31
    refuses(ValueError, match, cls(Counted(), {"quality": uniform()}), y=y)


def test_a_target_of_one_class_raises_what_the_estimator_says():  # row 31
    search = RandomSearchCV(SVC(), {"C": [1, 2, 3]}, n_iter=3)
    with pytest.raises(ValueError, match=r"number of classes.* greater than one"):
        search.fit(X, np.zeros(60, dtype=int))


@pytest.mark.parametrize("cls", SEARCHES)
@pytest.mark.parametrize(
    "cv", [1, 0, 61, [], iter([]), "five"], ids=["1", "0", "61", "list", "iterator", "word"]
)
def test_a_cv_that_makes_no_folds_is_refused(cls, cv):  # row 32
    with pytest.raises(ValueError):
        cls(Counted(), {"quality": [0.5]}, cv=cv).fit(X, Y)
    assert Counted.n_fits == 0


@pytest.mark.filterwarnings("ignore:The total space of parameters:UserWarning")
@pytest.mark.parametrize("cls", SEARCHES)
def test_a_generator_of_folds_serves_all_candidates_and_rungs(cls):  # row 32
    folds = KFold(3).split(X)
    search = cls(Counted(0.0), {"quality": [0.1, 0.2, 0.3]}, cv=folds).fit(X, Y)
    assert search.n_splits_ == 3
    assert search.best_params_["quality"] == 0.3


def test_a_plan_leaves_a_generator_of_folds_for_the_fit():  # row 32
    search = RandomSearchCV(Counted(), {"quality": [0.1]}, n_iter=1, cv=KFold(3).split(X))
    search.plan(X, Y)
    assert search.fit(X, Y).n_splits_ == 3


CONTAINERS = {
    "csr": sparse.csr_matrix,
    "csc": sparse.csc_array,
    "coo": sparse.coo_matrix,
    "list": np.ndarray.tolist,
    "pandas": lambda X: pd.DataFrame(X, columns=list("abcd")),
    "polars": lambda X: pl.DataFrame(X, schema=list("abcd")),
}


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("container", CONTAINERS)
def test_rows_in_any_container_can_be_trained_by_epochs(container, n_jobs):  # row 33
    data = CONTAINERS[container](X)
    search = HyperbandSearchCV(
        SGDClassifier(random_state=0), {"alpha": [1e-3, 1e-2]}, resource="epochs",
        max_resources=3, cv=2, n_jobs=n_jobs, error_score="raise",
    )  # fmt: skip
    assert search.fit(data, Y).predict(data).shape == (60,)
    assert hasattr(search, "feature_names_in_") == (container in ("pandas", "polars"))
    assert search.cv_results_["n_resources"].max() == 3


def test_test_folds_of_one_row_are_enough():  # row 33
    search = RandomSearchCV(GaussianNB(), {}, n_iter=1, cv=LeaveOneOut()).fit(X[:12], Y[:12])
    assert search.n_splits_ == 12


def test_nan_in_x_is_left_to_the_estimator():  # row 34
    holes = X.copy()
    holes[::7, 1] = np.nan
    space = {"max_depth": [1, 2, 3]}
    search = RandomSearchCV(DecisionTreeClassifier(random_state=0), space, n_iter=3)
    assert search.fit(holes, Y).best_score_ > 0.5
    with pytest.raises(ValueError, match="Input X contains NaN"):
        RandomSearchCV(SVC(), {"C": [1, 2, 3]}, n_iter=3).fit(holes, Y)


@pytest.mark.parametrize("length", [1, 59, 61])
def test_sample_weight_of_a_wrong_length_is_refused(length):  # row 35
    search = RandomSearchCV(Counted(), {"quality": [0.1]}, n_iter=1)
    refuses(ValueError, "sample_weight", search, sample_weight=np.ones(length))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_sample_weight_is_sliced_with_its_rows(n_jobs):  # row 35
    class Checked(Counted):
        def fit(self, X, y, sample_weight):
            np.testing.assert_array_equal(X[:, 0], sample_weight)
            return super().fit(X, y)

    # Without routing scikit-learn hands a plain sample_weight to the scorer, too.
    search = HyperbandSearchCV(
        make_pipeline("passthrough", Checked()), {"checked__quality": [0.1, 0.2, 0.3]},
        n_jobs=n_jobs, error_score="raise",
    )  # fmt: skip
    search.fit(X, Y, checked__sample_weight=X[:, 0])
    assert search.best_params_["checked__quality"] == 0.3


@pytest.mark.filterwarnings("ignore:cv. fold 0 tests only classes:UserWarning")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_partial_fit_is_told_the_classes_of_the_whole_y(n_jobs):  # row 36
    # Each training fold of an unshuffled KFold lacks one of the classes.
    y = np.repeat(["ant", "bee", "cat"], 20)
    search = HyperbandSearchCV(
        SGDClassifier(random_state=0), {"alpha": [1e-3, 1e-2]}, resource="epochs",
        max_resources=3, cv=KFold(3), error_score="raise", n_jobs=n_jobs,
    ).fit(X, y)  # fmt: skip
    assert search.classes_.tolist() == ["ant", "bee", "cat"]


def test_step_weights_of_a_wrong_length_are_refused():  # row 35
    pipe = make_pipeline(StandardScaler(), Counted())
    search = RandomSearchCV(pipe, {"counted__quality": [0.1]}, n_iter=1)
    refuses(ValueError, "sample_weight", search, counted__sample_weight=np.ones(7))


def test_partial_fit_with_a_signature_of_stars_is_told_the_classes():  # row 36
    class Wrapped(SGDClassifier):
        def partial_fit(self, *args, **kwargs):
            return super().partial_fit(*args, **kwargs)

    search = HyperbandSearchCV(
        Wrapped(random_state=0), {"alpha": [1e-3, 1e-2]}, resource="epochs", max_resources=3
    ).fit(X, Y)
    assert search.classes_.tolist() == [0, 1]


@pytest.mark.filterwarnings("ignore:The scoring.*does not support sample_weight")
def test_weights_that_no_step_is_named_for_are_refused_as_by_the_pipeline():  # row 35
    pipe = make_pipeline(SGDClassifier(random_state=0))
    search = HyperbandSearchCV(
        pipe, {"sgdclassifier__alpha": [1e-3, 1e-2]}, resource="epochs", max_resources=3,
        scoring=lambda estimator, X, y: estimator.score(X, y),
    )  # fmt: skip
    with pytest.raises(ValueError, match="sample_weight"):
        search.fit(X, Y, sample_weight=np.ones(len(X)))


def test_a_renamed_request_for_metadata_reaches_the_last_step():  # row 35
    with config_context(enable_metadata_routing=True):
        last = SGDClassifier(random_state=0).set_fit_request(sample_weight="w")
        pipe = make_pipeline(StandardScaler(), last.set_score_request(sample_weight=False))
        search = HyperbandSearchCV(
            pipe, {"sgdclassifier__alpha": [1e-3, 1e-2]}, resource="epochs", max_resources=3,
            scoring="accuracy",  # with None scikit-learn's own GridSearchCV fails, too
        )  # fmt: skip
        assert search.fit(X, Y, w=np.ones(len(X))).n_splits_ == 5
