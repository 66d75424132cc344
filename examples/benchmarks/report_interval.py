"""Whether the interval of a report has the winner's score on new rows in it, and how wide it is.

Searches on a few hundred rows, drawn again for each seed. On noise the classes are drawn by lot:
any model's score on new rows is 0.5. Of real tables the rows that were not drawn tell the score of
`best_estimator_`. Beside the coverage, nominal 95 %, stands the ratio of the width to that of the
interval that as many new test rows would give (normal, of one model), and the bias, what was
expected less what is true, of the score as it was seen and of the corrected one.

    python examples/benchmarks/report_interval.py [--seeds 200] [--table-seeds 40] [--only NAME]
        [--record FILE]

It takes hours on one core; with a record, a line for each run, it goes on where it was stopped.
Exit status 1 if coverage on all noise or on all tables is not
from 90 to 99 %, or the ratio of any source's mean widths is larger than 1.5.
"""

import argparse
import json
import sys
import warnings
from pathlib import Path

import numpy as np
from scipy.stats import loguniform, norm, randint, uniform
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, f1_score, r2_score, roc_auc_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sksearch import RandomSearchCV, SearchCV, report
from sksearch.datasets import load
from sksearch.fitting.run._row_metrics import contributions

TREE = {
    "max_depth": randint(1, 12),
    "min_samples_leaf": randint(1, 30),
    "max_features": uniform(0.2, 0.8),
}
SVM = {"svc__C": loguniform(1e-2, 1e3), "svc__gamma": loguniform(1e-4, 1)}
BUNDLED = {
    "wine": load_wine,
    "cancer": load_breast_cancer,
    "digits": load_digits,
    "diabetes": load_diabetes,
}
N_TABLE = 4_000  # rows of a large table


def scaled(model):
    """A model of scaled features."""
    return make_pipeline(StandardScaler(), model)


def boosting():
    """Trees whose count the search finds on the folds that it reports."""
    return HistGradientBoostingClassifier(random_state=0)


def trees(model):
    """Thirty trees, five folds each."""
    return lambda seed: RandomSearchCV(model, TREE, n_iter=30, random_state=seed)


def default(model, n_iter, **params):
    """The default search, with a count of candidates in the place of a time."""
    return lambda seed: SearchCV(model, n_iter=n_iter, random_state=seed, **params)


#: Data, rows, and the search with its seed.
SOURCES = {
    "noise, boosting": ("noise", 150, default(boosting(), 8)),
    "noise, SVC": ("noise", 150, default(scaled(SVC()), 12)),
    "noise, 30 trees": ("noise", 200, trees(DecisionTreeClassifier(random_state=0))),
    "wine, 30 trees": ("wine", 90, trees(DecisionTreeClassifier(random_state=0))),
    "cancer, SVC, 3 folds": (
        "cancer",
        250,
        lambda s: RandomSearchCV(scaled(SVC()), SVM, n_iter=30, cv=3, random_state=s),
    ),
    "digits, SVC": ("digits", 400, default(scaled(SVC()), 8)),
    "diabetes, SVR": ("diabetes", 220, default(scaled(SVR()), 12)),
    "diabetes, Ridge": ("diabetes", 220, default(scaled(Ridge()), 12)),
    "california, 30 trees": (
        "california_housing",
        400,
        trees(DecisionTreeRegressor(random_state=0)),
    ),
    "phoneme, neighbours": ("phoneme", 300, default(scaled(KNeighborsClassifier()), 12)),
    "phoneme, 30 trees": ("phoneme", 500, trees(DecisionTreeClassifier(random_state=0))),
    "magic, SVC, AUC": ("magic", 300, default(scaled(SVC()), 12, scoring="roc_auc")),
    "spambase, linear, F1": (
        "spambase",
        400,
        default(scaled(LogisticRegression()), 8, scoring="f1"),
    ),
    "satimage, forest": (
        "satimage",
        300,
        default(RandomForestClassifier(n_estimators=30, random_state=0), 6),
    ),
    "churn, boosting": ("churn", 300, default(boosting(), 6)),
}


