"""The loop, step by step, on workers that do what a script says."""

from concurrent.futures import Future

import pytest
from scipy.stats import uniform

from sksearch._utils._clock import now
from sksearch.executors import VirtualClock, spend
from sksearch.executors._base import Executor
from sksearch.executors._loop import Workload, drive
from sksearch.history import Problem, Result
from sksearch.samplers import RandomSampler
from sksearch.schedulers import ASHA, FullFidelity
from sksearch.space import Space
from sksearch.study import Study


class Scripted(Executor):
    """Three workers; each time that they are waited for the next step of the script is taken."""

    n_workers = window = 3

    def __init__(self, *script, n_running=100):
        self.script, self.n_running = iter(script), n_running
        self.futures, self.waits, self.waited_for = {}, [], []
        self.suspects, self.is_stopped = [], False

    def submit(self, task):
        future = self.futures[task] = Future()
        if len(self.futures) <= self.n_running:
            future.set_running_or_notify_cancel()
        return future

    def submit_suspect(self, task):
        self.suspects.append(task)
        return self.submit(task)

    def stop(self):
        self.is_stopped = True

    def wait(self, futures, timeout):
        self.waits.append(timeout)
        self.waited_for.append(
            [task for task, future in self.futures.items() if future in futures]
        )
        next(self.script)(self)


def ends(*tasks, after=0.0):
    """A step: time passes, and tasks end."""

    def step(executor):
        spend(after)
        for task in map(str, tasks):
            executor.futures[task].set_result(f"output of {task}")

    return step


def fails(task):
    """A step: a task ends with an error of this library or its engine."""
    return lambda executor: executor.futures[str(task)].set_exception(OSError("no engine"))


def passes(seconds):
    """A step: nothing ends."""
    return lambda executor: spend(seconds)


def interrupt(executor):
    """A step: Ctrl-C."""
    raise KeyboardInterrupt


class Jobs(Workload):
    """Notes what it is told; a task is the number of its job, and of its fold if it has two."""

    def __init__(self, n_folds=1, time=None, stop=None, known=(), unfinished=(), cost=1.0):
        self.n_folds, self.time, self.stop, self.known = n_folds, time, stop, known
        self.unfinished, self.cost = unfinished, cost
        self.log = []

    def tasks(self, job):
        folds = [f".{fold}" for fold in range(self.n_folds)] if self.n_folds > 1 else [""]
        return [f"{job.trial_id}{fold}" for fold in folds]

    def collect(self, job, outputs):
        assert outputs == [f"output of {task}" for task in self.tasks(job)]
        return Result(job.params["x"], cost=self.cost)

    def on_result(self, job):
        self.log.append(f"told {job.trial_id}")

    def on_output(self, task, output):
        assert output == f"output of {task}"
        self.log.append(f"kept {task}")

    def on_interrupt(self):
        self.log.append("interrupt")

    def seconds_left(self):
        return None if self.time is None else self.time - now()

    def seconds_to_stop(self):
        return None if self.stop is None else self.stop - now()

    def recorded_output(self, task):
        return f"output of {task}" if task in self.known else None

    def unfinished_jobs(self):
        return self.unfinished


def study(n=6, scheduler=FullFidelity):
    return Study(Problem(Space({"x": uniform(0, 1)})), RandomSampler(), scheduler(n))


def run(executor, jobs, n=6, scheduler=FullFidelity, **kwargs):
    """Drive a study on a clock; what was noted."""
    with VirtualClock():
        drive(study(n, scheduler), executor, jobs, **kwargs)
    return jobs.log


def test_the_oldest_is_told_first_and_others_are_kept_until_then():
    executor = Scripted(ends(1), ends(2), ends(0), ends(3, 5), ends(4))
    log = run(executor, Jobs())
    assert log == ["kept 1", "kept 2", "told 0", "told 1", "told 2", "told 3", "kept 5",
                   "told 4", "told 5"]  # fmt: skip
    assert executor.waited_for == [
        ["0", "1", "2"],
        ["0", "2", "3"],
        ["0", "3", "4"],
        ["3", "4", "5"],
        ["4"],
    ]
    assert executor.waits == [None] * 5


