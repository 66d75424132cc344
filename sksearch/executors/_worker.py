"""What happens in a worker process."""

import joblib

from sksearch._threads import one_blas_thread
from sksearch.executors import _broadcast
from sksearch.executors._executor import TaskEnvironment
from sksearch.executors._limits import Limits, limited_memory


def prepare(ref, payload=None):
    """Fetch what all tasks share, so that no task is charged for it.

    Returns
    -------
    missing : MISSING or None
        MISSING if this worker needs the `payload`.
    """
    shared = _broadcast.fetch(ref, payload)
    return shared if shared is _broadcast.MISSING else None


def run_task(ref, task, folder, payload=None, memory=None):
    """Run one task in a worker process.

    Parameters
    ----------
    ref : Ref
        Of the function, its context and the backend for searches inside of tasks.
    task : object
        For the function.
    folder : Path
        Where to leave what is too large to return.
    payload : bytes or None, default=None
        What `ref` names, for a worker that does not see its file.
    memory : int or None, default=None
        Bytes that the task may allocate.

    Returns
    -------
    output : object
        What the function returned; MISSING if the worker needs the payload.

    Raises
    ------
    Exception
        What the function raised.
    """
    shared = _broadcast.fetch(ref, payload)
    if shared is _broadcast.MISSING:
        return shared
    function, context, nested = shared
    place = TaskEnvironment(folder if folder.is_dir() else None, shares_memory=False)
    # A search inside of a search must not start workers of workers.
    with one_blas_thread(), joblib.parallel_config(nested), limited_memory(memory):
        return function(context, task, place)


def run_limited(process, ref, task, folder, limits: Limits, payload=None):
    """Run one task in a `WorkerProcess`, within limits.

    Parameters
    ----------
    process : WorkerProcess
        Kept for the next task.
    ref, task, folder, payload
        As for `run_task`.
    limits : Limits
        What the task may use.

    Returns
    -------
    output : object
        What the function returned, MISSING, or a `LostTask`.
    """
    if process.knows != ref.token:
        # Imports and data are not on the candidate's time.
        missing = process.call(prepare, ref, payload)
        if missing is not None:
            return missing
        process.knows = ref.token
    return process.call(run_task, ref, task, folder, None, limits.memory, seconds=limits.seconds)
