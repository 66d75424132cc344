"""A worker process that can be stopped at any moment."""

import errno
import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import Any

from joblib.externals.loky.backend.utils import kill_process_tree

from sksearch._utils._filesystem import open_standard_streams
from sksearch._utils._pickles import dumps, loads
from sksearch._utils._terminal import warn
from sksearch.executors._limits import EngineLostError, LostTask
from sksearch.executors.local._serving import (
    CHECK_SECONDS,
    READY,
    SERVE,
    UnreadableError,
    describe,
    numbered,
    parted,
)
from sksearch.executors.local._template import ForkedProcess, fork_worker, new_python

PATIENCE_SECONDS = 30  # time after which a warning reports a slow start
N_TRIES = 3  # broken processes in a row after which a call fails


class WorkerProcess:
    """One process that runs calls one after another; a call after its death starts another.

    Calls are numbered, and an answer carries the number of its call. A process with a missing
    answer (for example because its caller was interrupted) is ended before the next call, so that
    a late answer is never mistaken for the answer to another call.

    Parameters
    ----------
    env : dict of str to str or None, default=None
        Environment variables of the process that differ from this process's.

    Attributes
    ----------
    modules : tuple of str
        Modules of installed packages that a new process will need.
    loaded : str or None
        Token of the shared data in the process's memory, set by the caller; None for a new
        process.
    """

    def __init__(self, env: dict[str, str] | None = None):
        self.env = env
        self.modules: tuple[str, ...] = ()
        self._process: Any = None
        self._connection: Any = None
        self._closed = False
        self._n_calls = 0
        self._owes: int | None = None  # number of the unanswered call
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
            If the call cannot be pickled, or the process could not read it; the process is ended
            then.
        Exception
            Raised by the function.
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
            self.kill()  # not caused by the call: repeat it in another process
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
        """Start the process if necessary, and wait until it can take a call.

        The time is unlimited: on a busy machine, or from a slow disk, imports take minutes.

        Raises
        ------
        EngineLostError
            If a process cannot be started, or several have ended before they could take a call.
        """
        if self._is_ready():
            return
        for i in range(N_TRIES):
            self.kill()
            if self._closed:
                raise EngineLostError("The search and its worker processes have ended.")
            self._spawn(may_fork=i == 0)  # after a failed fork, start a new Python
            try:
                self._hear_of_start()
                break
            except (EOFError, OSError):
                why = self._describe_end()
        else:
            raise EngineLostError(f"{N_TRIES} worker processes could not start: {why}.")
        if self._closed:  # while it started
            self.kill()
            raise EngineLostError("The search and its worker processes have ended.")

    def _is_ready(self) -> bool:
        """Return True if a process is alive, and has answered all earlier calls."""
        if self._process is None or self._owes is not None or not self._process.is_alive():
            return False
        try:
            return not self._connection.poll()
        except (EOFError, OSError):
            return False

    def _spawn(self, may_fork: bool) -> None:
        """Start a process; EngineLostError if the system refuses it."""
        open_standard_streams()
        try:
            self._connection, theirs = Pipe()
            try:
                forked = fork_worker(self.env, self.modules, theirs) if may_fork else None
                self._process = forked or new_python(SERVE, theirs, self.env)
            finally:
                theirs.close()
        except (OSError, UnboundLocalError) as error:
            raise EngineLostError(f"No worker process can be started: {_why(error)}.") from error
        self._owes = READY

    def _hear_of_start(self) -> None:
        """Wait, without limit, for the process's message that it has started."""
        try:
            self._wait_for_answer(time.monotonic() + PATIENCE_SECONDS)
        except TimeoutError:
            warn(
                f"Worker process {self._process.pid} has not started in {PATIENCE_SECONDS} "
                "seconds: the machine or its disk is busy. The search waits for it.",
            )
            self._wait_for_answer(None)
        if self._receive() is None:
            raise EOFError

    def _ask(self, message: bytes, deadline: float | None) -> bytes | None:
        """Send a call, and return its answer; None if the answer belongs to another call."""
        self._n_calls += 1
        self._owes = self._n_calls
        self._connection.send_bytes(numbered(self._owes, message))
        self._wait_for_answer(deadline)
        return self._receive()

    def close(self) -> None:
        """End the process for good, from another thread than the caller's."""
        self._closed = True
        if (process := self._process) is not None:
            _kill(process)

    def kill(self) -> None:
        """End the process and its descendants unconditionally."""
        process, connection = self._process, self._connection
        self._process = self._connection = self.loaded = self._owes = None
        if process is not None:
            _kill(process)
        if connection is not None:
            connection.close()

    def _receive(self) -> bytes | None:
        """Receive an answer; None if it does not belong to the pending call."""
        number, answer = parted(self._connection.recv_bytes())
        if number != self._owes:
            return None
        self._owes = None
        return answer

    def _wait_for_answer(self, deadline: float | None) -> None:
        """Wait for an answer; TimeoutError at the deadline, EOFError after a death."""
        while True:
            left = CHECK_SECONDS if deadline is None else deadline - time.monotonic()
            wait([self._connection, self._process.sentinel], max(0, min(left, CHECK_SECONDS)))
            if self._connection.poll():
                return  # an answer sent before the process died is valid
            # Its child processes may keep the connection open after it has died.
            if not self._process.is_alive():
                raise EOFError
            if deadline is not None and left <= CHECK_SECONDS:
                raise TimeoutError

    def _describe_end(self) -> str:
        """Describe how the process ended, if known, and forget the process."""
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
        perhaps = ", possibly for lack of memory" if name == "SIGKILL" else ""
        return f"the worker process was killed by signal {-code} ({name}){perhaps}"


def _why(error: BaseException) -> str:
    """Return the reason that a process cannot be started, and the remedy."""
    if isinstance(error, UnboundLocalError) and error.__context__ is not None:
        return _why(error.__context__)  # loky names a missing pipe instead of its error
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
        return f"{error.strerror}. Close files, or raise the limit that `ulimit -n` prints"
    try:
        os.getcwd()
    except OSError:
        return "the current folder has been removed. Change to another one by `os.chdir`"
    return describe(error)


def _kill(process: BaseProcess | ForkedProcess) -> None:
    """Kill a process and its group, which contains its remaining descendants."""
    if hasattr(os, "killpg") and process.pid is not None:
        with suppress(OSError):  # the group is empty
            os.killpg(process.pid, signal.SIGKILL)
    if process.is_alive():
        kill_process_tree(process)
    process.join()
