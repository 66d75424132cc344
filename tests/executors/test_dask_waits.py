"""A cluster without a worker is waited for, up to a limit; one that forgets its tasks is lost."""

from concurrent.futures import CancelledError
from types import SimpleNamespace

import pytest

from sksearch.executors.remote import _dask
from sksearch.search import EngineLostError


def engine_of(n_threads, **settings):
    client = SimpleNamespace(
        status="running", nthreads=lambda: n_threads, get_executor=lambda **options: None
    )
    return _dask.DaskEngine(SimpleNamespace(client=client, **settings), 1)


@pytest.mark.parametrize(
    ("settings", "limit"),
    [
        ({}, 300),
        ({"wait_for_workers_timeout": 10}, 300),  # joblib's default
        ({"wait_for_workers_timeout": 0}, 300),
        ({"wait_for_workers_timeout": 1000}, 1000),
        ({"wait_for_workers_timeout": 60}, 60),
    ],
)
def test_a_dask_cluster_without_a_worker_is_lost_after_a_limit(monkeypatch, settings, limit):
    seconds, n_threads = [0.0], {}
    monkeypatch.setattr(_dask.time, "monotonic", lambda: seconds[0])
    engine = engine_of(n_threads, **settings)

    def look_at(second):
        seconds[0] = second
        return engine.why_silent()

    assert look_at(10) is None
    assert look_at(10 + limit) is None
    n_threads["worker"] = 2
    assert look_at(25 + limit) is None
    n_threads.clear()
    assert look_at(40 + limit) is None
    assert f"no worker for {limit} seconds (wait_for_wor" in look_at(60 + 2 * limit)
    engine._client.status = "closed"
    assert look_at(4010) == "its client is closed"


@pytest.mark.parametrize("limit", [1, 4, 30, 300])
def test_a_limit_is_kept_however_short(monkeypatch, limit):
    seconds = [0.0]
    monkeypatch.setattr(_dask.time, "monotonic", lambda: seconds[0])
    engine = engine_of({}, wait_for_workers_timeout=limit)
    while engine.why_silent() is None:
        seconds[0] += 0.1
    assert limit < seconds[0] < 1.5 * limit


def test_tasks_that_a_scheduler_has_dropped_say_so():
    error = engine_of({"worker": 1}).outcome_of(CancelledError("key"))
    assert isinstance(error, EngineLostError)
    assert "is lost: its scheduler has dropped the tasks, as after a restart" in str(error)


@pytest.mark.parametrize("name", ["CommClosedError", "LocalRayletDiedError", "RaySystemError"])
def test_an_error_of_an_engine_that_is_gone_is_no_error_of_a_task(name):
    error = type(name, (RuntimeError,), {})("it died")
    assert f"is lost: {name}: it died" in str(engine_of({"worker": 1}).outcome_of(error))
    other = RuntimeError("No module named 'sksearch'")
    assert engine_of({"worker": 1}).outcome_of(other) is other


def test_a_client_that_looks_for_its_scheduler_is_not_asked():
    engine = engine_of({"worker": 1})
    engine._client.status, engine._client.nthreads = "connecting", None
    assert engine.count_workers() == 0
    assert engine.why_silent() is None
    assert isinstance(engine.outcome_of(CancelledError("key")), EngineLostError)


def test_workers_of_dask_are_counted():
    n_threads = {"one": 2}
    engine = engine_of(n_threads)
    assert (engine.count_workers(), engine.n_prefetched) == (2, 2)
    n_threads["other"] = 3
    assert (engine.count_workers(), engine.n_prefetched) == (5, 5)
    n_threads.clear()
    assert (engine.count_workers(), engine.n_prefetched) == (0, 1)
