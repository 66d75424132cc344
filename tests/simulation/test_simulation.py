"""Stories of the simulation, one that Hypothesis makes short, and promises broken on purpose."""

import random
from collections import Counter
from contextlib import nullcontext

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from sksearch._utils import _files
from sksearch.checkpoint import _folder, _lock, _recorder, _records, _signature
from sksearch.checkpoint._checkpoint import Checkpoint
from sksearch.checkpoint._lines import encode
from sksearch.checkpoint._log import Log
from sksearch.executors._signals import Interrupts
from sksearch.executors.local._process import WorkerProcess
from sksearch.executors.local._serving import parted
from sksearch.fitting.run import _evaluation
from sksearch.fitting.run._run import Run
from tests.simulation import stories
from tests.simulation.chance import Told
from tests.simulation.computer import Computer
from tests.simulation.stories import tell
from tests.simulation.world import BrokenPromiseError

PART = 40  # stories of a case, which takes five seconds on an idle core; others tell the first 40


@pytest.mark.whole
@pytest.mark.slow
@pytest.mark.parametrize("first", range(PART, 8 * PART, PART))
def test_whatever_happens_to_a_search_it_keeps_its_promises(first):
    stories = (tell(random.Random(seed)) for seed in range(first, first + PART))
    assert sum(stories, Counter())["crashes"] > 5 * PART


@pytest.mark.whole
@pytest.mark.slow
@settings(
    max_examples=50,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(st.randoms(note_method_calls=True, use_true_random=False))
def test_a_story_that_ends_badly_is_made_short(rng):
    told = Told(rng, 600)
    try:
        tell(told, n_crashes=3)
    finally:
        if told.end is not None:
            raise told.end


# ---- the simulation can fail


def write_lazily(path, data, sync=True):
    """Write a file whose content a loss of power takes."""
    _files.write_atomically(path, data, sync=False)


def take_any(process):
    """Take an answer of whatever number."""
    process._owes = None
    return parted(process._connection.recv_bytes())[1]


def append_to_nothing(log, record, sync=True):
    """Take a line and keep it in memory."""
    log._safe[1].append(encode(record))


def nothing(*args, **kwargs):
    """Do nothing."""


def always(*args, **kwargs):
    """Say yes."""
    return True


def never(*args, **kwargs):
    """Say no."""
    return False


#: What is replaced by what, and words of the promise that is broken then.
BREAKAGES = {
    "the journal is not synced": (Log, "_sync_or_cut", nothing, "are lost|journal is missing"),
    "names are not synced": (Computer, "sync_folder", nothing, "are lost"),
    "the journal is written at the end": (Log, "append", append_to_nothing, "lost"),
    "damage is not cut off": (Log, "_repair", nothing, "lost|is trained again"),
    "files are renamed, and not synced": (_folder, "write_atomically", write_lazily, "damaged"),
    "workers keep no outputs": (_records.Spool, "write", nothing, "has ended, and is trained"),
    "outputs of workers are not read": (
        _recorder.JournalRecorder, "_in_spool", nothing, "is trained again"
    ),
    "what is known is not replayed": (
        Run, "recorded_output", nothing, "is trained again"
    ),
    "an answer of any number is taken": (
        WorkerProcess, "_receive", take_any, "another result|has led to"
    ),
    "every signature is right": (_signature.hmac, "compare_digest", always, "foreign code"),
    "the lock is ignored": (
        _lock, "_lock_or_wait", always, "two masters|has led to|is trained again"
    ),
    "searches are not compared": (_recorder, "check_same", never, "not refused"),
    "handlers of signals stay": (Interrupts, "_give_back", nothing, "handlers of signals"),
    "unfinished files stay": (Checkpoint, "sweep", nothing, "files are left"),
    "random numbers are not seeded": (
        _evaluation, "seeded", lambda *args: nullcontext(), "another result|other rows"
    ),
}  # fmt: skip


@pytest.mark.few(5)
@pytest.mark.slow
@pytest.mark.parametrize("name", BREAKAGES)
def test_few_stories_find_a_promise_that_is_broken_on_purpose(name, monkeypatch):
    owner, attribute, replacement, words = BREAKAGES[name]
    monkeypatch.setattr(owner, attribute, replacement)
    monkeypatch.setitem(stories.SHARES, "meddles", 0.3)
    with pytest.raises(BrokenPromiseError, match=words):
        for seed in range(60):
            tell(random.Random(seed))
