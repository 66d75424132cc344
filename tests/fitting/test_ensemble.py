"""The best candidates of a search averaged: which they are, and that nothing is trained for it."""

import pickle
import signal
import threading
import warnings
from concurrent.futures import ProcessPoolExecutor

import joblib
import numpy as np
import pytest
from scipy.stats import loguniform, uniform
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from sksearch import (
    ASHASearchCV,
    BOHBSearchCV,
    Bound,
    HyperbandSearchCV,
    IncrementalEvaluationSearchCV,
    PASHASearchCV,
    RandomSearchCV,
    SuccessiveHalvingSearchCV,
    TPESearchCV,
)
from sksearch.executors import FuturesBackend
from sksearch.fitting import AveragedClassifier, AveragedRegressor
from tests import interrupted
from tests.fakes import Curve, Failing
from tests.interrupted import Guessing, Trouble, scorer

pytestmark = pytest.mark.timeout(120)

X, y = load_iris(return_X_y=True)
SCALED = StandardScaler().fit_transform(X)
NAMES = np.array(["setosa", "versicolor", "virginica"])[y]
FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)
EPOCHS = {"resource": "epochs", "max_resources": 9}


def chosen(search, size):
    """Rows of the ensemble, looked up by hand."""
    results = search.cv_results_
    order = np.argsort(results["rank_test_score"], kind="stable")
    if search.plan_.any_rung_wins:  # the best row of each candidate
        first = {results["trial_id"][i]: i for i in order[::-1]}
        return [i for i in order if first[results["trial_id"][i]] == i][:size]
    top = results.get("n_resources", np.ones(len(order)))
    return [i for i in order if top[i] == top[search.best_index_]][:size]


# ---- it is what it says


def by_epochs(estimator, X, y, n_epochs):
    estimator.random_state = np.random.RandomState(estimator.random_state)  # one for all epochs
    for _ in range(n_epochs):
        estimator.partial_fit(X, y, classes=np.unique(NAMES))
    return estimator


SGD = SGDClassifier(loss="log_loss", random_state=0)
FOREST = RandomForestClassifier(random_state=0)
ALPHA = {"alpha": loguniform(1e-5, 1e-1)}
DEPTH = {"max_features": uniform(0.1, 0.9)}
HOWS = {
    "whole fits": (RandomSearchCV, SGD, ALPHA, {}, SGDClassifier.fit),
    "epochs": (HyperbandSearchCV, SGD, ALPHA, EPOCHS, by_epochs),
    "rows": (HyperbandSearchCV, SGD, ALPHA, {"resource": "n_samples"}, SGDClassifier.fit),
    "epochs, the top rung": (
        HyperbandSearchCV, SGD, ALPHA, {**EPOCHS, "select": "top"}, by_epochs,
    ),
    "trees": (
        HyperbandSearchCV, FOREST, DEPTH, {"resource": "n_estimators", "max_resources": 9},
        RandomForestClassifier.fit,
    ),
    "folds": (
        SuccessiveHalvingSearchCV, SGD, ALPHA, {"resource": "folds", "n_candidates": 9},
        SGDClassifier.fit,
    ),
}  # fmt: skip


@pytest.mark.parametrize("how", HOWS)
def test_it_is_the_mean_over_the_best_candidates_and_their_folds(how):
    cls, estimator, space, kwargs, train = HOWS[how]
    search = cls(
        estimator, space, cv=FOLDS, random_state=0, refit=False, ensemble_size=3, **kwargs
    ).fit(SCALED, NAMES)
    rows, probabilities = chosen(search, 3), []
    for row in rows:
        for train_rows, _ in FOLDS.split(X, y):
            model = clone(estimator).set_params(**search.cv_results_["params"][row])
            n = (search.cv_results_["n_resources"][row],) if train is by_epochs else ()
            train(model, SCALED[train_rows], NAMES[train_rows], *n)
            probabilities.append(model.predict_proba(SCALED))
    ensemble = search.ensemble_
    np.testing.assert_allclose(ensemble.predict_proba(SCALED), np.mean(probabilities, axis=0))
    assert list(ensemble.classes_) == list(np.unique(NAMES))
    assert ensemble.score(SCALED, NAMES) > 0.9
    assert len(ensemble.models) == 3 * 3


def test_of_a_hold_out_there_is_one_model_for_each_candidate():
    cv = [train_test_split(np.arange(150), test_size=0.3, random_state=0)]
    search = RandomSearchCV(SGD, ALPHA, cv=cv, random_state=0, ensemble_size=4).fit(X, NAMES)
    assert len(search.ensemble_.models) == 4


