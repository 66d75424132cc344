"""CatBoost leaves no files behind, unless its user wants them, and nobody sees a difference."""

import os

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sksearch import RandomSearchCV, SearchCV

catboost = pytest.importorskip("catboost", reason="catboost is not installed")
X, Y = load_iris(return_X_y=True)
PARAMS = {"iterations": 3, "verbose": False, "thread_count": 1, "random_seed": 0}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def model(**params):
    return catboost.CatBoostClassifier(**PARAMS, **params)


@pytest.mark.few(3)
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        (model(), "depth"),
        (make_pipeline(StandardScaler(), model()), "catboostclassifier__depth"),
        (OneVsRestClassifier(model()), "estimator__depth"),
    ],
    ids=["alone", "pipeline", "one against the rest"],
)
def test_nothing_is_left_and_the_best_is_as_if_trained_by_hand(folder, estimator, name, n_jobs):
    search = RandomSearchCV(estimator, {name: [2, 3]}, n_iter=2, cv=2, n_jobs=n_jobs).fit(X, Y)
    assert os.listdir(folder) == []
    best = search.best_estimator_
    assert "allow_writing_files" not in repr(best.get_params())
    for part in getattr(best, "estimators_", []):
        assert "allow_writing_files" not in part.get_params()
    by_hand = clone(estimator).set_params(**search.best_params_).fit(X, Y)
    np.testing.assert_array_equal(best.predict_proba(X), by_hand.predict_proba(X))
    assert best.get_params().keys() == by_hand.get_params().keys()


def test_nothing_is_left_where_training_continues(folder):
    search = SearchCV(
        model(learning_rate=0.1), {"depth": [2, 3]}, resource="iterations", max_resources=4,
        n_iter=2, cv=2, random_state=0,
    ).fit(X, Y)  # fmt: skip
    assert os.listdir(folder) == []
    assert "allow_writing_files" not in search.best_estimator_.get_params()


@pytest.mark.parametrize("own", [{"train_dir": "mine"}, {"allow_writing_files": True}])
def test_who_wants_files_gets_them(folder, own):
    search = RandomSearchCV(model(**own), {"depth": [2]}, n_iter=1, cv=2).fit(X, Y)
    assert os.listdir(folder) == [own.get("train_dir", "catboost_info")]
    assert search.best_estimator_.get_params().items() >= own.items()


def test_a_folder_that_was_there_is_left_alone(folder):
    (folder / "catboost_info").mkdir()
    (folder / "catboost_info" / "mine").touch()
    RandomSearchCV(model(), {"depth": [2]}, n_iter=1, cv=2).fit(X, Y)
    assert os.listdir(folder / "catboost_info") == ["mine"]
