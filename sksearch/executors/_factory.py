"""Choice of the executor, by ``n_jobs``, the active joblib backend, and limits."""

from collections.abc import Callable, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING

import joblib
from joblib.parallel import ParallelBackendBase, ThreadingBackend, get_active_backend

from sksearch._utils._clock import open_clock
from sksearch._utils._compat import configured, pre_dispatch_count
from sksearch.executors._base import Executor
from sksearch.executors._in_process import SerialExecutor, ThreadExecutor
from sksearch.executors._limits import Limits
from sksearch.executors.local._devices import name_devices
from sksearch.executors.local._pool import ProcessExecutor

if TYPE_CHECKING:
    from sksearch.executors.remote._base import Engine

LOCAL = ("LokyBackend", "MultiprocessingBackend", "SequentialBackend", "ThreadingBackend")
#: Location of the engine for a joblib backend, by the name of the backend's class; other packages
#: provide theirs as entry points.
ENGINES = {
    "FuturesBackend": "sksearch.executors.remote._futures:FuturesEngine",
    "DaskDistributedBackend": "sksearch.executors.remote._dask:DaskEngine",
    "RayBackend": "sksearch.executors.remote._ray:RayEngine",
    "SparkDistributedBackend": "sksearch.executors.remote._spark:SparkEngine",
}
ANY_BACKEND = "sksearch.executors.remote._joblib:JoblibEngine"
GROUP = "sksearch.engines"


def make_executor(
    function: Callable,
    context: object,
    n_jobs: int | None,
    pre_dispatch: int | str | None,
    limits: Limits | None = None,
    folder: Path | None = None,
    devices: Sequence | None = None,
) -> Executor:
    """Return the executor for ``n_jobs`` and the active joblib backend.

    While a `VirtualClock` is open, return its executor, which runs on the clock's workers.

    Parameters
    ----------
    function : callable
        ``function(context, task, environment)``; importable or cloudpicklable.
    context : object
        Object that all tasks share; must not change afterwards.
    n_jobs : int or None
        As in scikit-learn.
    pre_dispatch : int, str or None
        As in scikit-learn: the number of tasks in flight, at least one per worker. Ignored for a
        single worker in this process.
    limits : Limits or None, default=None
        Limits of a task. Limited tasks run in separate processes.
    folder : Path or None, default=None
        Permanent folder for outputs too large to return. None: in memory, or in a temporary
        folder.
    devices : sequence or None, default=None
        CUDA devices that worker processes share in turn. Tasks with a device run in such
        processes.

    Returns
    -------
    executor : Executor
        A context manager.

    Raises
    ------
    ValueError
        If ``n_jobs`` is 0, or as `check_devices` does.
    """
    limits = limits or Limits()
    check_devices(devices)
    isolate = limits.isolate or devices is not None  # CUDA devices are fixed at process start
    n_workers = count_workers(n_jobs)
    if (clock := open_clock()) is not None:
        return clock.executor(function, context, limits, folder)
    backend, _ = get_active_backend()
    kind, (nested, _) = type(backend).__name__, backend.get_nested_backend()
    if kind not in LOCAL:
        of = n_workers, n_jobs, pre_dispatch
        return _remote_executor(backend, function, context, of, limits, folder)
    if n_workers == 1 and not isolate:
        return SerialExecutor(function, context, folder, nested, limits)
    window = max(n_workers, pre_dispatch_count(pre_dispatch, n_workers))
    if kind == "ThreadingBackend" and not isolate:
        return ThreadExecutor(function, context, n_workers, window, nested, folder, limits)
    return ProcessExecutor(function, context, n_workers, window, nested, limits, folder, devices)


def count_workers(n_jobs: int | None) -> int:
    """Return the number of tasks that run at the same time.

    Parameters
    ----------
    n_jobs : int or None
        As in scikit-learn. While a `VirtualClock` is open, it has the workers.

    Returns
    -------
    n_workers : int
        The number for the active joblib backend.

    Raises
    ------
    ValueError
        If ``n_jobs`` is 0.
    """
    if n_jobs == 0:  # Dask's backend does not reject it
        raise ValueError(
            "n_jobs == 0 has no meaning: pass the number of workers, or -1 to use all cores."
        )
    if (clock := open_clock()) is not None:
        return clock.n_free
    backend, of_context = get_active_backend()
    if type(backend).__name__ not in LOCAL and engine_for(backend).takes_all_workers:
        wanted = of_context if n_jobs is None else n_jobs
        if wanted is not None and wanted > 0:
            return wanted
    return joblib.effective_n_jobs(n_jobs)


def check_devices(devices: Sequence | None) -> None:
    """Raise ValueError if workers cannot be given these CUDA devices.

    Parameters
    ----------
    devices : sequence of (int or str) or None
        Devices that worker processes share.

    Raises
    ------
    ValueError
        If an entry is not a device of this process, or the tasks run on a third-party engine.
    """
    if devices is None:
        return
    name_devices(devices)
    kind = type(get_active_backend()[0]).__name__
    if open_clock() is not None or kind not in LOCAL:
        engine = kind if open_clock() is None else "VirtualClock"
        raise ValueError(
            f'workers["devices"]={list(devices)!r} is for worker processes on this machine, but '
            f"the search runs on {engine}: leave it out. Dask, Ray and other engines assign GPUs "
            "to their workers themselves."
        )


def engine_for(backend: object) -> type["Engine"]:
    """Return the engine for a joblib backend's class, or for the nearest base class.

    Parameters
    ----------
    backend : joblib backend
        A backend other than joblib's own.

    Returns
    -------
    engine : subclass of Engine
        Entry points of the group "sksearch.engines" take precedence.
    """
    theirs = entry_points(group=GROUP)
    for name in (cls.__name__ for cls in type(backend).__mro__):
        if name in theirs.names:
            return theirs[name].load()
        if name in ENGINES:
            return resolve_name(ENGINES[name])
    return resolve_name(ANY_BACKEND)


def _remote_executor(
    backend: ParallelBackendBase,
    function: Callable,
    context: object,
    of: tuple[int, int | None, int | str | None],
    limits: Limits,
    folder: Path | None,
) -> Executor:
    """Return the executor for a joblib backend that is not joblib's own.

    Its workers are counted again while it runs if the user asks for all of them.
    """
    from sksearch.executors.remote._executor import RemoteExecutor

    engine = engine_for(backend)
    # Searches and forests inside tasks never start workers of workers, which would deadlock.
    nested = ThreadingBackend(nesting_level=1)
    shared = (configured(function), context, nested)
    n_workers, n_jobs, pre_dispatch = of
    wanted = get_active_backend()[1] if n_jobs is None else n_jobs
    executor = RemoteExecutor(engine, backend, shared, n_workers, limits, folder)
    executor.pre_dispatch, executor.follows = pre_dispatch, wanted is None or wanted == -1
    return executor
