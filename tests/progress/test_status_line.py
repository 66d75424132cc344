"""The status line, in log files and on terminals."""

import io
import os
import re
import sys
import threading
import time
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from sksearch import RandomSearchCV
from sksearch.progress import _status_line
from sksearch.progress._progress import Watch
from sksearch.progress._status_line import StatusLine
from sksearch.schedulers import FullFidelity, Hyperband
from tests.progress.studies import SPACE, played, studied

X = np.zeros((20, 1))


class Plain(BaseEstimator):
    """Learns nothing."""

    def __init__(self, x=0.5):
        self.x = x

    def score(self, X, y=None):
        return self.x


class Talker(Plain):
    """Prints while it is trained."""

    def fit(self, X, y=None):
        print(f"training {self.x:.6f}")
        warnings.warn("look out", UserWarning, stacklevel=1)
        return self


class Forker(Plain):
    """Has a child process that prints."""

    def fit(self, X, y=None):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of later Pythons, about threads
            pid = os.fork()
        if pid == 0:
            print("hello from a child", flush=True)
            os._exit(0)
        os.waitpid(pid, 0)
        time.sleep(0.02)
        return self


# ---- log files


class Counter:
    """Reports numbers that a test sets."""

    n = n_rungs = 0

    def line(self, width):
        return f"line {self.n}"

    def last_line(self, error):
        return "the end"

    def n_rungs_done(self):
        return self.n_rungs


def logged(monkeypatch, events):
    """Lines of a log, of events (second, whether a rung is complete)."""
    time_is = [0.0]
    monkeypatch.setattr(_status_line, "monotonic", lambda: time_is[0])
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    reporter = Counter()
    with StatusLine(reporter, 1) as line:
        for second, complete in events:
            time_is[0] = reporter.n = second
            reporter.n_rungs += complete
            line.update()
    return sys.stderr.getvalue().splitlines()


def test_a_log_has_a_line_when_a_rung_is_complete_but_not_too_many(monkeypatch):
    events = [(1, True), (9, True), (11, True), (15, True), (22, False), (23, True)]
    assert logged(monkeypatch, events) == ["line 11", "line 22", "the end"]


def test_a_log_has_a_line_now_and_then_where_no_rung_is_complete(monkeypatch):
    lines = logged(monkeypatch, [(second, False) for second in range(86_400)])
    assert lines[:2] == ["line 30", "line 60"]
    assert 80 < len(lines) < 200


@pytest.mark.parametrize("stream", [None, "closed", "full"])
def test_a_search_that_cannot_write_continues(stream, monkeypatch):
    class Full(io.StringIO):
        def write(self, text):
            raise OSError(28, "No space left on device")

    stderr = {None: None, "closed": io.StringIO(), "full": Full()}[stream]
    if stream == "closed":
        stderr.close()
    monkeypatch.setattr(sys, "stderr", stderr)
    logged_to_nowhere = Counter()
    with StatusLine(logged_to_nowhere, 1) as line:
        line.update()


BROKEN = [
    BrokenPipeError(), OSError(5, "EIO"), OSError(28, "full"), ValueError("closed"),
    RuntimeError("lost sys.stderr"), AttributeError("write"), UnicodeError("é"),
]  # fmt: skip


@pytest.mark.parametrize("error", BROKEN, ids=repr)
def test_a_terminal_that_cannot_be_written_to_does_not_end_a_search(error, monkeypatch):
    class Broken:
        encoding = "utf-8"

        def write(self, text):
            raise error

        def flush(self):
            raise error

        def isatty(self):
            return True

    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, Broken())
    with StatusLine(Counter(), 1) as line:
        line.update()
    assert isinstance(sys.stderr, Broken)
    assert _status_line._Terminal.acquire()
    _status_line._Terminal.release()


# ---- terminals


