"""The lock of a checkpoint: its holder is named, and what the dead have left is waited for."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from io import FileIO
from pathlib import Path

import pytest

from sksearch._utils import _filesystem as _system
from sksearch._utils._filesystem import FileSystem
from sksearch.checkpoint import _lock as lock_module
from sksearch.checkpoint._checkpoint import Checkpoint
from sksearch.search import SearchLockedError
from tests.simulation.computer import running_on

pytestmark = pytest.mark.skipif(os.name == "nt", reason="locks and processes of Unix")


LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux says what is about to end")


def dead_pid():
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


HOLDER = """
import fcntl, os, sys, time
from sksearch._utils._filesystem import system
file = open(sys.argv[1], "a+b", buffering=0)
fcntl.flock(file, fcntl.LOCK_EX)
file.truncate(0)
file.write(f"{sys.argv[2]} {system().process()[1]}\\n".encode())
print("locked", flush=True)
time.sleep(float(sys.argv[3]))
"""


@pytest.mark.timeout(60)
def test_what_a_dead_process_has_started_is_waited_for(tmp_path, start):
    """A child of the dead one that has not yet become another program holds the lock."""
    holder = start(HOLDER, tmp_path / "lock", dead_pid(), 1)
    assert holder.stdout.readline() == "locked\n"
    Checkpoint(tmp_path).close()


@pytest.mark.timeout(60)
def test_a_long_wait_is_explained(tmp_path, start, monkeypatch):
    monkeypatch.setattr(lock_module, "PATIENCE_SECONDS", 0.1)
    pid = dead_pid()
    holder = start(HOLDER, tmp_path / "lock", pid, 1)
    assert holder.stdout.readline() == "locked\n"
    words = rf"locked by process {pid}, which has ended.*`fuser .*lock` prints its number"
    with pytest.warns(UserWarning, match=words) as warned:
        Checkpoint(tmp_path).close()
    assert len(warned) == 1


@LINUX
@pytest.mark.timeout(60)
def test_a_killed_process_with_an_unread_status_is_dead(tmp_path, start):
    parent = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, parent.pid, os.WEXITED | os.WNOWAIT)
    assert Path(f"/proc/{parent.pid}").exists()
    holder = start(HOLDER, tmp_path / "lock", parent.pid, 1)
    assert holder.stdout.readline() == "locked\n"
    Checkpoint(tmp_path).close()
    parent.wait()


LARGE = """
import sys, time
from pathlib import Path
from sksearch.checkpoint._lock import Lock
lock = Lock(Path(sys.argv[1]))
memory = bytearray(200_000_000)
memory[::4096] = b"x" * len(memory[::4096])
print("locked", flush=True)
time.sleep(50)
"""


@LINUX
@pytest.mark.timeout(60)
def test_a_search_continues_at_once_after_a_kill(tmp_path, start):
    """The killed process has the lock until its memory is freed."""
    killed = start(LARGE, tmp_path / "lock")
    assert killed.stdout.readline() == "locked\n"
    os.kill(killed.pid, signal.SIGKILL)
    Checkpoint(tmp_path).close()


@pytest.mark.parametrize(
    ("state", "flags", "pending", "is_ending"),
    [
        ("S", 0x400000, 0, False),
        ("R", 0x400000, 1 << 1, False),
        ("R", 0x400004, 0, True),
        ("D", 0x400000, 1 << 8, True),
        ("Z", 0, 0, True),
        ("X", 0, 0, True),
    ],
)
def test_linux_says_which_process_is_about_to_end(state, flags, pending, is_ending, monkeypatch):
    fields = [state, *"1234", "5", str(flags), *["0"] * 21, str(pending), *["0"] * 21]
    monkeypatch.setattr(Path, "read_text", lambda *a, **k: f"7 (a) S (b) {' '.join(fields)}")
    assert _system._is_ending(os.getpid()) is is_ending
    assert FileSystem().process_lives(os.getpid()) is not is_ending


def test_where_nothing_says_that_a_process_ends_it_lives(monkeypatch):
    monkeypatch.setattr(_system, "Path", lambda path: Path("/proc") / "nothing")
    assert FileSystem().process_lives(os.getpid())
    monkeypatch.setattr(_system, "fcntl", None)
    assert FileSystem().process_lives(dead_pid())


@pytest.mark.timeout(60)
def test_a_living_process_is_not_waited_for(tmp_path, start):
    holder = start(HOLDER, tmp_path / "lock", os.getpid(), 50)
    assert holder.stdout.readline() == "locked\n"
    before = time.monotonic()
    with pytest.raises(SearchLockedError, match=rf"this process, {os.getpid()} .*\{{data\}}"):
        Checkpoint(tmp_path)
    assert time.monotonic() - before < lock_module.PATIENCE_SECONDS / 2


@pytest.mark.timeout(60)
def test_a_child_of_this_process_that_has_not_let_go_yet_is_waited_for(tmp_path):
    lock = lock_module.Lock(tmp_path / "lock")
    of_child = os.dup(lock._file.fileno())
    lock.close()
    threading.Timer(0.3, os.close, [of_child]).start()
    lock_module.Lock(tmp_path / "lock").close()


RACE = """
import fcntl, os, sys, time
from pathlib import Path
from sksearch._utils._filesystem import system
from sksearch.search import SearchLockedError
from sksearch.checkpoint._lock import Lock

