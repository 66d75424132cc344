"""Nets for images as scikit-learn classifiers, that a search can train epoch by epoch."""

from sksearch.neural._block_conv_net import BlockConvNetClassifier, block_conv_net_space
from sksearch.neural._conv_net import ConvNetClassifier, conv_net_space
from sksearch.neural._cuda_conv_net import CudaConvNetClassifier, cuda_conv_net_space
from sksearch.neural._layered_conv_net import LayeredConvNetClassifier, layered_conv_net_space
from sksearch.neural._pixel_logistic import PixelLogisticClassifier, pixel_logistic_space

__all__ = [
    "BlockConvNetClassifier",
    "ConvNetClassifier",
    "CudaConvNetClassifier",
    "LayeredConvNetClassifier",
    "PixelLogisticClassifier",
    "block_conv_net_space",
    "conv_net_space",
    "cuda_conv_net_space",
    "layered_conv_net_space",
    "pixel_logistic_space",
]
