"""A few stories of the simulation, short enough to be told at each change."""

import gc
import random

import pytest

from tests.simulation.chance import Told
from tests.simulation.stories import tell

PART = 5  # stories of a case


@pytest.mark.few(3)
@pytest.mark.parametrize("first", range(0, 8 * PART, PART))
def test_a_search_keeps_its_promises(first):
    for seed in range(first, first + PART):
        tell(random.Random(seed))


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", [6, 36])  # in which a killed process leaves a lock
def test_a_story_is_the_same_whenever_garbage_is_collected(seed):
    before, left = gc.get_threshold(), []
    for threshold in (10**6, 50):
        told = Told(random.Random(seed), 10**6)
        gc.set_threshold(threshold, 2, 2)
        try:
            tell(told, n_crashes=3)
        finally:
            gc.set_threshold(*before)
        left.append(told.left)
    assert left[0] == left[1] < 10**6
