"""Nets and linear models trained epoch by epoch: by scikit-learn's calls, by ours, by `fit`.

The estimators have an integer ``random_state``. Their own ``partial_fit`` seeds again at each
call, so all epochs take the rows in one order; `EpochsResource`, with which searches train, and
`fit` do not. 2,000 training rows, scores (accuracy or R2) on up to 10,000 others, means of seeds.

    OMP_NUM_THREADS=1 python examples/benchmarks/epochs.py [--epochs 81] [--seeds 3] [--tables ...]
        [--record examples/benchmarks/records/epochs.jsonl]
"""

import argparse
import warnings
from pathlib import Path

import _tables_cases as cases
import numpy as np
from _report import by, print_rows, recorded
from sklearn.base import clone, is_classifier
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.pipeline import make_pipeline

from sksearch.base._state import State
from sksearch.resources._epochs import EpochsResource

ESTIMATORS = ("adam", "adam, batches of 32", "momentum", "linear")
WAYS = ("partial_fit", "ours", "fit")


def make_model(case, name):
    """Take the table's preparation, and one of `ESTIMATORS` after it."""
    *steps, (_, last) = clone(case.model).steps
    if name == "linear":
        kind = SGDClassifier if is_classifier(last) else SGDRegressor
        last = kind(random_state=case.seed)
    elif name == "momentum":
        last.set_params(solver="sgd", learning_rate_init=0.01)
    elif name != "adam":
        last.set_params(batch_size=32)
    return make_pipeline(*(step for _, step in steps), last)


def trained(way, model, X, y, n_epochs):
    """Train a pipeline for so many epochs in one of `WAYS`."""
    classes = np.unique(y) if is_classifier(model) else None
    if way == "ours":
        return EpochsResource().train(State(model), X, y, n_epochs, 0, classes, {}).estimator
    if way == "fit":
        return model.set_params(**{f"{model.steps[-1][0]}__max_iter": n_epochs}).fit(X, y)
    Xt = model[:-1].fit_transform(X, y)
    for _ in range(n_epochs):
        model[-1].partial_fit(Xt, y, **({} if classes is None else {"classes": classes}))
    return model


def run(estimator, table, epochs, seed):
    """Return the test score of each way."""
    case = cases.make_case(table, "mlp", seed)
    found = {}
    for way in WAYS:
        model = trained(way, make_model(case, estimator), case.X, case.y, epochs)
        found[way] = round(float(model.score(case.X_test, case.y_test)), 5)
    return found


def table(lines):
    """Return the rows of the page, means over tables and seeds."""
    rows = [["estimator, epochs", *WAYS, "ours is higher", "lower"]]
    for (estimator, epochs), of in by(lines, "estimator", "epochs").items():
        tables = [
            np.mean([[line[way] for way in WAYS] for line in each], axis=0)
            for each in by(of, "table").values()
        ]
        theirs, ours, _ = np.transpose(tables)
        cells = [f"{score:.4f}" for score in np.mean(tables, axis=0)]
        counts = f"{(ours > theirs).sum()}", f"{(ours < theirs).sum()}"
        rows.append([f"{estimator}, {epochs}", *cells, *counts])
    return rows


def main():
    """Train all and print a row for each estimator."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--epochs", type=int, default=81)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--tables", nargs="+", default=cases.TABLES, choices=cases.TABLES)
    parser.add_argument("--estimators", nargs="+", default=ESTIMATORS, choices=ESTIMATORS)
    parser.add_argument("--record", type=Path, help="file of scores, read first and appended to")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    keys = [
        {"estimator": name, "table": table, "epochs": args.epochs, "seed": seed}
        for name in args.estimators
        for table in args.tables
        for seed in range(args.seeds)
    ]
    print_rows(table(recorded(args.record, keys, run)))


if __name__ == "__main__":
    main()
