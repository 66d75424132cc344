"""Computing resources: device, threads, precision, and errors of full memory."""

import gc
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from joblib import effective_n_jobs

from sksearch._utils._gpus import free_gpu_caches
from sksearch.neural._torch import torch

#: PyTorch's messages if the memory of the CPU is full, or too little is left on the GPU to begin
#: with: it has no class for this error.
FULL = ("can't allocate memory", "not enough memory", "out of memory", "STATUS_ALLOC_FAILED")
# Share of a GPU's free memory that this process may keep between calls: others may need it.
SHARE_KEPT = 0.02


def choose_device(name: str) -> torch.device:
    """Return the device of a name; "auto" is the GPU if available."""
    there = {"cuda": torch.cuda, "xpu": getattr(torch, "xpu", None), "mps": torch.backends.mps}
    if name == "auto":
        gpus = (kind for kind, backend in there.items() if backend and backend.is_available())
        name = next(gpus, "cpu")
    device = torch.device(name)
    backend = there.get(device.type)
    if device.type in there and (backend is None or not backend.is_available()):
        raise ValueError(
            f"device={name!r} needs a GPU that PyTorch can use, but none was found: set "
            'device="auto" or "cpu".'
        )
    if device.type == "cuda" and (device.index or 0) >= (n := torch.cuda.device_count()):
        raise ValueError(
            f"device={name!r}, but this process sees {n} GPU{'s' if n > 1 else ''}: set "
            'device="auto", and pass the GPUs to the search as devices=.'
        )
    return device


def choose_precision(name: str, device: torch.device) -> str:
    """Return the precision of a name; "auto" is bf16 if a GPU supports it."""
    if name == "auto":
        # If emulated, bf16 is slower than fp32.
        has_it = device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)
        return "bf16" if has_it else "fp32"
    if name == "fp16" and device.type != "cuda":
        raise ValueError('precision="fp16" needs a GPU: set precision="auto", "bf16" or "fp32".')
    return name


@contextmanager
def own_settings(n_jobs: int | None) -> Iterator[None]:
    """Compute with PyTorch's defaults, whatever the user has set, and `n_jobs` CPU threads.

    The number of threads changes the last bits of sums. The user's default type and device,
    autocast and no-gradient modes are meant for the user's own tensors.
    """
    n_threads, dtype = torch.get_num_threads(), torch.get_default_dtype()
    kinds = [kind for kind in ("cpu", "cuda") if torch.is_autocast_enabled(kind)]
    torch.set_num_threads(effective_n_jobs(n_jobs))
    torch.set_default_dtype(torch.float32)
    try:
        with (
            torch.device("cpu"),
            torch.inference_mode(False),
            torch.enable_grad(),
            ExitStack() as own,
        ):
            for kind in kinds:
                own.enter_context(torch.autocast(kind, enabled=False))
            yield
    finally:
        torch.set_num_threads(n_threads)
        torch.set_default_dtype(dtype)


@contextmanager
def lent(net: Any, device: torch.device) -> Iterator[None]:
    """Move a net to a device and back to the CPU: between calls nothing stays on a GPU."""
    if device.type == "cpu":
        # Gradients are kept: otherwise malloc returns the memory of the batches to the system
        # after each call, which costs the next call a tenth of an epoch.
        yield
        return
    try:
        _move(net, device)
        yield
    finally:
        net.optimizer_.zero_grad(set_to_none=True)
        _move(net, torch.device("cpu"))
        _release(device)


def _move(net: Any, device: torch.device) -> None:
    net.module_.to(device)
    net.criterion_.to(device)
    net.optimizer_.load_state_dict(net.optimizer_.state_dict())  # moves it to the weights' device
    if net.average_ is not None:
        net.average_ = [tensor.to(device) for tensor in net.average_]


def _release(device: torch.device) -> None:
    """Free PyTorch's cached memory, unless it is too small to matter."""
    if device.type != "cuda":
        if (backend := getattr(torch, device.type, None)) is not None:
            backend.empty_cache()
        return
    free, _ = torch.cuda.mem_get_info(device)
    if torch.cuda.memory_reserved(device) > SHARE_KEPT * free:
        torch.cuda.empty_cache()


@contextmanager
def memory_errors() -> Iterator[None]:
    """Turn PyTorch's errors of full memory into MemoryError, and free allocated memory.

    Raises
    ------
    MemoryError
        If the memory of the GPU or of the CPU was full.
    """
    try:
        yield
        return
    except RuntimeError as error:
        message = str(error).strip().split("\n")[0]
        is_full = isinstance(error, torch.cuda.OutOfMemoryError) or any(
            text in message for text in FULL
        )
        if not is_full:
            raise
        traceback.clear_frames(error.__traceback__)  # they hold the tensors
    gc.collect()
    free_gpu_caches()
    raise MemoryError(message)
