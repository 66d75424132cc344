"""Bounds, measured or not: regret of the best candidate that keeps them; this library, Optuna.

Problems with a measured bound are those of Gardner et al. (2014, the first simulation), Branin's
function in a disk (Gelbart et al., 2014), Hartmann's function of six parameters in a ball, a bowl
beside a straight border, and the error of a neural net with a bound on its size. With the others a
candidate beyond a border fails, and nothing is known of how far it is beyond; the optimum is on
the border or not, in two and in four parameters. Optuna's Gaussian process and Parzen estimator
are told of the bound by ``constraints_func``.

    python examples/benchmarks/bounds.py --seeds 10

The regret is that of the best feasible candidate after 30 and 60 evaluations, and before any
that of the worst feasible value in a thousand draws; for failures their count among the first
20 is printed, too. What was found is kept in the file.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
from fronts import MLP, Real, _suggest, _version
from scipy.stats import uniform

from sksearch.history import Problem, Result
from sksearch.samplers import ForestSampler, GPSampler, RandomSampler, TPESampler
from sksearch.schedulers import FullFidelity
from sksearch.space import Space
from sksearch.study import Study

RECORDS = Path(__file__).parent / "records/bounds.jsonl"

# ---- problems: what to minimise, and what must not be positive


def gardner(p):
    """Two bands of what is feasible."""
    x, y = p["x"], p["y"]
    return np.cos(2 * x) * np.cos(y) + np.sin(x), np.cos(x) * np.cos(y) - np.sin(x) * np.sin(
        y
    ) - 0.5


def branin(p):
    """One of three minima is feasible."""
    x, y = p["x"], p["y"]
    a = y - 5.1 / (4 * np.pi**2) * x**2 + 5 / np.pi * x - 6
    value = a**2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(x) + 10
    return value, (x - 2.5) ** 2 + (y - 7.5) ** 2 - 50


A = np.array(
    [[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14],
     [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]]
)  # fmt: skip
P = 1e-4 * np.array(
    [[1312, 1696, 5569, 124, 8283, 5886], [2329, 4135, 8307, 3736, 1004, 9991],
     [2348, 1451, 3522, 2883, 3047, 6650], [4047, 8828, 8732, 5743, 1091, 381]]
)  # fmt: skip


def hartmann(p):
    """The minimum is outside of the ball."""
    x = np.array([p[f"x{i}"] for i in range(6)])
    value = -np.array([1, 1.2, 3, 3.2]) @ np.exp(-(A * (x - P) ** 2).sum(axis=1))
    return value, np.sqrt((x**2).sum()) - 0.8


def line(p):
    """The bowl's middle is beyond the border."""
    return (p["a"] - 0.9) ** 2 + (p["b"] - 0.8) ** 2, p["a"] + p["b"] - 1


def failing(middle, most):
    """A bowl of which all fails where the first parameters have too large a sum."""

    def bowl(p):
        x = np.array(list(p.values()))
        fails = x[: max(2, len(x) - 1)].sum() > most
        return np.nan if fails else ((x - middle) ** 2).sum(), float(fails)

    return bowl, {name: uniform(0, 1) for name in "abcd"[: len(middle)]}


REAL = Real("mlp")


def net(p):
    """The error of a net that has 3,000 weights at most."""
    error, size = REAL(p)
    return error, size - np.log10(3_000)


PROBLEMS = {
    "gardner": (gardner, {"x": uniform(0, 6), "y": uniform(0, 6)}),
    "branin": (branin, {"x": uniform(-5, 15), "y": uniform(0, 15)}),
    "hartmann": (hartmann, {f"x{i}": uniform(0, 1) for i in range(6)}),
    "line": (line, {"a": uniform(0, 1), "b": uniform(0, 1)}),
    "net": (net, MLP),
    "fails, on": failing([0.9, 0.8], 1),
    "fails, off": failing([0.3, 0.3], 1),
    "fails, on 4": failing([0.9, 0.8, 0.5, 0.3], 1.6),
    "fails, off 4": failing([0.3, 0.4, 0.5, 0.3], 1.6),
}


