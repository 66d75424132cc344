"""Hyperparameters of a Gaussian process: priors, posterior modes and samples.

Priors of the logarithms are normal, theta ~ N(mode, spread^2), except for the length-scales l of
numbers, p(log l) ~ exp(-0.2 cosh(2 (log l - m))): nearly flat from a third of exp(m) to three
times that, so that the data decide, and falling faster than any power beyond. In up to 23
dimensions m = 0, the side of the cube; in more dimensions it grows with their number d, like the
mode log(d) / 2 + sqrt 2 - 3 of [1]_, so that the covariance of random points does not vanish.

.. [1] C. Hvarfner, E. O. Hellsten, L. Nardi, "Vanilla Bayesian optimization performs great in high
   dimensions", ICML 2024. https://proceedings.mlr.press/v235/hvarfner24a.html
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.optimize import minimize

from sksearch.models._gp import log_likelihood_gradient
from sksearch.models._kernels import MixedKernel

BOUNDS_NOISE = (np.log(1e-7), np.log(1.0))  # from rounding errors to the whole variance
BOUNDS = (np.log(1e-3), np.log(1e3))
GROWTH = 1.15  # ratio of the numbers of points at which hyperparameters are learned again
N_SAMPLES, N_BURN_IN, THINNING = 10, 20, 3  # steps are correlated, so most are dropped
WALL = 0.2  # height of the prior of length-scales, see above


def prior(kernel: MixedKernel) -> np.ndarray:
    """Return modes of theta, and the likely distance from them.

    Parameters
    ----------
    kernel : MixedKernel
        Covariance.

    Returns
    -------
    mode, spread : ndarray of shape (1 + kernel.n_theta,)
        Parameters of normal distributions; for length-scales the spread belongs to the normal
        distribution with the same curvature at the mode.

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.models import MixedKernel
    >>> from sksearch.models._learning import prior
    >>> mode, spread = prior(MixedKernel([False, False]))
    >>> np.exp(mode).round(3).tolist()  # noise, signal, two length-scales
    [0.007, 1.0, 1.0, 1.0]
    """
    p, q = kernel.n_numbers, kernel.n_choices
    d = max(1, p + q)
    parts = [
        (1, *kernel.noise_prior),
        (1, 0.0, 0.5),  # signal variance; values are standardised
        (p, max(0.0, np.sqrt(2) - 3 + np.log(d) / 2), 0.5 / np.sqrt(WALL)),  # length-scales
        (q, -np.log(d) / 2, 1.5),  # weights of choices
        (2 * p * kernel.warp, 0.0, 0.75),  # warping, [Snoek 2014]
        *kernel.further_prior,
    ]
    return np.concatenate([np.tile([[mode], [spread]], n) for n, mode, spread in parts], axis=1)


def log_prior(kernel: MixedKernel, theta: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the log prior at theta up to a constant, and its gradient."""
    mode, spread = prior(kernel)
    z = theta - mode
    values, slopes = -0.5 * (z / spread) ** 2, -z / spread**2
    scales = slice(2, 2 + kernel.n_numbers)
    values[scales] = WALL * (1 - np.cosh(2 * z[scales]))
    slopes[scales] = -2 * WALL * np.sinh(2 * z[scales])
    return values.sum(), slopes


def log_posterior(
    kernel: MixedKernel,
    theta: np.ndarray,
    U: np.ndarray,
    y: np.ndarray,
    noise: float | np.ndarray = 0.0,
) -> tuple[float, np.ndarray]:
    """Return log likelihood + log prior of theta up to a constant, and its gradient.

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.models import MixedKernel
    >>> from sksearch.models._learning import log_posterior, prior
    >>> from sksearch.models._transforms import standardise
    >>> U = np.linspace(0, 1, 8)[:, None]
    >>> y = standardise(np.sin(6 * U[:, 0]))
    >>> kernel = MixedKernel([False])
    >>> theta, _ = prior(kernel)
    >>> value, gradient = log_posterior(kernel, theta, U, y)
    >>> gradient.shape
    (3,)
    """
    value, gradient = log_likelihood_gradient(kernel, theta, U, y, noise)
    log_p, slopes = log_prior(kernel, theta)
    return value + log_p, gradient + slopes


