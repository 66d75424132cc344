"""Searches on real estimators and real data, against peers, at an equal number of fits.

Every search trains the same number of candidates on the same three folds and refits the best; the
space is written once, as for ``RandomizedSearchCV``, and translated for each peer. All run with
their defaults. There are 1,500 rows to train on and 5,000 to test on (digits: 1,078 and 719),
both drawn again with each seed. Methods are ranked for each task and seed, by the
best CV score and by the score on the test rows; ranks are averaged over the seeds of a task, then
over tasks. Seconds are processor time of a whole search on one core, mean over seeds.

    python examples/benchmarks/real.py [--seeds 5] [--n-iter 30] [--tasks adult letter]

Results are kept in the cache as they come. Peers need ``requirements.txt``; a method that is not
there is left out. Exit status 1 if the Gaussian process is not ahead of random search, or if a
search fails.
"""

import argparse
import sys
import tempfile
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from _peers import require
from _report import (
    SOURCES,
    available,
    collect,
    mean_ranks,
    print_bars,
    table_of,
    version_of,
)
from scipy.stats import loguniform, randint
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import KFold, RandomizedSearchCV, StratifiedKFold, train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OrdinalEncoder, StandardScaler
from sklearn.svm import SVC, SVR

import sksearch
from sksearch.datasets import load
from sksearch.space import LogRandInt

N_TRAIN, N_TEST = 1_500, 5_000  # at most
N_FOLDS = 3
OURS = ("GPBayesSearchCV", "TPESearchCV", "ForestBayesSearchCV")
RANDOM = "RandomizedSearchCV"
METHODS = (*OURS, "BayesSearchCV", "OptunaSearchCV", RANDOM)
PACKAGES = {
    "BayesSearchCV": "scikit-optimize",
    "OptunaSearchCV": "optuna-integration",
    RANDOM: "scikit-learn",
}
CACHE = Path(tempfile.gettempdir()) / "sksearch_real.jsonl"


def adult(seed):
    """Boosting on numbers and text, with missing values."""
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    columns = make_column_transformer((encoder, text_columns), remainder="passthrough")
    model = HistGradientBoostingClassifier(max_iter=50, early_stopping=False, random_state=seed)
    space = {
        "columns__ordinalencoder__min_frequency": LogRandInt(1, 101),
        "model__learning_rate": loguniform(1e-3, 1),
        "model__max_leaf_nodes": LogRandInt(2, 65),
        "model__min_samples_leaf": LogRandInt(1, 101),
        "model__l2_regularization": loguniform(1e-6, 1e2),
        "model__class_weight": [None, "balanced"],
    }
    return Pipeline([("columns", columns), ("model", model)]), space


def letter(seed):
    """Support vectors with the choice of a kernel."""
    space = {
        "model__C": loguniform(1e-2, 1e3),
        "model__gamma": loguniform(1e-4, 1e1),
        "model__kernel": ["rbf", "poly", "sigmoid"],
        "model__shrinking": [True, False],
    }
    return Pipeline([("scale", StandardScaler()), ("model", SVC())]), space


def digits(seed):
    """A network with one hidden layer."""
    model = MLPClassifier(max_iter=20, n_iter_no_change=20, random_state=seed)
    space = {
        "model__hidden_layer_sizes": LogRandInt(8, 129),
        "model__activation": ["relu", "tanh", "logistic"],
        "model__learning_rate_init": loguniform(1e-5, 1e-1),
        "model__alpha": loguniform(1e-6, 1e1),
        "model__batch_size": randint(16, 257),
    }
    return Pipeline([("scale", StandardScaler()), ("model", model)]), space


def california_housing(seed):
    """Support vector regression of the logarithm of prices."""
    pipe = Pipeline([("scale", StandardScaler()), ("model", SVR(max_iter=50_000))])
    space = {
        "regressor__model__C": loguniform(1e-2, 1e3),
        "regressor__model__gamma": loguniform(1e-4, 1e1),
        "regressor__model__epsilon": loguniform(1e-4, 1),
    }
    return TransformedTargetRegressor(pipe, func=np.log, inverse_func=np.exp), space


