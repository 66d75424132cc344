"""Where the resource is folds, ``cv_results_`` has one row a candidate, as that of a grid has."""

import inspect

import numpy as np
import pandas as pd
import pytest
from scipy.stats import loguniform, uniform
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import load_iris
from sklearn.svm import SVC

import sksearch
from sksearch import HyperbandSearchCV, SearchCV, load_history
from sksearch.samplers import RandomSampler
from sksearch.schedulers import FoldRace, FullFidelity

IRIS = load_iris(return_X_y=True)
X, Y = np.arange(60.0).reshape(30, 2), np.arange(30.0)
WIDE = {"C": loguniform(1e-4, 1e3), "gamma": loguniform(1e-5, 1e2)}
ON_FOLDS = ("SearchCV", "HyperbandSearchCV", "ASHASearchCV", "HalvingSearchCV")


class Lucky(RegressorMixin, BaseEstimator):
    """Its score is its quality, and on the first fold 1.5 more for a low quality."""

    def __init__(self, quality=0.5):
        self.quality = quality

    def fit(self, X, y):
        self.rows_ = len(X)
        return self

    def predict(self, X):
        return np.zeros(len(X))

    def score(self, X, y):
        return self.quality + 1.5 * (self.quality < 0.2) * (X[0, 0] == 0)


def race(**params):
    given = {"cv": 5, "n_iter": 20, "random_state": 0} | params
    return SearchCV(SVC(), WIDE, **given).fit(*IRIS)


@pytest.mark.parametrize("name", ON_FOLDS)
def test_each_candidate_has_one_row(name):
    cls = getattr(sksearch.search, name)
    known = inspect.signature(cls).parameters
    sizes = {"n_iter": 20, "n_candidates": 20, "n_iterations": 1}
    given = {key: sizes[key] for key in sizes if key in known}
    search = cls(SVC(), WIDE, resource="folds", cv=5, random_state=0, **given).fit(*IRIS)
    results = search.cv_results_
    ids = results["trial_id"]
    assert sorted(ids) == [trial.id for trial in search.history_.trials]
    for i, trial_id in enumerate(ids):
        trial = search.history_.trials[trial_id]
        n = max(trial.results)
        assert results["n_resources"][i] == n
        splits = [results[f"split{k}_test_score"][i] for k in range(5)]
        assert np.isfinite(splits).tolist() == [k < n for k in range(5)]
        is_whole = n == 5
        assert np.isfinite(results["mean_test_score"][i]) == is_whole
        assert np.isfinite(results["std_test_score"][i]) == is_whole
        if is_whole:
            assert results["mean_test_score"][i] == trial.results[5].score
    assert (results["n_resources"] < 5).any()  # else nothing was tested
    assert len(search.statuses_) == len(search.errors_) == len(ids)


def test_what_is_written_for_a_grid_is_right():
    search = race()
    frame = pd.DataFrame(search.cv_results_)
    assert len(frame) == 20
    first = frame.sort_values("rank_test_score").iloc[0]
    largest = frame.sort_values("mean_test_score", ascending=False).iloc[0]
    assert first["params"] == largest["params"] == search.best_params_
    assert frame["mean_test_score"].max() == search.best_score_
    assert int(frame["mean_test_score"].idxmax()) == search.best_index_
    assert np.nanargmax(search.cv_results_["mean_test_score"]) == search.best_index_
    partial = frame["mean_test_score"].isna()
    assert (
        frame.loc[partial, "rank_test_score"].min() > frame.loc[~partial, "rank_test_score"].max()
    )
    assert list(frame["params"]) == [trial.params for trial in search.history_.trials]


def test_luck_on_the_first_fold_is_not_a_mean():
    search = SearchCV(
        Lucky(), {"quality": uniform(0, 1)}, sampler=RandomSampler(), cv=5, n_iter=30,
        scheduler=FoldRace(30), resource="folds", random_state=0,
    ).fit(X, Y)  # fmt: skip
    results = search.cv_results_
    dropped = results["n_resources"] < 5
    assert results["split0_test_score"][dropped].max() > search.best_score_
    assert np.isnan(results["mean_test_score"][dropped]).all()
    assert search.best_params_["quality"] > 0.2


@pytest.mark.few(1)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_several_metrics_and_training_scores(n_jobs):
    metrics = ["accuracy", "balanced_accuracy"]
    search = race(scoring=metrics, refit="accuracy", return_train_score=True, n_jobs=n_jobs)
    results = search.cv_results_
    dropped = results["n_resources"] < 5
    assert dropped.any()
    for name in (f"{kind}_{metric}" for kind in ("test", "train") for metric in metrics):
        assert np.array_equal(np.isnan(results[f"mean_{name}"]), dropped)
        assert np.array_equal(np.isnan(results[f"std_{name}"]), dropped)
        assert np.isfinite(results[f"split0_{name}"]).all()
    assert np.isfinite(results["mean_fit_time"]).all()


def test_a_checkpoint_and_the_report_have_the_same_rows(tmp_path):
    search = race(checkpoint_dir=tmp_path)
    saved = load_history(tmp_path)
    assert saved.best_index_ == search.best_index_
    for name in (
        "mean_test_score",
        "rank_test_score",
        "n_resources",
        "trial_id",
        "split1_test_score",
    ):
        assert np.array_equal(saved.cv_results_[name], search.cv_results_[name], equal_nan=True)
    assert len(search.to_frame()) == 20


def test_a_function_as_refit_reads_means_over_all_folds():
    """Many begin with ``np.argmax``, for which NaN is the largest."""
    search = race(refit=lambda results: int(np.argmax(results["mean_test_score"])))
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert isinstance(search.plan_.n_candidates, int)
    assert "n_resources" not in search.cv_results_


def test_the_best_at_any_rung_is_refused():
    search = HyperbandSearchCV(SVC(), WIDE, resource="folds", select="best")
    with pytest.raises(ValueError, match="select='best' compares scores of different rungs"):
        search.fit(*IRIS)


def test_whole_fits_have_the_columns_of_a_grid():
    search = SearchCV(SVC(), WIDE, scheduler=FullFidelity(3), random_state=0).fit(*IRIS)
    assert "n_resources" not in search.cv_results_
