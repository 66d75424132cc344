"""Records of a journal as named types, which define the format written and read.

=========  ===========================================================================
header     description of the search; an extended search has one per extension
ask        start of a job
tell       end of a job, with the outputs of its folds
kept       finished fold of an unfinished job; written before a larger search begins
exhausted  the space has no new candidate left
stop       end of the search, and the reason
won        the chosen candidate, and its resource
accept     harmless changes in the user's code
=========  ===========================================================================

A record of the search's actions also contains ``seconds``, the time that the search has taken, in
all its processes.
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

SECONDS, SEARCH = "seconds", "of"  # entries of any record, and of spooled outputs

# ---- a state, and the output of a fold

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
    """Return the entries of a state, signed; None if it is not in a file."""
    if not isinstance(state, SavedState):
        return None
    return STATE.write(replace(state, signature=sign(state.sha)))


def _of_numbers(key: str) -> Entry:
    """Return an optional entry of numbers of 8 bytes each."""
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
    """Return an output as JSON values; omits a state that is not in a file."""
    return OUTPUT.write(output)


def output_of_record(record: dict) -> Output:
    """Return the output of a record; its state is a bare name until `state_in_folder` checks it.

    Raises ValueError, TypeError or similar for an invalid record.
    """
    return OUTPUT.read(record)


# ---- common to several records

TrialId = Annotated[int, Entry("t", kinds.count)]
Units = Annotated[int, Entry("r", kinds.positive)]


E = TypeVar("E", bound="Event")


class Event:
    """Content of a line of the journal."""

    __slots__ = ()

    def to_record(self, seconds: float | None = None) -> dict[str, Any]:
        """Return JSON values; `seconds` is the time that the search has taken, if known."""
        record = {KIND: NAMES[type(self)]} | SCHEMAS[NAMES[type(self)]].write(self)
        return record if seconds is None else record | {SECONDS: seconds}


# ---- the records


@dataclass(slots=True, kw_only=True)
class Header(Event):
    """Description of a search."""

    # Version of this library, and name of the search's class.
    sksearch: Annotated[str, Entry("sksearch", kinds.text)]
    search: Annotated[str, Entry("class", kinds.text)]
    # Versions of Python, scikit-learn and NumPy.
    versions: Annotated[dict[str, str], Entry("versions", kinds.versions)]
    seed: Annotated[int, Entry("seed", kinds.count)]
    # The user's seed, or the state of the generator.
    random_state: Annotated[Any, Entry("random_state", kinds.random_state)]
    # As returned by `fingerprint`.
    parts: Annotated[dict[str, dict], Entry("parts", kinds.parts)]
    n_splits: Annotated[int, Entry("n_splits", kinds.n_splits)]
    # Name of the resource, and whether each candidate is fitted once, with the full resource.
    unit: Annotated[str, Entry("unit", kinds.text)]
    whole: Annotated[bool, Entry("whole", kinds.flag)]
    # The parameter that is the resource, and the parameter whose value is found during training.
    adds: Annotated[str | None, Entry("adds", kinds.optional(kinds.text))]
    finds: Annotated[str | None, Entry("finds", kinds.optional(kinds.text))]
    # The metric to be refitted, if the user has named it.
    metric: Annotated[str | None, Entry("metric", kinds.optional(kinds.text))]
    refit: Annotated[bool, Entry("refit", kinds.flag)]
    # True if not only the top resource counts.
    any_rung_wins: Annotated[bool, Entry("any_rung_wins", kinds.flag)]
    return_train_score: Annotated[bool, Entry("return_train_score", kinds.flag)]
    min_resources: Annotated[int, Entry("min_resources", kinds.positive)]
    max_resources: Annotated[int, Entry("max_resources", kinds.positive)]
    # Fields of each `PlannedRung`.
    plan: Annotated[list[list], Entry("plan", kinds.plan)]
    # True if the planned number is the maximum.
    is_most: Annotated[bool, Entry("is_most", kinds.flag, is_sparse=True)] = False
    # Names of the parameters.
    names: Annotated[list[str], Entry("names", kinds.texts)]
    # Names of the metrics, with a minus if small values are better.
    objectives: Annotated[list[str], Entry("objectives", kinds.texts, is_sparse=True)] = field(
        default_factory=list
    )
    # Fields of each `Bound`, and of a `RowSample`; None if all rows are used for training.
    bounds: Annotated[list[list], Entry("bounds", kinds.bounds, is_sparse=True)] = field(
        default_factory=list
    )
    sample: Annotated[
        list | None, Entry("sample", kinds.optional(kinds.sample), is_sparse=True)
    ] = None
    # Metric of the estimator's own score, if it decides: accuracy or R².
    own_metric: Annotated[str, Entry("own_metric", kinds.text, is_sparse=True)] = ""
    # Models of a list, too slow for the time.
    left_out: Annotated[list[str], Entry("left_out", kinds.texts, is_sparse=True)] = field(
        default_factory=list
    )

    def __post_init__(self) -> None:
        if self.min_resources > self.max_resources:
            raise ValueError("min_resources is greater than max_resources")

    def search_plan(self) -> SearchPlan:
        """Return the plan of the search."""
        rungs = tuple(PlannedRung(*rung) for rung in self.plan)
        wins = self.any_rung_wins
        return SearchPlan(
            rungs, self.unit, self.n_splits, self.refit, any_rung_wins=wins, is_most=self.is_most
        )

    def aims(self) -> Aims:
        """Return the aims of the search."""
        return Aims(tuple(self.objectives), tuple(Bound(*bound) for bound in self.bounds))


@dataclass(slots=True)
class Asked(Event):
    """A job begins: the fields of `Job`, with parameters as returned by `encode_params`."""

    trial_id: TrialId
    resource: Units
    bracket: Annotated[int, Entry("b", kinds.count)]
    params: Annotated[dict | None, Entry("p", kinds.optional(kinds.record))]
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
    """A finished fold of an unfinished job: its output, for the larger search that follows."""

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

    Reasons: "finished" (its plan), "stopped" (a limit of the user), "callback" or "interrupted".
    """

    why: Annotated[str, Entry("why", kinds.text)]
    # The limit that was reached.
    timeout: Annotated[
        float | None, Entry("timeout", kinds.optional(kinds.duration), is_sparse=True)
    ] = None


