"""Regret of searches over the budget spent."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sksearch.plotting._display import Display
from sksearch.plotting._style import (
    as_dict,
    is_geometric,
    label_log,
    legend_beside,
    line_style,
    tidy,
)
from sksearch.stats import bootstrap_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BANDS = ("bootstrap", "quartiles")


class RegretDisplay(Display):
    """Regret of one or more searches over the budget spent, with bands.

    Parameters
    ----------
    grid : ndarray of shape (n_grid,)
        Amounts spent, increasing.
    results : dict of str to ndarray of shape (n_runs, n_grid)
        Regrets of the runs of each search; NaN before the first result of a run. A single search
        may have the name "".
    band : {"bootstrap", "quartiles"}, default="bootstrap"
        "bootstrap": mean with its 95 % bootstrap interval; "quartiles": median with the quartiles
        of the runs.
    unit : str, default="resource"
        Name of the unit of budget.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the lines and bands; the regret axis is logarithmic. A line begins when all runs
        have a result.
    figure_ : matplotlib Figure
        Figure of the axes.

    See Also
    --------
    sksearch.stats.anytime_regret : Evaluates runs on a common grid.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from sksearch.plotting import RegretDisplay
    >>> grid = np.arange(1, 101)
    >>> runs = np.minimum.accumulate(np.random.default_rng(0).random((20, 100)), axis=1)
    >>> display = RegretDisplay.from_results({"random": runs}, grid, unit="candidates")
    >>> display.ax_.get_xlabel()
    'Candidates'
    >>> plt.close(display.figure_)
    """

    def __init__(
        self,
        *,
        grid: ArrayLike,
        results: Mapping[str, ArrayLike],
        band: str = "bootstrap",
        unit: str = "resource",
    ):
        self.grid = np.asarray(grid, dtype=float)
        self.results = {name: np.asarray(runs, dtype=float) for name, runs in results.items()}
        self.band = band
        self.unit = unit

    @classmethod
    def from_results(
        cls,
        results: ArrayLike | Mapping[str, ArrayLike],
        grid: ArrayLike,
        *,
        band: str = "bootstrap",
        unit: str = "resource",
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw regrets on a common grid.

        Parameters
        ----------
        results : array-like of shape (n_runs, n_grid), or dict of str to array-like
            Regrets; NaN if a run had no result yet.
        grid : array-like of shape (n_grid,)
            Amounts spent, increasing. The axis is logarithmic if their spacing is.
        band : {"bootstrap", "quartiles"}, default="bootstrap"
            "bootstrap": mean with its 95 % bootstrap interval; "quartiles": median with the
            quartiles of the runs.
        unit : str, default="resource"
            Name of the unit of budget.
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None: a new figure.

        Returns
        -------
        display : RegretDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If shapes do not match, `band` is invalid, there is no point at which all runs of a
            search have a result, or no regret is positive.
        """
        return cls(grid=grid, results=as_dict(results, "results"), band=band, unit=unit).plot(ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None: a new figure.

        Returns
        -------
        display : RegretDisplay
            This display.

        Raises
        ------
        ValueError
            If shapes do not match, `band` is invalid, there is no point at which all runs of a
            search have a result, or no regret is positive.
        """
        self._check()
        ax = self._begin(ax, (7.5, 4.2))
        positive = []
        for i, (name, runs) in enumerate(self.results.items()):
            known = ~np.isnan(runs).any(axis=0)
            middle, low, high = _middle_and_band(runs[:, known], self.band)
            style = line_style(i)
            x = self.grid[known]
            ax.fill_between(x, low, high, step="post", color=style["color"], alpha=0.18, lw=0)
            ax.step(x, middle, where="post", lw=2, label=name or None, **style)
            positive += [*low[low > 0], *middle[middle > 0]]
        tidy(ax)
        # A mean of 0 (all runs found the best) is below the logarithmic axis.
        ax.set_yscale("log", nonpositive="clip")
        if positive:
            ax.set_ylim(bottom=min(positive) / 1.3)
        label_log(ax.yaxis)
        ax.set_xlim(self.grid[0], self.grid[-1])
        if is_geometric(self.grid):
            ax.set_xscale("log")
            label_log(ax.xaxis)
        ax.set_xlabel(self.unit[:1].upper() + self.unit[1:])
        what = "Mean regret" if self.band == "bootstrap" else "Median regret"
        of = "95 % interval" if self.band == "bootstrap" else "quartiles of runs"
        ax.set_ylabel(f"{what}, {of}")
        if any(self.results):
            legend_beside(ax)
        return self

    def _check(self) -> None:
        """Raise an error if band, shapes or values cannot be drawn."""
        if self.band not in BANDS:
            raise ValueError(f"band={self.band!r} must be one of {BANDS}.")
        for name, runs in self.results.items():
            if runs.ndim != 2 or runs.shape[1:] != self.grid.shape:
                raise ValueError(
                    f"results[{name!r}] has shape {runs.shape}: pass a row for each run and a "
                    f"column for each of the {len(self.grid)} points of grid."
                )
            if np.isnan(runs).any(axis=0).all():
                raise ValueError(
                    f"The runs of {name!r} have no point of grid in common: leave out failed "
                    "runs, or extend the grid."
                )
        if not any((runs > 0).any() for runs in self.results.values()):
            raise ValueError("No regret is positive, so a logarithmic axis cannot show them.")


def _middle_and_band(runs: np.ndarray, band: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the line and both ends of the band, each of shape (n_grid,)."""
    if band == "quartiles":
        low, middle, high = np.quantile(runs, [0.25, 0.5, 0.75], axis=0)
        return middle, low, high
    middle = runs.mean(axis=0)
    ends: Any = bootstrap_interval(runs) if len(runs) > 1 else (middle, middle)
    return middle, *ends
