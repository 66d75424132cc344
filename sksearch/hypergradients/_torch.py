"""PyTorch functions as a bilevel problem."""

from collections.abc import Callable
from typing import Any

import numpy as np

from sksearch._utils._on_demand import missing
from sksearch.hypergradients._differentiate import BilevelProblem, Rows


class TorchProblem(BilevelProblem):
    """Two PyTorch functions, differentiated by autograd; needs ``torch``.

    Parameters
    ----------
    train : callable
        ``train(w, theta, rows) -> tensor``, the training loss, twice differentiable; `w` and
        `theta` are flat tensors of float64, `rows` is an array of row indices or None for all
        rows.
    validate : callable
        ``validate(w, theta) -> tensor``, the validation loss.

    Notes
    -----
    To use a module, split the flat tensor into its weights, and pass them as a dict to
    ``torch.func.functional_call``. `w` and `theta` are on the CPU; the functions may move them to
    a device.

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.hypergradients import TorchProblem, reverse
    >>> def train(w, theta, rows):
    ...     return ((w - 1) ** 2).sum() / 2 + (theta.exp() * w**2).sum() / 2
    >>> def validate(w, theta):
    ...     return ((w - 0.8) ** 2).sum()
    >>> problem = TorchProblem(train, validate)
    >>> args = np.zeros(1), np.zeros(1), [None] * 50, 0.1
    >>> loss, gradient = reverse(problem, *args)
    >>> bool(gradient[0] > 0)  # less penalty
    True
    """

    def __init__(self, train: Callable[[Any, Any, Any], Any], validate: Callable[[Any, Any], Any]):
        self.train, self.validate = train, validate

    def gradient(self, w: np.ndarray, theta: np.ndarray, rows: Rows = None) -> np.ndarray:
        """Derivative of the training loss with respect to the weights."""
        w, theta = _leaves(w, theta)
        return _array(_derivative(self.train(w, theta, rows), w))

    def hessian_product(
        self, w: np.ndarray, theta: np.ndarray, v: np.ndarray, rows: Rows = None
    ) -> np.ndarray:
        """Second derivative with respect to the weights, times v."""
        return self._product(w, theta, v, rows)[0]

    def mixed(self, w: np.ndarray, theta: np.ndarray, rows: Rows = None) -> np.ndarray:
        """Derivative of `gradient` with respect to the hyperparameters."""
        w, theta = _leaves(w, theta)
        by_w = _derivative(self.train(w, theta, rows), w, keep=True)
        return np.array([_array(_derivative(each, theta, keep=True)) for each in by_w])

    def mixed_product(
        self, w: np.ndarray, theta: np.ndarray, v: np.ndarray, rows: Rows = None
    ) -> np.ndarray:
        """The transpose of `mixed`, times v."""
        return self._product(w, theta, v, rows)[1]

    def validation(self, w: np.ndarray, theta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Validation loss and its derivatives with respect to weights and hyperparameters."""
        w, theta = _leaves(w, theta)
        loss = self.validate(w, theta)
        by_w = _array(_derivative(loss, w, keep=True))
        return float(loss.detach()), by_w, _array(_derivative(loss, theta))

    def _product(self, w, theta, v, rows):
        """Derivatives of the product of `gradient` with v by both variables."""
        w, theta = _leaves(w, theta)
        by_w = _derivative(self.train(w, theta, rows), w, keep=True)
        product = (by_w * by_w.new_tensor(v)).sum()
        by_theta = _array(_derivative(product, theta, keep=True))
        return _array(_derivative(product, w)), by_theta


def _torch():
    try:
        import torch
    except ImportError as error:
        raise missing("TorchProblem needs PyTorch", "neural") from error
    return torch


def _leaves(*arrays):
    """Arrays as float64 tensors that require gradients."""
    torch = _torch()
    kind = {"dtype": torch.float64, "device": "cpu", "requires_grad": True}  # overrides defaults
    return [torch.tensor(np.asarray(each), **kind) for each in arrays]


def _derivative(value, by, keep=False):
    """Derivative of a number, zeros if it does not depend on the variable."""
    if value.grad_fn is None:
        return by.new_zeros(by.shape)
    (found,) = _torch().autograd.grad(value, by, create_graph=keep, allow_unused=True)
    return by.new_zeros(by.shape) if found is None else found


def _array(tensor):
    return tensor.detach().cpu().numpy()
