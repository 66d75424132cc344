"""Hundreds of penalties by the gradient of the validation loss, beside a search that sees scores.

The features of three tables are products of columns: 164 for a ridge regression on the houses of
California, 377 for one on a telecommunication problem, 285 for a logistic regression on the events
of a gamma-ray telescope. The search by gradients gets 5 and 12 candidates. A Gaussian process gets
30, for one penalty that all features share and for a penalty of each. Losses are the mean squared
error, in units of the variance, and the log loss.

    python examples/benchmarks/hypergradients.py --seeds 1

The validation loss is the mean over the five folds that each search sees; the test loss is that
of the best model on rows that no search has seen. Seconds are those of one processor, the last
training included.
"""

import argparse
import time
import warnings

import numpy as np
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


def tasks(seed):
    """Yield name, features to train on and to test on, the model and the scorer of its loss."""
    newton = LogisticRegression(solver="newton-cholesky")
    models = {
        "houses, ridge": ("california_housing", 2_000, 3, Ridge(), "neg_mean_squared_error"),
        "pol, ridge": ("pol", 3_000, 2, Ridge(), "neg_mean_squared_error"),
        "telescope, logistic": ("magic", 2_000, 3, newton, "neg_log_loss"),
    }
    for name, (table, n_rows, degree, model, scoring) in models.items():
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
        yield name, (train, rows[2]), (test, rows[3]), model, scoring


def searches(model, scoring, n_features, seed):
    """Yield a name and a search."""
    args = {"scoring": scoring, "cv": 5, "random_state": seed}
    shared = make_pipeline(StandardScaler(), FeaturePenalties(), model)
    first = {PENALTIES: 1.0}
    for n_steps in N_STEPS:
        yield (
            f"gradient, {n_features} penalties, {n_steps} candidates",
            HypergradientSearchCV(
                shared, {PENALTIES: RANGE}, n_iter=n_steps, known={"params": first}, **args
            ),
        )
    yield (
        "Gaussian process, 1 penalty",
        GPBayesSearchCV(
            shared, {PENALTIES: RANGE}, n_iter=N_ITER, known={"params": first}, **args
        ),
    )
    names = [f"p{i:03}" for i in range(n_features)]
    each = SeparatePenalties(**dict.fromkeys(names, 1.0))
    first = {f"separatepenalties__{name}": 1.0 for name in names}
    yield (
        f"Gaussian process, {n_features} penalties",
        GPBayesSearchCV(
            make_pipeline(StandardScaler(), each, model), dict.fromkeys(first, RANGE),
            n_iter=N_ITER, known={"params": first}, **args,
        ),
    )  # fmt: skip


def main():
    """Run all searches and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=1)
    n_seeds = parser.parse_args().seeds
    found: dict[tuple[str, str], list[tuple[float, ...]]] = {}
    for seed in range(n_seeds):
        for task, train, test, model, scoring in tasks(seed):
            for name, search in searches(model, scoring, train[0].shape[1], seed):
                start = time.process_time()
                search.fit(*train)
                seconds = time.process_time() - start
                losses = -search.best_score_, -search.score(*test)
                found.setdefault((task, name), []).append((seconds, *losses))
    print(f"\nMeans of {n_seeds} seeds")
    print(f"{'':<20} {'':<40} {'seconds':>8} {'validation':>11} {'test':>7}")
    for (task, name), rows in found.items():
        seconds, validation, unseen = np.mean(rows, axis=0)
        print(f"{task:<20} {name:<40} {seconds:>8.1f} {validation:>11.4f} {unseen:>7.4f}")


if __name__ == "__main__":
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
