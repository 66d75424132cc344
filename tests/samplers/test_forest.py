"""Forests of scores, and of the probability to be good."""

import numpy as np
import pytest
from scipy.stats import uniform

from sksearch import minimize
from sksearch.samplers import BORESampler, ForestSampler, RandomSampler

SPACE = {"x0": uniform(-5, 15), "x1": uniform(0, 15)}


def branin(params):
    """Three valleys of the same depth."""
    x, y = params["x0"], params["x1"]
    valley = y - 5.1 / (4 * np.pi**2) * x**2 + 5 / np.pi * x - 6
    return valley**2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(x) + 10


def losses_left(seeds, sampler=None):
    """What is left above the minimum after 30 evaluations, for each seed."""
    results = [
        minimize(branin, SPACE, n_iter=30, sampler=sampler or ForestSampler(), random_state=seed)
        for seed in seeds
    ]
    return np.array([result.fun for result in results]) - 0.397887


@pytest.mark.whole
def test_it_leaves_the_valley_where_it_began():
    """With seed 0 all its proposals were between the valleys, and the loss was 13."""
    assert losses_left(range(4)).max() < 4


@pytest.mark.whole
def test_a_classifier_of_the_good_ones_beats_drawing():
    found = losses_left(range(4), BORESampler()).mean()
    assert found < losses_left(range(20), RandomSampler()).mean() / 2


@pytest.mark.parametrize("gamma", [0, 1, -0.1])
def test_a_share_of_good_ones_is_between_0_and_1(gamma):
    with pytest.raises(ValueError, match=f"gamma={gamma} must be between 0 and 1"):
        BORESampler(gamma=gamma)