# ---- methods


def ours(sampler):
    """A sampler of this library."""

    def search(function, space, n, seed, bounds):
        problem = Problem(Space(space), seed=seed, bounds=bounds, n_candidates=n)
        study, found = Study(problem, sampler, FullFidelity(n)), []
        while (job := study.ask()) is not None:
            found.append(tuple(map(float, function(job.params))))
            study.tell(job, Result(-found[-1][0], slacks=(-found[-1][1],) * len(bounds)))
        return found

    return search


def optuna_sampler(name):
    """One of Optuna's samplers, told of the bound."""

    def search(function, space, n, seed, bounds):
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        found = []

        def objective(trial):
            params = {name: _suggest(trial, name, values) for name, values in space.items()}
            found.append(tuple(map(float, function(params))))
            trial.set_user_attr("c", (found[-1][1],))
            return found[-1][0]

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            kwargs = {"seed": seed}
            if bounds:
                kwargs["constraints_func"] = lambda trial: trial.user_attrs["c"]
            study = optuna.create_study(sampler=getattr(optuna.samplers, name)(**kwargs))
            study.optimize(objective, n_trials=n)
        return found

    return search


METHODS = {
    "random": ours(RandomSampler()),
    "gp": ours(GPSampler()),
    "tpe": ours(TPESampler()),
    "forest": ours(ForestSampler()),
    "optuna gp": optuna_sampler("GPSampler"),
    "optuna tpe": optuna_sampler("TPESampler"),
}


def run(path, problems, methods, seeds, n):
    """Run what the file has not."""
    done = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    known = {(r["problem"], r["method"], r["seed"]) for r in done}
    with open(path, "a") as file:
        for seed in range(seeds):
            for problem in problems:
                for method in methods:
                    if (problem, method, seed) in known:
                        continue
                    start = time.process_time()
                    bounds = () if problem.startswith("fails") else ("b",)
                    found = METHODS[method](*PROBLEMS[problem], n, seed, bounds)
                    record = {
                        "problem": problem, "method": method, "seed": seed, "found": found,
                        "seconds": time.process_time() - start, "version": _version(method),
                    }  # fmt: skip
                    done.append(record)
                    file.write(json.dumps(record) + "\n")
                    file.flush()
    return done


def best_feasible(found, n, worst):
    """The least value of those that keep the bound among the first n."""
    return min([value for value, bound in found[:n] if bound <= 0], default=worst)


def report(records):
    """Print mean regrets."""
    names = [m for m in METHODS if any(r["method"] == m for r in records)]
    print(f"{'regret':20}" + "".join(f"{m:>12}" for m in names))
    for problem, (function, space) in PROBLEMS.items():
        mine = [r for r in records if r["problem"] == problem]
        if not mine:
            continue
        least = min(best_feasible(r["found"], None, np.inf) for r in mine)
        draws = [v for r in mine for v, bound in r["found"] if bound <= 0]
        if problem != "net":
            rng, cube = np.random.default_rng(0), Space(space)
            draws = [
                v for v, bound in (function(cube.sample(rng)) for _ in range(1_000)) if bound <= 0
            ]
        for n in (30, 60):
            row = [
                np.mean(
                    [
                        best_feasible(r["found"], n, max(draws)) - least
                        for r in mine
                        if r["method"] == method
                    ]
                )
                for method in names
            ]
            print(f"{problem + f' {n}':20}" + "".join(f"{value:12.6f}" for value in row))
        if problem.startswith("fails"):
            row = [
                np.mean([bound for r in mine if r["method"] == m for _, bound in r["found"][:20]])
                for m in names
            ]
            print(f"{'  of the first 20':20}" + "".join(f"{20 * value:12.1f}" for value in row))


def main():
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--evaluations", type=int, default=60)
    parser.add_argument("--problems", nargs="+", default=list(PROBLEMS))
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    parser.add_argument("--out", type=Path, default=RECORDS)
    args = parser.parse_args()
    report(run(args.out, args.problems, args.methods, args.seeds, args.evaluations))


if __name__ == "__main__":
    main()
