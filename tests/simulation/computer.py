"""A computer with a simulated disk, and what happens to it: death, signals, errors, time."""

import errno
import io
import os
import signal
import sys
import weakref
from contextlib import contextmanager
from dataclasses import dataclass, field

from sksearch._utils import _clock, _filesystem as _system
from tests.simulation.disk import File, Folder, error

HOST = "simulated"
FAILING = {  # operations that an error of the disk can hit
    "ENOSPC": ("write", "create", "make_folder", "link", "replace"),
    "EIO": ("write", "sync", "create", "open", "read", "replace", "remove", "names"),
    "EROFS": ("write", "create", "make_folder", "link", "replace", "remove"),
    "ESTALE": ("write", "sync", "create", "open", "read", "replace", "remove", "names", "stat"),
    "EDQUOT": ("write", "create", "make_folder"),
}


class Killed(BaseException):
    """The process is dead; what it still does reaches nobody."""


@dataclass
class Fate:
    """What happens to the process of a search, by the count of its operations.

    An operation is what is asked of the disk, and each time the loop waits for workers.
    """

    rng: object
    kill_at: int = sys.maxsize
    signal_at: int = sys.maxsize
    signal: int = signal.SIGINT
    line: int = 0  # of the library's own lines that are run, before which the signal comes
    error: str = ""  # a key of FAILING
    error_at: range = range(0)
    short: set = field(default_factory=set)  # writes that take a part of the bytes
    pace: float = 1e-3  # seconds that an operation takes
    jumps: dict = field(default_factory=dict)  # seconds by operation
    meanwhile: dict = field(default_factory=dict)  # by operation: what others do
    rest: list = field(default_factory=list)  # what workers of a dead process still do
    n: int = 0
    dead: bool = False
    signalled: bool = False
    failed: int = 0  # operations that an error has hit

    def step(self, what, path=None, in_worker=False):
        """Begin an operation. Return whether the process dies while it writes."""
        if self.dead:
            raise Killed
        self.n += 1
        if self.rest:
            self.rest.pop(0)()
        if self.n in self.meanwhile:
            self.meanwhile.pop(self.n)()
        if self.n >= self.signal_at and not in_worker and not self.signalled:
            self.send_signal()
        if self.n >= self.kill_at:
            if what == "write":
                return True
            self.die()
        if self.n in self.error_at and what in FAILING[self.error]:
            self.failed += 1
            raise error(getattr(errno, self.error), path)
        return False

    def die(self):
        """End the process."""
        self.dead = True
        raise Killed

    def send_signal(self):
        """Have a signal arrive, which ends a process that has no handler for it."""
        self.signalled = True
        if signal.getsignal(self.signal) == signal.SIG_DFL:
            self.die()
        signal.raise_signal(self.signal)


class Computer(_system.FileSystem):
    """The computer as one process has it.

    Parameters
    ----------
    disk : Disk
        All processes share it.
    fate : Fate
        What happens to the process, or to the one that has started it.
    pid : int
        Its number.
    alive : set of int
        Numbers of the processes that live.
    """

    def __init__(self, disk, fate, pid, alive, in_worker=False):
        self.disk, self.fate, self.pid, self.alive = disk, fate, pid, alive
        self.in_worker, self.time = in_worker, 0.0
        self.files = weakref.WeakSet()  # that are open; one that nobody has is closed
        alive.add(pid)

    @property
    def dead(self):
        """Whether it does nothing any more."""
        return self.fate.dead

    def step(self, what, path=None):
        """Begin an operation; see `Fate`."""
        return self.fate.step(what, path, self.in_worker)

    def die(self):
        """End the process in the middle of an operation."""
        self.fate.die()

    def end(self):
        """Close what the process has open, as the system does when it has ended."""
        self.alive.discard(self.pid)
        for file in self.files:
            file.release()
        self.files.clear()

    # ---- files

    def open(self, path, flags):
        creates = flags & os.O_CREAT
        self.step("create" if creates and not self.disk.has(path) else "open", path)
        if creates and not self.disk.has(path):
            node = self.disk.make(path)
        else:
            node = self.disk.node(path)
            if creates and flags & os.O_EXCL:
                raise error(errno.EEXIST, path)
            if isinstance(node, Folder):
                raise error(errno.EISDIR, path)
        file = OpenFile(self, node, path, bool(flags & (os.O_WRONLY | os.O_RDWR)))
        file.appends = bool(flags & os.O_APPEND)
        self.files.add(file)
        return file

    def sync(self, file):
        try:
            self.step("sync", file.path)
        except OSError:
            if file.has_written:  # else this process does not know what was lost
                file.node.forget()
            raise
        file.node.sync()

    def sync_folder(self, path):
        self.step("sync_folder", path)
        self.disk.node(path).sync()

    def stat(self, path, follow=True):
        self.step("stat", path)
        return _stat(self.disk.node(path))

    def stat_of(self, file):
        self.step("stat_of", file.path)
        return _stat(file.node)

    def names(self, folder):
        self.step("names", folder)
        return list(self.disk.node(folder).names)

    def make_folder(self, path):
        self.step("make_folder", path)
        self.disk.make(path, Folder)

    def replace(self, old, new):
        self.step("replace", new)
        self.disk.replace(old, new)

    def link(self, old, new):
        self.step("link", new)
        self.disk.link(old, new)

    def remove(self, path):
        self.step("remove", path)
        self.disk.remove(path)

    # ---- locks and processes

    def lock(self, file):
        self.step("lock", file.path)
        holder = file.node.holder
        if holder is None or holder.gives_way(self):
            file.node.holder = file
        return file.node.holder is file

    def process(self):
        return self.pid, HOST

    def process_lives(self, pid):
        return pid in self.alive

    def seconds(self):
        return self.time

    def sleep(self, seconds):
        self.step("sleep")
        self.time += seconds


