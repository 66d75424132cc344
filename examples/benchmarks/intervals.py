"""How many scores are inside of the 95 % intervals that the Gaussian process predicted for them.

Each candidate's interval is made before it is evaluated. On 20 functions of one to eight
dimensions, smooth ones, rough ones, ones with noise and ones with a cliff (two seeds of 45
evaluations), and in ten searches of real models, also in the earlier and the later half of the
predictions, and as it would be by the model's own spread. ``width`` is the median width of an
interval, and ``loss`` the mean interval score (the width, and 40 times the distance of a score
outside), both in standard deviations of all scores; ``simple`` is the loss of the mean of the
scores so far and 1.96 of their standard deviations.

    python examples/benchmarks/intervals.py [--seeds 2]
        [--record examples/benchmarks/records/intervals.jsonl]
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
from _report import by, print_rows, recorded
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


def real_cases():
    """Name, model, space, data and other arguments of each search of a real model."""

    def scaled(model):
        return make_pipeline(StandardScaler(), model)

    c, gamma = loguniform(1e-2, 1e3), loguniform(1e-4, 1)
    leaves = {"max_depth": randint(1, 20), "min_samples_leaf": randint(1, 40)}
    enet = {"elasticnet__alpha": loguniform(1e-4, 10), "elasticnet__l1_ratio": uniform(0, 1)}
    boosting = {"learning_rate": loguniform(0.01, 1), "max_leaf_nodes": randint(3, 40)}
    neighbours = {"kneighborsclassifier__n_neighbors": randint(1, 60)}
    svm = {"svc__C": c, "svc__gamma": gamma}
    return [
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


def real(model, space, data, kwargs, seed):
    """Return the history of a search of a real model."""
    X, y = data(return_X_y=True)
    if data is load_digits:
        X, y = X[::3], y[::3]
    search = GPBayesSearchCV(model, space, n_iter=35, cv=3, random_state=seed, **kwargs)
    return search.fit(X, y).history_


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


CASES = {
    "functions": {
        f"{f.__name__} {n_dims}, noise {noise:g}": (play, (f, n_dims, noise))
        for f, n_dims, noise in FUNCTIONS
    },
    "real models": {name: (real, args) for name, *args in real_cases()},
}


def run(kind, case, seed):
    """Return, of one search, which scores were inside, and means."""
    search, args = CASES[kind][case]
    inside, by_spread, width, loss, simple = counted(search(*args, seed))
    return {
        "inside": "".join(str(int(each)) for each in inside),
        "by spread": "".join(str(int(each)) for each in by_spread),
        **{
            name: round(float(value), 4)
            for name, value in (("width", width), ("loss", loss), ("simple", simple))
        },
    }


def row_of(label, lines):
    """Return a row of the table."""
    parts = [np.array_split([int(c) for c in line["inside"]], 2) for line in lines]
    early, late = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    spread = [int(c) for line in lines for c in line["by spread"]]
    shares = (np.r_[early, late], early, late, spread)
    means = (np.mean([line[name] for line in lines]) for name in ("loss", "simple"))
    width = np.median([line["width"] for line in lines])
    return [label, *(f"{np.mean(x):.1%}".replace("%", " %") for x in shares)] + [
        f"{x:.2f}" for x in (width, *means)
    ]


def table(lines):
    """Return the rows of the page."""
    head = "|inside|early half|late half|model's own spread|width|score|score, simple"
    return [head.split("|"), *(row_of(kind, of) for (kind,), of in by(lines, "kind").items())]


def main():
    """Print shares of scores inside."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--record", type=Path, help="file of runs, read first and appended to")
    args = parser.parse_args()
    keys = [
        {"kind": kind, "case": case, "seed": seed}
        for kind, cases in CASES.items()
        for case in cases
        for seed in range(args.seeds)
    ]
    lines = list(recorded(args.record, keys, run))
    print_rows([table(lines)[0], *(row_of(case, of) for (case,), of in by(lines, "case").items())])
    print()
    print_rows(table(lines))


if __name__ == "__main__":
    main()
