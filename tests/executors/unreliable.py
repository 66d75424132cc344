"""Searches on real worker processes whose answers come late, twice, swapped, torn or not at all.

Faults happen in the worker process, between it and its pipe.
"""

import json
import os
import signal
import struct
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np
from scipy.stats import uniform

from sksearch import HyperbandSearchCV, PBTSearchCV, RandomSearchCV
from sksearch.executors import end_idle_workers
from sksearch.executors.local import _process, _template
from tests.comparisons import assert_same_results
from tests.fakes import Curve

KINDS = ("late", "doubled", "swapped", "torn", "lost", "sent", "idle", "interrupted")
SERVE = f"""
import {_template.__name__} as template
from {__name__} import Unreliable

serve = template.serve
template.serve = lambda connection, parent: serve(Unreliable(connection, *%r), parent)
"""


# ---- in the worker process


class Unreliable:
    """A connection that does to some calls one of `KINDS`.

    Parameters
    ----------
    connection : Connection
        Of the worker process to the search.
    folder : str
        Where to note faults and processes.
    master : int
        Process that Ctrl-C is for.
    seconds : float
        How long the process takes to start, on top of imports.
    share : float
        Share of the calls that have a fault.
    """

    def __init__(self, connection, folder, master, seconds, share):
        self._connection, self._folder, self._master = connection, Path(folder), master
        self._seconds, self._share = seconds, share
        self._number = self._note("pids", os.getpid())
        self._rng = np.random.default_rng(self._number)
        self._old, self._fault = None, None

    def _note(self, name, value):
        """Add a line to a file; returns how many were before it."""
        with open(self._folder / name, "ab") as file:
            file.write(f"{value}\n".rjust(16).encode())
            file.flush()
            return file.tell() // 16 - 1

    def _draw(self):
        """The next fault, or None."""
        if self._rng.random() >= self._share:
            return None
        fault = KINDS[self._rng.integers(len(KINDS))]
        self._note("faults", fault)
        return fault

    def recv_bytes(self):
        """The next call, unless the process dies while it waits for one."""
        self._fault = self._draw()
        if self._fault == "idle":
            _die()
        message = self._connection.recv_bytes()
        if self._fault == "interrupted":
            os.kill(self._master, signal.SIGINT)
        return message

    def send_bytes(self, answer):
        """Send the answer in the way of the fault of its call."""
        if self._old is None:
            self._take_time_to_start()
        fault, old, self._old = self._fault, self._old, answer
        if fault == "late":
            time.sleep(0.05)
        if fault == "torn":
            os.write(self._connection.fileno(), struct.pack("!i", len(answer)) + answer[:5])
        if fault in ("torn", "lost"):
            _die()
        if fault == "swapped" and old is not None:
            self._connection.send_bytes(old)
        self._connection.send_bytes(answer)
        if fault == "doubled":
            self._connection.send_bytes(answer)
        if fault == "sent":
            _die()

    def _take_time_to_start(self):
        time.sleep(self._seconds)
        # Three that die one after another end a search.
        self._fault = self._draw() if self._number % 4 == 0 else None
        if self._fault == "interrupted":
            os.kill(self._master, signal.SIGINT)


def _die():
    os.kill(os.getpid(), signal.SIGKILL)


class Stumbling(Curve):
    """Its first training with some qualities is ended by Ctrl-C; the next one is a suspect's."""

    def __init__(self, quality=0.5, other=0, folder="."):
        super().__init__(quality, other)
        self.folder = folder

    def partial_fit(self, X, y=None):
        stone = Path(self.folder, f"{self.quality}-{getattr(self, 'n_epochs_', 0)}")
        if self.quality > 0.3 and not stone.exists():
            stone.touch()
            signal.raise_signal(signal.SIGINT)
        return super().partial_fit(X, y)


# ---- the searches

EPOCHS = {"resource": "epochs", "max_resources": 9}
SEARCHES = [
    (RandomSearchCV, {"n_iter": 25}),
    (HyperbandSearchCV, {"n_iterations": 1} | EPOCHS),
    (PBTSearchCV, {"population_size": 4, "step": 3} | EPOCHS),
]
WAYS = {
    "isolated": (Curve, 1, {"timeout": 600}),
    "workers": (Curve, 2, {}),
    "suspects": (Stumbling, 1, {}),
}
X, Y = np.zeros((20, 1)), np.zeros(20)


def search(number, seed, estimator, **options):
    """One of the searches."""
    cls, own = SEARCHES[number]
    return cls(estimator, {"quality": uniform(0, 1)}, cv=2, random_state=seed, **own, **options)


def fit_in_the_end(search):
    """Fit until Ctrl-C no more ends it; returns how often it did."""
    n_interrupted = 0
    while True:
        try:
            search.fit(X, Y)
            return n_interrupted
        except KeyboardInterrupt:
            n_interrupted += 1


def make_unreliable(folder, seconds, share):
    """Have the connections of worker processes be `Unreliable`."""
    unreliable = SERVE % ((folder, os.getpid(), seconds, share),)
    _process.SERVE = f"{unreliable}\ntemplate.serve(connection, parent)"
    _template.SERVE_FORKS = unreliable + _template.SERVE_FORKS
    if seconds:
        _process.PATIENCE_SECONDS = seconds / 10
        _template.CAN_FORK = False


def lines(folder, name):
    """What worker processes have noted."""
    file = Path(folder, name)
    return file.read_text().split() if file.exists() else []


def wait_for_the_end_of(pids):
    """Wait until no process is left; an error if one is."""
    end = time.monotonic() + 20
    while left := [pid for pid in pids if os.path.exists(f"/proc/{pid}")]:
        assert time.monotonic() < end, f"worker processes {left} are left"
        time.sleep(0.05)


def main(way, folder, n_faults, share, seconds=0.0):
    """Run searches until there were so many faults, and print their counts.

    All results must be those of searches without faults, and no process may be left. With
    `seconds` each process is a new Python that takes so long to start; without, a fork.
    """
    errors = []
    threading.excepthook = errors.append
    make_unreliable(folder, seconds, share)
    cls, n_jobs, limits = WAYS[way]
    at_work = limits | {"retries": 20}
    n_searches = n_interrupted = 0
    while len(lines(folder, "faults")) < n_faults:
        seed, number = divmod(n_searches, len(SEARCHES))
        expected = search(number, seed, Curve()).fit(X, Y)
        checkpoint = Path(folder, str(n_searches))
        estimator = cls() if cls is Curve else cls(folder=folder)
        found = search(
            number, seed, estimator, workers=at_work, checkpoint_dir=checkpoint, n_jobs=n_jobs
        )
        n_interrupted += fit_in_the_end(found)
        assert_same_results(found, expected)
        assert list(found.statuses_) == list(expected.statuses_)
        n_searches += 1
    end_idle_workers()
    wait_for_the_end_of(lines(folder, "pids"))
    assert not errors, errors
    print(json.dumps({
        "faults": Counter(lines(folder, "faults")), "searches": n_searches,
        "interrupted": n_interrupted, "processes": len(lines(folder, "pids")),
    }))  # fmt: skip
