"""Small steps of a value."""

import numpy as np
import pytest
from scipy.stats import randint, uniform

from sksearch.space import Space
from sksearch.space._scaling import scaled


class Draws:
    """Only its draws are known."""

    def rvs(self, random_state=None):
        return 0.5


@pytest.mark.parametrize(
    ("values", "value", "factor", "expected"),
    [
        (uniform(0, 1), 0.5, 1.2, 0.6),
        (uniform(0, 1), 0.9, 1.2, 1.0),  # the end of the range
        (randint(1, 10), 2, 1.2, 3),  # by 1 at least
        (randint(1, 10), 2, 0.8, 1),
        (randint(1, 10), 9, 1.2, 9),
        ([1, 10, 100], 10, 1.2, 100),
        ([100, 10, 1], 10, 1.2, 100),
        ([1, 10, 100], 1, 0.8, 1),
        (["a", "b"], "a", 1.2, "a"),
        ([1, 10, 100], 7, 1.2, 7),  # not in the list
        (Draws(), 0.5, 1.2, 0.5),
        (uniform(0, 1), "auto", 1.2, "auto"),
        (uniform(0, 1), None, 1.2, None),
        (uniform(0, 1), True, 1.2, True),
    ],
)
def test_a_value_moves_by_a_factor_inside_of_its_dimension(values, value, factor, expected):
    (dimension,) = Space({"x": values}).all_dimensions
    found = scaled(dimension, value, factor)
    assert found == (pytest.approx(expected) if isinstance(expected, float) else expected)
    assert isinstance(found, bool) == isinstance(expected, bool)
    assert not isinstance(found, np.generic)
