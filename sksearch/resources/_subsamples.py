"""Units of the halving searches with scikit-learn's names."""

import copy
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from sklearn.utils import resample

from sksearch.base._resource import fit
from sksearch.base._state import Labels, State
from sksearch.estimators._continuation import set_params
from sksearch.resources._data import SamplesResource, row_numbers
from sksearch.resources._parameter import ParameterResource

#: Generators that draw the training rows and the test rows of a fold.
Pair = tuple[np.random.RandomState, np.random.RandomState]


@dataclass(frozen=True)
class SubsamplesResource(SamplesResource):
    """One unit is one row of X: training and test folds are subsampled as by scikit-learn.

    Parameters
    ----------
    drawn_by : mapping of int to sequence of pairs of RandomState
        Generators of the training and the test rows, for each amount and fold.
    in_sequence : bool, default=False
        If True, each draw depends on the one before it, and therefore on earlier amounts.
    """

    drawn_by: Mapping[int, Sequence[Pair]] = field(default_factory=dict)
    in_sequence: bool = False

    def limits(self, estimator, n_samples, n_splits, n_classes):
        """Return two rows of each class in each fold, and all rows."""
        return 2 * n_splits * n_classes, n_samples

    @property
    def drawn_in_sequence(self) -> Collection[int]:
        """Amounts whose draws depend on earlier ones."""
        return sorted(self.drawn_by) if self.in_sequence else ()

    def drawing(
        self,
        generator: np.random.RandomState,
        amounts: Iterable[int],
        splits: list[tuple[np.ndarray, np.ndarray]],
        n_samples: int,
        in_sequence: bool,
    ) -> Self:
        """Return a resource that draws from a generator.

        Parameters
        ----------
        generator : RandomState
            Start of the first draw, and also of the others, unless `in_sequence`.
        amounts : iterable of int
            Amounts of the iterations, in order.
        splits : list of (ndarray, ndarray)
            Training and test rows of the folds.
        n_samples : int
            Number of rows of X.
        in_sequence : bool
            If True, each draw continues where the previous one ended.

        Raises
        ------
        ValueError
            If a fold has no rows left.
        """
        drawn_by: dict[int, list[Pair]] = {}
        for amount in amounts:
            pairs = []
            for fold in splits:
                pair = []
                for rows in map(row_numbers, fold):
                    if not _n_drawn(rows, amount, n_samples):
                        enough = (
                            n for n in range(amount, n_samples + 1) if _n_drawn(rows, n, n_samples)
                        )
                        raise ValueError(
                            f"min_resources={amount} of {n_samples} rows leaves no row of a fold "
                            f"of {len(rows)}: pass {next(enough)} or more."
                        )
                    pair.append(copy.deepcopy(generator) if in_sequence else generator)
                    if in_sequence:
                        _drawn(rows, amount, n_samples, generator)
                pairs.append((pair[0], pair[1]))
            drawn_by.setdefault(amount, pairs)
        return type(self)(drawn_by, in_sequence)

    def _split(self, fold, train, test, strata, amount, n_samples, seed):
        """Draw from the rows of a fold; they stay in the order drawn."""
        by_train, by_test = map(copy.deepcopy, self.drawn_by[amount][fold])
        return (
            _drawn(row_numbers(train), amount, n_samples, by_train),
            _drawn(row_numbers(test), amount, n_samples, by_test),
        )


@dataclass(frozen=True)
class RefittedParameterResource(ParameterResource):
    """One unit is one unit of an integer parameter; candidates are refitted at each rung.

    So each model equals scikit-learn's fit, for any library and with random draws.
    """

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
        """Fit from scratch."""
        set_params(state.estimator, {self.name: amount})
        fit(state.estimator, X, y, fit_params)
        return state


def _n_drawn(rows, amount, n_samples):
    """Number of rows of a part: rounded as by scikit-learn, whose 2 / 98 * 49 is less than 1."""
    return int(amount / n_samples * len(rows))


def _drawn(rows, amount, n_samples, generator):
    """Draw a proportional part of rows."""
    n = _n_drawn(rows, amount, n_samples)
    return resample(rows, replace=False, n_samples=n, random_state=generator)
