"""The Gaussian processes of one proposal: of scores, of failures and of cost.

==========  ======================================================================
n           number of observations
theta       hyperparameters, learned again when n has grown by a seventh
==========  ======================================================================
"""

import math
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from sksearch.history import History
from sksearch.models import GaussianProcess, MixedKernel
from sksearch.models._feasibility import (
    CAUTION,
    LABEL_NOISE,
    SHARPNESS,
    AllOf,
    Feasibility,
    Margin,
    Probability,
    SlackKernel,
    centred_labels,
    standardised_slacks,
)
from sksearch.models._growing import Growing, TrainingSet
from sksearch.models._learning import sample_theta
from sksearch.models._transforms import (
    inverse_power_transform,
    robust_power_transform,
    standardise,
)
from sksearch.samplers._observations import Observations

# Guards of a sampler, in alphabetical order.
GUARDS = ("interior", "outliers", "prior", "second_opinion", "ties")


class Models:
    """Processes of one proposal, kept in the history's cache for the next one.

    Parameters
    ----------
    sampler : GPSampler
        Sampler with the options.
    history : History
        Everything known so far.
    data : Observations
        Results to learn from.
    """

    def __init__(self, sampler: Any, history: History, data: Observations):
        self._data, self._seed = data, history.problem.seed
        self._categorical = history.problem.space.categorical
        self._max_resources = history.problem.max_resources
        self._marginalise = sampler.marginalise
        cache = history.cache.setdefault(("gp", sampler), {})
        self._growing = Growing(cache, history.problem.seed, sampler.n_restarts)
        self.joint = sampler.transfer == "joint"
        categorical = np.r_[self._categorical, False] if self.joint else self._categorical
        self._kernel = MixedKernel(categorical, sampler.kernel, sampler.warp)
        self._pulled_in = "outliers" in sampler.guards
        transform = robust_power_transform if self._pulled_in else standardise
        flat = "prior" not in sampler.guards

        def scores(data: Observations) -> TrainingSet:
            places = self._places(data)
            return TrainingSet("score", self._kernel, places, data.y, transform, flat=flat)

        self._scores = self._of_data(scores)

    @property
    def y(self) -> np.ndarray:
        """Transformed scores, shape (n,)."""
        return self._scores.transformed(len(self._scores.U))

    def as_scores(self, z: np.ndarray) -> np.ndarray:
        """Return the scores for values of the process, shape (m,)."""
        return (inverse_power_transform if self._pulled_in else _unstandardise)(self._data.y, z)

    def scores(self) -> "list[GaussianProcess | AtMaxResource]":
        """Return the processes of the scores, to average an acquisition function over."""
        scores = self._scores
        if self._marginalise:
            thetas = self._sampled_thetas()
            models: list[Any] = self._growing.cached(
                "marginalised",
                scores.digest(len(scores.U)),
                lambda: [GaussianProcess(scores.kernel, t).fit(scores.U, self.y) for t in thetas],
            )
        else:
            models = [self._process(scores)]
        return [AtMaxResource(m, self._at_max_resource) for m in models] if self.joint else models

    def objectives(self) -> list[GaussianProcess]:
        """Return the processes of several objectives."""
        kernel, U = self._kernel, self._scores.U
        sets = [
            TrainingSet(f"objective {j}", kernel, U, y.copy(), robust_power_transform)
            for j, y in enumerate(self._data.objectives.T)
        ]
        return [self._process(each) for each in sets]

    def feasibility(self) -> AllOf | None:
        """Return a model of the probability that a candidate succeeds and satisfies all bounds.

        None without failures and bounds.
        """
        kernel, ok = MixedKernel(self._categorical), self._data.ok
        parts: list[Probability] = []
        if len(self._data.failed):
            labels = self._of_data(
                lambda data: TrainingSet(
                    "feasibility", kernel, data.tried, data.ok, centred_labels, LABEL_NOISE
                )
            )
            parts.append(Feasibility(self._process(labels), ok, SHARPNESS, CAUTION))
        of_slacks = SlackKernel(self._categorical)
        for j, slacks in enumerate(self._data.slacks.T):

            def margins(data: Observations, j: int = j) -> TrainingSet:
                y = data.slacks[:, j].copy()
                return TrainingSet(f"slack {j}", of_slacks, data.U, y, standardised_slacks)

            parts.append(Margin(self._process(self._of_data(margins)), slacks))
        return AllOf(parts) if parts else None

    def log_cost(self) -> GaussianProcess:
        """Return a model of the logarithm of seconds, centred."""
        kernel = MixedKernel(self._categorical)

        def costs(data: Observations) -> TrainingSet:
            known = ~np.isnan(data.cost)
            return TrainingSet("cost", kernel, data.U[known], data.cost[known], _centred_log)

        return self._process(self._of_data(costs))

    def _process(self, training: TrainingSet) -> GaussianProcess:
        return self._growing.process(training, GaussianProcess)

    def _of_data(self, make: Callable[[Observations], TrainingSet]) -> TrainingSet:
        """Return a training set of the observations, including extracts of a long history."""
        training, data = make(self._data), self._data
        if data.began is not None and data.learnt is not None:
            training.began, training.learnt = make(data.began), make(data.learnt)
        return training

    def _sampled_thetas(self) -> np.ndarray:
        """Samples of the hyperparameters of the process of scores."""
        scores, n = self._scores.to_learn
        theta = self._growing.theta(self._scores)

        def sample() -> np.ndarray:
            rng = np.random.default_rng((self._seed, n))
            y = scores.transformed(n)
            return sample_theta(scores.kernel, theta, scores.U[:n], y, rng, flat=scores.flat)

        return self._growing.cached("thetas", scores.digest(n), sample)

    def _places(self, data: Observations) -> np.ndarray:
        """Return the points of scores in the coordinates of the process."""
        return self._with_resource(data.U, data.resource) if self.joint else data.U

    def _with_resource(self, U: np.ndarray, resource: np.ndarray) -> np.ndarray:
        """Append the resource to points as one more coordinate."""
        top = self._max_resources
        t = np.log(resource) / math.log(top) if top > 1 else np.ones(len(U))
        return np.column_stack([U, t])

    def _at_max_resource(self, U: np.ndarray) -> np.ndarray:
        return self._with_resource(U, np.full(len(U), self._max_resources))


