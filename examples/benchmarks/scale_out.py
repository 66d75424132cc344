"""Searches on 16 and on 100 workers: how busy they are, and what that costs.

Fits last log-normally long (drawn for each candidate and fold) on a virtual clock, with five
folds. The share of busy workers is the share over a whole search with default settings, including
its end, when all wait for the last fits; random search has no other loss than this. Then the same
samplers tune development tasks, 64 evaluations each, with one worker and with many: results come
as fits end. The regret is 0 for the best known loss and 1 for the median random one. At last the
time of the loop for one task, whatever the number of workers, and the CPU time of a worker for a
trivial fit, next to scikit-learn's in one process, which also clones, sets parameters and scores.

    python examples/benchmarks/scale_out.py [--what busy regret loop] [--seeds 3] [--names GP TPE]
        [--record examples/benchmarks/records/busy/searches.jsonl]
    python examples/benchmarks/scale_out.py --picture docs/images/workers.png
    python examples/benchmarks/scale_out.py --what peers
        [--record examples/benchmarks/records/busy/peers.jsonl]

With "peers" other libraries (as far as they are installed) and this one search on eight real
worker processes whose fits sleep, or last no time.

Exit status 1 if a bar fails.
"""

import argparse
import math
import os
import sys
import time
import warnings
import zlib
from importlib.util import find_spec
from pathlib import Path

import _scale_out_peers
import numpy as np
from _development import DevelopmentTask, development_tasks
from _report import by, print_bars, print_rows, recorded
from scipy.stats import uniform
from sklearn.base import BaseEstimator
from sklearn.model_selection import RandomizedSearchCV

import sksearch as sks
from sksearch import samplers, schedulers
from sksearch.executors import VirtualClock, spend
from sksearch.executors._factory import make_executor
from sksearch.executors._loop import Workload, drive
from sksearch.history import Problem, Result
from sksearch.space import Space
from sksearch.study import Study

N_FOLDS, EPOCHS, SIGMA = 5, 9, 0.5
LEAST_BUSY = {16: 0.85, 100: 0.70}
N_EVALUATIONS, WORSE = 64, 0.05
LOOPS = (16, 100, 400, 1_000)
PEER_MEANS = 0.2, 0.0
MAX_GROWTH, MAX_MS = 1.5, 1.0
SPACE = {name: uniform() for name in "abcd"}
FULL, HALF = {"n_iter": 192}, {"n_iterations": 16, "resource": "epochs", "max_resources": EPOCHS}
#: Searches with their arguments, and their sampler, by name.
SEARCHES = {
    "random": (sks.RandomSearchCV, FULL, samplers.RandomSampler()),
    "GP": (sks.GPBayesSearchCV, FULL, samplers.GPSampler()),
    "TPE": (sks.TPESearchCV, FULL, samplers.TPESampler()),
    "forest": (sks.search.ForestBayesSearchCV, FULL, samplers.ForestSampler()),
    "CMA-ES": (sks.search.EvolutionSearchCV, FULL | {"method": "cma-es"}, samplers.CMAESSampler()),
    "DE": (sks.search.EvolutionSearchCV, FULL, samplers.DESampler()),
    "SearchCV": (sks.SearchCV, FULL, samplers.GPSampler()),
    "Hyperband": (sks.HyperbandSearchCV, HALF, samplers.RandomSampler()),
    "BOHB": (sks.BOHBSearchCV, HALF, samplers.TPESampler()),
    "DEHB": (sks.search.DEHBSearchCV, HALF, samplers.DESampler()),
    "GPHyperband": (
        sks.HyperbandSearchCV,
        HALF | {"sampler": "gp"},
        samplers.GPSampler("ei_distribution"),
    ),
}
FAMILIES = ("arlbench", "fcnet", "hpobench_mlp", "nasbench201", "taskset")
X = np.arange(50.0)[:, np.newaxis]


class Unlike(BaseEstimator):
    """An estimator whose fits vary in duration, and whose score is a noisy bowl."""

    def __init__(self, a=0.5, b=0.5, c=0.5, d=0.5):
        self.a, self.b, self.c, self.d = a, b, c, d

    def fit(self, X, y=None):
        """Spend the time of a fit."""
        return self.partial_fit(X)

    def partial_fit(self, X, y=None):
        """Spend the time of an epoch, always the same for a candidate and a fold."""
        rng = np.random.default_rng(zlib.crc32(repr((self.a, self.b, X.sum())).encode()))
        spend(float(rng.lognormal(0, SIGMA)))
        self.noise_ = 0.05 * rng.standard_normal()
        return self

    def score(self, X, y=None):
        """Return the negative loss."""
        return self.noise_ - sum((v - 0.3) ** 2 for v in (self.a, self.b, self.c, self.d))


class Trivial(Unlike):
    """An estimator whose fits take no time."""

    def fit(self, X, y=None):
        """Do nothing."""
        self.noise_ = 0.0
        return self


