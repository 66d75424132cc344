"""How many scores are inside of the 95 % intervals that the Gaussian process predicted for them.

Each candidate's interval is made before it is evaluated. On 20 functions of one to eight
dimensions, smooth ones, rough ones, ones with noise and ones with a cliff (two seeds of 45
evaluations), and in ten searches of real models, also in the earlier and the later half of the
predictions, and as it would be by the model's own spread. ``width`` is the median width of an
interval, and ``loss`` the mean interval score (the width, and 40 times the distance of a score
outside), both in standard deviations of all scores; ``simple`` is the loss of the mean of the
scores so far and 1.96 of their standard deviations.

    python examples/benchmarks/intervals.py [--seeds 2]
"""

import argparse
import warnings

import numpy as np
from scipy.stats import loguniform, randint, uniform
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import ElasticNet, LogisticRegression, SGDClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sksearch import GPBayesSearchCV
from sksearch.history import Problem, Result
from sksearch.samplers import GPSampler
from sksearch.schedulers import FullFidelity
from sksearch.space import Space
from sksearch.study import Study

N_EVALUATIONS = 45


def ackley(x):
    waves = np.exp(np.cos(2 * np.pi * x).mean())
    return 20 * np.exp(-0.2 * np.sqrt((x**2).mean())) + waves - 20 - np.e


def sphere(x):
    return -(x**2).sum()


