"""A cluster without a worker is waited for."""

from types import SimpleNamespace

import pytest

from sksearch.executors.remote import _dask


def test_a_dask_cluster_without_a_worker_is_waited_for(monkeypatch):
    seconds, n_threads = [0.0], {}
    monkeypatch.setattr(_dask.time, "monotonic", lambda: seconds[0])
    client = SimpleNamespace(
        status="running", nthreads=lambda: n_threads, get_executor=lambda **options: None
    )
    engine = _dask.DaskEngine(SimpleNamespace(client=client), 1)

    def look_at(second):
        seconds[0] = second
        return engine.why_silent()

    assert look_at(10) is None
    with pytest.warns(UserWarning, match="no worker for 300 seconds. The search waits"):
        assert look_at(400) is None
    assert look_at(4000) is None
    client.status = "closed"
    assert look_at(4010) == "its client is closed"
