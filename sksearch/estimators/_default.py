"""default_space: what to search of an estimator whose user has not said it."""

import numbers
from typing import Any

from sksearch._utils._terminal import warn
from sksearch.space import Outcome

from ._composed import find_space, listed, unknown_parts
from ._parts import Size, SpaceDict

_BY_HAND = (
    'Write the space by hand, such as {"alpha": loguniform(1e-4, 1.0)}; '
    "sorted(estimator.get_params()) are the names. Or name it once for all models of a class: "
    "sksearch.space.register_space(TheClass, space)."
)


def default_space(
    estimator: Any, *, n_samples: int | None = None, n_features: int | None = None
) -> SpaceDict:
    """Return what an expert would search of an estimator, as an ordinary dict.

    Parameters
    ----------
    estimator : estimator
        An estimator of scikit-learn, imbalanced-learn, skorch or a library of boosting, or of a
        `sksearch.estimators.Family` of one's own; or a pipeline, ColumnTransformer, stack or
        other composition of such.
    n_samples : int, default=None
        Number of rows, on which sizes of leaves and counts of neighbours depend. None: a
        thousand.
    n_features : int, default=None
        Number of columns, on which widths of kernels and counts of components depend. None: ten
        for widths, and no parameter that cannot be larger than this count.

    Returns
    -------
    dict of str to object
        Names as in ``estimator.set_params`` and, for each, choices or a distribution, the most
        important first. It can be printed, edited, and passed as ``param_distributions`` of any
        search; one of scikit-learn takes no `sksearch.space.Outcome`.

    Raises
    ------
    TypeError
        If `estimator` is no estimator, or a count no integer.
    ValueError
        If the estimator is unknown or has nothing to search, or a count is less than 1.

    Warns
    -----
    UserWarning
        If a model in a composition is unknown, so that only the other parts are searched.

    See Also
    --------
    first_candidates : Points of this space to begin with.

    Notes
    -----
    What the estimator's user has chosen is kept where it changes what the model is: a kernel, a
    penalty, a solver, a metric, a kind of boosting, early stopping. All else is searched,
    whatever its value is.

    Linear models, kernels, neighbours and nets have ranges for columns of like scale: put a
    scaler before them. A regression's ``epsilon`` and the ``alpha`` of a Lasso act on y's scale,
    which is not known here.

    Unknown steps of a pipeline are left as they are; the plan of a search names them. At most two
    parameters of a transformer are searched.

    A class of your own says what is searched of it by a method
    ``__sksearch_space__(self, n_samples, n_features)``, which returns such a dict; both counts may
    be None. Of a class of others `register_space` says it.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.svm import SVC
    >>> from sksearch.space import default_space
    >>> space = default_space(make_pipeline(StandardScaler(), SVC()), n_features=10)
    >>> space
    {'svc__C': loguniform(0.1, 1000.0), 'svc__gamma': loguniform(0.001, 1.0)}
    >>> space["svc__class_weight"] = [None, "balanced"]
    """
    _check(estimator, n_samples, n_features)
    space = find_space(estimator, Size(n_samples, n_features))
    name, unknown = type(estimator).__name__, unknown_parts(estimator)
    if "" in unknown:
        raise ValueError(f"there is no default space for {name}. {_BY_HAND}")
    if not space and unknown:
        raise ValueError(
            f"the default space of {name} is empty: nothing is known of {listed(unknown)}, and "
            f"the rest has nothing that is usually searched. {_BY_HAND}"
        )
    if not space:
        raise ValueError(
            f"the default space of {name} is empty: as it is set, it has nothing that is usually "
            f"searched. Fit it as it is. {_BY_HAND}"
        )
    models = {path: part for path, part in unknown.items() if hasattr(part, "predict")}
    if models:
        path, model = next(iter(models.items()))
        own = next(iter(model.get_params()), "name")
        warn(
            f"Nothing is known of {listed(models)}, so only {', '.join(space)} is searched. Add "
            f"its own parameters: {{**default_space(estimator), '{path}__{own}': [...]}}.",
            UserWarning,
            stacklevel=2,
        )
    return space


def own_candidate(estimator: Any, space: SpaceDict | list[SpaceDict]) -> dict[str, Any]:
    """Return the estimator's own values of the parameters that are searched.

    Parameters
    ----------
    estimator : estimator
        Whose values.
    space : dict or list of dicts
        The space that is searched; of a list, the names of all dicts.

    Returns
    -------
    dict of str to object
        The values. They may lie outside of the space, as ``gamma="scale"`` does. Names of an
        `sksearch.space.Outcome` are left out, and so are those that the estimator does not list,
        as some libraries do with what was not set.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from sksearch.space import default_space, own_candidate
    >>> own_candidate(SVC(), default_space(SVC()))
    {'C': 1.0, 'gamma': 'scale'}
    """
    own = estimator.get_params()
    merged: SpaceDict = {}
    for part in [space] if isinstance(space, dict) else space:
        merged |= part
    return {
        name: own[name]
        for name, values in merged.items()
        if name in own and not isinstance(values, Outcome)
    }


def _check(estimator: Any, n_samples: Any, n_features: Any) -> None:
    """Raise if there is no estimator, or a count is none."""
    if isinstance(estimator, type):
        raise TypeError(f"estimator is the class {estimator.__name__}: pass an instance.")
    if not (hasattr(estimator, "get_params") and hasattr(estimator, "fit")):
        raise TypeError(f"estimator={estimator!r} must have get_params and fit.")
    for name, count in (("n_samples", n_samples), ("n_features", n_features)):
        if count is None:
            continue
        if not isinstance(count, numbers.Integral) or isinstance(count, bool):
            raise TypeError(f"{name}={count!r} must be an integer or None.")
        if count < 1:
            raise ValueError(f"{name}={count!r} must be at least 1.")
