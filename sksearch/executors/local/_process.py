"""A worker process that can be stopped at any moment, and what it does."""

import faulthandler
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess, current_process
from typing import Any

from joblib.externals.loky.backend import get_context
from joblib.externals.loky.backend.utils import kill_process_tree

from sksearch._pickles import dumps, loads
from sksearch._plain import printable, warn
from sksearch.executors._folder import remove_folders_of_the_dead
from sksearch.executors._limits import EngineLostError, LostTask

PATIENCE_SECONDS = 30  # after which a user hears that a process is slow to start
CHECK_SECONDS = 0.5  # how often worker and master look whether the other one lives
REMOVE = remove_folders_of_the_dead
# What a worker does first: imports take seconds, in which its parent may die.
BOOTSTRAP = f"""
import os, signal, sys, threading, time

def end_with_parent():
    while os.getppid() == parent:
        time.sleep({CHECK_SECONDS})
    remove = getattr(sys.modules.get("{REMOVE.__module__}"), "{REMOVE.__name__}", None)
    try:
        if remove is not None:  # else it has not been imported yet, and takes too long
            remove()
    except Exception:
        pass
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGKILL)
    os._exit(1)

if hasattr(os, "setpgid"):
    os.setpgid(0, 0)  # so that what a candidate starts can be ended with it
threading.Thread(target=end_with_parent, daemon=True).start()
from sksearch.executors.local._process import _serve
_serve(connection)
"""
N_TRIES = 3  # processes that may be broken before they are charged with it
READY = 0  # stands for the number of a call when a process says that it has started
N_BYTES = 8  # of the number of a call
OOM_SCORE = "800"  # of 1,000: when memory runs out the kernel shall take a worker, not the master


class UnreadableError(Exception):
    """A process could not be sent a call: the call, or the process, is broken."""


class WorkerProcess:
    """One process that runs calls one after another; after its death a call starts another.

    Calls are numbered, and an answer carries the number of its call. A process that owes an answer
    (its caller was interrupted, say) is ended before the next call: what it sends late is never
    taken for the answer to another call.

    Parameters
    ----------
    env : dict of str to str or None, default=None
        Environment variables of the process.

    Attributes
    ----------
    loaded : str or None
        Token of the shared data that the process has in memory, which the caller sets; None when
        the process is a new one.
    """

    def __init__(self, env: dict[str, str] | None = None):
        self._env = env
        self._process: Any = None
        self._connection: Any = None
        self._closed = False
        self._n_calls = 0
        self._owes: int | None = None  # number of the call that has no answer yet
        self.loaded: str | None = None

    def call(self, function: Callable, *args: object, seconds: float | None = None) -> Any:
        """Call a function in the process.

        Parameters
        ----------
        function : callable
            Anything that cloudpickle can pickle.
        *args : object
            Arguments of the function.
        seconds : float or None, default=None
            Seconds after which the process is killed.

        Returns
        -------
        value : object
            The return value of the function; a `LostTask` if the process died or was killed.

        Raises
        ------
        UnreadableError
            If the call cannot be pickled, or the process, which is ended then, could not read it.
        Exception
            What the function raised.
        """
        try:
            message = dumps((function, args))
        except Exception as error:
            raise UnreadableError(describe(error)) from error
        for _ in range(N_TRIES):
            self.start()
            begin = time.monotonic()
            try:
                answer = self._ask(message, None if seconds is None else begin + seconds)
            except TimeoutError:
                self.kill()
                return LostTask("timeout", f"took more than {seconds:g} seconds", seconds or 0.0)
            except (EOFError, OSError):
                return LostTask("crash", self._describe_end(), time.monotonic() - begin)
            if answer is not None:
                break
            self.kill()  # no fault of the call, which another process gets
        else:
            why = f"{N_TRIES} worker processes answered other calls than they were sent"
            return LostTask("crash", why, time.monotonic() - begin)
        failed, value = loads(answer)
        if isinstance(value, UnreadableError):
            self.kill()
        if failed:
            raise value
        return value

    def start(self) -> None:
        """Start the process if there is none, and wait until it can take a call.

        However long that takes: on a busy machine, or from a slow disk, imports take minutes.

        Raises
        ------
        EngineLostError
            If several processes have ended before they could take a call.
        """
        if self._is_ready():
            return
        for _ in range(N_TRIES):
            self.kill()
            if self._closed:
                raise EngineLostError("The search has ended, and its worker processes with it.")
            self._spawn()
            try:
                self._hear_of_start()
                break
            except (EOFError, OSError):
                why = self._describe_end()
        else:
            raise EngineLostError(f"{N_TRIES} worker processes could not start: {why}.")
        if self._closed:  # while it started
            self.kill()
            raise EngineLostError("The search has ended, and its worker processes with it.")

    def _is_ready(self) -> bool:
        """Whether there is a process that lives, and owes and sends no answer to earlier calls."""
        if self._process is None or self._owes is not None or not self._process.is_alive():
            return False
        try:
            return not self._connection.poll()
        except (EOFError, OSError):
            return False

    def _spawn(self) -> None:
        """Begin a process."""
        self._connection, child_connection = Pipe()
        self._process = get_context("loky").Process(
            target=exec,
            args=(BOOTSTRAP, {"connection": child_connection, "parent": os.getpid()}),
            env=self._env,
        )
        with _allow_children(), _block_sigint():
            self._process.start()
        child_connection.close()
        self._owes = READY

    def _hear_of_start(self) -> None:
        """Wait until the process says that it has started, however long that takes."""
        try:
            self._wait_for_answer(time.monotonic() + PATIENCE_SECONDS)
        except TimeoutError:
            warn(
                f"Worker process {self._process.pid} has not started in {PATIENCE_SECONDS} "
                "seconds: the machine or its disk is busy. It is waited for.",
                UserWarning,
                stacklevel=2,
            )
            self._wait_for_answer(None)
        if self._receive() is None:
            raise EOFError

    def _ask(self, message: bytes, deadline: float | None) -> bytes | None:
        """Send a call, and return its answer; None if what came is not the answer to this call."""
        self._n_calls += 1
        self._owes = self._n_calls
        self._connection.send_bytes(_numbered(self._owes, message))
        self._wait_for_answer(deadline)
        return self._receive()

    def close(self) -> None:
        """End the process from another thread than the one that calls; there will be no other."""
        self._closed = True
        if (process := self._process) is not None:
            _kill(process)

    def kill(self) -> None:
        """End the process and all that it has started, whatever it does."""
        process, connection = self._process, self._connection
        self._process = self._connection = self.loaded = self._owes = None
        if process is not None:
            _kill(process)
        if connection is not None:
            connection.close()

    def _receive(self) -> bytes | None:
        """Take an answer; None if it is not the one that the process owes."""
        number, answer = _parted(self._connection.recv_bytes())
        if number != self._owes:
            return None
        self._owes = None
        return answer

    def _wait_for_answer(self, deadline: float | None) -> None:
        """Wait for an answer; TimeoutError if there is none in time, EOFError after a death."""
        while True:
            left = CHECK_SECONDS if deadline is None else deadline - time.monotonic()
            wait([self._connection, self._process.sentinel], max(0, min(left, CHECK_SECONDS)))
            if self._connection.poll():
                return  # what it has sent before it died counts
            # Its own children may hold its connection open when it is dead.
            if not self._process.is_alive():
                raise EOFError
            if deadline is not None and left <= CHECK_SECONDS:
                raise TimeoutError

    def _describe_end(self) -> str:
        """Say how the process ended, as far as that is known; forgets the process."""
        self._process.join(CHECK_SECONDS)
        code = self._process.exitcode
        self.kill()
        if code is None:
            return "the worker process closed its connection"
        if code >= 0:
            return f"the worker process ended with exit code {code}"
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = "unknown"
        perhaps = ", perhaps for want of memory" if name == "SIGKILL" else ""
        return f"the worker process was killed by signal {-code} ({name}){perhaps}"


