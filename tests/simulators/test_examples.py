"""Experiments of the documents at a toy size: they print and record what pages show."""

import ast
import importlib
import inspect
import json
import pkgutil
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

from sksearch.models._parzen import Parzen
from sksearch.samplers import RandomSampler
from sksearch.samplers._tpe import _bandwidths

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


@pytest.fixture
def estimators(monkeypatch):
    """The script that exchanges parts of Parzen estimators."""
    for folder in (EXAMPLES, EXAMPLES / "benchmarks"):
        monkeypatch.syspath_prepend(folder)
    return importlib.import_module("parts_of_tpe")


def test_our_parts_are_the_densities_of_the_sampler(estimators):
    rng = np.random.default_rng(0)
    U, x, weights = rng.random((3, 12, 2)), rng.random((3, 5, 2)), np.linspace(0.2, 1, 12)
    found = estimators.Density(U, weights, estimators.OURS).log_density(x)
    for points, at, values in zip(U, x, found, strict=True):
        density = Parzen(points, weights, np.zeros(2), _bandwidths(points, 2))
        assert values == pytest.approx(density.log_density(at, at), abs=1e-5)


def test_the_other_parts_are_hyperopts(estimators):
    """By its definitions: `adaptive_parzen_normal`, and draws repeated until they are inside."""
    u = np.array([0.9, 0.1, 0.15, 0.7])
    known = sorted([*u, 0.5])  # the prior's centre is between them
    gaps = dict(zip(known, np.diff(known, prepend=known[0], append=known[-1])[1:], strict=True))
    below = dict(zip(known, np.diff(known, prepend=known[0]), strict=True))
    h = np.array([*(np.clip(max(gaps[x], below[x]), 1 / 6, 1) for x in u), 1.0])
    centres, w = np.array([*u, 0.5]), np.array([1, 0.5, 0.5, 1, 1.0])
    mass = norm.cdf((1 - centres) / h) - norm.cdf(-centres / h)
    at = np.array([0.05, 0.3, 0.5, 1.0])
    values = (w * norm.pdf(at[:, np.newaxis], centres, h)).sum(axis=1) / (w * mass).sum()
    density = estimators.Density(u[np.newaxis, :, np.newaxis], w[:4], estimators.HYPEROPT)
    found = density.log_density(at[np.newaxis, :, np.newaxis])
    assert np.exp(found[0]) == pytest.approx(values)
    drawn = np.concatenate([density.sample(np.random.default_rng(i))[0] for i in range(200)])
    assert 0 <= drawn.min() < drawn.max() <= 1
    grid = np.linspace(0, 1, 1001)
    cdf = (w * (norm.cdf(grid[:, None], centres, h) - norm.cdf(-centres / h))).sum(axis=1)
    assert np.abs((drawn < grid).mean(axis=0) - cdf / (w * mass).sum()).max() < 0.04
    assert [estimators.HYPEROPT.n_good(n) for n in (10, 17, 80)] == [1, 2, 3]
    assert [estimators.OURS.n_good(n) for n in (10, 17, 80, 300)] == [1, 2, 8, 25]


def test_each_scheme_sees_its_candidates(estimators, monkeypatch):
    """Ranks of the earlier bracket of 27 candidates, seen by one of 9 that begins a rung later."""
    monkeypatch.setattr(estimators, "BRACKETS", (27, 9))
    y = np.random.default_rng(0).permutation(27)[np.newaxis] * 1.0
    seen = {
        scheme: estimators.earlier(scheme, [(y[:, :, np.newaxis], y)], 1)[0][1][0]
        for scheme in estimators.SCHEMES
    }
    ranks = {scheme: sorted(values.astype(int).tolist()) for scheme, values in seen.items()}
    assert ranks == {"NONE": [], "ALL": [*range(9)], "SURV": [0], "SAME": [*range(3, 9)]}
    assert [x for x in y[0] if x < 9] == seen["ALL"].tolist()  # in the order of arrival


def test_parts_of_estimators_are_exchanged(run):
    whole = importlib.import_module("parts_of_tpe").VARIANTS
    assert len(whole) == 16
    variants = {name: whole[name] for name in ("hyperopt, all parts", "ours, all parts")}
    constants = {"FLAT": ("flat drop-wave",), "VARIANTS": variants, "BRACKETS": (27, 9, 3)}
    _, out, lines = run("parts_of_tpe", "--runs", "3", **constants)
    assert len(lines) == 8  # and three schemes more of each
    assert all(-1 <= line["mean"] < -0.1 for line in lines)
    assert "hyperopt, SAME" in out
    assert [set(line) for line in lines] == keys_of("parts.jsonl")[: len(lines)]


@pytest.mark.whole  # imports all that scripts import
def test_names_of_the_package_in_scripts_are_there():
    """What scripts import of it, and what they take from its modules."""
    missing = []
    for script in sorted(EXAMPLES.rglob("*.py")):
        tree, modules = ast.parse(script.read_text(encoding="utf-8")), {}
        for node in ast.walk(tree):
            module = getattr(node, "module", None) or ""
            if isinstance(node, ast.ImportFrom) and module.split(".")[0] == "sksearch":
                for alias in node.names:
                    try:
                        found = pkgutil.resolve_name(f"{module}:{alias.name}")
                    except (AttributeError, ImportError) as error:
                        try:
                            found = importlib.import_module(f"{module}.{alias.name}")
                        except ImportError:
                            missing.append((script.name, str(error)))
                            continue
                    if inspect.ismodule(found):
                        modules[alias.asname or alias.name] = found
        missing += [
            (script.name, ast.unparse(node))
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and not hasattr(modules.get(node.value.id, missing), node.attr)
            and node.value.id in modules
        ]
    assert [each for each in missing if "torch" not in each[1]] == []
