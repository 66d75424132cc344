"""Ranks over two parameters."""

from typing import TYPE_CHECKING, Self

import numpy as np
from scipy.stats import rankdata

from sksearch.plotting._plane import SIZE, PlaneDisplay
from sksearch.plotting._style import MANY, PALE, margin_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class RankDisplay(PlaneDisplay):
    """Ranks of candidates as a function of two parameters, to find regions of good candidates.

    Dots are candidates (darker is better), crosses are failed fits, and the star is the winner.
    Only candidates scored at the same amount of the resource are drawn; if the winner is not among
    them, its star is hollow. Ranks are evenly spaced, so a few very bad scores do not hide the
    differences among the others. Candidates with equal scores have their mean rank.

    Parameters
    ----------
    candidates : Candidates
        The candidates, as `from_search` reads them.
    x, y : str
        Names of the two parameters.
    score_name : str, default="Score"
        Name of the score, for the scale.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The plane of the two parameters.
    figure_ : matplotlib Figure
        Figure of the axes.

    See Also
    --------
    ContourDisplay : Predicted score as a function of two parameters.
    SliceDisplay : Each parameter alone.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from scipy.stats import uniform
    >>> from sksearch import minimize
    >>> from sksearch.plotting import RankDisplay
    >>> space = {"x": uniform(-1, 2), "y": uniform(0, 1)}
    >>> result = minimize(lambda p: p["x"] ** 2 + p["y"], space, n_iter=30, random_state=0)
    >>> display = RankDisplay.from_search(result, params=("x", "y"))
    >>> display.ax_.get_xlabel(), display.ax_.get_ylabel()
    ('x', 'y')
    >>> plt.close(display.figure_)
    """

    def plot(self, ax: "Axes | None" = None) -> Self:
        found = self.candidates
        n = len(found.scores)
        ranks = rankdata(-found.scores)
        ax = self._begin(ax, SIZE)
        ax.set_facecolor(PALE)
        places, failed = self._places(found.params), self._places(found.failed)
        many = n > MANY
        ax.plot(*failed, "x", ms=2 if many else 4, color="k", mew=0.8, alpha=0.6, zorder=1)
        worst_first = np.argsort(-ranks, kind="stable")  # so that nothing covers the best
        x, y = (place[worst_first] for place in places)
        dots = ax.scatter(x, y, c=ranks[worst_first], cmap="cividis", vmin=1, vmax=max(n, 2))
        dots.set(sizes=[12 if many else 48], linewidth=0.3, edgecolor="w", rasterized=many)
        bar = ax.figure.colorbar(dots, ax=ax, label=f"Rank by {self.score_name.lower()}")
        bar.set_ticks(np.unique(np.linspace(1, max(n, 2), 5).round()).tolist())
        bar.ax.invert_yaxis()  # the best above
        for axis, set_limits in zip(self._axes, (ax.set_xlim, ax.set_ylim), strict=True):
            set_limits(-margin_of(axis), 1 + margin_of(axis))
        self._draw_star(ax, places)
        self._label(ax, bar)
        return self
