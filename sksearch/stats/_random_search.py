"""Number of random draws, without replacement, that include a good model.

===============  ==============================================================
N, M             number of models, and of those that are good enough
n                number of draws, no model twice
P(n)             1 - C(N - M, n) / C(N, n), that at least one of n is good
===============  ==============================================================
"""

from bisect import bisect_left
from fractions import Fraction
from math import perm

from sksearch._utils._numerics import own_numerics
from sksearch.stats._checks import check_count


@own_numerics()
def hit_probability(n_models: int, n_top: int, n_draws: int) -> float:
    """Return the probability that random draws include one of the best models.

    Parameters
    ----------
    n_models : int
        Number of models in the space.
    n_top : int
        Number of sufficiently good models.
    n_draws : int
        Number of models drawn, without replacement.

    Returns
    -------
    probability : float
        Probability, correctly rounded.

    Raises
    ------
    ValueError
        If a number is out of range.

    Examples
    --------
    >>> from sksearch.stats import hit_probability
    >>> hit_probability(4, 1, 2)
    0.5
    """
    n_models, n_top = _counts(n_models, n_top)
    n_draws = check_count(n_draws, "n_draws", 0)
    if n_draws > n_models:
        raise ValueError(f"n_draws={n_draws} must not be greater than n_models={n_models}.")
    misses, ways = _odds(n_models, n_top, n_draws)
    return (ways - misses) / ways


@own_numerics()
def draws_to_hit(n_models: int, n_top: int, probability: float | Fraction) -> int:
    """Return the number of random draws needed to hit a good model with a given probability.

    Parameters
    ----------
    n_models : int
        Number of models in the space.
    n_top : int
        Number of sufficiently good models.
    probability : float or Fraction
        Probability to be exceeded. A float is interpreted as the decimal number printed for it:
        0.95 is 19/20.

    Returns
    -------
    n_draws : int
        Smallest number of draws without replacement.

    Raises
    ------
    ValueError
        If a number is out of range, or `probability` is not in [0, 1).

    Notes
    -----
    The computation uses integers, so the result has no rounding errors. Results agree with the
    table in [1]_; the limits of the products in the text of [1]_ are off by one.

    References
    ----------
    .. [1] H. Bertrand, "Hyper-parameter optimization in deep learning and transfer learning",
       thesis, Universite Paris-Saclay, 2019, chapter on hyper-parameter optimization.

    Examples
    --------
    >>> from sksearch.stats import draws_to_hit
    >>> [draws_to_hit(100_000, 5_000, p) for p in (0.5, 0.95, 0.99)]
    [14, 59, 90]
    """
    n_models, n_top = _counts(n_models, n_top)
    p = Fraction(str(probability))
    if not 0 <= p < 1:
        raise ValueError(f"probability={probability} must be at least 0 and below 1.")

    def exceeded(n_draws: int) -> bool:
        misses, ways = _odds(n_models, n_top, n_draws)
        return (ways - misses) * p.denominator > ways * p.numerator

    # Doubling first: far above the answer the products would have millions of factors. A hit is
    # certain with one draw more than there are bad models.
    high = 1
    while high <= n_models - n_top and not exceeded(high):
        high *= 2
    high = min(high, n_models - n_top + 1)
    return bisect_left(range(high), True, key=exceeded)


def _counts(n_models: int, n_top: int) -> tuple[int, int]:
    n_models, n_top = check_count(n_models, "n_models", 1), check_count(n_top, "n_top", 1)
    if n_top > n_models:
        raise ValueError(f"n_top={n_top} must not be greater than n_models={n_models}.")
    return n_models, n_top


def _odds(n_models: int, n_top: int, n_draws: int) -> tuple[int, int]:
    """Return the numbers of ordered draws without a good model, and of all ordered draws.

    The ratio of the two is the same with `n_top` and `n_draws` exchanged, so the smaller one
    decides the number of factors.
    """
    few, many = sorted((n_top, n_draws))
    return perm(n_models - many, few), perm(n_models, few)
