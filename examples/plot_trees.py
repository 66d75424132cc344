"""
Trees as the resource
=====================

A forest of 9 trees that is brought to 27 needs 18 more, and a boosting model of 9 iterations
goes on from there. ``resource="n_estimators"`` or ``resource="max_iter"`` does so by
``warm_start``. Is the model that grew the model that would have been fitted at once? It is, to
the last bit, and here is the proof.

Run it as a script, with ``--out trees.png`` to save the figure.
"""

import sys

import numpy as np
from scipy.stats import loguniform, randint, uniform
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import cross_val_score, train_test_split
from threadpoolctl import threadpool_limits

from sksearch import HyperbandSearchCV
from sksearch.datasets import load
from sksearch.estimators import Family, register

N_TREES = 27
# So few rows are faster with one thread, and on a busy machine twenty times.
threads = threadpool_limits(1)

# %%
# Two models that count the trees they train.


class ForestCounter(RandomForestClassifier):
    """A forest that counts."""

    trained = 0

    def fit(self, X, y, sample_weight=None):
        """Train, and add the new trees to the count."""
        before = len(self.estimators_) if self.warm_start and hasattr(self, "estimators_") else 0
        super().fit(X, y, sample_weight)
        ForestCounter.trained += len(self.estimators_) - before
        return self


class HistGradientBoostingCounter(HistGradientBoostingClassifier):
    """Boosting that counts its iterations."""

    trained = 0

    def fit(self, X, y, sample_weight=None):
        """Train, and add the new iterations to the count."""
        before = self.n_iter_ if self.warm_start and hasattr(self, "_predictors") else 0
        super().fit(X, y, sample_weight)
        HistGradientBoostingCounter.trained += self.n_iter_ - before
        return self


class CountersTrainAsTheirBases(Family):
    """A ``fit`` of one's own is not continued, unless a family says that it may be."""

    classes = ("__main__.ForestCounter", "__main__.HistGradientBoostingCounter")

    def can_grow(self, model, name, names, passed, n_rows):
        """By their count."""
        return name in ("n_estimators", "max_iter")


register(CountersTrainAsTheirBases())

models = {
    "forest": (
        ForestCounter(random_state=0),
        "n_estimators",
        {
            "max_depth": randint(3, 30),
            "min_samples_leaf": randint(1, 20),
            "max_features": uniform(0.05, 0.9),
        },
    ),
    "boosting": (
        HistGradientBoostingCounter(early_stopping=False, random_state=0),
        "max_iter",
        {
            "learning_rate": loguniform(0.01, 1),
            "max_leaf_nodes": randint(4, 64),
            "min_samples_leaf": randint(2, 60),
            "l2_regularization": loguniform(1e-6, 10),
        },
    ),
}

# %%
# Measurements of benign and malignant tumours. Where ``SKSEARCH_DATA`` names a folder with the
# table ``magic``, that is taken instead.

data = load("magic", n_samples=3_000)
X_train, X_test, y_train, y_test = train_test_split(
    data.data, data.target, train_size=0.4, stratify=data.target, random_state=0
)
print(f"{data.source}: {len(X_train)} rows to train, {len(X_test)} to test")

# %%
# Search, and fit what was found once more at one go: on the folds and on all rows.

