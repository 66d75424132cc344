"""How many epochs Hyperband needs for what random search finds with as many epochs in all.

Random search trains as many candidates for the full 81 epochs as one iteration of Hyperband costs
(17). A curve is the best score so far at any number of epochs, against the epochs spent in order
of evaluation, each counted once since training goes on. The ratio of a run is Hyperband's epochs
up to random search's final score over random search's total, infinite if it never gets there. The
bar is on the median over all runs. Where the best of both are equal but for a row or two of the
data, a single run is a coin's toss; so the same is printed for curves averaged over seeds, too.

Each model has two spaces: a wide one, as for somebody who does not know yet what works, and a
narrow one in which most candidates are nearly as good as the best and there is little to discard.

All scores are mean accuracies over the same 3 folds, but the searches draw different candidates
(with the same seed Hyperband's first ones would be random search's). A best score of many is
optimistic, so the table has the accuracy on a test set that no search saw, too. For reference:
where random search itself first had its final score, and scikit-learn's `HalvingRandomSearchCV`
on ``max_iter``, which trains again at each rung, all epochs counted.

    python examples/benchmarks/hyperband.py [--data digits fashion_mnist]

Exit status 1 if the median ratio is above the bar.
"""

import argparse
import sys
import time
import warnings
from itertools import starmap

import numpy as np
from _report import print_bars
from joblib import Parallel, delayed
from scipy.stats import loguniform, uniform
from sklearn.decomposition import PCA
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import HalvingRandomSearchCV, train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from sksearch import HyperbandSearchCV, SearchCV
from sksearch.datasets import load
from sksearch.schedulers import FullFidelity
from sksearch.space import LogRandInt

MAX_EPOCHS = 81
MAX_RATIO = 0.25
DATA = ["digits", "fashion_mnist"]
CV = 3

SPACES = {
    # Ranges of learning rate, weight decay, momentum and batch size as in section 9.5 of Matache,
    # "Efficient design of machine learning hyperparameter optimizers".
    "wide": {
        "MLP": {
            "model__learning_rate_init": loguniform(1e-6, 1),
            "model__alpha": loguniform(1e-6, 1e-1),
            "model__momentum": uniform(0.3, 0.699),
            "model__batch_size": LogRandInt(20, 2001),
            "model__hidden_layer_sizes": [(32,), (64,), (128,)],
            "model__activation": ["relu", "tanh"],
        },
        "SGD": {
            "model__loss": ["hinge", "log_loss", "modified_huber"],
            "model__penalty": ["l2", "l1", "elasticnet"],
            "model__alpha": loguniform(1e-6, 1e-1),
            "model__learning_rate": ["constant", "invscaling"],
            "model__eta0": loguniform(1e-6, 1),
        },
    },
    "narrow": {
        "MLP": {
            "model__learning_rate_init": loguniform(1e-4, 1e-1),
            "model__alpha": loguniform(1e-6, 1e-1),
            "model__batch_size": [32, 64, 128, 256],
            "model__hidden_layer_sizes": [(32,), (64,), (128,)],
            "model__activation": ["relu", "tanh"],
        },
        "SGD": {
            "model__loss": ["hinge", "log_loss", "modified_huber"],
            "model__penalty": ["l2", "l1", "elasticnet"],
            "model__alpha": loguniform(1e-6, 1e-1),
            "model__learning_rate": ["optimal", "constant", "invscaling"],
            "model__eta0": loguniform(1e-4, 1),
        },
    },
}


def data_of(name, seed):
    """Training and test rows."""
    n_samples, n_test = {"digits": (None, 500), "fashion_mnist": (7_000, 1_000)}[name]
    bunch = load(name, n_samples)
    return train_test_split(
        bunch.data, bunch.target, test_size=n_test, stratify=bunch.target, random_state=seed
    )


def pipeline_of(data, model, space, seed):
    """The pipeline and its space; only ``fit`` of the peer reads what stops no epoch early."""
    if model == "MLP":
        solver = {"wide": "sgd", "narrow": "adam"}[space]
        last = MLPClassifier(solver=solver, n_iter_no_change=10**6, random_state=seed)
    else:
        last = SGDClassifier(tol=None, random_state=seed)
    steps = [("scale", StandardScaler()), ("model", last)]
    if data == "fashion_mnist":
        steps.insert(1, ("pca", PCA(50, svd_solver="randomized", random_state=seed)))
    return Pipeline(steps), SPACES[space][model]


def curve_of(search):
    """Epochs spent and best score so far, after each evaluation in the order of the log."""
    trials, brought_to, epochs, scores = search.history_.trials, {}, [], []
    for event, trial_id, resource in search.history_.log:
        if event == "tell":
            epochs.append(resource - brought_to.get(trial_id, 0))
            scores.append(trials[trial_id].results[resource].score)
            brought_to[trial_id] = resource
    return np.cumsum(epochs), np.fmax.accumulate(scores)


def curve_of_halving(search):
    """The same for scikit-learn's halving, whose rows are in order and whose epochs add up."""
    results = search.cv_results_
    return np.cumsum(results["n_resources"]), np.fmax.accumulate(results["mean_test_score"])


