"""Predictions for each row by models that have not seen it, trained as in the search."""

import pickle

import numpy as np
import pytest
from scipy.stats import loguniform, randint
from sklearn.datasets import load_diabetes, load_iris, make_classification
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import KFold, RepeatedKFold, ShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from sksearch import HyperbandSearchCV, RandomSearchCV, SearchCV
from sksearch.fitting.run._folds import freeze_folds
from sksearch.space import Outcome

X, Y = make_classification(150, 6, n_informative=4, n_classes=3, flip_y=0.1, random_state=0)
SGD = SGDClassifier(loss="log_loss", random_state=None), {"alpha": loguniform(1e-6, 1)}
FOREST = RandomForestClassifier(random_state=0), {"min_samples_leaf": randint(1, 20)}
KNN = KNeighborsClassifier(), {"n_neighbors": randint(1, 9)}
BOOSTING = HistGradientBoostingClassifier(random_state=0), {"max_iter": Outcome(20)}
ARGS = {"cv": 3, "random_state": 0}
UNSEEN = pytest.mark.filterwarnings("ignore:cv. fold 0 tests only classes:UserWarning")
CASES = {
    "whole": RandomSearchCV(*KNN, n_iter=5, **ARGS),
    "epochs": HyperbandSearchCV(*SGD, resource="epochs", max_resources=9, **ARGS),
    "trees": HyperbandSearchCV(*FOREST, resource="n_estimators", max_resources=9, **ARGS),
    "rows": HyperbandSearchCV(*KNN, resource="n_samples", **ARGS),
    "folds": SearchCV(*KNN, n_iter=6, resource="folds", **ARGS),
    "outcome": RandomSearchCV(
        BOOSTING[0], BOOSTING[1] | {"learning_rate": loguniform(0.05, 1)}, n_iter=3, **ARGS
    ),
}


def fold_scores(search, predictions, score, y=Y):
    """Scores of the predictions on the test rows of each fold."""
    splits = freeze_folds(search.cv, search.estimator, X, y, {})
    return [score(y[test], predictions[test]) for _, test in splits]


def seen(search):
    """Scores of the winner on the folds, as the search saw them."""
    results = search.cv_results_
    return [results[f"split{k}_test_score"][search.best_index_] for k in range(search.n_splits_)]


@pytest.mark.few(4)
@pytest.mark.parametrize("name", CASES)
def test_the_winners_predictions_have_the_scores_that_the_search_saw(name):
    search = CASES[name].fit(X, Y)
    given = search.out_of_fold(X, Y)
    assert given.shape == (150, 3)
    np.testing.assert_allclose(given.sum(axis=1), 1)
    labels = search.classes_[given.argmax(axis=1)]
    assert fold_scores(search, labels, accuracy_score) == pytest.approx(seen(search), abs=1e-12)


def test_several_candidates_stand_side_by_side_best_first():
    search = CASES["epochs"].fit(X, Y)
    three = search.out_of_fold(X, Y, n=3)
    assert three.shape == (150, 9)
    np.testing.assert_array_equal(three[:, :3], search.out_of_fold(X, Y))
    frame = search.to_frame()
    for k in range(3):
        labels = search.classes_[three[:, 3 * k : 3 * k + 3].argmax(axis=1)]
        mean = np.mean(fold_scores(search, labels, accuracy_score))
        assert mean == pytest.approx(frame["score"].iloc[k], abs=1e-12)


@pytest.mark.whole
def test_they_train_a_better_stack_than_what_has_seen_its_rows():
    search = CASES["trees"].fit(X, Y)
    features = search.out_of_fold(X, Y, n=4)
    honest = LogisticRegression(max_iter=1000).fit(features, Y).score(features, Y)
    assert honest < search.score(X, Y), "no model has seen the rows that it predicts"


def test_any_count_of_workers_gives_the_same():
    search = CASES["epochs"].fit(X, Y)
    expected = search.out_of_fold(X, Y)
    again = pickle.loads(pickle.dumps(search)).set_params(n_jobs=2)
    np.testing.assert_array_equal(again.out_of_fold(X, Y), expected)


def test_a_regression_has_one_column():
    X, y = load_diabetes(return_X_y=True)
    search = RandomSearchCV(Ridge(), {"alpha": loguniform(0.01, 10)}, n_iter=3, **ARGS).fit(X, y)
    given = search.out_of_fold(X, y)
    splits = freeze_folds(3, search.estimator, X, y, {})
    scores = [r2_score(y[test], given[test]) for _, test in splits]
    assert scores == pytest.approx(seen(search))
    assert search.out_of_fold(X, y, n=2).shape == (len(y), 2)


