"""Records of a journal as named types: what is written, and what is read, is decided here.

=========  ===========================================================================
header     what the search is; a search that was extended has one for each time
ask        a job begins
tell       a job has ended, with the outputs of its folds
kept       a fold had ended of a job that has not; written before a larger search begins
exhausted  the space was found to have no new candidate left
stop       the search has ended, and why
won        the chosen candidate, and with which resource
accept     changes of the user's code that do not matter
=========  ===========================================================================

A record of what a search does has ``seconds``, too: those that the search had taken by then, in
all processes in which it ran.
"""

from base64 import b64decode, b64encode
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

from sksearch._utils._files import is_own
from sksearch._utils._terminal import short_repr
from sksearch.checkpoint import _kinds as kinds
from sksearch.checkpoint._folder import write_spool
from sksearch.checkpoint._schema import HEADER, KIND, Entry, Schema
from sksearch.checkpoint._signature import is_signed, sign
from sksearch.fitting.run._objectives import Aims, Bound
from sksearch.fitting.run._plan import PlannedRung, SearchPlan
from sksearch.fitting.run._states import SavedState
from sksearch.fitting.run._tasks import Output
from sksearch.history import Prediction

SECONDS, SEARCH = "seconds", "of"  # entries of any record, and of what a worker has left

# ---- a state, and what a fold brought

STATE = Schema(
    SavedState,
    {
        "path": Entry("f", kinds.state_name, write=lambda path: path.name, read=Path),
        "sha": Entry("h", kinds.sha),
        "size": Entry("n", kinds.count),
        "signature": Entry("s", kinds.ascii_text),
    },
)


def _write_state(state: Any) -> dict[str, Any] | None:
    """Return the entries of a state, signed; None if it is in no file."""
    if not isinstance(state, SavedState):
        return None
    return STATE.write(replace(state, signature=sign(state.sha)))


def _of_numbers(key: str) -> Entry:
    """An entry of numbers of 8 bytes each, where there are any."""
    kind = kinds.optional(kinds.rows)
    return Entry(key, kind, lambda rows: b64encode(rows).decode(), b64decode, is_sparse=True)


OUTPUT = Schema(
    Output,
    {
        "fit_error": Entry("fit_error", kinds.optional(kinds.text)),
        "status": Entry("status", kinds.status),
        "error": Entry("error", kinds.text),
        "state": Entry("state", kinds.optional(kinds.record), _write_state, STATE.read),
        "lost_state": Entry("lost_state", kinds.text),
        "fit_time": Entry("fit_time", kinds.seconds),
        "test_scores": Entry("test_scores", kinds.scores),
        "score_time": Entry("score_time", kinds.seconds),
        "train_scores": Entry("train_scores", kinds.optional(kinds.scores), is_sparse=True),
        "stop": Entry("stop", kinds.flag),
        "n_test_samples": Entry("n_test_samples", kinds.count),
        "n_steps": Entry("n_steps", kinds.count),
        "seconds": Entry("seconds", kinds.seconds),
        "curve": Entry("curve", kinds.optional(kinds.curve), is_sparse=True),
        "span": Entry("span", kinds.optional(kinds.span), is_sparse=True),
        "measures": Entry("measures", kinds.optional(kinds.numbers), is_sparse=True),
        "rows": _of_numbers("rows"),
        "predictions": _of_numbers("predictions"),
        "are_decisions": Entry("are_decisions", kinds.flag, is_sparse=True),
    },
    is_closed=True,
)  # fmt: skip


def output_to_record(output: Output) -> dict:
    """Return an output as JSON values; a state that is in no file is left out."""
    return OUTPUT.write(output)


def output_of_record(record: dict) -> Output:
    """Return the output of a record; its state is a bare name until `state_in_folder` looks.

    ValueError, TypeError or the like if it is not what we write.
    """
    return OUTPUT.read(record)


# ---- what several records have

TrialId = Annotated[int, Entry("t", kinds.count)]
Units = Annotated[int, Entry("r", kinds.positive)]


E = TypeVar("E", bound="Event")


