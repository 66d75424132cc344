"""Epochs of scikit-learn's estimators are those of one ``fit``, however they are cut."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone, is_classifier
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import make_classification
from sklearn.linear_model import Perceptron, SGDClassifier, SGDOneClassSVM, SGDRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sksearch import HyperbandSearchCV
from sksearch.base._state import State
from sksearch.estimators import register
from sksearch.estimators._mlp import MLP
from sksearch.estimators._mutable_params import change
from sksearch.estimators._pipeline import last_step, path_of_last_step
from sksearch.executors import VirtualClock, spend
from sksearch.resources._epochs import EpochsResource, SecondsResource

X, y = make_classification(90, 6, n_informative=4, flip_y=0.2, random_state=0)
X = StandardScaler().fit_transform(X)
ENDS = {"n_iter_no_change": 2, "tol": 1e-2}
SGD = {"solver": "sgd", "learning_rate_init": 0.1}
WAYS = {
    "adam": {},
    "small batches that end early": {"batch_size": 16, "learning_rate_init": 0.02} | ENDS,
    "momentum": SGD,
    "a rate that falls by time": SGD | {"learning_rate": "invscaling"},
    "a rate that falls by loss": SGD | {"learning_rate": "adaptive"} | ENDS,
    "no shuffling": {"shuffle": False},
}


def train(estimator, *amounts):
    """Train a clone on from rung to rung, in another process for all it knows."""
    state, spent = State(clone(estimator)), 0
    classes = np.unique(y) if is_classifier(estimator) else None
    for amount in amounts:
        state = EpochsResource().train(state, X, y, amount, spent, classes, {})
        state, spent = pickle.loads(pickle.dumps(state)), amount
    return state.estimator


def fitted(estimator, n_epochs, X=X):
    """Fit a clone at once, which warns that it has not converged."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(estimator).set_params(max_iter=n_epochs).fit(X, y)


