"""Covariance of a Gaussian process on the unit cube, for active or inactive numbers and choices.

==========  ======================================================================
U           points, shape (n, d); NaN where a coordinate is inactive
Z           numbers as columns, warped and divided by their length-scales, (n, p)
c           choices, shape (n, q); -1 where inactive
l_j, w_j    length-scale of number j, weight of choice j
r2          squared distance: sum_j (Z_ij - Z_kj)^2
s2          variance of the signal
theta       logarithms of (s2, l_1.., w_1.., a_1.., b_1..)
a_j, b_j    shape of the warping of number j, w(u) = 1 - (1 - u^a)^b
==========  ======================================================================

k(u, u') = s2 * family(r2) * exp(-sum_j w_j [c_j != c'_j]): a product, so all combinations of
choices share the shape of the function over the numbers to a degree set by the weights.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

SQRT3, SQRT5 = np.sqrt(3), np.sqrt(5)
# Distance, along an extra axis, between an active coordinate and an inactive one.
OFFSET = 0.5
EDGE = 1e-9  # the warping's slope is infinite at 0 and 1


def _squared_exponential(r2: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    value = np.exp(-0.5 * r2)
    return value, -0.5 * value


def _matern12(r2: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    r = np.sqrt(r2)
    value = np.exp(-r)
    # At r = 0 the slope is infinite, but its factor is 0.
    return value, -0.5 * np.divide(value, r, out=np.zeros_like(r), where=r > 0)


def _matern32(r2: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    r = SQRT3 * np.sqrt(r2)
    e = np.exp(-r)
    return (1 + r) * e, -1.5 * e


def _matern52(r2: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    r = SQRT5 * np.sqrt(r2)
    e = np.exp(-r)
    return (1 + r + r * r / 3) * e, (-5 / 6) * (1 + r) * e


FAMILIES = {
    "squared_exponential": _squared_exponential,
    "matern12": _matern12,
    "matern32": _matern32,
    "matern52": _matern52,
}


@dataclass(frozen=True)
class Features:
    """Points prepared for the kernel: scaled numbers, choices, and the slope of the warping."""

    Z: np.ndarray
    choices: np.ndarray
    slopes: np.ndarray


class MixedKernel:
    """Product of a stationary kernel on numbers and an exponential kernel on choices.

    Parameters
    ----------
    categorical : ndarray of shape (n_dims,), bool
        Mask of unordered choices.
    family : {"matern52", "matern32", "matern12", "squared_exponential"}, default="matern52"
        Kernel on the numbers, which determines the smoothness.
    warp : bool, default=False
        Whether to warp each number by the distribution function of a Kumaraswamy distribution with
        learned parameters [2]_.

    Attributes
    ----------
    n_theta : int
        Number of hyperparameters.

    Notes
    -----
    An inactive number is placed at the middle of its range and moved by 1/2 along an extra axis.
    Two points therefore differ in the coordinate if it is inactive in only one of them, and not if
    it is inactive in both. This is an embedding, so the kernel is positive definite. In the arc
    kernel [1]_ all values of the range have the same distance from the inactive point; here they
    do not. For a list of choices, inactive is one more choice.

    References
    ----------
    .. [1] K. Swersky, D. Duvenaud, J. Snoek, F. Hutter, M. Osborne, "Raiders of the lost
       architecture: kernels for Bayesian optimization in conditional parameter spaces", 2014.
       https://arxiv.org/abs/1409.4011
    .. [2] J. Snoek, K. Swersky, R. Zemel, R. P. Adams, "Input warping for Bayesian optimization
       of non-stationary functions", ICML 2014. https://proceedings.mlr.press/v32/snoek14.html

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.models import MixedKernel
    >>> kernel = MixedKernel([False, True])  # a number and a choice
    >>> theta = np.log([1, 0.5, 1])  # signal variance, length-scale, weight of the choice
    >>> features = kernel.features(theta, np.array([[0.1, 0.25], [0.2, 0.25], [0.2, 0.75]]))
    >>> kernel.covariance(theta, features, features)[0].round(3).tolist()
    [1.0, 0.968, 0.356]
    """

    #: Mode and spread of the logarithm of the noise variance, for standardised values.
    noise_prior: ClassVar[tuple[float, float]] = (-5.0, 1.5)
    #: Number, mode and spread of the hyperparameters added by a subclass.
    further_prior: ClassVar[tuple[tuple[int, float, float], ...]] = ()

    def __init__(self, categorical: ArrayLike, family: str = "matern52", warp: bool = False):
        self.categorical = np.asarray(categorical, dtype=bool)
        self.family, self.warp = family, warp
        self._family = FAMILIES[family]
        self._numbers = np.flatnonzero(~self.categorical)
        self._choices = np.flatnonzero(self.categorical)
        self.n_numbers, self.n_choices = len(self._numbers), len(self._choices)
        self.n_theta = 1 + self.n_numbers + self.n_choices + 2 * self.n_numbers * warp

    def split(
        self, theta: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return s2, l, w, a, b for logarithmic hyperparameters of shape (n_theta,)."""
        p, q = self.n_numbers, self.n_choices
        values = np.exp(theta)
        a, b = (values[1 + p + q :].reshape(2, p)) if self.warp else np.ones((2, p))
        return values[0], values[1 : 1 + p], values[1 + p : 1 + p + q], a, b

    def features(self, theta: np.ndarray, U: np.ndarray) -> Features:
        """Prepare points of shape (n, n_dims) for `covariance` and the gradients."""
        _, length, _, a, b = self.split(theta)
        numbers = U[:, self._numbers]
        inactive = np.isnan(numbers)
        u = np.where(inactive, 0.5, numbers)
        slopes = np.ones_like(u)
        if self.warp:
            u, slopes = _warped(u, a, b)
        slopes = np.where(inactive, 0.0, slopes) / length
        Z = np.hstack([u / length, np.where(inactive, OFFSET, 0.0) / length])
        choices = np.round(U[:, self._choices], 9)  # equal ones may differ in the last bit
        return Features(Z, np.where(np.isnan(choices), -1.0, choices), slopes)

    def diagonal(self, theta: np.ndarray, points: Any = None) -> Any:
        """Return the variance of the signal, s2, the same at all points."""
        return np.exp(theta[0])

    def covariance(
        self, theta: np.ndarray, one: Features, two: Features, slope: bool = False
    ) -> Any:
        """Return k between features, shape (n, m), and with `slope` also dk / d r2."""
        s2, _, weights, _, _ = self.split(theta)
        value, derivative = self._family(cdist(one.Z, two.Z, "sqeuclidean"))
        scale = s2
        if self.n_choices:
            exponent = 0.0
            for j, weight in enumerate(weights):
                exponent = exponent + weight * self._differ(one, two, j)
            scale = s2 * np.exp(-exponent)
        value *= scale
        return (value, derivative * scale) if slope else value

    def gradient(
        self,
        theta: np.ndarray,
        U: np.ndarray,
        features: Features,
        K: np.ndarray,
        slope: np.ndarray,
        W: np.ndarray,
    ) -> np.ndarray:
        """Return sum_ik W_ik dK_ik / d theta for a symmetric W, shape (n_theta,).

        Parameters
        ----------
        theta : ndarray of shape (n_theta,)
            Logarithmic hyperparameters.
        U : ndarray of shape (n, n_dims)
            Points.
        features : Features
            Points `U`, prepared.
        K, slope : ndarray of shape (n, n)
            Result of `covariance`.
        W : ndarray of shape (n, n)
            Weights.

        Returns
        -------
        gradient : ndarray of shape (n_theta,)
            Derivatives by theta.
        """
        p = self.n_numbers
        _, _, weights, _, _ = self.split(theta)
        A = W * slope
        rows = A.sum(axis=1)[:, np.newaxis]
        Z = features.Z
        # sum_ik A_ik (z_i - z_k)^2 = 2 sum_i rows_i z_i^2 - 2 z^T A z, for each column z.
        AZ = A @ Z
        spread = 2 * (rows * Z * Z - Z * AZ).sum(axis=0)
        WK = W * K
        total = WK.sum()
        by_choice = [
            -weight * (WK * self._differ(features, features, j)).sum()
            for j, weight in enumerate(weights)
        ]
        parts = [[total], -2 * (spread[:p] + spread[p:]), by_choice]
        if self.warp:
            parts += self._warp_gradient(theta, U, Z[:, :p], AZ[:, :p], rows)
        return np.concatenate(parts)

    def point_gradient(
        self,
        theta: np.ndarray,
        points: Features,
        data: Features,
        slope: np.ndarray,
        weights: np.ndarray,
    ) -> np.ndarray:
        """Return d/du sum_i weights_ik k(u_k, x_i), shape (m, n_numbers).

        Parameters
        ----------
        theta : ndarray of shape (n_theta,)
            Logarithmic hyperparameters.
        points, data : Features
            The m points u_k and the n points x_i, prepared.
        slope : ndarray of shape (m, n)
            Derivative dk / d r2 from `covariance`.
        weights : ndarray of shape (m, n) or (n,)
            Factors of the sum.

        Returns
        -------
        gradient : ndarray of shape (m, n_numbers)
            Derivatives of the sum.
        """
        p = self.n_numbers
        A = weights * slope
        z, x = points.Z[:, :p], data.Z[:, :p]
        return 2 * (A.sum(axis=1)[:, np.newaxis] * z - A @ x) * points.slopes

    def _differ(self, one: Features, two: Features, j: int) -> np.ndarray:
        return one.choices[:, j, np.newaxis] != two.choices[np.newaxis, :, j]

    def _warp_gradient(
        self, theta: np.ndarray, U: np.ndarray, Z: np.ndarray, AZ: np.ndarray, rows: np.ndarray
    ) -> list[np.ndarray]:
        """Return derivatives by log a and log b of the sum in `gradient`."""
        _, length, _, a, b = self.split(theta)
        numbers = U[:, self._numbers]
        inactive = np.isnan(numbers)
        parts = []
        for derivative in _warp_derivatives(np.where(inactive, 0.5, numbers), a, b):
            D = derivative / length
            parts.append(4 * (rows * Z * D - D * AZ).sum(axis=0))
        return parts


def _warped(u: np.ndarray, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return w(u) = 1 - (1 - u^a)^b and its slope."""
    u = np.clip(u, EDGE, 1 - EDGE)  # logarithms at the ends would be infinite
    ua = u**a
    rest = -np.expm1(a * np.log(u))  # 1 - u^a
    return 1 - rest**b, a * b * ua / u * rest ** (b - 1)


def _warp_derivatives(
    u: np.ndarray, a: np.ndarray, b: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return derivatives of w(u) by log a and log b."""
    u = np.clip(u, EDGE, 1 - EDGE)
    ua = u**a
    rest = -np.expm1(a * np.log(u))
    by_a = b * rest ** (b - 1) * ua * np.log(u) * a
    by_b = -(rest**b) * np.log(rest) * b
    return by_a, by_b
