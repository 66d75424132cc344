"""What one sees of a search while it runs."""

import pickle
import re
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from sksearch import ASHASearchCV, HyperbandSearchCV, RandomSearchCV
from sksearch.executors import VirtualClock, spend
from sksearch.history import Result
from sksearch.progress._progress import Watch, _Counts
from sksearch.progress._status_line import duration
from sksearch.resources._data import SamplesResource
from sksearch.resources._epochs import EpochsResource
from sksearch.schedulers import ASHA, PASHA, FullFidelity, Hyperband, IncrementalEvaluation
from sksearch.search import Progress
from tests.progress.studies import SPACE, played, studied

X = np.zeros((20, 1))


class Slow(BaseEstimator):
    """Takes simulated seconds: `per_epoch` for a call, and `per_fit` for a score."""

    per_epoch, per_fit = 1, 0

    def __init__(self, x=0.5):
        self.x = x

    def partial_fit(self, X, y=None, classes=None):
        spend(self.per_epoch * (0.5 + self.x))
        return self

    fit = partial_fit

    def score(self, X, y=None):
        spend(self.per_fit)
        return self.x


class Waits(Slow):
    """Takes real time."""

    def fit(self, X, y=None):
        time.sleep(0.005)
        return self


# ---- the snapshot


@pytest.mark.parametrize("resource", [EpochsResource(), SamplesResource()])
@pytest.mark.parametrize("scheduler", [Hyperband(), IncrementalEvaluation(), FullFidelity(7)])
def test_at_the_end_all_that_was_planned_is_done(scheduler, resource):
    study, plan = studied(scheduler, resource=resource)
    for job in played(study):
        progress = Progress.of(plan, study.history)
        rung = next(
            r
            for r in plan.rungs
            if r.bracket == job.bracket == progress.bracket
            and r.n_resources == job.resource == progress.n_resources
        )
        assert progress.iter == rung.iter
        assert progress.planned == plan.total_resources
        assert progress.n_jobs_planned == sum(r.n_candidates for r in plan.rungs)
    assert progress.n_candidates == progress.n_planned == plan.n_candidates
    assert progress.n_jobs == progress.n_jobs_planned
    assert progress.spent == plan.total_resources


def test_before_the_first_result_there_is_nothing_to_say():
    study, plan = studied(Hyperband())
    progress = Progress.of(plan, study.history, "Hyperband")
    assert (progress.bracket, progress.iter, progress.n_resources) == (None, None, None)
    assert np.isnan(progress.best_score)
    assert progress.spent == progress.n_jobs == progress.n_candidates == 0
    assert str(progress) == "Hyperband: 0/46 candidates, 0/342 epochs"


@pytest.mark.parametrize("any_rung_wins", [False, True])
def test_the_best_score_matches_the_rung_that_may_win(any_rung_wins):
    study, plan = studied(Hyperband(), max_resources=3)
    plan = replace(plan, any_rung_wins=any_rung_wins)
    scores = {1: 0.9, 3: 0.5}
    while (job := study.ask()) is not None:
        study.tell(job, Result(scores[job.resource]))
        reached = max(trial.resource for trial in study.history.trials)
        best = 0.9 if any_rung_wins else scores[reached]
        assert Progress.of(plan, study.history).best_score == best


def test_a_failure_is_not_the_best():
    study, plan = studied(FullFidelity(2))
    study.tell(study.ask(), Result(np.nan, status="error", error="it broke"))
    assert np.isnan(Progress.of(plan, study.history).best_score)
    study.tell(study.ask(), Result(-1.0))
    assert Progress.of(plan, study.history).best_score == -1.0


@pytest.mark.parametrize("scheduler", [ASHA(40), PASHA(40)])
def test_what_is_done_beyond_the_plan_is_planned(scheduler):
    study, plan = studied(scheduler)
    paid = 0
    for job in played(study):
        progress = Progress.of(plan, study.history)
        paid += job.resource - job.spent
        assert progress.spent == paid <= progress.planned
        assert progress.n_jobs <= progress.n_jobs_planned
        assert progress.n_candidates <= progress.n_planned
    if isinstance(scheduler, ASHA) and not isinstance(scheduler, PASHA):
        assert progress.spent == progress.planned > plan.total_resources


def test_reading_now_and_then_gives_the_same_as_reading_once():
    study, plan = studied(Hyperband())
    watch = Watch(plan, study.history)
    for i, _ in enumerate(played(study)):
        if i % 7 == 0:
            assert watch.progress() == Progress.of(plan, study.history)


