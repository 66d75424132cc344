"""
Is this search better than random?
==================================

A search on a real model takes minutes to days, so that hardly anybody repeats it, and a single
run of two searches mostly says which of them was lucky. On problems that only pretend to train,
a run takes milliseconds. Here a search of your own becomes such a problem, five searches run on it
forty times each, and statistics say which differences are more than luck.

Needs ``pip install ".[experiment,plot]"`` in a checkout. Run it as a script, with
``--out folder`` to save the figures.
"""

import sys
from functools import partial
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import loguniform
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import (
    ParameterSampler,
    RandomizedSearchCV,
    ShuffleSplit,
    StratifiedShuffleSplit,
)

from sksearch import HyperbandSearchCV
from sksearch.experiment import run_experiment
from sksearch.plotting import (
    CriticalDifferenceDisplay,
    DensityDisplay,
    HistoryDisplay,
    RegretDisplay,
)
from sksearch.samplers import RandomSampler, TPESampler
from sksearch.schedulers import FullFidelity, Hyperband
from sksearch.simulators import (
    FAMILIES,
    FUNCTIONS,
    GammaCurves,
    NearestCurves,
    load_mnist_curves,
)
from sksearch.stats import (
    anytime_regret,
    bootstrap_interval,
    compare_optima,
    friedman,
    normalised_regret,
    ranks,
    wilcoxon_holm,
)

EPOCHS = 27

# %%
# Your own search
# ---------------
# A search that is over has left loss curves behind: each line is a candidate, and ends where
# Hyperband stopped it.

X, y = load_digits(return_X_y=True)
space = {
    "alpha": loguniform(1e-6, 1),
    "eta0": loguniform(1e-5, 1),
    "learning_rate": ["constant", "invscaling", "adaptive"],
    "loss": ["hinge", "log_loss", "modified_huber"],
    "penalty": ["l2", "l1"],
}
search = HyperbandSearchCV(
    SGDClassifier(random_state=0), space, resource="epochs", max_resources=EPOCHS, n_iterations=3,
    cv=StratifiedShuffleSplit(1, test_size=0.5, random_state=0), random_state=0,
).fit(X / 16, y)  # fmt: skip
history = HistoryDisplay.from_search(search)

# %%
# They make a problem: any params have the curve of the nearest candidate that was tried. How wrong
# that is can be measured, by taking each curve away and looking up the nearest other one.

digits = NearestCurves.from_search(search)
error = digits.approximation_error()
spread = digits.curves[:, -1].std()
print(f"{len(digits.params)} recorded curves of {digits.max_resources} epochs")
print(f"error of the nearest other curve: median {error.median:.3f}, mean {error.mean:.3f}")
print(f"standard deviation of all last losses: {spread:.3f}")
print(f"rank correlation of last losses with their stand-ins: {error.correlation:.2f}")

# %%
# So it is a sketch of the real problem, and a kind one: a candidate that was stopped keeps its
# last loss, so whatever looked bad early is bad for good. The second problem errs on the other
# side. Its losses are those of a function of two parameters with many local minima, but the way
# there is a random process, whose first epochs tell rather little.

rastrigin = GammaCurves(
    FUNCTIONS["Rastrigin"](2), FAMILIES["rastrigin-1"], n_epochs=EPOCHS, noise=10
)

# %%
# Five searches, forty seeds
# --------------------------
# All have about the same budget, 25 whole trainings. A search is a pair of sampler and scheduler,
# or anything with ``fit`` and ``cv_results_``: scikit-learn's ``RandomizedSearchCV`` does the same
# as our random search, so it shows what a difference of nothing looks like.

searches = {
    "random": (RandomSampler(), FullFidelity(25)),
    "RandomizedSearchCV": partial(
        RandomizedSearchCV, n_iter=25, cv=ShuffleSplit(1, random_state=0), refit=False
    ),
    "TPE": (TPESampler(), FullFidelity(25)),
    "Hyperband": (RandomSampler(), Hyperband(n_iterations=2)),
    "TPE x Hyperband": (TPESampler(), Hyperband(n_iterations=2)),
}
problems = {"digits, recorded": digits, "Rastrigin, 2 dimensions": rastrigin}
table = run_experiment(searches, problems, n_seeds=40)
print(table.groupby("search", sort=False)[["step", "resource"]].max())

# %%
# Losses of different problems have different scales. On a scale from 0, the lowest loss there is,
# to 1, the median of random candidates, they can be shown side by side.


def scale(problem):
    """Loss of the best candidate, and of a middling one."""
    drawn = list(ParameterSampler(problem.space, 500, random_state=0))
    return problem.minimum, float(np.median(problem.losses(drawn)[:, -1]))


def final_regrets(table, problems):
    """Regrets of the best candidates of all runs: one column a search, one row a run."""
    losses = table.groupby(["problem", "seed", "search"])["incumbent"].last().unstack()
    ends = np.array([scale(problems[name]) for name in losses.index.get_level_values("problem")])
    return losses.apply(lambda column: normalised_regret(column, *ends.T))[list(searches)]


