"""The same searches on a plain function."""

import math
import numbers
import time
import warnings

import numpy as np
from scipy.optimize import OptimizeResult
from sklearn.base import clone

from sksearch._seeds import draw_seed
from sksearch.base import Sampler, Scheduler
from sksearch.history import Problem, Result
from sksearch.samplers import GPSampler
from sksearch.schedulers import FullFidelity
from sksearch.space import Space
from sksearch.study import Study


def minimize(
    func,
    space,
    *,
    n_iter=50,
    sampler=None,
    scheduler=None,
    min_resources=1,
    max_resources=None,
    initial_params=None,
    timeout=None,
    target=None,
    callback=None,
    random_state=None,
):
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
    """
    _check(func, n_iter, sampler, scheduler, max_resources, timeout, target, callback)
    space = space if isinstance(space, Space) else Space(space)
    seed = draw_seed(random_state)
    guesses = space.check_guesses(initial_params)
    n_candidates = None if scheduler else n_iter
    problem = Problem(
        space, min_resources, max_resources or 1, seed, guesses, n_candidates=n_candidates
    )
    study = Study(problem, sampler or GPSampler(), scheduler or FullFidelity(n_iter))
    deadline = math.inf if timeout is None else time.monotonic() + timeout
    evaluate = _Evaluation(func, with_resource=max_resources is not None)
    message = _run(study, evaluate, deadline, -math.inf if target is None else target, callback)
    return _result(study.history, evaluate, message)


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


class _Evaluation:
    """Calls the function; keeps the last error."""

    def __init__(self, func, with_resource):
        self.func, self.with_resource = func, with_resource
        self.error: Exception | None = None

    def __call__(self, job):
        """The result of one job."""
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


def _run(study, evaluate, deadline, target, callback):
    """Ask and tell to the end; why it ended."""
    history = study.history
    while (job := study.ask()) is not None:
        result = evaluate(job)
        study.tell(job, result)
        if job.resource == history.problem.max_resources and -result.score <= target:
            return "The target was reached."
        if callback is not None and _is_true(callback(history)):
            return "The callback stopped the search."
        if time.monotonic() >= deadline:
            return "Time is up."
    return "All candidates were evaluated."


def _is_true(answer):
    """Whether a callback said so: whatever else it returns does not stop a search."""
    return isinstance(answer, (bool, np.bool_)) and bool(answer)


def _result(history, evaluate, message):
    evaluations = [
        (resource, result.score, trial)
        for trial in history.trials
        for resource, result in trial.results.items()
    ]
    ok = [entry for entry in evaluations if not math.isnan(entry[1])]
    if not ok:
        raise RuntimeError(
            f"All {len(evaluations)} evaluations failed: look at the error above, or at "
            "what func returns."
        ) from evaluate.error
    if n_failed := len(evaluations) - len(ok):
        warnings.warn(
            f"{n_failed} of {len(evaluations)} evaluations failed; the last error: "
            f"{evaluate.error or 'not a finite number'}.",
            UserWarning,
            stacklevel=3,
        )
    top = max(resource for resource, _, _ in ok)
    _, score, trial = max((entry for entry in ok if entry[0] == top), key=lambda entry: entry[1])
    return OptimizeResult(
        x=dict(trial.params),
        fun=-float(score),
        nfev=len(evaluations),
        nit=len(history.trials),
        history=history,
        success=True,
        message=message,
    )
