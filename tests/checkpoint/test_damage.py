"""Whatever became of a journal: a beginning of what was written comes back, or an error."""

import functools
import io
import os
import random
import warnings

import pytest

from sksearch.checkpoint import JournalError, _lines
from sksearch.checkpoint._checkpoint import Checkpoint, read_journal
from tests.checkpoint.samples import HEADER, SPLITS, text


@pytest.fixture(autouse=True)
def no_syncs(monkeypatch):
    """Thousands of files are written here, and no power is lost."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


TAILS = {
    "nothing": b"",
    "zeros": b"\0" * 300,
    "garbage": bytes(range(256)),
    "a wrong sum": b'00000000 {"k":"tell","t":0}\n',
    "an empty line": b"\n",
}


def reopen(folder):
    """What a search finds, as text; None where it refuses. Read-only reading finds the same."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            seen = read_journal(folder)
        except JournalError:
            seen = None
        try:
            with Checkpoint(folder) as checkpoint:
                found = (checkpoint.header, checkpoint.events, checkpoint.earlier)
        except JournalError:
            found = None
    assert text(found) == text(seen)
    if found is None:
        return None
    header, events, earlier = found
    assert earlier == []
    return [text(record) for record in [*([header] if header else []), *events]]


@pytest.mark.few(2)
@pytest.mark.slow
@pytest.mark.parametrize("tail", TAILS.values(), ids=TAILS)
def test_cut_anywhere_and_continued_by_anything_the_whole_lines_come_back(journal, tail):
    folder, written = journal
    file = folder / "journal.jsonl"
    whole = file.read_bytes()
    everything = reopen(folder)
    assert everything[1:] == [text(record) for record in written]
    for cut in range(len(whole) + 1):
        if cut % 4 and b"\n" not in whole[max(0, cut - 2) : cut + 2]:
            continue  # others are like it
        file.write_bytes(whole[:cut] + tail)
        n = whole[:cut].count(b"\n")
        if tail and whole[cut : cut + 1] == tail:  # which ends the line as it was
            n += 1
        found = reopen(folder)
        if n == 0 and found is None:
            # Refused: what should be the header could be anybody's file, and stays as it is.
            assert file.read_bytes() == whole[:cut] + tail
        else:
            assert found == everything[:n]
            assert file.read_bytes() == b"".join(whole.splitlines(keepends=True)[:n])
            if cut % 16:
                continue
            # and it is a journal again that can be continued
            with Checkpoint(folder) as checkpoint:
                checkpoint.append({"k": "stop"}) if n else checkpoint.begin(HEADER, SPLITS)
            assert len(reopen(folder)) == n + 1


@pytest.mark.parametrize("cut", [0, 1, 8, 9, 15, 60])
@pytest.mark.parametrize("tail", [b"", b"\0" * 99], ids=["", "zeros"])
def test_a_search_killed_in_its_first_line_can_begin_again(journal, cut, tail):
    folder, _ = journal
    file = folder / "journal.jsonl"
    file.write_bytes(file.read_bytes()[:cut] + tail)
    assert reopen(folder) == []


@pytest.mark.parametrize(
    ("begin", "end"),
    [(begin, end) for begin in (0, 1, 9, 12) for end in (1, 8, 9, 15, 40, 60) if begin < end],
)
def test_a_search_that_lost_power_in_its_first_line_can_begin_again(journal, begin, end):
    """Parts of it that were not written are zeros, and later ones may be there."""
    folder, _ = journal
    file = folder / "journal.jsonl"
    line = file.read_bytes().splitlines(keepends=True)[0]
    file.write_bytes(line[:begin] + b"\0" * (end - begin) + line[end:])
    assert reopen(folder) == []


@pytest.mark.slow
def test_flipped_bytes_bring_no_wrong_record(journal):
    folder, _ = journal
    file = folder / "journal.jsonl"
    whole = file.read_bytes()
    everything = reopen(folder)
    rng = random.Random(0)
    for _ in range(300):
        at = rng.randrange(len(whole))
        flipped = whole[at] ^ rng.randrange(1, 256)
        file.write_bytes(whole[:at] + bytes([flipped]) + whole[at + 1 :])
        n = whole[:at].count(b"\n")
        found = reopen(folder)
        assert found == everything[:n] if n else found is None
        for bad in folder.glob("journal.bad*"):
            bad.unlink()


