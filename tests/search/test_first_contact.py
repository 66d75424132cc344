"""What a newcomer sees of a search: its signature, its plan, its lines, its refusals."""

import inspect
import pydoc
import re
import warnings

import numpy as np
import pytest
from scipy.stats import randint, uniform
from sklearn import config_context, model_selection
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.datasets import load_iris
from sklearn.ensemble import BaggingClassifier
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.model_selection import KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import sksearch
from sksearch import (
    HyperbandSearchCV,
    RandomSearchCV,
    SearchCV,
    SuccessiveHalvingSearchCV,
    TPESearchCV,
)
from sksearch.model_selection import GridSearchCV, RandomizedSearchCV
from sksearch.plotting import SliceDisplay
from sksearch.search import BaseSearch
from sksearch.space import LogRandInt
from tests.fakes import Curve

X, Y = load_iris(return_X_y=True)
SPACE = {"C": [1.0, 2.0]}
SEARCHES = [
    each
    for each in (getattr(sksearch.search, name) for name in sksearch.search.__all__)
    if inspect.isclass(each) and issubclass(each, BaseSearch) and each is not BaseSearch
]


# ---- signatures


@pytest.mark.parametrize("search", SEARCHES)
def test_a_signature_has_plain_types(search):
    text = str(inspect.signature(search))
    assert "object at 0x" not in text
    assert not re.search(r"Annotated|field\(|\*\*\w|\*args|\._\w", text), "or a private module"
    assert text.startswith("(estimator: Any, param_")
    assert "timeout: float | None = None" in text


def test_help_shows_no_addresses():
    text = pydoc.plain(pydoc.render_doc(SearchCV))
    assert not re.search(r"(CanFit|Interval|StrOptions) object at", text)


@pytest.mark.parametrize("search", SEARCHES)
def test_an_unknown_parameter_is_refused_when_the_search_is_made(search):
    with pytest.raises(TypeError, match=rf"{search.__name__} has no parameter n_trails"):
        search(SVC(), SPACE, n_trails=3)
    with pytest.raises(TypeError, match="write timeout"):
        search(SVC(), SPACE, time_budget=3)


@pytest.mark.parametrize(
    ("search", "name", "cure"),
    [
        (SuccessiveHalvingSearchCV, "n_trials", "write n_candidates"),
        (SuccessiveHalvingSearchCV, "n_iter", "write n_candidates"),
        (RandomSearchCV, "n_candidates", "write n_iter"),
        (HyperbandSearchCV, "n_trials", "timeout"),
        (HyperbandSearchCV, "eta", "write factor"),
        (RandomSearchCV, "sampler", "use SearchCV"),
        (RandomSearchCV, "groups", "pass it to fit"),
        (SearchCV, "seed", "write random_state"),
        (SearchCV, "metric", "write scoring"),
        (SearchCV, "qwertz", "its parameters are estimator, "),
        (GridSearchCV, "param_distributions", "write param_grid"),
        (GridSearchCV, "n_iter", "all points of the grid are tried"),
        (RandomizedSearchCV, "param_grid", "write param_distributions"),
    ],
)
def test_a_name_of_another_library_leads_to_ours(search, name, cure):
    with pytest.raises(TypeError, match=cure):
        search(SVC(), **{name: 1})


def test_a_search_with_any_parameters_of_its_own_takes_them():
    class Own(RandomSearchCV):
        def __init__(self, estimator, *spaces, **params):
            super().__init__(estimator, spaces[0], **params)

    assert Own(SVC(), SPACE, {}, n_iter=3).n_iter == 3
    assert clone(RandomSearchCV(SVC(), SPACE, n_iter=2)).n_iter == 2


# ---- plans


def test_a_plan_is_a_table_in_a_notebook_and_a_terminal():
    search = HyperbandSearchCV(Curve(), {"quality": uniform(0, 1)}, resource="n_samples")
    plan = search.plan(X, Y)
    assert repr(plan) == str(plan)
    html = plan._repr_html_()
    assert html.count("<tr>") == html.count("</tr>") == len(plan.rungs) + 1
    assert "<th>bracket</th>" in html
    assert f"<p>{plan.n_candidates} candidates, " in html


def test_a_plan_without_an_end_is_a_sentence():
    html = SearchCV(SVC(), timeout=3).plan(X, Y)._repr_html_()
    assert "<table>" not in html
    assert "<p>candidates until the time is up" in html


