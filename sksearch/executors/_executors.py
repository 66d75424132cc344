"""Which executor a search gets: by ``n_jobs``, the active joblib backend, and limits."""

import joblib
from joblib.parallel import get_active_backend

from sksearch._clock import open_clock
from sksearch._compat import pre_dispatch_count
from sksearch.executors._devices import name_devices
from sksearch.executors._executor import Executor, SerialExecutor, ThreadExecutor
from sksearch.executors._limits import Limits
from sksearch.executors._slots import SlotExecutor

LOCAL = ("LokyBackend", "MultiprocessingBackend", "SequentialBackend", "ThreadingBackend")


def make_executor(
    function, context, n_jobs, pre_dispatch, limits=None, folder=None, devices=None
) -> Executor:
    """The executor for ``n_jobs`` and the active joblib backend.

    While a `VirtualClock` is open it is that clock's, on that clock's workers.

    Parameters
    ----------
    function : callable
        ``function(context, task, place)``; importable or cloudpicklable.
    context : object
        What all tasks share; must not change any more.
    n_jobs : int or None
        As in scikit-learn.
    pre_dispatch : int or str
        As in scikit-learn: the count of tasks in flight, at least one a worker.
    limits : Limits or None, default=None
        What a task may use. Tasks that have a limit are run in processes of their own.
    folder : Path or None, default=None
        Where tasks leave what is too large to return, for good. None: in memory, or in a
        temporary folder.
    devices : sequence or None, default=None
        CUDA devices that worker processes share in turn. Tasks that have one are run in such
        processes.

    Returns
    -------
    executor : Executor
        To be entered as a context.

    Raises
    ------
    ValueError
        If ``n_jobs`` is 0, or as `check_devices` does.
    """
    limits = limits or Limits()
    check_devices(devices)
    isolate = limits.isolate or devices is not None  # a process that uses CUDA cannot change it
    if n_jobs == 0:  # which Dask's backend lets pass
        raise ValueError("n_jobs == 0 has no meaning: pass a count of workers, or -1 for all.")
    n_workers = joblib.effective_n_jobs(n_jobs)
    if (clock := open_clock()) is not None:
        return clock.executor(function, context, limits, folder)
    backend, _ = get_active_backend()
    kind, (nested, _) = type(backend).__name__, backend.get_nested_backend()
    if kind not in LOCAL:
        executor = _engine(backend, function, context, n_jobs, n_workers, limits, folder)
        n_workers = executor.n_workers
        executor.window = max(n_workers, pre_dispatch_count(pre_dispatch, n_workers))
        return executor
    if n_workers == 1 and not isolate:
        return SerialExecutor(function, context, folder, nested)
    window = max(n_workers, pre_dispatch_count(pre_dispatch, n_workers))
    if kind == "ThreadingBackend" and not isolate:
        return ThreadExecutor(function, context, n_workers, window, nested, folder)
    return SlotExecutor(function, context, n_workers, window, nested, limits, folder, devices)


def check_devices(devices):
    """Raise ValueError if workers cannot be given these CUDA devices.

    Parameters
    ----------
    devices : sequence of (int or str) or None
        What worker processes shall share.

    Raises
    ------
    ValueError
        If an entry is no device of this process, or if what runs the tasks is not ours.
    """
    if devices is None:
        return
    name_devices(devices)
    kind = type(get_active_backend()[0]).__name__
    if open_clock() is not None or kind not in LOCAL:
        engine = kind if open_clock() is None else "VirtualClock"
        raise ValueError(
            f"devices={list(devices)!r} is for worker processes of this machine, but the search "
            f"runs on {engine}: leave devices out. Dask, Ray and other engines give GPUs to their "
            "workers themselves."
        )


def _engine(*args):
    from sksearch.executors._engines import engine_executor

    return engine_executor(*args)
