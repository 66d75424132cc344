"""The halving searches of scikit-learn's names: with the same candidates, in the same rows."""

import copy
import math
import warnings
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Annotated, Any, ClassVar, Literal, Self, cast

import numpy as np
from sklearn.model_selection import ParameterSampler

from sksearch._utils._compat import Interval, SklearnHalvingGrid, SklearnHalvingRandom, num_samples
from sksearch._utils._typing import Samples, Targets
from sksearch.base import Resource, Sampler, Scheduler, Start, Told
from sksearch.fitting.run._folds import Folds
from sksearch.fitting.run._results import ResultRow, best_of_last_iteration
from sksearch.fitting.run._run import Run
from sksearch.fitting.run._setup import Setup
from sksearch.history import History, Params, Problem
from sksearch.resources import RefittedParameterResource, SubsamplesResource
from sksearch.samplers import ListedSampler, RandomSampler
from sksearch.schedulers import HalvingIterations
from sksearch.search._base import BaseSearch
from sksearch.search._full import CandidateDraws, is_for_scikit_learn
from sksearch.search._namesakes import GridSearchCV
from sksearch.search._parameters import Count, CountOrAuto, documented
from sksearch.space import Space

TEXTS = {
    "halving": """
factor : float, default=3
    One candidate in `factor` goes on from each iteration, to `factor` times the resource.
resource : str or Resource, default="n_samples"
    "n_samples": rows, of training and test folds alike. The name of an integer parameter, such as
    ``"n_estimators"``: candidates are fitted again with it in each iteration. Other resources are
    as in `SuccessiveHalvingSearchCV`, such as "epochs", which scikit-learn's has not.
max_resources : int or "auto", default="auto"
    Count of units that no candidate gets more of. "auto": all rows, or the estimator's own value
    of the parameter.
""",
    "aggressive": """
aggressive_elimination : bool, default=False
    Whether the first iteration is repeated until few enough candidates are left for the others,
    where resources would else end before.
""",
    "halving_attributes": """
n_resources_, n_candidates_ : list of int
    Units and candidates of each iteration.
n_iterations_, n_required_iterations_, n_possible_iterations_ : int
    Count of iterations; after how many fewer than `factor` candidates are left; and how many the
    resources allow.
n_remaining_candidates_ : int
    Count of candidates that would go on from the last iteration.
min_resources_, max_resources_ : int
    Units of the first iteration, and the most that there are.
best_n_resources_ : int
    Units of the last iteration that was reached.
""",
    "halving_notes": """
Candidates, rows of data, scores, promotions and ``cv_results_`` are those of scikit-learn, with
its ranks, which are by score over all iterations; the winner is the best of the last one.
With a ``RandomState`` or None as `random_state` it draws as scikit-learn from the same state.
These differ:

- Repeated iterations, of `aggressive_elimination` or of a `factor` so small that rounded resources
  are equal, show again what is known of a candidate. scikit-learn trains it again; with an int as
  `random_state` that brings the same scores, else others, from other rows.
- A function as `refit` chooses the winner; scikit-learn's says so, and ignores it.
- A number as `error_score` is shown, and the candidate is among the last nevertheless.
- Splitters that shuffle without a seed are taken, as folds are made once.
- ``max_resources="auto"`` with a parameter as the resource is the estimator's own value.
- Within an iteration the candidates with the best scores are fitted first, and callbacks see each
  iteration as a task.
""",
}


#: How often scikit-learn draws the candidates, where rows are not the resource.
N_PASSES = 2


def _iterations_of(setup: Setup) -> HalvingIterations:
    return cast(HalvingIterations, setup.scheduler)


