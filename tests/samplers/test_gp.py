"""What a Gaussian process does beside looking for the greatest expected improvement."""

import math
import pickle
from dataclasses import dataclass, replace
from random import Random

import numpy as np
import pytest
from scipy.stats import uniform

from sksearch.acquisition import UCB, Acquisition, LogEI, LogPI
from sksearch.base import Start
from sksearch.history import History, Problem, Result
from sksearch.samplers import ForestSampler, GPSampler, TPESampler, _gp_proposal
from sksearch.samplers._gp import CHOICES
from sksearch.samplers._gp_proposal import Gains, Portfolio, Proposal
from sksearch.samplers._observations import TRANSFERS, observe
from sksearch.schedulers import FullFidelity, Hyperband
from sksearch.space import Space
from sksearch.study import Study

SQUARE = {"x": uniform(0, 1), "y": uniform(0, 1)}
CUBE = SQUARE | {"z": uniform(0, 1)}


def history_of(points, scores):
    history = History(Problem(Space(SQUARE), seed=3))
    for (x, y), score in zip(points, scores, strict=True):
        trial = history.start({"x": x, "y": y}, 0, 1)
        history.tell(trial.id, 1, Result(float(score)))
    return history


def ask(sampler, history):
    return sampler.ask(history, Start(1), np.random.default_rng(7))


def told(n, n_worse):
    """A history of n results, the last so many of them worse than the one before."""
    scores = np.arange(n, dtype=float)
    scores[n - n_worse :] = 0.5 - np.arange(n_worse)
    return history_of(np.random.default_rng(n).random((n, 2)), scores)


@pytest.mark.parametrize("n", [12, 13])
@pytest.mark.parametrize("n_worse", [0, 4, 5, 9])
@pytest.mark.parametrize("acquisition", CHOICES)
def test_every_second_proposal_is_that_of_densities_where_nothing_gets_better(
    acquisition, n, n_worse
):
    history = told(n, n_worse)
    same = ask(GPSampler(acquisition), history) == ask(TPESampler(), history)
    single = ("log_ei", "log_pi", "lcb", "ei_per_second")
    assert same == (n_worse >= 5 and n == 13 and acquisition in single)


def step(params):
    """As accuracies on few rows: a broad plateau of 0.8, a small one of 1; z does not matter."""
    x = np.array([params["x"], params["y"]])
    broad = 0.8 * np.exp(-((x - 0.3) ** 2).sum() / 0.1)
    return float(np.round(max(broad, np.exp(-((x - 0.8) ** 2).sum() / 0.02)), 1))


def trials_of(func, space, n, seed):
    study = Study(Problem(Space(space), seed=seed), GPSampler(), FullFidelity(n))
    while job := study.ask():
        study.tell(job, Result(float(func(job.params))))
    return study.history.trials


@pytest.mark.slow
def test_equal_best_scores_send_it_elsewhere(monkeypatch):
    monkeypatch.setattr(_gp_proposal, "PATIENCE", 1_000)

    def best(seed):
        return max(trial.results[1].score for trial in trials_of(step, CUBE, 40, seed))

    with_gain = [best(seed) for seed in range(4)]
    monkeypatch.setattr(_gp_proposal, "MARGIN_OF_TIE", 0.0)
    assert np.mean(with_gain) > np.mean([best(seed) for seed in range(4)]) + 0.05


# ---- the ends of the ranges


HYPERCUBE = {f"x{j}": uniform(0, 1) for j in range(5)}


def proposals(func, n, seed=0):
    """Points of the cube that the sampler evaluates, shape (n, 5)."""
    trials = trials_of(lambda params: func(np.array(list(params.values()))), HYPERCUBE, n, seed)
    return np.array([list(trial.params.values()) for trial in trials])


@pytest.mark.slow
def test_it_looks_at_the_ends_of_the_ranges_less_often(monkeypatch):
    def share():
        found = [proposals(lambda x: -((x - 0.4) ** 2).sum(), 16, seed)[6:] for seed in range(4)]
        return np.mean(np.abs(np.array(found) - 0.5) > 0.47)

    warily = share()
    monkeypatch.setattr(_gp_proposal, "INTERIOR_POWER", 0.0)
    assert warily < share() / 2


