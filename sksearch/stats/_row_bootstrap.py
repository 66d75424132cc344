"""Score of the selected candidate, corrected for selection bias by a bootstrap of rows.

=======  ======================================================================================
s[i]     mean score of candidate i, folds taken as equally easy, shape (n,)
z[i, g]  contribution of block g of rows to s[i]; sums over g are 0; shape (n, n_blocks)
w[b, g]  how often block g is drawn in resample b, shape (n_resamples, n_blocks)
k        number of folds
=======  ======================================================================================
"""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.stats import t as t_distribution

from sksearch._utils._numerics import own_numerics
from sksearch.stats._selection import SelectedScore, additive_model

N_RESAMPLES = 500  # bootstrap resamples of blocks
FEWEST_BLOCKS = 20  # with fewer blocks, fold scores are as good
KNOWN = 0.9  # share of the candidates whose contributions must be known
#: Models of several folds share training rows, so one sample makes all of them better or worse:
#: factor of the standard error compared with one model on the same number of test rows.
OVERLAP = 1.4
CONFIDENCE = 0.95  # of the interval


@own_numerics()
def corrected_by_rows(
    selected: SelectedScore,
    scores: np.ndarray,
    chosen: int,
    row_scores: Any,
    rows: np.ndarray,
    limits: tuple[float, float],
) -> SelectedScore:
    """Correct the score of the best of several candidates by resampled rows.

    In each resample of the rows the best candidate on the rows drawn is chosen, and its score on
    the others is unbiased: the difference to the score of the candidate chosen by all rows is the
    cost of a lucky choice.

    Parameters
    ----------
    selected : SelectedScore
        Selection by the folds.
    scores : ndarray of shape (n_candidates, n_folds)
        Greater is better; NaN if one is missing.
    chosen : int
        Row of the chosen candidate.
    row_scores : RowScores or None
        Contributions of rows of data.
    rows : ndarray of shape (n_candidates,)
        The candidates' rows in it.
    limits : tuple (float, float)
        Smallest and largest value of the metric.

    Returns
    -------
    selected : SelectedScore
        Corrected by rows; as it was given if unknown.

    Notes
    -----
    This is the bootstrap bias correction of [1]_, with each candidate's score taken as linear in
    the numbers of rows. The variance is the larger of two: the chosen candidate's own, and the
    variance of the scores on the rows left out, which belong to different candidates. A candidate
    dropped before the last fold is assumed to score on the others as on its own folds.

    References
    ----------
    .. [1] I. Tsamardinos, E. Greasidou, G. Borboudakis, "Bootstrapping the out-of-sample
       predictions for efficient and accurate cross-validation", Machine Learning
       107:1895-1922, 2018. https://doi.org/10.1007/s10994-018-5714-4
    """
    if row_scores is None or row_scores.contributions.shape[1] < FEWEST_BLOCKS:
        return selected
    z = row_scores.contributions[rows].astype(float)
    scored, known = np.isfinite(scores).any(axis=1), np.isfinite(z).all(axis=1)
    if not known[chosen] or known[scored].mean() < KNOWN:
        return selected
    keep = scored & known
    y, z, chosen = scores[keep], z[keep], int(keep[:chosen].sum())
    s = np.nanmean(y - additive_model(y)[1], axis=1)
    luck, spread = _resampled(s, z, chosen)
    corrected = selected.seen - luck
    own = z[chosen] * y.shape[1] / np.isfinite(y[chosen]).sum()
    # A winner without a row that costs as much as all others may have been lucky in this as well.
    variance = max(np.sum(own**2), spread)
    if np.isfinite(limits).all():  # without any wrong row, the variance would be 0
        variance += (np.diff(limits)[0] / row_scores.n_samples) ** 2
    quantile = t_distribution.ppf((1 + CONFIDENCE) / 2, np.count_nonzero(own) or len(own))
    reach = quantile * OVERLAP * np.sqrt(variance)
    low, high = max(corrected - reach, limits[0]), min(corrected + reach, limits[1])
    return replace(
        selected, corrected=corrected, low=low, high=high, n_samples=row_scores.n_samples
    )


def _resampled(s: np.ndarray, z: np.ndarray, chosen: int) -> tuple[float, float]:
    """Choose in resamples of the rows, and score the choice on the rows left out.

    Returns the expected optimism of the chosen candidate's score, at least 0, and the variance of
    these scores, scaled to the number of all rows.
    """
    if len(s) == 1:
        return 0.0, 0.0
    n_blocks = z.shape[1]
    rng = np.random.default_rng(0)
    w = rng.multinomial(n_blocks, np.full(n_blocks, 1 / n_blocks), size=N_RESAMPLES)
    best = np.argmax(s[:, np.newaxis] + z @ (w - 1.0).T, axis=0)
    left_out = (w == 0) * (n_blocks / (w == 0).sum(axis=1, keepdims=True))
    honest = s[best] + (z[best] * left_out).sum(axis=1)
    gaps = s[chosen] + left_out @ z[chosen] - honest
    return max(0.0, float(gaps.mean())), float(honest.var() * (w == 0).mean())
