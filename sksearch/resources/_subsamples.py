"""What one unit is in the halving searches of scikit-learn's names."""

import copy
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from sklearn.utils import resample

from sksearch.base import State
from sksearch.base._resource import fit
from sksearch.base._state import Labels
from sksearch.estimators._continuation import set_params
from sksearch.resources._data import SamplesResource, row_numbers
from sksearch.resources._parameter import ParameterResource

#: Generators that draw the training rows and the test rows of a fold.
Pair = tuple[np.random.RandomState, np.random.RandomState]


@dataclass(frozen=True)
class SubsamplesResource(SamplesResource):
    """One unit is one row of X: training and test folds are parts, drawn as by scikit-learn.

    Parameters
    ----------
    drawn_by : mapping of int to sequence of pairs of RandomState
        For each amount and fold, the generators of the training and the test rows.
    in_sequence : bool, default=False
        Whether each draw follows from the one before it, and so from the amounts before it.
    """

    drawn_by: Mapping[int, Sequence[Pair]] = field(default_factory=dict)
    in_sequence: bool = False

    def limits(self, estimator, n_samples, n_splits, n_classes):
        """Return two rows of each class in each fold, and all rows."""
        return 2 * n_splits * n_classes, n_samples

    @property
    def drawn_in_sequence(self) -> Collection[int]:
        """Amounts of which each draws after those before it."""
        return sorted(self.drawn_by) if self.in_sequence else ()

    def drawing(
        self,
        generator: np.random.RandomState,
        amounts: Iterable[int],
        splits: list[tuple[np.ndarray, np.ndarray]],
        n_samples: int,
        in_sequence: bool,
    ) -> Self:
        """Return the resource that draws from a generator.

        Parameters
        ----------
        generator : RandomState
            Where the first draw begins, and the others, too, unless they are `in_sequence`.
        amounts : iterable of int
            Of the iterations, in their order.
        splits : list of (ndarray, ndarray)
            Training and test rows of the folds.
        n_samples : int
            Count of rows of X.
        in_sequence : bool
            Whether each draw goes on where the one before it ended.

        Raises
        ------
        ValueError
            If no row of a fold is left.
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
                            f"min_resources={amount} of {n_samples} rows leaves none of a fold of "
                            f"{len(rows)}: pass {next(enough)} or more."
                        )
                    pair.append(copy.deepcopy(generator) if in_sequence else generator)
                    if in_sequence:
                        _drawn(rows, amount, n_samples, generator)
                pairs.append((pair[0], pair[1]))
            drawn_by.setdefault(amount, pairs)
        return type(self)(drawn_by, in_sequence)

    def _split(self, fold, train, test, strata, amount, n_samples, rng):
        """Draw from the rows of a fold; they are in the order of the draw."""
        by_train, by_test = map(copy.deepcopy, self.drawn_by[amount][fold])
        return (
            _drawn(row_numbers(train), amount, n_samples, by_train),
            _drawn(row_numbers(test), amount, n_samples, by_test),
        )


@dataclass(frozen=True)
class RefittedParameterResource(ParameterResource):
    """One unit is one unit of an integer parameter, and candidates are fitted again at each rung.

    So they are what scikit-learn fits, of all libraries, draws or none.
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
        """Fit from nothing."""
        set_params(state.estimator, {self.name: amount})
        fit(state.estimator, X, y, fit_params)
        return state


def _n_drawn(rows, amount, n_samples):
    """How many rows a part has: rounded as by scikit-learn, where 2 / 98 * 49 is less than 1."""
    return int(amount / n_samples * len(rows))


def _drawn(rows, amount, n_samples, generator):
    """A part of rows in proportion."""
    n = _n_drawn(rows, amount, n_samples)
    return resample(rows, replace=False, n_samples=n, random_state=generator)
