"""Gaussian processes extended from one proposal to the next.

==========  ======================================================================
n           number of points
theta       hyperparameters, learned again when n has grown by a seventh
==========  ======================================================================
"""

import hashlib
from collections.abc import Callable, Hashable, MutableMapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from sksearch.models._gp import GaussianProcess
from sksearch.models._kernels import MixedKernel
from sksearch.models._learning import learn_theta, learnt_at, prior

RESTARTS_STREAM = 13  # distinguishes its generator from others with the same number
MAX_LEARNT = 500  # points for learning hyperparameters: more hardly change them

P = TypeVar("P", bound=GaussianProcess)


@dataclass
class TrainingSet:
    """Points and values of a process.

    Parameters
    ----------
    name : str
        Name of the process in the cache.
    kernel : MixedKernel
        Covariance.
    U : ndarray of shape (n, n_dims)
        Points.
    y : ndarray of shape (n,)
        Measured values.
    transform : callable
        ``transform(y) -> (n,)``, the values for the process.
    noise : float, default=0.0
        Known variance of the transformed values.
    began : TrainingSet or None, default=None
        For a long history, the first of these points, to which the others are appended.
    learnt : TrainingSet or None, default=None
        For a long history, the subset from which hyperparameters are learned.
    flat : bool, default=False
        Whether the hyperparameters are learned without their prior.
    """

    name: str
    kernel: MixedKernel
    U: np.ndarray
    y: np.ndarray
    transform: Callable[[np.ndarray], np.ndarray]
    noise: float = 0.0
    began: "TrainingSet | None" = None
    learnt: "TrainingSet | None" = None
    flat: bool = False
    _transformed: dict[int, np.ndarray] = field(default_factory=dict)

    def transformed(self, n: int) -> np.ndarray:
        """Return the first n values, transformed, shape (n,)."""
        if n not in self._transformed:
            self._transformed[n] = self.transform(self.y[:n])
        return self._transformed[n]

    @property
    def n_began(self) -> int:
        """Number of points with which a process is built at once."""
        return learnt_at(len(self.U)) if self.began is None else len(self.began.U)

    @property
    def to_learn(self) -> "tuple[TrainingSet, int]":
        """The set from which hyperparameters are learned, and the number of its points to use."""
        if self.learnt is None:
            return self, learnt_at(len(self.U))
        return self.learnt, len(self.learnt.U)

    def digest(self, n: int) -> bytes:
        """Return a digest of the first n points and values."""
        return hashlib.blake2b(self.U[:n].tobytes() + self.y[:n].tobytes()).digest()


class Growing:
    """Processes by name, kept in a cache; without the cache the result is bit-identical.

    Parameters
    ----------
    cache : dict
        Cache of one history.
    seed : int
        Seed of the search.
    n_restarts : int, default=0
        Number of random starting points for theta, in addition to the mode of the prior.
    """

    def __init__(self, cache: MutableMapping[Hashable, Any], seed: int, n_restarts: int = 0):
        self._cache, self._seed, self._n_restarts = cache, seed, n_restarts

    def process(self, training: TrainingSet, kind: type[P]) -> P:
        """Return a process on all points, extended from the last one by appended rows.

        Rows are appended one by one to the initial ones, so a process rebuilt after the cache was
        dropped is bit-identical.
        """
        theta, U, n = self.theta(training), training.U, training.n_began
        n_began, gp = self._cache.get((training.name, "gp"), (0, None))
        if not (
            gp is not None
            and n_began == n
            and len(gp.U) <= len(U)
            and np.array_equal(gp.theta, theta)
            and np.array_equal(gp.U, U[: len(gp.U)], equal_nan=True)
        ):
            gp = kind(training.kernel, theta)
            gp.fit(U[:n], training.transformed(n), training.noise)
        for i in range(len(gp.U), len(U)):
            gp.append(U[i : i + 1], noise=training.noise)
        self._cache[training.name, "gp"] = n, gp.set_values(training.transformed(len(U)))
        return gp

    def theta(self, training: TrainingSet) -> np.ndarray:
        """Return the hyperparameters learned at the last number of the schedule."""
        source, n = training.to_learn
        rows = np.linspace(0, n - 1, min(n, MAX_LEARNT)).astype(int)

        def learn() -> np.ndarray:
            y = source.transformed(n)[rows]
            mode, spread = prior(training.kernel)
            rng = np.random.default_rng((self._seed, n, RESTARTS_STREAM))
            starts = mode + spread * rng.standard_normal((self._n_restarts, len(mode)))
            return learn_theta(
                training.kernel, source.U[rows], y, training.noise, starts, training.flat
            )

        return self.cached((training.name, "theta"), source.digest(n), learn)

    def cached(self, name: Hashable, digest: bytes, compute: Callable[[], Any]) -> Any:
        """Return the cached value for this digest of its inputs, or compute it."""
        if self._cache.get(name, (None,))[0] != digest:
            self._cache[name] = (digest, compute())
        return self._cache[name][1]