def test_who_breaks_a_bound_is_not_in_it():
    args = DecisionTreeClassifier(random_state=0), {"max_leaf_nodes": [2, 3, 4, 5]}
    search = RandomSearchCV(
        *args, n_iter=4, cv=2, constraints=Bound("score", ">=", 0.8), ensemble_size=4
    ).fit(X, y)
    n_kept = int((search.cv_results_["violation"] == 0).sum())
    assert 0 < n_kept < 4
    assert len(search.ensemble_.models) == 2 * n_kept


def test_predictions_of_the_search_are_those_of_its_best_estimator():
    search = RandomSearchCV(SGD, ALPHA, random_state=0, ensemble_size=4).fit(X, NAMES)
    same = RandomSearchCV(SGD, ALPHA, random_state=0).fit(X, NAMES)
    assert not hasattr(same, "ensemble_")
    np.testing.assert_array_equal(search.predict_proba(X), same.predict_proba(X))


def test_there_are_no_more_candidates_than_got_as_much_as_the_best():
    search = HyperbandSearchCV(
        SGD, ALPHA, cv=2, random_state=0, ensemble_size=99, select="top", **EPOCHS
    )
    n_top = search.fit(X, y).cv_results_["n_resources"].tolist().count(9)
    assert len(search.ensemble_.models) == 2 * n_top
    search.set_params(select="best").fit(X, y)
    assert len(search.ensemble_.models) == 2 * len(search.history_.trials)


@pytest.mark.parametrize("cls", [ASHASearchCV, PASHASearchCV, BOHBSearchCV, TPESearchCV])
def test_every_kind_of_search_has_one(cls):
    kwargs = {} if cls is TPESearchCV else EPOCHS
    search = cls(SGD, ALPHA, cv=2, random_state=0, ensemble_size=2, **kwargs).fit(X, y)
    assert len(search.ensemble_.models) == 2 * len(chosen(search, 2))
    assert search.ensemble_.score(X, y) > 0.6


def test_of_incremental_evaluation_the_last_rung_is_below_the_maximum():
    search = IncrementalEvaluationSearchCV(
        Guessing(), {"quality": uniform()}, budget=40, cv=2, random_state=0, refit=False,
        ensemble_size=2, select="top", **EPOCHS,
    ).fit(interrupted.X, interrupted.Y)  # fmt: skip
    assert search.cv_results_["n_resources"].max() < 9
    assert len(search.ensemble_.models) == 2


def test_equals_are_in_the_order_of_best_index():
    space = {"quality": [0.5], "other": [3, 1, 2, 0]}
    search = RandomSearchCV(Curve(), space, n_iter=4, cv=2, ensemble_size=2, random_state=0)
    params = search.fit(X, y).cv_results_["params"]
    taken = [model.other for model in search.ensemble_.models]
    assert taken == [params[0]["other"]] * 2 + [params[1]["other"]] * 2
    assert search.best_index_ == 0


@pytest.mark.filterwarnings("ignore:param_distributions")
def test_a_list_that_names_a_candidate_twice_has_it_once():
    search = RandomSearchCV(Curve(), {"quality": [0.1, 0.7, 0.7]}, n_iter=3, ensemble_size=2)
    assert [m.quality for m in search.fit(X, y).ensemble_.models] == [0.7] * 5 + [0.1] * 5


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning", "ignore:One or more")
@pytest.mark.parametrize("error_score", [np.nan, 9.0])
def test_who_failed_is_not_in_it(error_score):
    space = {"quality": [0.2, 0.4, 0.6, 0.8]}
    search = RandomSearchCV(
        Failing(), space, n_iter=4, cv=2, ensemble_size=3, error_score=error_score
    ).fit(X, y)
    assert sorted({model.quality for model in search.ensemble_.models}) == [0.2, 0.4]


@pytest.mark.filterwarnings("ignore:One or more", "ignore:No candidate has a finite score, so the")
def test_without_any_score_there_is_none():
    search = RandomSearchCV(
        Curve(), {"quality": [0.2, 0.4]}, n_iter=2, scoring=lambda *args: np.nan, ensemble_size=1
    )
    with pytest.warns(UserWarning, match="ensemble_ is not set"):
        search.fit(X, y)
    assert not hasattr(search, "ensemble_")


