"""The same on a GPU: nothing stays there, and full memory harms nobody."""

import pickle
import warnings

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("skorch")

import torch

from sksearch import HyperbandSearchCV, RandomSearchCV
from sksearch.neural import BlockConvNetClassifier, ConvNetClassifier

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.timeout(280),
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU"),
]


def quick(**params):
    return ConvNetClassifier(
        n_filters=8, n_stages=2, max_epochs=2, batch_size=50, random_state=0
    ).set_params(**params)


def allocated():
    torch.cuda.synchronize()
    return torch.cuda.memory_allocated()


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


def test_the_first_weights_and_the_order_of_images_are_those_of_the_cpu(images):
    nets = [
        quick(device=device, precision="fp32", shift=1, cutout=2).fit(*images)
        for device in ("cpu", "cuda")
    ]
    losses = [[row["train_loss"] for row in net.net_.history] for net in nets]
    assert losses[0] == pytest.approx(losses[1], rel=0.02)


def test_training_goes_on_on_another_device(images):
    at_once = quick(device="cpu", max_epochs=4).partial_fit(*images)
    moved = quick(device="cuda", precision="fp32").partial_fit(*images)
    moved = pickle.loads(pickle.dumps(moved)).set_params(device="cpu").partial_fit(*images)
    losses = [[row["train_loss"] for row in net.net_.history] for net in (at_once, moved)]
    assert losses[0] == pytest.approx(losses[1], rel=0.05)


@pytest.mark.parametrize("precision", ["fp32", "bf16", "fp16"])
def test_epochs_in_two_calls_are_those_of_one(precision, images):
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


def test_full_memory_is_freed_and_named(images):
    before = allocated()
    hungry = BlockConvNetClassifier(n_blocks=1, head=(200_000, 200_000), random_state=0)
    with pytest.raises(MemoryError):
        hungry.set_params(batch_size=4_096).fit(*images)
    assert allocated() == before
    assert quick(batch_size=10).fit(*images).score(*images) > 0.85


def test_twenty_candidates_without_memory_harm_nobody(images):
    free, _ = torch.cuda.mem_get_info()
    width = int((free / 4) ** 0.5)  # of a layer whose weights alone fill the GPU
    space = [
        {"head": [(width, width, 8 + i) for i in range(20)]},
        {"head": [(8,)]},
    ]
    net = BlockConvNetClassifier(n_blocks=1, n_filters=4, max_epochs=2, random_state=0)
    before = allocated()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = RandomSearchCV(net, space, n_iter=21, cv=2, refit=False).fit(*images)
    statuses = sorted(search.statuses_)
    assert statuses == ["memory"] * 20 + ["ok"]
    assert allocated() == before


def test_a_search_leaves_the_gpu_as_it_was(images):
    before = allocated()
    search = HyperbandSearchCV(
        quick(), {"learning_rate": [0.01, 0.1], "n_filters": [4, 8, 16]}, resource="epochs",
        max_resources=3, cv=2, random_state=0,
    ).fit(*images)  # fmt: skip
    assert set(search.statuses_) == {"ok"}
    assert allocated() == before


def test_a_net_is_compiled(images):
    net = quick(compile=True, batch_size=10).fit(*images)
    assert np.isfinite(net.predict_proba(images[0])).all()
