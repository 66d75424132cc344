"""`minimize` in its kinds."""

import math

from scipy.stats import norm, randint, uniform

from sksearch import Bound, When, load_history, minimize
from sksearch.executors import VirtualClock, spend
from sksearch.samplers import (
    CMAESSampler,
    DESampler,
    ForestSampler,
    PSOSampler,
    QuasiRandomSampler,
    RandomSampler,
    TPESampler,
)
from sksearch.schedulers import FoldRace, Hyperband, SuccessiveHalving
from sksearch.space import LogRandInt
from tests.frozen.answers import of_function
from tests.frozen.cases import case
from tests.frozen.estimators import PLANE

MIXED = {
    "x": uniform(-1, 2),
    "n": LogRandInt(1, 100),
    "kind": ["a", "b"],
    "depth": When(randint(1, 5), "kind", "==", "b"),
}


def bowl(params):
    """Two dimensions, smallest at (0.3, 0.6)."""
    return (params["x"] - 0.3) ** 2 + 2 * (params["y"] - 0.6) ** 2


def of_all_kinds(params):
    """A loss of numbers, choices, and what depends on a choice."""
    loss = abs(params["x"] - 0.2) + 0.1 * abs(math.log(params["n"] / 9))
    return loss + (0.1 * params["depth"] if params["kind"] == "b" else 0.3)


def trained(params, n_resources):
    """A loss that falls with the units that are spent."""
    spend(n_resources)
    return bowl(params) + 1 / n_resources


def measured(params):
    """A loss, and what is measured beside it."""
    return {"loss": bowl(params), "memory": 10 * params["x"], "price": 1 - params["y"]}


def failing(params):
    """It raises, or returns no number, in a part of the space."""
    if params["x"] > 0.7:
        raise RuntimeError("x is too large")
    return math.nan if params["y"] > 0.8 else bowl(params)


@case
def a_plain_function():
    return of_function(minimize(bowl, PLANE, n_iter=10, random_state=0))


@case
def samplers_on_a_function():
    samplers = {
        "densities": TPESampler(), "draws": RandomSampler(), "design": QuasiRandomSampler(),
        "forest": ForestSampler(), "strategy": CMAESSampler(population_size=4),
        "differences": DESampler(population_size=4), "swarm": PSOSampler(population_size=4),
    }  # fmt: skip
    parts = {}
    for name, sampler in samplers.items():
        result = minimize(of_all_kinds, MIXED, n_iter=12, sampler=sampler, random_state=0)
        parts[name] = [trial.params for trial in result.history.trials]
        parts[f"{name} best"] = [result.x, result.fun, result.message]
    return parts


@case
def units_of_a_function_by_hyperband():
    args = {"scheduler": Hyperband(), "max_resources": 9, "sampler": TPESampler()}
    return of_function(minimize(trained, PLANE, random_state=0, **args))


@case
def units_of_a_function_on_three_workers():
    args = {"scheduler": SuccessiveHalving(9), "min_resources": 1, "max_resources": 9}
    with VirtualClock(3) as clock:
        result = minimize(trained, PLANE, sampler=RandomSampler(), n_jobs=3,
                          workers={"batch_size": 3}, timeout=60, random_state=0,
                          **args)  # fmt: skip
    return of_function(result) | {"clock": [clock.seconds, clock.busy_seconds]}


@case
def rungs_that_models_learn_from():
    """Of 100 units 3 are enough, and 2 are too few."""
    args = {"scheduler": SuccessiveHalving(20), "sampler": TPESampler(), "random_state": 0}
    return {
        f"from {low}": of_function(
            minimize(trained, PLANE, min_resources=low, max_resources=high, **args)
        )["trials"]
        for low, high in ((3, 100), (2, 100), (1, 27))
    }


@case
def repetitions_of_a_function_are_raced():
    def repeated(params, n_resources):
        return bowl(params) + 0.02 * sum(math.sin(9 * k) for k in range(n_resources)) / n_resources

    args = {"scheduler": FoldRace(10), "max_resources": 6, "sampler": RandomSampler()}
    return of_function(minimize(repeated, PLANE, random_state=0, **args))


@case
def objectives_of_a_function():
    args = {"objectives": ["loss", "memory"], "n_iter": 9, "random_state": 0}
    return of_function(minimize(measured, PLANE, **args))


@case
def bounds_on_what_a_function_returns():
    limits = [Bound("memory", "<=", 2.0), lambda params: params["y"] < 0.9]
    return of_function(
        minimize(measured, PLANE, n_iter=9, known={"constraints": limits}, random_state=0)
    )


@case
def a_function_that_fails():
    args = {"n_iter": 14, "sampler": TPESampler(), "random_state": 0}
    return of_function(minimize(failing, PLANE, **args))


@case
def a_target_of_a_function():
    args = {"n_iter": 30, "sampler": RandomSampler(), "random_state": 0}
    whole = minimize(bowl, PLANE, **args)
    losses = [-trial.results[1].score for trial in whole.history.trials]
    reached = minimize(bowl, PLANE, target=min(losses[:9]), **args)
    stopped = minimize(bowl, PLANE, callback=lambda history: len(history.trials) == 5, **args)
    return {"whole": [whole.nfev, whole.message], "reached": [reached.nfev, reached.message],
            "stopped": [stopped.nfev, stopped.message]}  # fmt: skip


@case
def beliefs_and_results_of_before():
    before = minimize(bowl, PLANE, n_iter=9, sampler=RandomSampler(), random_state=5)
    prior = {"x": norm(0.3, 0.1)}
    known = {"prior": prior, "results": before, "params": {"x": 0.5, "y": 0.5}}
    return of_function(minimize(bowl, PLANE, n_iter=7, known=known, random_state=0))


@case
def a_function_goes_on(folder):
    args = {"sampler": TPESampler(), "checkpoint_dir": folder, "random_state": 0}
    half = minimize(bowl, PLANE, n_iter=6, **args)
    whole = minimize(bowl, PLANE, n_iter=12, **args)
    known = [trial.params for trial in half.history.trials]
    same = [trial.params for trial in whole.history.trials][:6] == known
    read = [trial.params for trial in load_history(folder).history_.trials]
    return of_function(whole) | {"half": [half.nfev], "same": [same, len(read)]}
