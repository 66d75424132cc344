"""Progress of a search, and its estimated remaining time.

==================  ==================================================================
paid                units of the resource that a job costs
work of a job       ``a + b * paid``, seconds summed over folds; a and b are fitted to the
                    jobs whose results are known
speed               work that was done in each second since the beginning
==================  ==================================================================
"""

import math
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, Self

from sksearch._utils._clock import now, open_clock
from sksearch._utils._terminal import counted, printable, unit_of
from sksearch._utils._time_limit import TimeLimit
from sksearch.base._decisions import ENDLESS
from sksearch.history import History, Result
from sksearch.progress._search_log import SearchLog
from sksearch.progress._status_line import WIDTH, StatusLine, duration
from sksearch.reader._values import model_of

ROOM_FOR_NAME = 90  # characters of a line from which on it begins with the search's name
WARM_UP = 5  # seconds in which workers start, so that the speed is still unknown


@dataclass(frozen=True)
class Progress:
    """Progress of a search at one moment; printed as a line of less than 100 characters.

    Parameters
    ----------
    name : str
        Name of the search.
    n_candidates, n_planned : int
        Numbers of candidates started and planned.
    n_jobs, n_jobs_planned : int
        Numbers of jobs finished and planned; a job is a pair (candidate, rung).
    bracket, iter, n_resources : int or None
        Rung of the latest result, as in ``cv_results_``; None before the first result.
    n_brackets : int
        Number of brackets.
    unit : str
        Name of the resource.
    best_score : float
        Best score so far: at any rung if candidates may win at any rung, otherwise at the largest
        resource with a score. NaN before the first score.
    spent, planned : int
        Units of the resource spent and planned, per fold as in `SearchPlan.total_resources`. Units
        that an asynchronous search spends beyond its plan are added to both.
    seconds : float or None
        Seconds since the start of ``fit``, in simulated time on a virtual clock; None if unknown.
    seconds_left : float or None
        Estimated remaining seconds without the refit, from the times so far and `timeout`. None
        before the first result and in the first seconds; 0 after the end.
    best_model : str
        Name of the model with the best score so far; "" if there is only one model.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from sksearch import RandomSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> search = RandomSearchCV(SVC(), {"C": [0.1, 1, 10]}, n_iter=3).fit(X, y)
    >>> search.progress_.n_candidates, search.progress_.n_planned
    (3, 3)
    """

    name: str
    n_candidates: int
    n_planned: int
    n_jobs: int
    n_jobs_planned: int
    bracket: int | None
    iter: int | None
    n_resources: int | None
    n_brackets: int
    unit: str
    best_score: float
    spent: int
    planned: int
    seconds: float | None = None
    seconds_left: float | None = None
    best_model: str = ""

    @classmethod
    def of(
        cls, plan: Any, history: History, name: str = "", seconds: float | None = None
    ) -> "Progress":
        """Summarise the progress recorded in a history.

        Parameters
        ----------
        plan : SearchPlan
            The plan of the search.
        history : History
            The history of the search.
        name : str, default=""
            Name of the search.
        seconds : float or None, default=None
            Seconds since the start. None: unknown, and the remaining time is then not estimated.

        Returns
        -------
        progress : Progress
            Progress of the search.
        """
        watch = Watch(plan, history, name)
        watch.note_seconds(seconds)
        return watch.progress()

    def __str__(self) -> str:
        return printable(self.line(WIDTH))

    def line(self, width: int) -> str:
        """Format the progress in at most `width` characters, dropping parts that do not fit."""
        candidates = _part(self.n_candidates, self.n_planned, "candidates")
        # A trial of one job has no rungs.
        rungs = self.n_resources is not None and self.n_jobs_planned > self.n_planned
        rung = f"rung {self.n_resources:,}" if rungs else ""
        bracket = f"{rung} of bracket {self.bracket}" if rungs and self.n_brackets > 1 else rung
        best = self._best
        units = _part(self.spent, self._units_planned, self.unit)
        spent = "" if self.unit == "fits" else units
        left = f"{duration(math.ceil(self.seconds_left))} left" if self.seconds_left else ""
        forms = [
            (self._head + candidates, bracket, best, spent, left),
            (candidates, bracket, best, spent, left),
            (candidates, rung, best, spent, left),
            (candidates, best, spent, left),
            (candidates, best, left),
        ]
        # On a narrow terminal the name would appear and disappear.
        forms = forms[width < ROOM_FOR_NAME :]
        lines = [", ".join(part for part in form if part) for form in forms]
        return next((line for line in lines if len(line) <= width), lines[-1][:width])

    def last_line(self, error: type[BaseException] | None = None) -> str:
        """Return the last status line; `error` is the class of the exception, if there was one."""
        how, word = ("done", "in") if error is None else ("failed", "after")
        if error is not None and issubclass(error, KeyboardInterrupt):
            how = "interrupted"
        parts = [how if self.seconds is None else f"{how} {word} {duration(self.seconds)}"]
        if self._best:
            parts.append(self._best)
        n = counted(self.n_candidates, "candidate")
        if self.n_candidates < self.n_planned < ENDLESS:
            n = f"{self.n_candidates:,} of {counted(self.n_planned, 'candidate')}"
        parts.append(n)
        if self.unit != "fits":
            parts.append(_of(self.spent, self._units_planned, self.unit))
        return self._head + ", ".join(parts)

    @property
    def _best(self) -> str:
        of = f" ({self.best_model})" if self.best_model else ""
        return "" if math.isnan(self.best_score) else f"best {self.best_score:.4g}{of}"

    @property
    def _units_planned(self) -> int:
        return ENDLESS if self.n_planned >= ENDLESS else self.planned

    @property
    def _head(self) -> str:
        return f"{self.name}: " if self.name else ""


