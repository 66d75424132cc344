"""Validation loss of a scikit-learn estimator, and its gradient by parameters."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.pipeline import Pipeline
from sklearn.svm import LinearSVC, LinearSVR
from sklearn.utils import check_array, compute_sample_weight

from sksearch._utils._compat import check_method_params, safe_split
from sksearch._utils._overrides import PREDICTION, TRAINING, overridden
from sksearch.hypergradients._folds import Fold, kernel_ridge, linear
from sksearch.hypergradients._losses import (
    Logistic,
    Loss,
    Softmax,
    Squared,
    SquaredHinge,
    SquaredInsensitive,
)
from sksearch.hypergradients._penalties import FeaturePenalties

#: Parameter values with a smooth training loss, by class; the first one is advised.
SMOOTH: dict[type, dict[str, tuple]] = {
    Ridge: {"positive": (False,)},
    RidgeClassifier: {"positive": (False,)},
    KernelRidge: {"kernel": ("rbf", "linear")},
    LogisticRegression: {
        "penalty": ("l2", "deprecated"),
        "l1_ratio": (0, None),
        "solver": ("lbfgs", "newton-cholesky", "newton-cg", "sag", "saga"),
        "multi_class": ("deprecated", "auto"),
    },
    LinearSVC: {"penalty": ("l2",), "loss": ("squared_hinge",), "multi_class": ("ovr",)},
    LinearSVR: {"loss": ("squared_epsilon_insensitive",)},
}
SUPPORTED = (
    "Ridge(), RidgeClassifier(), LogisticRegression(), LinearSVC(), "
    "LinearSVR(loss='squared_epsilon_insensitive') or KernelRidge(kernel='rbf')"
)
PENALTIES = (1e-4, 1e6)  # default ranges
STRENGTH = (1e-5, 1e5)
GAMMA = (1e-5, 1e3)


@dataclass(frozen=True)
class Parts:
    """Parts of an estimator: steps before, `FeaturePenalties` if any, the model."""

    before: list
    penalties: FeaturePenalties | None
    model: Any
    penalties_name: str  # name of the parameter in the estimator
    prefix: str  # prefix of the parameters of the model

    @property
    def strength_name(self) -> str:
        """Name of the parameter that penalises all weights."""
        return self.prefix + ("C" if hasattr(self.model, "C") else "alpha")

    @property
    def gamma_name(self) -> str:
        """Name of the coefficient of an RBF kernel, "" without one."""
        has_gamma = isinstance(self.model, KernelRidge) and self.model.kernel == "rbf"
        return self.prefix + "gamma" if has_gamma else ""

    def ranges(self) -> dict[str, tuple[float, float]]:
        """Return the searchable parameters with their ranges."""
        own = {
            self.penalties_name: PENALTIES,
            self.strength_name: STRENGTH,
            self.gamma_name: GAMMA,
        }
        return {name: limits for name, limits in own.items() if name}

    def default_names(self) -> list[str]:
        """Name the parameters searched by default, excluding those that penalties replace."""
        if self.penalties is None:
            return list(self.ranges())
        return [self.penalties_name, *([self.strength_name] if self.gamma_name else [])]


def parts_of(estimator: Any) -> Parts:
    """Take an estimator apart; ValueError if it cannot be differentiated."""
    before, penalties, name, prefix, model = [], None, "", "", estimator
    if isinstance(estimator, Pipeline):
        steps = [
            (name, step) for name, step in estimator.steps if step not in (None, "passthrough")
        ]
        *before, (prefix, model) = steps
        prefix += "__"
        if before and isinstance(before[-1][1], FeaturePenalties):
            name, penalties = before.pop()
            name += "__penalties"
    if any(isinstance(step, FeaturePenalties) for _, step in before):
        raise ValueError(
            "FeaturePenalties() must directly precede the model: make it the last step of the "
            "Pipeline before the model."
        )
    rules = next((SMOOTH[cls] for cls in SMOOTH if isinstance(model, cls)), None)
    if rules is None or _is_other_model(estimator, model):
        raise ValueError(
            f"estimator={estimator!r} cannot be differentiated by its hyperparameters: pass "
            f"{SUPPORTED}, alone or as the last step of a Pipeline."
        )
    for key, values in rules.items():
        value = getattr(model, key, values[0])
        if callable(value) or value not in values:
            raise ValueError(
                f"{type(model).__name__}({key}={value!r}) cannot be differentiated by its "
                f"hyperparameters: pass {key}={values[0]!r}."
            )
    return Parts(before, penalties, model, name, prefix)


def _is_other_model(estimator, model):
    """Return whether a class overrides the methods that are differentiated."""
    kind: Any = next(cls for cls in SMOOTH if isinstance(model, cls))
    methods = (*TRAINING, *PREDICTION)
    own = overridden(model, methods) + overridden(estimator, methods)
    return bool(own) or type(model).fit is not kind.fit


class CrossValidatedLoss:
    """Mean validation loss over folds as a function of parameters.

    Parameters
    ----------
    parts : Parts
        Parts of the estimator.
    bounds : dict of str to tuple (low, high)
        Ranges of the searched parameters.
    X, y : array-like
        Data.
    splits : list of tuple (train, test)
        Folds.
    classes : ndarray or None
        Labels of a classifier.
    fit_params : dict
        Arguments of ``fit``.
    """

    def __init__(self, parts, bounds, X, y, splits, classes, fit_params):
        self.parts, self.ranges = parts, {name: bounds[name] for name in sorted(bounds)}
        self._data, self._splits = (X, y), splits
        self._classes, self._fit_params = classes, fit_params
        _check_target(parts.model, y, classes)
        _check_fit_params(parts, fit_params)
        own = self._value(parts.strength_name, {})
        is_fixed = parts.strength_name not in bounds
        if np.ndim(own) > 0 or (is_fixed and not 0 < own < np.inf):
            raise ValueError(
                f"{parts.strength_name}={own!r} disables the penalty, so it cannot be multiplied: "
                "pass a positive number."
            )
        if not parts.before:
            self.folds  # noqa: B018  # nothing is trained for it, so its errors may come now

    @cached_property
    def folds(self) -> list[Fold]:
        """Data of all folds, after the steps before the model."""
        return [self._fold(i, *pair) for i, pair in enumerate(self._splits)]

    @cached_property
    def groups(self) -> np.ndarray:
        """Number of each feature's penalty."""
        n_features, *others = {fold.X.shape[1] - self._n_extra for fold in self.folds}
        if others:
            raise ValueError(
                f"The steps before the model produce {n_features} features on one fold, but "
                f"{others[0]} on another: make the numbers equal, for OneHotEncoder by "
                "categories=."
            )
        if self.parts.penalties is None:
            return np.zeros(n_features, dtype=int)
        return self.parts.penalties.group_of(n_features)

    # ---- parameters as a vector of logarithms

    @cached_property
    def bounds(self) -> np.ndarray:
        """Logarithms of the ends of all ranges, (n_hyper, 2)."""
        return np.log(np.repeat(list(self.ranges.values()), self.sizes, axis=0))

    @cached_property
    def sizes(self) -> list[int]:
        """Number of values of each parameter, in the order of their names."""
        return [self._size(name) for name in self.ranges]

    def _size(self, name):
        return self.groups.max() + 1 if name == self.parts.penalties_name else 1

    def theta(self, params: dict[str, Any]) -> np.ndarray:
        """Logarithms of parameters, with the estimator's own values for missing ones."""
        values = [
            np.broadcast_to(np.asarray(self._value(name, params), dtype=float), self._size(name))
            for name in self.ranges
        ]
        with np.errstate(divide="ignore"):  # a penalty of 0 is -inf, and is clipped later
            return np.log(np.concatenate(values))

    def params(self, theta: np.ndarray) -> dict[str, Any]:
        """Parameters inside their ranges; penalties as a tuple."""
        params, i = {}, 0
        for name, (low, high) in self.ranges.items():
            n = self._size(name)
            # exp(log(x)) may leave the range by an ulp.
            values = np.clip(np.exp(theta[i : i + n]), low, high).tolist()
            params[name] = tuple(values) if name == self.parts.penalties_name else values[0]
            i += n
        return params

    def _value(self, name, params):
        """Value of a parameter, the estimator's own if missing."""
        parts = self.parts
        if name == parts.penalties_name:
            return params.get(name, getattr(parts.penalties, "penalties", 1.0))
        own = getattr(parts.model, name.removeprefix(parts.prefix))
        value = params.get(name, own)
        return 1 / len(self.groups) if value is None else value  # gamma

    # ---- the loss

    def __call__(self, params: dict[str, Any], n_folds: int | None = None) -> tuple[float, Any]:
        """Return the mean loss over the first folds, and its derivatives by the logarithms."""
        parts, folds = self.parts, self.folds[:n_folds]
        sign = -1 if parts.strength_name.endswith("C") else 1
        log_s = sign * np.log(self._value(parts.strength_name, params))
        n_groups = self.groups.max() + 1
        factors = np.asarray(self._value(parts.penalties_name, params), dtype=float)
        log_p = np.log(np.broadcast_to(factors, n_groups))[self.groups]
        if isinstance(parts.model, KernelRidge):
            gamma = float(self._value(parts.gamma_name, params)) if parts.gamma_name else None
            found = [kernel_ridge(fold, log_s, log_p, gamma) for fold in folds]
        else:
            free = np.zeros(len(log_p) + self._n_extra, dtype=bool)
            free[len(log_p) :] = not hasattr(parts.model, "intercept_scaling") or isinstance(
                parts.model, LogisticRegression
            )
            log_p = np.append(log_p, np.zeros(self._n_extra))
            found = [linear(fold, log_s, log_p, free) for fold in folds]
        losses, by_s, by_p = (np.mean(each, axis=0) for each in zip(*found, strict=True))
        by_p = by_p[: len(self.groups)]
        by_name = {
            parts.penalties_name: np.bincount(self.groups, by_p, minlength=n_groups),
            parts.strength_name: [sign * by_s],
            parts.gamma_name: [-by_p.sum()],
        }
        return float(losses), np.concatenate([by_name[name] for name in self.ranges])

    # ---- data

    @property
    def _n_extra(self) -> int:
        """Number of columns for an intercept."""
        return int(getattr(self.parts.model, "fit_intercept", False))

    def _fold(self, i, train, test):
        """Data of a fold: numbers, with targets and weights in the form of the losses."""
        X, y = self._data
        (X_train, y_train), (X_test, y_test) = (
            safe_split(self.parts.model, X, y, rows) for rows in (train, test)
        )
        for _, step in self.parts.before:
            step = clone(step)
            X_train = step.fit_transform(X_train, y_train)
            X_test = step.transform(X_test)
        T, T_val = (_targets(self.parts.model, each, self._classes) for each in (y_train, y_test))
        if self._classes is not None and not (T > 0).any(axis=0).all():
            raise ValueError(
                f"The training set of fold {i} lacks one of the {len(self._classes)} classes: "
                "pass a stratified cv, or fewer folds."
            )
        losses = _losses(self.parts.model, T.shape[1])
        rows = [self._columns(each) for each in (X_train, X_test)]
        weights = self._weights(train, y_train, T)
        return Fold(rows[0], T, weights, rows[1], T_val, *losses)

    def _columns(self, X):
        """Rows as dense numbers, with the column of an intercept."""
        X = check_array(X.toarray() if issparse(X) else X, dtype=float)
        scaling = float(getattr(self.parts.model, "intercept_scaling", 1))
        scaling = 1.0 if isinstance(self.parts.model, LogisticRegression) else scaling
        return np.hstack([X, np.full((len(X), self._n_extra), scaling)])

    def _weights(self, train, y_train, T):
        """Weights of the training rows, of (n, 1) or (n, n_outputs)."""
        model, params = self.parts.model, self._fit_params
        params = check_method_params(self._data[0], params=params, indices=train)
        weights = next((each for each in params.values() if each is not None), 1.0)
        weights = np.broadcast_to(np.asarray(weights, dtype=float), len(T))[:, None]
        if (class_weight := getattr(model, "class_weight", None)) is None:
            return weights
        by_class = compute_sample_weight(class_weight, y_train)[:, None]
        if isinstance(model, LinearSVC) and T.shape[1] > 1:
            by_class = np.where(T > 0, by_class, 1.0)  # liblinear weights one class only
        return weights * by_class


