"""Training resources: epochs, trees, any integer parameter, rows, folds, seconds."""

from collections.abc import Collection
from typing import Any

from sksearch.base import Resource
from sksearch.estimators._continuation import can_grow
from sksearch.resources._data import FoldsResource, SamplesResource, WholeResource
from sksearch.resources._epochs import EpochsResource, SecondsResource
from sksearch.resources._parameter import ParameterResource

# Users name the others, or derive a class from `sksearch.base.Resource`.
__all__ = ["ParameterResource"]

_NAMED: dict[str, type[Resource]] = {
    "epochs": EpochsResource,
    "folds": FoldsResource,
    "n_samples": SamplesResource,
    "seconds": SecondsResource,
}


def acts_on(resource: str | Resource | None) -> str:
    """Return the object that a resource divides; see `Resource.acts_on`."""
    if resource is None or resource == "auto":
        return WholeResource.acts_on
    kind = resource if isinstance(resource, Resource) else _NAMED.get(resource, ParameterResource)
    return kind.acts_on


def as_resource(
    resource: str | Resource | None,
    estimator: Any,
    n_rows: int = 0,
    names: Collection[str] = (),
    fit_params: dict[str, Any] | None = None,
) -> Resource:
    """Create the object for the ``resource=`` that a user passed.

    Parameters
    ----------
    resource : str, Resource or None
        "epochs", "n_samples", "folds", "seconds", the name of an integer parameter, a Resource,
        or None for whole fits.
    estimator : estimator object
        Unfitted.
    n_rows : int, default=0
        Number of rows of a training fold.
    names : collection of str, default=()
        Names of the searched parameters.
    fit_params : dict or None, default=None
        Other arguments of ``fit``.

    Returns
    -------
    resource : Resource
        Unchecked, see `Resource.check`.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from sksearch.resources import as_resource
    >>> as_resource("n_estimators", RandomForestClassifier())
    ParameterResource(name='n_estimators', grows=True)
    """
    if resource is None:
        return WholeResource()
    if type(resource) is ParameterResource:  # whatever its name, even "epochs"
        resource = resource.name
    elif isinstance(resource, Resource):
        return resource
    elif resource in _NAMED:
        return _NAMED[resource]()
    grows = can_grow(estimator, resource, n_rows, fit_params or {}, names)
    return ParameterResource(resource, grows)