@pytest.mark.parametrize(
    ("refit", "metric"),
    [("low", "low"), ("high", "high"), (False, "high"), (lambda results: 2, "high")],
)
def test_the_metric_that_was_optimised_says_who_is_best(refit, metric):
    scoring = {"high": lambda e, X, y: e.quality, "low": lambda e, X, y: -e.quality}
    search = RandomSearchCV(
        Curve(), {"quality": [0.1, 0.2, 0.3, 0.4]}, n_iter=4, cv=2, scoring=scoring, refit=refit,
        ensemble_size=2,
    ).fit(X, y)  # fmt: skip
    expected = {"high": [0.4, 0.3], "low": [0.1, 0.2]}[metric]
    assert [model.quality for model in search.ensemble_.models[::2]] == expected


@pytest.mark.parametrize("kwargs", [EPOCHS, {"resource": "n_samples"}])
def test_when_time_is_up_it_is_of_those_who_came_furthest(kwargs):
    search = HyperbandSearchCV(SGD, ALPHA, cv=2, timeout=1e-9, ensemble_size=3, **kwargs)
    search.fit(X, y)
    assert len(search.ensemble_.models) == 2 * len(search.cv_results_["params"]) == 2


# ---- nothing is trained for it, and nothing more is kept


SPACE = {"quality": uniform()}
SEARCHES = {
    "whole fits": (RandomSearchCV, {"n_iter": 12}),
    "epochs": (HyperbandSearchCV, EPOCHS),
    "rows": (HyperbandSearchCV, {"resource": "n_samples", "min_resources": 2}),
    "folds": (SuccessiveHalvingSearchCV, {"resource": "folds", "cv": 9}),
}


def make(name, **kwargs):
    cls, defaults = SEARCHES[name]
    log = None if kwargs.get("log") is None else str(kwargs["log"])
    kwargs.pop("log", None)
    kwargs = {"cv": 2, "random_state": 0, "scoring": scorer, "refit": False} | defaults | kwargs
    return cls(Guessing(log=log), SPACE, **{"ensemble_size": 2} | kwargs)


def fit(search):
    return search.fit(interrupted.X, interrupted.Y)


def bits(search):
    return search.ensemble_.predict_proba(interrupted.X).tobytes()


def n_steps(log):
    return len(log.read_text().splitlines()) if log.exists() else 0


@pytest.mark.parametrize("name", SEARCHES)
def test_nothing_is_trained_again(name, tmp_path):
    fit(make(name, log=tmp_path / "with"))
    fit(make(name, log=tmp_path / "without", ensemble_size=None))
    assert n_steps(tmp_path / "with") == n_steps(tmp_path / "without")


@pytest.mark.parametrize("name", SEARCHES)
def test_what_is_lost_is_trained_again_with_the_same_bits(name, monkeypatch):
    expected = fit(make(name))
    monkeypatch.setattr("sksearch.fitting._run.models_of", lambda states, best: {})
    assert bits(fit(make(name))) == bits(expected)


@pytest.mark.slow
@pytest.mark.parametrize("name", SEARCHES)
def test_the_count_of_workers_changes_nothing(name):
    expected = bits(fit(make(name)))
    assert bits(fit(make(name, n_jobs=2))) == expected


@pytest.mark.slow
def test_threads_and_pools_change_nothing():
    # Threads share the global generators, hence the seed of its own.
    search = HyperbandSearchCV(SGD, ALPHA, cv=2, random_state=0, ensemble_size=2, **EPOCHS)
    expected = search.fit(X, y).ensemble_.predict_proba(X).tobytes()
    with joblib.parallel_config("threading", n_jobs=2):
        assert search.fit(X, y).ensemble_.predict_proba(X).tobytes() == expected
    with (
        ProcessPoolExecutor(1) as pool,
        joblib.parallel_config(FuturesBackend(pool), n_jobs=1),
    ):
        assert search.fit(X, y).ensemble_.predict_proba(X).tobytes() == expected


def test_models_that_cannot_leave_their_process_are_trained_again_here():
    class Locked(Guessing):
        def partial_fit(self, X, y, classes=None):
            self.lock_ = threading.Lock()
            return super().partial_fit(X, y, classes)

    def search(n_jobs):
        return RandomSearchCV(
            Locked(), SPACE, n_iter=4, cv=2, random_state=0, refit=False, ensemble_size=2,
            n_jobs=n_jobs,
        )  # fmt: skip

    with pytest.warns(UserWarning, match="cannot travel"):
        elsewhere = fit(search(2))
    assert bits(elsewhere) == bits(fit(search(1)))