def _check_target(model, y, classes):
    """Raise ValueError for a target that is missing, or has several columns of labels."""
    if y is None:
        raise ValueError(
            f"This {type(model).__name__} estimator requires y to be passed, but the target y is "
            "None."
        )
    if isinstance(classes, list):
        raise ValueError(
            f"y has {len(classes)} columns of labels, but this search differentiates the loss of "
            "one: search for each column separately."
        )


def _check_fit_params(parts, fit_params):
    """Raise ValueError for arguments that cannot be passed to ``fit``."""
    known = {"sample_weight", f"{parts.prefix}sample_weight"}
    known = set() if isinstance(parts.model, KernelRidge) else known
    if unknown := sorted(
        name for name, value in fit_params.items() if name not in known and value is not None
    ):
        raise ValueError(
            f"fit was passed {', '.join(unknown)}, which this search cannot differentiate: leave "
            f"it out{', or pass ' + max(known, key=len) if known else ''}."
        )


def _targets(model, y, classes):
    """Targets in the form of the losses: numbers, signs, or one-hot rows."""
    if classes is None:
        T = check_array(y, dtype=float, ensure_2d=False, input_name="y")
        return T.reshape(len(T), -1)
    hot = (np.asarray(y).reshape(-1, 1) == classes).astype(float)
    if len(classes) == 2:
        return 2 * hot[:, 1:] - 1
    return hot if isinstance(model, LogisticRegression) else 2 * hot - 1


def _losses(model: Any, n_outputs: int) -> tuple[Loss, Loss, float]:
    """Training loss, validation loss, and the factor of the latter."""
    if isinstance(model, LogisticRegression):
        loss: Loss = Softmax() if n_outputs > 1 else Logistic()
        return loss, loss, 1.0
    if isinstance(model, LinearSVC):
        return SquaredHinge(), SquaredHinge(), 1.0
    if isinstance(model, LinearSVR):
        return SquaredInsensitive(model.epsilon), Squared(), 2.0
    return Squared(), Squared(), 2.0
