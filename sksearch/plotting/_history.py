"""Scores of a search: the curve of each trial, or the score of each candidate."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import numpy as np

from sksearch._utils._terminal import counted
from sksearch.history import History, Trial
from sksearch.plotting._display import Display
from sksearch.plotting._style import (
    ACCENT,
    GREY,
    MANY,
    axis_of_scores,
    is_below,
    label_log,
    legend_beside,
    mark_at_bottom,
    score_name,
    shade_of_blue,
    star_style,
    tidy,
)
from sksearch.reader._read import read
from sksearch.reader._row import Row
from sksearch.reader._sources import FinishedSearch

if TYPE_CHECKING:
    from matplotlib.axes import Axes

N_LEGEND = 8  # entries for resources; more would not be read

# Resources and scores by the id of a trial.
Curves = dict[int, tuple[np.ndarray, np.ndarray]]


class HistoryDisplay(Display):
    """Scores of all trials of a search.

    In a search with several rungs, each trial is a line from its first to its last score, darker
    at larger amounts of the resource. Otherwise, and in a race over folds, each trial is a dot,
    and a line shows the best score so far. Candidates stopped early by a race are hollow dots, at
    the mean of their folds. The star is the winner.

    Parameters
    ----------
    history : History
        The history of the search.
    unit : str, default="resource"
        Name of the unit of the resource, for the axis label.
    score_name : str, default="score"
        Name of the score, for the axis label.
    winner : Row or None, default=None
        Winner as read by `from_search`. None: no winner is marked.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the scores.
    figure_ : matplotlib Figure
        Figure of the axes.

    See Also
    --------
    ProfileDisplay : Loss curves, with their mean, median and order.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from scipy.stats import uniform
    >>> from sksearch import minimize
    >>> from sksearch.plotting import HistoryDisplay
    >>> result = minimize(lambda params: params["x"] ** 2, {"x": uniform(-1, 2)}, n_iter=5)
    >>> display = HistoryDisplay.from_history(result.history)
    >>> display.ax_.get_xlabel()
    'Candidate'
    >>> plt.close(display.figure_)
    """

    def __init__(
        self,
        *,
        history: History,
        unit: str = "resource",
        score_name: str = "score",
        winner: Row | None = None,
    ):
        self.history = history
        self.unit = unit
        self.score_name = score_name
        self.winner = winner

    @classmethod
    def from_search(cls, search: FinishedSearch, *, ax: "Axes | None" = None) -> Self:
        """Draw a fitted search.

        Parameters
        ----------
        search : estimator
            A fitted search of this library or scikit-learn, or any other input that
            `sksearch.stats.importance` accepts.
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None: a new figure.

        Returns
        -------
        display : HistoryDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If the search is not fitted, or no trial has a score.
        """
        found = read(search)
        return cls(
            history=found.history,
            unit=found.unit,
            score_name=score_name(found),
            winner=found.winner,
        ).plot(ax)

    @classmethod
    def from_history(
        cls,
        history: History,
        *,
        unit: str = "resource",
        score_name: str = "score",
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw a history, such as ``history`` of a `Study` or of the result of `minimize`.

        Parameters
        ----------
        history : History
            The history of the search.
        unit : str, default="resource"
            Name of the unit of the resource.
        score_name : str, default="score"
            Name of the score.
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None: a new figure.

        Returns
        -------
        display : HistoryDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If no trial has a score.
        """
        winner = read(history).winner
        return cls(history=history, unit=unit, score_name=score_name, winner=winner).plot(ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None: a new figure.

        Returns
        -------
        display : HistoryDisplay
            This display.

        Raises
        ------
        ValueError
            If no trial has a score.
        """
        curves = _curves(self.history)
        if not curves:
            raise ValueError("No trial of this history has a score: nothing to draw.")
        ax = self._begin(ax, (7.5, 4.2))
        tidy(ax)
        resources = sorted({r for trial in self.history.trials for r in trial.results})
        won, legend_title = self.winner, None
        if len(resources) == 1 or self.history.problem.races:
            self._draw_candidates(curves)
            shown = [(np.array([i + 1]), scores[-1:]) for i, (_, scores) in curves.items()]
        else:
            self._draw_curves(curves, resources)
            legend_title = f"{self.unit} reached (candidates)"
            shown = list(curves.values())
        x, scores = map(np.concatenate, zip(*shown, strict=True))
        star = won.score if won else None
        if n_below := is_below(scores, star).sum():
            axis_of_scores(ax, x, scores, star, ls="", label=f"below ({n_below})")
        title = counted(len(self.history.trials), "candidate")
        if won is not None:
            title += f", the winner has {won.score:.4g}" + f" ({won.folds})" * (
                not won.is_complete
            )
        ax.set_title(title, loc="left", fontsize=11)
        ax.set_ylabel(self.score_name[:1].upper() + self.score_name[1:])
        legend_beside(ax, title=legend_title, alignment="left")
        return self

    def _draw_candidates(self, curves: Curves) -> None:
        """Draw each trial as a dot at its last score, in the order of starting."""
        numbers = np.array(list(curves)) + 1
        scores = np.array([scores[-1] for _, scores in curves.values()])
        reached = np.array([on[-1] for on, _ in curves.values()])
        is_whole = reached == reached.max()
        ax = self.ax_
        size, edge = (5, 0.6) if len(numbers) <= MANY else (2.5, 0)
        x, y = numbers[is_whole], scores[is_whole]
        ax.plot(x, y, "o", ms=size, color=GREY, mec="w", mew=edge, label="candidate")
        if not is_whole.all():
            hollow = {"ms": 0.8 * size, "mfc": "none", "mec": GREY, "mew": 0.7}
            stopped = numbers[~is_whole], scores[~is_whole]
            ax.plot(*stopped, "o", label="stopped early", **hollow)
        x, y = [*x, len(self.history.trials) + 1], [*np.maximum.accumulate(y), y.max()]
        ax.step(x, y, where="post", color=shade_of_blue(0.7), lw=2, label="best so far")
        if self.winner is not None:
            self._draw_star(self.winner.trial_id + 1, self.winner.score)
        self._mark_failed([t.id + 1 for t in self.history.trials if _has_failed(t)])
        ax.set_xlabel("Candidate")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set_xlim(0, len(self.history.trials) + 1)

    def _draw_star(self, x: int, score: float) -> None:
        """Draw the winner."""
        self.ax_.plot(x, score, ms=14, label="winner", **star_style())

    def _draw_curves(self, curves: Curves, resources: list[int]) -> None:
        """Draw trials of several resources: a line each, shaded by the last one with a score."""
        from matplotlib.collections import LineCollection

        ax, won = self.ax_, self.winner
        last = {i: on[-1] for i, (on, _) in curves.items()}
        levels = sorted(set(last.values()))
        shown = {levels[i] for i in np.linspace(0, len(levels) - 1, N_LEGEND).round().astype(int)}
        for k, level in enumerate(levels):
            own = [i for i in curves if last[i] == level]
            color = shade_of_blue(k / max(1, len(levels) - 1))
            lines = [np.column_stack(curves[i]) for i in own if won is None or i != won.trial_id]
            ax.add_collection(LineCollection(lines, colors=[color], linewidths=0.9, zorder=2))
            label = f"{level} ({len(own)})" if level in shown else None
            ends = [line[-1] for line in lines] or np.full((1, 2), np.nan)
            ax.plot(*np.transpose(ends), "o", ms=4, color=color, mec="w", mew=0.4, label=label)
        if won is not None:
            ax.plot(*curves[won.trial_id], color=ACCENT, lw=2.2, zorder=3)
            self._draw_star(won.resource, won.score)
        self._mark_failed([t.resource for t in self.history.trials if _has_failed(t)])
        self._draw_resources(resources)

    def _draw_resources(self, resources: list[int]) -> None:
        """Draw the axis of resources."""
        ax = self.ax_
        ax.set_xlabel(self.unit[:1].upper() + self.unit[1:])
        if resources[-1] >= 9 * resources[0]:
            ax.set_xscale("log")
            label_log(ax.xaxis)
        if len(resources) <= N_LEGEND:
            ax.set_xticks(resources, [f"{r:,}" for r in resources])
            ax.minorticks_off()

    def _mark_failed(self, x: Sequence[int]) -> None:
        """Draw a cross for each failed trial, above the marks of scores below the axes."""
        if len(x):
            mark_at_bottom(self.ax_, x, "x", 1, label=f"failed ({len(x)})")


def _curves(history: History) -> Curves:
    """Return resources and scores of each trial with a score, by its id."""
    curves = {}
    for trial in history.trials:
        on = sorted(r for r, result in trial.results.items() if np.isfinite(result.score))
        if on:
            curves[trial.id] = np.array(on), np.array([trial.results[r].score for r in on])
    return curves


def _has_failed(trial: Trial) -> bool:
    """Return whether the last result of a trial is not a score."""
    return trial.resource > 0 and np.isnan(trial.results[trial.resource].score)