def test_in_memory_there_are_the_best_and_who_runs():
    most = []

    def count(estimator, X, y):
        most.append(len(Guessing.alive))
        return estimator.score(X, y)

    Guessing.alive.clear()
    search = fit(make("whole fits", scoring=count, n_iter=30))
    assert max(most) <= (2 + 1) * 2
    assert len(Guessing.alive) == len(search.ensemble_.models) == 4


@pytest.mark.parametrize("name", ["whole fits", "epochs"])
def test_on_disk_there_are_the_best_and_in_the_end_nobody_else(name, tmp_path):
    most = []

    def count(estimator, X, y):
        most.append(len(list((tmp_path / "states").iterdir())))
        return estimator.score(X, y)

    n_going_on = 2 * 9 if name == "epochs" else 0
    fit(make(name, scoring=count, checkpoint_dir=tmp_path))
    assert max(most) <= (2 + 1) * 2 + n_going_on
    assert len(list((tmp_path / "states").iterdir())) == 4


# ---- it goes on


@pytest.fixture
def calm():
    """No trouble afterwards."""
    yield
    Trouble.after = None


@pytest.mark.slow
@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_that_was_interrupted_has_the_ensemble_of_one_that_was_not(name, calm, tmp_path):
    expected = fit(make(name, log=tmp_path / "undisturbed"))
    search = make(name, log=tmp_path / "log", checkpoint_dir=tmp_path / "checkpoint")
    for after in (7, 5, 3):
        Trouble.after, Trouble.happens = after, lambda: signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            fit(search)
        assert not hasattr(search, "ensemble_")
    assert bits(fit(search)) == bits(expected)
    n_again = n_steps(tmp_path / "log") - n_steps(tmp_path / "undisturbed")
    assert n_again <= 3 * 9  # one evaluation for each interrupt, of nine steps at most


def test_the_fit_of_a_finished_search_trains_nothing(tmp_path):
    search = make("epochs", log=tmp_path / "log", checkpoint_dir=tmp_path / "checkpoint")
    expected, n_before = bits(fit(search)), n_steps(tmp_path / "log")
    assert bits(fit(search)) == expected
    assert n_steps(tmp_path / "log") == n_before


def test_files_that_are_gone_or_damaged_are_trained_again(tmp_path):
    search = make("epochs", checkpoint_dir=tmp_path)
    expected = bits(fit(search))
    gone, damaged, *_ = (tmp_path / "states").iterdir()
    gone.unlink()
    damaged.write_bytes(b"nothing")
    assert bits(fit(search)) == expected


@pytest.mark.parametrize(("before", "after"), [(None, 2), (1, 3), (3, 1)])
def test_the_size_may_change_when_all_is_done(before, after, tmp_path):
    search = make("epochs", checkpoint_dir=tmp_path, ensemble_size=before)
    fit(search)
    fit(search.set_params(ensemble_size=after))
    assert bits(search) == bits(fit(make("epochs", ensemble_size=after)))
    fit(search.set_params(ensemble_size=None))
    assert not hasattr(search, "ensemble_")
    assert list((tmp_path / "states").iterdir()) == []


def test_a_search_that_is_extended_has_the_ensemble_of_the_larger_one(tmp_path):
    fit(make("whole fits", checkpoint_dir=tmp_path, n_iter=6))
    larger = fit(make("whole fits", checkpoint_dir=tmp_path, n_iter=12))
    assert bits(larger) == bits(fit(make("whole fits", n_iter=12)))


# ---- what can be averaged


def test_it_pickles_with_the_search_and_survives_a_clone():
    search = RandomSearchCV(SGD, ALPHA, cv=2, random_state=0, ensemble_size=2).fit(X, NAMES)
    expected = search.ensemble_.predict_proba(X)
    again = pickle.loads(pickle.dumps(search)).ensemble_
    for same in (again, clone(search.ensemble_), clone(search.ensemble_).fit(X[:5], NAMES[:5])):
        np.testing.assert_array_equal(same.predict_proba(X), expected)
    assert search.ensemble_.n_features_in_ == 4


