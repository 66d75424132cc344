"""Rows 38 to 46 of the table of faults: journals, and the same search again."""

import copy
import pickle
import resource
import shutil
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import KFold

from sksearch._utils._compat import cloudpickle
from sksearch.checkpoint._checkpoint import read_journal
from sksearch.checkpoint._lines import decode, encode
from sksearch.executors import end_idle_workers
from sksearch.fitting.run._run import Run
from sksearch.search import JournalError, SearchLockedError, SearchMismatchError
from tests import scripts
from tests.faults.engine import ROOT, Engine, end
from tests.faults.estimators import (
    FEW,
    STRANGE,
    Fake,
    X,
    Y,
    assert_same,
    fit_with_one_warning,
    random_search,
    slow_halving,
    slow_halving_undisturbed,
    trainings,
)

cloudpickle.register_pickle_by_value(sys.modules[__name__])
pytestmark = [pytest.mark.usefixtures("engine"), pytest.mark.timeout(120)]


@pytest.fixture(params=["serial", "slots"])
def engine(request):
    """Two are enough: the process that searches reads and writes journals, and no worker does."""
    engine = Engine(request.param)
    with engine.context():
        yield engine


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory):
    """Folder of a slow halving that was stopped after the first job of its second rung."""
    folder = tmp_path_factory.mktemp("interrupted")
    on_result, n_results = Run.on_result, []

    def stop_after_ten(run, job):
        on_result(run, job)
        n_results.append(1)
        if len(n_results) == 10:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch, joblib.parallel_config("sequential"):
        patch.setattr(Run, "on_result", stop_after_ten)
        with pytest.raises(KeyboardInterrupt):
            slow_halving(folder).fit(X, Y)
    return folder


@pytest.fixture
def resumable(interrupted, tmp_path):
    """A search that goes on in a copy of the interrupted one's checkpoint."""
    shutil.copytree(interrupted / "checkpoint", tmp_path / "checkpoint")
    (interrupted / "log").unlink(missing_ok=True)
    return slow_halving(interrupted, checkpoint_dir=tmp_path / "checkpoint")


def journal_of(search):
    return Path(search.checkpoint_dir, "journal.jsonl")


class AnyName(Fake):
    """Takes parameters of any name."""

    def get_params(self, deep=True):
        return dict(vars(self)) or {"quality": 0.5}

    def set_params(self, **params):
        vars(self).update(params)
        return self

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def score(self, X, y):
        return 0.5


@pytest.mark.slow
def test_values_and_names_of_any_kind_are_searched_and_noted(tmp_path):  # row 38
    log = tmp_path / "log"
    space = {"ballast": STRANGE}
    search = random_search(Fake(log=str(log)), space, n_iter=17, checkpoint_dir=tmp_path / "c")
    first = search.fit(X, Y).cv_results_["param_ballast"]
    assert isinstance(first, np.ma.MaskedArray)
    assert [type(value) for value in first] == [type(value) for value in STRANGE]
    n_trainings = len(trainings(log))
    again = search.fit(X, Y).cv_results_["param_ballast"]
    assert all(one is other for one, other in zip(again, first, strict=True))
    assert len(trainings(log)) == n_trainings
    names = ["größe ☃", "two words", "x" * 1000]
    space = [{name: [0.1, 0.2]} for name in names]
    search = random_search(AnyName(), space, n_iter=6, checkpoint_dir=tmp_path / "n").fit(X, Y)
    assert search.cv_results_[f"param_{names[0]}"].mask.tolist() == [False, False, *[True] * 4]


@pytest.mark.whole
@pytest.mark.slow
def test_a_damaged_journal_is_used_up_to_the_damage(resumable):  # row 39
    journal = journal_of(resumable)
    sound = journal.read_bytes()
    middle = len(sound) * 3 // 4
    for damaged, says in (
        (sound + sound[-300:-100], "were removed"),
        (sound + b"\0" * 4096, "were removed"),
        (sound[:middle] + bytes([sound[middle] ^ 1]) + sound[middle + 1 :], "NOT used"),
    ):
        journal.write_bytes(damaged)
        fit_with_one_warning(resumable, says, UserWarning)
        assert_same(resumable, slow_halving_undisturbed())
    assert journal.with_suffix(".bad").exists()


HOLDER = """
import sys, time
from sksearch.checkpoint._checkpoint import Checkpoint
checkpoint = Checkpoint(sys.argv[1])
print("open", flush=True)
time.sleep(600)
"""


@pytest.fixture(scope="module")
def holder(tmp_path_factory):
    """A process that holds a checkpoint directory, and the directory."""
    folder = tmp_path_factory.mktemp("held")
    process = scripts.start(["-c", HOLDER, folder], cwd=ROOT)
    assert process.stdout.readline() == "open\n"
    yield process, folder
    end(process)


@pytest.mark.whole
@pytest.mark.slow
def test_a_directory_in_use_is_refused_at_once(holder, tmp_path):  # row 40
    process, folder = holder
    log = tmp_path / "log"
    search = random_search(Fake(log=str(log)), checkpoint_dir=folder)
    with pytest.raises(SearchLockedError, match=rf"process {process.pid} on "):
        search.fit(X, Y)
    assert trainings(log) == []
    search.set_params(checkpoint_dir=tmp_path / "own").fit(X, Y)
    search.fit(X, Y)  # the lock went with the first one


