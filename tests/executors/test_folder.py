"""Temporary folders: they are removed when their search has ended, and not before."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from sksearch._utils import _filesystem
from sksearch._utils._filesystem import FileSystem
from sksearch.executors._folder import LOCK, TaskFolder, remove_folders_of_the_dead
from tests import scripts

pytestmark = pytest.mark.skipif(os.name == "nt", reason="locks of Unix")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The folder for temporary files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


SEARCH = """
import sys
from sksearch.executors._folder import TaskFolder
folder = TaskFolder(None, "context", 0)
print("there", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def search(folder):
    """Another process with a temporary folder."""
    process = scripts.start(["-c", SEARCH], env=os.environ | {"TMPDIR": str(folder)})
    assert process.stdout.readline() == "there\n"
    yield process
    process.kill()
    process.communicate()


@pytest.mark.timeout(60)
@pytest.mark.parametrize("namespace", ["own", "other", "none"])
def test_the_folder_of_a_live_search_stays_and_that_of_a_killed_one_goes(
    namespace, folder, search, monkeypatch
):
    """In another container, the number of its process is that of no or of another process."""
    if namespace != "own":
        path = folder / "namespace"
        monkeypatch.setattr(_filesystem, "NAMESPACE", str(path))
        if namespace == "other":
            path.symlink_to("pid:[7]")
        monkeypatch.setattr(FileSystem, "process_lives", lambda self, pid: False)
    remove_folders_of_the_dead()
    assert len(list(folder.glob("sksearch-*"))) == 1
    search.kill()
    search.wait(20)
    monkeypatch.setattr(FileSystem, "process_lives", lambda self, pid: True)
    remove_folders_of_the_dead()
    assert not list(folder.glob("sksearch-*"))


def test_a_folder_that_is_not_locked_yet_is_not_found(folder, monkeypatch):
    def lock(self, file):
        remove_folders_of_the_dead()
        return True

    monkeypatch.setattr(FileSystem, "lock", lock)
    task_folder = TaskFolder(None, "context", 0)
    assert task_folder.file.exists()
    task_folder.remove()
    assert not list(folder.iterdir())


@pytest.mark.filterwarnings("ignore:This process.*multi-threaded:DeprecationWarning")
def test_a_fork_has_no_lock(folder):
    task_folder = TaskFolder(None, "context", 0)
    if (pid := os.fork()) == 0:
        os._exit(not task_folder._lock.closed)
    assert os.waitpid(pid, 0)[1] == 0
    assert not task_folder._lock.closed
    task_folder.remove()


def test_without_locks_folders_of_others_stay(folder, search, monkeypatch):
    def lock(self, file):
        raise OSError("not supported")

    monkeypatch.setattr(FileSystem, "lock", lock)
    search.kill()
    search.wait(20)
    before = set(folder.iterdir())
    task_folder = TaskFolder(None, "context", 0)
    assert task_folder.file.exists()
    task_folder.remove()
    assert set(folder.iterdir()) == before


def test_an_unfinished_removal_is_continued(folder, search, monkeypatch):
    search.kill()
    search.wait(20)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Path, "unlink", lambda self: interrupt())
        remove_folders_of_the_dead()
    (left,) = folder.glob("sksearch-*")
    (left / "context").unlink()
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(shutil, "rmtree", lambda *a, **k: interrupt())
        remove_folders_of_the_dead()
    assert [path.name for path in left.iterdir()] == [LOCK]
    remove_folders_of_the_dead()
    assert not list(folder.iterdir())


def interrupt():
    raise KeyboardInterrupt


def test_folders_of_users_are_left_alone(folder):
    for name in ("sksearch-1-a", "sksearch-results"):
        (folder / name).mkdir()
        (folder / name / "lock").touch()
    remove_folders_of_the_dead()
    assert len(list(folder.iterdir())) == 2


def test_where_nothing_temporary_can_be_written_the_remedies_are_named(monkeypatch):
    def nowhere(*args, **kwargs):
        raise FileNotFoundError(2, "No usable temporary directory found")

    for name in ("gettempdir", "mkdtemp"):
        monkeypatch.setattr(tempfile, name, nowhere)
    remove_folders_of_the_dead()
    with pytest.raises(OSError, match=r"No usable temporary.*set checkpoint_dir, or TMPDIR to"):
        TaskFolder(None, "context", 0)
