"""Covariance of parameters and the amount of the resource, as in Fabolas.

==========  ======================================================================
u, t        parameters as a point of the cube; log size, 0 at the smallest, 1 at all
g(t)        basis besides 1: (1 - t)^p for scores, t^p for the logarithm of seconds
a, b        a line of weights: f(u, t) = f_1(u) + (a f_1(u) + b f_2(u)) g(t)
c           standard deviation of the effect of g(t) common to all parameters
p           speed at which it levels off
theta       theta of `MixedKernel`, then a, log b, log c, log p
==========  ======================================================================

k((u, t), (u', t')) = k(u, u') (1 + a (g + g') + (a^2 + b^2) g g') + c^2 g g'
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from sksearch.models._gp import GaussianProcess
from sksearch.models._kernels import Features, MixedKernel

TINY = 1e-300  # a size of 0 has no logarithm


@dataclass(frozen=True)
class SizeFeatures(Features):
    """Points prepared for the kernel, and the basis at their sizes with its slope by log p."""

    g: np.ndarray
    slope: np.ndarray


class SizeKernel(MixedKernel):
    """Product of a kernel of parameters and one of sizes, linear in a basis function of the size.

    Parameters
    ----------
    categorical : ndarray of shape (n_dims,), bool
        Mask of unordered choices among the parameters. Points have one more coordinate, the last:
        the logarithm of the size, from 0 for the smallest to 1 for all.
    basis : {"score", "cost"}, default="score"
        "score": (1 - t)^p, so that scores level off towards the full resource; "cost": t^p, so
        that seconds are a power of the size for p = 1.

    Attributes
    ----------
    n_theta : int
        Number of hyperparameters.

    Notes
    -----
    Kernel of [1]_, with an additional term: the effect of the size common to all parameters.
    Without it a process with a mean of zero would have to learn for each candidate again that
    scores and seconds increase with the size. The exponent p is learned, while it is 2 and 1 in
    [1]_: on a table with 26 classes scores still increase at the measured sizes, and good
    candidates were lost in the misfit, which was attributed to noise. The matrix of weights is
    written as its Cholesky factor, with the signal of the kernel of parameters as its first
    element.

    References
    ----------
    .. [1] A. Klein, S. Falkner, S. Bartels, P. Hennig, F. Hutter, "Fast Bayesian optimization of
       machine learning hyperparameters on large datasets", AISTATS 2017.
       https://proceedings.mlr.press/v54/klein17a.html

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.models._sizes import SizeKernel
    >>> kernel = SizeKernel([False])
    >>> theta = np.r_[np.log([1.0, 0.5]), 0.0, np.log([0.5, 1.0, 2.0])]
    >>> points = kernel.features(theta, np.array([[0.3, 0.0], [0.3, 0.5], [0.3, 1.0]]))
    >>> kernel.covariance(theta, points, points).round(2)
    array([[2.25, 1.31, 1.  ],
           [1.31, 1.08, 1.  ],
           [1.  , 1.  , 1.  ]])
    """

    further_prior: ClassVar[tuple[tuple[int, float, float], ...]] = (
        (1, 0.0, 0.5),  # a
        (1, np.log(0.3), 1.0),  # log b
        (1, 0.0, 1.0),  # log c
        (1, np.log(1.5), 0.5),  # log p
    )

    def __init__(self, categorical: ArrayLike, basis: str = "score"):
        super().__init__(categorical)
        self.basis = basis
        self.n_theta += len(self.further_prior)

    def features(self, theta: np.ndarray, U: np.ndarray) -> SizeFeatures:
        """Prepare points of shape (n, n_dims + 1) for `covariance` and the gradients."""
        points = super().features(theta, U)
        t = U[:, -1]
        g, slope = self.basis_at(theta, t)
        return SizeFeatures(points.Z, points.choices, points.slopes, g, slope)

    def basis_at(self, theta: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return g(t), and its derivative by log p."""
        x, p = (1 - t if self.basis == "score" else t), np.exp(theta[-1])
        g = np.maximum(x, 0.0) ** p
        return g, p * g * np.log(np.maximum(x, TINY))

    def diagonal(self, theta: np.ndarray, points: Any = None) -> Any:
        """Return the variance at each point, shape (n,)."""
        return self.same_params(theta, points.g, points.g)

    def same_params(self, theta: np.ndarray, g: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Return the covariance of the same parameters at two sizes with these bases."""
        a, b, c = self._weights(theta)
        both = g * other
        return (
            super().diagonal(theta) * (1 + a * (g + other) + (a * a + b * b) * both) + c * c * both
        )

    def covariance(
        self, theta: np.ndarray, one: Features, two: Features, slope: bool = False
    ) -> Any:
        """Return k between features, shape (n, m), and with `slope` also dk / d r2."""
        B, common = self._of_sizes(theta, one, two)
        found = super().covariance(theta, one, two, slope)
        return (found[0] * B + common, found[1] * B) if slope else found * B + common

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

        Arguments as for `MixedKernel.gradient`; `K` and `slope` are not used, because their values
        for the parameters alone are needed.
        """
        a, b, c = self._weights(theta)
        B, common = self._of_sizes(theta, features, features)
        own, own_slope = super().covariance(theta, features, features, slope=True)
        np.fill_diagonal(own_slope, 0.0)
        n_own = self.n_theta - len(self.further_prior)
        by_params = super().gradient(theta[:n_own], U[:, :-1], features, own, own_slope, W * B)
        g: np.ndarray = features.g  # type: ignore[attr-defined]
        both, WK = np.outer(g, g), W * own
        by_a = (WK * (np.add.outer(g, g) + 2 * a * both)).sum()
        slope_g: np.ndarray = features.slope  # type: ignore[attr-defined]
        one, two = np.add.outer(slope_g, slope_g), np.outer(slope_g, g)
        product = two + two.T
        by_p = (WK * (a * one + (a * a + b * b) * product)).sum() + c * c * (W * product).sum()
        by_b, by_c = 2 * b * b * (WK * both).sum(), 2 * (W * common).sum()
        return np.r_[by_params, by_a, by_b, by_c, by_p]

    def _weights(self, theta: np.ndarray) -> tuple[float, float, float]:
        a, log_b, log_c, _ = theta[-len(self.further_prior) :]
        return float(a), float(np.exp(log_b)), float(np.exp(log_c))

    def _of_sizes(self, theta: np.ndarray, one: Any, two: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the factor and the summand of the kernel of parameters, (n, m) each."""
        a, b, c = self._weights(theta)
        both = np.outer(one.g, two.g)
        return 1 + a * np.add.outer(one.g, two.g) + (a * a + b * b) * both, c * c * both


class SizeProcess(GaussianProcess):
    """Gaussian process with a `SizeKernel`, and the effect of its results at full size.

    Parameters
    ----------
    kernel : SizeKernel
        Covariance.
    theta : ndarray of shape (1 + kernel.n_theta,)
        Logarithm of the noise variance, and the kernel's hyperparameters.

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.models._sizes import SizeKernel, SizeProcess
    >>> theta = np.r_[np.log([1e-3, 1.0, 0.5]), 0.0, np.log([0.5, 1e-3, 2.0])]
    >>> gp = SizeProcess(SizeKernel([False]), theta)
    >>> gp = gp.fit(np.array([[0.2, 1.0]]), np.array([0.5]))
    >>> mean, change = gp.effect(np.array([[0.8]]), np.array([0.0, 0.5, 1.0]))
    >>> change.round(2)  # what a result would move the mean at full size by
    array([[0.8 , 0.9 , 0.91]])
    """

    kernel: SizeKernel

    def at_full_size(self, U: np.ndarray) -> np.ndarray:
        """Return the mean at full size for parameters of shape (m, n_dims)."""
        return self.predict(np.column_stack([U, np.ones(len(U))]))[0]

    def effect(self, U: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the effect of results at several sizes on the score at full size.

        Parameters
        ----------
        U : ndarray of shape (m, n_dims)
            Parameters as points of the cube.
        sizes : ndarray of shape (n_sizes,)
            Log sizes.

        Returns
        -------
        mean : ndarray of shape (m,)
            Mean of the score at full size.
        change : ndarray of shape (m, n_sizes)
            Standard deviation of the mean after a noisy result at each size.
        """
        theta, n, m = self.theta[1:], len(sizes), len(U)
        t = np.append(sizes, 1.0)
        points = np.hstack([np.repeat(U, n + 1, axis=0), np.tile(t, m)[:, np.newaxis]])
        features = self.kernel.features(theta, points)
        K = self.kernel.covariance(theta, features, self._features)
        variance = self._variance(V := self.factor.whiten(K), features).reshape(m, n + 1)
        V = V.reshape(m, n + 1, -1)
        g, _ = self.kernel.basis_at(theta, t)
        known = np.einsum("mi,mni->mn", V[:, -1], V[:, :-1])
        covariance = self.kernel.same_params(theta, g[:-1], g[-1:]) - known
        change = np.abs(covariance) / np.sqrt(variance[:, :-1] + self.noise)
        return K[n :: n + 1] @ self.alpha, change
