"""A few stories of the simulation, short enough to be told at each change."""

import random

import pytest

from tests.simulation.stories import tell

PART = 5  # stories of a case


@pytest.mark.parametrize("first", range(0, 8 * PART, PART))
def test_a_search_keeps_its_promises(first):
    for seed in range(first, first + PART):
        tell(random.Random(seed))
