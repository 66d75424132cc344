"""What an estimator is searched over, and whether it takes it."""

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
    """Check that an estimator takes all that is searched of it.

    Draws from the space, and the ends of its ranges, are set on clones and read again; each is
    where the unit cube has it; with `X` each is fitted, too.

    Parameters
    ----------
    estimator : estimator object
        Whose space it is.
    X : array-like of shape (n_samples, n_features) or None, default=None
        Rows that each candidate is fitted on. None: none is fitted.
    y : array-like of shape (n_samples,) or None, default=None
        Their target.
    space : dict, list of dict or None, default=None
        None: the default one, as `sksearch.space.default_space` returns it, which is how a method
        ``__sksearch_space__`` and `sksearch.space.register_space` are checked.
    n_candidates : int, default=20
        Count of draws.

    Raises
    ------
    AssertionError
        If a candidate is not taken, or cannot be fitted.

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
    """A clone takes it, and is fitted with it where there are rows."""
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
