"""Searches on simulated problems without estimators: the same as with them, and as in theory."""

import numpy as np
import pytest
from scipy.stats import beta, kstest

from sksearch import BOHBSearchCV, HyperbandSearchCV
from sksearch.executors import VirtualClock
from sksearch.history import Problem
from sksearch.samplers import RandomSampler, TPESampler
from sksearch.schedulers import FullFidelity, Hyperband, SuccessiveHalving
from sksearch.simulators import FAMILIES, GammaCurves, SimulatedEstimator, play
from sksearch.simulators._families import CurveFamily
from sksearch.simulators._functions import Rastrigin
from sksearch.simulators._problem import CurveProblem
from sksearch.space import Space

PROBLEM = GammaCurves(Rastrigin(2), FAMILIES["rastrigin-1"], noise=10)


def what_was_done(history):
    return [
        (trial.params, trial.bracket, {r: result.score for r, result in trial.results.items()})
        for trial in history.trials
    ]


def test_scores_are_negative_losses_and_costs_are_the_epochs_that_were_added():
    history = play(RandomSampler(), Hyperband(), PROBLEM, random_state=4)
    losses = PROBLEM.losses([trial.params for trial in history.trials], seed=4)
    for trial, curve in zip(history.trials, losses, strict=True):
        before = 0
        for resource, result in trial.results.items():
            assert result.score == -curve[resource - 1]
            assert result.cost == resource - before
            before = resource


def test_what_is_done_is_the_schedulers_plan():
    scheduler = Hyperband()
    history = play(RandomSampler(), scheduler, PROBLEM, random_state=0)
    plan = scheduler.plan(Problem(Space(PROBLEM.space), 1, 81))
    for bracket, rungs in enumerate(plan.brackets):
        for rung in rungs:
            assert len(history.rung(bracket, rung.resource)) == rung.n_candidates
    costs = sum(r.cost for trial in history.trials for r in trial.results.values())
    assert costs == plan.total_resources(continues=True)


@pytest.mark.parametrize(
    ("cls", "sampler"), [(HyperbandSearchCV, RandomSampler()), (BOHBSearchCV, TPESampler())]
)
def test_a_search_class_on_the_estimator_finds_the_same(cls, sampler):
    problem = GammaCurves(Rastrigin(2), FAMILIES["rastrigin-2"], n_epochs=27, noise=10)
    search = cls(
        SimulatedEstimator(problem, random_state=7), problem.space, resource="epochs",
        max_resources=27, cv=2, refit=False, random_state=7,
    ).fit(np.zeros((4, 1)))  # fmt: skip
    history = play(sampler, Hyperband(), problem, random_state=7)
    assert what_was_done(history) == what_was_done(search.history_)


@pytest.mark.parametrize("sampler", [RandomSampler(), TPESampler()], ids=repr)
def test_the_same_seed_finds_the_same_and_another_one_something_else(sampler):
    first, again, other = (
        what_was_done(play(sampler, SuccessiveHalving(27), PROBLEM, random_state=seed))
        for seed in (0, 0, 1)
    )
    assert first == again != other


def test_without_an_integer_curves_have_the_seed_of_the_search():
    histories = [
        play(RandomSampler(), FullFidelity(2), PROBLEM, random_state=np.random.RandomState(3))
        for _ in range(2)
    ]
    assert what_was_done(histories[0]) == what_was_done(histories[1])
    seed = histories[0].problem.seed
    trial = histories[0].trials[0]
    assert trial.results[81].score == -PROBLEM.losses([trial.params], seed)[0, -1]


def test_a_training_that_diverged_has_failed_as_in_a_search_class():
    class Diverging(CurveProblem):
        space = {"x": [1.0, 2.0, 3.0]}
        max_resources = 1

        def losses(self, params, seed=0):
            return np.array([[np.inf if p["x"] == 2 else p["x"]] for p in params])

    history = play(RandomSampler(), FullFidelity(3), Diverging(), random_state=0)
    scores = {trial.params["x"]: trial.results[1].score for trial in history.trials}
    np.testing.assert_equal(scores, {1.0: -1.0, 2.0: np.nan, 3.0: -3.0})


# ---- workers


