"""A clock of simulated seconds: schedules by hand, and searches that do not notice."""

import pickle
import signal
import threading
import time

import numpy as np
import pytest
from scipy.stats import uniform
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import SGDRegressor

from sksearch import BOHBSearchCV, HyperbandSearchCV, RandomSearchCV, TPESearchCV
from sksearch._utils._clock import now, open_clock
from sksearch.executors import VirtualClock, spend
from sksearch.executors._factory import make_executor
from sksearch.executors._loop import Workload, drive
from sksearch.executors._virtual import VirtualExecutor
from sksearch.history import Problem, Result
from sksearch.samplers import RandomSampler
from sksearch.schedulers import FullFidelity, Hyperband
from sksearch.space import Space
from sksearch.study import Study
from tests.fakes import Curve

X, y = np.zeros((6, 1)), np.arange(6.0)


class Slow(Curve):
    """A call of ``partial_fit`` takes `step` simulated seconds, a score 0.25."""

    def __init__(self, quality=0.5, other=0, step=1.0):
        super().__init__(quality, other)
        self.step = step

    def partial_fit(self, X, y=None):
        spend(self.step)
        return super().partial_fit(X, y)

    def score(self, X, y=None):
        spend(0.25)
        return super().score(X, y)


SPACE = {"quality": uniform(0, 1), "step": [0.1, 0.3, 0.7, 1.3]}


def take(context, task, environment):
    """A task is its duration."""
    spend(task)
    return task


def play(durations, n_workers):
    with VirtualClock(n_workers) as clock, make_executor(take, None, None, "all") as executor:
        futures = [executor.submit(duration) for duration in durations]
        while waiting := [future for future in futures if not future.done()]:
            executor.wait(waiting, None)
    return clock, [future.result() for future in futures]


def greedy_makespan(durations, n_workers):
    free = [0] * n_workers
    for duration in durations:
        free[free.index(min(free))] += duration
    return max(free)


# ---- the clock and its workers


@pytest.mark.parametrize(
    ("n_workers", "makespan"),
    [(1, 13), (2, 7), (3, 5), (4, 4)],  # 3 workers: 4 | 3 + 2 | 2 + 2
)
def test_a_makespan_matches_the_schedule_by_hand(n_workers, makespan):
    clock, values = play([4, 3, 2, 2, 2], n_workers)
    assert (clock.seconds, clock.busy_seconds) == (makespan, 13)
    assert clock.utilisation == pytest.approx(13 / (n_workers * makespan), abs=1e-15)
    assert values == [4, 3, 2, 2, 2]


def test_a_makespan_matches_the_first_free_worker_on_random_durations():
    rng = np.random.default_rng(0)
    for _ in range(200):
        durations = rng.integers(0, 6, rng.integers(1, 30)).tolist()
        n_workers = int(rng.integers(1, 8))
        clock, _ = play(durations, n_workers)
        assert clock.seconds == greedy_makespan(durations, n_workers)
        assert clock.busy_seconds == sum(durations)


def test_a_tenth_is_a_tenth():
    assert sum([0.1] * 10) != 1
    assert play([0.1] * 10, 1)[0].seconds == 1
    assert play([0.7] * 64, 64)[0].utilisation == 1


def test_what_ends_at_the_same_instant_is_known_at_the_same_instant():
    with VirtualClock(2) as clock, VirtualExecutor(take, None, clock) as executor:
        futures = [executor.submit(duration) for duration in (0.3, 0.1, 0.2)]
        executor.wait(futures, None)
        assert [future.done() for future in futures] == [False, True, False]
        executor.wait([futures[0]], None)
        assert [future.done() for future in futures] == [True, True, True]
        assert clock.seconds == 0.3


def test_a_task_is_done_when_its_time_has_come_and_not_before():
    with VirtualClock(1) as clock, VirtualExecutor(take, None, clock) as executor:
        first, second, nothing = (executor.submit(duration) for duration in (2, 3, 0))
        executor.wait([first, second], timeout=1.5)
        assert (clock.seconds, first.done(), first.running()) == (1.5, False, True)
        executor.wait([first, second], timeout=1.5)
        assert (clock.seconds, first.done(), second.done()) == (2, True, False)
        executor.wait([second], timeout=3)
        assert (clock.seconds, second.done(), nothing.done()) == (5, True, True)
        assert executor.submit(0).done()