def _part(count: int, planned: int, nouns: str) -> str:
    if planned >= ENDLESS:
        return f"{count:,} {unit_of(count, nouns)}"
    return f"{count:,}/{planned:,} {unit_of(planned, nouns)}"


def _of(count: int, planned: int, nouns: str) -> str:
    if count >= planned or planned >= ENDLESS:
        return f"{count:,} {unit_of(count, nouns)}"
    return f"{count:,} of {planned:,} {unit_of(planned, nouns)}"


class Watch:
    """Watch one search: a context that is open while it runs, and shows its status line.

    The history is read on demand, so an unwatched search has no cost. `progress` can be called
    from any thread. A pickle holds the snapshot of its moment.

    Parameters
    ----------
    plan : SearchPlan
        The plan of the search.
    history : History
        It grows while the search runs. Its contents when the context is entered were done earlier.
    name : str, default=""
        Name of the search.
    verbose : int, default=0
        As for `StatusLine`; from 2 on each rung gets a line.
    time : TimeLimit or None, default=None
        Time limit of the search; None for no limit.
    """

    def __init__(
        self,
        plan: Any,
        history: History,
        name: str = "",
        verbose: int = 0,
        time: TimeLimit | None = None,
    ):
        self._counts = _Counts(plan, history)
        self._name, self._unit = name, plan.unit
        self._line = StatusLine(self, verbose)
        self._log = SearchLog(plan, history, name, verbose)
        self._lock = Lock()
        self._start: Any = None  # seconds, set when the search starts
        self._time, self._earlier = time, 0.0
        self._noted_seconds: float | None = None  # virtual ones: other threads have no clock
        self._end: Progress | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"_end": self.progress()}

    def __enter__(self) -> Self:
        self._start = now()
        self._earlier = 0.0 if self._time is None else self._time.elapsed()
        self._noted_seconds = None if open_clock() is None else 0.0
        self._counts.begin()
        self._log.begin()
        self._line.__enter__()
        return self

    def update(self) -> None:
        """Display a new result."""
        if self._noted_seconds is not None:
            self.note_seconds(now() - self._start)
        self._log.update()
        self._line.update()

    def __exit__(self, *error: Any) -> None:
        self._end = replace(self.progress(), seconds_left=0.0)
        self._log.end(self.last_line(error[0]))
        self._line.__exit__(*error)

    def progress(self) -> Progress:
        """Return the progress of the search now, or at its end."""
        if self._end is not None:
            return self._end
        with self._lock:
            self._counts.read()
            seconds = self._seconds()
            left = None if seconds is None else self._counts.seconds_left(seconds)
            if seconds is not None and left is not None and self._time is not None:
                left = min(left, self._time.left_at(self._earlier + seconds))
            return Progress(
                name=self._name,
                **self._counts.fields(),
                unit=self._unit,
                seconds=seconds,
                seconds_left=left,
            )

    def note_seconds(self, seconds: float | None) -> None:
        """Set the elapsed time to `seconds`, whatever this computer's clock shows."""
        self._noted_seconds = seconds

    def _seconds(self) -> float | None:
        if self._start is None or self._noted_seconds is not None:
            return self._noted_seconds
        return now() - self._start

    # ---- interface of Reporter

    def line(self, width: int) -> str:
        """Return the progress of the search as a line."""
        return self.progress().line(width)

    def last_line(self, error: type[BaseException] | None) -> str:
        """Return the end of the search as a line."""
        return self.progress().last_line(error)

    def n_rungs_done(self) -> int:
        """Return the number of complete rungs."""
        with self._lock:
            self._counts.read()
            return self._counts.n_rungs_done


