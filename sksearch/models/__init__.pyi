from sksearch.models._cholesky import CholeskyFactor as CholeskyFactor
from sksearch.models._gp import GaussianProcess as GaussianProcess
from sksearch.models._kernels import MixedKernel as MixedKernel
from sksearch.models._learning import (
    learn_theta as learn_theta,
    sample_theta as sample_theta,
)
from sksearch.models._transforms import robust_power_transform as robust_power_transform