def learn_theta(
    kernel: MixedKernel,
    U: np.ndarray,
    y: np.ndarray,
    noise: float | np.ndarray = 0.0,
    starts: Sequence[np.ndarray] = (),
    flat: bool = False,
) -> np.ndarray:
    """Return the most probable hyperparameters.

    Parameters
    ----------
    kernel : MixedKernel
        Covariance.
    U : ndarray of shape (n, n_dims)
        Points.
    y : ndarray of shape (n,)
        Values, standardised.
    noise : float or ndarray of shape (n,), default=0.0
        Known variance of each value.
    starts : sequence of ndarray of shape (1 + kernel.n_theta,)
        Starting points in addition to the mode of the prior.
    flat : bool, default=False
        If True, maximise the marginal likelihood within wide bounds, without a prior.

    Returns
    -------
    theta : ndarray of shape (1 + kernel.n_theta,)
        Logarithms of the hyperparameters.

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.models import MixedKernel
    >>> from sksearch.models._learning import learn_theta
    >>> from sksearch.models._transforms import standardise
    >>> U = np.linspace(0, 1, 8)[:, None]
    >>> y = standardise(np.sin(6 * U[:, 0]))
    >>> kernel = MixedKernel([False])
    >>> noise, signal, length = np.exp(learn_theta(kernel, U, y))
    >>> bool(0.05 < length < 1)
    True
    """
    mode, _ = prior(kernel)
    bounds = [BOUNDS_NOISE] + [BOUNDS] * kernel.n_theta

    density = log_likelihood_gradient if flat else log_posterior

    def objective(theta: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = density(kernel, theta, U, y, noise)
        return -value, -gradient

    best: Any = None
    for start in (mode, *starts):
        found = minimize(
            objective,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            # Each iteration costs O(n^3), and with many rows fewer are needed.
            options={"maxiter": 40 if len(y) <= 300 else 20, "ftol": 1e-5},
        )
        if best is None or found.fun < best.fun:
            best = found
    return best.x


def sample_theta(
    kernel: MixedKernel,
    theta: np.ndarray,
    U: np.ndarray,
    y: np.ndarray,
    rng: np.random.Generator,
    flat: bool = False,
) -> np.ndarray:
    """Draw hyperparameters from their posterior by slice sampling.

    Parameters
    ----------
    kernel : MixedKernel
        Covariance.
    theta : ndarray of shape (1 + kernel.n_theta,)
        Starting point, preferably the most probable hyperparameters.
    U : ndarray of shape (n, n_dims)
        Points.
    y : ndarray of shape (n,)
        Values, standardised.
    rng : numpy.random.Generator
        Source of the draws.
    flat : bool, default=False
        If True, the prior is uniform within wide bounds.

    Returns
    -------
    thetas : ndarray of shape (10, 1 + kernel.n_theta)
        Samples, after a burn-in of 20 and with 2 skipped between samples.

    Notes
    -----
    Each step is in a random direction, scaled by the standard deviations of the prior; the
    interval is stepped out and shrunk as in [1]_. Sampling hyperparameters in this way follows
    [2]_.

    References
    ----------
    .. [1] R. M. Neal, "Slice sampling", Annals of Statistics 31, 2003.
       https://doi.org/10.1214/aos/1056562461
    .. [2] I. Murray, R. P. Adams, "Slice sampling covariance hyperparameters of latent Gaussian
       models", NeurIPS 2010. https://arxiv.org/abs/1006.0868

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.models import MixedKernel
    >>> from sksearch.models._learning import sample_theta
    >>> from sksearch.models._learning import prior
    >>> from sksearch.models._transforms import standardise
    >>> U = np.linspace(0, 1, 8)[:, None]
    >>> y = standardise(np.sin(6 * U[:, 0]))
    >>> kernel = MixedKernel([False])
    >>> theta, _ = prior(kernel)
    >>> sample_theta(kernel, theta, U, y, np.random.default_rng(0)).shape
    (10, 3)
    """
    _, spread = prior(kernel)
    low = np.r_[BOUNDS_NOISE[0], np.full(kernel.n_theta, BOUNDS[0])]
    high = np.r_[BOUNDS_NOISE[1], np.full(kernel.n_theta, BOUNDS[1])]

    def density(point: np.ndarray) -> float:
        if (point < low).any() or (point > high).any():
            return -np.inf
        return (log_likelihood_gradient if flat else log_posterior)(kernel, point, U, y)[0]

    samples, point = [], np.clip(theta, low, high)
    for step in range(N_BURN_IN + N_SAMPLES * THINNING):
        direction = spread * rng.standard_normal(len(point)) / np.sqrt(len(point))
        point = _slice_step(density, point, direction, rng)
        if step >= N_BURN_IN and (step - N_BURN_IN) % THINNING == THINNING - 1:
            samples.append(point)
    return np.array(samples)


def _slice_step(
    density: Callable[[np.ndarray], float],
    point: np.ndarray,
    direction: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Draw a point on the line through `point` with a density above a random level."""
    # Logarithms, since the density itself would underflow.
    level = density(point) + np.log(rng.random())
    left = -rng.random()
    right = left + 1
    while density(point + left * direction) > level and left > -8:
        left -= 1
    while density(point + right * direction) > level and right < 8:
        right += 1
    while right - left > 1e-9:  # shorter, the point does not move
        t = rng.uniform(left, right)
        proposal = point + t * direction
        if density(proposal) > level:
            return proposal
        left, right = (t, right) if t < 0 else (left, t)
    return point


def learnt_at(n: int) -> int:
    """Return the last number, up to n, at which hyperparameters are learned."""
    point = min(2, n)
    while (following := max(point + 1, math.floor(point * GROWTH))) <= n:
        point = following
    return point
