"""Fitted states between two rungs, in files and between processes."""

import hashlib
import io
import pickle
from collections.abc import ItemsView
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from sksearch._utils._files import open_own, remove, write_atomically
from sksearch._utils._filesystem import system
from sksearch._utils._pickles import Address, Pickler, classes_of, here
from sksearch._utils._terminal import printable
from sksearch.base._state import State
from sksearch.estimators._family import family_of

N_DIGITS = 16  # digits of the digest of a state in the name of its file


@dataclass(frozen=True)
class SavedState:
    """A fitted state in a file.

    Parameters
    ----------
    path : Path
        The file.
    sha : str
        SHA-256 of its content, in hexadecimal digits.
    size : int
        Size in bytes.
    signature : str, default=""
        Text that identifies its writer, as in a journal.
    """

    path: Path
    sha: str
    size: int
    signature: str = ""

    @classmethod
    def write(cls, content: bytes, folder: Path, name: str) -> Self:
        """Write a file atomically, with a digest in its name."""
        sha = hashlib.sha256(content).hexdigest()
        # The same task of a smaller search has another state, and a worker of a search that was
        # killed may be writing for a moment.
        path = folder / f"{name}.{sha[:N_DIGITS]}"
        write_atomically(path, content, sync=False)
        return cls(path, sha, len(content))

    def read(self) -> bytes:
        """Return the written content; OSError, or ValueError if it has changed."""
        with open_own(self.path) as file:
            # A sparse file could be larger than the memory.
            content = file.readall() if system().stat_of(file).st_size == self.size else b""
        if hashlib.sha256(content).hexdigest() != self.sha:
            raise ValueError(f"{self.path.name} is damaged")
        return content

    def load(self, home: str = "") -> State:
        """Read the state; `home` as in `load_state`.

        Raises
        ------
        ValueError
            If the file is not the one written.
        Exception
            Any exception of reading and unpickling.
        """
        return load_state(self.read(), home)


#: A stored fitted model: itself, its file, or its bytes.
Kept = State | SavedState | bytes


class StateStore:
    """States of the trials that may continue, by trial and fold.

    Attributes
    ----------
    keeps_files : bool
        True if files of dropped states are kept, since a resumed search may need them.
    """

    def __init__(self) -> None:
        self._states: dict[tuple[int, int], Kept] = {}
        self.keeps_files = False

    def get(self, trial_id: int, fold: int) -> Kept | None:
        """Return the state of a trial on a fold, otherwise None."""
        return self._states.get((trial_id, fold))

    def items(self) -> ItemsView[tuple[int, int], Kept]:
        """Return pairs of (trial, fold) and state."""
        return self._states.items()

    def replace(self, trial_id: int, fold: int, state: Kept | None) -> None:
        """Replace a state by its successor, or by None."""
        self._drop(trial_id, fold)
        if state is not None:
            self._states[trial_id, fold] = state

    def drop_trial(self, trial_id: int, n_folds: int) -> None:
        """Free the states of a trial that will not continue."""
        for fold in range(n_folds):
            self._drop(trial_id, fold)

    def files(self) -> dict[str, int]:
        """Return the names of the files of states, each with its trial."""
        return {
            state.path.name: trial_id
            for (trial_id, _), state in self._states.items()
            if isinstance(state, SavedState)
        }

    def _drop(self, trial_id: int, fold: int) -> None:
        state = self._states.pop((trial_id, fold), None)
        if isinstance(state, SavedState) and not self.keeps_files:
            remove(state.path)


def as_state(kept: Kept, home: str = "") -> State:
    """Return a state that is in memory, in a file or pickled; `home` as in `load_state`.

    Raises
    ------
    Exception
        Any exception of reading and unpickling.
    """
    if isinstance(kept, SavedState):
        return kept.load(home)
    return load_state(kept, home) if isinstance(kept, bytes) else kept


def dump_state(state: State) -> bytes:
    """Pickle a state."""
    buffer = io.BytesIO()
    _StatePickler(buffer, protocol=5).dump(state)
    return buffer.getvalue()


def size_of(state: State) -> int:
    """Count the bytes of a pickled state, the same in every process.

    Sharing of equal texts differs between processes, so each counts once.
    """
    counter = _Counter()
    _SizePickler(counter, protocol=5).dump(state)
    return counter.n_bytes


def load_state(content: bytes, home: str = "") -> State:
    """Unpickle a state of this search; ValueError for another object.

    Its classes come from the process `home`, in which the search began ("" is this one).
    """
    with classes_of(home or here()):
        state = _StateUnpickler(io.BytesIO(content)).load()
    if not isinstance(state, State):
        raise ValueError(f"expected a state, got a {type(state).__name__}")
    return state


# Characters of an error that are kept; its text may be of any length.
LONGEST = 10_000

# Estimators with random_state=None may hold numpy's global generator itself. It must be the one of
# the process that continues, which is seeded for each task, and not a copy.
GLOBAL_GENERATOR = "numpy's global RandomState"


class _StatePickler(Pickler):
    def persistent_id(self, obj: object) -> Any:
        return GLOBAL_GENERATOR if obj is np.random.mtrand._rand else None

    def reducer_override(self, obj: object) -> Any:
        if family_of(obj).epochs.is_pickled_by_attributes(obj):
            return object.__new__, (type(obj),), vars(obj), None, None, _set_attributes
        return super().reducer_override(obj)


class _Counter:
    """A file that only counts bytes."""

    def __init__(self) -> None:
        self.n_bytes = 0

    def write(self, content: bytes) -> None:
        self.n_bytes += memoryview(content).nbytes


class _SizePickler(_StatePickler):
    """Writes a reference for each text and each dtype, and the first of equal ones in full."""

    def __init__(self, counter: _Counter, protocol: int) -> None:
        super().__init__(counter, protocol)
        self.counter = counter
        self.seen: set = set()

    def address_of(self, obj: object) -> Address | None:
        return None  # so that the code of objects is included

    def persistent_id(self, obj: object) -> Any:
        if type(obj) is not str and not isinstance(obj, np.dtype):
            return super().persistent_id(obj)
        text = obj if type(obj) is str else repr(obj)
        if text not in self.seen:
            self.seen.add(text)
            self.counter.n_bytes += len(text.encode("utf-8", "surrogatepass"))
        return 0


def _set_attributes(obj: object, attributes: dict[str, Any]) -> None:
    vars(obj).update(attributes)


class _StateUnpickler(pickle.Unpickler):
    def persistent_load(self, pid: object) -> Any:
        return np.random.mtrand._rand


def first_line(error: BaseException) -> str:
    """The kind of an error and the first line of its text."""
    try:
        text = str(error)
    except BaseException:  # str(error) may itself raise an error
        text = "<no text>"
    return printable(f"{type(error).__name__}: {text[:LONGEST]}".strip().splitlines()[0])


def shortened(text: str) -> str:
    """Remove the middle of a long text, keeping the beginning and the end of a traceback."""
    left_out = len(text) - 2 * LONGEST
    if left_out <= LONGEST:
        return text
    return f"{text[:LONGEST]}\n... {left_out} characters ...\n{text[-LONGEST:]}"
