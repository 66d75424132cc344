"""Protocol of resources: one unit of effort for an estimator."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager, ExitStack
from typing import Any, Literal

import numpy as np

from sksearch._utils._numerics import one_openmp_thread_for_few
from sksearch.base._state import Labels, State
from sksearch.history import Params

#: Called with an estimator, which may contain others; returns the contexts to fit it in.
FIT_CONTEXTS: list[Callable[[Any], AbstractContextManager]] = []


def fit(estimator: Any, X: Any, y: Any, fit_params: dict[str, Any]) -> Any:
    """Fit an estimator in the contexts that its parts need; y may be None."""
    with ExitStack() as contexts:
        contexts.enter_context(one_openmp_thread_for_few(X))
        for context in FIT_CONTEXTS:
            contexts.enter_context(context(estimator))
        return estimator.fit(X, *(() if y is None else (y,)), **fit_params)


class Resource(ABC):
    """Amount of training or data, in units, for a scikit-learn estimator.

    By default the estimator is fitted from scratch on all rows of all folds. A subclass overrides
    the part that its unit affects: folds, rows, parameters or training.

    Examples
    --------
    >>> from sksearch.base import Resource
    >>> class FirstRows(Resource):
    ...     unit = "tenths"  # of the rows of a training fold, from the first one on
    ...     def limits(self, estimator, n_samples, n_splits, n_classes):
    ...         return 1, 10
    ...     def rows(self, train, strata, amount, n_samples, rng):
    ...         return train[: len(train) * amount // 10]
    >>> FirstRows().limits(None, 100, 5, 2)
    (1, 10)
    """

    #: Name of one unit.
    unit: str = "units"
    #: Whether a promoted candidate pays only the difference to its last rung.
    continues: bool = False
    #: Whether all rungs train and test on the same rows, so that candidates may win at any rung.
    comparable: bool = False
    #: Kind of unit: a whole fit, one of the folds, one of the rows, one call of ``partial_fit``,
    #: or another part of training, such as a tree.
    acts_on: Literal["fits", "folds", "rows", "calls", "training"] = "training"
    #: Whether units are measured, so that the same number does not repeat the same training.
    measured: bool = False

    @abstractmethod
    def limits(
        self, estimator: Any, n_samples: int, n_splits: int, n_classes: int
    ) -> tuple[int, int]:
        """Return the default smallest and largest resource.

        Parameters
        ----------
        estimator : estimator object
            Unfitted.
        n_samples, n_splits, n_classes : int
            Numbers of rows of X, folds and classes (1 if y contains no class labels).

        Returns
        -------
        min_resources, max_resources : int
            Numbers of units.
        """

    def check(self, estimator: Any, names: Collection[str]) -> None:  # noqa: B027
        """Raise ValueError if the estimator or the searched `names` do not fit this resource."""

    @property
    def drawn_in_sequence(self) -> Collection[int]:
        """Amounts for which the subset of rows depends on earlier draws."""
        return ()

    def check_max(self, max_resources: int, n_samples: int, n_splits: int) -> None:  # noqa: B027
        """Raise ValueError if `max_resources` is larger than the data allow."""

    def folds(self, n_splits: int, amount: int, spent: int) -> range:
        """Return the indices of the folds that a job from `spent` to `amount` evaluates."""
        return range(n_splits)

    def rows(
        self,
        train: np.ndarray,
        strata: np.ndarray | None,
        amount: int,
        n_samples: int,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Choose the rows to train on at this amount.

        Parameters
        ----------
        train : ndarray of shape (n_train,)
            Row indices of the training fold.
        strata : ndarray of shape (n_samples,) or None
            Class index of each row of X.
        amount : int
            Number of units.
        n_samples : int
            Number of rows of X.
        rng : numpy.random.Generator
            Generator, the same for every amount and candidate of a fold.

        Returns
        -------
        train : ndarray
            Subset of the row indices.
        """
        return train

    def _split(
        self,
        fold: int,
        train: np.ndarray,
        test: np.ndarray,
        strata: np.ndarray | None,
        amount: int,
        n_samples: int,
        seed: int,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Choose training rows, as `rows`, and test rows; by default all test rows."""
        if type(self).rows is Resource.rows:  # no generator is needed, for each of many tasks
            return train, test
        rng = np.random.default_rng((seed, fold))
        return self.rows(train, strata, amount, n_samples, rng), test

    def params(self, params: Params, amount: int) -> Params:
        """Return the parameters of a candidate at `amount`, as shown in `cv_results_`."""
        return params

    def train(
        self,
        state: State,
        X: Any,
        y: Any,
        amount: int,
        spent: int,
        classes: Labels,
        fit_params: dict[str, Any],
    ) -> State:
        """Train a state from `spent` to `amount` units.

        Parameters
        ----------
        state : State
            Clone with the candidate's parameters if ``spent == 0``, otherwise the return value of
            `train` for `spent`. May be changed in place.
        X, y : array-like
            Training rows.
        amount, spent : int
            Number of units after training, and number of units already trained.
        classes : ndarray, list of ndarray or None
            Labels of the whole y, for ``partial_fit`` of classifiers.
        fit_params : dict
            Further arguments of ``fit``, sliced to the training rows.

        Returns
        -------
        state : State
            Fitted.
        """
        fit(state.estimator, X, y, fit_params)
        return state

    def refit(
        self,
        state: State,
        X: Any,
        y: Any,
        amount: int,
        n_steps: int,
        classes: Labels,
        fit_params: dict[str, Any],
    ) -> State:
        """Fit the best candidate on all rows, in the same way as on the folds.

        Parameters
        ----------
        state : State
            Clone with the candidate's parameters.
        X, y : array-like
            All rows.
        amount : int
            Number of units for which the candidate was trained.
        n_steps : int
            Median number of training steps over the folds.
        classes : ndarray, list of ndarray or None
            Labels, for ``partial_fit`` of classifiers.
        fit_params : dict
            Further arguments of ``fit``.

        Returns
        -------
        state : State
            Fitted.
        """
        return self.train(state, X, y, amount, 0, classes, fit_params)
