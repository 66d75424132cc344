"""Many searches x problems x seeds: one tidy table, however it came about."""

import json
import math
import sys
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal
from scipy.stats import loguniform, uniform
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import GridSearchCV, HalvingRandomSearchCV, RandomizedSearchCV
from sklearn.svm import SVC
from skopt import BayesSearchCV

from sksearch import HyperbandSearchCV, RandomSearchCV, When
from sksearch.checkpoint.identity._reached import fingerprint
from sksearch.experiment import run_experiment
from sksearch.history import Problem
from sksearch.samplers import RandomSampler, TPESampler
from sksearch.schedulers import FullFidelity, Hyperband
from sksearch.simulators import FAMILIES, GammaCurves, NearestCurves, TabularProblem, play
from sksearch.simulators._functions import Rastrigin
from sksearch.simulators._problem import CurveProblem
from sksearch.space import Space
from tests import scripts
from tests.fakes import Curve, Failing

COLUMNS = ["search", "problem", "seed", "step", "resource", "seconds", "loss", "incumbent"]
ONE_SPLIT = [([0], [1])]
DATA = (np.zeros((10, 1)), np.zeros(10))


class Steps(CurveProblem):
    """An epoch takes `speed` seconds, twice as many for a quality above 0.5."""

    max_resources = 9
    n_calls = 0  # by all instances in this process

    def __init__(self, speed=1.0):
        self.speed = speed
        self.space = {"quality": uniform(0, 1)}

    def losses(self, params, seed=0):
        Steps.n_calls += 1
        quality = np.array([p["quality"] for p in params])
        return 1 - quality[:, None] + (1 + seed) / np.arange(1, 10)

    def seconds(self, params):
        quality = np.array([p["quality"] for p in params])
        return (1.0 + (quality > 0.5))[:, None] * np.arange(1, 10) * self.speed


def experiment(searches, problems=None, n_seeds=2, **kwargs):
    problems = {"steps": Steps()} if problems is None else problems
    return run_experiment(searches, problems, n_seeds, **({"verbose": 0} | kwargs))


def one(search, problem=None):
    """The rows of one run."""
    return experiment({"search": search}, {"problem": problem or Steps()}, n_seeds=1)


RANDOM = (RandomSampler(), FullFidelity(5))
HYPERBAND = (RandomSampler(), Hyperband())
PLAN = Hyperband().plan(Problem(Space({"quality": uniform(0, 1)}), 1, 9))


# ---- what the columns say


def test_the_table_has_a_row_for_each_evaluation_of_each_run():
    table = experiment({"b": RANDOM, "a": HYPERBAND}, {"z": Steps(), "y": Steps(2.0)}, 3)
    assert list(table.columns) == COLUMNS
    counts = table.groupby(["search", "problem", "seed"], sort=False).size()
    assert counts.index.tolist() == [(s, p, k) for s in "ba" for p in "zy" for k in range(3)]
    assert counts.tolist() == [5] * 6 + [PLAN.n_jobs] * 6
    for _, run in table.groupby(["search", "problem", "seed"]):
        assert run["step"].tolist() == list(range(1, len(run) + 1))
    assert [table[name].dtype.kind for name in COLUMNS[2:]] == list("iiifff")


def test_a_played_run_matches_play():
    history = play(*RANDOM, Steps(), random_state=0)
    params = [trial.params for trial in history.trials]
    losses = Steps().losses(params, seed=0)[:, -1]
    run = one(RANDOM)
    np.testing.assert_array_equal(run["loss"], losses)
    np.testing.assert_array_equal(run["incumbent"], np.minimum.accumulate(losses))
    np.testing.assert_array_equal(run["resource"], 9 * np.arange(1, 6))
    np.testing.assert_allclose(run["seconds"], Steps().seconds(params)[:, -1].cumsum())


