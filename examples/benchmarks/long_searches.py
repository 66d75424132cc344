"""What a proposal costs in a long search, how much memory a history takes, and a long `fit`.

A history is filled with random candidates; then a sampler proposes: milliseconds of processor time
of one ask and one tell at each count, the least over blocks of pairs, since other load slows down
even processor time, after a few pairs in which the sampler catches up. The space has three real
parameters, one integer and one of choices. Memory is that of the whole process at its peak, and
what was added since it began, for each result. With ``--asked`` all candidates are the sampler's
own, from the first on: a search without trainings. With ``--fit`` each count is the ``n_iter`` of
a search whose trainings take no time, on two folds, without a refit; with ``--checkpoint`` it
keeps a journal.

    python examples/benchmarks/long_searches.py [--sampler TPE] [--counts 1000 10000 100000]

Exit status 1 if a bar fails.
"""

import argparse
import gc
import math
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from _report import print_bars
from scipy.stats import loguniform, randint, uniform
from sklearn.base import BaseEstimator
from threadpoolctl import threadpool_limits

import sksearch
from sksearch.history import Problem, Result
from sksearch.samplers import GPSampler, RandomSampler, TPESampler
from sksearch.schedulers import FullFidelity
from sksearch.space import Space
from sksearch.study import Study

SPACE = {
    "alpha": loguniform(1e-6, 1),
    "eta0": loguniform(1e-4, 1),
    "l1_ratio": uniform(0, 1),
    "batch_size": randint(16, 512),
    "penalty": ["l1", "l2", "elasticnet"],
}
SAMPLERS = {"TPE": TPESampler, "GP": GPSampler, "Random": RandomSampler}
SEARCHES = {"TPE": "TPESearchCV", "GP": "GPBayesSearchCV", "Random": "RandomSearchCV"}
MAX_MILLISECONDS = {"TPE": 1.2, "GP": 10.0, "Random": 0.2}
MAX_BYTES = 1.5e9  # at a million
MAX_MINUTES = 20.0
MILLION = 1_000_000
N_BLOCKS, BLOCK, N_FIRST = 10, 50, 5  # blocks of pairs that are timed, after the first pairs


class Quick(BaseEstimator):
    """Its score is a function of its parameters."""

    def __init__(self, alpha=1e-3, eta0=0.01, l1_ratio=0.5, batch_size=100, penalty="l2"):
        self.alpha = alpha
        self.eta0 = eta0
        self.l1_ratio = l1_ratio
        self.batch_size = batch_size
        self.penalty = penalty

    def fit(self, X, y=None):
        """Do nothing."""
        return self

    def score(self, X, y=None):
        """Greatest inside of all ranges."""
        return score(self.get_params())


def score(params):
    """A bowl."""
    gaps = [
        (math.log10(params["alpha"]) + 3) / 3,
        (math.log10(params["eta0"]) + 2) / 2,
        params["l1_ratio"] - 0.3,
        (params["batch_size"] - 100) / 400,
        0.3 * (params["penalty"] == "l1"),
    ]
    return -math.fsum(gap**2 for gap in gaps)


def study_of(sampler):
    """A study that never ends."""
    return Study(Problem(Space(SPACE), seed=0), sampler, FullFidelity(None))


def fill(study, n, rng):
    """Enter random candidates until there are n results."""
    history, space = study.history, study.history.problem.space
    for _ in range(n - len(history.trials)):
        trial = history.start(space.sample(rng), 0, 1)
        history.tell(trial.id, 1, Result(score(trial.params)))


def ask_and_tell(study, n_pairs):
    """Milliseconds of processor time of a pair."""
    start = time.process_time()
    for _ in range(n_pairs):
        job = study.ask()
        study.tell(job, Result(score(job.params)))
    return (time.process_time() - start) * 1_000 / n_pairs


def peak():
    """Bytes of memory that this process had at most."""
    return 1_024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def of_a_study(name, counts, asked):
    """Milliseconds at each count, and minutes of processor time until the last if it was asked."""
    study, rng, at_start = study_of(SAMPLERS[name]()), np.random.default_rng(0), peak()
    found, spent = {}, 0.0
    for n in counts:
        n_left = max(0, n - len(study.history.trials))
        if asked:
            spent += ask_and_tell(study, n_left) * n_left / 60_000 if n_left else 0.0
        else:
            fill(study, n, rng)
        ask_and_tell(study, N_FIRST)
        found[n] = min(ask_and_tell(study, BLOCK) for _ in range(N_BLOCKS))
        memory = f"{peak() / 1e6:,.0f} MB, {(peak() - at_start) / n:,.0f} bytes a result"
        minutes = f", {spent:.1f} minutes" if asked else ""
        print(f"{name:<8}{n:>10,} results {found[n]:>8.3f} ms, {memory}{minutes}", flush=True)
    return found, spent if asked else None


def of_a_fit(name, n, keeps):
    """Milliseconds of processor time that a search takes for a candidate."""
    with tempfile.TemporaryDirectory() as folder:
        search = getattr(sksearch.search, SEARCHES[name])(
            Quick(), SPACE, n_iter=n, cv=2, refit=False, random_state=0,
            checkpoint_dir=Path(folder, "s") if keeps else None,
        )  # fmt: skip
        start = time.process_time()
        search.fit(np.zeros((4, 1)))
        milliseconds = (time.process_time() - start) * 1_000 / n
        sizes = [file.stat().st_size for file in Path(folder).rglob("*") if file.is_file()]
    assert len(search.cv_results_["params"]) == n
    journal = f", {sum(sizes) / n:,.0f} bytes on disk" if keeps else ""
    print(f"fit, {name:<8}{n:>10,} candidates {milliseconds:>8.3f} ms each{journal}", flush=True)
    return milliseconds


def main():
    """Measure, print and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sampler", choices=SAMPLERS, default="TPE")
    parser.add_argument("--counts", nargs="+", type=int, default=[1_000, 10_000, 100_000])
    parser.add_argument("--asked", action="store_true", help="all candidates are the sampler's")
    parser.add_argument("--fit", action="store_true", help="only measure searches of fits")
    parser.add_argument("--checkpoint", action="store_true", help="these keep a journal")
    args = parser.parse_args()
    name, counts = args.sampler, sorted(args.counts)
    with threadpool_limits(1):
        if args.fit:
            each = [of_a_fit(name, n, args.checkpoint) for n in counts]
            growth = each[-1] / each[0]
            what = f"a candidate of the longest takes at most 1.3 of the first ({growth:.2f})"
            return int(not print_bars([(what, growth <= 1.3)]))
        gc.collect()
        found, minutes = of_a_study(name, counts, args.asked)
    limit = MAX_MILLISECONDS[name]
    bars = [(f"{name} at most {limit} ms at {n:,}", value <= limit) for n, value in found.items()]
    if counts[-1] == MILLION:
        bars.append(("a million results in 1.5 GB", peak() <= MAX_BYTES))
        in_time = None if minutes is None else minutes <= MAX_MINUTES
        bars.append(("a million asks and tells in 20 minutes", in_time))
    return int(not print_bars(bars))


if __name__ == "__main__":
    sys.exit(main())
