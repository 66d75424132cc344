"""Errors of the system at the start of a worker process."""

import errno
import sys

import pytest
from joblib.externals.loky.backend.process import LokyProcess

from sksearch import chaos, watch
from sksearch.executors import end_idle_workers
from sksearch.executors._limits import EngineLostError
from sksearch.executors.local import _process, _template
from sksearch.executors.local._process import WorkerProcess


@pytest.fixture(autouse=True)
def _no_template(monkeypatch):
    """See that a start needs a new Python."""
    end_idle_workers()
    monkeypatch.setattr(_template, "_n_lost", 0)


FULL = OSError(errno.EMFILE, "Too many open files")


def fail(*args, **kwargs):
    raise FULL


def fail_as_loky(*args, **kwargs):
    try:
        raise FULL
    finally:
        parent_r += 1  # noqa: F821,F841 - the error of loky, which names a pipe that it lacks


@pytest.mark.parametrize(
    ("owner", "name", "function"),
    [(_process, "Pipe", fail), (LokyProcess, "start", fail), (LokyProcess, "start", fail_as_loky)],
)
def test_a_start_without_descriptors_is_explained(owner, name, function, monkeypatch):
    monkeypatch.setattr(owner, name, function)
    with pytest.raises(EngineLostError, match=r"Too many open files.*`ulimit -n`") as caught:
        WorkerProcess().start()
    assert caught.value.__cause__ is FULL or caught.value.__cause__.__context__ is FULL


@pytest.mark.skipif(sys.platform == "win32", reason="folders in use are kept there")
def test_a_start_in_a_removed_folder_is_explained(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tmp_path.rmdir()
    with pytest.raises(EngineLostError, match="current folder has been removed"):
        WorkerProcess().start()


def test_an_unknown_error_is_named(monkeypatch):
    def refuse(*args, **kwargs):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(_process, "Pipe", refuse)
    with pytest.raises(EngineLostError, match=r"PermissionError: .* Operation not permitted"):
        WorkerProcess().start()


@pytest.mark.parametrize("module", [chaos, watch])
def test_commands_have_help_where_python_drops_docstrings(module, monkeypatch, capsys):
    monkeypatch.setattr(module, "__doc__", None)  # as by python -OO
    with pytest.raises(SystemExit):
        module.main(["--help"])
    assert capsys.readouterr().out.startswith("usage: ")
