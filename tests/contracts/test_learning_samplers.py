"""What every sampler with a model must do: degenerate inputs, determinism, hybrids."""

import pickle
from collections import Counter
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.stats import loguniform, randint, uniform
from sklearn.datasets import load_iris

from sksearch import BOHBSearchCV, HyperbandSearchCV, When
from sksearch.base import Start
from sksearch.history import History, Problem, Result
from sksearch.samplers import (
    CMAESSampler,
    DESampler,
    ForestSampler,
    GeneticSampler,
    GPSampler,
    PSOSampler,
    TPESampler,
)
from sksearch.samplers._observations import TRANSFERS
from sksearch.schedulers import FullFidelity, Hyperband
from sksearch.space import Space
from sksearch.study import Study
from tests.contracts.learners import EVOLUTION, LEARNERS, beginning_after, name_of
from tests.fakes import Curve

MIXED = {
    "constant": [7],
    "depth": When(randint(1, 9), "kind", "!=", "a"),
    "kind": ["a", "b", (1, 2)],
    "rate": loguniform(1e-4, 1),
    "size": randint(8, 65),
}
TWELVE = {"a": [1, 2, 3], "b": ["x", "y"], "c": randint(0, 2)}


def score_of(params):
    """Smooth in all parameters, greatest at kind b and a rate of 0.01."""
    score = -((np.log10(params["rate"]) + 2) ** 2) - (params["size"] / 64 - 0.5) ** 2
    return score + (params["kind"] == "b") + 0.1 * params.get("depth", 0)


def study_of(sampler, n=16, space=MIXED, seed=1):
    return Study(Problem(Space(space), 1, 1, seed), sampler, FullFidelity(n))


def run(study, score=score_of, n_running=1, before_ask=None):
    """The params that a study starts with several jobs under way; oldest jobs end first."""
    running, started = [], []
    while True:
        while len(running) < n_running:
            if before_ask is not None:
                study = before_ask(study)
            if (job := study.ask()) is None:
                break
            running.append(job)
            started.append(job.params)
        if not running:
            return started
        job = running.pop(0)
        study.tell(job, Result(score(job.params)))


# ---- degenerate inputs


def thirty_percent_failures(params):
    return np.nan if int(1e9 * params["rate"]) % 10 < 3 else score_of(params)


SCORES = {
    "all equal": lambda params: 0.7,
    "equal but for one": lambda params: float(params["rate"] > 0.1),
    "equal but for rounding": lambda params: 0.7 + 1e-16 * params["size"],
    "in millions": lambda params: 1e6 * score_of(params),
    "in millionths": lambda params: 1e-6 * score_of(params),
    "far from zero": lambda params: 1e6 + score_of(params),
    "diverging": lambda params: -np.exp(40 * params["rate"]) * 1e6 if params["rate"] > 0.01 else 1,
    "30 % failures": thirty_percent_failures,
    "failures where it is best": lambda p: np.nan if p["kind"] == "b" else score_of(p),
    "all failures": lambda params: np.nan,
    "all failures but two": lambda p: score_of(p) if 30 < p["size"] < 34 else np.nan,
}


PLAIN = [GPSampler(), TPESampler(), TPESampler(multivariate=False), ForestSampler(), *EVOLUTION]
#: Plain samplers with all scores, each other form with every third.
WHATEVER = [
    pytest.param(
        sampler, scores, id=f"{name_of(sampler)}-{scores}",
        marks=() if sampler in PLAIN or (i + j) % 3 == 0 else pytest.mark.whole,
    )
    for i, sampler in enumerate(LEARNERS)
    for j, scores in enumerate(SCORES)
]  # fmt: skip


@pytest.mark.parametrize(("sampler", "scores"), WHATEVER)
def test_whatever_the_scores_proposals_are_new_candidates(sampler, scores):
    study = study_of(beginning_after(sampler, 2), n=7)
    started = run(study, SCORES[scores], n_running=2)
    space = study.history.problem.space
    for params in started:
        space.check(params)
    assert len({space.key(params) for params in started}) == 7


