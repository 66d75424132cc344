"""The key that signs models: a model that nothing can verify is trained again, never read."""

import os
import re
import socket
import stat
import warnings
from pathlib import Path

import pytest

from sksearch._utils._files import temporary
from sksearch._utils._filesystem import FileSystem
from sksearch.checkpoint import _signature
from sksearch.checkpoint._signature import is_signed, key_file, key_trouble, make_key, sign
from tests.checkpoint.test_resume import fit_and_stop, make, outcome
from tests.checkpoint.test_signature import Bomb, forge
from tests.interrupted import X, Y

pytestmark = pytest.mark.skipif(os.name == "nt", reason="modes and links of POSIX")
KEY = bytes(range(32))


def write(path, content, mode=0o600):
    path.write_bytes(content)
    path.chmod(mode)


def link(path):
    path.with_name("elsewhere").write_bytes(KEY)
    path.symlink_to(path.with_name("elsewhere"))


def second_name(path):
    write(path, KEY)
    os.link(path, path.with_name("other"))


def enlarge(path, n_bytes):
    """Make a file of holes."""
    write(path, b"")
    os.truncate(path, n_bytes)


def listen(path):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(path))  # of an absolute one a socket has no more than 107


#: What may be in the place of the key, and whether it is replaced by a new key.
ODD = {
    "empty": (lambda path: write(path, b""), True),
    "one byte short": (lambda path: write(path, KEY[:-1]), True),
    "one byte long": (lambda path: write(path, KEY + b"x"), True),
    "a megabyte": (lambda path: write(path, b"x" * 2**20), True),
    "gigabytes of holes": (lambda path: enlarge(path, 2**34), True),
    "zeros": (lambda path: write(path, bytes(32)), True),
    "one word again and again": (lambda path: write(path, b"secret!\n" * 4), True),
    "text": (lambda path: write(path, KEY.hex().encode()), True),
    "readable by all": (lambda path: write(path, KEY, 0o644), True),
    "readable by the group": (lambda path: write(path, KEY, 0o640), True),
    "writable by all": (lambda path: write(path, KEY, 0o622), True),
    "a program of others": (lambda path: write(path, KEY, 0o601), True),
    "open to all": (lambda path: write(path, KEY, 0o777), True),
    "a link": (link, False),
    "a link to nothing": (lambda path: path.symlink_to(path.with_name("none")), False),
    "a link to itself": (lambda path: path.symlink_to(path), False),
    "a second name": (second_name, False),
    "a folder": (lambda path: path.mkdir(), False),
    "a pipe": (lambda path: os.mkfifo(path), False),
    "a socket": (lambda path: listen(path), False),
    "a link to a device": (lambda path: path.symlink_to("/dev/zero"), False),
    "a link to a folder": (lambda path: path.symlink_to(path.parent), False),
}


