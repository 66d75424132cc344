"""What a Gaussian process does where it gets no further."""

import numpy as np
import pytest
from scipy.stats import uniform

from sksearch.base import Start
from sksearch.history import History, Problem, Result
from sksearch.samplers import GPSampler, TPESampler, _gp
from sksearch.samplers._gp import ACQUISITIONS, CHOICES
from sksearch.schedulers import FullFidelity
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
    assert same == (n_worse >= 5 and n == 13 and acquisition in ACQUISITIONS)


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


def test_equal_best_scores_send_it_elsewhere(monkeypatch):
    monkeypatch.setattr(_gp, "PATIENCE", 1_000)

    def best(seed):
        return max(trial.results[1].score for trial in trials_of(step, CUBE, 40, seed))

    with_gain = [best(seed) for seed in range(4)]
    monkeypatch.setattr(_gp, "LEAST_GAIN", 0.0)
    assert np.mean(with_gain) > np.mean([best(seed) for seed in range(4)]) + 0.05


# ---- the ends of the ranges


HYPERCUBE = {f"x{j}": uniform(0, 1) for j in range(5)}


def proposals(func, n, seed=0):
    """Points of the cube that the sampler evaluates, shape (n, 5)."""
    trials = trials_of(lambda params: func(np.array(list(params.values()))), HYPERCUBE, n, seed)
    return np.array([list(trial.params.values()) for trial in trials])


def test_it_looks_at_the_ends_of_the_ranges_less_often(monkeypatch):
    def share():
        found = [proposals(lambda x: -((x - 0.4) ** 2).sum(), 16, seed)[6:] for seed in range(4)]
        return np.mean(np.abs(np.array(found) - 0.5) > 0.47)

    warily = share()
    monkeypatch.setattr(_gp, "INTERIOR", 0.0)
    assert warily < share() / 2


def test_a_maximum_in_a_corner_is_found_all_the_same():
    x = proposals(lambda x: x.sum() - (x**2).sum() / 4, 30)
    assert x.sum(axis=1).max() > 4.99
