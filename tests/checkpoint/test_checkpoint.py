"""One checkpoint directory: what is in it, whose it is, and what becomes of a bad one."""

import errno
import math
import os
import re
import stat
import sys

import numpy as np
import pytest

from sksearch.checkpoint import _log as log_module
from sksearch.checkpoint._checkpoint import Checkpoint, read_journal
from sksearch.checkpoint._folder import write_spool
from sksearch.search import JournalError, SearchLockedError
from tests.checkpoint.samples import HEADER, SPLITS, text

unix = pytest.mark.skipif(os.name == "nt", reason="permissions of Unix")


def test_a_new_directory_is_empty_and_ours_alone(tmp_path):
    folder = tmp_path / "a" / "b" / "c"
    with Checkpoint(folder) as checkpoint:
        assert (checkpoint.header, checkpoint.events, checkpoint.earlier) == (None, [], [])
        assert checkpoint.complete
        assert checkpoint.states.is_dir()
        assert checkpoint.spool.is_dir()
        if os.name != "nt":
            for made in (folder.parents[1], folder.parents[0], folder, checkpoint.states):
                assert stat.S_IMODE(made.stat().st_mode) == 0o700


def test_what_was_appended_comes_back(journal):
    folder, written = journal
    with Checkpoint(folder) as checkpoint:
        assert checkpoint.header == {"k": "header", "fmt": 1} | HEADER
        assert text(checkpoint.events) == text(written)
        assert checkpoint.earlier == []


def test_a_record_is_readable_at_once_also_one_that_is_not_synced(tmp_path):
    with Checkpoint(tmp_path) as checkpoint:
        checkpoint.begin(HEADER, SPLITS)
        checkpoint.append({"k": "ask", "t": 0}, sync=False)
        assert read_journal(tmp_path)[1] == [{"k": "ask", "t": 0}]


def test_an_extended_search_keeps_what_it_did_before(journal):
    folder, written = journal
    with Checkpoint(folder) as checkpoint:
        first = checkpoint.header
        checkpoint.begin(HEADER | {"seed": 8}, SPLITS)
        checkpoint.append({"k": "stop"})
        before = [first, *written]
        assert checkpoint.header["seed"] == 8
        assert (text(checkpoint.events), text(checkpoint.earlier)) == ("[]", text(before))
    with Checkpoint(folder) as checkpoint:
        assert checkpoint.header["seed"] == 8
        assert (checkpoint.events, text(checkpoint.earlier)) == ([{"k": "stop"}], text(before))


def test_an_empty_journal_is_a_search_that_has_not_begun(tmp_path):
    Checkpoint(tmp_path).close()
    assert read_journal(tmp_path) == (None, [], [])
    with pytest.raises(FileNotFoundError):
        read_journal(tmp_path / "states")


def test_a_record_that_is_none_leaves_no_trace(tmp_path):
    with Checkpoint(tmp_path) as checkpoint:
        checkpoint.begin(HEADER, SPLITS)
        with pytest.raises(TypeError, match="'p' holds"):
            checkpoint.append({"k": "ask", "p": {1, 2}})
        checkpoint.append({"k": "stop"})
    assert read_journal(tmp_path)[1] == [{"k": "stop"}]


# Folds


@pytest.mark.parametrize(
    "splits",
    [
        SPLITS,
        [(np.arange(10), np.arange(0)), (np.arange(2), np.arange(7))],
        [([0, 2], [1])],
        [(np.array([5, 6], dtype=np.int32), np.array([-1]))],
        [(np.array([i for i in range(50) if i != j]), np.array([j])) for j in range(50)],
    ],
    ids=["two", "of different lengths", "lists", "other integers", "leave one out"],
)
def test_folds_come_back(tmp_path, splits):
    with Checkpoint(tmp_path) as checkpoint:
        checkpoint.begin(HEADER, splits)
    with Checkpoint(tmp_path) as checkpoint:
        loaded = checkpoint.load_splits()
    assert len(loaded) == len(splits)
    for old, new in zip(splits, loaded, strict=True):
        for a, b in zip(old, new, strict=True):
            np.testing.assert_array_equal(a, b)
            assert b.dtype.kind == "i"


