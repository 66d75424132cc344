"""Minimisation of a plain function: a search without an estimator."""

import inspect
import math
import os
import warnings
from collections.abc import Callable
from numbers import Integral
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
from scipy.optimize import OptimizeResult

from sksearch._utils._compat import Interval, validate_parameter_constraints
from sksearch._utils._seeds import draw_seed
from sksearch._utils._terminal import plain_errors, warn
from sksearch._utils._time_limit import TimeLimit
from sksearch._utils._typing import CallsDict, KnownDict
from sksearch.base import Sampler, Scheduler
from sksearch.checkpoint._recorder_of import recorder_of
from sksearch.executors._limits import Limits, Workers
from sksearch.fitting.finish._front import ParetoFront
from sksearch.fitting.prepare._aiming import aimed
from sksearch.fitting.prepare._checks import check_ranks, planned
from sksearch.fitting.prepare._input import check_folder, check_n_jobs
from sksearch.fitting.prepare._prior_results import (
    check_same_task,
    given_guesses,
    read_earlier,
    with_knowledge,
)
from sksearch.fitting.run._callbacks import NO_CALLBACKS
from sksearch.fitting.run._folds import Folds
from sksearch.fitting.run._function import FunctionContext, Units, call
from sksearch.fitting.run._keywords import known_names
from sksearch.fitting.run._objectives import MEASURES, Aims, bounds_of, make_allows
from sksearch.fitting.run._plan import SearchPlan
from sksearch.fitting.run._results import ResultRow, warn_if_none_keeps_bounds
from sksearch.fitting.run._run import Run
from sksearch.fitting.run._setup import Setup, Stops
from sksearch.history import History, Problem, Result
from sksearch.progress._progress import Watch
from sksearch.resources._data import WholeResource
from sksearch.samplers import GPSampler, HypervolumeSampler
from sksearch.schedulers import FullFidelity
from sksearch.search._full import SearchCV
from sksearch.search._groups import BATCHES, COUNT, KNOWN, STOP, WORKERS, flat
from sksearch.space import Space

NO_RESULT = Result(math.nan)  # of a candidate without a result at the largest resource
#: Parameters shared with the searches.
SHARED = ("n_iter", "sampler", "scheduler", "timeout", "checkpoint_dir", "random_state")
GROUPS = {
    "workers": BATCHES.only("timeout", "batch_size"),
    "known": KNOWN | {"params": (None, "no_validation")},  # checked with the space
}
CONSTRAINTS = {name: SearchCV._parameter_constraints[name] for name in SHARED} | {
    **{name: [group, None] for name, group in GROUPS.items()},
    "n_jobs": [Interval(Integral, None, None, closed="neither"), None],
    "min_resources": [COUNT],
    "max_resources": [COUNT, None],
    "target": STOP.keys["score"][1],
    "callback": [callable, None],
}


