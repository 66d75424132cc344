"""What a result keeps of the folds."""

import numpy as np
import pytest
from scipy.stats import uniform
from sklearn.datasets import load_iris
from sklearn.svm import SVC

from sksearch import HyperbandSearchCV, RandomSearchCV
from tests.fakes import Failing

X, y = load_iris(return_X_y=True)


def split_scores(search, row):
    columns = [f"split{i}_test_score" for i in range(search.n_splits_)]
    scores = [search.cv_results_[column][row] for column in columns]
    return [score for score in scores if score == score]


def test_a_result_has_the_scores_of_all_folds_so_far():
    search = HyperbandSearchCV(
        SVC(), {"C": uniform(0.01, 9)}, resource="folds", cv=4, factor=2, random_state=0
    ).fit(X, y)
    table, trials = search.cv_results_, search.history_.trials
    rows = range(len(table["params"]))
    results = [trials[table["trial_id"][i]].results[table["n_resources"][i]] for i in rows]
    assert [list(r.fold_scores) for r in results] == [split_scores(search, i) for i in rows]
    assert {len(r.fold_scores) for r in results} == {1, 2, 4}
    assert all(np.mean(r.fold_scores) == pytest.approx(r.score) for r in results)


def test_of_several_metrics_it_has_the_one_that_counts():
    search = RandomSearchCV(
        SVC(), {"C": uniform(0.01, 9)}, n_iter=2, scoring=["accuracy", "f1_macro"],
        refit="f1_macro", random_state=0,
    ).fit(X, y)  # fmt: skip
    expected = [search.cv_results_[f"split{i}_test_f1_macro"][1] for i in range(5)]
    assert list(search.history_.trials[1].results[1].fold_scores) == expected


@pytest.mark.filterwarnings("ignore")
def test_a_failed_result_has_none():
    search = RandomSearchCV(Failing(), {"quality": uniform(0, 1)}, cv=3, random_state=0).fit(X, y)
    results = [trial.results[1] for trial in search.history_.trials]
    assert {(r.status, len(r.fold_scores)) for r in results} == {("ok", 3), ("error", 0)}
