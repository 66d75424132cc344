"""Whether the best score at any rung is a better winner than the best at the last rung.

Hyperband and its kin play on tables of recorded trainings: all rows of a task are the space, the
validation loss is what the search sees: the mean over repetitions, as over folds, or that of a
single one, which is noisier. Of each run two candidates are returned: the one with the lowest
loss at any rung (``select="best"``), trained that far, and the one with the lowest loss at the
largest number of epochs (``select="top"``). Both are judged by what the search has not seen at
this number of epochs: the test loss, or the mean of the other repetitions. Regret is 0 for the
lowest such loss of any row at any epoch and 1 for the median row at the last epoch, and clipped
at 1.

    python examples/benchmarks/selection.py [--seeds 20] [--seen mean|one] [--data FOLDER]

It takes a minute. Tasks with neither test losses nor repetitions are left out. Exit status 1 if
the mean regret of the best row is larger than that of the top row.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from scipy.stats import wilcoxon

from sksearch.datasets import _data_folder
from sksearch.samplers import RandomSampler
from sksearch.schedulers import ASHA, Hyperband, SuccessiveHalving
from sksearch.schedulers._iterated_halving import IteratedHalving
from sksearch.simulators import TabularProblem, play

SCHEDULERS = {
    "SuccessiveHalving": SuccessiveHalving(),
    "Hyperband": Hyperband(),
    "IteratedHalving": IteratedHalving(),
    "ASHA": ASHA(),
}


def tasks_of(folder):
    """Yield name, losses that are seen (rows x epochs x repetitions) and hidden ones, or None."""
    for path in sorted([*folder.glob("hpo/*.npz"), *folder.glob("tuning/tasks/*.npz")]):
        with np.load(path, allow_pickle=False) as arrays:
            valid = arrays["valid"]
            if valid.ndim == 3 and valid.shape[1] > 1:
                yield path.stem, valid, arrays["test"] if "test" in arrays.files else None


def split(valid, test, seed, seen):
    """What to search with, and what to judge by; None where there is nothing."""
    n_repetitions = valid.shape[2]
    k = seed % n_repetitions
    if test is not None:
        return (valid[:, :, k] if seen == "one" else valid.mean(axis=2)), test
    if n_repetitions == 1:
        return None
    return valid[:, :, k], np.delete(valid, k, axis=2).mean(axis=2)


def winners(history):
    """Row and epochs of the best at any rung, and of the best at the largest resource."""
    results = [
        (result.score, resource, -trial.id, trial)
        for trial in history.trials
        for resource, result in trial.results.items()
        if not np.isnan(result.score)
    ]
    top = max(resource for _, resource, *_ in results)
    last = [entry for entry in results if entry[1] == top]
    return [(max(rows)[3].params["row"], max(rows)[1]) for rows in (results, last)]


def regrets(seen, hidden, scheduler, seed):
    """Regrets of both winners of one run, and whether they are one."""
    rows = range(len(seen))
    problem = TabularProblem({"row": list(rows)}, [{"row": row} for row in rows], seen)
    history = play(RandomSampler(), scheduler, problem, random_state=seed)
    hidden = np.where(np.isfinite(hidden), hidden, np.inf)
    best, median = hidden.min(), np.median(hidden[:, -1])
    found = winners(history)
    losses = np.array([hidden[row, epochs - 1] for row, epochs in found])
    return np.clip((losses - best) / (median - best), 0, 1), found[0] == found[1]


def main():
    """Play all tasks with all schedulers and print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--seen", choices=["mean", "one"], default="mean")
    parser.add_argument("--data", type=Path, default=_data_folder())
    args = parser.parse_args()
    table, same, n_tasks = [], [], 0
    print(f"{'task':<46}" + "".join(f"{name:>24}" for name in SCHEDULERS))
    for name, valid, test in tasks_of(args.data):
        if split(valid, test, 0, args.seen) is None:
            print(f"{name:<46} left out: neither test losses nor repetitions")
            continue
        n_tasks += 1
        cells = []
        for scheduler in SCHEDULERS.values():
            runs = [
                regrets(*split(valid, test, seed, args.seen), scheduler, seed)
                for seed in range(args.seeds)
            ]
            same += [is_same for _, is_same in runs]
            cells.append(np.mean([pair for pair, _ in runs], axis=0))
        table.append(cells)
        print(f"{name:<46}" + "".join(f"{best:>14.4f} / {top:.4f} " for best, top in cells))
    if not n_tasks:
        print(f"There are no tasks in {args.data}: pass --data.")
        return 1
    return summarise(np.array(table), same, args.seeds)


def summarise(table, same, n_seeds):
    """Print means, ratio and test; `table` has shape (n_tasks, n_schedulers, 2)."""
    means = table.mean(axis=0)
    print(f"{'mean regret, best / top':<46}" + "".join(f"{b:>14.4f} / {t:.4f} " for b, t in means))
    best, top = table.mean(axis=(0, 1))
    gaps = table[..., 0] - table[..., 1]
    better, worse = (gaps < 0).sum(), (gaps > 0).sum()
    print(
        f"{len(table)} tasks, {n_seeds} seeds: the best row is the top row in "
        f"{np.mean(same):.0%} of the runs; mean regret {best:.4f} / {top:.4f} = {best / top:.3f}; "
        f"of {gaps.size} pairs of task and scheduler {better} better, {worse} worse"
    )
    per_task = gaps.mean(axis=1)
    if np.any(per_task):
        print(f"Wilcoxon over tasks: p = {wilcoxon(per_task).pvalue:.3g}")
    holds = best <= top
    print(f"{'PASS' if holds else 'FAIL'}: regret of the best row is no larger")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
