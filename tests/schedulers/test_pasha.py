"""Asynchronous halving with a growing maximum, against its definition."""

import itertools
import math
from collections import Counter, defaultdict

import numpy as np
import pytest

from sksearch.executors import VirtualClock
from sksearch.history import Result
from sksearch.samplers import RandomSampler
from sksearch.schedulers import ASHA, PASHA
from sksearch.simulators import FAMILIES, GammaCurves, play
from sksearch.simulators._functions import Rastrigin
from tests.contracts.test_schedulers import study_of

LADDER = [1, 3, 9, 27]


def run(study, score, n_workers=1, seed=0):
    """Run with workers that end in a random order; return the jobs as they were asked for."""
    rng = np.random.default_rng(seed)
    running, jobs = [], []
    while True:
        while len(running) < n_workers and (job := study.ask()) is not None:
            running.append(job)
            jobs.append(job)
        if not running:
            return jobs
        job = running.pop(rng.integers(len(running)))
        study.tell(job, Result(score(job)))


def noisy(sd):
    """Scores that differ from the candidate's value by noise, new at each rung."""

    def score(job):
        return job.params["x"] + np.random.default_rng((job.trial_id, job.resource)).normal(0, sd)

    return score


def crossing_once(job):
    """The candidate that is best at one epoch is the worst from the third on."""
    return job.params["x"] if job.resource == 1 else -job.params["x"]


# ---- the definition, written out


def soft_rankings_agree(before, now, epsilon):
    """Whether each that has a place now is in the group that had it: [1]_, section 4.1."""
    places = sorted(before, key=lambda i: -before[i])
    # Equal scores contradict nothing: they stay as they were.
    return all(
        abs(before[candidate] - before[place]) <= epsilon
        for candidate, place in zip(
            sorted(now, key=lambda i: (-now[i], -before[i])), places, strict=True
        )
    )


def noise_of(curves):
    """The 90th percentile of differences of candidates whose curves crossed and crossed back."""
    differences = []
    for a, b in itertools.combinations(curves, 2):
        gaps = [x - y for x, y in zip(curves[a], curves[b], strict=True)]
        if any(
            gaps[-1] * gaps[k] < 0 and gaps[-1] * gaps[m] > 0
            for k in range(len(gaps))
            for m in range(k)
        ):
            differences.append(abs(gaps[-1]))
    return np.percentile(differences, 90) if differences else None


def goals_by_definition(history):
    """The largest resource that was open after each event of the log."""
    scores, top, goals = defaultdict(dict), 1, []
    for event, trial_id, resource in history.log:
        if event == "tell":
            score = history.trials[trial_id].results[resource].score
            if not math.isnan(score):
                scores[resource][trial_id] = score
        if event == "tell" and resource == LADDER[top] < 27 and not math.isnan(score):
            now = scores[resource]
            before = {i: scores[LADDER[top - 1]][i] for i in now}
            epsilons = (
                noise_of({i: [scores[r][i] for r in LADDER[: n + 1]] for i in scores[LADDER[n]]})
                for n in range(top, 1, -1)
            )
            epsilon = next((e for e in epsilons if e is not None), 0.0)
            top += not soft_rankings_agree(before, now, epsilon)
        goals.append(LADDER[top])
    return goals


def best_first(told):
    return [i for score, i in sorted(e for e in told if not math.isnan(e[0]))]


