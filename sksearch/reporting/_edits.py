"""Lines of code that edit the space in the user's code."""

from collections.abc import Mapping, Sequence
from typing import Any

from sksearch.estimators._model_choice import named_of
from sksearch.history import WHICH
from sksearch.reader._search_table import SearchTable
from sksearch.reader._values import key_of
from sksearch.reporting._words import is_literal
from sksearch.space._conditions import unwrap
from sksearch.space._values import native


def set_values(table: SearchTable, name: str, code: str) -> str:
    """Return the line that gives a parameter other values, otherwise "".

    Parameters
    ----------
    table : SearchTable
        The results.
    name : str
        The parameter.
    code : str
        Code for its values.
    """
    if _is_default(table):
        model, own = _split(table, name)
        space = f"{{**{_default_of(model)}, {own!r}: {code}}}"
        return f"{space_name(table)}={f'{{{model!r}: {space}}}' if model else space}"
    lines: dict[str, str] = {}
    for place, values in _places(table, name):
        own = code
        for when in reversed(unwrap(values)[1]):
            if not is_literal(when.threshold):
                return ""
            own = f"When({own}, {when.parent!r}, {when.op!r}, {native(when.threshold)!r})"
        lines[own] = f"{place} = {lines[own]}" if own in lines else f"{place} = {own}"
    return "; ".join(lines.values())


def remove_choice(table: SearchTable, name: str, value: Any) -> str:
    """Return the line that removes one choice of a parameter, otherwise ""."""
    if not is_literal(value):
        return ""
    text = repr(native(value))
    if name == WHICH and named_of(table.estimator) and not _places(table, name):
        return _remove_model(table, value)
    if _is_default(table):
        dimensions = (
            [d for d in table.space.all_dimensions if d.name == name] if table.space else []
        )
        kept = [x for d in dimensions for x in getattr(d, "choices", ())]
        kept = [x for x in kept if key_of(x) != key_of(value)]
        return set_values(table, name, repr(kept)) if kept and all(map(is_literal, kept)) else ""
    lines, places = [], _places(table, name)
    for place, values in places:
        values, whens = unwrap(values)
        if hasattr(values, "rvs") or not hasattr(values, "__iter__"):
            return ""
        left = [x for x in values if key_of(native(x)) != key_of(value)]
        if not left:  # a parameter needs one choice at least
            return ""
        if len(left) == len(values):
            continue
        alone = len(places) == 1  # two dicts may hold the same list
        if alone and isinstance(values, list) and len(left) == len(values) - 1:
            lines.append(f"{place}{'.values' * len(whens)}.remove({text})")
        elif whens:
            return ""
        else:
            lines.append(f"{place} = [x for x in {place} if x != {text}]")
    return "; ".join(lines)


def _remove_model(table, model):
    """The line that takes a model out of the list, and its values out of the space."""
    lines = [f"estimator=[pair for pair in search.estimator.named if pair[0] != {model!r}]"]
    for at, grid, prefix in _grids(table):
        own = [key for key in grid if not prefix and key.partition("__")[0] == model]
        lines += [f"del {at}[{key!r}]" for key in own]
    return "; ".join(lines)


def remove_params(table: SearchTable, names: Sequence[str]) -> str:
    """Return the line that removes parameters from the space, otherwise ""."""
    if _is_default(table):
        by_model: dict[str, list[str]] = {}
        for model, own in (_split(table, name) for name in names):
            by_model.setdefault(model, []).append(own)
        spaces = {
            model: f"{{name: values for name, values in {_default_of(model)}.items() "
            f"if name not in {own}}}"
            for model, own in by_model.items()
        }
        texts = ", ".join(f"{model!r}: {space}" for model, space in spaces.items())
        return f"{space_name(table)}={spaces.get('') or f'{{{texts}}}'}"
    return "; ".join(f"del {place}" for name in names for place, _ in _places(table, name))


def is_condition(table: SearchTable, name: str) -> bool:
    """True if another parameter is only active for some values of this one."""
    return any(
        f"{prefix}{when.parent}" == name
        for _, grid, prefix in _grids(table)
        for values in grid.values()
        for when in unwrap(values)[1]
    )


def space_name(table: SearchTable) -> str:
    """Name the parameter that the space is passed as."""
    return "param_grid" if hasattr(table.source, "param_grid") else "param_distributions"


def _is_default(table: SearchTable) -> bool:
    """True if the space comes from `default_space`."""
    search = table.source
    own = getattr(search, "_own_space", None)
    return own is None and getattr(search, space_name(table), "absent") is None


def _split(table: SearchTable, name: str) -> tuple[str, str]:
    """Split a parameter into the name of its model in a list, otherwise "", and its name there."""
    model, _, own = name.partition("__")
    return (model, own) if model in dict(named_of(table.estimator)) else ("", name)


def _default_of(model: str) -> str:
    """Code for the default space of a model of a list, or of the estimator."""
    return f"default_space({f'dict(search.estimator.named)[{model!r}]' if model else 'estimator'})"


def _grids(table: SearchTable) -> list[tuple[str, Any, str]]:
    """Each dict of the space, with the code that names it, and the prefix of its parameters."""
    given, name = getattr(table.source, space_name(table), None), space_name(table)
    grids = [] if given is None else [(name, given, "")]
    if isinstance(given, list | tuple):
        grids = [(f"{name}[{i}]", each, "") for i, each in enumerate(given)]
    return grids + [
        (f"{at}[{key!r}]", values, f"{key}__")
        for at, grid, _ in grids
        for key, values in grid.items()
        if isinstance(values, Mapping)
    ]


def _places(table: SearchTable, name: str) -> list[tuple[str, Any]]:
    """Values of a parameter in each dict with this parameter, and the code that accesses them."""
    return [
        (f"{at}[{own!r}]", grid[own])
        for at, grid, prefix in _grids(table)
        if name.startswith(prefix) and (own := name.removeprefix(prefix)) in grid
    ]
