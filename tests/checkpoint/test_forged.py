"""Journals whose lines are whole and whose content is not what a search writes."""

import copy
import hashlib
import json
import pickle
import random
import re
import shutil
import warnings
import zlib

import numpy as np
import pytest

from sksearch import load_history
from sksearch.checkpoint._checkpoint import read_journal
from sksearch.checkpoint._folder import write_spool
from sksearch.checkpoint._lines import decode, encode
from sksearch.checkpoint._signature import sign
from sksearch.fitting.run import _findings
from sksearch.search import JournalError, SearchMismatchError
from tests.checkpoint.test_resume import EPOCHS, files, fit_and_stop, make, outcome
from tests.interrupted import Noisy, X, Y

GONE = object()
CHOICE, OBJECT = {"is": "choice", "k": 0, "i": -5, "t": ""}, {"is": "numpy", "t": "O", "v": 1}
DEEP = "600 lists within lists"
JUNK = [
    GONE, None, -1, 0, 10**18, 10**400, 1.5, np.nan, "x", "../../x", "\0", True, [], [1], [[1]],
    {}, {"a": 1}, DEEP, CHOICE, OBJECT, {"is": "tuple", "v": 3}, {"is": "dict", "v": [[[], []]]},
]  # fmt: skip


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory):
    """Checkpoints of searches that were stopped in their second rung, and their records."""
    found = {}
    for name in ("hyperband", "tpe", "asha"):
        folder = tmp_path_factory.mktemp(name) / "checkpoint"
        fit_and_stop(make(name, folder), 22)
        found[name] = folder, [decode(line) for line in lines_of(folder)]
    return found


def lines_of(folder):
    return (folder / "journal.jsonl").read_bytes().splitlines(keepends=True)


def line_of(record):
    """The line of a record that no search can write, with a sum that is right."""
    text = json.dumps(record).replace(f'"{DEEP}"', "[" * 600 + "]" * 600)
    return b"%08x %b\n" % (zlib.crc32(text.encode()), text.encode())


def places(value, inside=()):
    """Paths to all that a record is made of, of lists the first two items."""
    items = value.items() if isinstance(value, dict) else []
    items = list(enumerate(value))[:2] if isinstance(value, list) else items
    for key, item in items:
        yield (*inside, key)
        yield from places(item, (*inside, key))


def changed(record, place, junk):
    """A copy of a record with something else at a place."""
    record = at = copy.deepcopy(record)
    *path, last = place
    for key in path:
        at = at[key]
    if junk is GONE:
        del at[last]
    else:
        at[last] = junk
    return record


def forgeries(records, n, seed):
    """Draw line number and forged record; one line of each kind is forged, everywhere in it."""
    lines = {(r["k"], "p" in r and r["p"] is None): i for i, r in enumerate(records[:12])}
    lines |= {(r["k"], "p" in r and r["p"] is None): i for i, r in enumerate(records)}
    all_of_them = [
        (i, p, junk) for i in lines.values() for p in places(records[i]) for junk in JUNK
    ]
    for i, place, junk in random.Random(seed).sample(all_of_them, n):
        yield i, changed(records[i], place, junk)


@pytest.mark.whole
@pytest.mark.parametrize(
    ("name", "n"),
    [
        ("hyperband", 30),
        pytest.param("hyperband", 300, marks=pytest.mark.slow),
        pytest.param("tpe", 100, marks=pytest.mark.slow),
        pytest.param("asha", 100, marks=pytest.mark.slow),
    ],
)
def test_a_forged_journal_is_an_error_with_its_line_or_continues(name, n, interrupted, tmp_path):
    folder, records = interrupted[name]
    errors = []
    for number, (i, record) in enumerate(forgeries(records, n, seed=n)):
        own = tmp_path / str(number) / "checkpoint"
        shutil.copytree(folder, own)
        journal = own / "journal.jsonl"
        lines = lines_of(folder)
        journal.write_bytes(b"".join([*lines[:i], line_of(record), *lines[i + 1 :]]))
        for use in (load_history, lambda own: make(name, own).fit(X, Y)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    use(own)
                except SearchMismatchError:
                    assert i == 0
                except JournalError as error:
                    errors.append((i, str(error).removeprefix(str(journal))))
        assert [file.name for file in own.parent.iterdir()] == ["checkpoint"]
        shutil.rmtree(own.parent)
    assert len(errors) > n
    for i, text in errors:  # in this line, or in one that does not go with it
        said = re.match(r", line (\d+), is not a valid entry \(", text)
        assert i == 0 or int(said[1]) > i


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "junk", [{"test_scores": {}}, {"test_scores": 10**400}, {"status": 3}, {"a": 1}]
)
def test_a_forged_result_of_a_worker_is_evaluated_again(junk, tmp_path):
    folder = tmp_path / "checkpoint"
    fit_and_stop(make("random", folder), 4)
    write_spool(folder / "spool", "1.1.0", {"status": "ok", "test_scores": 0.1} | junk)
    with pytest.warns(UserWarning, match=r"1\.1\.0\.json was not written by a worker"):
        search = make("random", folder).fit(X, Y)
    assert outcome(search) == outcome(make("random").fit(X, Y))


@pytest.mark.parametrize("other", [7, Noisy()])
def test_a_vouched_state_that_is_none_is_trained_again(other, tmp_path):
    folder = tmp_path / "checkpoint"
    fit_and_stop(make(folder=folder), 21)
    forged = pickle.dumps(other)
    sha = hashlib.sha256(forged).hexdigest()
    vouched = {"h": sha, "n": len(forged), "s": sign(sha)}
    records = [decode(line) for line in lines_of(folder)]
    for record in records:
        for output in record.get("o", ()):
            if output["state"] is not None:
                output["state"] |= vouched
    (folder / "journal.jsonl").write_bytes(b"".join(map(encode, records)))
    for file in (folder / "states").iterdir():
        file.write_bytes(forged)
    with pytest.warns(UserWarning, match="expected a state"):
        search = make(folder=folder).fit(X, Y)
    assert outcome(search) == outcome(make().fit(X, Y))


def test_what_has_no_result_is_not_recorded(tmp_path, monkeypatch):
    def fail(*args):
        raise RuntimeError("no result")

    with monkeypatch.context() as patch:
        patch.setattr(_findings, "job_result", fail)
        with pytest.raises(RuntimeError, match="no result"):
            make("random", tmp_path).fit(X, Y)
    assert [event["k"] for event in read_journal(tmp_path)[1]] == ["ask", "stop"]
    assert outcome(make("random", tmp_path).fit(X, Y)) == outcome(make("random").fit(X, Y))


class Wordy(Noisy):
    """Fails with many words, if it is weak."""

    def partial_fit(self, X, y, classes=None):
        if self.quality < 0.5:
            raise ValueError("too weak" + "x" * 3_000_000)
        return super().partial_fit(X, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.filterwarnings("ignore:One or more")
def test_an_error_of_many_words_does_not_fill_the_disk(tmp_path):
    search = make("halving", tmp_path, **EPOCHS).set_params(estimator=Wordy()).fit(X, Y)
    assert "error" in search.statuses_
    assert sum(len(content) for content in files(tmp_path).values()) < 1_000_000
    failed = search.statuses_.index("error")
    assert search.errors_[failed].startswith("ValueError: too weakxx")
