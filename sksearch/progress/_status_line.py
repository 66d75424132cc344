"""The status line: one line on standard error with the progress of a search."""

import os
import sys
from contextlib import suppress
from functools import partial
from multiprocessing import current_process
from time import monotonic
from typing import Any, Protocol, Self

from sksearch._utils._forks import ThreadLock, in_child
from sksearch._utils._terminal import printable

WIDTH = 99  # characters of a line in a log
REFRESHES = 4  # per second, on a terminal
# Seconds between two lines of a log: after a rung is complete, and otherwise. In a search of days
# the pause grows to a twentieth of the search's age.
RUNG_PAUSE, PAUSE, GROWTH = 10, 30, 20


class Reporter(Protocol):
    """Reports progress; `line` may be called from another thread."""

    def line(self, width: int) -> str:
        """Return the progress in at most `width` characters."""

    def last_line(self, error: type[BaseException] | None) -> str:
        """Return the end as a line; `error` is the class of the exception that ended it."""

    def n_rungs_done(self) -> int:
        """Return the number of complete rungs."""


class StatusLine:
    """Show a status line while the context is open, and a permanent last line.

    On a terminal, with rich installed, one line changes in place, and other output appears above
    it. In a notebook, one line changes with each result. Elsewhere (no rich, log files, pipes),
    new lines appear now and then. If writing is impossible (a closed terminal, a full disk),
    nothing is shown.

    Parameters
    ----------
    reporter : Reporter
        Reports the progress of the search.
    verbose : int
        0 shows nothing, 1 a status line. Larger values show only new lines, since the output of
        other processes would break a changing line.
    """

    def __init__(self, reporter: Reporter, verbose: int):
        self._reporter, self._verbose = reporter, verbose
        self._lines: _RichLine | _NotebookLine | _LogLines | None = None

    def __enter__(self) -> Self:
        if self._verbose > 0:
            self._lines = _make_lines(self._reporter, live=self._verbose == 1)
        return self

    def update(self) -> None:
        """Display new results."""
        if self._lines is not None:
            self._lines.update()

    def __exit__(self, error: Any, *_: Any) -> None:
        if self._lines is not None:
            self._lines.stop(self._reporter.last_line(error))


def _make_lines(reporter: Reporter, live: bool) -> "_RichLine | _NotebookLine | _LogLines":
    """Choose a line that changes in place if possible, otherwise lines as in a log."""
    if live and _in_notebook():
        return _NotebookLine(reporter)
    if live and _on_terminal() and _Terminal.acquire():
        try:
            return _RichLine(reporter)
        except ImportError:  # rich is not installed
            _Terminal.release()
    return _LogLines(reporter)


def _on_terminal() -> bool:
    """Return whether a line of this process can change in place."""
    # Workers share the terminal of their parent, and would overwrite each other's lines.
    alone = current_process().name == "MainProcess"
    return _is_terminal(sys.stderr) and alone and os.environ.get("TERM") != "dumb"


def _is_terminal(stream: Any) -> bool:
    try:
        return stream is not None and bool(stream.isatty())
    except Exception:  # it is closed, or is the user's, and has no such method
        return False


def _in_notebook() -> bool:
    """Return whether an IPython kernel, not a terminal, shows the output of this process."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return hasattr(shell, "kernel") and current_process().name == "MainProcess"


def write_line(text: str) -> None:
    """Write a line to standard error, if possible."""
    with suppress(Exception):  # a closed stream must not end a search
        if sys.stderr is not None:
            sys.stderr.write(f"{printable(text)}\n")
            sys.stderr.flush()


def duration(seconds: float) -> str:
    """Format a duration for people: 0.25 s, 42 s, 1 min 20 s, 12 min, 2 h 5 min, 3 days."""
    if seconds < 9.95:
        return f"{round(seconds, 2):.2g} s"
    if (seconds := round(seconds)) < 100:
        return f"{seconds} s"
    if seconds < 600:
        return f"{seconds // 60} min {seconds % 60} s"
    if (minutes := round(seconds / 60)) < 100:
        return f"{minutes} min"
    if minutes < 600:
        return f"{minutes // 60} h {minutes % 60} min"
    hours = round(minutes / 60)
    return f"{hours} h" if hours < 72 else f"{round(hours / 24)} days"


class _Terminal:
    """The terminal, which has room for one changing line."""

    _lock = ThreadLock()
    _taken = False
    files: Any = None  # standard output and error before rich replaced them

    @classmethod
    def acquire(cls) -> bool:
        """Take the terminal, and return whether it was free."""
        with cls._lock:
            free, cls._taken = not cls._taken, True
            return free

    @classmethod
    def release(cls) -> None:
        """Free the terminal."""
        cls._taken = False

    @classmethod
    def restore(cls) -> None:
        """Undo the redirection in a child process made by fork, where rich's locks may be held."""
        if cls.files is not None:
            sys.stdout, sys.stderr = cls.files


