"""What a story sees of the library while it runs, and where it has signals come."""

import copy
import hashlib
import itertools
import os
import re
import secrets
import sys
from contextlib import contextmanager

from sksearch._utils import _filesystem as _system
from sksearch.checkpoint import _recorder
from sksearch.checkpoint._checkpoint import Checkpoint
from tests.simulation import learners

#: Files of lines before which a signal comes: without caches, so that a story has no history.
LINES = re.compile(
    r"/sksearch/(_files|checkpoint/_(checkpoint|folder|lock|log|recorder)|"
    r"executors/_loop|fitting/run/_(run|states))\.py$"
)


@contextmanager
def watching(world):
    """Tell the world what journals have taken; the user's key is on its disk."""
    append, describe = Checkpoint.append, _recorder.fingerprint

    def fingerprint(kind, params, setup, seed):
        """Describe a search once: that takes a quarter of a short start."""
        key = world.described_by, str(seed), learners.NOTE
        if world.described_by is None or key not in known:
            known[key] = describe(kind, params, setup, seed)
        return copy.deepcopy(known[key])

    def watched(checkpoint, record, sync=True):
        append(checkpoint, record, sync)
        world.appended(record, sync and checkpoint.complete)

    known, numbers = {}, itertools.count(1)

    def token_bytes(size):
        """Bytes that differ, and are the same when a story is told again."""
        return hashlib.sha256(b"%d" % next(numbers)).digest()[:size]

    home = os.environ.get("XDG_CONFIG_HOME")
    os.environ["XDG_CONFIG_HOME"] = "/sim/config"
    Checkpoint.append, _recorder.fingerprint = watched, fingerprint
    secret = secrets.token_bytes, secrets.token_hex
    secrets.token_bytes, secrets.token_hex = token_bytes, lambda size: token_bytes(size).hex()
    try:
        yield
    finally:
        Checkpoint.append, _recorder.fingerprint = append, describe
        secrets.token_bytes, secrets.token_hex = secret
        if home is None:
            del os.environ["XDG_CONFIG_HOME"]
        else:
            os.environ["XDG_CONFIG_HOME"] = home


@contextmanager
def interrupting(fate):
    """Send the signal before a line of the library is run, where the fate says so."""
    if not fate.line:
        yield
        return
    left = fate.line

    def trace(frame, event, arg):
        nonlocal left
        if not LINES.search(frame.f_code.co_filename):
            return None
        left -= event == "line"
        if left <= 0 and not fate.signalled and not fate.dead:
            computer = _system.system()
            if computer.fate is fate and not computer.in_worker:
                sys.settrace(None)
                fate.send_signal()
        return trace

    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(None)
