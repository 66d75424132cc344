"""
Tune a neural network with Hyperband
====================================

A pipeline, a dict of distributions, and one more argument than in ``RandomizedSearchCV``: what
is spent on a candidate. Hyperband trains many candidates for an epoch or two, goes on with the
good ones where they stopped, and so looks at several times as many for the same epochs.

Run it as a script, with ``--out curves.png`` to save the figure.
"""

import sys
import warnings

import numpy as np
from scipy.stats import loguniform
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sksearch import HyperbandSearchCV, RandomSearchCV
from sksearch.datasets import load

EPOCHS = 27

# %%
# Small pictures of digits. Where ``SKSEARCH_DATA`` names a folder with ``fashion_mnist``, pictures
# of clothes of 784 pixels are taken instead.

data = load("fashion_mnist", n_samples=7_500)
X_train, X_test, y_train, y_test = train_test_split(
    data.data, data.target, train_size=1 / 3, stratify=data.target, random_state=0
)
print(f"{data.source}: {len(X_train)} rows to train, {len(X_test)} to test")

pipe = make_pipeline(StandardScaler(), MLPClassifier(max_iter=EPOCHS, random_state=0))
space = {
    "mlpclassifier__learning_rate_init": loguniform(1e-4, 1e-1),
    "mlpclassifier__alpha": loguniform(1e-6, 1e1),
    "mlpclassifier__batch_size": [32, 64, 128, 256],
    "mlpclassifier__hidden_layer_sizes": [(32,), (64,), (128,), (64, 64)],
    "mlpclassifier__activation": ["relu", "tanh"],
}

# %%
# What will it cost? The plan is known before anything is trained.

search = HyperbandSearchCV(
    pipe, space, resource="epochs", max_resources=EPOCHS, cv=3, n_jobs=2, random_state=0
)
plan = search.plan(X_train, y_train)
print(f"\n{plan}")

# %%
# Search. Afterwards ``cv_results_`` has a row for each candidate and number of epochs.

search.fit(X_train, y_train)
results = search.cv_results_

print(f"\n{'bracket':>7} {'epochs':>6} {'candidates':>10} {'best score':>10}")
for rung in plan.rungs:
    rows = (results["bracket"] == rung.bracket) & (results["n_resources"] == rung.n_resources)
    best = results["mean_test_score"][rows].max()
    print(f"{rung.bracket:>7} {rung.n_resources:>6} {rows.sum():>10} {best:>10.3f}")

# %%
# Compare with the defaults, and with random search that may train as many epochs in all.

with warnings.catch_warnings():
    warnings.simplefilter("ignore", ConvergenceWarning)  # to stop after EPOCHS is the point
    default = clone(pipe).fit(X_train, y_train)
    random = RandomSearchCV(
        pipe, space, n_iter=plan.total_resources // EPOCHS, cv=3, n_jobs=2, random_state=0
    ).fit(X_train, y_train)

print(f"\n{'':<16} {'candidates':>10} {'CV score':>8} {'test score':>10}")
print(f"{'default model':<16} {1:>10} {'':>8} {default.score(X_test, y_test):>10.3f}")
for name, fitted, n_candidates in (
    ("RandomSearchCV", random, random.n_iter),
    ("HyperbandSearchCV", search, plan.n_candidates),
):
    print(
        f"{name:<17}{n_candidates:>10} {fitted.best_score_:>8.3f} "
        f"{fitted.score(X_test, y_test):>10.3f}"
    )

# %%
# Which candidate was stopped where? Each line is a candidate; it ends where Hyperband gave up on
# it. The scale is logarithmic in the errors, so that the good ones can be told apart.

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None

if plt is not None:
    red, amber = "#d1495b", "#c98a1b"
    blues = {1: "#bcc6d2", 3: "#93b1ca", 9: "#4f87b0", 27: "#174a73"}
    best_trial = results["trial_id"][search.best_index_]
    floor = np.quantile(results["mean_test_score"], 0.15)
    fig, axes = plt.subplots(
        ncols=4, figsize=(11, 4), sharey=True, layout="constrained", width_ratios=[4, 3, 2.2, 1.6]
    )
    for bracket, ax in enumerate(axes):
        rungs = [rung for rung in plan.rungs if rung.bracket == bracket]
        trials = np.unique(results["trial_id"][results["bracket"] == bracket])
        n_below = 0
        for trial in trials:
            rows = results["trial_id"] == trial
            epochs, scores = results["n_resources"][rows], results["mean_test_score"][rows]
            color = red if trial == best_trial else blues[epochs[-1]]
            style = {"color": color, "zorder": 99 if trial == best_trial else 2 + epochs[-1]}
            n_below += scores[-1] < floor
            ax.plot(epochs, scores, lw=2.4 if trial == best_trial else 1.4, **style)
            ax.plot(epochs[-1], scores[-1], "o", ms=6, mec="w", mew=0.8, **style)
            if trial == best_trial:
                ax.annotate(
                    f"best: {scores[-1]:.3f}", (epochs[-1], scores[-1]), (0, 7), ha="center",
                    textcoords="offset points", color=red,
                )  # fmt: skip
        if n_below:
            alone = len(rungs) == 1  # a narrow panel
            ax.annotate(
                f"{n_below} further down", (rungs[0].n_resources, floor), (0 if alone else 9, 4),
                ha="center" if alone else "left", textcoords="offset points", color="#7b8794",
                fontsize=8.5,
            )  # fmt: skip
        ax.axhline(random.best_score_, color=amber, lw=1.2, ls=(0, (4, 3)), zorder=1)
        counts = " → ".join(str(rung.n_candidates) for rung in rungs)
        ax.set_title(f"Bracket {bracket}: {counts}", fontsize=10, loc="left")
        ax.set_xscale("log")
        ax.set_xlim(rungs[0].n_resources / 1.4, EPOCHS * 1.6)
        ax.set_xticks([rung.n_resources for rung in rungs])
        ax.set_xticks([], minor=True)
        ax.xaxis.set_major_formatter("{x:.0f}")
        ax.set_xlabel("Epochs")
        ax.grid(axis="y", color="#e9edf1")
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(length=0)
    axes[0].set_ylabel("Mean accuracy over folds")
    axes[0].set_yscale("function", functions=(lambda a: -np.log1p(-a), lambda b: -np.expm1(-b)))
    axes[0].set_yticks(
        [tick for tick in (0.3, 0.5, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95) if tick > floor]
    )
    axes[0].set_ylim(floor, 1 - 0.82 * (1 - results["mean_test_score"].max()))
    axes[0].annotate(
        "best of random search", (0.8, random.best_score_), (0, 4), textcoords="offset points",
        color=amber, fontsize=9,
    )  # fmt: skip
    fig.suptitle(
        f"{plan.n_candidates} candidates for {plan.total_resources} epochs: "
        "the darker a line, the longer it was trained",
        x=0.01, ha="left", fontsize=12,
    )  # fmt: skip
    if __name__ == "__main__" and "--out" in sys.argv[:-1]:
        fig.savefig(sys.argv[sys.argv.index("--out") + 1], dpi=150)

print(
    f"\nWith {plan.total_resources} epochs Hyperband looked at {plan.n_candidates} candidates, "
    f"random search at {random.n_iter}; on unseen pictures Hyperband's best is right in "
    f"{search.score(X_test, y_test):.1%} of cases, random search's in "
    f"{random.score(X_test, y_test):.1%} and the default in {default.score(X_test, y_test):.1%}."
)
