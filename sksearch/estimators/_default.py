"""default_space: search space of an estimator for which the user has not passed one."""

import numbers
from typing import Any

from sksearch._utils._terminal import warn
from sksearch.space import Outcome

from ._composed import find_space, listed, unknown_parts
from ._parts import Size, SpaceDict

_BY_HAND = (
    'Pass a space, such as {"alpha": loguniform(1e-4, 1.0)}; sorted(estimator.get_params()) lists '
    "the names. Or register one for all models of a class: "
    "sksearch.space.register_space(TheClass, space)."
)


def default_space(
    estimator: Any, *, n_samples: int | None = None, n_features: int | None = None
) -> SpaceDict:
    """Return the default search space of an estimator, as an ordinary dict.

    Parameters
    ----------
    estimator : estimator
        An estimator from scikit-learn, imbalanced-learn, skorch, a boosting library or a custom
        `sksearch.estimators.Family`; or a pipeline, ColumnTransformer, stack or other composition
        of these.
    n_samples : int, default=None
        Number of rows, to which ranges such as leaf sizes and numbers of neighbours are adapted.
        None: 1,000.
    n_features : int, default=None
        Number of columns, to which ranges such as kernel widths and numbers of components are
        adapted. None: 10 for kernel widths, and parameters bounded by the number of columns are
        left out.

    Returns
    -------
    dict of str to object
        Choices or distributions by parameter name, as in ``estimator.set_params``, the most
        important first. You can print it, edit it, and pass it as ``param_distributions`` to any
        search; scikit-learn's searches do not accept a `sksearch.space.Outcome`.

    Raises
    ------
    TypeError
        If `estimator` is not an estimator, or a number is not an integer.
    ValueError
        If the estimator is unknown or has nothing to search, or a number is less than 1.

    Warns
    -----
    UserWarning
        If a model in a composition is unknown. Only the other parts are then searched.

    See Also
    --------
    first_candidates : Good candidates of this space to try first.

    Notes
    -----
    Parameters that define the kind of model keep their values: kernel, penalty, solver, metric,
    kind of boosting, early stopping. All other parameters are searched, regardless of their
    values.

    Ranges for linear models, kernels, neighbours and nets assume columns of similar scale: put a
    scaler before them. Good values of ``epsilon`` in regression and ``alpha`` of a Lasso depend on
    the scale of y, not known here.

    Unknown steps of a pipeline are not searched; the plan of a search lists them. At most two
    parameters of a transformer are searched.

    A class can declare its own space in a method ``__sksearch_space__(self, n_samples,
    n_features)``, which returns such a dict; both numbers may be None. For third-party classes use
    `register_space`.

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
        raise ValueError(f"{name} does not have a default space. {_BY_HAND}")
    if not space and unknown:
        raise ValueError(
            f"the default space of {name} is empty: {listed(unknown)} has no default space, and "
            f"no other part has a parameter worth searching. {_BY_HAND}"
        )
    if not space:
        raise ValueError(
            f"the default space of {name} is empty: with its current settings, no parameter is "
            f"worth searching. Fit it without a search. {_BY_HAND}"
        )
    models = {path: part for path, part in unknown.items() if hasattr(part, "predict")}
    if models:
        path, model = next(iter(models.items()))
        own = next(iter(model.get_params()), "name")
        warn(
            f"{listed(models)} has no default space, so only {', '.join(space)} is searched. Add "
            f"its parameters: {{**default_space(estimator), '{path}__{own}': [...]}}.",
        )
    return space


def own_candidate(estimator: Any, space: SpaceDict | list[SpaceDict]) -> dict[str, Any]:
    """Return the estimator's own values of the searched parameters.

    Parameters
    ----------
    estimator : estimator
        The estimator.
    space : dict or list of dicts
        The search space; for a list, the names in all dicts.

    Returns
    -------
    dict of str to object
        The values. They may lie outside the space, as ``gamma="scale"`` does. Omits names of a
        `sksearch.space.Outcome`, and parameters that the estimator does not list, as some
        libraries omit unset ones.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from sksearch.estimators._default import own_candidate
    >>> from sksearch.space import default_space
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
    """Raise if `estimator` is not an estimator, or a number is invalid."""
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
