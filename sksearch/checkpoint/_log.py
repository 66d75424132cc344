"""The journal's file: read, repaired, and appended to while a search runs."""

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Self

from sksearch._utils._files import look_at, open_lines, open_own, write_all
from sksearch._utils._filesystem import system
from sksearch._utils._terminal import warn
from sksearch.checkpoint._errors import JournalError
from sksearch.checkpoint._lines import Scan, encode, scan
from sksearch.checkpoint._schema import FORMAT, HEADER, KIND, is_header

FORMATS = (1,)  # readable formats; the last one is written
BEGIN = f'{{"{KIND}":"{HEADER}"'.encode()  # beginning of the first record of every journal
ANEW = "pass another directory, or move this one away to start again."


class Log:
    """A journal that is appended to; opening repairs it.

    A line is safe once it is synced. Until then it is kept in memory, so that after any failure
    the file can be cut back to its safe part, and everything later written again.

    Parameters
    ----------
    path : Path
        The file; created if absent.

    Raises
    ------
    JournalError
        If the file is not a journal, or of a newer format. The file is left unchanged.
    PermissionError
        If the path is not a regular file of this user.
    """

    def __init__(self, path: Path):
        self.path = path
        self._file = open_own(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            found = scan(path)
            check(found, path)
            self.records = found.records
            self._repair(found)
            system().sync_folder(path.parent)  # the creator may have been killed before syncing
        except BaseException:
            self._file.close()
            raise
        # Replaced as one, since Ctrl-C may come between any two statements.
        self._safe: tuple[int, list[bytes]] = (found.good, [])  # offset, and the lines after it
        self._n_written = 0  # number of these lines in the file
        self._failed = False
        self._warned = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    @property
    def complete(self) -> bool:
        """True if everything appended is in the file."""
        return not self._failed

    def append(self, record: dict, sync: bool = True) -> None:
        """Append a record; retry records that the disk refuses with the next one."""
        self._safe[1].append(encode(record))
        self._try_to_write(sync)

    def append_or_raise(self, record: dict) -> None:
        """Append a record and sync it, or raise OSError."""
        lines = self._safe[1]
        lines.append(encode(record))
        try:
            self._write(sync=True)
        except OSError:
            lines.pop()  # the caller knows that it is not stored
            raise

    def close(self) -> None:
        """Write pending lines, and close the file."""
        if self._file.closed:
            return
        try:
            if self._safe[1]:
                self._try_to_write(sync=True)
        finally:
            self._file.close()

    def _try_to_write(self, sync: bool) -> None:
        """Write the lines missing in the file; warn at the first failure."""
        try:
            self._write(sync)
            if sync:
                self._warn_if_gone()
        except OSError as error:
            if not self._warned:
                self._warned = True
                warn(
                    f"{self.path} cannot be written ({error}). The search continues, keeps its "
                    "results in memory, and tries again after each result. Results not written "
                    "before this process ends cannot be resumed.",
                    stacklevel=4,
                )

    def _warn_if_gone(self) -> None:
        """Warn once if the file was moved or removed; writing continues."""
        if self._warned:
            return
        with suppress(OSError):
            if os.path.samestat(system().stat(self.path), system().stat_of(self._file)):
                return
        self._warned = True
        warn(
            f"{self.path} is missing: its directory was deleted or renamed. The search continues, "
            "but cannot be resumed from there.",
            stacklevel=5,
        )

    def _write(self, sync: bool) -> None:
        """Write the lines missing in the file, in one call, or raise OSError."""
        offset, lines = self._safe
        if self._failed:
            # Half a line may be there; and data of a failed sync are lost.
            self._file.truncate(offset)
            self._n_written = 0
        self._failed = True  # reset at the end of this function, unless Ctrl-C interrupts it
        write_all(self._file, b"".join(lines[self._n_written :]))
        self._n_written = len(lines)  # the next call writes the newer ones only
        if sync:
            self._sync_or_cut(offset)
            self._n_written = 0
            self._safe = (system().stat_of(self._file).st_size, [])
        self._failed = False

    def _sync_or_cut(self, offset: int) -> None:
        """Sync the file; hide lines that cannot be synced from later processes.

        Otherwise they would be read, and lost after a power failure with everything after them.
        """
        try:
            system().sync(self._file)
        except OSError:
            with suppress(OSError):
                self._file.truncate(offset)
            raise

    def _repair(self, found: Scan) -> None:
        """Cut off damage, and keep it if it contains intact lines; sync the rest."""
        damage = found.size - found.good
        if not damage:
            # A killed process may not have synced, and a later failing sync would lose it.
            if found.size:
                system().sync(self._file)
            return
        what = f"{self.path} is damaged after its first {len(found.records)} records"
        if found.followed:
            moved = _copy_tail(self.path, found.good)
            message = (
                f"{what}, but later records are intact. Results after the damage are NOT used: "
                f"the last {damage} bytes were moved to {moved}. Check the disk."
            )
        else:
            message = f"{what}, as after a kill: the last {damage} bytes were removed."
        self._file.truncate(found.good)
        system().sync(self._file)
        warn(message, stacklevel=4)


def check(found: Scan, path: Path) -> None:
    """Raise JournalError unless this is a readable journal."""
    if found.records:
        begins = is_header(found.records[0])
    else:
        begins = found.size == len(found.damaged) and _is_torn_header(found.damaged)
    if not begins:
        raise JournalError(
            f"{path} does not begin with the header of a search: it is damaged, or not an "
            f"sksearch journal. It was left unchanged: {ANEW}"
        )
    for record in found.records:
        if is_header(record) and record.get(FORMAT) not in FORMATS:
            raise JournalError(
                f"{path} has format {record.get(FORMAT)}, but this version of sksearch reads "
                f"formats up to {FORMATS[-1]}. It was left unchanged: update sksearch, or {ANEW}"
            )


def split(records: list[dict]) -> tuple[dict | None, list[dict], list[dict]]:
    """Return the last header, the records after it and the records before it."""
    headers = [number for number, record in enumerate(records) if is_header(record)]
    if not headers:
        return None, [], []
    return records[headers[-1]], records[headers[-1] + 1 :], records[: headers[-1]]


def _is_torn_header(line: bytes) -> bool:
    """Return whether a line is the remainder of a first line after a kill or a power failure.

    An empty line is one. Unwritten parts are zeros, and later parts may be present.
    """
    begin = line[: 9 + len(BEGIN)]
    is_torn = line[-1:] != b"\n" or (len(line) > len(begin) and b"\0" in line)
    begins = re.fullmatch(rb"[0-9a-f\0]{0,8}|[0-9a-f\0]{8}[ \0].*", begin, re.DOTALL)
    fits = all(found in (0, byte) for found, byte in zip(begin[9:], BEGIN, strict=False))
    return is_torn and bool(begins) and fits


def _copy_tail(path: Path, offset: int) -> Path:
    """Copy the part after an offset to a new file next to it."""
    number, target = 0, path.with_suffix(".bad")
    while look_at(target) is not None:
        number += 1
        target = path.with_suffix(f".bad.{number}")
    new = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with open_lines(path) as source, open_own(target, new) as file:
        source.seek(offset)
        while block := source.read(1 << 20):
            write_all(file, block)
        system().sync(file)
    system().sync_folder(path.parent)
    return target