def test_masks_come_back_as_the_rows_that_they_are(tmp_path):
    mask = np.array([True, False, True])
    with Checkpoint(tmp_path) as checkpoint:
        checkpoint.begin(HEADER, [(mask, ~mask)])
        ((train, test),) = checkpoint.load_splits()
    assert (train.tolist(), test.tolist()) == ([0, 2], [1])


def test_folds_that_are_no_rows_are_refused(tmp_path):
    with Checkpoint(tmp_path) as checkpoint:
        with pytest.raises(TypeError, match="Cannot cast"):
            checkpoint.begin(HEADER, [([0.5], [1])])
        assert checkpoint.header is None
    assert read_journal(tmp_path) == (None, [], [])


@pytest.mark.parametrize("at", [0, 60, 200, -30])
def test_damaged_folds_are_an_error_and_never_other_folds(journal, at):
    folder, _ = journal
    data = bytearray((folder / "splits.npz").read_bytes())
    data[at] ^= 255
    (folder / "splits.npz").write_bytes(data)
    with Checkpoint(folder) as checkpoint:
        try:
            loaded = checkpoint.load_splits()
        except JournalError:
            return
    for old, new in zip(SPLITS, loaded, strict=True):
        np.testing.assert_array_equal(np.concatenate(old), np.concatenate(new))


@pytest.mark.parametrize("content", [None, b"", b"PK", b"text"])
def test_missing_folds_are_an_error(journal, content):
    folder, _ = journal
    (folder / "splits.npz").unlink()
    if content is not None:
        (folder / "splits.npz").write_bytes(content)
    with Checkpoint(folder) as checkpoint, pytest.raises(JournalError, match="missing or damaged"):
        checkpoint.load_splits()


def test_folds_are_never_unpickled(journal):
    folder, _ = journal
    objects = np.array([print, print], dtype=object)
    np.savez(folder / "splits.npz", train=objects, test=objects, train_sizes=2, test_sizes=2)
    with Checkpoint(folder) as checkpoint, pytest.raises(JournalError, match="allow_pickle=False"):
        checkpoint.load_splits()


# What workers leave


def test_a_spooled_result_comes_back_until_it_is_removed(tmp_path):
    with Checkpoint(tmp_path) as checkpoint:
        write_spool(checkpoint.spool, "17.9.2", {"score": np.float64(0.1), "loss": math.inf})
        write_spool(checkpoint.spool, "17.9.3", {"score": 1})
        write_spool(checkpoint.spool, "17.9.3", {"score": 2})
        assert checkpoint.spooled("17.9.2") == {"score": 0.1, "loss": math.inf}
        assert checkpoint.spooled("17.9.3") == {"score": 2}
        checkpoint.remove_spooled(["17.9.2", "never"])
        assert checkpoint.spooled("17.9.2") is None
        assert [file.name for file in checkpoint.spool.iterdir()] == ["17.9.3.json"]


@pytest.mark.parametrize(
    "change", [lambda b: b[:-1], lambda b: b"", lambda b: b.replace(b"9", b"8")]
)
def test_a_damaged_spooled_result_is_none(tmp_path, change):
    with Checkpoint(tmp_path) as checkpoint:
        write_spool(checkpoint.spool, "1.1.1", {"score": 0.123456789})
        file = checkpoint.spool / "1.1.1.json"
        file.write_bytes(change(file.read_bytes()))
        assert checkpoint.spooled("1.1.1") is None


def test_a_worker_whose_folder_is_gone_continues(tmp_path):
    write_spool(tmp_path / "gone", "1.1.1", {"score": 1})
    assert list(tmp_path.iterdir()) == []


