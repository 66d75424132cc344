"""Dask futures among the arguments of a search: an error before anything is spent."""

import joblib
import numpy as np
import pytest
from scipy.stats import uniform
from sklearn.base import BaseEstimator

import sksearch as sks
from tests.executors.engines import dask_client

X = np.zeros((20, 1))
FITS = []


class Summing(BaseEstimator):
    """An estimator with more data than X."""

    def __init__(self, a=1.0, data=None):
        self.a, self.data = a, data

    def fit(self, X, y=None, more=None):
        FITS.append(self.a)
        return self

    def score(self, X, y=None):
        return self.a


def search(*args):
    return sks.RandomSearchCV(*args, n_iter=2, cv=2, random_state=0)


@pytest.mark.xdist_group("dask")
def test_a_dask_future_among_the_arguments_is_refused_before_the_first_fit():
    client = dask_client()
    future = client.scatter(np.arange(10.0))
    FITS.clear()
    with joblib.parallel_config("dask", client=client):
        for args in (
            (Summing(data=future), {"a": uniform()}),
            (Summing(), {"a": uniform(), "data": [None, future]}),
        ):
            with pytest.raises(TypeError, match=r"'data' is a Dask Future.*future\.result\(\)"):
                search(*args).fit(X)
        with pytest.raises(TypeError, match=r"cannot be sent .*a Dask Future.*result\(\)"):
            search(Summing(), {"a": uniform()}).fit(X, more=future)
        assert not FITS
        search(Summing(data=future.result()), {"a": uniform()}).fit(X)
