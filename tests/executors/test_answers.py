"""An answer is taken for that to its own call alone, whatever the pipe or the process does."""

import os
import threading
import time
from collections import Counter
from contextlib import suppress
from multiprocessing import Pipe
from socket import SHUT_RDWR, socket

import numpy as np
import pytest

from sksearch.executors import EngineLostError
from sksearch.executors._limits import LostTask
from sksearch.executors.local import _process
from sksearch.executors.local._process import WorkerProcess
from sksearch.executors.local._serving import READY, answer, numbered, parted


class FakeProcess:
    """Serves calls in a thread: a process that starts in no time, and may be slow to."""

    def __init__(self, connection, seconds_to_start=0.0):
        self.connection, self.seconds = connection, seconds_to_start
        self.sentinel, self._end = Pipe(duplex=False)
        self.exitcode, self.pid = None, 0

    def start(self):
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self):
        time.sleep(self.seconds)
        try:
            self.connection.send_bytes(numbered(READY, b""))
            while True:
                number, message = parted(self.connection.recv_bytes())
                self.connection.send_bytes(numbered(number, answer(message)))
        except Exception:  # the pipe was shut in the middle of anything
            pass
        self.connection.close()

    def is_alive(self):
        return self.exitcode is None

    def join(self, timeout=None):
        pass

    def die(self):
        """Shut the pipe, which its thread closes: another pipe could get its number before."""
        if self.exitcode is not None:
            return
        self.exitcode = -9
        with suppress(OSError), socket(fileno=os.dup(self.connection.fileno())) as pipe:
            pipe.shutdown(SHUT_RDWR)
        self._end.close()


class Unreliable:
    """A connection whose answers come late, doubled, swapped or not at all."""

    def __init__(self, connection, process, rng, faults, share):
        self._connection, self._process, self._rng = connection, process, rng
        self._faults, self._share = faults, share
        self._old, self._left, self._late = None, [], 0

    def fileno(self):
        return self._connection.fileno()

    def close(self):
        self._connection.close()

    def send_bytes(self, message):
        self._fault = None
        if self._rng.random() < self._share:
            kinds = ["late", "lost", "doubled", "swapped", "interrupted", "died before"]
            self._fault = kinds[self._rng.integers(len(kinds))]
            self._faults[self._fault] += 1
            self._late = 2 * (self._fault == "late")
        if self._fault == "died before":
            self._process.die()
        self._connection.send_bytes(message)

    def poll(self):
        if self._left:
            return True
        found = self._connection.poll()
        if found and self._late:
            self._late -= 1
            return False
        if found and getattr(self, "_fault", None) == "interrupted":
            self._fault = None
            raise KeyboardInterrupt
        return found

    def recv_bytes(self):
        if self._left:
            return self._left.pop()
        answer = self._connection.recv_bytes()
        fault, old, self._old = getattr(self, "_fault", None), self._old, answer
        self._fault = None
        if fault == "lost":
            self._process.die()
            raise EOFError
        if fault == "doubled":
            self._left.append(answer)
        if fault == "swapped" and old is not None:
            self._left.append(answer)
            return old
        return answer


@pytest.fixture
def begin(monkeypatch):
    """Begins a worker whose processes are threads, and whose answers are unreliable."""
    faults = Counter()

    def begin(share=0.0, seconds_to_start=(0.0,), seed=0):
        rng, seconds = np.random.default_rng(seed), list(seconds_to_start)

        def spawn(self, may_fork):
            own, others = Pipe()
            self._process = FakeProcess(others, seconds.pop(0) if len(seconds) > 1 else seconds[0])
            self._connection = Unreliable(own, self._process, rng, faults, share)
            self._process.start()
            self._owes = READY

        monkeypatch.setattr(WorkerProcess, "_spawn", spawn)
        monkeypatch.setattr(_process, "_kill", lambda process: process.die())
        return WorkerProcess(), faults

    return begin


def test_a_thousand_faults_and_no_answer_to_another_call(begin):
    worker, faults = begin(share=0.5)
    n_lost = n_right = n = 0
    while sum(faults.values()) < 1000:
        n += 1
        try:
            answer = worker.call(abs, -n)
        except KeyboardInterrupt:
            continue
        if isinstance(answer, LostTask):
            n_lost += 1
            assert answer.status == "crash"
        else:
            n_right += 1
            assert answer == n
    assert len(faults) == 6
    # What only came late, twice or in another order costs nothing, unless thrice in a row.
    assert n_lost <= faults["lost"] + faults["died before"] + 3
    assert n_right >= n - n_lost - faults["interrupted"]


def test_an_unexpected_answer_is_never_taken(begin, monkeypatch):
    """The wait is ended by Ctrl-C, or anything else, and the worker serves another search."""
    worker, _ = begin()
    wait = worker._wait_for_answer

    def interrupted(deadline):
        monkeypatch.setattr(worker, "_wait_for_answer", wait)
        raise KeyboardInterrupt

    assert worker.call(abs, -1) == 1
    monkeypatch.setattr(worker, "_wait_for_answer", interrupted)
    with pytest.raises(KeyboardInterrupt):
        worker.call(abs, -2)
    assert [worker.call(abs, -n) for n in range(3, 9)] == [*range(3, 9)]


def test_a_process_that_is_slow_to_start_is_waited_for(begin, monkeypatch):
    monkeypatch.setattr(_process, "PATIENCE_SECONDS", 0.01)
    worker, _ = begin(seconds_to_start=(0.2,))
    with pytest.warns(
        UserWarning, match="has not started in 0.01 seconds.*The search waits for it"
    ):
        assert worker.call(abs, -1) == 1
    assert [worker.call(abs, -n) for n in range(3)] == [0, 1, 2]


def test_a_start_that_is_interrupted_leaves_nothing_behind(begin, monkeypatch):
    worker, _ = begin(seconds_to_start=(0.05, 0.0))
    hear = worker._hear_of_start

    def interrupted():
        monkeypatch.setattr(worker, "_hear_of_start", hear)
        raise KeyboardInterrupt

    monkeypatch.setattr(worker, "_hear_of_start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        worker.start()
    time.sleep(0.1)  # it says by now that it is ready
    assert [worker.call(abs, -n) for n in range(5)] == [*range(5)]


def test_only_several_processes_that_cannot_start_are_an_error(begin, monkeypatch):
    worker, _ = begin(seconds_to_start=(0.05,))
    hear, deaths = worker._hear_of_start, []

    def hear_or_die():
        if len(deaths) < n_deaths:
            deaths.append(worker._process.die())
        hear()

    monkeypatch.setattr(worker, "_hear_of_start", hear_or_die)
    n_deaths = 2
    assert worker.call(abs, -1) == 1
    worker.kill()
    n_deaths = 99
    with pytest.raises(EngineLostError, match=r"3 worker processes could not start: .*SIGKILL"):
        worker.call(abs, -1)
