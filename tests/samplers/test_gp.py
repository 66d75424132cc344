"""What a Gaussian process does beside looking for the greatest expected improvement."""

import itertools
import math
import pickle
from dataclasses import dataclass, replace
from random import Random

import numpy as np
import pytest
from scipy.stats import uniform

from sksearch.acquisition import UCB, LogEI, LogPI
from sksearch.acquisition._functions import Acquisition
from sksearch.base import Start
from sksearch.history import History, Problem, Result
from sksearch.models import GaussianProcess, MixedKernel
from sksearch.models._gp import log_likelihood_gradient
from sksearch.models._kernels import FAMILIES
from sksearch.models._learning import learnt_at, log_posterior
from sksearch.models._transforms import standardise
from sksearch.samplers import ForestSampler, GPSampler, TPESampler, _gp_proposal
from sksearch.samplers._gp import CHOICES
from sksearch.samplers._gp_models import GUARDS, Models
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
def test_every_second_proposal_comes_from_densities_if_nothing_improves(acquisition, n, n_worse):
    history = told(n, n_worse)
    same = ask(GPSampler(acquisition), history) == ask(TPESampler(), history)
    single = ("log_ei", "log_pi", "lcb", "ei_per_second")
    assert same == (n_worse >= 5 and n == 13 and acquisition in single)


def share_of_costly(acquisition, seed):
    """Share of candidates that cost fifty times as much as others, once there is a model."""
    space = Space(SQUARE)
    study = Study(Problem(space, seed=seed), GPSampler(acquisition, n_initial=6), FullFidelity(14))
    while job := study.ask():
        x, y = job.params["x"], job.params["y"]
        study.tell(job, Result((y - 0.5) ** 2, cost=50.0 if x > 0.5 else 1.0))
    return np.mean([trial.params["x"] > 0.5 for trial in study.history.trials[6:]])


def test_by_the_second_cheap_candidates_are_preferred():
    by_the_second, without = (
        np.mean([share_of_costly(acquisition, seed) for seed in range(3)])
        for acquisition in ("ei_per_second", "log_ei")
    )
    assert by_the_second < 0.4
    assert by_the_second < without - 0.1


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


@pytest.mark.whole
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
        found = [proposals(lambda x: -((x - 0.4) ** 2).sum(), 16, seed)[6:] for seed in range(2)]
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


# ---- guards, and how hyperparameters are learnt


def without(guard):
    return GPSampler(guards=[name for name in GUARDS if name != guard])


@pytest.mark.parametrize("guard", [*GUARDS, None])
def test_a_second_opinion_is_asked_for_where_it_is_among_the_guards(guard):
    history = told(13, 9)
    same = ask(without(guard), history) == ask(TPESampler(), history)
    assert same == (guard != "second_opinion")


@pytest.mark.parametrize("guard", [*GUARDS, None])
def test_equal_best_scores_raise_what_is_an_improvement_where_that_is_a_guard(guard, monkeypatch):
    points = np.random.default_rng(0).random((8, 2))
    margins = []
    monkeypatch.setattr(Proposal, "criterion", lambda self, *args: margins.append(args[1]))
    monkeypatch.setattr(Proposal, "maximiser", lambda self, criterion: {})
    ask(without(guard), history_of(points, [0, 1, 1, 0.5, 1, 0.2, 0.3, 1]))
    assert margins == [0.0 if guard == "ties" else pytest.approx(0.9)]


@pytest.mark.parametrize("guard", [*GUARDS, None])
def test_the_maximum_is_believed_inside_where_that_is_a_guard(guard):
    n_factors = len(criterion(without(guard), told(12, 0)).factors)
    assert n_factors == (0 if guard == "interior" else 1)


@pytest.mark.parametrize("guard", [*GUARDS, None])
def test_outliers_are_pulled_in_where_that_is_a_guard(guard):
    points = np.random.default_rng(0).random((10, 2))
    history = history_of(points, [*range(9), -1e6])
    models = Models(without(guard), history, observe(history, Start(1)))
    assert (models.y[:9].std() < 1e-3) == (guard == "outliers")
    np.testing.assert_allclose(models.as_scores(models.y)[:9], range(9), atol=1e-4)


def test_without_guards_the_criterion_is_the_plain_expected_improvement():
    history, sampler = told(13, 9), GPSampler(guards=())
    data, U = observe(history, Start(1)), np.random.default_rng(1).random((50, 2))
    y = standardise(data.y)
    models = Models(sampler, history, data)
    gp = GaussianProcess(MixedKernel([False, False]), models.scores()[0].theta).fit(data.U, y)
    mean, sd = gp.predict(U)
    expected = LogEI()(mean, sd, gp.predict(data.U)[0].max())
    np.testing.assert_allclose(criterion(sampler, history)(U), expected, atol=1e-6)


