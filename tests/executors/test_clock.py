"""The clock of simulated seconds, step by step."""

from concurrent.futures import Future
from contextlib import ExitStack
from decimal import localcontext

import pytest

from sksearch._utils._clock import now, wall_time
from sksearch.executors import VirtualClock, spend
from sksearch.executors._limits import Limits
from sksearch.executors._virtual import VirtualExecutor
from tests.executors.test_virtual import fail_after, play, take


def on_clock(function, n_workers=1, **limits):
    """A clock that is open, and an executor on it."""
    stack = ExitStack()
    clock = stack.enter_context(VirtualClock(n_workers))
    limits = Limits(**limits) if limits else None
    return stack, clock, stack.enter_context(VirtualExecutor(function, None, clock, limits))


def test_a_task_that_takes_too_long_is_stopped_when_its_time_is_up():
    stack, clock, executor = on_clock(fail_after, n_workers=3, seconds=1.5)
    with stack:
        futures = [executor.submit(seconds) for seconds in (1.5, 1.500001, 0.5, 1)]
        while left := [future for future in futures if not future.done()]:
            executor.wait(left, None)
        assert futures[0].result() is None
        lost = futures[1].result()
        assert (lost.status, lost.error) == ("timeout", "took more than 1.5 seconds")
        assert lost.seconds == 1.5
        with pytest.raises(RuntimeError, match="on purpose"):
            futures[3].result()
        assert (clock.seconds, clock.busy_seconds) == (1.5, 1.5 + 1.5 + 0.5 + 1)
        assert executor.limits.seconds == 1.5


@pytest.mark.parametrize(
    ("timeout", "now"), [(0, 0), (-1, 0), (0.25, 0.25), (1e-30, 1e-18), (2, 2), (3, 2)]
)
def test_a_wait_takes_its_time_and_no_more(timeout, now):
    stack, clock, executor = on_clock(take)
    with stack:
        future = executor.submit(2)
        executor.wait([future], timeout)
        assert clock.seconds == now
        assert future.done() == (now == 2)


def test_there_is_nothing_to_wait_for_where_all_is_done_or_nothing_is_named():
    stack, clock, executor = on_clock(take, 2)
    with stack:
        done, other = executor.submit(0), executor.submit(5)
        executor.wait([done, other], None)
        executor.wait([done, other], 3)
        executor.wait([], 3)
        assert clock.seconds == 0


def test_a_wait_without_end_ends_with_the_time_limit():
    stack, clock, executor = on_clock(take)
    with stack:
        executor.wait([Future()], 3)
        assert clock.seconds == 3
        executor.submit(1)
        executor.wait([Future()], 4)
        assert clock.seconds == 7
        executor.wait([Future()], None)
        assert clock.seconds == 7


def test_a_limit_within_a_task_is_of_the_task_and_time_begins_there():
    seen = []

    def work(context, task, environment):
        seen.append(now())
        spend(task)
        seen.append(now())

    stack, _, executor = on_clock(work)
    with stack:
        for seconds in (2, 3):
            executor.wait([executor.submit(seconds)], None)
        assert seen == [0, 2, 0, 3]
        assert now() == 5
        assert wall_time() == 5


def test_what_is_spent_outside_of_tasks_lets_them_end_and_keeps_one_worker_busy():
    stack, clock, executor = on_clock(take, 3)
    with stack:
        first, second = executor.submit(1), executor.submit(4)
        spend(2)
        assert (first.done(), second.done(), clock.seconds) == (True, False, 2)
        assert (clock.busy_seconds, clock.utilisation) == (3, 0.5)


def test_workers_are_free_when_their_executor_ends():
    with VirtualClock(2) as clock:
        with VirtualExecutor(take, None, clock) as executor:
            futures = [executor.submit(seconds) for seconds in (10, 20, 30)]
            spend(4)
        assert [future.done() for future in futures] == [False] * 3
        with VirtualExecutor(take, None, clock) as other:
            other.wait([other.submit(1), other.submit(1)], None)
        assert (clock.seconds, clock.busy_seconds) == (5, 4 + 2 * 4 + 2)


def test_one_executor_of_a_clock_ends_and_another_continues():
    with VirtualClock(2) as clock, VirtualExecutor(take, None, clock) as other:
        with VirtualExecutor(take, None, clock) as executor:
            executor.submit(10)
            future, waiting = other.submit(3), other.submit(5)
        other.wait([waiting], None)
        assert future.done()
        assert (clock.seconds, clock.busy_seconds) == (5, 8)


def test_tasks_are_begun_in_their_order_and_end_in_the_order_of_their_times():
    begun, ended = [], []

    def work(context, task, environment):
        begun.append(task)
        spend(task)

    stack, _, executor = on_clock(work, 2)
    with stack:
        futures = {executor.submit(seconds): seconds for seconds in (5, 2, 2, 9, 1)}
        for future in futures:
            future.add_done_callback(lambda future: ended.append(futures[future]))
        spend(100)
    assert begun == [5, 2, 2, 9, 1]
    assert ended == [2, 2, 5, 1, 9]


def test_an_error_that_ends_the_search_leaves_the_clock_in_order():
    def work(context, task, environment):
        spend(7)
        raise KeyboardInterrupt

    stack, clock, executor = on_clock(work)
    with stack:
        with pytest.raises(KeyboardInterrupt):
            executor.submit(0)
        spend(3)
        assert (clock.seconds, clock.busy_seconds, now()) == (3, 3, 3)


def test_a_task_knows_the_folder_and_the_thread_of_its_search(tmp_path):
    seen = []

    def work(context, task, environment):
        seen.append((context, task, environment))

    with VirtualClock(3) as clock, clock.executor(work, "context", None, tmp_path) as executor:
        assert isinstance(executor, VirtualExecutor)
        assert (executor.n_workers, executor.window) == (3, 3)
        executor.submit("task")
    [(context, task, environment)] = seen
    assert (context, task) == ("context", "task")
    assert environment.folder == tmp_path
    assert environment.owns_globals


def test_a_search_within_a_task_runs_in_its_thread(tmp_path):
    with VirtualClock(3) as clock:
        kinds = []

        def work(context, task, environment):
            inner = clock.executor(take, None, None, tmp_path)
            kinds.append(type(inner).__name__)
            with inner:
                return inner.submit(4).result()

        with VirtualExecutor(work, None, clock) as executor:
            future = executor.submit(0)
            executor.wait([future], None)
        assert (kinds, future.result(), clock.seconds) == (["SerialExecutor"], 4, 4)


def test_time_is_exact_whatever_precision_the_user_has_set():
    with localcontext() as context:
        context.prec = 3
        assert play([1.23456789], 1)[0].seconds == 1.23456789
    assert play([1e-18] * 3, 1)[0].seconds == 3e-18
    assert play([1e-19], 1)[0].seconds == 0
