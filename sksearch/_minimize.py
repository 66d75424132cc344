"""The same searches on a plain function."""

import math
import numbers
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult
from sklearn.base import clone

from sksearch._seeds import draw_seed
from sksearch.base import Job, Sampler, Scheduler
from sksearch.executors import Workload, drive
from sksearch.executors._in_process import SerialExecutor
from sksearch.history import History, Problem, Result
from sksearch.samplers import GPSampler, with_prior
from sksearch.schedulers import FullFidelity
from sksearch.space import Space
from sksearch.study import Study


def minimize(
    func: Callable[..., float],
    space: dict | list[dict] | Space,
    *,
    n_iter: int = 50,
    sampler: Sampler | None = None,
    scheduler: Scheduler | None = None,
    min_resources: int = 1,
    max_resources: int | None = None,
    initial_params: dict | list[dict] | None = None,
    prior: dict | None = None,
    timeout: float | None = None,
    target: float | None = None,
    callback: Callable[[History], Any] | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> OptimizeResult:
    """Minimise a function of a dict of parameters.

    Parameters
    ----------
    func : callable
        ``func(params) -> float``, or with `max_resources` ``func(params, n_resources) ->
        float``: the loss, smaller is better. What raises an exception or is not finite is a
        failed candidate, which costs only itself.
    space : dict, list of dict or Space
        As the ``param_distributions`` of the searches: lists of choices, or frozen SciPy
        distributions.
    n_iter : int, default=50
        Count of candidates; with a `scheduler` of no effect.
    sampler : Sampler or None, default=None
        What to try. None: `sksearch.samplers.GPSampler`.
    scheduler : Scheduler or None, default=None
        How to spend. None: each candidate at `max_resources`.
    min_resources : int, default=1
        Smallest count of units.
    max_resources : int or None, default=None
        Largest count of units; None: `func` has no second argument.
    initial_params : dict, list of dict or None, default=None
        First guesses, evaluated before anything else.
    prior : dict or None, default=None
        Where good values are expected, by name of the parameter: a distribution of a number's
        values, or a dict of weights of a list's choices. Proposals follow it at first, and less
        with each result, see `sksearch.space.Beliefs`.
    timeout : float or None, default=None
        Seconds after which no further candidate begins.
    target : float or None, default=None
        Stop when a loss at full resource is at most this.
    callback : callable or None, default=None
        ``callback(history)`` after each evaluation; the search stops if it returns True.
    random_state : int, RandomState instance or None, default=None
        Seed of the candidates.

    Returns
    -------
    result : scipy.optimize.OptimizeResult
        ``x``, the best params among those at the largest resource that any reached; ``fun``,
        their loss; ``nfev``, count of evaluations; ``nit``, of candidates; ``history``, the
        `History`; ``success`` and ``message``.

    Raises
    ------
    ValueError, TypeError
        If an argument is not usable, before anything is evaluated.
    RuntimeError
        If all evaluations failed, with the last error as its cause.

    Examples
    --------
    >>> from scipy.stats import uniform
    >>> from sksearch import minimize
    >>> def branin(params):
    ...     x, y = params["x"], params["y"]
    ...     a = y - 5.1 / (4 * 3.141593**2) * x**2 + 5 / 3.141593 * x - 6
    ...     from math import cos
    ...     return a**2 + 10 * (1 - 1 / (8 * 3.141593)) * cos(x) + 10
    >>> space = {"x": uniform(-5, 15), "y": uniform(0, 15)}
    >>> result = minimize(branin, space, n_iter=40, random_state=0)
    >>> bool(result.fun < 0.41)  # the minimum is 0.3979
    True

    With few evaluations it helps to say where the minimum is expected:

    >>> from scipy.stats import norm
    >>> believed = {"x": norm(3, 0.5), "y": norm(2, 0.5)}
    >>> losses = [
    ...     minimize(branin, space, n_iter=10, prior=prior, random_state=0).fun
    ...     for prior in (None, believed)
    ... ]
    >>> losses[1] < losses[0]
    True
    """
    _check(func, n_iter, sampler, scheduler, max_resources, timeout, target, callback)
    space = space if isinstance(space, Space) else Space(space)
    seed = draw_seed(random_state)
    guesses = space.check_guesses(initial_params)
    problem = Problem(
        space,
        min_resources,
        max_resources or 1,
        seed,
        guesses,
        n_candidates=None if scheduler else n_iter,
    )
    problem, sampler = with_prior(problem, sampler or GPSampler(), prior)
    study = Study(problem, sampler, scheduler or FullFidelity(n_iter))
    deadline = math.inf if timeout is None else time.monotonic() + timeout
    evaluations = _Evaluations(
        func,
        with_resource=max_resources is not None,
        history=study.history,
        deadline=deadline,
        target=-math.inf if target is None else target,
        callback=callback,
    )
    # Not entered as a context, which would take the function's BLAS threads away.
    drive(study, SerialExecutor(_evaluate, evaluations), evaluations)
    return _result(study.history, evaluations)


def _check(func, n_iter, sampler, scheduler, max_resources, timeout, target, callback):
    """Refuse arguments before anything is evaluated."""
    integers = (
        ("n_iter", n_iter),
        ("max_resources", 1 if max_resources is None else max_resources),
    )
    for name, value in integers:
        if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
            raise ValueError(f"{name}={value!r} must be an integer of at least 1.")
    for name, value in (("timeout", timeout), ("target", target)):
        if value is not None and not isinstance(value, numbers.Real):
            raise TypeError(f"{name}={value!r} must be a number, or None.")
    if timeout is not None and timeout < 0:
        raise ValueError(f"timeout={timeout} must be a count of seconds, or None.")
    if not callable(func):
        raise TypeError(f"func={func!r} must be callable: func(params) -> float.")
    if callback is not None and not callable(callback):
        raise TypeError(f"callback={callback!r} must be callable: callback(history), or None.")
    for name, value, kind in (("sampler", sampler, Sampler), ("scheduler", scheduler, Scheduler)):
        if value is not None and not isinstance(value, kind):
            raise TypeError(f"{name}={value!r} must be a {kind.__name__}, or None.")
    if scheduler is not None and max_resources is None:
        raise ValueError(
            f"scheduler={scheduler} needs max_resources=, the largest second argument of func."
        )


class _Evaluations(Workload):
    """Each job is one call of the function; keeps the last error, and why the search ended."""

    def __init__(self, func, with_resource, history, deadline, target, callback):
        self.func, self.with_resource = func, with_resource
        self.history, self.deadline = history, deadline
        self.target, self.callback = target, callback
        self.error: Exception | None = None
        self.message: str | None = None

    def evaluate(self, job: Job) -> Result:
        """Call the function."""
        start = time.perf_counter()
        try:
            params = clone(job.params, safe=False)  # a function may change what it gets
            args = (params, job.resource)[: 1 + self.with_resource]
            loss = float(self.func(*args))
        except Exception as error:  # whatever a user's function raises costs one candidate
            self.error = error
            status = "memory" if isinstance(error, MemoryError) else "error"
            text = f"{type(error).__name__}: {error}"
            return Result(math.nan, time.perf_counter() - start, status, text)
        cost = time.perf_counter() - start
        if not math.isfinite(loss):
            return Result(math.nan, cost, "nan", f"the function returned {loss}")
        return Result(-loss, cost)

    def tasks(self, job: Job) -> list:
        """The job itself."""
        return [job]

    def collect(self, job: Job, outputs: list) -> Result:
        """The only output."""
        return outputs[0]

    def on_result(self, job: Job) -> None:
        """Note whether the search ends here, and why."""
        history = self.history
        score = history.trials[job.trial_id].results[job.resource].score
        if job.resource == history.problem.max_resources and -score <= self.target:
            self.message = "The target was reached."
        elif self.callback is not None and _is_true(self.callback(history)):
            self.message = "The callback stopped the search."
        elif time.monotonic() >= self.deadline:
            self.message = "Time is up."

    def seconds_left(self) -> float | None:
        """0 when the search ends; the time is only looked at after an evaluation."""
        return None if self.message is None else 0.0


def _evaluate(evaluations, job, environment):
    return evaluations.evaluate(job)


def _is_true(answer):
    """Whether a callback said so: whatever else it returns does not stop a search."""
    return isinstance(answer, (bool, np.bool_)) and bool(answer)


def _result(history, evaluations):
    """The best of all results, or the last error if there is none."""
    results = [
        (resource, result.score, trial)
        for trial in history.trials
        for resource, result in trial.results.items()
    ]
    ok = [entry for entry in results if not math.isnan(entry[1])]
    if not ok:
        raise RuntimeError(
            f"All {len(results)} evaluations failed: look at the error above, or at "
            "what func returns."
        ) from evaluations.error
    if n_failed := len(results) - len(ok):
        warnings.warn(
            f"{n_failed} of {len(results)} evaluations failed; the last error: "
            f"{evaluations.error or 'not a finite number'}.",
            UserWarning,
            stacklevel=3,
        )
    top = max(resource for resource, _, _ in ok)
    _, score, trial = max((entry for entry in ok if entry[0] == top), key=lambda entry: entry[1])
    return OptimizeResult(
        x=dict(trial.params),
        fun=-float(score),
        nfev=len(results),
        nit=len(history.trials),
        history=history,
        success=True,
        message=evaluations.message or "All candidates were evaluated.",
    )
