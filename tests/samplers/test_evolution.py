"""What samplers with a population do beside what all samplers must do."""

import importlib.util
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import loguniform, norm, randint, uniform

from sksearch import When, minimize
from sksearch.acquisition._maximise import reflected
from sksearch.base import Start
from sksearch.history import History, Problem, Result
from sksearch.samplers import (
    CMAESSampler,
    DESampler,
    GeneticSampler,
    PSOSampler,
    QuasiRandomSampler,
    RandomSampler,
)
from sksearch.samplers._cmaes import Encoding, Evolution
from sksearch.samplers._observations import observe
from sksearch.samplers._population import best_of_slots, genes_of
from sksearch.samplers._scalarised import for_aims
from sksearch.schedulers import FullFidelity, Hyperband
from sksearch.search import EvolutionSearchCV
from sksearch.space import Space
from sksearch.study import Study
from tests.contracts.learners import EVOLUTION, name_of

SQUARE = {"x": uniform(0, 1), "y": uniform(0, 1)}
MIXED = {
    "depth": When(randint(1, 9), "kind", "==", "b"),
    "kind": ["a", "b", "c"],
    "leaves": randint(1, 1001),
    "on": [False, True],
    "rate": loguniform(1e-4, 1),
}


def study_of(sampler, space=MIXED, n=60, seed=0, **problem):
    return Study(Problem(Space(space), seed=seed, **problem), sampler, FullFidelity(n))


def run(study, score, n_running=1):
    """Params and scores of a study, with so many jobs under way."""
    jobs, found = [], []
    while True:
        while len(jobs) < n_running and (job := study.ask()) is not None:
            jobs.append(job)
        if not jobs:
            return found
        job = jobs.pop(0)
        found.append((job.params, score(job.params)))
        study.tell(job, Result(found[-1][1]))


def loss_of_mixed(params):
    """0 at kind b, depth 6, 700 leaves, on, and a rate of 0.01."""
    loss = ((np.log10(params["rate"]) + 2) / 4) ** 2 + (params["leaves"] / 1000 - 0.7) ** 2
    loss += 0.2 * (not params["on"])
    return loss + (0.02 * abs(params["depth"] - 6) if params["kind"] == "b" else 0.3)


# ---- whether they find it


@pytest.mark.few(4)
@pytest.mark.parametrize("n_running", [1, 5])
@pytest.mark.parametrize("sampler", [*EVOLUTION, PSOSampler(asynchronous=False)], ids=name_of)
def test_evolution_is_far_better_than_chance_in_a_mixed_conditional_space(sampler, n_running):
    def losses(sampler):
        return [
            -max(score for _, score in run(study, lambda p: -loss_of_mixed(p), n_running))
            for study in (study_of(sampler, n=100, seed=seed) for seed in range(4))
        ]

    assert np.median(losses(sampler)) < np.median(losses(RandomSampler())) / 4


@pytest.mark.whole
@pytest.mark.parametrize("sampler", [CMAESSampler(), DESampler()], ids=name_of)
def test_a_narrow_valley_is_followed(sampler):
    def rosenbrock(params):
        x, y = 4 * params["x"] - 2, 4 * params["y"] - 2
        return 100 * (y - x**2) ** 2 + (1 - x) ** 2

    found, drawn = (
        [
            minimize(rosenbrock, SQUARE, n_iter=300, sampler=s, random_state=seed).fun
            for seed in range(7)
        ]
        for s in (sampler, RandomSampler())
    )
    assert np.median(found) < np.median(drawn) / 4


# ---- points that stand for intervals


def test_genes_lie_in_the_intervals_that_points_stand_for():
    space = Space(MIXED)
    rng = np.random.default_rng(0)
    U = space.canonical(rng.random((200, space.n_dims)))
    genes = genes_of(space, U, rng)
    assert not np.isnan(genes).any()
    np.testing.assert_allclose(space.canonical(genes), U)
    inactive = np.isnan(U[:, 0])
    assert genes[inactive, 0].min() < 0.1
    assert genes[inactive, 0].max() > 0.9
    np.testing.assert_array_equal(genes[:, space.categorical], U[:, space.categorical])


