"""Experiments of the documents at a toy size: they print and record what pages show."""

import importlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from sksearch.samplers import RandomSampler

EXAMPLES = Path(__file__).parents[2] / "examples"

pytestmark = pytest.mark.skipif(not EXAMPLES.is_dir(), reason="the examples are not there")


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    """A function that runs a script and returns its output and the lines of its record."""
    for folder in (EXAMPLES, EXAMPLES / "benchmarks"):
        monkeypatch.syspath_prepend(folder)

    def run(name, *arguments, **constants):
        module = importlib.import_module(name)
        for constant, value in constants.items():
            monkeypatch.setattr(module, constant, value)
        record = tmp_path / "record.jsonl"
        monkeypatch.setattr(sys, "argv", [f"{name}.py", *arguments, "--record", str(record)])
        module.main()
        lines = [json.loads(line) for line in record.read_text().splitlines()]
        return module, capsys.readouterr().out, lines

    return run


def keys_of(record):
    path = EXAMPLES / "benchmarks" / "records" / "reproduced" / record
    return [set(json.loads(line)) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("problem", ["flat drop-wave", "logistic regression"])
def test_hybrids_are_compared_with_hyperband(run, problem, tmp_path):
    searches = ["Hyperband", "SURV"]
    options = ["--protocol", "published", "--runs", "2", "--jobs", "1", "--problems", problem]
    folder = ["--folder", str(tmp_path)]
    module, out, lines = run("experiment_transfer", *options, *folder, "--searches", *searches)
    assert f"== {problem}: loss at the end of 2 runs" in out
    assert [line["search"] for line in lines] == searches
    assert {line["problem"] for line in lines} == {problem}
    # A run ends at one of the losses of its file, and at the lowest of all rungs.
    kept = (tmp_path / f"published_{problem.replace(' ', '_')}.jsonl").read_text()
    assert len(kept.splitlines()) == 4
    low, high = (-1, -0.3) if problem == "flat drop-wave" else (0.08, 0.12)
    assert all(low < line["mean"] < high for line in lines)
    assert "KS" in out
    assert [set(line) for line in lines] == keys_of("hybrids.jsonl")[: len(lines)]
    assert len(module.SIGNIFICANT) == 6


def test_draws_to_the_best_of_some_models(run, tmp_path):
    """On a smooth function of two numbers a process needs fewer draws than random search."""
    x, y = np.divmod(np.arange(49), 7)
    entries = [{"name": n, "type": "int", "lower": 0, "upper": 6, "log": False} for n in "xy"]
    np.savez(
        tmp_path / "table.npz",
        meta=np.array(json.dumps({"kind": "table", "space": entries})),
        X=np.column_stack([x, y]).astype(float),
        valid=(0.1 + (x - 4) ** 2 / 9 + (y - 2) ** 2 / 30).reshape(-1, 1, 1),
    )
    module = importlib.import_module("experiment_600_models")
    samplers = {name: module.SAMPLERS[name] for name in ("random", "GP")}
    options = ["--table", str(tmp_path / "table.npz"), "--firsts", "3"]
    _, out, lines = run("experiment_600_models", *options, SAMPLERS=samplers)
    mean = {(line["search"], line["goal"]): line["mean"] for line in lines}
    assert list(dict.fromkeys(goal for _, goal in mean)) == list(module.PUBLISHED)
    assert {line["runs"] for line in lines} == {3}
    assert all(0 <= line["sd"] < line["worst"] <= 49 for line in lines)
    for goal in ("best model", "top 5 %"):
        assert mean["GP", goal] < mean["random", goal]
    assert mean["GP", "best model"] < 25  # the mean of random search
    assert "draws until the best model" in out
    assert [set(line) for line in lines] == keys_of("draws.jsonl")[: len(lines)]


def test_near_curves_are_nearer_on_the_scale_of_the_published_code(run):
    samplers = dict.fromkeys(("Hyperband", "NONE"), RandomSampler())
    options = ["--sets", "2", "--runs", "2"]
    _, _, lines = run("nearest_curves", *options, TPE=RandomSampler(), PROPOSED=samplers)
    found = {(line["search"], line["scale"], line["formula"]): line["mean"] for line in lines}
    assert len(found) == 12
    shares = [found["Hyperband", scale, "squared"] for scale in ("logarithmic", "linear", "code")]
    assert all(a < b < c for a, b, c in zip(*shares, strict=True))
    assert np.abs(np.subtract(shares[2], [0.30, 0.78, 0.99])).max() < 0.25  # of 230 known ones
    assert [set(line) for line in lines] == keys_of("nearest.jsonl")
