"""`prior`: what the user believes of good values, and what becomes of it."""

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.stats import lognorm, loguniform, norm, randint, uniform
from sklearn.svm import SVC

from sksearch import (
    BOHBSearchCV,
    GPBayesSearchCV,
    HalvingSearchCV,
    HyperbandSearchCV,
    RandomSearchCV,
    SearchCV,
    When,
)
from sksearch.acquisition._criterion import UserPrior, beliefs
from sksearch.base import Start
from sksearch.history import History, Problem, Result
from sksearch.samplers import (
    ForestSampler,
    GPSampler,
    HypervolumeSampler,
    PriorSampler,
    RandomSampler,
    ScalarisedSampler,
    TPESampler,
    WarmStart,
)
from sksearch.schedulers import FullFidelity
from sksearch.search import EvolutionSearchCV, SearchMismatchError, earlier_results
from sksearch.space import Beliefs, LogRandInt, Space
from sksearch.study import Study
from tests.fakes import Curve

X, y = np.zeros((12, 2)), np.arange(12.0)
MIXED = {
    "rate": loguniform(1e-4, 1),
    "depth": randint(1, 8),
    "width": LogRandInt(1, 5_000),
    "gauss": norm(0, 1),
    "count": stats.poisson(4),
    "kind": ["a", "b", None],
    "extra": When(uniform(0, 1), "kind", "==", "a"),
}
BELIEVED = {
    "rate": lognorm(1, scale=0.01),
    "depth": norm(3, 1),
    "width": stats.poisson(300),
    "gauss": norm(1, 0.5),
    "count": randint(2, 5),
    "kind": {"a": 2, None: 1},
    "extra": norm(0.2, 0.1),
}


# ---- the density


@pytest.mark.few(1)
@pytest.mark.parametrize("name", MIXED)
def test_draws_follow_the_belief(name):
    space = Space(MIXED)
    believed = Beliefs(space, {name: BELIEVED[name]})
    rng = np.random.default_rng(0)
    drawn = [believed.sample(rng).get(name) for _ in range(2_000)]
    if name == "kind":
        assert 0.63 < drawn.count("a") / len(drawn) < 0.70
        assert "b" not in drawn
        return
    drawn = np.array([value for value in drawn if value is not None])
    (dimension,) = (d for d in space.dimensions if d.name == name)
    half = 0.0 if dimension.kind == "real" else 0.5
    low, high = BELIEVED[name].cdf(np.add(dimension.bounds, (-half, half)))
    for q in (0.1, 0.5, 0.9):
        value = np.quantile(drawn, q)
        between = np.mean(drawn <= value)
        expected = (BELIEVED[name].cdf(value + half) - low) / (high - low)
        assert between == pytest.approx(expected, abs=0.03)


def test_the_density_is_one_on_average_and_says_nothing_of_what_is_not_active():
    space = Space(MIXED)
    believed = Beliefs(
        space, {name: BELIEVED[name] for name in ("rate", "depth", "kind", "extra")}
    )
    U = space.canonical(np.random.default_rng(0).random((20_000, space.n_dims)))
    assert np.exp(believed.log_density(U)).mean() == pytest.approx(1, abs=0.1)
    only = Beliefs(space, {"extra": norm(0.2, 0.1)})
    inactive = U[np.isnan(U).any(axis=1)]
    assert np.allclose(only.log_density(inactive), 0)


def test_the_density_has_its_gradient():
    space = Space(MIXED)
    believed = Beliefs(space, BELIEVED)
    rng = np.random.default_rng(0)
    U = space.canonical(rng.random((40, space.n_dims)))
    numbers = np.flatnonzero(~space.categorical)
    factor = UserPrior(believed, 0.5)
    value, gradient = factor(U, numbers)
    assert np.allclose(value, 0.5 * believed.log_density(U))
    for k, j in enumerate(numbers):
        step = np.zeros(space.n_dims)
        step[j] = 1e-7
        slope = (factor(U + step, None)[0] - factor(U - step, None)[0]) / 2e-7
        active = ~np.isnan(U[:, j])
        smooth = np.abs((U[:, j] * 1024 + 0.5) % 1 - 0.5) < 0.49  # not at a corner
        use = active & smooth
        assert np.allclose(slope[use], gradient[use, k], rtol=1e-3, atol=1e-3)


def test_no_belief_is_so_sure_that_a_value_is_impossible():
    space = Space({"x": uniform(0, 1), "kind": ["a", "b"]})
    believed = Beliefs(space, {"x": norm(0.1, 1e-3), "kind": {"a": 1}})
    (value,) = believed.log_density(space.to_unit({"x": 0.9, "kind": "b"})[np.newaxis])
    assert value == pytest.approx(np.log(0.05))


# ---- what is refused


