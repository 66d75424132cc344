"""CUDA devices: each worker process sees its own, and what cannot give it says so."""

import os
import random
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator

from sksearch import RandomSearchCV, SuccessiveHalvingSearchCV
from sksearch._utils._compat import cloudpickle
from sksearch._utils._seeds import generator_states, seeded, set_generator_states
from sksearch.base._resource import FIT_CONTEXTS
from sksearch.estimators import Family
from sksearch.estimators._family import families, registered_for_now
from sksearch.executors import FuturesBackend, VirtualClock
from sksearch.executors._base import TaskEnvironment
from sksearch.executors._factory import make_executor
from sksearch.executors.local import _devices
from sksearch.executors.local._devices import VARIABLE, device_locks, visible_devices
from sksearch.executors.local._worker import free_gpu_memory
from sksearch.fitting.run._ancestry import Stage
from sksearch.fitting.run._evaluation import seeds_of
from sksearch.search import EngineLostError

cloudpickle.register_pickle_by_value(sys.modules[__name__])
pytestmark = [
    pytest.mark.timeout(120),
    pytest.mark.skipif(os.name == "nt", reason="signals of Unix"),
]
UUID = "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6"
X, Y = np.zeros((8, 1)), np.arange(8.0)
ONE_SPLIT = [(np.arange(4), np.arange(4, 8))]


@pytest.fixture
def machine(monkeypatch):
    """Tells this process how many devices there are, and which of them it sees."""

    def tell(count=0, visible=None, has_driver=True):
        monkeypatch.setattr(_devices, "_count_devices", lambda: count)
        monkeypatch.setattr(_devices, "_has_driver", lambda: has_driver)
        if visible is None:
            monkeypatch.delenv(VARIABLE, raising=False)
        else:
            monkeypatch.setenv(VARIABLE, visible)

    tell()
    return tell


def look(context, task, environment):
    """Say which process this is and what it sees, or die."""
    if task == "die":
        os._exit(1)
    time.sleep(task)
    return os.getpid(), os.environ.get(VARIABLE)


def workers(n_jobs, devices, *before):
    """What each worker sees, by its process, after some other tasks."""
    with make_executor(look, None, n_jobs, "all", devices=devices) as executor:
        for task in before:
            executor.submit(task).result()
        return dict(f.result() for f in [executor.submit(0.3) for _ in range(n_jobs)])


class Looks(BaseEstimator):
    """Its score is the number of the device that it sees."""

    def __init__(self, x=0):
        self.x = x

    def fit(self, X, y=None):
        return self

    partial_fit = fit

    def score(self, X, y=None):
        time.sleep(0.1)
        return int(os.environ[VARIABLE])


def search(**params):
    return RandomSearchCV(
        Looks(), {"x": list(range(8))}, n_iter=8, cv=ONE_SPLIT, refit=False
    ).set_params(**params)


# ---- what workers see; few of them, since each takes a second to start


@pytest.mark.whole
@pytest.mark.slow
@pytest.mark.usefixtures("machine")
def test_each_worker_sees_its_own_device_and_its_substitute_the_same():
    first = workers(2, [0, 1])
    assert sorted(first.values()) == ["0", "1"]
    second = workers(2, [0, 1], "die")
    assert len(first.keys() & second.keys()) == 1
    assert sorted(second.values()) == ["0", "1"]
    assert VARIABLE not in os.environ


@pytest.mark.slow
def test_by_default_workers_share_all_devices_that_this_process_sees(machine):
    machine(visible="0,1")
    assert sorted(workers(2, None).values()) == ["0", "1"]
    assert workers(1, None) == {os.getpid(): "0,1"}


@pytest.mark.whole
@pytest.mark.slow
@pytest.mark.usefixtures("machine")
def test_one_worker_with_a_device_is_a_process_that_is_kept_for_this_device():
    [(pid, visible)] = workers(1, [1, 0]).items()
    assert pid != os.getpid()
    assert visible == "1"
    assert not workers(1, [0]).keys() & {pid}
    assert workers(1, ("1",)) == {pid: "1"}


@pytest.mark.slow
@pytest.mark.usefixtures("machine")
def test_a_search_trains_its_candidates_on_the_devices():
    for n_jobs, backend, seen in ((2, "loky", {0, 1}), (1, "loky", {1}), (2, "threading", {0, 1})):
        with joblib.parallel_config(backend, n_jobs=n_jobs):
            fitted = search(workers={"devices": [0, 1][-n_jobs:]}).fit(X, Y)
        assert set(fitted.cv_results_["mean_test_score"]) == seen


