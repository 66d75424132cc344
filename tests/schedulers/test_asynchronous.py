"""Schedulers that do not wait, against their definitions."""

import itertools
import math
from collections import Counter, defaultdict

import numpy as np
import pytest
from scipy.stats import lognorm, uniform

from sksearch.executors import VirtualClock
from sksearch.history import Result
from sksearch.samplers import RandomSampler, TPESampler
from sksearch.schedulers import ASHA, PASHA, Hyperband, MedianStopping
from sksearch.schedulers._async_hyperband import AsyncHyperband
from sksearch.simulators import FAMILIES, GammaCurves, play
from sksearch.simulators._functions import Rastrigin
from sksearch.simulators._problem import CurveProblem
from tests.contracts.test_schedulers import study_of


class LogNormalEpochs(CurveProblem):
    """A loss that falls with the epochs, and epochs that last unlike long."""

    space = {"x": uniform(), "hardness": lognorm(s=1)}
    max_resources = 27

    def losses(self, params, seed=0):
        x = np.array([p["x"] for p in params])
        return x[:, None] + 1 / np.arange(1, 28)

    def seconds(self, params):
        return np.array([p["hardness"] for p in params])[:, None] * np.arange(1, 28)


def at_random(study, n_workers, seed=0, n_failures=0):
    """Run with workers that end in a random order; yield each decision with what was known."""
    rng = np.random.default_rng(seed)
    running, known = [], []
    while True:
        while len(running) < n_workers:
            job = study.ask()
            if job is None:
                break
            yield job, list(known), len(running)
            running.append(job)
        if not running:
            return
        job = running.pop(rng.integers(len(running)))
        score = math.nan if job.trial_id < n_failures else round(job.params["x"], 1)
        study.tell(job, Result(score))
        known.append((job.trial_id, job.bracket, job.resource, score))


def top_of(known, bracket, resource, factor):
    """The best ``floor(n / factor)`` of those that were told at a rung."""
    rung = [(i, s) for i, b, r, s in known if (b, r) == (bracket, resource)]
    ok = sorted(((-s, i) for i, s in rung if s == s))
    return [i for _, i in ok[: math.floor(len(rung) / factor)]]


# ---- promotion


@pytest.mark.parametrize("n_failures", [0, 10])
@pytest.mark.parametrize("n_workers", [1, 2, 8])
@pytest.mark.parametrize("scheduler", [ASHA(60), ASHA(60, factor=2), AsyncHyperband()], ids=repr)
def test_each_decision_is_the_published_one(scheduler, n_workers, n_failures):
    study = study_of(scheduler)
    ladders = {
        b: [rung.resource for rung in rungs]
        for b, rungs in enumerate(scheduler.plan(study.history.problem).brackets)
    }
    promoted = set()
    for job, known, n_running in at_random(study, n_workers, 0, n_failures):
        promotable = [
            (upper, -b, i)
            for b, ladder in ladders.items()
            for lower, upper in itertools.pairwise(ladder)
            for i in top_of(known, b, lower, scheduler.factor)
            if (i, upper) not in promoted
        ]
        if job.spent == 0:
            assert not promotable, "a free worker promotes before it starts anything"
        elif promotable:
            assert job.resource == max(promotable)[0], "from the highest rung down"
            assert (job.resource, -job.bracket, job.trial_id) in promotable
        else:
            assert n_running == 0, "only when all is done is one promoted without need"
        promoted.add((job.trial_id, job.resource))


def test_one_candidate_reaches_the_top_even_if_no_rung_has_enough():
    study = study_of(ASHA(n_candidates=2))
    jobs = [job for job, _, _ in at_random(study, 1)]
    assert [job.resource for job in jobs] == [1, 1, 3, 9, 27]


def test_new_candidates_go_to_the_emptiest_bracket():
    study = study_of(AsyncHyperband())
    started = Counter(study.ask().bracket for _ in range(27 + 9 + 6 + 4))
    table = [n for n, _ in Hyperband().bracket_table(study.history.problem)]
    assert [started[b] for b in range(4)] == table


# ---- stopping


