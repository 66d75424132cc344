"""The search that follows the gradient of the validation loss."""

import signal

import numpy as np
import pandas as pd
import pytest
from scipy.stats import loguniform, uniform
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge, _ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from sksearch import load_history
from sksearch.hypergradients import FeaturePenalties
from sksearch.search import HypergradientSearchCV
from tests.comparisons import assert_same_results
from tests.interrupted import Trouble, scorer

RNG = np.random.default_rng(0)
N_FEATURES, N_RELEVANT = 120, 6
X = RNG.standard_normal((150, N_FEATURES))
Y = X[:, :N_RELEVANT].sum(axis=1) + 0.5 * RNG.standard_normal(150)
XI, YI = load_iris(return_X_y=True)
PENALTIES = "featurepenalties__penalties"
MODEL = make_pipeline(FeaturePenalties(), Ridge())
ARGS = {"n_iter": 12, "cv": 3, "random_state": 0, "scoring": "neg_mean_squared_error"}


class Counted(Ridge):
    """Trained by Ridge's own `fit`: one of its own could not be differentiated."""


@pytest.fixture
def n_fits(monkeypatch):
    """Count how often `fit` of Ridge begins, by what it calls first."""
    calls, preprocess = [], _ridge._preprocess_data

    def counting(*args, **kwargs):
        calls.append(1)
        return preprocess(*args, **kwargs)

    monkeypatch.setattr(_ridge, "_preprocess_data", counting)
    Counted().fit(X, Y)
    assert calls.pop() == 1
    return lambda: len(calls)


@pytest.fixture(scope="module")
def search():
    return HypergradientSearchCV(MODEL, **ARGS).fit(X, Y)


@pytest.mark.whole
def test_it_finds_penalties_that_no_common_one_replaces(search):
    common = GridSearchCV(
        MODEL, {PENALTIES: np.logspace(-4, 4, 17)}, cv=3, scoring=ARGS["scoring"]
    ).fit(X, Y)
    assert -search.best_score_ < 0.7 * -common.best_score_
    X_new = RNG.standard_normal((1000, N_FEATURES))
    y_new = X_new[:, :N_RELEVANT].sum(axis=1)
    errors = [((each.predict(X_new) - y_new) ** 2).mean() for each in (search, common)]
    assert errors[0] < 0.7 * errors[1], "on other rows, too"
    penalties = search.best_params_[PENALTIES]
    assert len(penalties) == N_FEATURES
    assert max(penalties[:N_RELEVANT]) < min(1.0, np.median(penalties[N_RELEVANT:]))


def test_candidates_are_steps_downwards(search):
    losses = -search.cv_results_["mean_test_score"]
    assert search.cv_results_["params"][0] == {PENALTIES: 1.0}, "the untuned estimator"
    assert losses[-1] == losses.min()
    assert (np.diff(losses) < 0).mean() > 0.7
    assert len({space_key(params) for params in search.cv_results_["params"]}) == 12


def space_key(params):
    return tuple(sorted(params.items()))


def test_best_params_make_the_best_estimator(search):
    again = clone(MODEL).set_params(**search.best_params_).fit(X, Y)
    assert (again.predict(X) == search.predict(X)).all()
    assert search.report()


@pytest.mark.whole
def test_one_penalty_matches_a_fine_grid():
    grid = {"alpha": np.logspace(-5, 5, 201)}
    best = GridSearchCV(Ridge(), grid, cv=3, scoring=ARGS["scoring"]).fit(X, Y)
    found = HypergradientSearchCV(Ridge(), **ARGS).fit(X, Y)
    assert found.best_score_ >= best.best_score_
    assert found.best_params_["alpha"] == pytest.approx(best.best_params_["alpha"], rel=0.1)


@pytest.mark.whole
def test_it_continues_where_the_optimizer_has_converged():
    search = HypergradientSearchCV(Ridge(), **ARGS | {"n_iter": 40}).fit(X, Y)
    alphas = search.cv_results_["param_alpha"].data.astype(float)
    assert len(set(alphas)) == 40
    assert ((alphas >= 1e-5) & (alphas <= 1e5)).all()


@pytest.mark.whole
def test_groups_share_a_penalty():
    groups = np.arange(N_FEATURES) >= N_RELEVANT
    model = make_pipeline(StandardScaler(), FeaturePenalties(groups=groups.astype(int)), Ridge())
    space = {PENALTIES: loguniform(1e-2, 1e4)}
    search = HypergradientSearchCV(model, space, **ARGS).fit(X, Y)
    relevant, others = search.best_params_[PENALTIES]
    assert 0.01 <= relevant < 1 < 100 < others <= 1e4


def test_a_kernel_has_length_scales_and_a_penalty():
    model = make_pipeline(FeaturePenalties(), KernelRidge(kernel="rbf", gamma=0.1))
    few = X[:, [0, 50, 51, 52]]
    search = HypergradientSearchCV(model, **ARGS).fit(few, X[:, 0] ** 2)
    assert set(search.best_params_) == {PENALTIES, "kernelridge__alpha"}
    assert np.argmin(search.best_params_[PENALTIES]) == 0
    assert search.best_score_ > 0.2 * search.cv_results_["mean_test_score"][0]