@pytest.mark.slow
@pytest.mark.usefixtures("machine")
def test_devices_may_change_when_a_search_continues(tmp_path):
    halving = SuccessiveHalvingSearchCV(
        Looks(), {"x": list(range(8))}, resource="epochs", max_resources=3, n_candidates=3,
        cv=ONE_SPLIT, checkpoint_dir=tmp_path, random_state=0, refit=False,
    )  # fmt: skip
    first = halving.set_params(workers__devices=[1]).fit(X, Y).cv_results_["mean_test_score"]
    again = halving.set_params(workers__devices=[0]).fit(X, Y).cv_results_["mean_test_score"]
    assert set(first) == set(again) == {1}


class Greedy(BaseEstimator):
    """Takes a part of a memory of 1 that its neighbours use as well: a file for each of them."""

    def __init__(self, size=0.1, folder=None):
        self.size, self.folder = size, folder

    def fit(self, X, y=None):
        mine = Path(self.folder) / f"{os.getpid()}-{self.size}"
        mine.touch()
        try:
            time.sleep(0.15)
            if sum(float(p.name.split("-")[1]) for p in Path(self.folder).iterdir()) > 1:
                raise MemoryError
        finally:
            mine.unlink()
        return self

    def score(self, X, y=None):
        return self.size


@pytest.mark.slow
@pytest.mark.usefixtures("machine")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.filterwarnings("ignore:One or more of the test scores:UserWarning")
def test_who_lacks_the_memory_that_a_neighbour_has_gets_it_alone(tmp_path):
    sizes = [0.6, 0.61, 0.62, 0.63, 1.5, 0.64]
    greedy = RandomSearchCV(
        Greedy(folder=str(tmp_path)), {"size": sizes}, n_iter=6, cv=ONE_SPLIT, refit=False,
        n_jobs=2, workers={"devices": [0]},
    ).fit(X, Y)  # fmt: skip
    by_size = dict(zip(greedy.cv_results_["param_size"], greedy.statuses_, strict=True))
    assert by_size == {size: "memory" if size > 1 else "ok" for size in sizes}
    with pytest.raises(MemoryError):
        greedy.set_params(error_score="raise").fit(X, Y)


class Full(BaseEstimator):
    """A memory that is too small, whoever else is there; it keeps a log."""

    def __init__(self, size=0, log=None):
        self.size, self.log = size, log

    def fit(self, X, y=None):
        with open(self.log, "a") as file:
            file.write(f"begins {self.size}\n")
        time.sleep(0.05)
        with open(self.log, "a") as file:
            file.write(f"ends {self.size}\n")
        if self.size:
            raise type("OutOfMemoryError", (RuntimeError,), {})("CUDA out of memory.")
        return self

    def score(self, X, y=None):
        return 1.0


@pytest.mark.whole
@pytest.mark.slow
@pytest.mark.usefixtures("machine")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.filterwarnings("ignore:One or more of the test scores:UserWarning")
def test_twenty_that_find_no_memory_are_tried_again_alone(tmp_path):
    log = tmp_path / "log"
    full = RandomSearchCV(
        Full(log=str(log)), {"size": list(range(21))}, n_iter=21, cv=ONE_SPLIT, refit=False,
        n_jobs=2, workers={"devices": [0]},
    ).fit(X, Y)  # fmt: skip
    by_size = dict(zip(full.cv_results_["param_size"], full.statuses_, strict=True))
    assert by_size == {size: "memory" if size else "ok" for size in range(21)}
    lines = log.read_text().splitlines()
    for size in range(1, 21):
        begin = [i for i, line in enumerate(lines) if line == f"begins {size}"]
        assert len(begin) == 2
        assert lines[begin[1] + 1] == f"ends {size}"  # nobody began in between


class Sticky(BaseEstimator):
    """After an error of CUDA nothing works in its process any more."""

    is_broken = False

    def __init__(self, x=0, text="CUDA error: device-side assert triggered"):
        self.x, self.text = x, text

    def fit(self, X, y=None):
        if self.x == 3 or getattr(os, "_sticky", False):
            os._sticky = True  # of this process
            raise RuntimeError(f"{self.text}\nCompile with TORCH_USE_CUDA_DSA")
        return self

    def score(self, X, y=None):
        return self.x


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.filterwarnings("ignore:One or more of the test scores:UserWarning")
class TestAnErrorThatBreaksTheGpuOfAProcess:
    @pytest.mark.few(1)
    @pytest.mark.slow
    @pytest.mark.usefixtures("machine")
    @pytest.mark.parametrize("params", [{"n_jobs": 2}, {"workers": {"devices": [0]}}], ids=str)
    def test_costs_one_candidate(self, params):
        fitted = search(estimator=Sticky(), **params).fit(X, Y)
        found = dict(zip(fitted.cv_results_["param_x"], fitted.statuses_, strict=True))
        assert found == {x: "crash" if x == 3 else "ok" for x in range(8)}
        assert "device-side assert" in fitted.errors_[fitted.statuses_.index("crash")]

    def test_ends_a_search_of_this_process(self, monkeypatch):
        monkeypatch.setattr(os, "_sticky", False, raising=False)
        broken = search(estimator=Sticky())
        with pytest.raises(EngineLostError, match=r"without a working GPU.*devices"):
            broken.fit(X, Y)
        assert set(getattr(broken, "statuses_", ["ok"])) == {"ok"}


