"""The loss of estimators of scikit-learn as a function of their params, and its gradient."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics import log_loss, mean_squared_error
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC, LinearSVR

from sksearch.hypergradients import FeaturePenalties, LinearProblem, implicit
from sksearch.hypergradients._models import CrossValidatedLoss, parts_of

RNG = np.random.default_rng(0)
X3, Y3 = load_iris(return_X_y=True)
X3 = np.hstack([X3, RNG.standard_normal((len(X3), 2))])
X2, Y2 = X3[50:], Y3[50:]
XR, YR = load_diabetes(return_X_y=True)
XR, YR = XR[:120, :6] * 20, YR[:120] / 80
GROUPS = [0, 0, 1, 2, 2, 2]
GIVEN = np.array([0.3, 2.0, 30.0])
PENALTIES, RANGE = "featurepenalties__penalties", (1e-4, 1e6)


def hinge(y, P):
    signs = 2 * (y[:, None] == np.unique(y)) - 1 if P.ndim == 2 else 2 * (y == y.max()) - 1
    return (np.maximum(0, 1 - signs * P) ** 2).mean()


def signs_error(y, P):
    signs = 2 * (y[:, None] == np.unique(y)) - 1 if P.ndim == 2 else 2 * (y == y.max()) - 1
    return ((P - signs) ** 2).mean()


TIGHT = {"tol": 1e-12, "max_iter": 1_000_000}
NEWTON = {"solver": "newton-cholesky", "tol": 1e-10}
#: Model, data, and the loss of a fitted one on rows.
CASES = {
    "ridge": (Ridge(2.0), XR, YR, None),
    "ridge without intercept": (Ridge(fit_intercept=False), XR, YR, None),
    "ridge, two targets": (Ridge(), XR, np.c_[YR, YR**2], None),
    "ridge classifier": (RidgeClassifier(), X2, Y2, signs_error),
    "ridge classifier, three classes": (
        RidgeClassifier(class_weight="balanced"), X3, Y3, signs_error,
    ),
    "logistic": (LogisticRegression(C=0.7, **NEWTON), X2, Y2, log_loss),
    "logistic, weighted": (
        LogisticRegression(class_weight={1: 3, 2: 1}, **NEWTON), X2, Y2, log_loss,
    ),
    "logistic, three classes": (LogisticRegression(**NEWTON), X3, Y3, log_loss),
    "svm": (LinearSVC(C=0.3, **TIGHT), X2, Y2, hinge),
    "svm, three classes": (
        LinearSVC(class_weight="balanced", intercept_scaling=3.0, **TIGHT), X3[20:], Y3[20:],
        hinge,
    ),
    "svr": (LinearSVR(epsilon=0.1, loss="squared_epsilon_insensitive", **TIGHT), XR, YR, None),
    "kernel": (KernelRidge(alpha=0.3, kernel="rbf", gamma=0.2), XR, YR, None),
    "linear kernel": (KernelRidge(), XR, YR, None),
    "kernel, two targets": (KernelRidge(kernel="rbf"), XR, np.c_[YR, YR**2], None),
}  # fmt: skip
cases = pytest.mark.parametrize("case", CASES)


def loss_of(model, X, y, bounds=None, **fit_params):
    splits = list((KFold if y.dtype.kind == "f" else StratifiedKFold)(3).split(X, y))
    parts = parts_of(model)
    classes = np.unique(y) if y.dtype.kind != "f" else None
    bounds = bounds or dict.fromkeys(parts.ranges(), RANGE)
    return CrossValidatedLoss(parts, bounds, X, y, splits, classes, fit_params), splits


def with_penalties(model, groups=GROUPS):
    return make_pipeline(StandardScaler(), FeaturePenalties(groups=groups), model)


@cases
def test_the_loss_matches_the_fitted_estimator(case):
    model, X, y, measure = CASES[case]
    model = with_penalties(model).set_params(featurepenalties__penalties=GIVEN)
    loss, splits = loss_of(model, X, y)
    values = []
    for train, test in splits:
        fitted = clone(model).fit(X[train], y[train])
        if measure is log_loss:
            values.append(log_loss(y[test], fitted.predict_proba(X[test])))
        elif measure is None:
            values.append(mean_squared_error(y[test], fitted.predict(X[test])))
        else:
            values.append(measure(y[test], fitted.decision_function(X[test])))
    assert loss({})[0] == pytest.approx(np.mean(values), rel=1e-4)


@cases
def test_the_gradient_matches_finite_differences(case):
    model, X, y, _ = CASES[case]
    loss, _ = loss_of(with_penalties(model), X, y)
    theta = loss.theta({PENALTIES: GIVEN})
    assert len(theta) == len(GIVEN) + 1 + (case in ("kernel", "kernel, two targets"))
    step, differences = 1e-4, []
    for each in step * np.eye(len(theta)):
        high, low = (loss(loss.params(theta + sign * each))[0] for sign in (1, -1))
        differences.append((high - low) / (2 * step))
    gradient = loss(loss.params(theta))[1]
    # The second derivative of hinges has jumps.
    assert gradient == pytest.approx(np.array(differences), rel=1e-4, abs=1e-5)
    assert np.abs(gradient).min() > 1e-6


def test_weights_of_rows_match_the_estimator():
    weights = RNG.random(len(YR)) * 3
    model = with_penalties(Ridge())
    loss, splits = loss_of(model, XR, YR, ridge__sample_weight=weights)
    values = []
    for train, test in splits:
        model.fit(XR[train], YR[train], ridge__sample_weight=weights[train])
        values.append(mean_squared_error(YR[test], model.predict(XR[test])))
    assert loss({})[0] == pytest.approx(np.mean(values))


def test_conjugate_gradients_and_cholesky_factors_agree():
    X, y, n = XR - XR.mean(axis=0), YR - YR.mean(), 80
    model = make_pipeline(FeaturePenalties(groups=GROUPS), Ridge(fit_intercept=False))
    loss = CrossValidatedLoss(
        parts_of(model), {PENALTIES: RANGE}, X, y, [(np.arange(n), np.arange(n, 120))], None, {}
    )
    problem = LinearProblem(X[:n], y[:n], X[n:], y[n:], groups=GROUPS)
    theta = np.log(GIVEN / n)  # there the mean of losses, here the sum
    value, gradient = implicit(problem, theta, problem.solve(theta))
    expected = loss({PENALTIES: GIVEN})
    assert 2 * value == pytest.approx(expected[0])
    assert 2 * gradient == pytest.approx(expected[1], rel=1e-6)


def test_sparse_rows_are_as_dense_ones():
    model = make_pipeline(FeaturePenalties(), LogisticRegression())
    dense, sparse = (loss_of(model, X, Y2)[0]({}) for X in (X2, csr_array(X2)))
    assert dense[0] == sparse[0]


def test_params_are_kept_inside_their_ranges_and_become_theta_again():
    loss, _ = loss_of(
        with_penalties(Ridge()), XR, YR, {PENALTIES: (0.1, 10), "ridge__alpha": (1, 2)}
    )
    assert loss.params(np.array([-99, 0.5, 99, 99])) == {
        PENALTIES: (0.1, np.exp(0.5), 10.0), "ridge__alpha": 2.0,
    }  # fmt: skip
    theta = np.array([-1, 0.5, 2, 0.3])
    assert loss.theta(loss.params(theta)) == pytest.approx(theta)
    assert np.exp(loss.bounds).round(3).tolist() == [[0.1, 10]] * 3 + [[1, 2]]


ERRORS = {
    "not smooth": (LinearSVR(), "pass loss='squared_epsilon_insensitive'"),
    "l1": (LogisticRegression(l1_ratio=1, solver="saga"), "pass l1_ratio=0"),
    "liblinear": (LogisticRegression(solver="liblinear"), "pass solver='lbfgs'"),
    "own kernel": (KernelRidge(kernel=np.dot), "pass kernel='rbf'"),
    "a tree": (StandardScaler(), r"pass Ridge\(\), RidgeClassifier\(\)"),
    "too early": (
        make_pipeline(FeaturePenalties(), StandardScaler(), Ridge()),
        "directly precede",
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_an_estimator_that_is_not_smooth_is_refused(case):
    model, message = ERRORS[case]
    with pytest.raises(ValueError, match=message):
        parts_of(model)


def test_folds_that_lack_a_class_are_refused():
    splits = [(np.arange(100), np.arange(100, 150))]
    parts = parts_of(LogisticRegression())
    with pytest.raises(ValueError, match="training set of fold 0 lacks one of the 3 classes"):
        CrossValidatedLoss(parts, {"C": RANGE}, X3, Y3, splits, np.unique(Y3), {})


def test_columns_that_depend_on_each_other_are_no_obstacle():
    X = np.c_[XR, XR[:, 0], np.zeros(len(XR)), 1e4 * XR[:, 1]]
    loss, _ = loss_of(make_pipeline(FeaturePenalties(), Ridge()), X, YR, {PENALTIES: RANGE})
    value, gradient = loss({PENALTIES: RANGE[0]})
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()
