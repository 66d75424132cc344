"""Whether the best candidates should be measured on other folds before one of them is chosen.

The best of many candidates is partly luck. Of 90 trainings a search can make 30 candidates on
three folds and take the best, or 25, and then train the best five on three other folds, and take
the best mean of six. Both draw the same candidates from the space of `tables.py`, on its rows and
folds; the winner is trained on all rows, and scored on up to 10,000 others (accuracy, or R2).

    OMP_NUM_THREADS=1 python examples/benchmarks/finalists.py [--tables ...] [--seeds 1]

Printed are the mean test scores of both, of the mean of the five, and of the best of them in
hindsight, wins and losses, and p of Wilcoxon's test.
"""

import argparse
import sys

import numpy as np
from _tables_cases import TABLES, clone_with, make_case, space_of
from _tables_tools import refitted
from joblib import Parallel, delayed
from scipy.stats import wilcoxon
from sklearn.model_selection import KFold, ParameterSampler, StratifiedKFold, cross_val_score

ESTIMATORS = ("svm", "lightgbm", "forest")
N, N_FINALISTS = 30, 5


def scores_of(case, params, folds):
    """Score of a candidate on each fold."""
    model = clone_with(case.model, **params)
    return cross_val_score(model, case.X, case.y, cv=folds, error_score="raise")


def run(table, name, seed):
    """Test scores of the winner of either way, and of all finalists."""
    case = make_case(table, name, seed)
    drawn = list(ParameterSampler(space_of(case), N, random_state=case.seed))
    first = np.array([scores_of(case, params, case.folds) for params in drawn])
    kind = StratifiedKFold if case.is_classifier else KFold
    others = kind(len(case.folds), shuffle=True, random_state=case.seed + 1)
    n_fewer = N - N_FINALISTS
    finalists = np.argsort(-first[:n_fewer].mean(axis=1), kind="stable")[:N_FINALISTS]
    second = np.array([scores_of(case, drawn[i], others) for i in finalists])
    both = np.hstack([first[finalists], second]).mean(axis=1)
    chosen = {
        "best of 30": int(first.mean(axis=1).argmax()),
        "finalists": finalists[both.argmax()],
    }
    wanted = {*chosen.values(), *finalists}
    test = {i: refitted(case, drawn[i]).score(case.X_test, case.y_test) for i in wanted}
    of_five = [test[i] for i in finalists]
    print(table, name, seed, {way: round(test[i], 4) for way, i in chosen.items()}, flush=True)
    return [*(test[i] for i in chosen.values()), np.mean(of_five), np.max(of_five)]


def main():
    """Run, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--estimators", nargs="+", choices=ESTIMATORS, default=list(ESTIMATORS))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    found = np.array(
        Parallel(args.jobs)(
            delayed(run)(table, name, seed)
            for seed in range(args.seeds)
            for table in args.tables
            for name in args.estimators
        )
    )
    names = ("best of 30", "finalists", "mean of the five", "best of the five")
    for name, score in zip(names, found.mean(axis=0), strict=True):
        print(f"{name:<18}{score:.4f}")
    gain = found[:, 1] - found[:, 0]
    p = wilcoxon(gain).pvalue if gain.any() else 1.0
    print(f"finalists: {(gain > 0).sum()} better, {(gain < 0).sum()} worse, p {p:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
