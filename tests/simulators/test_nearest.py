"""Recorded curves: the nearest one by the definition, for whatever the space has."""

import pickle
import time

import numpy as np
import pytest
from scipy.stats import expon, loguniform, poisson, randint, spearmanr, uniform
from sklearn.tree import DecisionTreeClassifier

from sksearch import HyperbandSearchCV, RandomSearchCV, When
from sksearch.simulators import NearestCurves
from sksearch.space import LogRandInt, Space
from tests.fakes import Curve, Failing

PLAIN = {"rate": loguniform(1e-6, 1), "decay": loguniform(1e-6, 0.1), "momentum": uniform(0, 1)}
MIXED = {
    "rate": loguniform(1e-6, 1),
    "units": LogRandInt(1, 1000),
    "depth": randint(1, 9),
    "dropout": uniform(0, 0.9),
    "batch": [16, 32, 64, 128],
    "solver": ["adam", "sgd", "lbfgs"],
    "norm": [True, False],
}
CONDITIONAL = {
    "model": ["svm", "forest", "net"],
    "C": When(loguniform(1e-3, 1e3), "model", "==", "svm"),
    "kernel": When(["rbf", "poly"], "model", "==", "svm"),
    "degree": When(randint(2, 7), "kernel", "==", "poly"),
    "age": When(randint(1, 40), "model", "in", ["forest", "net"]),
    "dropout": When(uniform(0, 0.9), "model", "==", "net"),
}
DISTRIBUTIONS = {"wait": expon(scale=3), "count": poisson(4), "x": uniform(-5, 10)}
SPACES = {
    "plain": PLAIN,
    "mixed": MIXED,
    "conditional": CONDITIONAL,
    "distributions": DISTRIBUTIONS,
}


def draws(space, n, seed=0):
    space, rng = Space(space), np.random.default_rng(seed)
    return [space.sample(rng) for _ in range(n)]


PLACES = {
    "rate": lambda x: (np.log10(x) + 6) / 6,
    "decay": lambda x: (np.log10(x) + 6) / 5,
    "units": lambda x: np.log(x) / np.log(999),
    "C": lambda x: (np.log10(x) + 3) / 6,
    "batch": lambda x: np.log2(x / 16) / 3,
    "degree": lambda x: (x - 2) / 4,
    "depth": lambda x: (x - 1) / 7,
    "age": lambda x: (x - 1) / 38,
    "momentum": lambda x: x,
    "dropout": lambda x: x / 0.9,
    "wait": expon(scale=3).cdf,
    "count": lambda k: poisson.cdf([k - 1, k], 4).mean(),
    "x": lambda x: (x + 5) / 10,
}


def distances(candidates, others, space):
    """The definition: the root of the mean over parameters, shape (n_candidates, n_others)."""
    placed = [
        [{name: PLACES.get(name, lambda x: x)(x) for name, x in params.items()} for params in each]
        for each in (candidates, others)
    ]

    def gap(name, a, b):
        if (name in a) != (name in b):
            return 1
        if name not in a:
            return 0
        return (a[name] - b[name]) ** 2 if name in PLACES else a[name] != b[name]

    squares = [[sum(gap(name, a, b) for name in space) for b in placed[1]] for a in placed[0]]
    return np.sqrt(np.array(squares) / len(space))


@pytest.mark.parametrize("name", SPACES)
def test_the_nearest_curve_matches_a_search_by_definition(name):
    space = SPACES[name]
    recorded, queries = draws(space, 60), draws(space, 40, seed=1)
    problem = NearestCurves(space, recorded, np.arange(60.0)[:, np.newaxis])
    exact = distances(queries, recorded, space)
    rows = problem.losses(queries)[:, 0].astype(int)
    np.testing.assert_allclose(problem.distances(queries), exact.min(axis=1), atol=1e-12)
    np.testing.assert_allclose(exact[np.arange(40), rows], exact.min(axis=1), atol=1e-12)
    # The space must not be so small that every row is a nearest one.
    assert len(np.unique(rows)) > 10


@pytest.mark.parametrize("name", SPACES)
def test_recorded_params_have_their_own_curve(name):
    space = Space(SPACES[name])
    recorded = list({space.key(params): params for params in draws(SPACES[name], 50)}.values())
    curves = np.random.default_rng(0).random((len(recorded), 7))
    problem = NearestCurves(SPACES[name], recorded, curves)
    np.testing.assert_array_equal(problem.losses(recorded), curves)
    assert problem.max_resources == 7
    assert problem.minimum == curves[:, -1].min()


