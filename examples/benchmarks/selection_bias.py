"""Whether the corrected score of the chosen candidate covers its true score, 200 searches each.

Simulated searches have true scores by design: y = candidate + fold + noise, for several
distributions of candidates. Real searches train 40 decision trees on 120 rows of a known source,
with 5 folds; the true score of a candidate is its mean accuracy over 40 fresh training sets of the
size of a training fold, on 2000 fresh rows each. At signal 0 the classes are drawn by lot.

In both the best mean over the folds is chosen, and two intervals of 95 % are made for its true
score: the corrected one of `sksearch.stats._selection.selected_score`, and the usual one, the mean
over folds with Student's interval. Bias is the mean of what was said less what is true.

    python examples/benchmarks/selection_bias.py [--searches 200] [--simulated]

It takes ten minutes on one core, one with ``--simulated``. Exit status 1 if a corrected coverage
is below 90 %.
"""

import argparse
import sys

import numpy as np
from scipy.stats import t
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from sksearch.stats._selection import selected_score

SOURCES = {
    "all equal": lambda rng, n: np.zeros(n),
    "normal, half the noise": lambda rng, n: rng.standard_normal(n) / 2,
    "normal, twice the noise": lambda rng, n: 2 * rng.standard_normal(n),
    "a tail of bad ones": lambda rng, n: -3 * rng.exponential(size=n),
    "one in ten is better": lambda rng, n: (rng.random(n) < 0.1).astype(float),
}
SIZES = ((1, 5), (10, 3), (30, 5), (100, 5), (100, 10))
SIGNALS = (0, 1, 3)
N_ROWS, N_FOLDS, N_FRESH = 120, 5, 40
TREES = [
    DecisionTreeClassifier(
        max_depth=depth, min_samples_leaf=leaf, criterion=criterion, max_features=features,
        random_state=0,
    )
    for depth in (1, 2, 3, 5, 8)
    for leaf in (1, 5)
    for criterion in ("gini", "entropy")
    for features in (None, 3)
]  # fmt: skip


def simulated(draw, n, k, n_searches):
    """True scores and scores on folds, search by search."""
    rng = np.random.default_rng(0)
    for _ in range(n_searches):
        truth = draw(rng, n)
        yield truth, truth[:, None] + rng.standard_normal(k) + rng.standard_normal((n, k))


def draw_rows(n, rng, signal):
    """Rows of eight features, of which four tell the class."""
    X = rng.standard_normal((n, 8))
    logit = signal * (X[:, 0] + X[:, 1] * X[:, 2] + X[:, 3] / 2)
    return X, (rng.random(n) < 1 / (1 + np.exp(-logit))).astype(int)


def accuracy(tree, train, test):
    """Train and score."""
    return (tree.fit(*train).predict(test[0]) == test[1]).mean()


def real(signal, n_searches):
    """True scores and scores on folds of all trees, search by search."""
    rng = np.random.default_rng(1)
    truth = np.zeros(len(TREES))
    for _ in range(N_FRESH):
        train = draw_rows(N_ROWS * (N_FOLDS - 1) // N_FOLDS, rng, signal)
        test = draw_rows(2000, rng, signal)
        truth += [accuracy(tree, train, test) / N_FRESH for tree in TREES]
    for seed in range(n_searches):
        X, y = draw_rows(N_ROWS, rng, signal)
        folds = [*StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed).split(X, y)]
        yield truth, np.array(
            [
                [accuracy(tree, (X[a], y[a]), (X[b], y[b])) for a, b in folds]
                for tree in TREES
            ]
        )  # fmt: skip


def judge(name, searches):
    """Print a line for one source; return the corrected coverage."""
    rows = []
    for truth, scores in searches:
        chosen = scores.mean(axis=1).argmax()
        true, own, k = truth[chosen], scores[chosen], scores.shape[1]
        found = selected_score(scores)
        usual = t.ppf(0.975, k - 1) * own.std(ddof=1) / np.sqrt(k)
        rows.append(
            [
                found.low <= true <= found.high,
                abs(own.mean() - true) <= usual,
                found.corrected - true,
                found.seen - true,
                found.tibshirani - true,
                found.high - found.low,
                2 * usual,
            ]
        )
    mean = np.mean(rows, axis=0)
    print(
        f"{name:<38}{mean[0]:>9.1%}{mean[1]:>9.1%}"
        + "".join(f"{value:>+11.3f}" for value in mean[2:5])
        + "".join(f"{value:>9.3f}" for value in mean[5:]),
        flush=True,
    )
    return mean[0]


def main():
    """Judge all sources."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--searches", type=int, default=200)
    parser.add_argument("--simulated", action="store_true", help="leave out real trainings")
    args = parser.parse_args()
    print(f"{'':<38}{'covered by':>18}{'bias of':>33}{'width of':>18}")
    names = ("correct.", "usual", "corrected", "seen", "Tibshirani", "correct.", "usual")
    widths = (9, 9, 11, 11, 11, 9, 9)
    print(" " * 38 + "".join(f"{a:>{w}}" for a, w in zip(names, widths, strict=True)))
    covered = [
        judge(f"{name}, n={n}, {k} folds", simulated(draw, n, k, args.searches))
        for name, draw in SOURCES.items()
        for n, k in SIZES
    ]
    if not args.simulated:
        covered += [judge(f"trees, signal {s}", real(s, args.searches)) for s in SIGNALS]
    print(f"lowest corrected coverage {min(covered):.1%}, mean {np.mean(covered):.1%}")
    return int(min(covered) < 0.9)


if __name__ == "__main__":
    sys.exit(main())
