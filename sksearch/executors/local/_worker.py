"""Functions that run in a worker process."""

import gc
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import joblib

from sksearch._utils._files import is_folder
from sksearch._utils._gpus import free_gpu_caches, gpus_in_use
from sksearch._utils._numerics import one_blas_thread
from sksearch.executors import _shared_data
from sksearch.executors._base import TaskEnvironment
from sksearch.executors._limits import Limits, LostTask, limited_memory
from sksearch.executors._shared_data import MISSING, Answer, Payload, Ref
from sksearch.executors.local._process import WorkerProcess
from sksearch.executors.local._serving import UnreadableError
from sksearch.executors.local._template import set_environment


def prepare(ref: Ref, payload: Payload = None, env: dict[str, str] | None = None) -> Answer | None:
    """Fetch the shared data, so that its time is not charged to a task.

    Parameters
    ----------
    ref : Ref
        Reference to the data.
    payload : bytes-like or None, default=None
        Data of `ref`, for a worker that does not see its file.
    env : dict of str to str or None, default=None
        Environment variables; a reused worker may have different ones.

    Returns
    -------
    missing : MISSING or None
        MISSING if this worker needs the `payload`.
    """
    set_environment(env)
    shared = _shared_data.fetch(ref, payload)
    return shared if shared is MISSING else None


def run_task(
    ref: Ref,
    task: object,
    folder: Path,
    payload: Payload = None,
    memory: int | None = None,
    owns_process: bool = False,
) -> Any:
    """Run one task in a worker process.

    Parameters
    ----------
    ref : Ref
        Reference to the function, its context and the backend for searches inside tasks.
    task : object
        Argument of the function.
    folder : Path
        Folder for outputs too large to return.
    payload : bytes-like or None, default=None
        Data of `ref`, for a worker that does not see its file.
    memory : int or None, default=None
        Bytes that the task may allocate.
    owns_process : bool, default=False
        True if the process runs nothing but tasks.

    Returns
    -------
    output : object
        The return value of the function; MISSING if the worker needs the payload.

    Raises
    ------
    Exception
        Raised by the function.
    """
    shared = _shared_data.fetch(ref, payload)
    if shared is MISSING:
        return shared
    function, context, nested = shared
    visible = folder if is_folder(folder) else None
    environment = TaskEnvironment(visible, shares_memory=False, owns_process=owns_process)
    # A search inside a search must not start workers of workers.
    if memory is not None:
        _start_gpu()
    with one_blas_thread(), joblib.parallel_config(nested), limited_memory(memory):
        out = function(context, task, environment)
    if getattr(out, "status", "ok") not in ("ok", "crash"):
        free_gpu_memory()  # neighbours on the same GPU may need it
    return out


def _start_gpu() -> None:
    """Let CUDA reserve its address space, larger than any memory, before it is limited."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.zeros(1, device="cuda")


def free_gpu_memory() -> None:
    """Release GPU memory cached by PyTorch."""
    if gpus_in_use():
        gc.collect()
        free_gpu_caches()


def run_limited(
    process: WorkerProcess,
    ref: Ref,
    task: object,
    folder: Path,
    limits: Limits,
    payload: Payload = None,
) -> Any:
    """Run one task in a `WorkerProcess`, within limits.

    Parameters
    ----------
    process : WorkerProcess
        Reused for the next task.
    ref, task, folder, payload
        As for `run_task`.
    limits : Limits
        Limits of the task.

    Returns
    -------
    output : object
        The return value of the function, MISSING, or a `LostTask`.
    """
    # An earlier candidate may have broken the process, so that it cannot read.
    with suppress(UnreadableError):
        return _call(process, ref, task, folder, limits, payload)
    try:
        return _call(process, ref, task, folder, limits, payload)
    except UnreadableError as error:
        return LostTask("error", f"the candidate cannot be sent to a worker process: {error}")


def _call(
    process: WorkerProcess,
    ref: Ref,
    task: object,
    folder: Path,
    limits: Limits,
    payload: Payload,
) -> Any:
    """Run a task after the shared data has been fetched."""
    if process.loaded != ref.token:
        # Imports and data are not charged to the candidate.
        process.modules = ref.modules
        missing = process.call(prepare, ref, payload, process.env)
        if missing is not None:
            return missing
        process.loaded = ref.token
    args = ref, task, folder, None, limits.memory, True
    out = process.call(run_task, *args, seconds=limits.seconds)
    if getattr(out, "status", None) == "crash":
        process.kill()  # its GPU may be in an unusable state
    return out
