"""Several objectives: the front, the choice from it, promotion, resuming."""

import pickle

import numpy as np
import pytest
from scipy.stats import randint, uniform
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.tree import DecisionTreeClassifier

from sksearch import (
    ASHASearchCV,
    Bound,
    GPBayesSearchCV,
    HyperbandSearchCV,
    RandomSearchCV,
    SearchCV,
    SuccessiveHalvingSearchCV,
    TPESearchCV,
    load_history,
    samplers,
)
from sksearch._utils._fronts import best_first, crowding, fronts, hypervolume
from sksearch.base._state import State
from sksearch.fitting.run._states import dump_state, load_state, size_of
from sksearch.history import Problem, Result
from sksearch.plotting import HypervolumeDisplay, ParetoDisplay
from sksearch.reporting import hypervolume_curve
from sksearch.samplers import (
    ForestSampler,
    GPSampler,
    HypervolumeSampler,
    NSGA2Sampler,
    RandomSampler,
    ScalarisedSampler,
    TPESampler,
)
from sksearch.samplers._scalarised import MARGIN
from sksearch.schedulers import FullFidelity
from sksearch.space import Space
from sksearch.study import Study
from tests.fakes import Pair

X, y = load_iris(return_X_y=True)
SQUARE = {"x": uniform(0, 1), "y": uniform(0, 1)}
LEARNERS = [
    HypervolumeSampler(),
    NSGA2Sampler(population_size=8),
    ScalarisedSampler(GPSampler()),
    ScalarisedSampler(TPESampler()),
    ScalarisedSampler(ForestSampler(), "hypervolume"),
]


def gain_and_price(estimator, X, y):
    return {
        "gain": estimator.x - estimator.y,
        "price": estimator.x**2 + estimator.y,
        "luck": 1 - estimator.x,
    }


def tradeoff(cls=RandomSearchCV, **kwargs):
    kwargs = {"objectives": ["gain", "-price"], "random_state": 0} | kwargs
    return cls(Pair(), SQUARE, scoring=gain_and_price, cv=2, **kwargs).fit(X, y)


# ---- fronts


def test_fronts_by_hand():
    Y = np.array([[0, 3], [1, 2], [2, 0], [0, 2], [1, 1], [0, 0], [1, 2]])
    assert fronts(Y).tolist() == [0, 0, 0, 1, 1, 2, 0]
    assert crowding(np.array([[0.0, 3], [1, 2], [3, 0]])).tolist() == [np.inf, 2, np.inf]
    order = best_first(Y.astype(float), np.array([0, 0, 5, 0, 0, 0, 1.0]))
    assert sorted(order[:2].tolist()) == [0, 1]
    assert order[-2:].tolist() == [6, 2]


@pytest.mark.parametrize("n_enough", [1, 7, 40])
def test_the_first_ones_need_no_order_of_the_others(n_enough):
    rng = np.random.default_rng(0)
    Y, violation = rng.random((40, 2)), np.maximum(rng.random(40) - 0.7, 0)
    order = best_first(Y, violation)
    assert best_first(Y, violation, n_enough)[:n_enough].tolist() == order[:n_enough].tolist()
    assert fronts(Y, 1).max() == 1 < fronts(Y).max()


@pytest.mark.parametrize("seed", range(5))
def test_the_volume_matches_moocore(seed):
    moocore = pytest.importorskip("moocore")
    Y = np.random.default_rng(seed).normal(size=(20, 2))
    expected = moocore.hypervolume(-Y, ref=[0.5, 0.7])
    assert hypervolume(Y, np.array([-0.5, -0.7])) == pytest.approx(expected)


def test_the_volume_by_hand():
    Y = np.array([[1.0, 3], [2, 1], [1, 1], [5, -1]])
    assert hypervolume(Y, np.zeros(2)) == 4  # 1 x 3, and 1 x 1 beside it
    assert hypervolume(Y, np.array([9.0, 9])) == 0


# ---- searches