regrets = final_regrets(table, problems)
for name in problems:
    print(f"\n{name:<24} {'mean regret':>11}   95 % interval")
    for column, values in regrets.loc[name].items():
        low, high = bootstrap_interval(values)
        print(f"{column:<24} {values.mean():>11.4f}   {low:.4f} to {high:.4f}")

# %%
# The test of Kolmogorov and Smirnov says for each pair whether its best losses come from different
# distributions. The column "Holm" accounts for the fact that there are ten pairs.


def better_than_random(comparison):
    """Names of the searches that are so, significantly."""
    i = comparison.names.index("random")
    best_first = zip(comparison.names[:i], comparison.adjusted[i], strict=False)
    return ", ".join(name for name, p in best_first if p < comparison.alpha) or "none"


for name in problems:
    comparison = compare_optima(regrets.loc[name].to_dict("list"))
    print(f"\n{name}\n{comparison}")
    print(f"significantly better than random: {better_than_random(comparison)}")

# %%
# Where runs scatter so much, forty of them tell only large differences from luck. Densities show
# what the means hide: here, how far random search's bad luck reaches on the recorded problem. They
# are smoothed, so they reach a little below 0, where no regret is.

fig, axes = plt.subplots(nrows=2, figsize=(8.5, 6), layout="constrained")
for ax, name in zip(axes, problems, strict=True):
    DensityDisplay.from_values(regrets.loc[name].to_dict("list"), bandwidth=0.08, ax=ax)
    ax.set_title(name, loc="left", fontsize=11)
    ax.set_xlabel("Regret of a run's best candidate")

# %%
# The end is not all: if you may have to stop early, you want to know which search is ahead when.
# Until a candidate has had all epochs, the regret is that of a training that is not over, which is
# small on the recorded problem and large on the other one.

grid = np.geomspace(EPOCHS, 26 * EPOCHS, 80).round()
anytime, axes = plt.subplots(nrows=2, figsize=(8.5, 6.4), layout="constrained")
for ax, (name, problem) in zip(axes, problems.items(), strict=True):
    curves = {}
    for column in searches:
        runs = table[(table["problem"] == name) & (table["search"] == column)].groupby("seed")
        losses = [anytime_regret(run["resource"], run["incumbent"], grid) for _, run in runs]
        curves[column] = normalised_regret(losses, *scale(problem))
    RegretDisplay.from_results(curves, grid, unit="epochs", ax=ax)
    ax.set_title(name, loc="left", fontsize=11)

# %%
# And on other problems?
# ----------------------
# Forty seeds say a lot about one problem, and nothing about the next one. For that, problems are
# the sample, and few seeds each are enough. Here are ten: the two from above, recorded curves of
# MNIST, which all have their full length, and more functions of two to four parameters.

mnist = load_mnist_curves()
problems["MNIST, recorded"] = NearestCurves(mnist.space, mnist.params, mnist.curves[:, :EPOCHS])
for function, family in (
    (FUNCTIONS["Branin"](), "branin"),
    (FUNCTIONS["SixHumpCamel"](), "branin"),
    (FUNCTIONS["Levy"](2), "branin"),
    (FUNCTIONS["Rosenbrock"](2), "branin"),
    (FUNCTIONS["StyblinskiTang"](3), "branin"),
    (FUNCTIONS["Ackley"](3), "rastrigin-1"),
    (FUNCTIONS["Rastrigin"](4), "rastrigin-1"),
):
    name = f"{type(function).__name__}, {len(function.bounds)} dimensions"
    problems[name] = GammaCurves(function, FAMILIES[family], n_epochs=EPOCHS, noise=10)
table = run_experiment(searches, problems, n_seeds=8)
means = final_regrets(table, problems).groupby("problem", sort=False).mean()
print(means.round(3).to_string())

# %%
# Each problem ranks the searches by their mean regret. Friedman's test asks whether they differ at
# all, Wilcoxon's which of them differ from random search. In the diagram, bars join searches whose
# mean ranks are too close to call.

result = friedman(means)
p_values = wilcoxon_holm(means, control=0)
print(f"Friedman: p = {result.p_value:.2g}")
for name, rank, p in zip(searches, result.mean_ranks, p_values, strict=True):
    print(f"{name:<20} mean rank {rank:.1f}" + (f", Wilcoxon p = {p:.2g}" if p == p else ""))
critical = CriticalDifferenceDisplay.from_ranks(ranks(means), list(searches))

# %%
# Is it better than random, then? Ask for your own problems, and for differences that matter to
# you. More seeds and more problems cost minutes; here both were kept few.

if __name__ == "__main__" and "--out" in sys.argv[:-1]:
    folder = Path(sys.argv[sys.argv.index("--out") + 1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, figure in {
        "history": history.figure_,
        "densities": fig,
        "regret": anytime,
        "ranks": critical.figure_,
    }.items():
        figure.savefig(folder / f"{name}.png", dpi=150)
