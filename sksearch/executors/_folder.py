"""Folder through which a search and its workers exchange files."""

import os
import shutil
import tempfile
from contextlib import suppress
from io import FileIO
from pathlib import Path

from sksearch._utils._files import is_dead, open_own, read_holder, write_holder
from sksearch._utils._filesystem import system
from sksearch._utils._forks import close_in_children
from sksearch.executors import _shared_data

PREFIX = "sksearch-"  # of temporary folders; others do not look into one that is not locked yet
UNLOCKED = f".{PREFIX}"
LOCK = "search.lock"  # held by the search of a temporary folder


class TaskFolder:
    """Holds the data that all tasks share, and task outputs too large to return.

    Parameters
    ----------
    path : Path or None
        A permanent folder; None for a temporary one.
    name : str
        File name of the data; names of the search's other files may begin with it.
    shared : object
        The data.

    Attributes
    ----------
    path : Path
        The folder.
    file : Path
        The file of the data.
    ref : Ref
        Reference by which workers fetch the data.
    """

    def __init__(self, path: Path | None, name: str, shared: object):
        self._is_temporary = path is None
        self._lock: FileIO | None = None
        self.path = _temporary_folder() if path is None else path
        try:
            if self._is_temporary:
                self._lock_and_rename()
            self.file = self.path / name
            self.ref = _shared_data.write(shared, self.file)
        except BaseException:
            self.remove()
            raise

    def remove(self) -> None:
        """Remove a temporary folder; in a permanent one, remove the files of the search."""
        if self._lock is not None:
            self._lock.close()
        if self._is_temporary:
            _remove(self.path)
        else:
            for file in self.path.glob(f"{self.file.name}*"):
                file.unlink(missing_ok=True)

    def _lock_and_rename(self) -> None:
        """Lock a temporary folder, and give it the name by which later searches find it.

        It keeps its name if the file system has no locks, or does not rename an open folder.
        """
        with suppress(OSError):
            self._lock = open_own(self.path / LOCK, os.O_RDWR | os.O_CREAT | os.O_APPEND)
            close_in_children(self._lock)
            system().lock(self._lock)
            write_holder(self._lock)
            self.path = self.path.rename(self.path.with_name(self.path.name[1:]))


def _temporary_folder() -> Path:
    """Create a private folder, and remove the folders of killed searches."""
    remove_folders_of_the_dead()
    try:
        return Path(tempfile.mkdtemp(prefix=UNLOCKED))
    except OSError as error:
        raise OSError(
            error.errno,
            "Worker processes need a folder for temporary files, and none can be created "
            f"({error.strerror}): set checkpoint_dir, or TMPDIR to a writable folder, or pass "
            "n_jobs=1",
        ) from error


def remove_folders_of_the_dead() -> None:
    """Remove temporary folders of killed searches; called by later searches and by workers.

    Whether a search lives is decided by the lock of its folder: numbers of processes differ
    between containers with a common folder. If they cannot be locked, nothing is removed.
    """
    with suppress(OSError):  # there is no folder for temporary files
        for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{LOCK}"):
            with suppress(OSError):
                with open_own(path, os.O_RDWR) as file:
                    # A process that is about to end may have its lock for some seconds.
                    is_left = system().lock(file) or is_dead(*read_holder(file))
                if is_left:
                    _remove(path.parent)


def _remove(folder: Path) -> None:
    """Remove a temporary folder, its lock last: an unfinished removal is continued by others."""
    with suppress(OSError):
        for path in folder.iterdir():
            if path.name != LOCK:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
    shutil.rmtree(folder, ignore_errors=True)
