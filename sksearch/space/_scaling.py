"""Small steps of a value, as factors: what population-based training does to its params."""

from numbers import Real
from typing import Any

from ._dimensions import Categorical, Dimension


def scaled(dimension: Dimension, value: Any, factor: float) -> Any:
    """Return about `factor` times a value, inside of the dimension.

    Parameters
    ----------
    dimension : Dimension
        Where values come from.
    value : object
        A value, or the own one of an estimator.
    factor : float
        Above or below 1.

    Returns
    -------
    value : object
        The product, at the end of the range if it lies beyond; an integer moves by 1 at least. In
        a list of numbers in order it is the next larger or smaller one. What is no number, or
        comes from an object of which only ``rvs`` is known, stays.
    """
    if isinstance(dimension, Categorical):
        i = dimension.index(value)
        if i is None or not dimension.ordered:
            return value
        ascends = dimension.choices[-1] > dimension.choices[0]
        i += 1 if (factor > 1) == ascends else -1
        return dimension.choices[min(max(i, 0), dimension.size - 1)]
    if dimension.bounds is None or isinstance(value, bool) or not isinstance(value, Real):
        return value
    product: Any = float(value) * factor
    if dimension.kind == "integer":
        at = round(product)
        product = at if at != value else at + (1 if product > value else -1)
    low, high = dimension.bounds
    return min(max(product, low), high)
