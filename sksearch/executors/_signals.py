"""Ctrl-C and SIGTERM, distinguished from an estimator that raises KeyboardInterrupt."""

import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self


class Interrupts:
    """Records a SIGINT or SIGTERM within a context, and passes it on.

    If SIGTERM would end the process immediately, it raises SystemExit instead, so that results are
    saved and workers ended. The record belongs to the class, since signals belong to the process;
    it ends with the outermost context. Outside the main thread, which no signal reaches, the
    context does nothing.
    """

    pending = False
    _number: int = signal.SIGINT

    @classmethod
    def heed(cls) -> None:
        """Raise the exception of a recorded signal that other code has caught."""
        if cls.pending:
            is_ctrl_c = cls._number == signal.SIGINT
            raise KeyboardInterrupt if is_ctrl_c else SystemExit(128 + cls._number)

    @classmethod
    def let_pass(cls, error: BaseException) -> None:
        """Raise an error again unless it is a failure of the code that raised it.

        As in scikit-learn, only exceptions are failures, so that a test runner's timeout or a
        cancelled task ends a search. A KeyboardInterrupt or SystemExit counts as a failure if no
        signal raised it, because some libraries call ``sys.exit``. A class derived from these is
        always raised again: its author chose it to end everything.
        """
        is_exit = type(error) in (KeyboardInterrupt, SystemExit)
        if not (is_exit or isinstance(error, Exception)) or (
            is_exit and (cls.pending or _is_of_handler(error))
        ):
            raise error
        cls.heed()  # NumPy may turn Ctrl-C into another error

    @classmethod
    @contextmanager
    def heeded(cls) -> Iterator[None]:
        """Raise a recorded signal at the end, even in place of an error derived from it."""
        try:
            yield
        except Exception:  # NumPy turns Ctrl-C into a ValueError
            cls.heed()
            raise
        cls.heed()  # scikit-learn's MLP catches it

    def __enter__(self) -> Self:
        self._before: dict[int, Any] = {}
        try:
            if threading.current_thread() is threading.main_thread():
                self._take()
        except BaseException:  # a signal that arrived meanwhile
            self._give_back()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self._give_back()
        except BaseException:  # a signal that arrived meanwhile
            self._give_back()
            raise

    def _take(self):
        """Replace the earlier signal handlers."""
        for number in (signal.SIGINT, signal.SIGTERM):
            before = signal.getsignal(number)
            if callable(before) or (number, before) == (signal.SIGTERM, signal.SIG_DFL):
                self._before[number] = before
                signal.signal(number, self._note)

    def _give_back(self):
        """Restore the earlier signal handlers, and end the record if none of them keeps it."""
        for number, before in self._before.items():
            signal.signal(number, before)
        codes = {getattr(before, "__code__", None) for before in self._before.values()}
        if codes and Interrupts._note.__code__ not in codes:
            Interrupts.pending = False

    def _note(self, number: int, frame: FrameType | None) -> None:
        Interrupts.pending, Interrupts._number = True, number
        before = self._before[number]
        if callable(before):
            before(number, frame)
        else:
            sys.exit(128 + number)


def _is_of_handler(error: BaseException) -> bool:
    """Return True if a signal handler, for instance of a timer, has raised the error."""
    handlers = map(signal.getsignal, signal.valid_signals())
    codes = {getattr(handler, "__code__", None) for handler in handlers}
    return any(frame.f_code in codes for frame, _ in traceback.walk_tb(error.__traceback__))