@pytest.mark.parametrize("n_workers", [1, 5])
def test_the_stopping_variant_decides_once_by_who_was_there_before(n_workers):
    study = study_of(ASHA(60, variant="stopping"))
    jobs = list(at_random(study, n_workers))
    seen, goes_on = defaultdict(list), {}
    log = [(i, r) for event, i, r in study.history.log if event == "tell"]
    for trial_id, resource in log:
        entry = (-study.history.trials[trial_id].results[resource].score, trial_id)
        seen[resource].append(entry)
        place = sorted(seen[resource]).index(entry)
        goes_on[trial_id, resource] = place < math.ceil(len(seen[resource]) / 3)
    went_on = {(j.trial_id, j.spent) for j, _, _ in jobs if j.spent}
    assert went_on == {key for key, yes in goes_on.items() if yes and key[1] < 27}
    assert {j.resource for j, _, _ in jobs} == {1, 3, 9, 27}


def test_median_stopping_stops_below_the_median_of_running_averages():
    study = study_of(MedianStopping(n_candidates=40, n_full=5))
    jobs = list(at_random(study, 3, seed=1))
    scores, means, goes_on = defaultdict(list), defaultdict(list), set()
    for event, trial_id, resource in study.history.log:
        if event == "tell":
            scores[trial_id].append(study.history.trials[trial_id].results[resource].score)
            others = means[resource]
            if len(others) < 5 or max(scores[trial_id]) >= np.median(others):
                goes_on.add((trial_id, resource))
            others.append(np.mean(scores[trial_id]))
    went_on = {(j.trial_id, j.spent) for j, _, _ in jobs if j.spent}
    assert went_on == {key for key in goes_on if key[1] < 27}
    n_full = sum(27 in trial.results for trial in study.history.trials)
    assert 5 <= n_full < 40


# ---- bad arguments


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ASHA(variant="pausing"), "variant='pausing' must be one of promotion, stopping"),
        (lambda: ASHA(factor=1), "factor=1 must be"),
        (lambda: MedianStopping(n_full=0), "n_full=0 must be at least 1"),
    ],
)
def test_bad_arguments_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


# ---- time


@pytest.mark.few(4)
@pytest.mark.parametrize(
    "scheduler",
    [ASHA(81), ASHA(81, variant="stopping"), PASHA(81), AsyncHyperband(), MedianStopping()],
    ids=repr,
)
@pytest.mark.parametrize("sampler", [RandomSampler(), TPESampler()], ids=repr)
def test_virtual_time_repeats_exactly_and_one_worker_is_always_busy(scheduler, sampler):
    problem = LogNormalEpochs()
    logs = []
    for n_workers in (1, 8, 8):
        with VirtualClock(n_workers) as clock:
            history = play(sampler, scheduler, problem, random_state=0)
        logs.append((history.log, clock.seconds))
        if n_workers == 1:
            assert clock.utilisation == 1
    assert logs[1] == logs[2]
    assert logs[1][1] < logs[0][1]


def test_workers_are_busy_where_hyperband_lets_them_wait():
    shares = {}
    for name, scheduler in {"sync": Hyperband(), "async": AsyncHyperband()}.items():
        with VirtualClock(16) as clock:
            play(RandomSampler(), scheduler, LogNormalEpochs(), random_state=0)
        shares[name] = clock.utilisation
    assert shares["async"] > shares["sync"]


def test_results_are_told_as_they_come():
    with VirtualClock(4):
        history = play(RandomSampler(), ASHA(27), LogNormalEpochs(), random_state=0)
    told = [trial_id for event, trial_id, r in history.log if event == "tell" and r == 1]
    assert told != sorted(told)


def test_it_finds_the_result_of_halving():
    problem = GammaCurves(Rastrigin(2), FAMILIES["rastrigin-1"], noise=10)
    history = play(RandomSampler(), ASHA(81), problem, random_state=0, n_workers=4)
    final = [-t.results[81].score for t in history.trials if 81 in t.results]
    at_random = problem.losses([t.params for t in history.trials], 0)[:, -1]
    assert min(final) < np.median(at_random)
