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
import json
import math
import sys
import time
from pathlib import Path

import numpy as np
from _report import print_bars
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


def runs_of(methods, machines, n_seeds, record=None):
    """Return regrets and parts of proposals by method, table and seed, the record's included."""
    known = record.read_text().splitlines() if record is not None and record.exists() else []
    found = {
        (line["method"], line["table"], line["seed"]): (line["regrets"], line["proposals"])
        for line in map(json.loads, known)
    }
    for seed in range(n_seeds):
        for table, machine in machines.items():
            for method in methods:
                if (key := (method, table, seed)) in found:
                    continue
                regrets, own = run(table, machine, METHODS[method], seed)
                found[key] = regrets, own
                line = dict(zip(("method", "table", "seed"), key, strict=True))
                line |= {"regrets": [round(x, 5) for x in regrets], "proposals": round(own, 5)}
                if record is not None:
                    with record.open("a") as file:
                        file.write(json.dumps(line) + "\n")
    return found


def main():
    """Run, print, and return whether a bar failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--tables", choices=TABLES, default="report")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--recorded", action="store_true", help="seconds as they were recorded")
    parser.add_argument("--record", type=Path, help="file of runs, read first and appended to")
    args = parser.parse_args()
    print(f"{'trainings':<24}" + "".join(f"{n:>9g}" for n in TRAININGS) + "   proposals")
    regrets, own = {}, {}
    machines = {table: Machine(table, not args.recorded) for table in TABLES[args.tables]}
    with threadpool_limits(1):
        found = runs_of(args.methods, machines, args.seeds, args.record)
    for name in args.methods:
        runs = [found[name, table, seed] for table in machines for seed in range(args.seeds)]
        regrets[name] = np.array([regret for regret, _ in runs])
        own[name] = float(np.mean([part for _, part in runs]))
        means = "".join(f"{m:>9.4f}" for m in regrets[name].mean(axis=0))
        print(f"{name:<24}{means}{own[name]:>12.1%}", flush=True)
        for k, table in enumerate(machines):
            rows = regrets[name][k * args.seeds : (k + 1) * args.seeds].mean(axis=0)
            print(f"  {table:<22}" + "".join(f"{m:>9.4f}" for m in rows), flush=True)
    bars = []
    for rival in (r for r in RIVALS if {r, OURS} <= set(regrets)):
        for k, n in enumerate(TRAININGS):
            one, two = regrets[OURS][:, k], regrets[rival][:, k]
            p = wilcoxon(one, two).pvalue if (one != two).any() else 1.0
            wins, losses = int((one < two).sum()), int((one > two).sum())
            what = f"ahead of {rival} after {n:g} ({wins} to {losses}, p {p:.3g})"
            if n <= 3:
                bars.append((what, bool(one.mean() < two.mean())))
            else:
                print(what)
    if OURS in own:
        bars.append(("proposals take at most a twentieth", own[OURS] <= MOST_OWN))
    return int(not print_bars(bars))


if __name__ == "__main__":
    sys.exit(main())
