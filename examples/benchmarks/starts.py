"""What the start of a worker costs: candidates of which some crash their process or never end.

Of a hundred candidates twenty crash, twenty exceed their time, and sixty sleep for a moment; two
workers run them. sksearch's workers are forks of a process that has the imports. The peers replace
a lost worker as they can: joblib's loky and ``ProcessPoolExecutor`` with a fork server lose their
whole pool with one process, so whatever ran beside a crash or a time-out runs again.

    python examples/benchmarks/starts.py [--candidates 100] [--limit 0.5] [--hangs 0]

It prints the seconds of each, the ratio to sksearch, and the median cost of one crash and of one
time-out beyond the candidate itself. With ``--hangs N`` it starts N workers each for
HistGradientBoosting (OpenMP) and, if installed, for torch, and counts those that hang.

Exit status 1 if a crash or a time-out costs more than 0.2 seconds, or if a worker hangs.
"""

import argparse
import multiprocessing
import os
import time
import warnings
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from contextlib import suppress
from importlib.util import find_spec
from statistics import median

import numpy as np
from joblib.externals.loky import get_reusable_executor
from sklearn.base import BaseEstimator

from sksearch.executors.local._process import WorkerProcess
from sksearch.model_selection import GridSearchCV

N_WORKERS = 2
SECONDS = 0.05  # that a candidate takes
MOST_SECONDS = 0.2  # that a crash or a time-out may cost beyond the candidate
HANG_SECONDS = 60


class Fragile(BaseEstimator):
    """Sleeps; every fifth candidate crashes, and every fifth never ends."""

    def __init__(self, number=0):
        self.number = number

    def fit(self, X, y=None):
        """Sleep, crash or hang."""
        run(self.number)
        return self

    def score(self, X, y=None):
        """Return the number."""
        return self.number


def run(number):
    """Run one candidate."""
    time.sleep(SECONDS)
    if number % 5 == 1:
        os._exit(1)
    if number % 5 == 2:
        time.sleep(600)


def sksearch_seconds(n_candidates, limit):
    """Seconds of a grid search, the refit apart."""
    search = GridSearchCV(
        Fragile(), {"number": list(range(n_candidates))}, cv=[([0], [1])], n_jobs=N_WORKERS,
        refit=False, workers={"timeout": limit, "retries": 0},
    )  # fmt: skip
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.fit(np.zeros((2, 1)), np.zeros(2))
    assert sum(status == "ok" for status in search.statuses_) == 3 * n_candidates // 5
    return time.perf_counter() - begin


class Pool:
    """A pool of the standard library's interface that is made anew when it is lost."""

    def __init__(self, kind):
        self.kind, self.pool = kind, None

    def submit(self, number):
        """Begin a candidate."""
        if self.pool is None and self.kind == "loky":
            self.pool = get_reusable_executor(max_workers=N_WORKERS, kill_workers=True)
        elif self.pool is None:
            context = multiprocessing.get_context("forkserver")
            context.set_forkserver_preload(["sklearn.ensemble", "sksearch.search"])
            self.pool = ProcessPoolExecutor(N_WORKERS, context)
        return self.pool.submit(run, number)

    def drop(self):
        """End the pool and its processes."""
        pool, self.pool = self.pool, None
        if self.kind == "loky":
            pool.shutdown(wait=True, kill_workers=True)
        else:
            for process in list((pool._processes or {}).values()):
                process.kill()
            pool.shutdown(wait=True)


def pool_seconds(kind, n_candidates, limit):
    """Seconds of the same candidates on a pool; a suspect of a crash runs again alone."""
    begin, pool = time.perf_counter(), Pool(kind)
    waiting, suspects = list(range(n_candidates)), []
    while waiting or suspects:
        n = 1 if suspects else N_WORKERS
        source = suspects or waiting
        batch, source[:] = source[:n], source[n:]
        running = {pool.submit(number): number for number in batch}
        end = time.monotonic() + limit
        while running:
            done, _ = wait(running, max(0, end - time.monotonic()), FIRST_COMPLETED)
            broken = [running.pop(future) for future in done if future.exception() is not None]
            for future in done:
                running.pop(future, None)
            if broken:  # nobody can tell who it was, if there were several
                suspects += [*broken, *running.values()] if len(batch) > 1 else []
            if broken or not done:  # a crash, or the time of those that run is over
                pool.drop()
                break
    if pool.pool is not None:
        pool.drop()
    return time.perf_counter() - begin


def costs(limit, repeats=20):
    """Median seconds that a crash, and a time-out, cost until the next call can be answered."""
    worker = WorkerProcess()
    worker.start()
    crashes, overtimes = [], []
    for _ in range(repeats):
        begin = time.perf_counter()
        worker.call(os._exit, 1)
        worker.call(os.getpid)
        crashes.append(time.perf_counter() - begin)
        begin = time.perf_counter()
        worker.call(time.sleep, 60, seconds=limit)
        worker.call(os.getpid)
        overtimes.append(time.perf_counter() - begin - limit)
    worker.kill()
    return median(crashes), median(overtimes)


def boost():
    """Fit trees with OpenMP."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    X = np.random.default_rng(0).normal(size=(2000, 5))
    HistGradientBoostingClassifier(max_iter=3).fit(X, X[:, 0] > 0)


def multiply():
    """Multiply matrices and differentiate with torch."""
    import torch

    a = torch.ones(300, 300, requires_grad=True)
    (a @ a).sum().backward()


def count_hangs(function, module, n):
    """Number of new workers in which a function does not end."""
    env = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "2")
    worker = WorkerProcess(env)
    worker.modules = (module,)
    n_hung = 0
    for _ in range(n):
        n_hung += worker.call(function, seconds=HANG_SECONDS) is not None
        worker.kill()
    return n_hung


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--candidates", type=int, default=100)
    parser.add_argument("--limit", type=float, default=0.5)
    parser.add_argument("--hangs", type=int, default=0)
    args = parser.parse_args()
    with suppress(RuntimeError):
        multiprocessing.set_start_method("forkserver")
    crash, overtime = costs(args.limit)
    print(f"one crash costs {crash:.3f} s, one time-out {overtime:.3f} s beyond its limit")
    is_slow = max(crash, overtime) > MOST_SECONDS
    if args.hangs:
        kinds = [(boost, "sklearn.ensemble")]
        kinds += [(multiply, "torch")] if find_spec("torch") else []
        for function, module in kinds:
            n_hung = count_hangs(function, module, args.hangs)
            print(f"{module}: {n_hung} of {args.hangs} workers hang")
            is_slow |= n_hung > 0
    ours = sksearch_seconds(args.candidates, args.limit)
    print(f"{'sksearch':12} {ours:7.1f} s")
    for kind in ("loky", "forkserver"):
        theirs = pool_seconds(kind, args.candidates, args.limit)
        print(f"{kind:12} {theirs:7.1f} s   {theirs / ours:.1f} times as long")
    return int(is_slow)


if __name__ == "__main__":
    raise SystemExit(main())
