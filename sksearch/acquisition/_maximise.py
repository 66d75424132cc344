"""Maximisation over mixed spaces: many candidates, then local search and gradients.

==========  ======================================================================
U           points of the cube, canonical: NaN where inactive, cells at their middle
m           number of candidates
==========  ======================================================================
"""

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from scipy.optimize import minimize

from sksearch.history import History
from sksearch.space import Space

MAX_ENUMERATED = 2_000  # points of a finite space up to which all are evaluated
SCALES = np.array([0.003, 0.01, 0.03, 0.1, 0.3])
N_REFINED = 5  # best points that are refined: each has its own maximum
N_ROUNDS = 3  # alternating rounds of gradient steps and exchanges
N_ALTERNATIVES = 8  # other values of a discrete coordinate tried together
MAX_EXCHANGED = 60_000  # limit for exchanged coordinates times coordinates of a point
N_NEIGHBOURS = 20  # neighbours of a point, for models without a gradient


def draw(space: Space, rng: np.random.Generator, n: int) -> np.ndarray:
    """Return `n` canonical points, uniform in the cube, shape (n, n_dims)."""
    return space.canonical(rng.random((n, space.n_dims)))


def reflected(U: np.ndarray) -> np.ndarray:
    """Reflect coordinates outside the cube at its sides."""
    U = np.abs(U) % 2
    return np.minimum(U, 2 - U)


def perturb(space: Space, U: np.ndarray, rng: np.random.Generator, n: int) -> np.ndarray:
    """Return `n` canonical points near `U`.

    Each is a copy of a random row with every coordinate changed with probability 1 / 2, and at
    least one: a number by a normal step of one of several scales, a choice by a new draw.

    Parameters
    ----------
    space : Space
        Search space with d dimensions.
    U : ndarray of shape (k, d)
        Canonical points.
    rng : numpy.random.Generator
        Source of the draws.
    n : int
        Number of points.

    Returns
    -------
    points : ndarray of shape (n, d)
        Canonical points.
    """
    V = U[rng.integers(len(U), size=n)]
    fresh = rng.random(V.shape)
    V = np.where(np.isnan(V), fresh, V)
    moved = V + rng.choice(SCALES, size=(n, 1)) * rng.standard_normal(V.shape)
    moved = np.where(space.categorical, fresh, reflected(moved))
    change = rng.random(V.shape) < 0.5
    change[np.arange(n), rng.integers(V.shape[1], size=n)] = True
    return space.canonical(np.where(change, moved, V))


