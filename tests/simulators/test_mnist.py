"""The recorded curves that come with the package, and the script that made them."""

import importlib.util
import json
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from sksearch.datasets import load
from sksearch.simulators import load_mnist_curves
from sksearch.space import Space

SCRIPT = Path(__file__).parents[2] / "examples" / "make_mnist_curves.py"
NAMES = ["learning_rate", "weight_decay", "momentum", "batch_size"]

needs_script = pytest.mark.skipif(not SCRIPT.is_file(), reason="the examples are not there")


@pytest.fixture(scope="module")
def problem():
    return load_mnist_curves()


@pytest.fixture
def script():
    spec = importlib.util.spec_from_file_location("make_mnist_curves", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def meta():
    with np.load(files("sksearch.simulators") / "data" / "mnist_sgd.npz") as arrays:
        return json.loads(str(arrays["meta"]))


def test_there_are_enough_curves_in_a_small_file(problem):
    assert problem.curves.shape == (1024, 81)
    assert problem.max_resources == 81
    assert (files("sksearch.simulators") / "data" / "mnist_sgd.npz").stat().st_size < 500_000
    assert {"made", "command", "versions", "seed", "n_train", "n_valid"} <= set(meta())


def test_the_space_matches_the_published_experiment(problem):
    assert list(problem.space) == NAMES
    dimensions = {d.name: d for d in Space(problem.space).dimensions}
    bounds = [(1e-6, 1), (1e-6, 0.1), (0.3, 0.999), (20, 2000)]
    for name, (low, high) in zip(NAMES, bounds, strict=True):
        assert dimensions[name].bounds == pytest.approx((low, high))
    assert [dimensions[name].log for name in NAMES] == [True, True, False, False]
    assert dimensions["batch_size"].kind == "integer"


def test_half_of_the_params_cover_the_space_evenly(problem):
    space = Space(problem.space)
    U = np.array([space.to_unit(params) for params in problem.params[: meta()["n_sobol"]]])
    for u in U.T:  # 512 points of a Sobol sequence have 16 in each 32nd, integers almost
        counts = np.histogram(u, bins=32, range=(0, 1))[0]
        assert np.abs(counts - 16).max() <= 1


def test_errors_are_shares_of_the_validation_rows(problem):
    wrong = problem.curves * 5_000
    np.testing.assert_allclose(wrong, wrong.round(), atol=0.01)
    assert problem.curves.min() > 0.05
    assert problem.curves.max() < 1
    # Chance is 0.9; the best of a linear model on 10,000 images is known to be about 0.1.
    assert 0.08 < problem.minimum < 0.1


def test_cross_entropies_belong_to_the_errors(problem):
    other = load_mnist_curves("log_loss")
    assert other.params == problem.params
    assert other.curves.min() > 0.2
    assert other.curves.max() < 20  # no training diverged
    low = other.curves < 0.4  # nats: more than nine in ten cannot be wrong then
    assert low.any()
    assert problem.curves[low].max() < 0.15


def test_models_learn_and_the_learning_rate_matters(problem):
    first, last = problem.curves[:, 0], problem.curves[:, -1]
    assert np.median(last) < np.median(first)
    rates = np.array([params["learning_rate"] for params in problem.params])
    assert last[rates < 1e-5].min() > 0.2
    assert np.median(last[rates > 1e-2]) < 0.15


def test_the_nearest_other_curve_is_a_good_stand_in(problem):
    error = problem.approximation_error()
    assert error.correlation > 0.85
    assert error.median < 0.015
    assert np.median(error.distances) < 0.06
    # Half of the curves are denser than all would be by chance: where they are good.
    good = problem.curves[:, -1] < np.median(problem.curves[:, -1])
    assert np.median(error.distances[good]) < np.median(error.distances[~good])


def test_another_loss_is_refused():
    with pytest.raises(ValueError, match="error, log_loss"):
        load_mnist_curves("accuracy")


@needs_script
def test_a_step_of_the_script_follows_the_gradient(script):
    rng = np.random.default_rng(0)
    A, y = rng.normal(size=(6, 4)), np.array([0, 3, 9, 9, 1, 5])
    W, V = rng.normal(size=(10, 4)), rng.normal(size=(10, 4))
    decay, mu, eta = 0.3, 0.8, 0.1

    def loss(w):
        Z = A @ w.reshape(10, 4).T
        entropy = (np.log(np.exp(Z).sum(axis=1)) - Z[np.arange(6), y]).mean()
        return entropy + decay / 2 * (w**2).sum()

    steps = 1e-6 * np.eye(40)
    gradient = [(loss(W.ravel() + h) - loss(W.ravel() - h)) / 2e-6 for h in steps]
    velocity = mu * V + np.reshape(gradient, (10, 4))
    expected = W - eta * velocity
    params = {"batch_size": 20, "learning_rate": eta, "momentum": mu, "weight_decay": decay}
    script.train_epoch(W, V, A, y, params)
    np.testing.assert_allclose(V, velocity, atol=1e-6)
    np.testing.assert_allclose(W, expected, atol=1e-6)


@needs_script
def test_an_epoch_of_the_script_is_a_step_for_each_mini_batch(script):
    rng = np.random.default_rng(0)
    A, y = rng.normal(size=(7, 4)), rng.integers(10, size=7)
    W, V = rng.normal(size=(10, 4)), np.zeros((10, 4))
    W2, V2 = W.copy(), V.copy()
    params = {"batch_size": 3, "learning_rate": 0.1, "momentum": 0.9, "weight_decay": 0.1}
    script.train_epoch(W, V, A, y, params)
    for rows in (slice(0, 3), slice(3, 6), slice(6, 7)):
        script.train_epoch(W2, V2, A[rows], y[rows], params)
    np.testing.assert_array_equal(W, W2)


@needs_script
def test_a_model_that_diverged_counts_as_chance(script):
    weights = np.array([np.zeros((10, 4)), np.full((10, 4), np.nan)], np.float32)
    y = np.arange(10)
    errors, losses = script.validate(weights, np.ones((10, 4), np.float32), y)
    assert errors.tolist() == [0.9, 0.9]  # of equal logits the first class wins, once in ten
    np.testing.assert_allclose(losses, [np.log(10), 1_000])


@pytest.mark.slow
@needs_script
def test_the_script_makes_the_curves_again(script, problem, monkeypatch):
    if not load("mnist", n_samples=10).source.endswith("mnist.npz"):
        pytest.skip("the data folder has no MNIST")
    monkeypatch.setattr(script, "N_EPOCHS", 2)
    rows = [i for i, p in enumerate(problem.params[:200]) if p["batch_size"] > 500][:4]
    errors, losses = script.train([problem.params[i] for i in rows], script.read_images())
    # Another BLAS adds up in another order, and then a few of 5,000 rows change sides.
    np.testing.assert_allclose(errors, problem.curves[rows, :2], atol=0.01)
    expected = load_mnist_curves("log_loss").curves[rows, :2]
    np.testing.assert_allclose(losses, expected, rtol=0.02)
