"""A copy of the repository, and tests that run on it while one place of it is broken."""

import contextlib
import gc
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import types
from pathlib import Path

ROOT = Path(__file__).parents[2]
BROKEN_TOOL = 70  # exit status of a fork in which something else failed than a test
COPIED = ("sksearch", "tests", "docs", "examples", "conftest.py", "pyproject.toml")
COPIED += ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")


class Nursery:
    """A copy of the repository; a context manager.

    Parameters
    ----------
    root : Path, default=ROOT
        The repository.
    """

    def __init__(self, root=ROOT):
        self._root = root

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="mutation-")
        self.tree = Path(self._folder.name).resolve() / "tree"
        self.work = self.tree.with_name("work")  # files of tests
        ignored = shutil.ignore_patterns("__pycache__", "_build", "gallery", "generated")
        for name in COPIED:
            if (self._root / name).is_dir():
                shutil.copytree(self._root / name, self.tree / name, ignore=ignored)
            else:
                shutil.copy2(self._root / name, self.tree / name)
        return self

    def __exit__(self, *exc_info):
        self._folder.cleanup()

    def enter_tree(self):
        """Import ours from the copy from now on, here and in all that is started here."""
        os.chdir(self.tree)
        sys.path[:] = [str(self.tree), *(p for p in sys.path if p not in ("", str(ROOT)))]
        for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
            del sys.modules[name]
        os.environ["PYTHONPATH"] = str(self.tree)

    @contextlib.contextmanager
    def broken(self, mutant):
        """Have the copy broken."""
        file = self.tree / mutant.path
        file.write_bytes(mutant.broken)
        for compiled in (file.parent / "__pycache__").glob(f"{file.stem}.*.pyc"):
            compiled.unlink()  # it is told from its source by size and second alone
        try:
            yield
        finally:
            file.write_bytes(mutant.source)

    def fork(self, work, seconds):
        """Call `work` in a fork; return its exit status, None if it did not end by itself."""
        self.work.mkdir()
        pid = os.fork()
        if pid == 0:
            code = BROKEN_TOOL
            try:
                self._leave_parent()
                code = work()
            finally:
                os._exit(code)
        try:
            return _wait(pid, seconds)
        finally:
            shutil.rmtree(self.work, ignore_errors=True)

    def run_apart(self, tests, seconds):
        """Run tests in a process that imports everything; return pytest's exit status."""
        command = ["-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--timeout=60"]
        command += ["--timeout-method=thread", *tests]
        return self.fork(lambda: subprocess.run([sys.executable, *command]).returncode, seconds)

    def _leave_parent(self):
        """Have files and output apart from those of the process that was forked."""
        os.setsid()
        variables = ("HOME", "XDG_CONFIG_HOME", "TMPDIR", "PYTEST_DEBUG_TEMPROOT")
        for name in variables:
            (self.work / name).mkdir()
        os.environ |= {name: str(self.work / name) for name in variables}
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        sys.dont_write_bytecode = True
        tempfile.tempdir = None
        null = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(null, number)


def _wait(pid, seconds):
    """Wait for a fork, end it when its time is up, and end what it has started."""
    process = os.pidfd_open(pid)
    ended, _, _ = select.select([process], [], [], seconds)
    os.close(process)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)  # before it had a group
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status) if ended else None


class Functions:
    """The functions of this process by where their code is, to have other code."""

    def __init__(self):
        self._found = {}
        for each in gc.get_objects():
            if isinstance(each, types.FunctionType):
                self._found.setdefault(_place(each.__code__), []).append(each)

    def change(self, file, mutant):
        """Give functions of a file the code of a mutant; False if that cannot be."""
        changed = False
        sources = mutant.source, mutant.broken
        for before, after in _pairs(*(compile(text, str(file), "exec") for text in sources)):
            for function in self._found.get(_place(before), ()):
                if len(before.co_freevars) != len(after.co_freevars):
                    return False
                function.__code__ = after
                changed = True
        return changed


def _place(code):
    return code.co_filename, code.co_qualname, code.co_firstlineno


def _pairs(before, after):
    """Yield the code that differs, of a module and all in it."""
    if before == after:
        return
    yield before, after
    inner = [
        [const for const in code.co_consts if isinstance(const, types.CodeType)]
        for code in (before, after)
    ]
    if len(inner[0]) == len(inner[1]):
        for pair in zip(*inner, strict=True):
            yield from _pairs(*pair)