def test_the_incumbent_is_the_best_at_the_largest_resource_so_far():
    history = play(*HYPERBAND, Steps(), random_state=0)
    tells = [(trial, resource) for kind, trial, resource in history.log if kind == "tell"]
    run = one(HYPERBAND)
    for n, found in enumerate(run["incumbent"], start=1):
        top = max(resource for _, resource in tells[:n])
        scores = [history.trials[i].results[top].score for i, r in tells[:n] if r == top]
        assert found == -max(scores)
    assert run["incumbent"].diff().max() < 0 or run["incumbent"].is_monotonic_decreasing


def test_resources_match_the_plan():
    run = one(HYPERBAND)
    assert run["resource"].iloc[-1] == PLAN.total_resources(continues=True)
    assert (run["resource"].diff().dropna() > 0).all()


def test_a_search_estimator_on_curves_gives_the_rows_of_the_pair():
    search = HyperbandSearchCV(
        Curve(), {"quality": [0]}, resource="epochs", max_resources=9, cv=ONE_SPLIT, refit=False
    )
    assert_frame_equal(one(search), one(HYPERBAND), rtol=1e-12)


@pytest.mark.parametrize(
    "search",
    [
        RandomizedSearchCV(Curve(), {"quality": [0]}, n_iter=4, cv=2),
        RandomSearchCV(Curve(), {"quality": [0]}, n_iter=4, cv=2),
        partial(RandomizedSearchCV, n_iter=4, cv=2),
        partial(RandomSearchCV, n_iter=4, cv=2, refit=False),
    ],
)
def test_foreign_and_own_searches_are_counted_alike(search):
    run = one(search)
    params = RandomizedSearchCV(Curve(), Steps().space, n_iter=4, random_state=0)
    params = params.fit(np.zeros((6, 1)), np.zeros(6)).cv_results_["params"]
    np.testing.assert_allclose(run["loss"], Steps().losses(params)[:, -1])
    np.testing.assert_array_equal(run["resource"], 9 * np.arange(1, 5))
    two_folds = 2 * Steps().seconds(params)[:, -1]
    np.testing.assert_allclose(run["seconds"], two_folds.cumsum())


def test_searches_by_epochs_have_all_epochs_of_the_problem():
    search = HyperbandSearchCV(Curve(), {}, resource="epochs", cv=ONE_SPLIT, refit=False)
    shorter = search.set_params(max_resources="auto")
    table = run_experiment(
        {"own": shorter, "fewer": clone(search).set_params(max_resources=3)},
        {"steps": Steps()},
        1,
        verbose=0,
    )
    spent = table.groupby("search")["resource"].last()
    # Nine epochs have brackets of 9, 3 and 3 candidates, three epochs of 3 and 2.
    assert spent["own"] == 9 + 3 * 2 + 6 + 3 * 3 + 6 + 27
    assert spent["fewer"] == 3 + 2 + 2 * 3


def test_several_metrics_need_one_by_which_to_compare():
    search = RandomizedSearchCV(
        SVC(), {"C": [1, 2]}, n_iter=2, scoring=["accuracy", "f1_macro"], refit=False, cv=2
    )
    X, y = load_iris(return_X_y=True)
    with pytest.warns(UserWarning, match="several metrics: choose one with refit="):
        run_experiment({"two": search}, {"iris": (X, y)}, 1, verbose=0)


def test_refit_may_name_the_one_metric_of_a_foreign_search():
    search = GridSearchCV(SVC(), {"C": [0.01, 2]}, scoring="accuracy", refit="accuracy", cv=2)
    X, y = load_iris(return_X_y=True)
    losses = one(search, (X, y))["loss"].tolist()
    assert losses == (-search.fit(X, y).cv_results_["mean_test_score"]).tolist()


def test_foreign_searches_draw_rows_of_a_table():
    params = [{"depth": i, "kind": "a"} for i in range(4)]
    space = {"depth": list(range(4)), "kind": ["a", "b"]}
    table = TabularProblem(space, params, np.arange(4.0))
    run = one(GridSearchCV(Curve(), {"quality": [0]}, cv=2), table)
    assert run["loss"].tolist() == [0, 1, 2, 3]
    assert run["seconds"].tolist() == [2, 4, 6, 8]