@pytest.mark.few(1)
def test_a_journal_of_another_search_is_refused_and_left_alone(resumable, tmp_path):  # row 41
    content = journal_of(resumable).read_bytes()
    more = {"alpha": [0.1, 1.0]}
    for name, change, data in (
        ("space", {"param_distributions": more}, X),
        ("estimator", {"estimator__seconds": 0.5}, X),
        ("scoring", {"scoring": "f1"}, X),
        ("cv", {"cv": KFold(2)}, X),
        ("settings", {"factor": 2}, X),
        ("class", {}, X),
        ("data", {}, X + 1),
    ):
        search = clone(resumable).set_params(**change)
        if name == "class":
            search = random_search(checkpoint_dir=resumable.checkpoint_dir)
        with pytest.raises(SearchMismatchError, match=rf"{name} differs"):
            search.fit(data, Y)
        assert journal_of(resumable).read_bytes() == content
    assert_same(resumable.fit(X, Y), slow_halving_undisturbed())


def rewrite_header(journal, **changes):
    """Change fields of the first record of a journal."""
    first, rest = journal.read_bytes().split(b"\n", 1)
    header = decode(first + b"\n")
    journal.write_bytes(encode(header | changes) + rest)


@pytest.mark.whole
def test_a_newer_journal_is_refused_and_one_of_another_version_continues(resumable):  # row 42
    journal = journal_of(resumable)
    header, _, _ = read_journal(resumable.checkpoint_dir)
    rewrite_header(journal, fmt=99)
    content = journal.read_bytes()
    with pytest.raises(JournalError, match="has format 99"):
        resumable.fit(X, Y)
    assert journal.read_bytes() == content
    rewrite_header(journal, fmt=1, versions=header["versions"] | {"sklearn": "0.24.2"})
    with pytest.warns(UserWarning, match=r"with scikit-learn 0\.24\.2"):
        resumable.fit(X, Y)
    assert_same(resumable, slow_halving_undisturbed())


def test_models_that_are_gone_or_damaged_are_trained_again(resumable, tmp_path):  # row 43
    states = Path(resumable.checkpoint_dir, "states")
    files = sorted(states.iterdir())
    assert len(files) >= 4
    (tmp_path / "elsewhere").write_bytes(b"malicious")
    for number, file in enumerate(files):
        content = file.read_bytes()
        file.unlink()
        if number % 4 == 1:
            file.write_bytes(content[:-10])
        elif number % 4 == 2:
            file.write_bytes(content[:-10] + b"0123456789")
        elif number % 4 == 3:
            file.symlink_to(tmp_path / "elsewhere")
    Path(resumable.checkpoint_dir).chmod(0o770)
    with pytest.raises(PermissionError, match="can be changed by other users"):
        resumable.fit(X, Y)
    Path(resumable.checkpoint_dir).chmod(0o700)
    with pytest.warns(UserWarning, match="trained again"):
        resumable.fit(X, Y)
    assert_same(resumable, slow_halving_undisturbed())


@contextmanager
def small_files(n_bytes):
    """A context in which no file of this process can be larger."""
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    end_idle_workers()  # those that are started now have the same limit
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        end_idle_workers()


@pytest.mark.few(1)
@pytest.mark.slow
def test_a_full_disk_costs_the_checkpoint_and_not_the_search(tmp_path):  # row 44
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError):
        random_search(checkpoint_dir=tmp_path / "file").fit(X, Y)
    log = tmp_path / "log"
    # Each candidate takes 10,000 bytes of the journal.
    space = [{"quality": [q], "ballast": ["x" * 10_000]} for q in (0.1, 0.2, 0.3, 0.4)]
    search = random_search(Fake(log=str(log)), space, checkpoint_dir=tmp_path / "checkpoint")
    with small_files(36_000):
        fit_with_one_warning(search, "cannot be written.*The search continues", UserWarning)
    expected = random_search(Fake(), space, n_jobs=1).fit(X, Y)
    assert_same(search, expected)
    assert len(trainings(log)) == 8
    fit_with_one_warning(search, "were removed", UserWarning)
    assert_same(search, expected)
    assert len(trainings(log)) <= 8 + 6  # one was noted at least


@pytest.mark.whole
@pytest.mark.slow
def test_copies_can_be_made_at_any_time_and_search_as_well(engine, tmp_path):  # row 45
    search = slow_halving(tmp_path)

    def fit():
        with engine.context():
            search.fit(X, Y)

    def copies():
        return [
            pickle.loads(pickle.dumps(search)),
            cloudpickle.loads(cloudpickle.dumps(search)),
            copy.deepcopy(search),
            clone(search),
        ]

    copies()
    thread = threading.Thread(target=fit)
    thread.start()
    n_copies = 0
    while thread.is_alive():
        n_copies += len(copies())
    thread.join()
    assert n_copies > 4
    assert len(pickle.dumps(search)) < 30_000
    for other in copies()[:3]:
        np.testing.assert_array_equal(other.predict(X), search.predict(X))
        assert_same(other.fit(X, Y), search)


@pytest.mark.few(1)
@pytest.mark.slow
def test_a_second_fit_is_fresh_or_takes_all_from_its_directory(tmp_path):  # row 46
    search = random_search(Fake(log=str(tmp_path / "log")), FEW)
    history = search.fit(X, Y).history_
    assert search.fit(X, Y).history_ is not history
    assert len(trainings(tmp_path / "log")) == 2 * 4 * 2
    search.set_params(checkpoint_dir=tmp_path / "checkpoint").fit(X, Y)
    first = copy.deepcopy(search)
    assert_same(search.fit(X, Y), first)
    assert len(trainings(tmp_path / "log")) == 3 * 4 * 2
    assert search.best_estimator_.n_calls_ == 1
    search = random_search(SGDClassifier(), {"alpha": [0.1]}, n_iter=1).fit(X, Y)
    assert search.fit(X[:, :2], Y).n_features_in_ == 2
