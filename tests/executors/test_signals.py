"""What handles Ctrl-C and SIGTERM before a search, and after it."""

import signal
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from sksearch.executors._signals import Interrupts

SIGNALS = (signal.SIGINT, signal.SIGTERM)


def handlers():
    return [signal.getsignal(number) for number in SIGNALS]


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_amid_handlers_leaves_them_as_they_were(number):
    """Else SIGTERM would not end the process any more, and each search would add a handler."""
    before, tracer = handlers(), sys.gettrace()
    step, has_come = 0, True
    while has_come:
        left, has_come = step, False

        def send(frame, event, arg):
            nonlocal left, has_come
            if frame.f_code not in (Interrupts._take.__code__, Interrupts._give_back.__code__):
                return None
            left -= event == "line"
            if left < 0 and not has_come and signal.getsignal(number) != signal.SIG_DFL:
                has_come = True
                signal.raise_signal(number)
            return send

        sys.settrace(send)
        try:
            with Interrupts():
                pass
        except (KeyboardInterrupt, SystemExit):
            pass
        finally:
            sys.settrace(tracer)
        after = handlers()
        for number_of, handler in zip(SIGNALS, before, strict=True):
            signal.signal(number_of, handler)
        assert after == before, f"after the signal at line event {step}"
        step += 1
    assert step > 6


def enter():
    with Interrupts():
        pass


def test_a_signal_is_known_until_the_outermost_context_ends():
    with Interrupts():
        with pytest.raises(KeyboardInterrupt), Interrupts():
            signal.raise_signal(signal.SIGINT)
        with Interrupts():
            assert Interrupts.pending
        with ThreadPoolExecutor(1) as pool:
            pool.submit(enter).result()
        with pytest.raises(KeyboardInterrupt):
            Interrupts.heed()
    Interrupts.heed()
