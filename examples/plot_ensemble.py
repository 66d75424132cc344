"""
The average of the best instead of the best
===========================================

A search trains many good models and keeps one. With ``ensemble=True`` it averages the best of
them: each candidate's predictions for the test folds say which average scores best, and the
members are trained on all rows.

Run it as a script, with ``--out ensemble.png`` to save the figure.
"""

import sys
import warnings

import numpy as np
from scipy.stats import loguniform, randint, uniform
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import get_scorer
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from sksearch import RandomSearchCV
from sksearch.datasets import load

warnings.simplefilter("ignore")
N_CANDIDATES, N_SEEDS, METRIC = 16, 3, "neg_log_loss"

# %%
# Small pictures of digits, for three kinds of model. Where ``SKSEARCH_DATA`` names a folder with
# the table ``letter``, that is taken instead.

data = load("letter", n_samples=2_000)
print(data.source)

net = make_pipeline(StandardScaler(), MLPClassifier(max_iter=40, random_state=0))
models = {
    "trees": (
        DecisionTreeClassifier(random_state=0),
        {"max_depth": randint(5, 30), "min_samples_leaf": randint(1, 10),
         "max_features": uniform(0.1, 0.9)},
    ),
    "nets": (
        net,
        {"mlpclassifier__learning_rate_init": loguniform(1e-3, 3e-2),
         "mlpclassifier__alpha": loguniform(1e-6, 1),
         "mlpclassifier__hidden_layer_sizes": [(32,), (64,), (128,)]},
    ),
    "forests": (
        RandomForestClassifier(n_estimators=50, random_state=0),
        {"max_features": uniform(0.1, 0.9), "min_samples_leaf": randint(1, 10)},
    ),
}  # fmt: skip

# %%
# ``best_estimator_`` is the average. The best candidate alone is trained here beside it. ``gain``
# is what the search itself expects of the average, measured on folds that did not choose it.

losses, gains = {}, {}
for name, (model, space) in models.items():
    losses[name], gains[name] = np.empty((N_SEEDS, 2)), np.empty(N_SEEDS)
    for seed in range(N_SEEDS):
        X_train, X_test, y_train, y_test = train_test_split(
            data.data, data.target, test_size=0.5, stratify=data.target, random_state=seed
        )
        search = RandomSearchCV(
            model, space, n_iter=N_CANDIDATES, cv=3, scoring=METRIC, ensemble=True, n_jobs=2,
            random_state=seed,
        ).fit(X_train, y_train)  # fmt: skip
        best = clone(model).set_params(**search.best_params_).fit(X_train, y_train)
        for k, fitted in enumerate((best, search.best_estimator_)):
            losses[name][seed, k] = -get_scorer(METRIC)(fitted, X_test, y_test)
        gains[name][seed] = search.ensemble_.gain

print(search.ensemble_)
print(f"\nLog loss on {len(y_test)} new rows, mean of {N_SEEDS} seeds")
print(f"{'':<8} {'best':>7} {'average':>8} {'gain':>7} {'expected':>9}")
for name, found in losses.items():
    alone, averaged = found.mean(axis=0)
    cells = f"{alone:>7.3f} {averaged:>8.3f} {alone - averaged:>7.3f}"
    print(f"{name:<8} {cells} {gains[name].mean():>9.3f}")

# %%
# Each line is a seed, from the best candidate to the average.

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None

if plt is not None:
    fig, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
    for row, found in enumerate(losses.values()):
        at = -row + np.linspace(0.18, -0.18, N_SEEDS)
        ax.hlines(at, found[:, 1], found[:, 0], color="#c6ced6", lw=2)
        for k, (label, color) in enumerate([("best", "#8a95a0"), ("average", "#1f4e79")]):
            ax.plot(found[:, k], at, "o", color=color, ms=7, label=label if row == 0 else None)
    ax.set_yticks(-np.arange(len(losses)), list(losses))
    ax.set_xscale("log")
    ax.set_xticks(ticks := [0.6, 1, 2, 4, 6], [f"{tick:g}" for tick in ticks])
    ax.set_xticks([], minor=True)
    ax.set_xlabel("Log loss on new rows")
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.legend(frameon=False)
    ax.set_title("Averages of candidates are better than the best one", loc="left", fontsize=11)
    if __name__ == "__main__" and "--out" in sys.argv[:-1]:
        fig.savefig(sys.argv[sys.argv.index("--out") + 1], dpi=150)
