"""Points, kernels and differences that the tests of surrogates share."""

import numpy as np
from sklearn.gaussian_process import kernels

from sksearch.models import GaussianProcess, MixedKernel, learn_theta
from sksearch.models._feasibility import LABEL_NOISE, Feasibility, centred_labels
from sksearch.models._kernels import FAMILIES

__all__ = [
    "FAMILIES", "MIXED", "SKLEARN", "covariance", "feasibility_of", "finite_differences",
    "points", "rng", "theta_of",
]  # fmt: skip

SKLEARN = {
    "squared_exponential": lambda length: kernels.RBF(length),
    "matern12": lambda length: kernels.Matern(length, nu=0.5),
    "matern32": lambda length: kernels.Matern(length, nu=1.5),
    "matern52": lambda length: kernels.Matern(length, nu=2.5),
}
MIXED = [False, True, False, True, False]


def rng(seed=0):
    return np.random.default_rng(seed)


def points(n, categorical=MIXED, inactive=0.0, seed=0):
    """Random points; choices at the middle of 4 cells; a part of all coordinates inactive."""
    U = rng(seed).random((n, len(categorical)))
    U = np.where(categorical, (np.floor(4 * U) + 0.5) / 4, U)
    return np.where(rng(seed + 1).random(U.shape) < inactive, np.nan, U)


def theta_of(kernel, seed=0):
    """Random logarithms: length-scales near 1/2, warpings within a factor of 2."""
    return rng(seed).normal(-0.5, 0.4, size=kernel.n_theta)


def covariance(kernel, theta, U, V=None):
    one, two = (kernel.features(theta, points) for points in (U, U if V is None else V))
    return kernel.covariance(theta, one, two)


def finite_differences(function, x, step=1e-6):
    """Derivatives by central differences, shape (len(x), *output)."""
    return np.array(
        [(function(x + h) - function(x - h)) / (2 * step) for h in step * np.eye(len(x))]
    )


def feasibility_of(categorical, U, ok):
    """The model of what fails, learnt from points and whether they succeeded."""
    kernel, labels = MixedKernel(categorical), centred_labels(ok)
    theta = learn_theta(kernel, U, labels, LABEL_NOISE)
    return Feasibility(GaussianProcess(kernel, theta).fit(U, labels, LABEL_NOISE), ok)