@pytest.mark.few(1)
@pytest.mark.parametrize("sampler", [RandomSampler(), TPESampler()], ids=repr)
def test_workers_change_the_time_and_not_what_is_found(sampler):
    found = {}
    for n_workers in (1, 8):
        with VirtualClock(n_workers) as clock:
            history = play(sampler, Hyperband(), PROBLEM, random_state=0, batch_size=8)
        found[n_workers] = what_was_done(history), clock.seconds, clock.busy_seconds
    assert found[1][0] == found[8][0]
    assert found[1][1] == found[1][2] == found[8][2], "one worker is always busy"
    assert found[8][1] < found[1][1] / 2
    own_clock = play(sampler, Hyperband(), PROBLEM, random_state=0, batch_size=8, n_workers=8)
    no_clock = play(sampler, Hyperband(), PROBLEM, random_state=0, batch_size=8)
    assert what_was_done(own_clock) == what_was_done(no_clock) == found[1][0]


def test_a_batch_size_is_what_a_proposal_does_not_know():
    found = [
        what_was_done(play(TPESampler(), FullFidelity(30), PROBLEM, random_state=0, batch_size=b))
        for b in (1, 8)
    ]
    assert found[0][:1] == found[1][:1]
    assert found[0] != found[1]


def test_simulated_seconds_are_the_problems():
    class Slow(CurveProblem):
        space = {"x": [1.0, 2.0, 3.0]}
        max_resources = 3

        def losses(self, params, seed=0):
            return np.ones((len(params), 3)) * [[p["x"]] for p in params]

        def seconds(self, params):
            return np.array([[p["x"] * t for t in (1.5, 2, 10)] for p in params])

    with VirtualClock() as clock:
        history = play(RandomSampler(), SuccessiveHalving(3), Slow(), random_state=0)
    costs = {trial.params["x"]: trial.results for trial in history.trials}
    assert {x: results[1].cost for x, results in costs.items()} == {1: 1.5, 2: 3, 3: 4.5}
    assert costs[1][3].cost == 10 - 1.5
    assert clock.seconds == 1.5 + 3 + 4.5 + 8.5


# ---- families in turn


def test_families_in_turn_go_by_the_trials_number():
    families = [CurveFamily(end_shift=shift) for shift in (0, 100, 200)]
    problem = GammaCurves(Rastrigin(2), families, schedule="round_robin")
    history = play(RandomSampler(), Hyperband(), problem, random_state=0)
    for trial in history.trials:
        value = Rastrigin(2)([[trial.params["x0"], trial.params["x1"]]])[0]
        if 81 in trial.results:
            assert -trial.results[81].score == value - 100 * (trial.id % 3)
    with pytest.raises(ValueError, match="For estimators it is unknown"):
        SimulatedEstimator(problem, x0=0, x1=0).fit()


# ---- the distribution of Hyperband on flat curves


def identity(X):
    """Flat curves at a uniform height."""
    return X[:, 0]


identity.bounds = [(0, 1)]


@pytest.mark.whole
@pytest.mark.slow
def test_hyperband_on_flat_curves_is_the_best_of_128_uniform_draws():
    problem = GammaCurves(identity)
    best = []
    for seed in range(300):
        history = play(RandomSampler(), Hyperband(), problem, random_state=seed)
        best.append(min(-t.results[81].score for t in history.trials if 81 in t.results))
        assert best[-1] == min(t.params["x0"] for t in history.trials), "the best one survives"
    assert kstest(best, beta(1, 128).cdf).pvalue > 0.01
    assert kstest(best, beta(1, 81).cdf).pvalue < 0.01, "so many runs tell 81 draws from 128"


# ---- what is refused


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_resources": 82}, "max_resources=82 is greater than 81"),
        ({"max_resources": 9.5}, "max_resources=9.5 must be an integer"),
        ({"min_resources": 82}, "min_resources=82 must be"),
        ({"batch_size": 0}, "batch_size=0"),
        ({"batch_size": 1.5}, "batch_size=1.5"),
        ({"n_workers": 0}, "n_workers=0"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        play(RandomSampler(), Hyperband(), PROBLEM, random_state=0, **arguments)


def test_an_open_clock_has_its_own_workers():
    with VirtualClock(4), pytest.raises(ValueError, match="n_workers=2 while a VirtualClock"):
        play(RandomSampler(), Hyperband(), PROBLEM, random_state=0, n_workers=2)


def test_fewer_epochs_than_the_problem_has():
    history = play(RandomSampler(), FullFidelity(3), PROBLEM, max_resources=9, random_state=0)
    assert [list(trial.results) for trial in history.trials] == [[9]] * 3
