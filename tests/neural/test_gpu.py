"""The same on a GPU: nothing stays there, and full memory harms nobody."""

import gc
import pickle
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("skorch")

import torch

from sksearch import HyperbandSearchCV, RandomSearchCV
from sksearch.executors import end_idle_workers
from sksearch.executors.local import _devices
from sksearch.neural import BlockConvNetClassifier, ConvNetClassifier
from tests.neural.test_search import fit_quietly

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.timeout(280),
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU"),
]


HALVES = [(np.arange(100), np.arange(100, 200))]
A_FEW = 64e3  # bytes that PyTorch may keep when it ran out of memory in the middle
LITTLE = 64e6  # bytes that the driver may need or not need for itself


def quick(**params):
    return ConvNetClassifier(
        n_filters=8, n_stages=2, max_epochs=2, batch_size=50, random_state=0
    ).set_params(**params)


@pytest.fixture(scope="module", autouse=True)
def warm(images):
    """The libraries' own memory, which is theirs for good, is not what is looked at."""
    if torch.cuda.is_available():
        for precision in ("fp32", "bf16", "fp16"):
            quick(precision=precision).fit(*images)


def allocated():
    """Bytes of tensors on the GPU, of this process."""
    gc.collect()
    torch.cuda.synchronize()
    return torch.cuda.memory_allocated()


def free():
    """Bytes that nobody uses on the GPU, when all that can be given back is given back."""
    end_idle_workers()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    return torch.cuda.mem_get_info()[0]


def tensors(net):
    module, optimizer = net.net_.module_, net.net_.optimizer_
    states = [t for state in optimizer.state.values() for t in state.values()]
    return [*module.state_dict().values(), *filter(torch.is_tensor, states)]


def test_auto_takes_the_gpu_and_each_family_learns(make, images):
    net = make(device="auto", precision="auto").set_params(batch_size=10, max_epochs=4)
    assert net.fit(*images).score(*images) > 0.85


@pytest.mark.parametrize("precision", ["fp32", "bf16", "fp16"])
def test_nothing_stays_on_the_gpu_between_calls(precision, images):
    before = allocated()
    net = quick(precision=precision, ema_decay=0.9, shift=1).partial_fit(*images)
    net.predict(images[0])
    assert {tensor.device.type for tensor in tensors(net)} == {"cpu"}
    assert allocated() == before


def test_the_first_weights_and_the_order_of_images_match_the_cpu(images):
    nets = [
        quick(device=device, precision="fp32", shift=1, cutout=2).fit(*images)
        for device in ("cpu", "cuda")
    ]
    losses = [[row["train_loss"] for row in net.net_.history] for net in nets]
    assert losses[0] == pytest.approx(losses[1], rel=0.02)


def test_training_continues_on_another_device(images):
    at_once = quick(device="cpu", max_epochs=4).partial_fit(*images)
    moved = quick(device="cuda", precision="fp32").partial_fit(*images)
    moved = pickle.loads(pickle.dumps(moved)).set_params(device="cpu").partial_fit(*images)
    losses = [[row["train_loss"] for row in net.net_.history] for net in (at_once, moved)]
    assert losses[0] == pytest.approx(losses[1], rel=0.05)


@pytest.mark.parametrize("precision", ["fp32", "bf16", "fp16"])
def test_epochs_in_two_calls_match_one(precision, images):
    params = {"precision": precision, "dropout": 0.2, "ema_decay": 0.9}
    at_once = quick(max_epochs=2, **params).partial_fit(*images)
    in_steps = quick(max_epochs=1, **params).partial_fit(*images)
    in_steps = pickle.loads(pickle.dumps(in_steps)).partial_fit(*images)
    losses = [[row["train_loss"] for row in net.net_.history] for net in (at_once, in_steps)]
    assert losses[0] == pytest.approx(losses[1], rel=0.02)


def test_data_that_do_not_fit_are_sent_batch_by_batch(images, monkeypatch):
    whole = quick(precision="fp32").fit(*images)
    monkeypatch.setattr("sksearch.neural._images.SHARE_OF_MEMORY", 0.0)
    sent = quick(precision="fp32").fit(*images)
    losses = [[row["train_loss"] for row in net.net_.history] for net in (whole, sent)]
    assert losses[0] == pytest.approx(losses[1], rel=0.02)


@pytest.fixture
def small_gpu():
    """Gives this process a fifth of a gigabyte of the GPU; the CPU has room for more than that."""
    total = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.empty_cache()
    torch.cuda.set_per_process_memory_fraction(0.2e9 / total)
    yield
    torch.cuda.set_per_process_memory_fraction(1.0)


def hungry(**params):
    """A net whose weights need a quarter of a gigabyte."""
    return BlockConvNetClassifier(
        n_blocks=1, n_filters=4, head=(8_000, 8_000), max_epochs=2, random_state=0
    ).set_params(**params)