def busy(name, n_workers, seed):
    """Share of the time that workers are busy in a search with default settings."""
    cls, args, _ = SEARCHES[name]
    search = cls(
        Unlike(), SPACE, cv=N_FOLDS, refit=False, random_state=seed, n_jobs=n_workers, **args
    )
    with VirtualClock(n_workers) as clock:
        search.fit(X)
    return {"busy": round(clock.utilisation, 5)}


def table(lines):
    """Return the rows of the page."""
    found = by(lines, "name", "n_workers")
    rows = [["search", *(f"{n} workers" for n in LEAST_BUSY)]]
    for name in dict.fromkeys(name for name, _ in found):
        shares = (np.mean([line["busy"] for line in found[name, n]]) for n in LEAST_BUSY)
        cls, args, _ = SEARCHES[name]
        part = "".join(f'({key}="{args[key]}")' for key in ("method", "sampler") if key in args)
        rows.append([f"`{cls.__name__}{part}`", *(f"{100 * x:.1f} %" for x in shares)])
    return rows


class Folds(Workload):
    """Five fits for each job, whose score comes from a task."""

    def __init__(self, task, seed):
        self.task, self.seed = task, seed

    def tasks(self, job):
        """Return the duration of each fold."""
        rng = np.random.default_rng((self.seed, 7, job.trial_id))
        return ((job.resource - job.spent) * rng.lognormal(0, SIGMA, N_FOLDS)).tolist()

    def collect(self, job, outputs):
        """Return the result of the job."""
        rng = np.random.default_rng((self.seed, 1, job.trial_id))
        epoch = job.resource if self.task.n_epochs else None
        return Result(-self.task.loss(job.params, rng, epoch))

    def on_result(self, job):
        """Do nothing."""


def take(context, seconds, environment):
    """Spend the time of a fit."""
    spend(seconds)


