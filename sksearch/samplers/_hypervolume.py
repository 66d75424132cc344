"""Bayesian optimisation of several objectives by the volume under their front."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sksearch._utils._fronts import fronts
from sksearch._utils._numerics import one_blas_thread
from sksearch.acquisition._criterion import beliefs
from sksearch.acquisition._hypervolume import HypervolumeCriterion, PosteriorDraws, Strips
from sksearch.base import Reads
from sksearch.history import History, Params
from sksearch.samplers._gp import GPSampler
from sksearch.samplers._gp_models import GUARDS, Models
from sksearch.samplers._observations import WITHOUT_JOINT, Observations
from sksearch.samplers._surrogate import LearningSampler, maximiser

ONE_SCORE = GPSampler()  # proposes if there is one objective
# Distance of the reference point below the worst values, as a share of the total range
MARGIN = 0.1


@dataclass(frozen=True)
class HypervolumeSampler(LearningSampler):
    """Model each objective by a Gaussian process, and maximise the expected gain in hypervolume.

    Parameters
    ----------
    n_initial : int or None, default=None
        Number of quasi-random candidates before the first model. None: between 4 and 10.
    transfer : {"rung", "none", "all", "survivors", "same"}, default="rung"
        Results of a search with several resources to learn from, see `TPESampler`.

    Notes
    -----
    The acquisition function is the logarithm of the expected improvement of the volume between the
    Pareto front and a reference point [1]_. In each objective the reference point is a tenth of
    the total range below the worst value of the front. The expected improvement is exact for two
    objectives; for more it is an average over points not dominated by the front. Transformation of
    the objectives, failures and bounds are as in `GPSampler`, and candidates still running are
    assigned their predicted means. With one objective the sampler is equivalent to `GPSampler`.

    References
    ----------
    .. [1] M. Emmerich, A. Deutz, J. W. Klinkenberg, "Hypervolume-based expected improvement:
       monotonicity properties and exact computation", CEC 2011.
       https://doi.org/10.1109/CEC.2011.5949880

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sksearch import SearchCV
    >>> from sksearch.samplers import HypervolumeSampler
    >>> search = SearchCV(
    ...     DecisionTreeClassifier(random_state=0), {"max_leaf_nodes": list(range(2, 40))},
    ...     objectives=["score", "model_size"], sampler=HypervolumeSampler(), n_iter=10,
    ...     random_state=0,
    ... ).fit(*load_iris(return_X_y=True))
    >>> search.pareto_.names
    ('score', 'model_size')
    """

    n_initial: int | None = None
    transfer: str = "rung"

    @property
    def reads(self) -> Reads:
        """Declarations of samplers with a model, with objectives added."""
        return replace(super().reads, objectives=True)

    kernel: ClassVar[str] = "matern52"
    warp: ClassVar[bool] = False
    marginalise: ClassVar[bool] = False
    n_restarts: ClassVar[int] = 0
    guards: ClassVar[tuple[str, ...]] = GUARDS
    extract = ONE_SCORE.extract

    def __post_init__(self):
        self._check(transfer=WITHOUT_JOINT)

    def _propose(self, history: History, data: Observations, rng: np.random.Generator) -> Params:
        if not history.problem.objectives:
            return ONE_SCORE._propose(history, data, rng)
        with one_blas_thread():
            criterion = self._criterion(history, data, rng)
            # The criterion is searched around the front: its members are the incumbents.
            front = np.flatnonzero(data.feasible)
            front = front[fronts(data.objectives[front]) == 0] if len(front) else data.best_first
            names = "U", "objectives", "slacks", "y"
            near = replace(data, **{name: getattr(data, name)[front] for name in names})
            return maximiser(criterion, history, near, rng, 400, 15, 4)

    def _criterion(
        self, history: History, data: Observations, rng: np.random.Generator
    ) -> HypervolumeCriterion:
        """Return the expected improvement, multiplied by all other factors."""
        models = Models(self, history, data)
        processes = models.objectives()
        numbers = np.flatnonzero(~history.problem.space.categorical)
        feasible, cells = data.feasible, None
        factors = beliefs(history, len(feasible))
        Y = np.column_stack([gp.fitted() for gp in processes])[feasible]
        if len(pending := data.pending):
            Y = np.vstack([Y, np.column_stack([gp.predict(pending)[0] for gp in processes])])
            processes = [gp.condition_on(pending, None, -0.99 * gp.noise) for gp in processes]
        if feasible.any():
            front = Y[fronts(Y) == 0]
            reference = front.min(axis=0) - MARGIN * np.maximum(np.ptp(Y, axis=0), 1.0)
            cells = (
                Strips(front, reference)
                if Y.shape[1] == 2
                else PosteriorDraws(front, reference, rng)
            )
        return HypervolumeCriterion(processes, cells, numbers, models.feasibility(), factors)
