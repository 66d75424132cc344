"""The report of a nested cross-validation."""

import numpy as np
import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from sksearch import SearchCV, report
from sksearch.reporting._nested import NestedReport

X, Y = load_iris(return_X_y=True)
ARGS = {"n_iter": 4, "cv": 3, "random_state": 0}


def nested(search, **args):
    return report(cross_validate(search, X, Y, cv=3, return_estimator=True, **args))


def test_it_reports_the_outer_scores_and_the_chosen_values():
    search = SearchCV([("near", KNeighborsClassifier()), ("svm", SVC())], **ARGS)
    found = cross_validate(search, X, Y, cv=3, return_estimator=True)
    made = report(found)
    text = str(made)
    assert isinstance(made, NestedReport)
    np.testing.assert_array_equal(made.scores["score"], found["test_score"])
    assert made.best_params == [each.best_params_ for each in found["estimator"]]
    assert text.startswith("SearchCV(2 models) in 3 outer folds\nScore     ")
    seen = np.mean([each.best_score_ for each in found["estimator"]])
    assert f"{seen:.4g}  mean of the inner scores" in text
    assert "Chosen    model: '" in text
    assert " times" in text
    assert "<dl>" in made._repr_html_()


def test_gains_match_each_report():
    search = SearchCV(SVC(C=1e-3), **ARGS)
    found = cross_validate(search, X, Y, cv=3, return_estimator=True)
    made = report(found)
    for gain, each in zip(made.gains, found["estimator"], strict=True):
        text = str(each.report())
        untuned = each.cv_results_["mean_test_score"][0]
        assert gain == pytest.approx(each.best_score_ - untuned, abs=0.1)
        assert "Untuned" in text
    assert "Tuning gains 0." in str(made)
    assert "in 3 of 3 searches" in str(made)


def test_several_metrics_pipelines_and_searches_of_scikit_learn():
    grid = GridSearchCV(SVC(), {"C": [0.1, 1, 10], "kernel": ["linear", "rbf"]}, cv=3)
    made = nested(make_pipeline(StandardScaler(), grid), scoring=["accuracy", "f1_macro"])
    text = str(made)
    assert list(made.scores) == ["accuracy", "f1_macro"]
    assert "f1_macro, mean of the outer folds" in text
    assert "mean of the inner scores" not in text  # of which metric?
    assert "kernel: '" in text


def test_a_search_may_have_a_transformed_target():
    search = SearchCV(Ridge(), {"alpha": [0.1, 1.0]}, n_iter=2, cv=3)
    scaled = TransformedTargetRegressor(search, transformer=StandardScaler())
    made = report(cross_validate(scaled, *load_diabetes(return_X_y=True), return_estimator=True))
    assert "alpha: " in str(made)


def test_parameters_that_are_the_same_everywhere_or_of_some_models_alone():
    made = nested(SearchCV([("near", KNeighborsClassifier()), ("svm", SVC())], {
        "near": {"n_neighbors": [5]}, "svm": {"C": [1.0]},
    }, **ARGS))  # fmt: skip
    lines = str(made).splitlines()
    assert any("svm__C: 1" in line for line in lines) or any("n_neighbors: 5" in x for x in lines)
    for line in lines:
        if "n_neighbors" in line:
            assert line.endswith("5") or "(in " in line


def test_anything_but_a_search_is_refused():
    with pytest.raises(ValueError, match="A SVC is not a fitted search: pass a search"):
        nested(SVC())


def test_the_searches_must_be_kept():
    search = SearchCV(SVC(), {"C": [0.1, 1.0]}, n_iter=2, cv=2)
    with pytest.raises(ValueError, match="return_estimator=True"):
        report(cross_validate(search, *load_iris(return_X_y=True), cv=2))


def test_an_untuned_estimator_without_a_score_is_not_reported():
    made = nested(GridSearchCV(SVC(), {"C": [0.1, 10]}, cv=3))
    assert np.isnan(made.gains).all()
    assert "No search has scored the untuned estimator." in str(made)
