"""The normal law against mpmath."""

import mpmath
import numpy as np
import pytest

from sksearch.models._normal import slope_of_log_cdf


@pytest.mark.parametrize("z", [-1e5, -1e3, -40.0, -3.0, -1e-9, 0.0, 2.0, 8.0, 30.0, 37.0])
def test_the_slope_of_the_logarithm_of_the_distribution_function(z):
    with mpmath.workdps(60):
        expected = mpmath.npdf(z) / mpmath.ncdf(z)
        error = abs(mpmath.mpf(float(slope_of_log_cdf(np.array(z)))) / expected - 1)
    assert error < 1e-12


def test_far_above_the_mean_the_slope_is_zero_without_a_warning():
    np.testing.assert_array_equal(slope_of_log_cdf(np.array([50.0, 1e10])), 0.0)
