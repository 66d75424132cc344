"""Folder through which a search and its workers exchange files."""

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from sksearch._utils._filesystem import system
from sksearch.executors import _shared_data

PREFIX = "sksearch-"  # prefix of temporary folders, followed by the pid of the main process


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
        self.path = temporary_folder() if path is None else path
        self.file = self.path / name
        try:
            self.ref = _shared_data.write(shared, self.file)
        except BaseException:
            self.remove()
            raise

    def remove(self) -> None:
        """Remove a temporary folder; in a permanent one, remove the files of the search."""
        if self._is_temporary:
            shutil.rmtree(self.path, ignore_errors=True)
        else:
            for file in self.path.glob(f"{self.file.name}*"):
                file.unlink(missing_ok=True)


def temporary_folder() -> Path:
    """Create a private folder, and remove the folders of killed searches."""
    remove_folders_of_the_dead()
    return Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))


def remove_folders_of_the_dead() -> None:
    """Remove temporary folders of killed searches; called by later searches and by workers."""
    for old in Path(tempfile.gettempdir()).glob(f"{PREFIX}*-*"):
        with suppress(OSError, ValueError):
            pid = int(old.name.split("-")[1])
            if not system().process_lives(pid) and old.stat().st_uid == os.getuid():
                shutil.rmtree(old, ignore_errors=True)