class Event:
    """What a line of the journal says."""

    __slots__ = ()

    def to_record(self, seconds: float | None = None) -> dict[str, Any]:
        """Return JSON values; `seconds` are those that the search has taken, if they are known."""
        record = {KIND: NAMES[type(self)]} | SCHEMAS[NAMES[type(self)]].write(self)
        return record if seconds is None else record | {SECONDS: seconds}


# ---- the records


@dataclass(slots=True, kw_only=True)
class Header(Event):
    """What a search is."""

    # Version of this library, and name of the search's class.
    sksearch: Annotated[str, Entry("sksearch", kinds.text)]
    search: Annotated[str, Entry("class", kinds.text)]
    # Of Python, scikit-learn and numpy.
    versions: Annotated[dict[str, str], Entry("versions", kinds.versions)]
    seed: Annotated[int, Entry("seed", kinds.count)]
    # The user's seed, or the state of the generator.
    random_state: Annotated[Any, Entry("random_state", kinds.random_state)]
    # As `fingerprint` returns them.
    parts: Annotated[dict[str, dict], Entry("parts", kinds.parts)]
    n_splits: Annotated[int, Entry("n_splits", kinds.n_splits)]
    # Name of the resource, and whether each candidate is fitted once, at all of it.
    unit: Annotated[str, Entry("unit", kinds.text)]
    whole: Annotated[bool, Entry("whole", kinds.flag)]
    # The estimator's parameter that the resource is, and the one whose value training finds.
    adds: Annotated[str | None, Entry("adds", kinds.optional(kinds.text))]
    finds: Annotated[str | None, Entry("finds", kinds.optional(kinds.text))]
    # The one to be refitted, where the user names it.
    metric: Annotated[str | None, Entry("metric", kinds.optional(kinds.text))]
    refit: Annotated[bool, Entry("refit", kinds.flag)]
    # And not only the top one.
    any_rung_wins: Annotated[bool, Entry("any_rung_wins", kinds.flag)]
    return_train_score: Annotated[bool, Entry("return_train_score", kinds.flag)]
    min_resources: Annotated[int, Entry("min_resources", kinds.positive)]
    max_resources: Annotated[int, Entry("max_resources", kinds.positive)]
    # Fields of each `PlannedRung`.
    plan: Annotated[list[list], Entry("plan", kinds.plan)]
    # And whether that is the most that can be done.
    is_most: Annotated[bool, Entry("is_most", kinds.flag, is_sparse=True)] = False
    # Of the parameters.
    names: Annotated[list[str], Entry("names", kinds.texts)]
    # Names, with a minus where small values are better.
    objectives: Annotated[list[str], Entry("objectives", kinds.texts, is_sparse=True)] = field(
        default_factory=list
    )
    # Fields of each `Bound`, and of a `RowSample`, which is None where all rows are trained on.
    bounds: Annotated[list[list], Entry("bounds", kinds.bounds, is_sparse=True)] = field(
        default_factory=list
    )
    sample: Annotated[
        list | None, Entry("sample", kinds.optional(kinds.sample), is_sparse=True)
    ] = None

    def __post_init__(self) -> None:
        if self.min_resources > self.max_resources:
            raise ValueError("min_resources is greater than max_resources")

    def search_plan(self) -> SearchPlan:
        """Return what the search was going to do."""
        rungs = tuple(PlannedRung(*rung) for rung in self.plan)
        wins = self.any_rung_wins
        return SearchPlan(
            rungs, self.unit, self.n_splits, self.refit, any_rung_wins=wins, is_most=self.is_most
        )

    def aims(self) -> Aims:
        """Return what the search was aiming at."""
        return Aims(tuple(self.objectives), tuple(Bound(*bound) for bound in self.bounds))


@dataclass(slots=True)
class Asked(Event):
    """A job begins: the fields of `Job`, with params as `encode_params` returns them."""

    trial_id: TrialId
    resource: Units
    bracket: Annotated[int, Entry("b", kinds.count)]
    params: Annotated[dict | None, Entry("p", kinds.optional(kinds.params))]
    parent: Annotated[int | None, Entry("parent", kinds.optional(kinds.count))]
    prediction: Annotated[
        Prediction | None,
        Entry(
            "q", kinds.optional(kinds.prediction), lambda found: list(astuple(found)),
            lambda values: Prediction(*values), is_sparse=True,
        ),
    ] = None  # fmt: skip


