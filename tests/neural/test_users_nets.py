"""Nets of skorch as their owners wrote them: trained rung by rung, they are the same nets."""

import json
import pickle
import sys
import warnings
from functools import partial

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.datasets import make_classification
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sksearch import PBTSearchCV, SuccessiveHalvingSearchCV
from sksearch._utils._compat import cloudpickle
from sksearch.base._state import State
from sksearch.estimators._family import family_of
from sksearch.estimators._pipeline import last_step
from sksearch.estimators._skorch import before_store, wake
from sksearch.fitting.run._states import dump_state, load_state
from sksearch.resources._epochs import EpochsResource, SecondsResource

torch = pytest.importorskip("torch")
skorch = pytest.importorskip("skorch")
from skorch import NeuralNetClassifier, NeuralNetRegressor  # noqa: E402
from skorch.callbacks import (  # noqa: E402
    Callback,
    Checkpoint,
    EarlyStopping,
    EpochScoring,
    GradientNormClipping,
    LoadInitState,
    LRScheduler,
)
from skorch.dataset import ValidSplit  # noqa: E402
from torch import nn  # noqa: E402
from torch.optim import lr_scheduler  # noqa: E402

cloudpickle.register_pickle_by_value(sys.modules[__name__])

X, y = make_classification(64, 4, n_informative=3, n_redundant=0, random_state=0)
X = X.astype("float32")
CLASSES = np.array([0, 1])


class Net(nn.Module):
    """Two layers with dropout."""

    def __init__(self, n_units=5, p=0.2):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(4, n_units), nn.BatchNorm1d(n_units), nn.ReLU(), nn.Dropout(p),
            nn.Linear(n_units, 2), nn.Softmax(dim=-1),
        )  # fmt: skip

    def forward(self, X):
        return self.layers(X)


def classifier(*callbacks, **params):
    params = {"optimizer": torch.optim.SGD, "lr": 0.05, "train_split": None, "batch_size": 16} | {
        "iterator_train__shuffle": True, "verbose": 0, "callbacks": list(callbacks),
    } | params  # fmt: skip
    return NeuralNetClassifier(Net, **params)


def warmup_then_cosine(optimizer, last_epoch=-1):
    """A sequence of schedules, as owners make it."""
    first = lr_scheduler.LinearLR(optimizer, start_factor=0.1, total_iters=2)
    second = lr_scheduler.CosineAnnealingLR(optimizer, T_max=7)
    return lr_scheduler.SequentialLR(optimizer, [first, second], milestones=[2])


def chained(optimizer, last_epoch=-1):
    """Two schedules at a time."""
    return lr_scheduler.ChainedScheduler(
        [lr_scheduler.ConstantLR(optimizer, 0.5, 3), lr_scheduler.ExponentialLR(optimizer, 0.9)]
    )


SCHEDULES = {
    "StepLR": {"step_size": 2, "gamma": 0.5},
    "MultiStepLR": {"milestones": [2, 5], "gamma": 0.1},
    "ExponentialLR": {"gamma": 0.8},
    "ConstantLR": {"factor": 0.3, "total_iters": 4},
    "LinearLR": {"start_factor": 0.2, "total_iters": 6},
    "PolynomialLR": {"total_iters": 8, "power": 2.0},
    "CosineAnnealingLR": {"T_max": 9},
    "CosineAnnealingWarmRestarts": {"T_0": 2, "T_mult": 2},
    "LambdaLR": {"lr_lambda": lambda epoch: 0.9**epoch},
    "MultiplicativeLR": {"lr_lambda": lambda epoch: 0.95},
    "ReduceLROnPlateau": {"patience": 0, "monitor": "train_loss"},
    "CyclicLR": {
        "base_lr": 0.01, "max_lr": 0.1, "step_size_up": 3, "step_every": "batch",
        "cycle_momentum": False,
    },
    "OneCycleLR": {"max_lr": 0.1, "total_steps": 40, "step_every": "batch"},
    "SWALR": {"swa_lr": 0.02, "anneal_epochs": 4},
    "sequence": {"policy": warmup_then_cosine},
    "chain": {"policy": chained},
}  # fmt: skip
HELD = {"LRScheduler", "SequentialLR", "ChainedScheduler"}  # a base, and what holds others


def test_no_schedule_of_torch_is_left_out():
    assert set(lr_scheduler.__all__) <= {*SCHEDULES, *HELD}


