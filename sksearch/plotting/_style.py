"""Axes, colours and legends of all displays. Matplotlib is imported when one is drawn."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from sksearch._utils._on_demand import missing
from sksearch.reader._row import folds_text
from sksearch.reader._search_table import SearchTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's palette without its yellow (pale on white), distinguishable by colour-blind
# readers. https://jfly.uni-koeln.de/color/
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STYLES = ("-", "--", ":", "-.")
ACCENT = "#D55E00"
LIGHT, DARK = (0.74, 0.82, 0.90), (0.03, 0.19, 0.38)  # ends of a scale that is readable in grey
GREY, PALE = "#6b7480", "#e9edf1"
MANY = 400  # candidates from which on dots are small, and a vector picture is slow
FENCE = 3  # interquartile ranges below the lower quartile: Tukey's outer fence


def import_pyplot(name: str) -> Any:
    """Import ``matplotlib.pyplot`` for the display of this name."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise missing(f"{name} draws with matplotlib", "plot") from error
    return plt


def tidy(ax: "Axes") -> None:
    """Remove the spines that do not help to read the axes."""
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
    """Draw the legend right of the axes, so that it covers no data."""
    ax.legend(
        loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0, frameon=False, **options
    )


def is_geometric(grid: ArrayLike) -> bool:
    """Return whether points are spread more evenly on a logarithmic axis than on a linear one."""
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


def score_name(found: SearchTable, n_folds: int | None = None) -> str:
    """Name of the score of a search, for an axis; of means over its first folds, if given."""
    name = found.score_name
    if n_folds is not None:
        name += f", {folds_text(n_folds, found.n_folds)}"
    elif found.n_folds > 1:
        name += ", mean over folds" + " so far" * found.races
    return name[:1].upper() + name[1:]


def short(text: object, length: int) -> str:
    """Return a text of at most `length` characters; a longer one keeps its distinctive end."""
    text = str(text)
    return text if len(text) <= length else "…" + text[1 - length :]


def star_style(is_hollow: bool = False) -> dict[str, Any]:
    """Style of the winner's star: hollow if the winner has no score of its own."""
    style = {"ls": "", "marker": "*", "clip_on": False, "zorder": 5}
    if is_hollow:
        return style | {"mfc": "w", "mec": ACCENT, "mew": 1.5}
    return style | {"color": ACCENT, "mec": "w"}


def place_ticks(axis: Any, values: Any, length: int = 14) -> None:
    """Label an axis from 0 to 1, on which the values of a parameter are placed.

    `axis` is one of matplotlib's, `values` a `sksearch.stats._candidates.Axis`.
    """
    from matplotlib.ticker import FixedFormatter, FixedLocator, LogLocator, MaxNLocator

    if values.choices:
        n = len(values.choices)
        shown = np.unique(np.linspace(0, n - 1, min(n, 12)).round().astype(int))
        places = shown / max(1, n - 1)
        labels = [short(values.choices[i], length) for i in shown]
    else:
        locator = LogLocator(numticks=6) if values.log else MaxNLocator(4, integer=values.integer)
        ticks = np.asarray(locator.tick_values(values.low, values.high))
        ticks = ticks[(ticks >= values.low * (1 - 1e-9)) & (ticks <= values.high * (1 + 1e-9))]
        if len(ticks) < 2:
            ticks = np.array([values.low, values.high])
        places = values.encode([{values.name: float(t)} for t in ticks])
        labels = [f"{t:g}" for t in ticks]
    axis.set_major_locator(FixedLocator(list(places)))
    axis.set_major_formatter(FixedFormatter(labels))


def near_scores(scores: np.ndarray) -> np.ndarray:
    """Return the scores without low outliers."""
    low, high = np.quantile(scores, [0.25, 0.75])
    return scores[scores >= low - FENCE * (high - low)]


def axis_of_scores(ax: "Axes", scores: np.ndarray, star: float | None = None) -> None:
    """Cut low outliers off the axis of scores, but never the winner."""
    near = near_scores(scores)
    near = near if star is None else np.append(near, star)
    span = (near.max() - near.min()) or max(abs(near.max()), 1) * 0.1
    ax.set_ylim(near.min() - 0.08 * span, near.max() + 0.08 * span)
