"""
What a model knows
==================

Should you believe the Gaussian process of a search? Leave one result out, predict it from all
others, and compare: that costs nothing, since with the inverse of the factor at hand all n
predictions follow without a new fit. Here it tells that a range was given on the wrong scale, and
that the kernel may learn a better one.

Run it as a script, with ``--out model.png`` to save the figure.
"""

import sys

import numpy as np
from scipy.stats import loguniform, norm, uniform
from sklearn.svm import SVC

from sksearch import RandomSearchCV, minimize
from sksearch.datasets import load
from sksearch.models import GaussianProcess, MixedKernel
from sksearch.models._learning import learn_theta, sample_theta
from sksearch.models._transforms import robust_power_transform
from sksearch.samplers import GPSampler

N_RESULTS = 40

# %%
# An SVC on pictures of digits. What gamma does is a matter of its logarithm, but somebody asked
# for ``uniform``: all that is good is in the first sixth of the range.

data = load("digits")
X, y = data.data[:900], data.target[:900]
space = {"C": loguniform(1e-2, 1e3), "gamma": uniform(0, 3)}
search = RandomSearchCV(SVC(), space, n_iter=N_RESULTS, cv=3, n_jobs=2, random_state=0).fit(X, y)
problem = search.history_.problem
U = np.array([problem.space.to_unit(params) for params in search.cv_results_["params"]])
scores = robust_power_transform(search.cv_results_["mean_test_score"])

# %%
# Two kernels: one that takes the coordinates as they are, and one that learns for each of them a
# curve of Kumaraswamy's, which may stretch a part of the range. For each, 40 predictions of what
# was left out. The logarithm of the density of the truth says how good a prediction is: a mean
# that is far off costs, and so does an uncertainty that is too small or too large.


def left_out(theta, kernel):
    """Errors in predicted standard deviations, and the mean log density of the truth."""
    mean, sd = GaussianProcess(kernel, theta).fit(U, scores).leave_one_out()
    return (scores - mean) / sd, norm.logpdf(scores, mean, sd).mean()


kernels = {
    name: MixedKernel(problem.space.categorical, warp=warp)
    for name, warp in (("as it is", False), ("warped", True))
}
thetas = {name: learn_theta(kernel, U, scores) for name, kernel in kernels.items()}
errors = {}
print(f"{'gamma':<10}{'log density':>12}{'errors within 2 sd':>20}")
for name, kernel in kernels.items():
    errors[name], density = left_out(thetas[name], kernel)
    print(f"{name:<10}{density:>12.2f}{np.mean(np.abs(errors[name]) < 2):>20.0%}")

# %%
# Forty results leave room for more than one set of hyperparameters. Ten samples of their posterior
# tell how much: the wider the predictions lie apart, the more there is to gain from averaging over
# them, which is ``GPSampler(marginalise=True)`` and costs ten times as much. Here they hardly
# differ.

line = np.column_stack([np.full(200, 0.7), np.geomspace(1e-3, 1, 200)])
samples = sample_theta(kernels["warped"], thetas["warped"], U, scores, np.random.default_rng(0))
curves = np.array(
    [
        GaussianProcess(kernels["warped"], theta).fit(U, scores).predict(line)[0]
        for theta in samples
    ]
)
print(f"\nsamples of the hyperparameters differ by {curves.std(axis=0).mean():.2f} sd of a score")

# %%
# What that is worth in a search, where the mistake is made for four parameters at once: the loss
# is a matter of logarithms, the ranges are uniform. Thirty evaluations, eight seeds. Averaging
# over samples is the more careful way on paper; here it is no better.

wrong = {f"x{j}": uniform(1e-5, 1) for j in range(4)}


def loss(params):
    """A bowl in the logarithms, whose minimum is at 0.03, 0.016, 0.008, 0.004."""
    return sum((np.log10(x) + 1.5 + 0.3 * j) ** 2 for j, x in enumerate(params.values()))


print(f"\n{'GPSampler(...)':<20}{'median of the least losses':>27}")
for options in ({}, {"warp": True}, {"marginalise": True}):
    losses = [
        minimize(loss, wrong, n_iter=30, sampler=GPSampler(**options), random_state=seed).fun
        for seed in range(8)
    ]
    text = ", ".join(f"{key}={value}" for key, value in options.items()) or "the defaults"
    print(f"{text:<20}{np.median(losses):>27.2f}")

# %%
# Left, what was left out against its prediction: points of a calibrated model lie on the line.
# Right, the warped model along gamma, a line for each sample of the hyperparameters.

try:
    import matplotlib.pyplot as plt
except ImportError:
    sys.exit('for the figure: pip install ".[plot]" in this checkout')

blue, vermilion, grey = "#0072B2", "#D55E00", "#6b7480"
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
quantiles = norm.ppf((np.arange(N_RESULTS) + 0.5) / N_RESULTS)
for name, color, marker in (("as it is", blue, "x"), ("warped", vermilion, "o")):
    left.plot(np.sort(errors[name]), quantiles, marker, ms=5, color=color, label=f"gamma {name}")
left.axline((0, 0), slope=1, color=grey, lw=1, zorder=0)
left.set_title("Errors of forty predictions", loc="left", fontsize=11)
left.set(xlabel="Error, in predicted standard deviations", ylabel="Quantile of a normal law")
left.legend(frameon=False)
right.plot(3 * line[:, 1], curves.T, color=vermilion, alpha=0.4)
right.set_xscale("log")
right.set_title("Ten samples of the hyperparameters", loc="left", fontsize=11)
right.set(xlabel="gamma, at one C", ylabel="Predicted score, standardised")
for ax in (left, right):
    ax.grid(color="#e9edf1")
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(which="both", length=0)
if "--out" in sys.argv:
    figure.savefig(sys.argv[sys.argv.index("--out") + 1], dpi=150)
