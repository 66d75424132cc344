"""A journal's records as events, in an order that a search can have had, or an error."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from sksearch.checkpoint._errors import JournalError
from sksearch.checkpoint._log import ANEW
from sksearch.checkpoint._records import Asked, Event, Header, Kept, ToldEvent, decode_record
from sksearch.fitting.run._states import first_line
from sksearch.fitting.run._tasks import Output

# What comes of values of the wrong kind; a fault of this library's own looks alike, so it is kept
# as the cause.
WRONG = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


@contextmanager
def blaming(path: Path, line: int) -> Iterator[None]:
    """Make of an error that a record leads to a `JournalError` that names its line."""
    try:
        yield
    except JournalError:
        raise
    except WRONG as error:
        raise JournalError(
            f"{path}, line {line}, is not what a search writes ({first_line(error)}). "
            f"It was left as it is: {ANEW}"
        ) from error


def read_events(
    records: Iterable[dict], path: Path, line: int = 1
) -> Iterator[tuple[int, Event | None]]:
    """Yield line number and event of each record, beginning with a header.

    Events of a kind that this version does not know are None. Raises JournalError at the first
    one that cannot be there.
    """
    order = None
    for number, record in enumerate(records, line):
        with blaming(path, number):
            event = decode_record(record)
            if isinstance(event, Header):
                order = _Order(event)
            elif order is None:
                raise ValueError("no header comes before it")
            else:
                order.enter(event)
        yield number, event


def header_of(events: Iterator[tuple[int, Event | None]]) -> Header:
    """Return the header, with which `read_events` has seen that they begin."""
    return cast(Header, next(events)[1])


class _Order:
    """The jobs of one search so far: which event can come next."""

    def __init__(self, header: Header):
        self._header = header
        self._reached: list[int] = []  # by trial: the largest resource that it was told at
        self._running: dict[int, int] = {}  # by trial: the resource of its job

    def enter(self, event: Event | None) -> None:
        """Enter an event; ValueError if it cannot come here."""
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
            _need(event.params is not None, f"candidate {i} has no params")
            self._reached.append(0)
        _need(i not in self._running, f"candidate {i} is running")
        _need(event.resource > self._reached[i], f"candidate {i} has a result there")
        self._running[i] = event.resource

    def _need_running(self, i: int, resource: int) -> None:
        _need(self._running.get(i) == resource, f"candidate {i} is not running to {resource}")


def check_scores(output: Output, header: Header) -> None:
    """Raise ValueError if an output lacks scores that its search has."""
    if header.return_train_score:
        trained = [output.train_scores, *(point[2] for point in output.curve or ())]
        _need(None not in trained, "training scores are missing")


def _need(holds: bool, why_not: str) -> None:
    if not holds:
        raise ValueError(why_not)
