"""Records of a journal as events, checked for a possible order."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from sksearch.checkpoint._errors import JournalError
from sksearch.checkpoint._log import ANEW
from sksearch.checkpoint._records import Asked, Event, Header, Kept, ToldEvent, decode_record
from sksearch.fitting.run._states import first_line
from sksearch.fitting.run._tasks import Output

# Errors caused by values of the wrong kind; a bug in this library looks alike, so it is kept as
# the cause.
WRONG = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


@contextmanager
def blaming(path: Path, line: int) -> Iterator[None]:
    """Convert an error caused by a record into a `JournalError` that names its line."""
    try:
        yield
    except JournalError:
        raise
    except WRONG as error:
        raise JournalError(
            f"{path}, line {line}, is not a valid entry ({first_line(error)}). The file was left "
            f"unchanged: {ANEW}"
        ) from error


def read_events(
    records: Iterable[dict], path: Path, line: int = 1
) -> Iterator[tuple[int, Event | None]]:
    """Yield line number and event of each record, beginning with a header.

    Events of unknown kinds are None. Raises JournalError at the first impossible event.
    """
    order = None
    for number, record in enumerate(records, line):
        with blaming(path, number):
            event = decode_record(record)
            if isinstance(event, Header):
                order = _Order(event)
            elif order is None:
                raise ValueError("it is not preceded by a header")
            else:
                order.enter(event)
        yield number, event


def header_of(events: Iterator[tuple[int, Event | None]]) -> Header:
    """Return the header, which `read_events` has checked to be the first event."""
    return cast(Header, next(events)[1])


class _Order:
    """The jobs of one search so far, which determine the possible next events."""

    def __init__(self, header: Header):
        self._header = header
        self._reached: list[int] = []  # by trial: the largest resource with a result
        self._running: dict[int, int] = {}  # by trial: the resource of its job

    def enter(self, event: Event | None) -> None:
        """Enter an event; ValueError if it is impossible here."""
        match event:
            case Asked():
                self._ask(event)
            case ToldEvent(trial_id=i, resource=resource, outputs=outputs):
                self._need_running(i, resource)
                _need(1 <= len(outputs) <= self._header.n_splits, f"it has {len(outputs)} folds")
                for output in outputs:
                    check_scores(output, self._header)
                self._reached[i] = self._running.pop(i)
            case Kept(trial_id=i, resource=resource, fold=fold, output=output):
                self._need_running(i, resource)
                _need(fold < self._header.n_splits, f"there is no fold {fold}")
                check_scores(output, self._header)

    def _ask(self, event: Asked) -> None:
        i, n_trials = event.trial_id, len(self._reached)
        _need(i <= n_trials, f"candidate {i} begins, and there are {n_trials}")
        _need(event.parent is None or event.parent < n_trials, f"no parent {event.parent}")
        _need(event.resource <= self._header.max_resources, "more than the largest resource")
        if i == n_trials:
            _need(event.params is not None, f"candidate {i} has no parameters")
            self._reached.append(0)
        _need(i not in self._running, f"candidate {i} is running")
        _need(event.resource > self._reached[i], f"candidate {i} has a result there")
        self._running[i] = event.resource

    def _need_running(self, i: int, resource: int) -> None:
        _need(self._running.get(i) == resource, f"candidate {i} is not running to {resource}")


def check_scores(output: Output, header: Header) -> None:
    """Raise ValueError if an output lacks scores of its search."""
    if header.return_train_score:
        trained = [output.train_scores, *(point[2] for point in output.curve or ())]
        _need(None not in trained, "training scores are missing")


def _need(holds: bool, why_not: str) -> None:
    if not holds:
        raise ValueError(why_not)
