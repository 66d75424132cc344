"""Where jobs run, and the loop that feeds them."""

from typing import TYPE_CHECKING

from sksearch._utils._on_demand import on_demand

if TYPE_CHECKING:
    from sksearch._utils._clock import spend
    from sksearch.executors._base import Executor
    from sksearch.executors._base import TaskEnvironment as TaskEnvironment
    from sksearch.executors._factory import check_devices as check_devices
    from sksearch.executors._factory import make_executor as make_executor
    from sksearch.executors._in_process import SerialExecutor as SerialExecutor
    from sksearch.executors._limits import EngineLostError
    from sksearch.executors._limits import Limits as Limits
    from sksearch.executors._limits import LostTask as LostTask
    from sksearch.executors._limits import Workers as Workers
    from sksearch.executors._limits import can_limit_memory as can_limit_memory
    from sksearch.executors._loop import Workload as Workload
    from sksearch.executors._loop import drive as drive
    from sksearch.executors._signals import Interrupts as Interrupts
    from sksearch.executors._virtual import VirtualClock, VirtualExecutor
    from sksearch.executors.local._pool import end_idle_workers
    from sksearch.executors.remote._base import Engine
    from sksearch.executors.remote._futures import FuturesBackend
else:
    __getattr__, __dir__ = on_demand(__name__)

# Names written twice are for other packages of the house, not for users.
__all__ = [
    "Engine",
    "EngineLostError",
    "Executor",
    "FuturesBackend",
    "VirtualClock",
    "VirtualExecutor",
    "end_idle_workers",
    "spend",
]
