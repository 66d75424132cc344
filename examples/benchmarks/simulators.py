"""What simulations cost, and whether Hyperband obeys its law on flat curves.

(a) Loss curves by the Gamma process: 10,000 at once, one alone, and one of up to 15,000 epochs,
beside the times of Matache's thesis (sections 7.6.3 and 8.5). (b) The nearest recorded curve
among 425 and among 100,000. (c) Searches of 81 epochs on curves of the "rastrigin-1" families:
Hyperband, and its hybrids with TPE that pass on none, all, the surviving or the same results. (d)
The best loss of Hyperband on flat curves, which is that of the best of 128 uniform draws.

    python examples/benchmarks/simulators.py [--runs 1000] [--hybrid-runs 100] [--law-runs 5000]
        [--parts ab] [--record file.json]

Times are seconds of the processor, on one core. Exit status 1 if a bar fails.
"""

import argparse
import json
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
from _report import print_bars
from scipy.stats import beta, kstest, uniform
from threadpoolctl import threadpool_limits

from sksearch.samplers import RandomSampler, TPESampler
from sksearch.schedulers import Hyperband
from sksearch.simulators import FAMILIES, GammaCurves, NearestCurves, play
from sksearch.simulators._functions import Rastrigin

N_CURVES = 10_000
N_DRAWS = 128  # 81 + 27 + 9 + 6 + 5 candidates
# Seconds of the thesis: a curve by its epochs, and the nearest of 425.
PUBLISHED = {
    81: 0.040, 243: 0.043, 405: 0.045, 667: 0.047, 5_000: 0.090, 10_000: 0.140, 15_000: 0.205
}  # fmt: skip
PUBLISHED_NEAREST = 0.0065
HYBRIDS = {
    transfer: TPESampler(transfer=transfer) for transfer in ("none", "all", "survivors", "same")
}

MAX_BATCH = 0.4  # seconds
MAX_ONE = 1e-3
MAX_NEAREST = 20e-6
MAX_NEAREST_GROWTH = 10  # from 425 to 100,000 curves
MAX_HYPERBAND, MAX_HYBRID = 60, 300  # seconds of 1,000 runs
MAX_GROWTH = 1.5  # of the cost of one epoch, from 1,000 to 15,000
MIN_P = 0.01


def seconds(function, repeats=7, number=1):
    """Lowest time of the processor over some repeats, after a call that fills caches."""
    function()
    found = []
    for _ in range(repeats):
        start = time.process_time()
        for _ in range(number):
            function()
        found.append((time.process_time() - start) / number)
    return min(found)


def candidates(n, n_dims=2):
    """Params in the box of Rastrigin's function."""
    X = np.random.default_rng(0).uniform(-5.12, 5.12, (n, n_dims))
    return [{f"x{j}": x for j, x in enumerate(row)} for row in X.tolist()]


SECONDS = {}  # by what was measured
RECORDED = (
    "a curve of 81 epochs, alone",
    "a curve of 81 epochs, of 10,000 at once",
    "15,000 epochs, alone",
    "of 425, 10,000 at once",
)


def row(what, value, published=None):
    """Print and keep a line: seconds, the published ones, how many times faster."""
    SECONDS[" ".join(what.split())] = round(value, 9)
    beside = f"{published:>12.6f} {published / value:>10.0f}" if published else ""
    print(f"{what:<44} {value:>12.6f} {beside}")


def gamma_bars():
    """Part (a)."""
    print(f"{'(a) curves, seconds':<44} {'here':>12} {'published':>12} {'ratio':>10}")
    problem = GammaCurves(Rastrigin(2), FAMILIES["rastrigin-1"], noise=10)
    params = candidates(N_CURVES)
    batch = seconds(lambda: problem.losses(params))
    row(f"a curve of 81 epochs, of {N_CURVES:,} at once", batch / N_CURVES, PUBLISHED[81])
    some = iter(params * 100)
    one = seconds(lambda: problem.losses([next(some)]), number=500)
    row("a curve of 81 epochs, alone", one, PUBLISHED[81])
    alone, together = {}, {}
    for n_epochs in sorted({*PUBLISHED, 1_000}):
        longer = GammaCurves(Rastrigin(2), FAMILIES["rastrigin-1"], n_epochs, noise=10)
        alone[n_epochs] = seconds(lambda p=longer: [p.losses([q]) for q in params[:30]]) / 30
        together[n_epochs] = seconds(lambda p=longer: p.losses(params[:300]), 3) / 300
        if n_epochs in PUBLISHED:
            row(f"{n_epochs:>6,} epochs, alone", alone[n_epochs], PUBLISHED[n_epochs])
            row(f"{n_epochs:>6,} epochs, of 300 at once", together[n_epochs], PUBLISHED[n_epochs])
    growths = [cost[15_000] / cost[1_000] / 15 for cost in (alone, together)]
    return [
        (f"{N_CURVES:,} curves in {batch:.3f} s (at most {MAX_BATCH})", batch <= MAX_BATCH),
        (f"one curve in {one * 1e3:.3f} ms (at most {MAX_ONE * 1e3:.0f})", one <= MAX_ONE),
        (
            "an epoch of 15,000 costs as one of 1,000: times "
            f"{growths[0]:.2f} alone, {growths[1]:.2f} in a batch (at most {MAX_GROWTH})",
            max(growths) <= MAX_GROWTH,
        ),
    ]


