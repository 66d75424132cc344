"""Lines of code that edit the space in the user's code."""

from collections.abc import Sequence
from typing import Any

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
        return f"{space_name(table)}={{**default_space(estimator), {name!r}: {code}}}"
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


def remove_params(table: SearchTable, names: Sequence[str]) -> str:
    """Return the line that removes parameters from the space, otherwise ""."""
    if _is_default(table):
        return (
            f"{space_name(table)}={{name: values for name, values in "
            f"default_space(estimator).items() if name not in {list(names)}}}"
        )
    return "; ".join(f"del {place}" for name in names for place, _ in _places(table, name))


def is_condition(table: SearchTable, name: str) -> bool:
    """True if another parameter is only active for some values of this one."""
    grids = _grids(table)
    whens = (when for _, grid in grids for values in grid.values() for when in unwrap(values)[1])
    return any(when.parent == name for when in whens)


def space_name(table: SearchTable) -> str:
    """Name the parameter that the space is passed as."""
    return "param_grid" if hasattr(table.source, "param_grid") else "param_distributions"


def _is_default(table: SearchTable) -> bool:
    """True if the space comes from `default_space`."""
    search = table.source
    own = getattr(search, "_own_space", None)
    return own is None and getattr(search, space_name(table), "absent") is None


def _grids(table: SearchTable) -> list[tuple[str, Any]]:
    """Each dict of the space, with the code that names it."""
    given, name = getattr(table.source, space_name(table), None), space_name(table)
    if isinstance(given, list | tuple):
        return [(f"{name}[{i}]", each) for i, each in enumerate(given)]
    return [] if given is None else [(name, given)]


def _places(table: SearchTable, name: str) -> list[tuple[str, Any]]:
    """Values of a parameter in each dict that has it, with the code that accesses them."""
    return [(f"{at}[{name!r}]", grid[name]) for at, grid in _grids(table) if name in grid]