@pytest.mark.parametrize("labels", [NAMES, y == 2, y * 10 - 5, NAMES.astype(object)])
@pytest.mark.parametrize("model", [LogisticRegression(max_iter=1000), LinearSVC()])
def test_labels_are_of_any_type(labels, model):
    pipe = make_pipeline(StandardScaler(), model)
    space = {f"{pipe.steps[-1][0]}__C": loguniform(0.1, 10)}
    search = RandomSearchCV(pipe, space, n_iter=3, cv=2, random_state=0, ensemble_size=2)
    ensemble = search.fit(X, labels).ensemble_
    assert ensemble.score(X, labels) > 0.9
    assert hasattr(ensemble, "predict_proba") == hasattr(model, "predict_proba")
    assert set(ensemble.predict(X)) <= set(labels)


def test_where_one_model_has_no_probabilities_all_vote():
    a, b = LinearSVC().fit(X, NAMES), GaussianNB().fit(X[:100], NAMES[:100])
    c = KNeighborsClassifier().fit(X, NAMES)
    votes = np.array([model.predict(X) for model in (a, b, c)])
    expected = [max(sorted(set(row)), key=list(row).count) for row in votes.T]
    ensemble = AveragedClassifier([a, b, c])
    assert list(ensemble.predict(X)) == expected
    assert not hasattr(ensemble, "predict_proba")


def test_a_class_that_a_fold_lacks_gets_nothing_from_its_model():
    cv = KFold(3)  # iris is sorted, so each fold trains on two of three classes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = RandomSearchCV(
            GaussianNB(), {"var_smoothing": loguniform(1e-9, 1e-3)}, n_iter=2, cv=cv,
            scoring=lambda model, X, y: model.var_smoothing, ensemble_size=1, random_state=0,
        ).fit(X, NAMES)  # fmt: skip
    probabilities = search.ensemble_.predict_proba(X)
    assert list(search.ensemble_.classes_) == list(np.unique(NAMES))
    assert (probabilities <= 2 / 3 + 1e-9).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert search.ensemble_.score(X, NAMES) > 0.9


@pytest.mark.parametrize("targets", [X[:, 3], X[:, 2:]])
def test_regressors_are_averaged_also_of_several_targets(targets):
    search = RandomSearchCV(
        Ridge(), {"alpha": loguniform(1e-3, 1)}, n_iter=4, cv=2, random_state=0, ensemble_size=2
    ).fit(X[:, :2], targets)
    predictions = [model.predict(X[:, :2]) for model in search.ensemble_.models]
    assert isinstance(search.ensemble_, AveragedRegressor)
    np.testing.assert_allclose(search.ensemble_.predict(X[:, :2]), np.mean(predictions, axis=0))
    assert len(predictions) == 4


def test_names_of_columns_are_known():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=list("abcd"))
    search = RandomSearchCV(SGD, ALPHA, n_iter=2, cv=2, ensemble_size=1).fit(frame, y)
    assert list(search.ensemble_.feature_names_in_) == list("abcd")
    assert search.ensemble_.predict(frame).shape == (150,)


def test_it_is_an_estimator_among_others():
    X, y = load_digits(return_X_y=True)
    models = [DecisionTreeClassifier(max_depth=d).fit(X[:900], y[:900]) for d in (5, 9)]
    frozen = AveragedClassifier([FrozenEstimator(model) for model in models])
    grid = GridSearchCV(make_pipeline(frozen), {}, cv=2).fit(X[900:], y[900:])
    assert grid.best_score_ == pytest.approx(frozen.score(X[900:], y[900:]), abs=0.01)


@pytest.mark.parametrize("size", [0, -1, 1.5, "all"])
def test_a_size_that_is_none_is_refused_before_anything_is_spent(size):
    Curve.n_calls = 0
    with pytest.raises(ValueError, match="ensemble_size"):
        RandomSearchCV(Curve(), {"quality": [0.5]}, n_iter=1, ensemble_size=size).fit(X, y)
    assert Curve.n_calls == 0


class Scored(ClassifierMixin, BaseEstimator):
    """May not be trained."""

    def __init__(self, a=0):
        self.a = a

    def fit(self, X, y):
        raise AssertionError


@pytest.mark.parametrize(
    ("estimator", "space", "y", "match"),
    [
        (KMeans(), {"n_init": [1, 2]}, None, "neither a classifier nor a regressor"),
        (Scored(), {"a": [1, 2]}, np.column_stack([y, y]), "one target column"),
    ],
)
def test_what_cannot_be_averaged_is_refused_before_anything_is_spent(estimator, space, y, match):
    with pytest.raises(ValueError, match=match):
        RandomSearchCV(estimator, space, n_iter=2, ensemble_size=2).fit(X, y)
