"""Theory of random search, against the published table, enumeration and fractions."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import hypergeom

from sksearch.stats import draws_to_hit, hit_probability

PUBLISHED = {1: [69, 298, 458], 5: [14, 59, 90], 10: [7, 29, 44]}  # top % of 100,000 models


@pytest.mark.parametrize("percent", PUBLISHED)
def test_the_published_table(percent):
    ours = [draws_to_hit(100_000, 1_000 * percent, p) for p in (0.5, 0.95, 0.99)]
    assert ours == PUBLISHED[percent]


def share_of_subsets(n_models, n_top, n_draws):
    """Share of all subsets of n_draws models that hold one of the first n_top."""
    subsets = list(combinations(range(n_models), n_draws))
    return Fraction(sum(any(i < n_top for i in s) for s in subsets), len(subsets))


@pytest.mark.parametrize(("n_models", "n_top"), [(1, 1), (6, 1), (7, 3), (8, 7), (5, 5)])
def test_probability_is_the_share_of_subsets_that_hit(n_models, n_top):
    shares = [share_of_subsets(n_models, n_top, n) for n in range(n_models + 1)]
    assert [hit_probability(n_models, n_top, n) for n in range(n_models + 1)] == shares_as_float(
        shares
    )
    for p in (*shares, *(s - Fraction(1, 10**9) for s in shares)):
        if 0 <= p < 1:
            expected = next(n for n, share in enumerate(shares) if share > p)
            assert draws_to_hit(n_models, n_top, p) == expected


def shares_as_float(shares):
    return [float(share) for share in shares]


def test_a_probability_that_is_just_met_is_not_exceeded():
    assert hit_probability(20, 1, 19) == 0.95  # as a float it is below 19/20
    assert draws_to_hit(20, 1, 0.95) == 20
    assert draws_to_hit(20, 1, np.float64(0.95)) == 20
    assert draws_to_hit(20, 1, Fraction(0.95)) == 19
    assert draws_to_hit(2, 1, 0.5) == 2


def test_probabilities_are_the_hypergeometric_distributions():
    for n in (1, 69, 458, 50_000):
        assert hit_probability(100_000, 1_000, n) == pytest.approx(
            hypergeom.sf(0, 100_000, 1_000, n), rel=1e-9
        )


def test_replacement_would_need_no_fewer_draws():
    for n_models in (100, 1_000, 100_000):
        without = draws_to_hit(n_models, n_models // 20, 0.99)
        assert without <= int(np.floor(np.log(0.01) / np.log(0.95))) + 1


def test_a_probability_of_zero_is_exceeded_by_one_draw():
    assert draws_to_hit(100, 1, 0) == 1


def test_large_spaces_are_exact_and_quick():
    n_models = 10**9
    assert draws_to_hit(n_models, 1, 0.5) == n_models // 2 + 1
    assert draws_to_hit(n_models, n_models // 100, 0.5) == 69


@pytest.mark.parametrize("probability", [1, 1.5, -0.1])
def test_certainty_cannot_be_exceeded(probability):
    with pytest.raises(ValueError, match="below 1"):
        draws_to_hit(100, 5, probability)


@pytest.mark.parametrize("counts", [(0, 1), (10, 0), (10, 11), (10.0, 1), (True, 1)])
def test_impossible_counts_are_refused(counts):
    with pytest.raises(ValueError, match=r"n_models|n_top"):
        draws_to_hit(*counts, 0.5)


def test_no_more_models_can_be_drawn_than_there_are():
    with pytest.raises(ValueError, match="n_draws=11"):
        hit_probability(10, 1, 11)
