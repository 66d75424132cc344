"""The only file that touches private scikit-learn names and joblib.

scikit-learn 1.7 to 1.9 are supported; callbacks exist from 1.9 on and are no-ops before.
"""

import copy
import inspect
import math
import sys
import warnings
from collections.abc import Callable, Collection
from functools import wraps
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np
from joblib._utils import eval_expr
from scipy.sparse import issparse
from sklearn import get_config
from sklearn.base import _fit_context
from sklearn.metrics import accuracy_score, get_scorer, r2_score
from sklearn.metrics._scorer import (
    _BaseScorer,
    _MultimetricScorer as MultimetricScorer,
    _PassthroughScorer,
)
from sklearn.model_selection._search import (
    _yield_masked_array_for_each_param as masked_param_columns,
)
from sklearn.model_selection._search_successive_halving import (
    HalvingGridSearchCV as SklearnHalvingGrid,
    HalvingRandomSearchCV as SklearnHalvingRandom,
)
from sklearn.model_selection._split import GroupsConsumerMixin
from sklearn.model_selection._validation import (
    _normalize_score_results as normalize_score_results,
    _warn_or_raise_about_fit_failures as warn_or_raise_about_fit_failures,
)
from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils._array_api import _convert_to_numpy, get_namespace, get_namespace_and_device
from sklearn.utils._param_validation import (
    HasMethods,
    Interval as _Interval,
    InvalidParameterError,
    StrOptions as _StrOptions,
    validate_parameter_constraints,
)
from sklearn.utils.metadata_routing import (
    _routing_enabled as routing_enabled,
    get_routing_for_object,
    process_routing,
)
from sklearn.utils.metaestimators import _safe_split as safe_split
from sklearn.utils.parallel import delayed
from sklearn.utils.validation import (
    _check_method_params as check_method_params,
    _num_samples as num_samples,
)

from sksearch._utils._numerics import with_users_errors
from sksearch._utils._overrides import PREDICTION, TRAINING, overridden

try:
    import cloudpickle  # a dependency of joblib from 1.6 on
except ImportError:
    from joblib.externals import cloudpickle

__all__ = [
    "FOLDS_DIFFER",
    "BaseSearchCV",
    "GroupsConsumerMixin",
    "HasMethods",
    "Interval",
    "InvalidParameterError",
    "MultimetricScorer",
    "SklearnHalvingGrid",
    "SklearnHalvingRandom",
    "StrOptions",
    "check_method_params",
    "cloudpickle",
    "configured",
    "consumed_params",
    "fault_of",
    "fit_context",
    "has_mlp_ended",
    "is_hist_gradient_boosting",
    "is_scorer",
    "is_valid_value",
    "listening",
    "masked_param_columns",
    "metric_of_scorer",
    "normalize_score_results",
    "num_samples",
    "owner_of",
    "pre_dispatch_count",
    "reads_predictions",
    "routing_enabled",
    "safe_indexing",
    "safe_split",
    "set_generator_of_mlp",
    "set_rate_of_mlp",
    "task_of_metric",
    "to_namespace_of",
    "to_numpy",
    "trees_attribute",
    "unlisted_params",
    "warn_or_raise_about_fit_failures",
    "whole_range",
]

Method = TypeVar("Method", bound=Callable)

#: Beginning of scikit-learn's error for a splitter with fewer folds than declared.
FOLDS_DIFFER = "cv.split and cv.get_n_splits return"
if find_spec("sklearn.callback") is None:  # before 1.9
    FOLDS_DIFFER += "ed"


class Interval(_Interval):
    """scikit-learn's ``Interval`` constraint, without some invalid numbers.

    It excludes True and False, integers of hundreds of digits, and fractions, which NumPy cannot
    check for NaN.
    """

    def is_satisfied_by(self, val: Any) -> bool:
        """True if a value may be passed."""
        if isinstance(val, bool | np.bool_):
            return False
        try:
            is_one = super().is_satisfied_by(val)
            return is_one and (isinstance(val, float) or abs(val) <= sys.maxsize)
        except TypeError:  # what cannot be compared is not inside
            return False

    __repr__ = _Interval.__str__


class StrOptions(_StrOptions):
    """scikit-learn's ``StrOptions`` with a readable repr for signatures."""

    __repr__ = _StrOptions.__str__