path, dead = Path(sys.argv[1]), "{} {}\\n".format(sys.argv[2], system().process()[1])


def try_to_win(begin, said, end):
    os.read(begin, 1)
    try:
        with Lock(path):
            os.write(said, f"won {os.getpid()}\\n".encode())
            os.read(end, 1)
    except SearchLockedError as error:
        os.write(said, f"lost {error}\\n".encode())


def in_a_fork(function, *args):
    pid = os.fork()
    if pid == 0:
        try:
            function(*args)
        finally:
            os._exit(0)
    return pid


for n in range(8):
    path.write_text(dead)
    begin, all_begin = os.pipe()
    heard, said = os.pipe()
    end, all_end = os.pipe()

    def race(number):
        os.close(all_begin), os.close(all_end), heir.close()
        try_to_win(begin, said, end)

    heir = open(path, "rb")
    if n % 2:
        fcntl.flock(heir, fcntl.LOCK_EX)
    pids = [in_a_fork(race, number) for number in range(6)]
    os.close(said), os.close(all_begin)
    if n % 2:
        time.sleep(0.05)
    heir.close()
    lines = os.fdopen(heard)
    told = [lines.readline() for _ in range(6)]
    os.close(all_end)
    for pid in pids:
        os.waitpid(pid, 0)
    for file in begin, end:
        os.close(file)
    winners = [line.split()[1] for line in told if line.startswith("won")]
    names = {line.partition("(process ")[2].split()[0] for line in told if "lost" in line}
    print(len(winners), names == set(winners), os.listdir(path.parent), flush=True)