@pytest.mark.parametrize("name", SPACES)
def test_the_error_matches_leaving_one_out(name):
    space = SPACES[name]
    recorded = draws(space, 40)
    curves = np.random.default_rng(0).random((40, 5))
    error = NearestCurves(space, recorded, curves).approximation_error()
    exact = distances(recorded, recorded, space)
    np.fill_diagonal(exact, np.inf)
    np.testing.assert_allclose(error.distances, exact.min(axis=1), atol=1e-12)
    unique = np.array([np.isclose(row, row.min()).sum() == 1 for row in exact])
    other = exact.argmin(axis=1)
    by_hand = np.sqrt(((curves - curves[other]) ** 2).mean(axis=1))
    np.testing.assert_allclose(error.errors[unique], by_hand[unique])
    assert unique.sum() > 30
    assert error.mean == error.errors.mean()
    assert error.median == np.median(error.errors)
    assert error.sd == error.errors.std()
    if unique.all():
        assert error.correlation == spearmanr(curves[:, -1], curves[other, -1]).statistic


def test_duplicates_stand_for_each_other():
    params = [{"x": 0.5}] * 4 + [{"x": 0.9}]
    problem = NearestCurves({"x": uniform(0, 1)}, params, np.arange(5.0)[:, np.newaxis])
    error = problem.approximation_error()
    np.testing.assert_allclose(error.distances, [0, 0, 0, 0, 0.4])
    assert (error.errors[:4] > 0).all()


def test_the_error_leaves_out_failed_trainings():
    params = [{"x": x} for x in (0.0, 0.1, 0.5, 0.6, 1.0)]
    curves = [[1.0], [2.0], [3.0], [5.0], [np.nan]]
    problem = NearestCurves({"x": uniform(0, 1)}, params, curves)
    error = problem.approximation_error()
    assert problem.minimum == 1
    np.testing.assert_array_equal(error.errors, [1, 1, 2, 2, np.nan])
    assert (error.mean, error.median) == (1.5, 1.5)
    assert NearestCurves({"x": uniform(0, 1)}, params, [[np.nan]] * 5).minimum is None


def test_there_is_no_error_of_a_single_curve():
    problem = NearestCurves({"x": uniform(0, 1)}, [{"x": 0.5}], [[1.0]])
    with pytest.raises(ValueError, match="only one candidate"):
        problem.approximation_error()


def test_a_curve_does_not_depend_on_the_rest_of_the_list_or_the_seed():
    queries = draws(CONDITIONAL, 30, seed=1)
    problem = NearestCurves(CONDITIONAL, draws(CONDITIONAL, 50), np.random.rand(50, 3))
    together = problem.losses(queries)
    alone = np.vstack([problem.losses([q], seed=9) for q in reversed(queries)])[::-1]
    np.testing.assert_array_equal(together, alone)
    again = pickle.loads(pickle.dumps(problem))
    np.testing.assert_array_equal(again.losses(queries), together)
    assert problem.losses([]).shape == (0, 3)


def test_a_parameter_that_is_inactive_in_one_of_two_makes_a_difference_of_1():
    space = {"on": [True, False], "x": When(uniform(0, 1), "on", "==", True)}
    problem = NearestCurves(space, [{"on": True, "x": 0.25}], [[1.0]])
    np.testing.assert_allclose(problem.distances([{"on": True, "x": 0.75}]), np.sqrt(0.25 / 2))
    np.testing.assert_allclose(problem.distances([{"on": False}]), 1)
    problem = NearestCurves(space, [{"on": False}], [[1.0]])
    assert problem.distances([{"on": False}]) == 0


def test_true_is_not_1_and_objects_are_choices():
    stump, tree = DecisionTreeClassifier(max_depth=1), DecisionTreeClassifier()
    space = {"estimator": [stump, tree], "flag": [True, 1], "shape": [[1, 2], [3]]}
    params = [{"estimator": e, "flag": f, "shape": s} for e in (stump, tree) for f in (True, 1)
              for s in ([1, 2], [3])]  # fmt: skip
    problem = NearestCurves(space, params, np.arange(8.0)[:, np.newaxis])
    assert problem.losses(params)[:, 0].tolist() == list(range(8))


