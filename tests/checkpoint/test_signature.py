"""Models that this user has not written are never unpickled."""

import hashlib
import os
import shutil
import stat
from pathlib import Path

import pytest

from sksearch._utils._compat import cloudpickle
from sksearch.base._state import State
from sksearch.checkpoint import _signature
from sksearch.checkpoint._lines import decode, encode
from sksearch.fitting.run._states import SavedState, dump_state
from sksearch.fitting.run._tasks import Task
from tests.checkpoint.test_resume import fit_and_stop, make, outcome
from tests.interrupted import Noisy, X, Y


@pytest.fixture
def config(tmp_path, monkeypatch):
    """Become another user, as far as the configuration goes."""

    def become(name):
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / name))

    become("us")
    return become


class Bomb:
    """What runs when it is unpickled."""

    def __init__(self, file):
        self.file = file

    def __reduce__(self):
        return Path.touch, (self.file,)


def forge(folder, bomb, **entry):
    """Put a model that runs code in the place of each, with sums that are right."""
    estimator = Noisy()
    estimator.bomb = bomb
    forged = dump_state(State(estimator))
    records = [decode(x) for x in (folder / "journal.jsonl").read_bytes().splitlines(True)]
    for record in records:
        for output in record.get("o", ()):
            if output["state"] is not None:
                sha = hashlib.sha256(forged).hexdigest()
                output["state"] |= {"h": sha, "n": len(forged)} | entry
    (folder / "journal.jsonl").write_bytes(b"".join(map(encode, records)))
    for file in (folder / "states").iterdir():
        file.write_bytes(forged)


@pytest.mark.parametrize("entry", [{}, {"s": ""}, {"s": "0" * 64}])
def test_a_model_of_a_stranger_is_not_unpickled_and_trained_again(entry, config, tmp_path):
    folder, trace = tmp_path / "checkpoint", tmp_path / "trace"
    search = make(folder=folder)
    fit_and_stop(search, 21)
    forge(folder, Bomb(trace), **entry)
    with pytest.warns(UserWarning, match="written by another user"):
        search.fit(X, Y)
    assert not trace.exists()
    assert outcome(search) == outcome(make().fit(X, Y))


def test_a_whole_checkpoint_of_a_stranger_continues_with_its_results(config, tmp_path):
    folder = tmp_path / "checkpoint"
    config("stranger")
    fit_and_stop(make(folder=folder), 21)
    config("us")
    with pytest.warns(UserWarning, match="with a key other than the one in"):
        search = make(folder=folder).fit(X, Y)
    assert outcome(search) == outcome(make().fit(X, Y))


def test_the_key_is_made_once_and_is_for_the_users_eyes_only(config, tmp_path):
    make("random", tmp_path / "a").fit(X, Y)
    file = tmp_path / "us" / "sksearch" / "key"
    key = file.read_bytes()
    assert len(key) == 32
    assert [other.name for other in file.parent.iterdir()] == ["key"]
    if os.name != "nt":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    make("random", tmp_path / "b").fit(X, Y)
    assert file.read_bytes() == key
    assert _signature.is_signed("ab", _signature.sign("ab"))
    assert not _signature.is_signed("ab", _signature.sign("ac"))


def test_the_bomb_would_go_off(tmp_path):
    content = cloudpickle.dumps(Bomb(tmp_path / "trace"))
    cloudpickle.loads(content)
    assert (tmp_path / "trace").exists()
    shutil.rmtree(tmp_path)


def test_a_model_that_was_replaced_or_damaged_is_not_sent_to_a_worker_elsewhere(tmp_path):
    """A worker that does not see the file cannot tell, so its sender does."""
    saved = SavedState.write(dump_state(State(Noisy())), tmp_path, "0.1.0")
    task = Task(0, 0, {}, 2, 1, None, state=saved, continues=True, keep=True)
    assert task.carrying().state == saved.path.read_bytes()
    estimator = Noisy()
    estimator.bomb = Bomb(tmp_path / "trace")
    saved.path.write_bytes(dump_state(State(estimator)))
    assert task.carrying().state is None  # and is trained again
    saved.path.unlink()
    assert task.carrying().state is None