def test_a_grid_without_a_seed_is_a_search_as_well():
    run = one(GridSearchCV(Curve(), {"quality": [0.2, 0.9]}), DATA)
    np.testing.assert_allclose(run["loss"], [0.8 - 0.2, 0.1 - 0.9])
    assert run["resource"].tolist() == [1, 2]


def test_the_resource_of_a_foreign_halving_is_its_own():
    halving = HalvingRandomSearchCV(
        Curve(), {"quality": uniform(0, 1)}, n_candidates=4, factor=2, min_resources=10, cv=2
    )
    run = one(halving, (np.zeros((40, 1)), np.zeros(40)))
    assert run["resource"].diff().dropna().tolist() == [10, 10, 10, 20, 20, 40]
    # Every candidate was trained as far as any other, and yet one at 40 rows leads one at 10.
    assert run["incumbent"].iloc[-1] == run["loss"].iloc[-1]


def test_a_foreign_halving_of_epochs_is_paid_by_the_epoch():
    halving = partial(
        HalvingRandomSearchCV,
        resource="n_epochs",
        n_candidates=9,
        min_resources=1,
        max_resources=9,
        cv=2,
    )
    run = one(halving)
    epochs = [1] * 9 + [3] * 3 + [9]
    np.testing.assert_array_equal(run["resource"], np.cumsum(epochs))
    quality = 1 - run["loss"] + 1 / np.array(epochs)
    np.testing.assert_allclose(
        run["seconds"], (2 * np.array(epochs) * (1 + (quality > 0.5))).cumsum()
    )
    assert run["incumbent"].iloc[-1] == run["loss"].iloc[-1]


def test_own_and_foreign_searches_on_real_data():
    X, y = load_iris(return_X_y=True)
    searches = {
        "Bayes": BayesSearchCV(SVC(), {"C": (1e-2, 1e2, "log-uniform")}, n_iter=6, cv=3),
        "random": RandomSearchCV(SVC(), {"C": loguniform(1e-2, 1e2)}, n_iter=6, cv=3),
    }
    table = experiment(searches, {"iris": (X, y)}, n_seeds=1)
    for name, search in searches.items():
        run = table[table["search"] == name]
        search.set_params(random_state=0).fit(X, y)
        np.testing.assert_array_equal(run["loss"], -search.cv_results_["mean_test_score"])
        assert run["incumbent"].iloc[-1] == -search.best_score_
        assert run["resource"].tolist() == list(range(1, 7))
        assert run["seconds"].is_monotonic_increasing
        assert run["seconds"].iloc[0] > 0


def test_a_real_problem_gives_its_estimator_and_space_to_searches():
    X, y = load_iris(return_X_y=True)
    problem = (SVC(), {"C": loguniform(1e-2, 1e2)}, X, y)
    by_class = one(partial(RandomizedSearchCV, n_iter=3), problem)
    prototype = one(RandomizedSearchCV(Curve(), {"quality": [0]}, n_iter=3), problem)
    assert_frame_equal(by_class.drop(columns="seconds"), prototype.drop(columns="seconds"))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
def test_a_candidate_that_failed_has_no_loss_and_is_not_the_incumbent():
    problem = (Failing(), {"quality": uniform(0, 1)}, np.zeros((6, 1)), np.zeros(6))
    run = one(partial(RandomSearchCV, n_iter=12, cv=2, refit=False), problem)
    failed = run["loss"].isna()
    assert 0 < failed.sum() < 12
    best = math.nan
    for loss, incumbent in zip(run["loss"], run["incumbent"], strict=True):
        best = np.fmin(best, loss)
        np.testing.assert_equal(incumbent, best)


# ---- the same table in every way


@pytest.mark.whole
@pytest.mark.slow
def test_the_table_does_not_depend_on_n_jobs():
    searches = {
        "random": RANDOM,
        "TPE": (TPESampler(), FullFidelity(12)),
        "search": HyperbandSearchCV(
            Curve(), {"quality": [0]}, resource="epochs", max_resources=9, cv=ONE_SPLIT
        ),
    }
    problems = {"steps": Steps(), "slow": Steps(0.1)}
    expected = experiment(searches, problems, 3)
    assert_frame_equal(experiment(searches, problems, 3, n_jobs=2), expected, check_exact=True)