class AtMaxResource:
    """Process over parameters and resource, restricted to the largest resource.

    Parameters
    ----------
    gp : GaussianProcess
        The process.
    extend : callable
        ``extend(U)``, points with the largest resource as their last coordinate.
    """

    def __init__(self, gp: GaussianProcess, extend: Callable[[np.ndarray], np.ndarray]):
        self._gp, self._extend = gp, extend
        self.noise = gp.noise

    def condition_on(
        self, U: np.ndarray, y: np.ndarray | None = None, noise: float | np.ndarray = 0.0
    ) -> Self:
        """Return a process conditioned on more points, at the largest resource."""
        return type(self)(self._gp.condition_on(self._extend(U), y, noise), self._extend)

    def fitted(self) -> np.ndarray:
        """Return the mean at the conditioning points."""
        return self.predict(self._gp.U[:, :-1])[0]

    def predict(self, U: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and standard deviation."""
        return self._gp.predict(self._extend(U))

    def predict_with_gradient(self, U: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return mean, sd and their derivatives by the numeric parameters."""
        mean, sd, d_mean, d_sd = self._gp.predict_with_gradient(self._extend(U))
        return mean, sd, d_mean[..., :-1], d_sd[:, :-1]

    def sample(self, U: np.ndarray, n_samples: int, rng: np.random.Generator) -> np.ndarray:
        """Draw functions from the posterior."""
        return self._gp.sample(self._extend(U), n_samples, rng)


def _unstandardise(y: np.ndarray, z: np.ndarray) -> np.ndarray:
    scale = max(np.abs(y).max(), np.finfo(float).tiny)  # squares of large values overflow
    return scale * ((y / scale).mean() + (y / scale).std() * z)


def _centred_log(seconds: np.ndarray) -> np.ndarray:
    logs = np.log(np.maximum(seconds, 1e-6))  # a measured time may be 0 seconds
    return logs - logs.mean()
