"""Timeline of the workers."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sksearch._utils._terminal import amount, counted
from sksearch.history import History
from sksearch.plotting._display import Display
from sksearch.plotting._style import (
    ACCENT,
    GREY,
    MANY,
    legend_beside,
    shade_of_blue,
    tidy,
)
from sksearch.reader._read import read
from sksearch.reader._sources import FinishedSearch
from sksearch.stats._spans import Bar, bars_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

N_IN_LEGEND = 5  # resources


class TimelineDisplay(Display):
    """Timeline with a row for each worker and a bar for each fit.

    A bar is the fit of a candidate on a fold. It is darker for larger amounts of the resource, and
    orange if the candidate failed. White gaps are idle time. If a worker ends, the worker that
    replaces it uses the same row. Pauses of all workers, such as before a search is resumed, are
    left out, and marked by dashed lines.

    Parameters
    ----------
    history : History
        The history of a search.
    unit : str, default="resource"
        Name of the unit of the resource.

    Attributes
    ----------
    n_workers_ : int
        Number of rows.
    busy_ : float
        Share of the time during which the workers were busy.
    seconds_ : float
        Seconds from the first start to the last end, without pauses.
    ax_ : matplotlib Axes
        Axes of the workers.
    figure_ : matplotlib Figure
        Figure of the axes.

    See Also
    --------
    HistoryDisplay : Scores in this order.

    Notes
    -----
    Fits that ended by a crash or a time limit are not drawn, because their start is unknown. The
    clocks of several machines are not synchronised.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sksearch import RandomSearchCV
    >>> from sksearch.plotting import TimelineDisplay
    >>> search = RandomSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2, 3]}, n_iter=3)
    >>> display = TimelineDisplay.from_search(search.fit(*load_iris(return_X_y=True)))
    >>> display.n_workers_
    1
    >>> plt.close(display.figure_)
    """

    def __init__(self, *, history: History, unit: str = "resource"):
        self.history = history
        self.unit = unit

    @classmethod
    def from_search(cls, search: FinishedSearch, *, ax: "Axes | None" = None) -> Self:
        """Draw a search.

        Parameters
        ----------
        search : object
            A fitted search of this library, or the result of `load_history`.
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None: a new figure.

        Returns
        -------
        display : TimelineDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If the search is not fitted, or has no recorded times.
        """
        found = read(search)
        return cls(history=found.history, unit=found.unit).plot(ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None: a new figure.

        Returns
        -------
        display : TimelineDisplay
            This display.

        Raises
        ------
        ValueError
            If the history has no recorded times.
        """
        bars, cuts = bars_of(self.history)
        self.n_workers_ = 1 + max(bar.row for bar in bars)
        self.seconds_ = max(bar.ended for bar in bars)
        worked = sum(bar.ended - bar.began for bar in bars)
        whole = self.n_workers_ * self.seconds_
        self.busy_ = min(1.0, worked / whole) if whole > 0 else 1.0
        size = (8.5, 1.4 + 0.32 * min(self.n_workers_, 24))
        ax = self._begin(ax, size)
        scale, name = _time_scale(self.seconds_)
        self._draw(bars, scale)
        for cut in cuts:
            ax.axvline(cut / scale, color=GREY, ls="--", lw=1)
        step = -(-self.n_workers_ // 24)
        ax.set_yticks(range(0, self.n_workers_, step))
        ax.set_yticklabels([f"{i + 1}" for i in range(0, self.n_workers_, step)])
        ax.set_ylim(self.n_workers_ - 0.5, -0.5)
        ax.set_xlim(0, (self.seconds_ or 1.0) / scale)
        ax.set_ylabel("Worker")
        ax.set_xlabel(f"Time in {name}")
        n = counted(self.n_workers_, "worker")
        ax.set_title(f"{n}, busy {100 * self.busy_:.0f} % of the time", loc="left", fontsize=11)
        tidy(ax)
        ax.grid(visible=False)
        return self

    def _draw(self, bars: list[Bar], scale: float) -> None:
        """Draw the bars of each resource, with a legend."""
        resources = sorted({bar.resource for bar in bars if not bar.failed})
        shades = np.linspace(0.35, 1.0, max(2, len(resources)))[-len(resources) :]
        groups: list[Any] = (
            [
                (amount(r, self.unit).replace("_", " "), shade_of_blue(shade), r)
                for r, shade in zip(resources, shades, strict=True)
            ]
            if resources
            else []
        )
        groups.append(("failed", ACCENT, None))
        shown = {*np.linspace(0, len(resources) - 1, N_IN_LEGEND).round().astype(int).tolist()}
        # A white edge separates neighbours; with thousands of bars it would cover them.
        edge = {"edgecolor": "w", "linewidth": 0.5} if len(bars) <= MANY else {"linewidth": 0}
        for i, (label, color, resource) in enumerate(groups):
            own = [b for b in bars if (None if b.failed else b.resource) == resource]
            if resource is None:  # often short, and an edge would cover them
                edge = {"linewidth": 0}
            if own:
                label = label if resource is None or i in shown else None
                rows, began = [b.row for b in own], np.array([b.began for b in own]) / scale
                width = np.array([b.ended for b in own]) / scale - began
                self.ax_.barh(rows, width, 0.8, began, color=color, label=label, **edge)
        if len(resources) > 1 or any(bar.failed for bar in bars):
            legend_beside(self.ax_)


def _time_scale(seconds: float) -> tuple[float, str]:
    """Seconds of a unit in which a time is not a large number, and its name."""
    if seconds < 200:
        return 1.0, "seconds"
    return (60.0, "minutes") if seconds < 200 * 60 else (3600.0, "hours")
