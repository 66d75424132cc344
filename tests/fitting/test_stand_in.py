"""Stand-ins for fitted models answer for the rows they are asked for, and for no others."""

import copy
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification, make_regression
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier, SGDClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted

from sksearch import RandomSearchCV, SearchCV
from sksearch.fitting.run._known_rows import KnownRows, UnknownRowsError

X, y = make_classification(160, 6, flip_y=0.2, random_state=2)
TREE = DecisionTreeClassifier(random_state=0)
SPACE = {"max_depth": [1, 2, 3, 5, 8], "max_features": [1, 3, 6]}
SETTINGS = {"n_iter": 5, "cv": 3, "random_state": 0, "ensemble": True}


def search(scoring, estimator=TREE, space=SPACE, **kwargs):
    return RandomSearchCV(estimator, space, scoring=scoring, **SETTINGS | kwargs)


# ---- scorers of predictions


def plain(e, X, y):
    return -np.mean((e.predict_proba(X)[:, 1] - y) ** 2)


def sorts(e, X, y):
    i = np.argsort(X[:, 0])
    return plain(e, X[i], y[i])


def batches(e, X, y):
    parts = [e.predict_proba(part)[:, 1] for part in np.array_split(X, 7)]
    return -np.mean((np.concatenate(parts) - y) ** 2)


def asks_row_by_row(e, X, y):
    return -np.mean([(e.predict_proba(X[[i]])[0, 1] - y[i]) ** 2 for i in range(len(X))])


