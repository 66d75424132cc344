"""Agreement of each rung with the ranking at the next one."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.stats import spearmanr

from sksearch.history import Params
from sksearch.plotting._display import Display
from sksearch.plotting._style import (
    COLORS,
    GREY,
    MANY,
    axis_of_scores,
    score_name,
    star_style,
    tidy,
)
from sksearch.reader._read import read
from sksearch.reader._row import Row
from sksearch.reader._sources import FinishedSearch

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MIN_PAIRS = 4  # candidates from which on a rank correlation is shown
N_SHOWN = 8  # rungs

Rungs = dict[int, list[tuple[Params, float]]]  # candidates and scores by resource


class RungDisplay(Display):
    """Scores at each rung, and Spearman's rank correlation from each rung to the next.

    The box has the median and the quartiles of all candidates of a rung, the dark dots are those
    that the next rung has as well, and the star is the winner. With a correlation near 1 the cheap
    score ranks the survivors like the expensive one. It covers the survivors alone, so it is a
    lower bound of the correlation among all. Triangles at the bottom are scores far below the
    others.

    Parameters
    ----------
    rungs : dict of int to list of tuple (dict, float)
        Candidates and their scores by resource, NaN if training failed.
    unit : str, default="resource"
        Name of the unit of the resource.
    score_name : str, default="Score"
        Name of the score, for the axis label.
    winner : Row or None, default=None
        The winner, as `from_search` reads it; None: no row is marked.

    Attributes
    ----------
    correlations_ : dict of tuple (int, int) to float
        Rank correlation between each two neighbouring rungs, by their resources; NaN if fewer than
        four candidates have both scores.
    ax_ : matplotlib Axes
        Axes of the scores.
    figure_ : matplotlib Figure
        Figure of the axes.

    See Also
    --------
    HistoryDisplay : The curve of each candidate.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sksearch.plotting._rungs import RungDisplay
    >>> scores = {1: [0.1, 0.2, 0.3, 0.4, 0.0], 3: [0.2, 0.3, 0.5, 0.6]}
    >>> rungs = {r: [({"x": i}, s) for i, s in enumerate(row)] for r, row in scores.items()}
    >>> display = RungDisplay(rungs=rungs, unit="epochs").plot()
    >>> {rungs: round(float(rho), 2) for rungs, rho in display.correlations_.items()}
    {(1, 3): 1.0}
    >>> plt.close(display.figure_)
    """

    def __init__(
        self,
        *,
        rungs: Rungs,
        unit: str = "resource",
        score_name: str = "Score",
        winner: Row | None = None,
    ):
        self.rungs = rungs
        self.unit = unit
        self.score_name = score_name
        self.winner = winner

    @classmethod
    def from_search(cls, search: FinishedSearch, *, ax: "Axes | None" = None) -> Self:
        """Draw a fitted search.

        Parameters
        ----------
        search : object
            A fitted search with several resources, of this library or scikit-learn, or any
            other input that `sksearch.stats.importance` accepts.
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None: a new figure.

        Returns
        -------
        display : RungDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If the search is not fitted, or all candidates had the same resource.
        """
        found = read(search)
        rungs = {
            resource: [(trial.params, trial.results[resource].score) for trial in trials]
            for resource, trials in found.levels.items()
        }
        return cls(
            rungs=rungs, unit=found.unit, score_name=score_name(found), winner=found.winner
        ).plot(ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None: a new figure.

        Returns
        -------
        display : RungDisplay
            This display.

        Raises
        ------
        ValueError
            If all candidates had the same resource, or none has a score.
        """
        by_resource = {r: _scores(rows) for r, rows in sorted(self.rungs.items())}
        by_resource = {r: scores for r, scores in by_resource.items() if scores}
        if len(by_resource) < 2:
            raise ValueError("All scores have the same resource: at least two rungs are needed.")
        levels = list(by_resource)
        won = [] if self.winner is None else [self.winner.resource]
        if len(levels) > N_SHOWN:
            places = np.linspace(0, len(levels) - 1, N_SHOWN).round().astype(int)
            levels = sorted({*won, *(levels[i] for i in places)})
        n = len(levels)
        ax = self._begin(ax, (2 + 1.1 * n, 4.2))
        self.correlations_ = {}
        rng = np.random.default_rng(0)
        for k, level in enumerate(levels):
            scores = by_resource[level]
            after = by_resource[levels[k + 1]] if k + 1 < n else {}
            self._draw_rung(k, scores, after, rng)
            if after:
                rho = _correlation(scores, after)
                self.correlations_[level, levels[k + 1]] = rho
                text = "?" if np.isnan(rho) else f"{rho:.2f}"
                at, color = ax.get_xaxis_transform(), COLORS[0]
                looks: dict[str, Any] = {"ha": "center", "fontweight": "bold"}
                ax.text(k + 0.5, 1.02, text, transform=at, color=color, **looks)
        every = np.concatenate([list(by_resource[level].values()) for level in levels])
        x = np.repeat(range(n), [len(by_resource[level]) for level in levels])
        below = axis_of_scores(ax, x, every, self.winner.score if self.winner else None)
        if self.winner is not None:
            place = levels.index(self.winner.resource), self.winner.score
            ax.plot(*place, ms=14, **star_style())
        counts = [len(self.rungs[level]) for level in levels]
        ax.set_xticks(
            range(n), [f"{level:,}\n({c:,})" for level, c in zip(levels, counts, strict=True)]
        )
        ax.set_xlim(-0.6, n - 0.4)
        ax.set_xlabel(f"{self.unit[:1].upper()}{self.unit[1:]} (candidates)".replace("_", " "))
        ax.set_ylabel(self.score_name + below)
        ax.set_title("Rank correlation from rung to rung", loc="left", fontsize=11, pad=22)
        tidy(ax)
        return self

    def _draw_rung(
        self, x: int, scores: dict[str, float], after: dict[str, float], rng: np.random.Generator
    ) -> None:
        """Draw the scores of one rung: grey those stopped, dark the others."""
        ax, size = self.ax_, 2 if len(scores) > MANY else 4
        stay = np.array([key in after for key in scores])
        values = np.array(list(scores.values()))
        at = x + rng.uniform(-0.28, 0.28, len(values))
        alpha = 0.25 if len(scores) > MANY else 0.6
        ax.plot(at[~stay], values[~stay], "o", ms=size, color=GREY, mew=0, alpha=alpha)
        ax.plot(at[stay], values[stay], "o", ms=size, color=COLORS[0], mew=0, alpha=0.8)
        if len(values) >= MIN_PAIRS:
            low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
            ax.hlines(middle, x - 0.36, x + 0.36, color="k", lw=2)
            ax.hlines([low, high], x - 0.36, x + 0.36, color="k", lw=0.8)
            ax.vlines([x - 0.36, x + 0.36], low, high, color="k", lw=0.8)


def _scores(rows: list) -> dict[str, float]:
    """Finite scores by the text of the candidate."""
    return {
        repr(sorted(p.items(), key=lambda item: item[0])): s for p, s in rows if np.isfinite(s)
    }


def _correlation(first: dict[str, float], second: dict[str, float]) -> float:
    """Rank correlation over the shared candidates, NaN if undefined."""
    both = [key for key in first if key in second]
    pairs = np.array([(first[key], second[key]) for key in both]).reshape(-1, 2)
    if len(both) < MIN_PAIRS or (np.ptp(pairs, axis=0) == 0).any():
        return np.nan
    return float(spearmanr(*pairs.T)[0])
