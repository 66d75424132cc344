"""`sksearch.stats.importance`: known effects, and Optuna's importance beside it.

Five functions have shares of the variance that are known in closed form; random searches of 200
candidates, ten seeds each: is the order right where two shares differ by 0.05, and how far off are
the shares? Then ten random searches of 300 candidates, eight on recorded tasks and two of real
estimators: Spearman's rank correlation with Optuna's functional ANOVA and with its default
(PED-ANOVA) over the parameters that they rate, and between two seeds of Optuna's own.

    OMP_NUM_THREADS=1 python examples/benchmarks/importance.py [--candidates 300]

Exit status 1 if an order is wrong in more than one run of ten, or the mean correlation with
Optuna's functional ANOVA is below 0.8.
"""

import argparse
import sys
import time
import warnings

import numpy as np
from _fold_scores import model_of
from _peers import require
from _tasks import RECORDED, load_task
from scipy.stats import spearmanr, uniform
from stopping import data_of

from sksearch import RandomSearchCV, When, minimize
from sksearch.samplers import RandomSampler
from sksearch.stats import importance

N_SEEDS, N_CANDIDATES = 10, 200
CLEAR = 0.05  # difference of shares that must be seen
LEAST = 0.8
SEARCHES = (("svm", "phoneme"), ("boosting", "churn"))


def _unit(n):
    return {f"x{i}": uniform(0, 1) for i in range(n)}


def linear(p):
    """Variances are as the squared weights."""
    return 4 * p["x0"] + 2 * p["x1"] + p["x2"]


def ishigami(p):
    """A function with an interaction of x0 and x2, and no effect of x2 alone."""
    a, b, c = (2 * np.pi * (p[f"x{i}"] - 0.5) for i in range(3))
    return np.sin(a) + 7 * np.sin(b) ** 2 + 0.1 * c**4 * np.sin(a)


def sobol_g(p):
    """A product whose factors are the flatter the larger a is."""
    a = (0, 1, 4.5, 9)
    factors = [(abs(4 * p[f"x{i}"] - 2) + a[i]) / (1 + a[i]) for i in range(4)]
    return np.prod(factors)


def friedman(p):
    """Five of six parameters have an effect."""
    wave = 10 * np.sin(np.pi * p["x0"] * p["x1"])
    return wave + 20 * (p["x2"] - 0.5) ** 2 + 10 * p["x3"] + 5 * p["x4"]


def branches(p):
    """A choice of three; x2 is active with the last of them."""
    return {"a": 0, "b": 1, "c": 3}[p["kind"]] + 4 * (p.get("x2", 0.5) - 0.5) + 2 * p["x1"]


def _sobol_g_shares():
    alone = np.array([1 / 3 / (1 + a) ** 2 for a in (0, 1, 4.5, 9)])
    return alone / (np.prod(1 + alone) - 1)


def _friedman_shares():
    grid = (np.arange(2000) + 0.5) / 2000
    wave = 10 * np.sin(np.pi * np.outer(grid, grid))
    alone = wave.mean(axis=0).var()
    rest = np.array([400 * (1 / 80 - 1 / 144), 100 / 12, 25 / 12])
    return np.array([alone, alone, *rest, 0]) / (wave.var() + rest.sum())


def _branches_shares():
    parts = np.array([np.var([0, 1, 3]), 16 / 12 / 3, 4 / 12])
    return parts / parts.sum()


FUNCTIONS = {
    "linear": (linear, _unit(3), np.array([16, 4, 1]) / 21),
    "ishigami": (ishigami, _unit(3), np.array([0.3139, 0.4424, 0])),
    "sobol_g": (sobol_g, _unit(4), _sobol_g_shares()),
    "friedman": (friedman, _unit(6), _friedman_shares()),
    "branches": (
        branches,
        {
            "kind": ["a", "b", "c"],
            "x2": When(uniform(0, 1), "kind", "==", "c"),
            "x1": uniform(0, 1),
        },
        _branches_shares(),
    ),
}


def draws(function, space, n, seed):
    """Return the history of a random search."""
    found = minimize(function, space, n_iter=n, sampler=RandomSampler(), random_state=seed)
    return found.history


def in_order(truth, shares):
    """Tell whether all shares that clearly differ are in the right order."""
    larger = truth[:, None] > truth + CLEAR
    return bool((shares[:, None] > shares)[larger].all())


