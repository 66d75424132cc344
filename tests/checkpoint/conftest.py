import contextlib
import os
import signal

import pytest

from sksearch.checkpoint._checkpoint import Checkpoint
from tests import scripts
from tests.checkpoint.samples import HEADER, SPLITS, records
from tests.interrupted import Trouble


@pytest.fixture(autouse=True)
def calm():
    """No trouble."""
    Trouble.after = None
    yield
    Trouble.after = None


@pytest.fixture
def journal(tmp_path):
    """A checkpoint directory of a search, and the records after its header."""
    folder = tmp_path / "checkpoint"
    written = records(3)
    with Checkpoint(folder) as checkpoint:
        checkpoint.begin(HEADER, SPLITS)
        for record in written:
            checkpoint.append(record, sync=record["k"] == "tell")
    return folder, written


@pytest.fixture
def start():
    """Run code in another process; what is left of it and its children is killed at the end."""
    processes = []

    def run(code, *args):
        process = scripts.start(["-c", code, *map(str, args)])
        processes.append(process)
        return process

    yield run
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