@pytest.fixture
def terminal(monkeypatch):
    """Makes standard output and error a terminal of 80 columns; returns what reads from it."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    files = [os.fdopen(os.dup(theirs), "w", buffering=1) for _ in range(2)]
    pieces = []

    def listen():
        while not pieces or not pieces[-1].endswith(b"\x04"):
            pieces.append(os.read(ours, 65536))

    def read():
        os.write(theirs, b"\x04")
        listener.join(10)
        return b"".join(pieces)[:-1].decode()

    def begin():  # in the test itself, since pytest has its own files between the phases
        monkeypatch.setattr(sys, "stdout", files[0])
        monkeypatch.setattr(sys, "stderr", files[1])
        return read

    for name, value in {"COLUMNS": "80", "LINES": "24", "TERM": "xterm-256color"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("NO_COLOR", raising=False)
    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    yield begin
    read()
    for file in files:
        file.close()
    os.close(theirs)
    os.close(ours)


def on_screen(text):
    """Lines of a terminal that got this text."""
    lines, row, column = [""], 0, 0
    for token in re.findall(r"\x1b\[[?\d;]*[A-Za-z]|.", text, flags=re.DOTALL):
        if token == "\r":
            column = 0
        elif token == "\n":
            row += 1
            lines += [""] * (row == len(lines))
        elif token.endswith("K") and token != "K":
            lines[row] = ""
        elif re.fullmatch(r"\x1b\[\d+A", token):
            row -= int(token[2:-1])
        elif len(token) == 1:
            lines[row] = lines[row][:column].ljust(column) + token + lines[row][column + 1 :]
            column += 1
    return [line.rstrip() for line in lines]


@pytest.mark.timeout(60)
def test_a_terminal_has_one_line_that_changes_and_in_the_end_one_that_stays(terminal):
    pytest.importorskip("rich")
    study, plan = studied(Hyperband(), max_resources=81)
    read = terminal()
    with Watch(plan, study.history, "Hyperband", verbose=1) as watch:
        for _ in played(study, 150):
            time.sleep(0.005)
            watch.update()
    text = read()
    assert re.search(r"/128 candidates, rung \d+( of bracket 0)?, best [\d.]+, \d+/1,404 ep", text)
    lines = on_screen(text)
    assert lines[0].startswith("Hyperband: done in ")
    assert lines[1:] == [""]
    assert text.count("\r") < 30  # drawn at most four times a second


def test_the_line_that_changes_fits_into_a_narrow_terminal(terminal, monkeypatch):
    pytest.importorskip("rich")
    monkeypatch.setenv("COLUMNS", "40")
    study, plan = studied(Hyperband(), max_resources=81)
    read = terminal()
    with Watch(plan, study.history, "Hyperband", verbose=1) as watch:
        for _ in played(study, 150):
            time.sleep(0.005)
            watch.update()
    drawn = re.sub(r"\x1b\[[?\d;]*[A-Za-z]", "", read()).split("\r")
    assert 30 < max(len(line) for line in drawn if "done in" not in line) < 40


@pytest.mark.timeout(60)
def test_output_of_estimators_stays_on_separate_lines(terminal, monkeypatch):
    pytest.importorskip("rich")
    monkeypatch.setattr(warnings, "showwarning", lambda *args: print("warned", file=sys.stderr))
    search = RandomSearchCV(
        Talker(), SPACE, n_iter=20, cv=2, random_state=0, refit=False, verbose=1
    )
    read = terminal()
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        search.fit(X)
    lines = on_screen(read())
    assert lines[0] == "Fitting 2 folds for each of 20 candidates, totalling 40 fits"
    assert lines[-2].startswith("Random: done in ")
    told = lines[1:-2]
    assert [re.sub(r"0\.\d{6}", "x", line) for line in told] == ["training x", "warned"] * 40


@pytest.mark.whole
@pytest.mark.slow
@pytest.mark.timeout(60)
def test_with_rich_a_child_process_prints_as_if_it_were_not_there(terminal):
    pytest.importorskip("rich")
    if not hasattr(os, "fork"):
        pytest.skip("no fork")
    search = RandomSearchCV(
        Forker(), SPACE, n_iter=20, cv=2, random_state=0, refit=False, verbose=1
    )
    read = terminal()
    search.fit(X)
    assert read().count("hello from a child") == 40


@pytest.mark.timeout(60)
def test_output_that_goes_to_a_file_gets_there(terminal, monkeypatch):
    pytest.importorskip("rich")
    file, read = io.StringIO(), terminal()
    monkeypatch.setattr(sys, "stdout", file)
    study, plan = studied(FullFidelity(3))
    with Watch(plan, study.history, "Random", verbose=1):
        print("a result")
        assert sys.stdout is file
    assert file.getvalue() == "a result\n"
    assert "a result" not in read()


@pytest.mark.timeout(60)
def test_standard_output_and_error_are_given_back(terminal):
    pytest.importorskip("rich")
    read = terminal()
    before = sys.stdout, sys.stderr
    study, plan = studied(FullFidelity(3))
    with pytest.raises(KeyboardInterrupt), Watch(plan, study.history, "Random", verbose=1):
        assert sys.stderr is not before[1]
        print("an unfinished line", end="")
        raise KeyboardInterrupt
    assert (sys.stdout, sys.stderr) == before
    lines = on_screen(read())
    assert lines[0] == "an unfinished line"
    assert lines[1].startswith("Random: interrupted after ")


@pytest.mark.timeout(60)
@pytest.mark.parametrize("why", ["verbose", "another search", "TERM", "no rich"])
def test_there_are_lines_as_in_a_log_where_one_that_changes_is_not_possible(
    why, terminal, monkeypatch
):
    study, plan = studied(FullFidelity(3))
    if why == "TERM":
        monkeypatch.setenv("TERM", "dumb")
    if why == "no rich":
        for name in ("rich", "rich.console", "rich.live", "rich.spinner"):
            monkeypatch.setitem(sys.modules, name, None)
    read = terminal()
    outer = StatusLine(Counter(), 1 if why == "another search" else 0)
    with outer:
        with Watch(plan, study.history, "Random", verbose=2 if why == "verbose" else 1):
            list(played(study))
        time.sleep(0.3)
    text = read()
    assert "3/3" not in text
    assert re.search(r"Random: done in [\d.]+ s, best 1.16, 3 candidates, 81 epochs\r\n", text)
    assert not _status_line._Terminal._taken
