"""Scores over the values of each parameter."""

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sksearch._utils._terminal import counted
from sksearch.plotting._display import N_COLUMNS, Display
from sksearch.plotting._style import (
    COLORS,
    GREY,
    MANY,
    axis_of_scores,
    margin_of,
    mark_at_bottom,
    place_ticks,
    score_name,
    short,
    star_style,
    tidy,
)
from sksearch.reader._read import read
from sksearch.reader._search_table import SearchTable
from sksearch.reader._sources import FinishedSearch
from sksearch.stats import importance
from sksearch.stats._candidates import Axis, Candidates
from sksearch.stats._effects import Effect, Effects

if TYPE_CHECKING:
    from matplotlib.axes import Axes

N_SHOWN = 9  # parameters, if none are named: the most important ones
MIN_FOR_EFFECTS = 10  # candidates


class SliceDisplay(Display):
    """Scores of all candidates as a function of each parameter, with the prediction of a model.

    Dots are candidates, the star is the winner, and ticks at the bottom are failed fits. Triangles
    at the bottom are scores far below the others. The line is the partial dependence: the
    predicted score, averaged over the other parameters. The band contains the central 80 % of the
    models fitted to bootstrap samples.

    All scores belong to the same amount of the resource. The winner need not have the best score
    there. If the winner has no score there, its star is hollow, at its best score.

    Parameters
    ----------
    candidates : Candidates
        The candidates, as `from_search` reads them.
    names : sequence of str
        Parameters to be drawn, in this order.
    score_name : str, default="Score"
        Name of the score, for the axis label.

    Attributes
    ----------
    axes_ : list of matplotlib Axes
        Axes of each parameter.
    ax_ : matplotlib Axes
        Axes to be divided among the plots.
    figure_ : matplotlib Figure
        Figure of the axes.

    See Also
    --------
    ContourDisplay : Predicted score as a function of two parameters.
    RankDisplay : Ranks of candidates as a function of two parameters.
    ImportanceDisplay : Importance of each parameter.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from scipy.stats import uniform
    >>> from sksearch import minimize
    >>> from sksearch.plotting import SliceDisplay
    >>> space = {"x": uniform(-1, 2), "y": uniform(0, 1)}
    >>> result = minimize(lambda params: params["x"] ** 2, space, n_iter=30, random_state=0)
    >>> display = SliceDisplay.from_search(result)
    >>> [ax.get_xlabel() for ax in display.axes_]
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
            Names of the parameters to draw. None: the nine most important ones.
        ax : matplotlib Axes or None, default=None
            A subplot to divide; None: a new figure.

        Returns
        -------
        display : SliceDisplay
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
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            A subplot to divide; None: a new figure.

        Returns
        -------
        display : SliceDisplay
            This display.
        """
        n = len(self.names)
        self.axes_ = self._begin_parts(ax, n, (3.1 * min(n, 3) + 0.8, 2.6 * -(-n // 3) + 0.4))
        found = self.candidates
        effects = Effects(found) if len(found.scores) >= MIN_FOR_EFFECTS else None
        curves = [effects.of(name) for name in self.names] if effects is not None else []
        lows = [curve.mean.min() for curve in curves]
        for i, (name, part) in enumerate(zip(self.names, self.axes_, strict=True)):
            axis = found.axes[name]
            x = self._draw_candidates(part, axis)
            if curves:
                _draw_effect(part, axis, curves[i])
            below = axis_of_scores(part, x, found.scores, found.star and found.star[1], lows)
            part.set_xlim(-margin_of(axis), 1 + margin_of(axis))
            place_ticks(part.xaxis, axis)
            part.set_xlabel(short(name, 26, self.names))
            part.tick_params(labelleft=i % N_COLUMNS == 0)
            tidy(part)
        title = f"{self.score_name}: {counted(len(found.scores), 'candidate')}{found.where}{below}"
        title += found.about_star and f"\n{found.about_star}"
        self.axes_[0].set_title(title, loc="left", fontsize=11)
        return self

    def _draw_candidates(self, ax: "Axes", axis: Axis) -> np.ndarray:
        """Draw a dot for each candidate; candidates of one choice side by side. Return places."""
        found = self.candidates
        x = axis.encode(found.params)
        if axis.choices:
            width = 0.3 / max(1, len(axis.choices) - 1)
            x = x + np.random.default_rng(0).uniform(-width, width, len(x))
        many = len(x) > MANY
        size, alpha = (2, 0.25) if many else (4, 0.6)
        dots: dict[str, Any] = {"ms": size, "alpha": alpha, "rasterized": many}
        ax.plot(x, found.scores, "o", color=GREY, mew=0, **dots)
        if found.star is not None:
            params, score = found.star
            place = axis.encode([params])[0] if found.at is None else x[found.at]
            ax.plot(place, score, ms=12, **star_style(found.at is None))
        failed = axis.encode(found.failed)
        mark_at_bottom(ax, failed, "|", ms=7, alpha=0.3 if many else 1)
        return x


def _draw_effect(ax: "Axes", axis: Axis, effect: Effect) -> None:
    """Draw the predicted mean with its band; of choices a bar each."""
    color = COLORS[0]
    if not axis.choices:
        ax.fill_between(effect.places, effect.low, effect.high, color=color, alpha=0.25, lw=0)
        ax.plot(effect.places, effect.mean, color=color, lw=2)
        return
    width = 0.36 / max(1, len(axis.choices) - 1)
    ax.hlines(effect.mean, effect.places - width, effect.places + width, color=color, lw=2.5)
    ax.vlines(effect.places, effect.low, effect.high, color=color, lw=5, alpha=0.3)


def most_important(search: SearchTable, candidates: Candidates) -> list[str]:
    """Return the names of all parameters, the most important first; by name if unknown."""
    names = list(candidates.axes)
    if len(candidates.scores) < MIN_FOR_EFFECTS or len(names) < 2:
        return names
    return importance(search).names


def names_to_draw(
    search: SearchTable, candidates: Candidates, params: Sequence[str] | None, n: int | None
) -> list[str]:
    """Names of the parameters drawn.

    Parameters
    ----------
    search : SearchTable
        The search.
    candidates : Candidates
        Candidates of the search.
    params : sequence of str or None
        The parameters to draw; None: the n most important ones, the first ones by name if unknown.
    n : int or None
        How many, if none are named. None: all.

    Returns
    -------
    names : list of str
        Names of parameters with two values or more.

    Raises
    ------
    ValueError
        If there is nothing to draw, or a name is not a parameter.
    """
    known = list(candidates.axes)
    if not known:
        raise ValueError("No parameter of this search has two values: nothing to draw.")
    if params is None:
        return most_important(search, candidates)[:n]
    for name in params:
        if name not in known:
            raise ValueError(
                f"params contains {name!r}: the parameters with two values are {known}."
            )
    return list(params)


def pair_to_draw(candidates: Candidates, names: Sequence[str]) -> list[str]:
    """Return the most important two parameters that vary among the candidates with both.

    Parameters
    ----------
    candidates : Candidates
        Candidates of the search.
    names : sequence of str
        Parameters, the most important first.

    Returns
    -------
    pair : list of str
        Two of the names; empty if no candidate has two of them. If a parameter varies with several
        others, one that all of its candidates have comes first, since it shows more than a
        conditional one.
    """
    places = {name: candidates.axes[name].encode(candidates.params) for name in names}

    def worth(pair: tuple[str, str]) -> tuple:
        both = np.column_stack([places[name] for name in pair])
        both = both[~np.isnan(both).any(axis=1)]
        n_values = min(len(np.unique(column)) for column in both.T)
        n_first = np.isfinite(places[pair[0]]).sum()
        varies = n_values > 1
        return varies, 0 if varies else len(both), -names.index(pair[0]), len(both) == n_first

    pairs = [pair for pair in combinations(names, 2) if candidates.n_with(*pair)]
    return [*max(pairs, key=worth)] if pairs else []
