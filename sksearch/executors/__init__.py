"""Where jobs run, and the loop that feeds them."""

from sksearch.executors._executors import Executor, make_executor
from sksearch.executors._loop import drive
from sksearch.executors._signals import Interrupts

__all__ = ["Executor", "Interrupts", "drive", "make_executor"]