@pytest.mark.usefixtures("small_gpu")
def test_full_memory_is_freed_and_named(images):
    before = allocated()
    with pytest.raises(MemoryError, match="CUDA out of memory"):
        hungry().fit(*images)
    assert abs(allocated() - before) < A_FEW
    assert quick(batch_size=10).fit(*images).score(*images) > 0.85


@pytest.mark.usefixtures("small_gpu")
def test_twenty_candidates_without_memory_harm_no_other(images):
    space = [
        {"head": [(8_000, 8_000, 8 + i) for i in range(20)]},
        {"head": [(8,)]},
    ]
    before = allocated()
    search = fit_quietly(
        RandomSearchCV(hungry(), space, n_iter=21, cv=HALVES, refit=False), images
    )
    assert sorted(search.statuses_) == ["memory"] * 20 + ["ok"]
    assert abs(allocated() - before) < A_FEW


def test_a_search_leaves_the_gpu_as_it_was(images):
    before = allocated()
    search = HyperbandSearchCV(
        quick(), {"learning_rate": [0.01, 0.1], "n_filters": [4, 8, 16]}, resource="epochs",
        max_resources=3, cv=2, random_state=0,
    ).fit(*images)  # fmt: skip
    assert set(search.statuses_) == {"ok"}
    assert allocated() == before


@pytest.mark.filterwarnings("ignore::DeprecationWarning:torch")  # of its compiler
def test_a_net_is_compiled(images):
    net = quick(compile=True, batch_size=10).fit(*images)
    assert np.isfinite(net.predict_proba(images[0])).all()


# ---- several processes on one GPU


def test_the_driver_counts_the_gpus_that_pytorch_counts(monkeypatch):
    monkeypatch.delenv(_devices.VARIABLE, raising=False)
    code = "import torch; print(torch.cuda.device_count())"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert _devices._count_devices() == int(out.stdout)


def test_processes_share_a_gpu_and_leave_it_as_it_was(images):
    before = free()
    search = HyperbandSearchCV(
        quick(), {"learning_rate": [0.05, 0.1], "n_filters": [4, 8, 16]}, resource="epochs",
        max_resources=9, cv=HALVES, random_state=0, refit=False, n_jobs=3,
        workers={"devices": [0]},
    ).fit(*images)  # fmt: skip
    assert set(search.statuses_) == {"ok"}
    assert search.best_score_ > 0.8
    assert torch.cuda.mem_get_info()[0] < before  # idle workers are still there
    assert free() > before - LITTLE


def test_a_candidate_without_memory_harms_no_neighbour(images):
    rng = np.random.default_rng(0)
    X = np.repeat(rng.integers(256, size=(34, 512, 512, 1), dtype=np.uint8), 3, axis=3)
    y = np.arange(34) % 2
    net = BlockConvNetClassifier(
        n_blocks=3, head=(8,), separable=True, batch_size=30, max_epochs=1, precision="fp32"
    )
    # What 30 double layers hand on is 240 GB, with few weights.
    space = [
        {"n_layers": [30], "n_filters": [128], "learning_rate": [1e-5, 2e-5, 3e-5]},
        {"n_layers": [1], "n_filters": [4], "learning_rate": [1e-5, 2e-5, 3e-5]},
    ]
    before = free()
    search = fit_quietly(
        RandomSearchCV(
            net, space, n_iter=6, cv=[(np.arange(30), np.arange(30, 34))], refit=False,
            random_state=0, n_jobs=2, workers={"devices": [0]},
        ),
        (X, y),
    )  # fmt: skip
    params = search.cv_results_["params"]
    assert search.statuses_ == ["memory" if p["n_layers"] == 30 else "ok" for p in params]
    assert free() > before - LITTLE


def test_what_a_neighbour_has_is_lacking_but_named(images):
    hog = torch.empty(int(free() - 3e9), dtype=torch.uint8, device="cuda")
    X, y = np.zeros((34, 512, 512), dtype=np.uint8), np.arange(34) % 2
    net = BlockConvNetClassifier(n_layers=20, n_filters=64, head=(8,), batch_size=30, max_epochs=1)
    with pytest.raises(MemoryError):
        net.set_params(n_blocks=3, precision="fp32").fit(X, y)
    assert quick(batch_size=10).fit(*images).score(*images) > 0.85
    # What is kept for the next call is little where little is left.
    assert torch.cuda.memory_reserved() - hog.numel() < 0.1 * 3e9
    del hog


def test_data_for_which_another_process_left_no_room_are_sent_batch_by_batch(images, monkeypatch):
    whole = quick(precision="fp32").fit(*images)

    def too_late(self):
        raise torch.cuda.OutOfMemoryError

    monkeypatch.setattr("sksearch.neural._images.Images._upload", too_late)
    sent = quick(precision="fp32").fit(*images)
    losses = [[row["train_loss"] for row in net.net_.history] for net in (whole, sent)]
    assert losses[0] == pytest.approx(losses[1], rel=0.02)