def _kill(process: BaseProcess) -> None:
    """Kill a process and its group, which is what it has started and left."""
    if hasattr(os, "killpg") and process.pid is not None:
        with suppress(OSError):  # nobody is left
            os.killpg(process.pid, signal.SIGKILL)
    if process.is_alive():
        kill_process_tree(process)
    process.join()


@contextmanager
def _allow_children() -> Iterator[None]:
    """A context in which this process may have children, though its engine forbids it.

    The reason to forbid it is that they could outlive their parent, and ours never do.
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
    """A context in which processes that are started ignore Ctrl-C, from their first moment."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# ---- in the process


def _serve(connection: Connection) -> None:
    """Run calls until the connection is closed: then the search is over, or dead."""
    parent = os.getppid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the search, which decides
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    faulthandler.enable()
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write(OOM_SCORE)
    connection.send_bytes(_numbered(READY, b""))
    with suppress(EOFError, OSError):
        while True:
            number, message = _parted(connection.recv_bytes())
            connection.send_bytes(_numbered(number, _answer(message)))
    end = time.monotonic() + CHECK_SECONDS
    while os.getppid() == parent and time.monotonic() < end:
        time.sleep(0.01)  # it may still be dying
    remove_folders_of_the_dead()
    _exit_at_once()


def _numbered(number: int, message: bytes) -> bytes:
    """Bytes of a call or an answer, behind the number of the call."""
    return number.to_bytes(N_BYTES, "little") + message


def _parted(message: bytes) -> tuple[int, bytes]:
    """The number of the call, and what is behind it."""
    return int.from_bytes(message[:N_BYTES], "little"), message[N_BYTES:]


def _answer(message: bytes) -> bytes:
    """The pickled (False, value) or (True, exception) of a call."""
    try:
        function, args = loads(message, brings_news=True)
        try:
            answer = (False, function(*args))
        except BaseException as error:
            answer = (True, picklable_error(error))
        return dumps(answer)
    except BaseException as error:
        return dumps((True, UnreadableError(describe(error))))


def describe(error: BaseException) -> str:
    """The kind of an error and the first line of its text."""
    return printable(traceback.format_exception_only(error)[-1].strip().partition("\n")[0])


def picklable_error(error: BaseException) -> BaseException:
    """The error with its traceback as a note, or that text alone where it cannot be pickled."""
    text = printable("".join(traceback.format_exception(error)))
    try:
        error.add_note(f"In a worker process:\n{text}")
        loads(dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__} in a worker process:\n{text}")
    return error


def _exit_at_once() -> None:
    """End at once: what a candidate has left in this process (threads, exit hooks) may hang."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGKILL)
    os._exit(0)
