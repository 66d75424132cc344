"""
Which history transfer?
=======================

Which history transfer is best: thousands of runs of Hyperband's hybrids with TPE.

The experiments of chapter 9.5 of [1]_: flat functions and families of loss curves by the Gamma
simulation, and curves of logistic regression on MNIST by the nearest recorded one. Each search
is run with so many seeds; compared are the distributions of the loss that a run ends with.

::

    python examples/experiment_transfer.py [--runs 1000] [--jobs 2] [--out transfer.png]
    python examples/experiment_transfer.py --protocol published --runs 300
        [--problems "flat Branin" ...] [--searches Hyperband NONE ...] [--record file.jsonl]

``--protocol published`` does what the code of [1]_ did, and its text does not say: Hyperband has
three brackets, s = 4 to 2, so 117 candidates, three full trainings and 972 epochs; TPE begins with
10 candidates at random, and has 12 full trainings or twice as many; the loss of a run is the
lowest of any rung; x2 of Branin begins at 1.

Runs are kept in ``--folder``, one file a problem, and continued from there; 1,000 runs of all take
half an hour on two cores. Recorded means: docs/records/measurements/which-history-transfer.md.

.. [1] C. Matache, "Efficient design of machine learning hyperparameter optimizers", 2019.
"""

import argparse
import json
import tempfile
from pathlib import Path

import numpy as np

from sksearch.experiment import run_experiment
from sksearch.plotting import DensityDisplay
from sksearch.samplers import RandomSampler, TPESampler
from sksearch.schedulers import FullFidelity, Hyperband
from sksearch.simulators import FAMILIES, Branin, GammaCurves, load_mnist_curves
from sksearch.simulators._functions import DropWave, Rastrigin
from sksearch.stats import compare_optima


class BraninFromOne(Branin):
    """Branin's function without the rows below 1, as in the code of [1]_."""

    bounds = np.array([[-5.0, 10.0], [1.0, 15.0]])


SCHEMES = {"NONE": "none", "ALL": "all", "SURV": "survivors", "SAME": "same"}


def searches(n_trainings, hyperband, **tpe):
    """Searches of a protocol: full trainings, and brackets with and without TPE."""
    return {
        "random": (RandomSampler(), FullFidelity(n_trainings)),
        "TPE": (TPESampler(**tpe), FullFidelity(n_trainings)),
        "TPE 2x": (TPESampler(**tpe), FullFidelity(2 * n_trainings)),
        "Hyperband": (RandomSampler(), hyperband),
    } | {name: (TPESampler(**tpe, transfer=of), hyperband) for name, of in SCHEMES.items()}


#: Trainings cost as much as brackets where each job starts again: 1,701 and 972 epochs.
SEARCHES = {
    "whole": searches(21, Hyperband()),
    "published": searches(12, Hyperband(brackets=(4, 3, 2)), n_initial=10),
}
#: What a run ends with: the loss of its incumbent, or the lowest of all rungs.
LOSSES = {
    "whole": lambda runs: runs["incumbent"].last(),
    "published": lambda runs: runs["loss"].min(),
}
BRANIN = {"whole": Branin(), "published": BraninFromOne()}


def problems(protocol):
    """Simulated problems and the recorded one, by name."""
    return {
        "flat Branin": GammaCurves(BRANIN[protocol]),
        "flat Rastrigin": GammaCurves(Rastrigin(2)),
        "flat drop-wave": GammaCurves(DropWave()),
        "Rastrigin-1": GammaCurves(Rastrigin(2), FAMILIES["rastrigin-1"], noise=10),
        "Rastrigin-2": GammaCurves(Rastrigin(2), FAMILIES["rastrigin-2"], noise=10),
        "logistic regression": load_mnist_curves(),
    }


