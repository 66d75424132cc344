"""Several objectives: the volume under the front, for this library and its peers.

Problems are ZDT1, ZDT2, ZDT3 and DTLZ2 in six dimensions, and accuracy against the time of a
prediction for a neural net and for gradient boosting. The peers are Optuna's NSGA-II, TPE and
Gaussian process (which is BoTorch's expected hypervolume improvement), and pymoo's NSGA-II. All
have the same count of evaluations; pymoo is not told of choices, which it gets as numbers.

    python examples/benchmarks/fronts.py --seeds 20 --evaluations 60

Volumes are divided by that of the best known front, of all methods and seeds together. Then
methods are compared with peers of their kind: the p-value is that of a Wilcoxon test over
problems and seeds for ours being worse, milliseconds are processor time of an evaluation on the
first four problems, medians. The front of each search is kept in the file, and what it has is not
run again.
"""

import argparse
import importlib.metadata
import json
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.stats import loguniform, randint, uniform, wilcoxon

from sksearch._utils._fronts import fronts, hypervolume
from sksearch.history import Problem, Result
from sksearch.samplers import (
    GPSampler,
    HypervolumeSampler,
    NSGA2Sampler,
    RandomSampler,
    ScalarisedSampler,
    TPESampler,
)
from sksearch.schedulers import FullFidelity
from sksearch.space import Space
from sksearch.study import Study

N_DIMS = 6
RECORDS = Path(__file__).parent / "records/fronts.jsonl"

# ---- problems: objectives to be minimised


def zdt(x, front):
    """ZDT's family: the first coordinate is the first objective."""
    g = 1 + 9 * np.mean(x[1:])
    return x[0], g * front(x[0], g)


def vector(params):
    """The coordinates."""
    return np.array([params[f"x{i}"] for i in range(N_DIMS)])


def zdt1(params):
    """A convex front."""
    return zdt(vector(params), lambda f, g: 1 - np.sqrt(f / g))


def zdt2(params):
    """A concave front."""
    return zdt(vector(params), lambda f, g: 1 - (f / g) ** 2)


def zdt3(params):
    """A front in pieces."""
    return zdt(vector(params), lambda f, g: 1 - np.sqrt(f / g) - f / g * np.sin(10 * np.pi * f))


def dtlz2(params):
    """A quarter of a circle."""
    x = vector(params)
    g = np.sum((x[1:] - 0.5) ** 2)
    return (1 + g) * np.cos(x[0] * np.pi / 2), (1 + g) * np.sin(x[0] * np.pi / 2)


class Real:
    """Error and logarithm of the time of a prediction, of a model on the digits.

    The time is counted in operations, so that all methods see the same: layers of a net, leaves
    of trees.
    """

    def __init__(self, kind):
        from sklearn.datasets import load_digits
        from sklearn.model_selection import train_test_split

        self.kind = kind
        X, y = load_digits(return_X_y=True)
        self.data = train_test_split(X / 16, y, test_size=0.5, random_state=0, stratify=y)
        self.known = {}

    def __call__(self, params):
        """Train, if it was not trained before."""
        key = json.dumps(params, sort_keys=True, default=float)
        if key not in self.known:
            self.known[key] = self._evaluate(params)
        return self.known[key]

    def _evaluate(self, params):
        from sklearn.ensemble import HistGradientBoostingClassifier
        from sklearn.neural_network import MLPClassifier

        X, X_test, y, y_test = self.data
        if self.kind == "mlp":
            layers = (int(params["units"]),) * int(params["layers"])
            model = MLPClassifier(
                layers, alpha=params["alpha"], learning_rate_init=params["rate"], max_iter=12,
                random_state=0,
            )  # fmt: skip
        else:
            model = HistGradientBoostingClassifier(
                max_iter=int(params["trees"]), max_leaf_nodes=int(params["leaves"]),
                learning_rate=params["rate"], l2_regularization=params["l2"], random_state=0,
                early_stopping=False,
            )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X[:400], y[:400])
        if self.kind == "mlp":
            work = sum(w.size for w in model.coefs_)
        else:
            work = sum(t.get_max_depth() for trees in model._predictors for t in trees)
        return float(1 - model.score(X_test, y_test)), float(np.log10(work))


