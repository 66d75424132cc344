"""Start of worker processes: by a new Python, or as a fork of one with all imports.

A new Python needs seconds for its imports. If the system can fork, one clean process, the
template, imports only once. It runs no thread and computes nothing, and so may fork: a worker
starts in some hundredths of a second. The template also holds settings that a fork cannot change
afterwards: resource limits, and variables that Python, its allocator and OpenMP read at their
start. If these have changed in the search's process, it starts another template.
"""

import gc
import importlib
import math
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout, suppress
from io import StringIO
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess, current_process
from multiprocessing.reduction import recvfds, sendfds
from multiprocessing.util import Finalize
from socket import AF_UNIX, SOCK_STREAM, fromfd
from typing import NamedTuple, NoReturn

import joblib
import numpy as np
from joblib.externals.loky.backend import get_context
from joblib.externals.loky.backend.process import LokyProcess
from threadpoolctl import ThreadpoolController

from sksearch._utils._filesystem import system
from sksearch._utils._forks import ThreadLock
from sksearch.executors.local._serving import BOOTSTRAP, CHECK_SECONDS, end_with, serve

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]  # a module that is not there

#: On macOS system libraries start threads of their own, and a fork may crash: CPython does not
#: fork there by default either.
CAN_FORK = hasattr(os, "fork") and sys.platform != "darwin"
#: Losses of a template after which workers are new Pythons, because templates do not survive here.
MAX_LOST = 3
STREAMS = (1, 2)  # standard output and error, which a fork gets from the search's process
ORPHAN_SECONDS = 0.01  # interval between checks of a fork whose template has died
#: A joined thread remains visible for some moments.
THREAD_END_SECONDS = 0.2
#: Code of the template after its imports.
SERVE_FORKS = """
from sksearch.executors.local._template import serve_forks
import sksearch.executors.local._worker
is_ready.set()
watch.join()
serve_forks(connection, parent)
"""
#: An idle template has no thread: OpenBLAS starts its threads when it is loaded, and so does the
#: allocator of pyarrow, which pandas loads.
NO_THREADS = {"OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}
#: Variables that set libraries' numbers of threads, by their names in threadpoolctl.
THREAD_VARIABLES = {
    "openmp": "OMP_NUM_THREADS",
    "openblas": "OPENBLAS_NUM_THREADS",
    "mkl": "MKL_NUM_THREADS",
    "blis": "BLIS_NUM_THREADS",
    "numexpr": "NUMEXPR_NUM_THREADS",  # unknown to threadpoolctl
}
#: Prefixes of variables that are read once, when a process or a library starts.
READ_AT_START = ("PYTHON", "LD_", "MALLOC_", "GLIBC_", "OMP_", "GOMP_", "KMP_", "MKL_")


class ForkedProcess:
    """A process forked by the template, with the methods of ``multiprocessing.Process``.

    Parameters
    ----------
    pid : int
        Process ID.
    status : Connection
        Receives the exit status from the template.

    Attributes
    ----------
    exitcode : int or None
        Negative for a signal. None while it lives, and if the template died before it.
    sentinel : Connection
        Readable when the process has ended; never, if the template is lost.
    """

    def __init__(self, pid: int, status: Connection):
        self.pid, self.sentinel = pid, status
        self.exitcode: int | None = None
        self._is_orphan = False

    def is_alive(self) -> bool:
        """Return True if the process is alive."""
        if self.exitcode is None and not self._is_orphan and self.sentinel.poll():
            try:
                self.exitcode = int(self.sentinel.recv_bytes())
            except (EOFError, OSError):
                self._is_orphan = True
                self.sentinel, self._silent = Pipe(duplex=False)
        if self._is_orphan:
            return system().process_lives(self.pid)
        return self.exitcode is None

    def join(self, timeout: float | None = None) -> None:
        """Wait until the process has ended, or for some seconds."""
        end = math.inf if timeout is None else time.monotonic() + timeout
        while self.is_alive() and (left := end - time.monotonic()) > 0:
            wait([self.sentinel], min(left, ORPHAN_SECONDS if self._is_orphan else CHECK_SECONDS))


class Request(NamedTuple):
    """Request to the template.

    Parameters
    ----------
    env : dict of str to str
        All environment variables of the worker.
    folder : str or None
        Its working directory.
    path, argv : list of str
        ``sys.path`` and ``sys.argv`` of the search's process.
    modules : tuple of str
        Modules of installed packages that the worker will need.
    """

    env: dict[str, str]
    folder: str | None
    path: list[str]
    argv: list[str]
    modules: tuple[str, ...]


class Template:
    """The process that forks workers, seen from the process of the search."""

    def __init__(self, env: dict[str, str]):
        self.state, self.used = state_at_start(), time.monotonic()
        self._connection, theirs = Pipe()
        process = new_python(SERVE_FORKS, theirs, env | NO_THREADS)
        theirs.close()
        self.pid = process.pid
        # This process would wait for the template when it ends.
        Finalize(None, _kill, (process,), exitpriority=100)

    def fork(self, request: Request, connection: Connection) -> ForkedProcess | str:
        """Return a new worker, or the name of a module that starts threads when it is imported.

        Raises
        ------
        EOFError, OSError
            If the template is lost.
        """
        ours, theirs = Pipe(duplex=False)
        try:
            self._connection.send_bytes(pickle.dumps(tuple(request)))
            with fromfd(self._connection.fileno(), AF_UNIX, SOCK_STREAM) as socket:
                sendfds(socket, [connection.fileno(), theirs.fileno(), *STREAMS])
            answer = self._connection.recv()
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
            self.used = time.monotonic()
        if isinstance(answer, int):
            return ForkedProcess(answer, ours)
        ours.close()
        return answer

    def close(self) -> None:
        """Close the connection: the template ends when its last fork has ended."""
        self._connection.close()


def _kill(process: BaseProcess) -> None:
    with suppress(OSError):  # it has ended
        os.kill(process.pid or 0, signal.SIGKILL)
    process.join()


# by process ID, because a fork of this process has its own template
_templates: dict[int, Template] = {}
_with_threads: set[str] = set()  # packages whose imports start threads
_lock = ThreadLock()
_starting = ThreadLock()
_n_lost = 0


def fork_worker(
    env: dict[str, str] | None, modules: Sequence[str], connection: Connection
) -> ForkedProcess | None:
    """Start a worker as a fork of the template; start the template first if necessary.

    Parameters
    ----------
    env : dict of str to str or None
        Environment variables that differ from this process's.
    modules : sequence of str
        Modules of installed packages that the worker will need.
    connection : Connection
        Connection from which the worker receives calls.

    Returns
    -------
    process : ForkedProcess or None
        None if this system or this process cannot have a template, or the template is lost.
    """
    global _n_lost
    with _lock:
        while CAN_FORK and _n_lost < MAX_LOST:
            template = None
            try:
                template = _template(env or {})
                forked = template.fork(_request(env or {}, modules), connection)
            except (EOFError, OSError):
                _n_lost += 1
                _close_template()
                return None
            except BaseException:  # Ctrl-C: a late answer could be mistaken for another
                _close_template()
                raise
            if isinstance(forked, ForkedProcess):
                return forked
            _close_template()
            if not forked:  # it has threads of unknown origin
                _n_lost = MAX_LOST
            # Each worker imports it itself, as it would with a new Python.
            _with_threads.add(forked.partition(".")[0])
    return None


def end_idle_template(before: float) -> None:
    """End the template if it has not forked since a moment of the monotonic clock."""
    with _lock:
        template = _templates.get(os.getpid())
        if template is not None and template.used <= before:
            _close_template()


def _template(env: dict[str, str]) -> Template:
    """Return this process's template; start one if it is missing or its limits are outdated."""
    template = _templates.get(os.getpid())
    if template is not None and template.state != state_at_start():
        _close_template()
    if os.getpid() not in _templates:
        _templates[os.getpid()] = Template(env)
    return _templates[os.getpid()]


def _close_template() -> None:
    if (template := _templates.pop(os.getpid(), None)) is not None:
        template.close()


def state_at_start() -> tuple:
    """Return settings fixed at a process's start, which a fork of an older process lacks."""
    env = {
        name: value
        for name, value in os.environ.items()
        if name.startswith(READ_AT_START) and name not in THREAD_VARIABLES.values()
    }
    names = [name for name in dir(resource) if name.startswith("RLIMIT_")]
    limits = [resource.getrlimit(getattr(resource, name)) for name in names]
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    return env, limits, cores, os.getpriority(os.PRIO_PROCESS, 0), os.getuid(), os.getgid()


def _request(env: dict[str, str], modules: Sequence[str]) -> Request:
    """Request a worker in the state that a new Python would have now."""
    folder = None
    with suppress(OSError):  # it has been removed
        folder = os.getcwd()
    needed = tuple(name for name in modules if name.partition(".")[0] not in _with_threads)
    path, argv = [str(entry) for entry in sys.path], list(getattr(sys, "argv", []))
    return Request({**os.environ, **env}, folder, path, argv, needed)


def new_python(text: str, connection: Connection, env: dict[str, str] | None) -> BaseProcess:
    """Start a process as loky does, without this process's ``__main__``.

    Parameters
    ----------
    text : str
        Its code, which may use `connection`, and `parent`, the ID of this process.
    connection : Connection
        Its end of a pipe.
    env : dict of str to str or None
        Environment variables that differ from this process's.
    """
    names = {"connection": connection, "parent": os.getpid()}
    process = get_context("loky").Process(target=exec, args=(BOOTSTRAP + text, names), env=env)
    with _allow_children(), _block_sigint(), _streams_to_flush():
        process.start()
    return process


@contextmanager
def _allow_children() -> Iterator[None]:
    """Allow this process to have children although its engine forbids it.

    Engines forbid children because they may outlive their parent; worker processes end with it.
    """
    config = current_process()._config  # type: ignore[attr-defined]  # private
    daemon = config.get("daemon", False)
    config["daemon"] = False
    try:
        yield
    finally:
        config["daemon"] = daemon


@contextmanager
def _block_sigint() -> Iterator[None]:
    """Make processes started within a context ignore Ctrl-C from the beginning."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _streams_to_flush() -> Iterator[None]:
    """Replace standard output and error while loky flushes them, if they are missing or closed."""
    with _starting, ExitStack() as stack:
        for stream, redirect in ((sys.stdout, redirect_stdout), (sys.stderr, redirect_stderr)):
            try:
                stream.flush()
            except Exception:
                stack.enter_context(redirect(StringIO()))
        yield


# ---- in the template


def serve_forks(connection: Connection, parent: int) -> NoReturn:
    """Fork workers on demand until the search's process ends, or closes the connection."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    wakes, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)  # the end of a fork wakes this process
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    statuses: dict[int, Connection] = {}  # connections to live forks, by process ID
    gc.freeze()  # pages untouched by the collector stay shared with the forks
    sources: list[Connection | int] = [connection, wakes]
    while os.getppid() == parent and (len(sources) > 1 or statuses):
        ready = wait(sources, CHECK_SECONDS)
        if wakes in ready:
            os.read(wakes, 4096)
        _reap(statuses)
        if connection in ready:
            try:
                request = Request(*pickle.loads(connection.recv_bytes()))
                with fromfd(connection.fileno(), AF_UNIX, SOCK_STREAM) as socket:
                    fds = recvfds(socket, 2 + len(STREAMS))
                _fork(connection, parent, request, fds, [wakes, waker], statuses)
            except (EOFError, OSError):  # no more forks are requested
                sources.remove(connection)
    os._exit(0)


def _reap(statuses: dict[int, Connection]) -> None:
    """Report the exit statuses of ended forks."""
    with suppress(ChildProcessError):  # no children
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            if (status := statuses.pop(ended[0], None)) is not None:
                with suppress(OSError):  # the receiver is gone
                    status.send_bytes(b"%d" % os.waitstatus_to_exitcode(ended[1]))
                status.close()


def _fork(
    connection: Connection,
    parent: int,
    request: Request,
    fds: list[int],
    own: list[int],
    statuses: dict[int, Connection],
) -> None:
    """Fork a worker and answer with its ID, or with the module that forbids it."""
    sys.path[:] = request.path
    theirs, status = Connection(fds[0]), Connection(fds[1], readable=False)
    if (name := _import(request.modules)) is not None:
        connection.send(name)
        return
    if (pid := os.fork()) == 0:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for number in own:
            os.close(number)
        # An additional holder of a pipe would hide the end of this process.
        for other in (connection, status, *statuses.values()):
            other.close()
        worker = LokyProcess(target=_become_worker, args=(theirs, parent, request, fds[2:]))
        os._exit(worker._bootstrap())
    with suppress(OSError):  # the child does the same; only the first call has an effect
        os.setpgid(pid, pid)
    statuses[pid] = status
    for number in (fds[0], *fds[2:]):
        os.close(number)
    theirs._handle = None  # type: ignore[attr-defined]  # it is closed
    connection.send(pid)


def _import(modules: Sequence[str]) -> str | None:
    """Import modules; return the first that starts a thread, after which forking is unsafe."""
    for name in ("", *(name for name in modules if name not in sys.modules)):
        if name:
            with suppress(Exception, SystemExit):  # the candidate will raise the same error
                importlib.import_module(name)
        end = time.monotonic() + THREAD_END_SECONDS
        while n_threads() > 1:
            if time.monotonic() > end:
                return name
            time.sleep(0.001)
    return None


def n_threads() -> int:
    """Return the number of threads of this process; if unavailable, of Python threads."""
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return threading.active_count()


def _become_worker(
    connection: Connection, parent: int, request: Request, streams: Sequence[int]
) -> None:
    """Reset a fork to the state of a new Python process, and serve calls."""
    with suppress(OSError):
        os.setpgid(0, 0)
    for number, stream in zip(STREAMS, streams, strict=True):
        os.dup2(stream, number)
        os.close(stream)
    if request.folder is not None:
        with suppress(OSError):
            os.chdir(request.folder)
    sys.argv = request.argv
    for name in set(os.environ) - set(request.env):
        del os.environ[name]
    os.environ.update(request.env)
    tell_threads()
    time.tzset()
    importlib.invalidate_caches()
    np.random.seed()  # Python's own generator is seeded by each fork
    threading.Thread(target=end_with, args=(parent,), daemon=True).start()
    serve(connection, parent)


def set_environment(env: dict[str, str] | None) -> None:
    """Set environment variables, even for libraries that have already read them.

    Parameters
    ----------
    env : dict of str to str or None
        Variables; None for no change.
    """
    changed = {name for name, value in (env or {}).items() if os.environ.get(name) != value}
    os.environ.update(env or {})
    if changed & set(THREAD_VARIABLES.values()):
        tell_threads()


def tell_threads() -> None:
    """Set libraries' numbers of threads to the values that they would read if loaded now."""
    everywhere = os.environ.get(THREAD_VARIABLES["openmp"], "")
    for library in ThreadpoolController().lib_controllers:
        text = os.environ.get(THREAD_VARIABLES.get(library.internal_api, ""), everywhere)
        n = text.partition(",")[0].strip()  # OpenMP has a number for each level of nesting
        wanted = int(n) if n.isdecimal() and int(n) else joblib.cpu_count()
        if library.num_threads != wanted:
            library.set_num_threads(wanted)