def test_a_maximum_in_a_corner_is_found_all_the_same():
    x = proposals(lambda x: x.sum() - (x**2).sum() / 4, 30)
    assert x.sum(axis=1).max() > 4.99


# ---- objects for strings


@dataclass(frozen=True)
class Mean(Acquisition):
    """The predicted score alone, as a user may write it."""

    def __call__(self, mean, sd, best):
        return mean

    def with_slopes(self, mean, sd, best):
        return mean, np.ones_like(mean), np.zeros_like(sd)


@pytest.mark.parametrize("n_worse", [0, 9])
@pytest.mark.parametrize(("name", "acquisition"), [("log_ei", LogEI()), ("log_pi", LogPI()),
                                                   ("lcb", UCB())])  # fmt: skip
def test_a_string_is_short_for_an_object(name, acquisition, n_worse):
    one, other = GPSampler(name), GPSampler(acquisition)
    assert one != other
    assert ask(one, told(13, n_worse)) == ask(other, told(13, n_worse))


def test_parameters_of_an_acquisition_matter():
    assert ask(GPSampler(UCB(0.1)), told(12, 0)) != ask(GPSampler(UCB(9.0)), told(12, 0))


@pytest.mark.parametrize("acquisition", [UCB(1.0), Mean()])
def test_a_sampler_with_an_object_is_a_value(acquisition):
    sampler = GPSampler(acquisition)
    assert pickle.loads(pickle.dumps(sampler)) == sampler == GPSampler(replace(acquisition))
    assert hash(replace(sampler)) == hash(sampler)
    assert ask(sampler, told(12, 0)).keys() == SQUARE.keys()


@pytest.mark.parametrize("acquisition", [UCB, 3, None, ["log_ei"]])
def test_an_acquisition_that_is_neither_string_nor_object_is_refused(acquisition):
    with pytest.raises(TypeError, match="must be a string or an Acquisition, such as LogEI"):
        GPSampler(acquisition)


# ---- pending candidates


def with_pending(points, pending, scores=None):
    """A history with results at some points and jobs under way at others."""
    points = np.asarray(points)
    scores = -((points - 0.4) ** 2).sum(axis=1) if scores is None else scores
    history = history_of(points, scores)
    for x, y in pending:
        history.start({"x": x, "y": y}, 0, 1)
    return history


def criterion(sampler, history):
    data = observe(history, Start(1))
    return Proposal(sampler, history, data, np.random.default_rng(1)).criterion(LogEI())


@pytest.mark.slow
@pytest.mark.parametrize("pending", ["believer", "fantasies"])
def test_no_improvement_is_expected_twice(pending):
    points = np.random.default_rng(2).random((12, 2))
    sampler, at = GPSampler(pending=pending), np.array([[0.41, 0.39]])
    alone = criterion(sampler, with_pending(points, []))(at)
    conditioned = criterion(sampler, with_pending(points, at))(at)
    assert conditioned < alone - 3  # in logarithms


@pytest.mark.parametrize("pending", ["believer", "fantasies"])
def test_values_of_pending_candidates_count_for_the_best_score(pending):
    points = np.random.default_rng(2).random((12, 2))
    sampler = GPSampler(pending=pending)
    alone = criterion(sampler, with_pending(points, []))
    conditioned = criterion(sampler, with_pending(points, [(0.41, 0.39)]))
    assert (np.asarray(conditioned.best[0]) > alone.best[0]).mean() >= 0.5
    assert (np.asarray(conditioned.best[0]) >= alone.best[0]).all()


@pytest.mark.parametrize("pending", ["believer", "fantasies", "penalisation", "thompson"])
def test_a_batch_is_spread_where_scores_are_noisy(pending):
    rng = np.random.default_rng(4)
    points = rng.random((25, 2))
    history = with_pending(
        points, [], -((points - 0.4) ** 2).sum(axis=1) + 0.05 * rng.normal(size=25)
    )
    batch = []
    for _ in range(6):
        params = ask(GPSampler(pending=pending), history)
        history.start(params, 0, 1)
        batch.append([params["x"], params["y"]])
    distances = np.linalg.norm(np.array(batch)[:, None] - np.array(batch), axis=2)
    assert np.median(distances[np.triu_indices(6, 1)]) > 0.05


