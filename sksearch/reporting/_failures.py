"""Failures of a search, grouped by cause, and the values that all of a group have."""

import re
from dataclasses import dataclass

import numpy as np

from sksearch.reporting import _words as words
from sksearch.reporting._ranges import ranges_of
from sksearch.reporting._table import Table, is_number
from sksearch.stats._rows import key_of

LONGEST = 100  # characters of an error
PURE = 0.8  # share of failures among those with a value, from which on the value is to blame
MIN_FAILED = 3


@dataclass(frozen=True)
class Failures:
    """Candidates that failed for one cause.

    Parameters
    ----------
    status : str
        "error", "memory", "nan", "crash" or "timeout".
    cause : str
        The first line of the error; "" where it is not known.
    ids : list of int
        Indices of the candidates.
    where : str
        The value that all of them have, as "kernel='poly'" or "C >= 10"; "" if there is none.
    remedy : str
        Code that takes this value out of the space, "" if there is none.
    """

    status: str
    cause: str
    ids: list[int]
    where: str = ""
    remedy: str = ""


def group_failures(table: Table) -> list[Failures]:
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


def _blame(table: Table, ids: list[int]) -> tuple[str, str]:
    """The value that all of these have and few others, and the code that takes it out."""
    if len(ids) < MIN_FAILED:
        return "", ""
    failed = np.zeros(len(table.candidates), dtype=bool)
    failed[ids] = True
    best = (0.0, "", "")
    ranges = {each.name: each for each in ranges_of(table)}
    name_of_space = table.space_name
    for name in table.candidates[ids[0]].params:
        values = [candidate.params.get(name) for candidate in table.candidates]
        keys = [key_of(value) for value in values]
        if len({keys[i] for i in ids}) == 1 and len(set(keys)) > 1:
            having = np.array([key == keys[ids[0]] for key in keys])
            value = words.value(values[ids[0]])
            remedy = f"{name_of_space}[{name!r}].remove({value})"
            best = max(best, (failed[having].mean(), f"{name}={value}", remedy))
        elif name in ranges and all(map(is_number, values)):
            x = np.array(values, dtype=float)
            for sign, upper in ((1, True), (-1, False)):
                limit = (sign * x[ids]).min()
                having = sign * x >= limit
                if having.all():
                    continue
                inside = x[~having].max() if upper else x[~having].min()
                text = f"{name} {'>' if upper else '<'} {words.value(float(inside))}"
                code = _narrowed(ranges[name], float(inside), upper)
                remedy = f"{name_of_space}[{name!r}] = {code}"
                best = max(best, (failed[having].mean(), text, remedy))
    return best[1:] if best[0] >= PURE else ("", "")


def _narrowed(each, inside, upper):
    """Code for a range that ends inside of what failed."""
    if each.choices:
        kept = [x for x in each.choices if (x <= inside if upper else x >= inside)]
        return words.code_of(kept)
    low, high = (each.low, inside) if upper else (inside, each.high)
    if each.is_integer:
        return f"{'LogRandInt' if each.log else 'randint'}({int(low)}, {int(high) + 1})"
    low, high = float(f"{low:.2g}"), float(f"{high:.2g}")
    return f"loguniform({low:g}, {high:g})" if each.log else f"uniform({low:g}, {high - low:g})"