def test_sweeping_leaves_what_is_needed(journal):
    folder, _ = journal
    with Checkpoint(folder) as checkpoint:
        write_spool(checkpoint.spool, "1.1.1", {"score": 1})
        for name in ("1.1.0.pkl", "2.1.0.pkl", "3.1.0.pkl.abc.tmp"):
            (checkpoint.states / name).touch()
        (checkpoint.states / "folder").mkdir()
        (checkpoint.spool / "2.1.1.json.abc.tmp").touch()
        (folder / "splits.npz.abc.tmp").touch()
        checkpoint.sweep({"2.1.0.pkl"})
        assert {file.name for file in checkpoint.states.iterdir()} == {"2.1.0.pkl", "folder"}
        assert [file.name for file in checkpoint.spool.iterdir()] == ["1.1.1.json"]
        left = {file.name for file in folder.iterdir()}
        assert left == {"journal.jsonl", "lock", "splits.npz", "states", "spool"}


def test_files_of_no_search_are_never_swept(tmp_path):
    (tmp_path / "states").mkdir()
    (tmp_path / "states" / "map_of_states.png").touch()
    with pytest.raises(JournalError, match="its journal is missing"):
        Checkpoint(tmp_path)


# Directories that cannot be used


def test_a_path_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError, match=r"is a file: pass a directory"):
        Checkpoint(tmp_path / "file")
    with pytest.raises(NotADirectoryError):
        Checkpoint(tmp_path / "file" / "below")


@unix
@pytest.mark.parametrize("name", ["", "states", "spool"])
@pytest.mark.parametrize("mode", [0o770, 0o707])
def test_a_directory_that_others_can_write_to_is_refused(journal, name, mode):
    folder, _ = journal
    (folder / name).chmod(mode)
    with pytest.raises(PermissionError, match=r"other users.*run `chmod go-w"):
        Checkpoint(folder)
    (folder / name).chmod(0o755)  # others may read it, if the user says so
    Checkpoint(folder).close()


@unix
@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("name", ["", "states"])
def test_a_directory_of_another_user_is_refused(journal, name):
    folder, _ = journal
    os.chown(folder / name, 12345, -1)
    with pytest.raises(PermissionError, match=r"belongs to another user \(uid 12345\)"):
        Checkpoint(folder)


@unix
@pytest.mark.parametrize("name", ["states", "spool"])
def test_a_link_inside_the_directory_is_refused(journal, tmp_path, name):
    folder, _ = journal
    (folder / name).rename(tmp_path / "elsewhere")
    (folder / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(PermissionError, match=r"is a link.*remove it"):
        Checkpoint(folder)


# Two searches


def test_a_second_search_of_this_process_is_refused(tmp_path):
    with Checkpoint(tmp_path) as checkpoint:
        with pytest.raises(SearchLockedError, match=f"this process, {os.getpid()} on "):
            Checkpoint(tmp_path)
        checkpoint.begin(HEADER, SPLITS)
    with Checkpoint(tmp_path) as checkpoint:
        assert checkpoint.header is not None


def test_windows_locks_an_unread_byte(tmp_path, monkeypatch):
    """The same rules through msvcrt, played here by record locks on the one byte."""
    fcntl = pytest.importorskip("fcntl")
    from sksearch._utils import _filesystem as _system

    class Msvcrt:
        LK_NBLCK = 2
        locked = set()

        def locking(self, descriptor, mode, n_bytes):
            file = (os.fstat(descriptor).st_ino, os.lseek(descriptor, 0, os.SEEK_CUR), n_bytes)
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, n_bytes)
            if file in self.locked:
                raise PermissionError(errno.EACCES, "Permission denied")
            self.locked.add(file)

    monkeypatch.setattr(_system, "fcntl", None)
    monkeypatch.setattr(_system, "msvcrt", Msvcrt(), raising=False)
    with (
        Checkpoint(tmp_path),
        pytest.raises(SearchLockedError, match=f"this process, {os.getpid()}"),
    ):
        Checkpoint(tmp_path)
    assert (tmp_path / "lock").stat().st_size < 1000


# A disk that fails


