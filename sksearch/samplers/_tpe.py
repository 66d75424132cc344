"""The tree-structured Parzen estimator.

==========  ======================================================================
l, g        densities of the good and of the other candidates on the unit cube
gamma       share of good ones
n           number of results
==========  ======================================================================
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sksearch.acquisition._criterion import beliefs
from sksearch.history import History, Params
from sksearch.models._feasibility import Probability
from sksearch.models._parzen import Parzen
from sksearch.samplers._observations import WITHOUT_JOINT, Observations
from sksearch.samplers._subsample import Extract
from sksearch.samplers._surrogate import LearningSampler, first_new
from sksearch.space import Space

N_DRAWS = 24  # draws from l, of which the best is proposed
MAX_GOOD = 25  # candidates: with more, l would include mediocre ones
N_RECENT = 25  # last results, with full weight in g
SCALE = 0.2  # bandwidth of a single point, on the unit cube


@dataclass(frozen=True)
class TPESampler(LearningSampler):
    """Propose candidates by the ratio of two densities, of good candidates and of the others.

    Parameters
    ----------
    gamma : float, default=0.1
        Share of the results that count as good; at most 25 results count as good.
    multivariate : bool, default=True
        Whether the densities model dependencies between parameters. If False, each parameter has
        its own density, as in [1]_.
    n_initial : int or None, default=None
        Number of quasi-random candidates before the first model. None: between 4 and 10.
    transfer : {"rung", "none", "all", "survivors", "same"}, default="rung"
        Results to learn from in a search with several rungs. "rung": results at the largest
        resource with enough results, as in BOHB [2]_, ignoring results at less than a fortieth of
        the largest resource. The other values use the results of the current bracket at its lowest
        rung, and results of earlier brackets at the same resource: no results ("none"), all
        results ("all"), only results of candidates that reached the last rung ("survivors"), or
        only results of candidates stopped there ("same"); see NONE, ALL, SURV and SAME in [4]_.

    Notes
    -----
    A Gaussian process models p(y | x), the score of given parameters. This sampler models
    p(x | y): the density l of parameters with a score among the best, p(x | y >= y*), and the
    density g of the others, with p(y >= y*) = gamma. According to Bayes' rule p(y >= y* | x) =
    gamma l / (gamma l + (1 - gamma) g), and the expected improvement over y* is proportional to
    it, because l is the same density for all scores above y*. Both increase with l / g [1]_, so
    the sampler draws 24 candidates from l and proposes the one with the greatest l / g. Candidates
    that failed, violate a bound or are still running belong to g. The ratio l / g is multiplied by
    the probability that a candidate does not fail and satisfies its bounds, computed in the same
    way from two densities.

    With more than 300 results and failures, the densities use the 25 best results and a sample of
    300. As in the weights of g, later results have a higher probability of being drawn [5]_. The
    time of a proposal therefore does not grow with the number of results. With several objectives,
    in races over folds and with `transfer` other than "rung", all results are used, and the time
    grows.

    References
    ----------
    .. [1] J. Bergstra, R. Bardenet, Y. Bengio, B. Kegl, "Algorithms for hyper-parameter
       optimization", NeurIPS 2011.
    .. [2] S. Falkner, A. Klein, F. Hutter, "BOHB: robust and efficient hyperparameter
       optimization at scale", ICML 2018. https://proceedings.mlr.press/v80/falkner18a.html
    .. [3] S. Watanabe, "Tree-structured Parzen estimator: understanding its algorithm components
       and their roles for better empirical performance", 2023.
       https://arxiv.org/abs/2304.11127
    .. [4] C. Matache, "Efficient design of machine learning hyperparameter optimizers", 2019.
    .. [5] P. S. Efraimidis, P. G. Spirakis, "Weighted random sampling with a reservoir",
       Information Processing Letters 97, 2006. https://doi.org/10.1016/j.ipl.2005.11.003

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from sksearch import SearchCV
    >>> from sksearch.samplers import TPESampler
    >>> from sksearch.schedulers import FullFidelity
    >>> X, y = load_iris(return_X_y=True)
    >>> space = {"C": loguniform(0.1, 100), "gamma": loguniform(1e-3, 1)}
    >>> search = SearchCV(
    ...     SVC(), space, sampler=TPESampler(), scheduler=FullFidelity(8), cv=3, random_state=0
    ... )
    >>> bool(search.fit(X, y).best_score_ > 0.9)
    True
    """

    gamma: float = 0.1
    multivariate: bool = True
    n_initial: int | None = None
    transfer: str = "rung"
    extract = Extract(MAX_GOOD, 300, above=300)

    def __post_init__(self):
        if not 0 < self.gamma < 1:
            raise ValueError(f"gamma={self.gamma} must be between 0 and 1.")
        self._check(transfer=WITHOUT_JOINT)

    def _propose(
        self,
        history: History,
        data: Observations,
        rng: np.random.Generator,
        feasibility: Probability | None = None,
    ) -> Params:
        """Return the best new draws from l; success by densities or another model."""
        space = history.problem.space
        good, other = self._split(data)
        # A sample already contains more of the later results.
        weigh = _recency_weights if data.n_all == len(data.y) else np.ones
        if self.multivariate:
            points, value = _draw(space, slice(None), good, other, weigh, space.n_dims, rng)
        else:
            points, value = _draw_by_coordinate(space, good, other, weigh, rng)
        if feasibility is None:
            value = value + _log_probability_of_success(space, data, points)
        else:
            value = value + feasibility.log_probability(points)
        for factor in beliefs(history, data.n_all):
            value = value + factor(points, None)[0]
        return first_new(history, points[np.argsort(-value, kind="stable")])

    def _split(self, data: Observations) -> tuple[np.ndarray, np.ndarray]:
        """Return the points of good candidates, and of the others in the order of arrival.

        Running candidates come last among the others.
        """
        is_good = np.zeros(len(data.y), bool)
        n_good = min(math.ceil(self.gamma * data.n_all), MAX_GOOD)
        is_good[data.best_first[:n_good]] = True
        other = data.U[~is_good]
        if len(data.failed):
            order = np.argsort(np.r_[data.log_index[~is_good], data.failed_log_index])
            other = np.vstack([other, data.failed])[order]
        return data.U[is_good], np.vstack([other, data.running])


def _log_probability_of_success(
    space: Space, data: Observations, points: np.ndarray
) -> np.ndarray:
    """Return the log probability that a candidate does not fail and satisfies its bounds.

    By Bayes' rule, from the densities of successful candidates and of the others.
    """
    feasible = data.feasible
    bad = np.vstack([data.failed, data.U[~feasible]])
    if not len(bad) or not feasible.any():
        return np.zeros(len(points))
    n_choices = np.where(space.categorical, [d.size for d in space.dimensions], 0.0)
    lower, upper = space.cells(points)
    sides = []
    for U in (data.U[feasible], bad):
        density = Parzen(U, np.ones(len(U)), n_choices, _bandwidths(U, space.n_dims))
        sides.append(math.log(len(U)) + density.log_density(lower, upper))
    return sides[0] - np.logaddexp(*sides)


def _bandwidths(U: np.ndarray, n_dims: int) -> np.ndarray:
    """Return the widths of the kernels of a density of these points, by coordinate of U."""
    floor = 1 / min(100, len(U) + 1)  # decreases with n: "magic clipping" of [3]_
    h = max(SCALE * max(1, len(U)) ** (-1 / (n_dims + 4)), floor)
    return np.full(U.shape[1], h)


def _draw(
    space: Space,
    columns: slice | list[int],
    good: np.ndarray,
    other: np.ndarray,
    weigh: Callable[[int], np.ndarray],
    n_dims: int,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """Return draws from l in some columns of the cube, and log l - log g at them."""
    n_choices = np.where(space.categorical, [d.size for d in space.dimensions], 0.0)[columns]

    def density(U: np.ndarray, weights: np.ndarray) -> Parzen:
        return Parzen(U, weights, n_choices, _bandwidths(U, n_dims))

    l = density(good[:, columns], np.ones(len(good)))  # noqa: E741
    g = density(other[:, columns], weigh(len(other)))
    points = np.full((N_DRAWS, space.n_dims), 0.5)
    points[:, columns] = l.sample(N_DRAWS, rng)
    if n_dims > 1:  # a single coordinate does not determine whether it is active
        points = space.canonical(points)
    lower, upper = (ends[:, columns] for ends in space.cells(points))
    return points, l.log_density(lower, upper) - g.log_density(lower, upper)


def _draw_by_coordinate(
    space: Space,
    good: np.ndarray,
    other: np.ndarray,
    weigh: Callable[[int], np.ndarray],
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """Return draws by coordinate, best first: row k has the k-th best of each coordinate."""
    points = np.empty((N_DRAWS, space.n_dims))
    for j in range(space.n_dims):
        known_good, known_other = (U[~np.isnan(U[:, j])] for U in (good, other))
        drawn, value = _draw(space, [j], known_good, known_other, weigh, 1, rng)
        points[:, j] = drawn[np.argsort(-value, kind="stable"), j]
    return space.canonical(points), -np.arange(N_DRAWS)


def _recency_weights(n: int) -> np.ndarray:
    """Return weights of results in the order of arrival: 1 for the last 25, less for others."""
    weights = np.ones(n)
    if n > N_RECENT:
        weights[: n - N_RECENT] = np.linspace(1 / n, 1, n - N_RECENT)
    return weights