def history_with(points, scores, max_resources=1):
    history = History(Problem(Space(MIXED), 1, max_resources, seed=3))
    for params, score in zip(points, scores, strict=True):
        trial = history.start(params, 0, 1)
        history.tell(trial.id, 1, Result(score))
    return history


def draws(n, seed=5):
    rng, space = np.random.default_rng(seed), Space(MIXED)
    return [space.sample(rng) for _ in range(n)]


def ask(sampler, history):
    params = sampler.ask(history, Start(1), np.random.default_rng(7))
    history.problem.space.check(params)
    return params


@pytest.mark.parametrize("sampler", LEARNERS, ids=name_of)
def test_points_may_repeat_themselves(sampler):
    points = draws(3) * 5
    scores = np.random.default_rng(0).normal(size=15)
    for y in (scores, np.tile(scores[:3], 5), np.where(scores > 0.5, np.nan, scores)):
        ask(sampler, history_with(points, y))
    ask(beginning_after(sampler, 2), history_with(points[:1] * 9, scores[:9]))


@pytest.mark.parametrize("score", [0.5, np.nan])
@pytest.mark.parametrize("sampler", LEARNERS, ids=name_of)
def test_one_point_is_enough_to_continue(sampler, score):
    for n_initial in (1, 2, 5):
        ask(beginning_after(sampler, n_initial), history_with(draws(1), [score]))


@pytest.mark.parametrize("sampler", LEARNERS, ids=name_of)
def test_units_of_scores_do_not_matter_to_the_first_model(sampler):
    points = draws(9)
    y = np.array([score_of(params) for params in points])
    one, other = (ask(sampler, history_with(points, scale * y)) for scale in (1, 2.0**20))
    assert one == other


@pytest.mark.parametrize("n_running", [1, 4])
@pytest.mark.parametrize("sampler", LEARNERS, ids=name_of)
def test_a_space_of_twelve_is_gone_through_without_duplicate_or_warning(sampler, n_running):
    if sampler == GPSampler(marginalise=True):  # it takes its time
        sampler = beginning_after(sampler, 9)
    study = study_of(sampler, n=100, space=TWELVE)
    started = run(study, lambda params: params["a"] + 0.5 * (params["b"] == "y"), n_running)
    space = study.history.problem.space
    assert {space.key(p) for p in started} == {space.key(space.candidate(i)) for i in range(12)}
    assert len(started) == 12
    assert not study.history.exhausted


@pytest.mark.parametrize("sampler", LEARNERS, ids=name_of)
@pytest.mark.parametrize(
    "space",
    [
        {"c": ["a", "b", "c"] * 1, "d": list("efgh"), "e": list("ijkl")},
        {"one": [1], "x": uniform(0, 1)},
        {"one": ["a"], "two": ["b"], "x": randint(0, 100)},
        {"x": uniform(0, 1), "y": When(uniform(0, 1), "x", ">", 0.999)},
        {f"x{i}": uniform(0, 1) for i in range(25)},
    ],
    ids=["choices", "a constant", "constants", "hardly ever active", "many"],
)
def test_odd_spaces_have_candidates(sampler, space):
    study = study_of(beginning_after(sampler, 3), n=6, space=space)
    started = run(study, lambda params: sum(map(len, map(str, params.values()))))
    assert len(started) == 6


def test_a_space_of_one_candidate_has_one():
    for sampler in LEARNERS:
        assert run(study_of(sampler, space={"a": [1]}), lambda params: 1.0) == [{"a": 1}]


