"""Random numbers as functions of a key and a counter: SplitMix64 [1]_, on arrays.

NumPy creates generators one at a time, in ten microseconds each. Here one array expression gives
the numbers of thousands of curves. A curve has the same numbers alone and among others.

============  ============================================  ==================
symbol        meaning                                       shape
============  ============================================  ==================
``keys``      one per stream of random numbers              any, uint64
``counters``  positions in the stream, from 0               any, broadcast
``z``         words being mixed                             any, uint64
============  ============================================  ==================

References
----------
.. [1] G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators",
   OOPSLA 2014. https://doi.org/10.1145/2660193.2660195
"""

import operator

import numpy as np
from numpy.typing import ArrayLike

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio, the stream's increment
ODD = 0xD1342543DE82EF95  # keeps the keys of neighbouring seeds far from each other
M1, M2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
ONE, S12, S27, S30, S31 = np.array([1, 12, 27, 30, 31], dtype=np.uint64)


def make_keys(points: ArrayLike, seed: int) -> np.ndarray:
    """Return a key for each row, the same for equal numbers of any type, in any process.

    Parameters
    ----------
    points : ndarray of shape (n, n_dims)
        Numbers that identify the streams.
    seed : int
        Number that identifies all streams of one experiment.

    Returns
    -------
    keys : ndarray of shape (n,), uint64
        Two keys are equal with a probability of 2^-64.
    """
    points = np.asarray(points, dtype=float) + 0.0  # -0.0 becomes 0.0
    places = np.arange(1, points.shape[1] + 1, dtype=np.uint64) * GOLDEN
    words = _mix(np.ascontiguousarray(points).view(np.uint64) + places).sum(axis=1)
    return _mix(words + np.uint64(operator.index(seed) * ODD % 2**64))


def uniforms(keys: np.ndarray, counters: ArrayLike) -> np.ndarray:
    """Return numbers in (0, 1), in the broadcast shape of keys and counters."""
    counters = np.atleast_1d(np.asarray(counters, dtype=np.uint64))
    z = _mix(keys + (counters + ONE) * GOLDEN)
    # 52 bits and a half: neither 0 nor, by rounding, 1.
    return ((z >> S12).astype(float) + 0.5) * 2.0**-52


def _mix(z: np.ndarray) -> np.ndarray:
    """Scatter the words by a bijection in which each bit depends on every bit."""
    z ^= z >> S30
    z *= M1
    z ^= z >> S27
    z *= M2
    z ^= z >> S31
    return z
