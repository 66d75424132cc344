"""Hyperparameters: priors, the most probable ones, and samples against integrals."""

import numpy as np
import pytest
from scipy.stats import norm

from sksearch.models import GaussianProcess, MixedKernel, learn_theta, sample_theta
from sksearch.models._learning import BOUNDS, BOUNDS_NOISE, _slice_step, log_posterior, prior
from tests.models.cases import MIXED, covariance, finite_differences, points, rng


def drawn_from(kernel, theta, n, seed=0, inactive=0.0):
    """Points, and values drawn from the process with these hyperparameters."""
    U = points(n, kernel.categorical, inactive, seed)
    K = covariance(kernel, theta[1:], U) + np.exp(theta[0]) * np.eye(n)
    return U, np.linalg.cholesky(K) @ rng(seed + 5).normal(size=n)


# ---- the prior


@pytest.mark.parametrize("warp", [False, True])
def test_each_hyperparameter_has_a_mode_within_bounds(warp):
    kernel = MixedKernel(MIXED, warp=warp)
    mode, spread = prior(kernel)
    assert mode.shape == spread.shape == (1 + kernel.n_theta,)
    assert (spread > 0).all()
    low = np.r_[BOUNDS_NOISE[0], np.full(kernel.n_theta, BOUNDS[0])]
    high = np.r_[BOUNDS_NOISE[1], np.full(kernel.n_theta, BOUNDS[1])]
    assert ((low < mode) & (mode < high)).all()


def test_length_scales_grow_with_a_great_count_of_dimensions_as_distances_do():
    assert not prior(MixedKernel([False] * 23))[0][2:].any()
    similarity = []
    for d in (24, 80, 240):
        kernel = MixedKernel([False] * d)
        K = covariance(kernel, prior(kernel)[0][1:], points(100, kernel.categorical))
        similarity.append(np.median(K[np.triu_indices(100, 1)]))
    np.testing.assert_allclose(similarity, similarity[0], atol=0.1)


def test_weights_of_choices_fall_with_the_count_of_dimensions_slower_than_it_grows():
    modes = [prior(MixedKernel([True] * d))[0][-1] for d in (1, 4, 16)]
    np.testing.assert_allclose(np.exp(modes), [1, 1 / 2, 1 / 4])


@pytest.mark.parametrize("own", [False, True], ids=["", "known noise"])
@pytest.mark.parametrize("warp", [False, True])
def test_the_posterior_is_likelihood_times_prior_and_its_gradient_equals_differences(warp, own):
    kernel = MixedKernel(MIXED, warp=warp)
    mode, spread = prior(kernel)
    theta = mode + 0.3 * spread * rng(1).normal(size=len(mode))
    U, y = drawn_from(kernel, theta, 15, inactive=0.3)
    noise = rng(2).random(15) if own else 0.0
    value, gradient = log_posterior(kernel, theta, U, y, noise)
    likelihood = GaussianProcess(kernel, theta).fit(U, y, noise).log_likelihood()
    scales = slice(2, 2 + kernel.n_numbers)
    normal = norm(mode, spread).logpdf(theta) - norm(mode, spread).logpdf(mode)
    lengths = np.exp(theta[scales])
    walls = -0.1 * (lengths - 1 / lengths) ** 2
    expected = likelihood + np.delete(normal, scales).sum() + walls.sum()
    assert value == pytest.approx(expected, abs=1e-8)
    differences = finite_differences(
        lambda t: log_posterior(kernel, t, U, y, noise)[0], theta, 1e-5
    )
    np.testing.assert_allclose(gradient, differences, rtol=1e-6, atol=1e-6)


# ---- the most probable ones


@pytest.mark.parametrize("warp", [False, True])
def test_what_is_learnt_is_a_maximum(warp):
    kernel = MixedKernel(MIXED, warp=warp)
    U, y = drawn_from(kernel, prior(kernel)[0], 40, inactive=0.3)
    theta = learn_theta(kernel, U, y)
    best = log_posterior(kernel, theta, U, y)[0]
    assert best > log_posterior(kernel, prior(kernel)[0], U, y)[0]
    for step in 0.3 * rng(3).normal(size=(30, len(theta))):
        assert log_posterior(kernel, theta + step, U, y)[0] < best