def test_arrays_and_frames_give_the_same_problem():
    pd = pytest.importorskip("pandas")
    recorded, queries = draws(CONDITIONAL, 50), draws(CONDITIONAL, 20, seed=1)
    curves = np.random.default_rng(0).random((50, 3))
    problem = NearestCurves(CONDITIONAL, recorded, curves)
    X = [[params.get(name) for name in CONDITIONAL] for params in recorded]
    from_arrays = NearestCurves.from_arrays(CONDITIONAL, np.array(X, dtype=object), curves)
    # pandas makes a column of integers with gaps one of floats.
    frame = pd.DataFrame(recorded).assign(a=curves[:, 0], b=curves[:, 1], c=curves[:, 2])
    assert frame["age"].dtype == float
    from_frame = NearestCurves.from_frame(frame, CONDITIONAL, ["a", "b", "c"])
    for other in (from_arrays, from_frame):
        assert other.params == recorded
        np.testing.assert_array_equal(other.losses(queries), problem.losses(queries))


def test_an_array_of_floats_holds_integers_and_choices():
    space = {"n": randint(1, 10), "batch": [16, 32], "x": uniform(0, 1)}
    problem = NearestCurves.from_arrays(space, [[3, 32, 0.5]], [[1.0]])
    assert problem.params == [{"n": 3, "batch": 32, "x": 0.5}]
    assert [type(value) for value in problem.params[0].values()] == [int, int, float]


def test_what_a_table_has_lost_of_its_values_is_found_again():
    pd = pytest.importorskip("pandas")
    space = {"depth": [None, 3, 5], "way": [None, "sqrt"]}
    space["n"] = When(randint(1, 9), "way", "==", "sqrt")
    frame = pd.DataFrame({"depth": [None, 5], "way": ["sqrt", None], "loss": [1.0, 2.0]})
    frame["n"] = pd.array([4, None], dtype="Int64")
    assert frame["depth"].isna().sum() == 1, "a NaN, as no number is None"
    problem = NearestCurves.from_frame(frame, space, ["loss"])
    assert problem.params == [
        {"depth": None, "way": "sqrt", "n": 4}, {"depth": 5, "way": None}
    ]  # fmt: skip


def test_rows_keep_their_numbers_next_to_strings():
    space = {"kind": ["a", "b"], "x": uniform(0, 1)}
    problem = NearestCurves.from_arrays(space, [["a", 0.5]], [[1.0]])
    assert problem.params == [{"kind": "a", "x": 0.5}]


def test_a_training_that_diverged_has_failed():
    params = [{"x": x} for x in (0.0, 0.1, 0.5, 0.6)]
    curves = np.array([[1.0], [2.0], [-np.inf], [np.inf]])
    problem = NearestCurves({"x": uniform(0, 1)}, params, curves)
    assert problem.minimum == 1
    assert problem.approximation_error().mean == 1
    assert np.isinf(curves).any(), "the user's own array is left alone"
    curves[0] = 9
    assert problem.curves[0] == 1


def test_seconds_never_go_back():
    problem = NearestCurves({"x": [1]}, [{"x": 1}], [[1.0, 2, 3]], [[5.0, 4, 9]])
    assert problem.seconds([{"x": 1}]).tolist() == [[5, 5, 9]]
    for bad in (-1, np.nan, np.inf):
        with pytest.raises(ValueError, match="negative or non-finite"):
            NearestCurves({"x": [1]}, [{"x": 1}], [[1.0, 2]], [[1, bad]])


def test_seconds_are_those_that_were_recorded_or_one_an_epoch():
    space, params = {"x": uniform(0, 1)}, [{"x": 0.1}, {"x": 0.9}]
    queries = [{"x": 0.8}, {"x": 0.2}]
    seconds = [[1.0, 3.0], [10.0, 30.0]]
    problem = NearestCurves(space, params, np.zeros((2, 2)), seconds)
    assert problem.seconds(queries).tolist() == [[10, 30], [1, 3]]
    assert NearestCurves(space, params, np.zeros((2, 2))).seconds(queries).tolist() == [[1, 2]] * 2


