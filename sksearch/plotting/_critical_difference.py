"""Demsar's diagram: which methods differ in mean rank."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike

from sksearch.plotting._display import Display
from sksearch.plotting._style import ACCENT, CHARACTERS, DARK, GREY
from sksearch.stats._ranks import critical_difference

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BAR_HEIGHT, NAME_HEIGHT = 0.28, 0.55  # height of a row with a bar, and of a row with a name


class CriticalDifferenceDisplay(Display):
    """Mean ranks of methods, with bars that join methods without a significant difference [1]_.

    Parameters
    ----------
    mean_ranks : ndarray of shape (n_methods,)
        Mean rank of each method over problems; 1 is the best.
    names : list of str
        Names of the methods.
    critical_difference : float
        Critical difference of mean ranks; methods with a smaller difference are joined.

    Attributes
    ----------
    groups : list of tuple (float, float)
        Smallest and largest mean rank of each bar.
    ax_ : matplotlib Axes
        Axes of the diagram, with the best method on the left.
    figure_ : matplotlib Figure
        Figure of the axes.

    See Also
    --------
    sksearch.stats.friedman : Test whether there is any difference, to be done first.

    References
    ----------
    .. [1] J. Demsar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7,
       2006. https://www.jmlr.org/papers/v7/demsar06a.html

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from sksearch.plotting import CriticalDifferenceDisplay
    >>> from sksearch.stats import ranks
    >>> losses = np.random.default_rng(0).random((30, 3)) + [0, 0.1, 1]
    >>> display = CriticalDifferenceDisplay.from_ranks(ranks(losses), ["a", "b", "c"])
    >>> len(display.groups)
    1
    >>> plt.close(display.figure_)
    """

    def __init__(self, *, mean_ranks: ArrayLike, names: Sequence[str], critical_difference: float):
        self.mean_ranks = np.asarray(mean_ranks, dtype=float)
        self.names = [str(name) for name in names]
        self.critical_difference = critical_difference
        if not np.isfinite(self.mean_ranks).all():
            raise ValueError("mean_ranks contains non-finite values: see sksearch.stats.ranks.")
        if self.mean_ranks.shape != (len(self.names),) or len(self.names) < 2:
            raise ValueError(
                f"names has {len(self.names)} entries, but mean_ranks has shape "
                f"{self.mean_ranks.shape}: pass one of each for two or more methods."
            )
        self.groups = _rank_groups(np.sort(self.mean_ranks), critical_difference)

    @classmethod
    def from_ranks(
        cls,
        ranks: ArrayLike,
        names: Sequence[str],
        *,
        alpha: float = 0.05,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw the mean ranks of methods, with Nemenyi's critical difference.

        Parameters
        ----------
        ranks : array-like of shape (n_problems, n_methods)
            Ranks by `sksearch.stats.ranks`, averaged over seeds.
        names : list of str
            Names of the methods.
        alpha : float, default=0.05
            Level of significance, for all pairs together.
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None: a new figure.

        Returns
        -------
        display : CriticalDifferenceDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If `ranks` or `names` have the wrong shape.
        """
        ranks = np.asarray(ranks, dtype=float)
        if ranks.ndim != 2:
            raise ValueError(
                f"ranks has shape {ranks.shape}: it needs a row for each problem and a column "
                "for each method."
            )
        n_problems, n_methods = ranks.shape
        cd = critical_difference(n_methods, n_problems, alpha)
        return cls(mean_ranks=ranks.mean(axis=0), names=names, critical_difference=cd).plot(ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        n_methods = len(self.names)
        rows = _bar_rows(self.groups, gap=0.02 * (n_methods - 1))
        first_name = BAR_HEIGHT * (max(rows, default=-1) + 1) + 0.75
        depth = first_name + NAME_HEIGHT * ((n_methods + 1) // 2)
        width = max(7.5, 5.5 + 2 / CHARACTERS * max(map(len, self.names)))
        ax = self._begin(ax, (width, 0.9 + 0.5 * depth))
        self._draw_axis(n_methods)
        for (low, high), row in zip(self.groups, rows, strict=True):
            y = 0.42 + BAR_HEIGHT * row
            ax.plot([low, high], [y, y], color=ACCENT, lw=4, solid_capstyle="round")
        order = np.argsort(self.mean_ranks, kind="stable")
        n_left = (n_methods + 1) // 2
        for k, i in enumerate(order):
            # The outermost is highest on both sides, so that no line crosses another.
            row = k if k < n_left else n_methods - 1 - k
            self._draw_method(i, first_name + NAME_HEIGHT * row, left=k < n_left)
        margin = 0.03 * (n_methods - 1)
        ax.set_xlim(1 - margin, n_methods + margin)
        ax.set_ylim(depth, -2.1)
        ax.axis("off")
        return self

    def _draw_axis(self, n_methods: int) -> None:
        """Draw the axis of ranks, and the critical difference above it."""
        ax = self.ax_
        ax.plot([1, n_methods], [0, 0], color="k", lw=1.2)
        for rank in range(1, n_methods + 1):
            ax.plot([rank, rank], [0, -0.15], color="k", lw=1.2)
            ax.text(rank, -0.28, str(rank), ha="center", va="bottom")
        # If it is wider than the axis, its end would be off the picture.
        end = min(1 + self.critical_difference, n_methods)
        ax.plot([1, end], [-1.35, -1.35], color=GREY, lw=1.6, marker="|", ms=8)
        text = f"critical difference {self.critical_difference:.2f}"
        ax.text(1, -1.6, text, ha="left", va="bottom", color=GREY)

    def _draw_method(self, i: int, y: float, left: bool) -> None:
        """Draw a line from a mean rank down and out to the name."""
        ax, rank, n_methods = self.ax_, self.mean_ranks[i], len(self.names)
        edge = 1 if left else n_methods
        ax.plot([rank, rank, edge], [0, y, y], color=DARK, lw=1, solid_joinstyle="miter")
        ax.plot(rank, 0, "o", ms=5, color=DARK, mec="w", mew=0.6, clip_on=False)
        gap = 0.012 * (n_methods - 1) * (-1 if left else 1)
        label = f"{self.names[i]}  {rank:.2f}" if left else f"{rank:.2f}  {self.names[i]}"
        ax.text(edge + gap, y, label, ha="right" if left else "left", va="center")


def _rank_groups(ranks: np.ndarray, cd: float) -> list[tuple[float, float]]:
    """Return the ends of the longest runs of two or more sorted ranks within a length of cd."""
    groups, covered = [], -1
    for first, low in enumerate(ranks):
        last = int(np.searchsorted(ranks, low + cd, side="right")) - 1
        if last > max(first, covered):
            groups.append((float(low), float(ranks[last])))
            covered = last
    return groups


def _bar_rows(groups: list[tuple[float, float]], gap: float) -> list[int]:
    """Return the row of each bar, such that the bars of one row have a gap between them."""
    ends: list[float] = []
    rows: list[int] = []
    for low, high in groups:
        row = next((k for k, end in enumerate(ends) if end + gap < low), len(ends))
        ends[row : row + 1] = [high]
        rows.append(row)
    return rows
