"""Substitute models with known predictions, for scorers that use only predictions.

Such a scorer may request predictions for its rows in any order, number and container. Scorers that
use more of a model are detected, and cannot score averages.
"""

import warnings
from collections.abc import Collection
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier

from sksearch._utils._compat import check_method_params, safe_split, to_numpy
from sksearch._utils._seeds import seeded
from sksearch._utils._terminal import warn
from sksearch._utils._typing import Samples, Targets
from sksearch.estimators._pipeline import copied
from sksearch.fitting.finish._averaged import Voting
from sksearch.fitting.run._curves import value_of
from sksearch.fitting.run._known_rows import KnownRows, UnknownRowsError
from sksearch.fitting.run._predictions import Classes, as_classes, logarithms, split_columns
from sksearch.fitting.run._tasks import Context

METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function")
#: Relative; a score that differs by more is another one.
ROUNDING = 1e-6


class NotOfPredictionsError(ValueError):
    """A scorer needs more of a model than predictions for its rows."""


def warn_of_no_average(why: str) -> None:
    """Warn that the best candidate is used alone, because averages cannot be scored."""
    warn(
        "The best candidate is used alone, although ensemble is set: averages are chosen by their "
        f"test fold predictions, but scoring cannot score predictions alone: {why}. Pass a metric "
        "of predictions, or leave ensemble out.",
    )


class ScoredRows:
    """Some test rows of a fold, in the form passed to a scorer.

    Parameters
    ----------
    context : Context
        Context of the search.
    fold : int
        Index of the fold.
    places : ndarray of int
        Among the test rows of the fold.
    """

    def __init__(self, context: Context, fold: int, places: np.ndarray) -> None:
        train, test = (to_numpy(rows) for rows in context.splits[fold])
        self.indices = test[places]
        args = context.estimator, context.X, context.y, self.indices, train
        self.X, self.y = safe_split(*args)
        self.known = KnownRows(self.X)

    def score(self, context: Context, model: Any, scorer: Any = None, X: Any = None) -> float:
        """Return the score of the deciding metric, on a copy X of the rows if it is given.

        Raises
        ------
        NotOfPredictionsError
            If predictions for other rows were requested.
        """
        params = check_method_params(context.X, params=context.score_params, indices=self.indices)
        self.known.fault = ""
        X = self.X if X is None else X
        scores: Any = (scorer or context.scorer)(model, X, self.y, **params)
        if self.known.fault:  # even if the scorer has caught the error
            raise NotOfPredictionsError(self.known.fault)
        value = value_of(scores, context.metric)
        if isinstance(value, str):  # the traceback of one of several metrics
            raise RuntimeError(value.strip().splitlines()[-1])
        return float(value)


class _StandIn(BaseEstimator):
    """A substitute for a fitted model, with predictions for known rows."""

    known: KnownRows

    def fit(self, X: Samples, y: Targets = None) -> Any:
        """Raise an error: a scorer that trains needs more than predictions."""
        self.known.fault = "it fits the model again"
        raise UnknownRowsError("Only the predictions of this model are known.")

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_clone__(self) -> Any:
        return self  # raises an error if the scorer fits, to detect such scorers

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"{type(self).__name__}()"  # short, for error messages


class _Told(_StandIn):
    """Base class of both kinds."""

    def __init__(self, known: KnownRows, told: Any) -> None:
        self.known = known
        self.told = told

    @property
    def n_features_in_(self) -> int:
        """Number of columns of X."""
        shape: Any = getattr(self.known.X, "shape", ())
        if len(shape) != 2:
            raise AttributeError("n_features_in_")
        return int(shape[1])

    @property
    def feature_names_in_(self) -> np.ndarray:
        """Names of the columns of X."""
        names = list(getattr(self.known.X, "columns", ()))
        if not names or not all(isinstance(name, str) for name in names):
            raise AttributeError("feature_names_in_")
        return np.array(names, dtype=object)


class KnownClassifier(Voting, _Told):
    """Substitute for a classifier, with known probabilities for some rows.

    Parameters
    ----------
    known : KnownRows
        The rows.
    told : list of ndarray
        Shares, by column of the target.
    classes : list of ndarray
        Labels of each column of the target.
    """

    def __init__(self, known: KnownRows, told: Any, classes: Classes) -> None:
        super().__init__(known, told)
        self.classes = classes

    def predict_proba(self, X: Samples) -> Any:
        """Return the shares of some of the rows."""
        shares = self._shares(X)
        return shares[0] if len(shares) == 1 else shares

    def _known(self) -> Classes:
        return self.classes

    def _shares(self, X: Samples) -> list[np.ndarray]:
        return [self.known.entries(X, part) for part in self.told]


class KnownRegressor(RegressorMixin, _Told):
    """Substitute for a regressor, with known predictions for some rows.

    Parameters
    ----------
    known : KnownRows
        The rows.
    told : ndarray of shape (n_rows, n_outputs)
        Predictions.
    """

    def predict(self, X: Samples) -> Any:
        """Return the predictions for some of the rows."""
        given = self.known.entries(X, self.told)
        return given[:, 0] if given.shape[1] == 1 else given


def known_model(context: Context, known: KnownRows, predictions: np.ndarray) -> Any:
    """Return a substitute model for scorers, with these predictions."""
    if not is_classifier(context.estimator):
        return KnownRegressor(known, predictions)
    classes = as_classes(context.classes)
    return KnownClassifier(known, split_columns(predictions, classes), classes)


