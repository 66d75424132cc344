"""Densities on the cube: their integral is 1, and draws from them have them."""

import numpy as np
import pytest
from scipy.stats import loguniform, norm, randint, truncnorm, uniform

from sksearch import When
from sksearch.models._parzen import Parzen
from sksearch.space import LogRandInt, Space
from tests.models.cases import rng

SPACES = {
    "real": {"a": uniform(0, 1), "b": loguniform(1e-3, 1)},
    "integers": {"a": randint(0, 5), "b": LogRandInt(1, 40)},
    "choices": {"a": ["x", "y", "z"], "b": ["p", "q"]},
    "ordered": {"a": [1, 2, 4, 8], "b": uniform(0, 1)},
    "mixed": {"a": uniform(0, 1), "b": randint(0, 7), "c": ["x", "y", "z"]},
    "conditional": {
        "kind": ["x", "y", "z"],
        "depth": When(randint(1, 6), "kind", "in", ["x", "y"]),
        "rate": When(uniform(0, 1), "kind", "==", "z"),
        "deep": When(uniform(0, 1), "depth", ">=", 3),
    },
    "union": [
        {"kernel": ["rbf"], "gamma": uniform(0, 1)},
        {"kernel": ["poly"], "degree": randint(2, 6)},
    ],
}


def parzen_of(space, n, h=0.15, seed=0, weights=None):
    """A density with random centres, of which all but the first are near each other."""
    U = space.canonical(rng(seed).random((n, space.n_dims)) ** 2)
    n_choices = np.where(space.categorical, [d.size for d in space.dimensions], 0)
    weights = np.ones(n) if weights is None else weights
    return Parzen(U, weights, n_choices, np.full(space.n_dims, h))


def density(parzen, space, U):
    return np.exp(parzen.log_density(*space.cells(U)))


# ---- the integral


@pytest.mark.parametrize("h", [0.05, 0.15, 2.0])
@pytest.mark.parametrize("n", [1, 7])
@pytest.mark.parametrize("name", SPACES)
def test_it_integrates_to_one(name, n, h):
    space = Space(SPACES[name])
    parzen = parzen_of(space, n, h)
    value = density(parzen, space, space.canonical(rng(1).random((60_000, space.n_dims))))
    error = value.std() / np.sqrt(len(value))
    assert value.mean() == pytest.approx(1, abs=max(4 * error, 1e-9))
    assert error < 0.03


@pytest.mark.parametrize("name", ["integers", "choices", "ordered", "mixed"])
def test_the_mass_of_all_cells_is_one(name):
    """Exactly, as the cells of one coordinate can be listed."""
    space = Space(SPACES[name])
    parzen = parzen_of(space, 5)
    for j, dimension in enumerate(space.dimensions):
        if dimension.size == np.inf:
            continue
        # All other coordinates at the middle of theirs, with the density of 1.
        alone = Parzen(parzen.U[:, [j]], np.ones(5), parzen.n_choices[[j]], parzen.h[[j]])
        places = np.array([[dimension.to_unit(dimension.value(i))] for i in range(dimension.size)])
        lower, upper = (end[:, None] for end in dimension.cell(places[:, 0]))
        masses = np.exp(alone.log_density(lower, upper)) * (upper - lower)[:, 0]
        assert masses.sum() == pytest.approx(1, abs=1e-10)


# ---- draws


@pytest.mark.parametrize("name", SPACES)
def test_draws_have_the_density(name):
    space = Space(SPACES[name])
    parzen = parzen_of(space, 4)
    drawn = space.canonical(parzen.sample(40_000, rng(2)))
    uniform_points = space.canonical(rng(3).random((40_000, space.n_dims)))
    weights = density(parzen, space, uniform_points)
    for j in range(space.n_dims):
        edges = np.linspace(0, 1, 8)
        # A cell may not be cut by an edge of a bin, so bins of coordinates at their middle.
        found = np.histogram(drawn[:, j], edges)[0] / len(drawn)
        expected = np.histogram(uniform_points[:, j], edges, weights=weights)[0] / len(drawn)
        np.testing.assert_allclose(found, expected, atol=0.02)
        inactive = weights[np.isnan(uniform_points[:, j])].sum() / len(drawn)
        assert np.isnan(drawn[:, j]).mean() == pytest.approx(inactive, abs=0.02)
    # Of two coordinates at once, by a moment of their product.
    for points, w in ((drawn, np.ones(len(drawn))), (uniform_points, weights)):
        values = np.nan_to_num(points, nan=0.0)
        moment = (w[:, None] * values * np.roll(values, 1, axis=1)).mean(axis=0)
        if points is drawn:
            first = moment
    np.testing.assert_allclose(first, moment, atol=0.02)


