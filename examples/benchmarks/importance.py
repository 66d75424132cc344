"""`sksearch.stats.importance`: known effects, and Optuna's importance beside it.

Five functions have shares of the variance that are known in closed form; random searches of 300
candidates, ten seeds each: is the order right where two shares differ by 0.05, and how far off are
the shares? Then random searches of 300 candidates on the eight recorded tasks and of two real
estimators: Spearman's rank correlation with Optuna's functional ANOVA and with its default
(PED-ANOVA), over the parameters that both rate. As those two seldom agree with each other, the
recorded tasks have an arbiter: the shares that 8,000 other draws have without any model.

    OMP_NUM_THREADS=1 python examples/benchmarks/importance.py [--candidates 300]

Exit status 1 if an order is wrong in more than one run of ten, or on average Optuna is nearer to
the arbiter.
"""

import argparse
import sys
import warnings

import numpy as np
from _fold_scores import model_of
from _peers import require
from _tasks import RECORDED, load_task
from scipy.stats import spearmanr, uniform
from stopping import data_of

from sksearch import RandomSearchCV, When, minimize
from sksearch.samplers import RandomSampler
from sksearch.space import Space
from sksearch.stats import importance
from sksearch.stats._candidates import Candidates
from sksearch.stats._importance import _groups, _share, pull_in

N_SEEDS, N_CANDIDATES = 10, 300
CLEAR = 0.05  # difference of shares that must be seen
N_ARBITER = 8000
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


def arbiter(task):
    """Shares of the variance between groups of equal values, of many draws, by name."""
    space, rng = Space(task.space), np.random.default_rng(1)
    params = [space.sample(rng) for _ in range(N_ARBITER)]
    scores = pull_in(-np.array([np.mean(task.losses(p)) for p in params]))
    drawn = Candidates(params, scores, space=space)
    columns = drawn.encode(params).T
    return {
        name: _share(scores, *_groups(axis, column))
        for (name, axis), column in zip(drawn.axes.items(), columns, strict=True)
    }


def searches(n):
    """Yield name, history and the arbiter's shares, if there are any, of ten random searches."""
    for name in RECORDED:
        task, rng = load_task(name), np.random.default_rng(0)
        history = draws(lambda p, task=task, rng=rng: task.loss(p, rng), task.space, n, 0)
        yield name, history, arbiter(task)
    for model, table in SEARCHES:
        X, y, _, _ = data_of(table)
        estimator, space = model_of(model, table)
        search = RandomSearchCV(estimator, space, n_iter=n, cv=3, random_state=0, refit=False)
        yield f"{model}_{table}", search.fit(X, y).history_, None


PAIRS = (
    ("ours", "fANOVA"),
    ("ours", "PED-ANOVA"),
    ("fANOVA", "PED-ANOVA"),
    ("ours", "arbiter"),
    ("fANOVA", "arbiter"),
    ("PED-ANOVA", "arbiter"),
)


def correlation(a, b):
    """Rank correlation of two dicts over the names that both have."""
    names = sorted(a.keys() & b.keys())
    if len(names) < 2:
        return np.nan
    return spearmanr([a[name] for name in names], [b[name] for name in names])[0]


def beside_optuna(n):
    """Print a line for each search; return the mean rank correlations by pair."""
    optuna = require("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    evaluators = {
        "fANOVA": lambda: optuna.importance.FanovaImportanceEvaluator(seed=0),
        "PED-ANOVA": lambda: optuna.importance.PedAnovaImportanceEvaluator(),
    }
    print(f"search: rank correlation of {', '.join(f'{a} and {b}' for a, b in PAIRS)}; explained")
    rows = []
    for name, history, truth in searches(n):
        study, found = study_of(history), importance(history)
        rated = {"ours": dict(zip(found.names, found.shares, strict=True)), "arbiter": truth or {}}
        for evaluator, make in evaluators.items():
            rated[evaluator] = optuna.importance.get_param_importances(study, evaluator=make())
        rows.append([correlation(rated[a], rated[b]) for a, b in PAIRS])
        cells = " ".join(f"{value:5.2f}" for value in rows[-1])
        print(f"{name:20s} {cells}  {found.explained:.2f} {found.names[:3]}", flush=True)
    means = np.nanmean(rows, axis=0)
    print("mean                 " + " ".join(f"{value:5.2f}" for value in means))
    return dict(zip(PAIRS, means, strict=True))


def main():
    """Run, print, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--candidates", type=int, default=300)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    ok = known_effects() >= 0.9
    means = beside_optuna(args.candidates)
    ok &= means["ours", "arbiter"] >= max(means[e, "arbiter"] for e in ("fANOVA", "PED-ANOVA"))
    print("ok" if ok else "FAILED")
    return int(not ok)


if __name__ == "__main__":
    sys.exit(main())