# ---- lines


@pytest.mark.parametrize(
    ("verbose", "n_cv", "n_own"), [(0, 0, 0), (1, 0, 1), (2, 0, 1), (3, 4, 0)]
)
def test_one_voice_speaks_at_a_time(verbose, n_cv, n_own, capsys):
    RandomSearchCV(SVC(), SPACE, n_iter=2, cv=2, verbose=verbose).fit(X, Y)
    told = capsys.readouterr()
    assert told.out.count("[CV") == n_cv
    assert told.err.count("Random: done") == n_own


# ---- refusals


@pytest.mark.parametrize(
    ("estimator", "name", "meant"),
    [
        (make_pipeline(StandardScaler(), SVC()), "C", "svc__C"),
        (Pipeline([("scale", StandardScaler()), ("model", SVC())]), "gamma", "model__gamma"),
        (BaggingClassifier(SVC()), "C", "estimator__C"),
        (OneVsRestClassifier(SVC()), "kernel", "estimator__kernel"),
        (make_pipeline(StandardScaler(), OneVsRestClassifier(SVC())), "C",
         "onevsrestclassifier__estimator__C"),
    ],
)  # fmt: skip
def test_the_name_alone_leads_to_the_step_that_has_it(estimator, name, meant):
    with pytest.raises(ValueError, match=f"Did you mean '{meant}'"):
        RandomSearchCV(estimator, {name: [1, 2]}).fit(X, Y)


@pytest.mark.parametrize(
    ("scoring", "meant"),
    [
        ("acuracy", "'accuracy'"),
        ("F1_macro", "'f1_macro'"),
        ("rmse", "'neg_root_mean_squared_error'"),
        ("mean_squared_error", "'neg_mean_squared_error'"),
        (["accuracy", "rocauc"], "'roc_auc'"),
        ({"a": "logloss"}, "'neg_log_loss'"),
        ("qwertz", "get_scorer_names"),
    ],
)
def test_a_misspelt_scorer_leads_to_the_nearest(scoring, meant):
    with pytest.raises(ValueError, match=meant) as caught:
        RandomSearchCV(SVC(), SPACE, n_iter=2, scoring=scoring, refit=False).fit(X, Y)
    assert len(str(caught.value)) < 150


@pytest.mark.parametrize(
    "values", [randint(0, 2**70), randint(-(2**64), 5), randint(low=1, high=2**65)]
)
def test_integers_that_numpy_has_not_are_refused_by_name(values):
    with pytest.raises(ValueError, match=r"param_distributions\['C'\].*2\*\*63"):
        RandomSearchCV(SVC(), {"C": values}).fit(X, Y)


def test_logarithmic_integers_that_numpy_has_not_are_refused():
    with pytest.raises(ValueError, match="2\\*\\*63"):
        LogRandInt(1, 2**64)
    assert LogRandInt(1, 2**63 - 1).rvs(random_state=0) > 0


@pytest.mark.parametrize("n_bytes", [1, 4, 4096, 2**20 - 1])
def test_less_memory_than_any_training_needs_is_refused(n_bytes):
    with pytest.raises(ValueError, match="number of bytes"):
        RandomSearchCV(SVC(), SPACE, workers={"memory": n_bytes}).fit(X, Y)


# ---- scores of None


def none_first(n):
    """A scorer with a score for all but the first candidates, by their quality."""
    return lambda estimator, X, y: None if estimator.quality < n else float(estimator.quality)


@pytest.mark.filterwarnings("ignore:Scoring failed:UserWarning")
@pytest.mark.filterwarnings("ignore:One or more of the test scores:UserWarning")
@pytest.mark.parametrize("n_without", [1, 2, 3, 4, 9])
def test_candidates_without_a_score_fail_by_themselves_wherever_they_are(n_without):
    space = [{"quality": [i]} for i in range(12)]
    search = RandomSearchCV(
        Curve(), space, n_iter=12, cv=2, scoring=none_first(n_without),
        known={"params": [{"quality": i} for i in range(12)]},
    ).fit(X, Y)  # fmt: skip
    assert search.statuses_.count("error") == n_without
    assert search.best_params_ == {"quality": 11}
    assert np.isnan(search.cv_results_["mean_test_score"]).sum() == n_without


