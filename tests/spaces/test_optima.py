"""Own scores of estimators: they have an optimum in what is searched, or that is said."""

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_outlier_detector, is_regressor
from sklearn.cluster import BisectingKMeans, KMeans, MiniBatchKMeans
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.metrics import silhouette_score
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import KFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KernelDensity
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import all_estimators

from sksearch import HyperbandSearchCV, RandomSearchCV, SearchCV
from sksearch.estimators._optima import without_optimum
from sksearch.space import Space, default_space

X, LABELS = make_blobs(240, 4, centers=6, cluster_std=0.7, random_state=3)
CV = KFold(3, shuffle=True, random_state=0)


@pytest.mark.parametrize(
    ("estimator", "named"),
    [
        (KMeans(), "n_clusters"),
        (MiniBatchKMeans(), "n_clusters"),
        (BisectingKMeans(), "n_clusters"),
        (make_pipeline(StandardScaler(), KMeans()), "kmeans__n_clusters"),
        (make_pipeline(PCA(), KMeans()), "pca__n_components, kmeans__n_clusters"),
        (make_pipeline(PCA(), GaussianMixture()), "pca__n_components"),
        (make_pipeline(PCA(), StandardScaler(), KernelDensity()), "pca__n_components"),
    ],
)
def test_a_default_space_without_an_optimum_is_refused(estimator, named):
    with pytest.raises(ValueError, match=rf"no optimum in {named}: .*scoring") as caught:
        SearchCV(estimator, timeout=3).fit(X)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("estimator", "space"),
    [
        (KMeans(n_init=1), {"n_clusters": [2, 3]}),
        (make_pipeline(StandardScaler(), KMeans(n_init=1)), {"kmeans__n_clusters": [2, 3]}),
        (make_pipeline(PCA(), GaussianMixture()), {"pca__n_components": [1, 2]}),
    ],
)
@pytest.mark.parametrize("search", [SearchCV, RandomSearchCV])
def test_with_a_space_of_the_user_a_warning_says_it(search, estimator, space):
    with pytest.warns(UserWarning, match="scores itself by .* no optimum"):
        search(estimator, space, n_iter=2, cv=2, random_state=0).fit(X)


@pytest.mark.parametrize(
    ("estimator", "space"),
    [
        (KMeans(n_init=1), {"init": ["k-means++", "random"]}),
        (GaussianMixture(), {"n_components": [1, 6]}),
        (make_pipeline(KMeans(n_init=1), GaussianNB()), {"kmeans__n_clusters": [2, 6]}),
    ],
)
def test_where_the_score_can_tell_nothing_is_said(estimator, space):
    RandomSearchCV(estimator, space, n_iter=2, cv=CV, random_state=0).fit(X, LABELS)


def test_a_resource_is_none_of_it():
    search = HyperbandSearchCV(
        MiniBatchKMeans(n_init=1, random_state=0), {"max_no_improvement": [5, 10]},
        resource="epochs", max_resources=3, cv=2, random_state=0,
    )  # fmt: skip
    search.fit(X)


def test_the_scoring_that_is_advised_finds_the_clusters():
    with pytest.raises(ValueError, match="Pass another scoring") as caught:
        SearchCV(KMeans()).plan(X)
    code = str(caught.value).rpartition("as scoring=")[2].rpartition(", with")[0]
    scoring = eval(code, {"silhouette_score": silhouette_score})
    search = SearchCV(KMeans(random_state=0), scoring=scoring, n_iter=15, random_state=0).fit(X)
    assert search.best_params_ == {"n_clusters": 6}


def scored_by_themselves():
    """Estimators with a default space that are scored without a target."""
    for name, cls in all_estimators():
        try:
            estimator = cls()
            default_space(estimator, n_features=4)
        except (TypeError, ValueError, FutureWarning):
            continue
        supervised = is_classifier(estimator) or is_regressor(estimator)
        supervised |= is_outlier_detector(estimator)  # by labels of which are outliers
        if hasattr(estimator, "score") and not supervised:
            yield name, estimator


@pytest.mark.few(2)
@pytest.mark.parametrize(("name", "estimator"), list(scored_by_themselves()))
def test_each_score_without_a_target_has_an_optimum_or_is_refused(name, estimator):
    rng = np.random.default_rng(0)
    data = X
    if name == "LatentDirichletAllocation":  # counts of words, of four topics
        topics = rng.dirichlet([0.1] * 60, 4)
        data = np.array([rng.multinomial(90, t @ topics) for t in rng.dirichlet([0.3] * 4, 150)])
    if name in ("PCA", "FactorAnalysis"):  # three directions, and noise
        data = rng.normal(size=(150, 3)) @ rng.normal(size=(3, 9)) + rng.normal(size=(150, 9))
    space = default_space(estimator, n_samples=len(data), n_features=data.shape[1])
    for parameter, values in space.items():
        if isinstance(values, list):
            continue
        ends = [Space({parameter: values}).dimensions[0].from_unit(u) for u in (0.0, 1.0)]
        middles = [Space({parameter: values}).dimensions[0].from_unit(u) for u in (0.3, 0.5, 0.7)]
        fixed = {"random_state": 0} if "random_state" in estimator.get_params() else {}
        best_end, best = (
            max(
                cross_val_score(
                    clone(estimator).set_params(**fixed, **{parameter: v}), data, cv=CV
                ).mean()
                for v in values
            )
            for values in (ends, middles)
        )
        assert (best > best_end) == (not without_optimum(estimator, [parameter])), parameter