CUBE = {f"x{i}": uniform(0, 1) for i in range(N_DIMS)}
MLP = {
    "units": randint(2, 129),
    "layers": [1, 2, 3],
    "alpha": loguniform(1e-6, 1),
    "rate": loguniform(1e-4, 1e-1),
}
BOOSTING = {
    "trees": randint(2, 41),
    "leaves": randint(2, 32),
    "rate": loguniform(1e-2, 1),
    "l2": loguniform(1e-6, 10),
}
#: Function, space, and the worst objectives that count.
PROBLEMS = {
    "zdt1": (zdt1, CUBE, (1.1, 6.0)),
    "zdt2": (zdt2, CUBE, (1.1, 6.0)),
    "zdt3": (zdt3, CUBE, (1.1, 6.0)),
    "dtlz2": (dtlz2, CUBE, (2.5, 2.5)),
    "mlp": (Real("mlp"), MLP, (1.0, 4.7)),
    "boosting": (Real("boosting"), BOOSTING, (1.0, 3.7)),
}

# ---- methods


def ours(sampler):
    """A sampler of this library."""

    def search(function, space, n, seed):
        problem = Problem(Space(space), seed=seed, objectives=("a", "b"), n_candidates=n)
        study = Study(problem, sampler, FullFidelity(n))
        found = []
        while (job := study.ask()) is not None:
            values = function(job.params)
            found.append(values)
            worse = tuple(-float(v) for v in values)
            study.tell(job, Result(worse[0], objectives=worse))
        return found

    return search


def optuna_sampler(name):
    """One of Optuna's samplers, with its defaults."""

    def search(function, space, n, seed):
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        sampler = getattr(optuna.samplers, name)(seed=seed)
        study = optuna.create_study(directions=["minimize"] * 2, sampler=sampler)
        found = []

        def objective(trial):
            params = {name: _suggest(trial, name, values) for name, values in space.items()}
            found.append(function(params))
            return found[-1]

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            study.optimize(objective, n_trials=n)
        return found

    return search


def _suggest(trial, name, values):
    if isinstance(values, list):
        return trial.suggest_int(name, min(values), max(values))
    low, high = values.support()
    if values.dist.name == "randint":
        return trial.suggest_int(name, int(low), int(high))
    return trial.suggest_float(name, low, high, log=values.dist.name == "loguniform")


def pymoo_nsga2(function, space, n, seed):
    """pymoo's NSGA-II with a population of 20."""
    from pymoo.algorithms.moo.nsga2 import NSGA2
    from pymoo.core.problem import ElementwiseProblem
    from pymoo.optimize import minimize

    cube, found = Space(space), []

    class Wrapped(ElementwiseProblem):
        def __init__(self):
            super().__init__(n_var=cube.n_dims, n_obj=2, xl=0.0, xu=1.0)

        def _evaluate(self, x, out, *args, **kwargs):
            found.append(function(cube.from_unit(cube.canonical(x[np.newaxis])[0])))
            out["F"] = list(found[-1])

    minimize(Wrapped(), NSGA2(pop_size=20), ("n_eval", n), seed=seed)
    return found[:n]