def rosenbrock(x):
    return -np.log1p((100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum())


def rastrigin(x):
    return -(10 * len(x) + (x**2 - 10 * np.cos(2 * np.pi * x)).sum())


def cliff(x):
    return sphere(x) - 3 * (x[0] > 0.5)


def stairs(x):
    return -np.floor(np.abs(x) * 3).sum()


def branin(x):
    a, b = 15 * (x[0] + 2) / 4 - 5, 15 * (x[1] + 2) / 4
    bowl = (b - 5.1 * a * a / (4 * np.pi**2) + 5 * a / np.pi - 6) ** 2
    return -(bowl + 10 * (1 - 1 / (8 * np.pi)) * np.cos(a) + 10)


def kink(x):
    return -abs(x[0] - 0.3) - 0.1 * (x[1:] ** 2).sum()


def styblinski_tang(x):
    return -0.5 * (x**4 - 16 * x**2 + 5 * x).sum()


def levy(x):
    w = 1 + (x - 1) / 2
    inner = (w[:-1] - 1) ** 2 * (1 + 10 * np.sin(np.pi * w[:-1] + 1) ** 2)
    return -(np.sin(np.pi * w[0]) ** 2 + inner.sum() + (w[-1] - 1) ** 2)


#: Function, dimensions, standard deviation of the noise.
FUNCTIONS = [
    (sphere, 1, 0), (sphere, 2, 0), (sphere, 2, 0.3), (sphere, 8, 0), (ackley, 3, 0),
    (ackley, 6, 0), (ackley, 4, 0.5), (rosenbrock, 2, 0), (rosenbrock, 4, 0), (rastrigin, 2, 0),
    (cliff, 2, 0), (cliff, 3, 0.2), (stairs, 3, 0), (stairs, 2, 0.5), (branin, 2, 0),
    (branin, 2, 5.0), (kink, 5, 0), (styblinski_tang, 4, 0), (levy, 3, 0), (levy, 6, 0.3),
]  # fmt: skip


def play(function, n_dims, noise, seed):
    """Return the history of a search for the maximum of a function."""
    rng = np.random.default_rng(seed + 1000)
    space = Space({f"x{i}": uniform(-2, 4) for i in range(n_dims)})
    study = Study(Problem(space, seed=seed), GPSampler(), FullFidelity(N_EVALUATIONS))
    while (job := study.ask()) is not None:
        x = np.array(list(job.params.values()))
        study.tell(job, Result(float(function(x) + noise * rng.normal()), 1.0))
    return study.history


def real_searches(seed):
    """Pairs of name and the history of a search of a real model."""

    def scaled(model):
        return make_pipeline(StandardScaler(), model)

    c, gamma = loguniform(1e-2, 1e3), loguniform(1e-4, 1)
    leaves = {"max_depth": randint(1, 20), "min_samples_leaf": randint(1, 40)}
    enet = {"elasticnet__alpha": loguniform(1e-4, 10), "elasticnet__l1_ratio": uniform(0, 1)}
    boosting = {"learning_rate": loguniform(0.01, 1), "max_leaf_nodes": randint(3, 40)}
    neighbours = {"kneighborsclassifier__n_neighbors": randint(1, 60)}
    svm = {"svc__C": c, "svc__gamma": gamma}
    rows = slice(None, None, 3)
    cases = [
        ("SVC, wine", scaled(SVC()), svm, load_wine, {}),
        ("SVC, digits", scaled(SVC()), svm, load_digits, {}),
        ("SVR, diabetes", scaled(SVR()), {"svr__C": c, "svr__gamma": gamma}, load_diabetes, {}),
        ("tree, cancer", DecisionTreeClassifier(random_state=0), leaves, load_breast_cancer, {}),
        ("tree, diabetes", DecisionTreeRegressor(random_state=0), leaves, load_diabetes, {}),
        ("logistic, cancer", scaled(LogisticRegression(max_iter=300)),
         {"logisticregression__C": loguniform(1e-5, 1e3)}, load_breast_cancer,
         {"scoring": "neg_log_loss"}),
        ("SGD, digits", scaled(SGDClassifier(random_state=0)),
         {"sgdclassifier__alpha": loguniform(1e-6, 1)}, load_digits, {}),
        ("neighbours, iris", scaled(KNeighborsClassifier()), neighbours, load_iris, {}),
        ("elastic net, diabetes", scaled(ElasticNet()), enet, load_diabetes, {}),
        ("boosting, diabetes", HistGradientBoostingRegressor(max_iter=20, random_state=0),
         boosting, load_diabetes, {}),
    ]  # fmt: skip
    for name, model, space, data, kwargs in cases:
        X, y = data(return_X_y=True)
        X, y = (X[rows], y[rows]) if data is load_digits else (X, y)
        search = GPBayesSearchCV(model, space, n_iter=35, cv=3, random_state=seed, **kwargs)
        yield name, search.fit(X, y).history_


def counted(history):
    """Whether each score was inside, and by the spread alone; width; losses of it, and simple."""
    found, scores = [], []
    for trial in history.trials:
        expected, result = trial.prediction, trial.results.get(1)
        if result is None or not np.isfinite(result.score):
            continue
        y = result.score
        if expected is not None and scores:
            middle, factor = expected.score, expected.widened
            own = [middle + (end - middle) / factor for end in (expected.low, expected.high)]
            half = 1.96 * np.std(scores)
            simple = interval_loss(np.mean(scores) - half, np.mean(scores) + half, y)
            loss, width = (
                interval_loss(expected.low, expected.high, y),
                expected.high - expected.low,
            )
            inside = expected.low <= y <= expected.high
            found.append((inside, own[0] <= y <= own[1], width, loss, simple))
        scores.append(y)
    inside, by_spread, widths, *losses = np.array(found, dtype=float).T
    unit = np.std(scores) or 1.0
    return inside, by_spread, np.median(widths) / unit, *(np.mean(x) / unit for x in losses)


def interval_loss(low, high, y):
    """Return the interval score of an interval of 95 %."""
    return high - low + 40 * max(low - y, y - high, 0)


def main():
    """Print shares of scores inside."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=2)
    args = parser.parse_args()
    print(
        f"{'':28}{'inside':>8}{'early':>8}{'late':>8}{'by spread':>11}{'width':>8}"
        f"{'loss':>8}{'simple':>8}"
    )
    rows = {"functions": [], "models": []}
    for seed in range(args.seeds):
        for function, n_dims, noise in FUNCTIONS:
            name = f"{function.__name__} {n_dims}" + (f", noise {noise:g}" if noise else "")
            rows["functions"].append((name, counted(play(function, n_dims, noise, seed))))
            show(*rows["functions"][-1])
        for name, history in real_searches(seed):
            rows["models"].append((name, counted(history)))
            show(*rows["models"][-1])
    for kind, found in rows.items():
        columns = [[each[i] for _, each in found] for i in range(5)]
        halves = [
            np.concatenate([part[k] for part in (np.array_split(x, 2) for x in columns[0])])
            for k in (0, 1)
        ]
        inside, by_spread = map(np.concatenate, columns[:2])
        print(
            f"{'all ' + kind:28}{inside.mean():>8.1%}{halves[0].mean():>8.1%}"
            f"{halves[1].mean():>8.1%}{by_spread.mean():>11.1%}{np.median(columns[2]):>8.2f}"
            f"{np.mean(columns[3]):>8.2f}{np.mean(columns[4]):>8.2f}"
        )


def show(name, found):
    """Print a line."""
    inside, by_spread, width, loss, simple = found
    early, late = np.array_split(inside, 2)
    print(
        f"{name:28}{inside.mean():>8.1%}{early.mean():>8.1%}{late.mean():>8.1%}"
        f"{by_spread.mean():>11.1%}{width:>8.2f}{loss:>8.2f}{simple:>8.2f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
