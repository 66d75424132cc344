"""Size and params chosen together: `Fabolas` beside Hyperband and a process on all rows.

Scores and seconds of kernel machines on ten tables were recorded (`_sizes.py`); here they are
played, a full training stretched to a minute, since the method is for trainings that long. The
incumbent is the candidate that the search would return, the best of those with the most rows; its
regret is 0 at the best score on all rows and 1 at the median one, and 1 before there is one.
Printed is the mean regret after half a full training, one, three and ten; how often ours is ahead
of each other one, with the p-value of a signed-rank test over pairs of table and seed; and what
proposals have taken themselves, as a part of the time of trainings.

    python examples/benchmarks/fabolas.py [--seeds 10] [--tables choose|report|all]
        [--methods Fabolas "GP, halving" ...] [--record file.jsonl]

Runs that the record has are not repeated.

Exit status 1 if `Fabolas` is not ahead of Hyperband and of the process at a half, one and three
full trainings, or its proposals take more than a twentieth of the trainings.
"""

import argparse
import math
import sys
import time
from pathlib import Path

import numpy as np
from _report import by, print_bars, print_rows, recorded
from _sizes import CHOOSE, MACHINES, REPORT, SIZES, Machine
from _tasks import seed_of_task
from scipy.stats import wilcoxon
from threadpoolctl import threadpool_limits

from sksearch.history import Problem, Result
from sksearch.samplers import GPSampler, QuasiRandomSampler, RandomSampler
from sksearch.schedulers import Fabolas, FullFidelity, Hyperband
from sksearch.schedulers._iterated_halving import IteratedHalving
from sksearch.space import Space
from sksearch.study import Study

METHODS = {
    "GP, all rows": (GPSampler(), FullFidelity(None)),
    "Hyperband": (RandomSampler(), Hyperband(n_iterations=50)),
    "GP, halving": (GPSampler(), IteratedHalving(n_iterations=100)),
    "Fabolas": (QuasiRandomSampler(), Fabolas(None)),
    "Fabolas, rows counted": (QuasiRandomSampler(), Fabolas(None, cost="resource")),
}
OURS = "Fabolas"
RIVALS = ("Hyperband", "GP, halving", "GP, all rows")
TABLES = {"choose": CHOOSE, "report": REPORT, "all": MACHINES}
MINUTE = 60.0
TRAININGS = (0.5, 1.0, 3.0, 10.0)
MOST_OWN = 0.05  # of the time of trainings


def run(name, machine, method, seed):
    """Return regrets after so many full trainings, and proposals as a part of all seconds."""
    stretch = MINUTE / machine.full
    seed = seed_of_task(name, seed)
    problem = Problem(Space(machine.space), SIZES[0], SIZES[-1], seed, continues=False)
    study = Study(problem, *method)
    spent, own, best, found = 0.0, 0.0, (0, -math.inf), []
    while spent < TRAININGS[-1] * MINUTE:
        start = time.process_time()
        job = study.ask()
        own += time.process_time() - start
        if job is None:
            break
        score, seconds = machine(job.params, job.resource)
        spent += stretch * seconds
        study.tell(job, Result(score, stretch * seconds))
        if (job.resource, score) > best:
            best = job.resource, score
            full = machine(job.params, SIZES[-1])[0]
            regret = (machine.best - full) / (machine.best - machine.median)
            found.append((spent, min(1.0, regret)))
    return [at(found, MINUTE * n) for n in TRAININGS], own / spent


def at(found, seconds):
    """Regret of the incumbent after so many seconds; 1 before there is one."""
    return next((regret for when, regret in reversed(found) if when <= seconds), 1.0)


def judged(one, two):
    """Return wins, losses and the p-value of paired regrets."""
    p = wilcoxon(one, two).pvalue if (one != two).any() else 1.0
    return int((one < two).sum()), int((one > two).sum()), float(p)


def regrets_of(lines):
    """Return the regrets of each method, shape (runs, trainings); runs in the same order."""
    lines = sorted(lines, key=lambda line: (line["table"], line["seed"]))
    return {
        name: np.array([line["regrets"] for line in of])
        for (name,), of in by(lines, "method").items()
    }


def table(lines):
    """Return the rows of the page: mean regrets, and proposals as a part of the time."""
    found = regrets_of(lines)
    rows = [["search", *(f"{n:g}" for n in TRAININGS), "proposals"]]
    for (name,), of in by(lines, "method").items():
        own = np.mean([line["proposals"] for line in of])
        rows.append(
            [
                name,
                *(f"{x:.3f}" for x in found[name].mean(axis=0)),
                f"{own:.1%}".replace("%", " %"),
            ]
        )
    return rows


def comparison(lines):
    """Return the rows of the page: wins, losses and p-values of `OURS` beside each rival."""
    found = regrets_of(lines)
    rows = [[f"{OURS} ahead of", *(f"{n:g}" for n in TRAININGS)]]
    for rival in (r for r in RIVALS if {r, OURS} <= found.keys()):
        pairs = (judged(found[OURS][:, k], found[rival][:, k]) for k in range(len(TRAININGS)))
        shown = (
            f"{wins}-{losses}, p {'< .001' if p < 0.001 else f'= {p:.3f}'.replace('0.', '.')}"
            for wins, losses, p in pairs
        )
        rows.append([rival, *shown])
    return rows


def main():
    """Run, print, and return whether a bar failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--tables", choices=TABLES, default="report")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--recorded", action="store_true", help="seconds as they were recorded")
    parser.add_argument("--record", type=Path, help="file of runs, read first and appended to")
    args = parser.parse_args()
    machines = {table: Machine(table, not args.recorded) for table in TABLES[args.tables]}
    keys = [
        {"method": method, "table": table, "seed": seed}
        for seed in range(args.seeds)
        for table in machines
        for method in args.methods
    ]

    def run_of(method, table, seed):
        regrets, own = run(table, machines[table], METHODS[method], seed)
        return {"regrets": [round(x, 5) for x in regrets], "proposals": round(own, 5)}

    with threadpool_limits(1):
        lines = list(recorded(args.record, keys, run_of))
    for rows in (table(lines), comparison(lines)):
        print_rows(rows)
        print()
    found, bars = regrets_of(lines), []
    for rival in (r for r in RIVALS if {r, OURS} <= found.keys()):
        means = found[OURS].mean(axis=0) < found[rival].mean(axis=0)
        bars += [
            (f"ahead of {rival} after {n:g}", bool(ahead))
            for n, ahead in zip(TRAININGS, means, strict=True)
            if n <= 3
        ]
    if OURS in found:
        own = np.mean([line["proposals"] for line in lines if line["method"] == OURS])
        bars.append(("proposals take at most a twentieth", bool(own <= MOST_OWN)))
    return int(not print_bars(bars))


if __name__ == "__main__":
    sys.exit(main())