def promotable(told, goal, promoted):
    """What may be promoted, and to what: the best third of each rung, no further than the goal."""
    return {
        (upper, i)
        for lower, upper in itertools.pairwise(LADDER)
        for i in best_first(told[lower])[: len(told[lower]) // 3]
        if upper <= goal and (upper, i) not in promoted
    }


@pytest.mark.parametrize("n_failures", [0, 10])
@pytest.mark.parametrize("n_workers", [1, 2, 8])
@pytest.mark.parametrize("sd", [0, 0.003, 0.03, 0.3])
def test_the_maximum_grows_as_published(sd, n_workers, n_failures):
    study, score = study_of(PASHA(100)), noisy(sd)
    run(study, lambda job: math.nan if job.trial_id < n_failures else score(job), n_workers)
    history, promoted, told = study.history, set(), defaultdict(list)
    goals = [3, *goals_by_definition(history)]
    for n, (event, trial_id, resource) in enumerate(history.log):
        if event == "tell":
            score = history.trials[trial_id].results[resource].score
            told[resource].append((-score, trial_id))
            continue
        others = promotable(told, goals[n], promoted)
        if resource == 1:
            assert not others, "a free worker promotes before it starts anything"
        elif others:
            assert (resource, trial_id) in others
            assert resource == max(others)[0], "from the highest rung down"
        else:
            assert n == len(history.log) - 2, "the best goes all the way, after all the rest"
            assert (trial_id, resource) == (best_first(told[goals[n]])[0], 27)
        promoted.add((resource, trial_id))
    assert any(27 in trial.results for trial in history.trials)


# ---- what follows from it


@pytest.mark.parametrize("n_workers", [1, 8])
def test_ranks_that_never_change_are_not_looked_at_further_up(n_workers):
    jobs = run(study_of(PASHA(81)), lambda job: job.params["x"] - 1 / job.resource, n_workers)
    spent = Counter(job.resource for job in jobs)
    assert set(spent) == {1, 3, 27}
    assert spent[1] == 81
    assert spent[3] >= 27
    assert spent[27] == 1
    assert jobs[-1].resource == 27
    assert jobs[-1].params["x"] == max(job.params["x"] for job in jobs)


def test_ranks_that_change_once_open_one_more_rung():
    jobs = run(study_of(PASHA(81), 81), crossing_once)
    assert {job.resource for job in jobs} == {1, 3, 9, 81}


def test_equal_scores_are_no_change():
    jobs = run(study_of(PASHA(81)), lambda job: 0.5 if job.resource > 1 else job.params["x"])
    assert {job.resource for job in jobs} == {1, 3, 27}


def test_what_noise_turns_round_opens_less_than_what_changes():
    def rungs_opened(score):
        jobs = run(study_of(PASHA(729), 729), score)
        return len({job.resource for job in jobs if job.resource < 729})

    assert rungs_opened(lambda job: job.params["x"]) == 2
    # As good as equal, and another order at each rung.
    assert 3 <= rungs_opened(noisy(0.1)) <= 6


def test_with_two_rungs_it_is_asha():
    logs = []
    for scheduler in (ASHA(20), PASHA(20)):
        study = study_of(scheduler, max_resources=3)
        run(study, noisy(0.5), n_workers=3)
        logs.append(study.history.log)
    assert logs[0] == logs[1]


@pytest.mark.parametrize("n_candidates", [1, 2, 3])
def test_the_best_of_a_few_goes_all_the_way(n_candidates):
    jobs = run(study_of(PASHA(n_candidates)), lambda job: job.params["x"])
    assert [job.resource for job in jobs][n_candidates:] == [3, 27]
    assert jobs[-1].params["x"] == max(job.params["x"] for job in jobs)


def test_it_ends_if_the_best_one_fails_at_last():
    jobs = run(study_of(PASHA(9)), lambda job: math.nan if job.resource == 27 else job.params["x"])
    assert sum(job.resource == 27 for job in jobs) == 1


@pytest.mark.parametrize("sd", [0, 0.03, 0.3])
@pytest.mark.parametrize("n_workers", [1, 2, 8])
def test_no_state_is_freed_that_a_later_growth_could_need(n_workers, sd):
    rng = np.random.default_rng(0)
    scheduler = PASHA(100)
    study, score = study_of(scheduler), noisy(sd)
    running, retired = [], []
    while True:
        while len(running) < n_workers and (job := study.ask()) is not None:
            assert job.trial_id not in retired
            running.append(job)
        if not running:
            break
        study.tell(job := running.pop(rng.integers(len(running))), Result(score(job)))
        retired += scheduler.retired(study.history, job)
    assert len(set(retired)) == len(retired)
    assert len(retired) >= 60, "a candidate far behind is not kept"


def test_a_virtual_clock_repeats_exactly_and_less_is_spent_than_by_asha():
    problem = GammaCurves(Rastrigin(2), FAMILIES["flat"])
    epochs = {}
    for scheduler in (ASHA(81), PASHA(81)):
        logs = []
        for _ in range(2):
            with VirtualClock(8):
                history = play(RandomSampler(), scheduler, problem, random_state=0)
            logs.append(history.log)
        assert logs[0] == logs[1]
        epochs[type(scheduler)] = sum(trial.resource for trial in history.trials)
    assert epochs[PASHA] < 0.8 * epochs[ASHA]


@pytest.mark.parametrize("factor", [1, math.inf])
def test_bad_arguments_are_refused(factor):
    with pytest.raises(ValueError, match="factor"):
        PASHA(factor=factor)