def test_a_finished_search_gives_the_curves_that_it_saw():
    X, y = np.zeros((20, 1)), np.arange(20.0)
    search = HyperbandSearchCV(
        Curve(),
        {"quality": uniform(0, 1)},
        resource="epochs",
        max_resources=9,
        cv=2,
        random_state=0,
    ).fit(X, y)
    trials = search.history_.trials
    problem = NearestCurves.from_search(search)
    assert problem.params == [trial.params for trial in trials]
    assert problem.curves.shape == (len(trials), 9)
    for trial, curve in zip(trials, problem.curves, strict=True):
        for resource, result in trial.results.items():
            assert curve[resource - 1] == -result.score
        if set(trial.results) == {1, 3, 9}:
            assert curve[1] == pytest.approx((curve[0] + curve[2]) / 2)
            assert curve[5] == pytest.approx((curve[2] + curve[8]) / 2)
        assert (curve[trial.resource - 1 :] == curve[trial.resource - 1]).all()
        assert (curve[: min(trial.results)] == curve[min(trial.results) - 1]).all()
    whole = NearestCurves.from_search(search, incomplete="drop")
    assert whole.params == [trial.params for trial in trials if 9 in trial.results]
    assert 0 < len(whole.params) < len(trials)


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::sklearn.exceptions.FitFailedWarning")
def test_a_failed_training_stays_failed():
    X, y = np.zeros((20, 1)), np.arange(20.0)
    search = RandomSearchCV(
        Failing(threshold=0.5), {"quality": uniform(0, 1)}, n_iter=12, cv=2, random_state=0
    ).fit(X, y)
    problem = NearestCurves.from_search(search)
    failed = np.array([params["quality"] > 0.5 for params in problem.params])
    assert 0 < failed.sum() < 12
    np.testing.assert_array_equal(np.isnan(problem.curves[:, -1]), failed)


def test_a_search_that_has_no_history_is_refused():
    with pytest.raises(TypeError, match="history_"):
        NearestCurves.from_search(RandomSearchCV(Curve(), {"quality": [1]}))
    with pytest.raises(ValueError, match="'extend' or 'drop'"):
        NearestCurves.from_search(None, incomplete="guess")


@pytest.mark.parametrize(
    ("params", "match"),
    [
        ({"rate": 0.1}, "lacks 'batch'"),
        ({"rate": 0.1, "batch": 16, "depth": 3}, "'depth' is unknown"),
        ({"rate": 0.1, "batch": 17}, "batch=17 is not a choice"),
        ({"rate": -1.0, "batch": 16}, "rate=-1.0 is not allowed"),
        ({"rate": np.nan, "batch": 16}, "rate=nan is not allowed"),
    ],
)
def test_candidates_that_do_not_fit_are_refused(params, match):
    space = {"rate": loguniform(1e-3, 1), "batch": [16, 32]}
    good = {"rate": 0.1, "batch": 16}
    problem = NearestCurves(space, [good], [[1.0]])
    with pytest.raises(ValueError, match=match):
        problem.losses([good, params])
    with pytest.raises(ValueError, match=match):
        NearestCurves(space, [good, params], [[1.0], [2.0]])


def test_wrong_shapes_and_spaces_are_refused():
    space, params = {"x": uniform(0, 1)}, [{"x": 0.5}, {"x": 0.6}]
    with pytest.raises(ValueError, match=r"curves has shape \(1, 2\)"):
        NearestCurves(space, params, [[1.0, 2.0]])
    with pytest.raises(ValueError, match=r"seconds has shape \(2, 1\), expected \(2, 2\)"):
        NearestCurves(space, params, np.zeros((2, 2)), np.zeros((2, 1)))
    with pytest.raises(ValueError, match="params is empty"):
        NearestCurves(space, [], np.zeros((0, 2)))
    with pytest.raises(TypeError, match="one dict"):
        NearestCurves([space, {"y": [1]}], params, np.zeros((2, 2)))
    with pytest.raises(ValueError, match="it must have 1 columns"):
        NearestCurves.from_arrays(space, np.zeros((2, 2)), np.zeros((2, 2)))


def test_a_look_up_does_not_compare_with_all_that_is_recorded():
    def seconds(n):
        problem = NearestCurves(PLAIN | {"batch": randint(20, 2001)}, recorded[:n], curves[:n])
        problem.losses(queries)
        best = np.inf
        for _ in range(5):  # other load only ever slows down
            start = time.perf_counter()
            problem.losses(queries)
            best = min(best, time.perf_counter() - start)
        return best

    space = PLAIN | {"batch": randint(20, 2001)}
    rng = np.random.default_rng(0)
    U = rng.random((100_000, 4))
    X = np.column_stack(
        [10 ** (6 * U[:, 0] - 6), 10 ** (5 * U[:, 1] - 6), U[:, 2], 20 + U[:, 3] * 1980 // 1]
    )
    recorded = [dict(zip(space, row, strict=True)) for row in X.tolist()]
    queries, curves = draws(space, 2_000, seed=1), rng.random((100_000, 3))
    assert seconds(100_000) < 20 * seconds(425), "235 times as many are recorded"
