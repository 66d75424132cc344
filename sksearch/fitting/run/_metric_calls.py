"""What the metric of a scorer is called with, where it is known and of the rows scored.

Intervals by rows and the quick scores of averages stand on the call of a metric that is known,
with the true values of the very rows scored. A scorer that has sorted, drawn or weighted them by
itself is asked as it is.
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
    """The call of a metric that is known, on the rows scored.

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
        What each row contributes to the metric.
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
    """Hears what the metric that counts is called with.

    Parameters
    ----------
    y : array-like
        True values of the rows scored; the object that the scorer gets.
    """

    def __init__(self, y: Targets) -> None:
        self._y: Any = y
        self._calls: list[tuple[Callable, int, tuple, dict]] = []

    def scorer(self, context: Context) -> Scorer:
        """Return the scorer of the search, which tells what it hears."""
        return listening(context.scorer, context.metric, self._hear)

    def _hear(self, *heard: Any) -> None:
        self._calls.append(heard)

    def call(self, score: float) -> Call | None:
        """Return the one call of the metric that has led to a score; None if unknown."""
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
