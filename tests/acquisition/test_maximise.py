"""Maximisation: known maxima are found, and every point is a candidate."""

import numpy as np
import pytest
from scipy.stats import loguniform, norm, poisson, randint, uniform

from sksearch import When
from sksearch.acquisition._maximise import candidates, draw, enumerate_points, maximise, perturb
from sksearch.space import LogRandInt, Space

SPACES = {
    "real": {f"x{i}": uniform(0, 1) for i in range(4)},
    "integers": {"a": randint(0, 1000), "b": LogRandInt(1, 5000), "c": [1, 2, 4, 8, 16]},
    "choices": {f"c{i}": list("abcdefghijkl") for i in range(4)},
    "mixed": {
        "lr": loguniform(1e-4, 1),
        "depth": randint(1, 30),
        "kind": ["a", "b", "c", "d"],
        "momentum": uniform(0, 1),
        "width": LogRandInt(8, 1025),
    },
    "conditional": {
        "kind": ["a", "b", "c"],
        "depth": When(randint(1, 6), "kind", "in", ["a", "b"]),
        "rate": When(uniform(0, 1), "kind", "==", "c"),
        "deep": When(uniform(0, 1), "depth", ">=", 3),
        "x": uniform(0, 1),
        "gate": uniform(0, 1),
        "gated": When(uniform(0, 1), "gate", ">", 0.5),
    },
    "union": [
        {"kernel": ["rbf"], "gamma": loguniform(1e-3, 1), "C": uniform(0, 1)},
        {"kernel": ["poly"], "degree": randint(2, 6), "C": uniform(0, 1)},
    ],
    "odd": {"n": norm(0, 1), "k": poisson(3), "one": [7], "two": [None, "x"]},
}


def rng(seed=0):
    return np.random.default_rng(seed)


class Quadratic:
    """Greatest at a goal; a mismatch of activity or choice costs 1."""

    def __init__(self, space, goal, with_gradient):
        self.space, self.goal = space, goal
        self.scale = 1 + np.arange(space.n_dims) / 3
        self.numbers = np.flatnonzero(~space.categorical) if with_gradient else None
        self.n_points = self.n_gradients = 0

    def _loss(self, U):
        active = ~np.isnan(U) & ~np.isnan(self.goal)
        squares = self.scale * np.where(active, U - self.goal, 0.0) ** 2
        differ = np.where(active, np.abs(U - self.goal) > 1e-9, False)
        losses = np.where(self.space.categorical, differ, squares)
        return losses + (np.isnan(U) != np.isnan(self.goal))

    def __call__(self, U):
        self.n_points += len(U)
        return -self._loss(U).sum(axis=1)

    def with_gradient(self, U):
        self.n_gradients += 1
        gradient = np.nan_to_num(-2 * self.scale * (U - self.goal))
        return self(U), gradient[:, self.numbers]


def assert_are_candidates(space, U):
    assert U.shape[1] == space.n_dims
    for u in U:
        params = space.from_unit(u)
        space.check(params)
        np.testing.assert_allclose(space.to_unit(params), u, atol=1e-9)


# ---- the search for a maximum


# How far below the maximum, 0, at most: integers are only moved by single steps, numbers without
# gradients not at all, and where integers are unbounded or opaque neither.
TOLERANCE = {"real": 1e-3, "choices": 0.0, "union": 1e-3, "conditional": 1e-3}


@pytest.mark.parametrize("name", SPACES)
def test_the_maximum_of_a_known_function_is_found(name):
    space = Space(SPACES[name])
    for seed in range(5):
        goal = draw(space, rng(seed + 50), 1)[0]
        criterion = Quadratic(space, goal, with_gradient=True)
        points = draw(space, rng(seed), 300)
        best = maximise(criterion, space, points, rng(seed))[0]
        assert criterion(best[None])[0] >= -TOLERANCE.get(name, 0.03)


@pytest.mark.parametrize("name", SPACES)
def test_without_gradients_the_best_point_given_is_improved_by_exchanges(name):
    space = Space(SPACES[name])
    for seed in range(5):
        goal = draw(space, rng(seed + 50), 1)[0]
        criterion = Quadratic(space, goal, with_gradient=False)
        points = draw(space, rng(seed), 300)
        best = maximise(criterion, space, points, rng(seed))[0]
        assert criterion(best[None])[0] >= criterion(points).max()
        discrete = space.categorical
        np.testing.assert_allclose(best[discrete], goal[discrete])