def nearest_bars():
    """Part (b)."""
    print(f"\n{'(b) nearest curve, seconds':<44} {'here':>12} {'published':>12} {'ratio':>10}")
    space = {f"x{j}": uniform(-5.12, 10.24) for j in range(4)}
    found = {}
    for n in (425, 100_000):
        curves = np.zeros((n, 1)) + np.arange(n)[:, None]
        problem = NearestCurves(space, candidates(n, 4), curves)
        asked = candidates(N_CURVES + 7, 4)[-N_CURVES:]
        found[n] = seconds(lambda p=problem, a=asked: p.losses(a), 5) / N_CURVES
        row(f"of {n:,}, {N_CURVES:,} at once", found[n], PUBLISHED_NEAREST)
    few, many = found.values()
    return [
        (f"nearest of 425 in {few * 1e6:.1f} us (at most 20)", few <= MAX_NEAREST),
        (
            f"nearest of 100,000 in {many / few:.1f} times that (at most {MAX_NEAREST_GROWTH})",
            many <= MAX_NEAREST_GROWTH * few,
        ),
    ]


def search_bars(n_runs, n_hybrid_runs):
    """Part (c)."""
    print(f"\n(c) searches, Hyperband 1-81 epochs, curves alone {'seconds of 1,000':>20}")
    problem = GammaCurves(Rastrigin(2), FAMILIES["rastrigin-1"], noise=10)
    bars = []
    samplers = {"Hyperband": RandomSampler()} | {
        f"TPE hybrid, {transfer.upper()}": sampler for transfer, sampler in HYBRIDS.items()
    }
    for name, sampler in samplers.items():
        hybrid = isinstance(sampler, TPESampler)
        n, bar = (n_hybrid_runs, MAX_HYBRID) if hybrid else (n_runs, MAX_HYPERBAND)
        start = time.process_time()
        losses = [
            best(play(sampler, Hyperband(), problem, random_state=seed)) for seed in range(n)
        ]
        cost = (time.process_time() - start) / n * 1_000
        print(f"{name:<44} {cost:>12.1f}   best loss {np.mean(losses):.2f}, mean of {n:,}")
        bars.append((f"1,000 runs of {name} in {cost:.0f} s (at most {bar})", cost <= bar))
    return bars


def best(history):
    """Lowest loss at full resource."""
    top = history.problem.max_resources
    return min(-trial.results[top].score for trial in history.trials if top in trial.results)


def identity(X):
    """The function of flat curves whose best is known by its law."""
    return X[:, 0]


identity.bounds = [(0, 1)]


def law_bars(n_runs):
    """Part (d)."""
    run = partial(play, RandomSampler(), Hyperband(), GammaCurves(identity))
    found = kstest([best(run(random_state=seed)) for seed in range(n_runs)], beta(1, N_DRAWS).cdf)
    print(
        f"\n(d) Hyperband on flat curves, {n_runs:,} runs, against the best of {N_DRAWS} draws: "
        f"D={found.statistic:.4f}, p={found.pvalue:.3f}"
    )
    return [(f"its law: p={found.pvalue:.3f} (above {MIN_P})", found.pvalue > MIN_P)]


def main():
    """Measure, print tables and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=1_000, help="of Hyperband")
    parser.add_argument("--hybrid-runs", type=int, default=100, help="of each hybrid")
    parser.add_argument("--law-runs", type=int, default=5_000, help="on flat curves")
    parser.add_argument("--parts", default="abcd")
    parser.add_argument("--record", type=Path, help="file for the seconds of parts a and b")
    arguments = parser.parse_args()
    parts = {
        "a": gamma_bars,
        "b": nearest_bars,
        "c": lambda: search_bars(arguments.runs, arguments.hybrid_runs),
        "d": lambda: law_bars(arguments.law_runs),
    }
    with threadpool_limits(1):
        bars = [bar for part in arguments.parts for bar in parts[part]()]
    if arguments.record is not None:
        kept = {name: SECONDS[name] for name in RECORDED}
        arguments.record.write_text(json.dumps(kept, indent=1) + "\n")
    return int(not print_bars(bars))


if __name__ == "__main__":
    sys.exit(main())