def known_effects():
    """Print a line for each function; return the smallest share of right orders."""
    right = {}
    print("function: right orders, mean error of shares, largest; true shares, mean shares")
    for name, (function, space, truth) in FUNCTIONS.items():
        rows = []
        for seed in range(N_SEEDS):
            found = importance(draws(function, space, N_CANDIDATES, seed), random_state=seed)
            rows.append([found.shares[found.names.index(p)] for p in space])
        right[name] = np.mean([in_order(truth, np.array(row)) for row in rows])
        errors = np.abs(rows - truth)
        print(
            f"{name:10s} {right[name]:.0%}  {errors.mean():.3f} {errors.max():.3f}  "
            f"{truth.round(2).tolist()} {np.mean(rows, axis=0).round(2).tolist()}",
            flush=True,
        )
    return min(right.values())


def study_of(history):
    """Return Optuna's study with the results of a history."""
    optuna = require("optuna")
    kinds = optuna.distributions
    dimensions = {d.name: d for d in history.problem.space.dimensions}

    def distribution(d):
        if d.kind == "categorical":
            return kinds.CategoricalDistribution(range(d.size))
        kind = kinds.FloatDistribution if d.kind == "real" else kinds.IntDistribution
        return kind(*d.bounds, log=d.log)

    distributions = {name: distribution(d) for name, d in dimensions.items()}
    study = optuna.create_study(direction="maximize")
    for trial in history.trials:
        (result,) = trial.results.values()
        if not np.isfinite(result.score):
            continue
        params = {
            name: dimensions[name].index(v) if dimensions[name].kind == "categorical" else v
            for name, v in trial.params.items()
        }
        own = {name: distributions[name] for name in params}
        study.add_trial(optuna.create_trial(params=params, distributions=own, value=result.score))
    return study


def searches(n):
    """Yield name and history of ten random searches."""
    for name in RECORDED:
        task, rng = load_task(name), np.random.default_rng(0)
        yield name, draws(lambda p, task=task, rng=rng: task.loss(p, rng), task.space, n, 0)
    for model, table in SEARCHES:
        X, y, _, _ = data_of(table)
        estimator, space = model_of(model, table)
        search = RandomSearchCV(estimator, space, n_iter=n, cv=3, random_state=0, refit=False)
        yield f"{model}_{table}", search.fit(X, y).history_


def beside_optuna(n):
    """Print a line for each search; return the mean rank correlation."""
    optuna = require("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    evaluators = {
        "fANOVA": lambda: optuna.importance.FanovaImportanceEvaluator(seed=0),
        "again": lambda: optuna.importance.FanovaImportanceEvaluator(seed=1),
        "PED-ANOVA": lambda: optuna.importance.PedAnovaImportanceEvaluator(),
    }
    columns = {"ours, fANOVA": [], "ours, PED-ANOVA": [], "fANOVA, again": []}
    print(f"search: rank correlation of {', '.join(columns)}; seconds of ours, of fANOVA; names")
    for name, history in searches(n):
        study, seconds = study_of(history), []
        start = time.perf_counter()
        found = importance(history)
        seconds.append(time.perf_counter() - start)
        rated = {"ours": dict(zip(found.names, found.shares, strict=True))}
        for evaluator, make in evaluators.items():
            start = time.perf_counter()
            rated[evaluator] = optuna.importance.get_param_importances(study, evaluator=make())
            seconds.append(time.perf_counter() - start)
        for column in columns:
            a, b = (rated[key] for key in column.split(", "))
            names = sorted(a.keys() & b.keys())
            columns[column].append(spearmanr([a[k] for k in names], [b[k] for k in names])[0])
        row = " ".join(f"{column[-1]:5.2f}" for column in columns.values())
        print(
            f"{name:20s} {row}  {seconds[0]:.2f} {seconds[1]:.2f}  {found.names[:3]}", flush=True
        )
    print("mean                 " + " ".join(f"{np.mean(c):5.2f}" for c in columns.values()))
    return np.mean(columns["ours, fANOVA"])


def main():
    """Run, print, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--candidates", type=int, default=300)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    ok = known_effects() >= 0.9
    ok &= beside_optuna(args.candidates) >= LEAST
    print("ok" if ok else "FAILED")
    return int(not ok)


if __name__ == "__main__":
    sys.exit(main())
