from sksearch.models._cholesky import CholeskyFactor as CholeskyFactor
from sksearch.models._feasibility import (
    AllOf as AllOf,
    Feasibility as Feasibility,
    Margin as Margin,
)
from sksearch.models._forest import Forest as Forest
from sksearch.models._gp import (
    GaussianProcess as GaussianProcess,
    log_likelihood_gradient as log_likelihood_gradient,
)
from sksearch.models._kernels import MixedKernel as MixedKernel
from sksearch.models._learning import (
    learn_theta as learn_theta,
    log_posterior as log_posterior,
    prior as prior,
    sample_theta as sample_theta,
)
from sksearch.models._parzen import Parzen as Parzen
from sksearch.models._sizes import SizeKernel as SizeKernel, SizeProcess as SizeProcess
from sksearch.models._transforms import (
    inverse_power_transform as inverse_power_transform,
    robust_power_transform as robust_power_transform,
    standardise as standardise,
)
