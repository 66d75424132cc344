"""Surrogates on the unit cube: arrays in, arrays out, nothing of trials."""

from sksearch.models._cholesky import CholeskyFactor
from sksearch.models._feasibility import AllOf, Feasibility, Margin
from sksearch.models._forest import Forest
from sksearch.models._gp import GaussianProcess, log_likelihood_gradient
from sksearch.models._kernels import MixedKernel
from sksearch.models._learning import learn_theta, log_posterior, prior, sample_theta
from sksearch.models._parzen import Parzen
from sksearch.models._sizes import SizeKernel, SizeProcess
from sksearch.models._transforms import (
    inverse_power_transform,
    robust_power_transform,
    standardise,
)

__all__ = [
    "AllOf",
    "CholeskyFactor",
    "Feasibility",
    "Forest",
    "GaussianProcess",
    "Margin",
    "MixedKernel",
    "Parzen",
    "SizeKernel",
    "SizeProcess",
    "inverse_power_transform",
    "learn_theta",
    "log_likelihood_gradient",
    "log_posterior",
    "prior",
    "robust_power_transform",
    "sample_theta",
    "standardise",
]
