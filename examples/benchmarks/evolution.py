"""Evolution and swarms against the packages that they are known from, in the same run.

Standard functions of 2, 5 and 10 numbers, shifted so that no optimum is in the middle, with 30
evaluations for each number; DEHB: four of them with invented learning curves, at the price of 60
full trainings. What counts is the best loss, of DEHB the best at full resource. All functions are
0 at their minimum, so losses of one function and seed are compared by their logarithms: printed
are the geometric mean of ours over theirs, and the p-value of a Wilcoxon test for ours being
worse. Milliseconds are processor time of an evaluation, of DEHB of an epoch, without the
function's own: medians over functions and seeds, of searches that take turns, so that the load of
the machine is the same for all.

    python examples/benchmarks/evolution.py [--seeds 20] [--methods DE CMA-ES] [--write FILE]

Exit status 1 if a bar fails: none of ours is worse, at a p-value of 0.05.
"""

import argparse
import contextlib
import importlib.metadata
import json
import logging
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from _peers import require
from _report import print_bars
from scipy.optimize import differential_evolution
from scipy.stats import uniform, wilcoxon
from threadpoolctl import threadpool_limits

import sksearch
from sksearch.history import Problem, Result
from sksearch.samplers import CMAESSampler, DESampler, GeneticSampler, PSOSampler
from sksearch.schedulers import FullFidelity, Hyperband
from sksearch.space import Space
from sksearch.study import Study

DIMENSIONS = (2, 5, 10)
EVALUATIONS = 30  # for each number
N_EPOCHS, N_TRAININGS, N_CURVE = 27, 60, 4  # of DEHB; its problems have four numbers
TINY = 1e-9
FIRST_SEED = 100  # defaults of ours were chosen with seeds of less than 10
UNIT = uniform(0, 1)


# ---- functions of a point of the unit cube, 0 at the minimum


def optimum(d):
    """Where the minimum is, for functions that can be shifted."""
    return np.random.default_rng(d).uniform(0.2, 0.8, d)


def ellipsoid(u):
    """Ill-conditioned, turned so that no number can be chosen alone."""
    d = len(u)
    turn, _ = np.linalg.qr(np.random.default_rng(d + 1).standard_normal((d, d)))
    z = turn @ (10 * (u - optimum(d)))
    return float((10 ** (3 * np.arange(d) / (d - 1)) * z**2).sum())


