"""Tests whether the best losses of many runs come from different distributions.

=========  =============================================================  ==================
v          best losses of the runs of one optimizer on one problem        (n_runs,)
D          Kolmogorov-Smirnov: largest distance of two empirical          scalar
           distribution functions
x          loss on a normalised axis: 0 is the best that any optimizer    (n_grid,)
           found on the problem, 1 the worst
=========  =============================================================  ==================
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import ks_2samp

from sksearch._utils._numerics import own_numerics
from sksearch.stats._checks import check_count, check_finite, check_fraction
from sksearch.stats._density import Density
from sksearch.stats._profiles import Profiles, order_kept, profiles
from sksearch.stats._ranks import holm

TOP_QUARTILE = 0.25  # best quarter of the normalised axis


@dataclass(frozen=True)
class OptimaComparison:
    """Result of `compare_optima`; printed, it is a table.

    Parameters
    ----------
    names : tuple of str
        Names of the optimizers, in the order of their means, the lowest first.
    counts : ndarray of shape (n_optimizers,)
        Numbers of runs.
    means, sds : ndarray of shape (n_optimizers,)
        Mean and standard deviation (divided by the count) of the best losses.
    statistics : ndarray of shape (n_optimizers, n_optimizers)
        Kolmogorov-Smirnov distances of pairs; 0 on the diagonal.
    p_values : ndarray of shape (n_optimizers, n_optimizers)
        Two-sided p-values of pairs, not adjusted; NaN on the diagonal.
    adjusted : ndarray of shape (n_optimizers, n_optimizers)
        The p-values adjusted for the number of pairs by Holm's method.
    alpha : float
        Level of significance in the last column of the table.

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.stats import compare_optima
    >>> rng = np.random.default_rng(0)
    >>> result = compare_optima({"one": rng.random(99), "best of two": rng.random((99, 2)).min(1)})
    >>> result.names, bool(result.adjusted[0, 1] < 0.05)
    (('best of two', 'one'), True)
    """

    names: tuple[str, ...]
    counts: np.ndarray
    means: np.ndarray
    sds: np.ndarray
    statistics: np.ndarray
    p_values: np.ndarray
    adjusted: np.ndarray
    alpha: float

    def __str__(self) -> str:
        """Print a table of the optimizers, and one of their pairs."""
        pairs = [f"{a} - {b}" for a, b in combinations(self.names, 2)]
        width = max(map(len, [*pairs, *self.names]))
        lines = [f"{'':<{width}} {'runs':>9} {'mean':>12} {'sd':>9}"]
        for name, *row in zip(self.names, self.counts, self.means, self.sds, strict=True):
            lines.append("{:<{}} {:>9} {:>12.6g} {:>9.3g}".format(name, width, *row))
        last = f"Holm < {self.alpha:g}"
        lines.append(f"\n{'':<{width}} {'KS':>9} {'p-value':>12} {'Holm':>9} {last:>12}")
        for pair, (i, j) in zip(pairs, combinations(range(len(self.names)), 2), strict=True):
            p, adjusted = self.p_values[i, j], self.adjusted[i, j]
            lines.append(
                f"{pair:<{width}} {self.statistics[i, j]:>9.4f} {p:>12.3g} {adjusted:>9.2g} "
                f"{'yes' if adjusted < self.alpha else 'no':>12}"
            )
        return "\n".join(lines)


@own_numerics()
def compare_optima(optima: Mapping[str, ArrayLike], alpha: float = 0.05) -> OptimaComparison:
    """Compare the best losses of optimizers with Kolmogorov-Smirnov tests of all pairs.

    The test shows whether two optimizers differ, and their means show which one is better [1]_.

    Parameters
    ----------
    optima : dict of str to array-like of shape (n_runs,)
        Best losses of the runs of two or more optimizers on the same problem, by name.
    alpha : float, default=0.05
        Level of significance in the printed table.

    Returns
    -------
    comparison : OptimaComparison
        Comparison, sorted by mean, with the best optimizer first.

    Raises
    ------
    ValueError
        If there are fewer than two optimizers, or losses are not finite.

    Notes
    -----
    The test uses the values, not a smoothed density, so it does not depend on a bandwidth. With
    many equal values, p-values are conservative.

    References
    ----------
    .. [1] C. Matache, "Efficient design of machine learning hyperparameter optimizers",
       Imperial College London, 2019, section 5.3.2.

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.stats import compare_optima
    >>> rng = np.random.default_rng(0)
    >>> print(compare_optima({"random": rng.random(300), "better": rng.random((300, 2)).min(1)}))
                         runs         mean        sd
    better                300     0.337598      0.22
    random                300     0.540273     0.298
    <BLANKLINE>
                           KS      p-value      Holm  Holm < 0.05
    better - random    0.3367     1.85e-15   1.9e-15          yes
    """
    if len(optima) < 2:
        raise ValueError(f"optima has {len(optima)} optimizers: pass at least two.")
    values = {str(name): check_finite(v, f"optima[{name!r}]", 1) for name, v in optima.items()}
    values = dict(sorted(values.items(), key=lambda item: item[1].mean()))
    check_fraction(alpha, "alpha")
    pairs = list(combinations(range(len(values)), 2))
    tests = [ks_2samp(a, b) for a, b in combinations(values.values(), 2)]
    p_values = np.array([test.pvalue for test in tests])
    return OptimaComparison(
        tuple(values),
        np.array([len(v) for v in values.values()]),
        np.array([v.mean() for v in values.values()]),
        np.array([v.std() for v in values.values()]),
        _square(pairs, np.array([test.statistic for test in tests]), 0.0),
        _square(pairs, p_values, np.nan),
        _square(pairs, holm(p_values), np.nan),
        alpha,
    )


def _square(pairs, values, diagonal):
    """Return the symmetric matrix of values that belong to pairs."""
    i, j = np.array(pairs).T
    matrix = np.full((j.max() + 1, j.max() + 1), diagonal)
    matrix[i, j] = matrix[j, i] = values
    return matrix


@dataclass(frozen=True)
class IdealEvaluation:
    """Result of `ideal_evaluation` for one optimizer.

    Parameters
    ----------
    grid : ndarray of shape (n_grid,)
        Normalised losses, in which 0 is the best and 1 the worst known of each problem.
    densities : ndarray of shape (n_problems, n_grid)
        Density of the best losses on each problem.
    profiles : Profiles
        Mean, median, sd and dynamic order of the densities over the grid.
    order_at_top_quartile : float
        Share of pairs of problems with densities in the same order at 0 and at 0.25. It is low for
        an optimizer that often finds the best loss on some problems, and a good one on others.

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.stats._optima import ideal_evaluation
    >>> rng = np.random.default_rng(0)
    >>> optima = {"random": {"branin": rng.random(50), "ackley": rng.random(50)}}
    >>> ideal_evaluation(optima)["random"].densities.shape[0]  # problems
    2
    """

    grid: np.ndarray
    densities: np.ndarray
    profiles: Profiles
    order_at_top_quartile: float


@own_numerics()
def ideal_evaluation(
    optima: Mapping[str, Mapping[str, ArrayLike]], bandwidth: float = 0.05, n_grid: int = 221
) -> dict[str, IdealEvaluation]:
    """Aggregate the densities of best losses over problems, for each optimizer.

    Parameters
    ----------
    optima : dict of str to dict of str to array-like of shape (n_runs,)
        ``optima[optimizer][problem]``: best losses of the optimizer's runs on the problem; the
        same two or more problems for all optimizers.
    bandwidth : float, default=0.05
        Bandwidth of all densities, on the normalised axis; see `Density`.
    n_grid : int, default=221
        Number of points of the grid.

    Returns
    -------
    evaluations : dict of str to IdealEvaluation
        Evaluation of each optimizer. The grid goes from ``-bandwidth`` to ``1 + bandwidth``, so
        that it holds each density as a whole.

    Raises
    ------
    ValueError
        If the problems differ or are fewer than two, or all losses of one are equal.

    Notes
    -----
    The document [1]_ asks for densities "aggregated with the same profiles" on normalised axes,
    and for the "static order at top quartile". At both ends of the axis densities are nearly 0, so
    their order there carries no information; we read the top quartile as the best quarter of the
    axis and compare its two ends.

    References
    ----------
    .. [1] C. Matache, "Efficient design of machine learning hyperparameter optimizers",
       Imperial College London, 2019, section 5.3.3.

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.stats._optima import ideal_evaluation
    >>> rng = np.random.default_rng(0)
    >>> names = ["branin", "rastrigin", "ackley"]
    >>> optima = {
    ...     f"{n} draws": {name: rng.random((200, n)).min(axis=1) for name in names}
    ...     for n in (4, 16)
    ... }
    >>> for name, e in ideal_evaluation(optima).items():
    ...     print(name, round(np.average(e.grid, weights=e.profiles.mean), 2))
    4 draws 0.26
    16 draws 0.08
    """
    n_grid = check_count(n_grid, "n_grid", 2)
    limits = _limits(optima)
    grid = np.linspace(-bandwidth, 1 + bandwidth, n_grid)
    ends = np.array([0, TOP_QUARTILE])
    evaluations = {}
    for optimizer, problems in optima.items():
        densities = [
            Density((np.asarray(problems[p], dtype=float) - low) / (high - low), bandwidth)
            for p, (low, high) in limits.items()
        ]
        over_grid = np.array([density.pdf(grid) for density in densities])
        at_ends = np.array([density.pdf(ends) for density in densities]).T
        evaluations[optimizer] = IdealEvaluation(
            grid, over_grid, profiles(over_grid), order_kept(*at_ends)
        )
    return evaluations


def _limits(optima):
    """Return the lowest and highest loss of any optimizer on each problem."""
    problems = [set(by_problem) for by_problem in optima.values()]
    if not problems or len(problems[0]) < 2 or any(p != problems[0] for p in problems):
        raise ValueError(
            "optima must hold the same two or more problems for every optimizer, got "
            f"{ {name: sorted(map(str, p)) for name, p in optima.items()} }."
        )
    limits = {}
    for problem in next(iter(optima.values())):
        values = [check_finite(v[problem], f"{o}, {problem}", 1) for o, v in optima.items()]
        low, high = min(v.min() for v in values), max(v.max() for v in values)
        if low == high:
            raise ValueError(
                f"All losses of {problem!r} are {low}, so it cannot distinguish optimizers: leave "
                "it out."
            )
        limits[problem] = (low, high)
    return limits