@pytest.mark.parametrize("kernel", FAMILIES)
@pytest.mark.parametrize("keep", [(), ("interior", "ties")])
def test_without_a_prior_hyperparameters_maximise_the_marginal_likelihood(kernel, keep):
    """More likely than with a prior, and at a maximum: a step to either side is worse."""
    history = told(14, 11)
    data = observe(history, Start(1))
    plain, y = GPSampler(kernel=kernel, guards=keep), standardise(data.y)
    other = replace(plain, guards=(*keep, "prior"))
    thetas = [Models(s, history, data).scores()[0].theta for s in (plain, other)]
    U, y = data.U[: learnt_at(len(y))], standardise(data.y[: learnt_at(len(y))])

    def likelihood(theta):
        return log_likelihood_gradient(MixedKernel([False, False], kernel), theta, U, y)[0]

    best = likelihood(thetas[0])
    assert best > likelihood(thetas[1])
    for i, step in itertools.product(range(len(thetas[0])), (-0.3, 0.3)):
        theta = thetas[0].copy()
        theta[i] = np.clip(theta[i] + step, np.log(1e-7 if i == 0 else 1e-3), np.log(1e3))
        assert likelihood(theta) <= best + 1e-4


def test_samples_without_a_prior_follow_the_likelihood():
    """They reach values that a prior all but excludes."""
    history, data = told(8, 4), observe(told(8, 4), Start(1))
    spread = {}
    for guards in ((), ("prior",)):
        models = Models(GPSampler(marginalise=True, guards=guards), history, data)
        spread[guards] = np.ptp([m.theta[2:] for m in models.scores()])
    assert spread[()] > spread[("prior",)]


def test_predictions_of_a_model_without_guards_are_in_units_of_the_score():
    history = told(20, 0)  # 0, 1, ... 19
    found = GPSampler(guards=()).predict(history, Start(1), history.trials[10].params)
    assert found.low < 10 < found.high
    assert 0 < found.score < 19


def test_a_sampler_with_the_same_guards_is_the_same():
    one = GPSampler(guards={"ties", "interior"})
    assert one == GPSampler(guards=["interior", "ties"]) != GPSampler() == GPSampler(guards=GUARDS)
    assert hash(pickle.loads(pickle.dumps(one))) == hash(replace(one)) == hash(one)


@pytest.mark.parametrize(
    ("guards", "error", "message"),
    [
        ("ties", TypeError, "guards='ties' must be a collection of names"),
        (None, TypeError, r"or \(\)\."),
        (
            ["ties", "tie"],
            ValueError,
            "guards contains 'tie': the names are interior, outliers, p",
        ),
    ],
)
def test_guards_that_do_not_exist_are_refused(guards, error, message):
    with pytest.raises(error, match=message):
        GPSampler(guards=guards)


@pytest.mark.parametrize("n_restarts", [-1, 1.5, "3", None])
def test_a_strange_count_of_restarts_is_refused(n_restarts):
    with pytest.raises(ValueError, match=r"n_restarts=.* must be an integer of at least 0"):
        GPSampler(n_restarts=n_restarts)


def test_restarts_find_hyperparameters_that_the_mode_of_the_prior_does_not_lead_to():
    """Of four numbers only the first one matters, and it matters much."""
    history = History(Problem(Space({f"x{j}": uniform(0, 1) for j in range(4)}), seed=3))
    U = np.random.default_rng((4, 23, 6)).random((23, 4))  # they are learnt again at 23
    for u in U:
        trial = history.start({f"x{j}": float(x) for j, x in enumerate(u)}, 0, 1)
        history.tell(trial.id, 1, Result(float(np.sin(25 * u[0]))))
    kernel, values = MixedKernel([False] * 4), []
    for n_restarts in (0, 3):
        models = Models(GPSampler(n_restarts=n_restarts), history, observe(history, Start(1)))
        theta = models.scores()[0].theta
        values.append(log_posterior(kernel, theta, U, models.y)[0])
    assert values[1] > values[0] + 3
    assert np.argmin(theta[2:]) == 0
    again = Models(GPSampler(n_restarts=3), history, observe(history, Start(1)))
    assert (again.scores()[0].theta == theta).all()


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


@pytest.mark.few(1)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("sampler", "share"),
    # In the best leaf of a forest all candidates promise the same.
    [(GPSampler(), 0.5), (GPSampler("portfolio"), 0.5), (ForestSampler(), 0.9)],
    ids=str,
)
def test_results_that_do_not_count_are_not_proposed_again(sampler, share):
    """A bracket whose own resource is too small for the model is still filled with many."""
    study = Study(Problem(Space(SQUARE), 1, 27, seed=1), sampler, Hyperband(n_iterations=2))
    while job := study.ask():
        x = np.array(list(job.params.values()))
        study.tell(job, Result(-float(((x - 0.4) ** 2).sum()) - 1 / job.resource))
    found = [list(t.params.values()) for t in study.history.trials if t.bracket == 4]
    distances = np.linalg.norm(np.array(found)[:, None] - np.array(found), axis=2)
    nearest = np.where(np.tri(len(found), dtype=bool), 9, distances).min(axis=0)[1:]
    assert len(found) == 27
    assert np.mean(nearest < 0.01) < share


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
