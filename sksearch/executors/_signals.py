"""Ctrl-C told apart from an estimator that raises KeyboardInterrupt."""

import signal
import threading


class Interrupts:
    """Notes a SIGINT that comes while the context is open, and passes it on.

    The note is the class's, since there is one SIGINT for the process. Outside the main
    thread, where no signal arrives, nothing is done.
    """

    pending = False

    def __enter__(self):
        Interrupts.pending = False
        self._before = None
        if threading.current_thread() is threading.main_thread():
            before = signal.getsignal(signal.SIGINT)
            if callable(before):
                self._before = before
                signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *error):
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _note(self, number, frame):
        Interrupts.pending = True
        self._before(number, frame)
