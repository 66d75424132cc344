"""Scores over two parameters."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sksearch.plotting._plane import SIZE, PlaneDisplay
from sksearch.plotting._style import MANY, PALE
from sksearch.stats._effects import Effects

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FLAT = 1e-9  # relative differences of predictions up to which they are rounding errors


class ContourDisplay(PlaneDisplay):
    """Predicted score as a function of two parameters, averaged over the others.

    Darker colours are better. Dots are candidates, and the star is the winner. The model uses only
    candidates scored at the same amount of the resource; if the winner is not among them, its star
    is hollow.

    Parameters
    ----------
    candidates : Candidates
        Candidates as read by `from_search`.
    x, y : str
        Names of the two parameters.
    score_name : str, default="Score"
        Name of the score, for the colour scale.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the two parameters.
    figure_ : matplotlib Figure
        Figure that contains the axes.

    See Also
    --------
    RankDisplay : Ranks of the scores, without a model.
    SliceDisplay : Score as a function of each parameter.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from scipy.stats import uniform
    >>> from sksearch import minimize
    >>> from sksearch.plotting import ContourDisplay
    >>> space = {"x": uniform(-1, 2), "y": uniform(0, 1)}
    >>> result = minimize(lambda p: p["x"] ** 2 + p["y"], space, n_iter=30, random_state=0)
    >>> display = ContourDisplay.from_search(result, params=("x", "y"))
    >>> display.ax_.get_xlabel(), display.ax_.get_ylabel()
    ('x', 'y')
    >>> plt.close(display.figure_)
    """

    def plot(self, ax: "Axes | None" = None) -> Self:
        found = self.candidates
        grid_x, grid_y, values = Effects(found).plane(self.x, self.y)
        middle = np.nanmean(values)
        is_flat = np.nanmax(np.abs(values - middle)) <= FLAT * abs(middle)
        if is_flat:
            values = np.where(np.isnan(values), values, middle)
        ax = self._begin(ax, SIZE)
        if is_flat or any(axis.choices for axis in self._axes):
            surface = ax.pcolormesh(grid_x, grid_y, values, cmap="cividis_r", shading="nearest")
        else:
            surface = ax.contourf(grid_x, grid_y, values, levels=14, cmap="cividis_r")
        ax.set_facecolor(PALE)  # behind choices without a candidate that has both
        bar = ax.figure.colorbar(surface, ax=ax, label="Predicted " + self.score_name.lower())
        places = self._places(found.params)
        many = len(found.params) > MANY
        size, edge, alpha = (2, 0.3, 0.5) if many else (4, 0.6, 0.9)
        dots: dict[str, Any] = {"ms": size, "mew": edge, "alpha": alpha, "rasterized": many}
        ax.plot(*places, "o", color="w", mec="k", **dots)
        self._draw_star(ax, places)
        self._label(ax, bar)
        return self
