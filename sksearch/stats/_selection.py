"""Score of the selected candidate, corrected for selection bias by the fold scores.

==========  ==================================================================================
y[i, j]     score of candidate i on fold j: m[i] + f[j] + noise; NaN if missing
m[i], f[j]  true score of candidate i; how much easier fold j is than the average fold
K, n        number of folds, and of candidates with a score
r           rows of a test fold for each row of its training fold
s2[i]       variance of the mean of candidate i around m[i]: noise * (1 / folds of i + r)
g, w[g]     grid of true scores; share of candidates at each of them (the prior)
p[i, g]     probability that candidate i is at g, given its scores
==========  ==================================================================================
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import f as f_distribution, norm, t as t_distribution

from sksearch._utils._numerics import own_numerics
from sksearch.stats._checks import check_fraction
from sksearch.stats._noise import FLAT, checked_scores, pooled_variances

N_GRID = 100  # places of the prior
N_EM = 100  # steps of expectation maximisation
# Candidates with like scores often have like parameters, and share their luck: they count as one
# other. If all of them counted, intervals of real searches would be too short.
MOST_NEAR = 2
MIN_BETTER = 10  # candidates from which the difficulty of folds is estimated, if available
N_SWEEPS = 30  # iterations that fit the additive model if folds are missing
N_WEIGHTED = 3  # rounds of noise and folds, which depend on each other
SURELY = 4.0  # standard errors of a difference beyond which a candidate is surely worse


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
        The correction of Tibshirani and Tibshirani; NaN if a candidate lacks folds.
    noise : float
        Standard deviation of a score on one fold, apart from how easy the fold is.
    p_value : float
        Probability of differences as large as these if all candidates were equally good; NaN
        with fewer than two candidates or two folds.
    n_samples : int, default=0
        Number of the rows that `corrected`, `low` and `high` were computed from; 0 if it was the
        folds.

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.stats._selection import selected_score
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


@own_numerics()
def selected_score(
    scores: ArrayLike,
    *,
    chosen: int | None = None,
    test_ratio: float | None = None,
    confidence: float = 0.95,
) -> SelectedScore:
    """Correct the score of the best of several candidates for having been chosen.

    The best of many noisy scores is optimistic, since it was also selected by luck. Candidates are
    taken as draws from an unknown distribution of true scores, which is estimated from all of
    them; the expected true score of the chosen one, given the observed scores, has no such bias.

    Parameters
    ----------
    scores : array-like of shape (n_candidates, n_folds)
        Greater is better. NaN if a candidate was dropped before a fold; a row of NaN is left out.
    chosen : int or None, default=None
        Row of the chosen candidate. None: the best mean of those with all folds.
    test_ratio : float or None, default=None
        Rows of a test fold for each row of its training fold. None: as in cross-validation, 1 /
        (n_folds - 1).
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

    Notes
    -----
    Scores are the sum of a candidate's true score, an effect of the fold and noise. The prior over
    true scores is the nonparametric maximum of the likelihood [1]_, by expectation maximisation on
    a grid. The interval adds three variances: of the posterior; of the prior's own places, each
    known from the candidates near it; and of the folds, with the factor of [2]_ for training sets
    that overlap. [3]_ is given next to it.

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
    >>> from sksearch.stats._selection import selected_score
    >>> rng = np.random.default_rng(0)
    >>> scores = 0.8 + 0.05 * rng.standard_normal((40, 5))  # 40 candidates that are all the same
    >>> result = selected_score(scores)
    >>> round(result.seen, 2), round(result.corrected, 2)
    (0.86, 0.8)
    """
    check_fraction(confidence, "confidence")
    y, chosen = checked_scores(scores, chosen)
    n_folds = y.shape[1]
    r = 1 / max(1, n_folds - 1) if test_ratio is None else test_ratio
    y = y[:, np.isfinite(y).any(axis=0)]  # a fold without any score has no information
    n_folds = y.shape[1]
    seen, tibshirani = float(np.nanmean(y[chosen])), _tibshirani(y, chosen)
    if n_folds < 2:
        return SelectedScore(seen, np.nan, np.nan, np.nan, tibshirani, np.nan, np.nan)
    has_score = np.isfinite(y).any(axis=1)
    y, chosen = y[has_score], int(has_score[:chosen].sum())
    means, folds, noise, df = additive_model(y)
    s2 = noise * (1 / np.isfinite(y).sum(axis=1) + r)
    at, prior_variance = _posterior(means, s2, chosen)
    # Luck cannot be larger than the deviation of the worst fold
    at = max(at, np.nanmin(y[chosen]))
    # Shared by all candidates: this choice of folds, and the data themselves.
    shared = folds.var(ddof=1) * (1 / n_folds + r)
    parts, dfs = np.array([prior_variance, shared]), np.array([max(df[chosen], 1), n_folds - 1])
    variance = parts.sum()
    # Satterthwaite's degrees of freedom of a sum of variances.
    all_df = variance**2 / np.sum(parts**2 / dfs) if variance > 0 else 1
    reach = t_distribution.ppf((1 + confidence) / 2, all_df) * np.sqrt(variance)
    return SelectedScore(
        seen,
        at,
        at - reach,
        at + reach,
        tibshirani,
        np.sqrt(noise[chosen]),
        _p_value(y, means, s2),
    )


def additive_model(y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Split scores into candidates, folds and noise by weighted least squares.

    The better candidates determine how easy a fold is, and the typical noise: weak ones, which may
    guess one class for all rows, have other folds and other noise.

    Parameters
    ----------
    y : ndarray of shape (n_candidates, n_folds)
        Each row has a score; NaN if one is missing.

    Returns
    -------
    means : ndarray of shape (n_candidates,)
        Means of an average fold.
    folds : ndarray of shape (n_folds,)
        Their sum is 0.
    noise, df : ndarray of shape (n_candidates,)
        Residual variance of each candidate, and its degrees of freedom.
    """
    n_better = max(min(len(y), MIN_BETTER), -(-len(y) // 4))
    order = np.argsort(-np.nanmean(y, axis=1), kind="stable")
    better = np.isin(np.arange(len(y)), order[:n_better])
    counts = np.isfinite(y).sum(axis=1)
    own_df = (counts - 1) * (1 - 1 / n_better)
    weights = np.ones(n_better)
    for _ in range(N_WEIGHTED):
        folds = _fold_effects(y[better], weights)
        rest = y - folds - np.nanmean(y - folds, axis=1, keepdims=True)
        own = np.nansum(rest**2, axis=1) / np.where(own_df > 0, own_df, np.inf)
        noise, df = pooled_variances(own, own_df, better)
        weights = 1 / np.maximum(noise[better], FLAT * max(noise[better].max(), FLAT))
    return np.nanmean(y - folds, axis=1), folds, noise, df


def _fold_effects(y, weights):
    """Ease of each fold; noisy candidates have less weight."""
    folds = np.zeros(y.shape[1])
    w = np.where(np.isfinite(y), weights[:, np.newaxis], 0.0)
    total = w.sum(axis=0)
    for _ in range(N_SWEEPS):
        left = y - np.nanmean(y - folds, axis=1)[:, np.newaxis]
        folds = np.where(total > 0, np.nansum(w * left, axis=0) / np.maximum(total, FLAT), 0.0)
        folds -= folds.mean()
    return folds


def _posterior(means, s2, chosen):
    """Mean and variance of the true score of the chosen candidate."""
    if s2[chosen] <= (FLAT * np.abs(means).max()) ** 2 or np.ptp(means) == 0:
        near = min(np.count_nonzero(means == means[chosen]), MOST_NEAR)
        return float(means[chosen]), float(s2[chosen] / near)
    # Surely worse candidates carry no information about the chosen one.
    kept = means[chosen] - means <= SURELY * np.sqrt(s2 + s2[chosen])
    means, s2, chosen = means[kept], s2[kept], int(kept[:chosen].sum())
    if np.ptp(means) == 0:
        return float(means[chosen]), float(s2[chosen])
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
    # The points of the prior are estimates as well, each from the candidates near it.
    affinity = likelihood @ own / (likelihood[chosen] @ own)
    near = np.clip(np.minimum(affinity, 1) @ (s2[chosen] / s2), 1, MOST_NEAR)
    return float(mean), float(own @ (grid - mean) ** 2 + s2[chosen] / near)


def _p_value(y, means, s2):
    """p-value of an F-test between candidates, with the variance of overlapping folds."""
    n, k = y.shape
    if n < 2:
        return np.nan
    flat = (FLAT * np.abs(means).max()) ** 2
    if s2.min() <= flat:
        return float(means.var() <= flat)
    between = np.sum((means - np.average(means, weights=1 / s2)) ** 2 / s2) / (n - 1)
    df = np.isfinite(y).sum() - n - k + 1
    return float(f_distribution.sf(between, n - 1, max(df, 1)))


def _tibshirani(y, chosen):
    """The score minus the mean advantage, on each fold, of the best candidate of this fold."""
    complete = y[np.isfinite(y).all(axis=1)]
    if not np.isfinite(y[chosen]).all():
        return np.nan
    return float(y[chosen].mean() - np.mean(complete.max(axis=0) - y[chosen]))