@pytest.fixture
def place(tmp_path, monkeypatch):
    """The file of the key, in a configuration of its own."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    path = key_file()
    path.parent.mkdir(parents=True)
    _signature._read.cache_clear()
    yield path
    _signature._read.cache_clear()


@pytest.mark.parametrize("kind", ODD)
def test_an_odd_key_is_replaced_or_refused_and_named(kind, place):
    put, is_replaced = ODD[kind]
    put(place)
    if is_replaced:
        with pytest.warns(
            UserWarning, match=r"config/sksearch/key, .*: it is replaced by a new key"
        ):
            make_key()
        assert key_trouble() == ""
        assert stat.S_IMODE(place.stat().st_mode) == 0o600
        assert len(place.read_bytes()) == 32
        assert place.read_bytes() != KEY
        assert is_signed("ab", sign("ab"))
    else:
        make_key()
        assert str(place) in key_trouble()
        assert sign("ab") == ""
    for forged in ("", "0" * 64, "é"):
        assert not is_signed("ab", forged)


@pytest.mark.few(3)
@pytest.mark.parametrize("kind", [*ODD, "no folder can be made", "none was made"])
def test_a_forged_model_is_never_read(kind, place, tmp_path):
    """Its signature is empty, as it was where there was no key."""
    folder, trace = tmp_path / "checkpoint", tmp_path / "trace"
    search = make(folder=folder)
    fit_and_stop(search, 21)
    forge(folder, Bomb(trace), s="")
    place.unlink()
    if kind in ODD:
        ODD[kind][0](place)
    elif kind == "no folder can be made":
        place.parent.rmdir()
        place.parent.parent.rmdir()
        place.parent.parent.touch()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search.fit(X, Y)
    texts = "\n".join(str(warning.message) for warning in caught)
    assert re.search("written by another user.*they are trained again", texts)
    assert not trace.exists()
    assert outcome(search) == outcome(make().fit(X, Y))


def test_where_no_key_can_be_kept_one_sentence_says_what_to_do(place, tmp_path):
    place.parent.rmdir()
    place.parent.touch()
    search = make(folder=tmp_path / "checkpoint")
    fit_and_stop(search, 21)
    with pytest.warns(UserWarning, match="trained again.*cannot be written: set XDG_CONFIG_HOME"):
        search.fit(X, Y)
    assert outcome(search) == outcome(make().fit(X, Y))


def test_what_a_killed_process_has_left_of_a_key_is_removed(place):
    left = [temporary(place) for _ in range(2)]
    for path in left:
        write(path, KEY[:5])
    write(other := place.with_name("key.txt"), b"the user's")
    make_key()
    assert sorted(place.parent.iterdir()) == [place, other]


def test_a_key_is_made_where_a_file_can_have_one_name_only(place, monkeypatch):
    def refuse(system, old, new):
        raise PermissionError("no links on this disk")

    monkeypatch.setattr(FileSystem, "link", refuse)
    make_key()
    assert key_trouble() == ""
    assert list(place.parent.iterdir()) == [place]
    first = place.read_bytes()
    make_key()
    assert place.read_bytes() == first


def test_a_key_that_another_process_makes_meanwhile_stays(place, monkeypatch):
    link = FileSystem.link

    def first(system, old, new):
        write(new, KEY)
        link(system, old, new)

    monkeypatch.setattr(FileSystem, "link", first)
    write(temporary(place), KEY[:5])  # of a third one, which was killed
    make_key()
    assert place.read_bytes() == KEY
    assert list(place.parent.iterdir()) == [place]


def test_the_key_is_where_the_user_keeps_configurations(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert key_file() == tmp_path / "sksearch" / "key"
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert key_file() == tmp_path / ".config" / "sksearch" / "key"


def test_where_there_is_no_home_there_is_no_key(monkeypatch):
    def homeless(path):
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setattr(Path, "expanduser", homeless)
    make_key()
    assert sign("ab") == ""
    assert not is_signed("ab", "")
    assert key_trouble().startswith("The key has no home folder")


def test_a_place_that_is_not_absolute_counts_as_none(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    for place in ("", "config", "./config", "~/config"):
        monkeypatch.setenv("XDG_CONFIG_HOME", place)
        assert key_file() == tmp_path / ".config" / "sksearch" / "key"


def test_a_folder_of_configurations_may_be_a_link(tmp_path, monkeypatch):
    (tmp_path / "dotfiles").mkdir()
    (tmp_path / "config").symlink_to(tmp_path / "dotfiles")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    make_key()
    assert is_signed("ab", sign("ab"))


def test_a_key_is_judged_as_it_was_read_and_not_as_it_is_now(place, monkeypatch):
    """Somebody puts a good file in the place of a bad one between two looks."""
    opening = FileSystem.open

    def swap(system, path, flags):
        file = opening(system, path, flags)
        if path == place:
            place.unlink()
            write(place, bytes(range(1, 33)))
        return file

    write(place, KEY, 0o644)
    monkeypatch.setattr(FileSystem, "open", swap)
    assert sign("ab") == ""


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() != 0, reason="only root gives away")
def test_a_key_of_another_user_is_refused(place):
    write(place, KEY)
    os.chown(place, 12345, -1)
    make_key()
    assert sign("ab") == ""
    assert "belongs to another user (uid 12345)" in key_trouble()


def test_a_signature_is_of_one_file_and_one_key(place):
    make_key()
    signature = sign("ab")
    assert len(signature) == 64
    assert is_signed("ab", signature)
    assert not is_signed("ac", signature)
    place.unlink()
    make_key()
    assert not is_signed("ab", signature)


def test_the_key_is_on_disk_before_it_is_used(place, monkeypatch):
    synced = []
    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: (synced.append(os.fstat(fd).st_mode), fsync(fd)))
    make_key()
    assert any(map(stat.S_ISREG, synced))
    assert stat.S_ISDIR(synced[-1])


@pytest.mark.parametrize("mode", [0o770, 0o702, 0o777, 0o1777])
def test_a_key_in_a_folder_that_others_can_change_is_refused_and_kept(place, mode):
    make_key()
    key, folder = key_file().read_bytes(), key_file().parent
    folder.chmod(mode)
    make_key()
    assert sign("0") == ""
    assert "can be replaced by others" in key_trouble()
    folder.chmod(0o700)
    make_key()
    assert sign("0") != ""
    assert key_file().read_bytes() == key
