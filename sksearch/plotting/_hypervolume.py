"""Growth of the hypervolume of several objectives."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import numpy as np

from sksearch._utils._compat import BaseSearchCV
from sksearch.plotting._display import Display
from sksearch.plotting._style import shade_of_blue, tidy
from sksearch.stats._hypervolume import hypervolume_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class HypervolumeDisplay(Display):
    """Hypervolume of several objectives after each result.

    Parameters
    ----------
    n_evaluations : ndarray of shape (n,)
        Number of results.
    volume : ndarray of shape (n,)
        Hypervolume after each number of results, in the product of the units of the objectives.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the hypervolume over the number of results.
    figure_ : matplotlib Figure
        Figure of the axes.
    ParetoDisplay : Final Pareto front.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sksearch import RandomSearchCV
    >>> from sksearch.plotting import HypervolumeDisplay
    >>> search = RandomSearchCV(
    ...     DecisionTreeClassifier(random_state=0), {"max_leaf_nodes": [2, 3, 4, 8, 16]}, n_iter=5,
    ...     objectives=["score", "model_size"], random_state=0,
    ... ).fit(*load_iris(return_X_y=True))
    >>> display = HypervolumeDisplay.from_search(search, reference=[0.5, 10_000])
    >>> display.n_evaluations.tolist()
    [1, 2, 3, 4, 5]
    >>> plt.close(display.figure_)
    """

    def __init__(self, *, n_evaluations: np.ndarray, volume: np.ndarray):
        self.n_evaluations, self.volume = n_evaluations, volume

    @classmethod
    def from_search(
        cls,
        search: BaseSearchCV,
        *,
        reference: Sequence[float] | None = None,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw the hypervolume of a fitted search.

        Parameters
        ----------
        search : search estimator
            Fitted, with several objectives.
        reference : sequence of float or None, default=None
            Reference point: the worst value to take into account, for each objective in its own
            unit. None: the worst measured value.
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None: a new figure.

        Returns
        -------
        display : HypervolumeDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If the search has one objective, or `reference` has the wrong length.
        """
        n_evaluations, volume = hypervolume_curve(search, reference)
        return cls(n_evaluations=n_evaluations, volume=volume).plot(ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        axes = self._begin(ax, (6.0, 3.6))
        tidy(axes)
        axes.step(self.n_evaluations, self.volume, where="post", color=shade_of_blue(0.7), lw=2)
        axes.set_xlabel("Result")
        axes.set_ylabel("Volume under the front")
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.set_ylim(0, 1.05 * float(self.volume.max()) or 1.0)
        return self
