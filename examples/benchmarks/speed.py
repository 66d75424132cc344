"""Times that tests do not assert, since their machine is shared.

    python examples/benchmarks/speed.py

Draws of candidates, look-ups in recorded curves, descriptions of data, profiles of curves, and
reading the checkpoint of a long search. Each is the best of five. Exit status 1 if a bar fails.
"""

import sys
import tempfile
import time
from functools import partial

import numpy as np
from _report import print_bars
from scipy.stats import loguniform, randint, uniform
from sklearn.base import BaseEstimator

from sksearch import RandomSearchCV, load_history
from sksearch.checkpoint.identity._description import describe
from sksearch.simulators import NearestCurves
from sksearch.space import Space
from sksearch.stats._profiles import profiles

SPACE = {
    "alpha": loguniform(1e-6, 1),
    "eta0": loguniform(1e-6, 0.1),
    "l1_ratio": uniform(0, 1),
    "batch_size": randint(20, 2001),
}


class Quick(BaseEstimator):
    """Its score is its parameter."""

    def __init__(self, alpha=0.5):
        self.alpha = alpha

    def fit(self, X, y=None):
        """Do nothing."""
        return self

    def score(self, X, y=None):
        """The parameter."""
        return self.alpha


def best(function):
    """The seconds of the fastest of five calls."""
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def main():
    """Measure, print and return the exit status."""
    rng, space = np.random.default_rng(0), Space(SPACE)
    queries = [space.sample(rng) for _ in range(2_000)]
    measures = [("a draw", best(lambda: [space.sample(rng) for _ in range(200)]) / 200, 200e-6)]
    for n, most in ((425, 20e-6), (100_000, 200e-6)):
        recorded = [space.sample(rng) for _ in range(n)]
        curves = NearestCurves(SPACE, recorded, rng.random((n, 3)))
        seconds = best(partial(curves.losses, queries)) / len(queries)
        measures.append((f"a look-up in {n:,} curves", seconds, most))
    curves = rng.normal(size=(1000, 81)).cumsum(axis=1)
    measures.append(("profiles of 1,000 curves", best(partial(profiles, curves)), 1))
    data = rng.random((125_000, 100))
    measures.append(("description of 100 MB", best(partial(describe, data)), 0.5))
    X = np.zeros((4, 1))
    with tempfile.TemporaryDirectory() as folder:
        search = RandomSearchCV(
            Quick(), {"alpha": uniform()}, n_iter=2_000, cv=2, checkpoint_dir=folder,
            random_state=0,
        ).fit(X)  # fmt: skip
        measures.append(("load_history of 2,000", best(partial(load_history, folder)), 0.4))
        measures.append(("the same fit again", best(partial(search.fit, X)), 7))
    for name, seconds, _ in measures:
        print(f"{name:<32}{seconds:>12.6f} s")
    bars = [(f"{name}, at most {most:g} s", seconds <= most) for name, seconds, most in measures]
    return 0 if print_bars(bars) else 1


if __name__ == "__main__":
    sys.exit(main())
