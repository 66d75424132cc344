"""Every search of ours, on trainings that are imitated: is it better than random?

A flat Branin function tells searches that learn, or that spend less on weak candidates, from
those that draw at random; the law of what random draws end with is known exactly.
"""

import inspect
from functools import cache, partial

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

import sksearch
from sksearch.experiment import run_experiment
from sksearch.samplers import RandomSampler, TPESampler
from sksearch.schedulers import FullFidelity
from sksearch.simulators import Branin, GammaCurves
from tests.comparisons import ks_best_of

pytestmark = pytest.mark.whole

PROBLEM = GammaCurves(Branin(), n_epochs=27)
N_TRAININGS, N_BRED, N_SEEDS = 36, 120, 12
ONE_SPLIT = [([0, 1], [2, 3])]
COMMON = {"cv": ONE_SPLIT, "refit": False}
EPOCHS = COMMON | {"resource": "epochs", "max_resources": 27}

#: Each with epochs of about 36 full trainings.
SEARCHES = {
    "RandomSearchCV": {"n_iter": N_TRAININGS} | COMMON,
    "QuasiRandomSearchCV": {"n_iter": N_TRAININGS} | COMMON,
    "SearchCV": {"sampler": TPESampler(), "scheduler": FullFidelity(N_TRAININGS)} | COMMON,
    "GPBayesSearchCV": {"n_iter": N_TRAININGS} | COMMON,
    "TPESearchCV": {"n_iter": N_TRAININGS} | COMMON,
    "ForestBayesSearchCV": {"n_iter": N_TRAININGS} | COMMON,
    "SuccessiveHalvingSearchCV": {"n_candidates": 243} | EPOCHS,
    "ASHASearchCV": {"n_candidates": 243} | EPOCHS,
    "PASHASearchCV": {"n_candidates": 243} | EPOCHS,
    "HyperbandSearchCV": {"n_iterations": 3} | EPOCHS,
    "BOHBSearchCV": {"n_iterations": 3} | EPOCHS,
    "HalvingSearchCV": {"n_iterations": 8} | EPOCHS,
    "IncrementalEvaluationSearchCV": {"budget": 36 * 27, "min_resources": 8, "step": 8} | EPOCHS,
}
#: The first generation is random: it needs several to be better.
SEARCHES["EvolutionSearchCV"] = COMMON | {"n_iter": N_BRED, "method": "cma-es"}
AS_RANDOM = ("RandomSearchCV", "RandomizedSearchCV", "QuasiRandomSearchCV")
#: One for each way to save epochs or to learn; the others are compositions of their parts.
SOME = ("SearchCV", "TPESearchCV", "GPBayesSearchCV", "HyperbandSearchCV", "BOHBSearchCV",
        "ASHASearchCV", "HalvingSearchCV")  # fmt: skip

#: Following a gradient needs an estimator that has one, and a grid needs lists.
OTHER_SPACES = ("HypergradientSearchCV", "GridSearchCV", "HalvingGridSearchCV")

NEW = set()
for name in sksearch.search.__all__:
    if name.endswith("SearchCV") and name not in {*SEARCHES, *OTHER_SPACES}:
        own = inspect.signature(getattr(sksearch.search, name)).parameters
        size = {"n_iter": N_TRAININGS, "n_iterations": 3, "n_candidates": 243}
        common = EPOCHS if "resource" in own else COMMON
        SEARCHES[name] = common | {key: size[key] for key in size if key in own}
        NEW.add(name)


@cache
def optima_of(name):
    """Loss that each run ended with, and the epochs that it spent."""
    search = partial(getattr(sksearch.search, name), **SEARCHES[name])
    table = run_experiment({name: search}, {"Branin": PROBLEM}, N_SEEDS, verbose=0)
    last = table.groupby("seed").last()
    return last["incumbent"].to_numpy(), last["resource"].max()


@cache
def random_optima(n_epochs):
    """The same of 200 random searches with as many epochs."""
    search = (RandomSampler(), FullFidelity(int(n_epochs // 27)))
    table = run_experiment({"random": search}, {"Branin": PROBLEM}, 200, verbose=0)
    return table.groupby("seed")["incumbent"].last().to_numpy()


@pytest.mark.parametrize("name", sorted(({*SOME, "EvolutionSearchCV"} | NEW) - set(AS_RANDOM)))
def test_it_is_better_than_random_with_as_many_epochs(name):
    optima, n_epochs = optima_of(name)
    assert n_epochs <= (N_BRED if name == "EvolutionSearchCV" else 42) * 27
    assert mannwhitneyu(optima, random_optima(n_epochs), alternative="less").pvalue < 0.01


def test_random_search_follows_its_law():
    draws = Branin()(np.random.default_rng(0).random((20_000, 2)) * 15 + [-5, 0])
    optima, _ = optima_of("RandomSearchCV")

    def cdf(x):
        return np.searchsorted(np.sort(draws), x) / len(draws)

    assert ks_best_of(optima, N_TRAININGS, cdf).pvalue > 0.01
    learnt = run_experiment(
        {"TPE": (TPESampler(), FullFidelity(N_TRAININGS))}, {"Branin": PROBLEM}, 30, verbose=0
    )
    optima = learnt.groupby("seed")["incumbent"].last().to_numpy()
    assert ks_best_of(optima, N_TRAININGS, cdf).pvalue < 0.01, "and what learns does not"


def test_quasi_random_search_is_no_worse_than_random():
    optima, n_epochs = optima_of("QuasiRandomSearchCV")
    assert mannwhitneyu(optima, random_optima(n_epochs), alternative="greater").pvalue > 0.01


def test_composed_and_named_searches_find_the_same():
    composed, named = optima_of("SearchCV"), optima_of("TPESearchCV")
    assert np.median(composed[0]) == pytest.approx(np.median(named[0]), abs=1)