def mean_curve(curves):
    """The average of step functions, over the epochs at which any of them has a step."""
    epochs = np.unique(np.concatenate([curve[0] for curve in curves]))
    best = [
        np.r_[np.nan, score][np.searchsorted(spent, epochs, side="right")]
        for spent, score in curves
    ]
    return epochs, np.mean(best, axis=0)


def epochs_until(curve, score):
    """Epochs spent when the curve first has this score."""
    epochs, best = curve
    reached = best >= score - 1e-12  # means of equal scores may differ by rounding
    return int(epochs[reached.argmax()]) if reached.any() else np.inf


def compare(data, model, space_name, seed):
    """One row of the table."""
    # Candidates that overflow and nets that are cut off are part of any search.
    warnings.simplefilter("ignore")
    X, X_test, y, y_test = data_of(data, seed)
    pipe, space = pipeline_of(data, model, space_name, seed)
    hyperband = HyperbandSearchCV(
        pipe,
        space,
        resource="epochs",
        max_resources=MAX_EPOCHS,
        cv=CV,
        random_state=seed,
    )
    total = hyperband.plan(X, y).total_resources
    random = SearchCV(
        pipe,
        space,
        resource="epochs",
        max_resources=MAX_EPOCHS,
        scheduler=FullFidelity(total // MAX_EPOCHS),
        cv=CV,
        random_state=1_000 + seed,
    )
    halving = HalvingRandomSearchCV(
        pipe,
        space,
        resource="model__max_iter",
        min_resources=1,
        max_resources=MAX_EPOCHS,
        factor=3,
        cv=CV,
        random_state=2_000 + seed,
    )
    for search in (hyperband, random, halving):
        search.fit(X, y)
    curves = [curve_of(random), curve_of(hyperband), curve_of_halving(halving)]
    assert curves[1][0][-1] == total
    spent, final = curves[0][0][-1], curves[0][1][-1]
    task = f"{data} {model} {space_name}"
    row = {"task": task, "seed": seed, "spent": int(spent), "curves": curves}
    for name, search, curve in zip(
        ("random", "hyperband", "halving"), (random, hyperband, halving), curves, strict=True
    ):
        row[name] = (
            epochs_until(curve, final),
            float(curve[1][-1]),
            float(search.score(X_test, y_test)),
        )
    row["ratio"] = row["hyperband"][0] / spent
    return row


def print_head(n_tasks):
    """Legend and names of the columns."""
    print(
        f"{n_tasks} searches of each kind, {MAX_EPOCHS} epochs at most, {CV} folds. For each: "
        "epochs (for each fold) until\nrandom search's final score, best score, test accuracy.\n"
    )
    groups = f"{'random search':^24}{'Hyperband':^24}{'HalvingRandomSearchCV':^24}"
    print(f"{'':<31}{groups}")
    columns = f"{'until':>8} {'best':>7} {'test':>6} "
    print(f"{'task':<25} {'seed':>4} {columns * 3} {'ratio':>5}", flush=True)


def print_row(row):
    """One line."""
    cells = "".join(
        f"{until:>8} {best:>7.4f} {test:>6.3f} "
        for until, best, test in (row["random"], row["hyperband"], row["halving"])
    )
    print(f"{row['task']:<25} {row['seed']:>4} {cells} {row['ratio']:>5.2f}", flush=True)


def ratios_of(rows):
    """Ratios of one task from curves averaged over seeds: random, Hyperband, halving."""
    random, hyperband, halving = (
        mean_curve(curves) for curves in zip(*(row["curves"] for row in rows), strict=True)
    )
    spent = rows[0]["spent"]
    return [epochs_until(c, random[1][-1]) / spent for c in (random, hyperband, halving)]


def main():
    """Compare, print and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", nargs="+", choices=DATA, default=DATA, help="about 5 + 25 min")
    names = parser.parse_args().data
    start = time.perf_counter()
    tasks = [
        (data, model, space, seed)
        for data in names
        for model in ("MLP", "SGD")
        for space in SPACES
        for seed in range(3)
    ]
    print_head(len(tasks))
    rows = []
    for row in Parallel(n_jobs=2, return_as="generator")(starmap(delayed(compare), tasks)):
        rows.append(row)
        print_row(row)
    names = list(dict.fromkeys(row["task"] for row in rows))
    ratios = np.array([ratios_of([r for r in rows if r["task"] == name]) for name in names])
    print("\nratios, curves averaged over seeds")
    print(f"{'':<25} {'random':>9} {'Hyperband':>9} {'halving':>9}")
    medians = np.median(ratios, axis=0)
    for name, values in zip([*names, "median"], [*ratios, medians], strict=True):
        print(f"{name:<25} " + " ".join(f"{value:>9.3f}" for value in values))
    singles = np.array([row["ratio"] for row in rows])
    median = np.median(singles)
    tests = {name: np.mean([r[name][2] for r in rows]) for name in ("random", "hyperband")}
    print(
        f"median ratio of single runs {median:.3f}; "
        f"never reached in {np.isinf(singles).sum()} of {len(singles)}\n"
        f"mean test accuracy {tests['hyperband']:.4f} (Hyperband), {tests['random']:.4f} (random)"
    )
    ok = print_bars([(f"median ratio of single runs at most {MAX_RATIO}", median <= MAX_RATIO)])
    print(f"{time.perf_counter() - start:.0f} seconds")
    return int(not ok)


if __name__ == "__main__":
    sys.exit(main())
