"""An epoch and another one are two epochs, to the bit."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("skorch")

import torch

from sksearch.neural import ConvNetClassifier

pytestmark = pytest.mark.timeout(120)
TRICKS = dict.fromkeys(["shift", "cutout"], 2) | {"dropout": 0.2, "ema_decay": 0.9}


def quick(**params):
    return ConvNetClassifier(
        n_filters=4, n_stages=2, max_epochs=1, batch_size=30, device="cpu", random_state=0
    ).set_params(**params)


def everything(net):
    """Weights, running means, momenta and moving averages."""
    state = net.net_.optimizer_.state_dict()["state"]
    momenta = [value["momentum_buffer"] for value in state.values()]
    return [*net.net_.module_.state_dict().values(), *momenta, *(net.net_.average_ or ())]


def assert_same(a, b):
    assert len(everything(a)) == len(everything(b))
    for left, right in zip(everything(a), everything(b), strict=True):
        assert torch.equal(left, right)
    losses = [[row["train_loss"] for row in net.net_.history] for net in (a, b)]
    assert losses[0] == losses[1]


def test_each_family_continues_exactly(make, images):
    at_once = make(max_epochs=4).partial_fit(*images)
    in_steps = make(max_epochs=1).partial_fit(*images)
    in_steps = pickle.loads(pickle.dumps(in_steps)).set_params(max_epochs=2)
    in_steps.partial_fit(*images).set_params(max_epochs=1).partial_fit(*images)
    assert in_steps.n_epochs_ == at_once.n_epochs_ == 4
    assert_same(at_once, in_steps)


def test_fit_is_a_partial_fit_that_knows_its_horizon(images):
    net = quick(max_epochs=3, **TRICKS).fit(*images)
    assert_same(net, quick(max_epochs=3, horizon=3, **TRICKS).partial_fit(*images))


def test_fit_begins_again(images):
    net = quick(max_epochs=2).fit(*images)
    assert_same(net, copy.deepcopy(net).fit(*images))


def test_what_another_net_does_meanwhile_changes_nothing(images):
    alone = quick(max_epochs=2, **TRICKS).partial_fit(*images)
    disturbed = quick(**TRICKS).partial_fit(*images)
    quick(random_state=7, **TRICKS).fit(*images)
    torch.manual_seed(0)
    torch.rand(100)
    assert_same(alone, disturbed.partial_fit(*images))


@pytest.mark.whole
def test_another_process_continues_exactly(images, tmp_path):
    net = quick(**TRICKS).partial_fit(*images)
    (tmp_path / "net").write_bytes(pickle.dumps((net, *images)))
    code = f"""
import pickle
from pathlib import Path
folder = Path({str(tmp_path)!r})
net, X, y = pickle.loads((folder / "net").read_bytes())
(folder / "next").write_bytes(pickle.dumps(net.partial_fit(X, y)))
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=100)
    other = pickle.loads((tmp_path / "next").read_bytes())
    assert_same(other, net.partial_fit(*images))


def test_a_state_has_weights_and_momenta_and_little_else(images):
    net = quick(n_filters=32, **TRICKS).partial_fit(*images)
    n_bytes = sum(tensor.nbytes for tensor in everything(net))
    assert len(pickle.dumps(net)) < n_bytes + 200_000


def test_seeds_tell_nets_apart(images):
    a, b = (quick(random_state=seed).fit(*images) for seed in (0, 1))
    assert not np.array_equal(a.predict_proba(images[0]), b.predict_proba(images[0]))
    np.random.seed(3)
    a = quick(random_state=None).fit(*images)
    np.random.seed(3)
    assert_same(a, quick(random_state=None).fit(*images))


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("constant", [0, 1, 1, 1, 1]),
        ("cosine", [0, 1, 0.75, 0.25, 0]),
        ("one_cycle", [0, 1 / 1.2, 2 / 2.8, 1 / 2.8, 0]),
    ],
)
def test_schedules_are_functions_of_the_epoch(schedule, expected):
    from sksearch.neural._training import Recipe

    recipe = Recipe(1.0, 10, schedule, 4, "fp32", False, warmup=1.0)
    assert [recipe.rate(t) for t in range(5)] == pytest.approx(expected)


def test_the_rate_follows_the_schedule_over_calls(images):
    net = quick(schedule="one_cycle", horizon=2, batch_size=100, learning_rate=1.0)
    seen = []
    for _ in range(2):
        net.partial_fit(*images)
        seen.append(net.net_.optimizer_.param_groups[0]["lr"])
    assert seen == pytest.approx([(2 - 0.75) / 1.4, (2 - 1.75) / 1.4])


def test_a_schedule_without_its_horizon_is_refused(images):
    with pytest.raises(ValueError, match="set horizon to the number of epochs over all calls"):
        quick(schedule="cosine").partial_fit(*images)
    assert quick(schedule="auto").partial_fit(*images).horizon_ is None  # a constant rate


def test_no_epoch_comes_after_the_horizon(images):
    net = quick(schedule="cosine", horizon=1).partial_fit(*images)
    with pytest.raises(ValueError, match="ends after horizon=1 epochs"):
        net.partial_fit(*images)
