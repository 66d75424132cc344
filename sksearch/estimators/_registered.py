"""register_space: search space of a third-party class."""

from collections.abc import Callable
from typing import Any

from ._parts import Size, SpaceDict

#: Spaces by class. They take precedence over families' spaces.
_SPACES: dict[type, SpaceDict | Callable[..., SpaceDict]] = {}


def register_space(estimator_class: type, space: SpaceDict | Callable[..., SpaceDict]) -> None:
    """Register the default space of a class that you cannot change.

    Parameters
    ----------
    estimator_class : type
        Class of an estimator. The space is registered in this process, and also applies to derived
        classes without a space.
    space : dict or callable
        Choices or distributions by parameter name, the most important first, or a function
        ``space(estimator, n_samples, n_features)`` that returns such a dict; both numbers may be
        None.

    Raises
    ------
    TypeError
        If `estimator_class` is not a class with ``fit``, or `space` is neither a dict nor
        callable.

    See Also
    --------
    default_space : Returns registered spaces.
    sksearch.estimators.register : Also declares other properties, such as continued training.

    Notes
    -----
    The new space replaces an existing one. For your own class, define a method
    ``__sksearch_space__`` instead, see `default_space`.

    Examples
    --------
    >>> from scipy.stats import uniform
    >>> from sklearn.base import BaseEstimator
    >>> from sksearch.space import default_space, register_space
    >>> class Shrunken(BaseEstimator):
    ...     def __init__(self, shrinkage=0.5):
    ...         self.shrinkage = shrinkage
    ...
    ...     def fit(self, X, y):
    ...         return self
    >>> register_space(Shrunken, {"shrinkage": uniform(0, 1)})
    >>> list(default_space(Shrunken()))
    ['shrinkage']
    """
    if not (isinstance(estimator_class, type) and hasattr(estimator_class, "fit")):
        raise TypeError(
            f"estimator_class={estimator_class!r} must be an estimator class, not an instance."
        )
    if not (isinstance(space, dict) or callable(space)):
        raise TypeError(f"space={space!r} must be a dict, or a callable that returns one.")
    _SPACES[estimator_class] = space


def registered(cls: type, estimator: Any, size: Size) -> Any:
    """Return the space registered for a class, otherwise None."""
    space = _SPACES.get(cls)
    if callable(space):
        return space(estimator, n_samples=size.n_samples, n_features=size.n_features)
    return None if space is None else dict(space)
