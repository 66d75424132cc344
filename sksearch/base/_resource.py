"""The protocol of resources: what one unit of effort is on an estimator."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager, ExitStack
from typing import Any, Literal

import numpy as np

from sksearch.base._state import Labels, State
from sksearch.history import Params

#: Called with an estimator, which may contain others; the contexts in which it is fitted.
FIT_CONTEXTS: list[Callable[[Any], AbstractContextManager]] = []


def fit(estimator: Any, X: Any, y: Any, fit_params: dict[str, Any]) -> Any:
    """Fit an estimator in the contexts that its parts need; y is None where there is none."""
    with ExitStack() as contexts:
        for context in FIT_CONTEXTS:
            contexts.enter_context(context(estimator))
        return estimator.fit(X, *(() if y is None else (y,)), **fit_params)


class Resource(ABC):
    """What one unit of effort is on a scikit-learn estimator.

    By default the estimator is fitted from nothing on all rows of all folds. A subclass overrides
    what its unit acts on: folds, rows, params or training.

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

    #: What one unit is called.
    unit: str = "units"
    #: Whether a promoted candidate pays only the difference to its last rung.
    continues: bool = False
    #: Whether all rungs train and test on the same rows, so that a candidate may win at any.
    comparable: bool = False
    #: What units are parts of: a unit is a whole fit, or one of the folds, of the rows, of the
    #: calls of ``partial_fit``, or of what else a training is made of, such as trees.
    acts_on: Literal["fits", "folds", "rows", "calls", "training"] = "training"
    #: Whether units are measured, so that the same count is not the same training again.
    measured: bool = False

    @abstractmethod
    def limits(
        self, estimator: Any, n_samples: int, n_splits: int, n_classes: int
    ) -> tuple[int, int]:
        """Return the smallest sensible and the largest resource, where the user names none.

        Parameters
        ----------
        estimator : estimator object
            Unfitted.
        n_samples, n_splits, n_classes : int
            Counts of rows of X, of folds, and of classes (1 when y is no class label).

        Returns
        -------
        min_resources, max_resources : int
            Counts of units.
        """

    def check(self, estimator: Any, names: Collection[str]) -> None:  # noqa: B027
        """Raise ValueError if the estimator or the searched `names` do not fit this resource."""

    @property
    def drawn_in_sequence(self) -> Collection[int]:
        """Amounts whose rows are drawn one after another, so that a larger search has others."""
        return ()

    def check_max(self, max_resources: int, n_samples: int, n_splits: int) -> None:  # noqa: B027
        """Raise ValueError if the data have less than the user's `max_resources`."""

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
            Count of units.
        n_samples : int
            Count of rows of X.
        rng : numpy.random.Generator
            The same for every amount and candidate of a fold.

        Returns
        -------
        train : ndarray
            A subset.
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
        rng: np.random.Generator,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Choose the rows to train and to test on, as `rows`; by default all are tested."""
        return self.rows(train, strata, amount, n_samples, rng), test

    def params(self, params: Params, amount: int) -> Params:
        """Return the params of a candidate at `amount`, as `cv_results_` shows them."""
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
        """Bring a state from `spent` to `amount` units.

        Parameters
        ----------
        state : State
            A clone with the candidate's params if ``spent == 0``, else what `train` returned
            for `spent`. May be changed in place.
        X, y : array-like
            The training rows.
        amount, spent : int
            Count of units from nothing, and count of those that were already paid for.
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
        """Train the best candidate on all rows by the path that was scored.

        Parameters
        ----------
        state : State
            A clone with the candidate's params.
        X, y : array-like
            All rows.
        amount : int
            Count of units that the candidate was brought up to.
        n_steps : int
            Median over folds of the training steps that this took.
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