Lock(path).close()
print("free", flush=True)
"""


@pytest.mark.timeout(120)
def test_one_of_many_starts_has_what_a_dead_process_held_and_is_named(tmp_path, start):
    """In every second round a child of the dead one holds it for a moment."""
    race = start(RACE, tmp_path / "lock", dead_pid())
    told = race.stdout.read().splitlines()
    assert told == ["1 True ['lock']"] * 8 + ["free"]


@pytest.mark.parametrize(
    ("is_own_pid", "is_own_host", "words"),
    [
        (True, True, "this process, {pid} on {host}"),
        (True, False, "process {pid} on {host}"),
        (False, True, "process {pid} on {host}"),
        (False, False, "process {pid} on {host}"),
    ],
)
def test_the_holder_of_a_lock_is_named(is_own_pid, is_own_host, words, tmp_path):
    pid = os.getpid() if is_own_pid else os.getpid() + 1
    where = FileSystem().process()[1] if is_own_host else "elsewhere"
    (tmp_path / "lock").write_text(f"{pid} {where}\n")
    with FileIO(tmp_path / "lock") as file:
        said = words.format(pid=pid, host=where.partition(" ")[0])
        assert lock_module._holder(file) == said


@pytest.mark.parametrize("content", [b"", b"12 host", b"\xff\xfe host\n"[:3]])
def test_a_lock_may_lack_its_owner(content, tmp_path):
    (tmp_path / "lock").write_bytes(content)
    with FileIO(tmp_path / "lock") as file:
        assert lock_module._holder(file) == "process unknown"


class Elsewhere(FileSystem):
    """A computer whose lock another one holds for two of its seconds, or for ever."""

    def __init__(self, holder, lives=False, held_for=2.0, named_after=0.0):
        self.holder, self.lives, self.held_for, self.now = holder, lives, held_for, 100.0
        self.named_after = named_after

    def lock(self, file):
        file.seek(0)
        file.truncate(0)
        if self.now >= 100.0 + self.named_after:
            file.write(self.holder.encode())
        return self.now >= 100.0 + self.held_for

    def process(self):
        return 7, "here"

    def process_lives(self, pid):
        assert pid == 8
        return self.lives

    def seconds(self):
        return self.now

    def sleep(self, seconds):
        assert 0 < seconds <= 1
        self.now += 0.5


@pytest.mark.parametrize(
    ("computer", "is_locked", "seconds"),
    [
        (Elsewhere("8 here\n"), True, 2),
        (Elsewhere("8 here\n", held_for=30), True, 30),
        (Elsewhere("8 here\n", lives=True), False, 0),
        (Elsewhere("8 here\nand more", lives=True), False, 0),
        (Elsewhere("8 here\n", lives=True, named_after=3), True, 2),
        (Elsewhere("8 here\n", lives=True, named_after=3, held_for=9), False, 3),
        (Elsewhere("8 there\n"), False, 0),
        (Elsewhere("8 here pid:[2]\n"), False, 0),
        (Elsewhere("eight here\n"), False, 0),
        (Elsewhere("8 her"), True, 2),
        (Elsewhere(""), True, 2),
        (Elsewhere("", held_for=0), True, 0),
    ],
)
def test_only_what_a_dead_process_of_here_has_started_is_waited_for(
    computer, is_locked, seconds, tmp_path
):
    with running_on(computer), open(tmp_path / "lock", "w+b", buffering=0) as file:
        assert lock_module._lock_or_wait(file, tmp_path / "lock") is is_locked
    assert computer.now - 100 == seconds


@pytest.mark.parametrize(
    ("holder", "name"),
    [("8 here\n", "process 8, which has ended,"), ("", "a process not yet identified,")],
)
def test_the_dead_and_the_nameless_are_waited_for_as_long_as_it_takes(holder, name, tmp_path):
    elsewhere = running_on(Elsewhere(holder, held_for=9000))
    warns = pytest.warns(UserWarning, match=f"{tmp_path} is locked by {name}")
    with elsewhere, open(tmp_path / "lock", "w+b", buffering=0) as file, warns as warned:
        assert lock_module._lock_or_wait(file, tmp_path / "lock")
    assert len(warned) == 1


def test_a_lock_names_only_its_owner(tmp_path):
    (tmp_path / "lock").write_text("a much longer text than what is written now")
    with lock_module.Lock(tmp_path / "lock"):
        assert (tmp_path / "lock").read_text() == "{} {}\n".format(*FileSystem().process())


@LINUX
@pytest.mark.timeout(60)
def test_a_number_of_another_container_proves_no_death(tmp_path, start, monkeypatch):
    """A container has processes of its own, and may have the name of the computer."""
    holder = start(HOLDER, tmp_path / "lock", dead_pid(), 50)
    assert holder.stdout.readline() == "locked\n"
    monkeypatch.setattr(_system, "NAMESPACE", str(tmp_path / "namespace"))
    (tmp_path / "namespace").symlink_to("pid:[7]")
    before = time.monotonic()
    with pytest.raises(SearchLockedError, match=f"in another container.* {os.uname().nodename}"):
        Checkpoint(tmp_path)
    assert time.monotonic() - before < lock_module.PATIENCE_SECONDS / 2


def test_where_nothing_names_a_namespace_the_computer_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(_system, "NAMESPACE", str(tmp_path / "nothing"))
    assert FileSystem().process() == (os.getpid(), socket.gethostname())
