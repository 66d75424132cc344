from sksearch.models._gp import GaussianProcess as GaussianProcess
from sksearch.models._kernels import MixedKernel as MixedKernel
