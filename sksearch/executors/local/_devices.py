"""Assignment of CUDA devices to worker processes, and the locks of shared devices.

CUDA reads the variable when a process uses it for the first time, so a worker has to start with
it. This module imports nothing that could initialise CUDA.
"""

import ctypes
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import lru_cache
from numbers import Integral

VARIABLE = "CUDA_VISIBLE_DEVICES"
UUIDS = ("GPU-", "MIG-")


def visible_devices(devices: Sequence | None, n_workers: int) -> tuple[str | None, ...]:
    """Return ``CUDA_VISIBLE_DEVICES`` of each worker.

    Parameters
    ----------
    devices : sequence or None
        Devices that workers receive in turn, each an int or str, see `name_devices`. None: all
        devices of this process, if it has several and there are several workers.
    n_workers : int
        Number of workers.

    Returns
    -------
    visible : tuple of (str or None) of length n_workers
        None if the variable is not set.

    Raises
    ------
    ValueError
        If `devices` cannot be used.
    """
    if devices is not None:
        names = name_devices(devices)
    else:
        here = _visible_here()
        names = [str(i) for i in range(_count_devices())] if here is None else here
        if n_workers == 1 or len(names) < 2:
            return (os.environ.get(VARIABLE),) * n_workers
    return tuple(names[i % len(names)] for i in range(n_workers))


def name_devices(devices: Sequence) -> list[str]:
    """Write devices in the format of ``CUDA_VISIBLE_DEVICES``.

    Parameters
    ----------
    devices : sequence of int or str
        An int is an index, from 0, among the devices visible to this process. A str is an index, a
        UUID, or several of them separated by commas, for a worker that sees several.

    Returns
    -------
    names : list of str
        One name per entry.

    Raises
    ------
    ValueError
        If the sequence is empty, or an entry is not a device of this process.
    """
    if not len(devices):
        raise ValueError(
            'workers["devices"]=[] contains no device: leave it out, or pass the GPUs to share, '
            "such as [0]."
        )
    return [",".join(_name(part, devices) for part in _parts(entry)) for entry in devices]


def _parts(entry: int | str) -> list:
    return entry.split(",") if isinstance(entry, str) else [entry]


def _name(device: int | str, devices: Sequence) -> str:
    """Return one device in the variable's format."""
    text = str(device).strip()
    is_number = isinstance(device, Integral | str) and not isinstance(device, bool)
    if is_number and text.isdecimal():
        here = _visible_here()
        n_devices = _count_devices() if here is None else len(here)
        # With a driver but an unknown number of devices, leave the check to CUDA.
        if int(text) >= n_devices and (n_devices or here is not None or not _has_driver()):
            shown = "" if here is None else f" ({VARIABLE}={os.environ[VARIABLE]!r})"
            raise ValueError(
                f'workers["devices"]={devices!r} contains {device!r}, but this process sees '
                f"{n_devices} CUDA devices{shown}, numbered from 0."
            )
        return text if here is None else here[int(text)]
    if isinstance(device, str) and text.startswith(UUIDS):
        return text
    raise ValueError(
        f'workers["devices"]={devices!r} contains {device!r}: an entry must be the number of a '
        "CUDA device, from 0, or its UUID as printed by nvidia-smi -L."
    )


def _visible_here():
    """Devices that the variable makes visible to this process; None if it is not set."""
    if VARIABLE not in os.environ:
        return None
    names = []
    for name in map(str.strip, os.environ[VARIABLE].split(",")):
        if not (name.isdecimal() or name.startswith(UUIDS)):
            break  # CUDA ignores the entries that follow
        names.append(name)
    return names


@lru_cache(maxsize=1)
def _count_devices():
    """Number of NVIDIA GPUs of this machine; 0 without a driver."""
    try:
        library = ctypes.CDLL("nvml.dll" if sys.platform == "win32" else "libnvidia-ml.so.1")
    except OSError:
        return 0
    if library.nvmlInit_v2() != 0:
        return 0
    try:
        count = ctypes.c_uint(0)
        return count.value if library.nvmlDeviceGetCount_v2(ctypes.byref(count)) == 0 else 0
    finally:
        library.nvmlShutdown()


@lru_cache(maxsize=1)
def _has_driver():
    """Return True if the library required by CUDA, or its AMD counterpart, is present."""
    for name in ("nvcuda.dll",) if sys.platform == "win32" else ("libcuda.so.1", "libamdhip64.so"):
        with suppress(OSError):
            ctypes.CDLL(name)
            return True
    return False


class DeviceLock:
    """A device's readers-writer lock: shared by any number of workers, or held by one."""

    def __init__(self):
        self._change = threading.Condition()
        self._n_working = self._n_waiting = 0

    def shared(self) -> AbstractContextManager:
        """Return a context in which others may also use the device."""
        return self._working(lambda: not self._n_waiting)

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Block the others within a context, which begins when their tasks have ended."""
        self._count_waiting(1)
        try:
            with self._working(lambda: not self._n_working):
                yield
        finally:
            self._count_waiting(-1)

    @contextmanager
    def _working(self, may_begin: Callable[[], bool]) -> Iterator[None]:
        with self._change:
            self._change.wait_for(may_begin)
            self._n_working += 1
        try:
            yield
        finally:
            with self._change:
                self._n_working -= 1
                self._change.notify_all()

    def _count_waiting(self, more: int) -> None:
        with self._change:
            self._n_waiting += more
            self._change.notify_all()


def device_locks(visible: tuple[str | None, ...]) -> list[DeviceLock | None]:
    """Make the lock of each worker's device; None if no other worker uses the device.

    Parameters
    ----------
    visible : tuple of (str or None)
        As `visible_devices` returns it.

    Returns
    -------
    locks : list of (DeviceLock or None)
        One per worker; workers on the same device share a lock.
    """
    # If the variable is not set, all workers use the first device.
    seen = [
        {"0"} if v is None and _count_devices() > 0 else set(map(_number, (v or "").split(",")))
        for v in visible
    ]
    seen = [devices - {""} for devices in seen]
    locks: list[DeviceLock | None] = [None] * len(visible)
    for i, devices in enumerate(seen):
        group, common = {i}, set(devices)
        while more := {j for j, other in enumerate(seen) if other & common} - group:
            group |= more
            common |= set().union(*(seen[j] for j in more))
        if len(group) > 1 and locks[i] is None:
            lock = DeviceLock()
            for j in group:
                locks[j] = lock
    return locks


def _number(name: str) -> str:
    """Return the index of a device named by its UUID, or by the beginning of it, if known."""
    name = name.strip()
    if not name.startswith("GPU-"):
        return name
    return next((str(i) for i, uuid in enumerate(_uuids()) if uuid.startswith(name)), name)


@lru_cache(maxsize=1)
def _uuids() -> list[str]:
    """UUIDs of the NVIDIA GPUs of this machine, by index."""
    return [_uuid(i) for i in range(_count_devices())]


def _uuid(number: int) -> str:
    """UUID of a GPU from its driver, "" without a driver."""
    try:
        library = ctypes.CDLL("nvml.dll" if sys.platform == "win32" else "libnvidia-ml.so.1")
    except OSError:
        return ""
    if library.nvmlInit_v2() != 0:
        return ""
    try:
        handle, text = ctypes.c_void_p(), ctypes.create_string_buffer(96)
        if library.nvmlDeviceGetHandleByIndex_v2(number, ctypes.byref(handle)) != 0:
            return ""
        failed = library.nvmlDeviceGetUUID(handle, text, len(text))
        return "" if failed else text.value.decode()
    finally:
        library.nvmlShutdown()
