"""Every search by the criteria of table 2.1 of [1]_, in one run of simulated trainings.

Four problems: Branin's function and Rastrigin's under simulated loss curves, recorded curves of
logistic regression on MNIST, and a space with choices, integers and conditions. Each search has
the epochs of 35 trainings of 81 epochs, which two iterations of Hyperband take. The incumbent is
the best candidate of those that were trained furthest; its regret is that of its loss after all
epochs: 0 for the best loss there is, 1 for the median random candidate, clipped at 1.

- Sample efficiency: regret of the incumbent after a tenth, a third and all of the epochs.
- Run time: processor milliseconds that the search itself computes for a candidate.
- Workers: regret at the end if eight candidates run at a time, and how busy eight workers are
  with candidates whose epochs last log-normally long (sigma 1).
- Applicability: regret at the end in the mixed space alone.
- Ease of use: how many parameters a search has that `RandomSearchCV` has not.

    python examples/benchmarks/criteria.py [--seeds 10] [--searches RandomSearchCV BOHBSearchCV]

.. [1] L. Franceschi et al., "Hyperparameter optimization in machine learning", 2024.
"""

import argparse
import inspect
import time
from functools import partial
from statistics import fmean

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import lognorm, loguniform, randint, uniform

import sksearch
from sksearch import When
from sksearch.executors import VirtualClock
from sksearch.samplers import (
    CMAESSampler,
    DESampler,
    ForestSampler,
    GeneticSampler,
    GPSampler,
    PSOSampler,
    QuasiRandomSampler,
    RandomSampler,
    TPESampler,
)
from sksearch.schedulers import (
    ASHA,
    PASHA,
    FullFidelity,
    Hyperband,
    IncrementalEvaluation,
    SuccessiveHalving,
)
from sksearch.schedulers._iterated_halving import IteratedHalving
from sksearch.simulators import FAMILIES, Branin, GammaCurves, load_mnist_curves, play
from sksearch.simulators._functions import Rastrigin
from sksearch.simulators._problem import CurveProblem
from sksearch.space import Space

BASELINE = "RandomSearchCV"
EPOCHS, TRAININGS, N_WORKERS = 81, 35, 8
CHECKPOINTS = (0.1, 1 / 3, 1.0)
WHOLE = FullFidelity(TRAININGS)
# What has rungs is as large as the same count of epochs allows.
BRACKETS = Hyperband(n_iterations=2)
SHORT = IteratedHalving(n_iterations=14)
POPULATION = 765
SEARCHES = {
    "RandomSearchCV": (RandomSampler(), WHOLE),
    "QuasiRandomSearchCV": (QuasiRandomSampler(), WHOLE),
    "GPBayesSearchCV": (GPSampler(), WHOLE),
    "TPESearchCV": (TPESampler(), WHOLE),
    "ForestBayesSearchCV": (ForestSampler(), WHOLE),
    'EvolutionSearchCV(method="cma-es")': (CMAESSampler(), WHOLE),
    'EvolutionSearchCV(method="de")': (DESampler(), WHOLE),
    'EvolutionSearchCV(method="genetic")': (GeneticSampler(), WHOLE),
    'EvolutionSearchCV(method="pso")': (PSOSampler(), WHOLE),
    "SuccessiveHalvingSearchCV": (RandomSampler(), SuccessiveHalving(POPULATION)),
    "HyperbandSearchCV": (RandomSampler(), BRACKETS),
    "ASHASearchCV": (RandomSampler(), ASHA(POPULATION)),
    "PASHASearchCV": (RandomSampler(), PASHA(POPULATION)),
    "IncrementalEvaluationSearchCV": (
        RandomSampler(),
        IncrementalEvaluation(TRAININGS * EPOCHS),
    ),
    "HalvingSearchCV": (GPSampler(transfer="joint"), SHORT),
    'HalvingSearchCV(sampler="tpe")': (TPESampler(), SHORT),
    'HyperbandSearchCV(sampler="gp")': (GPSampler(), BRACKETS),
    "BOHBSearchCV": (TPESampler(), BRACKETS),
    "DEHBSearchCV": (DESampler(), BRACKETS),
}

