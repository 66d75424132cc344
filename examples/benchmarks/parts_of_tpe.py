"""Parts of two Parzen estimators, hyperopt's and ours, exchanged one at a time.

Hybrids of Hyperband end lower on flat functions with our `TPESampler` than with hyperopt's
estimator, which [1]_ used. Here both are made of the same parts, and one part at a time is taken
from the other, in the three brackets of [1]_. The loss of a flat curve is the same at every rung,
so a bracket is the estimator alone, and all runs take their steps together, as rows of one array.

===========  ====================================  =====================================
part         hyperopt's                            ours
===========  ====================================  =====================================
first        ten random draws                      ten points of a scrambled Sobol
                                                   sequence
good         the best sqrt(n) / 4 of n results     the best n / 10
kernels      as wide as the larger gap to a        of one width, which decreases with n
             neighbour
prior        a normal density as wide as the       uniform
             range, with 38 % of its mass inside
coordinates  one at a time                         together
===========  ====================================  =====================================

Both count the prior as one result, let the weights of other candidates fall linearly before the
last 25, and take the best of 24 draws. "no forgetting" has equal weights, and in "half the prior"
the prior counts as half a result.

    python examples/benchmarks/parts_of_tpe.py [--runs 1000] [--record file.jsonl]

A thousand runs of everything take ten minutes of one core. The first estimator reproduces the
published means without hyperopt; `published_tpe.py` runs hyperopt itself.

.. [1] C. Matache, "Efficient design of machine learning hyperparameter optimizers", MEng thesis,
   Imperial College London, 2019.
"""

import argparse
import itertools
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import qmc

from sksearch.samplers._tpe import MAX_GOOD, N_DRAWS, _bandwidths, _recency_weights

sys.path.insert(0, str(Path(__file__).parents[1]))
from experiment_transfer import PUBLISHED, lines_of, problems

FLAT = ("flat Branin", "flat Rastrigin", "flat drop-wave")
N_FIRST = 10  # candidates before the first model
BRACKETS = (81, 27, 9)  # candidates of s = 4, 3, 2; a third of them reaches the next rung
CHUNK = 250  # runs in one array


@dataclass(frozen=True)
class Parts:
    """Parts of a Parzen estimator, True for ours, and two that both have."""

    first: bool = False
    good: bool = False
    kernels: bool = False
    prior: bool = False
    coordinates: bool = False
    forgetting: bool = True
    prior_weight: float = 1.0

    def n_good(self, n):
        """Return how many of n results are good."""
        return min(int(np.ceil(n / 10 if self.good else np.sqrt(n) / 4)), MAX_GOOD)


HYPEROPT, OURS = Parts(), Parts(True, True, True, True, True)
EXCHANGED = ("first", "good", "kernels", "prior", "coordinates")
#: Searches by name: each with one part of the other, or a change of what they share.
VARIANTS = {
    f"{name}, {change}": parts
    for name, whole in (("hyperopt", HYPEROPT), ("ours", OURS))
    for change, parts in {
        "all parts": whole,
        **{part: replace(whole, **{part: whole is HYPEROPT}) for part in EXCHANGED},
        "no forgetting": replace(whole, forgetting=False),
        "half the prior": replace(whole, prior_weight=0.5),
    }.items()
}
SCHEMES = ("NONE", "ALL", "SURV", "SAME")


class Density:
    """Mixtures of truncated normal kernels, one for each row of U.

    Parameters
    ----------
    U : ndarray of shape (n_runs, n, d)
        Centres.
    weights : ndarray of shape (n,)
        Their weights.
    parts : Parts
        Which kernels and which prior.
    """

    def __init__(self, U, weights, parts):
        n_runs, _, d = U.shape
        self.C = np.concatenate([U, np.full((n_runs, 1, d), 0.5)], axis=1)
        h = np.broadcast_to(_bandwidths(U[0], d), U.shape) if parts.kernels else gaps(self.C)
        widest = 1e3 if parts.prior else 1.0  # a normal density of this width is uniform
        self.h = np.concatenate([h, np.full((n_runs, 1, d), widest)], axis=1)
        self.low, self.high = ndtr(-self.C / self.h), ndtr((1 - self.C) / self.h)
        self.mass = self.high - self.low
        self.w = np.tile(np.append(weights, parts.prior_weight), (n_runs, 1))
        # hyperopt draws again until a draw is inside: kernels count by their mass there.
        inside = self.mass.prod(axis=2)
        if not parts.kernels:
            self.w[:, :-1] *= inside[:, :-1]
        if not parts.prior:
            self.w[:, -1] *= inside[:, -1]
        self.w /= self.w.sum(axis=1, keepdims=True)

    def sample(self, rng):
        """Return draws of each mixture, shape (n_runs, N_DRAWS, d)."""
        n_runs, n, d = self.C.shape
        at = rng.random((n_runs, N_DRAWS, 1)) > np.cumsum(self.w, axis=1)[:, np.newaxis]
        which = np.minimum(at.sum(axis=2), n - 1)[:, :, np.newaxis]
        c, h, low, mass = (
            np.take_along_axis(of, which, axis=1) for of in (self.C, self.h, self.low, self.mass)
        )
        return np.clip(c + h * ndtri(low + rng.random((n_runs, N_DRAWS, d)) * mass), 0, 1)

    def log_density(self, X):
        """Return the logarithm of the density at points of shape (n_runs, m, d)."""
        value = np.log(self.w / (self.h * self.mass).prod(axis=2))[:, np.newaxis]
        for j in range(X.shape[2]):
            z = X[:, :, j, np.newaxis] - self.C[:, np.newaxis, :, j]
            value = value - 0.5 * (z / self.h[:, np.newaxis, :, j]) ** 2
        top = value.max(axis=2)
        exponents = np.exp(value - top[:, :, np.newaxis]).sum(axis=2)
        return top + np.log(exponents) - X.shape[2] * np.log(np.sqrt(2 * np.pi))


