"""Loss curves by a Gamma process, after chapter 7 of Matache's thesis ([1]_ of `GammaCurves`).

==========  ==================================================  =========================
symbol      meaning                                             shape
==========  ==================================================  =========================
``n``       ``n_epochs``, the largest resource                  ()
``t``       epoch, 1 .. n - 1; a step leads from t to t + 1     ``(n - 1, 1)``
``k``       mode of every Gamma law: the level of standstill    ()
``tau``     variance of the law at t, n + 1 - t                 ``(n - 1,)``
``alpha``   shape of the law at t, k beta + 1                   ``(n - 1,)``
``beta``    rate of the law at t                                ``(n - 1,)``
``lam``     levels of aggressiveness, drawn                     ``(n - 1, n_curves)``
``m``       ML aggressiveness of a family                       ()
``nu``      necessary aggressiveness                            ()
``rho``     up-spikiness                                        ()
``w``       pull towards the end, (t / (n - 1))^nu              ``(n - 1, 1)``
``start``   f(1), ``end`` f(n), ``debt`` f(t) - f(n)            ``(n_curves,)``
``keys``    a curve's key: its random numbers are functions     ``(n_curves,)``, uint64
            of it and of a counter
==========  ==================================================  =========================

The thesis' var(t) is n - t, which makes beta infinite at t = n; tau is larger by one.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from numbers import Integral

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import gammaincinv, ndtri
from scipy.stats import uniform

from sksearch.simulators._counter import make_keys, uniforms
from sksearch.simulators._families import FAMILIES, Family
from sksearch.simulators._problem import CurveProblem

K = 2.0
SMOOTHING_ORDER = 3
SMOOTHING_LEAST_EPOCHS = 7  # below, the window is longer than the curve
FEW = 16  # curves
N_CURVES = 512  # that are made at once
N_ELEMENTS = 1 << 16  # of an array of draws: half a megabyte stays in a core's cache
FAMILY, NOISE, FIRST_LEVEL = range(3)  # counters of a curve's random numbers


def gamma_law(n_epochs: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the parameters of the Gamma laws of a curve's steps.

    Parameters
    ----------
    n_epochs : int
        Count of epochs, n.

    Returns
    -------
    alpha, beta : ndarray of shape (n_epochs - 1,)
        Shapes and rates for t = 1 .. n - 1. The mode is 2 and the variance (n + 1) - t.

    Examples
    --------
    >>> from sksearch.simulators import gamma_law
    >>> alpha, beta = gamma_law(81)
    >>> ((alpha - 1) / beta)[[0, -1]].round(9), (alpha / beta**2)[[0, -1]].round(9)
    (array([2., 2.]), array([81.,  2.]))
    """
    tau = n_epochs + 1.0 - np.arange(1, n_epochs)
    beta = (K + np.sqrt(K**2 + 4 * tau)) / (2 * tau)
    return K * beta + 1, beta


def gamma_curves(values, keys, family: Family, n_epochs: int = 81, noise: float = 0.0):
    """Simulate loss curves of one family.

    Parameters
    ----------
    values : array-like of shape (n_curves,)
        The underlying function u at the params of each curve.
    keys : array-like of int of shape (n_curves,)
        What decides on all that is random in a curve; from 0 to 2^64 - 1.
    family : Family
        The shape.
    n_epochs : int, default=81
        Count of epochs, 2 at least, and 7 for a smooth family.
    noise : float, default=0.0
        Standard deviation of the normal noise that is added to the first value.

    Returns
    -------
    losses : ndarray of shape (n_curves, n_epochs)
        Each row begins exactly at ``u - start_shift`` plus noise, ends exactly at
        ``u - end_shift``, and is a function of its own value and key alone.

    Raises
    ------
    ValueError
        If there are too few epochs, or not as many keys as values.

    Notes
    -----
    The cost is linear in `n_epochs`, but for the smoothing's ``n log n``.

    Examples
    --------
    >>> from sksearch.simulators import FAMILIES, gamma_curves
    >>> losses = gamma_curves([3.0, 5.0], [0, 1], FAMILIES["branin"][0])
    >>> losses.shape, losses[:, 0].tolist(), losses[:, -1].tolist()
    ((2, 81), [3.0, 5.0], [-197.0, -195.0])
    """
    _check_epochs(n_epochs, family.smooth)
    values = np.asarray(values, dtype=float)
    keys = np.asarray(keys, dtype=np.uint64)
    if values.ndim != 1 or values.shape != keys.shape:
        raise ValueError(
            f"values has the shape {values.shape} and keys {keys.shape}: both need (n_curves,)."
        )
    losses = np.empty((len(values), n_epochs))
    for first in range(0, len(values), N_CURVES):
        rows = slice(first, first + N_CURVES)
        losses[rows] = _curves(values[rows], keys[rows], family, n_epochs, noise)
    return losses


