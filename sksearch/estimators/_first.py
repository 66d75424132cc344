"""first_candidates: configurations that complement each other on many tables."""

from typing import Any

from sklearn.base import BaseEstimator

from sksearch.space import Outcome, Space

from ._composed import WRAPPERS, find_space
from ._default import _check, own_candidate
from ._family import class_names, family_of
from ._parts import Size, SpaceDict


def first_candidates(
    estimator: BaseEstimator, *, n_samples: int | None = None, n_features: int | None = None
) -> list[dict[str, Any]]:
    """Return good candidates to try first, in order of decreasing usefulness.

    Parameters
    ----------
    estimator : estimator
        Same as for `default_space`.
    n_samples : int, default=None
        Number of rows.
    n_features : int, default=None
        Number of columns.

    Returns
    -------
    list of dict
        Candidates of `default_space`, without parameters with an `sksearch.space.Outcome`. Each is
        meant for data on which the earlier ones perform poorly. The list is empty for an unknown
        estimator. The current parameters of the estimator are not included.

    Raises
    ------
    TypeError
        If `estimator` is not an estimator, or a number is not an integer.
    ValueError
        If a number is less than 1.

    See Also
    --------
    default_space : Space that contains these candidates.

    Notes
    -----
    Parameters without recorded values, such as parameters of transformers, keep the value set on
    the estimator. If their range excludes this value, they get the middle of the range, or its
    upper bound if the value is None or "all".

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from sksearch.space import first_candidates
    >>> first_candidates(SVC(), n_features=10)[0]
    {'C': 10.0, 'gamma': 0.1}
    """
    _check(estimator, n_samples, n_features)
    space = find_space(estimator, Size(n_samples, n_features)) or {}
    prefix, model = _model(estimator)
    if not space:
        return []
    family = family_of(model)
    canonical = {other: name for name, others in family.aliases.items() for other in others}
    searched = {name: v for name, v in space.items() if not isinstance(v, Outcome)}
    own = own_candidate(estimator, searched)
    found: dict[Any, dict[str, Any]] = {}
    whole = Space(searched)
    for entry in family.first(model):
        candidate = _fill(searched, own, entry, prefix, canonical)
        found.setdefault(whole.key(candidate), candidate)
    return list(found.values())


def _model(estimator):
    """The model inside pipelines and wrappers, and the prefix of its parameters."""
    names = class_names(estimator)
    if "sklearn.Pipeline" in names:
        name, inner = estimator.steps[-1]
    else:
        params = estimator.get_params(deep=False)
        keys = next((WRAPPERS[name] for name in names if name in WRAPPERS), ())
        name = next((key for key in keys if hasattr(params.get(key), "get_params")), None)
        inner = params.get(name)
    if not hasattr(inner, "get_params"):
        return "", estimator
    prefix, model = _model(inner)
    return f"{name}__{prefix}", model


def filled(space: SpaceDict, own: dict[str, Any]) -> dict[str, Any]:
    """Return a candidate with the estimator's own values, if they lie in its space."""
    return _fill(space, own, {}, "", {})


def _fill(
    space: SpaceDict, own: dict, entry: dict, prefix: str, canonical: dict[str, str]
) -> dict[str, Any]:
    """Complete a recorded candidate with nearest values, the estimator's own, or midpoints."""
    candidate = {}
    for name, values in space.items():
        (dimension,) = Space({name: values}).all_dimensions
        recorded = None
        if name.startswith(prefix):
            short = name.removeprefix(prefix)
            recorded = entry.get(short, entry.get(canonical.get(short, short)))
            if short == "gamma" and "gamma * n_features" in entry:
                unit = dimension.bounds[1] / 10  # 1 / n_features
                recorded = float(f"{entry['gamma * n_features'] * unit:.2g}")
        if recorded is not None and dimension.kind != "categorical":
            low, high = dimension.bounds
            candidate[name] = type(low)(min(max(recorded, low), high))
        elif recorded is not None and dimension.contains(recorded):
            candidate[name] = recorded
        elif name in own and dimension.contains(own[name]):
            candidate[name] = own[name]
        else:  # None and "all" stand for the end of the range
            largest = own.get(name, 0) in (None, "all")
            candidate[name] = dimension.from_unit(1.0 if largest else 0.5)
    return candidate