class Disk:
    """A disk that takes some bytes more and then fails, or that cannot sync."""

    def __init__(self, monkeypatch, file):
        self.room, self.syncs, self.file = math.inf, True, file
        self._fsync = os.fsync
        monkeypatch.setattr(log_module.os, "fsync", self.fsync)

    def fsync(self, descriptor):
        if not self.syncs:
            raise OSError(errno.EIO, "Input/output error")
        self._fsync(descriptor)

    def write(self, data):
        if self.room <= 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        n = self.file.write(data[: int(min(self.room, len(data)))])
        self.room -= n
        return n

    def __getattr__(self, name):
        return getattr(self.file, name)


@pytest.fixture
def disk(tmp_path, monkeypatch):
    checkpoint = Checkpoint(tmp_path)
    checkpoint.begin(HEADER, SPLITS)
    disk = Disk(monkeypatch, checkpoint._log._file)
    checkpoint._log._file = disk
    yield checkpoint, disk
    disk.room, disk.syncs = math.inf, True
    checkpoint.close()


def events(checkpoint):
    return [record["t"] for record in read_journal(checkpoint.path)[1]]


@pytest.mark.parametrize("room", [0, 1, 20])
def test_a_full_disk_is_warned_of_once_and_everything_is_written_later(disk, room):
    checkpoint, disk = disk
    checkpoint.append({"k": "ask", "t": 0}, sync=False)
    disk.room = room
    with pytest.warns(UserWarning, match="No space left.*continues") as caught:
        checkpoint.append({"k": "tell", "t": 1})
    assert not checkpoint.complete
    checkpoint.append({"k": "ask", "t": 2}, sync=False)
    checkpoint.append({"k": "tell", "t": 3})
    assert not checkpoint.complete
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert set(events(checkpoint)) <= {0}
    disk.room = math.inf
    checkpoint.append({"k": "tell", "t": 4})
    assert checkpoint.complete
    assert events(checkpoint) == [0, 1, 2, 3, 4]
    checkpoint.append({"k": "tell", "t": 5})
    assert events(checkpoint) == [0, 1, 2, 3, 4, 5]


def test_what_a_failed_sync_may_have_lost_is_written_again(disk):
    checkpoint, disk = disk
    checkpoint.append({"k": "tell", "t": 0})
    checkpoint.append({"k": "ask", "t": 1}, sync=False)
    disk.syncs = False
    with pytest.warns(UserWarning, match="Input/output error"):
        checkpoint.append({"k": "tell", "t": 2})
    assert not checkpoint.complete
    # the pages that could not be written are gone
    os.truncate(checkpoint.path / "journal.jsonl", checkpoint._log._safe[0])
    disk.syncs = True
    checkpoint.append({"k": "tell", "t": 3})
    assert events(checkpoint) == [0, 1, 2, 3]


def test_what_could_not_be_synced_is_not_there_for_a_later_process(disk):
    """It would be read, believed and built upon, and gone after a loss of power."""
    checkpoint, disk = disk
    checkpoint.append({"k": "tell", "t": 0})
    disk.syncs = False
    with pytest.raises(OSError, match="Input/output error"):
        checkpoint._log.append_or_raise({"k": "header", "fmt": 1, "seed": 8})
    assert read_journal(checkpoint.path)[0]["seed"] == 7
    with pytest.warns(UserWarning, match="Input/output error"):
        checkpoint.append({"k": "tell", "t": 1})
    assert events(checkpoint) == [0]


def test_what_a_killed_process_has_not_synced_is_synced_before_it_is_built_upon(
    journal, monkeypatch
):
    """A later sync may fail, and lose all that was not; only what came since is written again."""
    folder, _ = journal
    synced, fsync = [], os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: (synced.append(os.fstat(fd).st_ino), fsync(fd)))
    with Checkpoint(folder):
        assert (folder / "journal.jsonl").stat().st_ino in synced


def test_what_was_not_synced_is_synced_at_the_end(journal, monkeypatch):
    folder, _ = journal
    with Checkpoint(folder) as checkpoint:
        checkpoint.append({"k": "ask", "t": 9, "r": 1, "p": {}}, sync=False)
        synced, fsync = [], os.fsync
        monkeypatch.setattr(
            os, "fsync", lambda fd: (synced.append(os.fstat(fd).st_ino), fsync(fd))
        )
    assert (folder / "journal.jsonl").stat().st_ino in synced


