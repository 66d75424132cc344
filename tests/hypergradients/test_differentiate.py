"""Four ways to differentiate through training, which agree with finite differences."""

import numpy as np
import pytest

from sksearch.hypergradients import (
    LinearProblem,
    TorchProblem,
    forward,
    implicit,
    reverse,
    truncated,
)

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 5))
Y = X @ [2, -1, 0.5, 0, 0] + 0.5 * RNG.standard_normal(60)
W0 = RNG.standard_normal(5)
THETA = np.array([-2.0, 0.5, -1.0])
GROUPS = [0, 1, 1, 2, 2]
BATCHES = [RNG.choice(40, 8, replace=False) for _ in range(30)]
RATE = 0.1
losses = pytest.mark.parametrize("loss", ["squared", "logistic", "squared_hinge"])


def problem_of(loss="squared"):
    y = Y if loss == "squared" else np.sign(Y)
    return LinearProblem(X[:40], y[:40], X[40:], y[40:], loss, GROUPS)


def differences(function, theta, step=1e-5):
    steps = step * np.eye(len(theta))
    return np.array([(function(theta + e) - function(theta - e)) / (2 * step) for e in steps])


def trained(problem, theta, batches, w=W0):
    for rows in batches:
        w = w - RATE * problem.gradient(w, theta, rows)
    return w


@losses
def test_implicit_differentiation_agrees_with_finite_differences(loss):
    problem = problem_of(loss)

    def value(theta):
        return problem.validation(problem.solve(theta), theta)[0]

    found, gradient = implicit(problem, THETA, problem.solve(THETA))
    assert found == value(THETA)
    assert gradient == pytest.approx(differences(value, THETA), rel=1e-4, abs=1e-7)
    assert np.abs(gradient).min() > 1e-4


@losses
@pytest.mark.parametrize("way", [forward, reverse])
def test_stochastic_training_agrees_with_finite_differences(loss, way):
    problem = problem_of(loss)

    def value(theta):
        return problem.validation(trained(problem, theta, BATCHES), theta)[0]

    found, gradient = way(problem, THETA, W0, BATCHES, RATE)
    assert found == value(THETA)
    assert gradient == pytest.approx(differences(value, THETA), rel=1e-4, abs=1e-7)


def test_long_training_agrees_with_its_end():
    problem = problem_of("logistic")
    expected = implicit(problem, THETA, problem.solve(THETA))
    for way in (forward, reverse):
        found = way(problem, THETA, W0, [None] * 2000, RATE)
        assert found[0] == pytest.approx(expected[0], rel=1e-8)
        assert found[1] == pytest.approx(expected[1], rel=1e-6)


def test_more_steps_back_are_nearer_to_all_of_them():
    problem = problem_of()
    whole = reverse(problem, THETA, W0, BATCHES, RATE)
    gaps = []
    for n in (0, 5, 15, 30):
        found = truncated(problem, THETA, W0, BATCHES, RATE, n)
        assert found[0] == whole[0]
        gaps.append(np.abs(found[1] - whole[1]).max())
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] == 0
    assert gaps[0] > 1e-3
    for n in (-1, 31):
        with pytest.raises(ValueError, match=f"n_steps={n} must be from 0 to .* 30"):
            truncated(problem, THETA, W0, BATCHES, RATE, n)


def test_a_hessian_that_is_not_positive_definite_is_told():
    problem = LinearProblem(X[:3], Y[:3], X[40:], Y[40:])
    problem.hessian_product = lambda w, theta, v, rows=None: v * [1, 1, 0, 0, 0]
    with pytest.raises(ValueError, match="did not converge"):
        implicit(problem, np.zeros(5), np.zeros(5))


def test_wrong_losses_and_targets_are_told():
    with pytest.raises(ValueError, match="loss='hinge' must be one of"):
        problem_of("hinge")
    with pytest.raises(ValueError, match="targets that are -1 or 1"):
        LinearProblem(X, Y, X, Y, loss="logistic")


def test_functions_of_torch_are_as_the_linear_model():
    torch = pytest.importorskip("torch")
    tX, ty = torch.tensor(X), torch.tensor(Y)

    def train(w, theta, rows):
        rows = np.arange(40) if rows is None else rows
        penalties = theta.exp()[GROUPS]
        return ((tX[rows] @ w - ty[rows]) ** 2).mean() / 2 + (penalties * w**2).sum() / 2

    def validate(w, theta):
        return ((tX[40:] @ w - ty[40:]) ** 2).mean() / 2

    ours, theirs = problem_of(), TorchProblem(train, validate)
    for way, args in {
        implicit: (THETA, ours.solve(THETA)),
        forward: (THETA, W0, BATCHES, RATE),
        reverse: (THETA, W0, BATCHES, RATE),
    }.items():
        expected, found = way(ours, *args), way(theirs, *args)
        assert found[0] == pytest.approx(expected[0])
        assert found[1] == pytest.approx(expected[1])


def test_a_net_with_a_penalty_for_each_layer_agrees_with_finite_differences():
    torch = pytest.importorskip("torch")
    net = torch.nn.Sequential(
        torch.nn.Linear(5, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1)
    ).double()
    shapes = {name: p.shape for name, p in net.named_parameters()}
    sizes = [shape.numel() for shape in shapes.values()]
    tX, ty = torch.tensor(X), torch.tensor(Y)

    def predict(w, rows):
        parts = zip(shapes.items(), w.split(sizes), strict=True)
        weights = {name: part.reshape(shape) for (name, shape), part in parts}
        return torch.func.functional_call(net, weights, (tX[rows],))[:, 0]

    def train(w, theta, rows):
        layers = torch.stack([part.square().sum() for part in w.split(sizes)])
        return ((predict(w, rows) - ty[rows]) ** 2).mean() + (theta.exp() * layers).sum()

    def validate(w, theta):
        return ((predict(w, np.arange(40, 60)) - ty[40:]) ** 2).mean()

    problem, w0, theta = (
        TorchProblem(train, validate),
        RNG.standard_normal(sum(sizes)),
        -np.ones(4),
    )

    def value(theta):
        return problem.validation(trained(problem, theta, BATCHES, w0), theta)[0]

    expected = differences(value, theta)
    for way in (forward, reverse):
        assert way(problem, theta, w0, BATCHES, RATE)[1] == pytest.approx(expected, rel=1e-4)
