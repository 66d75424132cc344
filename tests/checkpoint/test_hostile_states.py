"""States that others have damaged, swapped, forged or replayed: none of them is read."""

import gzip
import os
import shutil
import socket
from contextlib import chdir

import pytest

from sksearch._utils._files import write_all
from sksearch.base._state import State
from sksearch.checkpoint._lines import decode, encode
from sksearch.fitting.run._states import dump_state
from sksearch.search import JournalError
from tests.checkpoint.test_resume import fit_and_stop, make, outcome
from tests.checkpoint.test_signature import Bomb
from tests.interrupted import Noisy, X, Y

pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="links, pipes and sockets of Unix"),
    pytest.mark.timeout(60),
]


@pytest.fixture(scope="module")
def own_key(tmp_path_factory):
    """A configuration with a key of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        yield


@pytest.fixture(scope="module")
def stopped(own_key, tmp_path_factory):
    """A search that was stopped while it had states, one with another seed, and the results."""
    folder = tmp_path_factory.mktemp("stopped")
    fit_and_stop(make(folder=folder / "own"), 21)
    fit_and_stop(make(folder=folder / "other", random_state=1), 21)
    return folder, outcome(make().fit(X, Y))


def change(function):
    """Change the content of each state."""

    def do(states, other, trace):
        for file in states:
            file.write_bytes(function(file.read_bytes(), trace))

    return do


def put(function):
    """Put something else in the place of each state."""

    def do(states, other, trace):
        for file in states:
            shutil.copy(file, file.parent.parent / f"away {file.name}")
            file.unlink()
            function(file, file.parent.parent / f"away {file.name}")

    return do


def swap(states, other, trace):
    """Give each state the name of the next one."""
    contents = [file.read_bytes() for file in states]
    for file, content in zip(states, [*contents[1:], contents[0]], strict=True):
        file.write_bytes(content)


def swap_folds(states, other, trace):
    """Give the state of a fold to the other fold of the same candidate."""
    by_name = {file.name.rpartition(".")[0]: file for file in states}
    for name, file in by_name.items():
        if name.endswith(".0") and (twin := by_name.get(f"{name[:-1]}1")):
            content = file.read_bytes()
            file.write_bytes(twin.read_bytes())
            twin.write_bytes(content)


def replay(states, other, trace):
    """Give states of another search of this user the names of these."""
    for file, foreign in zip(states, other, strict=False):
        shutil.copy(foreign, file)


def replace_folder(states, other, trace):
    """Have the folder of states be that of another search."""
    shutil.rmtree(states[0].parent)
    shutil.copytree(other[0].parent, states[0].parent)


def add_strangers(states, other, trace):
    """Put states that nobody knows among them."""
    for n, file in enumerate(states):
        shutil.copy(file, file.with_name(f"9{n}.1.0.{'f' * 16}"))
        file.with_name(f"8{n}.1.0").write_bytes(bomb(b"", trace))


def open_to_all(states, other, trace):
    """Let others write to them: what they hold is verified all the same."""
    for file in states:
        file.chmod(0o666)


def bomb(content, trace):
    """A model that runs code."""
    estimator = Noisy()
    estimator.bomb = Bomb(trace)
    return dump_state(State(estimator))


def listen(file, content):
    # The path of a socket may be no longer than about a hundred characters.
    with chdir(file.parent), socket.socket(socket.AF_UNIX) as server:
        server.bind(file.name)


def holes(file, content):
    with open(file, "wb", buffering=0) as opened:
        write_all(opened, content.read_bytes())
    os.truncate(file, 2**34)


FILES = {
    "swapped between candidates": swap,
    "swapped between folds": swap_folds,
    "of another search": replay,
    "all of another search": replace_folder,
    "strangers among them": add_strangers,
    "writable by others": open_to_all,
    "empty": change(lambda content, trace: b""),
    "half": change(lambda content, trace: content[: len(content) // 2]),
    "but for the last byte": change(lambda content, trace: content[:-1]),
    "with a byte more": change(lambda content, trace: content + b"\0"),
    "with a line more": change(lambda content, trace: content + b"\n"),
    "twice": change(lambda content, trace: content * 2),
    "with a byte before": change(lambda content, trace: b"\x80" + content),
    "a bit is another": change(lambda content, trace: bytes([content[0] ^ 1]) + content[1:]),
    "a bomb": change(bomb),
    "a bomb before it": change(lambda content, trace: bomb(content, trace) + content),
    "a bomb behind it": change(lambda content, trace: content + bomb(content, trace)),
    "compressed": change(lambda content, trace: gzip.compress(content)),
    "gone": put(lambda file, content: None),
    "a folder": put(lambda file, content: file.mkdir()),
    "a link": put(lambda file, content: file.symlink_to(content)),
    "a link to itself": put(lambda file, content: file.symlink_to(file)),
    "a link to a device": put(lambda file, content: file.symlink_to("/dev/zero")),
    "a second name": put(lambda file, content: os.link(content, file)),
    "a pipe": put(lambda file, content: os.mkfifo(file)),
    "a socket": put(listen),
    "gigabytes of holes": put(holes),
}


def stop_and_copy(stopped, tmp_path):
    """A copy of the search that was stopped, its states, and those of the other one."""
    folder, expected = stopped
    shutil.copytree(folder / "own", tmp_path / "own")
    states, other = (
        sorted((place / "states").iterdir()) for place in (tmp_path / "own", folder / "other")
    )
    assert len(states) > 3
    return tmp_path / "own", states, other, expected


@pytest.mark.few(5)
@pytest.mark.filterwarnings("ignore:A fitted estimator cannot be stored")
@pytest.mark.parametrize("what", FILES)
def test_no_state_is_read_but_the_one_that_was_written(what, stopped, tmp_path):
    folder, states, other, expected = stop_and_copy(stopped, tmp_path)
    FILES[what](states, other, tmp_path / "trace")
    assert outcome(make(folder=folder).fit(X, Y)) == expected
    assert not (tmp_path / "trace").exists()


OTHER_KEY = "6b" * 32
#: What stands of a state in the journal, changed: such a state is trained again.
ENTRIES = {
    "no signature": {"s": ""},
    "a signature of zeros": {"s": "0" * 64},
    "that of another key": {"s": OTHER_KEY},
    "a signature in capitals": lambda entry, others: {"s": entry["s"].upper()},
    "half a signature": lambda entry, others: {"s": entry["s"][:32]},
    "a signature and more": lambda entry, others: {"s": entry["s"] + "0"},
    "the signature of another state": lambda entry, others: {"s": others[0]["s"]},
    "the digest of another state": lambda entry, others: {"h": others[0]["h"]},
    "the file of another state": lambda entry, others: {"f": others[0]["f"]},
    "another size": {"n": 10**12},
    "an entry more": {"pickle": "cos\nsystem\n(S'true'\ntR."},
}
#: Changes after which the journal is none.
REFUSED = {
    "a signature that is no ASCII": {"s": "\N{LATIN SMALL LETTER E WITH ACUTE}" * 64},
    "a signature that is a number": {"s": 0},
    "a signature that is nothing": {"s": None},
    "a signature that is a list": {"s": ["0"] * 64},
    "the file of a folder above": {"f": "../journal.jsonl"},
    "the file of a folder far away": {"f": "/etc/passwd"},
    "the file of no name": {"f": ""},
    "the folder itself": {"f": "."},
    "a name with a zero": {"f": "0.1.0\0"},
    "a name of a page": {"f": "0" * 5000},
    "no size": {"n": -1},
    "a size that is a text": {"n": "many"},
    "a digest that is a number": {"h": 5},
}


@pytest.mark.few(6)
@pytest.mark.filterwarnings("ignore:A fitted estimator cannot be stored")
@pytest.mark.filterwarnings("ignore:.* contains fitted models written by another user")
@pytest.mark.parametrize("what", [*ENTRIES, *REFUSED])
def test_what_stands_of_a_state_in_a_journal_reads_no_other(what, stopped, tmp_path):
    folder, _, _, expected = stop_and_copy(stopped, tmp_path)
    records = [decode(x) for x in (folder / "journal.jsonl").read_bytes().splitlines(True)]
    entries = [
        output["state"] for record in records for output in record.get("o", ()) if output["state"]
    ]
    before = [dict(entry) for entry in entries]
    for n, entry in enumerate(entries):
        made = (ENTRIES | REFUSED)[what]
        others = [each for each in before if each["h"] != entry["h"]]
        entry |= made(before[n], others) if callable(made) else made
    (folder / "journal.jsonl").write_bytes(b"".join(map(encode, records)))
    if what in REFUSED:
        with pytest.raises(JournalError, match=r"line \d+, is not a valid entry"):
            make(folder=folder).fit(X, Y)
    else:
        assert outcome(make(folder=folder).fit(X, Y)) == expected
