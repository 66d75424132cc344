"""
The ten best instead of the best
================================

A search trains many good models and keeps one. With ``ensemble_size=10`` it also keeps the models
of its ten best candidates, as they were trained on the folds, and averages them into
``ensemble_``. Nothing is trained for that.

Run it as a script, with ``--out ensemble.png`` to save the figure.
"""

import sys

import numpy as np
from scipy.stats import loguniform, randint, uniform
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from sksearch import RandomSearchCV, SearchCV
from sksearch.datasets import load
from sksearch.fitting import AveragedClassifier
from sksearch.schedulers import FullFidelity

N_CANDIDATES, SIZE, N_SPLITS, N_SEEDS = 27, 10, 3, 3

# %%
# Small pictures of digits, for two kinds of model: small nets, by epochs, and single decision
# trees, which change much with the rows that they see. Where ``SKSEARCH_DATA`` names a folder with
# the table ``letter``, that is taken instead.

data = load("letter", n_samples=2_000)
print(data.source)

net = make_pipeline(StandardScaler(), MLPClassifier(random_state=0))
net_space = {
    "mlpclassifier__hidden_layer_sizes": [(32,), (64,), (128,)],
    "mlpclassifier__learning_rate_init": loguniform(1e-3, 1e-1),
    "mlpclassifier__alpha": loguniform(1e-6, 1),
    "mlpclassifier__activation": ["relu", "tanh"],
    "mlpclassifier__batch_size": [64, 128],
}
tree_space = {
    "max_depth": randint(5, 30),
    "min_samples_leaf": randint(1, 10),
    "max_features": uniform(0.1, 0.9),
    "criterion": ["gini", "entropy"],
}
settings = {"cv": N_SPLITS, "n_jobs": 2, "ensemble_size": SIZE}
searches = {
    "nets": SearchCV(
        net, net_space, scheduler=FullFidelity(N_CANDIDATES), resource="epochs", max_resources=15,
        **settings,
    ),
    "trees": RandomSearchCV(
        DecisionTreeClassifier(random_state=0), tree_space, n_iter=N_CANDIDATES, **settings
    ),
}  # fmt: skip

# %%
# The models of the ensemble are in the order of their candidates, the best first, each with one
# model for each fold. So its first models are a smaller ensemble. ``best_estimator_`` is one
# model, but trained on all rows, those of a fold on two thirds of them.

alone, averaged = {}, {}
for name, search in searches.items():
    alone[name], averaged[name] = np.empty(N_SEEDS), np.empty((N_SEEDS, SIZE))
    for seed in range(N_SEEDS):
        X_train, X_test, y_train, y_test = train_test_split(
            data.data, data.target, test_size=0.5, stratify=data.target, random_state=seed
        )
        search.set_params(random_state=seed).fit(X_train, y_train)
        alone[name][seed] = 1 - search.score(X_test, y_test)
        models = search.ensemble_.models
        for k in range(1, SIZE + 1):
            first = AveragedClassifier(models[: k * N_SPLITS])
            averaged[name][seed, k - 1] = 1 - first.score(X_test, y_test)

print(f"Error on {len(y_test)} new rows, mean of {N_SEEDS} seeds")
print(f"{'':<6} {'best':>7} {'its folds':>10} {'ensemble':>9}")
for name, errors in averaged.items():
    cells = alone[name].mean(), errors[:, 0].mean(), errors[:, -1].mean()
    print(f"{name:<6} {cells[0]:>7.3f} {cells[1]:>10.3f} {cells[2]:>9.3f}")

# %%
# Each seed's errors, as a part of what the best candidate alone has there. Thin lines are seeds.
# Models that are wrong in the same rows cannot correct each other, so it depends on the model.

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None

if plt is not None:
    fig, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
    sizes = np.arange(1, SIZE + 1)
    for (name, errors), color in zip(averaged.items(), ("#d1495b", "#1f4e79"), strict=True):
        parts = errors / alone[name][:, np.newaxis]
        ax.plot(sizes, parts.T, color=color, lw=0.8, alpha=0.35)
        ax.plot(sizes, parts.mean(axis=0), "o-", color=color, ms=4, lw=2)
        ax.annotate(
            name, (SIZE, parts[:, -1].mean()), (8, 0), textcoords="offset points",
            color=color, va="center",
        )  # fmt: skip
    ax.axhline(1, color="#555555", ls="--", lw=1)
    ax.set_xticks(sizes)
    ax.set_xlabel("Candidates that are averaged, the best first")
    ax.set_ylabel("Error (1: the best candidate alone)")
    ax.grid(axis="y", color="#e9edf1")
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_title("What averaging brings depends on the model", loc="left", fontsize=11)
    if __name__ == "__main__" and "--out" in sys.argv[:-1]:
        fig.savefig(sys.argv[sys.argv.index("--out") + 1], dpi=150)
