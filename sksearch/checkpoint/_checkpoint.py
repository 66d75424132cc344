"""A checkpoint directory: opening, locking and writing."""

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Self

import numpy as np

from sksearch._utils._files import TEMPORARY, look_at
from sksearch._utils._filesystem import system
from sksearch._utils._terminal import warn
from sksearch.checkpoint._errors import JournalError
from sksearch.checkpoint._folder import (
    SPOOLED,
    make_folder,
    make_subfolder,
    read_splits,
    read_spool,
    spool_file,
    write_splits,
)
from sksearch.checkpoint._lines import decode, encode, scan
from sksearch.checkpoint._lock import Lock
from sksearch.checkpoint._log import ANEW, FORMATS, Log, check, split
from sksearch.checkpoint._schema import FORMAT, HEADER, KIND

JOURNAL = "journal.jsonl"


class Checkpoint:
    """Checkpoint of a search, in a directory to which no other search writes; a context manager.

    Opening creates the directory, readable by the user alone, or reads and repairs an existing
    one. All faults of a directory are found here, before any training: NotADirectoryError,
    PermissionError (others can write to it, or this process cannot), SearchLockedError,
    JournalError (no journal, or a newer version, which is left unchanged), OSError (a full disk).

    Attributes
    ----------
    header : dict or None
        The last header, which describes the search. None before `begin` of a new search.
    events : list of dict
        Records after the last header, at opening.
    earlier : list of dict
        Records before the last header, including headers, of a search that was extended.
    states, spool : Path
        Directories of fitted models, and of results that the journal may lack.

    Notes
    -----
    A damaged end of the journal, left by a kill, is cut off with a warning. If intact records
    follow the damage, both are moved to `journal.bad`. So the journal always consists of the
    longest initial sequence of intact records.

    A process forked while the directory is open does not hold its lock, and must not use this
    object.
    """

    def __init__(self, path: str | os.PathLike):
        self.path = Path(path).expanduser().absolute()
        self.states = self.path / "states"
        self.spool = self.path / "spool"
        self._splits = self.path / "splits.npz"
        remedy = "Pass a writable directory on a file system that supports locks."
        with _explained(self.path, remedy), contextlib.ExitStack() as stack:
            make_folder(self.path)
            stack.enter_context(Lock(self.path / "lock"))
            self._log = stack.enter_context(Log(self.path / JOURNAL))
            self.header, self.events, self.earlier = split(self._log.records)
            del self._log.records
            for folder in (self.states, self.spool):
                make_subfolder(folder)
            self._check_that_new_is_empty()
            self._open = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    @property
    def complete(self) -> bool:
        """True if all appended records are on disk."""
        return self._log.complete

    def begin(self, header: dict, splits: list[tuple[np.ndarray, np.ndarray]]) -> None:
        """Write the header and the rows of each fold, before the search does anything.

        Adds kind and format to the header. Raises TypeError if it contains a value unsupported by
        the journal, and OSError if the disk is full or not writable.
        """
        header = {KIND: HEADER, FORMAT: FORMATS[-1]} | header
        as_read = decode(encode(header))
        with _explained(self.path, "Free disk space there, or pass another directory."):
            write_splits(self._splits, splits)
            self._log.append_or_raise(header)
        if self.header is not None:
            self.earlier += [self.header, *self.events]
        self.header, self.events = as_read, []

    def append(self, record: dict, sync: bool = True) -> None:
        """Append a record to the journal; TypeError if it contains an unsupported value.

        If the disk refuses the record, no error is raised: the record is kept in memory, a warning
        is given the first time, and writing is retried with each later record and at closing. With
        `sync` the record survives a loss of power once this returns, otherwise only the end of
        this process; the next synced record makes it safe. Tuples come back as lists.
        """
        self._log.append(record, sync)

    def load_splits(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the folds passed to `begin`, masks as integers; JournalError if damaged."""
        return read_splits(self._splits)

    def spooled(self, name: str) -> dict | None:
        """Return a result stored by a worker with `write_spool`, None if absent or damaged."""
        return read_spool(self.spool, name)

    def has_spooled(self, name: str) -> bool:
        """Return whether a worker has stored a result."""
        return look_at(spool_file(self.spool, name)) is not None

    def names_in_spool(self) -> list[str]:
        """List the results that workers have stored."""
        names = system().names(self.spool)
        return [name.removesuffix(SPOOLED) for name in names if name.endswith(SPOOLED)]

    def remove_spooled(self, names: Iterable[str]) -> None:
        """Remove results that the journal contains; absent ones are ignored."""
        for name in names:
            _remove(spool_file(self.spool, name))

    def sweep(self, keep: set[str]) -> None:
        """Remove unfinished files, and all states except those in `keep`."""
        for file in _files(self.states):
            if file.name not in keep:
                _remove(file)
        # The folder itself may contain files being written, such as the page of `sksearch.watch`.
        own = [f for f in _files(self.path) if f.name.startswith(f"{self._splits.name}.")]
        for file in (*_files(self.spool), *own):
            if file.suffix == TEMPORARY:
                _remove(file)

    def close(self) -> None:
        """Write pending records, and release the directory."""
        self._open.close()

    def _check_that_new_is_empty(self) -> None:
        """Raise an error if there are files of another journal, which `sweep` would remove."""
        for folder in (self.states, self.spool):
            if self.header is None and system().names(folder):
                raise JournalError(
                    f"{folder} contains files of a search, but its journal is missing: {ANEW}"
                )


def read_journal(path: str | os.PathLike) -> tuple[dict | None, list[dict], list[dict]]:
    """Read the last header (or None), the records after it and the records before it.

    A search may be writing to the journal: nothing is locked, repaired or written. Raises
    FileNotFoundError if the file is missing, and JournalError if it is not a journal, or of a
    newer version.
    """
    path = Path(path).expanduser() / JOURNAL
    found = scan(path)
    check(found, path)
    if found.followed:
        warn(
            f"{path} is damaged after its first {len(found.records)} records; later ones are not "
            "read.",
        )
    return split(found.records)


@contextlib.contextmanager
def _explained(path: Path, remedy: str) -> Iterator[None]:
    """Add a path and a remedy to errors of the system, which names no open file."""
    try:
        yield
    except OSError as error:
        if error.errno is not None:
            error.filename = error.filename or str(path)
            error.add_note(remedy)
        raise


def _files(folder: Path) -> list[Path]:
    """Return the entries of a directory."""
    with contextlib.suppress(OSError):
        return [folder / name for name in system().names(folder)]
    return []


def _remove(file: Path) -> None:
    """Remove a file; failures are harmless, and directories stay."""
    with contextlib.suppress(OSError):
        system().remove(file)
