"""Predictions for each candidate, and its score."""

from typing import TYPE_CHECKING, Self

import numpy as np
from scipy.stats import norm

from sksearch.history import History
from sksearch.plotting._display import Display
from sksearch.plotting._style import (
    ACCENT,
    COLORS,
    GREY,
    count_outside,
    near_scores,
    score_name,
    tidy,
)
from sksearch.reader._read import read
from sksearch.reader._sources import FinishedSearch

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Z_95 = norm.ppf(0.975)


class PredictionDisplay(Display):
    """Predictions of a model for each candidate, made before its evaluation, with intervals.

    The plot on the left has, for each candidate, a bar for the 95 % interval with a line at the
    median, and a dot at the observed score. The dot is orange if it is outside the interval, and a
    triangle at the bottom if it is far below. The plot on the right shows the calibration: the
    share of scores inside the intervals, for each probability. The model is overconfident below
    the diagonal, and underconfident above it.

    Parameters
    ----------
    history : History
        The history of a search.
    score_name : str, default="Score"
        Name of the score, for the axis label.

    Attributes
    ----------
    n_predicted_ : int
        Number of candidates with a prediction, and a score at the resource of the prediction.
    coverage_ : float
        Share of these scores inside the 95 % intervals.
    calibration_ : ndarray of shape (99,)
        Shares of these scores inside the intervals of 1 %, 2 %, ..., 99 %.
    axes_ : list of matplotlib Axes
        Axes of the predictions and of the calibration.
    ax_ : matplotlib Axes
        Axes to be divided among both plots.
    figure_ : matplotlib Figure
        Figure of the axes.

    See Also
    --------
    sksearch.samplers.GPSampler : Sampler with the model.
    HistoryDisplay : Scores of all candidates.

    Notes
    -----
    A prediction uses only earlier results, so this is a test on new data. Intervals with a
    probability other than 95 % assume half a normal distribution on each side of the median. In
    searches with several resources, only candidates that reached the resource of the prediction
    are shown; they are better than average.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from scipy.stats import uniform
    >>> from sksearch import minimize
    >>> from sksearch.plotting import PredictionDisplay
    >>> space = {"x": uniform(-1, 2), "y": uniform(-1, 2)}
    >>> found = minimize(
    ...     lambda p: p["x"] ** 2 + p["y"] ** 2, space, n_iter=12, random_state=0
    ... )
    >>> display = PredictionDisplay.from_search(found)
    >>> 0 < display.n_predicted_ < 12
    True
    >>> plt.close(display.figure_)
    """

    def __init__(self, *, history: History, score_name: str = "Score"):
        self.history = history
        self.score_name = score_name

    @classmethod
    def from_search(cls, search: FinishedSearch, *, ax: "Axes | None" = None) -> Self:
        """Draw a search.

        Parameters
        ----------
        search : object
            A fitted search of this library with a Gaussian process as its sampler, or the result
            of `load_history` or of `minimize`.
        ax : matplotlib Axes or None, default=None
            Axes to be divided. None: a new figure.

        Returns
        -------
        display : PredictionDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If the search is not fitted, or has no predictions.
        """
        found = read(search)
        return cls(history=found.history, score_name=score_name(found)).plot(ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to be divided. None: a new figure.

        Returns
        -------
        display : PredictionDisplay
            This display.

        Raises
        ------
        ValueError
            If the history has no predictions.
        """
        ids, scores, predicted = _table(self.history)
        middle, low, high = predicted.T
        outside = (scores < low) | (scores > high)
        self.n_predicted_, self.coverage_ = len(ids), float(1 - outside.mean())
        levels = np.arange(1, 100) / 100
        self.calibration_ = _calibration(scores, predicted, levels)
        self.axes_ = self._begin_parts(ax, 2, (11, 4))
        left, right = self.axes_
        width = 1.5 if len(ids) <= 100 else 0.6
        left.vlines(ids, low, high, color=COLORS[5], lw=2 * width, alpha=0.55)
        left.plot(ids, middle, "_", color=COLORS[0], ms=4 * width)
        size = 4 if len(ids) <= 100 else 2
        shown = near_scores(scores)
        span = float(np.ptp(shown)) or max(abs(float(shown.max())), 1.0) * 0.1
        bottom = shown.min() - 0.6 * span
        left.set_ylim(bottom - 0.05 * span, shown.max() + 0.6 * span)
        below = scores < bottom
        for group, color in ((~outside, "k"), (outside, ACCENT)):
            in_view = group & ~below
            left.plot(ids[in_view], scores[in_view], "o", ms=size, color=color, mew=0)
            left.plot(ids[group & below], [bottom] * (group & below).sum(), "v", ms=6, color=color)
        left.set_xlabel("Candidate")
        left.xaxis.get_major_locator().set_params(integer=True)
        left.set_ylabel(self.score_name + count_outside(below))
        title = f"{100 * self.coverage_:.0f} % of {len(ids):,} scores inside 95 % intervals"
        left.set_title(title, loc="left", fontsize=11)
        right.plot([0, 1], [0, 1], color=GREY, ls="--", lw=1)
        right.plot(levels, self.calibration_, color=COLORS[0], lw=2)
        right.set_aspect("equal")
        right.set_xlim(0, 1)
        right.set_ylim(0, 1)
        right.set_xlabel("Probability of the interval")
        right.set_ylabel("Share of scores inside")
        right.set_title("Calibration", loc="left", fontsize=11)
        for each in self.axes_:
            tidy(each)
        return self


def _table(history: History) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ids, scores and rows (median, low, high) of candidates with a score and a prediction."""
    rows = []
    for trial in history.trials:
        expected = trial.prediction
        result = trial.results.get(expected.resource) if expected is not None else None
        if expected is not None and result is not None and np.isfinite(result.score):
            rows.append((trial.id, result.score, expected.score, expected.low, expected.high))
    if not rows:
        raise ValueError(
            "This search has no predictions: only GPSampler makes them, after its first "
            "candidates. GPBayesSearchCV uses it, and SearchCV by default."
        )
    table = np.array(rows)
    return table[:, 0].astype(int), table[:, 1], table[:, 2:]


def _calibration(scores: np.ndarray, predicted: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Share of the scores inside central intervals of these probabilities."""
    middle, low, high = predicted.T
    width = np.where(scores < middle, middle - low, high - middle) / Z_95
    distance = np.abs(scores - middle)
    # An interval of width 0 only contains the median itself.
    z = np.divide(distance, width, out=np.where(distance > 0, np.inf, 0.0), where=width > 0)
    return (z[:, np.newaxis] <= norm.ppf(0.5 + levels / 2)).mean(axis=0)
