"""
Cross-validation folds as the resource
======================================

Not every model can be trained epoch by epoch, but every cross-validation can be stopped early.
With ``resource="folds"`` all candidates are scored on one fold, the better third on three, the
best on all nine. A fold that was scored is never fitted again.

Run it as a script, with ``--out folds.png`` to save the figure.
"""

import sys

import numpy as np
from scipy.stats import loguniform
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from sksearch import RandomSearchCV, SuccessiveHalvingSearchCV
from sksearch.datasets import load

N_CANDIDATES, N_FOLDS = 27, 9

# %%
# Measurements of benign and malignant tumours, and a support vector machine. Where
# ``SKSEARCH_DATA`` names a folder with the table ``magic``, that is taken instead.

data = load("magic", n_samples=3_000)
X_train, X_test, y_train, y_test = train_test_split(
    data.data, data.target, train_size=0.4, stratify=data.target, random_state=0
)
print(f"{data.source}: {len(X_train)} rows to train, {len(X_test)} to test")

pipe = make_pipeline(StandardScaler(), SVC())
space = {"svc__C": loguniform(1e-2, 1e3), "svc__gamma": loguniform(1e-4, 1e1)}

# %%
# The same candidates for both: those that random search draws are the first guesses of
# successive halving.


def compare(seed):
    """Random search on all folds, and successive halving over folds."""
    settings = {
        "cv": StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed),
        "n_jobs": 2,
        "random_state": seed,
    }
    every = RandomSearchCV(pipe, space, n_iter=N_CANDIDATES, **settings).fit(X_train, y_train)
    halving = SuccessiveHalvingSearchCV(
        pipe,
        space,
        resource="folds",
        n_candidates=N_CANDIDATES,
        known={"params": every.cv_results_["params"]},
        **settings,
    ).fit(X_train, y_train)
    return every, halving


pairs = [compare(seed) for seed in range(3)]
print(f"\n{pairs[0][1].plan_}\n")

# %%
# On three seeds: fits without the refit, the score that each search found (both on all nine
# folds), the rank of halving's choice in random search's list, and accuracy on unseen rows.

print(f"{'':<6} {'all folds':^22} {'folds as resource':^27}")
columns = f"{'fits':>6} {'score':>7} {'test':>6}"
print(f"{'seed':<6} {columns}  {columns} {'rank':>4}")
for seed, (every, halving) in enumerate(pairs):
    chosen = every.cv_results_["params"].index(halving.best_params_)
    cells = [
        f"{s.plan_.n_fits - 1:>6} {s.best_score_:>7.4f} {s.score(X_test, y_test):>6.3f}"
        for s in (every, halving)
    ]
    rank = every.cv_results_["rank_test_score"][chosen]
    print(f"{seed:<6} {cells[0]}  {cells[1]} {rank:>4}")

# %%
# The fits of the first seed: a row is a candidate, best at the top, and a column a fold. What
# halving left out is blank.

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None


def scores_of(search, order):
    """Scores of shape (n_candidates, n_folds), NaN where a fold was left out."""
    rows = {}
    columns = np.array([search.cv_results_[f"split{i}_test_score"] for i in range(N_FOLDS)]).T
    for params, scores in zip(search.cv_results_["params"], columns, strict=True):
        key = tuple(params.values())  # later rows of a candidate have more folds
        rows[key] = np.where(np.isnan(scores), rows.get(key, np.nan), scores)
    return np.array([rows[key] for key in order])


if plt is not None:
    every, halving = pairs[0]
    ranked = np.argsort(-every.cv_results_["mean_test_score"], kind="stable")
    order = [tuple(every.cv_results_["params"][i].values()) for i in ranked]
    fig, axes = plt.subplots(ncols=2, figsize=(9, 5.6), sharey=True, layout="constrained")
    tables = [scores_of(search, order) for search in (every, halving)]
    limits = np.quantile(tables[0], 0.02), tables[0].max()
    titles = ("All folds", "Folds as the resource")
    for ax, search, table, title in zip(axes, (every, halving), tables, titles, strict=True):
        image = ax.pcolormesh(
            table, cmap="YlGnBu", vmin=limits[0], vmax=limits[1], edgecolors="w", linewidth=1.5
        )
        chosen = order.index(tuple(search.best_params_.values()))
        box = plt.Rectangle(
            (0, chosen), N_FOLDS, 1, fill=False, ec="#d1495b", lw=2.2, zorder=3, clip_on=False
        )
        ax.add_patch(box)
        ax.set_title(f"{title}: {np.isfinite(table).sum()} fits", loc="left", fontsize=11)
        ax.set_xticks(np.arange(N_FOLDS) + 0.5, range(1, N_FOLDS + 1))
        ax.set_xlabel("Fold")
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
    axes[0].set_ylabel("Candidates, best mean over all folds first")
    axes[0].set_yticks(np.array([1, 5, 10, 15, 20, 25]) - 0.5, [1, 5, 10, 15, 20, 25])
    axes[0].invert_yaxis()
    bar = fig.colorbar(image, ax=axes, shrink=0.6, aspect=25, extend="min")
    bar.set_label("Accuracy on the fold")
    bar.outline.set_visible(False)
    fig.suptitle("Red: the candidate that the search chose", x=0.01, ha="left", fontsize=11)
    if __name__ == "__main__" and "--out" in sys.argv[:-1]:
        fig.savefig(sys.argv[sys.argv.index("--out") + 1], dpi=150)

n_every, n_halving = (sum(s.plan_.n_fits - 1 for s in each) for each in zip(*pairs, strict=True))
lost = np.mean([every.best_score_ - halving.best_score_ for every, halving in pairs])
print(
    f"\nWith folds as the resource {n_halving} fits instead of {n_every} found scores that are "
    f"{lost:.4f} lower on average."
)
