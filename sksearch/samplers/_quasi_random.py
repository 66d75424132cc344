"""Quasi-random designs: points that cover the unit cube more evenly than independent draws."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import qmc

from sksearch.base import Sampler, Start
from sksearch.history import History, Params

METHODS = ("sobol", "halton", "hammersley", "lhs")


@dataclass(frozen=True)
class QuasiRandomSampler(Sampler):
    """Take candidates from a space-filling design in the unit cube.

    Parameters
    ----------
    method : {"sobol", "halton", "hammersley", "lhs"}, default="sobol"
        Design: a scrambled Sobol or Halton sequence, both infinite, or a Hammersley set or Latin
        hypercube of `n_points` candidates, repeated with new randomisation if the search
        continues.
    n_points : int, default=128
        Number of candidates of a Hammersley set or Latin hypercube; ignored for the sequences.

    Notes
    -----
    The first coordinate of a Hammersley set is a randomly shifted grid of step ``1 / n_points``;
    the others are a scrambled Halton sequence. The order of the points is shuffled, so that a
    search that stops early covers the whole range of the first parameter.

    References
    ----------
    .. [1] A. Owen, "Scrambling Sobol' and Niederreiter-Xing points", J. Complexity 14, 1998.
       https://doi.org/10.1006/jcom.1998.0487
    .. [2] J. M. Hammersley, "Monte Carlo methods for solving multivariable problems", Annals of
       the New York Academy of Sciences 86, 1960.
       https://doi.org/10.1111/j.1749-6632.1960.tb42846.x
    .. [3] M. D. McKay, R. J. Beckman, W. J. Conover, "A comparison of three methods for
       selecting values of input variables", Technometrics 21, 1979.
       https://doi.org/10.1080/00401706.1979.10489755

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from sksearch import SearchCV
    >>> from sksearch.samplers import QuasiRandomSampler
    >>> from sksearch.schedulers import FullFidelity
    >>> X, y = load_iris(return_X_y=True)
    >>> space = {"C": loguniform(0.1, 100), "gamma": loguniform(1e-3, 1)}
    >>> search = SearchCV(
    ...     SVC(), space, sampler=QuasiRandomSampler("halton"), scheduler=FullFidelity(8),
    ...     cv=3, random_state=0,
    ... )
    >>> bool(search.fit(X, y).best_score_ > 0.9)
    True
    """

    method: str = "sobol"
    n_points: int = 128

    def __post_init__(self):
        if self.method not in METHODS:
            raise ValueError(f"method={self.method!r} must be one of {', '.join(METHODS)}.")
        if self.n_points < 1:
            raise ValueError(f"n_points={self.n_points} must be at least 1.")

    def ask(self, history: History, start: Start, rng: np.random.Generator) -> Params:
        """Return the point of the design for the next trial."""
        problem = history.problem
        i = len(history.trials) - len(problem.initial_params)
        return problem.space.from_unit(self._points(history, max(i, 0) + 1)[max(i, 0)])

    def _points(self, history: History, n: int) -> np.ndarray:
        """Return at least `n` points, shape (n_points, n_dims), kept in the history's cache."""
        points = history.cache.get(self)
        if points is None or len(points) < n:
            problem = history.problem
            if self.method in ("sobol", "halton"):
                # Powers of 2, for balanced Sobol points; a longer sequence starts with the same
                # points.
                size = 1 << max(5, (n - 1).bit_length())
                points = self._design(problem.space.n_dims, size, problem.seed, 0)
            else:
                blocks = range(-(-n // self.n_points))
                points = np.concatenate(
                    [
                        self._design(problem.space.n_dims, self.n_points, problem.seed, block)
                        for block in blocks
                    ]
                )
            history.cache[self] = points
        return points

    def _design(self, n_dims: int, n: int, seed: int, block: int) -> np.ndarray:
        """Return one design, shape (n, n_dims)."""
        if n_dims == 0:
            return np.empty((n, 0))
        rng = np.random.default_rng((seed, block))
        if self.method == "sobol":
            return qmc.Sobol(n_dims, rng=rng).random(n)
        if self.method == "halton":
            return qmc.Halton(n_dims, rng=rng).random(n)
        if self.method == "lhs":
            return qmc.LatinHypercube(n_dims, rng=rng).random(n)
        first = (rng.permutation(n) + rng.random()) / n
        if n_dims == 1:
            return first[:, np.newaxis]
        order = np.argsort(first)
        points = np.empty((n, n_dims))
        points[:, 0] = first
        points[order, 1:] = qmc.Halton(n_dims - 1, rng=rng).random(n)
        return points