searches, counts = {}, {}
columns = f"{'candidates':>10} {'trees':>6} {'if anew':>8} {'score':>7} {'test':>6}"
print(f"\n{'':<10} {columns}  grown = at one go")
for name, (model, resource, space) in models.items():
    search = HyperbandSearchCV(
        model, space, resource=resource, max_resources=N_TREES, cv=3, refit=False, random_state=0
    )
    type(model).trained = 0
    search.fit(X_train, y_train)
    trained = type(model).trained
    assert trained == 3 * search.plan_.total_resources  # in each of 3 folds
    anew = 3 * sum(rung.n_candidates * rung.n_resources for rung in search.plan_.rungs)
    searches[name], counts[name] = search, (trained, anew)

    results = search.cv_results_
    grown = [i for i in range(len(results["iter"])) if results["iter"][i] > 0]
    grown = [*grown[:: max(1, len(grown) // 12)], search.best_index_]  # a dozen, and the best
    same = []
    for i in grown:
        at_once = clone(model).set_params(**results["params"][i])
        scores = cross_val_score(at_once, X_train, y_train, cv=3)
        same.append(all(results[f"split{k}_test_score"][i] == scores[k] for k in range(3)))
    test = clone(model).set_params(**search.best_params_).fit(X_train, y_train)
    print(
        f"{name:<10} {search.plan_.n_candidates:>10} {trained:>6} {anew:>8} "
        f"{search.best_score_:>7.4f} {test.score(X_test, y_test):>6.3f}  "
        f"{sum(same)} of {len(same)} rows"
    )
    assert all(same)

# %%
# The refitted model, too: it predicts the same probabilities.

print("\nrefitted model = model fitted from nothing, largest difference of probabilities:")
for name, (model, _, _) in models.items():
    search = clone(searches[name]).set_params(refit=True, max_resources=9)
    search.fit(X_train, y_train)
    once = clone(model).set_params(**search.best_params_).fit(X_train, y_train)
    gap = np.abs(search.predict_proba(X_test) - once.predict_proba(X_test)).max()
    print(f"{name:<10} {gap:.1f}")
    assert gap == 0

# %%
# How the candidates grew, and what that saved. A line is a candidate; the darker it is, the
# further the candidate was trained. Red is the best one.

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None

if plt is not None:
    red = "#d1495b"
    greens = {1: "#c6d3c4", 3: "#94bd95", 9: "#4f8f62", 27: "#155239"}
    fig, axes = plt.subplots(
        ncols=3, figsize=(11, 4), layout="constrained", width_ratios=[3, 3, 2.2]
    )
    for ax, (name, search) in zip(axes, searches.items(), strict=False):
        results = search.cv_results_
        best_trial = results["trial_id"][search.best_index_]
        floor = max(np.quantile(results["mean_test_score"], 0.1), search.best_score_ - 0.1)
        for trial in np.unique(results["trial_id"]):
            rows = results["trial_id"] == trial
            trees, scores = results["n_resources"][rows], results["mean_test_score"][rows]
            color = red if trial == best_trial else greens[trees[-1]]
            style = {"color": color, "zorder": 99 if trial == best_trial else 2 + trees[-1]}
            ax.plot(trees, scores, lw=2.4 if trial == best_trial else 1.2, **style)
            ax.plot(trees[-1], scores[-1], "o", ms=5, mec="w", mew=0.7, **style)
        best = (results["n_resources"][search.best_index_], search.best_score_)
        ax.annotate(
            f"best: {best[1]:.3f}", best, (0, 8), textcoords="offset points", color=red,
            ha="center",
        )  # fmt: skip
        ax.set_xscale("log")
        ax.set_xticks(list(greens))
        ax.set_xticks([], minor=True)
        ax.xaxis.set_major_formatter("{x:.0f}")
        ax.set_xlim(0.8, 45)
        ax.set_ylim(floor - 0.12 * (best[1] - floor), best[1] + 0.15 * (best[1] - floor))
        n_below = (results["mean_test_score"] < floor - 0.1 * (best[1] - floor)).sum()
        ax.annotate(
            f"{n_below} scores are further down", (0.97, 0.02), xycoords="axes fraction",
            color="#7a8590", ha="right", fontsize=9,
        )  # fmt: skip
        ax.set_xlabel({"forest": "Trees", "boosting": "Iterations"}[name])
        ax.set_title(name.capitalize(), loc="left", fontsize=11)
        ax.grid(axis="y", color="#e9edf1")
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(length=0)
    axes[0].set_ylabel("Mean accuracy over folds")

    ax = axes[2]
    labels = [f"{name}\n{way}" for name in counts for way in ("grown", "anew")]
    totals = [count for pair in counts.values() for count in pair]
    places = [0, 1, 2.4, 3.4]
    ax.barh(places, totals, color=["#155239", "#c6d3c4"] * 2, height=0.75)
    for place, total in zip(places, totals, strict=True):
        ax.annotate(
            f"{total:,}", (total, place), (5, 0), textcoords="offset points", va="center"
        )  # fmt: skip
    ax.set_yticks(places, labels)
    ax.invert_yaxis()
    ax.set_xlim(0, 1.3 * max(totals))
    ax.set_xticks([])
    ax.set_title("Trained in all", loc="left", fontsize=11)
    ax.spines[["top", "right", "bottom"]].set_visible(False)
    ax.tick_params(length=0)
    if __name__ == "__main__" and "--out" in sys.argv[:-1]:
        fig.savefig(sys.argv[sys.argv.index("--out") + 1], dpi=150)

threads.restore_original_limits()
saved = 1 - sum(c[0] for c in counts.values()) / sum(c[1] for c in counts.values())
print(
    f"\nGrowing from rung to rung gave the very models that fitting at one go gives, with "
    f"{saved:.0%} fewer trees than fitting anew at each rung."
)
