"""Parallel coordinates."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sksearch.history import Params
from sksearch.plotting._display import Display
from sksearch.plotting._slices import names_to_draw
from sksearch.plotting._style import (
    ACCENT,
    DARK,
    GREY,
    MANY,
    count_outside,
    is_below,
    limits_of,
    mark_at_bottom,
    place_ticks,
    score_name,
    short,
)
from sksearch.reader._read import read
from sksearch.reader._sources import FinishedSearch
from sksearch.stats._candidates import Candidates

if TYPE_CHECKING:
    from matplotlib.axes import Axes

N_SHOWN = 8  # parameters, if none are named: the most important ones
N_GOOD = 20  # candidates drawn dark, at most
GOOD = 0.1  # share of good candidates


class ParallelDisplay(Display):
    """Candidates as lines through the values of their parameters.

    The best candidates are dark, and the winner is orange. An inactive parameter is a gap in the
    line, and a value between two gaps is a dot. Triangles at the bottom of the last axis are
    scores far below the others. All scores are at the same amount of the resource. If the winner
    has no score there, its line is dashed and ends at its best score.

    Parameters
    ----------
    candidates : Candidates
        The candidates, as `from_search` reads them.
    names : sequence of str
        Names of the parameters, in the order of the axes.
    score_name : str, default="Score"
        Name of the score, for the axis label.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with a vertical line for each parameter and one for the score.
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
    >>> from sksearch.plotting import ParallelDisplay
    >>> space = {"x": uniform(-1, 2), "y": uniform(0, 1)}
    >>> result = minimize(lambda params: params["x"] ** 2, space, n_iter=30, random_state=0)
    >>> display = ParallelDisplay.from_search(result)
    >>> [text.get_text() for text in display.ax_.get_xticklabels()][:2]
    ['x', 'y']
    >>> plt.close(display.figure_)
    """

    def __init__(self, *, candidates: Candidates, names: Sequence[str], score_name: str = "Score"):
        self.candidates = candidates
        self.names = names
        self.score_name = score_name

    @classmethod
    def from_search(
        cls,
        search: FinishedSearch,
        *,
        params: Sequence[str] | None = None,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw a fitted search.

        Parameters
        ----------
        search : object
            A fitted search of this library or scikit-learn, or any other input that
            `sksearch.stats.importance` accepts.
        params : sequence of str or None, default=None
            Names of the parameters to draw. None: the eight most important ones.
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None: a new figure.

        Returns
        -------
        display : ParallelDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If the search is not fitted, no candidate has a score, or a name is unknown.
        """
        search = read(search)
        candidates = Candidates.of(search)
        names = names_to_draw(search, candidates, params, N_SHOWN)
        score = score_name(search, candidates.n_folds)
        return cls(candidates=candidates, names=names, score_name=score).plot(ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        from matplotlib.collections import LineCollection

        found, n = self.candidates, len(self.names)
        ax = self._begin(ax, (2.4 + 1.35 * (n + 1), 4.6))
        star = found.star and found.star[1]
        below = is_below(found.scores, star)
        shown = found.scores[~below] if star is None else np.append(found.scores[~below], star)
        low, high = (shown.min(), shown.max()) if np.ptp(shown) > 0 else limits_of(shown)
        points, winner = self._points(low, high)
        order = np.argsort(-found.scores, kind="stable")
        keys: list[Any] = []
        n_good = min(N_GOOD, max(1, round(GOOD * len(order))))
        others, good = (
            points[rows[rows != found.at]] for rows in (order[n_good:], order[:n_good])
        )
        style = "-" if found.at is not None else "--"
        for those, color, width, alpha in (
            (others, GREY, 0.6, min(0.5, 60 / len(order) + 0.02)),
            (good, DARK, 1.1, 0.8),
            (winner, ACCENT, 2.4, 1.0),
        ):
            parts = [part for each in those for part in _segments(each)]
            lines = [part for part in parts if len(part) > 1]
            looks: dict[str, Any] = {"colors": [color], "linewidths": width, "alpha": alpha}
            looks |= {"linestyles": style if those is winner else "-"}
            ax.add_collection(LineCollection(lines, rasterized=len(order) > MANY, **looks))
            dots = [part for part in parts if len(part) == 1 or color != GREY]
            at = np.concatenate([np.empty((0, 2)), *dots]).T
            ax.plot(*at, "o", ms=3, color=color, alpha=alpha, clip_on=False)
            keys += ax.plot([], [], color=color, lw=max(width, 1.2))
        self._draw_axes(low, high, below)
        won = found.about_star.removeprefix("star: the ") or "winner"
        labels = ["others", f"best {n_good} of {len(order)}", won]
        keys, labels = keys[::-1], labels[::-1]
        place: dict[str, Any] = {"bbox_to_anchor": (0, 1.0), "borderaxespad": 0.2}
        ax.legend(keys, labels, loc="lower left", ncols=3, frameon=False, **place)
        return self

    def _points(self, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
        """Places and heights of all candidates, and of the winner, a row each."""
        found = self.candidates
        params, scores = list(found.params), found.scores
        if found.at is None and found.star is not None:
            params, scores = [*params, found.star[0]], np.append(scores, found.star[1])
        heights = np.clip((scores - low) / (high - low), 0, 1)
        points = np.column_stack([*(self._spread(name, params) for name in self.names), heights])
        n = len(found.scores)
        return points[:n], points[n:] if found.at is None else points[[found.at]]

    def _spread(self, name: str, params: list[Params]) -> np.ndarray:
        """Places of candidates; candidates of one choice lie side by side."""
        axis = self.candidates.axes[name]
        places = axis.encode(params)
        if not axis.choices:
            return places
        n = len(axis.choices)
        noise = np.random.default_rng(0).uniform(-0.35, 0.35, len(places))
        return (places * (n - 1) + 0.5 + noise) / n

    def _draw_axes(self, low: float, high: float, below: np.ndarray) -> None:
        """Draw a vertical line with its values for each parameter, and one for the score."""
        ax, n = self.ax_, len(self.names)
        for k, name in enumerate(self.names):
            axis = self.candidates.axes[name]
            side = _ruler(ax, k)
            place_ticks(side.yaxis, axis, 16)
            if axis.choices:
                m = len(axis.choices)
                texts = [label.get_text() for label in side.get_yticklabels()]
                side.set_yticks((side.get_yticks() * (m - 1) + 0.5) / m, texts)
        score = _ruler(ax, n)
        score.set_ylim(low, high)
        score.yaxis.tick_right()  # where no line crosses the labels
        score.spines["left"].set_color(ACCENT)
        ax.set_xlim(-0.1, n + 0.1)
        ax.set_ylim(0, 1)
        ax.set_yticks([])
        ax.spines[:].set_visible(False)
        score_name, _, folds = self.score_name.partition(", ")
        labels = [*(short(name, 24, self.names) for name in self.names), score_name]
        long = max(map(len, labels)) > 13
        labels[-1] += f"\n{folds}" * (self.candidates.n_folds is not None)
        if below.any():
            labels[-1] += f"\n{count_outside(below).strip()}"
            mark_at_bottom(ax, np.full(below.sum(), n))
        ax.set_xticks(
            range(n + 1), labels, rotation=20 if long else 0, ha="right" if long else "center"
        )
        ax.tick_params(length=0, pad=8)


def _segments(line: np.ndarray) -> list[np.ndarray]:
    """Parts of a line between its gaps."""
    x = np.arange(len(line))
    known = np.flatnonzero(~np.isnan(line))
    parts = np.split(known, np.flatnonzero(np.diff(known) > 1) + 1)
    return [np.column_stack([x[part], line[part]]) for part in parts]


def _ruler(ax: "Axes", x: float) -> Any:
    """An axis with ticks at x, from the bottom to the top of the axes."""
    side = ax.inset_axes((x, 0, 1e-6, 1), transform=ax.transData)
    side.patch.set_visible(False)
    side.spines[["top", "right", "bottom"]].set_visible(False)
    side.set_xticks([])
    side.set_ylim(0, 1)
    side.tick_params(axis="y", length=3, labelsize=8)
    for label in side.get_yticklabels():
        label.set_bbox({"facecolor": "w", "alpha": 0.75, "lw": 0, "pad": 0.4})
    return side
