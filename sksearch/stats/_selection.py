"""The score of a chosen candidate, corrected for having been chosen, and which are tied with it.

==========  ==================================================================================
y[i, j]     score of candidate i on fold j: m[i] + f[j] + noise; NaN where there is none
m[i], f[j]  true score of candidate i; how much easier fold j is than the average fold
K, n        count of folds; count of candidates with a score
r           rows of a test fold for each row of its training fold
s2[i]       variance of the mean of candidate i around m[i]: noise * (1 / folds of i + r)
g, w[g]     grid of true scores; share of candidates at each of them (the prior)
p[i, g]     probability that candidate i is at g, given its scores
==========  ==================================================================================
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import f as f_distribution
from scipy.stats import norm
from scipy.stats import t as t_distribution

from sksearch.stats._checks import check_fraction

N_GRID = 100
N_EM = 100
# Candidates with like scores often have like params, and share their luck: they count as one
# other. If all of them counted, intervals of real searches would be too short.
MOST_NEAR = 2
MIN_BETTER = 10  # candidates that tell how easy the folds are, if there are so many
N_SWEEPS = 30  # of the additive model, where folds are missing
FLAT = 1e-12  # relative noise below which scores are equal but for rounding


@dataclass(frozen=True)
class SelectedScore:
    """The score of a chosen candidate, as it was seen and corrected for the choice.

    Parameters
    ----------
    seen : float
        Mean over the folds.
    corrected : float
        Expected score on new data, given the scores of all candidates.
    low, high : float
        Interval for the score on new data, of the confidence asked for; NaN with a single fold.
    tibshirani : float
        The correction of Tibshirani and Tibshirani; NaN where a candidate lacks folds.
    noise : float
        Standard deviation of a score on one fold, apart from how easy the fold is.
    p_value : float
        Probability of differences as large as these if all candidates were equally good; NaN
        with fewer than two candidates or two folds.
    n_samples : int, default=0
        Count of the rows that `corrected`, `low` and `high` were computed from; 0 where it was
        the folds.

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.stats import selected_score
    >>> scores = 0.8 + 0.05 * np.random.default_rng(0).standard_normal((30, 5))  # all equally good
    >>> result = selected_score(scores)
    >>> bool(result.corrected < result.seen)
    True
    """

    seen: float
    corrected: float
    low: float
    high: float
    tibshirani: float
    noise: float
    p_value: float
    n_samples: int = 0


def selected_score(
    scores: ArrayLike,
    *,
    chosen: int | None = None,
    test_ratio: float | None = None,
    confidence: float = 0.95,
) -> SelectedScore:
    """Correct the score of the best of several candidates for having been chosen.

    The best of many noisy scores is too good: it was chosen for its luck, too. Candidates are
    taken as draws from an unknown distribution of true scores, which is estimated from all of
    them; the expected true score of the chosen one, given what was seen, knows no such bias.

    Parameters
    ----------
    scores : array-like of shape (n_candidates, n_folds)
        Greater is better. NaN where a candidate was dropped before a fold; a row of NaN is left
        out.
    chosen : int or None, default=None
        Row of the chosen candidate. None: the best mean of those with all folds.
    test_ratio : float or None, default=None
        Rows of a test fold for each row of its training fold. None: that of cross-validation,
        1 / (n_folds - 1).
    confidence : float, default=0.95
        Probability of the interval.

    Returns
    -------
    result : SelectedScore
        The score as seen and corrected.

    Raises
    ------
    ValueError
        If `scores` has not two dimensions, the chosen candidate has no score, or `confidence`
        does not lie between 0 and 1.

    See Also
    --------
    tied_candidates : Candidates that cannot be told from the chosen one.

    Notes
    -----
    Scores are the sum of a candidate's true score, an effect of the fold and noise. The prior over
    true scores is the nonparametric maximum of the likelihood [1]_, by expectation maximisation on
    a grid. The interval adds three variances: of the posterior; of the prior's own places, each
    known from the candidates near it; and of the folds, with the factor of [2]_ for
    training sets that overlap. [3]_ is given beside it.

    References
    ----------
    .. [1] J. Kiefer, J. Wolfowitz, "Consistency of the maximum likelihood estimator in the
       presence of infinitely many incidental parameters", Annals of Mathematical Statistics
       27(4):887-906, 1956. https://doi.org/10.1214/aoms/1177728066
    .. [2] C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine Learning
       52:239-281, 2003. https://doi.org/10.1023/A:1024068626366
    .. [3] R. J. Tibshirani, R. Tibshirani, "A bias correction for the minimum error rate in
       cross-validation", Annals of Applied Statistics 3(2):822-829, 2009.
       https://doi.org/10.1214/08-AOAS224

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.stats import selected_score
    >>> rng = np.random.default_rng(0)
    >>> scores = 0.8 + 0.05 * rng.standard_normal((40, 5))  # 40 candidates that are all the same
    >>> result = selected_score(scores)
    >>> round(result.seen, 2), round(result.corrected, 2)
    (0.86, 0.8)
    """
    check_fraction(confidence, "confidence")
    y, chosen = _checked(scores, chosen)
    n_folds = y.shape[1]
    r = 1 / max(1, n_folds - 1) if test_ratio is None else test_ratio
    y = y[:, np.isfinite(y).any(axis=0)]  # of a fold without a score nothing is known
    n_folds = y.shape[1]
    seen, tibshirani = float(np.nanmean(y[chosen])), _tibshirani(y, chosen)
    if n_folds < 2:
        return SelectedScore(seen, np.nan, np.nan, np.nan, tibshirani, np.nan, np.nan)
    has_score = np.isfinite(y).any(axis=1)
    y, chosen = y[has_score], int(has_score[:chosen].sum())
    means, folds, noise, df = additive_model(y)
    counts = np.isfinite(y).sum(axis=1)
    s2 = noise * (1 / counts + r)
    at, prior_variance = _posterior(means, s2, chosen)
    # What all candidates share: this choice of folds, and the data themselves.
    shared = folds.var(ddof=1) * (1 / n_folds + r)
    parts, dfs = np.array([prior_variance, shared]), np.array([max(df, 1), n_folds - 1])
    variance = parts.sum()
    # Satterthwaite's degrees of freedom of a sum of variances.
    df = variance**2 / np.sum(parts**2 / dfs) if variance > 0 else 1
    reach = t_distribution.ppf((1 + confidence) / 2, df) * np.sqrt(variance)
    return SelectedScore(
        seen,
        at,
        at - reach,
        at + reach,
        tibshirani,
        np.sqrt(noise),
        _p_value(y, means, folds, noise, r),
    )


def tied_candidates(
    scores: ArrayLike, chosen: int, *, test_ratio: float | None = None, level: float = 0.05
) -> np.ndarray:
    """Find the candidates that cannot be told from the chosen one.

    Parameters
    ----------
    scores : array-like of shape (n_candidates, n_folds)
        Greater is better. Candidates that lack a fold are not tied: they failed, or were dropped.
    chosen : int
        Row of the chosen candidate.
    test_ratio : float or None, default=None
        Rows of a test fold for each row of its training fold. None: 1 / (n_folds - 1).
    level : float, default=0.05
        Level of the one-sided test for each candidate.

    Returns
    -------
    tied : ndarray of bool of shape (n_candidates,)
        True for the chosen one, too.

    Raises
    ------
    ValueError
        If `scores` has not two dimensions, the chosen candidate has no score, or `level` does not
        lie between 0 and 1.

    Notes
    -----
    The differences on the same folds are compared with their standard error, with the factor of
    Nadeau and Bengio. Few folds give a poor variance, so that of a pair is averaged with the
    median of all pairs.

    Examples
    --------
    >>> from sksearch.stats import tied_candidates
    >>> tied_candidates([[0.90, 0.80, 0.85], [0.91, 0.79, 0.84], [0.60, 0.50, 0.56]], 0).tolist()
    [True, True, False]
    """
    check_fraction(level, "level")
    y, chosen = _checked(scores, chosen)
    n_folds = y.shape[1]
    r = 1 / max(1, n_folds - 1) if test_ratio is None else test_ratio
    complete = np.isfinite(y).all(axis=1)
    gaps = y[chosen] - y
    if n_folds < 2 or not complete[chosen]:
        return complete & (np.nan_to_num(gaps.mean(axis=1), nan=np.inf) <= 0)
    own = gaps[complete].var(axis=1, ddof=1)
    others = own[own > 0]
    variance = (own + (np.median(others) if len(others) else 0)) / 2
    error = np.sqrt(variance * (1 / n_folds + r))
    reach = t_distribution.ppf(1 - level, 2 * (n_folds - 1)) * error
    tied = np.zeros(len(y), dtype=bool)
    tied[complete] = gaps[complete].mean(axis=1) <= reach + FLAT * np.abs(y[chosen]).max()
    tied[chosen] = True
    return tied


def additive_model(y: np.ndarray) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Split scores into candidates, folds and noise by least squares.

    How easy a fold is, and how large the noise, is that of the better candidates: weak ones, which
    may guess one class for all rows, have other folds and other noise.

    Parameters
    ----------
    y : ndarray of shape (n_candidates, n_folds)
        Each row has a score; NaN where one is missing.

    Returns
    -------
    means : ndarray of shape (n_candidates,)
        Of an average fold.
    folds : ndarray of shape (n_folds,)
        Their sum is 0.
    noise, df : float
        Variance of what is left, and its degrees of freedom.
    """
    n_better = max(min(len(y), MIN_BETTER), -(-len(y) // 4))
    better = y[np.argsort(-np.nanmean(y, axis=1), kind="stable")[:n_better]]
    folds = np.zeros(y.shape[1])
    for _ in range(N_SWEEPS):
        left = better - np.nanmean(better - folds, axis=1)[:, np.newaxis]
        counts = np.isfinite(left).sum(axis=0)
        folds = np.where(counts > 0, np.nansum(left, axis=0) / np.maximum(counts, 1), 0.0)
        folds -= folds.mean()
    rest = better - folds
    rest -= np.nanmean(rest, axis=1)[:, np.newaxis]
    df = np.isfinite(better).sum() - len(better) - y.shape[1] + 1
    noise = np.nansum(rest**2) / df if df > 0 else 0.0
    return np.nanmean(y - folds, axis=1), folds, float(noise), float(df)


def _posterior(means, s2, chosen):
    """Mean and variance of the true score of the chosen candidate."""
    if s2[chosen] <= (FLAT * np.abs(means).max()) ** 2 or np.ptp(means) == 0:
        near = min(np.count_nonzero(means == means[chosen]), MOST_NEAR)
        return float(means[chosen]), float(s2[chosen] / near)
    grid = np.linspace(means.min(), means.max(), N_GRID)
    error = np.sqrt(s2)[:, np.newaxis]
    log_likelihood = norm.logpdf(means[:, np.newaxis], grid, error)
    likelihood = np.exp(log_likelihood - log_likelihood.max(axis=1, keepdims=True))
    weights = np.full(N_GRID, 1 / N_GRID)
    for _ in range(N_EM):
        p = likelihood * weights
        p /= p.sum(axis=1, keepdims=True)
        weights = p.mean(axis=0)
    own = p[chosen]
    mean = own @ grid
    # The places of the prior are estimates, too: each of as many candidates as are near it.
    affinity = likelihood @ own / (likelihood[chosen] @ own)
    near = np.clip(np.minimum(affinity, 1) @ (s2[chosen] / s2), 1, MOST_NEAR)
    return float(mean), float(own @ (grid - mean) ** 2 + s2[chosen] / near)


def _p_value(y, means, folds, noise, r):
    """Of an F-test whether candidates differ, with the variance of folds that overlap."""
    n, k = y.shape
    if n < 2:
        return np.nan
    alike = y - folds - np.nanmean(y - folds)
    own = y - folds - means[:, np.newaxis]
    between = (np.nansum(alike**2) - np.nansum(own**2)) / (n - 1)
    if noise <= (FLAT * np.abs(means).max()) ** 2:
        return float(between <= (FLAT * np.abs(means).max()) ** 2)
    df = np.isfinite(y).sum() - n - k + 1
    return float(f_distribution.sf(between / (noise * (1 + k * r)), n - 1, max(df, 1)))


def _tibshirani(y, chosen):
    """The score less the mean advantage, on each fold, of the best candidate there."""
    complete = y[np.isfinite(y).all(axis=1)]
    if not np.isfinite(y[chosen]).all():
        return np.nan
    return float(y[chosen].mean() - np.mean(complete.max(axis=0) - y[chosen]))


def _checked(scores, chosen):
    """Scores as an array, infinities as NaN, and the row of the chosen candidate."""
    y = np.array(scores, dtype=float)
    if y.ndim != 2 or y.size == 0:
        raise ValueError(
            f"scores has shape {y.shape}: it needs a row for each candidate and a column for each "
            "fold."
        )
    y[~np.isfinite(y)] = np.nan
    if chosen is None:
        complete = np.isfinite(y).all(axis=1)
        chosen = int(np.argmax(np.where(complete, y.sum(axis=1), -np.inf)))
    if not -len(y) <= chosen < len(y) or not np.isfinite(y[chosen]).any():
        raise ValueError(f"chosen={chosen} must be one of {len(y)} rows, and have a finite score.")
    return y, int(chosen) % len(y)
