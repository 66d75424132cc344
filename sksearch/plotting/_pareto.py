"""Pareto front of several objectives."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sksearch._utils._terminal import counted
from sksearch.plotting._display import Display
from sksearch.plotting._style import ACCENT, COLORS, GREY, tidy
from sksearch.reader._read import read
from sksearch.reader._sources import FinishedSearch

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ParetoDisplay(Display):
    """Two objectives of all candidates, with the Pareto front.

    Parameters
    ----------
    front : ParetoFront
        Pareto front, the attribute ``pareto_`` of a fitted search.
    chosen : ndarray of shape (n_objectives,) or None, default=None
        Values of the objectives of the winner. None: the winner is not marked.
    objectives : tuple of str or None, default=None
        Names of the two objectives to draw. None: the first two.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes, with the first objective on the x axis and the second on the y axis.
    figure_ : matplotlib Figure
        Figure of the axes.

    See Also
    --------
    sksearch.search.ParetoFront : Candidates on the front.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sksearch import RandomSearchCV
    >>> from sksearch.plotting import ParetoDisplay
    >>> search = RandomSearchCV(
    ...     DecisionTreeClassifier(random_state=0), {"max_leaf_nodes": [2, 3, 4, 8, 16]}, n_iter=5,
    ...     objectives=["score", "model_size"], random_state=0,
    ... ).fit(*load_iris(return_X_y=True))
    >>> display = ParetoDisplay.from_search(search)
    >>> display.ax_.get_xlabel(), display.ax_.get_ylabel()
    ('score', 'model_size')
    >>> plt.close(display.figure_)
    """

    def __init__(
        self,
        *,
        front: Any,
        chosen: np.ndarray | None = None,
        objectives: tuple[str, str] | None = None,
    ):
        self.front, self.chosen, self.objectives = front, chosen, objectives

    @classmethod
    def from_search(
        cls,
        search: FinishedSearch,
        *,
        objectives: tuple[str, str] | None = None,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw the front of a fitted search.

        Parameters
        ----------
        search : search estimator
            Fitted, with several objectives.
        objectives : tuple of str or None, default=None
            Names of the two objectives to draw. None: the first two.
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None: a new figure.

        Returns
        -------
        display : ParetoDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If the search has one objective, or no objective with a given name.
        """
        found = read(search)
        front, chosen = getattr(found.source, "pareto_", None), None
        if front is None:
            raise ValueError(
                "The search has no Pareto front: pass two or more objectives=[...] to it."
            )
        winner = found.winner
        if winner is not None:  # may be off the front, if a function has chosen it
            result = found.history.trials[winner.trial_id].results[winner.resource]
            chosen = np.array(result.objectives) * front.signs
        return cls(front=front, chosen=chosen, objectives=objectives).plot(ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None: a new figure.

        Returns
        -------
        display : ParetoDisplay
            The display.

        Raises
        ------
        ValueError
            If the front has no objective with a given name.
        """
        names = self.objectives or self.front.names[:2]
        if len(names) != 2 or not set(names) <= set(self.front.names):
            raise ValueError(f"objectives={names} must be two of {list(self.front.names)}.")
        columns = [self.front.names.index(name) for name in names]
        ax = self._begin(ax, (6.4, 4.2))
        others, best = self.front.all_values[:, columns], self.front.values[:, columns]
        ax.scatter(
            others[:, 0],
            others[:, 1],
            s=14,
            color=GREY,
            alpha=0.5,
            linewidth=0,
            label="candidates",
        )
        order = np.argsort(best[:, 0], kind="stable")
        line = "-" if len(self.front.names) == 2 else "none"
        # The front is a step function: between two candidates the better one counts.
        steps = "steps-pre" if self.front.signs[columns[0]] > 0 else "steps-post"
        style: Any = {"marker": "o", "markersize": 5, "linewidth": 1.2, "drawstyle": steps}
        style |= {"linestyle": line, "color": COLORS[0]}
        ax.plot(best[order, 0], best[order, 1], label="front", **style)
        if self.chosen is not None:
            x, y = self.chosen[columns]
            ax.plot([x], [y], "o", markersize=11, fillstyle="none", color=ACCENT, label="winner")
        for set_scale, values in zip((ax.set_xscale, ax.set_yscale), others.T, strict=True):
            if len(values) and values.min() > 0 and values.max() > 50 * values.min():
                set_scale("log")
        ax.set_xlabel(names[0])
        ax.set_ylabel(names[1])
        ax.set_title(
            f"{len(best)} of {counted(len(others), 'candidate')} on the front", loc="left"
        )
        ax.legend(frameon=False)
        tidy(ax)
        return self
