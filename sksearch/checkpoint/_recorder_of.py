"""The recorder of a search: a journal if there is a ``checkpoint_dir``, otherwise nothing."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from sksearch._utils._typing import Samples, Targets
from sksearch.checkpoint.identity._description import describe
from sksearch.checkpoint.identity._digests import digest
from sksearch.fitting.run._run import Recorder

DATA = "{data}"  # placeholder in a path, replaced by a digest of the data


@contextmanager
def recorder_of(
    folder: str | os.PathLike | None, X: Samples | None, y: Targets
) -> Iterator[Recorder]:
    """Open the `Recorder` of a search, which records nothing without a folder."""
    if folder is None:
        yield Recorder()
        return
    from sksearch.checkpoint._checkpoint import Checkpoint
    from sksearch.checkpoint._recorder import JournalRecorder

    path = os.fspath(folder)
    if DATA in path:
        path = path.replace(DATA, digest(f"{describe(X)} {describe(y)}"))
    with Checkpoint(path) as checkpoint:
        recorder = JournalRecorder(checkpoint)
        try:
            yield recorder
        finally:
            recorder.close()