@pytest.mark.slow
def test_noise_and_length_scales_are_found_again():
    kernel = MixedKernel([False] * 2)
    for noise, short, long in ((1e-3, 0.15, 1.0), (0.2, 0.1, 2.0)):
        true = np.log([noise, 1.0, short, long])
        found = learn_theta(kernel, *drawn_from(kernel, true, 150))
        np.testing.assert_allclose(found, true, atol=0.7)


def test_what_is_irrelevant_gets_a_long_length_scale_and_a_small_weight():
    kernel = MixedKernel([False, False, True, True])
    U = points(80, kernel.categorical)
    y = np.sin(6 * U[:, 0]) + 2 * (U[:, 2] > 0.5)
    _, _, used, unused, weight, no_weight = learn_theta(kernel, U, (y - y.mean()) / y.std())
    assert unused > used + 1
    assert no_weight < weight - 1


@pytest.mark.slow
def test_a_warping_is_learnt_where_the_function_is_steep_at_one_end():
    kernel = MixedKernel([False], warp=True)
    U = np.linspace(0.01, 0.99, 40)[:, None]
    y = np.sin(12 * U[:, 0] ** 0.25)
    theta = learn_theta(kernel, U, (y - y.mean()) / y.std())
    slopes = kernel.features(theta[1:], np.array([[0.02], [0.9]])).slopes[:, 0]
    assert slopes[0] > 3 * slopes[1]


@pytest.mark.slow
def test_a_start_may_help_and_never_harms():
    kernel = MixedKernel([False])
    U, y = drawn_from(kernel, np.log([1e-6, 1.0, 0.02]), 30)
    alone, helped = (
        learn_theta(kernel, U, y, starts=starts) for starts in ((), [np.log([1e-6, 1.0, 0.02])])
    )
    values = [log_posterior(kernel, theta, U, y)[0] for theta in (alone, helped)]
    assert values[1] >= values[0]


@pytest.mark.parametrize(
    "y",
    [np.zeros(6), np.ones(6), 1e6 * np.arange(6.0), 1e-9 * np.arange(6.0), np.eye(6)[0]],
    ids=["zeros", "ones", "huge", "tiny", "one differs"],
)
@pytest.mark.parametrize("spread", [0.0, 1e-9, 1.0], ids=["one place", "close", "apart"])
@pytest.mark.parametrize("warp", [False, True])
def test_degenerate_data_have_hyperparameters_within_bounds(y, spread, warp):
    kernel = MixedKernel([False, False, True], warp=warp)
    U = 0.5 + spread * (points(6, kernel.categorical) - 0.5)
    theta = learn_theta(kernel, U, y)
    assert BOUNDS_NOISE[0] <= theta[0] <= BOUNDS_NOISE[1]
    assert ((BOUNDS[0] <= theta[1:]) & (theta[1:] <= BOUNDS[1])).all()
    for value in GaussianProcess(kernel, theta).fit(U, y).predict(U):
        assert np.isfinite(value).all()


def test_learning_repeats_itself():
    kernel = MixedKernel(MIXED)
    U, y = drawn_from(kernel, prior(kernel)[0], 20, inactive=0.3)
    before = U.copy(), y.copy()
    np.testing.assert_array_equal(learn_theta(kernel, U, y), learn_theta(kernel, U, y))
    for a, b in zip((U, y), before, strict=True):
        np.testing.assert_array_equal(a, b)


# ---- samples of them


def chain(density, start, direction_of, n, seed=0):
    generator, point, steps = rng(seed), np.asarray(start, dtype=float), []
    for _ in range(n):
        point = _slice_step(density, point, direction_of(generator), generator)
        steps.append(point)
    return np.array(steps)


