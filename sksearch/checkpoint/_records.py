"""Records of a journal as named types: what is written, and what is read, is decided here.

=========  ===========================================================================
header     what the search is; a search that was extended has one for each time
ask        a job begins
tell       a job has ended, with the outputs of its folds
kept       a fold had ended of a job that has not; written before a larger search begins
exhausted  the space was found to have no new candidate left
stop       the search has ended, and why
won        who was chosen, and with which resource
accept     changes of the user's code that do not matter
=========  ===========================================================================

A record of what a search does has ``seconds``, too: those that the search had taken by then, in
all processes in which it ran. Older journals have none.
"""

from base64 import b64decode, b64encode
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path
from typing import Any

from sksearch._files import is_own
from sksearch.checkpoint import _kinds as kinds
from sksearch.checkpoint._folder import write_spool
from sksearch.checkpoint._signature import is_signed, sign
from sksearch.fitting import Aims, Bound, Output, PlannedRung, SavedState, SearchPlan
from sksearch.history import Prediction

OUTPUT_FIELDS = tuple(field.name for field in fields(Output))
DEFAULT_OUTPUT = {field.name: field.default for field in fields(Output)}
OUTPUT_KINDS = {
    "fit_error": kinds.optional(kinds.text),
    "status": kinds.status,
    "error": kinds.text,
    "state": kinds.optional(kinds.state),
    "lost_state": kinds.text,
    "fit_time": kinds.seconds,
    "score_time": kinds.seconds,
    "seconds": kinds.seconds,
    "test_scores": kinds.scores,
    "train_scores": kinds.optional(kinds.scores),
    "stop": kinds.flag,
    "n_test_samples": kinds.count,
    "n_steps": kinds.count,
    "curve": kinds.optional(kinds.curve),
    "span": kinds.optional(kinds.span),
    "measures": kinds.optional(kinds.numbers),
    "rows": kinds.optional(kinds.rows),
}
DURATION = kinds.optional(kinds.duration)
ASKED_KINDS = {
    "t": kinds.count,
    "r": kinds.positive,
    "b": kinds.count,
    "p": kinds.optional(kinds.params),
    "parent": kinds.optional(kinds.count),
    "q": kinds.optional(kinds.prediction),
}
HEADER_KINDS = {
    "search": kinds.text,
    "sksearch": kinds.text,
    "versions": kinds.versions,
    "seed": kinds.count,
    "random_state": kinds.random_state,
    "parts": kinds.parts,
    "n_splits": kinds.n_splits,
    "unit": kinds.text,
    "whole": kinds.flag,
    "adds": kinds.optional(kinds.text),
    "finds": kinds.optional(kinds.text),
    "metric": kinds.optional(kinds.text),
    "refit": kinds.flag,
    "any_rung_wins": kinds.flag,
    "return_train_score": kinds.flag,
    "min_resources": kinds.positive,
    "max_resources": kinds.positive,
    "plan": kinds.plan,
    "names": kinds.texts,
    "objectives": kinds.optional(kinds.texts),
    "bounds": kinds.optional(kinds.bounds),
    "sample": kinds.optional(kinds.sample),
}


@dataclass(slots=True)
class Header:
    """What a search is."""

    search: str  # name of its class
    sksearch: str  # version of this library
    versions: dict[str, str]  # of Python, scikit-learn and numpy
    seed: int
    random_state: Any  # the user's seed, or the state of the generator
    parts: dict[str, dict]  # as `fingerprint` returns them
    n_splits: int
    unit: str  # name of the resource
    whole: bool  # whether each candidate is fitted once, at full resource
    adds: str | None  # the estimator's parameter that the resource is, if it is one
    finds: str | None  # the one whose value training finds, if there is one
    metric: str | None  # the one to be refitted, where the user names it
    refit: bool
    any_rung_wins: bool  # and not only the top one
    return_train_score: bool
    min_resources: int
    max_resources: int
    plan: list[list]  # fields of each `PlannedRung`
    names: list[str]  # of the parameters
    objectives: list[str]  # names, with a minus where small values are better
    bounds: list[list]  # fields of each `Bound`
    sample: list | None  # fields of a `RowSample`; None: all rows

    @classmethod
    def of(cls, record: dict) -> "Header":
        """Read a record; "adds", "finds" and others are not in those of all versions.

        ValueError, KeyError or the like if it is not what we write.
        """
        record = {
            "adds": None,
            "finds": None,
            "refit": True,
            "any_rung_wins": False,
            "objectives": [],
            "bounds": [],
            "sample": None,
            "search": record["class"],
        } | record
        kinds.check(record, HEADER_KINDS)
        if record["min_resources"] > record["max_resources"]:
            raise ValueError("min_resources is greater than max_resources")
        return cls(**{field.name: record[field.name] for field in fields(cls)})

    def search_plan(self) -> SearchPlan:
        """Return what the search was going to do."""
        rungs = tuple(PlannedRung(*rung) for rung in self.plan)
        wins = self.any_rung_wins
        return SearchPlan(rungs, self.unit, self.n_splits, self.refit, any_rung_wins=wins)

    def aims(self) -> Aims:
        """Return what the search was aiming at."""
        return Aims(tuple(self.objectives), tuple(Bound(*bound) for bound in self.bounds))

    def to_record(self) -> dict:
        """Return JSON values."""
        record = {field.name: getattr(self, field.name) for field in fields(self)}
        for name in ("objectives", "bounds", "sample"):
            if not record[name]:
                del record[name]
        name = record.pop("search")
        return {"sksearch": record.pop("sksearch"), "class": name} | record


