"""Fabolas: parameters and the amount of the resource chosen together."""

import math
from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral

import numpy as np

from sksearch._utils._numerics import one_blas_thread
from sksearch.base import Plan, Reads, Resume, Scheduler, Start
from sksearch.base._decisions import Job
from sksearch.history import History, Problem, best_first
from sksearch.schedulers._brackets import Selecting, is_too_small, one_bracket
from sksearch.schedulers._fabolas_choice import Choice, Known, may_go_on, sizes_of

COSTS = ("seconds", "resource")
SMALLEST = 64  # the smallest size is the full size divided by this, as in [1]_ of `Fabolas`
N_SIZES = 4  # for the first candidates
N_INITIAL = 20  # candidates before the first model
N_LAST = 3  # candidates that get the full resource at the end
STREAM = 11  # distinguishes its generator from the samplers', which receive the given one


@dataclass(frozen=True)
class Fabolas(Scheduler, Selecting):
    """Choose parameters and size by the expected improvement at full size per second.

    One Gaussian process models the score as a function of parameters and size, and another one
    models the logarithm of the seconds. Each step evaluates a new candidate, or an earlier one at
    a larger size: the one with the largest expected improvement of the best predicted score at
    full size, divided by the cost.

    Parameters
    ----------
    n_candidates : int or None, default=30
        Number of candidates. None: no limit.
    n_initial : int, default=20
        Number of candidates, at most half of all candidates, chosen by the sampler and evaluated
        before the first model: all at the smallest size, and the better half of the candidates of
        each size at the next larger size.
    cost : {"seconds", "resource"}, default="seconds"
        Divisor of an improvement: measured seconds, predicted by a model, or the number of units
        of the resource, with exactly repeatable runs.
    select : {"auto", "best", "top"}, default="auto"
        Candidates that may win in `SearchCV`: all of them ("best"), or only those with the largest
        resource ("top"). "auto": "top" for rows and folds, otherwise "best".

    Notes
    -----
    Sizes are the full size, a half, a quarter, and so forth. The first candidates are evaluated at
    1/64, 1/32, 1/16 and 1/8 of the resource, as in [1]_. In [1]_ each is evaluated at all four
    sizes. Here their number is halved from size to size, which allows four times the number of
    candidates for the same cost. Because the search may end at any time, the candidate with the
    best predicted score at full size is evaluated at full size whenever smaller sizes have cost
    more than such an evaluation. At the end, such evaluations are repeated at most three times, as
    long as the model predicts that another candidate is the best. A process over all sizes cannot
    distinguish nearly equal candidates. After three consecutive results at full size without an
    improvement, every second result at full size is therefore for a new candidate, from a process
    of these results only.

    With seconds as the cost, four seconds are added to each step, about twenty times as long as a
    proposal takes. If fits are short, small sizes are therefore not cheaper, and are not chosen.

    If training continues, the cost of a larger size is only the difference to the smaller one.

    Differences from [1]_: the original maximises the information about the location of the maximum
    per cost (entropy search), by Monte Carlo over hyperparameters and functions. Here the
    criterion is the expected improvement of the predicted maximum. It is the knowledge gradient of
    a single candidate [2]_. This criterion has a closed form, and shares two properties with the
    original: there is no gain from a size uncorrelated with the full size, and no gain from known
    results. The most probable hyperparameters are used. Unlike in [1]_, earlier candidates can be
    evaluated at larger sizes, and sizes form a grid.

    References
    ----------
    .. [1] A. Klein, S. Falkner, S. Bartels, P. Hennig, F. Hutter, "Fast Bayesian optimization of
       machine learning hyperparameters on large datasets", AISTATS 2017.
       https://proceedings.mlr.press/v54/klein17a.html
    .. [2] P. Frazier, W. Powell, S. Dayanik, "The knowledge-gradient policy for correlated normal
       beliefs", INFORMS Journal on Computing 21, 2009. https://doi.org/10.1287/ijoc.1080.0314

    Examples
    --------
    >>> from sksearch.samplers import QuasiRandomSampler
    >>> from sksearch.schedulers import Fabolas
    >>> from sksearch.simulators import Branin, GammaCurves
    >>> from sksearch.simulators import play
    >>> problem = GammaCurves(Branin(), n_epochs=64)
    >>> scheduler = Fabolas(12, cost="resource")
    >>> history = play(QuasiRandomSampler(), scheduler, problem, random_state=0)
    >>> sum(trial.resource == 64 for trial in history.trials) < 12
    True
    """

    n_candidates: int | None = 30
    n_initial: int = N_INITIAL
    cost: str = "seconds"

    reads = Reads(results=True)

    def __post_init__(self) -> None:
        for name, value in (("n_candidates", self.n_candidates), ("n_initial", self.n_initial)):
            is_count = isinstance(value, Integral) and not isinstance(value, bool) and value >= 1
            if not is_count and (name, value) != ("n_candidates", None):
                raise ValueError(f"{name}={value!r} must be an integer of at least 1.")
        if self.cost not in COSTS:
            raise ValueError(f"cost={self.cost!r} must be one of {', '.join(COSTS)}.")

    def adapt(self, problem: Problem) -> tuple[Scheduler, int]:
        """Set the smallest size to a 64th of the resource, if its minimum allows."""
        return self, max(problem.min_resources, problem.max_resources // SMALLEST, 1)

    def plan(self, problem: Problem) -> Plan:
        """Compute an upper bound: each candidate at all sizes."""
        return one_bracket(self.n_candidates, problem, sizes_of(problem), is_most=True)

    def next(self, history: History, rng: np.random.Generator) -> Start | Resume | None:
        """Evaluate the first candidates, then maximise gain per cost, then evaluate the best."""
        sizes = sizes_of(history.problem)
        most = math.inf if self.n_candidates is None else self.n_candidates
        room = min(most, history.problem.size) > len(history.trials) and not history.exhausted
        half = math.floor(min(self.n_initial, most / 2))
        n_initial = max(half, len(history.problem.initial_params), 1)
        if len(history.trials) < n_initial and room:
            return Start(sizes[0])
        resume = promoted(history, n_initial, sizes[:-1][:N_SIZES])
        if resume is not None:
            return resume
        if not history.n_running and is_too_small(history) and len(history.trials) >= n_initial:
            trial = max(history.trials, key=lambda each: each.resource)
            if trial.resource < sizes[-1]:
                return Resume(trial.id, next(size for size in sizes if size > trial.resource))
        known = Known.of(history, self.cost)
        if len(known.y) < 2:
            return Start(sizes[0]) if room else self._last(history, None)
        with one_blas_thread():
            choice = Choice(history, known, sizes, self.cost)
            if not room:
                return self._last(history, choice)
            rng = np.random.default_rng((history.problem.seed, len(history.log), STREAM))
            return choice.overdue(rng) or choice.best_step(rng)

    def _last(self, history: History, choice: "Choice | None") -> Resume | None:
        """Return the full size for the candidate predicted to be best, unless evaluated."""
        top, last = history.problem.max_resources, len(history.trials) - 1
        began = next(k for k, (_, i, _) in enumerate(history.log) if i == last)
        n_done = sum((event, r) == ("ask", top) for event, _, r in history.log[began + 1 :])
        if choice is not None:
            trial = choice.incumbent
        else:
            trial = next((each for each in history.trials if may_go_on(each)), None)
        if history.n_running or n_done >= N_LAST or trial is None or trial.resource == top:
            return None
        return Resume(trial.id, top)

    def retired(self, history: History, job: Job) -> list[int]:
        """Return the trial of the job if it reached full size or failed."""
        result = history.trials[job.trial_id].results[job.resource]
        is_over = job.resource == history.problem.max_resources or math.isnan(result.score)
        return [job.trial_id] if is_over else []


def promoted(history: History, n_initial: int, sizes: list[int]) -> Resume | None:
    """Return the next of the first candidates to continue: the better half of each size."""
    first = history.trials[:n_initial]
    for k, (size, larger) in enumerate(pairwise(sizes), start=1):
        if any(trial.running == size for trial in first):
            return None
        n_on = sum(larger in trial.results or trial.running == larger for trial in first)
        waiting = [trial for trial in first if may_go_on(trial) and trial.resource == size]
        if waiting and n_on < n_initial >> k:
            best = best_first([trial.results[size] for trial in waiting])[0]
            return Resume(waiting[best].id, larger)
    return None