#: Incremental evaluation begins with a tenth of the epochs, the others with one.
MIN_RESOURCES = dict.fromkeys(SEARCHES, 1) | {"IncrementalEvaluationSearchCV": EPOCHS // 10}


class Mixed(CurveProblem):
    """A choice, integers, and two numbers that only some candidates have; 0 is the best loss."""

    space = {
        "kind": ["a", "b", "c"],
        "x": uniform(-1, 2),
        "depth": randint(1, 7),
        "y": When(uniform(-1, 2), "kind", "==", "b"),
        "rate": When(loguniform(1e-4, 1), "depth", ">=", 3),
    }
    max_resources = EPOCHS
    minimum = 0.0

    def losses(self, params, seed=0):
        """Return curves that do not cross."""
        ends = np.array([self.end(**p) for p in params])
        return ends[:, None] + 1 / np.arange(1, EPOCHS + 1) - 1 / EPOCHS

    @staticmethod
    def end(kind, x, depth, y=0.5, rate=1e-2):
        """Return the loss of a candidate after the last epoch."""
        of_depth = (depth - 4) ** 2 / 20 + (np.log10(rate) + 2) ** 2 / 8
        return {"a": 0.3, "b": 0.0, "c": 0.6}[kind] + x**2 + (y - 0.5) ** 2 + of_depth


class UnlikeLong(CurveProblem):
    """Curves that do not cross, with epochs that last as long as the candidate says."""

    space = {"x": uniform(), "seconds": lognorm(s=1)}
    max_resources = EPOCHS

    def losses(self, params, seed=0):
        """Return curves that do not cross."""
        return np.array([p["x"] for p in params])[:, None] + 1 / np.arange(1, EPOCHS + 1)

    def seconds(self, params):
        """Return seconds after each epoch."""
        return np.outer([p["seconds"] for p in params], np.arange(1, EPOCHS + 1))


def problems():
    """Problems by name."""
    return {
        "Branin": GammaCurves(Branin(), FAMILIES["branin"], noise=10),
        "Rastrigin": GammaCurves(Rastrigin(2), FAMILIES["rastrigin-1"], noise=10),
        "logistic regression": load_mnist_curves(),
        "mixed": Mixed(),
    }


def median_loss(problem):
    """Loss of the median random candidate after the last epoch."""
    space, rng = Space(problem.space), np.random.default_rng(0)
    draws = [space.sample(rng) for _ in range(1_000)]
    return float(np.median(problem.losses(draws)[:, -1]))


def regrets(history, problem, scale, seed):
    """Regret of the incumbent at each checkpoint; 1 before there is one."""
    found, regret, spent, top, best = [1.0] * len(CHECKPOINTS), 1.0, 0, 0, np.inf
    trained = [0] * len(history.trials)
    for kind, trial_id, resource in history.log:
        if kind != "tell":
            continue
        loss = -history.trials[trial_id].results[resource].score
        spent += resource - trained[trial_id]
        trained[trial_id] = resource
        if resource > top or (resource == top and loss < best):
            top, best = resource, loss
            end = problem.losses([history.trials[trial_id].params], seed)[0, -1]
            regret = float(np.clip((end - problem.minimum) / (scale - problem.minimum), 0, 1))
        for place, share in enumerate(CHECKPOINTS):
            if spent <= share * TRAININGS * EPOCHS:
                found[place] = regret
    return found


def measure(name, seed, scales):
    """Measure a search with a seed, on all problems."""
    found = {"alone": {}, "eight": {}}
    run = partial(play, *SEARCHES[name], min_resources=MIN_RESOURCES[name], random_state=seed)
    for problem_name, problem in problems().items():
        start = time.process_time()
        history = run(problem=problem)
        seconds = time.process_time() - start
        if problem_name == "Branin":
            found["ms"] = 1_000 * seconds / len(history.trials)
        scale = scales[problem_name]
        found["alone"][problem_name] = regrets(history, problem, scale, seed)
        history = run(problem=problem, n_workers=N_WORKERS, batch_size=N_WORKERS)
        found["eight"][problem_name] = regrets(history, problem, scale, seed)[-1]
    with VirtualClock(N_WORKERS) as clock:
        run(problem=UnlikeLong(), batch_size=N_WORKERS)
    found["busy"] = clock.utilisation
    return found


def n_own_parameters(name):
    """How many parameters a search has beside those of random search."""
    parameters = [
        inspect.signature(getattr(sksearch.search, c.partition("(")[0])).parameters
        for c in (name, BASELINE)
    ]
    return len(set(parameters[0]) - set(parameters[1]))


def main():
    """Measure and print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--searches", nargs="+", choices=SEARCHES, default=list(SEARCHES))
    args = parser.parse_args()
    scales = {name: median_loss(problem) for name, problem in problems().items()}
    print("| search | 10 % | 33 % | 100 % | eight at a time | mixed space | ms | busy | own |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for name in args.searches:
        runs = Parallel(n_jobs=args.jobs)(
            delayed(measure)(name, seed, scales) for seed in range(args.seeds)
        )
        alone = np.mean([list(run["alone"].values()) for run in runs], axis=(0, 1))
        figures = [
            *alone,
            fmean(fmean(run["eight"].values()) for run in runs),
            fmean(run["alone"]["mixed"][-1] for run in runs),
        ]
        cells = [f"{figure:.3f}" for figure in figures]
        cells.append(f"{fmean(run['ms'] for run in runs):.2f}")
        cells.append(f"{fmean(run['busy'] for run in runs):.0%}")
        print(f"| `{name}` | {' | '.join(cells)} | {n_own_parameters(name)} |", flush=True)


if __name__ == "__main__":
    main()