def rosenbrock(u):
    """A bent valley."""
    x = 4.096 * u - 2.048
    return float((100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum())


def rastrigin(u):
    """Many valleys on a bowl."""
    x = 10.24 * (u - optimum(len(u)))
    return float((x**2 - 10 * np.cos(2 * np.pi * x) + 10).sum())


def ackley(u):
    """Many shallow valleys around a deep one."""
    x = 30 * (u - optimum(len(u)))
    peak = np.exp(-0.2 * np.sqrt((x**2).mean()))
    return float(20 - 20 * peak - np.exp(np.cos(2 * np.pi * x).mean()) + np.e)


def styblinski(u):
    """Two valleys for each number, one of them a little deeper."""
    x = 10 * u - 5
    return float(0.5 * (x**4 - 16 * x**2 + 5 * x).sum() + 39.16616570377142 * len(x))


FUNCTIONS = {f.__name__: f for f in (ellipsoid, rosenbrock, rastrigin, ackley, styblinski)}
CURVED = ("rosenbrock", "rastrigin", "ackley", "styblinski")


def after(function, u, epochs):
    """Loss after some epochs: slow where the sine is large, and misled at first."""
    slow = 1 + 4 * np.sin(7 * u.sum()) ** 2
    bowl = ((10 * (u[::-1] - optimum(len(u)))) ** 2).sum()
    return function(u) * (1 + slow / epochs) + 2 * bowl / epochs


# ---- methods: (function, d, n, seed) -> best loss


class Enough(Exception):  # noqa: N818
    """All evaluations are spent."""


class Counted:
    """A function that counts, keeps the best loss, and ends a search that goes on too long."""

    def __init__(self, function, n):
        self.function, self.n, self.best = function, n, np.inf

    def __call__(self, u):
        """The loss at a point."""
        if self.n == 0:
            raise Enough
        self.n -= 1
        loss = self.function(np.clip(np.asarray(u, float), 0, 1))
        self.best = min(self.best, loss)
        return loss


def ours(sampler):
    """One of this library's samplers, with whole evaluations."""

    def search(function, d, n, seed):
        names = [f"x{i:02}" for i in range(d)]
        space = Space(dict.fromkeys(names, UNIT))
        study = Study(Problem(space, seed=seed, n_candidates=n), sampler, FullFidelity(n))
        counted = Counted(function, n)
        while (job := study.ask()) is not None:
            study.tell(job, Result(-counted([job.params[name] for name in names])))
        return counted.best

    return search


def scipy_de(popsize):
    """SciPy's differential evolution, with so many members for each number."""

    def search(function, d, n, seed):
        counted = Counted(function, n)
        with contextlib.suppress(Enough):
            differential_evolution(
                counted,
                [(0, 1)] * d,
                popsize=popsize,
                maxiter=10**6,
                tol=0,
                polish=False,
                rng=seed,
            )
        return counted.best

    return search


def optuna_cma(function, d, n, seed):
    """Optuna's sampler on the package cmaes."""
    optuna = require("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.CmaEsSampler(seed=seed))
    names = [f"x{i}" for i in range(d)]
    study.optimize(
        lambda trial: function(np.array([trial.suggest_float(name, 0, 1) for name in names])), n
    )
    return study.best_value


def pycma(function, d, n, seed):
    """The author's package."""
    counted = Counted(function, n)
    options = {"bounds": [0, 1], "seed": seed + 1, "verbose": -9, "maxfevals": n}
    with contextlib.suppress(Enough):
        require("cma").fmin2(counted, np.full(d, 0.5), 0.25, options, restarts=9)
    return counted.best


def pymoo(module, name, **options):
    """One of pymoo's algorithms."""

    def search(function, d, n, seed):
        make = getattr(require(f"pymoo.algorithms.soo.nonconvex.{module}"), name)
        from pymoo.core.problem import ElementwiseProblem
        from pymoo.optimize import minimize

        counted = Counted(function, n)

        class Task(ElementwiseProblem):
            def __init__(self):
                super().__init__(n_var=d, n_obj=1, xl=0.0, xu=1.0)

            def _evaluate(self, x, out, *args, **kwargs):
                out["F"] = counted(x)

        with contextlib.suppress(Enough):
            minimize(Task(), make(**options), ("n_evals", n), seed=seed)
        return counted.best

    return search


def pyswarms_gbest(function, d, n, seed):
    """The swarm of pyswarms, with ten particles and the same weights as ours."""
    single = require("pyswarms.single")
    logging.disable(logging.CRITICAL)
    np.random.seed(seed)
    options = {"c1": 1.49618, "c2": 1.49618, "w": 0.7298}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):  # it writes a log
        swarm = single.GlobalBestPSO(10, d, options, bounds=(np.zeros(d), np.ones(d)))
    best, _ = swarm.optimize(lambda U: np.array([function(u) for u in U]), n // 10, verbose=False)
    return float(best)


def our_dehb(function, d, budget, seed):
    """The composition of DEHBSearchCV."""
    names = [f"x{i}" for i in range(d)]
    problem = Problem(Space(dict.fromkeys(names, UNIT)), 1, N_EPOCHS, seed)
    study = Study(problem, DESampler(), Hyperband(n_iterations=budget))
    best = np.inf
    while budget > 0 and (job := study.ask()) is not None:
        u = np.array([job.params[name] for name in names])
        budget -= job.resource - job.spent
        loss = after(function, u, job.resource)
        if job.resource == N_EPOCHS:
            best = min(best, function(u))
        study.tell(job, Result(-loss))
    return best


def authors_dehb(function, d, budget, seed):
    """The package of DEHB's authors."""
    dehb, config_space = require("dehb"), require("ConfigSpace")
    names = [f"x{i}" for i in range(d)]
    space = config_space.ConfigurationSpace(seed=seed)
    space.add([config_space.UniformFloatHyperparameter(name, 0, 1) for name in names])
    best = np.inf
    with tempfile.TemporaryDirectory() as folder:
        search = dehb.DEHB(
            cs=space, min_fidelity=1, max_fidelity=N_EPOCHS, eta=3, seed=seed, n_workers=1,
            save_freq="end", output_path=folder, log_level="ERROR",
        )  # fmt: skip
        require("loguru").logger.remove()  # its log file
        while budget > 0:
            job = search.ask()
            u = np.array([job["config"][name] for name in names])
            epochs = int(job["fidelity"])
            budget -= epochs
            if epochs == N_EPOCHS:
                best = min(best, function(u))
            search.tell(job, {"fitness": after(function, u, epochs), "cost": epochs})
    return best


SWARMS = {
    "pyswarms": (pyswarms_gbest, "pyswarms"),
    "pymoo": (pymoo("pso", "PSO"), "pymoo"),
    "pymoo, pop_size=10": (pymoo("pso", "PSO", pop_size=10), "pymoo"),
}

#: Ours, and the peers by name with the package that they are from.
METHODS = {
    "CMA-ES": (ours(CMAESSampler()), {"Optuna": (optuna_cma, "optuna"), "pycma": (pycma, "cma")}),
    "DE": (
        ours(DESampler()),
        {"SciPy": (scipy_de(15), "scipy"), "SciPy, popsize=5": (scipy_de(5), "scipy")},
    ),
    "Genetic": (
        ours(GeneticSampler()),
        {
            "pymoo": (pymoo("ga", "GA"), "pymoo"),
            "pymoo, pop_size=20": (pymoo("ga", "GA", pop_size=20), "pymoo"),
        },
    ),
    "PSO": (ours(PSOSampler()), SWARMS),
    "PSO, synchronous": (ours(PSOSampler(asynchronous=False)), SWARMS),
    "DEHB": (our_dehb, {"dehb": (authors_dehb, "dehb")}),
}


class Timed:
    """A function that takes the time that it is given."""

    def __init__(self, function):
        self.function, self.seconds = function, 0.0

    def __call__(self, u):
        """The value at a point."""
        start = time.process_time()
        value = self.function(u)
        self.seconds += time.process_time() - start
        return value


def measure(searches, name, n_seeds):
    """Losses, and milliseconds of an evaluation or epoch, shape (2, n_searches, n, n_seeds)."""
    if name == "DEHB":
        cases = [(f, N_CURVE, N_TRAININGS * N_EPOCHS) for f in CURVED]
    else:
        cases = [(f, d, EVALUATIONS * d) for f in FUNCTIONS for d in DIMENSIONS]
    found = np.empty((2, len(searches), len(cases), n_seeds))
    for search in searches:  # imports and the like
        search(ackley, N_CURVE, N_EPOCHS, 0)
    for i, (f, d, n) in enumerate(cases):
        for k in range(n_seeds):
            for j, search in enumerate(searches):
                function = Timed(FUNCTIONS[f])
                start = time.process_time()
                found[0, j, i, k] = search(function, d, n, FIRST_SEED + k)
                seconds = time.process_time() - start - function.seconds
                found[1, j, i, k] = 1000 * seconds / n
    return found


def main():
    """Measure, print and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--write", type=Path, help="JSON file for all losses, with versions")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    bars = []
    record = {"sksearch": sksearch.__version__, "seeds": args.seeds, "first_seed": FIRST_SEED}
    record |= {"losses": {}, "milliseconds": {}}
    print(f"{'':<18}{'against':<20}{'ours/theirs':>12}{'p, worse':>10}{'ms':>8}{'theirs':>8}")
    for name in args.methods:
        search, peers = METHODS[name]
        versions = {peer: installed_version(package) for peer, (_, package) in peers.items()}
        here = [peer for peer, version in versions.items() if version]
        losses, cost = measure([search, *(peers[peer][0] for peer in here)], name, args.seeds)
        cost = np.median(cost, axis=(1, 2))
        for j, label in enumerate([name, *(f"{name}: {peer}" for peer in here)]):
            record["losses"][label] = losses[j].tolist()
            record["milliseconds"][label] = cost[j]
        for peer, (_, package) in peers.items():
            what = f"{name} is no worse than {peer}"
            if peer not in here:
                print(f"without {peer}: pip install {package}")
                bars.append((what, None))
                continue
            j = 1 + here.index(peer)
            difference = np.log(losses[0] + TINY) - np.log(losses[j] + TINY)
            p = wilcoxon(difference.ravel(), alternative="greater").pvalue
            ratio = np.exp(difference.mean())
            print(f"{name:<18}{peer:<20}{ratio:>12.2f}{p:>10.2g}{cost[0]:>8.2f}{cost[j]:>8.2f}")
            bars.append((what, p >= 0.05))
            record[package] = versions[peer]
        sys.stdout.flush()
    if args.write:
        args.write.write_text(json.dumps(record) + "\n", encoding="utf-8")
    return 0 if print_bars(bars) else 1


def installed_version(package):
    """The version of a package, None where it is missing."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


if __name__ == "__main__":
    with threadpool_limits(1):
        sys.exit(main())
