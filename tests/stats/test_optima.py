"""Best losses compared: tables, distributions that are known, and several problems at once."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import trapezoid

from sksearch.stats import Density, compare_optima
from sksearch.stats._optima import ideal_evaluation
from sksearch.stats._ties import holm
from tests.comparisons import ks_best_of

RNG = np.random.default_rng(0)
OPTIMA = {
    "random": RNG.random((400, 20)).min(axis=1),
    "twice": RNG.random((300, 40)).min(axis=1),
    "again": RNG.random((300, 40)).min(axis=1),
}


def test_the_best_mean_comes_first():
    result = compare_optima(OPTIMA)
    assert result.names[-1] == "random"
    assert (np.diff(result.means) > 0).all()
    for name, n, mean, sd in zip(
        result.names, result.counts, result.means, result.sds, strict=True
    ):
        assert (n, mean, sd) == (len(OPTIMA[name]), np.mean(OPTIMA[name]), np.std(OPTIMA[name]))


def test_statistics_are_the_largest_distances_of_the_empirical_distributions():
    result = compare_optima(OPTIMA)
    for (i, a), (j, b) in combinations(enumerate(result.names), 2):
        x = np.r_[OPTIMA[a], OPTIMA[b]]
        gaps = [np.mean(OPTIMA[a] <= point) - np.mean(OPTIMA[b] <= point) for point in x]
        assert result.statistics[i, j] == pytest.approx(np.abs(gaps).max())
        assert result.p_values[i, j] == stats.ks_2samp(OPTIMA[a], OPTIMA[b]).pvalue
    for matrix in (result.statistics, result.p_values, result.adjusted):
        np.testing.assert_array_equal(matrix, matrix.T)
    assert np.isnan(np.diag(result.p_values)).all()


def test_p_values_are_adjusted_for_the_count_of_pairs():
    result = compare_optima(OPTIMA)
    upper = np.triu_indices(3, 1)
    np.testing.assert_array_equal(result.adjusted[upper], holm(result.p_values[upper]))


def test_the_table_says_what_is_significant():
    lines = str(compare_optima(OPTIMA)).splitlines()
    rows = {line.rsplit("  ")[0].strip(): line.split()[-1] for line in lines if " - " in line}
    assert len(rows) == 3
    same = next(pair for pair in rows if "random" not in pair)
    assert rows.pop(same) == "no"
    assert set(rows.values()) == {"yes"}
    assert len({len(line) for line in lines[5:]}) == 1, "columns are aligned"


def test_seven_thousand_runs_have_tiny_p_values_and_no_warning():
    result = compare_optima({n: RNG.random((7000, n)).min(axis=1) for n in (128, 160)})
    assert result.names == ("160", "128")
    assert 0 < result.p_values[0, 1] < 1e-12


@pytest.mark.parametrize("optima", [{}, {"one": [1, 2]}])
def test_one_optimizer_is_not_a_comparison(optima):
    with pytest.raises(ValueError, match="at least two"):
        compare_optima(optima)


def test_a_failed_run_is_refused_by_name():
    with pytest.raises(ValueError, match=r"optima\['b'\] has 1 non-finite values"):
        compare_optima({"a": [1.0, 2], "b": [1.0, np.nan]})


def test_random_search_follows_the_distribution_of_the_best_of_its_draws():
    best = stats.norm.rvs(size=(3000, 50), random_state=0).min(axis=1)
    assert ks_best_of(best, 50, stats.norm.cdf).pvalue > 0.01
    for wrong in (40, 60):
        assert ks_best_of(best, wrong, stats.norm.cdf).pvalue < 1e-3


def problems(n_draws, scales):
    """Best of n_draws uniform draws on problems that differ in scale and shift."""
    return {
        name: shift + scale * RNG.random((200, n_draws)).min(axis=1)
        for name, (shift, scale) in scales.items()
    }


SCALES = {"branin": (0.4, 300), "drop-wave": (-1, 1), "rastrigin": (0, 80)}
MANY = {"random": problems(5, SCALES), "better": problems(20, SCALES)}


def test_densities_are_of_losses_normalised_over_all_optimizers():
    result = ideal_evaluation(MANY, bandwidth=0.1, n_grid=50)
    for k, problem in enumerate(SCALES):
        both = np.r_[MANY["random"][problem], MANY["better"][problem]]
        for name, evaluation in result.items():
            values = (MANY[name][problem] - both.min()) / np.ptp(both)
            expected = Density(values, bandwidth=0.1).pdf(evaluation.grid)
            np.testing.assert_allclose(evaluation.densities[k], expected, atol=1e-12)


def test_the_grid_holds_each_density_as_a_whole():
    for evaluation in ideal_evaluation(MANY).values():
        np.testing.assert_allclose(
            trapezoid(evaluation.densities, evaluation.grid, axis=1), 1, atol=1e-3
        )


def test_profiles_are_of_the_densities():
    evaluation = ideal_evaluation(MANY)["random"]
    np.testing.assert_allclose(evaluation.profiles.mean, evaluation.densities.mean(axis=0))
    np.testing.assert_allclose(evaluation.profiles.sd, evaluation.densities.std(axis=0))
    assert evaluation.profiles.dynamic_order.shape == evaluation.grid.shape


def test_the_better_optimizer_is_denser_near_the_best():
    result = ideal_evaluation(MANY)
    near = result["random"].grid < 0.1
    means = {name: e.profiles.mean[near].mean() for name, e in result.items()}
    assert means["better"] > 2 * means["random"]


def test_order_at_the_top_quartile_compares_both_ends_of_the_best_quarter():
    spread = np.linspace(0, 1, 11)
    by_problem = {
        "a": np.r_[[0.0] * 9, spread],  # densest at 0, then at 0.25 by no more than the spread
        "b": np.r_[[0.25] * 9, spread],
        "c": np.r_[[0.25] * 4, [0.0] * 4, spread],
    }
    evaluation = ideal_evaluation({"one": by_problem}, bandwidth=0.2)["one"]
    at_best, at_quartile = (
        [Density(v, bandwidth=0.2).pdf([x])[0] for v in by_problem.values()] for x in (0, 0.25)
    )
    assert np.argsort(at_best).tolist() == [1, 2, 0]
    assert np.argsort(at_quartile).tolist() == [0, 2, 1]
    assert evaluation.order_at_top_quartile == 0


@pytest.mark.parametrize(
    ("optima", "message"),
    [
        ({}, "same two or more problems"),
        ({"a": {"x": [1, 2]}}, "same two or more problems"),
        ({"a": {"x": [1, 2], "y": [1]}, "b": {"x": [1, 2]}}, "same two or more problems"),
        ({"a": {"x": [1, 2], "y": [1, 1]}}, "'y' are 1.0"),
    ],
)
def test_problems_that_cannot_be_aggregated_are_refused(optima, message):
    with pytest.raises(ValueError, match=message):
        ideal_evaluation(optima)