@pytest.mark.parametrize(
    ("prior", "error", "message"),
    [
        ([("rate", 1)], TypeError, "prior=[('rate', 1)] must be a dict"),
        ({"rat": norm()}, ValueError, "Did you mean 'rate'?"),
        ({"rate": 0.1}, TypeError, "must be a distribution with a cdf"),
        ({"rate": norm}, TypeError, "must be a distribution with a cdf"),
        ({"rate": {0.1: 1}}, TypeError, "must be a distribution with a cdf"),
        ({"rate": norm(50, 1)}, ValueError, "where the parameter may lie, a number from"),
        ({"depth": norm(0, np.nan)}, ValueError, "where the parameter may lie"),
        ({"kind": norm()}, TypeError, "it must be a dict of weights, such as {'a': 1.0}"),
        ({"kind": {"c": 1}}, ValueError, "a weight for 'c', not one of the choices"),
        ({"kind": {"a": -1}}, ValueError, "prior['kind']['a']=-1 must be a weight"),
        ({"kind": {"a": 0}}, ValueError, "must have a weight above 0"),
    ],
)
def test_beliefs_that_do_not_fit_are_errors_before_any_training(prior, error, message):
    Curve.n_calls = 0
    space = {"quality": uniform(0, 1), "other": [1]} if prior == [] else None
    with pytest.raises(error, match=re.escape(message)):
        Beliefs(Space(space or MIXED), prior)
    given = {"quality": MIXED["rate"], "other": MIXED["kind"]}
    names = {"rate": "quality", "kind": "other"}
    if isinstance(prior, dict) and set(prior) <= set(names):
        renamed = {names[name]: value for name, value in prior.items()}
        with pytest.raises(error):
            SearchCV(Curve(), given, known={"prior": renamed}, n_iter=3, cv=2).fit(X, y)
    assert Curve.n_calls == 0


def test_a_parameter_of_which_only_draws_are_known_has_no_belief():
    class Draws:
        def rvs(self, random_state=None):
            return random_state.rand()

    with pytest.raises(TypeError, match="only has rvs"):
        Beliefs(Space({"x": Draws()}), {"x": norm()})


# ---- what becomes of it

SPACE = {"a": uniform(0, 1), "b": uniform(0, 1), "c": uniform(0, 1)}
BEST = {"a": 0.3, "b": 0.6, "c": 0.2}
BOWL = {name: norm(value, 0.1) for name, value in BEST.items()}
WRONG = {name: norm(value + 0.4, 0.1) for name, value in BEST.items()}
SAMPLERS = {
    "GP": (GPSampler(), 24, 5),  # candidates, seeds
    "TPE": (TPESampler(), 60, 5),
    "forest": (ForestSampler(), 45, 6),
    "random": (PriorSampler(RandomSampler()), 60, 5),
}


def curve_of(sampler, prior, n, seed):
    """Distance of the best candidate so far from the best there is."""
    space = Space(SPACE)
    believed = None if prior is None else Beliefs(space, prior)
    study, found = Study(Problem(space, seed=seed, prior=believed), sampler, FullFidelity(n)), []
    while (job := study.ask()) is not None:
        found.append(sum((job.params[name] - best) ** 2 for name, best in BEST.items()))
        study.tell(job, Result(-found[-1]))
    return np.minimum.accumulate(found)


