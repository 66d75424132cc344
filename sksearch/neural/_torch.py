"""The packages of the extra ``neural``, imported in one place."""

from sksearch._utils._on_demand import missing

try:
    import torch
    from skorch import NeuralNetClassifier
    from torch import nn
    from torch.nn import functional
    from torch.optim.swa_utils import get_ema_multi_avg_fn
except ImportError as error:
    raise missing("sksearch.neural needs PyTorch and skorch", "neural") from error

__all__ = ["NeuralNetClassifier", "functional", "get_ema_multi_avg_fn", "nn", "torch"]
