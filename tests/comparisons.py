"""What several tests compare of two searches, of a search and its plan, or of many searches."""

from collections import Counter

import numpy as np
from scipy.stats import kstest


def assert_same_results(one, other):
    """All columns but times are equal, and so is the best candidate."""
    assert list(one.cv_results_) == list(other.cv_results_)
    for name, column in one.cv_results_.items():
        if not name.endswith("_time"):
            np.testing.assert_array_equal(column, other.cv_results_[name], err_msg=name)
    assert one.best_params_ == other.best_params_


def ks_best_of(values, n_draws, cdf):
    """Kolmogorov-Smirnov test of losses that are each the best of so many independent draws."""
    return kstest(values, lambda x: 1 - (1 - cdf(x)) ** n_draws)


def planned_and_done(search):
    """Candidates of each rung: as planned, and as evaluated."""
    planned = {(rung.bracket, rung.n_resources): rung.n_candidates for rung in search.plan_.rungs}
    trials = search.history_.trials
    return planned, Counter((trial.bracket, r) for trial in trials for r in trial.results)