def converts(e, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names of columns
        return plain(e, pd.DataFrame(X).iloc[::-1], y[::-1])


def shuffles(e, X, y):
    i = np.random.default_rng().permutation(len(X))
    return plain(e, X[i].tolist(), y[i])


def asks_twice(e, X, y):
    half = len(X) // 2
    e.predict(X[:half])
    return plain(e, X.copy(), y)


def asks_for_no_row(e, X, y):
    for part in (X[:0], X):
        try:
            score = plain(e, part, y[: len(part)])
        except ValueError:
            assert len(part) == 0
    return score


def takes_logarithms(e, X, y):
    with np.errstate(divide="ignore"):
        return -np.mean((np.exp(e.predict_log_proba(X)[:, 1]) - y) ** 2)


def checks_the_model(e, X, y):
    check_is_fitted(e)
    return plain(e, X, y)


def clones_the_model(e, X, y):
    return plain(copy.deepcopy(e), X, y)


def asks_for_columns_by_name(e, X, y):
    return plain(e, X.reindex(columns=e.feature_names_in_), y)


@pytest.fixture(scope="session")  # long tests of other files may run in between
def expected():
    return search(plain).fit(X, y)


@pytest.mark.few(5)
@pytest.mark.parametrize(
    "scorer",
    [
        sorts, batches, asks_row_by_row, converts, shuffles, asks_twice, asks_for_no_row,
        takes_logarithms, checks_the_model, clones_the_model, asks_for_columns_by_name,
    ],
)  # fmt: skip
def test_rows_may_be_asked_for_in_any_order_and_form(scorer, expected):
    rows = pd.DataFrame(X, columns=[*"abcdef"]) if scorer is asks_for_columns_by_name else X
    found = search(scorer).fit(rows, y)
    assert found.ensemble_.score == pytest.approx(expected.ensemble_.score)
    assert found.ensemble_.alone == pytest.approx(expected.ensemble_.alone)
    assert found.ensemble_.weights == pytest.approx(expected.ensemble_.weights)
    assert len(found.ensemble_) > 1


def logarithmic(e, X, y):
    shares = e.predict_proba(X)[np.arange(len(y)), y]
    return np.mean(np.log(np.maximum(shares, np.finfo(float).eps)))


@pytest.mark.parametrize(
    ("metric", "by_hand"), [("neg_brier_score", plain), ("neg_log_loss", logarithmic)]
)
def test_shares_that_are_equal_to_labels_are_not_taken_for_these(metric, by_hand):
    """Those of full-grown trees, with which choosing begins."""
    rows, labels = make_classification(90, 4, random_state=0)
    expected, found = (
        SearchCV(TREE, scoring=each, **SETTINGS | {"cv": 3}).fit(rows, labels)
        for each in (by_hand, metric)
    )
    assert found.ensemble_.score == pytest.approx(expected.ensemble_.score)


def of_a_part(e, X, y):
    m = X[:, 0] > 0
    return plain(e, X[m], y[m])


def bootstraps(e, X, y):
    i = np.random.choice(len(X), len(X))
    return plain(e, X[i], y[i])


def returns_a_dict(e, X, y):
    return {"a": sorts(e, X, y), "b": 1.0}


@pytest.mark.few(2)
@pytest.mark.parametrize("scorer", [of_a_part, bootstraps, returns_a_dict])
def test_a_part_of_the_rows_is_scored(scorer):
    kwargs = {"refit": "a"} if scorer is returns_a_dict else {}
    found = search(scorer, **kwargs).fit(X, y)
    assert np.isfinite(found.ensemble_.score)
    assert found.ensemble_.alone <= found.best_score_ + 1e-9 or scorer is bootstraps
    assert len(found.ensemble_) > 1


# ---- others


def shifts(e, X, y):
    return plain(e, X + 0.1, y)


def permutes_a_column(e, X, y):
    X = X.copy()
    X[:, 0] = X[::-1, 0]
    return plain(e, X, y)


def changes_in_place(e, X, y):
    X[:, 0] = X[::-1, 0]
    return plain(e, X, y)


def swallows(e, X, y):
    try:
        return plain(e, X + 0.1, y)
    except ValueError:
        return -0.25


def is_fond_of_small_trees(e, X, y):
    return plain(e, X, y) - 0.01 * getattr(e, "get_depth", int)()


def trains_again(e, X, y):
    return cross_val_score(clone(e), X, y, cv=2, scoring=plain, error_score=-9).mean()


def importance(e, X, y):
    return permutation_importance(e, X, y, n_repeats=1, random_state=0).importances_mean.max()


@pytest.mark.parametrize(
    "scorer",
    [
        shifts, permutes_a_column, changes_in_place, swallows, is_fond_of_small_trees,
        trains_again, importance,
    ],
)  # fmt: skip
def test_a_scorer_that_needs_more_turns_averaging_off_with_a_sentence(scorer):
    with pytest.warns(UserWarning, match="best candidate is used alone"):
        found = search(scorer).fit(X, y)
    expected = search(scorer, ensemble=False).fit(X, y)
    assert found.best_score_ == expected.best_score_
    assert found.ensemble_.weights == {found.best_index_: 1.0}
    assert np.array_equal(found.predict(X), expected.predict(X))


class OwnScore(DecisionTreeClassifier):
    def score(self, X, y):
        return -float(np.mean(self.predict(X) != y)) - 0.01 * self.get_depth()


def test_an_own_score_is_not_taken_for_the_accuracy():
    with pytest.warns(UserWarning, match="best candidate is used alone"):
        found = search(None, OwnScore(random_state=0)).fit(X, y)
    assert isinstance(found.best_estimator_, OwnScore)


# ---- rows


FRAME = pd.DataFrame({"a": [1, 2, 3, 4], "b": ["x", None, "y", "x"], "c": [0.5, np.nan, 1, 2]})
ROWS = {
    "floats": np.array([[0.0, np.nan], [1, 2], [3, 4], [-5, 6]]),
    "integers": np.arange(8).reshape(4, 2),
    "frame": FRAME,
    "nullable": FRAME.convert_dtypes(),
    "dates": pd.DataFrame({"t": pd.date_range("2020", periods=4), "n": [1, 2, 3, 4]}),
    "categories": FRAME.astype({"b": "category"}),
    "texts": np.array(["a", "bb", "ccc", "d"], dtype=object),
    "images": np.arange(32.0).reshape(4, 2, 4),
    "csr": sp.csr_array(np.eye(4)),
    "csc": sp.csc_matrix(np.eye(4)),
}


@pytest.mark.parametrize("name", ROWS)
def test_rows_are_found_by_their_content(name):
    rows, table = ROWS[name], np.arange(4.0)
    known, order = KnownRows(rows), np.array([2, 0, 3, 0])
    assert known.entries(rows, table) is table
    some = rows.iloc[order] if hasattr(rows, "iloc") else rows.tocsr()[order] if sp.issparse(
        rows) else rows[order]  # fmt: skip
    assert known.entries(some, table).tolist() == [2, 0, 3, 0]
    if name in ("csr", "csc"):
        some = some.toarray()
    elif hasattr(rows, "iloc"):
        some = some.to_numpy()
    assert known.entries(some, table).tolist() == [2, 0, 3, 0]


@pytest.mark.parametrize("rows", [["a", "bb", "c"], [{"a": 1}, {"a": 2}, {}], [[1], [2, 3], []]])
def test_rows_of_a_list_are_found(rows):
    known = KnownRows(rows)
    assert known.entries([rows[2], rows[0]], np.arange(3)).tolist() == [2, 0]
    with pytest.raises(UnknownRowsError):
        known.entries([rows[0], "other"], np.arange(3))


def test_copies_of_a_row_need_equal_predictions():
    rows = np.array([[1.0], [2], [1]])
    known = KnownRows(rows)
    assert known.entries(rows[::-1], np.array([5.0, 6, 5])).tolist() == [5, 6, 5]
    assert known.entries(rows.copy(), np.array([5.0, 6, 7])).tolist() == [5, 6, 7]
    with pytest.raises(UnknownRowsError, match="copies with different predictions"):
        known.entries(rows[[0]], np.array([5.0, 6, 7]))


@pytest.mark.parametrize("asked", [FRAME[["a", "c"]], FRAME[["b", "a", "c"]], FRAME.assign(a=0)])
def test_other_columns_are_other_rows(asked):
    with pytest.raises(UnknownRowsError):
        KnownRows(FRAME).entries(asked, np.arange(4))


# ---- predictions as they are kept


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "change", [lambda t: t + 1.7e9, lambda t: t - 1e10, lambda t: t + 1e11, lambda t: t * 1e45,
               lambda t: t * 1e-50]
)  # fmt: skip
def test_a_target_of_any_scale_has_the_same_average(change):
    rows, target = make_regression(120, 5, noise=30, random_state=2)
    args = None, KNeighborsRegressor(), {"n_neighbors": [1, 2, 3, 5, 8, 13, 20]}
    expected = search(*args, cv=3).fit(rows, target).ensemble_
    found = search(*args, cv=3).fit(rows, change(target)).ensemble_
    assert found.score == pytest.approx(expected.score, abs=1e-4)
    assert found.weights == pytest.approx(expected.weights)


