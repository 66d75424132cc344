"""Worker processes: what happens to one happens to one task alone."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import wait

import pytest

from sksearch.executors import end_idle_workers
from sksearch.executors._factory import make_executor
from sksearch.executors._limits import Limits, LostTask
from sksearch.executors.local._process import WorkerProcess
from sksearch.executors.local._serving import BOOTSTRAP, SERVE

pytestmark = [
    pytest.mark.timeout(120),
    pytest.mark.skipif(os.name == "nt", reason="signals of Unix"),
]


def act(context, task, environment):
    """Do what the task says."""
    what, value = task
    with open(context, "a") as file:
        file.write(f"{what}\n")
    if what == "kill":
        os.kill(os.getpid(), value)
    if what == "exit":
        os._exit(value)
    if what == "sleep":
        time.sleep(value)
    if what == "fork":
        subprocess.Popen(["sleep", str(value)], stdin=subprocess.DEVNULL)
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "raise":
        raise KeyError(value)
    return os.getpid()


def slots(log, n_jobs=2, **limits):
    return make_executor(act, str(log), n_jobs, "2*n_jobs", Limits(**limits))


def tries(log, what):
    return log.read_text().split().count(what)


@pytest.mark.few(1)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "error"),
    [
        (("kill", signal.SIGKILL), r"killed by signal 9 (SIGKILL), possibly for lack of memory"),
        pytest.param(
            ("kill", signal.SIGSEGV), "killed by signal 11 (SIGSEGV)", marks=pytest.mark.whole
        ),
        pytest.param(("exit", 3), "ended with exit code 3", marks=pytest.mark.whole),
        (("exit", 0), "ended with exit code 0"),
    ],
)
def test_a_death_costs_one_task_and_its_neighbours_continue(task, error, tmp_path):
    with slots(tmp_path / "log") as executor:
        neighbours = [executor.submit(("sleep", 0.3)) for _ in range(2)]
        lost = executor.submit(task).result()
        after = [executor.submit(("sleep", 0)) for _ in range(4)]
        assert all(isinstance(future.result(), int) for future in neighbours + after)
    assert lost.status == "crash"
    assert lost.error == f"the worker process {'was ' * error.startswith('killed')}{error}"


@pytest.mark.few(1)
@pytest.mark.slow
@pytest.mark.parametrize("retries", [0, 2])
def test_a_death_is_tried_again_as_often_as_said(retries, tmp_path):
    log = tmp_path / "log"
    with slots(log, retries=retries) as executor:
        assert executor.submit(("exit", 3)).result().status == "crash"
    assert tries(log, "exit") == 1 + retries


@pytest.mark.slow
def test_a_hang_is_stopped_in_time_and_not_tried_again(tmp_path):
    log = tmp_path / "log"
    with slots(log, seconds=1.5, retries=2) as executor:
        executor.submit(("sleep", 0)).result()  # a worker is there
        future = executor.submit(("sleep", 60))
        lost = future.result(timeout=60)
        # The next worker starts within no one's time.
        assert isinstance(executor.submit(("sleep", 0.1)).result(), int)
    assert lost == LostTask("timeout", "took more than 1.5 seconds", 1.5)
    assert tries(log, "sleep") == 3


@pytest.mark.slow
def test_one_job_with_a_limit_has_its_own_process(tmp_path):
    with slots(tmp_path / "log", n_jobs=1, seconds=30) as executor:
        assert executor.submit(("sleep", 0)).result() != os.getpid()
    with slots(tmp_path / "log", n_jobs=1) as executor:
        assert executor.submit(("sleep", 0)).result() == os.getpid()


@pytest.mark.slow
def test_an_error_is_the_error_of_its_task_with_its_traceback(tmp_path):
    with slots(tmp_path / "log") as executor:
        future = executor.submit(("raise", "this one"))
        wait([future])
        assert isinstance(future.exception(), KeyError)
        assert "In a worker process" in future.exception().__notes__[0]


def test_what_a_task_has_started_ends_with_its_worker(tmp_path):
    seconds = 600 + os.getpid() % 1000 / 1000  # to be told from others
    with slots(tmp_path / "log") as executor:
        executor.submit(("fork", seconds)).result()
        for _ in range(100):
            found = subprocess.run(
                ["ps", "-eo", "stat,args"], capture_output=True, text=True, check=True
            ).stdout.splitlines()
            found = [x for x in found if f"sleep {seconds}" in x and x[0] != "Z"]
            if not found:
                return
            time.sleep(0.05)
    raise AssertionError(found)


@pytest.mark.whole
@pytest.mark.slow
def test_idle_workers_are_kept_for_the_next_and_can_be_ended(tmp_path):
    end_idle_workers()

    def pids():
        with slots(tmp_path / "log") as executor:
            futures = [executor.submit(("sleep", 0.2)) for _ in range(4)]
            return {future.result() for future in futures}

    first = pids()
    assert pids() == first
    end_idle_workers()
    assert not pids() & first


def test_a_worker_that_is_still_importing_ends_with_its_parent(tmp_path):
    package = tmp_path / "sksearch"
    package.mkdir()
    (package / "__init__.py").write_text(
        f"import pathlib, time; pathlib.Path({str(tmp_path / 'begun')!r}).touch(); time.sleep(600)"
    )
    child = (
        f"import os; exec({BOOTSTRAP + SERVE!r}, {{'connection': None, 'parent': os.getppid()}})"
    )
    parent = textwrap.dedent(f"""
        import pathlib, subprocess, sys, time
        child = subprocess.Popen([sys.executable, "-c", {child!r}])
        print(child.pid, flush=True)
        while not pathlib.Path({str(tmp_path / "begun")!r}).exists():
            time.sleep(0.01)
    """)
    done = subprocess.run(
        [sys.executable, "-c", parent],
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        timeout=60,
        check=True,
    )
    pid = int(done.stdout)
    while _lives(pid):  # in a moment, though it would import for minutes
        time.sleep(0.05)


def _lives(pid):
    ps = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True)
    return ps.stdout.strip()[:1] not in ("", "Z")


@pytest.mark.slow
def test_a_process_that_was_closed_does_not_start_again():
    process = WorkerProcess()
    assert process.call(os.getpid) != os.getpid()
    process.close()
    with pytest.raises(RuntimeError, match="worker processes have ended"):
        while process.call(os.getpid):
            pass
