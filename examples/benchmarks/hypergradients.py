"""Hundreds of penalties by the gradient of the validation loss, beside a search that sees scores.

The features of three tables are products of columns: 164 for a ridge regression on the houses of
California, 377 for one on a telecommunication problem, 285 for a logistic regression on the events
of a gamma-ray telescope. The search by gradients gets 5 and 12 candidates. A Gaussian process gets
30, for one penalty that all features share and for a penalty of each. Losses are the mean squared
error, in units of the variance, and the log loss.

    python examples/benchmarks/hypergradients.py [--seeds 1]
        [--record examples/benchmarks/records/hypergradients.jsonl]

The validation loss is the mean over the five folds that each search sees; the test loss is that
of the best model on rows that no search has seen. Seconds are those of one processor, the last
training included.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from _report import by, print_rows, recorded
from scipy.stats import loguniform
from sklearn.feature_selection import VarianceThreshold
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from threadpoolctl import threadpool_limits

from sksearch import GPBayesSearchCV
from sksearch.datasets import load
from sksearch.hypergradients import FeaturePenalties
from sksearch.search import HypergradientSearchCV

RANGE = loguniform(1e-4, 1e6)  # of each penalty, the same for all searches
N_ITER = 30  # of the Gaussian process
N_STEPS = (5, 12)
PENALTIES = "featurepenalties__penalties"


class SeparatePenalties(FeaturePenalties):
    """A parameter for each penalty, as a search needs that knows nothing of vectors."""

    def __init__(self, **penalties):
        self.set_params(**penalties)

    def get_params(self, deep=True):
        """Return the penalties by name."""
        return dict(self._by_name)

    def set_params(self, **penalties):
        """Set some of the penalties."""
        self._by_name = getattr(self, "_by_name", {}) | penalties
        self.penalties, self.groups = list(self._by_name.values()), None
        return self


TASKS = {
    "houses, ridge": ("california_housing", 2_000, 3, Ridge(), "neg_mean_squared_error"),
    "pol, ridge": ("pol", 3_000, 2, Ridge(), "neg_mean_squared_error"),
    "telescope, logistic": (
        "magic", 2_000, 3, LogisticRegression(solver="newton-cholesky"), "neg_log_loss"
    ),
}  # fmt: skip


def data_of(name, seed):
    """Return features and target to train on and to test on."""
    table, n_rows, degree, _, scoring = TASKS[name]
    data = load(table, n_rows, seed)
    y = data.target
    if scoring == "neg_mean_squared_error":
        y = (y - y.mean()) / y.std()
    rows = train_test_split(np.asarray(data.data, dtype=float), y, random_state=seed)
    # The products are made once for all searches, of which each scales them on its folds.
    products = make_pipeline(
        StandardScaler(),
        PolynomialFeatures(degree, include_bias=False),
        VarianceThreshold(1e-9),
    )
    train, test = products.fit_transform(rows[0]), products.transform(rows[1])
    return (train, rows[2]), (test, rows[3])


def searches(model, scoring, n_features, seed):
    """Yield a name, the number of candidates, and a search."""
    args = {"scoring": scoring, "cv": 5, "random_state": seed}
    shared = make_pipeline(StandardScaler(), FeaturePenalties(), model)
    first = {PENALTIES: 1.0}
    for n_steps in N_STEPS:
        yield (
            "gradient, each its penalty",
            n_steps,
            HypergradientSearchCV(
                shared, {PENALTIES: RANGE}, n_iter=n_steps, known={"params": first}, **args
            ),
        )
    yield (
        "Gaussian process, one penalty",
        N_ITER,
        GPBayesSearchCV(
            shared, {PENALTIES: RANGE}, n_iter=N_ITER, known={"params": first}, **args
        ),
    )
    names = [f"p{i:03}" for i in range(n_features)]
    each = SeparatePenalties(**dict.fromkeys(names, 1.0))
    first = {f"separatepenalties__{name}": 1.0 for name in names}
    yield (
        "Gaussian process, each its penalty",
        N_ITER,
        GPBayesSearchCV(
            make_pipeline(StandardScaler(), each, model), dict.fromkeys(first, RANGE),
            n_iter=N_ITER, known={"params": first}, **args,
        ),
    )  # fmt: skip


def run(task, seed):
    """Return seconds, validation and test losses of each search, and the number of features."""
    *_, model, scoring = TASKS[task]
    train, test = data_of(task, seed)
    found = []
    for name, n, search in searches(model, scoring, train[0].shape[1], seed):
        start = time.process_time()
        search.fit(*train)
        seconds = time.process_time() - start
        losses = -search.best_score_, -search.score(*test)
        found.append((name, n, *(round(float(x), 5) for x in (seconds, *losses))))
    return {"rows": len(train[0]), "features": train[0].shape[1], "found": found}


def table(lines):
    """Return the rows of the page, means of seeds."""
    rows = [
        [
            "table and model",
            "search",
            "candidates",
            "seconds",
            "validation loss",
            "loss on other rows",
        ]
    ]
    for (task, n_rows, n), of in by(lines, "task", "rows", "features").items():
        for i, (name, n_iter, *_) in enumerate(of[0]["found"]):
            seconds, *losses = np.mean([line["found"][i][2:] for line in of], axis=0)
            label = "" if i else f"{task}, {n_rows:,} rows, {n} features"
            cells = f"{n_iter}", f"{seconds:.1f}", *(f"{loss:.3f}" for loss in losses)
            rows.append([label, name, *cells])
    return rows


def main():
    """Run all searches and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--record", type=Path, help="file of runs, read first and appended to")
    args = parser.parse_args()
    keys = [{"task": task, "seed": seed} for seed in range(args.seeds) for task in TASKS]
    print_rows(table(recorded(args.record, keys, run)))


if __name__ == "__main__":
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