def _check_epochs(n_epochs, smooth):
    least = SMOOTHING_LEAST_EPOCHS if smooth else 2
    if not isinstance(n_epochs, Integral) or n_epochs < least:
        raise ValueError(
            f"n_epochs={n_epochs!r} must be an integer of at least {least}"
            + (": a smooth family needs a window of 7." if smooth else ".")
        )


def _curves(values, keys, family, n_epochs, noise):
    """The same for a few hundred curves."""
    end = values - family.end_shift
    start = values - family.start_shift
    if noise:
        start = start + noise * ndtri(uniforms(keys, NOISE))
    if family.necessary_aggressiveness == 0 and not family.smooth:
        # At the end after one step: as the steps below would have it, at no cost.
        losses = np.tile(end[:, None], n_epochs)
        losses[:, 0] = start
        return losses
    debts = np.empty((n_epochs, len(values)))
    debts[0] = start - end
    length = N_ELEMENTS // len(values)
    for first in range(0, n_epochs - 1, length):
        steps = slice(first, min(first + length, n_epochs - 1))
        factor, rise = _steps(_levels(keys, steps, n_epochs), steps, n_epochs, family)
        _follow(debts[first : steps.stop + 1], factor, rise)
    losses = np.ascontiguousarray(debts.T)
    if family.smooth:
        losses = _smoothed(losses)
    losses += end[:, None]
    losses[:, 0], losses[:, -1] = start, end  # neither rounding nor smoothing moves them
    return losses


def _levels(keys, steps, n_epochs):
    """Draw from the Gamma laws of some steps, by Marsaglia's and Tsang's method [2]_."""
    counters, alpha, beta, d, c = (column[..., steps, :] for column in _law(n_epochs))
    u, x = uniforms(keys, counters[:2])
    x = ndtri(x)
    v = (1 + c * x) ** 3
    # No logarithm of v <= 0, which is refused: with this value the right side is below -500.
    v = np.maximum(v, 1e-300)
    lam = d * v
    refused = np.log(u) > 0.5 * x**2 + d * (1 - v + np.log(v))
    # At most 5 % are refused. Inversion is as exact, but costs thirty times as much a draw.
    rows, columns = refused.nonzero()
    u = uniforms(keys[columns], counters[2, rows, 0])
    lam[rows, columns] = gammaincinv(alpha[rows, 0], u)
    lam /= beta
    return lam


@lru_cache
def _law(n_epochs):
    """What draws need of each law, as columns: three counters, alpha, beta, d and c of [2]_."""
    alpha, beta = gamma_law(n_epochs)
    counters = FIRST_LEVEL + np.arange(3 * len(alpha), dtype=np.uint64).reshape(-1, 3).T
    d = alpha - 1 / 3
    return tuple(a[..., None] for a in (counters, alpha, beta, d, 1 / np.sqrt(9 * d)))


def _steps(lam, steps, n_epochs, family):
    """Factor and rise of each step: debt(t + 1) = factor debt(t) + rise.

    The two rules of [1]_, less f(n): down, debt(t + 1) = (1 - w) (1 - m (lam - k) / 100)
    debt(t); up, debt(t + 1) = (1 - w^1.1) (debt(t) + rho / (1 + lam)).
    """
    keeps = _keeps(n_epochs - 1, family.necessary_aggressiveness)
    keep_down, keep_up = (column[steps] for column in keeps)
    down = lam > K
    factor = np.where(down, keep_down * (1 - family.ml_aggressiveness / 100 * (lam - K)), keep_up)
    rise = np.where(down, 0.0, keep_up * family.up_spikiness / (1 + lam))
    return factor, rise


@lru_cache
def _keeps(n_steps, nu):
    """What is left of the debt by the pull to the end, in steps down and up."""
    time_gone = np.arange(1.0, n_steps + 1)[:, None] / n_steps  # t / (n - 1)
    return 1 - time_gone**nu, 1 - time_gone ** (1.1 * nu)


def _follow(debts, factor, rise):
    """Fill the rows of `debts` after the first, of shape (n_steps + 1, n_curves)."""
    if debts.shape[1] <= FEW:  # Python's numbers cost less then, and are the same to the last bit
        for j, debt in enumerate(debts[0].tolist()):
            debts[1:, j] = _followed(debt, factor[:, j].tolist(), rise[:, j].tolist())
        return
    for here, there, f, r in zip(debts[:-1], debts[1:], factor, rise, strict=True):
        np.multiply(f, here, out=there)
        there += r


def _followed(debt, factor, rise):
    debts = []
    for f, r in zip(factor, rise, strict=True):
        debt = f * debt + r
        debts.append(debt)
    return debts


