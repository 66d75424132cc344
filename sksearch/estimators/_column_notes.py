"""Description of how models treat the columns of a table."""

from collections.abc import Sequence
from typing import Any

from ._tables import KINDS, OfKind, TableColumns


def notes_on_columns(models: Sequence[tuple[str, Any]]) -> list[str]:
    """Describe how the models' steps treat each column that a `TableColumns` reads.

    Parameters
    ----------
    models : sequence of tuple (str, estimator)
        Models with their names.

    Returns
    -------
    notes : list of str
        A line for columns treated alike, and one for omitted columns; empty if no model has such a
        step.
    """
    ways: dict[tuple, dict[str, list[str]]] = {}
    out: dict[tuple, None] = {}
    for model_name, model in models:
        steps = [step for _, step in getattr(model, "steps", ())]
        for table in (step for step in steps if isinstance(step, TableColumns)):
            why = table.left_out or {}
            out |= dict.fromkeys((k, why[k]) for k in why if k not in table.used)
            for own, way in _ways(table, steps):
                ways.setdefault(tuple(own), {}).setdefault(way, []).append(model_name)
    lines = []
    for names, found in ways.items():
        texts = [
            f"{way} in {', '.join(who)}" if len(found) > 1 else way for way, who in found.items()
        ]
        lines.append(f"{', '.join(map(_shown, names))}: {'; '.join(texts)}")
    lines += [f"{_shown(name)} is left out: {why}" for name, why in out]
    return lines


def _shown(name: object) -> str:
    return str(name) if str(name).strip() else repr(name)


def _ways(table: TableColumns, steps: list) -> list[tuple[list, str]]:
    """Names of the columns of each part, and their treatment."""
    given = dict(zip(table.get_feature_names_out(), table.used, strict=True))
    kinds = {name: kind for kind in KINDS for name in getattr(table, kind)}
    parts: Any = next((step.transformers for step in steps if hasattr(step, "transformers")), None)
    if parts is None:
        parts = [(kind, "passthrough", [n for n in given if kinds[given[n]] == kind])
                 for kind in KINDS]  # fmt: skip
    found = []
    for _, step, names in parts:
        inner = [each for _, each in getattr(step, "steps", [("", step)])]
        while any(hasattr(each, "transformer") for each in inner):
            inner = [getattr(each, "transformer", each) for each in inner]
        if isinstance(names, OfKind):
            names = [name for name in given if kinds[given[name]] == names.kind]
        own = [given.pop(name) for name in names if name in given]
        if not own:
            continue
        kind = kinds[own[0]]
        text = ", ".join(type(each).__name__ for each in inner)
        if step == "passthrough":
            text = "unchanged" if kind == "numbers" else "native"
        text = "left out" if step == "drop" else text
        found.append((own, f"{kind}, {text}"))
    return [*found, ([*given.values()], "left out, as no step takes them")] if given else found
