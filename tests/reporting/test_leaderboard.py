"""The models of a list beside each other, and what a report begins with."""

import pickle
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import Lasso, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from sksearch import RandomSearchCV, SearchCV
from sksearch.reporting._leaderboard import standings
from sksearch.reporting._rivals import read_results
from sksearch.search import Progress

X, Y = load_iris(return_X_y=True, as_frame=True)
X, Y = X[::2], Y[::2]
MODELS = [
    ("tree", DecisionTreeClassifier(random_state=0)),
    ("near", KNeighborsClassifier()),
    ("bayes", GaussianNB()),
]
SPACE = [
    {"model": ["tree"], "tree__max_depth": [1, 2, 3], "tree__max_features": [1, 2, 3]},
    {"model": ["near"], "near__n_neighbors": [1, 3, 5, 7, 9, 11, 13, 15, 21, 31]},
    {"model": ["bayes"]},
]


@pytest.fixture(scope="module")
def found():
    return RandomSearchCV(MODELS, SPACE, n_iter=16, cv=3, random_state=0, ensemble=True).fit(X, Y)


def test_a_model_is_a_row_and_the_best_is_first(found):
    board = found.leaderboard()
    assert list(board.index) == [1, 2, 3]
    assert set(board["model"]) == {"tree", "near", "bayes"}
    assert board["model"][1] == found.best_params_["model"]
    assert board["score"].is_monotonic_decreasing
    assert board["score"][1] == found.best_score_
    assert board["n_candidates"].sum() == 16
    assert (board["low"] <= board["high"]).all()
    seconds = sum(r.cost for trial in found.history_.trials for r in trial.results.values())
    assert board["seconds"].sum() == pytest.approx(seconds)
    rows = found.ensemble_.weights
    names = {found.cv_results_["params"][row]["model"] for row in rows}
    assert set(board["model"][board["in_average"]]) == names
    again = pickle.loads(pickle.dumps(found)).leaderboard()
    pd.testing.assert_frame_equal(again, board)


def test_the_report_has_the_board_and_each_model_s_own_params(found):
    text = str(found.report())
    assert re.search(
        r"\nModels    1\. \w+: 0\.\d+ \(0\.\d+ to [01]\.\d+\); \d+ candidates, ", text
    )
    assert "Models" in found.report()._repr_html_()
    assert "tree__max_depth 5" not in text
    assert re.search(r"\nParams    (tree|near): (max|n_n)", text) or "No model has enough" in text


def test_one_model_has_one_row():
    board = RandomSearchCV(MODELS[1][1], {"n_neighbors": [1, 3]}, n_iter=2, cv=2).fit(X, Y)
    assert list(board.leaderboard()["model"]) == ["KNeighborsClassifier"]
    assert "Models" not in str(board.report())


class Fails(LogisticRegression):
    """Fails on all data."""

    def fit(self, X, y):
        raise RuntimeError("no")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
def test_models_without_a_score_are_last():
    models = [("broken", Fails()), *MODELS[1:]]
    space = [{"model": [name]} for name, _ in models]
    search = RandomSearchCV(models, space, n_iter=3, cv=2, random_state=0).fit(X, Y)
    board = search.leaderboard()
    assert board["model"][3] == "broken"
    assert np.isnan(board["score"][3])
    assert "3. broken: no score" in str(search.report())


def test_models_that_were_not_tried_are_named():
    search = RandomSearchCV(MODELS, SPACE[:1], n_iter=2, cv=2, random_state=0).fit(X, Y)
    table = read_results(search)
    assert [each.n_candidates for each in standings(table)] == [2, 0, 0]
    assert "2. near: not tried" in str(search.report())


def test_the_status_line_names_the_leading_model(found):
    assert found.progress_.best_model == found.best_params_["model"]
    assert f"({found.best_params_['model']})" in str(found.progress_)
    own = Progress.of(found.plan_, found.history_)
    assert own.best_model == found.best_params_["model"]
    one = RandomSearchCV(MODELS[1][1], {"n_neighbors": [1, 3]}, n_iter=2, cv=2).fit(X, Y)
    assert one.progress_.best_model == ""
    assert "(" not in str(one.progress_)


# ---- the header


@pytest.mark.parametrize(
    ("scoring", "words"),
    [
        ("neg_mean_absolute_error", r"MAE \d+\.?\d*, smaller is better"),
        ("neg_root_mean_squared_error", r"RMSE \d+\.?\d*, smaller is better"),
        ("neg_median_absolute_error", r"median absolute error \d+\.?\d*, smaller is better"),
        ("explained_variance", r"explained variance 0\.\d+, greater is better"),
        ("neg_max_error", r"max error \d+\.?\d*, smaller is better"),
        (None, r"R² 0\.\d+, greater is better"),
    ],
)
def test_a_metric_is_written_as_people_write_it(scoring, words):
    data = load_diabetes(return_X_y=True)
    search = RandomSearchCV(
        Ridge(), {"alpha": [0.1, 1]}, n_iter=2, cv=3, scoring=scoring, random_state=7
    ).fit(*data)
    text = " ".join(str(search.report()).split())
    assert re.search(words, text)
    assert "Data 442 rows, 10 columns; target: 25 to 346" in text
    assert "3 folds, KFold(n_splits=3, random_state=None, shuffle=False); seed 7" in text


def test_the_header_has_the_facts_for_an_auditor(found):
    text = " ".join(str(found.report()).split())
    assert "Data 75 rows, 4 columns; target: target, 3 classes (0 33 %, 1 33 %, 2 33 %)" in text
    assert re.search(r"accuracy 0\.\d+, greater is better; 3 folds, StratifiedKFold\(", text)
    assert re.search(r"sksearch [\d.]+, Python [\d.]+, numpy [\d.]+", text)
    assert re.search(r"scikit-learn [\d.]+; fitted \d{4}-\d\d-\d\d \d\d:\d\d in ", text)


@pytest.mark.parametrize(
    ("X", "y", "cv", "words"),
    [
        (X, np.column_stack([X, X])[:, :2], 2, "target: 2 columns"),
        (X.to_numpy(), X["petal length (cm)"], [(np.arange(40), np.arange(40, 75))],
         "target: petal length (cm), 1 to 6"),
        (X, X[["petal width (cm)"]], 2, "target: petal width (cm), 0.1 to 2."),
    ],
)  # fmt: skip
def test_the_header_knows_odd_targets_and_folds(X, y, cv, words):
    search = RandomSearchCV(Ridge(), {"alpha": [0.1, 1]}, n_iter=2, cv=cv).fit(X, y)
    assert words in " ".join(str(search.report()).split())


def test_a_list_of_regressors_has_a_board():
    data = load_diabetes(return_X_y=True)
    search = SearchCV([Ridge(), Lasso()], n_iter=3, cv=3, random_state=0).fit(*data)
    assert set(search.leaderboard()["model"]) == {"ridge", "lasso"}
