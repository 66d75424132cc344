"""Search spaces of other libraries, as dicts for `Space` that can be printed and edited.

Objects are recognised by class names and attributes, so none of the libraries is imported.
"""

import numbers
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

import numpy as np
from scipy import stats
from scipy.stats.distributions import rv_frozen

from sksearch._utils._terminal import warn

from ._conditions import When
from ._distributions import LogRandInt
from ._values import native

SpaceDict = dict[str, Any]


def from_skopt(search_spaces: Mapping | tuple | list) -> SpaceDict | list[SpaceDict]:
    """Translate a search space of scikit-optimize's BayesSearchCV.

    Parameters
    ----------
    search_spaces : dict, (dict, int) or list of those
        Search space of BayesSearchCV. Each parameter has a skopt dimension, a tuple
        ``(low, high)`` or ``(low, high, prior)`` that includes both bounds, or a list of
        categories. Numbers of iterations are ignored.

    Returns
    -------
    dict or list of dict
        Search space; a list if `search_spaces` is a list.

    Raises
    ------
    TypeError
        If the type of a dimension is unknown.
    ValueError
        If the categories of a dimension are not equally likely.

    Notes
    -----
    A list is a list of categories, as documented by scikit-optimize. However, version 0.10 reads
    ``[1, 10]`` as a range, so there is a warning for a list of two numbers.

    Examples
    --------
    >>> from sksearch.space import from_skopt
    >>> from_skopt({"degree": (1, 100, "log-uniform"), "kernel": ["linear", "rbf"]})
    {'degree': LogRandInt(1, 101), 'kernel': ['linear', 'rbf']}
    """
    if isinstance(search_spaces, Mapping):
        return {name: _from_skopt_dimension(name, d) for name, d in search_spaces.items()}
    if isinstance(search_spaces, tuple) and isinstance(search_spaces[-1], numbers.Integral):
        return from_skopt(search_spaces[0])
    spaces: list[Any] = [from_skopt(item) for item in search_spaces]
    return spaces


def from_optuna(distributions: Mapping[str, Any]) -> SpaceDict:
    """Translate a dict of Optuna's distributions.

    Parameters
    ----------
    distributions : dict of str to optuna.distributions.BaseDistribution
        Distributions, as passed to OptunaSearchCV or in an attribute of a trial.

    Returns
    -------
    dict
        Search space. A distribution with a step becomes a list of its values.

    Raises
    ------
    TypeError
        If the type of a distribution is unknown.

    Examples
    --------
    >>> from optuna.distributions import FloatDistribution, IntDistribution
    >>> from sksearch.space import from_optuna
    >>> from_optuna({
    ...     "subsample": FloatDistribution(0.1, 0.4, step=0.1),
    ...     "n_estimators": IntDistribution(1, 500, log=True),
    ... })
    {'subsample': [0.1, 0.2, 0.3, 0.4], 'n_estimators': LogRandInt(1, 501)}
    """
    return {name: _from_optuna_distribution(name, d) for name, d in distributions.items()}


def from_configspace(space: Any) -> SpaceDict:
    """Translate a ConfigurationSpace of ConfigSpace 1.0 or later.

    Parameters
    ----------
    space : ConfigSpace.ConfigurationSpace
        Hyperparameters and conditions.

    Returns
    -------
    dict
        Search space, in which conditions are `When` objects.

    Raises
    ------
    TypeError
        If the type of a hyperparameter is unknown.
    ValueError
        If the space has forbidden clauses, conditions joined by Or, unequal weights, or a normal
        or beta distribution on a log scale.

    Examples
    --------
    >>> from ConfigSpace import ConfigurationSpace, EqualsCondition
    >>> from sksearch.space import from_configspace
    >>> space = ConfigurationSpace({"kernel": ["linear", "rbf"], "degree": [2, 3]})
    >>> space.add(EqualsCondition(space["degree"], space["kernel"], "rbf"))
    >>> from_configspace(space)["degree"]
    When(values=[2, 3], parent='kernel', op='==', threshold='rbf')
    """
    if space.forbidden_clauses:
        clause = space.forbidden_clauses[0]
        raise ValueError(f"the space has the forbidden clause {clause}: remove it.")
    params = {name: _from_hyperparameter(name, space[name]) for name in space}
    for condition in space.conditions:
        name = condition.child.name
        params[name] = _when(params[name], condition)
    return params


def _uniform(low: float, high: float, log: bool) -> rv_frozen | list[float]:
    """Return a real distribution on [low, high]; a list if there is only one value."""
    low, high = float(low), float(high)
    if low == high:
        return [low]
    return stats.loguniform(low, high) if log else stats.uniform(low, high - low)


def _integers(low: int, high: int, log: bool) -> rv_frozen | LogRandInt:
    """Return a distribution on the integers low .. high, both included."""
    low, high = int(low), int(high)
    return LogRandInt(low, high + 1) if log else stats.randint(low, high + 1)


def _equally_likely(name: str, choices: Iterable, weights: Any) -> list:
    """Return the choices as a list; raise if their weights differ."""
    if weights is not None and not np.allclose(weights, weights[0]):
        raise ValueError(
            f"the choices of {name!r} have the weights {list(weights)}, but the choices of a list "
            "are equally likely: remove the weights, or repeat the parameter in a list of dicts."
        )
    return [native(choice) for choice in choices]


def _unknown(name: str, value: Any, library: str) -> TypeError:
    return TypeError(f"{name!r} is {value!r}, not a translatable {library}.")