@pytest.mark.filterwarnings("ignore:Scoring failed:UserWarning")
def test_a_scorer_that_never_has_a_score_ends_the_search_with_its_cure():
    calls = []
    search = RandomSearchCV(
        Curve(), {"quality": uniform(0, 1)}, n_iter=30, cv=2,
        scoring=lambda estimator, X, y: calls.append(1),
    )  # fmt: skip
    with pytest.raises(ValueError, match="Does it end with return"):
        search.fit(X, Y)
    assert len(calls) == 20


class Lifetime(BaseEstimator):
    """Learns from times of events, as models of survival do."""

    def __init__(self, shrinkage=1.0):
        self.shrinkage = shrinkage

    def fit(self, X, y):
        self.mean_ = self.shrinkage * y["time"][y["came"]].mean()
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)

    def score(self, X, y):
        return -abs(self.mean_ - y["time"].mean())


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_target_may_be_records_such_as_times_of_events(n_jobs, tmp_path):
    rng = np.random.default_rng(0)
    X, times = rng.normal(size=(60, 2)), rng.exponential(size=60)
    y = np.array([*zip(rng.random(60) < 0.7, times, strict=True)],
                 dtype=[("came", bool), ("time", float)])  # fmt: skip
    space = {"shrinkage": [0.1, 1.0, 3.0]}
    search = SearchCV(
        Lifetime(), space, n_iter=3, n_jobs=n_jobs, checkpoint_dir=tmp_path, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search.fit(X, y)
        best = search.best_params_
        assert search.fit(X, y).best_params_ == best == {"shrinkage": 1.0}
    assert "shrinkage" in str(search.report())


class NeverFitted(GaussianNB):
    def fit(self, X, y, sample_weight=None):
        raise AssertionError("it was fitted")


@pytest.mark.parametrize("search", [GridSearchCV, RandomSearchCV])
@pytest.mark.parametrize("scoring", ["accuracy", ["accuracy", "f1_macro"]])
def test_arguments_that_no_metric_requests_are_refused_before_any_fit(search, scoring):
    grid = {"var_smoothing": [1.0, 1e-9]}
    size = {} if search is GridSearchCV else {"n_iter": 2}
    with config_context(enable_metadata_routing=True):
        model = NeverFitted().set_fit_request(sample_weight=True)
        found = search(model, grid, cv=2, refit="accuracy", scoring=scoring, **size)
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            found.fit(X, Y, sample_weight=np.ones(150))


class Since(RegressorMixin, BaseEstimator):
    """Trains on the rows since a date."""

    def __init__(self, start=None):
        self.start = start

    def fit(self, X, y):
        self.mean_ = y[X[:, 0] >= self.start].mean()
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


@pytest.mark.parametrize("unit", ["D", "us", "ns"])
@pytest.mark.parametrize("search", [GridSearchCV, RandomSearchCV, TPESearchCV])
def test_dates_are_passed_as_they_are(search, unit):
    days = np.arange("2020-01-01", "2020-03-01", dtype="datetime64[D]").astype(f"M8[{unit}]")
    grid, cv = {"start": days[[0, 10, 20]]}, KFold(2, shuffle=True, random_state=0)
    size = {} if search is GridSearchCV else {"n_iter": 3}
    found = search(Since(), grid, cv=cv, **size).fit(days.reshape(-1, 1), np.arange(60.0))
    expected = model_selection.GridSearchCV(Since(), grid, cv=cv)
    expected.fit(days.reshape(-1, 1), np.arange(60.0))
    for column in ("param_start", "mean_test_score"):
        old, new = (np.sort(each.cv_results_[column]) for each in (expected, found))
        assert old.dtype == new.dtype
        assert np.array_equal(old, new)


def test_durations_are_choices_like_any_other():
    spans = [np.timedelta64(1, "D"), np.timedelta64(5, "h"), np.timedelta64(7, "ns")]
    search = RandomSearchCV(Since(), {"start": spans}, cv=2, n_iter=3, error_score=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.fit(np.full((20, 1), np.timedelta64(9, "D")), np.arange(20.0))
        assert "could not be made" not in str(search.report())
    assert {repr(each["start"]) for each in search.cv_results_["params"]} == {*map(repr, spans)}
    assert SliceDisplay.from_search(search).axes_
