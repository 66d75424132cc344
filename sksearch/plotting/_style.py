"""Axes, colours and legends of all displays. Matplotlib is imported when one is drawn."""

from collections.abc import Sequence
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
CHARACTERS = 11  # in an inch of labels
FENCE = 3  # interquartile ranges below the lower quartile: Tukey's outer fence
ROW_HEIGHT = 0.02  # height of a row of marks at the bottom, as a share of the axes


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


def short(name: str, length: int, among: Sequence[str] = ()) -> str:
    """Return the end of a name, longer than `length` characters if others `among` end alike."""
    others = [other for other in among if other != name]
    while len(name) > length and any(other.endswith(name[1 - length :]) for other in others):
        length += 1
    return name if len(name) <= length else "…" + name[1 - length :]


def short_choice(choice: object, length: int) -> str:
    """Return the text of a choice, without its middle if it has more than `length` characters."""
    text = " ".join(str(choice).split())
    half = length // 2
    text = text if len(text) <= length else f"{text[:half]}…{text[half + 1 - length :]}"
    return text.replace("$", r"\$")  # otherwise two of them enclose a formula


def star_style(is_hollow: bool = False) -> dict[str, Any]:
    """Style of the winner's star: hollow if the winner has no score of its own."""
    style = {"ls": "", "marker": "*", "clip_on": False, "zorder": 5}
    if is_hollow:
        return style | {"mfc": "w", "mec": ACCENT, "mew": 1.5}
    return style | {"color": ACCENT, "mec": "w"}


def margin_of(values: Any) -> float:
    """Return the margin of an axis from 0 to 1 with the values of a parameter."""
    return 0.5 / max(1, len(values.choices) - 1) if values.choices else 0.06


def place_ticks(axis: Any, values: Any, length: int = 14) -> None:
    """Label an axis from 0 to 1, on which the values of a parameter are placed.

    If labels do not fit next to each other, choices are slanted, and numbers thinned out. `axis`
    is one of matplotlib's, `values` a `sksearch.stats._candidates.Axis`.
    """
    from matplotlib.ticker import FixedFormatter, FixedLocator, LogLocator, MaxNLocator

    if values.choices:
        n = len(values.choices)
        shown = np.unique(np.linspace(0, n - 1, min(n, 12)).round().astype(int))
        places = shown / max(1, n - 1)
        labels = [short_choice(values.choices[i], length) for i in shown]
    else:
        locator = LogLocator(numticks=6) if values.log else MaxNLocator(4, integer=values.integer)
        ticks = np.asarray(locator.tick_values(values.low, values.high))
        ticks = ticks[(ticks >= values.low * (1 - 1e-9)) & (ticks <= values.high * (1 + 1e-9))]
        if len(ticks) < 2:
            ticks = np.array([values.low, values.high])
        while len(ticks) > 2 and not _fit(axis, [f"{t:g}" for t in ticks]):
            ticks = ticks[::2]
        places = values.encode([{values.name: float(t)} for t in ticks])
        labels = [f"{t:g}" for t in ticks]
    axis.set_major_locator(FixedLocator(list(places)))
    axis.set_major_formatter(FixedFormatter(labels))
    if values.choices and not _fit(axis, labels):
        axis.set_tick_params(rotation=25)
        for label in axis.get_ticklabels():
            label.set(ha="right", rotation_mode="anchor")


def _fit(axis: Any, labels: list[str]) -> bool:
    """Return whether labels fit next to each other, before the axes get their final size."""
    if axis.axis_name == "y":
        return True
    inches = axis.axes.get_window_extent().width / axis.axes.figure.dpi
    return sum(len(label) + 1 for label in labels) <= CHARACTERS * inches


def is_below(scores: np.ndarray, star: float | None = None) -> np.ndarray:
    """Return which scores are low outliers; never the winner's, nor any above it."""
    low, high = np.quantile(scores, [0.25, 0.75])
    fence = low - FENCE * (high - low)
    return (scores < (fence if star is None else min(fence, star))) & (high > low)


def near_scores(scores: np.ndarray) -> np.ndarray:
    """Return the scores without low outliers."""
    return scores[~is_below(scores)]


def limits_of(scores: np.ndarray) -> tuple[float, float]:
    """Return the ends of an axis of these scores."""
    low, high = float(scores.min()), float(scores.max())
    margin = 0.08 * ((high - low) or max(abs(high), 1) * 0.1)
    return low - margin, high + margin


def count_outside(outside: np.ndarray, where: str = "below") -> str:
    """Note on the number of scores outside of the axes; empty if none is."""
    return f" ({outside.sum():,} {where})" if outside.any() else ""


def mark_at_bottom(ax: "Axes", x: Any, marker: str = "v", row: int = 0, **options: Any) -> None:
    """Draw a row of marks at the bottom of the axes, for scores outside of them.

    Nothing is drawn if `x` has no place: an unclipped line without points breaks the layout.
    """
    x = np.asarray(x, dtype=float)
    x = x[~np.isnan(x)]
    if not len(x):
        return
    at = ax.get_xaxis_transform()
    style: dict[str, Any] = {"ms": 5, "color": "k", "clip_on": False, "transform": at}
    ax.plot(x, np.full(len(x), (2 * row + 1) * ROW_HEIGHT), marker, **style | options)


def axis_of_scores(
    ax: "Axes",
    x: np.ndarray,
    scores: np.ndarray,
    star: float | None = None,
    others: Sequence[float] = (),
    **options: Any,
) -> str:
    """Cut low outliers off the axis of scores, and mark them at x; return a note on them.

    Parameters
    ----------
    ax : matplotlib Axes
        Axes, with the scores on the y axis.
    x : ndarray of shape (n,)
        Places of the scores; NaN: no mark.
    scores : ndarray of shape (n,)
        The scores.
    star : float or None, default=None
        Score of the winner, never cut off.
    others : sequence of float, default=()
        Other heights that the axis is to contain.
    **options
        Options of the marks.

    Returns
    -------
    note : str
        How many scores are cut off; empty if none is.
    """
    below = is_below(scores, star)
    ax.set_ylim(limits_of(np.r_[scores[~below], others, scores.max() if star is None else star]))
    mark_at_bottom(ax, x[below], **options)
    return count_outside(below)
