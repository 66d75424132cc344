"""One small search, started by chaos.py again and again until it ends.

    python examples/benchmarks/_victim.py KIND SEED N_JOBS LOG RESULT [CHECKPOINT_DIR]

Each evaluation appends a line to LOG when it begins. Three candidates are bad: one kills its
process, one hangs, one raises.
"""

import math
import os
import pickle
import signal
import sys
import time
import warnings

import numpy as np
from scipy.stats import loguniform, uniform
from sklearn.datasets import make_classification
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

import sksearch as sks
from sksearch.fitting.prepare import _prepare

TIMEOUT = 3.0  # seconds that an evaluation may take; a good one takes milliseconds
X, Y = make_classification(120, 5, n_informative=3, n_redundant=0, flip_y=0.2, random_state=0)

EPOCHS = {"resource": "epochs", "max_resources": 9}
TREES = {"resource": "n_estimators", "min_resources": 1, "max_resources": 9}
#: Class, estimator, the parameter that is searched for, its values, other arguments.
KINDS = {
    "Hyperband, epochs": (
        sks.HyperbandSearchCV, SGDClassifier(), "alpha", loguniform(1e-5, 1), EPOCHS,
    ),
    "halving, trees": (
        sks.SuccessiveHalvingSearchCV, GradientBoostingClassifier(subsample=0.5),
        "learning_rate", uniform(), TREES | {"n_candidates": 18},
    ),
    "BOHB, rows": (
        sks.BOHBSearchCV, DecisionTreeClassifier(splitter="random"), "ccp_alpha",
        uniform(0, 0.1), {"resource": "n_samples"},
    ),
    "TPE": (sks.TPESearchCV, RandomForestClassifier(3), "ccp_alpha", uniform(0, 0.1),
            {"n_iter": 20}),
    "GP": (sks.GPBayesSearchCV, MLPClassifier((5,), max_iter=5), "alpha", loguniform(1e-5, 1),
           {"n_iter": 15}),
    "random": (sks.RandomSearchCV, SGDClassifier(random_state=7), "alpha", loguniform(1e-5, 1),
               {"n_iter": 30}),
    "incremental, epochs": (
        sks.search.IncrementalEvaluationSearchCV, MLPClassifier((5,)), "alpha",
        loguniform(1e-5, 1), EPOCHS | {"budget": 60},
    ),
    "Hyperband, folds": (
        sks.HyperbandSearchCV, DecisionTreeClassifier(splitter="random"), "ccp_alpha",
        uniform(0, 0.1), {"resource": "folds", "cv": 9},
    ),
    "Hyperband, epochs, in process": (
        sks.HyperbandSearchCV, MLPClassifier((5,)), "alpha", loguniform(1e-5, 1), EPOCHS,
    ),
    "BOHB, trees": (
        sks.BOHBSearchCV, RandomForestClassifier(max_samples=0.5), "ccp_alpha", uniform(0, 0.1),
        TREES,
    ),
}  # fmt: skip


def in_process(kind):
    """Whether a candidate that crashes takes the search with it."""
    return kind.endswith("in process")


def make_search(kind, seed, n_jobs, checkpoint_dir):
    """The search, whose first guesses hold the bad candidates."""
    cls, estimator, name, values, kwargs = KINDS[kind]
    bad = dict(zip(("crash", "hang", "raise"), values.ppf([0.21, 0.43, 0.65]), strict=True))
    kwargs, limits = {"cv": 2} | kwargs, {"retries": 0}
    if in_process(kind):
        del bad["hang"]  # nobody is there to see it
    else:
        limits["timeout"] = TIMEOUT
    guesses = [{name: value} for value in (*bad.values(), *values.ppf([0.1, 0.3, 0.5]))]
    order = np.random.default_rng(seed).permutation(len(guesses))
    return cls(
        estimator,
        {name: values},
        scoring=make_scorer(name, bad),
        n_jobs=n_jobs,
        random_state=seed,
        known={"params": [guesses[i] for i in order]},
        workers=limits,
        checkpoint_dir=checkpoint_dir,
        **kwargs,
    )


def make_scorer(name, bad):
    """A scorer that never returns for the bad candidates."""

    def scorer(estimator, X, y):
        value = estimator.get_params()[name]
        if "hang" in bad and math.isclose(value, bad["hang"]):
            time.sleep(600)
        if math.isclose(value, bad["crash"]):
            os.kill(os.getpid(), signal.SIGKILL)
        if math.isclose(value, bad["raise"]):
            raise RuntimeError("a bad candidate")
        return estimator.score(X, y)

    return scorer


def noting(evaluate, log):
    """`evaluate`, with a line in the log when it begins."""

    def noted(context, task, place):
        note(log, task.name)
        return evaluate(context, task, place)

    return noted


def note(log, line):
    """Append a line in one call, so that those of several processes do not mix."""
    descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(descriptor, f"{line}\n".encode())
    os.close(descriptor)


def outcome(search):
    """Everything that must not depend on kills."""
    columns = {k: v for k, v in search.cv_results_.items() if not k.endswith("_time")}
    return {
        # Masked entries are None; NaN does not equal itself, but its text does.
        "cv_results_": {name: repr(list(values)) for name, values in columns.items()},
        "statuses_": search.statuses_,
        "errors_": search.errors_,
        "best_params_": search.best_params_,
        "predictions": search.predict(X).tolist(),
    }


def main(kind, seed, n_jobs, log, result, checkpoint_dir=None):
    """Search, and write the outcome."""
    warnings.simplefilter("ignore")
    _prepare.evaluate = noting(_prepare.evaluate, log)
    search = make_search(kind, int(seed), int(n_jobs), checkpoint_dir)
    note(log, "fit")
    start = time.monotonic()
    search.fit(X, Y)
    seconds = time.monotonic() - start
    with open(result, "wb") as file:
        pickle.dump((outcome(search), seconds), file)


if __name__ == "__main__":
    main(*sys.argv[1:])
