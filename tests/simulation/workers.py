"""Workers that are late, slow, dead or hanging, in one thread.

`Threads` stand for what computes in the process of the search or elsewhere: results come in any
order, and a worker may not see the folder. `Processes` are the real worker processes of a machine
but for the process itself: calls, answers and second tries are the library's own.
"""

import heapq
import itertools
import math
import os
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from types import SimpleNamespace

from sksearch._utils._clock import _open_clock
from sksearch.executors import _shared_data, spend
from sksearch.executors._base import Executor, TaskEnvironment
from sksearch.executors._in_process import SerialExecutor
from sksearch.executors._shared_data import Ref
from sksearch.executors.local._pool import ProcessExecutor
from sksearch.executors.local._process import WorkerProcess
from sksearch.executors.local._serving import READY, answer, numbered, parted
from tests.simulation.computer import Computer, Killed, OpenFile, running_on
from tests.simulation.disk import File

HANGS = math.inf


class Serial(SerialExecutor):
    """The real one; what the dead process may have died of is no exception."""

    def __init__(self, world, function, context, limits, folder):
        super().__init__(function, context, folder)
        self.world = world

    def submit(self, task):
        """Run a task, which takes time."""
        if self.world.timeout:
            spend(min(self.world.seconds_of_task(), 1e4))
        return super().submit(task)

    def submit_suspect(self, task):
        return self.submit(task)


class Queue(Executor):
    """Tasks that wait for simulated workers, and are run when they end."""

    has_latency = False
    sees_folder = True

    def __init__(self, world, n_workers):
        self.world, self.n_workers = world, n_workers
        self.window = n_workers + world.rng.randrange(3)
        self.waiting, self.running, self.numbers = [], [], itertools.count()

    def submit(self, task):
        """Queue a task."""
        future = Future()
        self.waiting.append((future, task))
        return future

    def submit_suspect(self, task):
        """Queue a task that the search may have died of."""
        return self.submit(task)

    def wait(self, futures, timeout):
        """Let time pass until one of the futures is done, or for some seconds."""
        fate, clock = self.world.fate, _open_clock.get()
        fate.step("wait")
        self._begin()
        if not any(f.running() or not f.done() for f in futures):
            return
        if not self.running or self.running[0][0] == HANGS:
            clock.waited += timeout or 0.0
            if timeout is None:  # the user loses patience
                fate.die()
            return
        end = self.running[0][0]
        if timeout is not None and end - clock.now() > timeout:
            clock.waited += timeout
            return
        clock.waited += max(0.0, end - clock.now())
        _, _, future, task = heapq.heappop(self.running)
        self.finish(future, task)
        self._begin()

    def _begin(self):
        """Give tasks to free workers."""
        while self.waiting and len(self.running) < self.n_workers:
            future, task = self.waiting.pop(0)
            if future.set_running_or_notify_cancel():
                end = _open_clock.get().now() + self.world.seconds_of_task()
                heapq.heappush(self.running, (end, next(self.numbers), future, task))

    def finish(self, future, task):
        """Run a task, in the moment in which it ends."""
        try:
            value = self.run(task)
        except Exception as raised:
            future.set_exception(raised)
        else:
            future.set_result(value)

    def left(self):
        """What runs; the workers of a dead process may go on with it for a moment."""
        return [task for *_, task in self.running]

    def stop(self):
        """End what runs."""
        self.running.clear()
        self.waiting.clear()


class Threads(Queue):
    """Workers that a search has in its own process, or elsewhere and without its folder."""

    def __init__(self, world, function, context, limits, folder):
        super().__init__(world, world.n_workers)
        self.shared = function, context, folder
        self.sees_folder = not world.is_far

    def run(self, task):
        """Run a task."""
        function, context, folder = self.shared
        with running_on(self.world.worker()):
            if self.sees_folder:
                return function(context, task, TaskEnvironment(folder))
            task, context = task.carrying(), replace(context, spool=None)
            return function(context, task, TaskEnvironment(None, shares_memory=False))


class Processes(Queue, ProcessExecutor):
    """Worker processes: the real executor on simulated processes and pipes."""

    def __init__(self, world, function, context, limits, folder):
        # A worker that dies is given its task again, which the world would take for a mistake.
        ProcessExecutor.__init__(
            self, function.function, context, world.n_workers, 1, "sequential", limits, folder
        )
        Queue.__init__(self, world, world.n_workers)
        self.shared = function, context, folder

    def __enter__(self):
        token = f"simulated {id(self)}"
        _shared_data._loaded[token] = self._shared
        self._folder = SimpleNamespace(ref=Ref("", token), path=self._given_folder)
        self._workers = [Worker(self.world) for _ in range(self.n_workers)]
        return self

    def run(self, task):
        """Run a task on a worker, and again if that dies."""
        worker = self._workers[self.world.rng.randrange(self.n_workers)]
        worker.deaths_left = self._limits.retries
        out = self._try(worker, task)
        if self.world.fate.dead:
            raise Killed
        return out

    def __exit__(self, *error):
        _shared_data._loaded.pop(self._folder.ref.token, None)