def test_a_resumed_experiment_does_the_rest_and_gives_the_same_table(tmp_path):
    path = tmp_path / "runs.jsonl"
    searches = {"random": RANDOM, "Hyperband": HYPERBAND}
    expected = experiment(searches, n_seeds=4)
    experiment(searches, n_seeds=2, path=path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])  # killed in the middle of the last line
    Steps.n_calls = 0
    assert_frame_equal(experiment(searches, n_seeds=4, path=path), expected, check_exact=True)
    assert (
        Steps.n_calls == 2 * 5 + 3 * PLAN.n_candidates
    )  # curves of the five runs that were missing
    assert path.read_bytes().startswith(whole[: whole[:-1].rfind(b"\n") + 1])
    Steps.n_calls = 0
    assert_frame_equal(experiment(searches, n_seeds=4, path=path), expected, check_exact=True)
    assert Steps.n_calls == 0
    assert len(path.read_text().splitlines()) == 8


def test_a_changed_search_or_problem_is_run_again(tmp_path):
    path = tmp_path / "runs.jsonl"
    experiment({"a": RANDOM}, path=path)
    table = experiment({"a": (RandomSampler(), FullFidelity(7))}, path=path)
    assert table["step"].max() == 7
    assert len(path.read_text().splitlines()) == 4
    slow = experiment({"a": RANDOM}, {"steps": Steps(10.0)}, path=path)
    assert slow["seconds"].max() > 10 * 5 * 9 - 1
    assert len(path.read_text().splitlines()) == 6


def test_runs_not_asked_for_stay_in_the_file_and_out_of_the_table(tmp_path):
    path = tmp_path / "runs.jsonl"
    experiment({"a": RANDOM, "b": HYPERBAND}, path=path)
    assert set(experiment({"b": HYPERBAND}, path=path)["search"]) == {"b"}
    assert len(path.read_text().splitlines()) == 4


def test_a_nan_survives_the_file(tmp_path):
    path = tmp_path / "runs.jsonl"
    search = NanFirst(Curve(), {"quality": [0.1, 0.2]})
    fresh, again = (experiment({"a": search}, {"p": DATA}, path=path) for _ in range(2))
    assert fresh["incumbent"].isna().tolist() == [True, False] * 2
    assert_frame_equal(again, fresh, check_exact=True)


class NanFirst(GridSearchCV):
    """A foreign search whose first candidate has no score."""

    def fit(self, X, y=None):
        super().fit(X, y)
        self.cv_results_["mean_test_score"][0] = np.nan
        return self


@pytest.mark.parametrize("text", ["no json\n", "[1, 2]\n", '{"search": "a"}\n', "3\n"])
def test_another_file_is_refused_and_left_alone(tmp_path, text):
    path = tmp_path / "notes.txt"
    path.write_text(text)
    with pytest.raises(ValueError, match="is not a run of an experiment"):
        experiment({"a": RANDOM}, path=path)
    assert path.read_text() == text


def test_a_line_of_the_file_is_a_run(tmp_path):
    path = tmp_path / "runs.jsonl"
    table = experiment({"a": RANDOM}, n_seeds=1, path=path)
    row = json.loads(path.read_text())
    assert (row["search"], row["problem"], row["seed"]) == ("a", "steps", 0)
    assert row["loss"] == table["loss"].tolist()


# ---- failures, progress, errors

IN_TURN = GammaCurves(Rastrigin(2), FAMILIES["rastrigin-1"], schedule="round_robin")


def fails_for_seed_1(estimator, space, random_state):
    if random_state == 1:
        raise RuntimeError("on purpose")
    return RandomSearchCV(estimator, space, n_iter=3, random_state=random_state, refit=False)