TASKS = {f.__name__: f for f in (adult, letter, digits, california_housing)}


def text_columns(X):
    """Names of the columns with text; none in an array, which stands in without the data."""
    return list(X.select_dtypes(exclude="number")) if hasattr(X, "select_dtypes") else []


def data_of(task, seed):
    """Training and test rows."""
    data = load(task)
    n_train = min(N_TRAIN, int(0.6 * len(data.target)))
    return train_test_split(
        data.data,
        data.target,
        train_size=n_train,
        test_size=min(N_TEST, len(data.target) - n_train),
        stratify=None if task == "california_housing" else data.target,
        random_state=seed,
    )


def to_skopt(values):
    """A dimension of scikit-optimize for what RandomizedSearchCV takes."""
    space = require("skopt.space")
    if isinstance(values, list):
        return space.Categorical(values)
    low, high, is_integer, is_log = range_of(values)
    return (space.Integer if is_integer else space.Real)(
        low, high, "log-uniform" if is_log else "uniform"
    )


def to_optuna(values):
    """A distribution of Optuna for what RandomizedSearchCV takes."""
    kinds = require("optuna.distributions")
    if isinstance(values, list):
        return kinds.CategoricalDistribution(values)
    low, high, is_integer, is_log = range_of(values)
    kind = kinds.IntDistribution if is_integer else kinds.FloatDistribution
    return kind(low, high, log=is_log)


def range_of(values):
    """Bounds, both included, and whether values are integers and on a logarithmic scale."""
    low, high = values.support()
    is_log = isinstance(values, LogRandInt) or values.dist.name == "loguniform"
    if isinstance(values, LogRandInt) or values.dist.name == "randint":
        return int(low), int(high), True, is_log
    return float(low), float(high), False, is_log


