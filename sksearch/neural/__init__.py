"""Neural nets for images as scikit-learn classifiers, which can be trained epoch by epoch."""

from sksearch.neural._block_conv_net import BlockConvNetClassifier
from sksearch.neural._conv_net import ConvNetClassifier
from sksearch.neural._cuda_conv_net import CudaConvNetClassifier
from sksearch.neural._layered_conv_net import LayeredConvNetClassifier
from sksearch.neural._pixel_logistic import PixelLogisticClassifier

__all__ = [
    "BlockConvNetClassifier",
    "ConvNetClassifier",
    "CudaConvNetClassifier",
    "LayeredConvNetClassifier",
    "PixelLogisticClassifier",
]
