"""How densities split what is known."""

from types import SimpleNamespace

import numpy as np
import pytest

from sksearch.samplers import TPESampler


@pytest.mark.parametrize(
    ("gamma", "n", "n_good"),
    [(0.1, 1, 1), (0.1, 11, 2), (0.1, 250, 25), (0.1, 9999, 25), (0.5, 9, 5)],
)
def test_the_good_are_a_tenth_but_no_more_than_twenty_five(gamma, n, n_good):
    data = SimpleNamespace(
        n_all=n, y=-np.arange(n), best_first=np.arange(n), U=np.arange(n)[:, None] / n,
        failed=np.empty((0, 1)), running=np.array([[0.5]]),
    )  # fmt: skip
    good, other = TPESampler(gamma)._split(data)
    assert good[:, 0] == pytest.approx(np.arange(n_good) / n)
    assert other[:, 0] == pytest.approx([*np.arange(n_good, n) / n, 0.5])
