"""Densities of optimal final errors."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike

from sksearch.plotting._display import Display
from sksearch.plotting._style import (
    as_dict,
    count_outside,
    is_below,
    legend_beside,
    line_style,
    tidy,
)
from sksearch.stats._density import Density, silverman_bandwidth

if TYPE_CHECKING:
    from matplotlib.axes import Axes

N_POINTS = 512  # points of a curve


class DensityDisplay(Display):
    """Estimated densities of the best losses of optimizers, with their means.

    A triangle at the right end stands for losses far above the others.

    Parameters
    ----------
    densities : dict of str to Density
        Densities by name of the optimizer; a single density may have the name "".

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the densities, with a dot and a line at each mean.
    figure_ : matplotlib Figure
        Figure of the axes.

    See Also
    --------
    sksearch.stats.compare_optima : Tests the differences.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from sksearch.plotting import DensityDisplay
    >>> rng = np.random.default_rng(0)
    >>> optima = {f"best of {n}": rng.random((300, n)).min(axis=1) for n in (8, 32)}
    >>> display = DensityDisplay.from_values(optima)
    >>> [text.get_text() for text in display.ax_.get_legend().get_texts()]
    ['best of 8, mean 0.1070', 'best of 32, mean 0.03042']
    >>> plt.close(display.figure_)
    """

    def __init__(self, *, densities: Mapping[str, Density]):
        self.densities = densities

    @classmethod
    def from_values(
        cls,
        values: ArrayLike | Mapping[str, ArrayLike],
        *,
        bandwidth: float | None = None,
        ax: "Axes | None" = None,
    ) -> Self:
        """Estimate the densities, and draw them.

        Parameters
        ----------
        values : array-like of shape (n_runs,), or dict of str to array-like
            Best losses of the runs of an optimizer.
        bandwidth : float or None, default=None
            Bandwidth of all densities. None: the bandwidth of each density by Silverman's rule. If
            all runs of an optimizer are equal, it gets the smallest bandwidth of the others.
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None: a new figure.

        Returns
        -------
        display : DensityDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If a loss is not finite, or all runs of all optimizers are equal and no bandwidth is
            given.
        """
        values = as_dict(values, "values")
        if bandwidth is None:
            rule = {name: silverman_bandwidth(v) for name, v in values.items()}
            smallest = min((h for h in rule.values() if h > 0), default=None)
            bandwidths = {name: h or smallest for name, h in rule.items()}
        else:
            bandwidths = dict.fromkeys(values, bandwidth)
        return cls(densities={n: Density(v, bandwidths[n]) for n, v in values.items()}).plot(ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        ax = self._begin(ax, (7.5, 4))
        low = min(density.support[0] for density in self.densities.values())
        # One bad run would squeeze all the others.
        high = max(
            density.values[~is_below(-density.values)].max() + density.bandwidth
            for density in self.densities.values()
        )
        above = [density.values > high for density in self.densities.values()]
        for i, (name, density) in enumerate(self.densities.items()):
            # Each on its own support, so that a narrow peak is as smooth as a wide one.
            x = np.linspace(*density.support, N_POINTS)
            y, style = density.pdf(x), line_style(i)
            mean = f"mean {density.mean:#.4g}".rstrip(".")
            label = f"{name}, {mean}" if name else mean
            top = density.pdf([density.mean])[0]
            ax.fill_between(x, y, color=style["color"], alpha=0.12, lw=0)
            ax.plot(x, y, lw=1.8, label=label, **style)
            ax.plot([density.mean] * 2, [0, top], color=style["color"], lw=1, marker="")
            ax.plot(density.mean, top, "o", ms=5, color=style["color"], mec="w")
        for i, cut in enumerate(above):
            if cut.any():
                ax.plot(high, 0, ">", color=line_style(i)["color"], clip_on=False)
        tidy(ax)
        ax.set_xlim(low - 0.02 * (high - low), high)
        ax.set_ylim(bottom=0)
        ax.set_xlabel("Best loss of a run" + count_outside(np.concatenate(above), "above"))
        ax.set_ylabel("Density")
        legend_beside(ax)
        return self
