"""Base class of displays."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Self

from sksearch.plotting._style import import_pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

N_COLUMNS = 3  # columns of axes in one figure


class Display(ABC):
    """A picture: the constructor stores the data, and `plot` may draw it repeatedly.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the last drawing.
    figure_ : matplotlib Figure
        Figure of the axes.
    """

    ax_: Any
    figure_: Any

    def _ipython_display_(self) -> None:
        """Print nothing, since a notebook shows the figure by itself."""
        return

    @abstractmethod
    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None: a new figure.

        Returns
        -------
        display : Display
            This display.
        """

    def _begin(self, ax: "Axes | None", figsize: tuple[float, float]) -> Any:
        """Return the axes to draw on: `ax`, or new axes in a figure of this size."""
        self.ax_ = self._new_axes(figsize) if ax is None else ax
        self.figure_ = self.ax_.figure
        return self.ax_

    def _begin_parts(self, ax: "Axes | None", n: int, figsize: tuple[float, float]) -> list:
        """Return n axes in rows: a new figure of this size, or the place of given axes."""
        ax = self._new_axes(figsize) if ax is None else ax
        spec = ax.get_subplotspec()
        if spec is None:
            raise ValueError("ax must be a matplotlib Axes, such as one returned by plt.subplots.")
        self._begin(ax, figsize).set_axis_off()
        n_columns = min(n, N_COLUMNS)
        grid = spec.subgridspec(-(-n // n_columns), n_columns)
        return [ax.figure.add_subplot(grid[divmod(i, n_columns)]) for i in range(n)]

    def _new_axes(self, figsize: tuple[float, float], **options: Any) -> Any:
        """Make a figure; return its axes, or an array of them."""
        plt = import_pyplot(type(self).__name__)
        return plt.subplots(figsize=figsize, layout="constrained", **options)[1]
