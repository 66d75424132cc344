"""How many epochs Hyperband needs for what random search finds with as many epochs in all.

On the recorded tasks with learning curves both have the epochs of 17 full trainings, about one
iteration of Hyperband for 81 epochs. An epoch counts once: what is promoted goes on. The incumbent
is the candidate with the lowest loss among those that were trained longest so far; its regret is
computed without noise after all epochs, 0 for the best known loss and 1 for that of the median
random candidate, and clipped there. The ratio is the epochs after which Hyperband's mean regret
over all seeds is first at most that of random search at its end, over all epochs; 1 or more if
never. Random search has its own ratio, since it may have found its last incumbent early.

    python examples/benchmarks/hyperband.py [--seeds 20]
        [--record examples/benchmarks/records/hyperband.jsonl]

Exit status 1 if the median ratio is above a quarter.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from _fidelity import incumbent, run as search
from _report import by, print_bars, print_rows, recorded
from _tasks import RECORDED, load_task, seed_of_task

TRAININGS = 17
FRACTIONS = np.arange(1, 101) / 100  # of the epochs
METHODS = ("Random", "Hyperband")
MAX_RATIO = 0.25


def run(method, task, seed):
    """Return the regret of the incumbent at each fraction of the epochs, where it changes."""
    name, task = task, load_task(task)
    budget = TRAININGS * task.n_epochs
    evaluations, _ = search(method, task, budget, seed_of_task(name, seed))
    steps, last = [], None
    for fraction in FRACTIONS:
        params = incumbent(evaluations, fraction * budget)
        if params is not None and params is not last:
            last = params
            steps.append((round(float(fraction), 2), round(min(1.0, task.regret(params)), 5)))
    return {"epochs": budget, "steps": steps}


def curves_of(lines):
    """Return the mean regret at each fraction."""
    curves = np.ones((len(lines), len(FRACTIONS)))
    for curve, line in zip(curves, lines, strict=True):
        for fraction, regret in line["steps"]:
            curve[fraction - 1e-9 <= FRACTIONS] = regret
    return curves.mean(axis=0)


def ratios_of(lines):
    """Return, by task: epochs, regrets at the end, and ratios, of each method."""
    found = {}
    for (task, epochs), of in by(lines, "task", "epochs").items():
        curves = {method: curves_of(each) for (method,), each in by(of, "method").items()}
        goal = curves["Random"][-1]
        there = {method: curve <= goal for method, curve in curves.items()}
        found[task] = (
            epochs,
            [curves[method][-1] for method in METHODS],
            [FRACTIONS[there[m].argmax()] if there[m].any() else np.inf for m in METHODS],
        )
    return found


def table(lines):
    """Return the rows of the page."""
    names = [method.lower() if method == "Random" else method for method in METHODS]
    rows = [["task", "epochs", *(f"regret, {n}" for n in names), *(f"ratio, {n}" for n in names)]]
    found = ratios_of(lines)
    for task, (epochs, regrets, ratios) in found.items():
        shown = ("never" if np.isinf(ratio) else f"{ratio:.2f}" for ratio in ratios)
        rows.append([task, f"{epochs:,}", *(f"{x:.3f}" for x in regrets), *shown])
    means = np.mean([regrets for _, regrets, _ in found.values()], axis=0)
    medians = np.median([ratios for *_, ratios in found.values()], axis=0)
    cells = [*(f"{x:.3f}" for x in means), *(f"{x:.2f}" for x in medians)]
    return [*rows, ["mean regret, median ratio", "", *cells]]


def main():
    """Compare, print and return the exit status."""
    names = [name for name in RECORDED if load_task(name).n_epochs]
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tasks", nargs="+", choices=names, default=names, metavar="TASK")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--record", type=Path, help="file of runs, read first and appended to")
    args = parser.parse_args()
    keys = [
        {"method": method, "task": task, "seed": seed}
        for task in args.tasks
        for method in METHODS
        for seed in range(args.seeds)
    ]
    lines = list(recorded(args.record, keys, run))
    print_rows(table(lines))
    median = float(np.median([ratios[1] for *_, ratios in ratios_of(lines).values()]))
    return int(not print_bars([(f"median ratio at most {MAX_RATIO}", median <= MAX_RATIO)]))


if __name__ == "__main__":
    sys.exit(main())
