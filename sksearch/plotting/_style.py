"""What all displays share: axes, colours, legends. Matplotlib is imported when one is drawn."""

import numpy as np

# Okabe and Ito's palette without its yellow, which is pale on white: told apart by colour-blind
# eyes. https://jfly.uni-koeln.de/color/
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STYLES = ("-", "--", ":", "-.")
ACCENT = "#D55E00"
LIGHT, DARK = (0.74, 0.82, 0.90), (0.03, 0.19, 0.38)  # ends of a scale that is readable in grey
GREY, PALE = "#6b7480", "#e9edf1"


def pyplot(name):
    """Import ``matplotlib.pyplot`` for the display of this name."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            f'{name} draws with matplotlib, which is not installed: pip install "sksearch[plot]".'
        ) from error
    return plt


def new_axes(display, figsize, **options):
    """Make a figure for a display that was given no axes."""
    plt = pyplot(type(display).__name__)
    return plt.subplots(figsize=figsize, layout="constrained", **options)[1]


def tidy(ax):
    """Leave on the axes what helps to read them."""
    ax.grid(axis="y", color=PALE)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(which="both", length=0)


def look(i):
    """Colour and line style of the i-th of several methods; none of 28 are the same."""
    return {"color": COLORS[i % len(COLORS)], "linestyle": STYLES[i // len(COLORS) % len(STYLES)]}


def shade(share):
    """Colour on the scale from LIGHT, 0, to DARK, 1."""
    return tuple((1 - share) * np.array(LIGHT) + share * np.array(DARK))


def legend_beside(ax, **options):
    """Legend on the right of the axes, where it covers no data."""
    ax.legend(
        loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0, frameon=False, **options
    )


def spaced_by_factors(grid):
    """Whether steps grow with the grid, so that a logarithmic axis shows it evenly."""
    grid = np.asarray(grid, dtype=float)
    if len(grid) < 3 or grid[0] <= 0:
        return False
    steps, factors = np.diff(grid), np.diff(np.log(grid))
    return factors.std() / factors.mean() < steps.std() / steps.mean()


def named(values, what):
    """Return a dict of names, the empty one for a single array."""
    values = values if isinstance(values, dict) else {"": values}
    if not values:
        raise ValueError(f"{what} is empty: pass at least one entry.")
    return values


def label_log(axis):
    """Label a logarithmic axis at powers of ten, and if it has few at 2 and 5 times them."""
    from matplotlib.ticker import LogLocator

    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 500 * low else (1,)))
    axis.set_major_formatter("{x:,g}")
    axis.set_minor_formatter("")
