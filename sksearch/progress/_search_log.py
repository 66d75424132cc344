"""Messages of a search to Python's ``logging``, and a line for each rung.

=======  ============================================================
INFO     a search begins, a rung is complete, a search ends
WARNING  a candidate failed
DEBUG    each result
=======  ============================================================

The only logger is "sksearch". It is silent until a program gives it, or its parent, a handler.
"""

import logging
import math
from statistics import median
from typing import Any

from sksearch._utils._terminal import PlainRecords, amount, counted, short_repr
from sksearch.history import History, Trial
from sksearch.progress._status_line import write_line

LOGGER = logging.getLogger("sksearch")
LOGGER.addHandler(logging.NullHandler())
LOGGER.addFilter(PlainRecords())
LONGEST = 200  # characters of parameters and errors

Rung = tuple[int, int]  # bracket and resource


class SearchLog:
    """Logs each event of a history once, from the call of `begin` on.

    Parameters
    ----------
    plan : SearchPlan
        The plan of the search.
    history : History
        It grows while the search runs.
    name : str
        Name of the search; every line begins with it.
    verbose : int
        From 2 on, the lines of rungs are also written to standard error.
    """

    def __init__(self, plan: Any, history: History, name: str, verbose: int):
        self._plan, self._history, self._verbose = plan, history, verbose
        self._head = f"{name}: " if name else ""
        self._planned = {(rung.bracket, rung.n_resources): rung for rung in plan.rungs}
        self._scores: dict[Rung, list[float]] = {}
        self._said: set[Rung] = set()
        self._n_read = 0
        self._is_open = False
        self._tells_rungs = len(plan.rungs) > 1 and not plan.is_endless

    def begin(self) -> None:
        """Log the start; events in the history by now were logged by an earlier process."""
        self._read()
        n_told = sum(map(len, self._scores.values()))
        earlier = f", with {counted(n_told, 'earlier evaluation')}" if n_told else ""
        plan = self._plan
        n = counted(plan.n_candidates, "candidate")
        n = "candidates until the time is up" if plan.is_endless else n
        self._is_open = True
        LOGGER.info("%sstarts, %s, %s%s", self._head, n, counted(plan.n_splits, "fold"), earlier)
        for line in plan.on_workers:
            LOGGER.info("%s%s", self._head, line)

    def update(self) -> None:
        """Log new events."""
        if self._is_open:
            self._read()

    def end(self, line: str) -> None:
        """Log rungs that were cut short, and the last line."""
        for rung in sorted(self._scores.keys() - self._said):
            self._say(rung)
        self._is_open = False
        LOGGER.info("%s", line)

    def _read(self) -> None:
        """Read the new events."""
        log = self._history.log
        for event, trial_id, resource in log[self._n_read :]:
            if event == "tell":
                trial = self._history.trials[trial_id]
                self._tell(trial, resource)
        self._n_read = len(log)

    def _tell(self, trial: Trial, resource: int) -> None:
        """Count a result, and log it if it is news."""
        result, rung = trial.results[resource], (trial.bracket, resource)
        scores = self._scores.setdefault(rung, [])
        scores.append(result.score)
        if self._is_open:
            where = f"{self._head}candidate {trial.id} at {self._amount(resource)}"
            params = short_repr(trial.params, LONGEST)
            if result.status != "ok":
                error = short_repr(result.error, LONGEST)
                LOGGER.warning("%s failed (%s, %s): %s", where, result.status, error, params)
            elif LOGGER.isEnabledFor(logging.DEBUG):
                LOGGER.debug("%s: %.6g after %.3g s: %s", where, result.score, result.cost, params)
        if rung in self._planned and len(scores) == self._planned[rung].n_candidates:
            self._say(rung)

    def _say(self, rung: Rung) -> None:
        """Log a rung, unless it is the only one, which the last line covers."""
        self._said.add(rung)
        if not (self._tells_rungs and self._is_open):
            return
        bracket, resource = rung
        scores = [score for score in self._scores[rung] if not math.isnan(score)]
        n, n_planned = len(self._scores[rung]), self._planned[rung].n_candidates
        of = counted(max(n, n_planned), "candidate")
        parts = [of if n >= n_planned else f"{n:,} of {of}"]
        if scores:
            parts += [f"best {max(scores):.4g}", f"median {median(scores):.4g}"]
        if len(scores) < n:
            parts.append(f"{n - len(scores):,} failed")
        line = f"{self._head}bracket {bracket}, {self._amount(resource)}: {', '.join(parts)}"
        LOGGER.info("%s", line)
        if self._verbose > 1:
            write_line(line)

    def _amount(self, resource: int) -> str:
        return amount(resource, self._plan.unit).replace("_", " ")
