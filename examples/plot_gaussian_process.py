"""
Bayesian optimisation, step by step
===================================

A Gaussian process is a distribution over functions. Results condition it, an acquisition function
turns it into the value of trying a candidate, and the candidate with the greatest value is next.
Here each step is drawn, for one parameter and then for a slice of a search with two.

Run it as a script, with ``--out folder`` to save the figures.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import loguniform
from sklearn.datasets import load_digits
from sklearn.svm import SVC

from sksearch import GPBayesSearchCV
from sksearch.acquisition import LogEI
from sksearch.models import GaussianProcess, MixedKernel, learn_theta, standardise

BLUE, VERMILION, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#6b7480"
FOLDER = Path(sys.argv[sys.argv.index("--out") + 1]) if "--out" in sys.argv else None
LINE = np.linspace(0, 1, 301)[:, np.newaxis]
KERNEL = MixedKernel([False])


def draw_process(ax, gp, x=None):
    """Mean and 95 % interval of a process along a line."""
    x = LINE[:, 0] if x is None else x
    mean, sd = gp.predict(LINE)
    ax.fill_between(x, mean - 1.96 * sd, mean + 1.96 * sd, color=BLUE, alpha=0.15, lw=0)
    ax.plot(x, mean, color=BLUE, lw=2, label="mean and 95 %")


def finish(figure, name):
    """Remove frames, and save."""
    for ax in figure.axes:
        ax.grid(color="#e9edf1")
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(which="both", length=0)
    if FOLDER is not None:
        FOLDER.mkdir(parents=True, exist_ok=True)
        figure.savefig(FOLDER / f"{name}.png", dpi=110)


# %%
# Prior and posterior
# -------------------
# Before any result, all functions of the kernel's smoothness are possible. A longer length-scale
# means smoother functions. After four results only functions through these points are left: near
# them the process is certain, far from them it returns to its prior. With a short length-scale a
# result says little about its neighbours.


def score(x):
    """The function to maximise; a search knows only the points it has tried."""
    return np.sin(9 * x) * (1 - x) + 1.2 * np.exp(-60 * (x - 0.8) ** 2)


tried = np.array([0.08, 0.35, 0.5, 0.95])
nowhere = np.array([[1e3]])  # so far away that it tells nothing: this is the prior
figure, axes = plt.subplots(2, 2, figsize=(9, 5.6), sharex=True, sharey=True, layout="constrained")
for column, length in zip(axes.T, (0.1, 0.3), strict=True):
    theta = np.log([1e-6, 1.0, length])  # noise, variance, length-scale
    prior = GaussianProcess(KERNEL, theta).fit(nowhere, np.zeros(1))
    posterior = GaussianProcess(KERNEL, theta).fit(tried[:, np.newaxis], score(tried))
    for ax, gp, name in zip(column, (prior, posterior), ("Prior", "Posterior"), strict=True):
        samples = gp.sample(LINE, 4, np.random.default_rng(1))
        ax.plot(LINE, samples, color=GREY, lw=0.8, alpha=0.8)
        draw_process(ax, gp)
        ax.set_title(f"{name}, length-scale {length}", loc="left", fontsize=11)
    column[1].plot(tried, score(tried), "o", color="k", ms=5, zorder=3)
    column[1].set_xlabel("Parameter")
for ax in axes[:, 0]:
    ax.set_ylabel("Score")
finish(figure, "gp_prior_posterior")

# %%
# The next candidate
# ------------------
# The expected improvement is large where the mean is high, or where the interval reaches far above
# the best score so far. The search tries its maximum, conditions the process on the result, and
# repeats. The first two steps stay near the best score; the third explores the widest interval and
# finds the maximum.

figure, axes = plt.subplots(
    2, 3, figsize=(10, 5), sharex=True, sharey="row", layout="constrained", height_ratios=(2, 1)
)
known = tried
for step, (above, below) in enumerate(axes.T, 1):
    values = score(known)
    gp = GaussianProcess(KERNEL, np.log([1e-6, 1.0, 0.15])).fit(known[:, np.newaxis], values)
    gain = np.exp(LogEI()(*gp.predict(LINE), values.max()))
    following = LINE[gain.argmax(), 0]
    draw_process(above, gp)
    above.plot(LINE, score(LINE), color=GREY, lw=1, ls="--", label="truth")
    above.plot(known, values, "o", color="k", ms=5, label="tried")
    below.fill_between(LINE[:, 0], 0, gain, color=GREEN, alpha=0.4, lw=0)
    for ax in (above, below):
        ax.axvline(following, color=VERMILION, lw=1.5, label="next")
    above.set_title(f"Step {step}", loc="left", fontsize=11)
    below.set_xlabel("Parameter")
    known = np.append(known, following)
axes[0, 0].set_ylabel("Score")
axes[1, 0].set_ylabel("Improvement")
lines = axes[0, 0].get_legend_handles_labels()
figure.legend(*lines, loc="outside upper center", ncols=4, frameon=False)
finish(figure, "gp_steps")

# %%
# A slice of a search
# -------------------
# The same picture of a search on digits, along one parameter through the best candidate. The
# process knows all 15 results; drawn are the slice and the candidates, whose other parameter
# differs: the paler a point, the farther it is from the slice.

X, y = load_digits(return_X_y=True)
space = {"gamma": loguniform(1e-5, 1e-1), "C": loguniform(1e-1, 1e3)}
search = GPBayesSearchCV(SVC(), space, n_iter=15, cv=3, random_state=0).fit(X[:500], y[:500])
inner = search.history_.problem.space  # its coordinates are those of the unit cube
U = np.array([inner.to_unit(params) for params in search.cv_results_["params"]])
scores = search.cv_results_["mean_test_score"]
values = standardise(scores)
kernel = MixedKernel([False, False])
gp = GaussianProcess(kernel, learn_theta(kernel, U, values)).fit(U, values)

figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
for j, ax in enumerate(axes):
    name = inner.dimensions[j].name
    points = np.tile(U[scores.argmax()], (len(LINE), 1))
    points[:, j] = LINE[:, 0]
    mean, sd = gp.predict(points)
    low, high = (scores.mean() + scores.std() * (mean + sign * 1.96 * sd) for sign in (-1, 1))
    x = space[name].ppf(LINE[:, 0])
    ax.fill_between(x, low, high, color=BLUE, alpha=0.15, lw=0)
    ax.plot(x, (low + high) / 2, color=BLUE, lw=2)
    apart = np.abs(U - U[scores.argmax()])[:, 1 - j]
    ax.scatter(space[name].ppf(U[:, j]), scores, color="k", alpha=np.exp(-3 * apart), s=25, lw=0)
    ax.set_xscale("log")
    ax.set(xlabel=name, ylim=(-0.1, 1.2))
    ax.set_title(f"Slice along {name}", loc="left", fontsize=11)
axes[0].set_ylabel("Accuracy")
finish(figure, "gp_slice")
