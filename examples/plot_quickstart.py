"""
A better model in some seconds, from one line
=============================================

No space, no resource, no count: an estimator, data and a time. For comparison random search gets
the same space and the same seconds, and the model as it comes gets none. All of that for several
seeds, so that luck is seen as luck.

Run it as a script, with ``--out quickstart.png`` to save the figure.
"""

import sys
import time

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import RandomizedSearchCV, train_test_split
from threadpoolctl import threadpool_limits

from sksearch import SearchCV
from sksearch.space import LogRandInt, Outcome
from sksearch.spaces import default_space

SECONDS = 4
SEEDS = range(5)

# %%
# The search, with what it chooses.

X, y = load_diabetes(return_X_y=True)
model = HistGradientBoostingRegressor(random_state=0)
print(SearchCV(model, timeout=SECONDS).plan(X, y), "\n")


# %%
# Random search knows no end by time, so it gets one candidate after the other until the time is
# up. It cannot find the count of trees on its way, so it searches that as well.


class StoppedRandomSearch(RandomizedSearchCV):
    """scikit-learn's search, candidate by candidate, until the time is up."""

    def _run_search(self, evaluate_candidates):
        end, rng = time.perf_counter() + SECONDS, np.random.RandomState(self.random_state)
        while time.perf_counter() < end:
            evaluate_candidates(
                [{name: draw(values, rng) for name, values in self.param_distributions.items()}]
            )


def draw(values, rng):
    """A value of a list or a distribution."""
    if isinstance(values, list):
        return values[rng.randint(len(values))]
    return values.rvs(random_state=rng)


# %%
# A third of the patients is kept for the end.

scores = {"as it is": [], "random search": [], "SearchCV": []}
with threadpool_limits(1):  # small data: threads would wait for each other
    for seed in SEEDS:
        X_train, X_test, y_train, y_test = train_test_split(
            X, y, test_size=1 / 3, random_state=seed
        )
        space = default_space(model, n_samples=len(X_train), n_features=X.shape[1])
        peer_space = {
            name: LogRandInt(25, 501) if isinstance(values, Outcome) else values
            for name, values in space.items()
        }
        default = clone(model).fit(X_train, y_train)
        random = StoppedRandomSearch(model, peer_space, cv=3, random_state=seed)
        random.fit(X_train, y_train)
        search = SearchCV(model, timeout=SECONDS, cv=3, random_state=seed)
        search.fit(X_train, y_train)
        for name, fitted in (
            ("as it is", default),
            ("random search", random),
            ("SearchCV", search),
        ):
            scores[name].append(fitted.score(X_test, y_test))
        print(
            f"seed {seed}: R2 {scores['as it is'][-1]:.3f} as it is, "
            f"{scores['random search'][-1]:.3f} by random search "
            f"({len(random.cv_results_['params'])} candidates), "
            f"{scores['SearchCV'][-1]:.3f} by SearchCV ({len(search.history_.trials)} candidates)"
        )

# %%
# What is explained of the disease's progress in unseen patients, each seed a dot.

mean = {name: np.mean(values) for name, values in scores.items()}
print(f"\nR2 on unseen patients, mean of {len(SEEDS)} seeds:")
for name, value in mean.items():
    print(f"  {name:<14} {value:.3f}")

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None

if plt is not None:
    fig, ax = plt.subplots(figsize=(7, 2.6), layout="constrained")
    colors = {"as it is": "#7b8794", "random search": "#c98a1b", "SearchCV": "#174a73"}
    for row, (name, values) in enumerate(reversed(scores.items())):
        ax.barh(row, mean[name], color=colors[name], height=0.6)
        ax.plot(values, np.full(len(values), row), "o", color="w", mec=colors[name], ms=7)
        ax.annotate(
            f"{mean[name]:.2f}", (max(values), row), (9, 0), textcoords="offset points",
            va="center", color=colors[name], fontweight="bold",
        )  # fmt: skip
    ax.set_yticks(range(len(scores)), list(reversed(scores)))
    ax.set_xlim(0, 1.15 * max(map(max, scores.values())))
    ax.set_xlabel(f"R2 on unseen patients after {SECONDS} s (bars: means, dots: seeds)")
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    if __name__ == "__main__" and "--out" in sys.argv[:-1]:
        fig.savefig(sys.argv[sys.argv.index("--out") + 1], dpi=150)
