"""Smooth losses of predictions: value, first and second derivative.

==========  ==========================================================================
P           predictions, shape (n_rows, n_outputs)
T           targets of that shape: numbers, signs -1 and 1, or one-hot rows
==========  ==========================================================================
"""

from abc import ABC, abstractmethod

import numpy as np
from scipy.special import expit, logsumexp, softmax


class Loss(ABC):
    """The loss of each row, a function of its predictions."""

    @abstractmethod
    def value(self, P: np.ndarray, T: np.ndarray) -> np.ndarray:
        """Return losses, of shape (n_rows,) or (n_rows, n_outputs)."""

    @abstractmethod
    def gradient(self, P: np.ndarray, T: np.ndarray) -> np.ndarray:
        """Return derivatives by the predictions, of shape (n_rows, n_outputs)."""

    @abstractmethod
    def curvature(self, P: np.ndarray, T: np.ndarray) -> np.ndarray:
        """Return second derivatives, (n_rows, n_outputs), and a third axis if outputs interact."""


class Squared(Loss):
    """Half of the squared error."""

    def value(self, P, T):
        return 0.5 * (P - T) ** 2

    def gradient(self, P, T):
        return P - T

    def curvature(self, P, T):
        return np.ones_like(P)


class Logistic(Loss):
    """The negative log likelihood of signs."""

    def value(self, P, T):
        return np.logaddexp(0, -T * P)

    def gradient(self, P, T):
        return -T * expit(-T * P)

    def curvature(self, P, T):
        return expit(P) * expit(-P)


class Softmax(Loss):
    """The negative log likelihood of one of several classes."""

    def value(self, P, T):
        return logsumexp(P, axis=1) - (P * T).sum(axis=1)

    def gradient(self, P, T):
        return softmax(P, axis=1) - T

    def curvature(self, P, T):
        p = softmax(P, axis=1)
        return p[:, :, None] * np.eye(p.shape[1]) - p[:, :, None] * p[:, None, :]


class SquaredHinge(Loss):
    """The square of the distance missing to a margin of 1."""

    def value(self, P, T):
        return np.maximum(0, 1 - T * P) ** 2

    def gradient(self, P, T):
        return -2 * T * np.maximum(0, 1 - T * P)

    def curvature(self, P, T):
        return 2.0 * (T * P < 1)


class SquaredInsensitive(Loss):
    """The square of an error's excess over epsilon."""

    def __init__(self, epsilon: float):
        self.epsilon = epsilon

    def value(self, P, T):
        return np.maximum(0, np.abs(P - T) - self.epsilon) ** 2

    def gradient(self, P, T):
        return 2 * np.sign(P - T) * np.maximum(0, np.abs(P - T) - self.epsilon)

    def curvature(self, P, T):
        return 2.0 * (np.abs(P - T) > self.epsilon)