if TYPE_CHECKING:

    class BaseSearchCV:
        """For type checkers, which otherwise miss the parameters of a subclass."""

        _parameter_constraints: ClassVar[dict[str, list]]
        best_estimator_: Any
        best_index_: int
        best_params_: dict[str, Any]
        best_score_: float
        cv_results_: dict[str, Any]

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...
        def __sklearn_clone__(self) -> Self: ...
        def _validate_params(self) -> None: ...
        def get_metadata_routing(self) -> Any: ...
        def predict(self, X: Any) -> Any: ...
        def score(self, X: Any, y: Any = None, **params: Any) -> float: ...
        def __getstate__(self) -> dict[str, Any]: ...
        def __getattr__(self, name: str) -> Any: ...  # other attributes, some only after fit

    def fit_context(fit: Method) -> Method: ...

else:
    from sklearn.model_selection._search import BaseSearchCV

    #: Validates the constructor's parameters, and tears callbacks down after ``fit``.
    fit_context = _fit_context(prefer_skip_nested_validation=False)


def configured(function: Callable) -> Callable:
    """Make a picklable `function` that runs with this thread's settings.

    These are scikit-learn's configuration, warning filters, and floating-point error handling.
    """
    wrapper = delayed(with_users_errors(function))()[0]
    return wrapper.with_config_and_warning_filters(get_config(), list(warnings.filters))


def pre_dispatch_count(pre_dispatch: Any, n_jobs: int, least: int = 1) -> float:
    """Return the maximum number of running tasks; `pre_dispatch`: int, "2*n_jobs" or "all"."""
    if pre_dispatch == "all":
        return float("inf")
    if isinstance(pre_dispatch, str):
        pre_dispatch = eval_expr(pre_dispatch.replace("n_jobs", str(n_jobs)))
    return max(int(pre_dispatch), least)


def is_hist_gradient_boosting(estimator: Any) -> bool:
    """True if an estimator is one of ``sklearn.ensemble.HistGradientBoosting...``."""
    # Importing the module takes a while, and users of such an estimator have imported it.
    module = sys.modules.get("sklearn.ensemble._hist_gradient_boosting.gradient_boosting")
    return module is not None and isinstance(estimator, module.BaseHistGradientBoosting)


def is_scorer(scoring: Any) -> bool:
    """True for an unmodified result of ``make_scorer``."""
    return isinstance(scoring, _BaseScorer) and not overridden(scoring, ("__call__", "_score"))


def listening(
    scorer: Any, metric: str | None, hear: Callable[[Callable, int, tuple, dict], None]
) -> Any:
    """Return a scorer with the same scores that reports the arguments of its metric.

    Parameters
    ----------
    scorer : callable
        The scorer that ``scoring`` names.
    metric : str or None
        The metric to report, of several; None: the first.
    hear : callable
        Called with the metric's function, the sign of the score, and the arguments, positional
        and others.

    Returns
    -------
    scorer : callable
        The given one if its metric is unknown, as for a user's function.
    """
    if isinstance(scorer, MultimetricScorer):
        scorers = dict(scorer._scorers)
        name = metric if metric in scorers else next(iter(scorers))
        if is_scorer(scorers[name]):
            scorers[name] = listening(scorers[name], None, hear)
        return MultimetricScorer(scorers=scorers, raise_exc=scorer._raise_exc)
    if isinstance(scorer, _PassthroughScorer):
        return _score_method(hear)
    if not is_scorer(scorer):
        return scorer
    function, sign = scorer._score_func, scorer._sign
    scorer = copy.copy(scorer)

    @wraps(function)  # scorers look at the signature
    def heard(*args, **kwargs):
        hear(function, sign, args, kwargs)
        return function(*args, **kwargs)

    scorer._score_func = heard
    return scorer


def _score_method(hear):
    """``score`` of an estimator, if inherited from scikit-learn's classifier or regressor."""

    def score(estimator, X, *y, **params):
        function = _OWN_METRICS.get(_name_of_score(estimator))
        if function is None or params or len(y) != 1:
            return estimator.score(X, *y, **params)
        args = *y, estimator.predict(X)
        hear(function, 1, args, {})
        return function(*args)

    return score


#: Metrics by module and name of the method ``score``.
_OWN_METRICS = {
    ("sklearn.base", "ClassifierMixin.score"): accuracy_score,
    ("sklearn.base", "RegressorMixin.score"): r2_score,
    ("sklearn.neighbors._classification", "KNeighborsClassifier.score"): accuracy_score,
}