in_child(_Terminal.restore)


class _LogLines:
    """A new line now and then, by real, not simulated seconds."""

    def __init__(self, reporter: Reporter):
        self._reporter = reporter
        self._start = self._last = monotonic()
        self._n_rungs = reporter.n_rungs_done()

    def update(self) -> None:
        """Write a line if the last one is old enough."""
        pause = monotonic() - self._last
        if pause < RUNG_PAUSE:
            return
        n_rungs = self._reporter.n_rungs_done()
        if n_rungs > self._n_rungs or pause >= max(PAUSE, (self._last - self._start) / GROWTH):
            self._n_rungs, self._last = n_rungs, self._last + pause
            write_line(self._reporter.line(WIDTH))

    def stop(self, last_line: str) -> None:
        """Write the last line."""
        write_line(last_line)


class _NotebookLine:
    """One line below the cell that changes with the results, and stays at the end.

    It uses no thread: output of a thread may appear below another cell.
    """

    def __init__(self, reporter: Reporter):
        """Show the line."""
        from IPython.display import display

        self._reporter, self._last = reporter, monotonic()
        line = {"text/plain": printable(reporter.line(WIDTH))}
        self._handle = display(line, raw=True, display_id=True)

    def update(self) -> None:
        """Change the line, unless it changed a moment ago."""
        if monotonic() - self._last >= 1 / REFRESHES:
            self._show(self._reporter.line(WIDTH))
            self._last = monotonic()

    def stop(self, last_line: str) -> None:
        """Show the last line."""
        self._show(last_line)

    def _show(self, line: str) -> None:
        self._handle.update({"text/plain": printable(line)}, raw=True)


class _RichLine:
    """One line drawn by a rich thread; other output appears above it.

    Raises ImportError if rich is not installed.
    """

    def __init__(self, reporter: Reporter):
        """Start drawing the line."""
        from rich.console import Console
        from rich.live import Live
        from rich.spinner import Spinner

        self._reporter = reporter
        self._console = Console(stderr=True)
        # Rich would redirect standard output to nowhere, and end the process.
        is_gone = partial(setattr, self._console, "quiet", True)
        self._console.on_broken_pipe = is_gone  # type: ignore[method-assign]
        ascii_only = self._console.options.ascii_only
        self._spinner = Spinner("line" if ascii_only else "dots", style="green")
        _Terminal.files = (sys.stdout, sys.stderr)
        self._live = Live(
            get_renderable=self._render,
            console=self._console,
            refresh_per_second=REFRESHES,
            transient=True,
            # Output to a file must not appear on the terminal.
            redirect_stdout=_is_terminal(sys.stdout),
        )
        with suppress(Exception):  # a stream may raise anything; the line is dropped
            self._live.start(refresh=True)
            # Rich hides the cursor, and a killed process cannot show it again.
            self._console.show_cursor(True)

    def update(self) -> None:
        """Do nothing: the thread draws the line."""

    def stop(self, last_line: str) -> None:
        """Remove the line, restore standard output and error, and write the last line."""
        try:
            for file in (sys.stdout, sys.stderr):
                with suppress(Exception):
                    file.flush()  # rich keeps an unfinished line until now
            with suppress(Exception):
                self._live.stop()
        finally:
            sys.stdout, sys.stderr = _Terminal.files
            _Terminal.files = None
            _Terminal.release()
        write_line(last_line)

    def _render(self):
        """Draw the line, and put the cursor at its beginning for output of other processes."""
        from rich.console import Group
        from rich.control import Control, ControlType
        from rich.text import Text

        line = printable(self._reporter.line(min(WIDTH, self._console.width - 3)))
        frame: Any = self._spinner.render(self._console.get_time())
        text = Text.assemble(frame, " ", line, end="", no_wrap=True)
        return Group(text, Control(ControlType.CARRIAGE_RETURN))
