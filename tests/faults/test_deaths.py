"""Rows 23 to 28 of the table of faults: what ends, hangs, or cannot be stored."""

import os
import re
import signal
import sys
import threading
import time
from contextlib import contextmanager

import numpy as np
import psutil
import pytest

from sksearch._utils._compat import cloudpickle
from sksearch.checkpoint._checkpoint import read_journal
from tests.faults.engine import end
from tests.faults.estimators import (
    FEW,
    Everywhere,
    Fake,
    NeverError,
    NotTwiceError,
    X,
    Y,
    assert_same,
    fit_with_one_warning,
    halving,
    random_search,
    slow_halving,
    slow_halving_undisturbed,
    statuses,
    trainings,
    wait_until,
)

cloudpickle.register_pickle_by_value(sys.modules[__name__])
pytestmark = [
    pytest.mark.timeout(120),
    pytest.mark.filterwarnings("ignore:One or more of the test scores:UserWarning"),
]

ONE_SPLIT = [(np.arange(40), np.arange(40, 60))]


@contextmanager
def signalled(number, log, n_trainings):
    """A context in which this process gets a signal as soon as the log is long enough."""
    over = threading.Event()

    def send():
        if wait_until(lambda: over.is_set() or len(trainings(log)) >= n_trainings, 120):
            time.sleep(0.05)
            # Without a handler it would end the process of the tests and not this test.
            if not over.is_set() and signal.getsignal(number) is not signal.SIG_DFL:
                os.kill(os.getpid(), number)

    thread = threading.Thread(target=send)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        signal.signal(signal.SIGINT, before)


# A signal may come between the opening of a file and the block that would close it.
any_moment = pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning", "ignore:unclosed file:ResourceWarning"
)


def nap():
    time.sleep(0.02)


@any_moment
def test_ctrl_c_keeps_the_results_and_leaves_nothing(engine, tmp_path):  # row 23
    log = tmp_path / "log"
    search = random_search(
        Fake(act=nap, at=Everywhere(), log=str(log)),
        {"quality": (np.arange(1000) / 1000).tolist()}, n_iter=1000, checkpoint_dir=tmp_path,
    )  # fmt: skip
    with signalled(signal.SIGINT, log, 10):
        with pytest.raises(KeyboardInterrupt):
            search.fit(X, Y)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert search.interrupted_
    assert 3 <= len(search.cv_results_["params"]) < 500
    assert search.best_params_["quality"] == search.cv_results_["param_quality"].max()
    assert not hasattr(search, "best_estimator_")
    last = [(event["k"], event.get("why")) for event in read_journal(tmp_path)[1][-2:]]
    assert ("stop", "interrupted") in last  # the other names the leader
    time.sleep(0.3)  # for what an engine had in its queue
    n_trainings = len(trainings(log))
    time.sleep(0.2)
    assert len(trainings(log)) == n_trainings


SLOW_SEARCH = """
from tests.faults.estimators import X, Y, slow_halving
with engine():
    slow_halving(args[0]).fit(X, Y)
"""


@pytest.mark.whole
@pytest.mark.slow
@any_moment
def test_a_search_that_was_killed_continues_to_the_same_end(engine, tmp_path):  # row 24
    log = tmp_path / "log"
    with signalled(signal.SIGTERM, log, 4), pytest.raises(SystemExit):
        slow_halving(tmp_path).fit(X, Y)
    n_before = len(trainings(log))
    process = engine.start(SLOW_SEARCH, tmp_path)
    try:
        # A cluster that the script starts takes minutes on a busy machine.
        wait_until(lambda: process.poll() is not None or len(trainings(log)) >= n_before + 8, 300)
        assert len(trainings(log)) >= n_before + 8, process.poll() and process.communicate()
        workers = {pid for pid, _ in trainings(log)[n_before:]}
        process.kill()
    finally:
        end(process)
    if engine.is_local:
        assert wait_until(lambda: not any(map(psutil.pid_exists, workers)), 5)
    search = slow_halving(tmp_path).fit(X, Y)
    assert_same(search, slow_halving_undisturbed())
    # An evaluation is of 6 epochs at most, and each time two were under way at most.
    assert 42 <= len(trainings(log)) <= 42 + 2 * 2 * 6


def kill_me():
    os.kill(os.getpid(), signal.SIGKILL)