@dataclass(slots=True)
class ToldEvent(Event):
    """A job has ended: outputs of the folds that it evaluated."""

    trial_id: TrialId
    resource: Units
    outputs: Annotated[
        list[Output],
        Entry(
            "o",
            kinds.records,
            lambda outputs: [OUTPUT.write(output) for output in outputs],
            lambda records: [OUTPUT.read(record) for record in records],
        ),
    ]


@dataclass(slots=True)
class Kept(Event):
    """A fold had ended of a job that has not: its output, for the larger search that follows."""

    trial_id: TrialId
    resource: Units
    fold: Annotated[int, Entry("f", kinds.count)]
    output: Annotated[Output, Entry("o", kinds.record, OUTPUT.write, OUTPUT.read)]


@dataclass(slots=True)
class Exhausted(Event):
    """The space has no new candidate left."""


@dataclass(slots=True)
class Stopped(Event):
    """The search has ended.

    Its plan is "finished", the user's limits have "stopped" it, or a "callback", or it was
    "interrupted".
    """

    why: Annotated[str, Entry("why", kinds.text)]
    # The one that was up.
    timeout: Annotated[
        float | None, Entry("timeout", kinds.optional(kinds.duration), is_sparse=True)
    ] = None


@dataclass(slots=True)
class Won(Event):
    """The candidate that was chosen, of those that were told."""

    trial_id: TrialId
    resource: Units


@dataclass(slots=True)
class Accepted(Event):
    """The user accepts changes: names of globals, or "code"."""

    names: Annotated[list[str], Entry("names", kinds.texts)]


SCHEMAS: dict[str, Schema] = {
    HEADER: Schema(Header),
    "ask": Schema(Asked),
    "tell": Schema(ToldEvent),
    "kept": Schema(Kept),
    "exhausted": Schema(Exhausted),
    "stop": Schema(Stopped),
    "won": Schema(Won),
    "accept": Schema(Accepted),
}
NAMES = {schema.made: name for name, schema in SCHEMAS.items()}


def decode_record(record: dict) -> Event | None:
    """Read a record; None for a kind that this version does not know.

    ValueError, KeyError or the like if it is not what we write.
    """
    seconds_of(record)
    schema = SCHEMAS.get(record[KIND])
    return None if schema is None else schema.read(record)


def read_as(event: type[E], record: dict) -> E | None:
    """Read a record if it is of this event, else None."""
    name = NAMES[event]
    return SCHEMAS[name].read(record) if record.get(KIND) == name else None


def seconds_of(record: dict) -> float:
    """Return how long the search had taken at a record, 0 where it does not say; or ValueError."""
    seconds = record.get(SECONDS)
    if not kinds.optional(kinds.duration)(seconds):
        raise ValueError(f"{SECONDS!r} is {short_repr(seconds, 80)}")
    return seconds or 0.0


# ---- what is in the folder


def state_in_folder(output: Output, folder: Path) -> Output:
    """Return an output with its state if that is this user's, and still in the folder."""
    if output.state is None or not is_signed(output.state.sha, output.state.signature):
        return replace(output, state=None)
    # A name and no path: nothing outside of the folder is ever read.
    path = folder / output.state.path.name
    return replace(output, state=replace(output.state, path=path) if is_own(path) else None)


@dataclass(frozen=True)
class Spool:
    """Where workers leave a copy of each output until the journal has it.

    Parameters
    ----------
    folder : Path
        The checkpoint's.
    search : str, default=""
        What tells the search from others that had the folder: a worker of one of them that was
        killed may be writing for a moment.
    """

    folder: Path
    search: str = ""

    def write(self, name: str, output: Output) -> None:
        """Keep an output; a full disk is no reason to lose it, it travels in another way, too."""
        write_spool(self.folder, name, output_to_record(output) | {SEARCH: self.search})

    def output_of(self, record: dict) -> Output | None:
        """Return the output that a worker left; None if it was a worker of another search."""
        if record.get(SEARCH, self.search) != self.search:
            return None
        return output_of_record({key: value for key, value in record.items() if key != SEARCH})
