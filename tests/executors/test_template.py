"""Workers are forks of a clean process that has their imports."""

import os
import signal
import sys
import time

import numpy as np
import psutil
import pytest

from sksearch.executors import end_idle_workers
from sksearch.executors._factory import make_executor
from sksearch.executors._limits import Limits
from sksearch.executors.local import _template
from sksearch.executors.local._process import WorkerProcess
from sksearch.executors.local._template import ForkedProcess, set_environment

pytestmark = [
    pytest.mark.timeout(120),
    pytest.mark.skipif(not _template.CAN_FORK, reason="workers are new Pythons here"),
]


@pytest.fixture
def worker():
    process = WorkerProcess()
    yield process
    process.kill()


@pytest.fixture
def own_template(monkeypatch):
    """A template of this test alone, and what is known of templates before the first one."""
    monkeypatch.setattr(_template, "_templates", {})
    monkeypatch.setattr(_template, "_with_threads", set())
    monkeypatch.setattr(_template, "_n_lost", 0)
    end_idle_workers()
    yield
    _template.end_idle_template(time.monotonic())


def template():
    return _template._templates[os.getpid()]


def threads_of(pid):
    return os.listdir(f"/proc/{pid}/task")


def test_a_worker_is_a_fork_of_a_process_with_one_thread(worker):
    pid = worker.call(os.getpid)
    assert isinstance(worker._process, ForkedProcess)
    assert worker._process.pid == pid
    assert psutil.Process(pid).ppid() == template().pid
    assert psutil.Process(template().pid).ppid() == os.getpid()
    if sys.platform == "linux":
        assert len(threads_of(template().pid)) == 1


@pytest.mark.few(3)
@pytest.mark.parametrize("name", ["lightgbm", "xgboost", "pandas", "sklearn.ensemble", "skops"])
def test_libraries_leave_the_template_with_one_thread(name, worker):
    worker.modules = (name,)
    assert worker.call(has_imported, name)
    assert isinstance(worker._process, ForkedProcess)
    assert len(threads_of(template().pid)) == 1


def has_imported(name):
    return name in sys.modules


