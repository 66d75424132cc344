"""How busy workers are: asynchronous halving against synchronous Hyperband.

On a virtual clock, 64 simulated workers have jobs that last log-normally long (sigma 1). Then
two real worker processes sleep log-normally long (mean 100 ms a job, sigma 1) under
`ASHASearchCV` and `HyperbandSearchCV`; the idle share is what of their time was not slept. At the
end of a search all wait for the last job, so a long search says what a scheduler wastes.

    python examples/benchmarks/asynchronous.py [--candidates 20000] [--jobs 300]

Exit status 1 if a bar fails.
"""

import argparse
import sys
import time

import numpy as np
from _report import print_bars
from scipy.stats import lognorm, uniform
from sklearn.base import BaseEstimator

from sksearch import ASHASearchCV, HyperbandSearchCV
from sksearch.executors import VirtualClock
from sksearch.samplers import RandomSampler
from sksearch.schedulers import ASHA, PASHA, AsyncHyperband, Hyperband
from sksearch.simulators import CurveProblem, play

N_WORKERS, EPOCHS = 64, 27
MIN_UTILISATION, MAX_IDLE = 0.95, 0.05
MEAN, SIGMA = 0.1, 1.0  # of a real job, seconds


class UnlikeLong(CurveProblem):
    """Losses that fall, with jobs that last unlike long."""

    space = {"x": uniform(), "seconds": lognorm(s=SIGMA)}
    max_resources = EPOCHS

    def losses(self, params, seed=0):
        """Return curves that never cross."""
        return np.array([p["x"] for p in params])[:, None] + 1 / np.arange(1, EPOCHS + 1)

    def seconds(self, params):
        """Return jobs, from rung to rung, as long as the candidate says."""
        n_jobs = np.searchsorted([1, 3, 9, 27], np.arange(1, EPOCHS + 1), side="right")
        return np.array([p["seconds"] for p in params])[:, None] * n_jobs


class Sleeper(BaseEstimator):
    """Sleeps; its score is its parameter."""

    def __init__(self, x=0.0, seconds=0.0):
        self.x = x
        self.seconds = seconds

    def fit(self, X, y=None):
        """Train for one epoch."""
        return self.partial_fit(X, y)

    def partial_fit(self, X, y=None):
        """Sleep, and note when."""
        time.sleep(self.seconds)
        return self

    def score(self, X, y=None):
        """Return the parameter."""
        return self.x


def virtual(scheduler):
    """Share of the time that simulated workers are busy."""
    with VirtualClock(N_WORKERS) as clock:
        play(RandomSampler(), scheduler, UnlikeLong(), random_state=0)
    return clock.utilisation


def real(search):
    """Share of the time that two worker processes do not sleep, and overhead a job."""
    n_rows = np.zeros((4, 1))
    start = time.perf_counter()
    search.fit(n_rows)
    seconds = time.perf_counter() - start
    slept = search.cv_results_["mean_fit_time"].sum()
    n_jobs = len(search.cv_results_["params"])
    return 1 - slept / (2 * seconds), 1_000 * (2 * seconds - slept) / n_jobs


def main():
    """Measure, print and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--candidates", type=int, default=20_000)
    parser.add_argument("--jobs", type=int, default=300)
    args = parser.parse_args()
    times = args.candidates // 49  # candidates of Hyperband's brackets for 27 epochs
    busy = {
        "ASHA": virtual(ASHA(args.candidates)),
        "ASHA, stopping": virtual(ASHA(args.candidates, variant="stopping")),
        "PASHA": virtual(PASHA(args.candidates)),
        "asynchronous Hyperband": virtual(AsyncHyperband(n_iterations=times)),
        "Hyperband": virtual(Hyperband(n_iterations=times)),
        "one Hyperband": virtual(Hyperband()),
    }
    print(f"{N_WORKERS} simulated workers, about {args.candidates:,} candidates: share busy")
    for name, share in busy.items():
        print(f"  {name:<24}{share:>8.1%}{share / busy['Hyperband']:>8.2f} x Hyperband")

    # Two thirds of the jobs are starts, of one epoch; a promoted candidate sleeps twice as long.
    scale = MEAN / np.exp(SIGMA**2 / 2) / 1.5
    common = {
        "param_distributions": {"x": uniform(), "seconds": lognorm(s=SIGMA, scale=scale)},
        "resource": "epochs", "max_resources": 3, "cv": [([0, 1], [2, 3])], "n_jobs": 2,
        "random_state": 0, "refit": False,
    }  # fmt: skip
    # A first search starts the worker processes, which later ones use again.
    ASHASearchCV(Sleeper(), n_candidates=8, **common).fit(np.zeros((4, 1)))
    searches = {
        "ASHASearchCV": ASHASearchCV(Sleeper(), n_candidates=args.jobs, **common),
        "HyperbandSearchCV": HyperbandSearchCV(Sleeper(), n_iterations=args.jobs // 5, **common),
    }
    print("two worker processes: share idle, overhead in ms a job")
    idle = {}
    for name, search in searches.items():
        idle[name], overhead = real(search)
        print(f"  {name:<24}{idle[name]:>8.1%}{overhead:>8.1f}")
    bars = [
        (f"ASHA busy at least {MIN_UTILISATION:.0%}", busy["ASHA"] >= MIN_UTILISATION),
        (f"ASHASearchCV idle at most {MAX_IDLE:.0%}", idle["ASHASearchCV"] <= MAX_IDLE),
    ]
    return int(not print_bars(bars))


if __name__ == "__main__":
    sys.exit(main())