class FakeTorch:
    """What a process with a GPU has."""

    def __init__(self, in_use=True):
        self.calls, self.states = [], ["first", "second"]
        self.cuda = self
        self.is_initialized = lambda: in_use
        self.get_rng_state = lambda: "here"
        self.get_rng_state_all = lambda: list(self.states)
        self.device_count = lambda: 2
        self.empty_cache = lambda: self.calls.append("empty")
        self.manual_seed = lambda seed: self.states.__setitem__(slice(None), [seed, seed])

    def set_rng_state(self, state, device=None):
        if device is not None:
            self.states[device] = state


@pytest.mark.parametrize("in_use", [True, False])
def test_memory_is_given_back_where_a_gpu_is_in_use(in_use, monkeypatch):
    torch = FakeTorch(in_use)
    monkeypatch.setitem(sys.modules, "torch", torch)
    free_gpu_memory()
    assert torch.calls == ["empty"] * in_use


def test_the_gpu_of_a_mac_is_treated_like_others(monkeypatch):
    torch, mac = FakeTorch(in_use=False), FakeTorch()
    mac.is_available, mac.get_rng_state = lambda: True, lambda: mac.states[0]
    mac.set_rng_state = lambda state: mac.states.__setitem__(0, state)
    torch.mps, torch.backends = mac, SimpleNamespace(mps=mac)
    torch.manual_seed = mac.manual_seed
    monkeypatch.setitem(sys.modules, "torch", torch)
    with seeded(1, 2):
        assert mac.states[0] != "first"
    assert mac.states[0] == "first"
    free_gpu_memory()
    assert mac.calls == ["empty"]


@pytest.mark.parametrize("owns_process", [False, True])
def test_only_a_process_of_our_own_keeps_the_seed_of_a_task(owns_process):
    context, last, lost = SimpleNamespace(seed=0), Stage(3, {}, 9), Stage(3, {}, 1)
    environment = TaskEnvironment(owns_process=owns_process)
    before = generator_states()
    try:
        with seeds_of(context, last, 0, environment):
            first = np.random.random(), random.random()
        assert (random.getstate() != before["python"]) == owns_process
        assert (np.random.get_state()[1] != before["numpy"][1]).any() == owns_process
        with seeds_of(context, last, 0, environment):
            with seeds_of(context, lost, 0, environment, nested=True):  # trained again
                assert (np.random.random(), random.random()) != first
            assert (np.random.random(), random.random()) == first
    finally:
        set_generator_states(before)


def test_a_fit_enters_the_contexts_of_families_that_have_one():
    with registered_for_now(Family()):
        entered = {type(context.__self__).training for context in FIT_CONTEXTS}
    assert entered == {type(family).training for family in families()} - {Family.training}


def test_generators_of_gpus_are_what_they_were(monkeypatch):
    torch = FakeTorch()
    monkeypatch.setitem(sys.modules, "torch", torch)
    with seeded(1, 2):
        assert torch.states == [torch.states[0]] * 2 != ["first", "second"]
    assert torch.states == ["first", "second"]


@pytest.mark.parametrize(
    ("visible", "count", "groups"),
    [
        (("0", "1", "0", "2"), 0, "ABAC"),
        ((None, None), 1, "AA"),
        ((None, None), 0, "--"),
        (("", ""), 1, "--"),
        (("0", "0,1", "1", "2"), 0, "AAAB"),
        (("0,1", "2,3", "3"), 0, "ABB"),
        ((UUID, "1", "0"), 2, "AAB"),
        ((UUID[:12], "0,1", "0"), 2, "AAA"),
        ((UUID, UUID), 0, "AA"),
        ((None, "0"), 1, "AA"),
        ((None,), 1, "-"),
    ],
)
def test_workers_on_the_same_device_have_the_same_lock(
    visible, count, groups, machine, monkeypatch
):
    machine(count)
    monkeypatch.setattr(_devices, "_uuids", lambda: ["GPU-0000", UUID][:count])
    found = device_locks(visible)
    letters = dict(zip(map(id, found), groups, strict=True))
    alone = {letter for letter in groups if groups.count(letter) == 1}
    for each, letter in zip(found, groups, strict=True):
        assert (each is None) == (letter in alone or letter == "-")
        assert each is None or letters[id(each)] == letter