OPTIMIZERS = {
    "SGD": {"optimizer": torch.optim.SGD, "optimizer__momentum": 0.9},
    "Adam": {"optimizer": torch.optim.Adam},
}


def schedule(name):
    """The callback of a schedule."""
    params = dict(SCHEDULES[name])
    policy = params.pop("policy", None) or getattr(torch.optim.swa_utils, name, None)
    return LRScheduler(policy=policy or getattr(lr_scheduler, name), **params)


def as_its_owner(net, n_epochs, data=(X, y)):
    """Train by one call of ``fit``."""
    torch.manual_seed(7)
    np.random.seed(7)
    last = last_step(net)
    last.set_params(max_epochs=n_epochs)
    return net.fit(*data)


def by_rungs(net, *rungs, travels=True, data=(X, y)):
    """Train rung by rung, through files if it travels."""
    torch.manual_seed(7)
    np.random.seed(7)
    state, spent = State(net), 0
    for amount in rungs:
        state = EpochsResource().train(state, *data, amount, spent, CLASSES, {})
        before_store(last_step(state.estimator))
        if travels:
            state = load_state(dump_state(state))
            torch.manual_seed(spent)  # what another task leaves behind
        spent = amount
    return state.estimator


def assert_same_net(one, other, atol=0.0):
    """See that two nets have the same weights, optimizers and histories."""
    one, other = last_step(one), last_step(other)
    for left, right in zip(one.module_.parameters(), other.module_.parameters(), strict=True):
        np.testing.assert_array_equal(left.detach().numpy(), right.detach().numpy())
    for column in set(other.history[-1]) - {"dur", "batches"}:
        assert one.history[:, column] == other.history[:, column], column


@pytest.mark.few(20)
@pytest.mark.filterwarnings("ignore:Detected call of `lr_scheduler.step")
@pytest.mark.filterwarnings("ignore:The epoch parameter in `scheduler.step")
@pytest.mark.parametrize("travels", [True, False])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("name", SCHEDULES)
def test_one_epoch_and_one_epoch_are_two_epochs(name, optimizer, travels):
    make = lambda: classifier(schedule(name), **OPTIMIZERS[optimizer])  # noqa: E731
    expected = as_its_owner(make(), 9)
    rates = expected.history[:, "event_lr"] if "batch" not in str(SCHEDULES[name]) else ()
    assert_same_net(by_rungs(make(), 1, 3, 4, 9, travels=travels), expected)
    assert len(set(rates)) != 1


class Noise(Callback):
    """Adds noise to the rate, which begins with the training and is counted."""

    def on_train_begin(self, net, **kwargs):
        self.begun_ = getattr(self, "begun_", 0) + 1
        self.rng_ = np.random.default_rng(0)

    def on_epoch_begin(self, net, **kwargs):
        net.optimizer_.param_groups[0]["lr"] = 0.05 * self.rng_.random()


class Twisted(NeuralNetClassifier):
    """Its owner reads the data, and weighs the loss, in a way of his own."""

    def partial_fit(self, X, y, classes=None, **fit_params):
        return super().partial_fit(X * 2, y, classes=classes, **fit_params)

    def get_loss(self, y_pred, y_true, *args, **kwargs):
        return 0.5 * super().get_loss(y_pred, y_true, *args, **kwargs)


