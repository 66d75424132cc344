"""Loss curves around a function with a known minimum, by a Gamma process."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.stats import uniform

from sksearch.simulators._counter import make_keys, uniforms
from sksearch.simulators._families import FAMILIES, CurveFamily
from sksearch.simulators._gamma_process import FAMILY, check_epochs, gamma_curves
from sksearch.simulators._problem import CurveProblem


@dataclass(frozen=True)
class GammaCurves(CurveProblem):
    """Loss curves from a Gamma process that end near the values of a known function [1]_.

    The curve of a candidate begins at the value of the function at its parameters, plus noise, and
    ends at the value minus a shift. In between, the family of the curve determines how fast it
    falls, jumps and flattens. The best candidate is therefore known, although curves cross like
    real learning curves.

    Parameters
    ----------
    function : callable
        A `Function` such as `Rastrigin`, or any callable on arrays of shape (n, n_dims) with an
        attribute ``bounds`` of shape (n_dims, 2) and, if known, ``minimum``.
    families : sequence of CurveFamily or None, default=None
        Families of curves, such as ``FAMILIES["rastrigin-1"]``. None: curves are flat, at the
        value of the function.
    n_epochs : int, default=81
        Number of epochs, at least 2, or at least 7 if a family is smooth.
    noise : float, default=0.0
        Standard deviation of the normal noise added to the first value.
    schedule : {"random", "round_robin"}, default="random"
        Assignment of families to candidates. "random": at random, determined by seed and
        parameters; "round_robin": in turn, by the index of the candidate in the search.

    Attributes
    ----------
    space : dict
        Uniform distributions of "x0", "x1", ... over the function's bounds.
    max_resources : int
        Number of epochs.
    minimum : float or None
        Minimum of the function minus the largest ``end_shift``.

    Raises
    ------
    TypeError
        If `function` has no ``bounds``.
    ValueError
        If another argument is invalid.

    See Also
    --------
    SimulatedEstimator : Scikit-learn estimator with the curves of a problem.
    play : Runs a search on a simulated problem in milliseconds.

    Notes
    -----
    With u the value of the function, f(1) = u + noise - start_shift and f(n) = u - end_shift. For
    t = 1 .. n - 1 a level of aggressiveness lambda is drawn from a Gamma distribution with mode k
    = 2 and variance n + 1 - t. With m the ML aggressiveness, nu the necessary aggressiveness, rho
    the up-spikiness, and w = (t / (n - 1))^nu:

    - lambda > k, down: g = f(t) + m (lambda - k) (f(n) - f(t)) / 100 and f(t + 1) = g +
      (f(n) - g) w;
    - lambda < k, up: g = f(t) + rho / (1 + lambda) and f(t + 1) = g + (f(n) - g) w^1.1.

    A Savitzky-Golay filter of order 3 then smooths the curve of a smooth family. Its window is
    floor(0.17 n + 6), plus one if that is even. The first and the last value are not changed.

    A curve depends only on seed and parameters, so curves are the same in every search and
    process. The schedule "round_robin", as in [1]_, needs the index of the candidate, so it works
    with `play` but not with an estimator in a search.

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
    >>> from sksearch.simulators import FAMILIES, GammaCurves
    >>> from sksearch.simulators._functions import Rastrigin
    >>> problem = GammaCurves(Rastrigin(2), FAMILIES["rastrigin-1"], noise=10)
    >>> losses = problem.losses([{"x0": 0, "x1": 0}, {"x0": 1, "x1": 1}], seed=0)
    >>> losses.shape, losses[:, -1].tolist(), problem.minimum
    ((2, 81), [-200.0, -198.0], -200.0)
    """

    function: Any
    families: Sequence[CurveFamily] | None = None
    n_epochs: int = 81
    noise: float = 0.0
    schedule: str = "random"

    def __post_init__(self) -> None:
        """Raise an error if an argument is invalid."""
        if not callable(self.function) or not hasattr(self.function, "bounds"):
            raise TypeError(
                f"function={self.function!r} must be callable on arrays of shape (n, n_dims) and "
                "have an attribute bounds of shape (n_dims, 2)."
            )
        if self.families is not None and not (
            isinstance(self.families, Sequence)
            and len(self.families)
            and all(isinstance(f, CurveFamily) for f in self.families)
        ):
            raise ValueError(
                f"families={self.families!r} must be a sequence of CurveFamily, such as "
                'FAMILIES["rastrigin-1"], or None for flat curves.'
            )
        if not (math.isfinite(self.noise) and self.noise >= 0):
            raise ValueError(f"noise={self.noise} must be a finite standard deviation.")
        if self.schedule not in ("random", "round_robin"):
            raise ValueError(f"schedule={self.schedule!r} must be 'random' or 'round_robin'.")
        check_epochs(self.n_epochs, any(family.smooth for family in self._families))

    @property
    def _families(self) -> Sequence[CurveFamily]:
        """The families, with the flat one for None."""
        return FAMILIES["flat"] if self.families is None else self.families

    @cached_property
    def space(self) -> dict[str, Any]:
        """Uniform distributions over the function's bounds."""
        bounds = np.asarray(self.function.bounds, dtype=float).tolist()
        return {f"x{j}": uniform(low, high - low) for j, (low, high) in enumerate(bounds)}

    @property
    def max_resources(self) -> int:
        """Number of epochs."""
        return self.n_epochs

    @property
    def minimum(self) -> float | None:
        """Minimum of the function minus the largest ``end_shift``."""
        lowest = getattr(self.function, "minimum", None)
        return None if lowest is None else lowest - max(f.end_shift for f in self._families)

    @property
    def needs_trials(self) -> bool:
        """True if families are assigned in turn, so that indices of candidates are needed."""
        return self.schedule == "round_robin"

    def losses(
        self,
        params: Sequence[Mapping[str, Any]],
        seed: int = 0,
        trials: Sequence[int] | None = None,
    ) -> np.ndarray:
        """Return the simulated curves of candidates.

        Parameters
        ----------
        params : sequence of dict
            Candidates.
        seed : int, default=0
            Seed of the curves, in addition to the parameters.
        trials : sequence of int or None, default=None
            Indices of the candidates, required and used only with ``schedule="round_robin"``.

        Returns
        -------
        losses : ndarray of shape (len(params), n_epochs)
            Column t - 1 is the loss after t epochs; less is better.

        Raises
        ------
        ValueError
            If a candidate has a missing, unknown or non-finite parameter, or `trials` is required.
        """
        points = self._points(params)
        keys = make_keys(points, seed)
        values = self.function(points)
        families = self._family_indices(keys, trials)
        losses = np.empty((len(points), self.n_epochs))
        for i in set(families.tolist()):
            rows = np.flatnonzero(families == i)
            losses[rows] = gamma_curves(
                values[rows], keys[rows], self._families[i], self.n_epochs, self.noise
            )
        return losses

    def _points(self, params: Sequence[Mapping[str, Any]]) -> np.ndarray:
        """Return candidates as rows of shape (n, n_dims); raise if one is not in the space."""
        names = list(self.space)
        try:
            points: Any = [[p[name] for name in names] for p in params]
        except KeyError as error:
            raise ValueError(f"A candidate lacks {error}: the parameters are {names}.") from None
        for p in params:
            if len(p) > len(names):
                unknown = sorted(set(p) - set(names))
                raise ValueError(f"A candidate contains {unknown}: the parameters are {names}.")
        points = np.array(points, dtype=float).reshape(len(points), len(names))
        if not np.isfinite(points).all():
            i, j = np.argwhere(~np.isfinite(points))[0]
            raise ValueError(f"{names[j]}={params[i][names[j]]} must be a finite number.")
        return points

    def _family_indices(self, keys: np.ndarray, trials: Sequence[int] | None) -> np.ndarray:
        """Return the index of each curve's family."""
        n = len(self._families)
        if n == 1:
            return np.zeros(len(keys), dtype=int)
        if not self.needs_trials:
            return (uniforms(keys, FAMILY) * n).astype(int)
        if trials is None or len(trials) != len(keys):
            raise ValueError(
                "schedule='round_robin' needs the number of each candidate: pass trials=. For "
                "estimators it is unknown: use play, or schedule='random'."
            )
        return np.asarray(trials) % n
