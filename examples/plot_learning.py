"""
Proposals that learn
====================

Random search draws its thirtieth candidate as it drew its first. ``TPESearchCV`` and
``GPBayesSearchCV`` look at the scores so far and try what promises more. Here they tune a small
neural network with five hyperparameters: the same folds, the same number of candidates, three
seeds.

Run it as a script, with ``--out learning.png`` to save the figure.
"""

import sys
import warnings

import numpy as np
from scipy.stats import loguniform, randint
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sksearch import GPBayesSearchCV, RandomSearchCV, TPESearchCV
from sksearch.datasets import load
from sksearch.space import LogRandInt

N_CANDIDATES, EPOCHS = 30, 15
SEEDS = range(3)
SEARCHES = (RandomSearchCV, TPESearchCV, GPBayesSearchCV)

# %%
# Small pictures of digits. The ranges are wide, as for somebody who does not know yet what works.

data = load("digits")
X_train, X_test, y_train, y_test = train_test_split(
    data.data, data.target, train_size=0.5, stratify=data.target, random_state=0
)
print(f"{data.source}: {len(X_train)} rows to train, {len(X_test)} to test")

network = MLPClassifier(max_iter=EPOCHS, n_iter_no_change=EPOCHS, random_state=0)
pipe = make_pipeline(StandardScaler(), network)
space = {
    "mlpclassifier__hidden_layer_sizes": LogRandInt(8, 129),
    "mlpclassifier__activation": ["relu", "tanh", "logistic"],
    "mlpclassifier__learning_rate_init": loguniform(1e-5, 1e-1),
    "mlpclassifier__alpha": loguniform(1e-6, 1e1),
    "mlpclassifier__batch_size": randint(32, 257),
}

# %%
# Nine searches. Both that learn begin with the same few quasi-random candidates. The number of
# candidates is equal, the time is not: small batches train longer, and a search may come to
# prefer them.


def search_with(cls, seed):
    """Search on the folds of this seed."""
    cv = StratifiedKFold(3, shuffle=True, random_state=seed)
    search = cls(pipe, space, n_iter=N_CANDIDATES, cv=cv, n_jobs=2, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # to stop after EPOCHS is the point
        return search.fit(X_train, y_train)


searches = {cls.__name__: [search_with(cls, seed) for seed in SEEDS] for cls in SEARCHES}

# %%
# For each seed: the best score so far after so many candidates, the mean score of the last ten,
# which tells what is still tried, seconds of all fits, and the best one's accuracy on unseen rows.

scores, best, tests = {}, {}, {}
counts = (5, 10, 20, N_CANDIDATES)
print(f"\n{'best score so far after':<29}" + "".join(f"{n:>8}" for n in counts), end="")
print(f"{'last ten':>10}{'fits':>8}{'test':>8}")
for name, each in searches.items():
    scores[name] = np.array([search.cv_results_["mean_test_score"] for search in each])
    best[name] = np.maximum.accumulate(scores[name], axis=1)
    tests[name] = np.array([search.score(X_test, y_test) for search in each])
    seconds = [3 * search.cv_results_["mean_fit_time"].sum() for search in each]
    last = scores[name][:, -10:].mean(axis=1)
    rows = np.c_[best[name][:, np.array(counts) - 1], last, seconds, tests[name]]
    labels = [*(f"seed {seed}" for seed in SEEDS), "mean"]
    for label, row in zip(labels, [*rows, rows.mean(axis=0)], strict=True):
        cells = "".join(f"{x:>8.4f}" for x in row[:-3])
        print(f"{name:<18}{label:<11}{cells}{row[-3]:>10.4f}{row[-2]:>6.1f} s{row[-1]:>8.4f}")

# %%
# On the left the best so far, thick for the mean of the seeds; on the right every candidate.

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None

if plt is not None:
    colors = dict(zip(searches, ("#c98a1b", "#155239", "#1f5f8b"), strict=True))
    fig, axes = plt.subplots(
        ncols=4, figsize=(11, 4), layout="constrained", width_ratios=[4, 2, 2, 2]
    )
    candidates = np.arange(1, N_CANDIDATES + 1)
    for name, color in colors.items():
        for curve in best[name]:
            axes[0].step(candidates, curve, where="post", color=color, lw=0.9, alpha=0.45)
        axes[0].step(
            candidates, best[name].mean(axis=0), where="post", color=color, lw=2.4, label=name
        )
    low = min(curves[:, 4].min() for curves in best.values())
    high = max(curves.max() for curves in best.values())
    axes[0].set_ylim(low - 0.005, high + 0.003)
    axes[0].set_ylabel("Mean accuracy over folds")
    axes[0].set_title("Best so far", loc="left", fontsize=11)
    axes[0].legend(loc="lower right", frameon=False)
    for ax, (name, color) in zip(axes[1:], colors.items(), strict=True):
        for row in scores[name]:
            ax.plot(candidates, row, "o", ms=4.5, color=color, mec="w", mew=0.6)
        ax.set_ylim(0, 1)
        ax.set_title(name, loc="left", fontsize=11, color=color)
    for ax in axes[2:]:
        ax.set_yticklabels([])
    for ax in axes:
        ax.set_xlabel("Candidates" if ax is axes[0] else "Candidate")
        ax.set_xlim(0, N_CANDIDATES + 1)
        ax.grid(axis="y", color="#e9edf1")
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(length=0)
    if __name__ == "__main__" and "--out" in sys.argv[:-1]:
        fig.savefig(sys.argv[sys.argv.index("--out") + 1], dpi=150)

means = {name: curves[:, -1].mean() for name, curves in best.items()}
firsts = {  # candidates until the mean curve is where random search's ends
    name: np.flatnonzero(curves.mean(axis=0) >= means["RandomSearchCV"] - 1e-12)
    for name, curves in best.items()
}
print()
for name in ("TPESearchCV", "GPBayesSearchCV"):
    until = f"after {firsts[name][0] + 1} candidates" if len(firsts[name]) else "never"
    print(f"{name} had {until} the mean score that random search had after {N_CANDIDATES}.")
spread = np.ptp([test.mean() for test in tests.values()])
print(
    f"The mean accuracies on unseen rows differ by {spread:.4f}, about {spread * len(y_test):.0f} "
    f"of {len(y_test)} pictures: a better score on the folds is not always a better model, and "
    "three seeds are few. For more of them see examples/benchmarks/real.py."
)
