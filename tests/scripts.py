"""Python scripts in a fork of a process that has imported the package already.

A new Python takes seconds to import scikit-learn, a fork some milliseconds. A script here has
what it has in a new Python: ``__main__``, ``sys.argv``, its environment, folder, output, signals
and a process group of its own, and it may be killed. Whether a *new* Python does the same is
tested with `subprocess`, once for each kind of script.
"""

import atexit
import contextlib
import gc
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import types
import warnings
from pathlib import Path

ROOT = Path(__file__).parents[1]
IMPORTED = (
    "sksearch.search",
    "sksearch.executors.local",
    "sklearn.ensemble",
    "sklearn.linear_model",
    "sklearn.svm",
)
#: Where the system cannot fork, a script is a new Python.
CAN_FORK = hasattr(os, "fork") and hasattr(socket, "send_fds")


class Process:
    """A script that runs, with the methods of `subprocess.Popen` that tests use.

    Its input and output are pipes of text.

    Parameters
    ----------
    arguments : list
        As those of Python: ``-W`` and its value, ``-c`` and code or a file, and its arguments.
    env : dict or None, default=None
        Its environment; None: that of this process.
    cwd : path or None, default=None
        Its folder; None: that of this process.
    """

    def __init__(self, arguments, *, env=None, cwd=None):
        request = {
            "arguments": [os.fspath(each) for each in arguments],
            "env": dict(os.environ if env is None else env),
            "cwd": os.fspath(cwd or os.getcwd()),
        }
        pipes = [os.pipe() for _ in range(3)]
        theirs = [pipes[0][0], pipes[1][1], pipes[2][1]]
        self._keeper, keeper = socket.socketpair()
        _warm().send(request, [keeper.fileno(), *theirs])
        keeper.close()
        for each in theirs:
            os.close(each)
        self.args, self.returncode = arguments, None
        self.stdin = os.fdopen(pipes[0][1], "w")
        self.stdout, self.stderr = os.fdopen(pipes[1][0]), os.fdopen(pipes[2][0])
        self.pid = int(self._keeper.recv(16))

    def wait(self, timeout=None):
        """Wait for its end; return its exit status."""
        if self.returncode is None:
            self._keeper.settimeout(timeout)
            try:
                self.returncode = int(self._keeper.recv(16))
            except (TimeoutError, BlockingIOError):
                raise subprocess.TimeoutExpired(self.args, timeout) from None
            self._keeper.close()
        return self.returncode

    def poll(self):
        """Return its exit status, None while it runs."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def communicate(self, timeout=None):
        """Close its input, wait for its end, and return its output and its errors."""
        texts = {}
        threads = [
            threading.Thread(
                target=lambda pipe=pipe: texts.update({pipe: pipe.read()}), daemon=True
            )
            for pipe in (self.stdout, self.stderr)
            if not pipe.closed
        ]
        with contextlib.suppress(BrokenPipeError):
            self.stdin.close()
        for thread in threads:
            thread.daemon = True
            thread.start()
        self.wait(timeout)
        for thread in threads:
            thread.join(timeout)
        if any(thread.is_alive() for thread in threads):  # a child of it has the pipe
            raise subprocess.TimeoutExpired(self.args, timeout)
        found = tuple(texts.get(pipe, "") for pipe in (self.stdout, self.stderr))
        self.stdout.close()
        self.stderr.close()
        return found

    def send_signal(self, number):
        """Send it a signal."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self):
        """Kill it."""
        self.send_signal(signal.SIGKILL)


def start(arguments, *, env=None, cwd=None):
    """Start a script; return its process."""
    if CAN_FORK:
        return Process(arguments, env=env, cwd=cwd)
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, *map(os.fspath, arguments)],
        env=env, cwd=cwd, stdin=pipe, stdout=pipe, stderr=pipe, text=True, start_new_session=True,
    )  # fmt: skip


def run(arguments, *, env=None, cwd=None, timeout=None, check=False):
    """Run a script to its end; kill its process group if it has not ended by then."""
    process = start(arguments, env=env, cwd=cwd)
    try:
        out, err = process.communicate(timeout=timeout)
    except BaseException:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        raise
    done = subprocess.CompletedProcess(arguments, process.returncode, out, err)
    if check:
        done.check_returncode()
    return done


# ---- the process that is forked


class Warm:
    """The process that has the imports, seen from the tests."""

    def __init__(self):
        self._control, theirs = socket.socketpair()
        code = f"from tests.scripts import serve; serve({theirs.fileno()})"
        subprocess.Popen(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            cwd=ROOT, pass_fds=[theirs.fileno()], start_new_session=True,
        ).returncode = 0  # it ends when the tests do, and is not waited for  # fmt: skip
        theirs.close()
        atexit.register(self._control.close)

    def send(self, request, files):
        """Ask for a script."""
        text = json.dumps(request).encode()
        socket.send_fds(self._control, [len(text).to_bytes(8, "big")], files)
        self._control.sendall(text)


_known = {}


def _warm():
    """The warm process of this one, not of the one that it was forked from."""
    if os.getpid() not in _known:
        _known[os.getpid()] = Warm()
    return _known[os.getpid()]


def serve(file):
    """Fork a script for each request, until the tests end; in a script, become it."""
    for name in IMPORTED:
        __import__(name)
    assert threading.active_count() == 1, "a fork would have one thread alone"
    gc.freeze()  # the end of a script goes through what is not frozen, half a second long
    control = socket.socket(fileno=file)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for keepers
    while True:
        head, files, _, _ = socket.recv_fds(control, 8, 4)
        if not head:
            return None
        text = b""
        while len(text) < int.from_bytes(head, "big"):
            text += control.recv(int.from_bytes(head, "big") - len(text))
        if os.fork() == 0:
            control.close()
            return _keep(json.loads(text), *files)
        for each in files:
            os.close(each)


def _keep(request, keeper, *pipes):
    """Fork a script, and tell its number and its end to the tests."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    answers = socket.socket(fileno=keeper)
    pid = os.fork()
    if pid == 0:
        answers.close()
        return _become(request, pipes)
    for each in pipes:
        os.close(each)
    with contextlib.suppress(BrokenPipeError):  # nobody asks any more
        answers.sendall(b"%d" % pid)
        answers.sendall(b"%d" % os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    os._exit(0)


def _become(request, pipes):
    """Be a new Python, as far as a script can tell."""
    os.setsid()
    for number, pipe in enumerate(pipes):
        os.dup2(pipe, number)
        os.close(pipe)
    sys.stdin = sys.__stdin__ = os.fdopen(0, closefd=False)
    sys.stdout = sys.__stdout__ = os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.__stderr__ = os.fdopen(2, "w", buffering=1, closefd=False)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ |= request["env"]
    random.seed()
    sys.modules["numpy"].random.seed()
    arguments = request["arguments"]
    while arguments[0] == "-W":
        sys.warnoptions.append(arguments[1])
        warnings.simplefilter(arguments[1])
        arguments = arguments[2:]
    main = types.ModuleType("__main__")
    main.__builtins__ = __builtins__
    if arguments[0] == "-c":
        source, name, folder, sys.argv = arguments[1], "<string>", "", ["-c", *arguments[2:]]
    else:
        name, sys.argv = arguments[0], arguments
        source, folder = Path(name).read_text(), str(Path(name).absolute().parent)
        main.__file__ = name
    path = [entry for entry in sys.path if entry not in ("", str(ROOT))]
    added = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    sys.path[:] = [folder, *added, *path]
    sys.modules["__main__"] = main
    exec(compile(source, name, "exec"), main.__dict__)