class _Echo(_StandIn):
    """A substitute that returns stored results of the methods of a model.

    Parameters
    ----------
    known : KnownRows
        The rows.
    answers : dict of str to object
        The model's return values by method.
    like : estimator object
        The model to imitate: its kind and labels.
    """

    def __init__(self, known: KnownRows, answers: dict[str, Any], like: Any) -> None:
        self.known = known
        self.answers = answers
        self.like = like

    def __sklearn_tags__(self) -> Any:
        return self.like.__sklearn_tags__()

    def score(self, X: Samples, y: Targets, sample_weight: Targets = None) -> float:
        """Return the accuracy, or R squared, as scikit-learn's default ``score`` does."""
        kind: Any = ClassifierMixin if is_classifier(self.like) else RegressorMixin
        return kind.score(self, X, y, sample_weight)

    def __getattr__(self, name: str) -> Any:
        if name in METHODS and name in vars(self).get("answers", {}):

            def answer(X: Samples) -> Any:
                return self._answer(name, X)

            answer.__name__ = name  # scorers look at it
            return answer
        if name == "classes_" and name in vars(self).get("answers", {}):
            return self.answers[name]
        if name in ("classes_", "n_features_in_", "feature_names_in_") and "like" in vars(self):
            return getattr(self.like, name)
        raise AttributeError(f"{type(self).__name__} has no {name}")

    def _answer(self, name: str, X: Samples) -> Any:
        given = self.answers[name]
        if isinstance(given, list):
            return [self.known.entries(X, part) for part in given]
        return self.known.entries(X, given)


def true_shares(context: Context, y: np.ndarray) -> np.ndarray:
    """Return one-hot probabilities for the labels y, of shape (n, n_columns)."""
    pairs = zip(as_classes(context.classes), y.T, strict=True)
    return np.hstack([np.eye(len(k))[np.searchsorted(k, column)] for k, column in pairs])


def why_not_served(context: Context, methods: Collection[str]) -> str:
    """Return why a scorer cannot score classifiers with only these methods.

    Parameters
    ----------
    context : Context
        Context of the search.
    methods : collection of str
        Some of `METHODS`.

    Returns
    -------
    why : str
        The error; "" if it can, or if it cannot score any classifier.
    """
    rows = ScoredRows(context, 0, np.arange(len(context.splits[0][1])))
    y, classes = to_numpy(rows.y), as_classes(context.classes)
    shares = split_columns(true_shares(context, y.reshape(len(y), -1)), classes)
    alone = shares[0][:, 1] - 0.5 if shares[0].shape[1] == 2 else shares[0]
    whole = {
        "predict": y,
        "predict_proba": shares[0] if len(shares) == 1 else shares,
        "decision_function": alone if len(shares) == 1 else np.hstack(shares),
    }
    whole["predict_log_proba"] = logarithms(whole["predict_proba"])
    labels = {"classes_": classes[0] if len(classes) == 1 else classes}

    def error_with(names: Collection[str]) -> str:
        answers = {name: whole[name] for name in names}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                rows.score(context, _Echo(rows.known, answers | labels, context.estimator))
            except Exception as error:
                text = f"{type(error).__name__}: {error}"
                return str(error) if isinstance(error, RuntimeError) else text
        return ""

    error = error_with(methods)
    is_missing = error.startswith("AttributeError: ") and not error_with(METHODS)
    return error.removeprefix("AttributeError: ") if is_missing else ""


def why_not_of_predictions(context: Context, model: Any) -> str:
    """Return why a scorer needs more than predictions, "" if it does not.

    Its score of a model is compared with its score of the model's predictions alone.

    Parameters
    ----------
    context : Context
        Context of the search, with the rows of the kept predictions.
    model : estimator object
        Fitted.

    Returns
    -------
    why : str
        A clause about ``scoring``.
    """
    kept: Any = context.kept
    found = ""
    for fold in range(len(context.splits)):
        rows = ScoredRows(context, fold, kept[fold])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the search has already shown these warnings
            try:
                return _difference(context, rows, model)
            except Exception as error:  # a fold may have no score, such as an AUC of one class
                found = found or f"it raises {type(error).__name__} ({error})"
    return found


def _difference(context: Context, rows: ScoredRows, model: Any) -> str:
    """Compare the score of a model with the score of its predictions."""

    def score(each: Any, X: Any = None) -> float:
        with seeded(context.seed):  # scorers may draw rows
            return rows.score(context, each, X=X)

    # The model may change rows
    own = score(model, copied(rows.X))
    methods = [name for name in METHODS if hasattr(model, name)]
    answers = {name: getattr(model, name)(copied(rows.X)) for name in methods}
    answers = {k: v if isinstance(v, list) else to_numpy(v) for k, v in answers.items()}
    try:
        told = score(_Echo(rows.known, answers, model))
    except NotOfPredictionsError as error:
        return str(error)
    except Exception as error:
        return f"it needs more than the predictions of a model ({type(error).__name__}: {error})"
    if np.isclose(own, told, rtol=ROUNDING, equal_nan=True):
        return ""
    if not np.isclose(own, score(model, copied(rows.X)), rtol=ROUNDING, equal_nan=True):
        return ""  # the scorer is random, for averages as for single models
    return f"it returns {own:.4g} for the best model, but {told:.4g} for its predictions alone"
