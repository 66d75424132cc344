"""Transformers and samplers: few parameters each, since they precede a model."""

from typing import Any

from ._family import Family, class_names
from ._parts import (
    Size,
    SpaceDict,
    known,
    log_ints,
    loguniform,
    most_components,
    randint,
    uniform,
)

#: Transformers with at most n_features components.
OF_FEATURES = {
    f"sklearn.{name}"
    for name in ("PCA", "IncrementalPCA", "TruncatedSVD", "NeighborhoodComponentsAnalysis")
}


def pca(estimator: Any, size: Size) -> SpaceDict:
    """Search a share of the variance, which is independent of the size; or a number if chosen."""
    n = estimator.n_components
    share = n is None or (isinstance(n, float) and 0 < n < 1)
    if share and estimator.svd_solver in ("auto", "full"):
        return {"n_components": uniform(0.5, 0.499)}
    return known({"n_components": size.components()})


def components(estimator: Any, size: Size) -> SpaceDict:
    return known({"n_components": size.components()})


def truncated_svd(estimator: Any, size: Size) -> SpaceDict:
    return {"n_components": size.components() or log_ints(2, max(10, estimator.n_components))}


def topics(estimator: Any, size: Size) -> SpaceDict:
    return {"n_components": log_ints(2, 50)}


def kernel_pca(estimator: Any, size: Size) -> SpaceDict:
    space = components(estimator, size)
    if estimator.kernel in ("rbf", "poly", "sigmoid"):
        space["gamma"] = size.gamma()
    return space