def test_asynchronous_results_are_told_as_they_come():
    executor = Scripted(ends(1), ends(2, 0), ends(3), ends(4, 5))
    log = run(executor, Jobs(), scheduler=ASHA)
    assert log == ["told 1", "told 0", "told 2", "told 3", "told 4", "told 5"]
    assert executor.waited_for == [["0", "1", "2"], ["0", "2", "3"], ["3", "4", "5"], ["4", "5"]]


def test_with_a_batch_size_the_oldest_waits_until_so_many_are_under_way():
    executor = Scripted(ends(1), ends(0), ends(3, 2), ends(4))
    log = run(executor, Jobs(), n=5, batch_size=2)
    assert log == ["kept 1", "told 0", "told 1", "told 2", "kept 3", "told 3", "told 4"]
    assert executor.waited_for == [["0", "1"], ["0"], ["2", "3"], ["4"]]


def test_the_first_result_is_waited_for_though_the_time_is_up():
    executor = Scripted(passes(5), ends(1), ends(0), ends(2))
    log = run(executor, Jobs(time=5))
    assert log == ["kept 1", "told 0", "told 1", "told 2"]
    assert executor.waits == [5, None, None, None]
    assert len(executor.futures) == 3


def test_a_job_is_begun_where_there_is_none_though_the_time_is_up():
    executor = Scripted(ends(0))
    assert run(executor, Jobs(time=0)) == ["told 0"]
    assert len(executor.futures) == 1


def test_what_runs_when_the_time_is_up_is_waited_for_until_it_is_stopped():
    executor = Scripted(ends(0, after=1), passes(1), ends(1, after=1), passes(2))
    log = run(executor, Jobs(time=2, stop=5))
    assert log == ["told 0", "told 1"]
    assert executor.waits == [2, 1, 3, 2]
    assert executor.waited_for == [["0", "1", "2"], ["1", "2", "3"], ["1"], ["2"]]
    assert executor.is_stopped


def test_what_ended_behind_one_that_is_stopped_is_kept_and_not_told():
    executor = Scripted(ends(1, after=1), passes(4))
    assert run(executor, Jobs(stop=5)) == ["kept 1"]
    assert executor.waits == [5, 4]
    assert executor.is_stopped


def test_nothing_is_stopped_where_all_ends_in_time():
    executor = Scripted(ends(0, after=3), ends(1, 2, after=1), ends(3, after=0.5))
    assert run(executor, Jobs(time=3, stop=5)) == ["told 0", "told 1", "told 2"]
    assert not executor.is_stopped


def test_a_fold_whose_job_has_not_begun_with_all_its_folds_is_waited_for_and_kept():
    executor = Scripted(
        ends(0.0, 0.1, after=3), ends(1.0, after=0.5), ends(1.1, after=0.5), n_running=3
    )
    log = run(executor, Jobs(n_folds=2, time=3, stop=5))
    assert log == ["told 0", "kept 1.0"]
    assert executor.waits == [3, 2]
    assert executor.futures["1.1"].cancelled()
    assert not executor.is_stopped


def test_results_of_an_earlier_process_are_told_and_not_repeated():
    executor = Scripted(ends(3), ends(4), ends(5))
    log = run(executor, Jobs(known=("0", "1", "2")))
    assert sorted(log) == [f"told {i}" for i in range(6)]
    assert list(executor.futures) == ["3", "4", "5"]


def test_only_the_folds_that_are_not_known_are_run():
    executor = Scripted(ends(0.1), ends(1.0, 1.1))
    assert run(executor, Jobs(n_folds=2, known=("0.0",)), n=2) == ["told 0", "told 1"]
    assert list(executor.futures) == ["0.1", "1.0", "1.1"]


