"""An engine of another package: what it names as an entry point runs the tasks of its backend."""

from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import EntryPoint, EntryPoints

import joblib
import pytest
from scipy.stats import uniform
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge

from sksearch import RandomSearchCV
from sksearch.executors import FuturesBackend, _factory
from sksearch.executors._factory import engine_for
from sksearch.executors.remote import _futures
from sksearch.executors.remote._base import Engine

X, Y = load_diabetes(return_X_y=True)


class FarmBackend(FuturesBackend):
    """A joblib backend of another package."""


class BarnBackend(FarmBackend):
    """One that the other package has derived."""


class FarmEngine(Engine):
    """The engine that the other package has for it."""

    name = "The farm"
    started: list = []

    def __init__(self, backend, n_workers):
        self.pool = backend.executor

    def start(self, message, payload):
        self.started.append(message)
        return self.pool.submit(self.run_message, message, payload)


@pytest.fixture
def installed(monkeypatch):
    """Have the entry point of a package that is installed."""
    entry = EntryPoint("FarmBackend", f"{__name__}:FarmEngine", "sksearch.engines")
    monkeypatch.setattr(
        _factory, "entry_points", lambda group: EntryPoints([entry]).select(group=group)
    )
    monkeypatch.setattr(EntryPoint, "load", lambda self: FarmEngine)  # this module has no path
    FarmEngine.started.clear()


@pytest.mark.parametrize("backend", [FarmBackend, BarnBackend])
def test_the_engine_of_an_entry_point_runs_the_tasks(installed, backend):
    search = RandomSearchCV(Ridge(), {"alpha": uniform(0, 1)}, n_iter=3, cv=2, random_state=0)
    expected = search.fit(X, Y).cv_results_["mean_test_score"]
    with ThreadPoolExecutor(2) as pool, joblib.parallel_config(backend(pool)):
        found = search.fit(X, Y).cv_results_["mean_test_score"]
    assert len(FarmEngine.started) == 6
    assert list(found) == list(expected)


def test_others_have_the_engine_that_they_had(installed):
    with ThreadPoolExecutor(2) as pool:
        assert engine_for(FuturesBackend(pool)) is _futures.FuturesEngine
        assert engine_for(BarnBackend(pool)) is FarmEngine


def test_without_the_package_its_backend_has_the_engine_of_its_base():
    with ThreadPoolExecutor(2) as pool:
        assert engine_for(BarnBackend(pool)) is _futures.FuturesEngine


def test_an_unknown_backend_is_run_by_joblib():
    assert engine_for(joblib.parallel.SequentialBackend()).__name__ == "JoblibEngine"
