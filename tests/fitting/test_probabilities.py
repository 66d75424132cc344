"""Probabilities of lists of models, calibrated on the predictions for the test folds."""

import pickle

import numpy as np
import pytest
from scipy.special import log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification, make_multilabel_classification
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import ShuffleSplit, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from sksearch import HyperbandSearchCV, RandomSearchCV, SearchCV
from sksearch.fitting.run._calibration import Calibrated, Sigmoid, best_map, fit_maps, mapped
from sksearch.model_selection import GridSearchCV, HalvingGridSearchCV

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 3))
ODDS = X @ [1.0, -1.0, 0.5]
Y = np.where(rng.logistic(size=300) < ODDS, "yes", "no")
NEW = rng.normal(size=(2000, 3))
TRUTH = np.where(rng.logistic(size=2000) < NEW @ [1.0, -1.0, 0.5], "yes", "no")
OWN = "the model's own"
TWO = np.column_stack([ODDS > 0, X[:, 0] > 0]).astype(int)
ARGS = {"n_iter": 2, "cv": 3, "random_state": 0}


class Sure(ClassifierMixin, BaseEstimator):
    """A linear model whose probabilities are too sure, or shifted."""

    def __init__(self, C=1.0, times=8.0, shift=0.0, rounds=False):
        self.C, self.times, self.shift, self.rounds = C, times, shift, rounds

    def fit(self, X, y):
        self.linear_ = LogisticRegression(C=self.C).fit(X, y)
        self.classes_ = self.linear_.classes_
        return self

    def predict(self, X):
        return self.linear_.predict(X)

    def predict_proba(self, X):
        logs = self.times * np.log(self.linear_.predict_proba(X))
        logs[:, -1] += self.shift
        shares = softmax(logs, axis=1)
        return np.round(shares, 1) if self.rounds else shares

    def score(self, X, y):
        return -7.0 if len(y) == 5 else super().score(X, y)


LISTS = {
    "too sure": [Sure()],
    "shifted": [Sure(times=1, shift=2)],
    "zeros": [Sure(times=2, rounds=True)],
    "not sure": [Sure(times=0.1)],
    "two": [Sure(), LogisticRegression(C=1e-3)],
    "decision values": [RidgeClassifier()],
    "a dict": {"sure": Sure(), "kernel": SVC(kernel="linear")},
}


#: One row of ten is of class 1.
RARE = make_classification(600, 6, n_informative=3, class_sep=0.5, weights=[0.9], random_state=0)


def ones(labels):
    return [np.ones(len(each)) for each in labels]


def loss(model):
    return log_loss(TRUTH, model.predict_proba(NEW))


@pytest.mark.parametrize("ensemble", [False, True])
@pytest.mark.parametrize("name", LISTS)
def test_probabilities_of_a_list_are_honest_and_its_labels_are_the_models(name, ensemble):
    found = SearchCV(LISTS[name], **ARGS, scoring="accuracy", ensemble=ensemble).fit(X, Y)
    best = found.best_estimator_
    plain = getattr(best, "model", best)
    honest = log_loss(TRUTH, LogisticRegression().fit(X, Y).predict_proba(NEW))
    assert loss(found) < honest + 0.03
    if hasattr(plain, "predict_proba") and isinstance(best, Calibrated):
        assert loss(found) < loss(plain)
    np.testing.assert_array_equal(found.predict(NEW), plain.predict(NEW))
    np.testing.assert_allclose(found.predict_proba(NEW).sum(axis=1), 1)
    np.testing.assert_allclose(np.exp(found.predict_log_proba(NEW)), found.predict_proba(NEW))
    assert "probabilities: " in str(found.report())
    assert found.score(NEW, TRUTH) == np.mean(found.predict(NEW) == TRUTH)
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.predict_proba(NEW), found.predict_proba(NEW))


