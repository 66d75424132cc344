"""One line on standard error that says how far something is.

Whoever has something to say (a *teller*) has three methods: ``line(width)``, how far it is in at
most so many characters; ``last_line(error)``, what it came to, with the class of the exception
that ended it or None; and ``n_stages()``, a count that goes up when a stage is over. The first
may be called from another thread.
"""

import os
import sys
from contextlib import suppress
from multiprocessing import current_process
from shutil import get_terminal_size
from threading import Lock
from time import monotonic

WIDTH = 99  # of a line in a log
REFRESHES = 4  # a second, on a terminal
# Seconds between two lines of a log: when a stage is over, and otherwise. In a search of days a
# line comes each time when it is a twentieth older.
STAGE_PAUSE, PAUSE, GROWTH = 10, 30, 20


class StatusLine:
    """Show a status line while the context is open, and what came of it afterwards.

    On a terminal one line that changes, drawn by rich where it is installed; what is printed
    meanwhile comes out above it. Elsewhere (log files, pipes, notebooks) now and then a line.
    Where it cannot write (a closed terminal, a full disk) it falls silent.

    Parameters
    ----------
    teller : object
        Says what there is to say, see above.
    verbose : int
        0 shows nothing, 1 a status line, more lines as in a log file everywhere: what other
        processes print would tear a line that changes in place.
    """

    def __init__(self, teller, verbose):
        self._teller, self._verbose = teller, verbose
        self._lines = None

    def __enter__(self):
        if self._verbose > 0:
            self._lines = _lines(self._teller, live=self._verbose == 1)
        return self

    def update(self):
        """There is news."""
        if self._lines is not None:
            self._lines.update()

    def __exit__(self, error, *_):
        if self._lines is not None:
            self._lines.stop()
            _write(self._teller.last_line(error) + "\n")


def _lines(teller, live):
    """What suits the place: a line drawn by rich, one without, or many."""
    if live and _on_terminal() and _Screen.take():
        try:
            return _RichLine(teller)
        except ImportError:
            return _BareLine(teller)
    return _LogLines(teller)


def _on_terminal():
    """Whether a line of this process can change in place."""
    try:
        is_terminal = sys.stderr is not None and sys.stderr.isatty()
    except ValueError:  # it is closed
        return False
    # Workers have the terminal of their parent: lines of several processes would overwrite
    # each other.
    alone = current_process().name == "MainProcess"
    return is_terminal and alone and os.environ.get("TERM") != "dumb"


def _write(text):
    """Write to standard error, wherever it goes now."""
    with suppress(OSError, ValueError):
        if sys.stderr is not None:
            sys.stderr.write(text)
            sys.stderr.flush()


def duration(seconds):
    """Write a time as one reads it: 0.25 s, 42 s, 1 min 20 s, 12 min, 2 h 5 min, 3 days."""
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


class _Screen:
    """The terminal, which has room for one line that changes."""

    _lock = Lock()
    _taken = False
    files = None  # standard output and error as they were before rich stood in for them

    @classmethod
    def take(cls):
        """Say whether the terminal was free, and is now the caller's."""
        with cls._lock:
            free, cls._taken = not cls._taken, True
            return free

    @classmethod
    def leave(cls):
        """Free the terminal."""
        cls._taken = False

    @classmethod
    def restore(cls):
        """Undo the redirection in a child process made by fork: rich's locks may be held."""
        cls._lock = Lock()
        if cls.files is not None:
            sys.stdout, sys.stderr = cls.files


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_Screen.restore)


class _LogLines:
    """Now and then a line. Real seconds count, not simulated ones."""

    def __init__(self, teller):
        self._teller = teller
        self._start = self._last = monotonic()
        self._n_stages = teller.n_stages()

    def update(self):
        pause = monotonic() - self._last
        if pause < STAGE_PAUSE:
            return
        n_stages = self._teller.n_stages()
        if n_stages > self._n_stages or pause >= max(PAUSE, (self._last - self._start) / GROWTH):
            self._n_stages, self._last = n_stages, self._last + pause
            _write(self._teller.line(WIDTH) + "\n")

    def stop(self):
        pass


class _BareLine:
    """One line that is drawn again when there is news."""

    def __init__(self, teller):
        self._teller = teller
        self._last = 0.0
        self.update()

    def update(self):
        if monotonic() - self._last >= 1 / REFRESHES:
            self._last = monotonic()
            self._draw(self._teller.line(self._width()))

    def stop(self):
        self._draw("")
        _Screen.leave()

    def _draw(self, text):
        # The cursor waits at the beginning, so that what others print begins there, too.
        _write(f"\r{text:<{self._width()}}\r")

    @staticmethod
    def _width():
        return min(WIDTH, get_terminal_size().columns - 1)


class _RichLine:
    """One line that a thread of rich draws, above which others may print."""

    def __init__(self, teller):
        from rich.console import Console
        from rich.live import Live
        from rich.spinner import Spinner

        self._teller = teller
        self._console = Console(stderr=True)
        ascii_only = self._console.options.ascii_only
        self._spinner = Spinner("line" if ascii_only else "dots", style="green")
        _Screen.files = (sys.stdout, sys.stderr)
        self._live = Live(
            get_renderable=self._render,
            console=self._console,
            refresh_per_second=REFRESHES,
            transient=True,
            # What goes to a file shall get there, and not to the terminal.
            redirect_stdout=sys.stdout is not None and sys.stdout.isatty(),
        )
        with suppress(OSError, ValueError):
            self._live.start(refresh=True)
            # A process that is killed cannot bring it back.
            self._console.show_cursor(True)

    def update(self):
        pass

    def stop(self):
        try:
            for file in (sys.stdout, sys.stderr):
                with suppress(OSError, ValueError, AttributeError):
                    file.flush()  # a line without an end is kept back until now
            with suppress(OSError, ValueError):
                self._live.stop()
        finally:
            sys.stdout, sys.stderr = _Screen.files
            _Screen.files = None
            _Screen.leave()

    def _render(self):
        from rich.console import Group
        from rich.control import Control, ControlType
        from rich.text import Text

        line = self._teller.line(min(WIDTH, self._console.width - 3))
        frame = self._spinner.render(self._console.get_time())
        text = Text.assemble(frame, " ", line, end="", no_wrap=True)
        # The cursor waits at the beginning, so that what other processes print begins there.
        return Group(text, Control(ControlType.CARRIAGE_RETURN))
