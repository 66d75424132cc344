"""Test functions: their values by hand, their minima by search."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import minimize

from sksearch.simulators import Branin
from sksearch.simulators._functions import (
    Ackley,
    DropWave,
    EggHolder,
    Function,
    Hartmann3,
    Hartmann6,
    Levy,
    Rastrigin,
    Rosenbrock,
    SixHumpCamel,
    StyblinskiTang,
)

FUNCTIONS = [
    Ackley(),
    Ackley(9),
    Branin(),
    DropWave(),
    EggHolder(),
    Hartmann3(),
    Hartmann6(),
    Levy(1),
    Levy(),
    Levy(9),
    Rastrigin(),
    Rastrigin(9),
    Rosenbrock(),
    Rosenbrock(9),
    SixHumpCamel(),
    StyblinskiTang(),
    StyblinskiTang(9),
]
every_function = pytest.mark.parametrize("function", FUNCTIONS, ids=repr)


def draw(function, n, seed=0):
    low, high = function.bounds.T
    return np.random.default_rng(seed).uniform(low, high, (n, function.n_dims))


def polish(function, x):
    """The local minimum below x inside of the box."""
    return minimize(lambda x: function(x[None])[0], x, bounds=function.bounds, method="L-BFGS-B")


@every_function
def test_the_minimum_is_taken_at_every_minimiser_in_the_box(function):
    low, high = function.bounds.T
    assert function.argmin.shape[1] == len(function.bounds) == function.n_dims
    assert ((low <= function.argmin) & (function.argmin <= high)).all()
    np.testing.assert_allclose(function(function.argmin), function.minimum, rtol=1e-12, atol=1e-12)


@every_function
def test_nothing_is_lower_than_the_minimum(function):
    X = draw(function, 20_000)
    values = function(X)
    lowest = min(polish(function, X[i]).fun for i in np.argsort(values)[:3])
    around = polish(function, function.argmin[0]).fun
    assert min(lowest, around, values.min()) >= function.minimum - 1e-9


@pytest.mark.parametrize("function", [Branin(), SixHumpCamel(), StyblinskiTang()], ids=repr)
def test_a_search_from_many_starts_finds_all_minimisers_and_no_other(function):
    X = draw(function, 1000)
    ends = [polish(function, x) for x in X[np.argsort(function(X))[:25]]]
    found = [end.x for end in ends if end.fun < function.minimum + 1e-8]
    distances = np.linalg.norm(np.array(found)[:, None] - function.argmin, axis=2)
    assert distances.min(axis=1).max() < 1e-3, "there is another minimiser"
    assert set(distances.argmin(axis=1)) == set(range(len(function.argmin)))


def by_hand(function, x):
    """The definitions, a number at a time."""
    d = len(x)
    match function:
        case Ackley():
            root = math.sqrt(sum(a * a for a in x) / d)
            waves = sum(math.cos(2 * math.pi * a) for a in x) / d
            return -20 * math.exp(-0.2 * root) - math.exp(waves) + 20 + math.e
        case Branin():
            b, c, t = 5.1 / (4 * math.pi**2), 5 / math.pi, 1 / (8 * math.pi)
            valley = x[1] - b * x[0] ** 2 + c * x[0] - 6
            return valley**2 + 10 * (1 - t) * math.cos(x[0]) + 10
        case DropWave():
            r2 = x[0] ** 2 + x[1] ** 2
            return -(1 + math.cos(12 * math.sqrt(r2))) / (0.5 * r2 + 2)
        case EggHolder():
            a, b = x[1] + 47, abs(x[0] / 2 + x[1] + 47)
            c = abs(x[0] - (x[1] + 47))
            return -a * math.sin(math.sqrt(b)) - x[0] * math.sin(math.sqrt(c))
        case Levy():
            w = [1 + (a - 1) / 4 for a in x]
            middle = sum((a - 1) ** 2 * (1 + 10 * math.sin(math.pi * a + 1) ** 2) for a in w[:-1])
            last = (w[-1] - 1) ** 2 * (1 + math.sin(2 * math.pi * w[-1]) ** 2)
            return math.sin(math.pi * w[0]) ** 2 + middle + last
        case Rastrigin():
            return 10 * d + sum(a * a - 10 * math.cos(2 * math.pi * a) for a in x)
        case Rosenbrock():
            pairs = itertools.pairwise(x)
            return sum(100 * (b - a * a) ** 2 + (1 - a) ** 2 for a, b in pairs)
        case SixHumpCamel():
            a, b = x
            return (4 - 2.1 * a**2 + a**4 / 3) * a**2 + a * b + (-4 + 4 * b**2) * b**2
        case StyblinskiTang():
            return sum(a**4 - 16 * a**2 + 5 * a for a in x) / 2
    raise AssertionError(function)


@pytest.mark.parametrize("function", [f for f in FUNCTIONS if f.n_dims in (1, 2, 9)], ids=repr)
def test_values_match_the_definition(function):
    X = draw(function, 50)
    expected = [by_hand(function, x) for x in X.tolist()]
    np.testing.assert_allclose(function(X), expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize(
    ("function", "x", "value"),
    [
        (Hartmann3(), [0.114614, 0.555649, 0.852547], -3.86278),
        (Hartmann6(), [0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573], -3.32237),
        (Branin(), [9.42478, 2.475], 0.397887),
        (EggHolder(), [512, 404.2319], -959.6407),
        (SixHumpCamel(), [0.0898, -0.7126], -1.03163),
        (StyblinskiTang(3), [-2.903534] * 3, -39.16617 * 3),
    ],
    ids=repr,
)
def test_published_minima(function, x, value):
    assert function([x])[0] == pytest.approx(value, rel=1e-5)
    assert function.minimum == pytest.approx(value, rel=1e-5)


@every_function
def test_a_point_has_the_same_value_alone_and_among_others(function):
    X = draw(function, 101)
    alone = [function(x[None])[0] for x in X]
    np.testing.assert_array_equal(function(X), alone)
    np.testing.assert_array_equal(function(np.asfortranarray(X)), alone)


@pytest.mark.parametrize("X", [[0.0, 0.0], [[0.0, 0.0, 0.0]], 0.0])
def test_points_of_another_shape_are_refused(X):
    with pytest.raises(ValueError, match=r"shape .* expects \(n, 2\)"):
        Branin()(X)


def test_too_few_dimensions_are_refused():
    with pytest.raises(ValueError, match="n_dims=0 must be an integer of at least 1 in Rastrigin"):
        Rastrigin(0)
    with pytest.raises(
        ValueError, match="n_dims=1 must be an integer of at least 2 in Rosenbrock"
    ):
        Rosenbrock(1)
    with pytest.raises(ValueError, match=r"n_dims=2\.5 must be an integer"):
        Rastrigin(2.5)


def test_functions_are_equal_if_their_dimensions_are():
    assert Rastrigin(3) == Rastrigin(3) != Rastrigin(2)
    assert all(isinstance(function, Function) for function in FUNCTIONS)