class Single(nn.Module):
    """A linear model."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 1)

    def forward(self, X):
        return self.layer(X)


TEN = {
    "plain": lambda: classifier(),
    "adam and one cycle": lambda: classifier(schedule("OneCycleLR"), **OPTIMIZERS["Adam"]),
    "validation": lambda: classifier(
        schedule("ReduceLROnPlateau"), EpochScoring("f1", name="f1"),
        train_split=ValidSplit(4, stratified=True),
    ),
    "shuffled validation": lambda: classifier(train_split=ValidSplit(0.25)),
    "clipped gradients": lambda: classifier(
        GradientNormClipping(0.1), schedule("StepLR"), optimizer=torch.optim.AdamW
    ),
    "a callback of its own": lambda: classifier(Noise()),
    "a class of its own": lambda: Twisted(
        Net, train_split=None, verbose=0, iterator_train__shuffle=True,
        callbacks=[schedule("CosineAnnealingLR")], max_epochs=3, optimizer=torch.optim.RMSprop,
    ),
    "a pipeline": lambda: make_pipeline(StandardScaler(), classifier(schedule("MultiStepLR"))),
    "batches without a rest": lambda: classifier(
        schedule("sequence"), iterator_train__drop_last=True, batch_size=10,
        optimizer=torch.optim.NAdam,
    ),
    "LBFGS": lambda: classifier(
        schedule("ExponentialLR"), optimizer=torch.optim.LBFGS, module__p=0.0
    ),
}  # fmt: skip
LABELS = {"int32": y.astype("int32"), "bool": y.astype(bool), "uint8": y.astype("uint8")}


@pytest.mark.few(6)
@pytest.mark.parametrize("name", TEN)
def test_ten_nets_of_users_continue_to_the_bit(name):
    expected = as_its_owner(TEN[name](), 6)
    by_three = by_rungs(TEN[name](), 1, 3, 6)
    assert_same_net(by_three, expected)
    assert_same_net(by_rungs(TEN[name](), 6), expected)
    callbacks = dict(last_step(by_three).callbacks_)
    assert getattr(callbacks.get("Noise"), "begun_", 1) == 1


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_any_integers_match_64_bits(kind):
    net = by_rungs(classifier(), 1, 3, data=(X, LABELS[kind]))
    assert_same_net(net, as_its_owner(classifier(), 3))


def test_a_regressor_continues_as_well():
    data = (X, X[:, :1] ** 2)
    make = partial(
        NeuralNetRegressor, Single, train_split=None, verbose=0, callbacks=[schedule("StepLR")]
    )
    assert_same_net(by_rungs(make(), 1, 4, data=data), as_its_owner(make(), 4, data=data))


def search(net, **params):
    """Nine candidates at 1 epoch, 3 at 3, 1 at 9."""
    step = "neuralnetclassifier__" if hasattr(net, "steps") else ""
    space = {f"{step}lr": (np.arange(1, 10) / 100).tolist()}
    params = {"resource": "epochs", "max_resources": 9, "cv": 2, "random_state": 0} | params
    return SuccessiveHalvingSearchCV(net, space, **params)


def assert_same_search(one, other):
    for column in ("mean_test_score", "n_resources", "param_lr"):
        name = next(n for n in one.cv_results_ if n.endswith(column))
        np.testing.assert_array_equal(one.cv_results_[name], other.cv_results_[name])
    assert_same_net(one.best_estimator_, other.best_estimator_)


@pytest.fixture
def one_thread(monkeypatch):
    """Sums of several threads have other last bits; Adam makes much of them at a slope of zero."""
    before = torch.get_num_threads()
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # of workers
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.slow
def test_workers_and_checkpoints_change_nothing(tmp_path, one_thread):
    net = classifier(schedule("OneCycleLR"), **OPTIMIZERS["Adam"])
    alone = search(net, scoring="neg_log_loss").fit(X, y)
    assert_same_search(search(net, scoring="neg_log_loss", n_jobs=2).fit(X, y), alone)
    kept = partial(search, net, scoring="neg_log_loss", checkpoint_dir=tmp_path)
    assert_same_search(kept().fit(X, y), alone)
    assert_same_search(kept().fit(X, y), alone)
    grown = partial(search, net, scoring="neg_log_loss", checkpoint_dir=tmp_path / "grown")
    grown(n_candidates=6).fit(X, y)
    with pytest.warns(UserWarning, match="cannot reuse 6 of the 18"):
        assert_same_search(grown(n_candidates=9).fit(X, y), alone)


def test_the_refit_follows_the_schedule_that_was_scored():
    net = classifier(schedule("StepLR"), callbacks__print_log=None)
    found = search(net, select="top").fit(X, y).best_estimator_
    rates = found.history[:, "event_lr"]
    np.testing.assert_allclose(np.array(rates) / rates[0], 0.5 ** (np.arange(9) // 2))
    assert found.partial_fit(X, y).history[-1, "train_loss"] > 0  # its owner may go on
    assert pickle.loads(pickle.dumps(found)).predict(X).shape == (64,)


def test_seconds_are_one_training_as_well():
    net = classifier(Noise(), schedule("StepLR"))
    state = SecondsResource().train(State(net), X, y, 1, 0, CLASSES, {})
    assert state.n_steps == len(net.history) > 1
    assert dict(net.callbacks_)["Noise"].begun_ == 1
    assert dict(net.callbacks_)["LRScheduler"].lr_scheduler_.last_epoch == state.n_steps


# ---- what is refused, or told


class Averaged(Callback):
    """Notes how often each of its events came."""

    def initialize(self):
        self.began_, self.ended_ = 0, 0
        return self

    def on_train_begin(self, net, **kwargs):
        self.began_ += 1

    def on_train_end(self, net, **kwargs):
        self.ended_ += 1


def test_what_all_candidates_would_begin_with_is_refused():
    for callback in (LoadInitState(Checkpoint(dirname="somewhere")), LoadInitState):
        for estimator in (classifier(callback), make_pipeline(classifier(callback))):
            with pytest.raises(ValueError, match=r"LoadInitState.*same file"):
                search(estimator).fit(X, y)
    with pytest.raises(ValueError, match="LoadInitState"):
        by_rungs(classifier(LoadInitState(Checkpoint())), 1)


def test_a_callback_of_the_end_acts_in_the_refit_and_reports_it():
    net = classifier(Averaged())
    with pytest.warns(UserWarning, match="Averaged, whose on_train_end runs only at the end"):
        found = search(net).fit(X, y)
    ours = dict(found.best_estimator_.callbacks_)["Averaged"]
    assert (ours.began_, ours.ended_) == (1, 1)
    ours = dict(by_rungs(net, 1, 3).callbacks_)["Averaged"]
    assert (ours.began_, ours.ended_) == (1, 0)


def test_files_are_written_by_the_refit_alone(tmp_path):
    written = Checkpoint(monitor="train_loss_best", dirname=str(tmp_path / "nets"))
    by_rungs(classifier(written), 1, 3)
    assert not list((tmp_path / "nets").iterdir())
    found = search(classifier(written), n_jobs=2).fit(X, y)
    assert (tmp_path / "nets" / "params.pt").exists()
    epochs = len(found.best_estimator_.history)
    kept = json.loads((tmp_path / "nets" / "history.json").read_text())
    assert 1 <= len(kept) <= epochs


def test_what_is_not_there_cannot_be_monitored():
    for callback in (EarlyStopping(), Checkpoint(dirname="somewhere")):
        with pytest.raises(ValueError, match=r"monitor='valid_.*train_split=None"):
            search(classifier(callback)).fit(X, y)


def test_a_training_that_has_stopped_early_stays_ended():
    # No loss is lower by the whole of it, so it ends after three epochs.
    stops = EarlyStopping(monitor="train_loss", threshold=1.0, patience=2)
    at_once = classifier(stops)
    at_once.set_params(max_epochs=9)
    torch.manual_seed(0)
    at_once.fit(X, y)
    n = len(at_once.history)
    assert 1 < n < 9
    net = by_rungs(classifier(stops), 1, 2, 6, 9)
    assert len(net.history) == n
    assert family_of(net).epochs.has_ended(net)
    state = SecondsResource().train(State(classifier(stops)), X, y, 60, 0, CLASSES, {})
    assert len(state.estimator.history) == n, "and the rest of the time is not used up"
    found = search(classifier(stops), n_jobs=2, select="top").fit(X, y)
    assert len(found.best_estimator_.history) == n


@pytest.mark.parametrize(
    ("steps", "every", "needed"), [(35, "batch", 36), (8, "epoch", 9)], ids=["batch", "epoch"]
)
def test_a_cycle_that_ends_before_the_refit_does_is_refused_before_anything_is_trained(
    steps, every, needed
):
    def net(n):
        return classifier(
            LRScheduler(lr_scheduler.OneCycleLR, max_lr=0.1, total_steps=n, step_every=every),
            batch_size=16,
        )

    assert len(X) == 64
    with pytest.raises(ValueError, match=f"OneCycleLR of {steps} steps.*total_steps={needed}"):
        search(net(steps)).fit(X, y)
    found = search(net(needed), select="top").fit(X, y)
    assert len(found.best_estimator_.history) == 9
    if every == "batch":  # two folds have half of the rows
        search(net(18), refit=False).fit(X, y)


def test_a_step_that_is_searched_itself_is_not_refused_for_the_schedule_of_another():
    short = classifier(LRScheduler(lr_scheduler.OneCycleLR, max_lr=0.1, total_steps=2))
    pipe = make_pipeline(StandardScaler(), short)
    nets = {"neuralnetclassifier": [classifier(), classifier(max_epochs=3)]}
    args = {"resource": "epochs", "max_resources": 3, "cv": 2, "random_state": 0}
    found = SuccessiveHalvingSearchCV(pipe, nets, n_candidates=2, known={"params": None}, **args)
    assert found.fit(X, y).best_score_ > 0.3


def test_a_callback_that_is_switched_off_is_not_a_reason_to_refuse():
    net = classifier(EarlyStopping(), callbacks__EarlyStopping=None)
    assert len(by_rungs(net, 1, 2).history) == 2


def test_a_split_of_its_own_is_told_where_it_is_the_default():
    net = NeuralNetClassifier(Net, verbose=0)
    with pytest.warns(UserWarning, match="a fifth of each training fold.*train_split=None"):
        EpochsResource().check(net, ["lr"])


class OwnLabels(NeuralNetClassifier):
    """Reads labels in a way of its own."""

    def partial_fit(self, X, y, classes=None, **fit_params):
        return super().partial_fit(X, (y == "yes").astype("int64"), **fit_params)

    def predict(self, X):
        return np.where(super().predict(X) == 1, "yes", "no")


@pytest.mark.parametrize("resource", ["epochs", "n_samples"])
def test_labels_that_are_texts_are_refused_with_a_way(resource):
    words = np.where(y, "yes", "no")
    halving = search(classifier(), resource=resource, max_resources=9)
    with pytest.raises(ValueError, match=r"labels such as 'no'.*LabelEncoder\(\).fit_transform"):
        halving.fit(X, words)
    own = OwnLabels(Net, train_split=None, verbose=0)
    assert set(search(own).fit(X, words).statuses_) == {"ok"}


def test_a_module_is_told_how_to_become_an_estimator():
    for module in (Net(), Net):
        with pytest.raises(TypeError, match=r"is a torch.nn.Module.*skorch.NeuralNetClassifier"):
            search(module).fit(X, y)


def test_a_net_inside_of_another_estimator_is_refused():
    with pytest.raises(ValueError, match="not inside MultiOutputClassifier: pass the net"):
        EpochsResource().check(MultiOutputClassifier(classifier()), [])


class FullMemory(NeuralNetClassifier):
    """Wants more memory than there is."""

    def partial_fit(self, X, y, classes=None, **fit_params):
        if self.lr > 0.05:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return super().partial_fit(X, y, classes=classes, **fit_params)


def found(net, **params):
    """Statuses of a search by rate, at the first rung."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = search(net, **params).fit(X, y)
    return {trial.params["lr"]: trial.results[1] for trial in fitted.history_.trials}


