"""How good the best candidate is after so many evaluations, against peers in the same run.

Every method tunes every task with every seed. The incumbent is the candidate with the lowest loss
that was observed so far; its regret is computed without noise, 0 for the best known loss and 1 for
that of the median random candidate. A diverged training can have a regret of 1,000, so mean
regrets are of regrets clipped at 1; ranks are of the raw ones. Methods are ranked for each task
and seed; ranks are averaged over the seeds of a task; and tests are over tasks, since seeds are
not new tasks: Friedman's over all methods, and Wilcoxon's signed ranks with Holm's correction of
the best learning sampler of ours against each. Overhead is the processor time of one ask and one
tell; its mean contains what some methods do only now and then.

    python examples/benchmarks/sample_efficiency.py [--seeds 20] [--cache results.jsonl]

With ``--batch 5`` five candidates are asked for at a time, as five workers do, and none of them
knows what the others bring.
Results are kept in the cache as they come. Peers need ``requirements.txt``; a method that is not
there is left out. Exit status 1 if a bar fails, or a search.
"""

import argparse
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
from _peers import METHODS, OURS, PACKAGES, make, run
from _report import (
    available,
    collect,
    print_bars,
    print_by_task,
    print_comparison,
    table_of,
    version_of,
)
from _tasks import TASKS, load_task

CHECKPOINTS = (25, 50, 100)
DEFAULT = "GP"  # the sampler of ours that is used where none is named
LEADERS = ("GP", DEFAULT)
BASELINES = ("Random", "Sobol")  # ours, but they learn nothing
OPTUNA_TPE = ("Optuna TPE", "Optuna univariate TPE")
CACHE = Path(tempfile.gettempdir()) / "sksearch_sample_efficiency.jsonl"


def evaluate(method, name, n_evaluations, seed, batch=1):
    """Regrets of the incumbent after each evaluation, None without one, and milliseconds."""
    task = load_task(name)
    done = run(method, task, n_evaluations, seed, batch)
    milliseconds = 1_000 * np.array(done.seconds)
    return {
        "regrets": task.regrets(done.params, done.losses),
        "median_ms": float(np.median(milliseconds)),
        "mean_ms": float(milliseconds.mean()),
    }


def bars_of(methods, ranks, checkpoints):
    """What must hold."""
    best = [methods[i] for i in ranks.argmin(axis=0)]
    leaders = {m for m in LEADERS if m in methods}
    peers = len(methods) > len(set(methods) & set(OURS))
    bars = [
        (
            f"best mean rank at {n} is one of ours ({' or '.join(sorted(set(LEADERS)))})",
            winner in leaders if leaders and peers else None,
        )
        for n, winner in zip(checkpoints, best, strict=True)
    ]
    rank = dict(zip(methods, ranks[:, -1], strict=True))
    for peer in OPTUNA_TPE:
        ahead = rank["TPE"] < rank[peer] if {"TPE", peer} <= set(methods) else None
        bars.append((f"TPE ahead of {peer} at {checkpoints[-1]}", ahead))
    return bars


def main():
    """Compare, print and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=TASKS, metavar="TASK")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--evaluations", type=int, default=100)
    parser.add_argument("--batch", type=int, default=1, help="candidates asked for at a time")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--cache", type=Path, default=CACHE)
    args = parser.parse_args()
    versions = {m: version_of(m, OURS, PACKAGES) for m in args.methods}
    check = partial(make, task=load_task("branin"), n_evaluations=10, seed=0)
    methods = available(args.methods, versions, check)
    n = args.evaluations
    if args.batch > 1:
        versions = {m: f"{version}, batches of {args.batch}" for m, version in versions.items()}
    results, errors = collect(
        partial(evaluate, batch=args.batch),
        methods,
        args.tasks,
        args.seeds,
        n,
        versions,
        args.cache,
        args.jobs,
    )
    for method, error in errors.items():
        print(f"without {method}, which failed: {error}")
    methods = [method for method in methods if method not in errors]
    checkpoints = sorted({*(c for c in CHECKPOINTS if c < n), n})
    table = partial(table_of, results, methods, args.tasks, args.seeds)
    regrets = table("regrets")[..., [c - 1 for c in checkpoints]]
    batches = f", {args.batch} at a time" if args.batch > 1 else ""
    print(f"{len(args.tasks)} tasks, {args.seeds} seeds, after {n} evaluations at most{batches}")
    extras = {
        "median ms": np.median(table("median_ms"), axis=(1, 2)),
        "mean ms": np.median(table("mean_ms"), axis=(1, 2)),
    }
    ours = [m for m in methods if m in OURS and m not in BASELINES]
    labels = [f"@{c}" for c in checkpoints]
    ranks = print_comparison(methods, regrets, labels, ours or BASELINES, extras)
    print_by_task(methods, args.tasks, regrets[..., -1])
    ok = print_bars(bars_of(methods, ranks, checkpoints))
    return int(not ok or bool(errors))


if __name__ == "__main__":
    sys.exit(main())
