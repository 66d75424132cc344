"""What becomes of workers when a search ends early."""

import threading

import numpy as np
import pytest
from scipy.stats import uniform

from sksearch import RandomSearchCV
from tests.fakes import Failing


@pytest.mark.slow
def test_a_pool_is_killed_with_its_queue_full_and_no_thread_dies(monkeypatch):
    errors = []
    monkeypatch.setattr(threading, "excepthook", errors.append)
    search = RandomSearchCV(
        Failing(threshold=-1.0),
        {"quality": uniform(0, 1)},
        n_iter=30,
        cv=[([0], [1])] * 3,
        n_jobs=2,
        pre_dispatch="all",
        error_score="raise",
    )
    for seed in range(3):
        with pytest.raises(RuntimeError, match="too good to be true"):
            search.set_params(random_state=seed).fit(np.zeros((4, 1)), np.zeros(4))
    assert errors == []