@pytest.mark.slow
@pytest.mark.parametrize(
    "sampler", [GPSampler(), GPSampler("portfolio"), ForestSampler()], ids=str
)
def test_results_that_do_not_count_are_not_proposed_again(sampler):
    """A bracket whose own resource is too small for the model is still filled with many."""
    study = Study(Problem(Space(SQUARE), 1, 81, seed=1), sampler, Hyperband(n_iterations=2))
    while job := study.ask():
        x = np.array(list(job.params.values()))
        study.tell(job, Result(-float(((x - 0.4) ** 2).sum()) - 1 / job.resource))
    found = [list(t.params.values()) for t in study.history.trials if t.bracket == 5]
    distances = np.linalg.norm(np.array(found)[:, None] - np.array(found), axis=2)
    nearest = np.where(np.tri(len(found), dtype=bool), 9, distances).min(axis=0)[1:]
    assert len(found) == 81
    assert np.mean(nearest < 0.01) < 0.5


def test_with_several_resources_at_once_no_other_model_is_asked():
    history = told(13, 9)
    assert ask(GPSampler(transfer="joint"), history) != ask(TPESampler(), history)


# ---- failures


def failing(n, bracket_of, fails):
    """A history of two brackets at the largest resource."""
    history = History(Problem(Space(SQUARE), seed=3))
    for i, (x, y) in enumerate(np.random.default_rng(n).random((n, 2))):
        trial = history.start({"x": x, "y": y}, bracket_of(i), 1)
        result = Result(math.nan, status="error") if fails(i) else Result(x + y, cost=1 + x)
        history.tell(trial.id, 1, result)
    return history


@pytest.mark.parametrize("acquisition", CHOICES)
@pytest.mark.parametrize("transfer", TRANSFERS)
@pytest.mark.parametrize("n_own", [1, 2, 5])
def test_failures_of_a_bracket_that_has_just_begun(acquisition, transfer, n_own):
    history = failing(12, lambda i: int(i >= 12 - n_own), lambda i: i == 12 - n_own)
    sampler = GPSampler(acquisition, transfer=transfer)
    params = sampler.ask(history, Start(1, 1), np.random.default_rng(7))
    assert params.keys() == SQUARE.keys()


def test_a_failure_at_a_low_resource_does_not_end_the_design():
    """Where others succeeded there, though none at a resource that a model learns from."""
    space = Space({f"x{j}": uniform(0, 1) for j in range(4)})

    def started(first):
        study = Study(Problem(space, 1, 81, seed=2), GPSampler(), Hyperband())
        for i in range(30):
            job = study.ask()
            study.tell(job, Result(math.nan, status="error") if i == 1 and first else Result(0.5))
        return [trial.params for trial in study.history.trials]

    assert started(True) == started(False)


# ---- turns


def test_each_trial_is_credited_to_the_function_that_proposed_it(monkeypatch):
    used = {}
    criterion = Proposal.criterion

    def noting(self, acquisition):
        used[len(self.history.trials)] = acquisition
        return criterion(self, acquisition)

    monkeypatch.setattr(Proposal, "criterion", noting)
    sampler = GPSampler("portfolio", n_initial=5)
    study, rng, running = Study(Problem(Space(SQUARE)), sampler, FullFidelity(40)), Random(3), []
    while job := study.ask():
        running.append(job)
        if len(running) == 4:  # told in any order, three always under way
            done = running.pop(rng.randrange(4))
            study.tell(done, Result(done.params["x"]))
    gains = Gains(5, 3).read(study.history)
    assert {i: Portfolio.MEMBERS[gains.members[i]] for i in used} == used
    assert len(used) == 40 - 5
    assert gains.counts.sum() == 3 + len(gains.scored) - 5


# ---- the order of telling


def test_densities_of_recent_failures_do_not_push_out_recent_scores():
    history = failing(60, lambda i: 0, lambda i: i < 20)
    data = observe(history, Start(1))
    good, other = TPESampler()._split(data)
    points = np.array([history.problem.space.to_unit(t.params) for t in history.trials])
    is_good = (points[:, None] == good).all(axis=2).any(axis=1)
    np.testing.assert_array_equal(other, points[~is_good])
