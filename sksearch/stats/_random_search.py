"""How many random draws hit a good model: exact, without replacement.

===============  ==============================================================
N, M             count of models, and of those that are good enough
n                count of draws, no model twice
P(n)             1 - C(N - M, n) / C(N, n), that at least one of n is good
===============  ==============================================================
"""

from bisect import bisect_left
from fractions import Fraction
from math import perm

from sksearch.stats._checks import count


def hit_probability(n_models, n_top, n_draws):
    """Return the probability that random draws hit one of the best models.

    Parameters
    ----------
    n_models : int
        Count of models in the space.
    n_top : int
        Count of models that are good enough.
    n_draws : int
        Count of models that are drawn, none twice.

    Returns
    -------
    probability : float
        The nearest floating-point number to the exact one.

    Raises
    ------
    ValueError
        If a count is out of range.

    Examples
    --------
    >>> from sksearch.stats import hit_probability
    >>> hit_probability(4, 1, 2)
    0.5
    """
    n_models, n_top = _counts(n_models, n_top)
    n_draws = count(n_draws, "n_draws", 0)
    if n_draws > n_models:
        raise ValueError(f"n_draws={n_draws} must not be greater than n_models={n_models}.")
    misses, ways = _odds(n_models, n_top, n_draws)
    return (ways - misses) / ways


def draws_to_hit(n_models, n_top, probability):
    """Return how many random draws hit one of the best models with more than a probability.

    Parameters
    ----------
    n_models : int
        Count of models in the space.
    n_top : int
        Count of models that are good enough.
    probability : float or Fraction
        To be exceeded. A float means the decimal that it is printed as: 0.95 is 19/20.

    Returns
    -------
    n_draws : int
        The smallest count, with no model drawn twice.

    Raises
    ------
    ValueError
        If a count is out of range, or `probability` is not in [0, 1).

    Notes
    -----
    Computed in whole numbers, so that a probability that is just met is not taken for one that
    is exceeded. The products in the text that this table is from [1]_ are off by one in their
    limits; the table itself is this.

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

    def exceeded(n_draws):
        misses, ways = _odds(n_models, n_top, n_draws)
        return (ways - misses) * p.denominator > ways * p.numerator

    # Doubling first: far above the answer the products would have millions of factors. After all
    # bad models and one more, a hit is certain.
    high = 1
    while high <= n_models - n_top and not exceeded(high):
        high *= 2
    high = min(high, n_models - n_top + 1)
    return bisect_left(range(high), True, key=exceeded)


def _counts(n_models, n_top):
    n_models, n_top = count(n_models, "n_models", 1), count(n_top, "n_top", 1)
    if n_top > n_models:
        raise ValueError(f"n_top={n_top} must not be greater than n_models={n_models}.")
    return n_models, n_top


def _odds(n_models, n_top, n_draws):
    """Ordered draws without a good model, and all ordered draws.

    To draw n and look for M is to mark M and look for n: the smaller of both is multiplied out.
    """
    few, many = sorted((n_top, n_draws))
    return perm(n_models - many, few), perm(n_models, few)