def test_points_are_reflected_at_the_sides():
    u = np.array([-0.25, 0.0, 0.4, 1.0, 1.25, 2.5])
    np.testing.assert_allclose(reflected(u), [0.25, 0.0, 0.4, 1.0, 0.75, 0.5])


@pytest.mark.parametrize("sampler", EVOLUTION, ids=name_of)
def test_integers_do_not_get_stuck(sampler):
    """As they would if steps of less than half a value were rounded away."""
    found = [
        run(study_of(sampler, {"k": range(1, 30), "x": uniform()}, seed=seed),
            lambda p: -abs(p["k"] - 22) - p["x"])
        for seed in range(3)
    ]  # fmt: skip
    assert np.mean([max(found, key=lambda pair: pair[1])[0]["k"] == 22 for found in found]) > 0.6


# ---- slots


def history_of(scores, space=SQUARE):
    history = History(Problem(Space(space), seed=3))
    rng = np.random.default_rng(5)
    for score in scores:
        trial = history.start(history.problem.space.sample(rng), 0, 1)
        if score is not None:
            history.tell(trial.id, 1, Result(score))
    return history


def test_a_member_is_replaced_by_what_is_no_worse():
    history = history_of([3.0, 1.0, 2.0, 0.0, 1.0, 2.5, np.nan, None])
    data = observe(history, Start(1))
    rows = best_of_slots(data, 3)
    # Slots: trials 0, 3, 6; 1, 4, 7; 2, 5.
    assert data.trial_id[rows].tolist() == [0, 5, 4]


@pytest.mark.parametrize("sampler", EVOLUTION, ids=name_of)
def test_the_first_population_is_a_design_but_for_cma_es(sampler):
    found, design = (
        [params for params, _ in run(study_of(s, n=4), lambda p: 0.0)]
        for s in (replace(sampler, population_size=4), QuasiRandomSampler())
    )
    assert (found == design) == (not isinstance(sampler, CMAESSampler))


def test_a_synchronous_swarm_moves_by_earlier_rounds_alone():
    asynchronous = PSOSampler(4)
    synchronous = replace(asynchronous, asynchronous=False)
    # The sixth trial, of the second round, is the best so far.
    scores = [0.0, 1.0, 2.0, 3.0, 0.5, 9.0]
    proposals = {
        (sampler.asynchronous, last): sampler.ask(
            history_of([*scores[:-1], last]), Start(1), np.random.default_rng(0)
        )
        for sampler in (asynchronous, synchronous)
        for last in (9.0, -9.0)
    }
    assert proposals[True, 9.0] != proposals[True, -9.0]
    assert proposals[False, 9.0] == proposals[False, -9.0]


def test_a_synchronous_swarm_continues_where_the_first_round_has_failed():
    history = history_of([np.nan] * 4 + [1.0, 2.0, 3.0, 4.0])
    params = PSOSampler(4, asynchronous=False).ask(history, Start(1), np.random.default_rng(0))
    history.problem.space.check(params)


def test_a_population_of_one_continues():
    history = history_of([1.0, np.nan, np.nan, np.nan, 2.0])  # trials 0 and 4 are one member
    params = DESampler(4).ask(history, Start(1), np.random.default_rng(0))
    history.problem.space.check(params)


def test_a_particle_that_nothing_pulls_does_not_stay():
    history = history_of([9.0, 1.0, 2.0, 3.0])  # the first one is the best of all
    params = PSOSampler(4).ask(history, Start(1), np.random.default_rng(0))
    assert history.takes(params)


# ---- CMA-ES


def test_a_candidate_is_drawn_once(monkeypatch):
    drawn = []
    sample = Evolution._sample
    monkeypatch.setattr(Evolution, "_sample", lambda *args: drawn.append(1) or sample(*args))
    run(study_of(CMAESSampler(), SQUARE, n=30), lambda p: p["x"])
    assert len(drawn) == 30


def evolution_of(sampler, study):
    evolution = Evolution(sampler, study.history.problem)
    evolution.read(study.history)
    return evolution


