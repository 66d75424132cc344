"""Population-based training: copies of the best members with changed parameters.

==========  ======================================================================
N           ``population_size``
generation  the results of all members at one resource
member      a trial and, once it is replaced, the child in its place
==========  ======================================================================
"""

import math
from dataclasses import dataclass

import numpy as np

from sksearch.base import Plan, Reads, Resume, Scheduler, Start
from sksearch.base._decisions import Job
from sksearch.history import History, Params, Problem, best_first
from sksearch.schedulers._brackets import Selecting, one_bracket
from sksearch.space._scaling import scaled

#: Ids of replaced members, of their replacements, and of members that continue unchanged.
Selection = tuple[list[int], list[int], list[int]]
PART = 20  # steps up to the largest resource, if the user sets no step
SHARE = 0.2  # share of the population that is replaced, and share that is copied
FACTORS = (0.8, 1.2)  # by which a number is multiplied, as in [1]_
RESAMPLED = 0.25  # probability of drawing a parameter again
N_TRIES = 100  # attempts to find allowed parameters


@dataclass(frozen=True)
class PopulationBasedTraining(Scheduler, Selecting):
    """Train a population in which the worst members copy the best ones at each step.

    All members are trained for `step` units. Then each of the worst 20 % is replaced by a child of
    one of the best 20 %, which continues from the fitted states of its parent on all folds, with
    changed parameters [1]_. These steps are repeated. The result is a schedule of parameters over
    the training time.

    Parameters
    ----------
    population_size : int, default=20
        Number of members. A finite space may have fewer.
    step : int or None, default=None
        Number of units from one selection to the next. None: a twentieth of the largest resource.
    select : {"auto", "best", "top"}, default="auto"
        Candidates that may win in `SearchCV`: all of them ("best"), or only those with the largest
        resource ("top"). "auto": "top" for rows and folds, otherwise "best".

    Notes
    -----
    A number of a child is 0.8 or 1.2 times the number of its parent, and a value of an ordered
    list is replaced by a neighbour, both within the space. With probability 0.25 a parameter is
    drawn again instead [1]_. This applies to parameters that may change during training
    (``problem.changing``) and on which no other parameter depends through a condition. All others
    are inherited.

    A child is a separate trial with a `parent`, and the trial that it replaces ends. Each step
    waits for the results of all members, so the result does not depend on the number of workers.
    Failed members are also replaced.

    References
    ----------
    .. [1] M. Jaderberg, V. Dalibard, S. Osindero, W. M. Czarnecki, J. Donahue, A. Razavi, O.
       Vinyals, T. Green, I. Dunning, K. Simonyan, C. Fernando, K. Kavukcuoglu, "Population based
       training of neural networks", 2017. https://doi.org/10.48550/arXiv.1711.09846

    Examples
    --------
    >>> from scipy.stats import uniform
    >>> from sksearch.history import Problem
    >>> from sksearch.schedulers import PopulationBasedTraining
    >>> from sksearch.space import Space
    >>> problem = Problem(Space({"x": uniform()}), max_resources=81)
    >>> plan = PopulationBasedTraining(10, step=27).plan(problem)
    >>> print(*(f"{rung.n_candidates}@{rung.resource}" for rung in plan.brackets[0]))
    10@27 10@54 10@81
    """

    reads = Reads(objectives=True, bounds=True, states=True)

    population_size: int = 20
    step: int | None = None

    def __post_init__(self) -> None:
        if self.population_size < 2:
            raise ValueError(
                f"population_size={self.population_size} must be at least 2: members copy each "
                "other."
            )
        if self.step is not None and self.step < 1:
            raise ValueError(f"step={self.step} must be at least 1, or None.")

    def adapt(self, problem: Problem) -> tuple[Scheduler, int]:
        """Set the smallest resource to one step."""
        step = self._step(problem)
        return self, min(max(problem.min_resources, step), problem.max_resources)

    def plan(self, problem: Problem) -> Plan:
        """Compute one bracket, with the whole population at all rungs."""
        low, high = problem.min_resources, problem.max_resources
        resources = range(high, low - 1, -self._step(problem))
        return one_bracket(self.population_size, problem, reversed(resources))

    def next(self, history: History, rng: np.random.Generator) -> Start | Resume | None:
        """Start members; after each step replace the worst members, then train the others."""
        resources = self._resources(history)
        if resources and not self._is_begun(history) and not history.exhausted:
            return Start(resources[0])
        for i in range(1, len(resources)):
            selection = self._selection(history, i - 1)
            if selection is None:
                return None
            worst, best, others = selection
            n_asked = len(history.rung(0, resources[i]))
            if n_asked < len(worst):
                parent = history.trials[best[rng.integers(len(best))]]
                params = explored(history.problem, parent.params, rng)
                return Start(resources[i], 0, params, parent.id)
            if n_asked < len(worst) + len(others):
                return Resume(others[n_asked - len(worst)], resources[i])
        return None

    def retired(self, history: History, job: Job) -> list[int]:
        """Return the replaced members, and the members that reached the last rung."""
        resources = self._resources(history)
        if job.resource == resources[-1]:
            return [job.trial_id]
        selection = self._selection(history, resources.index(job.resource))
        if selection is None:
            return []
        worst, best, _ = selection
        return worst if best else sorted(history.rung(0, job.resource))

    def _step(self, problem: Problem) -> int:
        return self.step or max(1, problem.max_resources // PART)

    def _resources(self, history: History) -> list[int]:
        if "generations" not in history.cache:
            rungs = [rung for bracket in self.plan(history.problem).brackets for rung in bracket]
            history.cache["generations"] = [rung.resource for rung in rungs]
        return history.cache["generations"]

    def _is_begun(self, history: History) -> bool:
        """Return whether all available members were started."""
        n = min(self.population_size, history.problem.size)
        return len(history.rung(0, self._resources(history)[0])) >= n

    def _selection(self, history: History, i: int) -> Selection | None:
        """Return replaced members, their parents and the rest at step i; None while it runs."""
        if (key := ("selection", i)) in history.cache:
            return history.cache[key]
        resource = self._resources(history)[i]
        ids = sorted(history.rung(0, resource))
        if i == 0:
            is_full = self._is_begun(history) or history.exhausted
        else:
            before = self._selection(history, i - 1)
            is_full = before is not None and len(ids) == len(before[0]) + len(before[2])
        if not is_full or history.n_told(0, resource) < len(ids):
            return None
        history.cache[key] = _selected(history, ids, resource)
        return history.cache[key]


def _selected(history: History, ids: list[int], resource: int) -> Selection:
    """Divide a generation into replaced members, parents and others; empty if all failed."""
    ranked = [ids[k] for k in best_first([history.trials[i].results[resource] for i in ids])]
    if not ranked:
        return [], [], []
    n = min(max(1, math.floor(SHARE * len(ids))), len(ids) // 2)
    n_worst = max(n, len(ids) - len(ranked))
    going_on = ranked[: len(ids) - n_worst]
    return sorted(set(ids) - set(going_on)), going_on[:n], sorted(going_on)


def explored(problem: Problem, params: Params, rng: np.random.Generator) -> Params:
    """Return a child's parameters: its parent's, with steps or draws of those that may change."""
    space, changing = problem.space, problem.changing
    dimensions = {
        name: dimension
        for name, dimension in space.changeable(params).items()
        if changing is None or name in changing
    }
    for _ in range(N_TRIES):
        child = dict(params)
        for name, dimension in dimensions.items():
            factor = FACTORS[rng.integers(2)]
            drawn = rng.random() < RESAMPLED
            child[name] = (
                dimension.sample(rng) if drawn else scaled(dimension, params[name], factor)
            )
        if problem.allows is None or problem.allows(child):
            return child
    return dict(params)
