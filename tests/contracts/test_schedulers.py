"""What every scheduler must do, for all of them."""

import itertools
from collections import Counter

import numpy as np
import pytest
from scipy.stats import uniform

from sksearch import schedulers
from sksearch.base import Scheduler
from sksearch.history import Problem, Result
from sksearch.samplers import RandomSampler
from sksearch.schedulers import (
    ASHA,
    PASHA,
    AsyncHyperband,
    BracketScheduler,
    Fabolas,
    FoldRace,
    FullFidelity,
    Hyperband,
    IncrementalEvaluation,
    MedianStopping,
    PopulationBasedTraining,
    SuccessiveHalving,
)
from sksearch.schedulers._audited import Audited
from sksearch.schedulers._iterated_halving import IteratedHalving
from sksearch.space import Space
from sksearch.study import Study
from sksearch.testing import check_scheduler
from sksearch.testing._scheduler import driven as run, score_of

SYNCHRONOUS = [
    FullFidelity(20),
    SuccessiveHalving(),
    SuccessiveHalving(n_candidates=10, factor=2),
    Hyperband(),
    Hyperband(factor=4, candidates="algorithm1"),
    Hyperband(factor=2.5, n_iterations=2),
    IncrementalEvaluation(),
    IncrementalEvaluation(budget=60, keep=0.6, step=5, candidates="largest"),
    IncrementalEvaluation(budget=300, keep=0.3, step=13),
    IteratedHalving(),
    IteratedHalving(factor=2, n_iterations=3),
    Audited(SuccessiveHalving(), 0.1),
    Audited(Hyperband(), 0.2),
    PopulationBasedTraining(),
    PopulationBasedTraining(5, step=4),
]
ASYNCHRONOUS = [
    ASHA(),
    ASHA(n_candidates=40, factor=2),
    ASHA(n_candidates=40, variant="stopping"),
    PASHA(),
    PASHA(n_candidates=40, factor=2),
    AsyncHyperband(),
    AsyncHyperband(factor=4, n_iterations=2, variant="stopping"),
    MedianStopping(),
    MedianStopping(n_candidates=40, factor=3, n_full=1),
]
RACES = [FoldRace(), FoldRace(n_candidates=40, error=0.3)]
#: Those that promote the best of a rung alone.
PROMOTING = [s for s in SYNCHRONOUS if not (isinstance(s, Audited) or s.reads.states)]
LEARNING = [Fabolas(12, cost="resource"), Fabolas(9, n_initial=2)]
INSTANCES = SYNCHRONOUS + ASYNCHRONOUS + RACES + LEARNING


def study_of(scheduler, max_resources=27, space=None, seed=0):
    space = Space(space or {"x": uniform(0, 1)})
    return Study(Problem(space, 1, max_resources, seed), RandomSampler(), scheduler)


def spent(jobs):
    return Counter((job.bracket, job.resource) for job in jobs)


def planned(plan):
    return {
        (bracket, rung.resource): rung.n_candidates
        for bracket, rungs in enumerate(plan.brackets)
        for rung in rungs
    }


def test_every_scheduler_is_tested_here():
    classes = (getattr(schedulers, name) for name in schedulers.__all__)
    public = {c for c in classes if isinstance(c, type) and issubclass(c, Scheduler)}
    tested = {type(scheduler) for scheduler in INSTANCES}
    assert tested - {Audited, IteratedHalving} == public - {BracketScheduler}


@pytest.mark.parametrize("n_workers", [1, 2, 7, 500])
@pytest.mark.parametrize("scheduler", SYNCHRONOUS, ids=str)
def test_a_search_does_what_was_planned(scheduler, n_workers):
    study = study_of(scheduler)
    jobs = run(study, n_workers, order=1)
    assert spent(jobs) == planned(scheduler.plan(study.history.problem))