def test_a_run_that_fails_costs_only_itself_and_is_tried_again(tmp_path):
    path = tmp_path / "runs.jsonl"
    searches = {"good": RANDOM, "bad": fails_for_seed_1}
    told = r"1 of 6 runs failed .*'bad' on problem 'steps' with seed 1: RuntimeError: on purpose"
    for _ in range(2):
        with pytest.warns(UserWarning, match=told):
            table = experiment(searches, n_seeds=3, path=path)
        runs = table.groupby("search")["seed"].unique()
        assert runs["good"].tolist() == [0, 1, 2]
        assert runs["bad"].tolist() == [0, 2]


def test_an_experiment_in_which_all_fails_is_an_empty_table():
    def no_results(estimator, space, random_state):
        return Curve()

    with pytest.warns(UserWarning, match="2 of 2 runs failed .*Curve has no cv_results_"):
        table = experiment({"no search": no_results})
    assert list(table.columns) == COLUMNS
    assert len(table) == 0


def test_progress_is_told_on_standard_error_or_not_at_all(capsys):
    experiment({"a": RANDOM}, n_seeds=3)
    assert capsys.readouterr() == ("", "")
    experiment({"a": RANDOM}, n_seeds=3, verbose=1)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("3/3 runs in ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("searches", "problems", "n_seeds", "error", "message"),
    [
        ([RANDOM], None, 2, TypeError, "searches=.* must be a dict"),
        ({"a": RANDOM}, {1: Steps()}, 2, TypeError, "problems=.* must be a dict"),
        ({}, None, 2, ValueError, "searches is empty"),
        ({"a": RANDOM}, None, 0, ValueError, "n_seeds=0 must be an integer of at least 1"),
        ({"a": RANDOM}, None, True, ValueError, "n_seeds=True must be"),
        (
            {"a": RANDOM},
            {"p": (1, 2, 3)},
            2,
            TypeError,
            "'p' is .* must be a CurveProblem",
        ),
        ({"a": (Hyperband(), RandomSampler())}, None, 2, TypeError, "must be .Sampler, Scheduler"),
        (
            {"a": RANDOM},
            {"p": DATA},
            2,
            TypeError,
            "'a' is a pair, which can only be played on curves",
        ),
        ({"a": "Hyperband"}, None, 2, TypeError, "'a' is 'Hyperband', but must be a search"),
        ({"a": RandomSearchCV}, {"p": IN_TURN}, 2, TypeError, "'p' has schedule='round_robin'"),
        ({"a": RandomSearchCV}, {"p": DATA}, 2, TypeError, "problem 'p' has only data"),
        ({"a": Curve()}, None, 2, TypeError, "'a' has none of the parameters param_distributions"),
    ],
)
def test_arguments_that_do_not_fit_are_errors_before_anything_is_run(
    searches, problems, n_seeds, error, message
):
    Steps.n_calls = 0
    with pytest.raises(error, match=message):
        experiment(searches, problems, n_seeds)
    assert Steps.n_calls == 0


def test_without_pandas_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r'pip install "\.\[experiment\]"'):
        experiment({"a": RANDOM})


# ---- fingerprints of searches and problems


def things():
    """What experiments are made of."""
    large = np.random.default_rng(0).random((500, 4))
    space = {"C": loguniform(1e-3, 1), "kernel": ["rbf", "linear"]}
    space["gamma"] = When(uniform(0, 1), "kernel", "==", "rbf")
    offset = 3
    return {
        "pair": (TPESampler(gamma=0.2), Hyperband()),
        "search": RandomizedSearchCV(SVC(), space, scoring="accuracy", random_state=0),
        "partial": partial(RandomSearchCV, n_iter=4, scoring=lambda e, X, y: offset),
        "class": RandomSearchCV,
        "function": fails_for_seed_1,
        "skopt": BayesSearchCV(SVC(), {"C": (1e-2, 1e2, "log-uniform")}),
        "problem": Steps(2.0),
        "real": (SVC(), space, large, large[:, 0] > 0.5),
        "frame": (pd.DataFrame({"a": [1.5, 2], "b": ["x", "y"]}), pd.Series([0, 1])),
        "set": {"b", "a", "c"},
        "generator": np.random.RandomState(3),
        "method": Steps(2.0).losses,
        "ufunc": [np.add, np.sum, len],
    }


