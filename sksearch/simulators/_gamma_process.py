"""Loss curves by a Gamma process, after chapter 7 of Matache's thesis ([1]_ of `GammaCurves`).

==========  ==================================================  =========================
symbol      meaning                                             shape
==========  ==================================================  =========================
``n``       ``n_epochs``, the largest resource                  ()
``t``       epoch, 1 .. n - 1; a step leads from t to t + 1     ``(n - 1, 1)``
``k``       mode of every Gamma distribution: the level at      ()
            which a curve neither falls nor rises
``tau``     variance of the distribution at t, n + 1 - t        ``(n - 1,)``
``alpha``   shape of the distribution at t, k beta + 1          ``(n - 1,)``
``beta``    rate of the distribution at t                       ``(n - 1,)``
``lam``     levels of aggressiveness, drawn                     ``(n - 1, n_curves)``
``m``       ML aggressiveness of a family                       ()
``nu``      necessary aggressiveness                            ()
``rho``     up-spikiness                                        ()
``w``       pull towards the end, (t / (n - 1))^nu              ``(n - 1, 1)``
``start``   f(1), ``end`` f(n), ``gap`` f(t) - f(n)             ``(n_curves,)``
``keys``    a curve's key: its random numbers depend on         ``(n_curves,)``, uint64
            it and on a counter
==========  ==================================================  =========================

The thesis' var(t) is n - t, which makes beta infinite at t = n; tau is larger by one.
"""

import math
from functools import lru_cache
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import gammaincinv, ndtri

from sksearch.simulators._counter import uniforms
from sksearch.simulators._families import CurveFamily

K = 2.0
SMOOTHING_ORDER = 3
SMOOTHING_LEAST_EPOCHS = 7  # for fewer, the window is longer than the curve
FEW_CURVES = 16  # up to this number, Python's numbers cost less than NumPy's calls
N_CURVES = 512  # processed at once
N_ELEMENTS = 1 << 16  # size of an array of draws: half a megabyte fits in the cache of a core
FAMILY, NOISE, FIRST_LEVEL = range(3)  # counters of a curve's random numbers