def damage(folder, at_line):
    """Change one digit in a line; return the bytes from this line on."""
    file = folder / "journal.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    lines[at_line] = lines[at_line].replace(b'"t":', b'"t":1')
    file.write_bytes(b"".join(lines))
    return b"".join(lines[at_line:])


def test_damage_in_the_middle_is_put_aside_and_never_over_an_older_one(journal):
    folder, written = journal
    for name, at_line in [("journal.bad", 5), ("journal.bad.1", 3), ("journal.bad.2", 1)]:
        rest = damage(folder, at_line)
        with pytest.warns(UserWarning, match=rf"first {at_line} records.*NOT used.*{name}\. "):
            checkpoint = Checkpoint(folder)
        checkpoint.close()
        assert text(checkpoint.events) == text(written[: at_line - 1])
        assert (folder / name).read_bytes() == rest


def test_reading_only_says_what_it_does_not_read(journal):
    folder, written = journal
    damage(folder, 3)
    before = (folder / "journal.jsonl").read_bytes()
    with pytest.warns(UserWarning, match="damaged after its first 3 records"):
        _, events, _ = read_journal(folder)
    assert text(events) == text(written[:2])
    assert (folder / "journal.jsonl").read_bytes() == before


class Growing(io.FileIO):
    """A file whose first `n_bytes` are there until somebody has read to its end."""

    n_bytes = 0

    def readinto(self, buffer):
        if self.n_bytes is None:
            return super().readinto(buffer)
        n_read = super().readinto(memoryview(buffer)[: self.n_bytes - self.tell()])
        if n_read == 0:
            self.n_bytes = None
        return n_read

    def seek(self, offset, whence=0):
        self.n_bytes = None
        return super().seek(offset, whence)


def test_what_is_appended_while_a_journal_is_read_is_left_for_the_next_look(journal, monkeypatch):
    folder, written = journal
    size = (folder / "journal.jsonl").stat().st_size

    def grown(n_bytes, path):
        file = Growing(path)
        file.n_bytes = n_bytes
        return io.BufferedReader(file)

    n_seen = set()
    for n_bytes in range(size + 1):
        monkeypatch.setattr(_lines, "open_lines", functools.partial(grown, n_bytes))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            _, events, _ = read_journal(folder)
        assert text(events) == text(written[: len(events)])
        n_seen.add(len(events))
    assert n_seen == set(range(len(written) + 1))


def test_a_cut_tail_is_told_in_bytes(journal):
    folder, _ = journal
    with open(folder / "journal.jsonl", "ab") as file:
        file.write(b"0" * 17)
    with pytest.warns(UserWarning, match="the last 17 bytes were removed"):
        Checkpoint(folder).close()
    Checkpoint(folder).close()  # once is enough


@pytest.mark.parametrize(
    "content",
    [
        b'01234567 {"k":"header","class":"Mine"}\n',
        b"a file of mine\n",
        b"my notes",
        b"\n",
        b'{"k":"header"}\n',
        b"0123456789 {}",
        b"\0\0\n",
    ],
)
def test_another_file_of_this_name_is_left_as_it_is(tmp_path, content):
    (tmp_path / "journal.jsonl").write_bytes(content)
    for use in (Checkpoint, read_journal):
        with pytest.raises(JournalError, match=r"does not begin with the header.*pass another"):
            use(tmp_path)
    assert (tmp_path / "journal.jsonl").read_bytes() == content


def test_a_journal_that_begins_with_a_result_is_refused(tmp_path):
    with Checkpoint(tmp_path) as checkpoint:
        checkpoint.append({"k": "tell"})
    with pytest.raises(JournalError, match="does not begin with the header"):
        Checkpoint(tmp_path)


def test_a_newer_format_is_refused_and_left_as_it_is(journal):
    folder, _ = journal
    with Checkpoint(folder) as checkpoint:
        checkpoint.begin(HEADER | {"fmt": 2}, SPLITS)
    with open(folder / "journal.jsonl", "ab") as file:
        file.write(b"and a tail")
    before = (folder / "journal.jsonl").read_bytes()
    for use in (Checkpoint, read_journal):
        with pytest.raises(JournalError, match=r"has format 2.*update sksearch"):
            use(folder)
    assert (folder / "journal.jsonl").read_bytes() == before


def test_a_refused_directory_is_not_kept_locked(tmp_path):
    (tmp_path / "journal.jsonl").write_bytes(b"mine\n")
    with pytest.raises(JournalError):
        Checkpoint(tmp_path)
    (tmp_path / "journal.jsonl").unlink()
    Checkpoint(tmp_path).close()
