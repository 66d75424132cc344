"""A search that is killed until it has ended, and what must hold whatever happens to it."""

import gc
import itertools
import re
import signal
import traceback
import uuid
import warnings
import weakref
from collections import Counter

from sksearch._utils import _filesystem as _system
from sksearch.checkpoint._lines import decode
from sksearch.checkpoint._lock import PATIENCE_SECONDS
from sksearch.search import SearchMismatchError
from tests.simulation import forgery, learners
from tests.simulation.chance import happens
from tests.simulation.computer import (
    Clock,
    Computer,
    Heirs,
    Killed,
    running_on,
)
from tests.simulation.disk import Disk, Folder
from tests.simulation.learners import X, Y
from tests.simulation.outcomes import (
    ALL_FAILED,
    NO_TIME,
    WARNINGS,
    difference,
    names_cause,
    outcome,
    rows_of,
    shape,
    told,
    undisturbed,
)
from tests.simulation.watching import interrupting
from tests.simulation.workers import (
    HANGS,
    Processes,
    Serial,
    Threads,
    WorkerComputer,
    late_writes,
)

FOLDER = "/sim/checkpoint"
#: What ends a search before its plan does.
STOPS = {"timeout", "stop", "target"}
JOURNAL = f"{FOLDER}/journal.jsonl"
KEY = "/sim/config/sksearch/key"
EXECUTORS = {"serial": Serial, "threads": Threads, "processes": Processes}
#: How often workers do what they should not.
CHANCES = {
    "slow to start": 0.02,
    "dies before it works": 0.04,
    "dies": 0.06,
    "dies before it answers": 0.04,
    "repeats an older answer": 0.05,
    "answers twice": 0.05,
}


class BrokenPromiseError(AssertionError):
    """Something that was promised and not kept."""


