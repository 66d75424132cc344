"""Main loop of a worker process: run calls one after another, and end with the search."""

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

CHECK_SECONDS = 0.5  # interval at which a process and its parent check that the other is alive
REMOVE = remove_folders_of_the_dead
# First lines of a new Python: its parent may die during the following seconds of imports.
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
#: Remaining code of a new Python that is a worker.
SERVE = """
from sksearch.executors.local._serving import serve
serve(connection, parent)
"""
READY = 0  # number of a process's message that it has started
N_BYTES = 8  # bytes of the number of a call
# Of 1,000: if memory runs out, the kernel should kill a worker, not the main process
OOM_SCORE = "800"


class UnreadableError(Exception):
    """A process could not be sent a call: the call, or the process, is broken."""


def serve(connection: Connection, parent: int) -> None:
    """Run calls until the connection closes, because the search has ended or died."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the search handles Ctrl-C
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    faulthandler.enable(2)  # without a window, Python has no sys.stderr
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
    """End this process and its descendants when another process has ended."""
    while system().process_lives(parent):
        time.sleep(CHECK_SECONDS)
    with suppress(Exception):
        remove_folders_of_the_dead()
    exit_at_once()


def numbered(number: int, message: bytes) -> bytes:
    """Prepend the number of a call to the bytes of a call or an answer."""
    return number.to_bytes(N_BYTES, "little") + message


def parted(message: bytes) -> tuple[int, bytes]:
    """Split a message into the number of the call and the rest."""
    return int.from_bytes(message[:N_BYTES], "little"), message[N_BYTES:]


def answer(message: bytes) -> bytes:
    """Return the pickled (False, value) or (True, exception) of a call."""
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
    """Return the class of an error and the first line of its text."""
    return printable(traceback.format_exception_only(error)[-1].strip().partition("\n")[0])


def picklable_error(error: BaseException) -> BaseException:
    """Add the traceback as a note to the error; keep only its text if it cannot be pickled."""
    text = printable("".join(traceback.format_exception(error)))
    try:
        error.add_note(f"In a worker process:\n{text}")
        loads(dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__} in a worker process:\n{text}")
    return error


def exit_at_once() -> None:
    """Exit immediately, because threads and exit hooks of a candidate may hang."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGKILL)
    os._exit(0)
