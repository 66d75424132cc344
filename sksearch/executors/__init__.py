"""Where jobs run, and the loop that feeds them."""

from sksearch.executors._executors import Executor, Place, make_executor
from sksearch.executors._loop import drive
from sksearch.executors._signals import Interrupts

__all__ = ["Executor", "Interrupts", "Place", "drive", "make_executor"]