@dataclass
class Heirs:
    """What a dead process has started, and what holds its lock for a while."""

    seconds: float

    def gives_way(self, computer):
        """Whether they are gone by now."""
        return computer.time >= self.seconds


class OpenFile(io.RawIOBase):
    """An open file. Closed or not, the system closes it when its process ends."""

    def __init__(self, computer, node, path, can_write):
        self.computer, self.node, self.path = computer, node, path
        self.can_write, self.appends, self.at = can_write, False, 0
        self.has_written = False

    def gives_way(self, computer):
        """Whether the lock of this file can be had by another one: not while it is open."""
        return False

    def readable(self):
        return True

    def writable(self):
        return self.can_write

    def seekable(self):
        return True

    def readinto(self, buffer):
        self.computer.step("read", self.path)
        data = self.node.data[self.at : self.at + len(buffer)]
        buffer[: len(data)] = data
        self.at += len(data)
        return len(data)

    def readall(self):
        self.computer.step("read", self.path)
        data = bytes(self.node.data[self.at :])
        self.at += len(data)
        return data

    def write(self, data):
        data = bytes(data)
        try:
            is_torn = self.computer.step("write", self.path)
        except OSError:
            self._write(data[: self.computer.fate.rng.randrange(len(data) + 1)])
            raise
        if is_torn:
            self._write(data[: self.computer.fate.rng.randrange(len(data) + 1)])
            self.computer.die()
        if self.computer.fate.n in self.computer.fate.short:
            data = data[: len(data) // 2 + 1]
        self._write(data)
        return len(data)

    def _write(self, data):
        if self.appends:
            self.at = len(self.node.data)
        self.has_written = True
        self.node.write(self.at, data)
        self.at += len(data)

    def truncate(self, size=None):
        self.computer.step("truncate", self.path)
        self.node.cut(self.at if size is None else size)
        return size

    def seek(self, offset, whence=0):
        self.at = offset + (0, self.at, len(self.node.data))[whence]
        return self.at

    def tell(self):
        return self.at

    def release(self):
        """Give the lock back."""
        if self.node.holder is self:
            self.node.holder = None

    def close(self):
        if not self.closed and not self.computer.dead:
            self.release()
            self.computer.files.discard(self)
        super().close()


def _stat(node):
    size = len(node.data) if isinstance(node, File) else 0
    own = os.geteuid() if hasattr(os, "geteuid") else 0
    return os.stat_result((node.mode, node.number, 1, node.n_names, own, 0, size, 0, 0, 0))


class Clock:
    """The clock of a simulated computer: seconds that pass as operations do, and that jump.

    It stands where a `VirtualClock` stands, so it is also asked for the executor of a search.
    """

    n_free = 1  # for the plan; the executor has its own number

    def __init__(self, fate, executor):
        self.fate, self._executor = fate, executor
        self.waited = self.jumped = 0.0

    def now(self):
        """Seconds since the computer was started, which never go back."""
        return self.fate.n * self.fate.pace + self.waited

    @property
    def seconds(self):
        """Seconds since 1970, as far as somebody has set the clock."""
        for n in [n for n in self.fate.jumps if n <= self.fate.n]:
            self.jumped += self.fate.jumps.pop(n)
        return 1.7e9 + self.now() + self.jumped

    def executor(self, function, context, limits, folder):
        """Return where the tasks of a search run."""
        return self._executor(function, context, limits, folder)

    def spend(self, seconds):
        """Let time pass."""
        self.waited += seconds


@contextmanager
def running_on(computer, clock=None):
    """What is called in this context runs on a computer."""
    tokens = [(_system._used, _system._used.set(computer))]
    if clock is not None:
        tokens.append((_clock._open_clock, _clock._open_clock.set(clock)))
    try:
        yield computer
    finally:
        for variable, token in tokens:
            variable.reset(token)