@pytest.mark.parametrize("seed", [0, np.random.RandomState(3)], ids=["integer", "generator"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", [MLPClassifier, MLPRegressor])
def test_epochs_of_a_net_match_one_fit_to_the_bit(kind, way, seed):
    net = kind(hidden_layer_sizes=(6,), random_state=seed, **WAYS[way])
    by_epochs, at_once = train(net, 1, 4, 40), fitted(net, 40)
    for got, expected in zip(by_epochs.coefs_, at_once.coefs_, strict=True):
        np.testing.assert_array_equal(got, expected)
    assert by_epochs.loss_curve_ == at_once.loss_curve_
    assert by_epochs.n_iter_ == at_once.n_iter_


class Doubling(TransformerMixin, BaseEstimator):
    """Transforms training rows in another way than others, as TargetEncoder does."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X

    def fit_transform(self, X, y=None):
        return 2 * X


@pytest.mark.parametrize("step", [StandardScaler(), Doubling()])
@pytest.mark.parametrize("is_outside", [True, False])
def test_epochs_with_a_transformed_target_match_one_fit_to_the_bit(is_outside, step):
    net = MLPRegressor(hidden_layer_sizes=(6,), random_state=0)
    scaled = TransformedTargetRegressor(net, transformer=StandardScaler())
    if is_outside:
        scaled.set_params(regressor=make_pipeline(step, net))
    whole = scaled if is_outside else make_pipeline(step, scaled)
    name = f"{path_of_last_step(whole)}__max_iter"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        at_once = clone(whole).set_params(**{name: 40}).fit(X, y)
    by_epochs = train(whole, 1, 4, 40)
    np.testing.assert_array_equal(by_epochs.predict(X), at_once.predict(X))
    assert last_step(by_epochs).n_iter_ == 40


def test_a_net_ends_when_its_loss_does_not_fall():
    net = MLPClassifier((6,), random_state=0, **WAYS["small batches that end early"])
    assert train(net, 500).n_iter_ < 100


@pytest.mark.parametrize("kind", [SGDRegressor, SGDClassifier])
def test_each_epoch_of_a_linear_model_has_its_own_order(kind):
    """Each row moves a weight of its own, by a rate that falls: the weights tell the order."""
    n, n_epochs = 30, 6
    rates = {"learning_rate": "invscaling", "eta0": 0.01, "penalty": None, "fit_intercept": False}
    state, orders, before = State(kind(random_state=0, **rates)), set(), np.zeros(n)
    target = np.where(np.arange(n) % 2, 1, -1)
    for epoch in range(n_epochs):
        state = EpochsResource().train(
            state, np.eye(n), target, epoch + 1, epoch, np.unique(target), {}
        )
        weights = state.estimator.coef_.ravel().copy()
        orders.add(tuple(np.argsort(-np.abs(weights - before) / (1 - np.abs(before)))))
        before = weights if kind is SGDRegressor else np.zeros(n)
    assert len(orders) == n_epochs


@pytest.mark.parametrize(
    "estimator",
    [MLPClassifier((4,), random_state=0), SGDClassifier(random_state=0, average=True),
     Perceptron(random_state=0), SGDOneClassSVM(random_state=0)],
    ids=lambda estimator: type(estimator).__name__,
)  # fmt: skip
def test_the_users_seed_stays_and_clones_share_nothing(estimator):
    trained = train(estimator, 2, 5)
    assert trained.get_params() == estimator.get_params()
    one, other = (train(clone(trained), 5).predict(X) for _ in range(2))
    np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(one, trained.predict(X))


def test_a_trained_net_needs_none_of_our_classes():
    net = train(MLPClassifier((4,), random_state=0), 3)
    assert b"sksearch" not in pickle.dumps(net)
    assert type(net._random_state) is np.random.RandomState


def test_seconds_end_with_the_training():
    net = SlowNet((4,), random_state=0, **WAYS["small batches that end early"])
    with VirtualClock():
        state = SecondsResource().train(State(net), X, y, 500, 0, np.unique(y), {})
    assert state.seconds == state.n_steps == state.estimator.n_iter_ < 100


class SlowNet(MLPClassifier):
    """Takes a second for an epoch."""

    def partial_fit(self, X, y, sample_weight=None, classes=None):
        spend(1)
        return super().partial_fit(X, y, sample_weight, classes)


class TrainsAsItsBase(MLP):
    classes, spaces, portfolios = ("tests.SlowNet",), {}, {}


register(TrainsAsItsBase())


def test_a_net_that_has_ended_trains_on_with_another_rate():
    net = train(MLPClassifier((4,), random_state=0, **WAYS["small batches that end early"]), 500)
    state = State(net, n_steps=500)
    EpochsResource().train(state, X, y, 510, 500, np.unique(y), {})
    ended = net.n_iter_
    change(net, {"learning_rate_init": 1e-3})
    EpochsResource().train(state, X, y, 511, 510, np.unique(y), {})
    assert net.n_iter_ == ended + 1


def test_a_winner_is_what_fit_makes_of_its_params():
    net = make_pipeline(StandardScaler(), MLPClassifier((6,), random_state=0))
    space = {"mlpclassifier__learning_rate_init": [1e-3, 1e-2, 1e-1]}
    args = {"resource": "epochs", "max_resources": 9, "cv": 2, "random_state": 0}
    searches = [HyperbandSearchCV(net, space, n_jobs=n, **args).fit(X, y) for n in (1, 2)]
    for search in searches:
        *_, last = best = search.best_estimator_
        assert last.random_state == 0
        count = search.cv_results_["n_resources"][search.best_index_]
        Xt = best[:-1].transform(X)
        again = fitted(last, count, Xt).predict_proba(Xt)
        np.testing.assert_array_equal(search.predict_proba(X), again)
    scores = [search.cv_results_["mean_test_score"] for search in searches]
    np.testing.assert_array_equal(*scores)
