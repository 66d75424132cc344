"""What a proposal costs when so many results are known, against peers in the same run.

Milliseconds of processor time of one tell and one ask of the next params, in 8 dimensions, one
thread: the mean over consecutive pairs. History up to the count is filled with random params, and
the first proposal after that, in which a method catches up with it, is not counted. For ours the
stretch goes on until a fifth more is known, so that learning hyperparameters again, which is rare,
has its fair share in the mean; for peers it has 10 pairs (SMAC3 fits a forest for every eighth).
A peer whose single proposal takes more than 10 seconds is left out from there on. Medians over
repeats, since other load slows down even processor time.

    python examples/benchmarks/proposals.py [--repeats 3] [--methods GP TPE]

Memory is what the Gaussian process takes at its peak for one proposal. Exponents are those of
growth from 200 to 1,000. Exit status 1 if a bar fails.
"""

import argparse
import math
import sys
import time
import tracemalloc
import warnings
from functools import partial

import numpy as np
from _peers import METHODS, OURS, PACKAGES, Smac, make
from _report import available, print_bars, version_of
from _tasks import load_task
from threadpoolctl import threadpool_limits

from sksearch.space import Space

COUNTS = (100, 200, 500, 1_000)
GROWTH = (200, 1_000)
TASK = "levy8"
SHARE = 5  # one n-th more for ours
PEER_PAIRS = 10
MAX_SECONDS = 10.0  # for a proposal of a peer

MAX_MILLISECONDS = {"GP": {100: 10, 500: 20, 1_000: 60}, "TPE": {100: 1, 1_000: 3}}
RIVALS = {
    "GP": ("scikit-optimize GP", "Optuna GP"),
    "TPE": ("Optuna TPE", "Optuna univariate TPE"),
}
MIN_RATIO, RATIO_COUNT = 10, 200

# The initial design would come before proposals that know the history.
MAKERS = {"SMAC3": partial(Smac, n_initial=0)}


def filled(method, n, seed):
    """An optimizer that knows `n` random results, its task, and the generator of these."""
    task = load_task(TASK)
    optimizer = MAKERS.get(method, partial(make, method))(task, 2 * n, seed)
    space, rng = Space(task.space), np.random.default_rng((seed, 2))
    params = [space.sample(rng) for _ in range(n)]
    optimizer.fill(params, [task.loss(item, rng) for item in params])
    return optimizer, task, rng


def measure(method, n, seed):
    """Mean milliseconds of a tell and an ask from `n` results on, infinite if it is too slow."""
    ours = method in OURS
    n_pairs = n // SHARE if ours else PEER_PAIRS
    optimizer, task, rng = filled(method, n, seed)
    proposal = optimizer.ask()
    # The first one may have imported modules, so ask another one before giving up.
    for _ in range(2):
        loss = task.loss(proposal, rng)
        start = time.process_time()
        optimizer.tell(loss)
        proposal = optimizer.ask()
    if not ours and time.process_time() - start > MAX_SECONDS:
        return math.inf
    seconds = 0.0
    for _ in range(n_pairs):
        loss = task.loss(proposal, rng)
        start = time.process_time()
        optimizer.tell(loss)
        proposal = optimizer.ask()
        seconds += time.process_time() - start
    return 1_000 * seconds / n_pairs


def row_of(method, counts, repeats):
    """Median milliseconds at each count, infinite from where the method is too slow."""
    row = {}
    for n in counts:
        values = []
        for seed in range(repeats):
            values.append(measure(method, n, seed))
            if math.isinf(values[-1]):
                break
        row[n] = float(np.median(values)) if math.isfinite(values[-1]) else math.inf
        if math.isinf(row[n]):
            print(f"{method}: more than {MAX_SECONDS:.0f} s at {n:,}, left out from there on")
            return row | {m: math.inf for m in counts if m > n}
    return row


def megabytes(n):
    """What a proposal of the Gaussian process takes at its peak, models that stay included."""
    optimizer, task, rng = filled("GP", n, seed=0)
    # The last is the best, or else another model might be asked.
    optimizer.fill([Space(task.space).sample(rng)], [-1e3])
    tracemalloc.start()
    optimizer.ask()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20


def exponent_of(row):
    """Slope of the logarithm of a value over that of the count, NaN if not measured."""
    low, high = (row.get(n, math.inf) for n in GROWTH)
    if not math.isfinite(low + high):
        return math.nan
    return math.log(high / low) / math.log(GROWTH[1] / GROWTH[0])


def bars_of(rows, memory):
    """What must hold."""
    bars = []
    for method, limits in MAX_MILLISECONDS.items():
        for n, limit in limits.items():
            value = rows.get(method, {}).get(n)
            ok = None if value is None else value <= limit
            bars.append((f"{method} at most {limit} ms at {n:,}", ok))
    exponent = exponent_of(memory)
    what = "GP's memory grows by n^2 at most"
    if math.isfinite(exponent):
        what += f" (n^{exponent:.2f})"
    bars.append((what, exponent <= 2.0 if math.isfinite(exponent) else None))
    for method, rivals in RIVALS.items():
        found = {r: rows[r][RATIO_COUNT] for r in rivals if RATIO_COUNT in rows.get(r, {})}
        what = f"{method} at most a tenth of the fastest peer at {RATIO_COUNT}"
        value = rows.get(method, {}).get(RATIO_COUNT)
        if value is None or not found:
            bars.append((what, None))
            continue
        fastest = min(found, key=found.get)
        ratio = found[fastest] / value
        bars.append((f"{what} ({fastest}: {ratio:.1f} times)", ratio >= MIN_RATIO))
    return bars


def main():
    """Measure, print and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--counts", nargs="+", type=int, default=COUNTS)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    versions = {m: version_of(m, OURS, PACKAGES) for m in args.methods}
    check = partial(make, task=load_task(TASK), n_evaluations=10, seed=0)
    rows = {}
    with threadpool_limits(1):
        methods = available(args.methods, versions, check)
        limit_torch()
        print(
            f"{'ms for tell + ask':<22}" + "".join(f"{n:>10,}" for n in args.counts) + " exponent"
        )
        for method in methods:
            rows[method] = row = row_of(method, args.counts, args.repeats)
            cells = "".join(f"{row[n]:>10.2f}" for n in args.counts)
            print(f"{method:<22}{cells}{exponent_of(row):>9.2f}", flush=True)
        memory = {n: megabytes(n) for n in args.counts} if "GP" in methods else {}
    if memory:
        cells = "".join(f"{memory[n]:>10.1f}" for n in args.counts)
        print(f"{'GP, MB':<22}{cells}{exponent_of(memory):>9.2f}")
    return int(not print_bars(bars_of(rows, memory)))


def limit_torch():
    """One thread for torch, if a peer has imported it."""
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)


if __name__ == "__main__":
    sys.exit(main())
