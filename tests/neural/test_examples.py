"""The experiments with nets: with settings of seconds, and with torchvision's files."""

import importlib
import json
import pickle
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("skorch")
pytest.importorskip("matplotlib").use("agg")

EXAMPLES = Path(__file__).parents[2] / "examples"

pytestmark = pytest.mark.skipif(not EXAMPLES.is_dir(), reason="the examples are not there")


def imported(name, monkeypatch):
    """A script as a module, for this test alone."""
    monkeypatch.syspath_prepend(EXAMPLES)
    monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module(name)


@pytest.fixture
def script(monkeypatch):
    module = imported("experiment_images", monkeypatch)
    small = module.SETTINGS["small"]
    space = small.space | {"n_filters": [2, 4], "batch_size": [16]}
    tiny = replace(small, n_train=60, n_test=100, max_epochs=3, n_iterations=1, space=space)
    module.SETTINGS["small"] = tiny
    return module


@pytest.mark.timeout(120)
def test_it_compares_five_searches_with_the_default_net(script, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("SKSEARCH_DATA", str(tmp_path))  # no folder: digits of scikit-learn
    out = tmp_path / "images.png"
    arguments = ["--data", "mnist", "--n-jobs", "1", "--out", str(out)]
    monkeypatch.setattr(sys, "argv", ["experiment_images.py", *arguments])
    script.main()
    lines = capsys.readouterr().out.splitlines()
    rows = {line[:20].strip(): line[20:].split() for line in lines[3:10]}
    candidates_and_epochs = {name: tuple(map(int, row[:2])) for name, row in rows.items()}
    assert candidates_and_epochs == {
        "random": (3, 9),
        "GP": (3, 9),
        "Hyperband": (5, 11),
        "BOHB": (5, 11),
        "incremental": (8, 11),
        "default, 3 epochs": (1, 3),
        "default, 11 epochs": (1, 11),
    }
    assert out.stat().st_size > 10_000


@pytest.mark.timeout(120)
def test_what_has_ended_is_read_from_the_cache(script, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("SKSEARCH_DATA", str(tmp_path))
    one = ["--data", "mnist", "--n-jobs", "1", "--cache", str(tmp_path), "--methods", "random"]
    monkeypatch.setattr(sys, "argv", ["experiment_images.py", *one])
    script.main()
    first = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in first[3:4]] == ["random"]
    monkeypatch.setattr(script, "make_searches", None)
    script.main()
    assert capsys.readouterr().out.splitlines()[:5] == first[:5]


def test_images_become_smaller_by_means_of_squares(script):
    images = np.arange(2 * 4 * 6 * 3).reshape(2, 4, 6, 3)
    smaller = script.shrunk(images, 2)
    assert smaller.shape == (2, 2, 3, 3)
    assert smaller[1, 0, 2, 1] == images[1, :2, 4:, 1].mean()
    assert script.shrunk(images, 1) is images


def write_idx(path, array):
    """Write bytes as the files of MNIST are written."""
    sizes = b"".join(n.to_bytes(4, "big") for n in array.shape)
    path.write_bytes(bytes([0, 0, 8, array.ndim]) + sizes + array.tobytes())


def test_digits_are_read_as_torchvision_has_left_them(script, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.integers(256, size=(5, 28, 28), dtype=np.uint8)
    y = np.array([3, 1, 4, 1, 5], dtype=np.uint8)
    folder = tmp_path / "FashionMNIST" / "raw"
    folder.mkdir(parents=True)
    for which in ("train", "t10k"):
        write_idx(folder / f"{which}-images-idx3-ubyte", X)
        write_idx(folder / f"{which}-labels-idx1-ubyte", y)
    images, labels = script.images_of("fashion_mnist", tmp_path)
    assert images.dtype == np.uint8
    assert np.array_equal(images, X)
    assert np.array_equal(labels, y)


def test_colours_are_read_as_torchvision_has_left_them(script, tmp_path, monkeypatch):
    from torchvision.datasets import CIFAR10

    X = np.random.default_rng(0).integers(256, size=(2, 3, 32, 32), dtype=np.uint8)
    content = {"data": X.reshape(2, -1), "labels": [7, 2], "label_names": list("abcdefghij")}
    folder = tmp_path / CIFAR10.base_folder
    folder.mkdir()
    for name in ("part", "other", "names"):
        (folder / name).write_bytes(pickle.dumps(content))
    monkeypatch.setattr(CIFAR10, "train_list", [["part", None]])
    monkeypatch.setattr(CIFAR10, "test_list", [["other", None]])
    monkeypatch.setattr(CIFAR10, "meta", {"filename": "names", "key": "label_names", "md5": None})
    images, labels = script.images_of("cifar10", tmp_path)
    assert np.array_equal(images, X.transpose(0, 2, 3, 1))
    assert labels.tolist() == [7, 2]


@pytest.mark.timeout(120)
def test_six_searches_choose_an_architecture(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("SKSEARCH_DATA", str(tmp_path))  # no folder: digits of scikit-learn
    script = imported("experiment_architectures", monkeypatch)
    tiny = replace(script.SETTINGS["small"], n_train=240, n_test=100, max_epochs=4, n_trainings=2)
    monkeypatch.setitem(script.SETTINGS, "small", replace(tiny, space=script.narrow(4)))
    record = tmp_path / "record"
    monkeypatch.setattr(sys, "argv", ["experiment_architectures.py", "--record", str(record)])
    script.main()
    table, n_runs = capsys.readouterr().out, len(record.read_text().splitlines())
    script.main()
    assert (capsys.readouterr().out, len(record.read_text().splitlines())) == (table, n_runs)
    rows = [line.rsplit(maxsplit=5) for line in table.splitlines()[3:]]
    assert {name: int(count) for name, count, *_ in rows} == {
        "random": 2,
        "gp": 2,
        "forest": 2,
        "incremental, random": 3,
        "incremental, gp": 3,
        "incremental, forest": 3,
    }
    assert all(0 <= float(error) <= 100 for row in rows for error in row[2:4])


@pytest.mark.timeout(120)
def test_paths_through_a_super_net_share_weights_and_are_ranked(monkeypatch, tmp_path):
    monkeypatch.setenv("SKSEARCH_DATA", str(tmp_path))
    script = imported("experiment_weight_sharing", monkeypatch)
    monkeypatch.setattr(script, "SPACE", {"n_layers": [1], "n_filters_1": [4, 8]})
    torch = script.torch
    net, X = script.SuperNet(), torch.rand(6, 1, 8, 8)
    net(X, {"n_layers": 1, "n_filters_1": 4}).sum().backward()
    touched = net.layers[0].weight.grad.abs().sum(dim=(1, 2, 3)) > 0
    assert touched.tolist() == [True] * 4 + [False] * 12
    assert net.layers[1].weight.grad is None
    found = script.run(epochs=1, shared_epochs=4, seed=0)
    assert (found["epochs, shared"], found["epochs, each alone"]) == (5, 2)
    assert found["test error, shared"] < 0.5 > found["test error, mean of all"]


@pytest.mark.timeout(120)
@pytest.mark.parametrize("data", ["cifar10", "mnist"])
def test_hybrids_differ_from_hyperband_in_what_they_learn_from(
    data, monkeypatch, tmp_path, capsys
):
    monkeypatch.setenv("SKSEARCH_DATA", str(tmp_path))
    script = imported("experiment_hybrids", monkeypatch)
    tiny = replace(script.SETTINGS[data]["small"], n_train=60, n_valid=60, max_epochs=3)
    monkeypatch.setitem(script.SETTINGS[data], "small", replace(tiny, n_initial=2))
    files = ["--record", str(tmp_path / "runs.jsonl"), "--checkpoints", str(tmp_path / "kept")]
    monkeypatch.setattr(sys, "argv", ["experiment_hybrids.py", "--data", data, "--all", *files])
    script.main()
    out = capsys.readouterr().out
    lines = out.splitlines()
    counts = {line.split()[0]: int(line.split()[1]) for line in lines[2:7]}
    # Two iterations of brackets of 3 and 2 candidates, of which 1 and 2 are trained to the end.
    assert set(counts) == {"Hyperband", "NONE", "SURV", "ALL", "SAME"}
    assert max(counts.values()) <= 6
    made = [script.make_search(m, 0, tiny, 60, 60) for m in ("Hyperband", "NONE", "SAME")]
    assert [getattr(s.sampler, "transfer", None) for s in made] == [None, "none", "same"]
    # What the record has is not run again, and a search that has no line there is continued.
    kept = (tmp_path / "runs.jsonl").read_text().splitlines()
    assert all(0 < json.loads(line)["convergence"] < 1 for line in kept)
    (tmp_path / "runs.jsonl").write_text("\n".join(kept[:-1]) + "\n")
    script.main()
    assert capsys.readouterr().out == out
    assert (tmp_path / "runs.jsonl").read_text().splitlines() == kept
