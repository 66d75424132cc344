"""Which cases of a parametrized test run by default.

Each value of each parameter runs at least once, so that a new plug-in, frozen case or mistake does
by itself. Among the cases of a matrix those are chosen that show the most new pairs of values, and
of a matrix of three or more parameters each pair of values runs.
"""

from collections import Counter
from itertools import combinations
from math import prod

#: As many cases run in any case.
ENOUGH_CASES = 8
#: Values of these only repeat a test: two of them are enough.
REPEATING = {"seed": 2}


def choose(cases, few=None):
    """Choose cases of a test, the same in each process.

    Parameters
    ----------
    cases : list of dict
        The value of each parameter.
    few : int or None, default=None
        As many are enough, spread evenly, as their values differ little.

    Returns
    -------
    indices : list of int
        In order.
    """
    enough = few or ENOUGH_CASES
    if len(cases) <= enough:
        return list(range(len(cases)))
    if few:
        return [i * len(cases) // few for i in range(few)]
    values = [_values(case) for case in cases]
    pairs = [set(combinations(each, 2)) for each in values]
    singles = [set(each) for each in values]
    n_repeated = {name: n for name, n in REPEATING.items() if name in cases[0]}
    for name, n in n_repeated.items():
        kept = list(dict.fromkeys(v for each in values for v in each if v[0] == name))[:n]
        for each in singles:
            each -= {v for v in each if v[0] == name and v not in kept}
    frequency = Counter(value for each in singles for value in each)
    chosen = [i for i, each in enumerate(singles) if any(frequency[v] == 1 for v in each)]
    left = set().union(*singles).difference(*(singles[i] for i in chosen))
    new = set().union(*pairs).difference(*(pairs[i] for i in chosen))
    others = sorted(set(range(len(cases))) - set(chosen))
    is_cube = len(singles[0]) > 2 and len(cases) == prod(_sizes(values))
    while others and (left or len(chosen) < ENOUGH_CASES or (is_cube and new)):
        best = max(others, key=lambda i: (len(singles[i] & left), len(pairs[i] & new), -i))
        chosen.append(best)
        others.remove(best)
        left -= singles[best]
        new -= pairs[best]
    return sorted(chosen)


def _sizes(values):
    """Count the different values of each parameter."""
    return [len(set(each)) for each in zip(*values, strict=True)]


def _values(case):
    """Values of a case, so that they can be compared; those that cannot are told by identity."""
    values = []
    for name, value in case.items():
        try:
            hash(value)
        except TypeError:
            values.append((name, id(value)))
        else:
            values.append((name, type(value), value))
    return values