def test_without_gradients_numbers_are_improved_by_steps():
    space = Space({f"x{j}": uniform(0, 1) for j in range(3)})
    for seed in range(5):
        goal = draw(space, rng(seed + 50), 1)[0]
        criterion = Quadratic(space, goal, with_gradient=False)
        points = draw(space, rng(seed), 300)
        best = maximise(criterion, space, points, rng(seed))[0]
        assert criterion(best[None])[0] > criterion(points).max() / 3  # nearer to 0


def test_integers_are_found_exactly():
    space = Space(SPACES["integers"])
    hits = 0
    for seed in range(10):
        goal = draw(space, rng(seed + 50), 1)[0]
        criterion = Quadratic(space, goal, with_gradient=False)
        points = np.vstack([draw(space, rng(seed), 500), perturb(space, goal[None], rng(1), 50)])
        best = maximise(criterion, space, points, rng(seed))[0]
        hits += space.from_unit(best) == space.from_unit(goal)
    assert hits >= 9


@pytest.mark.parametrize("with_gradient", [False, True], ids=["", "with gradients"])
@pytest.mark.parametrize("name", SPACES)
def test_what_is_returned_are_candidates_best_first(name, with_gradient):
    space = Space(SPACES[name])
    criterion = Quadratic(space, draw(space, rng(9), 1)[0], with_gradient)
    points = draw(space, rng(1), 40)
    before = points.copy()
    found = maximise(criterion, space, points, rng(2))
    np.testing.assert_array_equal(points, before)
    assert found.shape == (45, space.n_dims)
    assert_are_candidates(space, found)
    assert (np.diff(criterion(found)) <= 0).all()
    given = {tuple(np.nan_to_num(u, nan=-1)) for u in points}
    assert given <= {tuple(np.nan_to_num(u, nan=-1)) for u in found}


@pytest.mark.parametrize("name", SPACES)
def test_no_step_is_for_the_worse(name):
    """Also where the gradients are wrong, as far as they can be."""
    space = Space(SPACES[name])

    class Misleading(Quadratic):
        def with_gradient(self, U):
            value, gradient = super().with_gradient(U)
            return value, -3 * gradient

    for seed in range(5):
        criterion = Misleading(space, draw(space, rng(seed + 50), 1)[0], True)
        points = draw(space, rng(seed), 20)
        start = np.sort(criterion(points))[::-1]
        found = criterion(maximise(criterion, space, points, rng(seed), n_refined=20))
        assert (np.sort(found[:20])[::-1] >= start).all()


def test_a_step_over_a_condition_lands_on_a_candidate():
    space = Space({"gate": uniform(0, 1), "gated": When(uniform(0, 1), "gate", ">", 0.5)})
    goal = np.array([0.9, 0.4])
    criterion = Quadratic(space, goal, with_gradient=True)
    found = maximise(criterion, space, np.array([[0.45, np.nan], [0.3, np.nan]]), rng())
    assert_are_candidates(space, found)
    assert found[0, 0] == pytest.approx(0.9, abs=1e-3)


def test_it_repeats_with_the_generator():
    space = Space(SPACES["mixed"])
    criterion = Quadratic(space, draw(space, rng(9), 1)[0], with_gradient=True)
    points = draw(space, rng(1), 40)
    first, again = (maximise(criterion, space, points, rng(2)) for _ in range(2))
    np.testing.assert_array_equal(first, again)


@pytest.mark.parametrize("n_points", [1, 3])
def test_few_points_are_all_refined(n_points):
    space = Space(SPACES["mixed"])
    criterion = Quadratic(space, draw(space, rng(9), 1)[0], with_gradient=True)
    found = maximise(criterion, space, draw(space, rng(1), n_points), rng(2))
    assert found.shape == (2 * n_points, space.n_dims)
    assert_are_candidates(space, found)


def test_more_refined_points_are_more_work():
    space = Space(SPACES["mixed"])
    counts = []
    for n_refined in (1, 3, 10):
        criterion = Quadratic(space, draw(space, rng(9), 1)[0], with_gradient=True)
        maximise(criterion, space, draw(space, rng(1), 40), rng(2), n_refined=n_refined)
        counts.append(criterion.n_points)
    assert counts == sorted(counts)
    assert counts[0] < counts[2]