def draw(data, n, seed):
    """Rows to search on, and others; of noise there are no others."""
    rng = np.random.default_rng(seed)
    if data == "noise":
        return (rng.standard_normal((n, 5)), rng.permutation(n) % 2), None
    if data in BUNDLED:
        X, y = BUNDLED[data](return_X_y=True)
    else:
        table = load(data, N_TABLE)
        X, y = table.data, table.target
    order = rng.permutation(len(y))
    return (X[order[:n]], y[order[:n]]), (X[order[n:]], y[order[n:]])


def spread(search, X, y):
    """Standard deviation of the contribution of a row to the score of the best estimator."""
    model, scoring = search.best_estimator_, search.scoring
    if scoring == "roc_auc":
        function, predicted = roc_auc_score, model.decision_function(X)
    else:
        metric = accuracy_score if hasattr(model, "classes_") else r2_score
        function, predicted = f1_score if scoring == "f1" else metric, model.predict(X)
    return contributions(function, function(y, predicted), y, predicted).std()


def one(name, seed):
    """Whether the truth is covered, both widths, bias as seen and as corrected, and the truth."""
    data, n, make = SOURCES[name]
    given, others = draw(data, n, seed)
    search = make(seed).fit(*given)
    found = report(search)._facts.selected
    truth, sd = (0.5, 0.5) if others is None else (search.score(*others), spread(search, *others))
    width = 2 * norm.ppf(0.975) * sd / np.sqrt(n)
    return [
        found.low <= truth <= found.high,
        found.high - found.low,
        width,
        found.seen - truth,
        found.corrected - truth,
        truth,
    ]


def runs_of(name, n_seeds, record):
    """Results of the first seeds, read from the record as far as it has them."""
    known = {}
    if record is not None and record.exists():
        lines = map(json.loads, record.read_text(encoding="utf-8").splitlines())
        known = {line["seed"]: line["run"] for line in lines if line["source"] == name}
    for seed in range(n_seeds):
        if seed not in known:
            known[seed] = [float(each) for each in one(name, seed)]
            if record is not None:
                line = {"source": name, "seed": seed, "run": known[seed]}
                with record.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(line) + "\n")
    return [known[seed] for seed in range(n_seeds)]


def main():
    """Run all sources, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=200, help="of noise")
    parser.add_argument("--table-seeds", type=int, default=40, help="of each real table")
    parser.add_argument("--only", default="", help="sources whose names begin like this")
    parser.add_argument("--record", type=Path, help="where runs are kept, and read from")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    titles = (
        ("seeds", 6),
        ("truth", 8),
        ("covered", 9),
        ("ratio", 7),
        ("bias", 9),
        ("corrected", 11),
    )
    print(" " * 24 + "".join(f"{title:>{width}}" for title, width in titles))
    covered, ratios = {"noise": [], "tables": []}, []
    for name in (name for name in SOURCES if name.startswith(args.only)):
        is_noise = name.startswith("noise")
        n_seeds = args.seeds if is_noise else args.table_seeds
        runs = runs_of(name, n_seeds, args.record)
        mean = np.mean(runs, axis=0)
        covered["noise" if is_noise else "tables"] += [run[0] for run in runs]
        ratios.append(mean[1] / mean[2])
        print(
            f"{name:<24}{len(runs):>6}{mean[5]:>8.3f}{mean[0]:>9.1%}{ratios[-1]:>7.2f}"
            f"{mean[3]:>+9.3f}{mean[4]:>+11.3f}",
            flush=True,
        )
    bad = max(ratios) > 1.5
    for kind, each in covered.items():
        if each:
            print(f"{kind}: {np.mean(each):.1%} of {len(each)} covered")
            bad |= not 0.9 <= np.mean(each) <= 0.99
    print(f"largest ratio {max(ratios):.2f}")
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