class World:
    """A disk, a search, and what has been promised so far.

    Parameters
    ----------
    rng : random.Random
        Draws all that happens.
    drawn : Drawn
        The search.
    """

    def __init__(self, rng, drawn):
        self.rng, self.drawn, self.disk = rng, drawn, Disk()
        self.size = drawn.small
        self.disk.make("/sim", Folder)
        self.disk.root.sync()
        self.alive, self.pid = set(), 100
        self.counts = Counter()
        self.broken = []  # promises
        self.happened = {"start"}  # kinds of events
        if drawn.estimator:
            self.happened.add("failures")
        self.told, self.acknowledged = set(), set()  # pairs of trial and resource
        self.spooled = set()  # names of tasks whose output is in the folder
        self.ended = set()  # names of tasks that have ended where the folder is seen
        self.n_began = 0
        self.rest = []
        self.fate = self.executor = None
        self.homeless = None  # the fate of a process whose folder is gone
        self.n_workers, self.is_far, self.kind = 1, False, "serial"
        self.timeout = drawn.kwargs.get("timeout")
        stops = drawn.kwargs.keys() & STOPS
        self.stops, endless = bool(stops), dict.fromkeys(stops)
        self.expected, self.usual = undisturbed(drawn.make(**self.size, **endless))
        self.sequential = ""  # what it finds where nothing happens and it may stop
        if self.stops and not self.timeout:
            self.sequential, usual = undisturbed(drawn.make(**self.size))
            self.usual |= usual
        self.found = None  # by a search that has stopped
        self.note = learners.NOTE
        self.described_by = None  # what the fingerprint of a search is kept by
        if self.timeout:
            self.happened.add("timeout")
        if "constraints" in drawn.kwargs.get("known", {}):
            self.happened.add("bounds")

    def grow(self):
        """Have the user ask for more, if the search began small."""
        if self.size:
            self.size = {}
            self.ended.clear()  # a larger search takes over what it can, by other names
            self.counts["search grows"] += 1
            self.happened.add("grows")
            self.expected, usual = undisturbed(self.drawn.make())
            self.usual |= usual

    # ---- what the simulated parts ask

    def chance(self, what):
        """Whether a worker does what it should not."""
        does = happens(self.rng, CHANCES[what])
        self.counts[what] += does
        return does

    def seconds_of_task(self):
        """How long a task takes; some never end."""
        luck = self.rng.random()
        if luck > 0.99:
            self.counts["hangs"] += 1
            return HANGS
        return 1e4 * luck if luck > 0.94 else luck

    def worker(self):
        """The computer as a worker has it."""
        return WorkerComputer(self.disk, self.fate, self.new_pid(), self.alive, in_worker=True)

    def new_pid(self):
        """The number of a new process."""
        self.pid += 1
        return self.pid

    def make_executor(self, function, context, limits, folder):
        """The executor of a search, as the clock is asked for it."""
        make = EXECUTORS[self.kind]
        self.executor = make(self, Watched(self, function), context, limits, folder)
        return self.executor

    def evaluate(self, function, context, task, environment):
        """Train a candidate on a fold, unless that had been done."""
        self.n_began += 1
        if self.fate is not self.homeless:
            if (task.trial_id, task.resource) in self.acknowledged:
                self.broken.append(f"{task.name} was acknowledged, and is trained again")
            if task.name in self.spooled and not self.fate.failed:
                self.broken.append(f"{task.name} was in the spool, and is trained again")
            if task.name in self.ended and not self.fate.failed:
                self.broken.append(f"{task.name} has ended, and is trained again")
        if task.continues and task.state is None and not self.may_lose_states():
            self.broken.append(f"{task.name}: the state that it goes on from is lost")
        output = function(context, task, environment)
        if output.lost_state and not self.may_lose_states() and not self.fate.dead:
            self.broken.append(f"{task.name}: {output.lost_state}")
        can_keep = not (self.fate.failed or self.is_far or self.fate is self.homeless)
        if can_keep and not _system.system().dead:
            self.ended.add(task.name)
        return output

    def may_lose_states(self):
        """Whether a state may be gone; that of a loser is, where a search ended and then grew."""
        return self.happened & {"power", "error", "vanish", "forge", "key", "ended, and grew"}

    def appended(self, record, is_safe):
        """Note what the journal has taken."""
        if self.fate is self.homeless:
            return
        if record["k"] == "tell":
            self.told.add((record["t"], record["r"]))
        if is_safe:
            self.acknowledged |= self.told

    # ---- one start

    def start(self, fate, drawn=None, y=Y):
        """Run `fit` once; return how it ended, and what it found or raised."""
        self.fate, self.executor = fate, None
        fate.rest, self.rest = self.rest, []
        self.told.clear()
        self.look_at_folder()
        computer = Computer(self.disk, fate, self.new_pid(), self.alive)
        search, handlers = (drawn or self.drawn).make(FOLDER, **self.size), _handlers()
        self.described_by = None if drawn or y is not Y else str(self.size)
        learners.RUN = uuid.UUID(int=self.pid, version=4).hex
        learners.NOTE = self.note
        n_began, found_before, ended_before = self.n_began, self.found, set(self.ended)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ended, found = self._fit(search, computer, fate, y)
        self._check_warnings(caught)
        if fate.failed:  # what ended may not be in the journal, which says what it was
            self.ended &= ended_before
        if found_before and fate is not self.homeless and self.n_began > n_began:
            self.broken.append("a search that had ended has trained")
        if _handlers() != handlers:
            self.broken.append("handlers of signals are left")
        if fate.dead:
            self.leave(computer)
        elif computer.files and _still(computer):
            self.broken.append(f"files are left open: {[f.path for f in computer.files]}")
        computer.end()
        self.check()
        return ended, found

    def _fit(self, search, computer, fate, y):
        """Fit, and say how that ended."""
        try:
            with running_on(computer, Clock(fate, self.make_executor)), interrupting(fate):
                search.fit(X, y)
        except Killed:
            return "killed", None
        except BaseException as error:
            if fate.dead:  # of what came after its death nobody knows
                return "killed", None
            return self.judge(error, fate), told(error)
        if fate.dead:
            return "killed", None
        if fate.signalled:
            self.broken.append("Ctrl-C was swallowed")
        return "finished", outcome(search)

    def judge(self, error, fate):
        """Name the kind of an error; one that nothing has led to is a broken promise."""
        if isinstance(error, (KeyboardInterrupt, SystemExit)) and fate.signalled:
            return "signal"
        if isinstance(error, SearchMismatchError):
            return "mismatch"
        if "vanish" in self.happened and "but its journal is missing" in str(error):
            self.disk.remove_all(FOLDER)  # as it says
            return "error"
        if (fate.failed or "vanish" in self.happened) and names_cause(error):
            return "error"
        stops_at_failures = self.stops and self.drawn.estimator and told(error) == ALL_FAILED
        has_no_time = "overtime" in self.drawn.kwargs.get("stop", {}) and told(error) == NO_TIME
        if stops_at_failures or has_no_time or told(error) in (self.expected, self.sequential):
            return "finished"
        lines = traceback.format_exception(error)
        self.broken.append("an error that nothing has led to:\n" + "".join(lines[-12:]))
        return "error"

    def leave(self, computer):
        """Leave what a dead process leaves: its lock, perhaps, and workers for a moment."""
        for file in self.disk.files().values():
            file.remember()
        self.rest = late_writes(self, self.executor)
        self.counts["late writes"] += len(self.rest)
        lock = self.disk.files().get(f"{FOLDER}/lock")
        holds = lock is not None and lock.holder in list(computer.files)
        computer.end()
        if holds and happens(self.rng, 0.1):
            lock.holder = Heirs(self.rng.choice([0.5, 2.0, 2 * PATIENCE_SECONDS]))
            self.counts["heirs of a lock"] += 1
            self.happened.add("heirs")

    def _check_warnings(self, caught):
        """See that each warning has a cause."""
        for warning in caught:
            text = str(warning.message)
            if shape(text) in self.usual:
                continue
            causes = [causes for words, causes in WARNINGS.items() if re.search(words, text)]
            if not any(cause & self.happened for cause in causes):
                self.broken.append(f"a warning that nothing has led to: {text[:500]}")

    def check(self):
        """Raise the first broken promise."""
        if forgery.exploded:
            forgery.exploded.clear()
            self.broken.append("foreign code has run")
        if self.broken:
            raise BrokenPromiseError("\n".join(self.broken[:3]))

    def check_found(self, found):
        """See that a search has found what it finds undisturbed."""
        if self.stops:
            self._check_found_until_it_stopped(found)
            return
        # That all have failed is said at the end of a rung; a search started again goes on.
        if found != self.expected and self.expected != ALL_FAILED:
            self.broken.append(f"another result:\n{difference(found, self.expected)}")

    def _check_found_until_it_stopped(self, found):
        """See that a search that stops has found a part of what it finds without an end.

        Which part depends on how many run at a time: what runs when it stops counts, too.
        """
        if found in (self.sequential, ALL_FAILED, NO_TIME) or self.expected == ALL_FAILED:
            return
        if more := rows_of(found) - rows_of(self.expected):
            self.broken.append(f"other rows:\n{sorted(more)[0]}\nof\n{self.expected}")
        if self.found not in (None, found):
            self.broken.append(f"it had ended with\n{difference(found, self.found)}")
        if not self.fate.failed and self.fate is not self.homeless:
            self.found = found

    def look_at_folder(self):
        """See that nothing acknowledged is lost, and know what workers have left."""
        told, running = set(), set()
        for record in map(decode, self.lines()):
            key = record.get("t"), record.get("r")
            if record["k"] == "header":  # of a search that has grown
                running.clear()
            elif record["k"] == "ask":
                running.add(key)
            elif record["k"] == "tell":
                told.add(key)
                running.discard(key)
        if lost := self.acknowledged - told:
            self.broken.append(f"acknowledged results are lost: {sorted(lost)}")
        names = {
            path.rpartition("/")[2].removesuffix(".json")
            for path, content in self.disk.contents(f"{FOLDER}/spool").items()
            if path.endswith(".json") and decode(content) is not None
        }
        self.spooled = {name for name in names if _key(name) in running}
        self.check()

    def lines(self):
        """The lines of the journal that can be read, up to the first that cannot."""
        file = self.disk.files().get(JOURNAL)
        lines = bytes(file.data).splitlines(keepends=True) if file else ()
        return list(itertools.takewhile(decode, lines))

    def lose_power(self):
        """Lose what was not synced."""
        self.happened.add("power")
        self.rest = []
        self.ended.clear()
        self.disk.lose_power(self.rng)
        self.alive.clear()


class Watched:
    """What trains a candidate on a fold, seen by the world."""

    def __init__(self, world, function):
        self.world, self.function = world, function

    def __call__(self, context, task, environment):
        return self.world.evaluate(self.function, context, task, environment)


# ---- tools


def _handlers():
    return [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]


def _still(computer):
    """Whether files are open that something refers to, beside the disk that has their lock."""
    locks = [(weakref.ref(f), f.node) for f in computer.files if f.node.holder is f]
    for _, node in locks:
        node.holder = None
    gc.collect()  # what has a cycle, as an exception and its frame
    for file, node in locks:
        node.holder = file()
    return bool(computer.files)


def _key(name):
    """Trial and resource of a task's name."""
    parts = name.split(".")
    return (int(parts[0]), int(parts[1])) if len(parts) == 3 else None
