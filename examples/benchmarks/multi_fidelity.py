"""How good the best candidate is after so many epochs, against peers in the same run.

Every method tunes every task that has learning curves, for as many epochs as 30 full trainings
have. An epoch that was trained is counted once: a promoted configuration goes on from where it was
(see `_fidelity`). The incumbent is the candidate with the lowest observed loss among those that
were trained to the largest number of epochs that any candidate of the method has reached so far;
its regret is computed without noise after all epochs, 0 for the best known loss and 1 for that of
the median random candidate. Before the first training has ended the regret is infinite. Mean
regrets are of regrets clipped at 1, ranks and tests as in ``sample_efficiency.py``.

    python examples/benchmarks/multi_fidelity.py [--seeds 20] [--cache results.jsonl]
    python examples/benchmarks/multi_fidelity.py --tasks taskset arlbench yahpo_lcbench \\
        --half report --seeds 5

Results are kept in the cache as they come. Peers need ``requirements.txt``; a method that is not
there is left out. Exit status 1 if a bar fails, or a search.
"""

import argparse
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
from _development import HALVES, development_tasks
from _fidelity import METHODS, OURS, PACKAGES, incumbent, run
from _report import (
    available,
    collect,
    print_bars,
    print_by_task,
    print_comparison,
    table_of,
    version_of,
)
from _tasks import RECORDED, load_task, seed_of_task

FRACTIONS = (0.1, 0.3, 1.0)
DEFAULT = "GPHalving"  # the combination of ours that a user is advised to take
LEADERS = ("BOHB", DEFAULT)
#: Computed here, but they learn nothing from a candidate about others.
BASELINES = ("Hyperband", "ASHA", "One epoch, then the best", "Power law", "Random")
RIVALS = ("Hyperband", "Optuna TPE Hyperband", "SMAC3 multi-fidelity", "DEHB")
CACHE = Path(tempfile.gettempdir()) / "sksearch_multi_fidelity.jsonl"


def evaluate(method, name, n_trainings, seed):
    """Regrets of the incumbent at each fraction of the budget, None without one, and seconds."""
    task = load_task(name)
    budget = n_trainings * task.n_epochs
    evaluations, seconds = run(method, task, budget, seed_of_task(name, seed))
    found = [incumbent(evaluations, fraction * budget) for fraction in FRACTIONS]
    return {
        "regrets": [None if params is None else task.regret(params) for params in found],
        "seconds": seconds,
    }


def bars_of(methods, ranks):
    """What must hold: one of the leaders is ahead of each rival, all the time."""
    leaders = [methods.index(m) for m in dict.fromkeys(LEADERS) if m in methods]
    names = " or ".join(dict.fromkeys(LEADERS))
    bars = []
    for c, fraction in enumerate(FRACTIONS):
        for rival in RIVALS:
            ok = None
            if leaders and rival in methods:
                ok = bool(ranks[leaders, c].min() < ranks[methods.index(rival), c])
            bars.append((f"{names} ahead of {rival} at {fraction:.0%}", ok))
    return bars


def main():
    """Compare, print and return the exit status."""
    names = [name for name in RECORDED if load_task(name).n_epochs]
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    families = development_tasks()
    known = [*names, *families, *(name for family in families.values() for name in family)]
    parser.add_argument("--tasks", nargs="+", choices=known, default=names, metavar="TASK")
    parser.add_argument("--half", choices=HALVES, help="every second task of each family")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--trainings", type=int, default=30, help="full ones, as the budget")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--cache", type=Path, default=CACHE)
    args = parser.parse_args()
    families = development_tasks(args.half)
    args.tasks = [task for name in args.tasks for task in families.get(name, [name])]
    versions = {m: version_of(m, OURS, PACKAGES) for m in args.methods}
    task = load_task(names[0])
    methods = available(args.methods, versions, lambda m: METHODS[m](task, task.n_epochs, 0))
    results, errors = collect(
        evaluate, methods, args.tasks, args.seeds, args.trainings, versions, args.cache, args.jobs
    )
    for method, error in errors.items():
        print(f"without {method}, which failed: {error}")
    methods = [method for method in methods if method not in errors]
    table = partial(table_of, results, methods, args.tasks, args.seeds)
    regrets = table("regrets")
    print(
        f"{len(args.tasks)} tasks, {args.seeds} seeds, epochs of {args.trainings} full trainings"
    )
    labels = [f"@{fraction:.0%}" for fraction in FRACTIONS]
    extras = {"seconds": np.median(table("seconds"), axis=(1, 2))}
    ours = [m for m in methods if m in OURS and m not in BASELINES]
    ranks = print_comparison(methods, regrets, labels, ours or BASELINES, extras)
    print_by_task(methods, args.tasks, regrets[..., -1])
    ok = print_bars(bars_of(methods, ranks))
    return int(not ok or bool(errors))


if __name__ == "__main__":
    sys.exit(main())
