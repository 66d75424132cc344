"""The experiment on images: with a setting of seconds, and with torchvision's files."""

import importlib.util
import pickle
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("skorch")
pytest.importorskip("matplotlib").use("agg")

SCRIPT = Path(__file__).parents[2] / "examples" / "experiment_images.py"

pytestmark = pytest.mark.skipif(not SCRIPT.is_file(), reason="the examples are not there")


@pytest.fixture
def script(monkeypatch):
    spec = importlib.util.spec_from_file_location("experiment_images", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "experiment_images", module)
    spec.loader.exec_module(module)
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