@known_names
@plain_errors
def minimize(
    func: Callable[..., Any],
    space: dict | list[dict] | Space,
    *,
    n_iter: int | None = 50,
    sampler: Sampler | None = None,
    scheduler: Scheduler | None = None,
    min_resources: int = 1,
    max_resources: int | None = None,
    objectives: list[str] | tuple[str, ...] | None = None,
    known: KnownDict | None = None,
    n_jobs: int | None = None,
    timeout: float | None = None,
    target: float | None = None,
    callback: Callable[[History], Any] | None = None,
    workers: CallsDict | None = None,
    checkpoint_dir: str | os.PathLike | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> OptimizeResult:
    """Minimise a function of a dict of parameters.

    Parameters
    ----------
    func : callable
        ``func(params)``, or ``func(params, n_resources)`` with `max_resources`. It returns the
        loss (smaller is better), or a dict of numbers with the loss under the name "loss"; the
        other numbers may have a `Bound`. If `func` raises an exception or returns anything but
        finite numbers, only this candidate fails.
    space : dict, list of dict or Space
        Lists of choices or frozen SciPy distributions by parameter name, as `param_distributions`
        of the searches.
    n_iter : int or None, default=50
        Number of candidates; ignored with a `scheduler`. None: no limit except `timeout`, `target`
        and `callback`.
    sampler : Sampler or None, default=None
        Sampler to use. None: `sksearch.samplers.GPSampler`, or
        `sksearch.samplers.HypervolumeSampler` with `objectives`.
    scheduler : Scheduler or None, default=None
        Scheduler to use. None: every candidate gets `max_resources`.
    min_resources : int, default=1
        Smallest amount of the resource.
    max_resources : int or None, default=None
        Largest amount of the resource. None: `func` has no second argument.
    objectives : list of str or None, default=None
        Two or more names to minimise, or to maximise with a leading minus: `func` returns a dict
        with these names, or a tuple of numbers in this order. The result then contains the Pareto
        front, `pareto`, and `target` refers to the first objective.
    known : dict or None, default=None
        Knowledge about the candidates:

        - ``"params"``: dict or list of dicts, evaluated first.
        - ``"results"``: one or more results of earlier searches, by this function or others. See
          `sksearch.search.earlier_results`, which also marks them as results of the same function.
          In tables, the score is the negative loss, so greater is better.
        - ``"prior"``: your belief about good values, as a dict with parameter names as keys. Each
          value is a distribution (for a number), or a dict of weights (for the choices of a list).
          Proposals follow the belief at first, and less with each result, see
          `sksearch.space.Beliefs`.
        - ``"constraints"``: a function ``f(params) -> bool``, called before any evaluation; a
          `sksearch.Bound` on a number that `func` returns by name, such as ``Bound("memory", "<=",
          8)``; or a list of functions and bounds. `func` is never called for a candidate that a
          function refuses; candidates that violate a bound rank below all others.
    n_jobs : int or None, default=None
        Number of parallel calls on the active joblib backend: by default in worker processes,
        which also accept functions defined in notebooks and scripts. Workers use one BLAS thread
        each.
    timeout : float or None, default=None
        Seconds after which no further candidate starts, including the time of earlier runs with
        the same `checkpoint_dir`.
    target : float or None, default=None
        Stop when a loss at full resource is at most this value.
    callback : callable or None, default=None
        ``callback(history)`` is called after each evaluation; the search stops if it returns True.
        If the callback has stopped the search, a repeated `minimize` with the same
        `checkpoint_dir` calls the callback first.
    workers : dict or None, default=None
        Limits of the calls:

        - ``"timeout"``: time limit of a call in seconds. A longer call is stopped and fails with
          the status "timeout". Calls then run in worker processes, even with ``n_jobs=1``.
        - ``"batch_size"``: number of candidates evaluated at the same time. Larger values keep
          more workers busy, but each proposal learns from fewer results. "auto", the default: one
          call for a single worker, otherwise enough calls to keep all workers busy. Each result is
          then used as it arrives, so the search depends on the number and speed of the workers.
    checkpoint_dir : str, path-like or None, default=None
        Directory in which the search stores its progress. If the search is interrupted, the same
        call resumes it and repeats no finished evaluation. A call with a larger `n_iter` reuses
        the results. A different function, or changed code of the function, raises an error.
        `sksearch.load_history` reads the directory, with minus the loss as the score.
    random_state : int, RandomState instance or None, default=None
        Seed of the candidates. The seed does not affect random numbers drawn by `func`.

    Returns
    -------
    result : scipy.optimize.OptimizeResult
        ``x``, the best parameters at the largest resource reached, among candidates that satisfy
        all bounds; ``fun``, their loss; ``nfev``, the number of evaluations; ``nit``, the number
        of candidates; ``history``, the `History`; ``success``, False if no candidate satisfies all
        bounds; ``message``. With `objectives`, ``x`` is the knee of the front, ``fun`` is a dict
        of its values by name, and ``pareto`` is the `sksearch.search.ParetoFront`, with an
        ``index`` into ``history.trials``.

    Raises
    ------
    ValueError, TypeError
        If an argument is invalid, before any evaluation.
    RuntimeError
        If all evaluations failed, with the last error as its cause.
    SearchMismatchError
        If `checkpoint_dir` belongs to another search.

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

    With few evaluations, a prior on the location of the minimum helps:

    >>> from scipy.stats import norm
    >>> believed = {"x": norm(3, 0.5), "y": norm(2, 0.5)}
    >>> losses = [
    ...     minimize(branin, space, n_iter=10, known={"prior": prior}, random_state=0).fun
    ...     for prior in (None, believed)
    ... ]
    >>> losses[1] < losses[0]
    True

    A bound on a measured value, and a constraint on the parameters:

    >>> from sksearch import Bound
    >>> def measured(params):
    ...     return {"loss": branin(params), "memory": params["x"] ** 2}
    >>> result = minimize(
    ...     measured, space, n_iter=20, random_state=0,
    ...     known={"constraints": [Bound("memory", "<=", 1), lambda params: params["y"] > 1]},
    ... )
    >>> -1 <= result.x["x"] <= 1 < result.x["y"]
    True

    Several objectives:

    >>> result = minimize(
    ...     lambda params: (branin(params), params["x"] + params["y"]), space, n_iter=20,
    ...     objectives=["loss", "price"], random_state=0,
    ... )
    >>> result.pareto.names, len(result.pareto) > 1
    (('loss', 'price'), True)
    >>> cheapest = result.history.trials[result.pareto.best("price")].params
    """
    search = Minimize(**locals())
    _check(search)
    with recorder_of(checkpoint_dir, None, None) as recorder:
        setup = _prepare(search, recorder.rng(random_state))
        recorder.open(Minimize, search.flat(), setup)
        setup.context.spool = recorder.spool
        study = setup.study()
        watch = Watch(setup.plan, study.history, "minimize", time=setup.time)
        run = Run(study, setup, NO_CALLBACKS, recorder, watch)
        run.go_on()
        run.drive()
    return _result(run)


class Minimize(SimpleNamespace):
    """Arguments of `minimize`, by which a journal identifies the search."""

    def group(self, name: str) -> dict[str, Any]:
        """Return the values of a group, defaults included."""
        return GROUPS[name].filled(getattr(self, name))

    def flat(self) -> dict[str, Any]:
        """Return the arguments with each key of a group on its own, as in the searches."""
        return flat(vars(self), {name: self.group(name) for name in GROUPS})


# ---- before


def _check(search: Minimize) -> None:
    """Reject invalid arguments before any evaluation."""
    if not callable(search.func):
        raise TypeError(f"func={search.func!r} must be callable: func(params) -> float.")
    _check_call(search.func, ("params", "n_resources")[: 2 - (search.max_resources is None)])
    validate_parameter_constraints(CONSTRAINTS, vars(search), caller_name="minimize")
    for name, group in GROUPS.items():
        group.check("minimize", name, getattr(search, name))
    check_n_jobs(search.n_jobs)
    spends = search.scheduler is not None or search.min_resources > 1
    if spends and search.max_resources is None:
        name = "min_resources" if search.scheduler is None else "scheduler"
        raise ValueError(
            f"{name}={getattr(search, name)} needs max_resources=, the largest second argument "
            "of func."
        )
    check_folder(search.checkpoint_dir)


def _check_call(func: Callable, arguments: tuple[Any, ...]) -> None:
    """Raise TypeError for a function that cannot be called with these arguments."""
    try:
        inspect.signature(func).bind(*arguments)
    except ValueError:  # builtins may have no signature
        return
    except TypeError as error:
        cure = (
            "its argument is a dict, so pass lambda params: func(**params) for a function of its "
            "entries"
        )
        if len(arguments) == 2:
            cure = "give it a second argument, or leave max_resources out"
        raise TypeError(
            f"func is called as func({', '.join(arguments)}), but cannot be ({error}): {cure}."
        ) from None


def _aims(objectives: Any, constraints: Any) -> Aims:
    """Return objectives and bounds, with signs flipped: minimised here, maximised there."""
    bounds = bounds_of(constraints)
    if objectives is None:
        return Aims((), bounds)
    is_list = isinstance(objectives, list | tuple)
    if not is_list or not all(isinstance(each, str) and each.strip("-") for each in objectives):
        raise TypeError(
            f"objectives={objectives!r} must be a list of names of values returned by func, such "
            "as ['loss', 'seconds']."
        )
    aims = Aims(tuple(f"-{n}" if n[0] != "-" else n[1:] for n in objectives), bounds)
    if len(set(aims.names)) < max(2, len(objectives)):
        raise ValueError(
            f"objectives={objectives!r} must contain at least two distinct names: for a single "
            "objective, return a number, or a dict with the entry 'loss'."
        )
    if small := set(MEASURES).intersection(aims.objectives):
        raise ValueError(
            f"objectives={objectives!r}: {', '.join(small)} is a name of measurements that other "
            "searches minimize: use another name for a value to maximize."
        )
    return aims


def _space_of(given: Any) -> Space:
    """Make a space; texts use the name of this parameter, not the searches' name."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            space = Space(given)
        except (TypeError, ValueError) as error:
            error.args = tuple(map(_renamed, error.args))
            raise
    for each in heard:
        warn(_renamed(each.message))
    return space


def _renamed(text: object) -> str:
    return str(text).replace("param_distributions", "space")


def _prepare(search: Minimize, rng: np.random.RandomState) -> Setup:
    """Prepare everything before the first evaluation."""
    space = search.space if isinstance(search.space, Space) else _space_of(search.space)
    given, at_work = search.group("known"), search.group("workers")
    aims = _aims(search.objectives, given["constraints"])
    allows = make_allows(given["constraints"], space)
    earlier = read_earlier(given["results"], space)
    check_same_task(aims, earlier)
    n_candidates = search.n_iter if search.scheduler is None else None
    problem = Problem(
        space,
        search.min_resources,
        search.max_resources or 1,
        draw_seed(rng),
        given_guesses(given["params"], space, earlier, allows),
        n_candidates=n_candidates,
    )
    sampler, scheduler = search.sampler, search.scheduler
    if sampler is None:
        sampler = HypervolumeSampler() if aims.objectives else GPSampler()
    if scheduler is None:
        scheduler = FullFidelity(search.n_iter)
    known = with_knowledge(problem, sampler, earlier, given["prior"])
    problem, sampler = aimed(*known, aims, allows)
    check_ranks(scheduler, aims)
    units = WholeResource() if search.max_resources is None else Units()
    plan = SearchPlan.of(planned(scheduler, problem), units, 1, refit=False, select="top")
    target = None if search.target is None else -search.target  # scores are minus the loss
    stops, time = Stops(target, callback=search.callback), TimeLimit(search.timeout)
    if plan.is_endless and search.timeout is None and not stops.are_any:
        raise ValueError(
            f"n_iter={search.n_iter} and scheduler={search.scheduler} would never end: pass a "
            "number of candidates, timeout=, target= or callback=."
        )
    context = FunctionContext.of(search.func, units, aims, problem.seed, plan.n_candidates)
    limits = Limits(at_work["timeout"], retries=WORKERS.filled(None)["retries"])
    workers = Workers(search.n_jobs, limits=limits, batch_size=at_work["batch_size"])
    folds = Folds(context.splits)
    return Setup(
        context, problem, sampler, scheduler, plan, folds, call, earlier, time, stops, workers
    )


# ---- after


def _result(run: Run) -> OptimizeResult:
    """Return the best of all results; raise the last error if all failed."""
    trials, aims = run.study.history.trials, run.context.aims
    results = [(r, result, trial) for trial in trials for r, result in trial.results.items()]
    ok = [each for each in results if not math.isnan(each[1].score)]
    failed = [result for _, result, _ in results if math.isnan(result.score)]
    if not ok:
        _raise_that_all_failed(run, failed)
    if failed:
        warn(
            f"{len(failed)} of {len(results)} evaluations failed; the last error: "
            f"{failed[-1].error.rstrip('.')}.",
            stacklevel=5,  # points outside the wrappers of `minimize`
        )
    top = max(r for r, _, _ in ok)
    at_top = [(result, trial) for r, result, trial in ok if r == top]
    warn_if_none_keeps_bounds([result for result, _ in at_top])
    best, trial = max(at_top, key=lambda each: (-each[0].violation, each[0].score))
    found = OptimizeResult(nfev=len(results), nit=len(trials), history=run.study.history)
    found.fun = -best.score
    if aims.objectives:
        rows = [ResultRow(each.params, [], [], each.id, each.bracket, 0, top) for each in trials]
        reached = [each.results.get(top, NO_RESULT) for each in trials]
        found.pareto = front = ParetoFront.of(aims, rows, reached, any_rung_wins=False)
        trial = trials[front.knee()] if len(front) else trial
        best = trial.results[top]
        found.fun = dict(zip(aims.names, (aims.signs * best.objectives).tolist(), strict=True))
    found.x, found.success = dict(trial.params), best.violation == 0
    found.message = _why_it_ended(run) + " No candidate satisfies all bounds." * (
        not found.success
    )
    return found


def _why_it_ended(run: Run) -> str:
    """Describe the reason for the end of a search."""
    if run.heard_stop:
        return "The callback stopped the search."
    if run.done:
        return "The target was reached."
    return "Time is up." if run.is_up else "All candidates were evaluated."


def _raise_that_all_failed(run: Run, failed: list[Result]) -> None:
    """Raise RuntimeError from the last error, or with its text if it is a worker's."""
    text = (
        f"All {len(failed)} evaluations failed, the last with {failed[-1].error.rstrip('.')}. "
        "func must accept a dict of parameters, such as params['x'], and return a number."
    )
    error, context = RuntimeError(text), cast(FunctionContext, run.context)
    texts = [out.fit_error for out in run.findings.outputs.all_new() if out.fit_error]
    if context.error is None and texts:
        error.add_note(texts[-1])
    raise error from context.error
