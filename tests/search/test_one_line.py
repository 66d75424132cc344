"""What a newcomer writes: an estimator, data and a time, and nothing else."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestRegressor
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import silhouette_score
from sklearn.model_selection import KFold, TimeSeriesSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from sksearch import SearchCV, tune


def never_behind(search, least=2):
    """The untuned estimator came first, and what was found is no worse."""
    first = search.history_.trials[0]
    assert search.history_.problem.has_baseline
    assert search.best_score_ >= first.results[first.resource].score
    assert len(search.history_.trials) >= least


@pytest.mark.whole
def test_boosting_with_nothing_but_a_time():
    X, y = load_breast_cancer(return_X_y=True)
    search = SearchCV(HistGradientBoostingClassifier(), timeout=5, cv=3).fit(X, y)
    never_behind(search, least=1)  # boosting on a busy machine is slow
    # What was found can be trained again without us.
    again = clone(HistGradientBoostingClassifier()).set_params(**search.best_params_).fit(X, y)
    assert again.n_iter_ == search.best_estimator_.n_iter_


def test_a_pipeline():
    X, y = load_breast_cancer(return_X_y=True)
    never_behind(SearchCV(make_pipeline(StandardScaler(), SVC()), timeout=2).fit(X, y))


@pytest.fixture
def customers():
    """A table with numbers, categories and gaps."""
    rng = np.random.default_rng(0)
    n = 200
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n).astype(float),
            "income": rng.lognormal(10, 1, n),
            "town": rng.choice(["Bern", "Chur", "Zug"], n),
        }
    )
    y = (table["age"] + 20 * (table["town"] == "Zug") + rng.normal(0, 8, n) > 50).to_numpy()
    table.loc[::7, "income"] = np.nan
    table.loc[::11, "town"] = None
    return table, y


@pytest.mark.whole
def test_a_table_with_categories_and_gaps(customers):
    X, y = customers
    columns = make_column_transformer(
        (
            make_pipeline(SimpleImputer(), StandardScaler()),
            ["age", "income"],
        ),
        (OneHotEncoder(handle_unknown="ignore"), ["town"]),
    )
    never_behind(SearchCV(make_pipeline(columns, LogisticRegression()), timeout=3).fit(X, y))


@pytest.mark.whole
def test_boosting_on_categories(customers):
    X, y = customers
    X = X.assign(town=X["town"].astype("category"))
    model = HistGradientBoostingClassifier(categorical_features="from_dtype")
    never_behind(SearchCV(model, timeout=3, cv=3).fit(X, y), least=1)


def test_text():
    good, bad = ["a fine day", "so good", "what joy", "fine and good"], ["a bad day", "so sad"]
    X = (good + 2 * bad) * 10
    y = ([1] * 4 + [0] * 4) * 10
    never_behind(
        SearchCV(make_pipeline(TfidfVectorizer(), LogisticRegression()), timeout=2).fit(X, y)
    )


@pytest.mark.whole
def test_regression(capsys):
    X, y = load_diabetes(return_X_y=True)
    model = RandomForestRegressor(20, random_state=0)
    never_behind(tune(model, X, y, timeout=4, cv=3))
    assert "for the untuned estimator" in capsys.readouterr().out


@pytest.mark.whole
def test_imbalanced_classes():
    from imblearn.over_sampling import SMOTE
    from imblearn.pipeline import make_pipeline as make_imbalanced

    X, y = make_classification(300, weights=[0.9], random_state=0)
    model = make_imbalanced(StandardScaler(), SMOTE(random_state=0), LogisticRegression())
    search = SearchCV(model, timeout=2, scoring="balanced_accuracy").fit(X, y)
    never_behind(search)


@pytest.mark.whole
def test_time_series():
    t = np.arange(200.0)
    X, y = np.c_[np.sin(t / 7), np.cos(t / 7), t], np.sin(t / 7 + 0.5) + 0.01 * t
    search = SearchCV(Ridge(), timeout=2, cv=TimeSeriesSplit(4)).fit(X, y)
    never_behind(search)


@pytest.mark.whole
def test_lightgbm():
    from lightgbm import LGBMClassifier

    X, y = load_breast_cancer(return_X_y=True)
    search = SearchCV(LGBMClassifier(verbose=-1, n_jobs=1), timeout=4, cv=3).fit(X, y)
    never_behind(search, least=1)
    assert search.best_estimator_.n_estimators_ == search.best_params_["n_estimators"]


def test_a_clusterer():
    X, _ = load_iris(return_X_y=True)
    cv = KFold(5, shuffle=True, random_state=0)
    search = SearchCV(KMeans(random_state=0), scoring=silhouette, cv=cv, timeout=1).fit(X)
    never_behind(search)
    assert search.predict(X).shape == (150,)


def silhouette(model, X, y=None):
    return silhouette_score(X, model.predict(X))


def test_never_behind_holds_for_cross_val_score_as_well():
    X, y = load_iris(return_X_y=True)
    search = SearchCV(SVC(), timeout=1, cv=3).fit(X, y)
    untuned = cross_val_score(SVC(), X, y, cv=3).mean()
    assert search.history_.trials[0].results[3].score == pytest.approx(untuned)
    assert search.best_score_ >= untuned