def test_rows_that_several_folds_test_have_their_mean():
    cv = RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)
    search = RandomSearchCV(*KNN, n_iter=2, cv=cv, random_state=0).fit(X, Y)
    np.testing.assert_allclose(search.out_of_fold(X, Y).sum(axis=1), 1)
    with pytest.raises(ValueError, match="labels cannot be averaged"):
        search.out_of_fold(X, Y, method="predict")
    search.fit(X, Y.astype(float))
    with pytest.raises(ValueError, match="labels cannot be averaged"):
        search.out_of_fold(X, Y.astype(float), method="predict")


def test_several_outputs_stand_side_by_side():
    labels = np.column_stack([Y > 0, Y == 1]).astype(int)
    search = RandomSearchCV(*KNN, n_iter=2, **ARGS).fit(X, labels)
    given = search.out_of_fold(X, labels)
    splits = freeze_folds(3, search.estimator, X, labels, {})
    _, test = splits[0]
    model = search.best_estimator_.fit(X[splits[0][0]], labels[splits[0][0]])
    np.testing.assert_allclose(given[test], np.hstack(model.predict_proba(X[test])))


def test_labels_are_given_as_they_are():
    y = np.array(["a", "bb", "ccc"])[load_iris().target]
    data = load_iris().data
    search = RandomSearchCV(*KNN, n_iter=2, **ARGS).fit(data, y)
    given = search.out_of_fold(data, y, method="predict")
    assert set(given) == {"a", "bb", "ccc"}
    assert np.mean(given == y) > 0.8


@UNSEEN
def test_a_class_that_a_fold_has_not_seen_has_its_own_column():
    y = np.r_[np.zeros(50), np.ones(50), np.full(50, 2)].astype(int)
    search = RandomSearchCV(*KNN, n_iter=2, cv=KFold(3), random_state=0).fit(X, y)
    given = search.out_of_fold(X, y)
    assert given.shape == (150, 3)
    assert (given[:50, 0] == 0).all()


@UNSEEN
def test_of_two_classes_that_a_fold_has_seen_the_decision_has_two_columns():
    y = np.repeat([0, 1, 2], 50)
    search = RandomSearchCV(SVC(), {"C": [1.0]}, n_iter=1, cv=KFold(3)).fit(X, y)
    given = search.out_of_fold(X, y)
    decision = SVC().fit(X[50:], y[50:]).decision_function(X[:50])
    np.testing.assert_allclose(given[:50, 2], decision)
    np.testing.assert_allclose(given[:50, 1], -decision)
    assert (given[:50, 0] == given[:50].min()).all()


def test_decisions_of_pairs_of_classes_are_given_as_they_are():
    data, y = make_classification(120, 6, n_informative=4, n_classes=4, random_state=0)
    search = RandomSearchCV(
        SVC(decision_function_shape="ovo"), {"C": [1.0]}, n_iter=1, cv=3
    ).fit(data, y)  # fmt: skip
    assert search.out_of_fold(data, y).shape == (120, 6)


def test_folds_that_cannot_be_made_again_are_refused():
    search = RandomSearchCV(*KNN, n_iter=2, cv=KFold(3, shuffle=True)).fit(X, Y)
    with pytest.raises(ValueError, match="cv does not reproduce the folds"):
        search.out_of_fold(X, Y)
    with pytest.raises(ValueError, match="cv does not reproduce the folds"):
        CASES["whole"].fit(X, Y).out_of_fold(X[:100], Y[:100])
    part = RandomSearchCV(*KNN, n_iter=2, cv=ShuffleSplit(2, random_state=0)).fit(X, Y)
    with pytest.raises(ValueError, match="rows are not in a test fold"):
        part.out_of_fold(X, Y)


def test_bad_input_is_refused_before_any_training():
    with pytest.raises(ValueError, match="not fitted"):
        RandomSearchCV(*KNN).out_of_fold(X, Y)
    search = CASES["whole"].fit(X, Y)
    for n in (0, -1, 1.5, True):
        with pytest.raises(ValueError, match="n="):
            search.out_of_fold(X, Y, n=n)
    with pytest.raises(ValueError, match="method='transform' must be one of"):
        search.out_of_fold(X, Y, method="transform")
    with pytest.raises(ValueError, match="KNeighborsClassifier has no decision_function"):
        search.out_of_fold(X, Y, method="decision_function")
    components = RandomSearchCV(PCA(), {"n_components": [1, 2]}, n_iter=2, cv=3).fit(X)
    with pytest.raises(ValueError, match="PCA has no predict"):
        components.out_of_fold(X)