def gamma_parameters(n_epochs: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the parameters of the Gamma distributions of a curve's steps.

    Parameters
    ----------
    n_epochs : int
        Number of epochs, n.

    Returns
    -------
    alpha, beta : ndarray of shape (n_epochs - 1,)
        Shapes and rates for t = 1 .. n - 1. The mode is 2 and the variance (n + 1) - t.

    Examples
    --------
    >>> from sksearch.simulators._gamma_process import gamma_parameters
    >>> alpha, beta = gamma_parameters(81)
    >>> ((alpha - 1) / beta)[[0, -1]].round(9), (alpha / beta**2)[[0, -1]].round(9)
    (array([2., 2.]), array([81.,  2.]))
    """
    tau = n_epochs + 1.0 - np.arange(1, n_epochs)
    beta = (K + np.sqrt(K**2 + 4 * tau)) / (2 * tau)
    return K * beta + 1, beta


def gamma_curves(
    values: ArrayLike,
    keys: ArrayLike,
    family: CurveFamily,
    n_epochs: int = 81,
    noise: float = 0.0,
) -> np.ndarray:
    """Simulate loss curves of one family.

    Parameters
    ----------
    values : array-like of shape (n_curves,)
        The underlying function u at the parameters of each curve.
    keys : array-like of int of shape (n_curves,)
        Seed of all randomness in a curve; from 0 to 2^64 - 1.
    family : CurveFamily
        Shape of the curves.
    n_epochs : int, default=81
        Number of epochs, at least 2, and at least 7 for a smooth family.
    noise : float, default=0.0
        Standard deviation of the normal noise added to the first value.

    Returns
    -------
    losses : ndarray of shape (n_curves, n_epochs)
        Each row begins exactly at ``u - start_shift`` plus noise, ends exactly at
        ``u - end_shift``, and depends on its own value and key alone.

    Raises
    ------
    ValueError
        If there are too few epochs, or the numbers of keys and values differ.

    Notes
    -----
    The cost is linear in `n_epochs`, or ``n log n`` with smoothing.

    Examples
    --------
    >>> from sksearch.simulators import FAMILIES
    >>> from sksearch.simulators._gamma_process import gamma_curves
    >>> losses = gamma_curves([3.0, 5.0], [0, 1], FAMILIES["branin"][0])
    >>> losses.shape, losses[:, 0].tolist(), losses[:, -1].tolist()
    ((2, 81), [3.0, 5.0], [-197.0, -195.0])
    """
    check_epochs(n_epochs, family.smooth)
    values = np.asarray(values, dtype=float)
    keys = np.asarray(keys, dtype=np.uint64)
    if values.ndim != 1 or values.shape != keys.shape:
        raise ValueError(
            f"values has shape {values.shape} and keys has shape {keys.shape}, expected "
            "(n_curves,)."
        )
    losses = np.empty((len(values), n_epochs))
    for first in range(0, len(values), N_CURVES):
        rows = slice(first, first + N_CURVES)
        losses[rows] = _curves(values[rows], keys[rows], family, n_epochs, noise)
    return losses


def check_epochs(n_epochs: int, smooth: bool) -> None:
    """Raise an error if curves cannot have this number of epochs."""
    least = SMOOTHING_LEAST_EPOCHS if smooth else 2
    if not isinstance(n_epochs, Integral) or n_epochs < least:
        raise ValueError(
            f"n_epochs={n_epochs!r} must be an integer of at least {least}"
            + (": a smooth family needs a window of 7 epochs." if smooth else ".")
        )


def _curves(values, keys, family, n_epochs, noise):
    """Simulate a few hundred curves of one family, without checks."""
    end = values - family.end_shift
    start = values - family.start_shift
    if noise:
        start = start + noise * ndtri(uniforms(keys, NOISE))
    if family.necessary_aggressiveness == 0 and not family.smooth:
        # The first step leads to the end, as the loop below would find at a higher cost.
        losses = np.tile(end[:, None], n_epochs)
        losses[:, 0] = start
        return losses
    gaps = np.empty((n_epochs, len(values)))
    gaps[0] = start - end
    length = N_ELEMENTS // len(values)
    for first in range(0, n_epochs - 1, length):
        steps = slice(first, min(first + length, n_epochs - 1))
        factor, rise = _steps(_levels(keys, steps, n_epochs), steps, n_epochs, family)
        _apply_steps(gaps[first : steps.stop + 1], factor, rise)
    losses = np.ascontiguousarray(gaps.T)
    if family.smooth:
        losses = _smoothed(losses)
    losses += end[:, None]
    losses[:, 0], losses[:, -1] = start, end  # neither rounding nor smoothing moves them
    return losses


def _levels(keys, steps, n_epochs):
    """Draw from the Gamma distributions of some steps, by Marsaglia's and Tsang's method [2]_."""
    counters, alpha, beta, d, c = (column[..., steps, :] for column in _columns(n_epochs))
    u, x = uniforms(keys, counters[:2])
    x = ndtri(x)
    v = (1 + c * x) ** 3
    # v <= 0 is rejected: this value avoids its logarithm, and makes the right side less than -500.
    v = np.maximum(v, 1e-300)
    lam = d * v
    refused = np.log(u) > 0.5 * x**2 + d * (1 - v + np.log(v))
    # At most 5 % are rejected. Inversion is also exact, but takes thirty times as long per draw.
    rows, columns = refused.nonzero()
    u = uniforms(keys[columns], counters[2, rows, 0])
    lam[rows, columns] = gammaincinv(alpha[rows, 0], u)
    lam /= beta
    return lam


@lru_cache
def _columns(n_epochs):
    """Return columns with a row for each step: three counters, alpha, beta, d and c of [2]_."""
    alpha, beta = gamma_parameters(n_epochs)
    counters = FIRST_LEVEL + np.arange(3 * len(alpha), dtype=np.uint64).reshape(-1, 3).T
    d = alpha - 1 / 3
    return tuple(a[..., None] for a in (counters, alpha, beta, d, 1 / np.sqrt(9 * d)))


def _steps(lam, steps, n_epochs, family):
    """Return factor and rise of each step: gap(t + 1) = factor gap(t) + rise.

    The two rules of [1]_, minus f(n): down, gap(t + 1) = (1 - w) (1 - m (lam - k) / 100)
    gap(t); up, gap(t + 1) = (1 - w^1.1) (gap(t) + rho / (1 + lam)).
    """
    shares = _shares_kept(n_epochs - 1, family.necessary_aggressiveness)
    keep_down, keep_up = (column[steps] for column in shares)
    down = lam > K
    factor = np.where(down, keep_down * (1 - family.ml_aggressiveness / 100 * (lam - K)), keep_up)
    rise = np.where(down, 0.0, keep_up * family.up_spikiness / (1 + lam))
    return factor, rise


@lru_cache
def _shares_kept(n_steps, nu):
    """Return the share of the gap left by the pull to the end, in steps down and up."""
    time_gone = np.arange(1.0, n_steps + 1)[:, None] / n_steps  # t / (n - 1)
    return 1 - time_gone**nu, 1 - time_gone ** (1.1 * nu)


def _apply_steps(gaps, factor, rise):
    """Fill the rows of `gaps` after the first, of shape (n_steps + 1, n_curves)."""
    if gaps.shape[1] <= FEW_CURVES:  # bit-identical
        for j, gap in enumerate(gaps[0].tolist()):
            gaps[1:, j] = _following_gaps(gap, factor[:, j].tolist(), rise[:, j].tolist())
        return
    for here, there, f, r in zip(gaps[:-1], gaps[1:], factor, rise, strict=True):
        np.multiply(f, here, out=there)
        there += r


def _following_gaps(gap, factor, rise):
    gaps = []
    for f, r in zip(factor, rise, strict=True):
        gap = f * gap + r
        gaps.append(gap)
    return gaps


def _smoothed(losses):
    """Apply a Savitzky-Golay filter; SciPy's cost is quadratic in the number of epochs."""
    n_epochs = losses.shape[1]
    basis, kernel = _window(n_epochs)
    length, half = len(basis), len(basis) // 2
    size = next_fast_len(n_epochs, real=True)
    convolved = irfft(rfft(losses, size) * kernel, size)
    smooth = np.empty_like(losses)
    smooth[:, half:-half] = convolved[:, length - 1 : n_epochs]
    # The polynomials of the first and the last window extend to the ends.
    for ends, window, rows in (
        (smooth[:, :half], losses[:, :length], basis[:half]),
        (smooth[:, -half:], losses[:, -length:], basis[half + 1 :]),
    ):
        coefficients = np.einsum("cj,jk->ck", window, basis)  # not BLAS: its sums depend on shapes
        ends[:] = np.einsum("ck,ik->ci", coefficients, rows)
    return smooth


@lru_cache
def _window(n_epochs):
    """Return orthonormal cubics on a window, as columns, and their kernel's Fourier transform."""
    length = math.floor(0.17 * n_epochs + 6)
    length += length % 2 == 0
    x = np.linspace(-1, 1, length)
    basis = np.linalg.qr(np.polynomial.legendre.legvander(x, SMOOTHING_ORDER))[0]
    return basis, rfft(basis @ basis[length // 2], next_fast_len(n_epochs, real=True))
