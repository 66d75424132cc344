"""Densities on the unit cube: mixtures of products of one kernel for each coordinate.

==========  ======================================================================
U, x        centres of the mixture (n, d), points (m, d); NaN where inactive
h_j         bandwidth of number j, the same for all centres
b_j         probability that choice j of a draw differs from its centre's
c_j         number of values of choice j
w           weights of the centres, and last the weight of the uniform density
==========  ======================================================================
"""

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import erf, log_ndtr, ndtr, ndtri

from sksearch.models._normal import LOG_SQRT_2PI

SQRT_2 = np.sqrt(2)
TINY = 1e-300  # 0 has no logarithm
FAR = 1e-280  # lower probabilities need logarithms, which take ten times as long
LEAST_CELL = 1e-9  # narrower cells are points: differences of equal masses are rounding errors


class Parzen:
    """Kernel density estimate over numbers and choices, active or not.

    Parameters
    ----------
    U : ndarray of shape (n, d)
        Centres; n may be 0.
    weights : ndarray of shape (n,)
        Weights of the centres; the uniform density has weight 1.
    n_choices : ndarray of shape (d,)
        Number of values of an unordered choice, 0 for a number.
    bandwidths : ndarray of shape (d,)
        Standard deviations of the kernels of numbers.

    Notes
    -----
    A number's kernel is a normal density, truncated at 0 and 1 and, for discrete values,
    integrated over the cell of each value. A choice's kernel follows Aitchison and Aitken [1]_. A
    coordinate inactive in the centre or in the point has the factor 1, the density of the user's
    own distribution, because it carries no information. One mixture therefore covers the whole
    tree of a conditional space, and its branches share common parameters.

    The user's distributions are uniform on the cube and one component of the mixture, so the
    density is never 0.

    References
    ----------
    .. [1] J. Aitchison, C. G. G. Aitken, "Multivariate binary discrimination by the kernel
       method", Biometrika 63, 1976. https://doi.org/10.1093/biomet/63.3.413

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.models._parzen import Parzen
    >>> density = Parzen(np.array([[0.2], [0.3]]), np.ones(2), np.array([0]), np.array([0.1]))
    >>> at = np.array([[0.25], [0.9]])
    >>> np.exp(density.log_density(at, at)).round(2).tolist()
    [2.71, 0.33]
    """

    def __init__(
        self, U: np.ndarray, weights: np.ndarray, n_choices: np.ndarray, bandwidths: np.ndarray
    ):
        self.U, self.n_choices, self.h = U, n_choices, bandwidths
        w = np.append(weights, 1.0)
        self.w = w / w.sum()
        self._numbers = np.flatnonzero(n_choices == 0)
        self._choices = np.flatnonzero(n_choices > 0)
        self.b = (n_choices - 1) / np.maximum(len(U) + n_choices, 1)

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draw points, shape (n, d), not rounded and with inactive coordinates."""
        d = self.U.shape[1]
        which = np.searchsorted(np.cumsum(self.w), rng.random(n), side="right")
        which = np.minimum(which, len(self.U))
        uniform = rng.random((n, d))
        if not len(self.U):
            return uniform
        kernel = np.minimum(which, len(self.U) - 1)
        centres = self.U[kernel]
        X = centres.copy()
        j = self._numbers
        h, middle = self.h[j], centres[:, j]
        low, high = ndtr(-middle / h), ndtr((1 - middle) / h)
        X[:, j] = np.clip(middle + h * ndtri(low + uniform[:, j] * (high - low)), 0, 1)
        for k in self._choices:
            # Draw whether it differs, then uniformly among the others.
            c = self.n_choices[k]
            differs = rng.random(n) < self.b[k]
            shift = 1 + np.floor(uniform[:, k] * (c - 1)) if c > 1 else 0.0
            X[:, k] = np.where(differs, (centres[:, k] + shift / c) % 1.0, centres[:, k])
        prior = (which == len(self.U))[:, np.newaxis]
        return np.where(prior | np.isnan(X), uniform, X)

    def log_density(self, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        """Return the logarithm of the density.

        Parameters
        ----------
        lower, upper : ndarray of shape (m, d)
            Cells of the points; equal for real values, NaN where inactive.

        Returns
        -------
        value : ndarray of shape (m,)
            Logarithm at each point.
        """
        value = np.empty((len(lower), len(self.w)))
        value[:, :-1] = self.log_kernels(lower, upper) if len(self.U) else 0.0
        value[:, -1] = 0.0
        value += np.log(np.maximum(self.w, TINY))
        top = value.max(axis=1)
        value -= top[:, np.newaxis]
        return top + np.log(np.exp(value, out=value).sum(axis=1))

    def log_kernels(self, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        """Return the logarithm of each centre's kernel at each point, shape (m, n)."""
        wide = (upper - lower > LEAST_CELL).any(axis=0)
        if not wide.any() and len(self._numbers) == len(wide):
            return self._smooth(lower, slice(None))
        value = np.zeros((len(lower), len(self.U)))
        smooth = ~wide[self._numbers]
        if smooth.any():
            value += self._smooth((lower + upper) / 2, self._numbers[smooth])
        for i in np.flatnonzero(~smooth):
            value += self._cells(lower, upper, i)
        for k in self._choices:
            value += self._choice((lower[:, k] + upper[:, k]) / 2, k)
        return value

    def _smooth(self, x: np.ndarray, j: np.ndarray | slice) -> np.ndarray:
        """Return log kernels of real coordinates, summed over all of them, shape (m, n)."""
        h = self.h[j]
        centres, points = self.U[:, j] / h, x[:, j] / h
        # Mass of each kernel inside [0, 1]; its centre is inside, so at least one half of it.
        mass = (erf((1 / h - centres) / SQRT_2) + erf(centres / SQRT_2)) / 2
        log_norm = np.log(mass * h) + LOG_SQRT_2PI
        squares = cdist(points, centres, "sqeuclidean")
        if not np.isnan(squares).any():
            return -0.5 * squares - log_norm.sum(axis=1)
        value: Any = 0.0
        for k in range(len(h)):
            term = -0.5 * (points[:, k, None] - centres[:, k]) ** 2 - log_norm[:, k]
            value = value + np.nan_to_num(term)
        return value

    def _cells(self, lower: np.ndarray, upper: np.ndarray, i: int | np.integer) -> np.ndarray:
        """Return log kernels of one discrete number: mass of a cell over its width, (m, n)."""
        j = self._numbers[i]
        # A cell as one complex number, because sorting pairs takes ten times as long.
        places, at = np.unique(lower[:, j] + 1j * upper[:, j], return_inverse=True)
        middle, half = (places.real + places.imag) / 2, (places.imag - places.real) / 2
        half = np.maximum(half, LEAST_CELL / 2)
        places = np.column_stack([middle - half, middle + half])
        centres, of = np.unique(self.U[:, j], return_inverse=True)
        z = (places[:, :, None] - centres) / self.h[j]
        # Far above the centre both ends have probability 1, unlike their mirror images.
        z = np.where((z[:, :1] > 0), -z[:, ::-1], z)
        low, high = np.moveaxis(ndtr(z), 1, 0)
        log_mass = np.log(np.maximum(high - low, TINY))
        if (far := high < FAR).any():
            low, high = log_ndtr(z[:, 0][far]), log_ndtr(z[:, 1][far])
            # Equal ends by rounding would give the logarithm of 0.
            log_mass[far] = high + np.log1p(-np.exp(np.minimum(low - high, -1e-16)))
        inside = ndtr((1 - centres) / self.h[j]) - ndtr(-centres / self.h[j])
        width = (places[:, 1] - places[:, 0])[:, None]
        table = np.nan_to_num(log_mass - np.log(np.maximum(width, TINY)) - np.log(inside))
        return table[np.ix_(at, of)]

    def _choice(self, x: np.ndarray, k: int | np.integer) -> np.ndarray | float:
        """Return log kernels of one choice, relative to the uniform density, shape (m, n)."""
        c, b, centres = self.n_choices[k], self.b[k], self.U[:, k]
        if c == 1:
            return 0.0
        same = np.abs(x[:, None] - centres) < 0.5 / c
        value = np.where(same, np.log(c * (1 - b)), np.log(c * b / (c - 1)))
        return np.where(np.isnan(x)[:, None] | np.isnan(centres), 0.0, value)