@pytest.mark.whole
def test_classes_and_mixed_columns():
    frame = pd.DataFrame(XI, columns=list("abcd")).assign(e=np.where(XI[:, 0] > 5.5, "x", "y"))
    columns = make_column_transformer(
        (StandardScaler(), list("abcd")), (OneHotEncoder(), ["e"]), sparse_threshold=1
    )
    model = make_pipeline(columns, FeaturePenalties(), LogisticRegression(max_iter=1000))
    names = load_iris().target_names[YI]
    search = HypergradientSearchCV(model, **ARGS | {"scoring": "neg_log_loss"}).fit(frame, names)
    assert search.best_score_ > 0.8 * search.cv_results_["mean_test_score"][0]
    assert search.predict(frame)[0] == "setosa"


@pytest.mark.whole
def test_a_search_that_was_stopped_continues_with_the_same_candidates(tmp_path):
    args = ARGS | {"scoring": scorer, "n_iter": 6}
    whole = HypergradientSearchCV(MODEL, **args).fit(X, Y)
    args["checkpoint_dir"] = tmp_path / "search"
    Trouble.after, Trouble.happens = 3 * 4, lambda: signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        HypergradientSearchCV(MODEL, **args).fit(X, Y)
    assert len(load_history(tmp_path / "search").history_.trials) == 4
    assert_same_results(HypergradientSearchCV(MODEL, **args).fit(X, Y), whole)


@pytest.mark.whole
def test_a_larger_search_takes_over_the_smaller_one(tmp_path, search):
    folder = {"checkpoint_dir": tmp_path / "search"}
    HypergradientSearchCV(MODEL, **ARGS | folder | {"n_iter": 5}).fit(X, Y)
    assert_same_results(HypergradientSearchCV(MODEL, **ARGS | folder).fit(X, Y), search)


@pytest.mark.whole
@pytest.mark.slow
def test_workers_change_nothing(search):
    assert_same_results(HypergradientSearchCV(MODEL, n_jobs=2, **ARGS).fit(X, Y), search)


def test_a_plan_trains_nothing(n_fits):
    assert HypergradientSearchCV(Counted(), **ARGS).plan(X, Y).n_fits == 37
    assert n_fits() == 0


ALPHA = {"alpha": loguniform(0.1, 1)}
ERRORS = {
    "estimator": ({"estimator": KernelRidge(kernel="poly")}, "pass kernel='rbf'"),
    "name": ({"param_distributions": {"tol": loguniform(0.1, 1)}}, "pass 'alpha'"),
    "list": ({"param_distributions": {"alpha": [1, 2]}}, "must be scipy.stats.loguniform"),
    "uniform": ({"param_distributions": {"alpha": uniform(1, 2)}}, "must be scipy.stats.loguni"),
    "several dicts": ({"param_distributions": [ALPHA]}, "must be a dict of loguniform"),
    "objectives": ({"objectives": ["r2", "fit_time"]}, "follows the gradient of one loss"),
    "constraints": (
        {"known": {"constraints": lambda params: True}},
        "follows the gradient of one loss",
    ),
    "earlier results": (
        {"known": {"results": [{"alpha": 1.0}]}},
        "follows the gradient of one loss",
    ),
    "disables the penalty": (
        {
            "estimator": make_pipeline(FeaturePenalties(), Counted(alpha=0)),
            "param_distributions": {PENALTIES: loguniform(0.1, 1)},
        },
        "counted__alpha=0 disables the penalty",
    ),
    "groups": (
        {"estimator": make_pipeline(FeaturePenalties(groups=[0, 1]), Counted())},
        "groups=.* must have a group number, an integer from 0, for each of 120 features",
    ),
}


@pytest.mark.few(4)
@pytest.mark.parametrize("case", ERRORS)
def test_errors_come_before_any_training(case, n_fits):
    params, message = ERRORS[case]
    with pytest.raises(ValueError, match=message):
        HypergradientSearchCV(**{"estimator": Counted()} | params).fit(X, Y)
    assert n_fits() == 0


def test_what_cannot_be_passed_to_fit_is_told():
    with pytest.raises(ValueError, match="fit was passed sample_weight"):
        HypergradientSearchCV(KernelRidge()).fit(X, Y, sample_weight=np.ones(len(X)))


def test_weights_of_rows_count():
    weights = np.r_[np.ones(75), np.full(75, 1e-6)]
    args = ARGS | {"cv": [(np.arange(0, 150, 2), np.arange(1, 150, 2))]}
    found = [
        HypergradientSearchCV(Ridge(), **args).fit(X, Y, sample_weight=each).best_params_["alpha"]
        for each in (weights, None)
    ]
    assert found[0] != pytest.approx(found[1], rel=0.01)
