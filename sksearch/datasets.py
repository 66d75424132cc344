"""Data sets for examples and benchmarks: real ones from a data folder, otherwise bundled ones."""

import os
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.utils import Bunch

from sksearch._utils._on_demand import missing

#: Environment variable that names the folder with ``images/`` and ``tabular/``.
DATA_VARIABLE = "SKSEARCH_DATA"

_FILES = {
    "mnist": "images/mnist.npz",
    "fashion_mnist": "images/fashion_mnist.npz",
    "cifar10": "images/cifar10_12k.npz",
    "digits": None,
    "adult": "tabular/adult.csv.gz",
    "magic": "tabular/magic.csv.gz",
    "letter": "tabular/letter.csv.gz",
    "california_housing": "tabular/california_housing.csv.gz",
    "churn": "tabular/churn.csv.gz",
    "phoneme": "tabular/phoneme.csv.gz",
    "satimage": "tabular/satimage.csv.gz",
    "house_16h": "tabular/house_16h.csv.gz",
    "diamonds": "tabular/diamonds.csv.gz",
    "spambase": "tabular/spambase.csv.gz",
    "nursery": "tabular/nursery.csv.gz",
    "pol": "tabular/pol.csv.gz",
    "titanic": Path(__file__).parent / "_utils" / "data" / "titanic.csv.gz",  # of seaborn-data
}
_REGRESSION = {"california_housing", "house_16h", "diamonds", "pol"}
_BUNDLED = dict.fromkeys(("adult", "magic", "churn", "phoneme", "spambase"), load_breast_cancer)
_BUNDLED |= dict.fromkeys(_REGRESSION, load_diabetes)  # the others: load_digits
_TEXT = {"adult", "diamonds", "titanic"}  # tables with text, some with missing values


def load(name: str, n_samples: int | None = None, random_state: int = 0) -> Bunch:
    """Load a data set from the data folder, or a similar one bundled with scikit-learn.

    The folder is set by the environment variable ``SKSEARCH_DATA``, and is by default
    ``shared/data`` next to the repository. If it does not contain the file, a data set bundled
    with scikit-learn is used instead, so that examples run anywhere; ``source`` shows which one.
    Nothing is downloaded.

    Parameters
    ----------
    name : str
        "mnist", "fashion_mnist" or "cifar10" (training images as rows, 0 to 1; otherwise digits),
        "digits" (0 to 1), "adult" (DataFrame with text and missing values, needs pandas; otherwise
        breast cancer), "magic", "churn", "phoneme", "spambase" (two classes; otherwise breast
        cancer), "letter", "satimage", "nursery" (26, 6 and 4 classes; otherwise digits),
        "california_housing", "house_16h", "pol" (regression; otherwise diabetes), "diamonds"
        (regression on a DataFrame with text, needs pandas; otherwise diabetes), or "titanic" (two
        classes; a DataFrame with names, tickets and missing values, which is part of this package
        and needs pandas). Rows of "cifar10" are images of 32 x 32 pixels in 3 colours, colours
        last; there are 10,000 in the folder.
    n_samples : int or None, default=None
        Maximum number of rows. Samples are stratified, with at least one row of each class if
        possible. None: all rows.
    random_state : int, default=0
        Seed of the choice of rows. With the same seed, a smaller sample is part of a larger one.

    Returns
    -------
    bunch : Bunch
        ``data``, ndarray or DataFrame of shape (n_samples, n_features); ``target``, ndarray of
        shape (n_samples,); ``name``, the parameter; ``source``, the path of the file or the name
        of scikit-learn's function. Rows are in the order of the source.

    Raises
    ------
    ValueError
        If `name` is not one of the above, or `n_samples` is not a positive int.
    ImportError
        If `name` is "titanic" and pandas is not installed.

    See Also
    --------
    sklearn.datasets : Bundled data sets.

    Examples
    --------
    >>> from sksearch.datasets import load
    >>> digits = load("digits", n_samples=500)
    >>> digits.data.shape, digits.source
    ((500, 64), 'sklearn.datasets.load_digits')
    """
    if name not in _FILES:
        raise ValueError(f"name={name!r} is not a known data set: use one of {', '.join(_FILES)}.")
    if n_samples is not None and (not isinstance(n_samples, Integral) or n_samples < 1):
        raise ValueError(f"n_samples={n_samples!r} must be a positive int, or None for all rows.")
    X, y, source = _read(name) or _bundled(name)
    if n_samples is not None and n_samples < len(y):
        rows = _stratified_rows(
            None if name in _REGRESSION else y, len(y), n_samples, random_state
        )
        X = X.iloc[rows].reset_index(drop=True) if hasattr(X, "iloc") else X[rows]
        y = y[rows]
    if getattr(X, "dtype", None) == np.uint8:  # pixels, four times as large once they are floats
        X = X.astype(np.float32) / 255
    return Bunch(data=X, target=y, name=name, source=source)


def _data_folder() -> Path:
    """Return the path of the data folder, which may not exist."""
    if DATA_VARIABLE in os.environ:
        return Path(os.environ[DATA_VARIABLE])
    return Path(__file__).parents[2] / "shared" / "data"


def _read(name: str) -> tuple[Any, np.ndarray, str] | None:
    """Return X, y and the path of the file; None without the file, or a package to read it."""
    path = _data_folder() / (_FILES[name] or "")
    if _FILES[name] is None or not path.is_file():
        return None
    if path.suffix == ".npz":
        with np.load(path) as arrays:
            X, y = arrays["x_train"], arrays["y_train"]
        return X.reshape(len(X), -1), y.astype(np.int64), str(path)
    if name in _TEXT:
        try:
            import pandas as pd
        except ImportError as error:
            if name in _BUNDLED:
                return None
            raise missing(f"The data set {name!r} needs pandas", "tables") from error
        table = pd.read_csv(path)
        y = table["target"].to_numpy(float if name in _REGRESSION else np.int64)
        return table.drop(columns="target"), y, str(path)
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    y = table[:, -1] if name in _REGRESSION else table[:, -1].astype(np.int64)
    return table[:, :-1], y, str(path)


def _bundled(name: str) -> tuple[np.ndarray, np.ndarray, str]:
    """Return X, y and the name of scikit-learn's function."""
    function = _BUNDLED.get(name, load_digits)
    X, y = function(return_X_y=True)
    if function is load_digits:
        X = (X / 16).astype(np.float32)
    return X, y, f"sklearn.datasets.{function.__name__}"


def _stratified_rows(
    strata: np.ndarray | None, n: int, n_chosen: int, random_state: int
) -> np.ndarray:
    """Return the positions of the chosen rows, in order."""
    order = np.random.default_rng(random_state).permutation(n)
    if strata is not None:
        _, codes, counts = np.unique(strata[order], return_inverse=True, return_counts=True)
        place = np.empty(n)
        for code, count in enumerate(counts):
            # The j-th of m rows is at (j + 1/2) / m of the way, but the first of each class lead.
            place[codes == code] = np.r_[-1, (np.arange(1, count) + 0.5) / count]
        order = order[np.argsort(place, kind="stable")]
    return np.sort(order[:n_chosen])