def test_names_that_a_killed_process_has_not_synced_are_synced_by_the_next(tmp_path, monkeypatch):
    """Or a loss of power takes the whole directory, with what has been acknowledged since."""
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True, mode=0o700)
    (folder / "journal.jsonl").touch(mode=0o600)
    synced, fsync = [], os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: (synced.append(os.fstat(fd).st_ino), fsync(fd)))
    with Checkpoint(folder):
        assert {path.stat().st_ino for path in (folder, folder.parent)} <= set(synced)
    synced.clear()
    with Checkpoint(folder / "c" / "d"):
        assert folder.parent.stat().st_ino in synced


def test_closing_tries_once_more(disk):
    checkpoint, disk = disk
    disk.room = 5
    with pytest.warns(UserWarning, match="cannot be written"):
        checkpoint.append({"k": "tell", "t": 0})
    disk.room = math.inf
    checkpoint.close()
    assert checkpoint.complete
    assert events(checkpoint) == [0]


def test_a_disk_that_stays_full_leaves_an_incomplete_journal_that_opens(disk):
    checkpoint, disk = disk
    checkpoint.append({"k": "tell", "t": 0})
    disk.room = 5
    with pytest.warns(UserWarning, match="cannot be written"):
        checkpoint.append({"k": "tell", "t": 1})
    checkpoint.close()
    assert not checkpoint.complete
    Checkpoint(checkpoint.path).close()
    assert events(checkpoint) == [0]


@unix
def test_a_directory_that_is_renamed_or_deleted_is_warned_of_once(tmp_path):
    folder = tmp_path / "checkpoint"
    with Checkpoint(folder) as checkpoint:
        checkpoint.begin(HEADER, SPLITS)
        folder.rename(tmp_path / "elsewhere")
        with pytest.warns(UserWarning, match="its directory was deleted or renamed") as found:
            checkpoint.append({"k": "tell", "t": 0})
        assert found[0].filename == __file__
        checkpoint.append({"k": "tell", "t": 1})  # warnings are errors: this one gives none
    assert len(read_journal(tmp_path / "elsewhere")[1]) == 2


def test_a_search_does_not_begin_on_a_full_disk(disk):
    checkpoint, disk = disk
    disk.room = 10
    where = re.escape(str(checkpoint.path))
    with pytest.raises(OSError, match=f"No space left on device: '{where}'") as caught:
        checkpoint.begin(HEADER | {"seed": 8}, SPLITS)
    assert caught.value.__notes__ == ["Free disk space there, or pass another directory."]
    assert checkpoint.header["seed"] == 7
    disk.room = math.inf
    checkpoint.append({"k": "tell", "t": 0})
    header, _, earlier = read_journal(checkpoint.path)
    assert (header["seed"], earlier) == (7, [])


def test_an_interrupt_anywhere_neither_loses_nor_doubles_a_record(tmp_path):
    """Ctrl-C may come after any line of code."""
    with Checkpoint(tmp_path) as checkpoint:
        checkpoint.begin(HEADER, SPLITS)
        done = False
        n = step = 0
        while not done:
            left = step

            def interrupt(frame, event, arg):
                nonlocal left
                if frame.f_code.co_filename != log_module.__file__:
                    return None
                if event == "line":
                    left -= 1
                    if left < 0:
                        raise KeyboardInterrupt
                return interrupt

            checkpoint.append({"k": "ask", "t": n}, sync=False)
            tracer = sys.gettrace()
            sys.settrace(interrupt)
            try:
                checkpoint.append({"k": "tell", "t": n + 1})
                done = True
            except KeyboardInterrupt:
                pass
            finally:
                sys.settrace(tracer)
            checkpoint.append({"k": "tell", "t": n + 2})
            n += 3
            step += 1
    found = events(checkpoint)
    assert step > 10
    assert len(set(found)) == len(found)
    assert found == sorted(found)
    # A record is absent only if the interrupt came before it was taken over.
    assert len(set(range(n)) - set(found)) <= 1
