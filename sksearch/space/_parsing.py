"""Parse a user's space: one dict of parameters, or a list of dicts."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ._candidate_list import CandidateList
from ._conditions import When, unwrap
from ._dimensions import Categorical, Dimension
from ._distributions import make_dimension
from ._outcome import Outcome, split_outcome

# Name of the coordinate that selects a dict of a union. Not a valid Python keyword argument.
UNION_NAME = "(dict)"

# Dimensions and conditions of one dict, by parameter name.
Parsed = tuple[dict[str, Any], dict[str, list[When]]]  # dimensions and conditions
Found = tuple[str, Outcome] | None  # name and outcome


def parse(
    param_distributions: Any, accepts: Callable[[str, Any], bool] | None
) -> tuple[list[Parsed], list[Found]]:
    """Convert each dict of a user to dimensions and conditions by name, and its outcome."""
    if isinstance(param_distributions, Mapping):
        param_distributions = [param_distributions]
    if not isinstance(param_distributions, (list, tuple)):
        raise TypeError(
            f"param_distributions is {param_distributions!r}: it must be a dict of parameters, or "
            "a list of such dicts."
        )
    if len(param_distributions) == 0:
        raise ValueError(
            "empty search space: param_distributions is an empty list; it needs a dict."
        )
    for grid in param_distributions:
        if not isinstance(grid, Mapping):
            raise TypeError(
                f"param_distributions contains {grid!r}: every item of the list must be a dict, "
                "such as {'C': scipy.stats.uniform(0, 1)}."
            )
    split = [split_outcome(grid) for grid in param_distributions]
    return [_parse_dict(grid, accepts) for grid, _ in split], [found for _, found in split]


def _parse_dict(grid: Mapping, accepts: Callable[[str, Any], bool] | None) -> Parsed:
    """Convert one dict of a user to dimensions and conditions by name."""
    dimensions, conditions = {}, {}
    for name, values in grid.items():
        if not isinstance(name, str):
            raise TypeError(
                f"param_distributions has the key {name!r}: names of parameters must be strings."
            )
        values, whens = unwrap(values)
        dimensions[name] = make_dimension(name, values, accepts)
        if whens:
            conditions[name] = whens
    return dimensions, conditions


def list_candidates(parsed: list[Parsed]) -> CandidateList | None:
    """Return the candidates of a union of dicts with one candidate each, otherwise None."""
    dimensions = [dimension for each, _ in parsed for dimension in each.values()]
    choices = all(d.kind == "categorical" and d.size == 1 for d in dimensions)
    if len(parsed) == 1 or not dimensions or not choices or any(when for _, when in parsed):
        return None
    return CandidateList([{name: d.choices[0] for name, d in each.items()} for each, _ in parsed])


class Coordinates(NamedTuple):
    """Coordinates of the unit cube, and parameters without a coordinate.

    Parameters
    ----------
    dimensions : list of Dimension
        One for each coordinate. Parameters with the same name and distribution share one.
    coordinates : list of dict of str to int
        Coordinates of the parameters for each dict of a union.
    constants : list of Dimension
        Parameters with a single value and no coordinate.
    """

    dimensions: list[Dimension]
    coordinates: list[dict[str, int]]
    constants: list[Dimension]


def share_coordinates(parsed: list[Parsed], names: list[str]) -> Coordinates:
    """Assign coordinates of one unit cube to the parameters of all dicts, by sorted names.

    A single value has a coordinate only if several dicts contain it and others do not, because it
    then marks their similarity. In `parsed`, parameters with the same name and distribution are
    replaced by one object.
    """
    n = len(parsed)
    dimensions: list[Dimension] = [Categorical(UNION_NAME, range(n))] if n > 1 else []
    constants: list[Dimension] = []
    coordinates: list[dict[str, int]] = [{} for _ in parsed]
    for name in names:
        for dimension, dicts in _distinct(name, [own for own, _ in parsed]):
            for i in dicts:
                parsed[i][0][name] = dimension
            if dimension.size == 1 and not 1 < len(dicts) < n:
                constants.append(dimension)
                continue
            for i in dicts:
                coordinates[i][name] = len(dimensions)
            dimensions.append(dimension)
    return Coordinates(dimensions, coordinates, constants)


def _distinct(name: str, dicts: list[dict[str, Any]]) -> list[tuple[Dimension, list[int]]]:
    """Return the distinct dimensions of a name, each with the numbers of its dicts."""
    found: list[tuple[Dimension, list[int]]] = []
    for i, own in enumerate(dicts):
        if name not in own:
            continue
        for other, numbers in found:
            same_kind = type(other) is type(own[name])
            if same_kind and other.distribution_key == own[name].distribution_key:
                numbers.append(i)
                break
        else:
            found.append((own[name], [i]))
    return found