@dataclass(kw_only=True, eq=False, repr=False)
class _Halving(BaseSearch):
    """What both have: iterations, and scikit-learn's rows and rule of the winner."""

    factor: Annotated[float, Interval(Real, 1, None, closed="neither")] = 3
    resource: str | Resource = "n_samples"
    max_resources: CountOrAuto = "auto"
    min_resources: Count | Literal["exhaust", "smallest"] = "exhaust"
    aggressive_elimination: bool = False
    return_train_score: Any = True

    # No parameter: the best of the last iteration wins, whatever the resource.
    select = "top"  # type: Any
    _columns: ClassVar[tuple[str, ...]] = ("iter", "n_resources")
    _texts: ClassVar[dict[str, str]] = TEXTS
    _known_as = ()  # a grid is no random search
    _is_namesake: ClassVar[bool] = True

    def _filled(self, folds: Folds) -> Self:
        """Have rows and parameters as scikit-learn; other resources are as everywhere."""
        filled = copy.copy(self)
        if self.resource == "n_samples":
            filled.resource = SubsamplesResource()
        elif isinstance(self.resource, str) and self.resource in self.estimator.get_params():
            filled.resource = RefittedParameterResource(self.resource)
        return filled

    def _scheduler(self, n_candidates: int | None, most: float = math.inf) -> HalvingIterations:
        exhausts = self.min_resources == "exhaust"
        return HalvingIterations(
            n_candidates, self.factor, exhausts, self.aggressive_elimination, most
        )

    def _prepare(
        self,
        X: Samples,
        y: Targets,
        params: dict[str, Any],
        rng: np.random.RandomState,
        unit: str | None = None,
    ) -> Setup:
        """Settle which rows are drawn, once it is known how many candidates are drawn before."""
        if num_samples(X) == 0:
            raise ValueError("min_resources_=0: you might have passed an empty dataset X.")
        low, high = self.min_resources, self.max_resources
        if isinstance(low, Integral) and isinstance(high, Integral) and low > high:
            raise ValueError(f"min_resources_={low} is greater than max_resources_={high}.")
        generator = copy.deepcopy(rng)
        setup = super()._prepare(X, y, params, rng, unit)
        context, problem = setup.context, setup.problem
        in_sequence = not isinstance(self.random_state, Integral)
        if isinstance(context.resource, SubsamplesResource):
            if setup.ensemble:
                raise ValueError(
                    "ensemble averages predictions for whole test folds, and this search draws "
                    "rows from them: take SuccessiveHalvingSearchCV, or leave ensemble out."
                )
            if in_sequence:
                self._draw(problem, generator)
            amounts = [rung.resource for rung in _iterations_of(setup).iterations(problem)]
            of = context.splits, num_samples(context.X), in_sequence
            context.resource = context.resource.drawing(generator, amounts, *of)
            context.blocks = None  # a part of the test rows tells little of the others
        elif in_sequence:
            for _ in range(N_PASSES):
                self._draw(problem, generator)
        rng.set_state(generator.get_state())
        return setup

    def _draw(self, problem: Problem, generator: np.random.RandomState) -> None:
        """Bring a generator to where it is after the candidates."""

    def _rows(self, run: Run) -> list[ResultRow]:
        """Rows by iteration; what several iterations know of a candidate is measured once."""
        known = {(row.trial_id, row.n_resources): row for row in run.rows()}
        scheduler = _iterations_of(run.setup)
        table = scheduler.iterations(run.setup.problem)
        members = scheduler.members(run.study.history)
        return [
            replace(known[trial_id, rung.resource], iter=i)
            for i, (rung, ids) in enumerate(zip(table, members, strict=False))
            for trial_id in ids
            if (trial_id, rung.resource) in known
        ]

    def _keep_rungs(self, setup: Setup, with_resources: bool) -> None:
        """Set what each iteration was to have, those with the same resource, too."""
        super()._keep_rungs(setup, with_resources)
        scheduler, problem = _iterations_of(setup), setup.problem
        table = scheduler.iterations(problem)
        self.n_resources_ = [rung.resource for rung in table]
        self.n_candidates_ = [rung.n_candidates for rung in table]
        self.n_iterations_ = len(table)
        self.n_required_iterations_ = scheduler.n_required(problem)
        self.n_possible_iterations_ = scheduler.n_possible(problem)
        self.n_remaining_candidates_ = math.ceil(self.n_candidates_[-1] / self.factor)

    @staticmethod
    def _select_best_index(
        refit: object, refit_metric: str | None, results: dict[str, Any]
    ) -> int:
        return best_of_last_iteration(results, refit_metric)


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class HalvingGridSearchCV(GridSearchCV, _Halving):  # type: ignore[misc]  # as its base
    """Halving over a grid: scikit-learn's, to the last row of ``cv_results_``.

    All points of a grid get little resource, and the best ``1 / factor`` of them `factor` times as
    much, and so on. Beside what scikit-learn's has there are a time limit, checkpoints, clusters,
    `report` and what else searches share; nothing experimental has to be enabled.

    Parameters
    ----------
    {estimator}
    param_grid : dict or list of dict
        As for ``GridSearchCV``: lists of values by name of the parameter.
    {halving}
    min_resources : int, "exhaust" or "smallest", default="exhaust"
        Count of units of the first iteration. "smallest" for rows: two of each class in each fold;
        else 1. "exhaust": as many as leave `max_resources` for the last iteration.
    {aggressive}
    {common}

    Attributes
    ----------
    {attributes}
    {halving_attributes}

    See Also
    --------
    HalvingRandomSearchCV : Draws instead of all points.
    SuccessiveHalvingSearchCV : Goes on with training, and tests on all rows.

    Notes
    -----
    {halving_notes}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from sksearch import HalvingGridSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> grid = {"C": [0.1, 1, 10], "gamma": [0.01, 0.1, 1]}
    >>> search = HalvingGridSearchCV(SVC(), grid, random_state=0).fit(X, y)
    >>> search.n_resources_, search.n_candidates_
    ([30, 90], [9, 3])
    """

    return_train_score: Any = True

    _known_as = (*GridSearchCV._known_as, SklearnHalvingGrid)

    def _compose(self, space: Space, rng: np.random.RandomState) -> tuple[Sampler, Scheduler]:
        sampler = ListedSampler(self._points(), repeats=True)
        return sampler, self._scheduler(self._n_points(space))


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class HalvingRandomSearchCV(_Halving):
    """Halving over draws: scikit-learn's, to the last row of ``cv_results_``.

    Draws get little resource, and the best ``1 / factor`` of them `factor` times as much, and so
    on. With the same ``random_state`` there are the same candidates on the same rows. Beside what
    scikit-learn's has there are a time limit, checkpoints, clusters, `report` and what else
    searches share; nothing experimental has to be enabled.

    Parameters
    ----------
    {head}
    n_candidates : int or "exhaust", default="exhaust"
        Count of draws. If lists have no more candidates, all are tried. "exhaust": as many as
        leave `max_resources` for the last iteration.
    {halving}
    min_resources : int, "exhaust" or "smallest", default="smallest"
        Count of units of the first iteration. "smallest" for rows: two of each class in each fold;
        else 1. "exhaust": as many as leave `max_resources` for the last iteration, which needs a
        count as `n_candidates`.
    {aggressive}
    {common}

    Attributes
    ----------
    {attributes}
    {halving_attributes}

    See Also
    --------
    HalvingGridSearchCV : All points of a grid.
    SuccessiveHalvingSearchCV : Goes on with training, and tests on all rows.

    Notes
    -----
    {halving_notes}

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from sksearch import HalvingRandomSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> space = {"C": loguniform(1e-2, 1e2), "gamma": loguniform(1e-3, 1e1)}
    >>> search = HalvingRandomSearchCV(SVC(), space, factor=2, random_state=0).fit(X, y)
    >>> search.n_resources_, search.n_candidates_
    ([30, 60, 120], [5, 3, 2])
    """

    n_candidates: Count | Literal["exhaust"] = "exhaust"
    min_resources: Count | Literal["exhaust", "smallest"] = "smallest"

    _known_as = (*BaseSearch._known_as, SklearnHalvingRandom)

    def _compose(self, space: Space, rng: np.random.RandomState) -> tuple[Sampler, Scheduler]:
        """Draw as scikit-learn; where it cannot, as everywhere."""
        if self.n_candidates == self.min_resources == "exhaust":
            raise ValueError(
                "n_candidates and min_resources cannot be both set to 'exhaust': each follows "
                "from the other, so pass one of them as a count."
            )
        n = self._n_draws()
        if not is_for_scikit_learn(space):
            return RandomSampler(), self._scheduler(n)
        # Of several passes over a generator scikit-learn takes the last.
        by_rows = isinstance(self.resource, SubsamplesResource)
        n_passes = 1 if by_rows or isinstance(self.random_state, Integral) else N_PASSES
        draws = SettledDraws(space.given, n, rng, n_passes)
        return draws, self._scheduler(n, len(ParameterSampler(space.given, ALL)))

    def _n_draws(self) -> int | None:
        """Count of draws, None where it follows from the resources."""
        return None if self.n_candidates == "exhaust" else self.n_candidates

    def _draw(self, problem: Problem, generator: np.random.RandomState) -> None:
        if is_for_scikit_learn(problem.space):
            draws = SettledDraws(problem.space.given, self._n_draws(), generator)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # once is enough
                for _ in draws.sampler(problem, generator):
                    pass


