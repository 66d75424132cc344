"""``refit="1se" | "simplest" | "fastest"``, `best` and `to_frame`."""

import numpy as np
import pytest
from scipy.stats import uniform
from sklearn.datasets import load_iris
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import GridSearchCV, HalvingRandomSearchCV
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from sksearch import Bound, RandomSearchCV, SearchCV, SuccessiveHalvingSearchCV
from sksearch.reporting import best, fastest, one_standard_error, simplest, to_frame

X, Y = load_iris(return_X_y=True)
TREE = DecisionTreeClassifier(random_state=0)
DEPTHS = {"max_depth": [1, 2, 3, 4, 5, 6, 7, 8]}


def search_with(refit, estimator=TREE, space=DEPTHS, **params):
    return RandomSearchCV(estimator, space, n_iter=8, refit=refit, random_state=0, **params)


@pytest.mark.parametrize(
    ("name", "rule"),
    [("1se", one_standard_error), ("simplest", simplest), ("fastest", fastest)],
)
def test_a_name_is_the_rule_of_that_name(name, rule):
    search = search_with(name).fit(X, Y)
    assert search.best_index_ == rule(search.cv_results_)
    assert search.best_params_ == search.cv_results_["params"][search.best_index_]
    assert search.best_score_ == search.cv_results_["mean_test_score"][search.best_index_]
    assert search.best_estimator_.max_depth == search.best_params_["max_depth"]


def test_the_simplest_of_equals_is_simpler_than_the_best_one():
    found = {
        refit: search_with(refit).fit(X, Y).best_params_ for refit in (True, "1se", "simplest")
    }
    assert found == {True: {"max_depth": 4}, "1se": {"max_depth": 3}, "simplest": {"max_depth": 2}}


def sizes():
    """Bytes of the models, by depth."""
    search = search_with(True, known={"constraints": Bound("model_size", ">=", 1)}).fit(X, Y)
    params, found = search.cv_results_["params"], search.cv_results_["mean_model_size"]
    return {each["max_depth"]: size for each, size in zip(params, found, strict=True)}


@pytest.mark.parametrize("refit", ["1se", "simplest"])
def test_a_rule_chooses_among_those_that_keep_the_bounds(refit):
    bound = Bound("model_size", ">=", sizes()[4])
    search = search_with(refit, known={"constraints": bound}).fit(X, Y)
    assert search.best_params_ == {"max_depth": 4}
    said = " ".join(str(search.report(full=True)).split())
    assert "3 of 8 candidates violate a bound" in said
    assert "5 of 5 candidates" in said, "nobody is tied that breaks it"
    assert {params["max_depth"] for params in search.best(5)} == {4, 5, 6, 7, 8}


@pytest.mark.filterwarnings("ignore:No candidate satisfies all bounds")
def test_a_winner_that_breaks_a_bound_is_reported():
    search = search_with(True, known={"constraints": Bound("score", ">=", 2)}).fit(X, Y)
    assert search.report().advice[0].rule == "bounds"


def test_the_rules_serve_the_searches_of_scikit_learn():
    ours, theirs = search_with("1se"), GridSearchCV(TREE, DEPTHS, refit=one_standard_error)
    assert ours.fit(X, Y).best_params_ == theirs.fit(X, Y).best_params_


def test_a_rule_works_with_a_scorer_of_the_users():
    search = search_with("simplest", scoring=lambda estimator, X, y: estimator.score(X, y))
    assert search.fit(X, Y).best_params_ == search_with("simplest").fit(X, Y).best_params_


def test_a_rule_chooses_among_those_with_the_largest_resource():
    search = SuccessiveHalvingSearchCV(
        DecisionTreeClassifier(random_state=0), {"min_samples_leaf": [1, 2, 3, 5, 8, 13, 21, 34]},
        n_candidates=8, factor=2, refit="simplest", random_state=0,
    ).fit(X, Y)  # fmt: skip
    assert search.best_n_resources_ == search.max_resources_


def test_a_name_that_is_not_a_rule_is_refused():
    with pytest.raises(ValueError, match="refit='1SE' is neither a metric nor a rule"):
        search_with("1SE").fit(X, Y)


def test_a_rule_that_cannot_choose_is_refused_before_training():
    space = {"min_weight_fraction_leaf": uniform(0, 0.5)}
    with pytest.raises(ValueError, match=r"None of the parameters .* pass refit='fastest'"):
        search_with("1se", space=space).fit(X, Y)
    with pytest.raises(ValueError, match="needs at least two folds"):
        search_with("1se", cv=[(np.arange(0, 150, 2), np.arange(1, 150, 2))]).fit(X, Y)


def test_the_best_candidates_are_first_guesses_of_another_search():
    first = RandomSearchCV(SVC(), {"C": uniform(0.1, 5)}, n_iter=6, random_state=0).fit(X, Y)
    guesses = first.best(2)
    assert guesses[0] == first.best_params_
    assert len(first.best(100)) == 6
    again = SearchCV(SVC(), {"C": uniform(0.1, 5)}, n_iter=3, known={"params": guesses})
    assert again.fit(X, Y).history_.trials[1].params == guesses[1]
    with pytest.raises(ValueError, match="n=0 must be an integer of at least 1"):
        first.best(0)


def test_a_frame_has_a_row_for_each_candidate_best_first():
    search = search_with(True).fit(X, Y)
    frame = search.to_frame()
    assert len(frame) == 8
    assert frame["score"].is_monotonic_decreasing
    assert frame.iloc[0]["score"] == pytest.approx(search.best_score_)
    assert set(frame["n_folds"]) == {5}
    assert set(frame["status"]) == {"ok"}


def test_candidates_of_halving_have_one_row_each():
    space = {"C": uniform(0.1, 5)}
    search = HalvingRandomSearchCV(SVC(), space, random_state=0, n_candidates=9).fit(X, Y)
    frame = to_frame(search)
    assert len(frame) == search.n_candidates_[0] == len({*frame["C"]})
    assert best(search, 1) == [search.best_params_]
    assert frame["n_resources"].is_monotonic_decreasing
