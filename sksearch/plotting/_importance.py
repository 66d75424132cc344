"""Importance of parameters."""

from typing import TYPE_CHECKING, Self

import numpy as np

from sksearch._utils._terminal import counted
from sksearch.plotting._display import Display
from sksearch.plotting._style import COLORS, DARK, GREY, short, tidy
from sksearch.reader._read import read
from sksearch.reader._row import folds_text
from sksearch.reader._sources import FinishedSearch
from sksearch.stats import importance
from sksearch.stats._candidates import Candidates
from sksearch.stats._importance import Importance

if TYPE_CHECKING:
    from matplotlib.axes import Axes

N_SHOWN = 15  # parameters; the others together are one more bar
KNOWN = 0.1  # least share of explained variance at which the plot is meaningful


class ImportanceDisplay(Display):
    """Share of the variance of the scores explained by each parameter, with intervals.

    Parameters
    ----------
    importance : Importance
        The return value of `sksearch.stats.importance`.
    folds : str, default=""
        Folds on which the scores were measured, if not all.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with a bar for each parameter, the most important one on top.
    figure_ : matplotlib Figure
        Figure of the axes.

    See Also
    --------
    sksearch.stats.importance : Computes the shares.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from scipy.stats import uniform
    >>> from sksearch import minimize
    >>> from sksearch.plotting import ImportanceDisplay
    >>> space = {"x": uniform(-1, 2), "unused": uniform(0, 1)}
    >>> result = minimize(lambda params: params["x"] ** 2, space, n_iter=30, random_state=0)
    >>> display = ImportanceDisplay.from_search(result)
    >>> [text.get_text() for text in display.ax_.get_yticklabels()]
    ['x', 'unused', 'interactions']
    >>> plt.close(display.figure_)
    """

    def __init__(self, *, importance: Importance, folds: str = ""):
        self.importance = importance
        self.folds = folds

    @classmethod
    def from_search(cls, search: FinishedSearch, *, ax: "Axes | None" = None) -> Self:
        """Compute the importance of the parameters of a fitted search, and draw it.

        Parameters
        ----------
        search : object
            A fitted search of this library or scikit-learn, or any other input that
            `sksearch.stats.importance` accepts.
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None: a new figure.

        Returns
        -------
        display : ImportanceDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If the search is not fitted, or has too few candidates with a score.
        """
        found = read(search)
        n_folds, folds = Candidates.of(found).n_folds, ""
        if n_folds is not None and n_folds < found.n_folds:
            folds = folds_text(n_folds, found.n_folds)
        return cls(importance=importance(found), folds=folds).plot(ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        found = self.importance
        n = min(len(found.names), N_SHOWN)
        ax = self._begin(ax, (7, 1.6 + 0.32 * (n + 1)))
        names = [short(name, 36, found.names) for name in found.names[:n]]
        shares = [*found.shares[:n]]
        if left := len(found.names) - n:
            names.append(counted(left, "other"))
            shares.append(found.shares[n:].sum())
        names.append("interactions")
        shares.append(found.interactions)
        rows = range(len(names))
        colors = [COLORS[0]] * n + [GREY] * (len(names) - n)
        ax.barh(rows, shares, color=colors, height=0.6)
        ax.hlines(rows[:n], found.low[:n], found.high[:n], color=DARK, lw=1.6)
        ends = np.maximum(shares, [*found.high[:n], *shares[n:]])  # intervals may lie below shares
        for row, share, end in zip(rows, shares, ends, strict=True):
            ax.text(end + 0.015, row, f"{share:.0%}", va="center", fontsize=9, color=DARK)
        tidy(ax)
        ax.grid(visible=False, axis="y")
        ax.set_yticks(rows, names)
        ax.set_ylim(len(names) - 0.4, -0.6)
        ax.set_xlim(0, min(1.12, max(ends) + 0.1))
        ax.xaxis.set_major_formatter(lambda x, _: f"{x:.0%}" if x <= 1 else "")
        of = self.folds and f" ({self.folds})"
        ax.set_xlabel(f"Share of the variance of the scores{of}")
        explained = (
            f"the model explains {max(found.explained, 0):.0%} of\n"
            "the variance of held-out candidates"
        )
        if not found.shares.any() and not found.interactions:
            explained = "all scores are equal"
        elif found.explained < KNOWN:
            explained = "too few or too noisy to tell"
        title = f"What mattered, from {found.n_candidates} candidates\n({explained})"
        ax.set_title(title, loc="left", fontsize=11)
        return self
