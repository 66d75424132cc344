"""
A better model in some seconds, from one line
=============================================

No space, no resource, no count: an estimator, data and a time. For comparison random search gets
the same space and the same seconds, and the model as it comes gets none. All of that for two
models and several seeds, so that luck is seen as luck.

Run it as a script, with ``--out quickstart.png`` to save the figure.
"""

import sys
import time
import warnings

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import RandomizedSearchCV, train_test_split
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from sksearch import SearchCV
from sksearch.space import LogRandInt, Outcome, default_space

SECONDS = 3
SEEDS = range(3)
warnings.simplefilter("ignore", ConvergenceWarning)  # of the net as it comes

# %%
# The search, with what it chooses.

X, y = load_diabetes(return_X_y=True)
models = {
    "boosted trees": HistGradientBoostingRegressor(random_state=0),
    "a net": make_pipeline(StandardScaler(), MLPRegressor(random_state=0)),
}
print(SearchCV(models["boosted trees"], timeout=SECONDS).plan(X, y), "\n")


# %%
# Random search knows no end by time, so it gets one candidate after the other until the time is
# up. It cannot find the count of trees or epochs on its way, so it searches that as well.


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


def three_ways(model, X, y, seed):
    """The untuned model, and by either search, each trained."""
    space = default_space(model, n_samples=len(X), n_features=X.shape[1])
    peer_space = {
        name: LogRandInt(25, 501) if isinstance(values, Outcome) else values
        for name, values in space.items()
    }
    return {
        "untuned": clone(model).fit(X, y),
        "random search": StoppedRandomSearch(model, peer_space, cv=3, random_state=seed).fit(X, y),
        "SearchCV": SearchCV(model, timeout=SECONDS, cv=3, random_state=seed).fit(X, y),
    }


# %%
# A third of the patients is kept for the end.

scores = {name: {} for name in models}
with threadpool_limits(1):  # small data: threads would wait for each other
    for name, model in models.items():
        for seed in SEEDS:
            X_train, X_test, y_train, y_test = train_test_split(
                X, y, test_size=1 / 3, random_state=seed
            )
            found = three_ways(model, X_train, y_train, seed)
            for way, fitted in found.items():
                scores[name].setdefault(way, []).append(fitted.score(X_test, y_test))
            tried = len(found["random search"].cv_results_["params"])
            print(
                f"{name}, seed {seed}: R2 {scores[name]['untuned'][-1]:.3f} untuned, "
                f"{scores[name]['random search'][-1]:.3f} by random search ({tried} candidates), "
                f"{scores[name]['SearchCV'][-1]:.3f} by SearchCV "
                f"({len(found['SearchCV'].history_.trials)} candidates)"
            )

# %%
# What is explained of the disease's progress in unseen patients, each seed a dot. A model that is
# worse than the mean of all patients has a value below zero.

print(f"\nR2 on unseen patients, mean of {len(SEEDS)} seeds:")
for name, ways in scores.items():
    print(f"  {name}: " + ", ".join(f"{np.mean(v):.2f} {way}" for way, v in ways.items()))

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None

if plt is not None:
    fig, axes = plt.subplots(1, 2, figsize=(9, 2.6), layout="constrained", sharey=True)
    colors = {"untuned": "#7b8794", "random search": "#c98a1b", "SearchCV": "#174a73"}
    for ax, (name, ways) in zip(axes, scores.items(), strict=True):
        for row, (way, values) in enumerate(reversed(ways.items())):
            seen = [value for value in values if value > 0]
            ax.barh(row, max(np.mean(values), 0), color=colors[way], height=0.6)
            ax.plot(seen, np.full(len(seen), row), "o", color="w", mec=colors[way], ms=7)
            ax.annotate(
                f"{np.mean(values):.2f}", (max([0, *seen]), row), (9, 0),
                textcoords="offset points", va="center", color=colors[way], fontweight="bold",
            )  # fmt: skip
        ax.set_title(name, loc="left")
        ax.set_yticks(range(len(ways)), list(reversed(ways)))
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(axis="y", length=0)
        ax.set_xlim(0, 0.6)
    fig.supxlabel(
        f"R2 on unseen patients after {SECONDS} s (bars and numbers: means, dots: seeds)",
        fontsize="medium",
    )
    if __name__ == "__main__" and "--out" in sys.argv[:-1]:
        fig.savefig(sys.argv[sys.argv.index("--out") + 1], dpi=150)
