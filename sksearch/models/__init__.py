"""Surrogates on the unit cube: arrays in, arrays out, nothing of trials."""

from sksearch.models._cholesky import CholeskyFactor
from sksearch.models._feasibility import CAUTION as CAUTION
from sksearch.models._feasibility import LABEL_NOISE as LABEL_NOISE
from sksearch.models._feasibility import SHARPNESS as SHARPNESS
from sksearch.models._feasibility import AllOf, Feasibility, Margin
from sksearch.models._feasibility import Probability as Probability
from sksearch.models._feasibility import SlackKernel as SlackKernel
from sksearch.models._feasibility import centred_labels as centred_labels
from sksearch.models._feasibility import pulled_in as pulled_in
from sksearch.models._feasibility import standardised_slacks as standardised_slacks
from sksearch.models._forest import Forest
from sksearch.models._gp import GaussianProcess, log_likelihood_gradient
from sksearch.models._growing import Growing as Growing
from sksearch.models._growing import TrainingSet as TrainingSet
from sksearch.models._kernels import FAMILIES as FAMILIES
from sksearch.models._kernels import MixedKernel
from sksearch.models._learning import learn_theta, log_posterior, prior, sample_theta
from sksearch.models._learning import learnt_at as learnt_at
from sksearch.models._normal import LOG_SQRT_2PI as LOG_SQRT_2PI
from sksearch.models._normal import slope_of_log_cdf as slope_of_log_cdf
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
