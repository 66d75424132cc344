"""Data for examples: from the folder where there is one, else from scikit-learn."""

import sys

import numpy as np
import pytest

from sksearch import datasets
from sksearch.datasets import load

NAMES = [
    *["mnist", "fashion_mnist", "cifar10", "digits"],
    *["adult", "magic", "letter", "california_housing"],
    *["churn", "phoneme", "satimage", "house_16h", "diamonds", "spambase", "nursery", "pol"],
]
SHAPES = {
    "mnist": 784,
    "fashion_mnist": 784,
    "cifar10": 3072,
    "adult": 14,
    "magic": 10,
    "letter": 16,
    "california_housing": 8,
    "churn": 20,
    "phoneme": 5,
    "satimage": 36,
    "house_16h": 16,
    "diamonds": 9,
    "spambase": 57,
    "nursery": 8,
    "pol": 26,
}
N_CLASSES = {"letter": 26, "satimage": 6, "nursery": 4}  # the others, if not regression: 2
REGRESSION = ("california_housing", "house_16h", "diamonds", "pol")


@pytest.fixture
def no_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("SKSEARCH_DATA", str(tmp_path))


def write_images(folder, n_samples):
    y = np.arange(n_samples, dtype=np.uint8) % 10
    x = np.full((n_samples, 28, 28), 255, dtype=np.uint8)
    (folder / "images").mkdir()
    np.savez(folder / "images" / "mnist.npz", x_train=x, y_train=y, x_test=x[:1], y_test=y[:1])


@pytest.mark.usefixtures("no_folder")
@pytest.mark.parametrize("name", NAMES)
def test_every_name_has_a_bundled_set_without_a_folder(name):
    bunch = load(name)
    assert bunch.name == name
    assert bunch.source.startswith("sklearn.datasets.load_")
    assert len(bunch.data) == len(bunch.target)


@pytest.mark.usefixtures("no_folder")
def test_digits_are_scaled_to_one():
    data = load("fashion_mnist").data
    assert (data.dtype, data.min(), data.max()) == (np.float32, 0, 1)


@pytest.mark.few(5)
@pytest.mark.parametrize("name", SHAPES)
def test_the_folder_is_read_where_there_is_one(name):
    if not datasets._data_folder().is_dir():
        pytest.skip("no data folder here")
    bunch = load(name, n_samples=500)
    assert bunch.data.shape == (500, SHAPES[name])
    assert bunch.source.startswith(str(datasets._data_folder()))


@pytest.mark.parametrize("name", [name for name in NAMES[4:] if name not in REGRESSION])
def test_a_table_has_its_classes_as_integers(name):
    if not datasets._data_folder().is_dir():
        pytest.skip("no data folder here")
    target = load(name).target
    assert target.dtype == np.int64
    assert len(np.unique(target)) == N_CLASSES.get(name, 2)


@pytest.mark.parametrize("name", REGRESSION)
@pytest.mark.parametrize("folder", [True, False])
def test_regression_has_floats_to_predict(name, folder, monkeypatch, tmp_path):
    if not folder:
        monkeypatch.setenv("SKSEARCH_DATA", str(tmp_path))
    elif not datasets._data_folder().is_dir():
        pytest.skip("no data folder here")
    target = load(name, n_samples=400).target
    assert target.dtype == np.float64
    assert len(np.unique(target)) > 10


def test_images_become_rows_from_zero_to_one(monkeypatch, tmp_path):
    monkeypatch.setenv("SKSEARCH_DATA", str(tmp_path))
    write_images(tmp_path, n_samples=40)
    bunch = load("mnist", n_samples=20)
    assert bunch.data.shape == (20, 784)
    assert bunch.data.dtype == np.float32
    assert bunch.data.max() == 1
    assert np.bincount(bunch.target).tolist() == [2] * 10
    assert bunch.source == str(tmp_path / "images" / "mnist.npz")


def test_tables_are_read_from_the_named_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("SKSEARCH_DATA", str(tmp_path))
    (tmp_path / "tabular").mkdir()
    np.savetxt(
        tmp_path / "tabular" / "magic.csv.gz",
        np.arange(12).reshape(4, 3),
        delimiter=",",
        header="a,b,target",
        comments="",
    )
    bunch = load("magic")
    assert bunch.data.tolist() == [[0, 1], [3, 4], [6, 7], [9, 10]]
    assert bunch.target.tolist() == [2, 5, 8, 11]


def test_adult_is_a_data_frame_with_text(monkeypatch, tmp_path):
    pytest.importorskip("pandas")
    monkeypatch.setenv("SKSEARCH_DATA", str(tmp_path))
    (tmp_path / "tabular").mkdir()
    np.savetxt(
        tmp_path / "tabular" / "adult.csv.gz",
        ["age,sex,target", "39,Male,0", "50,,1", "28,Female,1"],
        fmt="%s",
    )
    bunch = load("adult", n_samples=2)
    assert bunch.data.columns.tolist() == ["age", "sex"]
    assert bunch.data.index.tolist() == [0, 1]
    assert sorted(bunch.target) == [0, 1]


@pytest.mark.parametrize(
    ("name", "stand_in"), [("adult", "breast_cancer"), ("diamonds", "diabetes")]
)
def test_tables_with_text_need_no_pandas(name, stand_in, monkeypatch, tmp_path):
    monkeypatch.setenv("SKSEARCH_DATA", str(tmp_path))
    monkeypatch.setitem(sys.modules, "pandas", None)
    (tmp_path / "tabular").mkdir()
    (tmp_path / "tabular" / f"{name}.csv.gz").touch()
    assert load(name).source == f"sklearn.datasets.load_{stand_in}"


@pytest.mark.usefixtures("no_folder")
def test_a_sample_keeps_the_proportions_of_the_classes():
    whole, sample = load("magic"), load("magic", n_samples=101)
    assert len(sample.target) == 101
    assert sample.target.mean() == pytest.approx(whole.target.mean(), abs=0.01)


@pytest.mark.usefixtures("no_folder")
def test_a_sample_has_every_class_if_there_is_room():
    assert np.unique(load("digits", n_samples=10).target).tolist() == list(range(10))


@pytest.mark.usefixtures("no_folder")
@pytest.mark.parametrize("name", ["digits", "california_housing"])
def test_a_sample_is_fixed_by_its_seed(name):
    first, again, other = (load(name, n_samples=50, random_state=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.data, again.data)
    assert not np.array_equal(first.data, other.data)


@pytest.mark.usefixtures("no_folder")
def test_a_small_sample_is_part_of_a_large_one():
    small, large = (load("california_housing", n_samples=n).data for n in (20, 200))
    assert {row.tobytes() for row in small} <= {row.tobytes() for row in large}


@pytest.mark.usefixtures("no_folder")
def test_more_rows_than_there_are_means_all():
    assert len(load("digits", n_samples=10**6).target) == 1797


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueError, match="use one of mnist, fashion_mnist, cifar10, digits"):
        load("iris")


@pytest.mark.parametrize("n_samples", [0, -1, 2.5])
def test_n_samples_must_be_a_positive_int(n_samples):
    with pytest.raises(ValueError, match="n_samples="):
        load("digits", n_samples=n_samples)


def test_the_passengers_of_the_titanic_come_with_the_package(no_folder):
    titanic = load("titanic")
    assert titanic.data.shape == (891, 10)
    assert titanic.data.isna().sum().sum() == 866
    assert set(titanic.target) == {0, 1}
    assert len(load("titanic", n_samples=100).data) == 100


def test_the_titanic_without_pandas_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="tables"):
        load("titanic")
