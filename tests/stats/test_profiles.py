"""Profiles of loss curves, against the definition counted pair by pair."""

from itertools import permutations

import numpy as np
import pytest

from sksearch.stats._profiles import area_under_curve, order_kept, profiles

RNG = np.random.default_rng(0)


def relation(a, b):
    return int(a > b) - int(a < b)


def counted_order(before, after):
    """Share of ordered pairs with the same relation, one by one."""
    pairs = list(permutations(range(len(before)), 2))
    kept = [relation(before[i], before[j]) == relation(after[i], after[j]) for i, j in pairs]
    return sum(kept) / len(pairs)


def documented_order(before, after):
    """The document's formula with its sets of curves below and above, over n (n - 1)."""
    n, total = len(before), 0
    for i in range(n):
        for side in (-1, 1):
            then = {j for j in range(n) if relation(before[j], before[i]) == side}
            now = {j for j in range(n) if relation(after[j], after[i]) == side}
            total += len(then & now)
    return total / (n * (n - 1))


def test_hand_made_curves():
    curves = np.array([[1, 2, 4.0], [2, 3, 3.0], [3, 7, 2.0]])
    result = profiles(curves)
    assert result.mean.tolist() == [2, 4, 3]
    assert result.median.tolist() == [2, 3, 3]
    np.testing.assert_allclose(result.sd**2, [2 / 3, 14 / 3, 2 / 3])
    np.testing.assert_array_equal(result.dynamic_order, [np.nan, 1, 0])
    assert result.order_at_ends == 0


def test_one_pair_of_three_changes_places():
    assert order_kept([1, 2, 3], [1, 3, 2]) == 2 / 3


def test_parallel_curves_keep_their_order():
    curves = np.linspace(0, 1, 30) + np.sort(RNG.normal(size=8))[:, np.newaxis]
    result = profiles(curves)
    assert (result.dynamic_order[1:] == 1).all()
    assert result.order_at_ends == 1


def test_order_at_ends_forgets_what_happened_between():
    result = profiles([[1, 5, 1], [2, 4, 2], [3, 3, 3]])
    assert result.dynamic_order[1:].tolist() == [0, 0]
    assert result.order_at_ends == 1


@pytest.mark.parametrize("n_values", [2, 3, 20])
@pytest.mark.parametrize("n", [2, 3, 7, 40])
def test_order_is_what_counting_pairs_gives(n, n_values):
    for _ in range(10):
        before, after = RNG.integers(n_values, size=(2, n)).astype(float)
        assert order_kept(before, after) == pytest.approx(counted_order(before, after), abs=1e-15)


def test_order_without_ties_is_the_documents():
    for n in (2, 5, 17):
        before, after = RNG.normal(size=(2, n))
        assert order_kept(before, after) == pytest.approx(documented_order(before, after))


def test_values_have_the_order_of_themselves_whatever_the_ties():
    for values in ([0, 0, 0], [1, 1, 2], [1, 2, 3], RNG.integers(3, size=50)):
        assert order_kept(values, values) == 1


def test_a_tie_that_opens_or_closes_is_not_kept():
    assert order_kept([1, 1, 2], [1, 1.5, 2]) == 2 / 3
    assert order_kept([1, 1.5, 2], [1, 1, 2]) == 2 / 3
    assert order_kept([1, 1, 1], [1, 2, 3]) == 0


def test_order_is_symmetric_and_keeps_under_monotone_maps():
    before, after = RNG.integers(6, size=(2, 30)).astype(float)
    assert order_kept(before, after) == order_kept(after, before)
    assert order_kept(before, after) == order_kept(np.exp(before), 3 * after - 7)


def test_independent_orders_are_kept_by_half():
    assert order_kept(*RNG.random((2, 3000))) == pytest.approx(0.5, abs=0.02)


def test_counts_of_many_curves_are_whole_and_exact():
    n = 20_000
    swapped = np.arange(n, dtype=float)
    swapped[[0, 1]] = swapped[[1, 0]]  # one pair of 199,990,000
    assert order_kept(np.arange(n), swapped) == 1 - 1 / (n * (n - 1) // 2)


def test_a_thousand_curves_have_the_order_of_all_their_pairs():
    curves = RNG.normal(size=(1000, 81)).cumsum(axis=1)
    result = profiles(curves)
    signs = np.sign(curves[:, np.newaxis, 39:41] - curves[:, 39:41])
    kept = (signs[..., 0] == signs[..., 1]).sum() - 1000  # without each curve and itself
    assert result.dynamic_order[40] == kept / (1000 * 999)


def test_one_epoch_has_no_order_before_it():
    result = profiles([[1], [2]])
    assert np.isnan(result.dynamic_order).tolist() == [True]
    assert result.order_at_ends == 1


@pytest.mark.parametrize(
    ("curves", "message"),
    [
        ([[1, 2, 3]], "at least two curves"),
        ([1, 2, 3], "2 dimension"),
        ([[1, np.nan], [1, 2]], "1 non-finite values"),
        (np.empty((0, 3)), "at least one value"),
    ],
)
def test_profiles_refuse_what_has_no_order(curves, message):
    with pytest.raises(ValueError, match=message):
        profiles(curves)


def test_orders_of_different_lists_are_refused():
    with pytest.raises(ValueError, match="before has 2 values, but after has 3"):
        order_kept([1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match="at least two"):
        order_kept([1], [1])


def test_area_of_lines_and_triangles():
    assert area_under_curve([[2, 2, 2], [4, 2, 0]]).tolist() == [4, 4]
    assert area_under_curve([[2, 2, 2], [4, 2, 0]], resources=[1, 3, 9]).tolist() == [16, 12]


def test_of_two_curves_that_end_alike_the_earlier_has_less_area():
    early, late = area_under_curve([[9, 1, 1, 1], [9, 8, 7, 1]])
    assert early < late


@pytest.mark.parametrize("resources", [[1, 2], [1, 3, 3], [3, 2, 1]])
def test_areas_need_increasing_resources(resources):
    with pytest.raises(ValueError, match="3 increasing values"):
        area_under_curve([[1, 2, 3]], resources)
