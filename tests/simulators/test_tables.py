"""Tables of recorded results: their rows and nothing else, or the nearest row."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import loguniform, uniform

from sksearch import RandomSearchCV, When, datasets
from sksearch.base import Start
from sksearch.history import Problem, Result
from sksearch.samplers import RandomSampler
from sksearch.schedulers import FullFidelity
from sksearch.simulators import TabularProblem, _tables, load_task
from sksearch.simulators._tables import task_names
from sksearch.space import Space
from sksearch.study import Study
from tests.fakes import Curve

SPACE = {"depth": [1, 2, 3, 4], "rate": loguniform(1e-3, 1), "solver": ["adam", "sgd"]}

MODELS = Path(__file__).parents[2] / "examples" / "data" / "fashion_models.npz"

needs_tasks = pytest.mark.skipif(
    not (datasets._data_folder() / "hpo").is_dir(), reason="the data folder has no tuning tasks"
)


def rows(n, seed=0):
    space, rng = Space(SPACE), np.random.default_rng(seed)
    return [space.sample(rng) for _ in range(n)]


def test_rows_have_their_own_losses_and_nothing_else_has():
    params, losses = rows(30), np.random.default_rng(0).random((30, 4))
    problem = TabularProblem(SPACE, params, losses)
    np.testing.assert_array_equal(problem.losses(params[::-1]), losses[::-1])
    assert problem.max_resources == 4
    with pytest.raises(ValueError, match="not a row of the table"):
        problem.losses([params[0], params[1] | {"rate": 0.5}])


def test_a_search_draws_rows_and_each_once():
    params = rows(30)
    problem = TabularProblem(SPACE, params, np.arange(30.0))
    study = Study(Problem(Space(problem.space)), RandomSampler(), FullFidelity(99))
    while (job := study.ask()) is not None:
        study.tell(job, Result(-problem.losses([job.params])[0, -1]))
    tried = [trial.params for trial in study.history.trials]
    assert len(tried) == 30
    assert all(candidate in tried for candidate in params)
    scores = sorted(-trial.results[1].score for trial in study.history.trials)
    assert scores == list(range(30))


def test_every_row_is_as_likely_to_be_drawn_first():
    problem = TabularProblem({"x": uniform(0, 1)}, [{"x": x} for x in (0.1, 0.11, 0.9)], [1, 2, 3])
    rng = np.random.default_rng(0)
    history = Study(Problem(Space(problem.space)), RandomSampler(), FullFidelity(1)).history
    drawn = [RandomSampler().ask(history, Start(1), rng)["x"] for _ in range(3_000)]
    counts = [drawn.count(x) for x in (0.1, 0.11, 0.9)]
    assert min(counts) > 900  # 1,000 and a standard deviation of 26


def test_the_space_of_a_search_cv_can_be_a_table():
    params = [{"quality": q, "other": o} for q, o in [(0.1, 1), (0.2, 5), (0.3, 2)]]
    space = {"quality": uniform(0, 1), "other": [1, 2, 5]}
    problem = TabularProblem(space, params, [0.9, 0.8, 0.7])
    search = RandomSearchCV(Curve(), problem.space, n_iter=3, cv=2, random_state=0)
    search.fit(np.zeros((20, 1)), np.arange(20.0))
    assert sorted(search.cv_results_["param_quality"]) == [0.1, 0.2, 0.3]
    problem.losses(search.cv_results_["params"])


def test_a_whole_grid_is_searched_as_the_grid():
    space = {"depth": [1, 2], "solver": ["adam", "sgd"]}
    grid = [{"depth": d, "solver": s} for d, s in itertools.product(*space.values())]
    assert TabularProblem(space, grid, range(4)).space is space
    assert TabularProblem(space, grid[:3], range(3)).space == [
        {"depth": [d], "solver": [s]} for d, s in [(1, "adam"), (1, "sgd"), (2, "adam")]
    ]


def test_a_conditional_table_has_rows_of_different_names():
    space = {"on": [True, False], "x": When(uniform(0, 1), "on", "==", True)}
    problem = TabularProblem(space, [{"on": True, "x": 0.5}, {"on": False}], [1.0, 2.0])
    assert problem.space == [{"on": [True], "x": [0.5]}, {"on": [False]}]
    assert problem.losses([{"on": False}]) == 2
    with pytest.raises(ValueError, match="not a row"):
        problem.losses([{"on": True, "x": 0.6}])


def test_with_nearest_any_params_have_the_losses_of_the_nearest_row():
    space = {"rate": loguniform(1e-4, 1), "batch": [16, 32, 64, 128]}
    params = [{"rate": 1e-3, "batch": 16}, {"rate": 1e-1, "batch": 128}]
    problem = TabularProblem(space, params, [1.0, 2.0], nearest=True)
    assert problem.space is space
    near = [{"rate": 0.02, "batch": 64}, {"rate": 0.02, "batch": 16}, {"rate": 1e-4, "batch": 32}]
    assert problem.losses(near)[:, 0].tolist() == [2, 1, 1]
    # Where batch sizes are categories, 64 is as far from 128 as from 16.
    query = {"rate": 9e-3, "batch": 64}
    assert problem.losses([query]) == 2
    problem = TabularProblem(space, params, [1.0, 2.0], nearest=True, categories=["batch"])
    assert problem.losses([query]) == 1


def test_the_seed_chooses_a_repetition_for_each_row():
    params, losses = rows(40), np.random.default_rng(0).random((40, 3, 5))
    problem = TabularProblem(SPACE, params, losses)
    curves = problem.losses(params, seed=3)
    which = [[(curve == losses[i, :, r]).all() for r in range(5)].index(True)
             for i, curve in enumerate(curves)]  # fmt: skip
    assert set(which) == set(range(5))
    alone = np.vstack([problem.losses([candidate], seed=3) for candidate in params[::-1]])[::-1]
    np.testing.assert_array_equal(alone, curves)
    assert (problem.losses(params, seed=4) != curves).any()
    np.testing.assert_array_equal(problem.losses(params, seed=3), curves)
    without = TabularProblem(SPACE, params, losses, noise=False)
    np.testing.assert_allclose(without.losses(params, seed=3), losses.mean(axis=2))


def test_regret_is_0_for_the_best_row_and_1_for_the_median_one():
    params, losses = rows(31), np.random.default_rng(0).random((31, 3, 5))
    problem = TabularProblem(SPACE, params, losses)
    last = np.sort(losses.mean(axis=2)[:, -1])
    assert (problem.minimum, problem.best, problem.median) == (last[0], last[0], last[15])
    np.testing.assert_array_equal(problem.regret(last[[0, 15]]), [0, 1])
    assert problem.regret(last[30]) > 1


def test_without_a_difference_there_is_no_regret():
    for losses in ([1.0, 1.0], [np.nan, np.nan]):
        problem = TabularProblem({"x": [1, 2]}, [{"x": 1}, {"x": 2}], losses)
        with pytest.raises(ValueError, match="losses cannot be scaled"):
            problem.regret(1.0)


def test_failed_trainings_have_no_part_in_best_and_median():
    problem = TabularProblem({"x": [1, 2, 3, 4]}, [{"x": i} for i in (1, 2, 3, 4)],
                             [-np.inf, 3, 1, 2])  # fmt: skip
    assert (problem.best, problem.median) == (1, 2)
    assert np.isnan(problem.losses([{"x": 1}])).all()


def test_seconds_never_go_back():
    problem = TabularProblem({"x": [1, 2]}, [{"x": 1}, {"x": 2}], np.zeros((2, 3)),
                             seconds=[[1, 2, 3], [5, 4, 9]])  # fmt: skip
    assert problem.seconds([{"x": 2}, {"x": 1}]).tolist() == [[5, 5, 9], [1, 2, 3]]
    problem = TabularProblem({"x": [1, 2]}, [{"x": 1}, {"x": 2}], np.zeros((2, 3)))
    assert problem.seconds([{"x": 2}]).tolist() == [[1, 2, 3]]


def test_a_candidate_that_is_there_twice_or_a_wrong_shape_is_refused():
    with pytest.raises(ValueError, match="only 2 of 3 candidates are distinct"):
        TabularProblem({"x": [1, 2]}, [{"x": 1}, {"x": 2}, {"x": 1}], [1, 2, 3])
    with pytest.raises(ValueError, match=r"losses has shape \(2,\), expected \(1,\)"):
        TabularProblem({"x": [1, 2]}, [{"x": 1}], [1, 2])
    with pytest.raises(ValueError, match=r"seconds has shape \(1, 2\), expected \(1, 1\)"):
        TabularProblem({"x": [1, 2]}, [{"x": 1}], [1], seconds=[[1, 2]])


def test_a_pool_is_read_from_its_file(tmp_path):
    meta = {
        "kind": "pool",
        "space": [
            {"name": "batch", "type": "cat", "choices": [16, 32]},
            {"name": "rate", "type": "float", "lower": 1e-4, "upper": 1.0, "log": True},
            {"name": "units", "type": "int", "lower": 8, "upper": 64, "log": True},
            {"name": "layers", "type": "int", "lower": 1.0, "upper": 4.0},
            {"name": "on", "type": "cat", "choices": [True, False]},
            {"name": "drop", "type": "float", "lower": 0, "upper": 0.5}
            | {"parent": "on", "when": [True]},
        ],
    }
    X = np.array([[1, 0.1, 64, 2, 0, 0.25], [0, 0.01, 8, 4, 1, np.nan]])
    valid = np.random.default_rng(0).random((2, 3, 2)).astype(np.float32)
    time = [[1, 2, 3], [4, 5, 6]]
    np.savez(tmp_path / "t.npz", meta=np.array(json.dumps(meta)), X=X, valid=valid, time=time)
    problem = TabularProblem.read(tmp_path / "t.npz", noise=False)
    first = {"batch": 32, "rate": 0.1, "units": 64, "layers": 2, "on": True, "drop": 0.25}
    second = {"batch": 16, "rate": 0.01, "units": 8, "layers": 4, "on": False}
    assert problem.params == [first, second]
    assert [type(value) for value in problem.params[0].values()] == [
        int, float, int, int, bool, float
    ]  # fmt: skip
    np.testing.assert_allclose(problem.losses([second]), valid[1:].mean(axis=2))
    assert problem.seconds([second]).tolist() == [[4, 5, 6]]
    space = Space(TabularProblem.read(tmp_path / "t.npz", nearest=True).space)
    bounds = {d.name: d.bounds for d in space.dimensions}
    assert bounds["units"] == (8, 64)
    assert bounds["layers"] == (1, 4)
    assert bounds["rate"] == (1e-4, 1)
    assert {d.name for d in space.dimensions if d.log} == {"rate", "units"}


@pytest.mark.skipif(not MODELS.is_file(), reason="the examples are not there")
def test_the_table_of_600_trained_models_is_what_its_script_says():
    problem = TabularProblem.read(MODELS)
    with np.load(MODELS) as arrays:
        space = _tables.space_of(json.loads(str(arrays["meta"]))["space"])
    assert MODELS.stat().st_size < 100_000
    assert Space(space).size == 34_300
    assert len(problem.params) == len(problem.space) == 600
    for params in problem.params:
        Space(space).check(params)
    # Some are good, most are average, some have learnt nothing: chance is 0.9.
    assert problem.best < 0.2 < problem.median < 0.5
    assert problem.seconds(problem.params).sum() < 20 * 60


def test_a_task_that_is_not_there_is_said_to_be_missing(monkeypatch, tmp_path):
    monkeypatch.setenv("SKSEARCH_DATA", str(tmp_path))
    with pytest.raises(
        FileNotFoundError, match=r"put hpo/\S+\.npz, .*SKSEARCH_DATA.*or use load_mnist_curves"
    ):
        load_task("taskset_imdb")
    with pytest.raises(ValueError, match="not a task: use one of taskset_imdb"):
        load_task("imagenet")


@needs_tasks
@pytest.mark.parametrize("name", [n for n in task_names() if n != "fcnet_protein"])
def test_a_task_has_the_best_and_median_that_its_file_names(name):
    problem = load_task(name)
    meta, arrays = raw(name)
    assert problem.best == pytest.approx(meta["best"]["loss"], abs=1e-6)
    assert problem.median == pytest.approx(meta["median"], rel=1e-6)
    assert problem.max_resources == (meta["fidelity"] or 1)
    best = load_task(name, noise=False).losses([meta["best"]["config"]])[0, -1]
    assert best == pytest.approx(problem.best)
    if "time" in arrays:
        np.testing.assert_array_equal(
            problem.seconds(problem.params[:9])[:, -1], arrays["time"][:9].max(axis=1)
        )
    else:
        assert problem.seconds(problem.params[:1])[0, -1] == problem.max_resources


@needs_tasks
@pytest.mark.parametrize("name", ["arlbench_dqn", "opda_alexnet", "taskset_imdb"])
def test_a_pool_answers_as_the_definition_says(name):
    meta, arrays = raw(name)
    problem = load_task(name, noise=False)
    space, rng = Space(problem.space), np.random.default_rng(0)
    queries = [space.sample(rng) for _ in range(50)]
    gaps = np.zeros((50, len(arrays["X"])))
    for entry, x in zip(meta["space"], arrays["X"].T, strict=True):
        values = [query.get(entry["name"], np.nan) for query in queries]
        if "choices" in entry:
            place = np.array([entry["choices"].index(value) for value in values], float)
            gap = place[:, np.newaxis] != x
        else:
            scale = np.log if entry.get("log") else np.asarray
            span = scale(entry["upper"]) - scale(entry["lower"])
            gap = np.abs(scale(values)[:, np.newaxis] - scale(x)) / span
        inactive = np.isnan(values)[:, np.newaxis]
        gaps += np.where(inactive | np.isnan(x), inactive != np.isnan(x), gap) ** 2
    nearest = arrays["valid"].astype(float).mean(axis=2)[gaps.argmin(axis=1)]
    np.testing.assert_allclose(problem.losses(queries), nearest)


@needs_tasks
def test_a_grid_answers_with_its_own_point():
    meta, arrays = raw("hpobench_vehicle")
    problem = load_task("hpobench_vehicle", noise=False)
    shape = [len(entry["choices"]) for entry in meta["space"]]
    rng = np.random.default_rng(0)
    for i in rng.integers(len(arrays["valid"]), size=20):
        place = np.unravel_index(i, shape)
        params = {e["name"]: e["choices"][k] for e, k in zip(meta["space"], place, strict=True)}
        assert problem.losses([params]) == pytest.approx(arrays["valid"][i].mean())


def raw(name):
    """The file of a task, read by hand."""
    with np.load(datasets._data_folder() / "hpo" / f"{_tables._FILES[name]}.npz") as arrays:
        return json.loads(str(arrays["meta"])), {k: arrays[k] for k in arrays if k != "meta"}