M = np.arange(160) % 3 == 0


@pytest.mark.parametrize(
    "folds",
    [
        [(~M, M)], [(M, ~M), (~M, M)], [(list(~M), list(M)), (M, ~M)],
        [(np.flatnonzero(~M), M), (M, ~M)], [(pd.Series(~M), pd.Series(M))],
        [(np.arange(80) - 160, np.arange(80) - 80)],
    ],
)  # fmt: skip
def test_folds_may_be_masks(folds):
    numbers = [tuple(np.arange(160)[np.asarray(rows)] for rows in pair) for pair in folds]
    expected, found = (
        search("neg_log_loss", cv=cv, n_iter=3).fit(X, y) for cv in (numbers, folds)
    )
    assert found.best_score_ == expected.best_score_
    assert found.ensemble_.weights == expected.ensemble_.weights


# ---- models without probabilities


WITHOUT = {
    "ridge": (RidgeClassifier(), {"alpha": [0.1, 1.0, 1000.0]}),
    "linear": (LinearSVC(), {"C": [0.01, 0.1, 1.0]}),
    "kernel": (SVC(), {"C": [0.1, 1.0, 10.0]}),
    "hinge": (SGDClassifier(random_state=0), {"alpha": [1e-4, 1e-2, 0.1]}),
    "perceptron": (Perceptron(random_state=0), {"alpha": [1e-4, 1e-2, 0.1], "penalty": ["l2"]}),
    "pipeline": (make_pipeline(StandardScaler(), LinearSVC()), {"linearsvc__C": [0.01, 0.1, 1]}),
    "pairs": (SVC(decision_function_shape="ovo"), {"C": [0.1, 1.0, 10.0]}),
}


