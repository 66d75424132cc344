"""The picture of `many_models.py`: test errors compared with AutoGluon's and FLAML's."""

import json

import numpy as np

COLORS = {"AutoGluon": "#174a73", "FLAML": "#c98a1b"}
OURS = {"AutoGluon": "averaged", "FLAML": "all of them"}
TITLES = {
    "AutoGluon": "ensemble=True, compared with AutoGluon",
    "FLAML": "best model of the list, compared with FLAML",
}


def ratios(lines):
    """Return the ratio of test errors by peer and table, the smallest first.

    Parameters
    ----------
    lines : list of dict
        Lines of the record, all of one length and metric.

    Returns
    -------
    ratios : dict of str to dict of str to float
        Our error divided by the peer's; below 1 ours is smaller.
    """
    errors = {(line["name"], line["table"]): 1 - line["test"] for line in lines}
    return {
        peer: dict(
            sorted(
                (
                    (table, round(errors[ours, table] / errors[peer, table], 3))
                    for name, table in errors
                    if name == peer
                ),
                key=lambda item: item[1],
            )
        )
        for peer, ours in OURS.items()
    }


def draw(lines, path):
    """Draw the ratios; the PNG also contains them as text."""
    import matplotlib.pyplot as plt

    found = ratios(lines)
    fig, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained", sharex=True)
    for ax, (peer, of_tables) in zip(axes, found.items(), strict=True):
        values = np.array([*of_tables.values()])
        color = [COLORS[peer] if value < 1 else "#7b8794" for value in values]
        ax.barh(range(len(values)), values - 1, left=1, color=color)
        ax.axvline(1, color="#333", linewidth=0.8)
        ax.set_yticks(range(len(values)), [*of_tables])
        ax.invert_yaxis()
        ax.set_title(TITLES[peer], loc="left", fontsize="medium")
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.tick_params(axis="y", length=0)
    fig.supxlabel("ratio of test errors after 30 s; below 1 sksearch is better", fontsize="medium")
    fig.savefig(path, dpi=150, metadata={"Description": json.dumps(found)})