def test_draws_repeat_with_the_generator_and_stay_in_the_cube():
    space = Space(SPACES["mixed"])
    parzen = parzen_of(space, 4, h=5.0)
    drawn = parzen.sample(1000, rng(2))
    np.testing.assert_array_equal(drawn, parzen.sample(1000, rng(2)))
    assert drawn.min() >= 0
    assert drawn.max() <= 1


@pytest.mark.parametrize("name", SPACES)
def test_without_centres_it_is_uniform(name):
    space = Space(SPACES[name])
    parzen = parzen_of(space, 0)
    U = space.canonical(rng(1).random((50, space.n_dims)))
    np.testing.assert_allclose(density(parzen, space, U), 1)
    drawn = parzen.sample(2000, rng(2))
    np.testing.assert_allclose(drawn.mean(axis=0), 0.5, atol=0.03)


# ---- kernels


def test_a_number_has_a_normal_law_that_is_cut_off_at_the_ends():
    parzen = Parzen(np.array([[0.1], [0.7]]), np.array([2.0, 1.0]), np.zeros(1), np.array([0.2]))
    x = np.linspace(0, 1, 21)[:, None]
    laws = [truncnorm((0 - c) / 0.2, (1 - c) / 0.2, c, 0.2).pdf(x[:, 0]) for c in (0.1, 0.7)]
    expected = (2 * laws[0] + 1 * laws[1] + 1) / 4
    np.testing.assert_allclose(np.exp(parzen.log_density(x, x)), expected)


def test_a_cell_has_the_mass_of_the_law_over_its_width():
    parzen = Parzen(np.array([[0.3]]), np.ones(1), np.zeros(1), np.array([0.1]))
    lower, upper = np.array([[0.0], [0.25], [0.5]]), np.array([[0.25], [0.5], [1.0]])
    law = truncnorm(-3, 7, 0.3, 0.1)
    expected = (law.cdf(upper) - law.cdf(lower)) / (upper - lower)
    np.testing.assert_allclose(np.exp(parzen.log_kernels(lower, upper)), expected, rtol=1e-9)


def test_a_choice_differs_with_the_probability_of_aitchison_and_aitken():
    centres = np.array([[0.125], [0.125], [0.625]])
    parzen = Parzen(centres, np.ones(3), np.array([4]), np.ones(1))
    b = 3 / (3 + 4)
    x = np.array([[0.125], [0.375], [0.625], [0.875]])
    kernels = np.exp(parzen.log_kernels(x, x)) / 4  # probabilities, from relative densities
    same, other = 1 - b, b / 3
    np.testing.assert_allclose(
        kernels, [[same, same, other], [other] * 3, [other, other, same], [other] * 3]
    )
    counts = np.unique(parzen.sample(40_000, rng()), return_counts=True)
    cells = np.bincount((counts[0] * 4).astype(int), counts[1]) / 40_000
    mixture = np.append(kernels, np.full((4, 1), 1 / 4), axis=1).mean(axis=1)
    np.testing.assert_allclose(cells, mixture, atol=0.01)


def test_a_single_choice_gives_no_information():
    parzen = Parzen(np.array([[0.5]]), np.ones(1), np.array([1]), np.ones(1))
    middle = np.array([[0.5]])
    np.testing.assert_allclose(parzen.log_density(middle, middle), 0)
    assert parzen.sample(5, rng()).min() >= 0


def test_what_is_inactive_in_the_centre_or_the_point_has_the_factor_one():
    U = np.array([[0.2, np.nan, 0.25], [0.8, 0.5, np.nan]])
    parzen = Parzen(U, np.ones(2), np.array([0, 0, 2]), np.full(3, 0.1))
    point = np.array([[0.3, 0.5, 0.75], [0.3, np.nan, np.nan], [np.nan, np.nan, np.nan]])
    found = np.exp(parzen.log_kernels(point, point))
    first = truncnorm(-2, 8, 0.2, 0.1).pdf(0.3)
    second = truncnorm(-8, 2, 0.8, 0.1).pdf(0.3)
    peak = truncnorm(-5, 5, 0.5, 0.1).pdf(0.5)
    differs = 2 * (1 / 4)  # b = 1 / (2 + 2), relative to the uniform 1 / 2
    np.testing.assert_allclose(
        found, [[first * differs, second * peak], [first, second], [1, 1]], rtol=1e-9
    )


