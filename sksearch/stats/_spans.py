"""Times and workers of the fits of candidates."""

import heapq
from dataclasses import dataclass

from sksearch.history import History, Span

PAUSE = 0.1  # longer pauses of all workers, as a share of the working time, are cut out


@dataclass(frozen=True)
class Bar:
    """One fold of one job.

    Parameters
    ----------
    began, ended : float
        Seconds since the first beginning, without pauses.
    row : int
        The worker's.
    trial_id, resource : int
        The job.
    failed : bool
        Whether the job failed.
    """

    began: float
    ended: float
    row: int
    trial_id: int
    resource: int
    failed: bool


def bars_of(history: History) -> tuple[list[Bar], list[float]]:
    """Return all bars by their beginning, and the seconds at which pauses were cut out.

    ValueError if the history has no times.
    """
    found: list[tuple[Span, int, int, bool]] = [
        (span, trial.id, resource, result.status != "ok")
        for trial in history.trials
        for resource, result in trial.results.items()
        for span in result.spans
    ]
    if not found:
        raise ValueError(
            "The training times of the candidates were not recorded: pass a search of this "
            "library that trains an estimator."
        )
    found.sort(key=lambda each: (each[0].began, each[0].ended))
    rows = _rows([span for span, *_ in found])
    worked = sum(span.ended - span.began for span, *_ in found)
    origin, reached, cuts, bars = found[0][0].began, found[0][0].began, [], []
    for (span, trial_id, resource, failed), row in zip(found, rows, strict=True):
        if span.began - reached > PAUSE * worked:
            origin += span.began - reached
            cuts.append(span.began - origin)
        reached = max(reached, span.ended)
        began, ended = span.began - origin, span.ended - origin
        bars.append(Bar(began, ended, row, trial_id, resource, failed))
    return bars, cuts


def _rows(spans: list[Span]) -> list[int]:
    """The row of each span, in the order of beginning.

    A worker keeps its row. A new worker takes the row of a worker that has ended for good, and so
    does each span of workers with no names.
    """
    names = [span.worker or f"#{i}" for i, span in enumerate(spans)]
    last = dict(zip(names, (span.ended for span in spans), strict=True))
    for name, span in zip(names, spans, strict=True):
        last[name] = max(last[name], span.ended)
    row_of: dict[str, int] = {}
    rows: list[tuple[float, int]] = []  # a heap: when the worker of each row has ended for good
    for name, span in zip(names, spans, strict=True):
        if name not in row_of:
            is_free = bool(rows) and rows[0][0] <= span.began
            row_of[name] = heapq.heappop(rows)[1] if is_free else len(rows)
            heapq.heappush(rows, (last[name], row_of[name]))
    return [row_of[name] for name in names]