def nystroem(estimator: Any, size: Size) -> SpaceDict:
    space: SpaceDict = {"n_components": log_ints(30, min(500, size.rows // 2))}
    return {"gamma": size.gamma()} | space if estimator.kernel == "rbf" else space


def rbf_sampler(estimator: Any, size: Size) -> SpaceDict:
    return {"gamma": size.gamma(), "n_components": log_ints(30, 1000)}


def select_k_best(estimator: Any, size: Size) -> SpaceDict:
    if size.n_features is None or size.n_features < 2:
        return {}
    return {"k": log_ints(1, size.n_features)}


def select_percentile(estimator: Any, size: Size) -> SpaceDict:
    return {"percentile": randint(5, 101)}


def select_alpha(estimator: Any, size: Size) -> SpaceDict:
    return {"alpha": loguniform(1e-4, 0.5)}


def select_from_model(estimator: Any, size: Size) -> SpaceDict:
    return {"threshold": ["0.1*mean", "0.5*mean", "mean", "1.5*mean"]}


def rfe(estimator: Any, size: Size) -> SpaceDict:
    least = max(0.1, 1 / (size.n_features or 10))
    return {"n_features_to_select": uniform(round(least, 3), round(1 - least, 3))}


def words(estimator: Any, size: Size) -> SpaceDict:
    """Search runs of words or characters, and the rarest words to count."""
    space: SpaceDict = {}
    if estimator.analyzer == "word":
        space["ngram_range"] = [(1, 1), (1, 2)]
    elif estimator.analyzer in ("char", "char_wb"):
        space["ngram_range"] = [(1, 3), (2, 4), (2, 5), (3, 5)]
    return space


def count_vectorizer(estimator: Any, size: Size) -> SpaceDict:
    return words(estimator, size) | {"min_df": [1, 2, 5] if size.rows >= 500 else [1, 2]}


def tfidf_vectorizer(estimator: Any, size: Size) -> SpaceDict:
    found = count_vectorizer(estimator, size)
    ngrams = {name: found.pop(name) for name in list(found) if name == "ngram_range"}
    return ngrams | {"sublinear_tf": [False, True]} | found


def tfidf(estimator: Any, size: Size) -> SpaceDict:
    return {"sublinear_tf": [False, True], "use_idf": [True, False]}


def one_hot(estimator: Any, size: Size) -> SpaceDict:
    """Search the number of rows below which categories are merged."""
    if estimator.max_categories is not None:
        return {}
    return {"min_frequency": [None, max(2, size.rows // 200), max(5, size.rows // 50)]}


def target_encoder(estimator: Any, size: Size) -> SpaceDict:
    return {"smooth": loguniform(1.0, 200.0)}


def simple_imputer(estimator: Any, size: Size) -> SpaceDict:
    """Search for numbers only: a filled-in category or constant is kept."""
    return {"strategy": ["mean", "median"]} if estimator.strategy in ("mean", "median") else {}


def knn_imputer(estimator: Any, size: Size) -> SpaceDict:
    return {"n_neighbors": log_ints(2, size.root(30)), "weights": ["uniform", "distance"]}


def polynomials(estimator: Any, size: Size) -> SpaceDict:
    highest = estimator.degree if isinstance(estimator.degree, int) else 2
    return {"degree": list(range(1, max(2, highest) + 1))}


def splines(estimator: Any, size: Size) -> SpaceDict:
    return {"n_knots": log_ints(3, 20)}


def bins(estimator: Any, size: Size) -> SpaceDict:
    return {"n_bins": log_ints(3, 30), "strategy": ["uniform", "quantile"]}


def smote(estimator: Any, size: Size) -> SpaceDict:
    return {"k_neighbors": log_ints(2, 10)}


def sampling_neighbors(estimator: Any, size: Size) -> SpaceDict:
    return {"n_neighbors": log_ints(2, 10)}


class Transformers(Family):
    """Estimators that precede a model."""

    classes = ("sklearn.NeighborhoodComponentsAnalysis",)
    spaces = {
        "sklearn.PCA": pca,
        "sklearn.IncrementalPCA": components,
        "sklearn.FactorAnalysis": components,
        "sklearn.FastICA": components,
        "sklearn.NMF": components,
        "sklearn.MiniBatchNMF": components,
        "sklearn.GaussianRandomProjection": components,
        "sklearn.SparseRandomProjection": components,
        "sklearn.TruncatedSVD": truncated_svd,
        "sklearn.LatentDirichletAllocation": topics,
        "sklearn.KernelPCA": kernel_pca,
        "sklearn.Nystroem": nystroem,
        "sklearn.RBFSampler": rbf_sampler,
        "sklearn.SelectKBest": select_k_best,
        "sklearn.SelectPercentile": select_percentile,
        "sklearn.SelectFpr": select_alpha,
        "sklearn.SelectFdr": select_alpha,
        "sklearn.SelectFwe": select_alpha,
        "sklearn.SelectFromModel": select_from_model,
        "sklearn.RFE": rfe,
        "sklearn.CountVectorizer": count_vectorizer,
        "sklearn.TfidfVectorizer": tfidf_vectorizer,
        "sklearn.HashingVectorizer": words,
        "sklearn.TfidfTransformer": tfidf,
        "sklearn.OneHotEncoder": one_hot,
        "sklearn.TargetEncoder": target_encoder,
        "sklearn.SimpleImputer": simple_imputer,
        "sklearn.KNNImputer": knn_imputer,
        "sklearn.PolynomialFeatures": polynomials,
        "sklearn.SplineTransformer": splines,
        "sklearn.KBinsDiscretizer": bins,
        "imblearn.SMOTE": smote,
        "imblearn.BorderlineSMOTE": smote,
        "imblearn.SVMSMOTE": smote,
        "imblearn.SMOTENC": smote,
        "imblearn.SMOTEN": smote,
        "imblearn.ADASYN": sampling_neighbors,
        "imblearn.EditedNearestNeighbours": sampling_neighbors,
        "imblearn.NearMiss": sampling_neighbors,
    }
    smaller, larger = ("n_components", "k", "degree", "n_knots"), ("alpha",)

    def upper_bound(self, model: Any, name: str) -> float:
        """Return the number of features if it limits the components."""
        if name == "n_components" and not OF_FEATURES.isdisjoint(class_names(model)):
            return most_components(model)
        return super().upper_bound(model, name)
