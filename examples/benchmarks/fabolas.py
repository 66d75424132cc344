"""Size and params chosen together: `Fabolas` beside a Gaussian process on all rows and Hyperband.

Scores and seconds of a support vector machine on the table "letter" (`_svm_sizes.py`), as a
simulation: a step costs the seconds that were recorded. The incumbent is the candidate that the
search would return, the best of those with the most rows; its regret is 0 at the best score on
all rows and 1 at the median one. Printed is the mean regret after so many seconds, and what the
proposals have taken themselves, which is not counted.

    python examples/benchmarks/fabolas.py [--seeds 10] [--seconds 12]

Exit status 1 if `Fabolas` does not come to the regret of the Gaussian process on all rows at the
end in half of the seconds.
"""

import argparse
import math
import sys
import time

import numpy as np
from _svm_sizes import SIZES, Machine
from scipy.stats import loguniform

from sksearch.history import Problem, Result
from sksearch.samplers import GPSampler, QuasiRandomSampler, RandomSampler
from sksearch.schedulers import Fabolas, FullFidelity, Hyperband, IteratedHalving
from sksearch.space import Space
from sksearch.study import Study

SPACE = {"C": loguniform(1e-3, 1e3), "gamma": loguniform(1e-4, 1e1)}
METHODS = {
    "GP, all rows": (GPSampler(), FullFidelity(None)),
    "GP per second, all rows": (GPSampler("ei_per_second"), FullFidelity(None)),
    "Hyperband": (RandomSampler(), Hyperband(n_iterations=50)),
    "GP, short brackets": (GPSampler("ei_per_second", transfer="joint"), IteratedHalving(3, 500)),
    "Fabolas": (QuasiRandomSampler(), Fabolas(None)),
    "Fabolas, rows counted": (QuasiRandomSampler(), Fabolas(None, cost="resource")),
}


def run(machine, method, n_seconds, seed):
    """Return seconds, and the regret of the incumbent from then on; and seconds of proposals."""
    space = Space(SPACE)
    problem = Problem(space, SIZES[0], SIZES[-1], seed, continues=False)
    study = Study(problem, *method)
    spent, own, best, found = 0.0, 0.0, (0, -math.inf), []
    while spent < n_seconds:
        start = time.process_time()
        job = study.ask()
        own += time.process_time() - start
        if job is None:
            break
        score, seconds = machine(job.params, job.resource)
        spent += seconds
        study.tell(job, Result(score, seconds))
        if (job.resource, score) > best:
            best = job.resource, score
            full = machine(job.params, SIZES[-1])[0]
            found.append((spent, (machine.best - full) / (machine.best - machine.median)))
    return found, own


def at(found, seconds):
    """Regret of the incumbent after so many seconds; 1 before there is one."""
    return next((regret for when, regret in reversed(found) if when <= seconds), 1.0)


def main():
    """Run, print, and return whether the bar failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=12)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    args = parser.parse_args()
    machine = Machine()
    shown = [args.seconds / 2**k for k in range(6, -1, -1)]
    print(
        f"{'':<24}" + "".join(f"{f'{s:.3g} s':>9}" for s in shown) + "   own seconds", flush=True
    )
    means = {}
    for name in args.methods:
        runs = [run(machine, METHODS[name], args.seconds, seed) for seed in range(args.seeds)]
        means[name] = [np.mean([at(found, s) for found, _ in runs]) for s in shown]
        own = np.mean([seconds for _, seconds in runs])
        print(
            f"{name:<24}" + "".join(f"{m:>9.4f}" for m in means[name]) + f"{own:>14.1f}",
            flush=True,
        )
    if not {"Fabolas", "GP, all rows"} <= set(means):
        return 0
    failed = means["Fabolas"][-2] > means["GP, all rows"][-1]
    print("bar:", "FAILED" if failed else "ok")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