@pytest.mark.whole
@pytest.mark.parametrize("name", SAMPLERS)
def test_a_good_belief_needs_half_of_the_candidates_and_a_wrong_one_three_times_as_many(name):
    """Wrong by four standard deviations in each parameter, which is as wrong as can be."""
    sampler, n, n_seeds = SAMPLERS[name]
    without, good, wrong = (
        np.mean([curve_of(sampler, prior, n, seed) for seed in range(n_seeds)], axis=0)
        for prior in (None, BOWL, WRONG)
    )
    assert good[n // 4 - 1] <= without[n // 2 - 1]
    assert wrong[-1] <= without[n // 3 - 1]


def test_of_a_hundred_candidates_a_quarter_is_drawn_from_the_prior():
    space = Space(SPACE)
    problem = Problem(space, prior=Beliefs(space, {"a": norm(0.95, 0.001)}))
    study = Study(problem, PriorSampler(RandomSampler()), FullFidelity(400))
    drawn = [abs(study.ask().params["a"] - 0.95) < 0.005 for _ in range(400)]
    assert 5 <= sum(drawn[:20]) <= 15
    assert 18 <= sum(drawn[:100]) <= 34
    assert sum(drawn[200:]) <= 20


@pytest.mark.parametrize("sampler", [GPSampler(), ForestSampler(), TPESampler()], ids=str)
def test_a_belief_weighs_less_with_each_result(sampler):
    """Of noise nothing is learnt, so that proposals show the belief alone."""
    space = Space({"a": uniform(0, 1), "b": uniform(0, 1)})
    believed = Beliefs(space, {"a": norm(0.8, 0.02)})
    assert [beliefs(History(Problem(space, prior=believed)), n)[0].power for n in (10, 100)] == [
        0.3, 0.03,
    ]  # fmt: skip
    assert beliefs(History(Problem(space)), 10) == []

    def distance(prior):
        history, rng = History(Problem(space, prior=prior)), np.random.default_rng(0)
        for _ in range(12):
            trial = history.start(space.sample(rng), 0, 1)
            history.tell(trial.id, 1, Result(float(rng.standard_normal())))
        asked = [sampler.ask(history, Start(1), np.random.default_rng(s)) for s in range(20)]
        return np.mean([abs(params["a"] - 0.8) for params in asked])

    assert distance(believed) < distance(None)


def test_samplers_around_others_pass_the_belief_on():
    task = earlier_results({"param_a": [0.1, 0.2, 0.3], "mean_test_score": [1, 2, 3]})
    for inner, believes in ((GPSampler(), True), (RandomSampler(), False)):
        assert WarmStart(inner, [task]).reads.prior == believes
        assert ScalarisedSampler(inner).reads.prior == believes
        assert PriorSampler(inner).reads == replace(inner.reads, prior=True)
    assert HypervolumeSampler().reads.prior


def test_fronts_are_looked_for_where_they_are_believed():
    space = Space({"a": uniform(0, 1), "b": uniform(0, 1)})
    found = []
    for prior in (None, Beliefs(space, {"b": norm(0.9, 0.05)})):
        problem = Problem(space, objectives=("p", "q"), prior=prior)
        study = Study(problem, HypervolumeSampler(n_initial=4), FullFidelity(10))
        while (job := study.ask()) is not None:
            a = job.params["a"]
            study.tell(job, Result(a, objectives=(a, 1 - a)))
        found.append(np.mean([abs(t.params["b"] - 0.9) for t in study.history.trials[4:]]))
    assert found[1] < 0.5 * found[0]


# ---- in searches

QUALITY = {"quality": uniform(0, 1)}


@pytest.mark.parametrize(
    "search",
    [
        RandomSearchCV(Curve(), QUALITY, n_iter=12),
        GPBayesSearchCV(Curve(), QUALITY, n_iter=12),
        SearchCV(Curve(), QUALITY, n_iter=12),
        EvolutionSearchCV(Curve(), QUALITY, n_iter=12, method="cma-es"),
        HyperbandSearchCV(Curve(), QUALITY, resource="epochs", max_resources=9),
        BOHBSearchCV(Curve(), QUALITY, resource="epochs", max_resources=9),
        HalvingSearchCV(Curve(), QUALITY, resource="epochs", max_resources=9),
    ],
    ids=lambda search: type(search).__name__,
)
def test_every_kind_of_search_follows_it(search):
    believed = norm(0.35, 0.002)
    search.set_params(cv=2, known__prior={"quality": believed}, random_state=0, refit=False).fit(
        X, y
    )
    near = [abs(t.params["quality"] - 0.35) < 0.02 for t in search.history_.trials]
    assert any(near)
    assert not all(near)


def test_a_grid_that_is_tried_whole_begins_with_what_is_believed():
    search = RandomSearchCV(
        Curve(), {"quality": [i / 12 for i in range(12)]}, n_iter=12, cv=2, random_state=0,
        known={"prior": {"quality": {0.5: 1, 0.25: 1}}},
    ).fit(X, y)  # fmt: skip
    tried = [params["quality"] for params in search.cv_results_["params"]]
    assert sorted(tried) == [i / 12 for i in range(12)]
    assert {0.5, 0.25} <= set(tried[:6])


def test_a_checkpoint_knows_the_belief(tmp_path):
    args = {"n_iter": 6, "cv": 2, "random_state": 0, "checkpoint_dir": tmp_path}
    first = RandomSearchCV(
        Curve(), QUALITY, known={"prior": {"quality": norm(0.3, 0.1)}}, **args
    ).fit(X, y)
    again = RandomSearchCV(
        Curve(), QUALITY, known={"prior": {"quality": norm(0.3, 0.1)}}, **args
    ).fit(X, y)
    assert first.cv_results_["params"] == again.cv_results_["params"]
    with pytest.raises(SearchMismatchError, match="prior"):
        RandomSearchCV(Curve(), QUALITY, known={"prior": {"quality": norm(0.4, 0.1)}}, **args).fit(
            X, y
        )


def test_it_goes_with_results_of_other_tasks():
    space = {"C": loguniform(1e-3, 1e3)}
    known = earlier_results({"param_C": [1, 10, 100.0], "mean_test_score": [0.5, 0.9, 0.7]})
    rows, labels = np.random.default_rng(0).random((30, 2)), np.arange(30) % 2
    search = GPBayesSearchCV(
        SVC(), space, known={"prior": {"C": lognorm(1, scale=10)}, "results": known}, n_iter=6,
        cv=2, random_state=0,
    ).fit(rows, labels)  # fmt: skip
    assert len(search.cv_results_["params"]) == 6
