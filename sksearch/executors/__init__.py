"""Where jobs run, and the loop that feeds them."""

from typing import TYPE_CHECKING

from sksearch._utils._on_demand import on_demand

if TYPE_CHECKING:
    from sksearch._utils._clock import spend
    from sksearch.executors._base import Executor
    from sksearch.executors._limits import EngineLostError
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