def candidates(
    space: Space, incumbents: np.ndarray, rng: np.random.Generator, n: int
) -> np.ndarray:
    """Return candidate points: half uniform, half near the incumbents.

    Parameters
    ----------
    space : Space
        Search space.
    incumbents : ndarray of shape (k, n_dims)
        Best known points; may be empty.
    rng : numpy.random.Generator
        Source of the draws.
    n : int
        Number of points.

    Returns
    -------
    points : ndarray of shape (n, n_dims)
        Canonical points.
    """
    if len(incumbents) == 0:
        return draw(space, rng, n)
    return np.vstack([draw(space, rng, n - n // 2), perturb(space, incumbents, rng, n // 2)])


def enumerate_points(space: Space) -> np.ndarray | None:
    """Return all points of a small finite space, shape (size, n_dims), otherwise None."""
    if space.size > MAX_ENUMERATED:
        return None
    n = int(space.size)
    points = [space.to_unit(space.candidate(i)) for i in range(n)]
    return np.array(points).reshape(n, space.n_dims)


def all_points(history: History) -> np.ndarray | None:
    """Return all points of a small finite space, kept in the cache; otherwise None."""
    if "points" not in history.cache:
        history.cache["points"] = enumerate_points(history.problem.space)
    return history.cache["points"]


def maximise(
    criterion: Callable[[np.ndarray], np.ndarray],
    space: Space,
    points: np.ndarray,
    rng: np.random.Generator,
    n_iterations: int = 20,
    n_refined: int = N_REFINED,
) -> np.ndarray:
    """Improve the best of some points by gradients, or steps to neighbours, and exchanges.

    Parameters
    ----------
    criterion : callable
        ``criterion(U) -> (m,)``; if it has an attribute ``numbers`` other than None, also
        ``criterion.with_gradient(U)``.
    space : Space
        Search space with n_dims dimensions.
    points : ndarray of shape (m, n_dims)
        Canonical points.
    rng : numpy.random.Generator
        Source of exchanges and neighbours.
    n_iterations : int, default=20
        Maximum number of iterations of a gradient search.
    n_refined : int, default=5
        Number of points to improve.

    Returns
    -------
    points : ndarray of shape (m + n_refined, n_dims)
        Improved and given points, best first.
    """
    values = criterion(points)
    order = np.argsort(-values, kind="stable")  # ties: equal on every machine
    points, values = points[order], values[order]
    best, best_values = points[:n_refined].copy(), values[:n_refined].copy()
    discrete = [j for j, d in enumerate(space.dimensions) if d.size != math.inf]
    numbers = getattr(criterion, "numbers", None)
    smooth = [] if numbers is None else [i for i, j in enumerate(numbers) if space.continuous[j]]
    by_steps = numbers is None and len(discrete) < space.n_dims
    for _ in range(N_ROUNDS if discrete or by_steps else 1):
        before = best_values.copy()
        if smooth:
            _climb(criterion, space, best, best_values, smooth, n_iterations)
        if by_steps:
            _step(criterion, space, best, best_values, rng)
        if discrete:
            _exchange(criterion, space, best, best_values, discrete, rng)
        if (best_values <= before).all():
            break
    points, values = np.vstack([best, points]), np.r_[best_values, values]
    return points[np.argsort(-values, kind="stable")]


def _climb(
    criterion: Any,
    space: Space,
    best: np.ndarray,
    best_values: np.ndarray,
    smooth: list[int],
    n_iterations: int,
) -> None:
    """Run L-BFGS-B on the sum over all independent points; in place."""
    columns = np.asarray(criterion.numbers)[smooth]
    start = best[:, columns]
    active = ~np.isnan(start)
    if not active.any():
        return

    def objective(x: np.ndarray) -> tuple[float, np.ndarray]:
        trial = best.copy()
        moved = np.full(start.shape, np.nan)
        moved[active] = x
        trial[:, columns] = moved
        value, gradient = criterion.with_gradient(trial)
        return -value.sum(), -gradient[:, smooth][active]

    found = minimize(
        objective,
        start[active],
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, 1.0)] * int(active.sum()),
        options={"maxiter": n_iterations, "ftol": 1e-4, "maxcor": 5},
    )
    moved = best.copy()
    numbers = np.full(start.shape, np.nan)
    numbers[active] = found.x
    moved[:, columns] = numbers
    # A number may be the parent of a condition: other coordinates may become active or inactive.
    moved = space.canonical(np.where(np.isnan(moved), 0.5, moved))
    _keep_better(criterion(moved), moved, best, best_values)


def _step(
    criterion: Callable[[np.ndarray], np.ndarray],
    space: Space,
    best: np.ndarray,
    best_values: np.ndarray,
    rng: np.random.Generator,
) -> None:
    """Move each point to its best neighbour, if better; in place."""
    near = [perturb(space, u[np.newaxis], rng, N_NEIGHBOURS) for u in best]
    values = criterion(np.vstack(near)).reshape(len(best), N_NEIGHBOURS)
    top = values.argmax(axis=1)
    rows = np.arange(len(best))
    _keep_better(values[rows, top], np.array(near)[rows, top], best, best_values)


def _exchange(
    criterion: Callable[[np.ndarray], np.ndarray],
    space: Space,
    best: np.ndarray,
    best_values: np.ndarray,
    discrete: list[int],
    rng: np.random.Generator,
) -> None:
    """Move each point to its best neighbour in one discrete coordinate; in place."""
    owners: Any = []
    neighbours: Any = []
    for i, u in enumerate(best):
        for j in _exchanged(u, discrete, rng):
            for place in _alternatives(space.dimensions[j], u[j], space.categorical[j], rng):
                neighbour = np.where(np.isnan(u), rng.random(len(u)), u)
                neighbour[j] = place
                owners.append(i)
                neighbours.append(neighbour)
    if not neighbours:
        return
    neighbours = space.canonical(np.array(neighbours))
    values = criterion(neighbours)
    owners = np.array(owners)
    for i in range(len(best)):
        mine = np.flatnonzero(owners == i)
        if len(mine):
            top = mine[np.argmax(values[mine])]
            if values[top] > best_values[i]:
                best[i], best_values[i] = neighbours[top], values[top]


def _exchanged(u: np.ndarray, discrete: list[int], rng: np.random.Generator) -> list[int]:
    """Return active discrete coordinates of a point; only some of them if there are hundreds.

    The alternatives of each contain all coordinates, so the cost is quadratic.
    """
    active = [j for j in discrete if not np.isnan(u[j])]
    most = max(N_NEIGHBOURS, MAX_EXCHANGED // len(u))
    if len(active) <= most:
        return active
    return [active[k] for k in np.sort(rng.permutation(len(active))[:most])]


def _alternatives(
    dimension: Any, u: float, categorical: bool, rng: np.random.Generator
) -> Iterable[float]:
    """Return coordinates of other values: the next ones of a number, any of a choice."""
    lower, upper = (float(end[0]) for end in dimension.cell(np.array([u])))
    if categorical:
        n = int(dimension.size)
        places = (np.arange(n) + 0.5) / n
        places = places[(places < lower) | (places > upper)]
        return rng.permutation(places)[:N_ALTERNATIVES]
    step = max(upper - lower, 1e-6)  # a continuous number has cells of width 0
    near = [lower - 0.5 * step, upper + 0.5 * step]
    return [place for place in (*near, *rng.random(2)) if 0 < place < 1]


def _keep_better(
    values: np.ndarray, points: np.ndarray, best: np.ndarray, best_values: np.ndarray
) -> None:
    better = values > best_values
    best[better], best_values[better] = points[better], values[better]
