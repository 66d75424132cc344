"""first_candidates: configurations that complement each other on many tables."""

import functools
import json
from importlib import resources
from typing import Any

from sklearn.base import BaseEstimator

from ..space import Outcome, Space
from ._boosting import CATBOOST_NAMES, LIGHTGBM_NAMES
from ._default import _check, own_candidate
from ._lookup import WRAPPERS, class_names, find_space
from ._parts import Size, SpaceDict

#: Key of ``portfolios.json`` for each class.
FAMILIES = {
    "lightgbm.LGBMModel": "LightGBM",
    "xgboost.XGBModel": "XGBoost",
    "catboost.CatBoost": "CatBoost",
    "sklearn.SVC": "SVM",
    "sklearn.SVR": "SVM",
    "sklearn.LogisticRegression": "LogisticRegression",
    "sklearn.Ridge": "Ridge",
    "sklearn.RidgeClassifier": "Ridge",
} | {
    f"sklearn.{family}{task}": family
    for family in (
        "HistGradientBoosting",
        "GradientBoosting",
        "RandomForest",
        "ExtraTrees",
        "MLP",
        "SGD",
        "KNeighbors",
    )
    for task in ("Classifier", "Regressor")
}
CANONICAL = {
    other: name
    for names in (LIGHTGBM_NAMES, CATBOOST_NAMES)
    for name, others in names.items()
    for other in others
}


def first_candidates(
    estimator: BaseEstimator, *, n_samples: int | None = None, n_features: int | None = None
) -> list[dict[str, Any]]:
    """Return candidates to begin with, the one that helps most often first.

    Parameters
    ----------
    estimator : estimator
        As for `default_space`.
    n_samples : int, default=None
        Count of rows.
    n_features : int, default=None
        Count of columns.

    Returns
    -------
    list of dict
        Candidates of `default_space`, without the name of an `sksearch.space.Outcome`. Each is
        meant for tables on which those before it fail. Empty for an estimator without a recorded
        list. The estimator's own params are not among them.

    Raises
    ------
    TypeError
        If `estimator` is no estimator, or a count no integer.
    ValueError
        If a count is less than 1.

    See Also
    --------
    default_space : The space that they are from.

    Notes
    -----
    Parameters of which nothing is recorded, such as those of transformers, have the estimator's
    own value. If their range does not hold it, they have its middle; for None and "all" its end.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from sksearch.spaces import first_candidates
    >>> first_candidates(SVC(), n_features=10)[0]
    {'C': 10.0, 'gamma': 0.1}
    """
    _check(estimator, n_samples, n_features)
    space = find_space(estimator, Size(n_samples, n_features)) or {}
    prefix, model = _model(estimator)
    family = next((FAMILIES[name] for name in class_names(model) if name in FAMILIES), None)
    if family is None or not space:
        return []
    searched = {name: v for name, v in space.items() if not isinstance(v, Outcome)}
    own = own_candidate(estimator, searched)
    found: dict[Any, dict[str, Any]] = {}
    whole = Space(searched)
    for entry in _portfolios()[family]:
        candidate = _fill(searched, own, entry, prefix)
        found.setdefault(whole.key(candidate), candidate)
    return list(found.values())


def _model(estimator):
    """The model inside of pipelines and of wrappers, and the prefix of its parameters."""
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


def _fill(space: SpaceDict, own: dict, entry: dict, prefix: str) -> dict[str, Any]:
    """Make a whole candidate from a recorded one: nearest values, own ones, middles."""
    candidate = {}
    for name, values in space.items():
        dimension = Space({name: values}).dimensions[0]
        recorded = None
        if name.startswith(prefix):
            short = name.removeprefix(prefix)
            recorded = entry.get(short, entry.get(CANONICAL.get(short, short)))
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
        else:  # None and "all" stand for all of something
            largest = own.get(name, 0) in (None, "all")
            candidate[name] = dimension.from_unit(1.0 if largest else 0.5)
    return candidate


@functools.cache
def _portfolios() -> dict[str, list[dict[str, Any]]]:
    """Read the recorded candidates; layers of a net are tuples."""
    text = resources.files(__package__).joinpath("portfolios.json").read_text(encoding="utf-8")
    return {
        family: [
            {k: tuple(v) if isinstance(v, list) else v for k, v in entry.items()}
            for entry in entries
        ]
        for family, entries in json.loads(text).items()
    }
