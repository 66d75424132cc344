"""Libraries that are given a search, as far as they are installed here."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "examples" / "benchmarks"))
import clients

sys.path.pop(0)


@pytest.mark.few(3)
@pytest.mark.slow
@pytest.mark.parametrize("client", clients.CLIENTS, ids=lambda client: client.__name__)
def test_a_client_that_is_installed_works(client):
    outcome, text = clients.outcome_of(client)
    if outcome == "not installed":
        pytest.skip(f"{client.__name__} is not installed")
    assert outcome == "ok", text


def test_the_command_fails_where_a_client_fails(monkeypatch, capsys):
    def numpy():
        raise ValueError("not this\nway")

    def is_missing():
        raise AssertionError("never called")

    monkeypatch.setattr(clients, "CLIENTS", {is_missing: "is-missing"})
    monkeypatch.setattr(sys, "argv", ["clients.py"])
    assert clients.main() == 0
    monkeypatch.setattr(clients, "CLIENTS", {is_missing: "is-missing", numpy: "numpy"})
    assert clients.main() == 1
    out = capsys.readouterr().out
    assert "not installed" in out
    assert "failed        ValueError: not this\n" in out
    monkeypatch.setattr(sys, "argv", ["clients.py", "nunpy"])
    with pytest.raises(SystemExit):
        clients.main()
    assert "no client nunpy: there are is_missing, numpy" in capsys.readouterr().err
