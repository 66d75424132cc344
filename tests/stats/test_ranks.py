"""Ranks and tests over problems, against published tables and enumeration."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from sksearch.stats import friedman, ranks, wilcoxon_holm
from sksearch.stats._ranks import critical_difference
from sksearch.stats._ties import holm

RNG = np.random.default_rng(0)

# Demsar 2006, table 6: AUC of four decision trees on 14 datasets, and their mean ranks.
AUC = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
)


def test_equal_losses_share_their_ranks_and_what_failed_is_last():
    assert ranks([[3, 1, 2], [1, 1, 5], [2, np.nan, np.inf]]).tolist() == [
        [3, 1, 2],
        [1.5, 1.5, 3],
        [1, 2.5, 2.5],
    ]


def test_ranks_over_seeds_match_each_seed():
    losses = RNG.integers(4, size=(5, 3, 4))  # problems, seeds, methods
    for problem, seed in product(range(5), range(3)):
        by_hand = [
            1 + (losses[problem, seed] < x).sum() + ((losses[problem, seed] == x).sum() - 1) / 2
            for x in losses[problem, seed]
        ]
        assert ranks(losses)[problem, seed].tolist() == by_hand


def test_friedman_is_demsars_example():
    result = friedman(-AUC)
    np.testing.assert_allclose(result.mean_ranks, [3.143, 2.000, 2.893, 1.964], atol=1e-3)
    # The paper's 9.28 is without the correction for ties that scipy makes.
    r = ranks(-AUC)
    uncorrected = 12 * 14 / 20 * ((r.mean(axis=0) ** 2).sum() - 4 * 25 / 4)
    assert uncorrected == pytest.approx(9.28, abs=0.01)
    ties = sum((n**3 - n).sum() for n in (np.unique(row, return_counts=True)[1] for row in r))
    assert result.statistic == pytest.approx(uncorrected / (1 - ties / (14 * 4 * 15)))
    assert result.p_value == pytest.approx(stats.chi2.sf(result.statistic, 3))
    assert result.critical_difference == pytest.approx(1.25, abs=0.005)


@pytest.mark.parametrize(
    ("alpha", "published"),
    [
        (0.05, [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]),
        (0.10, [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920]),
    ],
)
def test_critical_values_match_demsars_table(alpha, published):
    for k, q in enumerate(published, start=2):
        n_problems = 17
        ours = critical_difference(k, n_problems, alpha) / np.sqrt(k * (k + 1) / (6 * n_problems))
        assert ours == pytest.approx(q, abs=1.01e-3)


def test_methods_that_are_always_equal_do_not_differ():
    result = friedman(np.ones((4, 3)))
    assert (result.statistic, result.p_value) == (0, 1)
    p_values = wilcoxon_holm(np.ones((4, 3)))
    assert (p_values[~np.eye(3, dtype=bool)] == 1).all()


def test_two_methods_are_not_for_friedman():
    with pytest.raises(ValueError, match="at least three"):
        friedman([[1, 2], [2, 1]])


def test_holm_rejects_as_the_step_down_procedure_does():
    for _ in range(200):
        p = RNG.random(RNG.integers(1, 7)) ** 3
        alpha = RNG.random()
        rejected, order = np.zeros(len(p), dtype=bool), np.argsort(p)
        for step, i in enumerate(order):
            if p[i] > alpha / (len(p) - step):
                break
            rejected[i] = True
        assert ((holm(p) <= alpha) == rejected).all()


def exact_p(gaps):
    """Two-sided p-value over all signs of the ranks."""
    r = stats.rankdata(np.abs(gaps))
    sums = np.array([np.dot(signs, r) for signs in product([-1, 1], repeat=len(r))])
    return np.mean(np.abs(sums) >= abs(np.dot(np.sign(gaps), r)) - 1e-9)


def test_wilcoxon_is_the_enumeration_of_all_signs():
    losses = RNG.random((9, 2)) + np.array([0, 0.2])
    expected = exact_p(losses[:, 0] - losses[:, 1])
    np.testing.assert_allclose(wilcoxon_holm(losses)[0, 1], expected)
    np.testing.assert_allclose(wilcoxon_holm(losses, control=1)[0], expected)


def test_pairs_are_adjusted_together_and_controls_for_the_others_alone():
    losses = RNG.random((12, 4)) + np.array([0, 0.1, 0.3, 0.6])
    i, j = np.triu_indices(4, 1)
    raw = np.array([exact_p(losses[:, a] - losses[:, b]) for a, b in zip(i, j, strict=True)])
    p_values = wilcoxon_holm(losses)
    np.testing.assert_allclose(p_values[i, j], holm(raw))
    np.testing.assert_array_equal(p_values, p_values.T)
    assert np.isnan(np.diag(p_values)).all()
    against = wilcoxon_holm(losses, control=0)
    np.testing.assert_allclose(against[1:], holm(raw[:3]))
    assert np.isnan(against[0])


def test_a_method_without_a_result_is_worst_and_two_of_them_are_equal():
    losses = np.column_stack([RNG.random(8), np.full(8, np.nan), np.full(8, np.inf)])
    p_values = wilcoxon_holm(losses)
    assert p_values[1, 2] == 1
    assert p_values[0, 1] == pytest.approx(3 * 2 / 2**8)


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="at least two methods"):
        wilcoxon_holm([[1], [2]])
    with pytest.raises(ValueError, match="a row for each problem"):
        friedman(np.ones((2, 3, 4)))
    with pytest.raises(ValueError, match="control=2 must be a column"):
        wilcoxon_holm([[1, 2], [2, 1]], control=2)
    with pytest.raises(ValueError, match="n_methods=1"):
        critical_difference(1, 10)
    with pytest.raises(ValueError, match="alpha=5"):
        critical_difference(3, 10, alpha=5)
