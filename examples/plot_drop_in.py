"""
One import away from GridSearchCV
=================================

The same code runs with scikit-learn's searches and with ours: ``GridSearchCV`` and
``RandomizedSearchCV`` on one side, ``RandomSearchCV`` and ``HyperbandSearchCV`` on the other.
Columns of ``cv_results_``, candidates and scores are compared bit by bit.

Run it as a script, with ``--out drop_in.png`` to save the figure.
"""

import sys

import numpy as np
from scipy.stats import loguniform
from sklearn.feature_selection import SelectKBest, VarianceThreshold, f_classif
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import (
    GridSearchCV,
    RandomizedSearchCV,
    cross_val_score,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sksearch import HyperbandSearchCV, RandomSearchCV
from sksearch.datasets import load

# %%
# Small pictures of digits, and a linear model in a pipeline. Where ``SKSEARCH_DATA`` names a
# folder with the table ``letter``, that is taken instead.

data = load("letter", n_samples=2_000)
X_train, X_test, y_train, y_test = train_test_split(
    data.data, data.target, stratify=data.target, random_state=0
)
print(f"{data.source}: {len(X_train)} rows to train, {len(X_test)} to test")

model = SGDClassifier(loss="log_loss", max_iter=27, tol=None, random_state=0)
pipe = make_pipeline(VarianceThreshold(), StandardScaler(), SelectKBest(f_classif), model)
grid = {"selectkbest__k": [8, 16], "sgdclassifier__alpha": [1e-4, 1e-3, 1e-2]}
space = {"selectkbest__k": [8, 12, 16], "sgdclassifier__alpha": loguniform(1e-6, 1)}

# %%
# Four searches, one loop.

common = {"scoring": "accuracy", "cv": 3, "n_jobs": 2, "return_train_score": True}
searches = {
    "GridSearchCV": GridSearchCV(pipe, grid, **common),
    "RandomizedSearchCV": RandomizedSearchCV(pipe, space, n_iter=12, random_state=0, **common),
    "RandomSearchCV": RandomSearchCV(pipe, space, n_iter=12, random_state=0, **common),
    "HyperbandSearchCV": HyperbandSearchCV(
        pipe, space, resource="epochs", max_resources=27, random_state=0, **common
    ),
}
print(f"\n{'':<20} {'candidates':>10} {'rows':>5} {'columns':>7} {'score':>7} {'test':>6}")
for name, search in searches.items():
    search.fit(X_train, y_train)
    results = search.cv_results_
    n_candidates = len({tuple(params.values()) for params in results["params"]})
    print(
        f"{name:<20} {n_candidates:>10} {len(results['params']):>5} {len(results):>7} "
        f"{search.best_score_:>7.4f} {search.score(X_test, y_test):>6.3f}"
    )

# %%
# What is the same?

theirs, ours, hyperband = (
    searches[name].cv_results_
    for name in ("RandomizedSearchCV", "RandomSearchCV", "HyperbandSearchCV")
)
added = [column for column in hyperband if column not in theirs]
scores = [column for column in theirs if "_score" in column and "time" not in column]
checks = {
    "columns, GridSearchCV's too": list(theirs)
    == list(ours)
    == list(searches["GridSearchCV"].cv_results_),
    "candidates": theirs["params"] == ours["params"],
    f"all {len(scores)} columns of scores": all(
        np.array_equal(theirs[column], ours[column]) for column in scores
    ),
    "best_params_": searches["RandomizedSearchCV"].best_params_
    == searches["RandomSearchCV"].best_params_,
    "predictions on unseen rows": np.array_equal(
        searches["RandomizedSearchCV"].predict_proba(X_test),
        searches["RandomSearchCV"].predict_proba(X_test),
    ),
    "columns of HyperbandSearchCV, without its own": [c for c in hyperband if c not in added]
    == list(theirs),
}
print("\nRandomizedSearchCV and RandomSearchCV with the same random_state:")
for what, same in checks.items():
    print(f"  {what:<46} {'identical' if same else 'DIFFERENT'}")
    assert same
print(f"HyperbandSearchCV adds the columns {', '.join(added)}")

# %%
# Inside ``cross_val_score``, where the search is one more estimator.

print(f"\n{'nested':<20} {'scores of 3 outer folds':<24}")
nested = {}
for name in ("RandomizedSearchCV", "RandomSearchCV", "HyperbandSearchCV"):
    search = searches[name].set_params(n_jobs=None)
    nested[name] = cross_val_score(search, X_train, y_train, cv=3, n_jobs=2)
    print(f"{name:<20} {'  '.join(f'{score:.4f}' for score in nested[name])}")
assert np.array_equal(nested["RandomizedSearchCV"], nested["RandomSearchCV"])

# %%
# One picture for all searches, since code that reads ``cv_results_`` need not change. Random
# search of both libraries has the same points: each cross is inside a circle.

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None

if plt is not None:
    fig, ax = plt.subplots(figsize=(7, 4.8), layout="constrained")
    alpha = "param_sgdclassifier__alpha"
    top = hyperband["n_resources"] == 27
    dots = {"ls": "", "mew": 1.4}
    ax.plot(
        hyperband[alpha][~top], hyperband["mean_test_score"][~top], "o", ms=4, color="#c3ccd6",
        label="HyperbandSearchCV, fewer than 27 epochs", **dots,
    )  # fmt: skip
    ax.plot(
        hyperband[alpha][top], hyperband["mean_test_score"][top], "o", ms=6, color="#1f5f8b",
        label="HyperbandSearchCV, 27 epochs", **dots,
    )  # fmt: skip
    ax.plot(
        theirs[alpha], theirs["mean_test_score"], "o", ms=12, mfc="none", color="#c98a1b",
        label="RandomizedSearchCV", **dots,
    )  # fmt: skip
    ax.plot(
        ours[alpha], ours["mean_test_score"], "x", ms=6, color="#d1495b", label="RandomSearchCV",
        **dots,
    )  # fmt: skip
    ax.set_xscale("log")
    ax.set_xlabel("alpha")
    ax.set_ylabel("Mean accuracy over folds")
    ax.grid(axis="y", color="#e9edf1")
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(which="both", length=0)
    fig.legend(loc="outside lower center", ncols=2, frameon=False)
    ax.set_title("Both random searches try the same candidates", loc="left", fontsize=11)
    if __name__ == "__main__" and "--out" in sys.argv[:-1]:
        fig.savefig(sys.argv[sys.argv.index("--out") + 1], dpi=150)

print(
    "\nOne import was changed: the columns, candidates, scores and predictions of random search "
    "stayed the same to the last bit."
)