@dataclass(slots=True)
class Asked:
    """A job begins: the fields of `Job`, with params as `encode_params` returns them."""

    trial_id: int
    resource: int
    bracket: int
    params: dict | None
    parent: int | None
    prediction: Prediction | None = None

    def to_record(self) -> dict:
        """Return JSON values."""
        record = {"k": "ask", "t": self.trial_id, "r": self.resource, "b": self.bracket}
        record |= {"p": self.params, "parent": self.parent}
        return record | ({"q": list(astuple(self.prediction))} if self.prediction else {})


@dataclass(slots=True)
class Told:
    """A job has ended: outputs of the folds that it evaluated."""

    trial_id: int
    resource: int
    outputs: list[Output]

    def to_record(self) -> dict:
        """Return JSON values."""
        outputs = [output_to_record(output) for output in self.outputs]
        return {"k": "tell", "t": self.trial_id, "r": self.resource, "o": outputs}


@dataclass(slots=True)
class Kept:
    """A fold had ended of a job that has not: its output, for the larger search that follows."""

    trial_id: int
    resource: int
    fold: int
    output: Output

    def to_record(self) -> dict:
        """Return JSON values."""
        record = {"k": "kept", "t": self.trial_id, "r": self.resource, "f": self.fold}
        return record | {"o": output_to_record(self.output)}


@dataclass(slots=True)
class Exhausted:
    """The space has no new candidate left."""

    def to_record(self) -> dict:
        """Return JSON values."""
        return {"k": "exhausted"}


@dataclass(slots=True)
class Stopped:
    """The search has ended.

    Its plan is "finished", the user's limits have "stopped" it, or a "callback", or it was
    "interrupted".
    """

    why: str
    timeout: float | None = None  # the one that was up

    def to_record(self) -> dict:
        """Return JSON values."""
        record: dict[str, Any] = {"k": "stop", "why": self.why}
        return record | ({} if self.timeout is None else {"timeout": self.timeout})


@dataclass(slots=True)
class Won:
    """The candidate that was chosen, of those that were told."""

    trial_id: int
    resource: int

    def to_record(self) -> dict:
        """Return JSON values."""
        return {"k": "won", "t": self.trial_id, "r": self.resource}


@dataclass(slots=True)
class Accepted:
    """The user accepts changes: names of globals, or "code"."""

    names: list[str]

    def to_record(self) -> dict:
        """Return JSON values."""
        return {"k": "accept", "names": self.names}


Event = Header | Asked | Told | Kept | Exhausted | Stopped | Won | Accepted


def decode_record(record: dict) -> Event | None:
    """Read a record; None for a kind that this version does not know.

    ValueError, KeyError or the like if it is not what we write.
    """
    kinds.check(record, {"seconds": DURATION})
    match record["k"]:
        case "header":
            return Header.of(record)
        case "ask":
            kinds.check(record, ASKED_KINDS)
            key = record["t"], record["r"], record["b"]
            expected = record.get("q")
            return Asked(
                *key, record.get("p"), record["parent"], expected and Prediction(*expected)
            )
        case "tell":
            kinds.check(record, {"t": kinds.count, "r": kinds.positive})
            outputs = [output_of_record(output) for output in record["o"]]
            return Told(record["t"], record["r"], outputs)
        case "kept":
            kinds.check(record, {"t": kinds.count, "r": kinds.positive, "f": kinds.count})
            key = record["t"], record["r"], record["f"]
            return Kept(*key, output_of_record(record["o"]))
        case "exhausted":
            return Exhausted()
        case "stop":
            kinds.check(record, {"why": kinds.text, "timeout": DURATION})
            return Stopped(record["why"], record.get("timeout"))
        case "won":
            kinds.check(record, {"t": kinds.count, "r": kinds.positive})
            return Won(record["t"], record["r"])
        case "accept":
            kinds.check(record, {"names": kinds.texts})
            return Accepted(record["names"])
    return None


def output_to_record(output: Output) -> dict:
    """Return an output as JSON values; a state that is in no file is left out."""
    record = {name: getattr(output, name) for name in OUTPUT_FIELDS}
    if output.rows is not None:
        record["rows"] = b64encode(output.rows).decode()
    for name in ("train_scores", "curve", "span", "measures", "rows"):
        if record[name] is None:
            del record[name]
    state = output.state
    saved = isinstance(state, SavedState)
    entry = {"f": state.path.name, "h": state.sha, "n": state.size} if saved else None
    return record | {"state": entry and entry | {"s": sign(state.sha)}}


def output_of_record(record: dict) -> Output:
    """Return the output of a record; its state is a bare name until `state_in_folder` looks.

    ValueError, TypeError or the like if it is not what we write.
    """
    kinds.check(DEFAULT_OUTPUT | record, OUTPUT_KINDS)
    output = Output(**record)
    if output.rows is not None:
        output.rows = b64decode(output.rows)
    if (entry := output.state) is not None:
        output.state = SavedState(Path(entry["f"]), entry["h"], entry["n"], entry.get("s", ""))
    return output


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
        write_spool(self.folder, name, output_to_record(output) | {"of": self.search})
