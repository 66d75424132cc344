"""Run an experiment: check it, do the runs missing in its file, and create the table."""

import math
import time
from collections.abc import Mapping
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from sksearch._utils._on_demand import missing
from sksearch._utils._terminal import warn
from sksearch.base import Sampler, Scheduler
from sksearch.checkpoint.identity._reached import fingerprint
from sksearch.experiment._journal import Journal, Key
from sksearch.experiment._run_once import (
    CURVES,
    SPACES,
    Contender,
    attempt,
    has_only_data,
    is_search,
    space_name,
)
from sksearch.progress._status_line import StatusLine, duration
from sksearch.simulators._problem import CurveProblem

if TYPE_CHECKING:
    import pandas


def run_experiment(
    searches: Mapping[str, Contender],
    problems: dict[str, Any],
    n_seeds: int,
    *,
    path: str | Path | None = None,
    n_jobs: int | None = 1,
    verbose: int = 1,
) -> "pandas.DataFrame":
    """Run every search on every problem with every seed.

    Parameters
    ----------
    searches : dict
        Searches by name. Each is one of

        - a pair (`Sampler`, `Scheduler`), which runs on simulated curves without an estimator;
        - a search estimator with ``cv_results_``, from this or another package. It is cloned, with
          the seed as ``random_state`` and, if the problem has them, the estimator and space of the
          problem;
        - a function ``search(estimator, space, random_state=seed)`` that returns a search
          estimator: a class, a ``functools.partial`` of a class, or a custom function for searches
          that need the space in a different form.
    problems : dict
        Problems by name. Each is one of

        - a `CurveProblem`, whose estimator is `SimulatedEstimator`;
        - a tuple ``(estimator, space, X, y)``;
        - a tuple ``(X, y)``, for search estimators that keep their own estimator and space.
    n_seeds : int
        Number of runs of each search on each problem, with the seeds 0, 1, ...
    path : path-like or None, default=None
        A file to which each run is written when it ends, as a line of JSON. Runs already in the
        file are not repeated, unless their search or problem has changed; an incomplete last line
        is ignored. None: runs are kept in memory only.
    n_jobs : int or None, default=1
        Number of concurrent runs, as in joblib. It does not affect the results.
    verbose : int, default=1
        0 prints nothing, 1 a line of progress on standard error.

    Returns
    -------
    table : pandas.DataFrame
        One row for each evaluation of a candidate at a resource, in the order of `searches`,
        `problems`, seeds and evaluations, with the columns

        - ``search``, ``problem``, ``seed``;
        - ``step``, number of evaluations so far, from 1;
        - ``resource``, units of the resource that the run has spent so far. A complete fit counts
          as ``max_resources`` units on simulated curves, otherwise as 1;
        - ``seconds``, duration of all fits so far, summed over folds; simulated seconds on
          simulated curves;
        - ``loss`` of this evaluation, the negative score; NaN if it failed;
        - ``incumbent``, loss of the best candidate so far, among the candidates at the largest
          resource reached so far; NaN if no candidate has succeeded.

    Raises
    ------
    TypeError, ValueError
        If an argument is invalid (before any run), or `path` is not the file of an experiment.
    ImportError
        If pandas is not installed.

    Warns
    -----
    UserWarning
        If runs failed. Failed runs have no rows in the table, and are repeated in the next call
        with the same `path`.

    Notes
    -----
    On simulated curves, and with deterministic estimators, everything except the ``seconds`` of
    real fits is bit-identical for any `n_jobs` and after a resume. For a search from another
    package, the table has one row for each row of ``cv_results_``. Each row counts as a complete
    fit. A search or problem is recognised by its class and parameters, not by the code of its
    methods: delete the file at `path` if that code has changed.

    Examples
    --------
    >>> from sksearch.experiment import run_experiment
    >>> from sksearch.samplers import RandomSampler
    >>> from sksearch.schedulers import FullFidelity, Hyperband
    >>> from sksearch.simulators import FAMILIES, GammaCurves
    >>> from sksearch.simulators._functions import Rastrigin
    >>> table = run_experiment(
    ...     {
    ...         "random": (RandomSampler(), FullFidelity(17)),
    ...         "Hyperband": (RandomSampler(), Hyperband()),
    ...     },
    ...     {"Rastrigin": GammaCurves(Rastrigin(2), FAMILIES["rastrigin-1"])},
    ...     n_seeds=3,
    ...     verbose=0,
    ... )
    >>> table.groupby("search")["step"].max().to_dict()
    {'Hyperband': 187, 'random': 17}
    """
    pd = _pandas()
    _check(searches, problems, n_seeds)
    journal = Journal(path)
    of_search = {name: fingerprint(search) for name, search in searches.items()}
    of_problem = {name: fingerprint(problem) for name, problem in problems.items()}
    runs = {
        Key(s, p, seed, f"{of_search[s]}-{of_problem[p]}"): (searches[s], problems[p], seed)
        for s in searches
        for p in problems
        for seed in range(n_seeds)
    }
    _run_missing(runs, journal, n_jobs, verbose)
    return _table(pd, {key: journal.curves[key] for key in runs if key in journal.curves})


def _pandas() -> Any:
    try:
        import pandas as pd
    except ImportError as error:
        raise missing("The table needs pandas", "experiment") from error
    return pd


# ---- arguments