def test_the_front_has_the_candidates_that_are_not_dominated():
    search = tradeoff(n_iter=30)
    results, front = search.cv_results_, search.pareto_
    Y = np.column_stack([results["mean_test_gain"], -results["mean_test_price"]])
    assert sorted(front.index) == np.flatnonzero(fronts(Y) == 0).tolist()
    np.testing.assert_array_equal(front.values * [1, -1], Y[front.index])
    assert (np.diff(front.values[:, 0]) <= 0).all()
    assert search.metric_ == "gain"
    assert search.best_index_ == front.knee()
    assert search.best_score_ == results["mean_test_gain"][search.best_index_]
    assert search.score(X, y) == search.best_params_["x"] - search.best_params_["y"]
    volume = front.hypervolume([-1, 2])
    assert volume == pytest.approx(hypervolume(Y, np.array([-1.0, -2.0])))


def test_refit_chooses_from_the_front():
    rows = {}
    for name, refit in {
        "knee": "knee",
        "gain": "gain",
        "price": "price",
        "luck": "luck",
        "bound": Bound("price", "<=", 0.3),
        "weights": {"price": 1.0},
        "function": lambda results: 7,
    }.items():
        search = tradeoff(n_iter=30, refit=refit)
        rows[name] = search.best_index_
        assert search.best_estimator_.get_params() == search.best_params_
    results = search.cv_results_
    gain, price = results["mean_test_gain"], results["mean_test_price"]
    assert rows["gain"] == np.argmax(gain)
    assert rows["price"] == rows["weights"] == np.argmin(price)
    assert rows["luck"] == np.argmax(results["mean_test_luck"])
    assert rows["bound"] == np.argmax(np.where(price <= 0.3, gain, -9))
    assert rows["function"] == 7
    assert tradeoff(n_iter=5, refit=False).pareto_.names == ("gain", "price")


@pytest.mark.whole
@pytest.mark.parametrize("cls", [SearchCV, TPESearchCV, GPBayesSearchCV])
def test_searches_that_learn_beat_random_ones(cls):
    """The front is at y = 0: its volume above (-1, 2) is greater the nearer y is to it."""
    volume = {
        name: np.mean(
            [
                tradeoff(c, n_iter=24, refit=False, random_state=seed).pareto_.hypervolume([-1, 2])
                for seed in range(3)
            ]
        )
        for name, c in (("learns", cls), ("random", RandomSearchCV))
    }
    assert volume["learns"] > volume["random"] + 0.1


def test_times_and_sizes_are_objectives(tmp_path):
    def search(n_iter):
        return SearchCV(
            DecisionTreeClassifier(random_state=0), {"max_leaf_nodes": randint(2, 30)},
            objectives=["accuracy", "predict_time", "model_size"], scoring="accuracy",
            sampler=HypervolumeSampler(n_initial=3), n_iter=n_iter, random_state=0,
            checkpoint_dir=tmp_path,
        ).fit(X, y)  # fmt: skip

    first = search(6)
    results, front = first.cv_results_, first.pareto_
    np.testing.assert_array_equal(front.values[:, 1], results["mean_predict_time"][front.index])
    np.testing.assert_array_equal(front.values[:, 2], results["mean_model_size"][front.index])
    assert first.best_score_ == results["mean_test_score"][first.best_index_]
    again = search(8)
    assert [t.params for t in again.history_.trials][:6] == [
        t.params for t in first.history_.trials
    ]
    for old, new in zip(first.history_.trials, again.history_.trials, strict=False):
        assert old.params == new.params
        assert old.results[1].objectives == new.results[1].objectives
    saved = load_history(tmp_path).history_
    assert saved.trials[7].results[1].objectives == again.history_.trials[7].results[1].objectives
    assert len(pickle.loads(pickle.dumps(again)).pareto_) == len(again.pareto_)