def test_a_task_that_was_cancelled_takes_no_time():
    with VirtualClock(1) as clock, VirtualExecutor(take, None, clock) as executor:
        first, second, third = (executor.submit(duration) for duration in (2, 3, 4))
        assert not first.cancel()
        assert second.cancel()
        executor.wait([third], None)
    assert (clock.seconds, clock.busy_seconds) == (6, 6)


def fail_after(context, task, environment):
    spend(task)
    if task == 1:
        raise RuntimeError("on purpose")


def test_an_error_comes_when_its_task_ends_and_frees_the_other_workers():
    with VirtualClock(2) as clock:
        with VirtualExecutor(fail_after, None, clock) as executor:
            futures = [executor.submit(duration) for duration in (1, 5, 5)]
            executor.wait(futures, None)
            with pytest.raises(RuntimeError, match="on purpose"):
                futures[0].result()
        assert (clock.seconds, clock.busy_seconds) == (1, 2)
        with VirtualExecutor(take, None, clock) as executor:
            executor.wait([executor.submit(1) for _ in range(2)], None)
    assert (clock.seconds, clock.busy_seconds, clock.utilisation) == (2, 4, 1)


def test_a_clock_is_closed_after_an_error_and_begins_again():
    clock = VirtualClock()
    with pytest.raises(RuntimeError, match="on purpose"), clock:
        spend(3)
        assert now() == 3
        raise RuntimeError("on purpose")
    assert open_clock() is None
    assert time.perf_counter() <= now() <= time.perf_counter()
    assert clock.seconds == 3
    with clock:
        assert now() == 0
    assert np.isnan(clock.utilisation)


def test_an_open_clock_is_not_opened_again_and_others_stand_above_it():
    with VirtualClock() as clock:
        spend(1)
        with pytest.raises(RuntimeError, match="already open"), clock:
            pass
        with VirtualClock() as other:
            spend(5)
        spend(2)
    assert (clock.seconds, other.seconds) == (3, 5)
    assert open_clock() is None


def test_without_a_clock_nothing_is_spent():
    before = now()
    spend(1e9)
    assert now() < before + 1e9


def test_another_thread_has_its_own_time():
    seen = []
    with VirtualClock() as clock:
        thread = threading.Thread(target=lambda: (seen.append(open_clock()), spend(5)))
        thread.start()
        thread.join()
    assert seen == [None]
    assert clock.seconds == 0


@pytest.mark.parametrize("n_workers", [0, -1, 1.5, True, None])
def test_a_count_of_workers_is_a_positive_integer(n_workers):
    with pytest.raises(ValueError, match="must be an integer of at least 1"):
        VirtualClock(n_workers)


@pytest.mark.parametrize("seconds", [-1, np.nan, np.inf])
def test_time_does_not_run_backwards(seconds):
    with VirtualClock(), pytest.raises(ValueError, match="must be a finite number"):
        spend(seconds)


# ---- studies


class Durations(Workload):
    """Each job is two tasks, whose durations are functions of the trial."""

    def __init__(self, limit=None):
        self.limit = limit

    def tasks(self, job):
        n = job.resource - job.spent
        return [n * (1 + job.trial_id % 3), n]

    def collect(self, job, outputs):
        return Result(job.params["x"] - 1 / job.resource, sum(outputs))

    def on_result(self, job):
        pass

    def seconds_left(self):
        return None if self.limit is None else self.limit - now()


def driven(n_workers, scheduler, limit=None):
    study = Study(Problem(Space({"x": uniform(0, 1)}), 1, 9), RandomSampler(), scheduler)
    with VirtualClock(n_workers) as clock, VirtualExecutor(take, None, clock) as executor:
        drive(study, executor, Durations(limit))
    return study.history, clock