@pytest.mark.slow
def test_fingerprints_are_the_same_in_every_process_and_tell_things_apart():
    script = """
import json, numpy as np
from tests.test_experiment import fingerprint, things
np.random.seed(1)
print(json.dumps({name: fingerprint(thing) for name, thing in things().items()}))
"""
    done = scripts.run(["-c", script], check=True)
    here = {name: fingerprint(thing) for name, thing in things().items()}
    assert json.loads(done.stdout) == here
    assert len(set(here.values())) == len(here)


class Squares:
    """Keeps the square of its number."""

    def __init__(self, number):
        self.number = number

    @cached_property
    def square(self):
        return self.number**2


def bounded_by(high):
    """A user's own function for `GammaCurves`."""

    def function(X):
        return X[:, 0]

    function.bounds = [(0, high)]
    return function


@pytest.mark.parametrize(
    ("this", "that"),
    [
        ((TPESampler(gamma=0.2), Hyperband()), (TPESampler(gamma=0.1), Hyperband())),
        (RandomSearchCV(SVC(), {"C": uniform(0, 1)}), RandomSearchCV(SVC(), {"C": uniform(0, 2)})),
        (RandomSearchCV(SVC(), {}), RandomizedSearchCV(SVC(), {})),
        (RandomizedSearchCV(SVC(C=1), {}), RandomizedSearchCV(SVC(C=2), {})),
        (partial(RandomSearchCV, n_iter=3), partial(RandomSearchCV, n_iter=4)),
        (Steps(1.0), Steps(2.0)),
        (np.arange(10_000.0), np.arange(10_000.0) + 1e-9 * (np.arange(10_000) == 5000)),
        (lambda X: X + 1, lambda X: X + 2),
        (lambda X, *, by=1: X + by, lambda X, *, by=2: X + by),
        (bounded_by(1), bounded_by(2)),
        ({"a": [1], "b": [2]}, {"b": [2], "a": [1]}),
        (np.random.RandomState(3), np.random.RandomState(4)),
        (np.random.default_rng(3), np.random.default_rng(4)),
        (Path("a"), Path("b")),
        (Squares(2), Squares(3)),
    ],
)
def test_a_fingerprint_tells_what_has_changed(this, that):
    assert fingerprint(this) == fingerprint(this)
    assert fingerprint(this) != fingerprint(that)


def test_a_fingerprint_does_not_change_by_use_nor_by_the_global_generator():
    space = {"C": uniform(0, 1)}
    search = RandomSearchCV(Curve(), {"quality": uniform(0, 1)}, n_iter=3, cv=2)
    before = fingerprint((search, space))
    search.fit(np.zeros((6, 1)), np.zeros(6))
    np.random.seed(5)
    space["C"].rvs(3)
    assert fingerprint((search, space)) == before


@pytest.mark.parametrize("kind", ["nearest", "conditional", "table", "gamma"])
def test_a_fingerprint_of_a_problem_does_not_change_by_use(kind):
    space = {"on": [True, False], "x": uniform(0, 1)}
    if kind == "conditional":
        space["x"] = When(space["x"], "on", "==", True)
    params = [{"on": True, "x": 0.2}, {"on": True, "x": 0.7}]
    if kind == "gamma":
        params, problem = [{"x0": 1, "x1": 2}], GammaCurves(Rastrigin(2))
    elif kind == "table":
        problem = TabularProblem(space, params, [[[1.0, 2.0]], [[3.0, 4.0]]])
    else:
        problem = NearestCurves(space, params, [[1.0], [2.0]])
    before = fingerprint(problem)
    problem.losses(params, seed=3)
    assert fingerprint(problem) == before


def test_a_fingerprint_does_not_change_by_what_an_object_keeps_to_be_faster():
    for make, use in ((lambda: Squares(2), lambda s: s.square), (lambda: Path("a/b"), hash)):
        used = make()
        use(used)
        assert fingerprint(used) == fingerprint(make())


def test_a_fingerprint_of_what_holds_itself_ends():
    loop = [1]
    loop.append(loop)
    assert len(fingerprint(loop)) == 16
