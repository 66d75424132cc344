"""A model that stands for the training: what it is given, and what is refused."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.stats import loguniform, randint, uniform
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from sksearch import HyperbandSearchCV, TPESearchCV, When
from sksearch.samplers import TPESampler
from sksearch.schedulers import FullFidelity, Hyperband
from sksearch.simulators import SimulatedEstimator, SurrogateProblem, play
from sksearch.space import Space

SPACE = {
    "width": randint(1, 9),
    "rate": loguniform(1e-4, 1),
    "solver": ["sgd", "adam"],
    "momentum": When(uniform(0, 1), "solver", "==", "sgd"),
    "batch": [16, 32, 64],
    "norm": [True, False],
    "depth": [None, 3],
}


class Recorder:
    """Predicts the sum of the columns, and keeps what it was given."""

    def predict(self, X):
        self.X = np.asarray(X)
        return np.nansum(np.asarray(X, dtype=float), axis=1)


def test_each_parameter_is_a_column_in_the_order_of_the_space():
    model = Recorder()
    problem = SurrogateProblem(SPACE, model, max_resources=2)
    adam = {"width": 3, "rate": 0.5, "solver": "adam", "batch": 32, "norm": False, "depth": None}
    sgd = {"width": 4, "rate": 0.1, "solver": "sgd", "momentum": 0.75, "batch": 64, "norm": True,
           "depth": 3}  # fmt: skip
    losses = problem.losses([adam, sgd])
    nan = np.nan
    rows = [
        [3, 0.5, 1, nan, 32, 0, 0, 1], [3, 0.5, 1, nan, 32, 0, 0, 2],
        [4, 0.1, 0, 0.75, 64, 1, 1, 1], [4, 0.1, 0, 0.75, 64, 1, 1, 2],
    ]  # fmt: skip
    np.testing.assert_array_equal(model.X, rows)
    np.testing.assert_allclose(losses, np.nansum(rows, axis=1).reshape(2, 2))
    assert problem.losses([]).shape == (0, 2)
    np.testing.assert_array_equal(problem.seconds([adam]), [[1, 2]])


def test_choices_of_a_union_have_the_places_that_all_its_dicts_give_them():
    model = Recorder()
    space = [{"kernel": ["rbf"], "C": [1, 2]}, {"kernel": ["poly", "rbf"], "degree": [2, 3]}]
    SurrogateProblem(space, model).losses([{"kernel": "poly", "degree": 3}])
    np.testing.assert_array_equal(model.X, [[1, np.nan, 3]])


def test_a_model_with_names_is_given_the_values_under_these_names():
    space = {"a": uniform(0, 1), "kind": ["x", "y"]}
    frame = pd.DataFrame({"kind": ["x", "y"] * 10, "epoch": np.tile([1, 1, 2, 2], 5),
                          "a": np.linspace(0, 1, 20)})  # fmt: skip
    y = frame["a"] + 10 * (frame["kind"] == "y") - frame["epoch"]
    encoder = make_column_transformer((OneHotEncoder(), ["kind"]), remainder="passthrough")
    model = make_pipeline(encoder, LinearRegression()).fit(frame, y)
    problem = SurrogateProblem(space, model, max_resources=2)
    found = problem.losses([{"a": 0.5, "kind": "y"}, {"a": 0.25, "kind": "x"}])
    np.testing.assert_allclose(found, [[9.5, 8.5], [-0.75, -1.75]])


def test_rows_may_be_made_by_a_function():
    def encode(params, epochs):
        return np.column_stack([[np.log10(p["rate"]) for p in params], 10 * epochs])

    problem = SurrogateProblem({"rate": loguniform(1e-3, 1)}, Recorder(), 3, encode=encode)
    np.testing.assert_allclose(problem.losses([{"rate": 0.01}]), [[8, 18, 28]])


def test_seconds_may_be_predicted_and_never_fall():
    class Seconds(Recorder):
        def predict(self, X):
            return np.resize([-1.0, 5.0, 3.0, 8.0], len(X))

    problem = SurrogateProblem({"x": uniform(0, 1)}, Recorder(), 4, seconds=Seconds())
    np.testing.assert_array_equal(problem.seconds([{"x": 0.1}] * 2), [[0, 5, 5, 8]] * 2)
    history = play(TPESampler(), FullFidelity(2), problem, random_state=0)
    assert [trial.results[4].cost for trial in history.trials] == [8, 8]


def test_a_regressor_is_fitted_to_recorded_curves():
    space, rng = Space(SPACE), np.random.default_rng(0)
    params = [space.sample(rng) for _ in range(400)]
    epochs = np.arange(1, 4)

    def truth(each):
        return (np.log10(each["rate"]) + 2) ** 2 + (each["solver"] == "adam") + 1 / epochs

    curves = np.array([truth(each) for each in params])
    curves[::7, 1] = np.nan  # a training that diverged
    model = HistGradientBoostingRegressor(random_state=0)
    problem = SurrogateProblem.from_curves(SPACE, params, curves, model)
    others = [space.sample(rng) for _ in range(100)]
    exact = np.array([truth(each) for each in others])
    errors = problem.losses(others) - exact
    assert problem.max_resources == 3
    assert np.sqrt(np.mean(errors**2)) < 0.15 * exact.std()
    assert not hasattr(model, "n_iter_"), "a clone is fitted"
    history = play(TPESampler(), Hyperband(), problem, random_state=1)
    assert len(history.trials) == 5


def test_any_search_runs_on_it():
    X = np.linspace(0, 1, 60)[:, np.newaxis]
    forest = RandomForestRegressor(10, random_state=0).fit(X, (X[:, 0] - 0.3) ** 2)
    problem = SurrogateProblem({"x": uniform(0, 1)}, forest)
    search = TPESearchCV(
        SimulatedEstimator(problem), problem.space, n_iter=20, cv=2, refit=False, random_state=0
    ).fit(np.zeros((8, 1)), np.zeros(8))
    assert abs(search.best_params_["x"] - 0.3) < 0.1
    curves = SurrogateProblem({"x": uniform(0, 1)}, Recorder(), 9)
    search = HyperbandSearchCV(
        SimulatedEstimator(curves), curves.space, resource="epochs", max_resources=9, cv=2,
        refit=False, random_state=0,
    ).fit(np.zeros((8, 1)), np.zeros(8))  # fmt: skip
    assert search.n_candidates_[0] == 9


# ---- what is refused, before a search begins


@pytest.mark.parametrize("model", [RandomForestRegressor, 3, None, object()])
def test_what_cannot_predict_is_refused(model):
    with pytest.raises(TypeError, match=r"must have predict\(X\), like a fitted regressor"):
        SurrogateProblem({"x": uniform(0, 1)}, model)


def test_a_model_that_is_not_fitted_is_refused():
    with pytest.raises(ValueError, match=r"model cannot predict .*not fitted"):
        SurrogateProblem({"x": uniform(0, 1)}, RandomForestRegressor())


def test_a_model_of_other_columns_is_refused():
    model = LinearRegression().fit(np.eye(3), np.arange(3))
    with pytest.raises(ValueError, match="input has the columns x, epoch; pass encode="):
        SurrogateProblem({"x": uniform(0, 1)}, model, max_resources=2)
    model = LinearRegression().fit(pd.DataFrame({"x": [1, 2], "lr": [1, 2]}), [1, 2])
    with pytest.raises(ValueError, match="fitted to the column 'lr', but the columns are x"):
        SurrogateProblem({"x": uniform(0, 1)}, model)


def test_several_numbers_for_a_row_are_refused():
    model = LinearRegression().fit([[0], [1]], [[1, 2], [3, 4]])
    with pytest.raises(ValueError, match="must return one number for each"):
        SurrogateProblem({"x": uniform(0, 1)}, model)


@pytest.mark.parametrize("max_resources", [0, 1.5, None])
def test_a_strange_count_of_epochs_is_refused(max_resources):
    with pytest.raises(ValueError, match="must be an integer of at least 1"):
        SurrogateProblem({"x": uniform(0, 1)}, Recorder(), max_resources)


def test_other_strange_arguments_are_refused():
    with pytest.raises(TypeError, match="encode='rows' must be callable"):
        SurrogateProblem({"x": uniform(0, 1)}, Recorder(), encode="rows")
    with pytest.raises(TypeError, match="seconds=60 must have predict"):
        SurrogateProblem({"x": uniform(0, 1)}, Recorder(), seconds=60)
    with pytest.raises(ValueError, match="curves has no finite value"):
        SurrogateProblem.from_curves({"x": [1]}, [{"x": 1}], [[np.nan]], LinearRegression())


def test_a_candidate_that_does_not_fit_the_space_is_refused():
    problem = SurrogateProblem({"x": uniform(0, 1)}, Recorder())
    with pytest.raises(ValueError, match=r"params\[0\] sets 'y', which is unknown"):
        problem.losses([{"x": 0.5, "y": 1}])


# ---- networks in ONNX


def field(number, content):
    """One field of a protocol buffer: an integer, or bytes with their length."""
    if isinstance(content, int):
        return varint(8 * number) + varint(content)
    content = content.encode() if isinstance(content, str) else content
    return varint(8 * number + 2) + varint(len(content)) + content


def varint(value):
    parts = bytearray()
    while value >= 128:
        parts.append(value % 128 + 128)
        value //= 128
    return bytes([*parts, value])


def linear_network(weights, bias, n_inputs=1):
    """The bytes of X @ weights + bias in ONNX, by its specification and without its package."""

    def tensor(name, values):
        values = np.asarray(values, dtype=np.float32)
        dims = b"".join(field(1, n) for n in values.shape)
        return dims + field(2, 1) + field(8, name) + field(9, values.tobytes())

    def variable(name, n_columns):
        shape = field(1, field(2, "n")) + field(1, field(1, n_columns))
        return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)))

    product = field(1, "X") + field(1, "W") + field(2, "Z") + field(4, "MatMul")
    total = field(1, "Z") + field(1, "b") + field(2, "Y") + field(4, "Add")
    weights = np.reshape(weights, (len(weights), -1))
    names = ["X", "other"][:n_inputs]
    graph = (
        field(1, product) + field(1, total) + field(2, "linear")
        + field(5, tensor("W", weights)) + field(5, tensor("b", [bias]))
        + b"".join(field(11, variable(name, len(weights))) for name in names)
        + field(12, variable("Y", weights.shape[1]))
    )  # fmt: skip
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 13))


@pytest.mark.parametrize("kind", ["path", "str", "bytes"])
def test_a_network_in_onnx_is_a_model(kind, tmp_path):
    pytest.importorskip("onnxruntime")
    content = linear_network([2.0, -1.0, 0.5], 3.0)
    path = tmp_path / "network.onnx"
    path.write_bytes(content)
    model = {"path": path, "str": str(path), "bytes": content}[kind]
    space = {"x": uniform(0, 1), "kind": ["a", "b"]}
    problem = SurrogateProblem(space, model, max_resources=2, seconds=model)
    params = [{"x": 0.5, "kind": "b"}, {"x": 0.25, "kind": "a"}]
    exact = [[2 * 0.5 - 1 + 0.5 * t + 3 for t in (1, 2)], [2 * 0.25 + 0.5 * t + 3 for t in (1, 2)]]
    np.testing.assert_allclose(problem.losses(params), exact, rtol=1e-6)
    np.testing.assert_allclose(problem.seconds(params), exact, rtol=1e-6)
    again = pickle.loads(pickle.dumps(problem))
    np.testing.assert_array_equal(again.losses(params), problem.losses(params))


def test_a_network_of_two_inputs_or_outputs_is_refused():
    pytest.importorskip("onnxruntime")
    space = {"x": uniform(0, 1)}
    with pytest.raises(ValueError, match="the network has 2 inputs"):
        SurrogateProblem(space, linear_network([1.0], 0.0, n_inputs=2))
    with pytest.raises(ValueError, match="one number for each"):
        SurrogateProblem(space, linear_network([[1.0, 2.0]], 0.0))
    with pytest.raises(ValueError, match="model cannot predict"):
        SurrogateProblem(space, b"no network")


def test_without_onnxruntime_the_error_names_the_package_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "onnxruntime", None)
    with pytest.raises(ImportError, match=r"pip install .\.\[onnx\]"):
        SurrogateProblem({"x": uniform(0, 1)}, linear_network([1.0], 0.0))


def test_a_file_that_is_not_there_is_said_to_be_missing(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"missing\.onnx"):
        SurrogateProblem({"x": uniform(0, 1)}, tmp_path / "missing.onnx")
