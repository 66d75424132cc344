"""
A Gaussian process that grows by rows
=====================================

After each result the Gaussian process of a search has one more point, and all others are where
they were. To factorise its covariance matrix anew costs of the order of n³ operations; to append
a row to the factor that is already there, n². What does that save, and is it the same factor?

Run it as a script, with ``--out cholesky.png`` to save the figure.
"""

import sys
import time

import numpy as np
from threadpoolctl import threadpool_limits

from sksearch.models import GaussianProcess, MixedKernel
from sksearch.models._cholesky import CholeskyFactor

SIZES = [25, 50, 100, 200, 400, 800, 1_500]
N_STEPS = 11  # at each size
threads = threadpool_limits(1)  # as in a search

# %%
# Points in five dimensions, noisy values, and given hyperparameters, since as long as a search
# does not learn them anew they stay.

rng = np.random.default_rng(0)
n_all = SIZES[-1] + N_STEPS
U = rng.random((n_all, 5))
y = np.sin(6 * U[:, 0]) * U[:, 1] + U[:, 2] ** 2 + 0.05 * rng.standard_normal(n_all)
kernel = MixedKernel(categorical=[False] * 5)
theta = np.log([0.05**2, 1.0, *[0.5] * 5])  # noise, signal, length-scales

points = kernel.features(theta[1:], U)
K = kernel.covariance(theta[1:], points, points)
K[np.diag_indices(n_all)] += np.exp(theta[0])

# %%
# One more row when there are n: the factor and its inverse anew, and appended. The numbers are
# medians of eleven steps; the first step of appending makes room for half as many rows again,
# which a median does not show, and a search pays that only now and then.


def seconds_of(function, *args):
    """Seconds of one call."""
    start = time.perf_counter()
    function(*args)
    return time.perf_counter() - start


seconds, gaps = {"anew": [], "appended": []}, []
print(f"{'rows':>5} {'anew':>10} {'appended':>10} {'ratio':>6}  largest difference of factors")
for n in SIZES:
    factor, steps = CholeskyFactor(K[:n, :n]), {"anew": [], "appended": []}
    for m in range(n, n + N_STEPS):
        steps["anew"].append(seconds_of(CholeskyFactor, K[: m + 1, : m + 1]))
        row = K[m : m + 1, :m], K[m : m + 1, m : m + 1]
        steps["appended"].append(seconds_of(factor.append, *row))
    for way, each in steps.items():
        seconds[way].append(np.median(each))
    anew, appended = seconds["anew"][-1], seconds["appended"][-1]
    gaps.append(np.abs(factor.L - CholeskyFactor(K[: n + N_STEPS, : n + N_STEPS]).L).max())
    print(
        f"{n:>5} {1e3 * anew:>7.3f} ms {1e3 * appended:>7.3f} ms {anew / appended:>6.1f}  "
        f"{gaps[-1]:.1e}"
    )
    assert gaps[-1] < 1e-10

# %%
# Do errors add up? A process that has grown from 25 points row by row, against one that is
# conditioned on all of them at one go.

grown = GaussianProcess(kernel, theta).fit(U[: SIZES[0]], y[: SIZES[0]])
for m in range(SIZES[0], n_all):
    grown.append(U[m : m + 1], y[: m + 1])
once = GaussianProcess(kernel, theta).fit(U, y)

U_new = rng.random((2_000, 5))
(mean, sd), (mean_once, sd_once) = grown.predict(U_new), once.predict(U_new)
differences = {
    "factor": np.abs(grown.factor.L - once.factor.L).max(),
    "predicted mean": np.abs(mean - mean_once).max(),
    "predicted sd": np.abs(sd - sd_once).max(),
}
print(f"\nlargest differences after {n_all - SIZES[0]:,} rows that were appended one by one:")
for what, difference in differences.items():
    print(f"{what:<15} {difference:.1e}")
    assert difference < 1e-8

# %%
# Both axes are logarithmic: a power of n is a straight line, and its slope is the power.

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None

if plt is not None:
    fig, ax = plt.subplots(figsize=(7, 4.4), layout="constrained")
    for way, power, color in (("anew", 3, "#d1495b"), ("appended", 2, "#1f5f8b")):
        ax.plot(SIZES, seconds[way], "o-", color=color, lw=1.8, ms=6, mec="w", mew=0.8)
        ax.annotate(
            way, (SIZES[-1], seconds[way][-1]), (8, 0), textcoords="offset points", color=color,
            va="center",
        )  # fmt: skip
        tail = np.array(SIZES[-3:])
        guide = 0.45 * seconds[way][-1] * (tail / tail[-1]) ** power
        ax.plot(tail, guide, color="#7b8794", lw=1, ls=(0, (4, 3)), zorder=1)
        ax.annotate(
            f"n{'⁰¹²³'[power]}", (tail[1], guide[1]), (4, -12), textcoords="offset points",
            color="#7b8794",
        )  # fmt: skip
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xticks(SIZES, [f"{n:,}" for n in SIZES])
    ax.set_xticks([], minor=True)
    ax.set_xlim(20, 3_000)
    ax.set_xlabel("Rows that are there")
    ax.set_ylabel("Seconds for one more row")
    ax.grid(axis="y", color="#e9edf1")
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(which="both", length=0)
    ax.set_title(
        f"At {SIZES[-1]:,} rows appending is {seconds['anew'][-1] / seconds['appended'][-1]:.0f} "
        "times as fast",
        loc="left",
        fontsize=11,
    )
    if __name__ == "__main__" and "--out" in sys.argv[:-1]:
        fig.savefig(sys.argv[sys.argv.index("--out") + 1], dpi=150)

threads.restore_original_limits()
ratio = [anew / appended for anew, appended in zip(*seconds.values(), strict=True)]
print(
    f"\nAppending a row took 1/{ratio[-1]:.0f} of the time at {SIZES[-1]:,} rows and, at "
    f"{SIZES[0]}, {seconds['appended'][0] / seconds['anew'][0]:.1f} times that of a new "
    "factorisation; the predictions are the same but for rounding."
)