@dataclass(slots=True)
class Won(Event):
    """The candidate chosen among the known results."""

    trial_id: TrialId
    resource: Units


@dataclass(slots=True)
class Accepted(Event):
    """Accepted changes of the user: names of globals, or "code"."""

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
    """Read a record; None for an unknown kind.

    Raises ValueError, KeyError or similar for an invalid record.
    """
    seconds_of(record)
    schema = SCHEMAS.get(record[KIND])
    return None if schema is None else schema.read(record)


def read_as(event: type[E], record: dict) -> E | None:
    """Read a record if it is of this event, otherwise return None."""
    name = NAMES[event]
    return SCHEMAS[name].read(record) if record.get(KIND) == name else None


def seconds_of(record: dict) -> float:
    """Return the search's time at a record, 0 if missing; ValueError if invalid."""
    seconds = record.get(SECONDS)
    if not kinds.optional(kinds.duration)(seconds):
        raise ValueError(f"{SECONDS!r} is {short_repr(seconds, 80)}")
    return seconds or 0.0


# ---- files in the folder


def state_in_folder(output: Output, folder: Path) -> Output:
    """Return an output with its state if this user signed it and its file exists."""
    if output.state is None or not is_signed(output.state.sha, output.state.signature):
        return replace(output, state=None)
    # A name, not a path: files outside the folder are never read.
    path = folder / output.state.path.name
    return replace(output, state=replace(output.state, path=path) if is_own(path) else None)


@dataclass(frozen=True)
class Spool:
    """Folder of worker outputs until the journal contains them.

    Parameters
    ----------
    folder : Path
        The checkpoint's folder.
    search : str, default=""
        Identifies the search among users of the folder: a killed worker of another search may
        still write for a moment.
    """

    folder: Path
    search: str = ""

    def write(self, name: str, output: Output) -> None:
        """Store an output; failure on a full disk is harmless, since it also travels directly."""
        write_spool(self.folder, name, output_to_record(output) | {SEARCH: self.search})

    def output_of(self, record: dict) -> Output | None:
        """Return an output spooled by a worker; None if it belongs to another search."""
        if record.get(SEARCH, self.search) != self.search:
            return None
        return output_of_record({key: value for key, value in record.items() if key != SEARCH})
