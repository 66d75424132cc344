"""Gaussian process regression, conditioned from scratch or by appended rows.

==========  ======================================================================
U, y        points (n, d) and values (n,) or (n, m), greater is better
K           covariance of the values, with the noise on its diagonal, (n, n)
L, M        Cholesky factor of K and its inverse
alpha       K^-1 y
theta       logarithms of the hyperparameters, the noise variance first
==========  ======================================================================
"""

import copy
from typing import Self

import numpy as np

from sksearch.models._cholesky import CholeskyFactor
from sksearch.models._kernels import Features, MixedKernel

LOG_2PI = np.log(2 * np.pi)
MIN_VARIANCE = 1e-14  # relative to the signal; below it, K^-1 consists of rounding errors


class GaussianProcess:
    """A Gaussian process of mean zero with given hyperparameters.

    Parameters
    ----------
    kernel : MixedKernel
        Covariance.
    theta : ndarray of shape (1 + kernel.n_theta,)
        Logarithms of the noise variance and of the kernel's hyperparameters; see
        `learn_theta`.

    Attributes
    ----------
    U : ndarray of shape (n, n_dims)
        Conditioning points.
    alpha : ndarray of shape (n,) or (n, m)
        K^-1 y.
    factor : CholeskyFactor
        L and M.

    References
    ----------
    .. [1] C. E. Rasmussen, C. K. I. Williams, "Gaussian processes for machine learning", 2006.
       https://doi.org/10.7551/mitpress/3206.001.0001

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.models import GaussianProcess, MixedKernel
    >>> kernel = MixedKernel(categorical=[False])
    >>> theta = np.log([1e-6, 1.0, 0.3])  # noise, signal, length-scale
    >>> gp = GaussianProcess(kernel, theta).fit(np.array([[0.1], [0.9]]), np.array([1.0, 2.0]))
    >>> mean, sd = gp.predict(np.array([[0.1], [0.5]]))
    >>> mean.round(2), sd.round(2)
    (array([1.  , 1.01]), array([0.  , 0.87]))
    """

    def __init__(self, kernel: MixedKernel, theta: np.ndarray):
        self.kernel, self.theta = kernel, np.asarray(theta, dtype=float)

    @property
    def noise(self) -> float:
        """Variance of the noise."""
        return np.exp(self.theta[0])

    def fit(self, U: np.ndarray, y: np.ndarray, noise: float | np.ndarray = 0.0) -> Self:
        """Condition on values at points.

        Parameters
        ----------
        U : ndarray of shape (n, n_dims)
            At least one point.
        y : ndarray of shape (n,) or (n, m)
            Values. With m columns, each column is a separate data set at the same points, such as
            a fantasy.
        noise : float or ndarray of shape (n,), default=0.0
            Known variance of each value, added to the learned noise.

        Returns
        -------
        self : GaussianProcess
            The process itself, conditioned on the values.
        """
        self.U = U
        self._features = self.kernel.features(self.theta[1:], U)
        K = self.kernel.covariance(self.theta[1:], self._features, self._features)
        self._noise = np.broadcast_to(self.noise + noise, len(U))  # noise variance of each value
        K[np.diag_indices(len(K))] += self._noise
        self.factor = CholeskyFactor(K)
        return self.set_values(y)

    def set_values(self, y: np.ndarray) -> Self:
        """Condition on different values at the same points, in O(n^2)."""
        self.y = y
        self.alpha = self.factor.solve(y)
        return self

    def append(
        self, U: np.ndarray, y: np.ndarray | None = None, noise: float | np.ndarray = 0.0
    ) -> Self:
        """Condition on k more points.

        Parameters
        ----------
        U : ndarray of shape (k, n_dims)
            New points.
        y : ndarray of shape (n + k,) or (n + k, m) or None, default=None
            All values, including the old ones. None: `set_values` sets them later.
        noise : float or ndarray of shape (k,), default=0.0
            Known variance of the new values, added to the learned noise.

        Returns
        -------
        self : GaussianProcess
            The process itself, conditioned on all n + k points as by `fit`.
        """
        if len(U):
            new = self.kernel.features(self.theta[1:], U)
            K_new = self.kernel.covariance(self.theta[1:], new, new)
            new_noise = np.broadcast_to(self.noise + noise, len(U))
            K_new[np.diag_indices(len(K_new))] += new_noise
            self._noise = np.r_[self._noise, new_noise]
            K_new_old = self.kernel.covariance(self.theta[1:], new, self._features)
            self.factor.append(K_new_old, K_new)
            self.U = np.vstack([self.U, U])
            self._features = self.kernel.features(self.theta[1:], self.U)
        return self if y is None else self.set_values(y)

    def condition_on(
        self, U: np.ndarray, y: np.ndarray | None = None, noise: float | np.ndarray = 0.0
    ) -> Self:
        """Return a copy conditioned on k more points, as if their values were known.

        Parameters
        ----------
        U : ndarray of shape (k, n_dims)
            Points with unknown values.
        y : ndarray of shape (k,), (k, n_fantasies) or None, default=None
            Assumed values: one for each point, or several samples (fantasies). None: the predicted
            mean, which changes no predicted mean but reduces the sd (the kriging believer).
        noise : float or ndarray of shape (k,), default=0.0
            Known variance of these values, added to the learned noise; negative if they are less
            noisy than measured values.

        Returns
        -------
        gp : GaussianProcess
            Conditioned copy.
        """
        if len(U) == 0:
            return self
        other = copy.copy(self)
        other.factor = copy.deepcopy(self.factor)
        assumed = self.predict(U)[0] if y is None else y
        known = self.y
        if assumed.ndim > known.ndim:
            known = np.repeat(known[:, None], assumed.shape[1], axis=1)
        return other.append(U, np.concatenate([known, assumed]), noise)

    def predict(self, U: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and standard deviation of the function, without noise.

        Parameters
        ----------
        U : ndarray of shape (m, n_dims)
            Points.

        Returns
        -------
        mean : ndarray of shape (m,), or (m, n_fantasies)
            Means, with one column for each column of the values.
        sd : ndarray of shape (m,)
            Standard deviations, the same for all columns.
        """
        points = self.kernel.features(self.theta[1:], U)
        K = self.kernel.covariance(self.theta[1:], points, self._features)
        return K @ self.alpha, np.sqrt(self._variance(self.factor.whiten(K), points))

    def fitted(self) -> np.ndarray:
        """Return the mean at the conditioning points, in the shape of `y`; takes O(n)."""
        # K alpha = y, and K differs from the kernel only on its diagonal.
        return self.y - (self.alpha.T * (self._noise + self.factor.added_jitter)).T

    def predict_with_gradient(
        self, U: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return mean, sd and their derivatives with respect to the numeric coordinates.

        Parameters
        ----------
        U : ndarray of shape (m, n_dims)
            Points.

        Returns
        -------
        mean : ndarray of shape (m,), or (m, n_fantasies)
            Means, with one column for each column of the values.
        sd : ndarray of shape (m,)
            Standard deviations, the same for all columns.
        d_mean : ndarray of shape (m, n_numbers), or (m, n_fantasies, n_numbers)
            Derivatives of `mean`, 0 for inactive coordinates.
        d_sd : ndarray of shape (m, n_numbers)
            Derivatives of `sd`, 0 for inactive coordinates.
        """
        theta = self.theta[1:]
        points = self.kernel.features(theta, U)
        K, slope = self.kernel.covariance(theta, points, self._features, slope=True)
        V = self.factor.whiten(K)
        sd = np.sqrt(self._variance(V, points))
        args = (theta, points, self._features, slope)
        if self.alpha.ndim == 1:
            d_mean = self.kernel.point_gradient(*args, self.alpha)
        else:
            d_mean = np.stack([self.kernel.point_gradient(*args, a) for a in self.alpha.T], axis=1)
        d_variance = -2 * self.kernel.point_gradient(*args, self.factor.unwhiten(V))
        return K @ self.alpha, sd, d_mean, d_variance / (2 * sd[:, np.newaxis])

    def sample(self, U: np.ndarray, n_samples: int, rng: np.random.Generator) -> np.ndarray:
        """Draw functions from the posterior at points.

        Parameters
        ----------
        U : ndarray of shape (m, n_dims)
            Points.
        n_samples : int
            Number of functions.
        rng : numpy.random.Generator
            Source of the draws.

        Returns
        -------
        values : ndarray of shape (m, n_samples)
            Values of the functions, one function in each column.
        """
        theta = self.theta[1:]
        points = self.kernel.features(theta, U)
        K = self.kernel.covariance(theta, points, self._features)
        V = self.factor.whiten(K)
        covariance = self.kernel.covariance(theta, points, points) - V @ V.T
        # Neighbouring points are nearly equal, so the matrix is singular up to rounding.
        covariance[np.diag_indices(len(U))] += 1e-9 * self.kernel.diagonal(theta)
        mean = K @ (self.alpha if self.alpha.ndim == 1 else self.alpha[:, 0])
        normal = rng.standard_normal((len(U), n_samples))
        return mean[:, np.newaxis] + CholeskyFactor(covariance).L @ normal

    def leave_one_out(self) -> tuple[np.ndarray, np.ndarray]:
        """Predict each value from all others, see Rasmussen and Williams, section 5.4.2.

        Returns
        -------
        mean, sd : ndarray of shape (n,)
            Mean and sd of each value; the sd includes the noise.
        """
        variance = 1 / np.einsum("ij,ij->j", self.factor.M, self.factor.M)
        return self.y - self.alpha * variance, np.sqrt(variance)

    def log_likelihood(self) -> float:
        """Logarithm of the marginal likelihood of the values."""
        quadratic = self.y @ self.alpha
        return -0.5 * (quadratic + self.factor.log_det + len(self.y) * LOG_2PI)

    def _variance(self, V: np.ndarray, points: Features) -> np.ndarray:
        signal = self.kernel.diagonal(self.theta[1:], points)
        return np.maximum(signal - np.einsum("ij,ij->i", V, V), MIN_VARIANCE * signal)


def log_likelihood_gradient(
    kernel: MixedKernel,
    theta: np.ndarray,
    U: np.ndarray,
    y: np.ndarray,
    noise: float | np.ndarray = 0.0,
) -> tuple[float, np.ndarray]:
    """Return the log marginal likelihood and its gradient ([1]_, eq. 5.9).

    Parameters
    ----------
    kernel : MixedKernel
        Covariance.
    theta : ndarray of shape (1 + kernel.n_theta,)
        Logarithms of noise variance and kernel hyperparameters.
    U : ndarray of shape (n, n_dims)
        Points.
    y : ndarray of shape (n,)
        Values.
    noise : float or ndarray of shape (n,), default=0.0
        Known variance of each value.

    Returns
    -------
    value : float
        Log marginal likelihood.
    gradient : ndarray of shape (1 + kernel.n_theta,)
        Derivatives by theta.

    References
    ----------
    .. [1] C. E. Rasmussen, C. K. I. Williams, "Gaussian processes for machine learning", 2006.
       https://doi.org/10.7551/mitpress/3206.001.0001

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.models import MixedKernel
    >>> from sksearch.models._gp import log_likelihood_gradient
    >>> from sksearch.models._learning import prior
    >>> from sksearch.models._transforms import standardise
    >>> U = np.linspace(0, 1, 8)[:, None]
    >>> y = standardise(np.sin(6 * U[:, 0]))
    >>> kernel = MixedKernel([False])
    >>> theta, _ = prior(kernel)
    >>> value, gradient = log_likelihood_gradient(kernel, theta, U, y)
    >>> gradient.shape
    (3,)
    """
    features = kernel.features(theta[1:], U)
    K, slope = kernel.covariance(theta[1:], features, features, slope=True)
    np.fill_diagonal(slope, 0.0)  # no distance, so no gradient, even if the slope is infinite
    noisy = K.copy()
    noisy[np.diag_indices(len(K))] += np.exp(theta[0]) + noise
    factor = CholeskyFactor(noisy)
    alpha = factor.solve(y)
    value = -0.5 * (y @ alpha + factor.log_det + len(y) * LOG_2PI)
    W = 0.5 * (np.outer(alpha, alpha) - factor.inverse())
    by_noise = np.exp(theta[0]) * np.trace(W)
    return value, np.r_[by_noise, kernel.gradient(theta[1:], U, features, K, slope, W)]
