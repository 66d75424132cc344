"""Axes, colours and legends of all displays. Matplotlib is imported when one is drawn."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's palette without its yellow, which is pale on white: told apart by colour-blind
# eyes. https://jfly.uni-koeln.de/color/
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STYLES = ("-", "--", ":", "-.")
ACCENT = "#D55E00"
LIGHT, DARK = (0.74, 0.82, 0.90), (0.03, 0.19, 0.38)  # ends of a scale that is readable in grey
GREY, PALE = "#6b7480", "#e9edf1"


def import_pyplot(name: str) -> Any:
    """Import ``matplotlib.pyplot`` for the display of this name."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            f'{name} draws with matplotlib, which is not installed: pip install "sksearch[plot]".'
        ) from error
    return plt


def new_axes(display: Any, figsize: tuple[float, float], **options: Any) -> Any:
    """Make a figure for a display without axes; return its axes, or an array of them."""
    plt = import_pyplot(type(display).__name__)
    return plt.subplots(figsize=figsize, layout="constrained", **options)[1]


def tidy(ax: "Axes") -> None:
    """Remove from the axes the lines that do not help to read them."""
    ax.grid(axis="y", color=PALE)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(which="both", length=0)


def line_style(i: int) -> dict[str, Any]:
    """Return colour and line style of the i-th of several methods; 28 of them differ."""
    return {"color": COLORS[i % len(COLORS)], "linestyle": STYLES[i // len(COLORS) % len(STYLES)]}


def shade_of_blue(share: float) -> tuple[float, float, float]:
    """Return a colour on the scale from LIGHT at 0 to DARK at 1."""
    return tuple((1 - share) * np.array(LIGHT) + share * np.array(DARK))


def legend_beside(ax: "Axes", **options: Any) -> None:
    """Draw the legend on the right of the axes, where it covers no data."""
    ax.legend(
        loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0, frameon=False, **options
    )


def is_geometric(grid: ArrayLike) -> bool:
    """Tell whether points are more even on a logarithmic axis than on a linear one."""
    grid = np.asarray(grid, dtype=float)
    if len(grid) < 3 or grid[0] <= 0:
        return False
    steps, factors = np.diff(grid), np.diff(np.log(grid))
    return factors.std() / factors.mean() < steps.std() / steps.mean()


def as_dict(values: Any, argument: str) -> dict[str, Any]:
    """Return a dict by name; the name of a single array is empty."""
    values = values if isinstance(values, dict) else {"": values}
    if not values:
        raise ValueError(f"{argument} is empty: pass at least one entry.")
    return values


def label_log(axis: Any) -> None:
    """Label a logarithmic axis at powers of ten, and if these are few at 2 and 5 times them."""
    from matplotlib.ticker import LogLocator

    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 500 * low else (1,)))
    axis.set_major_formatter("{x:,g}")
    axis.set_minor_formatter("")
