"""The picture of `systems.py`: a row for each table, a dot for each tool."""

import json

import numpy as np

TOOLS = {  # name in the record: name, color, marker
    "averaged": ("sksearch", "#174a73", "o"),
    "FLAML": ("FLAML", "#c98a1b", "s"),
    "AutoGluon": ("AutoGluon", "#7b8794", "D"),
    "AutoGluon best": ("AutoGluon, best quality", "#a3465b", "^"),
}
UNTUNED = "untuned"
PANELS = {
    "error": "test error (1 - accuracy, 1 - R² for regressions)",
    "loss": "log loss",
}
TICKS = (0.3, 0.5, 0.7, 1, 1.5, 2)


def ratios(lines, field):
    """Return figures relative to the best untuned model, as geometric means over seeds.

    Parameters
    ----------
    lines : list of dict
        Lines of the record.
    field : {"error", "loss"}
        The figure.

    Returns
    -------
    ratios : dict of str to dict of str to float
        By tool and table. Below 1 the tool has found a better model. Tables are in the order of
        our ratios.
    """
    untuned = {(e["frame"], e["seed"]): e[field] for e in lines if e["name"] == UNTUNED}
    found = {name: {} for name in TOOLS}
    for line in lines:
        if line["name"] in TOOLS and line[field] and untuned.get((line["frame"], line["seed"])):
            ratio = line[field] / untuned[line["frame"], line["seed"]]
            found[line["name"]].setdefault(line["frame"], []).append(ratio)
    means = {
        name: {frame: round(float(np.exp(np.log(each).mean())), 3) for frame, each in runs.items()}
        for name, runs in found.items()
    }
    order = sorted(means["averaged"], key=means["averaged"].get)
    return {name: {f: of[f] for f in order if f in of} for name, of in means.items() if of}


def draw(lines, path):
    """Draw the ratios; the PNG also contains them as text."""
    import matplotlib.pyplot as plt

    found = {field: ratios(lines, field) for field in PANELS}
    sizes = [len(each["averaged"]) for each in found.values()]
    fig, axes = plt.subplots(
        1, 2, figsize=(11, 4.4), layout="constrained", width_ratios=(1, 1), squeeze=True
    )
    for ax, (field, label), size in zip(axes, PANELS.items(), sizes, strict=True):
        panel(ax, found[field], label)
        ax.set_ylim(max(sizes) - 0.5, -0.5) if size else ax.set_axis_off()
    handles, labels = axes[0].get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside upper center", ncols=len(TOOLS), frameon=False)
    fig.savefig(path, dpi=150, metadata={"Description": json.dumps(found)})


def panel(ax, found, label):
    """Draw one figure: a row for each table."""
    tables = [*found["averaged"]]
    ax.axvline(1, color="#333", linewidth=0.8)
    for row, table in enumerate(tables):
        values = [of_tables[table] for of_tables in found.values() if table in of_tables]
        ax.plot([min(values), max(values)], [row, row], color="#d5dae0", linewidth=2, zorder=1)
    for name, of_tables in found.items():
        title, color, marker = TOOLS[name]
        rows = [tables.index(table) for table in of_tables]
        size, layer = (70, 3) if name == "averaged" else (36, 2)
        ax.scatter(of_tables.values(), rows, size, color, marker, label=title, zorder=layer)
    ax.set_yticks(range(len(tables)), [table.replace("_", " ") for table in tables])
    ax.set_xscale("log")
    ax.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS])
    ax.set_xticks([], minor=True)
    ax.set_xlabel(f"{label} / untuned")
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
