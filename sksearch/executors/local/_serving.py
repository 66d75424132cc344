"""What a worker process does: it runs calls one after another, and ends with its search."""

import faulthandler
import os
import signal
import sys
import time
import traceback
from contextlib import suppress
from multiprocessing.connection import Connection

from sksearch._utils._filesystem import system
from sksearch._utils._pickles import dumps, loads
from sksearch._utils._terminal import printable
from sksearch.executors._folder import remove_folders_of_the_dead

CHECK_SECONDS = 0.5  # how often a process and its parent look whether the other one lives
REMOVE = remove_folders_of_the_dead
# First lines of a new Python: the imports that follow take seconds, in which its parent may die.
BOOTSTRAP = f"""
import os, signal, sys, threading, time

is_ready = threading.Event()

def end_with_parent():
    while os.getppid() == parent:
        if is_ready.wait({CHECK_SECONDS}):
            return
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
watch = threading.Thread(target=end_with_parent, daemon=True)
watch.start()
"""
#: What a new Python does then, if it is a worker.
SERVE = """
from sksearch.executors.local._serving import serve
serve(connection, parent)
"""
READY = 0  # stands for the number of a call when a process says that it has started
N_BYTES = 8  # of the number of a call
OOM_SCORE = "800"  # of 1,000: when memory runs out the kernel shall take a worker, not the master


class UnreadableError(Exception):
    """A process could not be sent a call: the call, or the process, is broken."""


def serve(connection: Connection, parent: int) -> None:
    """Run calls until the connection is closed: then the search is over, or dead."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the search, which decides
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    faulthandler.enable()
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write(OOM_SCORE)
    connection.send_bytes(numbered(READY, b""))
    with suppress(EOFError, OSError):
        while True:
            number, message = parted(connection.recv_bytes())
            connection.send_bytes(numbered(number, answer(message)))
    end = time.monotonic() + CHECK_SECONDS
    while system().process_lives(parent) and time.monotonic() < end:
        time.sleep(0.01)  # it may still be dying
    remove_folders_of_the_dead()
    exit_at_once()


def end_with(parent: int) -> None:
    """End this process, and all that it has started, when another process has ended."""
    while system().process_lives(parent):
        time.sleep(CHECK_SECONDS)
    with suppress(Exception):
        remove_folders_of_the_dead()
    exit_at_once()


def numbered(number: int, message: bytes) -> bytes:
    """Bytes of a call or an answer, behind the number of the call."""
    return number.to_bytes(N_BYTES, "little") + message


def parted(message: bytes) -> tuple[int, bytes]:
    """The number of the call, and what is behind it."""
    return int.from_bytes(message[:N_BYTES], "little"), message[N_BYTES:]


def answer(message: bytes) -> bytes:
    """The pickled (False, value) or (True, exception) of a call."""
    try:
        function, args = loads(message, is_live=True)
        try:
            out = (False, function(*args))
        except BaseException as error:
            out = (True, picklable_error(error))
        return dumps(out)
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


def exit_at_once() -> None:
    """End at once: what a candidate has left in this process (threads, exit hooks) may hang."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGKILL)
    os._exit(0)
