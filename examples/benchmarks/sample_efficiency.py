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
        [--record examples/benchmarks/records/one_fidelity.jsonl]

With ``--batch 5`` five candidates are asked for at a time, as five workers do, and none of them
knows what the others bring.
Results are kept in the cache as they come; the record gets the regrets that are shown. Peers need
``requirements.txt``; a method that is not there is left out. Exit status 1 if a bar fails, or a
search.
"""

import argparse
import json
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
from _peers import METHODS, OURS, PACKAGES, make, run
from _report import (
    available,
    by,
    collect,
    mean_ranks,
    print_bars,
    print_by_task,
    print_comparison,
    table_of,
    version_of,
)
from _tasks import TASKS, load_task

from sksearch.stats import wilcoxon_holm

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


def write(path, methods, tasks, checkpoints, regrets):
    """Write a line for each run."""
    lines = [
        {"method": method, "task": task, "seed": seed, "evaluations": checkpoints,
         "regrets": [round(float(x), 5) for x in regrets[i, j, seed]]}
        for i, method in enumerate(methods)
        for j, task in enumerate(tasks)
        for seed in range(regrets.shape[2])
    ]  # fmt: skip
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


def table(lines):
    """Return the rows of the page; p: Wilcoxon over tasks, Holm, of our best and the others."""
    found = by(lines, "method", "task")
    methods, tasks = (list(dict.fromkeys(names)) for names in zip(*found, strict=True))
    numbers = lines[0]["evaluations"]
    regrets = np.array([[[x["regrets"] for x in found[m, t]] for t in tasks] for m in methods])
    ranks = np.array([mean_ranks(regrets[..., i]) for i in range(len(numbers))])
    own = [i for i, method in enumerate(methods) if method in OURS and method not in BASELINES]
    best = min(own, key=lambda i: ranks[-1].mean(axis=1)[i])
    p = wilcoxon_holm(ranks[-1].T, control=best)
    head = ["method", *(f"regret @{n}" for n in numbers), *(f"rank @{n}" for n in numbers)]
    rows = [[*head, f"p @{numbers[-1]}"]]
    for i in np.argsort(ranks[-1].mean(axis=1)):
        cells = [f"{x:.3f}" for x in np.minimum(regrets, 1).mean(axis=(1, 2))[i]]
        cells += [f"{x:.2f}" for x in ranks.mean(axis=2)[:, i]]
        rows.append([methods[i], *cells, "" if i == best else f"{p[i]:.3f}"])
    return rows


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
    parser.add_argument("--record", type=Path, help="where to write the regrets that are shown")
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
    of = partial(table_of, results, methods, args.tasks, args.seeds)
    regrets = of("regrets")[..., [c - 1 for c in checkpoints]]
    if args.record is not None:
        write(args.record, methods, args.tasks, checkpoints, regrets)
    batches = f", {args.batch} at a time" if args.batch > 1 else ""
    print(f"{len(args.tasks)} tasks, {args.seeds} seeds, after {n} evaluations at most{batches}")
    extras = {
        "median ms": np.median(of("median_ms"), axis=(1, 2)),
        "mean ms": np.median(of("mean_ms"), axis=(1, 2)),
    }
    ours = [m for m in methods if m in OURS and m not in BASELINES]
    labels = [f"@{c}" for c in checkpoints]
    ranks = print_comparison(methods, regrets, labels, ours or BASELINES, extras)
    print_by_task(methods, args.tasks, regrets[..., -1])
    ok = print_bars(bars_of(methods, ranks, checkpoints))
    return int(not ok or bool(errors))


if __name__ == "__main__":
    sys.exit(main())
