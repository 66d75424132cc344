"""Whether log loss should help to choose between candidates of nearly equal accuracy.

Accuracy on three folds of 700 rows cannot tell good candidates apart, and log loss on the same
rows is less noisy. Random candidates from the space of `tables.py` are scored by both, and are
also refitted and tested on up to 10,000 other rows. The choices are compared by their error there:

- ``accuracy``: the best mean accuracy;
- ``log loss``: the best mean log loss;
- ``tie-break``: the best log loss among candidates within a standard error of the best accuracy,
  where the error is of the difference between both on the same folds' rows;
- ``shrunk``: the best posterior mean of the accuracy, if accuracies scatter about a line in the
  logarithm of the log loss (among the better half by either), and measured ones about these.

    OMP_NUM_THREADS=1 python examples/benchmarks/smooth_choice.py [--tables ...] [--seeds 2]
        [--seconds 30] [--record FILE]

With a record, a line of JSON for each pair of table and estimator, it goes on where it stopped.
"""

import argparse
import json
import time
import warnings
from itertools import product
from pathlib import Path

import numpy as np
from _tables_cases import DEVELOPMENT, REGRESSION, TABLES, clone_with, make_case, space_of, take
from scipy.stats import wilcoxon
from sklearn.metrics import log_loss
from sklearn.model_selection import ParameterSampler

CLASSES = [table for table in TABLES if table not in REGRESSION]
ESTIMATORS = ("lightgbm", "forest", "mlp", "linear")
N, FEWEST = 40, 8  # candidates, at most and at least


def measured(case, params):
    """Return hits on the rows of the folds, the mean log loss, and the error on test rows."""
    hits, losses = [], []
    for train, test in case.folds:
        model = clone_with(case.model, **params).fit(take(case.X, train), case.y[train])
        shares = np.clip(model.predict_proba(take(case.X, test)), 1e-6, 1)
        hits += (model.classes_[shares.argmax(axis=1)] == case.y[test]).tolist()
        shares /= shares.sum(axis=1, keepdims=True)
        losses.append(log_loss(case.y[test], shares, labels=model.classes_))
    model = clone_with(case.model, **params).fit(case.X, case.y)
    return np.array(hits, float), np.mean(losses), 1 - model.score(case.X_test, case.y_test)


def run(table, name, seed, seconds):
    """Measure random candidates; return the numbers that the choices need."""
    case = make_case(table, name, seed)
    end = time.perf_counter() + seconds
    found = []
    for params in ParameterSampler(space_of(case), N, random_state=case.seed):
        if len(found) >= FEWEST and time.perf_counter() > end:
            break
        found.append(measured(case, params))
    hits, losses, errors = map(np.array, zip(*found, strict=True))
    accuracy = hits.mean(axis=1)
    apart = (hits - hits[accuracy.argmax()]).std(axis=1) / np.sqrt(hits.shape[1])
    return {"accuracy": accuracy, "loss": losses, "apart": apart, "error": errors}


def choices(accuracy, loss, apart):
    """Return the candidate that each way chooses."""
    near = accuracy >= accuracy.max() - apart
    return {
        "accuracy": int(accuracy.argmax()),
        "log loss": int(loss.argmin()),
        "tie-break": int(np.where(near, loss, np.inf).argmin()),
        "shrunk": int(shrunk(accuracy, loss, apart).argmax()),
    }


def shrunk(accuracy, loss, apart):
    """Return posterior means of the accuracies of the better half."""
    good = (accuracy >= np.median(accuracy)) | (loss <= np.median(loss))
    x, y = np.log(loss[good]), accuracy[good]
    line = np.polyval(np.polyfit(x, y, 1), x)
    noise = np.mean(apart[good] ** 2) / 2  # of one of the two
    scatter = max(np.var(y - line) - noise, 0.0)
    out = np.full(len(loss), -np.inf)
    out[good] = line + (y - line) * scatter / max(scatter + noise, 1e-12)
    return out


def show(entries):
    """Print how the errors of the choices are to that of the best accuracy."""
    for title, kept in [("development", True), ("others", False)]:
        chosen = [e for e in entries if (e["table"] in DEVELOPMENT) == kept]
        errors = []
        for e in chosen:
            arrays = [np.array(e[key]) for key in ("accuracy", "loss", "apart", "error")]
            picked = choices(*arrays[:3])
            errors.append([*(arrays[3][i] for i in picked.values()), arrays[3].min()])
        if not errors:
            continue
        table = np.array(errors)
        print(f"{title}: {len(table)} pairs")
        for name, column in zip([*picked, "best in hindsight"], table.T, strict=True):
            gain = table[:, 0] - column
            p = wilcoxon(gain).pvalue if gain.any() else 1.0
            print(
                f"  {name:18} error {column.mean():.4f}, ratio "
                f"{np.exp(np.log(column / table[:, 0]).mean()):.3f}: {(gain > 0).sum()} better, "
                f"{(gain < 0).sum()} worse, p {p:.3f}"
            )


def main():
    """Run what is missing, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", choices=CLASSES, default=CLASSES)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--record", type=Path)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    old = args.record.read_text().splitlines() if args.record and args.record.exists() else []
    entries = [json.loads(line) for line in old]
    done = {(e["table"], e["estimator"], e["seed"]) for e in entries}
    for key in product(args.tables, ESTIMATORS, range(args.seeds)):
        if key in done:
            continue
        found = {k: np.round(v, 6).tolist() for k, v in run(*key, args.seconds).items()}
        entries.append(dict(zip(("table", "estimator", "seed"), key, strict=True)) | found)
        if args.record:
            with args.record.open("a") as file:
                file.write(json.dumps(entries[-1]) + "\n")
        print(*key, len(found["error"]), "candidates", flush=True)
    show(entries)


if __name__ == "__main__":
    main()