def _from_skopt_dimension(name: str, dimension: Any) -> Any:
    """Translate one dimension of scikit-optimize, or its short form."""
    kind = type(dimension).__name__
    if kind == "Categorical":
        return _equally_likely(name, dimension.categories, dimension.prior)
    if kind in ("Real", "Integer"):
        make = _integers if kind == "Integer" else _uniform
        return make(dimension.low, dimension.high, dimension.prior == "log-uniform")
    if not isinstance(dimension, (list, tuple, np.ndarray)):
        raise _unknown(name, dimension, "scikit-optimize dimension")
    is_range = _is_number_pair(dimension[:2]) and (
        len(dimension) == 2 or dimension[2] in ("uniform", "log-uniform")
    )
    if isinstance(dimension, tuple) and is_range:
        integers = all(isinstance(bound, numbers.Integral) for bound in dimension[:2])
        low, high = dimension[:2]
        return (_integers if integers else _uniform)(low, high, dimension[2:3] == ("log-uniform",))
    if is_range:
        warn(
            f"{name}={dimension!r} is read as {len(dimension)} choices; scikit-optimize up to "
            "0.10 reads it as a range. For a range, write a tuple.",
        )
    return [native(choice) for choice in dimension]


def _is_number_pair(values: Any) -> bool:
    numeric = all(isinstance(native(value), (int, float)) for value in values)
    return len(values) == 2 and numeric and not any(isinstance(native(v), bool) for v in values)


def _from_optuna_distribution(name: str, distribution: Any) -> Any:
    """Translate one Optuna distribution."""
    if hasattr(distribution, "choices"):
        return list(distribution.choices)
    kind = type(distribution).__name__
    if not kind.endswith("Distribution") or not hasattr(distribution, "step"):
        raise _unknown(name, distribution, "Optuna distribution")
    low, high, step = distribution.low, distribution.high, distribution.step
    if kind.startswith("Int"):
        if step == 1:
            return _integers(low, high, distribution.log)
        return list(range(low, high + 1, step))
    if step is None:
        return _uniform(low, high, distribution.log)
    # Decimal arithmetic, because 0.1 + 2 * 0.1 is 0.30000000000000004 in floats.
    start, stop, stride = (Decimal(repr(float(value))) for value in (low, high, step))
    return [float(start + i * stride) for i in range(int((stop - start) / stride) + 1)]


def _from_hyperparameter(name: str, hyperparameter: Any) -> Any:
    """Translate one hyperparameter of ConfigSpace, without its conditions."""
    kind = type(hyperparameter).__name__.removesuffix("Hyperparameter")
    if kind == "Constant":
        return [native(hyperparameter.value)]
    if kind == "Ordinal":
        return [native(value) for value in hyperparameter.sequence]
    if kind == "Categorical":
        return _equally_likely(name, hyperparameter.choices, hyperparameter.weights)
    low: Any = getattr(hyperparameter, "lower", None)
    high: Any = getattr(hyperparameter, "upper", None)
    if kind == "UniformFloat":
        return _uniform(low, high, hyperparameter.log)
    if kind == "UniformInteger":
        return _integers(low, high, hyperparameter.log)
    if kind not in ("NormalFloat", "NormalInteger", "BetaFloat", "BetaInteger"):
        raise _unknown(name, hyperparameter, "ConfigSpace hyperparameter")
    if hyperparameter.log:
        raise ValueError(
            f"{name!r} is {hyperparameter}, which has no log-scale counterpart in SciPy: use a "
            "uniform distribution on a log scale."
        )
    if kind.endswith("Float"):
        return _bell(hyperparameter, low, high)
    # An integer has the probability of the half units around it.
    edges = _bell(hyperparameter, low - 0.5, high + 0.5).cdf(np.arange(low, high + 2) - 0.5)
    return stats.rv_discrete(values=(np.arange(low, high + 1), np.diff(edges)))()


def _bell(hyperparameter: Any, low: float, high: float) -> rv_frozen:
    """Return the normal or beta distribution of a hyperparameter, on [low, high]."""
    if type(hyperparameter).__name__.startswith("Beta"):
        return stats.beta(hyperparameter.alpha, hyperparameter.beta, low, high - low)
    mu, sigma = hyperparameter.mu, hyperparameter.sigma
    return stats.truncnorm((low - mu) / sigma, (high - mu) / sigma, mu, sigma)


def _when(values: Any, condition: Any) -> When:
    """Wrap the values of a child in a ConfigSpace condition."""
    kind = type(condition).__name__
    if kind == "AndConjunction":
        for component in condition.components:
            values = _when(values, component)
        return values
    operators = {
        "EqualsCondition": "==",
        "NotEqualsCondition": "!=",
        "LessThanCondition": "<",
        "GreaterThanCondition": ">",
        "InCondition": "in",
    }
    if kind not in operators:
        raise ValueError(
            f"the condition {condition} cannot be translated: conditions can only be joined by "
            "And. Split the space into a list of dicts."
        )
    parent, op = condition.parent, operators[kind]
    if op == "in":
        return When(values, parent.name, op, [native(value) for value in condition.values])
    if op in "<>" and hasattr(parent, "sequence"):  # ordinals are compared by position
        sequence = [native(value) for value in parent.sequence]
        i = sequence.index(condition.value)
        side = sequence[:i] if op == "<" else sequence[i + 1 :]
        return When(values, parent.name, "in", side)
    return When(values, parent.name, op, native(condition.value))