def gaps(C):
    """Return hyperopt's widths: the larger gap to a neighbour, the prior's centre (last) included.

    They are at least 1 / (n + 2) or a hundredth of the range, and 1 at most.
    """
    n = C.shape[1] - 1
    if n == 1:
        return np.full_like(C[:, :1], 0.5)
    order = np.argsort(C, axis=1, kind="stable")
    between = np.diff(np.take_along_axis(C, order, axis=1), axis=1)
    edge = np.zeros_like(between[:, :1])
    wide = np.maximum(np.append(edge, between, axis=1), np.append(between, edge, axis=1))
    h = np.empty_like(C)
    np.put_along_axis(h, order, np.clip(wide, 1 / min(100, n + 2), 1), axis=1)
    return h[:, :-1]


def propose(U, y, parts, rng):
    """Return the next point of each run, shape (n_runs, d), from points and losses of all runs."""
    n_runs, n, d = U.shape
    order = np.argsort(y, axis=1, kind="stable")
    n_good = parts.n_good(n)
    good = np.take_along_axis(U, np.sort(order[:, :n_good])[:, :, np.newaxis], axis=1)
    other = np.take_along_axis(U, np.sort(order[:, n_good:])[:, :, np.newaxis], axis=1)
    if not parts.coordinates:  # each coordinate as a run with one
        good, other = (np.moveaxis(of, 2, 1).reshape(n_runs * d, -1, 1) for of in (good, other))
    weights = _recency_weights(n - n_good) if parts.forgetting else np.ones(n - n_good)
    l, g = Density(good, np.ones(n_good), parts), Density(other, weights, parts)  # noqa: E741
    X = l.sample(rng)
    best = np.argmax(l.log_density(X) - g.log_density(X), axis=1)
    return X[np.arange(len(X)), best].reshape(n_runs, d)


def earlier(scheme, brackets, b):
    """Return what bracket number b sees of the ones before: points and losses, by their ranks.

    Of a bracket's candidates the best n / 3^k reach its rung k, the last of which has one.
    """
    seen = []
    for k, (U, y) in enumerate(brackets[:b], 1):
        reach = BRACKETS[k - 1] // 3 ** (b - k + 1)  # as far as the first rung of bracket b
        first, last = {
            "NONE": (0, 0), "ALL": (0, reach), "SURV": (0, 1), "SAME": (reach // 3, reach),
        }[scheme]  # fmt: skip
        order = np.sort(np.argsort(y, axis=1, kind="stable")[:, first:last])
        seen.append(
            (np.take_along_axis(U, order[:, :, np.newaxis], 1), np.take_along_axis(y, order, 1))
        )
    return seen


def lowest(problem, parts, scheme, n_runs, seed):
    """Return the lowest loss of each run, shape (n_runs,)."""
    rng = np.random.default_rng(seed)
    low, high = problem.function.bounds.T
    d, brackets = len(low), []
    sobol = np.stack([qmc.Sobol(d, seed=rng).random(128) for _ in range(n_runs)])
    for b, n in enumerate(BRACKETS):
        begun = sum(BRACKETS[:b])
        seen = earlier(scheme, brackets, b)
        U0 = np.concatenate([np.empty((n_runs, 0, d)), *(U for U, _ in seen)], axis=1)
        y0 = np.concatenate([np.empty((n_runs, 0)), *(y for _, y in seen)], axis=1)
        U, y = U0, y0
        for i in range(n):
            if U.shape[1] >= N_FIRST:
                new = propose(U, y, parts, rng)
            else:
                new = sobol[:, begun + i] if parts.first else rng.random((n_runs, d))
            loss = problem.function(low + new * (high - low))
            U, y = np.append(U, new[:, np.newaxis], 1), np.append(y, loss[:, np.newaxis], 1)
        brackets.append((U[:, U0.shape[1] :], y[:, y0.shape[1] :]))
    return np.min([y.min(axis=1) for _, y in brackets], axis=0)


def losses(name, parts, scheme, n_runs):
    """Return the lowest loss of each run on a flat function."""
    problem = problems("published")[name]
    chunks = itertools.pairwise([*range(0, n_runs, CHUNK), n_runs])
    return np.concatenate([lowest(problem, parts, scheme, b - a, seed=a) for a, b in chunks])


def main():
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--record", type=Path, help="file to append means to")
    args = parser.parse_args()
    cases = [(name, parts, "NONE") for name, parts in VARIANTS.items()]
    cases += [
        (f"{of}, {scheme}", VARIANTS[f"{of}, all parts"], scheme)
        for of in ("hyperopt", "ours")
        for scheme in SCHEMES[1:]
    ]
    for problem in FLAT:
        print(f"{problem}: published", {s: PUBLISHED[problem][s] for s in SCHEMES})
        for name, parts, scheme in cases:
            found = losses(problem, parts, scheme, args.runs)
            error = found.std(ddof=1) / np.sqrt(len(found))
            print(f"  {name:26}{found.mean():9.4f} +- {error:.4f}", flush=True)
            if args.record is not None:
                with args.record.open("a") as file:
                    file.writelines(lines_of(problem, "published", {name: found}))


if __name__ == "__main__":
    main()
