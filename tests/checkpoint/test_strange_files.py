"""Files that others could have put into a checkpoint, or that are none."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

from sksearch import load_history
from sksearch.checkpoint._checkpoint import Checkpoint
from tests.checkpoint.test_resume import fit_and_stop, make, outcome
from tests.interrupted import Noisy, X, Y

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links, pipes and owners of Unix")
FILES = ["lock", "journal.jsonl", "splits.npz"]


@pytest.fixture
def stopped(tmp_path):
    """A search that was stopped while it had states."""
    search = make(folder=tmp_path / "checkpoint")
    fit_and_stop(search, 21)
    return search


def replace_by_link(file, outside):
    file.unlink()
    file.symlink_to(outside)


def replace_by_hard_link(file, outside):
    file.unlink()
    os.link(outside, file)


def replace_by_pipe(file, outside):
    file.unlink()
    os.mkfifo(file)


def replace_by_directory(file, outside):
    file.unlink()
    file.mkdir()


REPLACE = [replace_by_link, replace_by_hard_link, replace_by_pipe, replace_by_directory]


@pytest.mark.timeout(30)
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("replace", REPLACE)
def test_a_foreign_file_is_refused_and_not_touched(name, replace, stopped, tmp_path):
    folder, outside = tmp_path / "checkpoint", tmp_path / "outside"
    shutil.copy(folder / name, outside)
    content = outside.read_bytes()
    replace(folder / name, outside)
    remedy = "replace it by a copy" if replace is replace_by_hard_link else "remove it"
    with pytest.raises((PermissionError, ValueError), match=f"{name}.*: {remedy}"):
        stopped.fit(X, Y)
    assert outside.read_bytes() == content


@pytest.mark.timeout(30)
def test_a_pipe_is_not_read_from(stopped, tmp_path):
    replace_by_pipe(tmp_path / "checkpoint" / "journal.jsonl", None)
    with pytest.raises(PermissionError, match="is not a regular file"):
        load_history(tmp_path / "checkpoint")


@pytest.mark.timeout(60)
@pytest.mark.parametrize("folder", ["states", "spool"])
@pytest.mark.parametrize("replace", REPLACE[:3])
@pytest.mark.filterwarnings("ignore:A fitted estimator cannot be stored")
def test_states_and_results_that_are_no_files_of_ours_are_made_again(
    folder, replace, stopped, tmp_path
):
    files = list((tmp_path / "checkpoint" / folder).iterdir())
    for file in files:
        shutil.copy(file, tmp_path / f"outside {file.name}")
        replace(file, tmp_path / f"outside {file.name}")
    assert outcome(stopped.fit(X, Y)) == outcome(make().fit(X, Y))
    for file in files:
        assert (tmp_path / f"outside {file.name}").stat().st_size > 0


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("name", FILES)
def test_files_of_another_user_are_refused(name, stopped, tmp_path):
    os.chown(tmp_path / "checkpoint" / name, 12345, -1)
    with pytest.raises((PermissionError, ValueError), match=r"another user \(uid 12345\)"):
        stopped.fit(X, Y)


def test_a_parent_that_all_can_write_to_is_refused(tmp_path):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    with pytest.raises(PermissionError, match=r"can be replaced by other users.*chmod o-w"):
        Checkpoint(tmp_path / "open" / "checkpoint")
    (tmp_path / "open").chmod(0o1777)  # as /tmp is: nobody can rename what is another's
    Checkpoint(tmp_path / "open" / "checkpoint").close()


def test_a_path_may_begin_with_the_home_and_must_not_be_empty(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    make("random", "~/runs").fit(X, Y)
    assert (tmp_path / "runs" / "journal.jsonl").exists()
    assert load_history("~/runs").finished
    with pytest.raises(ValueError, match="checkpoint_dir='' is not a folder"):
        make("random", "").fit(X, Y)
    assert [file.name for file in tmp_path.iterdir()] == ["runs"]


# ---- outer folds


def test_each_outer_fold_has_its_own_directory(tmp_path):
    search = make("random", tmp_path / "run-{data}", refit=True, cv=2)
    search.set_params(estimator=Noisy(random_state=0))
    plain = make("random", refit=True, cv=2).set_params(estimator=Noisy(random_state=0))
    scores = cross_val_score(search, X, Y, cv=3)
    np.testing.assert_array_equal(scores, cross_val_score(plain, X, Y, cv=3))
    folders = sorted(tmp_path.iterdir())
    assert len(folders) == 3
    assert all(load_history(folder).finished for folder in folders)
    np.testing.assert_array_equal(cross_val_score(search, X, Y, cv=3), scores)
    assert sorted(tmp_path.iterdir()) == folders
    assert all(Path(folder).name.startswith("run-") for folder in folders)