def test_draws_match_the_library_with_the_same_generators():
    """Candidates, told in generations with their ranks, lead to the same distribution."""
    study = study_of(CMAESSampler(), n=40)
    run(study, lambda p: -loss_of_mixed(p))
    evolution = evolution_of(study.sampler, study)
    fresh = Evolution(study.sampler, study.history.problem)
    size = fresh.optimizer.population_size
    for first in range(0, 40 - size + 1, size):
        ids = range(first, first + size)
        losses = [loss_of_mixed(study.history.trials[i].params) for i in ids]
        order = np.argsort(losses)
        draws = [evolution.draws[first + k] for k in order]
        fresh.optimizer.tell([(draw, float(rank)) for rank, draw in enumerate(draws)])
    assert fresh.optimizer.generation == 40 // size
    np.testing.assert_array_equal(fresh.optimizer._mean, evolution.optimizer._mean)
    np.testing.assert_array_equal(fresh.optimizer._q, evolution.optimizer._q)


def test_known_results_are_told_again_at_no_cost():
    study = study_of(CMAESSampler(), {"a": [1, 2, 3], "b": ["x", "y", "z"]}, n=9)
    run(study, lambda p: float(p["a"] + (p["b"] == "y")))
    evolution = evolution_of(study.sampler, study)
    assert evolution.optimizer.generation > 9 // evolution.optimizer.population_size
    choices = evolution.optimizer._q[-1]
    assert choices.argmax() == 1, "y is better"


def test_a_proposal_leaves_the_state_as_it_was():
    study = study_of(CMAESSampler(), {"a": [1, 2, 3], "b": ["x", "y", "z"]}, n=7)
    run(study, lambda p: float(p["a"] + (p["b"] == "y")))
    evolution = evolution_of(study.sampler, study)
    before = evolution.optimizer.generation, {r: len(g) for r, g in evolution.generations.items()}
    proposals = [evolution.propose() for _ in range(3)]
    assert proposals[0] == proposals[1] == proposals[2]
    assert before == (
        evolution.optimizer.generation,
        {r: len(g) for r, g in evolution.generations.items()},
    )


@pytest.mark.parametrize("given", ["initial_params", "known"])
def test_it_begins_at_the_first_guess_or_the_best_of_an_earlier_search(given):
    best = {"x": 0.9, "y": 0.05}
    known = (({"x": 0.2, "y": 0.2}, 0.1), (best, 0.7), ({"x": 0.3, "y": 0.3}, 0.5))
    problem = {"initial_params": (best,)} if given == "initial_params" else {"known": known}
    study = study_of(CMAESSampler(sigma=0.01), SQUARE, n=6, **problem)
    for params, _ in run(study, lambda p: 0.0):
        assert params["x"] == pytest.approx(0.9, abs=0.06)
        assert params["y"] == pytest.approx(0.05, abs=0.06)


@pytest.mark.parametrize("sampler", EVOLUTION, ids=name_of)
def test_bounds_are_kept_later(sampler):
    """The score grows beyond the bound, where x is greater than 0.4."""
    study = study_of(sampler, SQUARE, n=80, bounds=("x",))
    assert for_aims(sampler, study.history.problem) is sampler
    while (job := study.ask()) is not None:
        x, y = job.params["x"], job.params["y"]
        study.tell(job, Result(x - (y - 0.5) ** 2, slacks=(0.4 - x,)))
    late = [trial.results[1] for trial in study.history.trials[-30:]]
    assert np.mean([result.violation == 0 for result in late]) > 0.3, "x would be 1"
    assert max(result.score for result in late if not result.violation) > 0.37


@pytest.mark.parametrize("sampler", EVOLUTION, ids=name_of)
def test_candidates_that_are_not_allowed_are_not_tried(sampler):
    study = study_of(sampler, SQUARE, n=80, allows=lambda p: p["x"] + p["y"] < 0.5)
    found = run(study, lambda p: p["x"])
    assert all(params["x"] + params["y"] < 0.5 for params, _ in found)
    assert max(score for _, score in found) > 0.42


