"""The contract of an estimator's search space."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import clone

from sksearch._utils._compat import num_samples
from sksearch._utils._typing import Samples, Targets
from sksearch.space import Space, default_space
from sksearch.testing._require import require


def check_space(
    estimator: Any,
    X: Samples | None = None,
    y: Targets | None = None,
    *,
    space: Mapping | list | None = None,
    n_candidates: int = 20,
) -> None:
    """Check that an estimator accepts all values in its search space.

    Draws from the space and the bounds of its ranges are set as parameters of a clone and read
    back. The conversion to the unit cube and back is also checked. If `X` is passed, the clones
    are fitted.

    Parameters
    ----------
    estimator : estimator object
        Estimator whose space is checked.
    X : array-like of shape (n_samples, n_features) or None, default=None
        Training data. None: candidates are not fitted.
    y : array-like of shape (n_samples,) or None, default=None
        Their target.
    space : dict, list of dict or None, default=None
        Space to check. None: the default space, which may be defined by a method
        ``__sksearch_space__`` or by `sksearch.space.register_space`.
    n_candidates : int, default=20
        Number of draws.

    Raises
    ------
    AssertionError
        If the estimator rejects a candidate, or cannot be fitted with it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sksearch.testing import check_space
    >>> check_space(KNeighborsClassifier(), *load_iris(return_X_y=True))
    """
    shape = (None, None) if X is None else (num_samples(X), getattr(X, "shape", (0, None))[1])
    given: Any = space
    if space is None:
        given = default_space(estimator, n_samples=shape[0], n_features=shape[1])
    made = Space(given)
    rng = np.random.default_rng(0)
    ends = [made.from_unit(np.full(made.n_dims, u)) for u in (0.0, 0.5, 1.0)]
    for params in [*ends, *(made.sample(rng) for _ in range(n_candidates))]:
        made.check(params)
        again = made.from_unit(made.to_unit(params))
        require(made.key(again) == made.key(params), f"{params} is {again} in the unit cube.")
        _check_candidate(estimator, params, X, y)


def _check_candidate(estimator: Any, params: dict, X: Any, y: Any) -> None:
    """A clone accepts it, and can be fitted with it if there are rows."""
    own = clone(estimator)
    try:
        own.set_params(**{name: clone(value, safe=False) for name, value in params.items()})
    except (TypeError, ValueError) as error:
        raise AssertionError(f"{estimator!r} does not take {params}: {error}") from error
    if X is not None:
        try:
            own.fit(X) if y is None else own.fit(X, y)
        except Exception as error:
            raise AssertionError(f"{estimator!r} does not fit with {params}: {error}") from error