@pytest.fixture
def with_thread(tmp_path, monkeypatch):
    """Name of a module whose import starts a thread."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "starts_a_thread.py").write_text(
        "import threading, time\n"
        "threading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n"
    )
    monkeypatch.syspath_prepend(folder)
    return "starts_a_thread"


def test_a_module_that_starts_threads_is_left_to_the_workers(with_thread, own_template, worker):
    worker.modules = ("json", with_thread)
    assert not worker.call(has_imported, with_thread)
    assert isinstance(worker._process, ForkedProcess)
    assert _template._with_threads == {with_thread}
    assert len(threads_of(template().pid)) == 1


@pytest.mark.parametrize(
    "text", ["raise ImportError", "raise SystemExit(3)", "1 / 0", "import nowhere"]
)
def test_a_module_that_cannot_be_imported_is_not_a_fault_of_the_template(
    text, tmp_path, monkeypatch, worker
):
    name = f"fails_{abs(hash(text))}"
    (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    worker.modules = (name,)
    assert not worker.call(has_imported, name)
    assert isinstance(worker._process, ForkedProcess)


def test_a_module_that_ends_its_process_costs_a_template_and_no_worker(
    tmp_path, monkeypatch, own_template, worker
):
    (tmp_path / "ends_all.py").write_text("import os; os._exit(1)")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(_template, "MAX_LOST", 1)
    worker.modules = ("ends_all",)
    for _ in range(_template.MAX_LOST + 1):
        assert worker.call(os.getpid) != os.getpid()
        assert not isinstance(worker._process, ForkedProcess)
        worker.kill()
    assert _template._n_lost == _template.MAX_LOST


def test_a_worker_outlives_its_template_and_its_death_is_seen(own_template, worker):
    pid = worker.call(os.getpid)
    os.kill(template().pid, signal.SIGKILL)
    assert worker.call(os.getpid) == pid
    assert worker.call(os._exit, 3).status == "crash"


@pytest.mark.whole
def test_a_worker_whose_template_is_lost_is_killed_in_time(own_template, worker):
    pid = worker.call(os.getpid)
    os.kill(template().pid, signal.SIGKILL)
    assert worker.call(time.sleep, 60, seconds=0.3).status == "timeout"
    wait_for_end(pid)  # it was killed, and is there until its memory is freed


def test_a_template_that_is_lost_is_replaced(own_template, worker):
    worker.start()
    first = template().pid
    os.kill(first, signal.SIGKILL)
    worker.kill()
    worker.start()  # by a new Python
    worker.kill()
    worker.start()
    assert isinstance(worker._process, ForkedProcess)
    assert template().pid != first


def test_a_closed_template_tells_the_end_of_the_workers_that_it_has_left(own_template, worker):
    worker.start()
    pid = template().pid
    _template.end_idle_template(time.monotonic())
    lost = worker.call(os.kill, worker._process.pid, signal.SIGSEGV)
    assert lost.error == "the worker process was killed by signal 11 (SIGSEGV)"
    wait_for_end(pid)


def wait_for_end(pid):
    end = time.monotonic() + 20
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < end
        time.sleep(0.01)


# ---- a fork has what a new Python would have


def state():
    return dict(os.environ), os.getcwd(), list(sys.path), list(sys.argv)


def test_a_worker_has_the_surroundings_of_now(worker, tmp_path, monkeypatch):
    worker.start()  # the template is there
    worker.kill()
    monkeypatch.setenv("OF_NOW", "1")
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "argv", ["script.py", "--now"])
    env, folder, path, argv = worker.call(state)
    assert env == dict(os.environ)
    assert folder == str(tmp_path)
    assert path == sys.path
    assert argv == sys.argv


def test_a_folder_that_is_gone_is_not_an_error(worker, tmp_path, monkeypatch):
    worker.start()
    worker.kill()
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    assert worker.call(os.getpid) != os.getpid()


def test_a_worker_writes_where_this_process_writes_now(worker, capfd):
    worker.start()
    worker.kill()
    worker.call(os.write, 1, b"to output\n")
    worker.call(os.write, 2, b"to error\n")
    out, err = capfd.readouterr()
    assert out == "to output\n"
    assert err == "to error\n"


def test_limits_of_this_process_that_have_changed_hold_for_later_workers(own_template, worker):
    import resource

    worker.start()
    worker.kill()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft - 1, hard))
    try:
        assert worker.call(resource.getrlimit, resource.RLIMIT_NOFILE) == (soft - 1, hard)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["PYTHONWARNINGS", "MALLOC_ARENA_MAX"])
def test_variables_that_are_read_at_a_start_need_another_template(
    name, own_template, worker, monkeypatch
):
    worker.start()
    first = template().pid
    worker.kill()
    monkeypatch.setenv(name, "1" if "MALLOC" in name else "ignore")
    worker.start()
    assert isinstance(worker._process, ForkedProcess)
    assert template().pid != first


def pools():
    from threadpoolctl import threadpool_info

    return {(pool["user_api"], pool["num_threads"]) for pool in threadpool_info()}


@pytest.mark.parametrize("n", ["1", "2", "3"])
def test_libraries_use_the_threads_that_the_variables_say(n, monkeypatch):
    worker = WorkerProcess(dict.fromkeys(_template.THREAD_VARIABLES.values(), n))
    try:
        assert worker.call(pools) == {("openmp", int(n)), ("blas", int(n))}
    finally:
        worker.kill()


def test_an_idle_worker_is_told_of_other_threads(worker):
    worker.start()
    for n in ("2", "1"):
        worker.call(set_environment, dict.fromkeys(_template.THREAD_VARIABLES.values(), n))
        assert worker.call(pools) == {("openmp", int(n)), ("blas", int(n))}
        assert worker.call(os.getenv, "OMP_NUM_THREADS") == n


def test_workers_draw_other_global_numbers(worker):
    first = worker.call(draw)
    worker.kill()
    assert worker.call(draw) != first


def draw():
    return np.random.random()


# ---- idle workers


def pid_of(context, task, environment):
    time.sleep(task)
    return os.getpid()


def pids(n_jobs):
    """Processes of the workers of a search, each of which gets a task."""
    with make_executor(pid_of, None, n_jobs, "all", Limits()) as executor:
        futures = [executor.submit(0.3) for _ in range(n_jobs)]
        return {future.result() for future in futures}


def test_idle_workers_are_kept_one_by_one():
    end_idle_workers()
    two = pids(2)
    three = pids(3)
    assert two < three
    assert pids(2) < three
    assert pids(3) == three
