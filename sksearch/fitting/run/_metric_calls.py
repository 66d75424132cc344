"""Arguments of a scorer's metric, if the metric is known and applied to the scored rows.

Intervals by rows and the fast scores of averages rely on the call of a known metric with the true
values of exactly the scored rows. For a scorer that sorts, samples or weights the rows, the scorer
itself is called.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sksearch._utils._compat import listening, num_samples
from sksearch._utils._typing import Scorer, Targets
from sksearch.fitting.run._row_metrics import contributions, raveled, value_by_formula
from sksearch.fitting.run._tasks import Context


@dataclass(frozen=True)
class Call:
    """The call of a known metric, on the scored rows.

    Parameters
    ----------
    function : callable
        The metric.
    sign : int
        Sign of the score.
    y, predicted : ndarray
        Its arguments, one column raveled.
    kwargs : dict
        Further arguments.
    contributions : ndarray of shape (n_rows,)
        Contribution of each row to the metric.
    """

    function: Callable
    sign: int
    y: np.ndarray
    predicted: np.ndarray
    kwargs: dict[str, Any]
    contributions: np.ndarray

    def value(self, predicted: np.ndarray) -> float:
        """Return the score of other predictions, by the formula of the metric."""
        predicted = raveled(predicted)
        return self.sign * value_by_formula(self.function, self.y, predicted, **self.kwargs)


class Heard:
    """Records the arguments of the deciding metric.

    Parameters
    ----------
    y : array-like
        True values of the scored rows; the object passed to the scorer.
    """

    def __init__(self, y: Targets) -> None:
        self._y: Any = y
        self._calls: list[tuple[Callable, int, tuple, dict]] = []

    def scorer(self, context: Context) -> Scorer:
        """Return the scorer of the search, with recording."""
        return listening(context.scorer, context.metric, self._hear)

    def _hear(self, *heard: Any) -> None:
        self._calls.append(heard)

    def call(self, score: float) -> Call | None:
        """Return the single call of the metric behind a score; None if unknown."""
        if len(self._calls) != 1:
            return None
        function, sign, args, kwargs = self._calls[0]
        if len(args) != 2 or args[0] is not self._y:
            return None
        found = contributions(function, sign * score, *args, **kwargs)
        if found is None or len(found) != num_samples(args[0]):
            return None
        y, predicted = map(raveled, args)
        return Call(function, sign, y, predicted, kwargs, found)