def test_weights_count_against_that_of_the_uniform_density():
    x = np.array([[0.35]])
    U, h = np.array([[0.3], [0.9]]), np.array([0.1])
    laws = [truncnorm((0 - c) / 0.1, (1 - c) / 0.1, c, 0.1).pdf(0.35) for c in (0.3, 0.9)]
    for w in ([1, 1], [0.5, 0.0], [20, 3]):
        found = np.exp(Parzen(U, np.array(w, float), np.zeros(1), h).log_density(x, x))
        assert found[0] == pytest.approx((w[0] * laws[0] + w[1] * laws[1] + 1) / (sum(w) + 1))


# ---- far away


@pytest.mark.parametrize("h", [1e-4, 1e-3, 0.01])
def test_far_away_the_uniform_density_remains(h):
    for centre, x in ((0.05, 0.95), (0.95, 0.05)):
        parzen = Parzen(np.array([[centre]]), np.ones(1), np.zeros(1), np.array([h]))
        at = np.array([[x]])
        cell = at - 0.01, at + 0.01
        for lower, upper in ((at, at), cell):
            assert np.isfinite(parzen.log_kernels(lower, upper)).all()
            assert parzen.log_kernels(lower, upper)[0, 0] < -1000
            assert parzen.log_density(lower, upper)[0] == pytest.approx(np.log(0.5))


@pytest.mark.parametrize("x", [0.1, 0.5, 0.9])
def test_masses_of_cells_on_both_sides_of_a_centre_mirror_each_other(x):
    parzen = Parzen(np.array([[0.5]]), np.ones(1), np.zeros(1), np.array([0.01]))
    for distance in (0.0, 0.05, 0.3, 0.49):
        left, right = (
            parzen.log_kernels(np.array([[a]]), np.array([[b]]))
            for a, b in (
                (0.5 - distance - 0.01, 0.5 - distance),
                (0.5 + distance, 0.5 + distance + 0.01),
            )
        )
        np.testing.assert_allclose(left, right, rtol=1e-9)


def test_many_small_cells_have_the_density_of_a_number():
    x = rng(4).random((200, 1))
    parzen = Parzen(rng(5).random((6, 1)), np.ones(6), np.zeros(1), np.array([0.05]))
    smooth = parzen.log_density(x, x)
    for n in (10**4, 10**7):
        lower = np.floor(x * n) / n
        np.testing.assert_allclose(parzen.log_density(lower, lower + 1 / n), smooth, atol=0.01)


@pytest.mark.parametrize(
    "law",
    [
        randint(1, 10**12),
        randint(1, 10**17),
        LogRandInt(1, 10**12),
        LogRandInt(1, 10**17),
    ],
    ids=["12 digits", "17 digits", "log, 12 digits", "log, 17 digits"],
)
def test_cells_below_rounding_still_have_about_the_density_of_a_number(law):
    space = Space({"k": law, "x": uniform(0, 1)})
    U = rng(6).random((50, 2))
    parzen = parzen_of(space, 5, h=0.1)
    found = parzen.log_density(*space.cells(U))
    np.testing.assert_allclose(found, parzen.log_density(U, U), atol=0.1)


def test_a_kernel_far_narrower_than_its_cell_is_all_in_it():
    parzen = Parzen(np.array([[0.125]]), np.ones(1), np.zeros(1), np.array([1e-6]))
    lower = np.array([[0.0], [0.25], [0.5], [0.75]])
    masses = np.exp(parzen.log_kernels(lower, lower + 0.25))[:, 0] * 0.25
    np.testing.assert_allclose(masses, [1, 0, 0, 0], atol=1e-12)


def test_log_densities_add_up_over_coordinates():
    U = rng(7).random((1, 3))
    x = rng(8).random((20, 3))
    parzen = Parzen(U, np.ones(1), np.zeros(3), np.array([0.1, 0.2, 0.3]))
    expected = sum(
        norm(U[0, j], h).logpdf(x[:, j]) - np.log(norm(U[0, j], h).cdf([0, 1]) @ [-1, 1])
        for j, h in enumerate((0.1, 0.2, 0.3))
    )
    np.testing.assert_allclose(parzen.log_kernels(x, x)[:, 0], expected, atol=1e-10)