@pytest.mark.whole
@pytest.mark.slow
@pytest.mark.parametrize("best", ["a", "b", "c"])
def test_a_process_stays_with_the_choice_that_is_found_to_be_better(best):
    """Not with the one that a rounding error makes look like never tried."""
    space = {"kind": ["a", "b", "c"], "x": uniform(0, 1)}
    for seed in range(3):
        study = study_of(GPSampler(), 24, space, seed)
        started = run(study, lambda p: float(p["kind"] == best) - (p["x"] - 0.3) ** 2)
        assert Counter(params["kind"] for params in started[12:])[best] >= 7


# ---- determinism


@pytest.mark.parametrize("sampler", LEARNERS, ids=name_of)
def test_the_order_of_the_users_dict_does_not_matter(sampler):
    permuted = {name: MIXED[name] for name in ("size", "kind", "rate", "constant", "depth")}
    early = beginning_after(sampler, 3)
    one, other = (run(study_of(early, 6, space), n_running=2) for space in (MIXED, permuted))
    assert one == other


@pytest.mark.few(9)
@pytest.mark.parametrize("sampler", LEARNERS, ids=name_of)
def test_seeds_matter_and_repeat(sampler):
    early = beginning_after(sampler, 3)
    first, again, other = (run(study_of(early, 5, seed=seed)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def emptied(study):
    study.history.cache.clear()
    return study


def pickled(study):
    return pickle.loads(pickle.dumps(study))


@pytest.mark.few(5)
@pytest.mark.slow
@pytest.mark.parametrize("sampler", LEARNERS, ids=name_of)
def test_the_cache_may_be_emptied_at_any_event(sampler):
    early = beginning_after(sampler, 3)
    whole = run(study_of(early, 7), n_running=2)
    assert run(study_of(early, 7), n_running=2, before_ask=emptied) == whole


@pytest.mark.few(2)
@pytest.mark.slow
@pytest.mark.parametrize("sampler", PLAIN, ids=name_of)
def test_a_study_may_be_pickled_at_any_event(sampler):
    early = beginning_after(sampler, 4)
    whole = run(study_of(early, 9), n_running=2)
    assert run(study_of(early, 9), n_running=2, before_ask=pickled) == whole


@pytest.mark.parametrize("sampler", LEARNERS, ids=name_of)
def test_samplers_are_values(sampler):
    assert pickle.loads(pickle.dumps(sampler)) == sampler
    assert hash(replace(sampler)) == hash(sampler)
    assert sampler.reads.results


@pytest.mark.parametrize(
    ("sampler", "kwargs", "message"),
    [
        (GPSampler, {"acquisition": "ei"}, "acquisition='ei' must be one of log_ei"),
        (GPSampler, {"pending": "liar"}, "pending='liar' must be one of believer"),
        (GPSampler, {"kernel": "rbf"}, "kernel='rbf' must be one of"),
        (GPSampler, {"transfer": "some"}, "transfer='some' must be one of rung"),
        (GPSampler, {"n_initial": 0}, "n_initial=0 must be at least 1"),
        (GPSampler, {"transfer": "surv"}, "transfer='surv' must be one of rung"),
        (TPESampler, {"transfer": "joint"}, "transfer='joint' must be one of"),
        (TPESampler, {"gamma": 0.0}, "gamma=0.0 must be between"),
        (TPESampler, {"gamma": 1.0}, "gamma=1.0 must be between"),
        (DESampler, {"population_size": 3}, "population_size=3 must be at least 4"),
        (GeneticSampler, {"population_size": 1}, "population_size=1 must be at least 4"),
        (PSOSampler, {"transfer": "joint"}, "transfer='joint' must be one of"),
        (CMAESSampler, {"population_size": 3}, "population_size=3 must be at least 4"),
        (CMAESSampler, {"sigma": 0.0}, "sigma=0.0 must be greater than 0"),
    ],
)
def test_bad_options_are_refused(sampler, kwargs, message):
    with pytest.raises(ValueError, match=message):
        sampler(**kwargs)


# ---- in Hyperband


def hybrid_cases():
    for transfer in TRANSFERS:
        yield GPSampler(transfer=transfer)
        if transfer != "joint":
            yield TPESampler(transfer=transfer)
    yield from EVOLUTION
    yield GPSampler(transfer="joint", pending="fantasies")
    yield GPSampler(transfer="joint", pending="penalisation")
    yield GPSampler(acquisition="ei_distribution", transfer="all")
    yield GPSampler(acquisition="portfolio", transfer="all")
    yield GPSampler(acquisition="ei_per_second", transfer="joint")


@pytest.mark.few(8)
@pytest.mark.parametrize("n_running", [1, 4])
@pytest.mark.parametrize("sampler", list(hybrid_cases()), ids=name_of)
def test_every_bracket_of_a_hybrid_spends_as_much_as_in_hyperband(sampler, n_running):
    problem = Problem(Space(MIXED), 1, 9, seed=0)
    study = Study(problem, beginning_after(sampler, 3), Hyperband())
    running, spent = [], Counter()
    while True:
        while len(running) < n_running and (job := study.ask()) is not None:
            running.append(job)
            spent[job.bracket, job.resource] += 1
        if not running:
            break
        job = running.pop(0)
        study.tell(job, Result(score_of(job.params) - 1 / job.resource, 0.1))
    assert spent == {
        (bracket, rung.resource): rung.n_candidates
        for bracket, rungs in enumerate(Hyperband().plan(problem).brackets)
        for rung in rungs
    }
    assert len(study.history.keys) == len(study.history.trials)


X, y = load_iris(return_X_y=True)
HYBRIDS = [
    *((TPESampler, transfer) for transfer in TRANSFERS if transfer != "joint"),
    *((partial(GPSampler, "ei_distribution"), transfer) for transfer in TRANSFERS),
]


@pytest.mark.few(7)
@pytest.mark.parametrize("batch_size", [1, 4])
@pytest.mark.parametrize(("kind", "transfer"), HYBRIDS)
def test_hybrid_searches_spend_as_much_as_hyperband(kind, transfer, batch_size):
    space = {"quality": uniform(0, 1), "other": [0, 1, 2]}
    fitted = HyperbandSearchCV(
        Curve(), space, sampler=kind(transfer=transfer), resource="epochs", max_resources=9, cv=2,
        workers={"batch_size": batch_size}, random_state=0, refit=False,
    )  # fmt: skip
    Curve.n_calls = 0
    results = fitted.fit(X, y).cv_results_
    plan = Hyperband().plan(Problem(Space(space), 1, 9))
    rows = Counter(zip(results["bracket"], results["n_resources"], strict=True))
    assert rows == {
        (bracket, rung.resource): rung.n_candidates
        for bracket, rungs in enumerate(plan.brackets)
        for rung in rungs
    }
    assert Curve.n_calls == 2 * plan.total_resources(continues=True)


@pytest.mark.slow
@pytest.mark.parametrize("search", [BOHBSearchCV, partial(HyperbandSearchCV, sampler="gp")])
def test_hybrids_with_failing_candidates_continue(search):
    problem = Problem(Space(MIXED), 1, 9, seed=0)
    sampler, _ = search(Curve(), MIXED)._compose(problem.space, None)
    for transfer in TRANSFERS[:3]:
        study = Study(problem, replace(sampler, transfer=transfer), Hyperband())
        while (job := study.ask()) is not None:
            failed = job.params["size"] % 3 == 0 and job.resource > job.params["size"] % 4
            study.tell(job, Result(np.nan if failed else score_of(job.params)))
        assert len(study.history.trials) == 15


def test_one_density_for_each_parameter_serves_a_union():
    space = [
        {"kernel": ["rbf"], "gamma": loguniform(1e-3, 1)},
        {"kernel": ["linear"], "C": [1, 2, 3, 4, 5, 6, 7, 8, 9]},
    ]
    run(
        study_of(TPESampler(multivariate=False), 15, space), lambda params: float(len(str(params)))
    )