@pytest.mark.parametrize("scheduler", SYNCHRONOUS, ids=str)
def test_the_number_of_workers_and_their_order_change_nothing(scheduler):
    def outcome(n_workers, order):
        jobs = run(study_of(scheduler), n_workers, order=order)
        return sorted((j.trial_id, j.resource, j.bracket, j.params["x"]) for j in jobs)

    expected = outcome(1, 0)
    assert all(outcome(n, order) == expected for n in (2, 5, 500) for order in (1, 2))


@pytest.mark.parametrize(
    "scheduler",
    [pytest.param(s, marks=[pytest.mark.whole] * (s is LEARNING[0])) for s in INSTANCES],
    ids=str,
)
def test_it_does_what_a_search_relies_on(scheduler):
    check_scheduler(scheduler)


@pytest.mark.parametrize("scheduler", INSTANCES, ids=str)
def test_a_search_where_all_fail_ends_with_several_workers(scheduler):
    jobs = run(study_of(scheduler), n_workers=3, score=lambda job: np.nan)
    assert all(job.spent == 0 for job in jobs)


@pytest.mark.parametrize("scheduler", PROMOTING, ids=str)
def test_equal_scores_promote_the_first_trials(scheduler):
    study = study_of(scheduler)
    run(study, score=lambda job: 1.0)
    for bracket, rungs in enumerate(scheduler.plan(study.history.problem).brackets):
        ids = study.history.rung(bracket, rungs[0].resource)
        for rung in rungs:
            assert study.history.rung(bracket, rung.resource) == ids[: rung.n_candidates]


@pytest.mark.parametrize("scheduler", PROMOTING, ids=str)
def test_the_best_of_each_rung_are_promoted(scheduler):
    study = study_of(scheduler)
    run(study)
    trials = study.history.trials
    for bracket, rungs in enumerate(scheduler.plan(study.history.problem).brackets):
        for lower, upper in itertools.pairwise(rungs):
            ids = study.history.rung(bracket, lower.resource)
            best = sorted(ids, key=lambda i: -trials[i].results[lower.resource].score)
            promoted = study.history.rung(bracket, upper.resource)
            assert promoted == best[: upper.n_candidates]


@pytest.mark.parametrize("scheduler", INSTANCES, ids=str)
def test_an_exhausted_space_ends_early_and_still_promotes(scheduler):
    class FewValues:
        def rvs(self, random_state=None):
            return random_state.randint(4) / 4

    study = study_of(scheduler, space={"x": FewValues()})
    with pytest.warns(UserWarning, match="no new candidate"):
        jobs = run(study, n_workers=3)
    assert sum(trial.parent is None for trial in study.history.trials) == 4
    (top,) = {rungs[-1].resource for rungs in scheduler.plan(study.history.problem).brackets}
    assert max(job.resource for job in jobs) == top


@pytest.mark.parametrize("n_workers", [1, 7])
@pytest.mark.parametrize("scheduler", INSTANCES, ids=str)
def test_states_are_freed_once_and_never_before_their_last_use(scheduler, n_workers):
    study, order = study_of(scheduler), np.random.default_rng(0)
    retired, running = [], []
    while True:
        while len(running) < n_workers and (job := study.ask()) is not None:
            assert job.trial_id not in retired
            running.append(job)
        if not running:
            break
        job = running.pop(order.integers(len(running)))
        study.tell(job, Result(score_of(job) + order.normal(0, 0.1)))
        retired += scheduler.retired(study.history, job)
    assert len(set(retired)) == len(retired)
    drops = scheduler.reads.results and not scheduler.told.by_fold
    if not (scheduler.told.at_once or drops):  # those may have to wait for what the others bring
        assert sorted(retired) == list(range(len(study.history.trials)))


def test_an_unfinished_bracket_does_not_block_idle_workers():
    study = study_of(Hyperband())
    jobs = [study.ask() for _ in range(28)]
    assert [job.bracket for job in jobs] == [0] * 27 + [1]
    for job in jobs[:26]:
        study.tell(job, Result(score_of(job)))
    assert study.ask().bracket == 1, "bracket 0 waits for its last candidate"
    study.tell(jobs[26], Result(score_of(jobs[26])))
    assert study.ask().resource == 3, "and goes on first as soon as it can"
