"""Population-based training against constant params, with the same epochs.

Each search has the epochs of 20 whole trainings. A Gaussian process and random search look for
the best constant learning rate; population-based training lets it change. What counts is the loss
of a model that is trained anew by what was found: on the parabola with other noise, the mean of
20 trainings; on digits on all rows of the search, on rows that nobody has seen. Losses of one seed
are compared by their logarithms: printed are the geometric mean of ours over the other's, and the
p-value of a Wilcoxon test for ours being better. "all" is the best of 200 constant rates, which
no search with so few epochs finds but by chance.

    python examples/benchmarks/population.py [--seeds 10] [--problems parabola digits]

Exit status 1 if a bar fails: a loss below that of the best constant rate of both searches, at a
p-value of 0.05.
"""

import argparse
import sys
import time
import warnings

import numpy as np
from _report import print_bars
from scipy.stats import loguniform, wilcoxon
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from sksearch import GPBayesSearchCV, PBTSearchCV, RandomSearchCV

POPULATION, N_REPEATS = 20, 20
N_ALL = 200


class Parabola(RegressorMixin, BaseEstimator):
    """Descent on a parabola of 10 numbers with noisy gradients; a fit is 60 epochs of 5 steps."""

    n_epochs, n_steps = 60, 5

    def __init__(self, rate=0.1, random_state=None):
        self.rate = rate
        self.random_state = random_state

    def partial_fit(self, X=None, y=None):
        """Take the steps of an epoch."""
        if not hasattr(self, "w_"):
            self.w_, self.rng_ = np.full(10, 10.0), np.random.default_rng(self.random_state)
        curvature = np.geomspace(0.1, 1, 10)
        for _ in range(self.n_steps):
            gradient = curvature * self.w_ + self.rng_.normal(0, 0.5, 10)
            self.w_ = np.clip(self.w_ - self.rate * gradient, -1e6, 1e6)
        return self

    def fit(self, X=None, y=None):
        """Train for all epochs."""
        vars(self).pop("w_", None)
        for _ in range(self.n_epochs):
            self.partial_fit()
        return self

    def predict(self, X):
        """Predict nothing: what counts is the loss."""
        return np.zeros(len(X))

    def loss(self):
        """Return the height above the minimum."""
        return float(np.geomspace(0.1, 1, 10) @ self.w_**2) / 2

    def score(self, X=None, y=None):
        """Return the negative logarithm of the loss."""
        return -np.log(self.loss() + 1e-12)


class Epochs(SGDClassifier):
    """Logistic regression by stochastic gradients, whose fit is 10 calls of partial_fit."""

    n_epochs = 10

    def fit(self, X, y):
        """Train for all epochs."""
        vars(self).pop("coef_", None)
        for _ in range(self.n_epochs):
            self.partial_fit(X, y, classes=np.unique(y))
        return self


def parabola(seed):
    """Problem: estimator, rate's name and range, rows, further arguments, loss of a training."""
    X, y = np.zeros((4, 1)), np.zeros(4)
    folds = {"cv": [([0, 1], [2, 3])]}

    def loss(trained):
        models = (trained(Parabola(random_state=[seed, 1, i]), X, y) for i in range(N_REPEATS))
        return np.mean([model.loss() for model in models])

    return Parabola(random_state=[seed, 0]), "rate", loguniform(1e-3, 1), (X, y), folds, loss


def digits(seed):
    """Return the same of noisy digits."""
    X, y = load_digits(return_X_y=True)
    X = X + np.random.default_rng(seed).normal(0, 3, X.shape)
    X, X_test, y, y_test = train_test_split(X, y, train_size=1200, random_state=seed, stratify=y)
    model = Epochs("log_loss", learning_rate="constant", eta0=0.1, random_state=seed)
    pipe = make_pipeline(StandardScaler(), model)

    def loss(trained):
        return log_loss(y_test, trained(clone(pipe), X, y).predict_proba(X_test))

    further = {"cv": 3, "scoring": "neg_log_loss"}
    return pipe, "epochs__eta0", loguniform(1e-5, 1), (X, y), further, loss


PROBLEMS = {"parabola": parabola, "digits": digits}


def losses_of(problem, seed):
    """Loss of each method on one problem."""
    estimator, name, rates, rows, further, loss = PROBLEMS[problem](seed)
    common = {"random_state": seed, "refit": False} | further
    n_epochs = {"parabola": Parabola, "digits": Epochs}[problem].n_epochs

    def constant(rate):
        return loss(lambda model, X, y: model.set_params(**{name: rate}).fit(X, y))

    found = {}
    for method, cls in {"random": RandomSearchCV, "GP": GPBayesSearchCV}.items():
        search = cls(estimator, {name: rates}, n_iter=POPULATION, **common).fit(*rows)
        found[method] = constant(search.best_params_[name])
    search = PBTSearchCV(
        estimator, {name: rates}, population_size=POPULATION, max_resources=n_epochs, **common
    ).fit(*rows)
    assert search.plan_.total_resources == POPULATION * n_epochs

    def replayed(model, X, y):
        search.estimator = model
        return search.replay(X, y)

    found["PBT"] = loss(replayed)
    if problem == "parabola":
        every = rates.ppf(np.linspace(0, 1, N_ALL))
        found["all"] = min(constant(rate) for rate in every)
    return found


def main():
    """Run all, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--problems", nargs="+", default=list(PROBLEMS), choices=PROBLEMS)
    args = parser.parse_args()
    bars, start = [], time.perf_counter()
    print(
        f"{'problem':<10} {'against':<8} {'ratio':>6} {'wins':>8} {'p':>8} {'PBT':>9} {'other':>9}"
    )
    for problem in args.problems:
        found = [losses_of(problem, seed) for seed in range(args.seeds)]
        table = {method: np.array([row[method] for row in found]) for method in found[0]}
        ours = table.pop("PBT")
        for method, losses in table.items():
            logs = np.log(ours / losses)
            ratio, wins = np.exp(logs.mean()), (logs < 0).sum()
            p = wilcoxon(logs, alternative="less").pvalue
            print(
                f"{problem:<10} {method:<8} {ratio:>6.2f} {wins:>4}/{len(logs):<3} {p:>8.4f} "
                f"{np.median(ours):>9.4f} {np.median(losses):>9.4f}",
                flush=True,
            )
            if method != "all":
                bars.append((f"{problem}: below {method}, ratio {ratio:.2f}", p < 0.05))
    print(f"{time.perf_counter() - start:.0f} s")
    return 0 if print_bars(bars) else 1


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        sys.exit(main())
