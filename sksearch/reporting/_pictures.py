"""The pictures of a report, as PNG in base64."""

import base64
import io
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from sksearch.plotting import HistoryDisplay, PredictionDisplay, SliceDisplay, TimelineDisplay
from sksearch.plotting._rungs import RungDisplay
from sksearch.plotting._style import ACCENT, COLORS, GREY, import_pyplot, tidy
from sksearch.reporting import _words as words
from sksearch.reporting._advice import Facts
from sksearch.reporting._rivals import finalists

N_BEST = 20  # candidates
LONGEST = 46  # characters of the label of a candidate
DISPLAYS: list[tuple[str, Any]] = [
    ("All scores of the search.", HistoryDisplay),
    ("Scores by the most important parameters.", SliceDisplay),
    ("Agreement of each rung with the ranking at the next one.", RungDisplay),
    ("Predicted and actual score of each candidate.", PredictionDisplay),
    ("Timeline of the workers.", TimelineDisplay),
]


def pictures(facts: Facts) -> list[tuple[str, str]]:
    """Draw the pictures that the results allow.

    Parameters
    ----------
    facts : Facts
        Facts of a report.

    Returns
    -------
    pictures : list of (str, str)
        Caption and image of each; if it could not be drawn, the image is "" and the caption gives
        the reason.
    """
    if facts.table.best is None:
        return []
    plt = import_pyplot("report")
    drawn = []
    with plt.rc_context({"font.size": 10}):
        caption = (
            "The best candidates: a dot for each fold, a line for the mean. Blue candidates are "
            "statistically tied with the winner."
        )
        drawings = [(caption, partial(_draw_best, plt, facts))]
        drawings += [(caption, partial(_draw, each, facts)) for caption, each in DISPLAYS]
        for caption, draw in drawings:
            png = facts.parts.make(caption, _as_png, plt, draw, otherwise="")
            if fault := facts.parts.faults.get(caption):
                drawn.append((f"{caption} {fault}", ""))
            elif png:
                drawn.append((caption, png))
    return drawn


def _draw(display: Any, facts: Facts) -> Any:
    """A figure; None if there is nothing of its kind in the search."""
    try:
        return display.from_search(facts.table).figure_
    except ValueError:  # a display refuses a search that it cannot draw
        return None


def _draw_best(plt: Any, facts: Facts) -> Any:
    """A row for each of the best candidates, and the interval of the corrected score."""
    table, selected = facts.table, facts.selected
    ids = np.flatnonzero(finalists(table))
    ids = ids[np.argsort(-table.means[ids], kind="stable")]
    ids = np.concatenate([[table.best], ids[ids != table.best]])[:N_BEST].astype(int)
    figure, ax = plt.subplots(figsize=(8, 1.4 + 0.3 * len(ids)), layout="constrained")
    names = {n for i in ids for n in table.candidates[i].params}
    few = sorted(names)[:3]
    if facts.importance is not None:
        few = [name for name in facts.importance.names if name in names][:3] or few
    leaves = {name: name.rpartition("__")[2] for name in few}
    leaves = leaves if len({*leaves.values()}) == len(few) else {}
    labels = []
    for row, i in enumerate(ids):
        color = ACCENT if i == table.best else COLORS[0] if facts.tied[i] else GREY
        ax.plot(table.scores[i], np.full(table.n_folds, -row), "o", ms=4, color=color, alpha=0.45)
        ax.plot(table.means[i], -row, "|", ms=13, mew=2.5, color=color)
        own = table.candidates[i].params
        shown = {leaves.get(name, name): own[name] for name in few if name in own}
        label = words.params(shown)
        labels.append(label if len(label) <= LONGEST else f"{label[: LONGEST - 3]}...")
    if selected is not None and np.isfinite(selected.low):
        y = 1.1
        ax.plot([selected.low, selected.high], [y, y], lw=2, color=ACCENT)
        ax.plot(selected.corrected, y, "D", ms=6, color=ACCENT)
        ax.set_yticks([y, *-np.arange(len(ids))], ["expected on new data", *labels])
    else:
        ax.set_yticks(-np.arange(len(ids)), labels)
    tidy(ax)
    ax.grid(axis="x", color="#e9edf1")
    ax.grid(visible=False, axis="y")
    winner = table.candidates[ids[0]].row
    ax.set_xlabel(table.score_name + ("" if winner.is_complete else f", {winner.folds}"))
    return figure


def _as_png(plt: Any, draw: Callable[[], Any]) -> str:
    figure = draw()
    if figure is None:
        return ""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=110)
    plt.close(figure)
    return base64.b64encode(file.getvalue()).decode("ascii")
