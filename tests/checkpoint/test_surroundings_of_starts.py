"""Values that differ between starts since the surroundings do: processes, computers, folders."""

import os
import tempfile
import time
import warnings
from unittest import mock

import pytest

from sksearch._utils import _clock
from sksearch.checkpoint.identity import _of_start
from sksearch.search import SearchMismatchError
from tests.checkpoint.test_loaded_settings import start


@pytest.mark.parametrize(
    ("pid", "given"),
    [(31, "f'{os.getpid()}'"), (330, "f'{os.getpid()}'"), (330, "f'run-{os.getpid()}.log'"),
     (330, "[os.getpid()][0]")],
)  # fmt: skip
@pytest.mark.parametrize("place", ["W", "os.environ['W_OF_TESTS']"])
def test_small_numbers_of_processes_as_in_a_container_are_known(
    pid, given, place, tmp_path, monkeypatch
):
    of_text = given if place == "W" else f"str({given})"
    source = f"{place} = {of_text}\ndef value():\n    return {place} is not None"
    for number in (pid, pid + 1):
        monkeypatch.setattr(os, "getpid", lambda number=number: number)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            start(source, 1.0, tmp_path, monkeypatch)
    (message,) = [str(each.message) for each in caught if each.category is UserWarning]
    assert f"{pid}" in message.partition(" now ")[0]


@pytest.mark.parametrize(
    "value",
    [
        "{64, 128, 256}", "frozenset({64, 128, 256})", "{64: 1, 128: 2, 256: 3}",
        "{'/data/train/a', '/data/b', 'zoo'}", "O({64, 128, 256})", "'128 rows ' * 200",
        "[f'part {i} of train' for i in range(600)]", "O(list(range(900)))",
        "{'a': {str(i): {'n': i, 'train': {i, 128}} for i in range(300)}}",
        "{128: {256: [64, 'train'], 64: {'b', 'train'}}, 64: 'x' * 400}",
    ],
)  # fmt: skip
def test_values_may_match_a_number_or_the_name_of_a_computer(value, tmp_path, monkeypatch):
    """In one of the starts, which changes neither their order nor their digests."""
    classes = "class O:\n    def __init__(self, w):\n        self.w = w\n"
    source = classes + f"W = {value}\ndef value():\n    return W is not None"
    for pid, host in ((128, "train"), (301, "gpu-7"), (256, "zoo")):
        monkeypatch.setattr(os, "getpid", lambda pid=pid: pid)
        monkeypatch.setattr(_of_start, "_host", lambda host=host: host)
        _of_start._pattern.cache_clear()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            start(source, 1.0, tmp_path, monkeypatch)
    _of_start._pattern.cache_clear()
    for old in ("64", "rows", "part", "data", "900", "300"):
        source = source.replace(old, old[0] + "7")
    with pytest.raises(SearchMismatchError, match=r"users_script\.W was"):
        start(source, 1.0, tmp_path, monkeypatch)


def test_texts_like_marks_are_compared(tmp_path, monkeypatch):
    value = r"['\x02', '\x1f{}\x03', '⟦a¦{}⟧', {'\x02a\x1f{}\x03': 1}]"
    source = f"W = {value}\ndef value():\n    return len(W)"
    start(source.replace("{}", "1"), 1.0, tmp_path, monkeypatch)
    with pytest.raises(SearchMismatchError, match=r"users_script\.W was"):
        start(source.replace("{}", "2"), 1.0, tmp_path, monkeypatch)


@pytest.mark.parametrize(
    "value",
    [
        "3000 * 'a' + ' row 128'", "{'began': time.time(), 'sizes': list(range(100, 400, 7))}",
        "{'host': __import__('os').getpid(), 'n': [128, 301]}",
        "{'d': {'z': 1, 'a': time.time()}, 'n': 'from 128 to 301'}",
    ],
)  # fmt: skip
def test_a_text_may_have_times_and_numbers_that_match_by_chance(value, tmp_path, monkeypatch):
    source = f"W = {value}\ndef value():\n    return len(W)"
    for pid in (128, 301, 177, 128):
        monkeypatch.setattr(os, "getpid", lambda pid=pid: pid)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*values that differ between starts")
            start(source, 1.0, tmp_path, monkeypatch)
    other = source.replace("row 128", "row 129").replace("400", "500").replace("301", "302")
    with pytest.raises(SearchMismatchError, match=r"users_script\.W was"):
        start(other, 1.0, tmp_path, monkeypatch)


def test_without_a_folder_for_temporary_files_values_are_compared(tmp_path, monkeypatch):
    source = "W = 'model v1'\ndef value():\n    return W is not None"
    start(source, 1.0, tmp_path, monkeypatch)
    monkeypatch.setattr(tempfile, "gettempdir", mock.Mock(side_effect=FileNotFoundError))
    start(source, 1.0, tmp_path, monkeypatch)
    with pytest.raises(SearchMismatchError, match=r"users_script\.W was"):
        start(source.replace("v1", "v2"), 1.0, tmp_path, monkeypatch)


def test_a_number_at_the_end_of_a_name_is_compared(tmp_path, monkeypatch):
    """The random names of temporary files rarely end like this."""
    source = "W = tempfile.gettempdir() + '/run_data2024.csv'\ndef value():\n    return len(W)"
    start(source, 1.0, tmp_path, monkeypatch)
    with pytest.raises(SearchMismatchError, match=r"users_script\.W was"):
        start(source.replace("2024", "2025"), 1.0, tmp_path, monkeypatch)


def test_temporary_files_may_have_another_folder(tmp_path, monkeypatch):
    source = (
        "class O: pass\nW = O()\nW.d = tempfile.mkdtemp()\ndef value():\n    return W is not None"
    )
    for job in ("job1", "job2"):
        (tmp_path / job).mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / job))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            start(source, 1.0, tmp_path, monkeypatch)
    assert "users_script.W was" in str(caught[-1].message)


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="/proc of Linux")
def test_the_age_of_a_process_does_not_depend_on_the_uptime_that_a_container_shows(monkeypatch):
    assert 0 < _clock._age() < 86_400
    monkeypatch.setattr(time, "clock_gettime", lambda clock: 5.0)  # began in the future
    assert _clock._age() == 60