#: Means over 7,000 runs, from [1]_.
PUBLISHED = {
    "flat Branin": {
        "Hyperband": 0.810, "NONE": 0.618, "ALL": 0.645, "SURV": 0.617, "SAME": 0.616,
    },
    "flat Rastrigin": {
        "Hyperband": 5.15, "NONE": 3.58, "ALL": 3.91, "SURV": 3.55, "SAME": 3.76,
    },
    "flat drop-wave": {
        "Hyperband": -0.781, "NONE": -0.859, "ALL": -0.854, "SURV": -0.862, "SAME": -0.857,
    },
    "Rastrigin-1": {
        "Hyperband": -187.53, "NONE": -189.3, "ALL": -188.7, "SURV": -189.3, "SAME": -188.6,
    },
    "Rastrigin-2": {"Hyperband": -384.95},
}  # fmt: skip
_HYBRIDS = [("Hyperband", scheme) for scheme in SCHEMES]
_ALONE = [("TPE", "TPE 2x"), ("TPE 2x", "Hyperband")]
#: What [1]_ found significant at 5 %: (worse, better).
SIGNIFICANT = {
    "flat Branin": [*_ALONE, *_HYBRIDS, ("ALL", "SAME")],
    "flat Rastrigin": [*_ALONE, *_HYBRIDS, ("SAME", "NONE")],
    "flat drop-wave": [*_ALONE, *_HYBRIDS],
    "Rastrigin-1": [*_HYBRIDS, ("SAME", "NONE")],
    "Rastrigin-2": _HYBRIDS,
    "logistic regression": _ALONE,
}


def optima_of(problem, protocol, n_runs, folder, n_jobs, names=None):
    """Loss that each run ended with, one array for each search."""
    path = folder / f"{protocol}_{problem.replace(' ', '_')}.jsonl"
    case = {problem: problems(protocol)[problem]}
    chosen = {name: SEARCHES[protocol][name] for name in names or SEARCHES[protocol]}
    table = run_experiment(chosen, case, n_runs, path=path, n_jobs=n_jobs)
    losses = LOSSES[protocol](table.groupby(["search", "seed"]))
    return {search: losses[search].to_numpy() for search in chosen}


def lines_of(problem, protocol, optima):
    """Lines of a record: mean, its standard error and the number of runs."""
    for search, values in optima.items():
        error = values.std(ddof=1) / np.sqrt(len(values))
        line = {"problem": problem, "protocol": protocol, "search": search, "runs": len(values)}
        yield json.dumps(line | {"mean": round(values.mean(), 5), "error": round(error, 5)}) + "\n"


def report(problem, optima):
    """Print means beside the published ones, the table of tests, and the hierarchy."""
    n_runs = len(next(iter(optima.values())))
    print(f"\n== {problem}: loss at the end of {n_runs:,} runs")
    published = PUBLISHED.get(problem, {})
    for search, values in optima.items():
        said = f"{published[search]:>12.3f} published" if search in published else ""
        error = values.std(ddof=1) / np.sqrt(len(values))
        print(f"  {search:<10}{values.mean():>11.4f} +- {error:<8.2g}{said}")
    comparison = compare_optima(optima)
    print(comparison)
    names = list(comparison.names)
    for worse, better in SIGNIFICANT[problem]:
        if not {worse, better} <= set(names):
            continue
        p = comparison.adjusted[names.index(worse), names.index(better)]
        ahead = optima[better].mean() < optima[worse].mean()
        if p >= 0.05:
            verdict = "not told apart"
        else:
            verdict = "as published" if ahead else "the other way round"
        print(f"  {worse} < {better}: {verdict} (p = {p:.2g})")


def main():
    """Run, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--problems", nargs="+", choices=SIGNIFICANT, default=list(SIGNIFICANT))
    parser.add_argument("--protocol", choices=SEARCHES, default="whole")
    parser.add_argument("--searches", nargs="+", choices=SEARCHES["whole"])
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "transfer")
    parser.add_argument("--out", type=Path, help="where to save the figure")
    parser.add_argument("--record", type=Path, help="file to append means to")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    found = {}
    for problem in args.problems:
        found[problem] = optima_of(
            problem, args.protocol, args.runs, args.folder, args.jobs, args.searches
        )
        report(problem, found[problem])
        if args.record is not None:
            with args.record.open("a") as file:
                file.writelines(lines_of(problem, args.protocol, found[problem]))
    if args.out:
        draw(found, args.out)


def draw(found, path):
    """Densities of the losses at the end, a panel for each problem."""
    import matplotlib.pyplot as plt

    n_columns = min(2, len(found))
    n_rows = -(-len(found) // n_columns)
    figure, axes = plt.subplots(
        n_rows, n_columns, figsize=(7 * n_columns, 3.2 * n_rows), squeeze=False
    )
    for ax, (problem, optima) in zip(axes.flat, found.items(), strict=False):
        DensityDisplay.from_values(optima, ax=ax)
        ax.set_title(problem)
    figure.tight_layout()
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
