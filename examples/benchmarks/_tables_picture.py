"""The picture of what `tables.py` has found."""

import json
from itertools import product

import numpy as np
from _tables_cases import ESTIMATORS, TABLES
from _tables_report import ALL_TOOLS, VARIANTS, Results, limited, recorded_rows
from _tables_tools import OURS

COLORS = {"ours": "#174a73", "tool": "#c98a1b", "untuned": "#7b8794"}
TITLES = {"test": "on test rows", "cv": "by cross-validation"}
N_SEEDS = 2


def ranks_by_field(records, seconds):
    """Mean ranks of tools that know all estimators, and of untuned models.

    Parameters
    ----------
    records : Records
        All that is known.
    seconds : int
        Length of the runs, after which they are read.

    Returns
    -------
    ranks : dict of str to dict of str to float
        By "test" or "cv", and by the name of the row; the best on test rows first.
    """
    runs = list(product(TABLES, ESTIMATORS, range(N_SEEDS)))
    known = recorded_rows(records, ALL_TOOLS, runs, seconds)
    rows = [row for row in known if not limited(row, ESTIMATORS)]
    results = Results(records, rows, runs, seconds)
    found = {field: results.ranks(field, seconds).mean(axis=0) for field in TITLES}
    order = np.argsort(found["test"], kind="stable")
    return {
        field: {rows[i]: round(float(ranks[i]), 2) for i in order}
        for field, ranks in found.items()
    }


def draw(records, seconds, path):
    """Draw the mean ranks; the PNG has them as text, too."""
    import matplotlib.pyplot as plt

    ranks = ranks_by_field(records, seconds)
    fig, axes = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained", sharey=True)
    for ax, (field, of_rows) in zip(axes, ranks.items(), strict=True):
        kinds = ["ours" if r in OURS else "untuned" if r in VARIANTS else "tool" for r in of_rows]
        bars = ax.barh(range(len(of_rows)), of_rows.values(), color=[COLORS[k] for k in kinds])
        labels = ax.bar_label(bars, fmt="%.2f", padding=4, fontweight="bold")
        for label, kind in zip(labels, kinds, strict=True):
            label.set_color(COLORS[kind])
        ax.set_title(TITLES[field], loc="left")
        ax.set_yticks(range(len(of_rows)), list(of_rows))
        ax.spines[["top", "right", "bottom"]].set_visible(False)
        ax.tick_params(axis="y", length=0)
        ax.set_xlim(0, 8)
        ax.set_xticks([])
    axes[0].invert_yaxis()
    fig.supxlabel(f"mean rank after {seconds} s, 1 is best", fontsize="medium")
    fig.savefig(path, dpi=150, metadata={"Description": json.dumps(ranks)})