def test_gradients_need_no_more_evaluations_for_more_points():
    space = Space(SPACES["real"])
    criterion = Quadratic(space, np.full(4, 0.3), with_gradient=True)
    maximise(criterion, space, draw(space, rng(1), 40), rng(2), n_iterations=20, n_refined=20)
    assert criterion.n_gradients < 60


# ---- points to begin with


@pytest.mark.parametrize("name", SPACES)
def test_draws_and_their_neighbours_are_candidates(name):
    space = Space(SPACES[name])
    incumbents = draw(space, rng(0), 3)
    assert_are_candidates(space, draw(space, rng(1), 50))
    assert_are_candidates(space, perturb(space, incumbents, rng(2), 50))
    for n in (1, 2, 51):
        assert len(candidates(space, incumbents, rng(3), n)) == n
        assert len(candidates(space, incumbents[:0], rng(3), n)) == n
    assert_are_candidates(space, candidates(space, incumbents, rng(3), 51))


def test_half_of_the_candidates_are_near_the_incumbents():
    space = Space({f"x{i}": uniform(0, 1) for i in range(10)})
    incumbent = np.full((1, 10), 0.5)
    points = candidates(space, incumbent, rng(), 400)
    distance = np.abs(points - 0.5).max(axis=1)
    assert (distance < 0.25).sum() > 100
    assert (distance[:200] < 0.25).sum() < 5


def test_neighbours_differ_and_change_each_coordinate_half_of_the_time():
    space = Space(SPACES["real"])
    incumbent = np.array([[0.0, 0.5, 1.0, 0.2]])
    points = perturb(space, incumbent, rng(), 2000)
    changed = points != incumbent
    assert changed.any(axis=1).all()
    np.testing.assert_allclose(changed.mean(axis=0), 0.5 + 0.5 / 4, atol=0.05)
    assert points.min() >= 0
    assert points.max() <= 1


def test_neighbours_of_a_choice_are_all_others_alike():
    space = Space({"c": list("abcd"), "x": uniform(0, 1)})
    points = perturb(space, np.array([[0.125, 0.5]]), rng(), 4000)
    counts = np.bincount((points[:, 0] * 4).astype(int), minlength=4) / 4000
    np.testing.assert_allclose(counts[1:], counts[1], atol=0.03)


def test_numbers_move_by_steps_of_many_sizes():
    space = Space({"x": uniform(0, 1)})
    step = np.abs(perturb(space, np.array([[0.5]]), rng(), 4000)[:, 0] - 0.5)
    assert (step < 0.005).mean() > 0.15
    assert (step > 0.1).mean() > 0.15


# ---- finite spaces


def test_points_next_to_one_are_fewer_where_hundreds_of_coordinates_are_discrete():
    """All of 1,200 would be a square of numbers, for each of five points, three times."""
    n_rows = {}
    for n_dims in (240, 1200):
        children = {f"q{i}": When([1, 2, 3], "p", "==", "a") for i in range(n_dims)}
        space = Space({"p": ["a", "b"]} | children)
        best = space.canonical(np.full((1, space.n_dims), 0.2))

        def count(U, n_dims=n_dims):
            n_rows[n_dims] = n_rows.get(n_dims, 0) + len(U)
            return np.zeros(len(U))

        maximise(count, space, best, rng(), n_refined=1)
    assert n_rows[240] > 2 * 240
    assert n_rows[1200] <= 4 * 60_000 // 1200


def test_small_finite_spaces_are_listed():
    space = Space({"a": randint(0, 5), "b": ["x", "y"], "c": When([1, 2], "b", "==", "x")})
    points = enumerate_points(space)
    assert points.shape == (space.size, 3)
    assert_are_candidates(space, points)
    keys = {space.key(space.from_unit(u)) for u in points}
    assert keys == {space.key(space.candidate(i)) for i in range(space.size)}


def test_large_and_infinite_spaces_are_not_listed():
    assert enumerate_points(Space(SPACES["real"])) is None
    assert enumerate_points(Space({"a": randint(0, 2001)})) is None
    assert len(enumerate_points(Space({"a": randint(0, 2000)}))) == 2000


def test_a_space_of_one_candidate_is_listed():
    assert enumerate_points(Space({"a": [1], "b": [2]})).shape == (1, 0)
    assert enumerate_points(Space({})).shape == (1, 0)