def make(method, estimator, space, n_iter, cv, seed):
    """Make a search.

    Parameters
    ----------
    method : str
        One of `METHODS`.
    estimator : estimator
        What to tune.
    space : dict
        Lists and distributions of SciPy.
    n_iter : int
        Count of candidates.
    cv : cross-validator
        Folds.
    seed : int
        Seed of the search.

    Returns
    -------
    search : estimator
        Not fitted yet.
    """
    if method == "BayesSearchCV":
        search = require("skopt").BayesSearchCV
        space = {name: to_skopt(values) for name, values in space.items()}
    elif method == "OptunaSearchCV":
        require("optuna").logging.set_verbosity(require("optuna").logging.ERROR)
        search = require("optuna_integration").OptunaSearchCV
        space = {name: to_optuna(values) for name, values in space.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", require("optuna").exceptions.ExperimentalWarning)
            return search(estimator, space, n_trials=n_iter, cv=cv, random_state=seed)
    else:
        search = RandomizedSearchCV if method == RANDOM else getattr(sksearch.search, method)
    return search(estimator, space, n_iter=n_iter, cv=cv, random_state=seed)


def evaluate(method, task, n_iter, seed):
    """One search: its best CV score, its score on test rows, and processor seconds."""
    X, X_test, y, y_test = data_of(task, seed)
    estimator, space = TASKS[task](seed)
    kind = KFold if task == "california_housing" else StratifiedKFold
    cv = kind(N_FOLDS, shuffle=True, random_state=seed)
    search = make(method, estimator, space, n_iter, cv, seed)
    start = time.process_time()
    search.fit(X, y)
    seconds = time.process_time() - start
    n_trained = len(search.trials_ if method == "OptunaSearchCV" else search.cv_results_["params"])
    if n_trained != n_iter:
        raise RuntimeError(f"{n_trained} candidates were trained, not {n_iter}.")
    return {
        "cv": float(search.best_score_),
        "test": float(search.score(X_test, y_test)),
        "seconds": seconds,
    }


def print_scores(methods, tasks, scores):
    """Print scores, a line for each method.

    Parameters
    ----------
    methods, tasks : list of str
        Names.
    scores : dict of str to ndarray of shape (n_methods, n_tasks, n_seeds)
        Those of "cv" and "test".
    """
    print(f"\n{'mean score':<22}" + "".join(f"{task:>20}" for task in tasks))
    print(f"{'':<22}" + f"{'CV':>11}{'test':>9}" * len(tasks))
    means = np.stack([scores["cv"].mean(axis=2), scores["test"].mean(axis=2)], axis=2)
    for method, rows in zip(methods, means, strict=True):
        print(f"{method:<22}" + "".join(f"{cv:>11.4f}{test:>9.4f}" for cv, test in rows))


def print_ranks(methods, tasks, ranks, seconds):
    """Print ranks and seconds, best mean rank of test scores first.

    Parameters
    ----------
    methods, tasks : list of str
        Names.
    ranks : dict of str to ndarray of shape (n_methods, n_tasks)
        Those of "cv" and "test".
    seconds : ndarray of shape (n_methods, n_tasks)
        Of one search.
    """
    groups = {"rank by CV score": "mean", "rank by test score": "mean", "seconds": "total"}
    width = 7 * (len(tasks) + 1)
    print(f"\n{'':<22}" + "".join(f"  {name:>{width}}" for name in groups))
    columns = ["".join(f"{name[:6]:>7}" for name in (*tasks, last)) for last in groups.values()]
    print(f"{'':<22}" + "".join(f"  {names}" for names in columns))
    for i in np.argsort(ranks["test"].mean(axis=1)):
        cells = "  ".join(
            "".join(f"{x:>7.2f}" for x in (*ranks[name][i], ranks[name][i].mean()))
            for name in ("cv", "test")
        )
        times = "".join(f"{x:>7.1f}" for x in (*seconds[i], seconds[i].sum()))
        print(f"{methods[i]:<22}  {cells}  {times}")


def report(methods, tasks, n_seeds, n_iter, results):
    """Print everything and return whether the bar is met."""
    table = partial(table_of, results, methods, tasks, n_seeds)
    scores = {name: table(name) for name in ("cv", "test")}
    ranks = {name: mean_ranks(-values) for name, values in scores.items()}
    print(
        "equal number of fits: test score and rank against BayesSearchCV, OptunaSearchCV and\n"
        f"RandomizedSearchCV, seeds: {n_seeds}; {len(tasks)} tasks, {n_iter} candidates x "
        f"{N_FOLDS} folds,\naccuracy (california_housing: R2), greater is better; rank 1 is best"
    )
    print_scores(methods, tasks, scores)
    print_ranks(methods, tasks, ranks, table("seconds").mean(axis=2))
    means = dict(zip(methods, ranks["test"].mean(axis=1), strict=True))
    best = min(means, key=means.get)
    print(f"\nbest mean rank by test score: {best}, {'' if best in OURS else 'not '}one of ours")
    both = {OURS[0], RANDOM} <= set(methods)
    ahead = means[OURS[0]] < means[RANDOM] if both else None
    return print_bars([(f"{OURS[0]} ahead of {RANDOM} in mean rank by test score", ahead)])


def main():
    """Compare, print and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS), metavar="TASK")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--n-iter", type=int, default=30)
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--cache", type=Path, default=CACHE)
    args = parser.parse_args()
    sources = (*SOURCES, "search", "executors", "datasets.py")
    versions = {m: version_of(m, OURS, PACKAGES, sources) for m in args.methods}
    check = partial(make, estimator=None, space={"C": [1, 2]}, n_iter=1, cv=None, seed=0)
    methods = available(args.methods, versions, check)
    results, errors = collect(
        evaluate, methods, args.tasks, args.seeds, args.n_iter, versions, args.cache, args.jobs
    )
    for method, error in errors.items():
        print(f"without {method}, which failed: {error}")
    methods = [method for method in methods if method not in errors]
    ok = report(methods, args.tasks, args.seeds, args.n_iter, results)
    return int(not ok or bool(errors))


if __name__ == "__main__":
    sys.exit(main())