class Worker(WorkerProcess):
    """A worker whose process is simulated."""

    def __init__(self, world):
        super().__init__()
        self.world, self.deaths_left = world, 0

    def _spawn(self, may_fork):
        self._process = self._connection = Process(self.world, self)
        self._owes = READY

    def _wait_for_answer(self, deadline):
        self._process.work(deadline)

    def kill(self):
        """End the process."""
        if self._process is not None:
            self._process.exitcode = -9
        self._process = self._connection = self.loaded = self._owes = None


class Process:
    """A process and both ends of its pipe; it may die, or answer twice, or another call."""

    pid = 0

    def __init__(self, world, worker):
        self.world, self.worker = world, worker
        self.exitcode, self.inbox, self.outbox = None, [], [numbered(READY, b"")]
        self.slow = world.chance("slow to start")
        self.misled, self.old = 0, None

    def is_alive(self):
        return self.exitcode is None

    def join(self, timeout=None):
        pass

    def close(self):
        pass

    def poll(self):
        return bool(self.outbox)

    def send_bytes(self, message):
        self.inbox.append(message)

    def recv_bytes(self):
        return self.outbox.pop(0)

    def work(self, deadline):
        """Answer a call, or die."""
        if self.slow and deadline is not None:
            self.slow = False
            raise TimeoutError
        if self.outbox:
            return
        number, message = parted(self.inbox.pop(0))
        worker, world = self.worker, self.world
        may_die = worker.deaths_left > 0
        if may_die and world.chance("dies before it works"):
            self._die()
        computer = world.worker()
        computer.own_end = world.rng.randrange(12) if may_die and world.chance("dies") else None
        with running_on(computer):
            sent = numbered(number, answer(message))
        if computer.has_ended or (may_die and world.chance("dies before it answers")):
            self._die()
        if self.old is not None and self.misled < 1 and world.chance("repeats an older answer"):
            self.misled += 1
            self.outbox.append(self.old)
        self.old = sent
        self.outbox.append(sent)
        if world.chance("answers twice"):
            self.outbox.append(sent)

    def _die(self):
        self.worker.deaths_left -= 1
        self.exitcode = -11
        raise EOFError


class WorkerComputer(Computer):
    """The computer as a worker process has it, which may end before its master."""

    own_end, has_ended = None, False

    def step(self, what, path=None):
        if self.has_ended:
            raise Killed
        if self.own_end is not None:
            self.own_end -= 1
            if self.own_end < 0:
                self.has_ended = True
                if what == "write":
                    return True
                raise Killed
        return super().step(what, path)

    @property
    def dead(self):
        return self.has_ended or self.fate.dead

    def die(self):
        if self.has_ended:
            raise Killed
        super().die()


def late_writes(world, queue):
    """What the workers of a dead process still write, operation by operation."""
    if not isinstance(queue, Queue) or not queue.sees_folder:
        return []
    writes = []
    watched, context, folder = queue.shared
    for task in queue.left():
        with running_on(LateComputer(world.disk, writes)):
            watched.function(context, task, TaskEnvironment(folder, shares_memory=False))
    return writes[: world.rng.randrange(len(writes) + 1)]


class LateComputer(Computer):
    """Reads at once, and notes what it would write."""

    dead = False

    def __init__(self, disk, writes):
        super().__init__(disk, None, -1, set(), in_worker=True)
        self.writes = writes

    def step(self, what, path=None):
        return False

    def open(self, path, flags):
        if flags & (os.O_WRONLY | os.O_RDWR) == 0:
            return super().open(path, flags)
        return LateFile(self, File(0), path, can_write=True)

    def replace(self, old, new):
        self.later(self.disk.replace, old, new)

    def remove(self, path):
        self.later(self.disk.remove, path)

    def later(self, do, *args):
        """Note what is to be done, if the file or its folder is still there."""

        def write():
            with suppress(OSError):
                do(*args)

        self.writes.append(write)


class LateFile(OpenFile):
    """A file that is made later, and written in two parts."""

    def __init__(self, computer, node, path, can_write):
        super().__init__(computer, node, path, can_write)
        node.n_names = 1
        computer.later(computer.disk.make, path)

    def write(self, data):
        data, disk = bytes(data), self.computer.disk
        half = len(data) // 2
        self.computer.later(lambda: disk.node(self.path).write(0, data[:half]))
        self.computer.later(lambda: disk.node(self.path).write(half, data[half:]))
        return len(data)
