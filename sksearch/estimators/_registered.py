"""register_space: what is searched of a class that is somebody else's."""

from collections.abc import Callable
from typing import Any

from ._parts import Size, SpaceDict

#: Spaces by class. They are asked before those of families.
_SPACES: dict[type, SpaceDict | Callable[..., SpaceDict]] = {}


def register_space(estimator_class: type, space: SpaceDict | Callable[..., SpaceDict]) -> None:
    """Make a space the default one of a class that you do not own.

    Parameters
    ----------
    estimator_class : type
        The class of an estimator, for which the space is known in this process. Classes that
        derive from it have the space, too, unless they have one of their own.
    space : dict or callable
        Names and choices or distributions, the most important first. A callable is called as
        ``space(estimator, n_samples, n_features)`` and returns such a dict; both counts may be
        None.

    Raises
    ------
    TypeError
        If `estimator_class` is no class with ``fit``, or `space` no dict and no callable.

    See Also
    --------
    default_space : Returns it.
    sksearch.estimators.register : For more than a space, such as how training goes on.

    Notes
    -----
    It takes the place of a space that there is. A class of your own says its space by a method
    ``__sksearch_space__``, see `default_space`, and needs no call.

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
            f"estimator_class={estimator_class!r} must be the class of an estimator, not an "
            "instance."
        )
    if not (isinstance(space, dict) or callable(space)):
        raise TypeError(f"space={space!r} must be a dict, or a callable that returns one.")
    _SPACES[estimator_class] = space


def registered(cls: type, estimator: Any, size: Size) -> Any:
    """Return what was registered for a class, None if nothing was."""
    space = _SPACES.get(cls)
    if callable(space):
        return space(estimator, n_samples=size.n_samples, n_features=size.n_features)
    return None if space is None else dict(space)