# ---- names of devices


@pytest.mark.parametrize(
    ("visible_here", "devices", "expected"),
    [
        (None, [0, 1], ("0", "1", "0")),
        (None, [np.int64(1), "0"], ("1", "0", "1")),
        ("2,3", [0, 1], ("2", "3", "2")),
        ("2, 3", [1, 1, 0], ("3", "3", "2")),
        (f"1,{UUID}", [1], (UUID,) * 3),
        ("2,3", [UUID], (UUID,) * 3),
        ("4,5,6,7", ["0,1", "2, 3"], ("4,5", "6,7", "4,5")),
        ("2,3,-1,4", None, ("2", "3", "2")),
        ("2", None, ("2",) * 3),
        ("", None, ("",) * 3),
        (None, None, (None,) * 3),
    ],
)
def test_numbers_count_the_devices_that_this_process_sees(
    visible_here, devices, expected, machine
):
    machine(visible=visible_here)
    assert visible_devices(devices, 3) == expected


def test_without_the_variable_the_driver_counts(machine):
    machine(count=2)
    assert visible_devices(None, 3) == ("0", "1", "0")
    assert visible_devices(None, 1) == (None,)
    machine(count=1)
    assert visible_devices(None, 3) == (None,) * 3


@pytest.mark.parametrize(("fails", "count"), [((), 2), (("init",), 0), (("count",), 0)])
def test_the_driver_is_asked_without_cuda(fails, count, monkeypatch):
    class Library:
        """Of which NVIDIA's has more."""

        is_open = False

        def nvmlInit_v2(self):  # noqa: N802
            self.is_open = True
            return int("init" in fails)

        def nvmlDeviceGetCount_v2(self, reference):  # noqa: N802
            reference._obj.value = 2
            return int("count" in fails)

        def nvmlShutdown(self):  # noqa: N802
            self.is_open = False

    library = Library()
    monkeypatch.setattr(_devices.ctypes, "CDLL", lambda name: library)
    assert _devices._count_devices.__wrapped__() == count
    assert library.is_open == ("init" in fails)


def test_a_machine_without_a_driver_has_no_devices(monkeypatch):
    def missing(name):
        raise OSError(name)

    monkeypatch.setattr(_devices.ctypes, "CDLL", missing)
    assert _devices._count_devices.__wrapped__() == 0


@pytest.mark.parametrize(
    ("devices", "match"),
    [
        ([], r"devices.*=\[\] contains no device"),
        (
            [0, 2],
            r"contains 2, but this process sees 2 CUDA devices \(CUDA_VISIBLE_DEVICES='6,7'\)",
        ),
        (["0,2"], "contains '2', but"),
        ([-1], "contains -1: an entry must be the number of a CUDA device"),
        (["cuda:0"], "contains 'cuda:0': an entry must be the number"),
        ([True], "contains True"),
        ([0.0], "contains 0.0"),
        ([None], "contains None"),
        ([""], "contains ''"),
        (0, "devices.* parameter of RandomSearchCV must be"),
    ],
)
def test_an_invalid_device_is_refused_before_anything_is_spent(devices, match, machine):
    machine(visible="6,7")
    with pytest.raises(ValueError, match=match):
        search(workers={"devices": devices}, n_jobs=2).fit(X, Y)


def test_a_number_is_compared_with_what_the_driver_counts(machine):
    machine(count=1)
    with pytest.raises(
        ValueError, match=r"contains 1, but this process sees 1 CUDA devices, numbered"
    ):
        search(workers={"devices": [1]}).plan(X, Y)


@pytest.mark.usefixtures("machine")
def test_engines_that_give_devices_themselves_are_named():
    with VirtualClock(), pytest.raises(ValueError, match="runs on VirtualClock"):
        search(workers={"devices": [0]}).plan(X, Y)
    with (
        ThreadPoolExecutor(1) as pool,
        joblib.parallel_config(FuturesBackend(pool)),
        pytest.raises(ValueError, match="runs on FuturesBackend: leave it out"),
    ):
        search(workers={"devices": [0]}).fit(X, Y)
