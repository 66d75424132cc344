"""Values that the estimator never takes are refused before anything is trained."""

import pytest
from scipy.stats import loguniform, norm, randint, uniform
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from sksearch import HyperbandSearchCV, RandomSearchCV, SearchCV

X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize(
    ("search", "match"),
    [
        (
            SearchCV(RandomForestClassifier(), {"n_estimators": uniform(5, 10)}),
            r"randint\(5, 16\)",
        ),
        (SearchCV(DecisionTreeClassifier(), {"max_depth": uniform(0, 5)}), r"randint\(1, 6\)"),
        (
            RandomSearchCV(KNeighborsClassifier(), {"n_neighbors": loguniform(1, 50)}),
            r"LogRandInt\(1, 51\)",
        ),
        (
            RandomSearchCV(
                make_pipeline(StandardScaler(), KNeighborsClassifier()),
                {"kneighborsclassifier__n_neighbors": uniform(1.5, 8)},
            ),
            r"randint\(2, 10\)",
        ),
        (HyperbandSearchCV(SVC(), {"degree": uniform(1, 4)}), r"randint\(1, 6\)"),
        (SearchCV(DecisionTreeClassifier(), {"max_depth": norm(8, 2)}), r"randint\(4, 13\)"),
        (RandomSearchCV(SVC(), {"C": ["0.1", "1"]}), "must be a float.* Got '0.1'"),
        (RandomSearchCV(SVC(), {"kernel": ["gauss"]}), "kernel.*'rbf'"),
        (RandomSearchCV(KNeighborsClassifier(), {"n_neighbors": randint(-5, 1)}), r"\[1, inf\)"),
    ],
)
def test_a_parameter_without_a_valid_value_is_refused_with_the_cure(search, match):
    with pytest.raises(ValueError, match=match):
        search.fit(X, Y)
    assert not hasattr(search, "history_")


class OwnForest(RandomForestClassifier):
    """Takes floats, too, and rounds them."""

    def fit(self, X, y):
        self.n_estimators = round(self.n_estimators)
        return super().fit(X, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.filterwarnings("ignore:One or more of the test scores:UserWarning")
@pytest.mark.parametrize(
    ("estimator", "space"),
    [
        (OwnForest(), {"n_estimators": uniform(2, 3)}),
        (DecisionTreeClassifier(), {"min_samples_leaf": uniform(0.1, 1)}),  # shares are taken
        (KNeighborsClassifier(), [{"n_neighbors": uniform(1, 5)}, {"n_neighbors": [3]}]),
        (SVC(), {"kernel": ["rbf", "gauss"]}),
    ],
)
def test_a_parameter_with_some_valid_value_is_searched(estimator, space):
    search = RandomSearchCV(estimator, space, n_iter=2, cv=2, random_state=3).fit(X, Y)
    assert search.best_score_ > 0