def test_a_study_of_a_synchronous_scheduler_does_not_depend_on_the_count_of_workers():
    expected, clock = driven(1, Hyperband())
    cost = sum(result.cost for trial in expected.trials for result in trial.results.values())
    assert clock.seconds == cost
    for n_workers in (2, 3, 16):
        history, several = driven(n_workers, Hyperband())
        assert history.trials == expected.trials
        assert several.busy_seconds == cost
        assert clock.seconds / n_workers <= several.seconds < clock.seconds


def test_a_study_at_full_resource_keeps_all_workers_busy():
    history, clock = driven(3, FullFidelity(20))
    durations = [9 * n for trial in history.trials for n in (1 + trial.id % 3, 1)]
    assert clock.seconds == greedy_makespan(durations, 3)


def test_a_study_that_runs_out_of_time_waits_for_what_runs():
    history, clock = driven(2, FullFidelity(20), limit=40)
    # Seconds 0 to 9: trial 0. 9 to 27 and 9 to 18: trial 1. 18 to 45 and 27 to 36: trial 2.
    # From 36 a fold of trial 3, whose other one never begins.
    assert [sorted(trial.results) for trial in history.trials] == [[9], [9], [9], []]
    assert (clock.seconds, clock.busy_seconds) == (45, 90)


# ---- searches


def fitted(search, n_workers):
    with VirtualClock(n_workers) as clock:
        search.fit(X, y)
    return search, clock


def columns(search):
    """Everything that a search found, bit by bit."""
    return {name: np.asarray(column).tolist() for name, column in search.cv_results_.items()}


def random_search(**kwargs):
    kwargs = {"n_iter": 12, "cv": 3, "refit": False, "random_state": 0} | kwargs
    return RandomSearchCV(Slow(), SPACE, **kwargs)


def test_times_of_a_search_are_simulated():
    search, clock = fitted(random_search(cv=2), 4)
    steps = [params["step"] for params in search.cv_results_["params"]]
    np.testing.assert_array_equal(search.cv_results_["mean_fit_time"], steps)
    np.testing.assert_allclose(search.cv_results_["mean_score_time"], 0.25, rtol=1e-15)
    assert clock.seconds == pytest.approx(
        greedy_makespan([step + 0.25 for step in steps for _ in range(2)], 4), rel=1e-12
    )
    costs = [trial.results[1].cost for trial in search.history_.trials]
    assert clock.busy_seconds == pytest.approx(sum(costs), rel=1e-12)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "search",
    [
        random_search(),
        HyperbandSearchCV(
            Slow(), SPACE, resource="epochs", max_resources=27, cv=2, random_state=0
        ),
        HyperbandSearchCV(
            Slow(), SPACE, resource="seconds", max_resources=9, cv=2, random_state=0
        ),
        TPESearchCV(Slow(), SPACE, n_iter=20, cv=2, random_state=0, workers={"batch_size": 3}),
        BOHBSearchCV(
            Slow(),
            SPACE,
            resource="epochs",
            max_resources=9,
            cv=2,
            random_state=0,
            workers={"batch_size": 1},
        ),
    ],
    ids=["random", "epochs", "seconds", "TPE", "BOHB"],
)
def test_a_search_does_not_depend_on_the_count_of_workers_and_repeats_bit_by_bit(search):
    expected = columns(fitted(search, 1)[0])
    seconds = []
    for n_workers in (3, 64, 3):
        again, clock = fitted(search, n_workers)
        assert columns(again) == expected
        seconds.append((clock.seconds, clock.busy_seconds))
    assert seconds[0] == seconds[2]


def test_a_search_finds_on_a_clock_what_it_finds_without():
    search = random_search()
    scores = fitted(search, 8)[0].cv_results_["mean_test_score"]
    np.testing.assert_array_equal(search.fit(X, y).cv_results_["mean_test_score"], scores)


def test_n_jobs_and_pre_dispatch_are_ignored_on_a_clock():
    expected, clock = fitted(random_search(), 2)
    search, again = fitted(random_search(n_jobs=-1, pre_dispatch="all"), 2)
    assert columns(search) == columns(expected)
    assert again.seconds == clock.seconds
    with pytest.raises(ValueError, match="n_jobs=0 leaves no worker"):
        fitted(random_search(n_jobs=0), 2)


