"""Where jobs run, and the loop that feeds them."""

from sksearch._clock import spend
from sksearch.executors._executor import Executor, TaskEnvironment
from sksearch.executors._executors import check_devices, make_executor
from sksearch.executors._futures import FuturesBackend
from sksearch.executors._limits import EngineLostError, Limits, LostTask, can_limit_memory
from sksearch.executors._loop import Workload, drive
from sksearch.executors._signals import Interrupts
from sksearch.executors._slots import end_idle_workers
from sksearch.executors._virtual import VirtualClock, VirtualExecutor

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
