"""Several objectives for samplers of a single score: random weights, drawn for each proposal."""

import copy
from dataclasses import dataclass, replace

import numpy as np

from sksearch.base import Reads, Sampler, Start
from sksearch.history import History, Params, Problem
from sksearch.models._transforms import robust_power_transform

METHODS = ("tchebycheff", "hypervolume")
RHO = 0.05  # weight of the sum, added to the largest part, see [1]_
KEPT = ("gp", "earlier tasks")  # cache entries that detect changes themselves
MARGIN = 0.05  # distance of the reference point below the worst values, as a share of the range


@dataclass(frozen=True)
class ScalarisedSampler(Sampler):
    """Use a single-score sampler for several objectives, with new weights for each proposal.

    Parameters
    ----------
    sampler : Sampler
        Any sampler; it receives one score for each candidate.
    method : {"tchebycheff", "hypervolume"}, default="tchebycheff"
        Conversion of objectives to a score. "tchebycheff": the largest weighted loss plus 0.05
        times the sum of all weighted losses, as in ParEGO [1]_. "hypervolume": the minimum of the
        objectives divided by their weights; its average over weights is the hypervolume [2]_.

    Notes
    -----
    Each objective is transformed like the scores in `GPSampler`, and scaled to the observed range.
    Weights are drawn uniformly, from the sphere for "hypervolume". Failures are passed on to the
    sampler, as are bounds if it supports them. Otherwise a candidate that violates a bound gets a
    score below all others, which decreases with the violation. A single objective is used as the
    score. objective, it is the score.

    References
    ----------
    .. [1] J. Knowles, "ParEGO: a hybrid algorithm with on-line landscape approximation for
       expensive multiobjective optimization problems", IEEE Trans. Evolutionary Computation 10,
       2006. https://doi.org/10.1109/TEVC.2005.851274
    .. [2] D. Golovin, Q. Zhang, "Random hypervolume scalarizations for provable multi-objective
       black box optimization", ICML 2020. https://proceedings.mlr.press/v119/zhang20i.html

    Examples
    --------
    >>> from sksearch.samplers import ScalarisedSampler, TPESampler
    >>> ScalarisedSampler(TPESampler(), method="hypervolume").method
    'hypervolume'
    """

    sampler: Sampler
    method: str = "tchebycheff"

    def __post_init__(self):
        if not isinstance(self.sampler, Sampler):
            raise TypeError(f"sampler={self.sampler!r} must be a Sampler, such as GPSampler().")
        if self.method not in METHODS:
            raise ValueError(f"method={self.method!r} must be one of {', '.join(METHODS)}.")

    @property
    def reads(self) -> Reads:
        """Declarations of the sampler, with objectives and bounds added.

        Scores are relative to the results of all brackets.
        """
        own = self.sampler.reads
        return replace(own, results=True, objectives=True, bounds=True, own_bracket=False)

    def ask(self, history: History, start: Start, rng: np.random.Generator) -> Params:
        """Call the sampler with a history of weighted objectives."""
        m = len(history.problem.objectives)
        if not m and (self.sampler.reads.bounds or not history.problem.bounds):
            return self.sampler.ask(history, start, rng)
        if not m:
            weights = np.ones(1)
        elif self.method == "tchebycheff":
            weights = rng.dirichlet(np.ones(m))
        else:
            weights = np.abs(rng.standard_normal(m))
            # No weight is 0, otherwise ties would be broken at random.
            weights = np.maximum(weights / np.sqrt((weights**2).sum()), 1e-3)
        return self.sampler.ask(self._view(history, weights), start, rng)

    def _view(self, history: History, weights: np.ndarray) -> History:
        """Return the history with one score for each result."""
        keys = [
            (trial.id, r)
            for trial in history.trials
            for r, result in trial.results.items()
            if not np.isnan(result.score)
        ]
        results = [history.trials[i].results[r] for i, r in keys]
        several, penalised = bool(history.problem.objectives), not self.sampler.reads.bounds
        values = np.array([result.score for result in results])
        if several and keys:
            values = self._scores(np.array([result.objectives for result in results]), weights)
        if penalised and keys:
            violation = np.array([result.violation for result in results])
            floor = values.min() - 0.1 * (np.ptp(values) or 1.0)
            values = np.where(violation > 0, floor - violation * (np.ptp(values) or 1.0), values)
        scores = dict(zip(keys, values.tolist(), strict=True))
        changes: dict = {"objectives": (), **({"slacks": ()} if penalised else {})}
        view = copy.copy(history)
        view.problem = replace(history.problem, objectives=())
        if penalised:
            view.problem = replace(view.problem, bounds=())
        view.trials = [
            replace(
                trial,
                results={
                    r: replace(result, score=scores.get((trial.id, r), np.nan), **changes)
                    for r, result in trial.results.items()
                },
            )
            for trial in history.trials
        ]
        # Entries that do not depend on scores are kept: a finite space's points, models of bounds
        # and of earlier tasks.
        kept = history.cache.get(("scalarised", self), {})
        keys = [k for k in kept if k == "points" or (isinstance(k, tuple) and k[0] in KEPT)]
        view.cache = {key: kept[key] for key in keys}
        history.cache["scalarised", self] = view.cache
        return view

    def _scores(self, Y: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return one score for each row of objectives, shape (n,)."""
        Z = np.column_stack([robust_power_transform(y) for y in Y.T])
        spread = np.ptp(Z, axis=0)
        loss = (Z.max(axis=0) - Z) / np.where(spread > 0, spread, 1.0)
        if self.method == "tchebycheff":
            parts = weights * loss
            return -parts.max(axis=1) - RHO * parts.sum(axis=1)
        return ((1 + MARGIN - loss) / weights).min(axis=1)


def for_aims(sampler: Sampler, problem: Problem) -> Sampler:
    """Return a sampler for the problem's objectives and bounds, by wrapping if needed."""
    reads = sampler.reads
    sees = (reads.objectives or not problem.objectives) and (reads.bounds or not problem.bounds)
    return sampler if sees or not reads.results else ScalarisedSampler(sampler)
