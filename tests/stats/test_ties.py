"""Candidates tied with the best one, compared row by row."""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.datasets import load_digits
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from sksearch import RandomSearchCV
from sksearch.stats._ties import find_ties

X, Y = load_digits(return_X_y=True)
X, Y = X[:300], Y[:300]


def judged(right, n_folds):
    """Ties by rows, and McNemar's p-value of each candidate against the best one."""
    best = int(right.mean(axis=1).argmax())
    scores = right.reshape(len(right), n_folds, -1).mean(axis=2)
    tied = find_ties(scores, best, right / right.shape[1]).tied
    more, fewer = (right[best] > right).sum(axis=1), (right[best] < right).sum(axis=1)
    pairs = zip(more.tolist(), fewer.tolist(), strict=True)
    p = [binomtest(a, a + b).pvalue if a + b else 1.0 for a, b in pairs]
    return tied, np.array(p)


@pytest.mark.parametrize("n_folds", [3, 5])
@pytest.mark.parametrize("seed", range(5))
def test_no_tie_is_refuted_by_mcnemar(seed, n_folds):
    rng = np.random.default_rng(seed)
    easy = rng.random(300)
    noise = 0.15 * rng.standard_normal((16, 300))
    right = (easy + noise < np.linspace(0.95, 0.7, 16)[:, None]).astype(float)
    tied, p = judged(right, n_folds)
    assert 1 < tied.sum() < 16
    assert not (p[tied] < 0.05 / max(1, tied.sum() - 1)).any()


def test_equal_candidates_and_better_ones_are_tied():
    right = (np.random.default_rng(0).random((1, 300)) < 0.8).astype(float).repeat(4, axis=0)
    right[3, np.flatnonzero(right[3] == 0)[0]] = 1
    scores = right.reshape(4, 3, -1).mean(axis=2)
    assert find_ties(scores, 0, right / 300).tied.all()


@pytest.mark.parametrize("by_rows", [False, True])
def test_copies_of_the_chosen_one_change_neither_precision_nor_levels(by_rows):
    right = (np.random.default_rng(0).random((3, 300)) < [[0.8], [0.75], [0.6]]).astype(float)
    more = np.vstack([right, right[[0, 0, 0, 0]]])
    one, many = (
        find_ties(each.reshape(len(each), 3, -1).mean(axis=2), 0, each / 300 if by_rows else None)
        for each in (right, more)
    )
    assert one.visible == many.visible > 0
    assert many.tied.tolist() == [*one.tied, True, True, True, True]
    assert np.isnan(find_ties(np.array([[0.5, 0.6], [0.5, 0.6]]), 0).visible)


def test_candidates_without_rows_are_compared_by_folds():
    rng = np.random.default_rng(0)
    scores = 0.8 + 0.01 * rng.standard_normal((6, 5))
    scores[5] -= 0.5
    rows = np.full((6, 300), np.nan)
    by_rows, by_folds = find_ties(scores, 0, rows), find_ties(scores, 0)
    np.testing.assert_array_equal(by_rows.tied, by_folds.tied)


def test_repeated_folds_do_not_count_as_more_rows():
    rng = np.random.default_rng(0)
    five = 0.8 + 0.02 * rng.standard_normal((8, 5)) - 0.02 * np.arange(8)[:, None]
    ten_times = np.tile(five, 10) + 1e-6 * rng.standard_normal((8, 50))
    once, again = find_ties(five, 0), find_ties(ten_times, 0, test_ratio=0.25)
    assert again.tied.sum() >= once.tied.sum() - 1


@pytest.mark.parametrize("refit", ["fastest", "simplest", "1se"])
@pytest.mark.parametrize("estimator", [SVC(), DecisionTreeClassifier(random_state=0)])
def test_a_rule_chooses_no_candidate_that_the_rows_refute(refit, estimator):
    space = (
        {"C": [0.01, 0.1, 1, 10]} if isinstance(estimator, SVC) else {"max_depth": [2, 4, 6, 9]}
    )
    search = RandomSearchCV(estimator, space, n_iter=4, cv=3, refit=refit, random_state=0)
    search.fit(X, Y)
    best = int(search.cv_results_["mean_test_score"].argmax())
    scores = np.column_stack([search.cv_results_[f"split{k}_test_score"] for k in range(3)])
    tied = find_ties(scores, best, search._row_scores.contributions).tied
    assert tied[search.best_index_]
    assert "row by row" in " ".join(str(search.report()).split())


@pytest.mark.parametrize(
    ("n", "of_best", "low", "high"),
    [(10, False, 0.0, 0.1), (10, True, 0.08, 0.24)],
)
def test_the_level_is_what_its_comment_says(n, of_best, low, high):
    rng = np.random.default_rng(0)
    rejected = []
    for _ in range(150):
        z = rng.standard_normal((n, 100)) / 100
        y = z.reshape(n, 5, 20).sum(axis=2) * 5
        chosen = int(y.mean(axis=1).argmax()) if of_best else 0
        rejected.append(not find_ties(y, chosen, z).tied.all())
    assert low <= np.mean(rejected) <= high
