"""Where jobs run, and the loop that feeds them."""

from sksearch._clock import spend
from sksearch.executors._base import Executor, TaskEnvironment
from sksearch.executors._factory import check_devices, make_executor
from sksearch.executors._limits import EngineLostError, Limits, LostTask, can_limit_memory
from sksearch.executors._loop import Workload, drive
from sksearch.executors._signals import Interrupts
from sksearch.executors._virtual import VirtualClock, VirtualExecutor
from sksearch.executors.local._pool import end_idle_workers
from sksearch.executors.remote._futures import FuturesBackend

__all__ = [
    "EngineLostError",
    "Executor",
    "FuturesBackend",
    "Interrupts",
    "Limits",
    "LostTask",
    "TaskEnvironment",
    "VirtualClock",
    "VirtualExecutor",
    "Workload",
    "can_limit_memory",
    "check_devices",
    "drive",
    "end_idle_workers",
    "make_executor",
    "spend",
]