METHODS = {
    "random": ours(RandomSampler()),
    "hypervolume": ours(HypervolumeSampler()),
    "parego gp": ours(ScalarisedSampler(GPSampler())),
    "golovin gp": ours(ScalarisedSampler(GPSampler(), "hypervolume")),
    "parego tpe": ours(ScalarisedSampler(TPESampler())),
    "nsga2": ours(NSGA2Sampler()),
    "optuna nsga2": optuna_sampler("NSGAIISampler"),
    "optuna tpe": optuna_sampler("TPESampler"),
    "optuna gp": optuna_sampler("GPSampler"),
    "pymoo nsga2": pymoo_nsga2,
}
#: Ours, and a peer that it is compared with.
PAIRS = [
    ("nsga2", "optuna nsga2"),
    ("nsga2", "pymoo nsga2"),
    ("parego tpe", "optuna tpe"),
    ("hypervolume", "optuna tpe"),
    ("hypervolume", "random"),
    ("parego gp", "random"),
]


def run(path, problems, methods, seeds, n):
    """Run what the file has not."""
    done = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    known = {(r["problem"], r["method"], r["seed"], r["n"]) for r in done}
    with open(path, "a") as file:
        for seed in range(seeds):
            for problem in problems:
                function, space, _ = PROBLEMS[problem]
                for method in methods:
                    if (problem, method, seed, n) in known:
                        continue
                    start = time.process_time()
                    found = METHODS[method](function, space, n, seed)
                    record = {
                        "problem": problem, "method": method, "seed": seed, "n": n,
                        "front": np.array(found)[fronts(-np.array(found)) == 0].tolist(),
                        "seconds": time.process_time() - start, "version": _version(method),
                    }  # fmt: skip
                    done.append(record)
                    file.write(json.dumps(record) + "\n")
                    file.flush()
    return [r for r in done if r["n"] == n]


def _version(method):
    package = method.split()[0]
    return importlib.metadata.version(package) if package in ("optuna", "pymoo") else "sksearch"


def volumes(records):
    """Yield each record with the volume under its front over that of the best known one."""
    for problem in dict.fromkeys(r["problem"] for r in records):
        mine = [r for r in records if r["problem"] == problem]
        reference = -np.array(PROBLEMS[problem][2])
        best = hypervolume(-np.array([v for r in mine for v in r["front"]]), reference)
        for r in mine:
            yield r | {"volume": hypervolume(-np.array(r["front"]), reference) / best}


def report(records):
    """Print volumes over that of the best known front, and what they say about pairs."""
    names = [m for m in METHODS if any(r["method"] == m for r in records)]
    print(f"{'volume / best known':20}" + "".join(f"{m:>14}" for m in names))
    found = {(r["method"], r["problem"], r["seed"]): r["volume"] for r in volumes(records)}
    for problem in dict.fromkeys(problem for _, problem, _ in found):
        line = f"{problem:20}"
        for method in names:
            values = [v for (m, p, _), v in found.items() if (m, p) == (method, problem)]
            line += f"{np.mean(values):9.4f} ({len(values):2})" if values else f"{'-':>14}"
        print(line)
    for method, peer in PAIRS:
        known = [key for m, *key in found if m == method and (peer, *key) in found]
        difference = [found[method, *key] - found[peer, *key] for key in known]
        if len(difference) > 1:
            p = wilcoxon(difference, alternative="less").pvalue
            cost, their_cost = (_milliseconds(records, m) for m in (method, peer))
            print(
                f"{method} - {peer}: {np.mean(difference):+.4f}, p for ours being worse {p:.2g}; "
                f"{cost:.2f} ms, theirs {their_cost:.2f}"
            )


def _milliseconds(records, method):
    spent = [
        1000 * r["seconds"] / r["n"]
        for r in records
        if r["method"] == method and PROBLEMS[r["problem"]][1] is CUBE
    ]
    return np.median(spent) if spent else np.nan


def main():
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--evaluations", type=int, default=60)
    parser.add_argument("--problems", nargs="+", default=list(PROBLEMS))
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    parser.add_argument("--out", type=Path, default=RECORDS)
    args = parser.parse_args()
    report(run(args.out, args.problems, args.methods, args.seeds, args.evaluations))


if __name__ == "__main__":
    main()