def fatal_search(folder, **kwargs):
    """A search of which the third of four candidates is the end of its process."""
    estimator = Fake(act=kill_me, at=(0.3,), log=str(folder / "log"))
    kwargs = {"cv": ONE_SPLIT, "checkpoint_dir": folder / "checkpoint"} | kwargs
    return random_search(estimator, FEW, **kwargs)


FATAL_SEARCH = """
import warnings
from pathlib import Path
from tests.faults.estimators import X, Y
from tests.faults.test_deaths import fatal_search
warnings.simplefilter("ignore")
with engine():
    search = fatal_search(Path(args[0]))
    print(search.fit(X, Y).statuses_)
"""


@pytest.mark.whole
@pytest.mark.slow
def test_a_training_that_ends_its_process_costs_that_candidate_only(engine, tmp_path):  # row 25
    if engine.is_here:  # the process that dies is the search's own: the next one survives
        assert engine.run(FATAL_SEARCH, tmp_path)[1] != 0
        (out, err), code = engine.run(FATAL_SEARCH, tmp_path)
        assert (code, out) == (0, "['ok', 'ok', 'crash', 'ok']\n"), err
        return
    search = fit_with_one_warning(fatal_search(tmp_path), "SIGKILL|worker died")
    assert statuses(search) == {0.1: {"ok"}, 0.2: {"ok"}, 0.3: {"crash"}, 0.4: {"ok"}}
    assert search.best_params_ == {"quality": 0.4}
    log = trainings(tmp_path / "log")
    assert [quality for _, quality in log].count(0.3) == 2  # retries: 1


def hang():
    re.match("(a+)+$", "a" * 60 + "b")  # in C, with the GIL, for years


@pytest.mark.few(1)
@pytest.mark.slow
def test_a_training_that_hangs_is_stopped_and_its_worker_replaced(engine, tmp_path):  # row 26
    estimator = Fake(act=hang, at=(0.2,), log=str(tmp_path / "log"))
    search = random_search(estimator, FEW, cv=ONE_SPLIT, workers={"timeout": 1.5})
    fit_with_one_warning(search, "timeout: took more than 1.5 seconds")
    assert statuses(search) == {0.1: {"ok"}, 0.2: {"timeout"}, 0.3: {"ok"}, 0.4: {"ok"}}
    (hung,) = {pid for pid, quality in trainings(tmp_path / "log") if quality == 0.2}
    assert wait_until(lambda: not psutil.pid_exists(hung), 2)


def want_much():
    np.ones(10**9)


def raise_memory_error():
    raise MemoryError("too much")


@pytest.mark.few(1)
@pytest.mark.slow
def test_a_training_that_wants_too_much_memory_fails_alone(engine):  # row 27
    search = random_search(Fake(act=want_much, at=(0.4,)), cv=ONE_SPLIT, workers={"memory": 10**9})
    fit_with_one_warning(search, "MemoryError")
    assert statuses(search) == {0.1: {"ok"}, 0.2: {"ok"}, 0.3: {"ok"}, 0.4: {"memory"}}
    search = random_search(Fake(act=raise_memory_error, at=(0.4,)))
    fit_with_one_warning(search, "too much")
    assert statuses(search) == {0.1: {"ok"}, 0.2: {"ok"}, 0.3: {"ok"}, 0.4: {"memory"}}


def raise_not_twice():
    raise NotTwiceError(1, 2)


def raise_never():
    raise NeverError


class Locked(Fake):
    """Cannot be pickled when it is fitted."""

    def partial_fit(self, X, y, classes=None):
        self.lock_ = threading.Lock()
        return super().partial_fit(X, y, classes)


def test_what_cannot_be_pickled_costs_time_or_that_candidate_only(engine):  # row 28
    for act, name in ((raise_not_twice, "NotTwiceError"), (raise_never, "NeverError")):
        search = random_search(Fake(act=act, at=(0.4,)))
        fit_with_one_warning(search, name)
        assert statuses(search) == {0.1: {"ok"}, 0.2: {"ok"}, 0.3: {"ok"}, 0.4: {"error"}}
    search = halving(Locked())
    if engine.is_here:
        search.fit(X, Y)
    else:
        fit_with_one_warning(search, "cannot be stored", UserWarning)
    assert_same(search, halving(Fake(), n_jobs=1).fit(X, Y))


def test_a_resumed_search_does_not_warn_of_what_was_not_stored_earlier(tmp_path):  # row 28
    search = halving(Locked(), n_jobs=1, checkpoint_dir=tmp_path)
    fit_with_one_warning(search, "cannot be stored", UserWarning)
    search.fit(X, Y)  # warnings are errors