def _name_of_score(estimator):
    """Module and name of the method ``score``; a pipeline uses its last step's.

    It is (None, None) if ``score`` may differ from the score of ``predict``: in a pipeline it is
    called with transformed rows, bypassing a ``predict`` of the pipeline's own class.
    """
    while not overridden(estimator, ("score",)):
        method = inspect.getattr_static(type(estimator), "score", None)
        module = getattr(method, "__module__", None)
        if module not in ("sklearn.pipeline", "imblearn.pipeline"):
            return module, getattr(method, "__qualname__", None)
        if overridden(estimator, PREDICTION + TRAINING):
            break
        estimator = estimator.steps[-1][1]
    return None, None


def task_of_metric(name: str) -> str:
    """Return a scorer's kind of target: "regression", "classification", or otherwise ""."""
    module = getattr(get_scorer(name), "_score_func", np).__module__.rpartition(".")[2]
    kinds = {"_regression": "regression", "_classification": "classification"}
    return kinds.get(module, "classification" if module == "_ranking" else "")


def metric_of_scorer(scorer: Any, estimator: Any = None) -> tuple[Any, int]:
    """Return the function that a scorer calls with predictions, None if unknown, and its sign.

    `estimator` is the scored one; None for the estimator of the search.
    """
    if isinstance(scorer, _PassthroughScorer):
        owner = scorer._estimator if estimator is None else estimator
        return _OWN_METRICS.get(_name_of_score(owner)), 1
    if not is_scorer(scorer):
        return None, 0
    return scorer._score_func, scorer._sign


def reads_predictions(scorer: Any, estimator: Any) -> bool:
    """Return True if a scorer, or each of several, passes predictions alone to a metric."""
    scorers = scorer._scorers.values() if isinstance(scorer, MultimetricScorer) else [scorer]
    return all(metric_of_scorer(each, estimator)[0] is not None for each in scorers)


def trees_attribute(boosting: Any) -> str:
    """Attribute with the trees of a scikit-learn booster, one entry per step."""
    return "_predictors" if is_hist_gradient_boosting(boosting) else "estimators_"


def to_numpy(array: Any) -> np.ndarray:
    """Return a NumPy copy or view of an array of any array API namespace, sparse, or of a list."""
    if type(array) is np.ndarray:
        return array
    if issparse(array):
        return np.asarray(array.toarray())
    xp, _ = get_namespace(array)
    return np.asarray(_convert_to_numpy(array, xp))


def to_namespace_of(X: Any, indices: Collection) -> tuple:
    """Return indices in the namespace and on the device of X."""
    if type(X) is np.ndarray:
        return tuple(np.asarray(index) for index in indices)
    xp, _, device = get_namespace_and_device(X)
    return tuple(xp.asarray(index, device=device) for index in indices)


def owner_of(estimator: Any, name: str) -> tuple[Any, str]:
    """Return the estimator that a parameter belongs to, and its name there.

    If the nested estimator is missing, the name keeps its prefix.
    """
    prefix, _, leaf = name.rpartition("__")
    owner = estimator.get_params().get(prefix) if prefix else estimator
    nested = hasattr(owner, "get_params") and not isinstance(owner, type)
    return (owner, leaf) if nested else (estimator, name)


def unlisted_params(estimator: Any) -> set[str]:
    """Return the arguments of ``__init__`` that ``get_params`` does not list."""
    taken = inspect.signature(type(estimator).__init__).parameters.values()
    if any(p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL) for p in taken):
        return set()
    # "params" of a base class of a booster is a dict of them.
    return {p.name for p in taken} - {"self", "params", *estimator.get_params(deep=False)}


def is_valid_value(estimator: Any, name: str, value: Any) -> bool:
    """Return whether the estimator's own parameter validation accepts a value.

    Parameters
    ----------
    estimator : estimator object
        The estimator, which may have nested parameters.
    name : str
        Name of the parameter, as in ``set_params``.
    value : object
        A candidate value.

    Returns
    -------
    valid : bool
        False if invalid, or if the estimator has no such validation.
    """
    return fault_of(estimator, name, value) == ""


