"""Small changes of a value, for population-based training."""

from typing import Any

from ._dimensions import Categorical, Dimension
from ._values import is_number


def scaled(dimension: Dimension, value: Any, factor: float) -> Any:
    """Return about `factor` times a value, inside the dimension.

    Parameters
    ----------
    dimension : Dimension
        Dimension of the value.
    value : object
        A value of the dimension, or the estimator's own value.
    factor : float
        Factor above or below 1.

    Returns
    -------
    value : object
        Product, clipped to the range; an integer moves by at least 1. In a sorted list of numbers,
        the next larger or smaller one. Other types of values, and values of an opaque object,
        stay unchanged.
    """
    if isinstance(dimension, Categorical):
        i = dimension.index(value)
        if i is None or not dimension.ordered:
            return value
        ascends = dimension.choices[-1] > dimension.choices[0]
        i += 1 if (factor > 1) == ascends else -1
        return dimension.choices[min(max(i, 0), dimension.size - 1)]
    if dimension.bounds is None or not is_number(value):
        return value
    product: Any = float(value) * factor
    if dimension.kind == "integer":
        at = round(product)
        product = at if at != value else at + (1 if product > value else -1)
    low, high = dimension.bounds
    return min(max(product, low), high)