#: More draws than any search has.
ALL = 2**62


@dataclass(frozen=True, eq=False)
class SettledDraws(Sampler):
    """Draws of a ``ParameterSampler``, of which the resources may say how many there are.

    Parameters
    ----------
    given : dict or list of dict
        The space.
    n_candidates : int or None
        None: the quotient of the largest and the smallest resource.
    rng : RandomState
        Before the draws.
    n_passes : int, default=1
        How often all are drawn; the last ones count.
    """

    given: Any
    n_candidates: int | None
    rng: np.random.RandomState
    n_passes: int = 1
    told = Told(repeats=True)

    def ask(self, history: History, start: Start, rng: np.random.Generator) -> Params:
        """Return the next one."""
        if "draws" not in history.cache:
            sampler = self.sampler(history.problem, copy.deepcopy(self.rng))
            for _ in range(self.n_passes - 1):
                list(sampler)
            history.cache["draws"] = ListedSampler(CandidateDraws(sampler), repeats=True)
        return history.cache["draws"].ask(history, start, rng)

    def sampler(self, problem: Problem, generator: np.random.RandomState) -> ParameterSampler:
        """Draw from this generator."""
        n = self.n_candidates or problem.max_resources // problem.min_resources
        return ParameterSampler(self.given, n, random_state=generator)
