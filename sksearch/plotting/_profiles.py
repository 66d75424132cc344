"""Loss curves with their mean, median, standard deviation and order."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sksearch.plotting._display import Display
from sksearch.plotting._style import (
    GREY,
    as_dict,
    import_pyplot,
    legend_beside,
    line_style,
    tidy,
)
from sksearch.stats._profiles import profiles

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ProfileDisplay(Display):
    """Profiles of one or more sets of loss curves: mean, median, deviation and order.

    Parameters
    ----------
    curves : dict of str to ndarray of shape (n_curves, n_epochs)
        Losses of each set of curves; a single set may have the name "".
    resources : ndarray of shape (n_epochs,) or None, default=None
        Resources at which the losses were measured; None: 1, 2, ...
    unit : str, default="epochs"
        Name of the unit of the resource.

    Attributes
    ----------
    profiles : dict of str to Profiles
        Profiles of each set of curves.
    ax_ : matplotlib Axes
        Axes of the curves (thin lines), with mean (solid), median (dashed) and one standard
        deviation (shaded).
    order_ax_ : matplotlib Axes or None
        Axes with the share of pairs of curves that keep their order from each epoch to the next.
        The legend shows the share between the first and the last epoch.
    figure_ : matplotlib Figure
        Figure that contains the axes.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from sksearch.plotting import ProfileDisplay
    >>> rng = np.random.default_rng(0)
    >>> curves = rng.random((20, 1)) + 1 / np.arange(1, 28)
    >>> display = ProfileDisplay.from_curves(curves)
    >>> display.profiles[""].order_at_ends
    1.0
    >>> plt.close(display.figure_)
    """

    def __init__(
        self,
        *,
        curves: Mapping[str, ArrayLike],
        resources: ArrayLike | None = None,
        unit: str = "epochs",
    ):
        self.curves = {name: np.asarray(c, dtype=float) for name, c in curves.items()}
        self.profiles = {name: profiles(c) for name, c in self.curves.items()}
        self.resources = None if resources is None else np.asarray(resources, dtype=float)
        self.unit = unit
        counts = {name: c.shape[1] for name, c in self.curves.items()}
        if self.resources is not None and set(counts.values()) != {len(self.resources)}:
            raise ValueError(
                f"resources has {len(self.resources)} values, but curves have {counts} columns: "
                "pass one value for each column."
            )

    @classmethod
    def from_curves(
        cls,
        curves: ArrayLike | Mapping[str, ArrayLike],
        *,
        resources: ArrayLike | None = None,
        unit: str = "epochs",
        ax: "Axes | ArrayLike | None" = None,
    ) -> Self:
        """Draw loss curves and their profiles.

        Parameters
        ----------
        curves : array-like of shape (n_curves, n_epochs), or dict of str to array-like
            Losses.
        resources : array-like of shape (n_epochs,) or None, default=None
            Resources at which the losses were measured; None: 1, 2, ...
        unit : str, default="epochs"
            Name of the unit of the resource.
        ax : matplotlib Axes, pair of them or None, default=None
            Axes of the losses, or of losses and order. None: a new figure with both.

        Returns
        -------
        display : ProfileDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If a set has fewer than two curves, losses are not finite, or `resources` has the wrong
            length.
        """
        return cls(curves=as_dict(curves, "curves"), resources=resources, unit=unit).plot(ax)

    def plot(self, ax: "Axes | ArrayLike | None" = None) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes, pair of them or None, default=None
            Axes of the losses, or of losses and order. None: a new figure with both.

        Returns
        -------
        display : ProfileDisplay
            This display.
        """
        if ax is None:
            ax = self._new_axes((7.5, 5.4), nrows=2, sharex=True, height_ratios=[3, 1])
        both = np.atleast_1d(ax)  # type: ignore[arg-type]  # one Axes, or an array of two
        self.ax_, self.order_ax_ = both[0], both[1] if len(both) > 1 else None
        self.figure_ = self.ax_.figure
        for i, name in enumerate(self.curves):
            self._draw(name, line_style(i))
        tidy(self.ax_)
        self.ax_.set_ylabel("Loss")
        handles = self.ax_.get_legend_handles_labels()[0]
        legend_beside(self.ax_, handles=[*handles, *self._legend_handles()])
        if self.order_ax_ is not None:
            tidy(self.order_ax_)
            self.order_ax_.set_ylim(-0.05, 1.05)
            self.order_ax_.set_yticks([0, 0.5, 1])
            self.order_ax_.set_ylabel("Order kept")
            legend_beside(self.order_ax_, title="order at ends", alignment="left")
        both[-1].set_xlabel(self.unit[:1].upper() + self.unit[1:])
        return self

    def _draw(self, name: str, style: dict[str, str]) -> None:
        """Draw the curves of one set, their profiles and their order."""
        from matplotlib.collections import LineCollection

        curves, profile, color = self.curves[name], self.profiles[name], style["color"]
        n_curves, n_epochs = curves.shape
        x = np.arange(1, n_epochs + 1) if self.resources is None else self.resources
        lines = [np.column_stack([x, curve]) for curve in curves]
        # Many lines are drawn faint, so that a thousand do not merge into a blot.
        alpha = float(np.clip(6 / n_curves, 0.04, 0.35))
        self.ax_.add_collection(LineCollection(lines, colors=color, linewidths=0.6, alpha=alpha))
        self.ax_.fill_between(
            x, profile.mean - profile.sd, profile.mean + profile.sd, color=color, alpha=0.22, lw=0
        )
        self.ax_.plot(x, profile.mean, color=color, lw=2, label=name or None)
        self.ax_.plot(x, profile.median, color=color, lw=1.6, linestyle="--")
        if self.order_ax_ is not None:
            label = f"{name} {profile.order_at_ends:.2f}".strip()
            self.order_ax_.plot(x, profile.dynamic_order, color=color, lw=1.6, label=label)

    def _legend_handles(self) -> list[Any]:
        """Return a line of each kind for the legend."""
        plt = import_pyplot("ProfileDisplay")
        return [
            plt.Line2D([], [], color=GREY, lw=2, label="mean"),
            plt.Line2D([], [], color=GREY, lw=1.6, linestyle="--", label="median"),
            plt.Rectangle((0, 0), 1, 1, color=GREY, alpha=0.3, lw=0, label="one sd"),
            plt.Line2D([], [], color=GREY, lw=0.6, alpha=0.6, label="curve"),
        ]