@pytest.mark.parametrize("cls", [SuccessiveHalvingSearchCV, HyperbandSearchCV, ASHASearchCV])
def test_promotion_is_by_non_dominated_sorting(cls):
    kwargs = {} if cls is HyperbandSearchCV else {"n_candidates": 27}
    search = tradeoff(cls, resource="epochs", max_resources=9, **kwargs)
    trials = [trial for trial in search.history_.trials if trial.bracket == 0]
    low = min(trials[0].results)
    Y = np.array([trial.results[low].objectives for trial in trials])
    promoted = [trial.id for trial in trials if trial.resource > low]
    if cls is ASHASearchCV:
        assert len(promoted) >= len(trials) // 3
        assert np.mean(fronts(Y)[promoted]) < np.mean(fronts(Y)) - 0.5
    else:
        assert set(promoted) == set(best_first(Y, np.zeros(len(Y)))[: len(trials) // 3].tolist())
    assert len(search.pareto_) > 1


def test_a_bound_as_refit_that_no_candidate_satisfies_warns_and_is_reported():
    bound = Bound("price", "<=", -1)
    with pytest.warns(UserWarning, match="No candidate of the Pareto front") as caught:
        search = tradeoff(n_iter=4, refit=bound)
    assert search.best_index_ == search.pareto_.best("price")
    (advice,) = (each for each in search.report().advice if each.rule == "bounds")
    assert advice.text in {str(each.message) for each in caught}
    kept = tradeoff(n_iter=4, refit=Bound("price", ">=", -1))
    assert "bounds" not in {each.rule for each in kept.report().advice}


@pytest.mark.parametrize(
    ("kwargs", "error", "message"),
    [
        ({"objectives": ["gain"]}, ValueError, "at least two distinct metrics"),
        ({"objectives": ["gain", "-gain"]}, ValueError, "distinct metrics"),
        ({"objectives": ["gain", 3]}, TypeError, "list of names"),
        ({"objectives": ["-price", "fit_time"]}, ValueError, "to maximize"),
        ({"refit": "elbow"}, ValueError, "refit='elbow' must be one of"),
        ({"refit": Bound("luck", "<=", 1)}, ValueError, "must bound one of the objectives"),
        ({"refit": {"luck": 1}}, ValueError, "must have weights of the objectives"),
        ({"refit": {"gain": 1, "price": -1}}, ValueError, "at least 0"),
        ({"refit": {"gain": "all"}}, ValueError, "at least 0"),
        ({"refit": {"gain": np.nan}}, ValueError, "at least 0"),
        ({"refit": {"gain": 0}}, ValueError, "one above 0"),
        ({"objectives": ["gain", "speed"]}, ValueError, "must return .*speed"),
    ],
)
@pytest.mark.filterwarnings("ignore:Scoring failed")
def test_bad_objectives_and_choices_are_refused(kwargs, error, message):
    with pytest.raises(error, match=message):
        tradeoff(n_iter=3, **kwargs)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda front: front.best("luck"), "'luck' is not an objective"),
        (lambda front: front.within(Bound("luck", "<=", 1)), "'luck' is not an objective"),
        (lambda front: front.weighted({"luck": 1}), "weights of the objectives gain, price"),
        (lambda front: front.hypervolume([0]), "a value for each of gain, price"),
    ],
)
def test_a_front_is_asked_for_its_objectives(ask, message):
    with pytest.raises(ValueError, match=message):
        ask(tradeoff(n_iter=3).pareto_)


def test_a_metric_that_is_not_measured_is_refused_before_anything_is_trained():
    search = RandomSearchCV(Pair(), SQUARE, scoring=["accuracy"], objectives=["accuracy", "f1"])
    with pytest.raises(ValueError, match="'f1' is an objective or a bound"):
        search.fit(X, y)


def test_the_size_of_a_model_does_not_depend_on_where_it_was_trained():
    """A model from another process shares no texts and dtypes with what is in this one."""
    for model in (SGDClassifier(), RandomForestClassifier(3)):
        state = State(model.fit(X, y))
        assert size_of(load_state(dump_state(state))) == size_of(state)
        assert size_of(state) == pytest.approx(len(dump_state(state)), rel=0.1)


@pytest.mark.parametrize("refit", [{"score": 1}, Bound("score", ">=", 0.5)])
def test_a_choice_from_a_front_needs_objectives(refit):
    search = RandomSearchCV(Pair(), SQUARE, refit=refit)
    with pytest.raises(ValueError, match="of several objectives: pass objectives="):
        search.fit(X, y)


def test_bounds_hold_on_the_front():
    search = tradeoff(GPBayesSearchCV, n_iter=15, known={"constraints": Bound("luck", ">=", 0.5)})
    assert (search.cv_results_["mean_test_luck"][search.pareto_.index] >= 0.5).all()