def classes_and_decisions(n, scales, seed=0):
    """Classes, and decision values of another scale for each class."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(n, len(scales)))
    y = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    return y, logits * scales + np.arange(len(scales))


def test_decision_values_of_several_classes_become_their_probabilities():
    scales, classes = np.array([0.5, 1.0, 2.0, 4.0]), [np.arange(4)]
    y, d = classes_and_decisions(2_000, scales)
    new_y, new_d = classes_and_decisions(2_000, scales, seed=1)
    shares = mapped(new_d, fit_maps(d, y, classes), classes)
    true = softmax((new_d - np.arange(4)) / scales, axis=1)
    assert log_loss(new_y, shares) < log_loss(new_y, true) + 0.01
    sigmoids = [Sigmoid.fit(each, y == k) for k, each in enumerate(d.T)]
    p = np.column_stack([one(np.tile(each[:, np.newaxis], 2))[:, 1]
                         for one, each in zip(sigmoids, new_d.T, strict=True)])  # fmt: skip
    assert log_loss(new_y, shares) < log_loss(new_y, p / p.sum(axis=1, keepdims=True))


def test_a_class_that_was_not_seen_has_no_probability():
    y, d = classes_and_decisions(60, np.ones(3))
    d[:20, 2] = -np.inf
    maps = fit_maps(d, y, [np.arange(3)])
    shares = mapped(d, maps, [np.arange(3)])
    assert np.all(shares[:20, 2] == 0)
    assert np.all(shares[20:] > 0)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    nothing = mapped(np.full((1, 3), -np.inf), maps, [np.arange(3)])
    assert np.isfinite(nothing).all()


@pytest.mark.parametrize("change", ["offsets", "unit", "outlier", "infinite"])
def test_a_map_of_several_classes_does_not_depend_on_units(change):
    classes = [np.arange(3)]
    y, d = classes_and_decisions(300, np.ones(3))
    other = d.copy()
    if change == "offsets":
        other = d + np.array([0, 1e6, -1e6])
    elif change == "unit":
        other = d * 1e200
    else:
        other[0, y[0]] = 1e6 if change == "outlier" else np.inf
    losses = [
        log_loss(y, mapped(each, fit_maps(each, y, classes), classes)) for each in (d, other)
    ]
    assert abs(losses[1] - losses[0]) < 0.01


@pytest.mark.parametrize("values", [np.eye(3)[[0, 1, 2] * 5], np.ones((15, 3))])
def test_extreme_decision_values_have_finite_maps(values):
    (found,) = fit_maps(1e9 * values, np.array([0, 1, 2] * 5), [np.arange(3)])
    shares = found(1e9 * values)
    assert np.isfinite(shares).all()
    if len(np.unique(values)) > 1:
        assert np.all(shares[values == 1] > 0.9)
    else:
        np.testing.assert_allclose(shares, 1 / 3, atol=1e-3)


@pytest.mark.parametrize(
    "search",
    [
        SearchCV(Sure(), {"C": [0.1, 1.0]}, **ARGS),
        GridSearchCV(Sure(), {"C": [0.1, 1.0]}, cv=3),
        RandomSearchCV(Sure(), {"C": [0.1, 1.0]}, **ARGS, ensemble=True),
        SearchCV([Ridge()], **ARGS),
    ],
)
def test_other_searches_keep_the_models_own_probabilities(search):
    y = ODDS if search.estimator.__class__.__name__ == "OneOf" else Y
    search.fit(X, y)
    assert not isinstance(search.best_estimator_, Calibrated)
    assert search._about_probabilities == ""


def test_the_models_own_methods_and_parameters_stay():
    found = SearchCV([("sure", Sure())], {"sure__C": [1.0]}, n_iter=1, cv=3).fit(X, Y)
    best = found.best_estimator_
    assert isinstance(best.model, Sure)
    assert best.score(X[:5], Y[:5]) == found.score(X[:5], Y[:5]) == -7
    assert list(found.classes_) == list(best.linear_.classes_) == ["no", "yes"]
    assert clone(best).fit(NEW, TRUTH).predict_proba(X).shape == (300, 2)
    assert clone(best).set_params(model__C=2.0).model.C == 2


def test_models_with_decision_values_alone_are_scored_by_probabilities():
    models = [("svm", LinearSVC()), ("ridge", RidgeClassifier()), ("sure", Sure())]
    found = SearchCV(models, n_iter=3, cv=3, scoring="neg_log_loss", random_state=0).fit(X, Y)
    assert set(found.statuses_) == {"ok"}
    assert {params["model"] for params in found.cv_results_["params"]} == {*dict(models)}
    assert found.best_params_["model"] != "sure"
    assert np.isfinite(cross_val_score(found, X, Y, cv=2, scoring="neg_log_loss")).all()


@pytest.mark.parametrize(
    ("search", "y", "note"),
    [
        (SearchCV([Sure()], **ARGS), Y, "calibrated by a temperature: log loss 0."),
        (SearchCV([LogisticRegression()], **ARGS), Y, ""),
        (SearchCV([SVC(kernel="linear")], **ARGS), Y, ""),
        (SearchCV([Sure()], **ARGS | {"cv": ShuffleSplit(1, random_state=0)}), Y, "calibrated by"),
        (HyperbandSearchCV([Sure()], resource="n_samples", cv=2, random_state=0), Y, "calibrated"),
        (SearchCV([Sure()], **ARGS, refit=lambda results: 0), Y, "calibrated by"),
        (HalvingGridSearchCV([Sure()], {"sure__C": [0.1, 1]}, cv=2), Y, f"{OWN}: predictions"),
        (SearchCV([KNeighborsClassifier()], **ARGS), TWO, f"{OWN}: only those of a single"),
    ],
)
def test_a_sentence_says_where_probabilities_come_from(search, y, note):
    search.fit(X, y)
    assert search._about_probabilities.startswith(
        note or ("the model's own", "from decision", "c")
    )
    assert f"probabilities: {search._about_probabilities}"[:40] in str(search.report())


def test_a_resumed_search_has_the_same_probabilities(tmp_path):
    first, again = (
        SearchCV([Sure()], **ARGS, checkpoint_dir=tmp_path).fit(X, Y) for _ in range(2)
    )
    np.testing.assert_array_equal(again.predict_proba(NEW), first.predict_proba(NEW))
    assert isinstance(again.best_estimator_, Calibrated)


# ---- the map


def drawn(logits, n_folds=3):
    """Probabilities, and labels drawn from them, by fold."""
    shares = softmax(logits, axis=1)
    k = (rng.random(len(shares))[:, None] > shares.cumsum(axis=1)).sum(axis=1)
    return [*np.array_split(k, n_folds)]


@pytest.mark.parametrize(
    ("change", "n", "names"),
    [
        (lambda z: 4 * z, 600, {"a temperature", "a sigmoid"}),
        (lambda z: z / 4, 600, {"a temperature", "a sigmoid"}),
        (lambda z: z + np.array([2, 0, -1]), 600, {"a sigmoid"}),
        (lambda z: np.where(z > z.mean(), z, z - 9), 3000, {"isotonic regression"}),
    ],
)
def test_the_map_with_the_least_log_loss_on_other_folds_is_taken(change, n, names):
    z = rng.normal(size=(n, 3))
    z -= z.mean(axis=1, keepdims=True)
    y = drawn(log_softmax(2 * z, axis=1))
    given = softmax(change(2 * z), axis=1)
    found = best_map(np.array_split(given, 3), y, np.arange(3), ones(y))
    assert found.name in names
    truth = np.concatenate(y)
    assert found.after < found.before
    assert log_loss(truth, found.map(given)) < log_loss(truth, given)


@pytest.mark.parametrize(
    "shares",
    [
        np.eye(2)[np.arange(60) % 2],  # perfect
        np.eye(2)[(np.arange(60) + 1) % 2],  # all wrong
        np.full((60, 2), 0.5),
        np.eye(2)[np.zeros(60, int)],
    ],
)
@pytest.mark.parametrize("n_folds", [1, 2, 60])
def test_maps_of_extreme_probabilities_are_finite(shares, n_folds):
    y = np.arange(60) % 2
    labels = np.array_split(y, n_folds)
    found = best_map(np.array_split(shares, n_folds), labels, np.arange(2), ones(labels))
    assert found.after <= found.before
    mapped = shares if found.map is None else found.map(shares)
    assert np.isfinite(mapped).all()
    np.testing.assert_allclose(mapped.sum(axis=1), 1)


def test_probabilities_follow_the_weights_of_rows():
    """Wrong labels of weight 0 change nothing, and the rare class of weight 9 is as frequent."""
    X, y = make_classification(
        600, 6, n_informative=3, class_sep=0.5, weights=[0.9], random_state=0
    )
    searches = [
        SearchCV([LogisticRegression(), GaussianNB()], n_iter=6, cv=3, random_state=0),
        SearchCV([LinearSVC()], n_iter=3, cv=3, random_state=0, scoring="neg_log_loss"),
        RandomSearchCV(LinearSVC(), {"C": [0.1, 1]}, n_iter=2, cv=3, ensemble=True),
    ]
    wrong = np.random.default_rng(1).random(600) < 0.5
    weights = np.where(y == 1, 9.0, 1.0), np.where(wrong, 0.0, 1.0)
    for w, labels in zip(weights, (y, np.where(wrong, 1 - y, y)), strict=True):
        model = LogisticRegression().fit(X, labels, sample_weight=w)
        expected = log_loss(labels, model.predict_proba(X), sample_weight=w)
        for search in searches:
            shares = search.fit(X, labels, sample_weight=w).predict_proba(X)
            assert log_loss(labels, shares, sample_weight=w) < 1.1 * expected


def test_weights_are_those_of_the_model_and_not_of_other_steps():
    pipe = make_pipeline(StandardScaler(), LinearSVC())
    search = GridSearchCV(
        pipe, {"linearsvc__C": [0.1, 1]}, cv=3, scoring="neg_log_loss", ensemble=True
    )
    w = np.where(RARE[1] == 1, 9.0, 1.0)
    given = {"linearsvc__sample_weight": w, "standardscaler__sample_weight": np.ones(600)}
    shares = search.fit(*RARE, **given).predict_proba(RARE[0])
    assert (shares[:, 1] > 0.5).mean() > 0.3
    again = search.fit(*RARE, **dict(reversed(given.items()))).predict_proba(RARE[0])
    np.testing.assert_array_equal(again, shares)
    of_scaler = search.fit(*RARE, standardscaler__sample_weight=w).predict_proba(RARE[0])
    assert (of_scaler[:, 1] > 0.5).mean() < 0.1


def test_several_labels_have_probabilities_of_decision_values():
    rows, labels = make_multilabel_classification(200, n_classes=2, random_state=0)
    search = GridSearchCV(RidgeClassifier(), {"alpha": [0.1, 100]}, cv=3, ensemble=True)
    found = search.fit(rows, labels)
    assert found.predict(rows).shape == labels.shape
    assert len(found.ensemble_) == 2 or found.score(rows, labels) > 0.5


def test_a_class_that_a_fold_lacks_does_no_harm():
    shares = softmax(9 * rng.normal(size=(90, 4)), axis=1)
    y = np.sort(rng.integers(0, 4, 90))  # so each fold lacks some
    labels = np.array_split(y, 3)
    found = best_map(np.array_split(shares, 3), labels, np.arange(4), ones(labels))
    assert found.after < found.before
