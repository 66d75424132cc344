"""The picture of `many_models.py`: a row for each table, a dot for each tool."""

import json

TOOLS = {  # name in the record: name, color, marker
    "averaged": ("sksearch", "#174a73", "o"),
    "FLAML": ("FLAML", "#c98a1b", "s"),
    "AutoGluon": ("AutoGluon", "#7b8794", "D"),
}
UNTUNED, SECONDS = "untuned", 60
LABEL = "test error divided by that of the best untuned model (1 - R² for regressions)"
TICKS = (0.3, 0.5, 0.7, 1, 1.5, 2)


def ratios(lines):
    """Return the test errors relative to the best untuned model, by tool and table.

    Parameters
    ----------
    lines : list of dict
        Lines of the record.

    Returns
    -------
    ratios : dict of str to dict of str to float
        Below 1 the tool has found a better model. Tables are in the order of our ratios.
    """
    errors = {
        (line["name"], line["table"]): 1 - line["test"]
        for line in lines
        if line["seconds"] == SECONDS and not line.get("scoring")
    }
    found = {
        name: {
            table: round(error / errors[UNTUNED, table], 3)
            for (of, table), error in errors.items()
            if of == name and (UNTUNED, table) in errors
        }
        for name in TOOLS
    }
    order = sorted(found["averaged"], key=found["averaged"].get)
    return {
        name: {table: of_tables[table] for table in order if table in of_tables}
        for name, of_tables in found.items()
    }


def draw(lines, path):
    """Draw the ratios; the PNG also contains them as text."""
    import matplotlib.pyplot as plt

    found = ratios(lines)
    tables = [*found["averaged"]]
    fig, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
    ax.axvline(1, color="#333", linewidth=0.8)
    for row, table in enumerate(tables):
        values = [of_tables[table] for of_tables in found.values() if table in of_tables]
        ax.plot([min(values), max(values)], [row, row], color="#d5dae0", linewidth=2, zorder=1)
    for name, of_tables in found.items():
        label, color, marker = TOOLS[name]
        rows = [tables.index(table) for table in of_tables]
        size, layer = (70, 3) if name == "averaged" else (40, 2)
        ax.scatter(of_tables.values(), rows, size, color, marker, label=label, zorder=layer)
    ax.set_yticks(range(len(tables)), [table.replace("_", " ") for table in tables])
    ax.invert_yaxis()
    ax.set_xscale("log")
    ax.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS])
    ax.set_xticks([], minor=True)
    ax.set_xlabel(LABEL)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.legend(frameon=False, loc="lower left")
    fig.savefig(path, dpi=150, metadata={"Description": json.dumps(found)})