class _Counts:
    """Totals of finished work; each event of the history's log is read once."""

    def __init__(self, plan: Any, history: History):
        """Start at zero; `read` counts the history."""
        self._history = history
        self._plan = plan
        keys = [(rung.bracket, rung.n_resources) for rung in plan.rungs]
        self._planned: dict[Any, Any] = dict(zip(keys, plan.rungs, strict=True))
        # Number of planned jobs without a result; negative if there were more than planned.
        self._missing = {key: rung.n_candidates for key, rung in self._planned.items()}
        self._units = {key: rung.resources for key, rung in self._planned.items()}
        self._lowest = {rung.bracket: rung for rung in plan.rungs if rung.iter == 0}
        self._continues = all(
            rung.iter == 0 or rung.resources < rung.n_candidates * rung.n_resources
            for rung in plan.rungs
        )
        self.jobs_left = sum(self._missing.values())
        self.units_left = plan.total_resources
        self._n_read = self.n_rungs_done = 0
        self.n_jobs = self.spent = self.n_running = self.units_running = 0
        self._rung: tuple[int, int] | None = None  # bracket and resource of the latest result
        self._best = (0, math.nan)  # resource, score
        self._model = ""  # model with the best score, if there are several models
        self._sums = [0.0] * 3  # sums of paid**2, cost and paid * cost for a regression
        self._base = (0, 0)  # n_jobs and spent at the beginning
        self._estimate = (math.nan, 0, 0.0)  # seconds left, number of jobs behind it, and its time

    def begin(self) -> None:
        """Exclude results known by now, which were computed earlier, from the speed."""
        self.read()
        self._base = (self.n_jobs, self.spent)

    def read(self) -> None:
        """Count the new events."""
        # Read the length first: the search's thread may append to the log meanwhile.
        n = len(self._history.log)
        for event, trial_id, resource in self._history.log[self._n_read : n]:
            trial = self._history.trials[trial_id]
            paid = resource
            if self._continues:
                paid -= trial.spent(resource)
            sign = 1 if event == "ask" else -1
            self.n_running += sign
            self.units_running += sign * paid
            if event == "tell":
                key = trial.bracket, resource
                self._tell(trial.results[resource], key, paid, model_of(trial.params))
        self._n_read = n

    def _tell(self, result: Result, key: tuple[int, int], paid: int, model: str) -> None:
        """Count the result of a job; `key` is its bracket and resource."""
        self._rung = key
        self.n_jobs += 1
        self.spent += paid
        missing = self._missing.get(key, 0) - 1
        self._missing[key] = missing
        if missing >= 0:
            self.jobs_left -= 1
            # Candidates of an audit have paid less before, and pay more for the last rung.
            used = min(paid, self._units[key]) if missing else self._units[key]
            self._units[key] -= used
            self.units_left -= used
            self.n_rungs_done += missing == 0
        sums, cost = self._sums, result.cost
        sums[0] += paid * paid
        sums[1] += cost
        sums[2] += paid * cost
        resource, best = self._best
        top = 0 if self._plan.any_rung_wins else key[1]
        score = result.feasible_score
        if not math.isnan(score) and top >= resource:
            better = top > resource or math.isnan(best) or score > best
            self._best = (top, score if better else best)
            self._model = model if better else self._model

    def fields(self) -> dict[str, Any]:
        """Return the fields of `Progress` that are counts or scores."""
        # A trial that continues from another's state replaces a candidate.
        n_started = sum(trial.parent is None for trial in self._history.trials)
        bracket, n_resources = self._rung or (None, None)
        rung = self._planned.get(self._rung)
        return {
            "n_candidates": n_started,
            "n_planned": max(n_started, self._plan.n_candidates),
            "n_jobs": self.n_jobs,
            "n_jobs_planned": self.n_jobs + self.jobs_left,
            "bracket": bracket,
            "iter": rung and rung.iter,
            "n_resources": n_resources,
            "n_brackets": len({b for b, _ in self._planned}),
            "best_score": self._best[1],
            "best_model": self._model,
            "spent": self.spent,
            "planned": self.spent + self.units_left,
        }

    # ---- time

    def seconds_left(self, seconds: float) -> float | None:
        """Return the latest estimate, less the time since; None without a result."""
        left, n_jobs, then = self._estimate
        left -= seconds - then
        if n_jobs != self.n_jobs or not left > 0:
            left = self._estimated(seconds)
            self._estimate = (left, self.n_jobs, seconds)
        return None if math.isnan(left) else left

    def _estimated(self, seconds: float) -> float:
        """Estimate the seconds left from the speed so far; NaN if unknown."""
        n_jobs, spent = self.n_jobs - self._base[0], self.spent - self._base[1]
        if n_jobs == 0 or seconds < WARM_UP:
            return math.nan
        a, b = self._costs()
        # Running jobs are half done, on average.
        running = (a * self.n_running + b * self.units_running) / 2
        jobs_left, units_left = self._ahead()
        work_left = max(0.0, a * jobs_left + b * units_left - running)
        return work_left / (a * n_jobs + b * spent + running) * seconds

    def _ahead(self) -> tuple[float, float]:
        """Count the jobs and units to come, if promotions continue at the present rate."""
        jobs = units = 0
        for key, rung in self._planned.items():
            lowest = self._lowest[rung.bracket]
            missing = self._missing[key]
            n_begun = lowest.n_candidates - self._missing[rung.bracket, lowest.n_resources]
            if n_begun > 0:
                n_told = rung.n_candidates - missing
                missing = max(missing, n_told * (lowest.n_candidates / n_begun - 1))
            jobs += missing
            units += missing * rung.resources / rung.n_candidates
        return jobs, units

    def _costs(self) -> tuple[float, float]:
        """Fit the seconds of a job and of each of its units; (0, 1) if that is impossible."""
        n, p, (pp, c, pc) = self.n_jobs, self.spent, self._sums
        det = n * pp - p * p
        if c <= 0 or det <= 0:
            return 0.0, 1.0
        b = max(0.0, (n * pc - p * c) / det)
        a = max(0.0, (c - b * p) / n)
        return a, b if a > 0 else c / p
