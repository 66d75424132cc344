"""Scores and seconds of a support vector machine on parts of a real table, recorded once.

    OMP_NUM_THREADS=1 python examples/benchmarks/_svm_sizes.py

trains 64 candidates, a grid over C and gamma, on 32 to 2,048 rows of the table "letter", and
scores each on 1,000 others: about a processor minute. The record is
``records/svm_sizes.npz``.
"""

import time
from pathlib import Path

import numpy as np
from scipy.interpolate import RegularGridInterpolator
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from sksearch.datasets import load

RECORD = Path(__file__).parent / "records" / "svm_sizes.npz"
SIZES = tuple(32 * 2**k for k in range(7))
C, GAMMA = np.logspace(-3, 3, 8), np.logspace(-4, 1, 8)
N_TEST = 1_000


def make():
    """Train all candidates on all sizes, and keep scores and processor seconds."""
    table = load("letter")
    X, y = np.asarray(table.data, float), np.asarray(table.target)
    rows = np.random.default_rng(0).permutation(len(y))[: SIZES[-1] + N_TEST]
    X, y = StandardScaler().fit_transform(X[rows]), y[rows]
    test = X[-N_TEST:], y[-N_TEST:]
    scores, seconds = np.empty((2, len(C), len(GAMMA), len(SIZES)))
    for i, c in enumerate(C):
        for j, gamma in enumerate(GAMMA):
            for k, n in enumerate(SIZES):
                start = time.process_time()
                model = SVC(C=c, gamma=gamma).fit(X[:n], y[:n])
                scores[i, j, k] = model.score(*test)
                seconds[i, j, k] = time.process_time() - start
        print(f"C={c:.2g} {scores[i, :, -1].max():.3f} {seconds[i].sum():.1f} s", flush=True)
    np.savez_compressed(RECORD, scores=scores, seconds=seconds)


class Machine:
    """Scores and seconds between the points of the grid, linear in the logarithms."""

    def __init__(self):
        with np.load(RECORD) as arrays:
            scores, seconds = arrays["scores"], arrays["seconds"]
        grid = np.log(C), np.log(GAMMA), np.log(SIZES)
        self._score = RegularGridInterpolator(grid, scores)
        self._log_seconds = RegularGridInterpolator(grid, np.log(seconds))
        self.best = float(scores[..., -1].max())
        self.median = float(np.median(scores[..., -1]))

    def __call__(self, params, size):
        """Return score and seconds of params trained on so many rows."""
        at = np.log([params["C"], params["gamma"], size])
        return self._score(at)[0], float(np.exp(self._log_seconds(at)[0]))


if __name__ == "__main__":
    make()
