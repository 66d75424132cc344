"""Parameters that change during a fit."""

import math
from collections.abc import Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sksearch.plotting._display import Display
from sksearch.plotting._style import COLORS, GREY, label_log, short, short_choice, tidy
from sksearch.reader._read import read
from sksearch.reader._sources import FinishedSearch

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LOG_FROM = 10  # ratio of the largest to the smallest value from which on an axis is logarithmic
N_CHOICES = 8  # with more choices, not all are named on an axis

Stretch = tuple[int, int, dict[str, Any]]  # first and last number of units, and parameters


class ScheduleDisplay(Display):
    """Schedule found by population-based training, with a plot for each parameter.

    The dark line is the schedule of the best model. Grey lines are the other members of the
    population, each from the step at which it got its parameters to the step at which it was
    replaced.

    Parameters
    ----------
    schedule : list of dict
        Entries with ``params`` and ``n_resources``, the number of units after which these
        parameters apply, such as the ``schedule_`` of `PBTSearchCV`.
    n_resources : int
        Number of units at the end of training.
    unit : str, default="resource"
        Name of the unit of the resource.
    others : list of tuple (int, int, dict), default=()
        Other members of the population: first and last number of units, and the parameters between
        them.

    Attributes
    ----------
    names_ : list of str
        Parameters drawn: the ones that change during training, or all if the schedule has only one
        entry.
    ax_ : matplotlib Axes
        Axes to be divided among the plots.
    figure_ : matplotlib Figure
        Figure of the axes.

    See Also
    --------
    HistoryDisplay : Scores of all members.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sksearch.plotting import ScheduleDisplay
    >>> schedule = [
    ...     {"n_resources": 0, "params": {"eta0": 1.0, "alpha": 0.1}},
    ...     {"n_resources": 20, "params": {"eta0": 0.1, "alpha": 0.1}},
    ... ]
    >>> display = ScheduleDisplay(schedule=schedule, n_resources=30, unit="epochs").plot()
    >>> display.names_
    ['eta0']
    >>> plt.close(display.figure_)
    """

    def __init__(
        self,
        *,
        schedule: list[dict[str, Any]],
        n_resources: int,
        unit: str = "resource",
        others: Sequence[Stretch] = (),
    ):
        self.schedule = schedule
        self.n_resources = n_resources
        self.unit = unit
        self.others = others

    @classmethod
    def from_search(cls, search: FinishedSearch, *, ax: "Axes | None" = None) -> Self:
        """Draw a fitted search.

        Parameters
        ----------
        search : object
            A fitted `PBTSearchCV`, or another search with its scheduler.
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None: a new figure.

        Returns
        -------
        display : ScheduleDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If the search has no schedule.
        """
        found = read(search)
        schedule = getattr(found.source, "schedule_", None)
        if schedule is None or found.winner is None:
            raise ValueError(
                f"{type(found.source).__name__} has no schedule_: only candidates of PBTSearchCV "
                "change their parameters."
            )
        others = [
            (trial.inherited, trial.resource, trial.params) for trial in found.history.trials
        ]
        return cls(
            schedule=schedule,
            n_resources=found.winner.resource,
            unit=found.unit,
            others=[stretch for stretch in others if stretch[1]],
        ).plot(ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None: a new figure.

        Returns
        -------
        display : ScheduleDisplay
            This display.

        Raises
        ------
        ValueError
            If the schedule has no parameters.
        """
        names = sorted({name for entry in self.schedule for name in entry["params"]})
        values = {name: [entry["params"].get(name) for entry in self.schedule] for name in names}
        self.names_ = [name for name in names if len({*map(repr, values[name])}) > 1] or names
        if not self.names_:
            raise ValueError(
                "schedule has no parameters: pass one with at least one entry with parameters."
            )
        n = len(self.names_)
        size = (1 + 4.2 * min(n, 3), 0.4 + 2.9 * math.ceil(n / 3))
        for name, place in zip(self.names_, self._begin_parts(ax, n, size), strict=True):
            self._draw(place, name)
        return self

    def _draw(self, ax: "Axes", name: str) -> None:
        """Draw a parameter: the population, and the schedule above it."""
        starts = [entry["n_resources"] for entry in self.schedule]
        best = [
            (start, end, entry["params"])
            for start, end, entry in zip(
                starts, [*starts[1:], self.n_resources], self.schedule, strict=True
            )
        ]
        shown = [stretch for stretch in (*self.others, *best) if name in stretch[2]]
        place = _places(ax, [params[name] for *_, params in shown])
        for start, end, params in shown[: -len(best)]:
            if name in params:
                y = place(params[name])
                ax.plot([start, end], [y, y], color=GREY, lw=1, alpha=0.35)
        ends = [(x, place(p[name])) for a, b, p in best if name in p for x in (a, b)]
        ax.plot(*np.transpose(ends), color=COLORS[0], lw=2.5, solid_joinstyle="miter")
        ax.set_xlim(0, max(end for _, end, _ in shown))
        ax.set_xlabel(f"{self.unit[:1].upper()}{self.unit[1:]}".replace("_", " "))
        ax.set_title(short(name, 34, self.names_), loc="left", fontsize=11)
        if ax.get_yscale() == "log":
            label_log(ax.yaxis)
        tidy(ax)


def _places(ax: "Axes", values: list) -> Any:
    """Scale an axis for values; return a function that gives the place of one."""
    if all(isinstance(value, Real) and not isinstance(value, bool) for value in values):
        low, high = min(values), max(values)
        if low > 0 and high >= LOG_FROM * low:
            ax.set_yscale("log")
        return float
    texts = sorted({str(value) for value in values})
    if len(texts) <= N_CHOICES:
        ax.set_yticks(range(len(texts)), [short_choice(text, 14) for text in texts])
    return lambda value: texts.index(str(value))