def test_it_begins_again_when_it_has_converged():
    study = study_of(CMAESSampler(), {"x": uniform(0, 1)}, n=400)
    run(study, lambda p: -((p["x"] - 0.3) ** 2))
    evolution = evolution_of(study.sampler, study)
    assert evolution.n_restarts >= 1
    assert evolution.optimizer.population_size == 4 * 2**evolution.n_restarts
    late = [trial.params["x"] for trial in study.history.trials[-100:]]
    assert np.ptp(late) > 1e-3


def test_equal_scores_and_failures_teach_nothing():
    for score in (0.5, np.nan):
        study = study_of(CMAESSampler(), SQUARE, n=30)
        run(study, lambda p, score=score: score)
        assert evolution_of(study.sampler, study).optimizer.generation == 0


def test_failures_rank_last():
    study = study_of(CMAESSampler(), SQUARE, n=60)
    found = run(study, lambda p: np.nan if p["x"] > 0.5 else p["x"])
    late = [score for _, score in found[-20:]]
    assert np.isnan(late).mean() < 0.5
    assert np.nanmean(late) > 0.4


def test_diverging_scores_do_not_matter():
    def scaled(params):
        score = -loss_of_mixed(params)
        return -(10.0 ** (-300 * score)) if score < -0.1 else score

    one, other = (
        [params for params, _ in run(study_of(CMAESSampler(), n=40), score)]
        for score in (lambda p: -loss_of_mixed(p), scaled)
    )
    assert one == other


def test_each_kind_of_parameter_is_told_as_what_it_is():
    space = Space(
        {
            "choice": ["a", "b", "c"],
            "constant": [1],
            "integer": randint(0, 10_000),
            "level": [1, 10, 100, 1000],
            "normal": norm(0, 1),
            "steps": randint(1, 6),
            "switch": [False, True],
        }
    )
    code = Encoding(space)
    names = np.array([dimension.name for dimension in space.dimensions])
    assert names[code.reals].tolist() == ["integer", "normal"]
    assert names[code.steps].tolist() == ["level", "steps"]
    assert names[code.choices].tolist() == ["choice", "switch"]
    optimizer = Evolution(CMAESSampler(), Problem(space)).optimizer
    rng = np.random.default_rng(0)
    for _ in range(20):
        u = space.to_unit(space.sample(rng))
        np.testing.assert_allclose(code.decode(code.encode(u, optimizer)), u)


def test_results_of_tiny_resources_are_left_out():
    problem = Problem(Space(SQUARE), 1, 81, seed=0)
    study = Study(problem, CMAESSampler(), Hyperband())
    while (job := study.ask()) is not None and job.resource == 1:
        study.tell(job, Result(job.params["x"]))
    assert evolution_of(study.sampler, study).optimizer.generation == 0


def test_without_the_package_the_error_names_the_extra(monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *a: None if name == "cmaes" else find(name, *a)
    )
    with pytest.raises(ImportError, match=r'pip install "\.\[cma\]"'):
        CMAESSampler()
    from sklearn.svm import SVC

    search = EvolutionSearchCV(SVC(), {"C": [1, 2]}, method="cma-es")
    with pytest.raises(ImportError, match=r'pip install "\.\[cma\]"'):
        search.fit([[0], [1]] * 5, [0, 1] * 5)


# ---- the genetic algorithm


def test_a_child_has_the_genes_that_one_parent_has_alone():
    """A depth that was good with kind b is not lost by a parent without any."""
    space = Space(MIXED)
    history = History(Problem(space, seed=0))
    good = {"depth": 6, "kind": "b", "leaves": 700, "on": True, "rate": 0.01}
    for i in range(8):
        params = good if i == 0 else {"kind": "a", "leaves": 700 + i, "on": True, "rate": 0.01}
        history.tell(history.start(params, 0, 1).id, 1, Result(1.0 if i == 0 else 0.9))
    sampler = GeneticSampler(8)
    rng = np.random.default_rng(0)
    children = [sampler.ask(history, Start(1), rng) for _ in range(400)]
    depths = [params["depth"] for params in children if params["kind"] == "b"]
    assert len(depths) > 50
    assert np.mean(np.array(depths) == 6) > 0.4, "of draws from all an eighth"
