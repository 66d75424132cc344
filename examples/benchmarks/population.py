"""Population-based training against constant params, with the same epochs.

Each search has the epochs of 20 whole trainings. A Gaussian process and random search look for
the best constant learning rate; population-based training lets it change. What counts is the loss
of a model that is trained again by what was found: on the parabola with other noise, the mean of
20 trainings; on digits on all rows of the search, on rows that nobody has seen. Losses of one seed
are compared by their logarithms: printed are the geometric mean of ours over the other's, and the
p-value of a Wilcoxon test for ours being better. "all" is the best of 200 constant rates, which
no search with so few epochs finds but by chance. "online" on digits is one training, a twentieth
of a search's epochs on one fold, whose rate follows its hypergradient from the middle of the range
on; its mean rate of each epoch is the schedule.

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
from scipy.special import expit
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
from sksearch.hypergradients import BilevelProblem, online_rate

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


class OneVersusAll(BilevelProblem):
    """The losses of `Epochs`: a logistic regression for each class, and the penalty of SGD."""

    alpha = 1e-4

    def __init__(self, X, T, X_val, T_val):
        self.X, self.T, self.X_val, self.T_val = X, T, X_val, T_val
        self.shape = X.shape[1], T.shape[1]

    def _rows(self, rows):
        return (self.X, self.T) if rows is None else (self.X[rows], self.T[rows])

    def gradient(self, w, theta, rows=None):
        """Derivative by the weights."""
        X, T = self._rows(rows)
        W = w.reshape(self.shape)
        return (-X.T @ (T * expit(-T * (X @ W))) / len(X) + self.alpha * W).ravel()

    def hessian_product(self, w, theta, v, rows=None):
        """Second derivative, times v."""
        X, T = self._rows(rows)
        W, V = w.reshape(self.shape), v.reshape(self.shape)
        chance = expit(T * (X @ W))
        return (X.T @ (chance * (1 - chance) * (X @ V)) / len(X) + self.alpha * V).ravel()

    def mixed(self, w, theta, rows=None):
        """There are no hyperparameters but the rate."""
        return np.zeros((len(w), 0))

    def mixed_product(self, w, theta, v, rows=None):
        """There are no hyperparameters but the rate."""
        return np.zeros(0)

    def validation(self, w, theta):
        """Mean loss of other rows, and its derivative."""
        M = self.T_val * (self.X_val @ w.reshape(self.shape))
        by_w = -self.X_val.T @ (self.T_val * expit(-M)) / len(M)
        return float(np.logaddexp(0, -M).sum(axis=1).mean()), by_w.ravel(), np.zeros(0)


def online_schedule(rows, rates, n_epochs, seed):
    """The mean rate of each epoch of one training on two thirds of the rows."""
    X, y = rows
    X, X_val, y, y_val = train_test_split(X, y, test_size=1 / 3, random_state=seed, stratify=y)
    scaler = StandardScaler().fit(X)
    X, X_val = (np.c_[scaler.transform(Z), np.ones(len(Z))] for Z in (X, X_val))
    T, T_val = (np.where(t[:, None] == np.unique(y), 1.0, -1.0) for t in (y, y_val))
    rng = np.random.default_rng(seed)
    order = [rng.permutation(len(X)) for _ in range(n_epochs)]
    batches = [[i] for epoch in order for i in epoch]
    problem = OneVersusAll(X, T, X_val, T_val)
    start = np.zeros(X.shape[1] * T.shape[1])
    args = problem, np.zeros(0), start, batches, float(rates.median())
    found = online_rate(*args, decay=0.999, step=0.003)[2]  # slowly: there are 8,000 steps
    return found.reshape(n_epochs, -1).mean(axis=1)


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
    if problem == "digits":
        schedule = online_schedule(rows, rates, n_epochs, seed)

        def scheduled(model, X, y):
            for rate in schedule:
                Z = model[:-1].fit_transform(X)
                model[-1].set_params(eta0=rate).partial_fit(Z, y, classes=np.unique(y))
            return model

        found["online"] = loss(scheduled)
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
            if method not in ("all", "online"):
                bars.append((f"{problem}: below {method}, ratio {ratio:.2f}", p < 0.05))
    print(f"{time.perf_counter() - start:.0f} s")
    return 0 if print_bars(bars) else 1


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        sys.exit(main())