def searched(name, work, n_workers, n_evaluations=N_EVALUATIONS):
    """Run a study on simulated workers, and return its history."""
    sampler, task = SEARCHES[name][2], work.task
    n_epochs = task.n_epochs if "n_iterations" in SEARCHES[name][1] else None
    if n_epochs is None:
        scheduler, top = schedulers.FullFidelity(n_evaluations), task.n_epochs or 1
    else:  # each iteration costs about as much as (s_max + 1) ** 2 full evaluations
        s_max = int(math.log(n_epochs, 3) + 1e-9)
        scheduler, top = (
            schedulers.Hyperband(3, max(1, n_evaluations // (s_max + 1) ** 2)),
            n_epochs,
        )
    n_candidates = n_evaluations if n_epochs is None else None
    problem = Problem(Space(task.space), 1, top, work.seed, n_candidates=n_candidates)
    study = Study(problem, sampler, scheduler)
    with VirtualClock(n_workers), make_executor(take, None, n_workers, None) as executor:
        drive(study, executor, work, 1 if n_workers == 1 else math.inf)
    return study.history


def regret(name, task, n_workers, seed):
    """Regret of the best candidate at the largest resource, at most 1."""
    history = searched(name, Folds(task, seed), n_workers)
    top = max(trial.resource for trial in history.trials)
    done = [
        t
        for t in history.trials
        if top in t.results and t.results[top].score == t.results[top].score
    ]
    best = max(done, key=lambda trial: trial.results[top].score)
    return min(1.0, task.regret(best.params))


class Nothing:
    """A task without a loss."""

    space, n_epochs = SPACE, None

    def loss(self, params, rng, epoch):
        """Return a number."""
        return params["a"]


def loop_ms(n_workers, n_tasks=4_000):
    """Milliseconds of the search's process for one task of random search, the best of three."""
    seconds = []
    for _ in range(3):
        start = time.process_time()
        searched("random", Folds(Nothing(), 0), n_workers, n_tasks // N_FOLDS)
        seconds.append(time.process_time() - start)
    return 1_000 * min(seconds) / n_tasks


def clocks(estimator, X, y=None):
    """Score by the CPU time of this process, and its number."""
    return {"cpu": time.process_time(), "process": os.getpid()}


def fit_ms(cls, n_jobs, n_iter=100):
    """Milliseconds of CPU time of a worker for a fit that takes no time."""
    args = {"n_iter": n_iter, "cv": N_FOLDS, "scoring": clocks, "refit": False, "random_state": 0}
    results = cls(Trivial(), SPACE, n_jobs=n_jobs, **args).fit(X).cv_results_
    cpu, process = (
        np.ravel([results[f"split{i}_test_{name}"] for i in range(N_FOLDS)])
        for name in ("cpu", "process")
    )
    spans = [np.ptp(cpu[process == each]) for each in np.unique(process)]
    return 1_000 * sum(spans) / (len(cpu) - len(spans))


def draw(path):
    """Draw 100 workers of a search with default settings, and with a batch of their size."""
    import matplotlib.pyplot as plt

    from sksearch.plotting import TimelineDisplay

    figure, axes = plt.subplots(2, 1, figsize=(7, 6), sharex=True, layout="constrained")
    for ax, kwargs in zip(axes, ({}, {"workers": {"batch_size": 20}}), strict=True):
        search = sks.TPESearchCV(
            Unlike(), SPACE, cv=N_FOLDS, refit=False, random_state=0, n_jobs=100, **FULL, **kwargs
        )
        with VirtualClock(100):
            search.fit(X)
        display = TimelineDisplay.from_search(search, ax=ax)
        name = ", ".join(f"{key}={value}" for key, value in kwargs.items()) or "default"
        ax.set_title(f"{name}: busy {display.busy_:.0%} of the time", loc="left")
    figure.savefig(path, dpi=80)


def measure_busy(names, seeds, record):
    """Print the share of busy workers; return the bars."""
    keys = [
        {"name": name, "n_workers": n, "seed": seed}
        for name in names
        for n in LEAST_BUSY
        for seed in range(seeds)
    ]
    lines = list(recorded(record, keys, busy))
    print_rows(table(lines))
    return [
        (f"{name} keeps {n} workers busy {LEAST_BUSY[n]:.0%}",
         bool(np.mean([line["busy"] for line in of]) >= LEAST_BUSY[n]))
        for (name, n), of in by(lines, "name", "n_workers").items()
        if SEARCHES[name][2] != samplers.RandomSampler()
    ]  # fmt: skip


def measure_regret(names, seeds):
    """Print mean regrets by number of workers; return the bars."""
    tasks = [name for family in FAMILIES for name in development_tasks().get(family, ())[:2]]
    counts = (1, *LEAST_BUSY)
    print(f"mean regret after {N_EVALUATIONS} evaluations, {len(tasks)} tasks", *counts)
    bars = []
    for name in [name for name in names if name != "SearchCV"]:
        means = {
            n: np.mean(
                [regret(name, DevelopmentTask(t), n, s) for t in tasks for s in range(seeds)]
            )
            for n in counts
        }
        print(f"  {name:<14}", *(f"{mean:>8.4f}" for mean in means.values()), flush=True)
        bars += [
            (f"{name}: regret with {n} workers at most {WORSE:.0%} above one's",
             means[n] <= (1 + WORSE) * means[1])
            for n in LEAST_BUSY
        ]  # fmt: skip
    return bars


def measure_loop():
    """Print the time of a task and of a fit; return the bars."""
    times = {n: loop_ms(n) for n in LOOPS}
    print("milliseconds of the loop for a task:", {n: round(ms, 3) for n, ms in times.items()})
    pairs = [(fit_ms(sks.RandomSearchCV, 2), fit_ms(RandomizedSearchCV, 1)) for _ in range(9)]
    ours, theirs = np.median(pairs, axis=0)
    print(f"milliseconds of a trivial fit: {ours:.2f}, with scikit-learn {theirs:.2f}")
    return [
        ("the loop is flat", max(times.values()) <= MAX_GROWTH * times[LOOPS[0]]),
        (f"a trivial fit costs at most {MAX_MS:g} ms more", ours - theirs <= MAX_MS),
    ]


def peer_table(lines):
    """Tasks a second, as a ratio to joblib's, and shares of busy workers, as the page has them."""
    runs = {(line["name"], line["mean"]): line for line in lines}
    means = list(dict.fromkeys(mean for _, mean in runs))
    rows = [["search"]]
    for mean in means:
        rows[0] += [f"tasks a second, {1_000 * mean:.0f} ms", "ratio", *["busy"] * bool(mean)]
    for name in dict.fromkeys(name for name, _ in runs):
        rows.append([name])
        for mean in means:
            cells = ["-", "-", *["-"] * bool(mean)]
            if (name, mean) in runs:
                line, plain = runs[name, mean], runs["joblib", mean]["per_second"]
                cells[:2] = f"{line['per_second']:.1f}", f"{line['per_second'] / plain:.2f}"
                cells[2:] = [f"{100 * line['busy']:.0f} %"] * bool(mean)
            rows[-1] += cells
    return rows


def measure_peers(record):
    """Print searches of other libraries on real workers."""
    installed = [
        name
        for name, package in _scale_out_peers.PACKAGES.items()
        if package is None or find_spec(package)
    ]
    keys = [{"name": name, "mean": mean} for mean in PEER_MEANS for name in installed]
    print_rows(peer_table(recorded(record, keys, _scale_out_peers.measured)))


def main():
    """Measure, print and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--what", nargs="+", default=["busy", "regret", "loop"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--names", nargs="+", default=list(SEARCHES))
    parser.add_argument("--record", type=Path, help="file of shares, read first and appended to")
    parser.add_argument("--picture", metavar="PATH", help="draw the workers, and measure nothing")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    if args.picture:
        draw(args.picture)
        return 0
    bars = measure_loop() if "loop" in args.what else []
    if "peers" in args.what:
        measure_peers(args.record)
    if "busy" in args.what:
        bars += measure_busy(args.names, args.seeds, args.record)
    if "regret" in args.what:
        bars += measure_regret(args.names, args.seeds)
    return int(not print_bars(bars))


if __name__ == "__main__":
    sys.exit(main())
