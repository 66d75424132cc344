"""Five ways to differentiate through training, which agree with finite differences."""

import numpy as np
import pytest

from sksearch.hypergradients import (
    BilevelProblem,
    LinearProblem,
    MomentumProblem,
    TorchProblem,
    _online,
    forward,
    implicit,
    neumann,
    online_rate,
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
        with pytest.raises(ValueError, match=f"n_steps={n} must be between 0 and 30"):
            truncated(problem, THETA, W0, BATCHES, RATE, n)


@losses
def test_a_series_for_the_inverse_hessian_agrees_with_its_solution_and_with_the_last_steps(loss):
    problem = problem_of(loss)
    w = problem.solve(THETA)
    value, exact = implicit(problem, THETA, w)
    found = [neumann(problem, THETA, w, 0.3, n) for n in (1, 10, 100, 1000)]
    assert {each[0] for each in found} == {value}
    gaps = [np.abs(gradient - exact).max() for _, gradient in found]
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 1e-8
    last = truncated(problem, THETA, w, [None] * 10, 0.3, n_steps=10)[1]
    np.testing.assert_allclose(found[1][1], last, atol=1e-8)


def test_a_series_that_diverges_or_has_no_terms_is_told():
    problem = problem_of()
    w = problem.solve(THETA)
    with pytest.raises(ValueError, match="diverges with learning_rate=30"):
        neumann(problem, THETA, w, 30.0, 50)
    with pytest.raises(ValueError, match="n_steps=0"):
        neumann(problem, THETA, w, 0.1, 0)


def trained_with_momentum(problem, theta, batches, momentum):
    w, v = W0, np.zeros(5)
    for rows in batches:
        v = momentum * v + problem.gradient(w, theta, rows)
        w = w - RATE * v
    return w


@losses
@pytest.mark.parametrize("momentum", [0.0, 0.5, 0.9])
def test_training_with_momentum_agrees_with_finite_differences(loss, momentum):
    plain = problem_of(loss)
    problem = MomentumProblem(plain, RATE, momentum)

    def value(theta):
        return plain.validation(trained_with_momentum(plain, theta, BATCHES, momentum), theta)[0]

    start = np.concatenate([W0, np.zeros(5)])
    found, gradient = reverse(problem, THETA, start, BATCHES, 1.0)
    assert found == pytest.approx(value(THETA), rel=1e-12)
    assert gradient == pytest.approx(differences(value, THETA), rel=1e-4, abs=1e-7)
    if momentum == 0:
        assert gradient == pytest.approx(reverse(plain, THETA, W0, BATCHES, RATE)[1])


@losses
def test_the_fixed_point_of_momentum_has_the_derivative_of_the_minimum(loss):
    plain = problem_of(loss)
    problem, w = MomentumProblem(plain, RATE, 0.8), plain.solve(THETA)
    state = np.concatenate([w, np.zeros(5)])  # it does not move
    np.testing.assert_allclose(problem.gradient(state, THETA), 0, atol=1e-8)
    expected = implicit(plain, THETA, w)[1]
    assert neumann(problem, THETA, state, 1.0, 600)[1] == pytest.approx(expected, rel=1e-6)
    B = problem.mixed(state, THETA)
    v = np.arange(10.0)
    np.testing.assert_allclose(B.T @ v, problem.mixed_product(state, THETA, v))
    for way, args in [(implicit, (state,)), (forward, (state, [None], 1.0))]:
        with pytest.raises(ValueError, match="MomentumProblem is not: use"):
            way(problem, THETA, *args)


class Equilibrium(BilevelProblem):
    """A recurrent net at rest, w = tanh(A w + theta), with E = |w|^2 / 2."""

    A = 0.4 * np.random.default_rng(3).standard_normal((3, 3))
    symmetric = False

    def gradient(self, w, theta, rows=None):
        return w - np.tanh(self.A @ w + theta)

    def slope(self, w, theta):
        return 1 - np.tanh(self.A @ w + theta) ** 2

    def hessian_product(self, w, theta, v, rows=None):
        return v - self.A.T @ (self.slope(w, theta) * v)

    def mixed(self, w, theta, rows=None):
        return -np.diag(self.slope(w, theta))

    def mixed_product(self, w, theta, v, rows=None):
        return -self.slope(w, theta) * v

    def validation(self, w, theta):
        return float(w @ w) / 2, w, np.zeros(3)

    def solve(self, theta):
        w = np.zeros(3)
        for _ in range(500):
            w = w - self.gradient(w, theta)
        return w


def test_the_fixed_point_of_any_map_agrees_with_finite_differences():
    problem, theta = Equilibrium(), np.array([0.3, -0.5, 0.8])

    def value(theta):
        return problem.validation(problem.solve(theta), theta)[0]

    found, gradient = neumann(problem, theta, problem.solve(theta), 1.0, 200)
    assert found == value(theta)
    assert gradient == pytest.approx(differences(value, theta), rel=1e-6)
    same = reverse(problem, theta, np.zeros(3), [None] * 200, 1.0)[1]
    assert same == pytest.approx(gradient, rel=1e-6)


@pytest.mark.parametrize("n", [1, 3, 10])
def test_a_series_continues_from_a_start(n):
    problem = problem_of()
    w, start = problem.solve(THETA), np.zeros(5)
    for done in range(1, 4):
        found = neumann(problem, THETA, w, 0.1, n, start=start)[1]
        assert found == pytest.approx(neumann(problem, THETA, w, 0.1, done * n)[1], rel=1e-10)
    neumann(problem, THETA, w, 0.1, 2000, start=start)
    near = THETA + 0.01  # a few terms suffice from there
    w, exact = problem.solve(near), implicit(problem, near, problem.solve(near))[1]
    gaps = [
        np.abs(neumann(problem, near, w, 0.1, n, start=s)[1] - exact).max() for s in (None, start)
    ]
    assert gaps[1] < 0.1 * gaps[0]
    again = neumann(problem, near, w, 0.1, 2000, start=start)[1]
    assert neumann(problem, near, w, 0.1, n, start=start)[1] == pytest.approx(again, rel=1e-9)


@pytest.mark.parametrize(("rate", "momentum"), [(0.0, 0.5), (-1, 0.5), (0.1, 1.0), (0.1, -0.1)])
def test_a_momentum_that_cannot_be_is_refused(rate, momentum):
    with pytest.raises(ValueError, match=r"learning_rate=.* must be positive, and momentum="):
        MomentumProblem(problem_of(), rate, momentum)


@losses
def test_the_slope_by_the_rate_agrees_with_finite_differences(loss, monkeypatch):
    """With decay=1 and step=0 what is carried along is the derivative of all steps."""
    problem = problem_of(loss)

    def final(rate):
        w = W0
        for rows in BATCHES:
            w = w - rate * problem.gradient(w, THETA, rows)
        return problem.validation(w, THETA)[0]

    value, w, rates = online_rate(problem, THETA, W0, BATCHES, RATE, decay=1.0, step=0.0)
    assert value == final(RATE)
    np.testing.assert_array_equal(rates, RATE)
    np.testing.assert_array_equal(w, trained(problem, THETA, BATCHES))
    # What moves the rate at the last step is the derivative by it, in units of its own size.
    monkeypatch.setattr(_online, "MEMORY", 0.0)
    moved = online_rate(problem, THETA, W0, [*BATCHES, None], RATE, decay=1.0, step=1e-9)[2]
    slope = (final(RATE + 1e-6) - final(RATE - 1e-6)) / 2e-6
    assert (moved[-1] < moved[-2]) == (slope > 0)


@pytest.mark.parametrize("start", [1e-4, 1e-2])
def test_a_rate_that_is_too_small_grows(start):
    problem = problem_of()
    batches = [None] * 300
    constant = online_rate(problem, THETA, W0, batches, start, step=0.0)[0]
    loss, _, rates = online_rate(problem, THETA, W0, batches, start)
    assert rates.max() > 2 * start
    assert loss < constant


@pytest.mark.parametrize(
    "args", [{"learning_rate": 0.0}, {"decay": 1.5}, {"step": -1.0}], ids=lambda a: next(iter(a))
)
def test_numbers_that_make_no_sense_are_refused(args):
    with pytest.raises(ValueError, match=next(iter(args))):
        online_rate(problem_of(), THETA, W0, BATCHES, **{"learning_rate": 0.1} | args)


def test_a_training_that_diverges_is_told():
    with np.errstate(over="ignore"), pytest.raises(ValueError, match="diverged at step"):
        online_rate(problem_of(), THETA, W0, [None] * 2000, 1e3, step=0.0)


def test_a_hessian_that_is_not_positive_definite_is_told():
    problem = LinearProblem(X[:3], Y[:3], X[40:], Y[40:])
    problem.hessian_product = lambda w, theta, v, rows=None: v * [1, 1, 0, 0, 0]
    with pytest.raises(ValueError, match="did not converge"):
        implicit(problem, np.zeros(5), np.zeros(5))


def test_wrong_losses_and_targets_are_told():
    with pytest.raises(ValueError, match="loss='hinge' must be one of"):
        problem_of("hinge")
    with pytest.raises(ValueError, match="targets of -1 or 1"):
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
