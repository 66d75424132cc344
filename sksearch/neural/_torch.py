"""The packages of the extra ``neural``, imported in one place."""

try:
    import torch
    from skorch import NeuralNetClassifier
    from torch import nn
    from torch.nn import functional
    from torch.optim.swa_utils import get_ema_multi_avg_fn
except ImportError as error:
    raise ImportError(
        'sksearch.neural needs PyTorch and skorch: pip install "sksearch[neural]"'
    ) from error

__all__ = ["NeuralNetClassifier", "functional", "get_ema_multi_avg_fn", "nn", "torch"]
