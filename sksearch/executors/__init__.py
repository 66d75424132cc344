"""Where jobs run, and the loop that feeds them."""

from sksearch._clock import spend
from sksearch.executors._executors import Executor, Place, make_executor
from sksearch.executors._loop import drive
from sksearch.executors._signals import Interrupts
from sksearch.executors._virtual import VirtualClock, VirtualExecutor

__all__ = [
    "Executor",
    "Interrupts",
    "Place",
    "VirtualClock",
    "VirtualExecutor",
    "drive",
    "make_executor",
    "spend",
]
