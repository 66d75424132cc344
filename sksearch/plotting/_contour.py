"""Scores over two parameters."""

from typing import TYPE_CHECKING, Self

import numpy as np

from sksearch._description import counted
from sksearch._reader import FinishedSearch, read
from sksearch.plotting._display import Display
from sksearch.plotting._slices import names_to_draw
from sksearch.plotting._style import (
    PALE,
    place_ticks,
    score_name,
    short,
    star_style,
)
from sksearch.stats import Candidates, Effects

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ContourDisplay(Display):
    """Predicted score over two parameters, averaged over the others, and where candidates were.

    A dot is a candidate, the star the winner; the star is hollow where the winner is none of the
    candidates whose scores were learnt from, as these are all of one resource.

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
    SliceDisplay : Each parameter alone.

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

    def __init__(self, *, candidates: Candidates, x: str, y: str, score_name: str = "Score"):
        self.candidates = candidates
        self.x, self.y = x, y
        self.score_name = score_name

    @classmethod
    def from_search(
        cls,
        search: FinishedSearch,
        *,
        params: tuple[str, str] | None = None,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw a fitted search.

        Parameters
        ----------
        search : object
            A fitted search of this library or of scikit-learn, or what else
            `sksearch.stats.importance` takes.
        params : tuple (str, str) or None, default=None
            Names of the two parameters. None: the two most important ones.
        ax : matplotlib Axes or None, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        display : ContourDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If the search is not fitted, no candidate has a score, a name is unknown, or the two
            parameters are never active together.
        """
        search = read(search)
        candidates = Candidates.of(search)
        names = names_to_draw(search, candidates, params, 2)
        if len(set(names)) != 2:
            raise ValueError(
                f"params={params!r} must name two parameters of {[*candidates.axes]}."
            )
        x, y = names
        score = score_name(search, candidates.n_folds)
        return cls(candidates=candidates, x=x, y=y, score_name=score).plot(ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        display : ContourDisplay
            The display itself.
        """
        found = self.candidates
        grid_x, grid_y, values = Effects(found).plane(self.x, self.y)
        ax = self._begin(ax, (6.2, 4.6))
        axes = found.axes[self.x], found.axes[self.y]
        if any(axis.choices for axis in axes):
            surface = ax.pcolormesh(grid_x, grid_y, values, cmap="cividis", shading="nearest")
        else:
            surface = ax.contourf(grid_x, grid_y, values, levels=14, cmap="cividis")
        ax.set_facecolor(PALE)  # where a choice leaves no candidate that has both
        bar = ax.figure.colorbar(surface, ax=ax, label="Predicted " + self.score_name.lower())
        bar.outline.set_visible(False)
        x, y = (self._spread(axis.encode(found.params), bool(axis.choices)) for axis in axes)
        many = len(x) > 400
        ax.plot(
            x, y, "o", ms=2 if many else 4, color="w", mec="k", mew=0.3 if many else 0.6,
            alpha=0.5 if many else 0.9, rasterized=many,
        )  # fmt: skip
        if found.star is not None:
            params, _ = found.star
            place = [axis.encode([params])[0] for axis in axes]
            place = place if found.at is None else [x[found.at], y[found.at]]
            ax.plot(*place, ms=15, **star_style(found.at is None))
        title = f"{counted(len(x), 'candidate')}{found.where}" + (
            found.about_star and f"\n{found.about_star}"
        )
        ax.set_title(title, loc="left", fontsize=11)
        for axis, side in zip(axes, (ax.xaxis, ax.yaxis), strict=True):
            place_ticks(side, axis, 18)
        if axes[0].choices and sum(len(short(c, 18)) for c in axes[0].choices) > 40:
            ax.tick_params(axis="x", rotation=30)
        ax.set_xlabel(short(self.x, 44))
        ax.set_ylabel(short(self.y, 36))
        ax.tick_params(length=0, pad=6)
        ax.spines[:].set_visible(False)
        return self

    @staticmethod
    def _spread(places: np.ndarray, is_choice: bool) -> np.ndarray:
        """Move the candidates of one choice apart."""
        if not is_choice:
            return places
        n = len(np.unique(places[~np.isnan(places)]))
        width = 0.25 / max(1, n - 1)
        return places + np.random.default_rng(0).uniform(-width, width, len(places))
