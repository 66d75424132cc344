"""Empirical distribution of the scores."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sksearch.plotting._display import Display
from sksearch.plotting._style import (
    count_outside,
    is_below,
    legend_beside,
    limits_of,
    line_style,
    score_name,
    tidy,
)
from sksearch.reader._read import read
from sksearch.reader._sources import FinishedSearch
from sksearch.stats._candidates import Candidates

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class DistributionDisplay(Display):
    """Share of the candidates with at least a given score, for one or several searches.

    Curves further to the right belong to searches with better results. If a curve stays high over
    a long range, nearly all candidates are good. Failed candidates count as reaching no score. A
    triangle at the left end of a curve stands for scores far below the others.

    Parameters
    ----------
    scores : dict of str to ndarray of shape (n_candidates,)
        Scores by the name of the search, NaN if training failed.
    score_name : str, default="Score"
        Name of the score, for the axis label.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the shares.
    figure_ : matplotlib Figure
        Figure of the axes.

    See Also
    --------
    DensityDisplay : Densities of the best losses of many runs.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from scipy.stats import uniform
    >>> from sksearch import minimize
    >>> from sksearch.plotting._distribution import DistributionDisplay
    >>> space = {"x": uniform(-1, 2)}
    >>> searches = {
    ...     f"{n} candidates": minimize(lambda p: p["x"] ** 2, space, n_iter=n, random_state=0)
    ...     for n in (10, 20)
    ... }
    >>> display = DistributionDisplay.from_searches(searches)
    >>> [text.get_text() for text in display.ax_.get_legend().get_texts()]
    ['10 candidates', '20 candidates']
    >>> plt.close(display.figure_)
    """

    def __init__(self, *, scores: Mapping[str, np.ndarray], score_name: str = "Score"):
        self.scores = scores
        self.score_name = score_name

    @classmethod
    def from_search(cls, search: FinishedSearch, *, ax: "Axes | None" = None) -> Self:
        """Draw a fitted search.

        Parameters
        ----------
        search : object
            A fitted search of this library or scikit-learn, or any other input that
            `sksearch.stats.importance` accepts.
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None: a new figure.

        Returns
        -------
        display : DistributionDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If the search is not fitted, or no candidate has a score.
        """
        return cls.from_searches({"": search}, ax=ax)

    @classmethod
    def from_searches(
        cls, searches: Mapping[str, FinishedSearch], *, ax: "Axes | None" = None
    ) -> Self:
        """Draw several fitted searches with the same kind of score.

        Parameters
        ----------
        searches : dict of str to object
            Fitted searches by name.
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None: a new figure.

        Returns
        -------
        display : DistributionDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If `searches` is empty, or one of them is not fitted or has no score.
        """
        if not searches:
            raise ValueError("searches is empty: pass at least one entry.")
        read_ones = {name: read(search) for name, search in searches.items()}
        found = {name: Candidates.of(search) for name, search in read_ones.items()}
        scores = {
            name: np.append(each.scores, np.full(len(each.failed), np.nan))
            for name, each in found.items()
        }
        n_folds = {each.n_folds for each in found.values()}
        name = score_name(
            next(iter(read_ones.values())), n_folds.pop() if len(n_folds) == 1 else None
        )
        return cls(scores=scores, score_name=name).plot(ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        ax = self._begin(ax, (6.4, 3.8))
        finite = np.concatenate([s[np.isfinite(s)] for s in self.scores.values()])
        below = is_below(finite)
        low, high = limits_of(finite[~below])
        for i, (name, scores) in enumerate(self.scores.items()):
            known = np.sort(scores[np.isfinite(scores)])
            share = np.arange(len(known), 0, -1) / len(scores)
            x, y = np.r_[low, known, known[-1]], np.r_[share[0], share, 0]
            style = line_style(i)
            ax.step(x, y, where="pre", lw=2, label=name or None, **style)
            if known[0] < low:
                in_view = (known > low).sum() / len(scores)
                ax.plot(low, in_view, "<", color=style["color"], clip_on=False)
        tidy(ax)
        ax.set_xlim(low, high)
        ax.set_ylim(0, 1.02)
        ax.yaxis.set_major_formatter("{x:.0%}")
        ax.yaxis.set_major_locator(_fifths())
        ax.set_xlabel(self.score_name + count_outside(below))
        ax.set_ylabel("Candidates with this score or more")
        if any(self.scores):
            legend_beside(ax)
        return self


def _fifths() -> Any:
    from matplotlib.ticker import MultipleLocator

    return MultipleLocator(0.2)
