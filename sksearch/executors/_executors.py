"""Which executor a search gets: by ``n_jobs``, the active joblib backend, and limits."""

import joblib
from joblib.parallel import get_active_backend

from sksearch._clock import open_clock
from sksearch._compat import pre_dispatch_count
from sksearch.executors._executor import Executor, SerialExecutor, ThreadExecutor
from sksearch.executors._limits import Limits
from sksearch.executors._slots import SlotExecutor

LOCAL = ("LokyBackend", "MultiprocessingBackend", "SequentialBackend", "ThreadingBackend")


def make_executor(function, context, n_jobs, pre_dispatch, limits=None, folder=None) -> Executor:
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

    Returns
    -------
    executor : Executor
        To be entered as a context.

    Raises
    ------
    ValueError
        If ``n_jobs`` is 0.
    """
    limits = limits or Limits()
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
    if n_workers == 1 and not limits.isolate:
        return SerialExecutor(function, context, folder, nested)
    window = max(n_workers, pre_dispatch_count(pre_dispatch, n_workers))
    if kind == "ThreadingBackend" and not limits.isolate:
        return ThreadExecutor(function, context, n_workers, window, nested, folder)
    return SlotExecutor(function, context, n_workers, window, nested, limits, folder)


def _engine(*args):
    from sksearch.executors._engines import engine_executor

    return engine_executor(*args)