def fault_of(estimator: Any, name: str, value: Any) -> str | None:
    """Return the message of the estimator's own parameter validation for a value.

    It is "" for a valid value, and None if the estimator has no such validation.
    """
    owner_name, _, leaf = name.rpartition("__")
    owner = estimator.get_params().get(owner_name, estimator if not owner_name else None)
    constraints = getattr(owner, "_parameter_constraints", {})
    if leaf not in constraints:
        return None
    try:
        validate_parameter_constraints(
            {leaf: constraints[leaf]}, {leaf: value}, caller_name=type(owner).__name__
        )
    except InvalidParameterError as error:
        return str(error)
    return ""


def whole_range(estimator: Any, name: str, low: float, high: float) -> tuple[int, int] | None:
    """Return the valid whole numbers of a range, if a parameter takes only integers.

    Parameters
    ----------
    estimator : estimator object
        The estimator, which may have nested parameters.
    name : str
        Name of the parameter.
    low, high : float
        Ends of the range.

    Returns
    -------
    ends : tuple of (int, int) or None
        Smallest and largest; None if it takes other numbers or has no such validation.
    """
    inner = np.linspace(low, high, 12)[1:-1].tolist()
    if any(is_valid_value(estimator, name, x) for x in inner if not x.is_integer()):
        return None
    first, last = math.ceil(low), math.floor(high)
    near = [*range(first, first + 3), *range(last - 2, last + 1)]  # a bound may be near an end
    taken = [k for k in near if low <= k <= high and is_valid_value(estimator, name, k)]
    return (min(taken), max(taken)) if taken else None


def consumed_params(pipeline: Any, fit_params: dict[str, Any]) -> tuple[dict, dict]:
    """Divide the ``fit`` parameters of a pipeline between its transformers and its last step.

    Parameters
    ----------
    pipeline : Pipeline or TransformedTargetRegressor
        A pipeline of one step or more, or a regressor with all parameters for its inner one.
    fit_params : dict
        Parameters for ``fit`` of the pipeline.

    Returns
    -------
    head_params, last_params : dict
        Parameters for ``fit_transform`` of the pipeline without its last step, and for ``fit`` of
        the last step: by metadata requests if routing is enabled, otherwise by the ``step__``
        prefix.

    Raises
    ------
    ValueError
        If there are parameters for transformers, but no transformers.
    """
    if not hasattr(pipeline, "steps"):
        if routing_enabled():
            fit_params = process_routing(pipeline, "fit", **fit_params).regressor.fit
        return {}, dict(fit_params)
    head, (name, _) = pipeline[:-1], pipeline.steps[-1]
    if hasattr(pipeline, "prefixed"):  # one of several models, all of which get the same
        fit_params = pipeline.prefixed(fit_params)
    if routing_enabled():
        last_params = process_routing(pipeline, "fit", **fit_params)[name].fit
        routing = get_routing_for_object(head) if head.steps else None
        names = routing.consumes("fit_transform", fit_params) if routing else ()
        return {key: fit_params[key] for key in names}, dict(last_params)
    prefix = f"{name}__"
    last_params = {
        key.removeprefix(prefix): value
        for key, value in fit_params.items()
        if key.startswith(prefix)
    }
    head_params = {k: v for k, v in fit_params.items() if not k.startswith(prefix)}
    if head_params and not head.steps:
        raise ValueError(
            f"Pipeline.fit does not accept the {', '.join(head_params)} parameter: write "
            f"{prefix}{next(iter(head_params))} to pass it to the step {name!r}."
        )
    return head_params, last_params


def set_rate_of_mlp(mlp: Any) -> None:
    """Make a fitted MLP continue with its ``learning_rate_init``, which it reads only once."""
    optimizer = getattr(mlp, "_optimizer", None)
    if type(mlp).__module__.startswith("sklearn.neural_network.") and optimizer is not None:
        # The optimizer's own schedule (invscaling, adaptive) is scaled in proportion.
        optimizer.learning_rate *= mlp.learning_rate_init / optimizer.learning_rate_init
        optimizer.learning_rate_init = mlp.learning_rate_init
        mlp._no_improvement_count = 0


def has_mlp_ended(mlp: Any) -> bool:
    """True if its loss has stalled long enough for ``fit`` to stop."""
    return getattr(mlp, "_no_improvement_count", 0) > mlp.n_iter_no_change


def set_generator_of_mlp(mlp: Any, generator: np.random.RandomState) -> None:
    """Give an MLP the generator that it would have after ``fit``."""
    mlp._random_state = generator
