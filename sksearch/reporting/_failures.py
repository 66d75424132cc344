"""Failures of a search, grouped by cause, and the values shared by a group."""

import math
import numbers
import re
from dataclasses import dataclass

import numpy as np

from sksearch._utils._compat import fault_of, whole_range
from sksearch.reader._search_table import SearchTable
from sksearch.reader._values import is_finite, key_of
from sksearch.reporting import _words as words
from sksearch.reporting._edits import remove_choice, set_values
from sksearch.reporting._ranges import code_of_range, ranges_of

LONGEST = 100  # characters of an error
PURE = 0.8  # share of failures among those with a value, from which on the value is to blame
MIN_FAILED = 3  # alike: fewer do not show a common parameter


@dataclass(frozen=True)
class Failures:
    """Candidates that failed for one cause.

    Parameters
    ----------
    status : str
        "error", "memory", "nan", "crash" or "timeout".
    cause : str
        The first line of the error; "" if unknown.
    ids : list of int
        Indices of the candidates.
    where : str
        The value shared by all of them, as "kernel='poly'" or "C >= 10"; otherwise "".
    remedy : str
        Code that fixes the space, otherwise "".
    cure : str
        Effect of the code, in words.
    """

    status: str
    cause: str
    ids: list[int]
    where: str = ""
    remedy: str = ""
    cure: str = "Remove it"


def group_failures(table: SearchTable) -> list[Failures]:
    """Group failed candidates by status and error, the largest group first."""
    groups: dict[tuple[str, str], list[int]] = {}
    for i, candidate in enumerate(table.candidates):
        if candidate.status != "ok":
            # Errors that differ in numbers, names of files and the like have one cause.
            cause = re.sub(r"0x[0-9a-fA-F]+|[-+]?\d+(\.\d+)?(e[-+]?\d+)?", "#", candidate.error)
            groups.setdefault((candidate.status, cause), []).append(i)
    found = []
    for (status, _), ids in sorted(groups.items(), key=lambda item: -len(item[1])):
        error = " ".join(table.candidates[ids[0]].error.split())
        error = error if len(error) <= LONGEST else f"{error[: LONGEST - 3]}..."
        found.append(Failures(status, error, ids, *_blame(table, ids)))
    return found


def _blame(table: SearchTable, ids: list[int]) -> tuple[str, ...]:
    """The value shared by these and few others, and the code that removes it."""
    if len(ids) < MIN_FAILED:
        return ()
    failed = np.zeros(len(table.candidates), dtype=bool)
    failed[ids] = True
    ranges = {each.name: each for each in ranges_of(table)}
    blames: list[tuple[float, str, str]] = []
    for name in _shared(table, ids):
        values = [candidate.params.get(name) for candidate in table.candidates]
        keys = [key_of(value) for value in values]
        if name in ranges and (ends := _whole_numbers(table, ranges[name], ids)):
            code = set_values(table, name, code_of_range(ends[0], ends[1], ranges[name].log, True))
            return f"fractions for {name}", code, "Draw integers"
        if len({keys[i] for i in ids}) == 1 and len(set(keys)) > 1:
            having = np.array([key == keys[ids[0]] for key in keys])
            value = values[ids[0]]
            remedy = remove_choice(table, name, value)
            blames.append((failed[having].mean(), f"{name}={words.value(value)}", remedy))
        if name in ranges and all(map(is_finite, values)):
            x = np.array(values, dtype=float)
            for sign, upper in ((1, True), (-1, False)):
                having = sign * x >= (sign * x[ids]).min()
                if having.all():
                    continue
                inside = float(x[~having].max() if upper else x[~having].min())
                text = f"{name} {'>' if upper else '<'} {words.value(inside)}"
                code = _narrowed(ranges[name], inside, upper)
                remedy = set_values(table, name, code) if code else ""
                blames.append((failed[having].mean(), text, remedy))
    share, where, remedy = max(blames, key=lambda b: (b[0], b[2] != ""), default=(0.0, "", ""))
    return (where, remedy) if share >= PURE else ()


def _shared(table, ids):
    """Names of the parameters shared by these candidates."""
    given = [table.candidates[i].params for i in ids]
    return [name for name in given[0] if all(name in params for params in given)]


def _whole_numbers(table, each, ids):
    """Smallest and largest of a range of floats that should be whole numbers, otherwise None."""
    estimator = table.estimator
    failed = [table.candidates[i].params[each.name] for i in ids]
    is_float = [isinstance(x, float) and not x.is_integer() for x in failed]
    if each.is_integer or each.choices or not all(is_float):
        return None
    if (ends := whole_range(estimator, each.name, each.low, each.high)) is not None:
        return ends
    own = estimator.get_params().get(each.name)
    scored = [c.params.get(each.name) for c in table.candidates if math.isfinite(c.row.score)]
    is_count = isinstance(own, numbers.Integral) and not isinstance(own, bool)
    if not is_count or fault_of(estimator, each.name, own) is not None:
        return None
    first, last = math.ceil(each.low), math.floor(each.high)
    first = max(first, 1) if each.log or each.low >= 0 else first
    whole = first <= last and not any(isinstance(x, float) for x in scored)
    return (first, last) if whole else None


def _narrowed(each, inside, upper):
    """Code for a range without the failed values, None if nothing is left."""
    if each.choices:
        kept = [x for x in each.choices if (x <= inside if upper else x >= inside)]
        return words.code_of(kept) if kept else None
    low, high = (each.low, inside) if upper else (inside, each.high)
    if not each.is_integer:  # two digits, unless they are beyond
        short = float(f"{inside:.2g}")
        if low <= short <= high:
            low, high = (low, short) if upper else (short, high)
    if not each.low <= low < high <= each.high:  # such as the estimator's own value
        return None
    return code_of_range(low, high, each.log, each.is_integer)
