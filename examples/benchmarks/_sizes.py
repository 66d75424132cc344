"""Scores and seconds of kernel machines on parts of ten real tables, recorded once.

    OMP_NUM_THREADS=1 python examples/benchmarks/_sizes.py

trains 64 candidates of each, a grid over two parameters, on 32 to 2,048 rows of a table, and
scores each on up to 2,000 others: about a processor minute each. Small parts
cost more than by the square of their rows. The records are ``records/sizes/TABLE.npz``.
"""

import sys
import time
from pathlib import Path

import numpy as np
from scipy.interpolate import RegularGridInterpolator
from scipy.stats import loguniform
from sklearn.kernel_ridge import KernelRidge
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from sksearch.datasets import load

FOLDER = Path(__file__).parent / "records" / "sizes"
SIZES = tuple(32 * 2**k for k in range(7))
N_TEST, N_POINTS = 2_000, 8
LEAST = -1.0  # a score of determination below is this
SVM = {"C": (1e-3, 1e3), "gamma": (1e-4, 1e1)}
RIDGE = {"alpha": (1e-6, 1e2), "gamma": (1e-4, 1e1)}
CHOOSE = {
    "letter": (SVC(), SVM),
    "magic": (SVC(), SVM),
    "spambase": (SVC(), SVM),
    "california_housing": (SVR(), SVM),
    "pol": (KernelRidge(kernel="rbf"), RIDGE),
}
REPORT = {
    "satimage": (SVC(), SVM),
    "phoneme": (SVC(), SVM),
    "churn": (SVC(), SVM),
    "house_16h": (SVR(), SVM),
    "diamonds": (KernelRidge(kernel="laplacian"), RIDGE),
}
MACHINES = CHOOSE | REPORT


def grid_of(ranges):
    """Values of each parameter."""
    return [np.geomspace(*limits, N_POINTS) for limits in ranges.values()]


def table(name):
    """Rows in a random order, all columns standardised, and what is to be predicted."""
    data = load(name)
    is_frame = hasattr(data.data, "select_dtypes")
    X = np.asarray(data.data.select_dtypes("number") if is_frame else data.data, float)
    y, (estimator, _) = np.asarray(data.target), MACHINES[name]
    rows = np.random.default_rng(0).permutation(len(y))[: SIZES[-1] + N_TEST]
    X, y = StandardScaler().fit_transform(X[rows]), y[rows]
    return X, y if isinstance(estimator, SVC) else (y - y.mean()) / y.std()


def make(name):
    """Train all candidates on all sizes, and keep scores and processor seconds."""
    X, y = table(name)
    estimator, ranges = MACHINES[name]
    test = X[SIZES[-1] :], y[SIZES[-1] :]
    scores, seconds = np.empty((2, N_POINTS, N_POINTS, len(SIZES)))
    for i, first in enumerate(grid_of(ranges)[0]):
        for j, second in enumerate(grid_of(ranges)[1]):
            params = dict(zip(ranges, (float(first), float(second)), strict=True))
            for k, n in enumerate(SIZES):
                start = time.process_time()
                model = estimator.set_params(**params).fit(X[:n], y[:n])
                scores[i, j, k] = max(LEAST, model.score(*test))
                seconds[i, j, k] = time.process_time() - start
    full = seconds[..., -1].mean()
    print(f"{name:<20} best {scores[..., -1].max():.3f}, {full:.2f} s for all rows", flush=True)
    FOLDER.mkdir(exist_ok=True)
    np.savez_compressed(FOLDER / f"{name}.npz", scores=scores, seconds=seconds)


class Machine:
    """Scores and seconds between the points of the grid, linear in the logarithms.

    With `square` seconds are those of all rows times the square of the part of them, as of
    tables so large that what does not grow with the rows is nothing.
    """

    def __init__(self, name, square=True):
        with np.load(FOLDER / f"{name}.npz") as arrays:
            scores, seconds = arrays["scores"], arrays["seconds"]
        ranges = MACHINES[name][1]
        grid = [np.log(values) for values in (*grid_of(ranges), SIZES)]
        self.space = {key: loguniform(*limits) for key, limits in ranges.items()}
        if square:
            seconds = seconds[..., -1:] * (np.array(SIZES) / SIZES[-1]) ** 2
        self._score = RegularGridInterpolator(grid, scores)
        self._log_seconds = RegularGridInterpolator(grid, np.log(seconds))
        self.best = float(scores[..., -1].max())
        self.median = float(np.median(scores[..., -1]))
        self.full = float(seconds[..., -1].mean())  # seconds of a training on all rows

    def __call__(self, params, size):
        """Return score and seconds of params trained on so many rows."""
        at = np.log([*(params[key] for key in self.space), size])
        return self._score(at)[0], float(np.exp(self._log_seconds(at)[0]))


if __name__ == "__main__":
    for table_name in sys.argv[1:] or MACHINES:
        make(table_name)
