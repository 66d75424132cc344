"""A time that holds though a candidate hangs."""

import os
import signal
import sys
import time
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from sksearch import RandomSearchCV, SearchCV, SuccessiveHalvingSearchCV
from sksearch._utils._compat import cloudpickle
from sksearch.samplers import RandomSampler
from sksearch.schedulers import ASHA
from tests.faults.estimators import pids, trainings, wait_until

cloudpickle.register_pickle_by_value(sys.modules[__name__])
pytestmark = pytest.mark.slow

X, Y = np.zeros((12, 1)), np.arange(12.0)
SECONDS = 2.0
SLACK = 2.0
FIRST = [{"quality": 0.1}, {"quality": 0.2}]


class Hanging(BaseEstimator):
    """Hangs at one quality, in a way that hears no signal but the last."""

    def __init__(self, quality=0.1, hangs_at=None, log=None, seconds=1000):
        self.quality, self.hangs_at, self.log = quality, hangs_at, log
        self.seconds = seconds

    def fit(self, X, y=None):
        with open(self.log, "a") as file:
            file.write(f"{os.getpid()} {len(X)} {self.quality}\n")
        if self.hangs_at is not None and self.quality >= self.hangs_at:
            if self.seconds > 100:
                signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
            time.sleep(self.seconds)
        return self

    partial_fit = fit

    def score(self, X, y=None):
        return self.quality


def search_of(log, hangs_at, **params):
    space = {"quality": [0.1, 0.2, 0.3, 0.4, 0.5]}
    params = {"n_iter": 5, "cv": 2, "random_state": 0, "known": {"params": FIRST}} | params
    estimator = Hanging(hangs_at=hangs_at, log=str(log))
    return RandomSearchCV(estimator, space, **params)


def fit_in_time(search, log, seconds=SECONDS):
    """Fit, and see that it ends in time and leaves no process that was trained in."""
    # Its workers have started before: on a busy machine that takes longer than all the rest.
    search_of(log, None, n_jobs=search.n_jobs, workers={"timeout": 100}).fit(X, Y)
    log.unlink()
    start = time.monotonic()
    try:
        return search.fit(X, Y)
    finally:
        assert time.monotonic() - start < seconds + SLACK
        left = pids(log) - {os.getpid()}
        assert wait_until(lambda: not any(map(is_hanging, left)), 5)


def is_hanging(pid):
    """Whether a process is there, with its signals blocked."""
    try:
        with open(f"/proc/{pid}/status") as file:
            blocked = next(line for line in file if line.startswith("SigBlk"))
    except OSError:
        return False
    return bool(int(blocked.split()[1], 16) & 1 << (signal.SIGTERM - 1))


@pytest.mark.few(1)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_search_ends_in_time_and_keeps_what_others_found(n_jobs, tmp_path):
    log = tmp_path / "log"
    search = search_of(log, 0.5, n_jobs=n_jobs, timeout=SECONDS, stop={"overtime": 0})
    found = fit_in_time(search, log)
    assert not found.interrupted_
    assert set(found.statuses_) == {"ok"}
    assert 1 <= len(found.statuses_) <= 4
    assert found.best_estimator_.quality == found.best_score_ < 0.5


def test_overtime_is_for_those_that_run(tmp_path):
    log = tmp_path / "log"
    search = search_of(log, 0.1, timeout=0.2, stop={"overtime": 20})
    search.set_params(estimator__seconds=0.5, n_jobs=1, refit=False)
    assert fit_in_time(search, log, 20).statuses_ == ["ok"]
    assert len(trainings(log)) == 2


@pytest.mark.whole
def test_a_search_in_which_all_hang_is_reported_in_time(tmp_path):
    log = tmp_path / "log"
    search = search_of(log, 0.1, n_jobs=2, timeout=SECONDS, stop={"overtime": 0})
    with pytest.raises(TimeoutError, match=r"No candidate was scored within timeout=2"):
        fit_in_time(search, log)


def test_a_time_that_is_up_before_anything_began_is_named(tmp_path):
    search = search_of(tmp_path / "log", None, timeout=1e-9, stop={"overtime": 0})
    with pytest.raises(TimeoutError, match=r"No candidate was scored within timeout=1e-09"):
        search.fit(X, Y)


@pytest.mark.whole
def test_it_continues_from_its_checkpoint(tmp_path):
    log, folder = tmp_path / "log", tmp_path / "checkpoint"
    fit_in_time(
        search_of(
            log, 0.5, n_jobs=2, timeout=SECONDS, stop={"overtime": 0}, checkpoint_dir=folder
        ),
        log,
    )
    n_before = len(trainings(log))
    again = search_of(log, 0.5, workers={"timeout": 1}, checkpoint_dir=folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the one that hangs
        again.fit(X, Y)
    statuses = dict(zip(again.cv_results_["param_quality"], again.statuses_, strict=True))
    assert statuses == {0.1: "ok", 0.2: "ok", 0.3: "ok", 0.4: "ok", 0.5: "timeout"}
    rest = [quality for _, quality in trainings(log)[n_before:] if quality < 0.5]
    done = [quality for _, quality in trainings(log)[:n_before] if quality < 0.5]
    assert len(rest) + len(done) <= 8 + 2  # two were stopped at most


@pytest.mark.whole
def test_other_schedules_end_in_time_as_well(tmp_path):
    log = tmp_path / "log"
    space = {"quality": [0.1, 0.2, 0.3, 0.4, 0.5]}
    hanging, common = Hanging(hangs_at=0.5, log=str(log)), {"cv": 2, "known": {"params": FIRST}}
    limits = {"timeout": SECONDS, "stop": {"overtime": 0}, "n_jobs": 2, "resource": "epochs"}
    halving = SuccessiveHalvingSearchCV(hanging, space, max_resources=9, **common, **limits)
    assert fit_in_time(halving, log).best_score_ < 0.5
    racing = SearchCV(
        hanging, space, sampler=RandomSampler(), scheduler=ASHA(5), max_resources=9,
        **common, **limits,
    )  # fmt: skip
    assert fit_in_time(racing, log).best_score_ < 0.5
