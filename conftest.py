"""What is not collected where an extra is not installed, and what is tried again."""

import signal
from importlib.util import find_spec

import pytest

collect_ignore_glob = [] if find_spec("torch") and find_spec("skorch") else ["sksearch/neural/*"]

# They kill processes and close clusters at moments that nobody chooses; a cluster may fail by
# itself then. What was tried again is named in the summary.
AT_ANY_MOMENT = ("tests/faults/", "tests/executors/", "tests/checkpoint/", "tests/test_chaos.py")


def pytest_collection_modifyitems(items):
    for item in items:
        if item.nodeid.startswith(AT_ANY_MOMENT):
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup():
    """Let Ctrl-C, which some tests send, do what Python has it do.

    A shell has what it runs in the background ignore it, and clusters have handlers of their own.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