def _smoothed(losses):
    """Savitzky-Golay filter as SciPy's, whose cost however is quadratic in the count of epochs."""
    n_epochs = losses.shape[1]
    basis, kernel = _window(n_epochs)
    length, half = len(basis), len(basis) // 2
    size = next_fast_len(n_epochs, real=True)
    convolved = irfft(rfft(losses, size) * kernel, size)
    smooth = np.empty_like(losses)
    smooth[:, half:-half] = convolved[:, length - 1 : n_epochs]
    # The polynomials of the first and of the last window go on to the ends.
    for ends, window, rows in (
        (smooth[:, :half], losses[:, :length], basis[:half]),
        (smooth[:, -half:], losses[:, -length:], basis[half + 1 :]),
    ):
        coefficients = np.einsum("cj,jk->ck", window, basis)  # not BLAS: its sums depend on shapes
        ends[:] = np.einsum("ck,ik->ci", coefficients, rows)
    return smooth


@lru_cache
def _window(n_epochs):
    """Orthonormal cubics on a window, a column each, and the transformed kernel they make."""
    length = math.floor(0.17 * n_epochs + 6)
    length += length % 2 == 0
    x = np.linspace(-1, 1, length)
    basis = np.linalg.qr(np.polynomial.legendre.legvander(x, SMOOTHING_ORDER))[0]
    return basis, rfft(basis @ basis[length // 2], next_fast_len(n_epochs, real=True))


@dataclass(frozen=True)
class GammaCurves(CurveProblem):
    """Loss curves around a function with a known minimum, by a Gamma process [1]_.

    A candidate's curve begins at the function's value at its params plus noise, and ends at the
    value less a shift. In between it falls, jumps up and flattens as its family of shapes says.
    So the best candidate is known, and curves cross on the way, as those of trainings do.

    Parameters
    ----------
    function : callable
        The underlying function: one of this module's, or any callable on arrays of shape
        (n, n_dims) with an attribute ``bounds`` of shape (n_dims, 2), and ``minimum`` if known.
    families : sequence of Family or None, default=None
        The families that are dealt to candidates, such as ``FAMILIES["rastrigin-1"]``. None:
        curves are flat, the function's value from the first epoch to the last.
    n_epochs : int, default=81
        Count of epochs, 2 at least, and 7 if a family is smooth.
    noise : float, default=0.0
        Standard deviation of the normal noise in the first value, in units of the loss.
    schedule : {"random", "round_robin"}, default="random"
        How families are dealt: each with the same probability, as a function of seed and
        params; or in turn, as a function of the candidate's number in its search.

    Attributes
    ----------
    space : dict
        Uniform distributions of "x0", "x1", ... over the function's bounds.
    max_resources : int
        `n_epochs`.
    minimum : float or None
        The function's minimum less the largest ``end_shift``.

    Raises
    ------
    TypeError
        If `function` has no ``bounds``.
    ValueError
        If another argument is not usable.

    See Also
    --------
    SimulatedEstimator : The same as a scikit-learn estimator.
    play : A search on such a problem, in milliseconds.

    Notes
    -----
    With u the function's value, f(1) = u + noise - start_shift and f(n) = u - end_shift. For t =
    1 .. n - 1 a level of aggressiveness lambda is drawn from the Gamma law with mode k = 2 and
    variance n + 1 - t. With m the ML aggressiveness, nu the necessary aggressiveness, rho the
    up-spikiness, and w = (t / (n - 1))^nu:

    - lambda > k, down: g = f(t) + m (lambda - k) (f(n) - f(t)) / 100 and f(t + 1) = g +
      (f(n) - g) w;
    - lambda < k, up: g = f(t) + rho / (1 + lambda) and f(t + 1) = g + (f(n) - g) w^1.1.

    A smooth family's curve then passes a Savitzky-Golay filter of order 3, its window the odd
    one of floor(0.17 n + 6) and one more. The filter would move both ends: they are put back,
    so the first and the last value of every curve are exact. What lies between is exact for
    families that are not smooth.

    A curve is a function of seed and params, so a search can be repeated on the same curves, in
    any order, in any process. In turn, as in [1]_, needs the candidate's number: `play` knows
    it, an estimator in a search does not, so with "round_robin" there is only `play`.

    References
    ----------
    .. [1] C. Matache, "Efficient design of machine learning hyperparameter optimizers", MEng
       thesis, Imperial College London, 2019, chapter 7.
    .. [2] G. Marsaglia, W. W. Tsang, "A simple method for generating gamma variables", ACM
       Transactions on Mathematical Software 26(3):363-372, 2000.
       https://doi.org/10.1145/358407.358414
    .. [3] G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators",
       OOPSLA 2014. https://doi.org/10.1145/2660193.2660195

    Examples
    --------
    >>> from sksearch.simulators import FAMILIES, GammaCurves, Rastrigin
    >>> problem = GammaCurves(Rastrigin(2), FAMILIES["rastrigin-1"], noise=10)
    >>> losses = problem.losses([{"x0": 0, "x1": 0}, {"x0": 1, "x1": 1}], seed=0)
    >>> losses.shape, losses[:, -1].tolist(), problem.minimum
    ((2, 81), [-200.0, -198.0], -200.0)
    """

    function: Callable
    families: Sequence[Family] | None = None
    n_epochs: int = 81
    noise: float = 0.0
    schedule: str = "random"

    def __post_init__(self):
        if not callable(self.function) or not hasattr(self.function, "bounds"):
            raise TypeError(
                f"function={self.function!r} must be callable on arrays of shape (n, n_dims) and "
                "have an attribute bounds of shape (n_dims, 2)."
            )
        if self.families is not None and not (
            isinstance(self.families, Sequence)
            and len(self.families)
            and all(isinstance(f, Family) for f in self.families)
        ):
            raise ValueError(
                f"families={self.families!r} must be a sequence of Family, such as "
                'FAMILIES["rastrigin-1"], or None for flat curves.'
            )
        if not (math.isfinite(self.noise) and self.noise >= 0):
            raise ValueError(f"noise={self.noise} must be a finite standard deviation.")
        if self.schedule not in ("random", "round_robin"):
            raise ValueError(f"schedule={self.schedule!r} must be 'random' or 'round_robin'.")
        _check_epochs(self.n_epochs, any(family.smooth for family in self._dealt))

    @property
    def _dealt(self):
        return FAMILIES["flat"] if self.families is None else self.families

    @cached_property
    def space(self):
        """Uniform distributions over the function's bounds."""
        bounds = np.asarray(self.function.bounds, dtype=float).tolist()
        return {f"x{j}": uniform(low, high - low) for j, (low, high) in enumerate(bounds)}

    @property
    def max_resources(self):
        """Count of epochs."""
        return self.n_epochs

    @property
    def minimum(self):
        """The function's minimum less the largest shift."""
        lowest = getattr(self.function, "minimum", None)
        return None if lowest is None else lowest - max(f.end_shift for f in self._dealt)

    @property
    def by_trial(self):
        """Whether families are dealt in turn."""
        return self.schedule == "round_robin"

    def losses(self, params, seed=0, trials=None):
        """Simulate the curves of candidates.

        Parameters
        ----------
        params : sequence of dict
            Candidates.
        seed : int, default=0
            With a candidate's params it decides on its noise, family and steps.
        trials : sequence of int or None, default=None
            The candidates' numbers; needed for ``schedule="round_robin"``, of no effect else.

        Returns
        -------
        losses : ndarray of shape (len(params), n_epochs)
            Less is better.

        Raises
        ------
        ValueError
            If a candidate lacks a parameter, has an unknown one or one that is not finite, or
            `trials` is needed.
        """
        points = self._points(params)
        keys = make_keys(points, seed)
        values = self.function(points)
        dealt = self._deal(keys, trials)
        losses = np.empty((len(points), self.n_epochs))
        for i in set(dealt.tolist()):
            rows = np.flatnonzero(dealt == i)
            losses[rows] = gamma_curves(
                values[rows], keys[rows], self._dealt[i], self.n_epochs, self.noise
            )
        return losses

    def _points(self, params):
        names = list(self.space)
        try:
            points = [[p[name] for name in names] for p in params]
        except KeyError as error:
            raise ValueError(f"A candidate lacks {error}: the parameters are {names}.") from None
        for p in params:
            if len(p) > len(names):
                unknown = sorted(set(p) - set(names))
                raise ValueError(f"A candidate has {unknown}: the parameters are {names}.")
        points = np.array(points, dtype=float).reshape(len(points), len(names))
        if not np.isfinite(points).all():
            i, j = np.argwhere(~np.isfinite(points))[0]
            raise ValueError(f"{names[j]}={params[i][names[j]]} must be a finite number.")
        return points

    def _deal(self, keys, trials):
        """Index of each curve's family."""
        n = len(self._dealt)
        if n == 1:
            return np.zeros(len(keys), dtype=int)
        if not self.by_trial:
            return (uniforms(keys, FAMILY) * n).astype(int)
        if trials is None or len(trials) != len(keys):
            raise ValueError(
                "schedule='round_robin' deals by the number of the candidate: pass trials=, one "
                "for each. An estimator does not know it: use play, or schedule='random'."
            )
        return np.asarray(trials) % n