def test_the_history_is_not_read_without_a_display(monkeypatch):
    study, plan = studied(FullFidelity(100))
    watch = Watch(plan, study.history, verbose=0)
    n_read = []
    with watch, monkeypatch.context() as patch:
        patch.setattr(type(watch._counts), "read", lambda self: n_read.append(1))
        for _ in played(study, 100):
            watch.update()
        assert n_read == []
        watch.progress()
        assert n_read == [1]


def test_a_pickled_watch_is_the_snapshot():
    study, plan = studied(Hyperband())
    with Watch(plan, study.history, "Hyperband") as watch:
        list(played(study, 10))
        copy = pickle.loads(pickle.dumps(watch))
        list(played(study, 10))
    assert copy.progress().n_jobs == 10
    assert watch.progress().n_jobs == 20


# ---- time


def simulate(cls, n_workers, monkeypatch, **params):
    """All snapshots of a search in simulated seconds, and how many these were."""
    seen = []

    def update(self):
        original(self)
        seen.append(self.progress())

    original = Watch.update
    monkeypatch.setattr(Watch, "update", update)
    search = cls(Slow(), SPACE, cv=2, random_state=0, refit=False, n_jobs=n_workers, **params)
    with VirtualClock(n_workers) as clock:
        search.fit(X)
    assert search.progress_.seconds == clock.seconds
    assert search.progress_.seconds_left == 0
    return seen, clock.seconds


EPOCHS = {"resource": "epochs", "max_resources": 81}


@pytest.mark.few(3)
@pytest.mark.parametrize("per_fit", [0, 5, 50])
@pytest.mark.parametrize(
    ("cls", "n_workers", "params"),
    [
        (HyperbandSearchCV, 1, EPOCHS),
        (HyperbandSearchCV, 8, EPOCHS),
        (ASHASearchCV, 1, EPOCHS),
        (RandomSearchCV, 1, {"n_iter": 60}),
        (RandomSearchCV, 8, {"n_iter": 60}),
    ],
)
def test_the_time_left_is_about_right_from_the_middle_on(
    cls, n_workers, params, per_fit, monkeypatch
):
    monkeypatch.setattr(Slow, "per_fit", per_fit)
    seen, total = simulate(cls, n_workers, monkeypatch, **params)
    late = [p for p in seen if p.seconds > total / 2 and p.seconds < total]
    assert late
    for progress in late:
        assert progress.seconds + progress.seconds_left == pytest.approx(total, rel=0.35)


@pytest.mark.filterwarnings("ignore:The first bracket will take")
def test_the_time_left_is_never_more_than_the_timeout_allows(monkeypatch):
    seen, _ = simulate(HyperbandSearchCV, 1, monkeypatch, timeout=300, **EPOCHS)
    known = [p for p in seen if p.seconds_left is not None]
    assert known
    assert all(0 <= p.seconds_left <= max(0, 300 - p.seconds) for p in known)


def test_earlier_work_does_not_count_for_the_speed():
    study, plan = studied(FullFidelity(100), max_resources=1)
    list(played(study, 50))
    with VirtualClock(), Watch(plan, study.history) as watch:
        assert watch.progress().seconds_left is None
        spend(60)
        list(played(study, 10))
        watch.update()
        progress = watch.progress()
    assert progress.n_jobs == 60
    assert progress.seconds_left == pytest.approx(4 * 60)


def test_between_two_results_the_time_left_runs_down(monkeypatch):
    study, plan = studied(FullFidelity(10), max_resources=1)
    time_is = [0.0]
    monkeypatch.setattr("sksearch.progress._progress.now", lambda: time_is[0])
    with Watch(plan, study.history) as watch:
        list(played(study, 1))
        time_is[0] = 100.0
        assert watch.progress().seconds_left == 900
        time_is[0] = 160.0
        assert watch.progress().seconds_left == 840
        time_is[0] = 1100.0  # it takes longer than it seemed
        assert watch.progress().seconds_left > 900


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0003, "0 s"),
        (0.254, "0.25 s"),
        (9.99, "10 s"),
        (42.4, "42 s"),
        (99.6, "1 min 40 s"),
        (599.7, "10 min"),
        (720, "12 min"),
        (7500, "2 h 5 min"),
        (36_000, "10 h"),
        (260_000, "3 days"),
    ],
)
def test_durations_are_written_as_one_reads_them(seconds, text):
    assert duration(seconds) == text


