"""Ctrl-C told apart from an estimator that raises KeyboardInterrupt, and SIGTERM made like it."""

import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self


class Interrupts:
    """Notes a SIGINT or SIGTERM that comes while the context is open, and passes it on.

    Where SIGTERM would end the process at once, it raises SystemExit instead, so that results are
    kept and workers ended. The note is the class's, since signals are the process's. Outside the
    main thread, where no signal arrives, nothing is done.
    """

    pending = False
    _number: int = signal.SIGINT

    @classmethod
    def heed(cls) -> None:
        """Raise what the noted signal stands for, if somebody has swallowed it on its way."""
        if cls.pending:
            is_ctrl_c = cls._number == signal.SIGINT
            raise KeyboardInterrupt if is_ctrl_c else SystemExit(128 + cls._number)

    @classmethod
    def let_pass(cls, error: BaseException) -> None:
        """Raise an error again unless it is a failure of the code that has raised it.

        As in scikit-learn only exceptions are failures, so that the timeout of a test runner or a
        task that was cancelled ends a search. A KeyboardInterrupt or SystemExit is one where no
        signal has raised it: some library calls ``sys.exit``. A class derived from these is the
        author's own way to end all.
        """
        is_exit = type(error) in (KeyboardInterrupt, SystemExit)
        if not (is_exit or isinstance(error, Exception)) or (
            is_exit and (cls.pending or _is_of_handler(error))
        ):
            raise error
        cls.heed()  # numpy may make another error of Ctrl-C

    @classmethod
    @contextmanager
    def heeded(cls) -> Iterator[None]:
        """Raise it at the end, also in the place of an error that somebody has made of it."""
        try:
            yield
        except Exception:  # numpy makes a ValueError of Ctrl-C
            cls.heed()
            raise
        cls.heed()  # an MLP of scikit-learn swallows it

    def __enter__(self) -> Self:
        Interrupts.pending = False
        self._before: dict[int, Any] = {}
        try:
            if threading.current_thread() is threading.main_thread():
                self._take()
        except BaseException:  # a signal that came meanwhile
            self._give_back()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self._give_back()
        except BaseException:  # a signal that came meanwhile
            self._give_back()
            raise

    def _take(self):
        """Handle the signals, in the place of the earlier handlers."""
        for number in (signal.SIGINT, signal.SIGTERM):
            before = signal.getsignal(number)
            if callable(before) or (number, before) == (signal.SIGTERM, signal.SIG_DFL):
                self._before[number] = before
                signal.signal(number, self._note)

    def _give_back(self):
        """Give the signals back to the earlier handlers."""
        for number, before in self._before.items():
            signal.signal(number, before)

    def _note(self, number: int, frame: FrameType | None) -> None:
        Interrupts.pending, Interrupts._number = True, number
        before = self._before[number]
        if callable(before):
            before(number, frame)
        else:
            sys.exit(128 + number)


def _is_of_handler(error: BaseException) -> bool:
    """Whether the handler of a signal, a timer's for instance, has raised an error."""
    handlers = map(signal.getsignal, signal.valid_signals())
    codes = {getattr(handler, "__code__", None) for handler in handlers}
    return any(frame.f_code in codes for frame, _ in traceback.walk_tb(error.__traceback__))