def test_a_net_for_which_there_is_no_memory_has_that_status():
    results = found(FullMemory(Net, train_split=None, verbose=0))
    assert {lr: result.status for lr, result in results.items()} == {
        lr: "memory" if lr > 0.05 else "ok" for lr in results
    }


class Diverging(Callback):
    """A loss that is no number, from some rate on."""

    def on_batch_begin(self, net, **kwargs):
        if net.lr > 0.05:
            net.module_.layers[0].weight.data.fill_(np.nan)


def test_a_net_whose_loss_has_diverged_has_no_score():
    results = found(classifier(Diverging()))
    assert {lr: result.status for lr, result in results.items()} == {
        lr: "nan" if lr > 0.05 else "ok" for lr in results
    }
    assert "weights of NeuralNetClassifier are not finite after 1 epochs" in results[0.09].error


def test_a_net_leaves_its_gpu_between_two_rungs(monkeypatch):
    moved = []
    monkeypatch.setattr(nn.Module, "to", lambda self, device: moved.append(str(device)) or self)
    net = by_rungs(classifier(), 1)
    net.device = "cuda:1"
    before_store(net)
    assert (net.device, set(moved)) == ("cpu", {"cpu"})
    moved.clear()
    wake(net)
    assert (net.device, set(moved)) == ("cuda:1", {"cuda:1"})


def test_a_population_of_nets_obeys_its_schedule_and_replays_it():
    space = {"lr": loguniform(1e-3, 1), "optimizer__momentum": [0.0, 0.9]}
    size = {"population_size": 5, "step": 1, "max_resources": 5, "cv": 2}
    search = PBTSearchCV(classifier(), space, random_state=1, **size).fit(X, y)
    first, *_, last = search.schedule_
    assert first["params"] != last["params"]
    (group,) = search.best_estimator_.optimizer_.param_groups
    assert (group["lr"], group["momentum"]) == tuple(last["params"].values())
    again = search.replay(X, y)
    assert_same_net(search.best_estimator_, again)