@pytest.mark.few(5)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", WITHOUT)
def test_models_without_probabilities_get_them(name, n_classes):
    rows, labels = make_classification(
        200, 6, n_informative=4, n_classes=n_classes, flip_y=0.2, random_state=2
    )
    metrics = ["neg_log_loss", "roc_auc" if n_classes == 2 else "roc_auc_ovr"]
    for metric in metrics:
        found = search(metric, *WITHOUT[name], n_iter=3, cv=3).fit(
            rows, np.array([*"abc"])[labels]
        )
        assert set(found.statuses_) == {"ok"}
        assert found.score(rows, np.array([*"abc"])[labels]) > found.best_score_ - 0.2
        shares = found.predict_proba(rows)
        np.testing.assert_allclose(shares.sum(axis=1), 1)
        assert shares.shape == (200, n_classes)
        assert found.decision_function(rows).shape[0] == 200
        assert list(found.classes_) == [*"abc"[:n_classes]]
        assert is_classifier(found.best_estimator_)


def test_their_probabilities_match_a_calibrated_model():
    rows, labels = make_classification(1000, 8, flip_y=0.2, random_state=2)
    rows, new, labels, truth = train_test_split(rows, labels, random_state=0)
    found = search("roc_auc", SVC(), {"C": [1.0]}, n_iter=1, cv=5).fit(rows, labels)
    plain = CalibratedClassifierCV(SVC(C=1.0), ensemble=False, cv=5).fit(rows, labels)
    losses = [log_loss(truth, model.predict_proba(new)) for model in (found, plain)]
    assert losses[0] == pytest.approx(losses[1], abs=0.01)
    assert np.array_equal(found.predict(new), SVC(C=1.0).fit(rows, labels).predict(new))


@pytest.mark.parametrize("metric", ["roc_auc", "neg_log_loss", "accuracy"])
def test_a_list_has_models_with_and_without_probabilities(metric):
    models = [("linear", LogisticRegression()), ("kernel", SVC()), ("ridge", RidgeClassifier())]
    found = SearchCV(models, **SETTINGS, scoring=metric).fit(X, y)
    assert set(found.statuses_) == {"ok"}
    assert {params["model"] for params in found.cv_results_["params"]} == {*dict(models)}
    assert np.isfinite(found.score(X, y))
    assert found.predict_proba(X).shape == (160, 2)


def test_an_average_is_scored_by_cross_validation():
    inner = search("roc_auc", SVC(), {"C": [0.01, 0.1, 1.0, 10.0]}, n_iter=4, cv=3)
    assert np.isfinite(cross_val_score(inner, X, y, cv=3, scoring="roc_auc")).all()


# ---- models of a list that a metric cannot score


@pytest.mark.parametrize(
    ("scoring", "kwargs"),
    [
        ("neg_log_loss", {}), ("neg_brier_score", {}), ("roc_auc", {}),
        ({"a": "accuracy", "b": "neg_log_loss"}, {"refit": "b"}),
        ("neg_log_loss", {"param_distributions": {"linear": {"C": [0.1, 1.0]}, "ridge": {}}}),
    ],
)  # fmt: skip
def test_models_that_cannot_be_scored_get_probabilities(scoring, kwargs):
    models = [("kernel", SVC()), ("linear", LogisticRegression()), ("ridge", RidgeClassifier())]
    found = SearchCV(models, n_iter=4, cv=3, random_state=0, scoring=scoring, **kwargs)
    found.fit(X, y)
    assert {params["model"] for params in found.cv_results_["params"]} == {*dict(models)}
    assert set(found.statuses_) == {"ok"}
    assert found.predict_proba(X).shape == (160, 2)