# ---- the line

LONG = Progress(
    name="GPHyperband", n_candidates=1047, n_planned=2143, n_jobs=1300, n_jobs_planned=3000,
    bracket=1, iter=2, n_resources=2700, n_brackets=5, unit="epochs", best_score=-0.93124,
    spent=51_200, planned=1_902_000, seconds=100.0, seconds_left=79.3,
)  # fmt: skip


def test_the_line_says_it_all_where_there_is_room():
    assert LONG.line(120) == (
        "GPHyperband: 1,047/2,143 candidates, rung 2,700 of bracket 1, best -0.9312, "
        "51,200/1,902,000 epochs, 80 s left"
    )
    assert str(LONG) == (
        "1,047/2,143 candidates, rung 2,700 of bracket 1, best -0.9312, "
        "51,200/1,902,000 epochs, 80 s left"
    )


def test_the_line_fits_into_any_width():
    for width in range(10, 120):
        assert len(LONG.line(width)) <= width
    assert LONG.line(60).endswith("80 s left")


def test_without_rungs_and_units_there_is_less_to_say():
    search = RandomSearchCV(Slow(), SPACE, n_iter=3, random_state=0).fit(X)
    assert str(search.progress_).startswith("Random: 3/3 candidates, best 0.")
    assert "rung" not in str(search.progress_)
    assert "fits" not in str(search.progress_)


# ---- while it runs


@pytest.mark.slow
def test_another_thread_reads_it_while_the_search_runs():
    search = RandomSearchCV(Waits(), SPACE, n_iter=15, cv=2, random_state=0, refit=False)
    assert not hasattr(search, "progress_")
    thread = threading.Thread(target=search.fit, args=(X,))
    thread.start()
    seen = []
    while thread.is_alive():
        if hasattr(search, "progress_"):
            seen.append(search.progress_)
    thread.join()
    counts = [progress.n_jobs for progress in seen]
    assert counts == sorted(counts)
    assert len(set(counts)) > 5
    assert search.progress_.n_jobs == 15
    assert search.progress_ == search.progress_  # time stands still after the end
    assert pickle.loads(pickle.dumps(search)).progress_ == search.progress_


def test_nothing_is_printed_at_verbose_0_and_two_lines_at_1(capsys):
    params = {"cv": 2, "random_state": 0, "resource": "epochs", "max_resources": 9}
    HyperbandSearchCV(Slow(), SPACE, **params).fit(X)
    assert capsys.readouterr() == ("", "")
    HyperbandSearchCV(Slow(), SPACE, verbose=1, **params).fit(X)
    out, err = capsys.readouterr()
    assert out == "Fitting 2 folds for each of 15 candidates, totalling 40 fits\n"
    pattern = r"Hyperband: done in [\d.]+ s, best 0\.\d+, 15 candidates, 63 epochs\n"
    assert re.fullmatch(pattern, err)


@pytest.mark.parametrize(
    ("error", "how"), [(KeyboardInterrupt, "interrupted"), (OSError, "failed")]
)
def test_the_last_line_says_if_it_ended_early(error, how, capsys):
    study, plan = studied(Hyperband())
    with pytest.raises(error), Watch(plan, study.history, "Hyperband", verbose=1):
        list(played(study, 10))
        raise error
    err = capsys.readouterr().err
    assert err.startswith(f"Hyperband: {how} after ")
    assert err.endswith(", 10 of 46 candidates, 10 of 342 epochs\n")


@pytest.mark.parametrize(
    ("jobs", "expected"),
    [
        ([(1, 3.0), (2, 5.0)], (1.0, 2.0)),  # units, seconds
        ([(4, 9.0), (9, 19.0), (9, 19.0)], (1.0, 2.0)),
        ([(3, 6.0), (3, 6.0)], (0.0, 1.0)),  # one size tells nothing
        ([(1, 5.0), (5, 4.0)], (4.5, 0.0)),  # more units are never cheaper
        ([(1, 1.0), (3, 9.0)], (0.0, 2.5)),  # nor does a job cost less than nothing
    ],
)
def test_seconds_match_a_job_and_each_of_its_units(jobs, expected):
    units, seconds = np.array(jobs).T
    watch = _Counts.__new__(_Counts)
    watch.n_jobs, watch.spent = len(jobs), units.sum()
    watch._sums = ((units**2).sum(), seconds.sum(), (units * seconds).sum())
    assert watch._costs() == pytest.approx(expected)