def test_a_time_limit_counts_simulated_seconds():
    search = RandomSearchCV(
        Slow(step=10), {"quality": uniform(0, 1)}, n_iter=50, cv=2, timeout=62, refit=False
    )
    search, clock = fitted(search, 2)
    # Both folds of a candidate take 10.25 s: six end before 62 s, and the seventh has begun.
    assert len(search.cv_results_["params"]) == 7
    assert clock.seconds == 7 * 10.25


@pytest.mark.parametrize(("step", "counts"), [(0.1, (10, 30)), (0.3, (4, 10)), (0.7, (2, 5))])
def test_a_resource_of_seconds_gives_exact_counts_of_steps(step, counts):
    search = HyperbandSearchCV(
        Slow(step=step),
        {"quality": uniform(0, 1)},
        resource="seconds",
        max_resources=3,
        cv=2,
        refit=False,
        random_state=0,
    )
    search, _ = fitted(search, 3)
    for n_resources, n_steps in zip((1, 3), counts, strict=True):
        rows = search.cv_results_["n_resources"] == n_resources
        quality = search.cv_results_["param_quality"][rows].astype(float)
        expected = quality - (1 - quality) / n_steps
        np.testing.assert_allclose(search.cv_results_["mean_test_score"][rows], expected, 1e-12)


def test_a_resource_of_seconds_needs_an_estimator_that_spends_them():
    search = HyperbandSearchCV(
        SGDRegressor(), {"alpha": uniform(0, 1)}, resource="seconds", max_resources=3, cv=2
    )
    with pytest.raises(ValueError, match="took no time on a VirtualClock"):
        fitted(search, 2)


class Half(Slow):
    """Every second candidate fails after its training."""

    def fit(self, X, y=None):
        super().fit(X, y)
        if self.quality < 0.5:
            raise RuntimeError("on purpose")
        return self


def test_the_time_of_failures_counts():
    search = random_search().set_params(estimator=Half())
    with pytest.warns((FitFailedWarning, UserWarning)):
        search, clock = fitted(search, 1)
    steps = [p["step"] + 0.25 * (p["quality"] >= 0.5) for p in search.cv_results_["params"]]
    assert clock.seconds == pytest.approx(3 * sum(steps), rel=1e-12)


def test_a_refit_keeps_one_worker_busy():
    without = fitted(random_search(), 8)[1]
    search, clock = fitted(random_search(refit=True), 8)
    step = search.best_params_["step"]
    assert clock.seconds == pytest.approx(without.seconds + step)
    assert clock.busy_seconds == pytest.approx(without.busy_seconds + step)


def test_a_search_inside_of_a_task_occupies_one_worker():
    inner = RandomSearchCV(
        Slow(step=1), {"quality": [0.1, 0.2, 0.3]}, n_iter=3, cv=2, n_jobs=4, refit=False
    )
    inner.set_params(timeout=4)

    def search(context, task, environment):
        return len(inner.fit(X, y).cv_results_["params"])

    with VirtualClock(2) as clock, make_executor(search, None, None, "all") as executor:
        futures = [executor.submit(i) for i in range(4)]
        executor.wait([futures[3]], None)
    # A candidate takes 2.5 s, one after the other; after 5 s time is up.
    assert [future.result() for future in futures] == [2] * 4
    assert (clock.seconds, clock.utilisation) == (10, 1)


def test_a_search_on_a_clock_can_be_pickled():
    search, _ = fitted(random_search(refit=True), 4)
    again = pickle.loads(pickle.dumps(search))
    assert columns(again) == columns(search)
    assert again.history_.trials == search.history_.trials


class Interrupting(Slow):
    """The 20th one that is scored presses Ctrl-C."""

    n_scores = 0

    def score(self, X, y=None):
        Interrupting.n_scores += 1
        if Interrupting.n_scores == 20:
            signal.raise_signal(signal.SIGINT)
        return super().score(X, y)


def test_ctrl_c_keeps_the_results_and_closes_the_clock():
    search = random_search(n_iter=30).set_params(estimator=Interrupting())
    with pytest.raises(KeyboardInterrupt):
        fitted(search, 2)
    assert open_clock() is None
    assert search.interrupted_
    assert 1 <= len(search.cv_results_["params"]) < 7