def test_the_volume_grows_and_is_drawn():
    pytest.importorskip("matplotlib")
    search = tradeoff(n_iter=20)
    n, volume = hypervolume_curve(search, [-1, 2])
    assert n.tolist() == list(range(1, 21))
    assert (np.diff(volume) >= 0).all()
    assert volume[-1] == pytest.approx(search.pareto_.hypervolume([-1, 2]))
    (grown,) = HypervolumeDisplay.from_search(search, reference=[-1, 2]).ax_.get_lines()
    assert grown.get_xydata().tolist() == np.column_stack([n, volume]).tolist()
    display = ParetoDisplay.from_search(search)
    assert display.ax_.get_xlabel() == "gain"
    assert display.ax_.get_ylabel() == "price"
    with pytest.raises(ValueError, match="one objective"):
        hypervolume_curve(RandomSearchCV(Pair(), SQUARE, cv=2, n_iter=2).fit(X, y))
    with pytest.raises(TypeError, match=r"search is a dict.*pass a fitted search"):
        hypervolume_curve({})


# ---- samplers


def study_of(sampler, seed=1, n=14):
    problem = Problem(Space(SQUARE), seed=seed, objectives=("a", "b"))
    return Study(problem, sampler, FullFidelity(n))


def run(study, before_ask=lambda study: study):
    while (job := (study := before_ask(study)).ask()) is not None:
        values = job.params["x"] - job.params["y"], -(job.params["x"] ** 2) - job.params["y"]
        study.tell(job, Result(values[0], objectives=values))
    return [trial.params for trial in study.history.trials]


def emptied(study):
    study.history.cache.clear()
    return study


@pytest.mark.few(3)
@pytest.mark.parametrize("sampler", LEARNERS, ids=str)
def test_samplers_of_vectors_are_functions_of_the_history(sampler):
    whole = run(study_of(sampler))
    assert run(study_of(sampler), emptied) == whole
    assert run(study_of(sampler), lambda study: pickle.loads(pickle.dumps(study))) == whole
    assert run(study_of(sampler, seed=2)) != whole


def test_a_child_has_coordinates_of_both_parents():
    space = Space({f"x{i}": uniform(0, 1) for i in range(50)})
    mothers, fathers = np.full((20, 50), 0.2), np.full((20, 50), 0.8)
    sampler = NSGA2Sampler(crossover=1.0)
    children = sampler._cross(space, mothers, fathers, np.random.default_rng(0))
    # Half of the coordinates are crossed, and half of these end near the father.
    assert np.mean(children > 0.5) == pytest.approx(0.25, abs=0.04)


@pytest.mark.whole
def test_three_objectives_are_proposed_for():
    problem = Problem(Space(SQUARE), seed=0, objectives=("a", "b", "c"))
    volumes = {}
    for sampler in (HypervolumeSampler(), RandomSampler()):
        study = Study(problem, sampler, FullFidelity(20))
        while (job := study.ask()) is not None:
            u, v = job.params["x"], job.params["y"]
            values = -u - v, -((u - 1) ** 2) - v, -((u - 0.5) ** 2) - v
            study.tell(job, Result(values[0], objectives=values))
        volumes[type(sampler)] = np.mean([trial.params["y"] for trial in study.history.trials][8:])
    assert volumes[HypervolumeSampler] < 0.5 * volumes[RandomSampler]


@pytest.mark.parametrize("name", ["DESampler", "GeneticSampler", "PSOSampler"])
def test_samplers_of_one_score_are_wrapped(name):
    sampler = getattr(samplers, name)(population_size=6)
    bound = Bound("luck", ">=", 0.4)
    for kwargs in ({}, {"objectives": None, "refit": "gain", "known": {"constraints": bound}}):
        search = tradeoff(
            SearchCV, n_iter=None, sampler=sampler, scheduler=FullFidelity(12), **kwargs
        )
        assert len(search.history_.trials) == 12


def test_scores_of_random_hypervolumes_are_how_far_a_direction_is_dominated():
    """Zhang and Golovin (2020): the longest multiple of the weights that a point dominates."""
    rng = np.random.default_rng(0)
    Y = rng.random((30, 2))
    weights = np.array([0.6, 0.8])
    scores = ScalarisedSampler(RandomSampler(), "hypervolume")._scores(Y, weights)
    assert (scores > 0).all(), "the point of reference is worse than all"
    worst = Y.min(axis=0)
    at_worst = scores[np.flatnonzero((worst == Y).any(axis=1))]
    assert at_worst.max() == pytest.approx(MARGIN / weights.min())
    better = (Y[:, None] >= Y).all(axis=2)
    assert (np.where(better, scores[:, None] - scores, 0) >= 0).all()