def _check(searches: Any, problems: Any, n_seeds: Any) -> None:
    """Reject invalid arguments before any run."""
    for argument, named in (("searches", searches), ("problems", problems)):
        if not isinstance(named, Mapping) or not all(isinstance(name, str) for name in named):
            raise TypeError(f"{argument}={named!r} must be a dict by name.")
        if not named:
            raise ValueError(f"{argument} is empty: pass at least one entry.")
    if isinstance(n_seeds, bool) or not isinstance(n_seeds, Integral) or n_seeds < 1:
        raise ValueError(f"n_seeds={n_seeds!r} must be an integer of at least 1.")
    for name, problem in problems.items():
        if not isinstance(problem, CurveProblem) and not (
            isinstance(problem, tuple) and len(problem) in (2, 4)
        ):
            raise TypeError(
                f"problem {name!r} is {problem!r}, but must be a CurveProblem, a tuple "
                "(estimator, space, X, y), or (X, y) for searches with their own estimator."
            )
    for name, search in searches.items():
        for problem_name, problem in problems.items():
            _check_pair(name, search, problem_name, problem)


def _check_pair(name: str, search: object, problem_name: str, problem: Any) -> None:
    """Reject a search that cannot be run on a problem."""
    if isinstance(search, tuple):
        if len(search) != 2 or not (
            isinstance(search[0], Sampler) and isinstance(search[1], Scheduler)
        ):
            raise TypeError(f"search {name!r} is {search!r}, but must be (Sampler, Scheduler).")
        if not isinstance(problem, CurveProblem):
            raise TypeError(
                f"search {name!r} is a pair, which can only be played on curves, but problem "
                f"{problem_name!r} has real data: pass SearchCV(..., sampler=, scheduler=)."
            )
    elif isinstance(problem, CurveProblem) and problem.needs_trials:
        raise TypeError(
            f"problem {problem_name!r} has schedule='round_robin', which needs the number of each "
            f"candidate, but search {name!r} does not pass it to estimators: pass a pair "
            "(Sampler, Scheduler), or use schedule='random'."
        )
    elif is_search(search):
        if not has_only_data(problem) and space_name(search) is None:
            raise TypeError(
                f"search {name!r} has none of the parameters {', '.join(SPACES)}: pass a "
                "function search(estimator, space, random_state=seed)."
            )
    elif not callable(search):
        raise TypeError(
            f"search {name!r} is {search!r}, but must be a search estimator, a pair (Sampler, "
            "Scheduler), or a function search(estimator, space, random_state=seed)."
        )
    elif has_only_data(problem):
        raise TypeError(
            f"search {name!r} is a function of estimator and space, but problem {problem_name!r} "
            "has only data: pass it as (estimator, space, X, y)."
        )


# ---- all runs


def _run_missing(
    runs: dict[Key, tuple], journal: Journal, n_jobs: int | None, verbose: int
) -> None:
    """Do the runs missing in the journal; warn of all failures at the end."""
    missing = [key for key in runs if key not in journal.curves]
    reporter = _Reporter(len(runs), len(missing))
    failures = []
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    with StatusLine(reporter, verbose if missing else 0) as line:
        for key, curves, error in parallel(delayed(attempt)(key, *runs[key]) for key in missing):
            if curves is None:
                failures.append((key, error))
            else:
                journal.add(key, curves)
            reporter.n_done += 1
            line.update()
    if failures:
        order = {key: i for i, key in enumerate(runs)}
        (search, problem, seed, _), error = min(failures, key=lambda f: order[f[0]])
        warn(
            f"{len(failures)} of {len(runs)} runs failed and have no rows. The first: search "
            f"{search!r} on problem {problem!r} with seed {seed}: {error}",
            stacklevel=3,
        )


class _Reporter:
    """Reports the number of finished runs, and the remaining time."""

    def __init__(self, n_runs: int, n_missing: int):
        self._n_runs, self._n_missing = n_runs, n_missing
        self.n_done = 0  # since the beginning
        self._start = time.perf_counter()

    def line(self, width: int) -> str:
        """Return the number of finished runs and the time left as a line."""
        n_left, text = self._n_missing - self.n_done, self._runs()
        if self.n_done and n_left:
            seconds = (time.perf_counter() - self._start) / self.n_done * n_left
            text += f", {duration(math.ceil(seconds))} left"
        return text[:width]

    def last_line(self, error: type[BaseException] | None) -> str:
        """Return the number of finished runs and the time taken as a line."""
        how = "in" if error is None else "when it ended after"
        return f"{self._runs()} {how} {duration(time.perf_counter() - self._start)}"

    def n_rungs_done(self) -> int:
        """Return 0: an experiment has no rungs."""
        return 0

    def _runs(self) -> str:
        return f"{self._n_runs - self._n_missing + self.n_done}/{self._n_runs} runs"


def _table(pd: Any, curves: dict[Key, dict]) -> "pandas.DataFrame":
    """Create the table with one row for each evaluation."""
    counts = [len(run["loss"]) for run in curves.values()]
    columns = {
        name: np.repeat(np.array([getattr(key, name) for key in curves], dtype=kind), counts)
        for name, kind in (("search", object), ("problem", object), ("seed", np.int64))
    }
    steps = [np.arange(1, count + 1) for count in counts]
    columns["step"] = np.concatenate([np.empty(0, np.int64), *steps])
    for name in CURVES:
        kind = np.int64 if name == "resource" else float
        columns[name] = np.array([x for run in curves.values() for x in run[name]], dtype=kind)
    return pd.DataFrame(columns)