def test_no_time_is_left_for_what_is_not_known():
    executor = Scripted()
    assert run(executor, Jobs(known=("0", "1"), time=0, stop=0)) == []
    executor = Scripted(ends(2))
    assert run(executor, Jobs(known=("0", "1"), time=0)) == ["told 0"]
    assert not executor.futures


@pytest.mark.parametrize(("stop", "suspects"), [(None, ["0", "1"]), (0, [])])
def test_what_an_earlier_process_left_is_suspect_and_comes_first(stop, suspects):
    ours = study(3)
    unfinished = [ours.ask(), ours.ask()]
    executor = Scripted(ends(0, 1), ends(2))
    with VirtualClock():
        jobs = Jobs(unfinished=unfinished, stop=stop)
        drive(ours, executor, jobs)
    assert executor.suspects == suspects
    assert jobs.log == ([] if stop == 0 else ["told 0", "told 1", "told 2"])


def test_behind_what_there_is_no_time_for_nothing_is_told():
    ours = study(3)
    unfinished = [ours.ask(), ours.ask()]
    with VirtualClock():
        jobs = Jobs(unfinished=unfinished, known=("1",), stop=0)
        drive(ours, Scripted(), jobs)
    assert jobs.log == []


def test_what_ended_just_when_the_time_for_it_was_up_is_told():
    executor = Scripted(ends(0, 1, 2, after=5))
    log = run(executor, Jobs(stop=5), batch_size=3)
    assert [line for line in log if "told" in line] == ["told 0", "told 1", "told 2"]


# ---- Ctrl-C


def interrupted(executor, jobs, **kwargs):
    with pytest.raises(KeyboardInterrupt):
        run(executor, jobs, **kwargs)
    return jobs.log


def test_at_ctrl_c_what_had_ended_is_told_and_what_runs_has_a_second():
    executor = Scripted(ends(1), interrupt, ends(2, after=0.25), passes(0.75))
    log = interrupted(executor, Jobs())
    assert log == ["kept 1", "interrupt", "kept 2", "told 1", "told 2"]
    assert executor.waits == [None, None, 1.0, 0.75]


def test_at_ctrl_c_nothing_is_waited_for_where_all_has_ended():
    def end_and_interrupt(executor):
        ends(0, 1, 2)(executor)
        raise KeyboardInterrupt

    executor = Scripted(end_and_interrupt)
    log = interrupted(executor, Jobs())
    assert log == ["interrupt", "kept 0", "kept 1", "kept 2", "told 0", "told 1", "told 2"]


def test_at_ctrl_c_what_has_not_begun_is_dropped():
    executor = Scripted(interrupt, ends(0), n_running=1)
    assert interrupted(executor, Jobs()) == ["interrupt", "kept 0", "told 0"]
    assert [future.cancelled() for future in executor.futures.values()] == [False, True, True]
    assert executor.waits == [None, 1.0]


def test_at_ctrl_c_an_error_does_not_keep_others_from_being_told():
    def fail_and_interrupt(executor):
        fails(1)(executor)
        ends(2)(executor)
        raise KeyboardInterrupt

    executor = Scripted(fail_and_interrupt, ends(0))
    assert interrupted(executor, Jobs()) == ["interrupt", "kept 2", "kept 0", "told 0", "told 2"]


def test_an_error_of_the_engine_ends_the_search():
    with pytest.raises(OSError, match="no engine"):
        run(Scripted(ends(1), fails(0)), Jobs())


# ---- one ahead


@pytest.mark.parametrize(("cost", "ahead"), [(0.499, 4), (0.5, 3), (0.501, 3)])
def test_one_job_is_asked_for_ahead_where_tasks_take_less_than_half_a_second(cost, ahead):
    executor = Scripted(ends(0), *[ends(i, i + 1) for i in (1, 3, 5, 7)], ends(9), ends(10))
    executor.has_latency = True
    run(executor, Jobs(cost=cost), n=10, scheduler=ASHA)
    assert max(map(len, executor.waited_for)) == ahead
    assert len(executor.waited_for[0]) == 3