def test_slices_of_a_normal_law_have_its_moments():
    covariance = np.array([[1.0, 0.8], [0.8, 4.0]])
    inverse = np.linalg.inv(covariance)
    steps = chain(
        lambda x: -0.5 * x @ inverse @ x, [3.0, -3.0], lambda g: 2 * g.standard_normal(2), 8_000
    )[100:]
    np.testing.assert_allclose(steps.mean(axis=0), 0, atol=0.12)
    np.testing.assert_allclose(np.cov(steps.T), covariance, atol=0.3)


def test_slices_stay_inside_of_bounds_and_cover_them():
    def density(x):
        return 0.0 if 0 < x[0] < 1 else -np.inf

    for width in (0.1, 1.0, 30.0):
        steps = chain(density, [0.9], lambda g, w=width: w * g.standard_normal(1), 6_000)[:, 0]
        assert 0 < steps.min() < 0.01 < 0.99 < steps.max() < 1
        assert steps.mean() == pytest.approx(0.5, abs=0.03)
        assert steps.std() == pytest.approx(12**-0.5, abs=0.02)


def moments_by_integration(kernel, U, y, n=61):
    """Mean and sd of each hyperparameter, by a grid over the prior's bulk within bounds."""
    mode, spread = prior(kernel)
    low = np.r_[BOUNDS_NOISE[0], np.full(kernel.n_theta, BOUNDS[0])]
    high = np.r_[BOUNDS_NOISE[1], np.full(kernel.n_theta, BOUNDS[1])]
    axes = [
        np.linspace(max(a, m - 5 * s), min(b, m + 5 * s), n)
        for a, b, m, s in zip(low, high, mode, spread, strict=True)
    ]
    # Middles of cells, so that what lies at a bound counts in full.
    axes = [(axis[1:] + axis[:-1]) / 2 for axis in axes]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(mode))
    logs = np.array([log_posterior(kernel, theta, U, y)[0] for theta in grid])
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    mean = weights @ grid
    return mean, np.sqrt(weights @ (grid - mean) ** 2)


@pytest.mark.whole
@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "y", "n_grid"),
    [
        (MixedKernel([]), np.array([1.2, -0.4, 0.3, -1.1]), 61),
        (MixedKernel([]), np.array([0.9, 1.0, 1.1]), 61),
        (MixedKernel([False]), np.array([1.3, 0.6, -0.7, -1.2]), 21),
    ],
    ids=["spread values", "values alike", "with a length-scale"],
)
def test_samples_have_the_moments_of_the_posterior(kernel, y, n_grid):
    U = np.linspace(0.1, 0.9, len(y))[:, None][:, : len(kernel.categorical)]
    mean, sd = moments_by_integration(kernel, U, y, n_grid)
    theta = learn_theta(kernel, U, y)
    runs = [sample_theta(kernel, theta, U, y, rng(seed)) for seed in range(16)]
    assert runs[0].shape == (10, 1 + kernel.n_theta)
    found = np.concatenate(runs)
    # 160 samples, of which some depend on each other: about 75 independent ones.
    np.testing.assert_allclose((found.mean(axis=0) - mean) / sd, 0, atol=0.3)
    np.testing.assert_allclose(found.std(axis=0) / sd, 1, atol=0.3)


@pytest.mark.slow
def test_samples_repeat_with_the_generator_and_differ_from_each_other():
    kernel = MixedKernel(MIXED)
    U, y = drawn_from(kernel, prior(kernel)[0], 10, inactive=0.3)
    theta = learn_theta(kernel, U, y)
    first, again, other = (sample_theta(kernel, theta, U, y, rng(seed)) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    assert len(np.unique(first, axis=0)) == 10
    assert ((first[:, 1:] > BOUNDS[0]) & (first[:, 1:] < BOUNDS[1])).all()


def test_a_start_outside_of_the_bounds_is_moved_inside():
    kernel = MixedKernel([False])
    U, y = drawn_from(kernel, prior(kernel)[0], 10)
    samples = sample_theta(kernel, np.array([5.0, 50.0, -50.0]), U, y, rng())
    assert np.isfinite(samples).all()
    assert (samples[:, 0] <= BOUNDS_NOISE[1]).all()
