"""One search over many models, compared with a search of each of them, at equal processor seconds.

On tables of `tables.py` (2,000 rows to search with, up to 10,000 others to test on, three
folds) `SearchCV(default_models(X, y), timeout=30)` runs, again with ``ensemble=True``, and
`SearchCV` with each of these models alone for the same time. The best of them is unknown in
advance; `regret` is how far the list, or each model, is behind the best of them on the test rows,
with the last training within the time. `systems.py` compares the list with other libraries.

    python examples/benchmarks/many_models.py [--tables adult ...] [--seconds 30] [--seeds 1]
        [--names "all of them" averaged] [--scoring neg_log_loss] [--record FILE]

The runs that the page of measurements shows are in ``records/many_models.jsonl``. With a record, a
line of JSON for each run, it goes on where it was stopped.
"""

import argparse
import json
import os
import sys
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from _tables_cases import DEVELOPMENT, TABLES, make_case
from _tables_clock import REFERENCE_SECONDS, run_for, workload
from scipy.stats import wilcoxon
from sklearn.metrics import get_scorer

from sksearch import SearchCV, default_models

LIST, AVERAGED = "all of them", "averaged"  # the other names are single models


def run(table, name, seed_index, seconds, scoring):
    """Search, and return what was found."""
    case = make_case(table, "mlp", seed_index)  # whose columns are not prepared
    task = "classification" if case.is_classifier else "regression"
    models = default_models(case.X, case.y, task=task)
    for _, model in models:  # threads that wait for each other use up processor seconds
        names = [key for key in model.get_params() if key.rpartition("__")[2] == "n_jobs"]
        model.set_params(**dict.fromkeys(names, 1))
    workload()  # the first training of a process is slower
    scale = workload() / REFERENCE_SECONDS
    scoring = scoring if case.is_classifier else None
    searched = models if name in (LIST, AVERAGED) else dict(models)[name]
    task = partial(search, case, searched, seconds, name == AVERAGED, scoring)
    entries = run_for(seconds, scale, task, ends_itself=True)
    asked = {"table": table, "name": name, "seed": seed_index, "seconds": seconds}
    return asked | ({"scoring": scoring} if scoring else {}) | entries[-1]


def search(case, estimator, seconds, averages, scoring, trace):
    """Fit, and note the score on the test rows, and the log loss, negative, or R2."""
    warnings.simplefilter("ignore")
    trace.clock.install("sksearch._utils._clock")
    args = {"timeout": seconds, "cv": case.folds, "random_state": case.seed}
    args |= {"scoring": scoring}
    found = SearchCV(estimator, **args, ensemble=averages).fit(case.X, case.y)
    at = trace.clock.now()
    test = found.best_estimator_.score(case.X_test, case.y_test)
    smooth = test
    if case.is_classifier and hasattr(found, "predict_proba"):
        smooth = get_scorer("neg_log_loss")(found, case.X_test, case.y_test)
    model = str(found.best_params_.get("model", ""))
    n = len(found.ensemble_) if averages else 1
    rest = {"test": float(test), "smooth": float(smooth), "model": model, "n_models": n}
    trace.note({}, found.best_score_, **rest, ended=at)


def names_of(table, seed_index):
    """The list, the average of what it finds, and the models in it."""
    case = make_case(table, "mlp", seed_index)
    return [LIST, AVERAGED, *(name for name, _ in default_models(case.X, case.y))]


def show(lines):
    """Print scores on the test rows, and how far each is behind the best model of its table."""
    names = list(dict.fromkeys(line["name"] for line in lines))
    runs = dict.fromkeys((line["table"], line["seed"]) for line in lines)
    print(f"{'table':20}" + "".join(f"{name:>13}" for name in names) + "   chosen")
    regrets = {name: [] for name in names}
    for table, seed in runs:
        found = {x["name"]: x for x in lines if (x["table"], x["seed"]) == (table, seed)}
        if len(found) < len(names):
            continue
        single = [found[name]["test"] for name in names if name not in (LIST, AVERAGED)]
        best = max(single, default=np.nan)
        for name in names:
            regrets[name].append(best - found[name]["test"])
        scores = "".join(f"{found[name]['test']:13.4f}" for name in names)
        print(f"{table:20}{scores}   {found[LIST]['model'] if LIST in found else ''}")
    means = "".join(f"{np.mean(regrets[name]):13.4f}" for name in names)
    print(f"{'mean regret':20}{means}")
    worst = "".join(f"{np.max(regrets[name]):13.4f}" for name in names)
    print(f"{'largest regret':20}{worst}")
    compare(lines, AVERAGED, LIST)


def compare(lines, one, other):
    """Print how the errors and losses of two ways are to each other."""
    runs = {(x["name"], x["table"], x["seed"]): x for x in lines if "smooth" in x}
    keys = [key for name, *key in runs if name == one and (other, *key) in runs]
    if not keys:
        return
    for text, field in [("error, or 1 - R2", "test"), ("log loss, or 1 - R2", "smooth")]:
        ratios = []
        for key in keys:
            pair = [runs[name, *key] for name in (one, other)]
            are_losses = [field == "smooth" and each["smooth"] <= 0 for each in pair]
            if are_losses[0] == are_losses[1]:  # else one of them has no probabilities
                top = 0.0 if all(are_losses) else 1.0
                losses = [top - each[field] for each in pair]
                ratios.append(losses[0] / losses[1])
        ratios = np.array(ratios)
        p = wilcoxon(np.log(ratios)).pvalue if len(ratios) > 5 else np.nan
        print(
            f"{one} / {other}, {text:20} {np.exp(np.log(ratios).mean()):.3f}: "
            f"{(ratios < 1).sum()} better, {(ratios > 1).sum()} worse, at most "
            f"{ratios.max():.3f} (p {p:.2g})"
        )


def main():
    """Run what is missing, and print."""
    if os.environ.get("OMP_NUM_THREADS") != "1":
        names = ("OMP", "OPENBLAS", "MKL", "BLIS")
        os.environ.update({f"{name}_NUM_THREADS": "1" for name in names})
        os.execv(sys.executable, [sys.executable, *sys.argv])  # read when libraries are loaded
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tables", nargs="+", default=DEVELOPMENT, choices=TABLES)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--names", nargs="+", help="'all of them', averaged, or models")
    parser.add_argument("--scoring", help="of classes; default accuracy")
    parser.add_argument("--record", type=Path)
    args = parser.parse_args()
    lines = []
    if args.record and args.record.exists():
        lines = [json.loads(line) for line in args.record.read_text().splitlines()]
        asked = args.seconds, args.scoring
        lines = [line for line in lines if (line["seconds"], line.get("scoring")) == asked]
    known = {(line["table"], line["name"], line["seed"]) for line in lines}
    for seed in range(args.seeds):
        for table in args.tables:
            for name in args.names or names_of(table, seed):
                if (table, name, seed) in known:
                    continue
                lines.append(run(table, name, seed, args.seconds, args.scoring))
                if args.record:
                    with args.record.open("a") as file:
                        file.write(json.dumps(lines[-1]) + "\n")
    show(lines)


if __name__ == "__main__":
    main()
