"""How busy workers are: asynchronous halving against synchronous Hyperband.

On a virtual clock, 64 simulated workers have jobs that last log-normally long (sigma 1). Then
two real worker processes sleep log-normally long (mean 100 ms a job, sigma 1) under
`ASHASearchCV` and `HyperbandSearchCV`; the idle share is what of their time was not slept. At the
end of a search all wait for the last job, so a long search says what a scheduler wastes. The
overhead is what a job of no length costs a worker, the median of five searches.

    python examples/benchmarks/asynchronous.py [--candidates 20000] [--jobs 300]
        [--record examples/benchmarks/records/busy/halving.jsonl]

The record has the simulated workers; what it has is not simulated again.

Exit status 1 if a bar fails.
"""

import argparse
import sys
import time
from pathlib import Path
from statistics import median

import numpy as np
from _report import print_bars, print_rows, recorded
from _sleeper import Sleeper
from scipy.stats import lognorm, uniform

from sksearch import ASHASearchCV, HyperbandSearchCV
from sksearch.executors import VirtualClock
from sksearch.samplers import RandomSampler
from sksearch.schedulers import ASHA, PASHA, Hyperband
from sksearch.schedulers._async_hyperband import AsyncHyperband
from sksearch.simulators import play
from sksearch.simulators._problem import CurveProblem

N_WORKERS, EPOCHS = 64, 27
MIN_UTILISATION, MAX_IDLE, MAX_OVERHEAD = 0.95, 0.05, 3.0
MEAN, SIGMA = 0.1, 1.0  # of a real job, seconds
NO_TIME, N_REPEATS = 1e-9, 5


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


#: Schedulers of about so many candidates; Hyperband's brackets for 27 epochs have 49.
SCHEDULERS = {
    "ASHA": ASHA,
    "ASHA, stopping": lambda n: ASHA(n, variant="stopping"),
    "PASHA": PASHA,
    "AsyncHyperband": lambda n: AsyncHyperband(n_iterations=n // 49),
    "Hyperband": lambda n: Hyperband(n_iterations=n // 49),
    "one Hyperband": lambda n: Hyperband(),
}


def virtual(scheduler, candidates):
    """Share of the time that simulated workers are busy."""
    with VirtualClock(N_WORKERS) as clock:
        play(RandomSampler(), SCHEDULERS[scheduler](candidates), UnlikeLong(), random_state=0)
    return {"busy": round(clock.utilisation, 5)}


def table(lines):
    """Return the rows of the page."""
    shares = ([line["scheduler"], f"{100 * line['busy']:.1f} %"] for line in lines)
    return [["scheduler", "busy"], *shares]


def real(cls, mean, **params):
    """Share of the time that two worker processes do not sleep, and milliseconds of it a job."""
    # Two thirds of the jobs are starts, of one epoch; a promoted candidate sleeps twice as long.
    scale = mean / np.exp(SIGMA**2 / 2) / 1.5
    search = cls(
        Sleeper(),
        {"x": uniform(), "seconds": lognorm(s=SIGMA, scale=scale)},
        resource="epochs",
        max_resources=3,
        cv=[([0, 1], [2, 3])],
        n_jobs=2,
        random_state=0,
        refit=False,
        **params,
    )
    start = time.perf_counter()
    search.fit(np.zeros((4, 1)))
    seconds = time.perf_counter() - start
    slept = search.cv_results_["mean_fit_time"].sum() if mean > NO_TIME else 0.0
    n_jobs = len(search.cv_results_["params"])
    return 1 - slept / (2 * seconds), 1_000 * (2 * seconds - slept) / n_jobs


def main():
    """Measure, print and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--candidates", type=int, default=20_000)
    parser.add_argument("--jobs", type=int, default=300)
    parser.add_argument("--record", type=Path, help="file of shares, read first and appended to")
    args = parser.parse_args()
    keys = [{"scheduler": name, "candidates": args.candidates} for name in SCHEDULERS]
    lines = list(recorded(args.record, keys, virtual))
    busy = {line["scheduler"]: line["busy"] for line in lines}
    print(f"{N_WORKERS} simulated workers, about {args.candidates:,} candidates: share busy")
    print_rows(table(lines))

    # A first search starts the worker processes, which later ones use again.
    real(ASHASearchCV, NO_TIME, n_candidates=8)
    idle, overheads = {}, {}
    print("two worker processes: share idle, overhead in ms a job")
    for cls, params in (
        (ASHASearchCV, {"n_candidates": args.jobs}),
        (HyperbandSearchCV, {"n_iterations": args.jobs // 5}),
    ):
        idle[cls], _ = real(cls, MEAN, **params)
        overheads[cls] = median(real(cls, NO_TIME, **params)[1] for _ in range(N_REPEATS))
        print(f"  {cls.__name__:<24}{idle[cls]:>8.1%}{overheads[cls]:>8.1f}")
    bars = [
        (f"ASHA busy at least {MIN_UTILISATION:.0%}", busy["ASHA"] >= MIN_UTILISATION),
        (f"ASHASearchCV idle at most {MAX_IDLE:.0%}", idle[ASHASearchCV] <= MAX_IDLE),
        (f"overhead at most {MAX_OVERHEAD:g} ms a job", overheads[ASHASearchCV] <= MAX_OVERHEAD),
    ]
    return int(not print_bars(bars))


if __name__ == "__main__":
    sys.exit(main())
