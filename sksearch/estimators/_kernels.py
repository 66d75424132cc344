"""Kernel machines, neighbours, naive Bayes, discriminants, mixtures and clusters.

Ranges of widths (gamma, bandwidth) are for columns of variance 1: scale them first.
"""

from typing import Any

from ._family import Family, class_names
from ._parts import Size, SpaceDict, known, log_ints, loguniform, most_components, uniform


def kernel(estimator: Any, size: Size) -> SpaceDict:
    """Search the parameters of the estimator's kernel; the kernel itself is kept."""
    space: SpaceDict = {}
    if estimator.kernel in ("rbf", "poly", "polynomial", "sigmoid", "laplacian", "chi2"):
        space["gamma"] = size.gamma()
    if estimator.kernel in ("poly", "polynomial"):
        space["degree"] = [2, 3, 4]
    if estimator.kernel in ("poly", "polynomial", "sigmoid"):
        space["coef0"] = uniform(0.0, 1.0)
    return space


def svc(estimator: Any, size: Size) -> SpaceDict:
    C = loguniform(1e-3, 100.0) if estimator.kernel == "linear" else loguniform(0.1, 1000.0)
    return {"C": C} | kernel(estimator, size)


def svr(estimator: Any, size: Size) -> SpaceDict:
    return svc(estimator, size) | {"epsilon": loguniform(1e-3, 1.0)}


def nu_svc(estimator: Any, size: Size) -> SpaceDict:
    # Imbalanced classes do not allow a larger nu.
    return {"nu": loguniform(0.01, 0.6)} | kernel(estimator, size)


def nu_svr(estimator: Any, size: Size) -> SpaceDict:
    return svc(estimator, size) | {"nu": uniform(0.1, 0.8)}


def kernel_ridge(estimator: Any, size: Size) -> SpaceDict:
    return {"alpha": loguniform(1e-4, 10.0)} | kernel(estimator, size)


def gaussian_process_regressor(estimator: Any, size: Size) -> SpaceDict:
    """Search the noise alone: the kernel's own parameters are fitted."""
    return {"alpha": loguniform(1e-10, 1.0), "normalize_y": [True, False]}


def k_neighbors(estimator: Any, size: Size) -> SpaceDict:
    space: SpaceDict = {
        "n_neighbors": log_ints(1, size.root(100)),
        "weights": ["uniform", "distance"],
    }
    if estimator.metric == "minkowski":
        space["p"] = [1, 2]
    return space


def radius_neighbors(estimator: Any, size: Size) -> SpaceDict:
    """Search around sqrt(2p), the typical distance of two rows of p columns of variance 1."""
    root = (size.n_features or 10) ** 0.5
    space: SpaceDict = {
        "radius": loguniform(0.8 * root, 3 * root),
        "weights": ["uniform", "distance"],
    }
    if hasattr(estimator, "outlier_label") and estimator.outlier_label is None:
        space["outlier_label"] = ["most_frequent"]  # otherwise isolated rows raise an error
    return space


def one_class_svm(estimator: Any, size: Size) -> SpaceDict:
    return {"nu": loguniform(0.01, 0.5)} | kernel(estimator, size)


def local_outlier_factor(estimator: Any, size: Size) -> SpaceDict:
    return {"n_neighbors": log_ints(3, size.root(100))}


def nearest_centroid(estimator: Any, size: Size) -> SpaceDict:
    return {"shrink_threshold": loguniform(0.05, 5.0)}


def label_propagation(estimator: Any, size: Size) -> SpaceDict:
    if estimator.kernel == "knn":
        return {"n_neighbors": log_ints(2, size.root(50))}
    return {"gamma": loguniform(0.05, 50.0)}  # a neighbourhood, narrower than a kernel machine's


def label_spreading(estimator: Any, size: Size) -> SpaceDict:
    return label_propagation(estimator, size) | {"alpha": uniform(0.01, 0.9)}


def gaussian_nb(estimator: Any, size: Size) -> SpaceDict:
    return {"var_smoothing": loguniform(1e-12, 1.0)}


def discrete_nb(estimator: Any, size: Size) -> SpaceDict:
    return {"alpha": loguniform(1e-3, 10.0), "fit_prior": [True, False]}


def complement_nb(estimator: Any, size: Size) -> SpaceDict:
    return {"alpha": loguniform(1e-3, 10.0), "norm": [False, True]}


def lda(estimator: Any, size: Size) -> SpaceDict:
    """Search "lsqr" with shrinkage instead of "svd", which fits the same model without it."""
    if estimator.covariance_estimator is not None:
        return {}
    space: SpaceDict = {"shrinkage": uniform(0.0, 1.0)}
    return space | ({"solver": ["lsqr"]} if estimator.solver == "svd" else {})


def qda(estimator: Any, size: Size) -> SpaceDict:
    return {"reg_param": loguniform(1e-4, 1.0)}


def pls(estimator: Any, size: Size) -> SpaceDict:
    return known({"n_components": size.components(30)})


def kernel_density(estimator: Any, size: Size) -> SpaceDict:
    return {"bandwidth": loguniform(0.03, 3.0)}


def elliptic_envelope(estimator: Any, size: Size) -> SpaceDict:
    return {"support_fraction": uniform(0.5, 0.5)}


def mixture(estimator: Any, size: Size) -> SpaceDict:
    return {
        "n_components": log_ints(1, size.root(20)),
        "covariance_type": ["full", "tied", "diag", "spherical"],
    }


def clusters(estimator: Any, size: Size) -> SpaceDict:
    return {"n_clusters": log_ints(2, size.root(30))}


class Kernels(Family):
    """Kernel machines."""

    spaces = {
        "sklearn.SVC": svc,
        "sklearn.SVR": svr,
        "sklearn.NuSVC": nu_svc,
        "sklearn.NuSVR": nu_svr,
        "sklearn.OneClassSVM": one_class_svm,
        "sklearn.KernelRidge": kernel_ridge,
        "sklearn.GaussianProcessRegressor": gaussian_process_regressor,
        "sklearn.LabelPropagation": label_propagation,
        "sklearn.LabelSpreading": label_spreading,
        "sklearn.KernelDensity": kernel_density,
    }
    portfolios = {"sklearn.SVC": "SVM", "sklearn.SVR": "SVM"}
    smaller, larger = ("C", "degree"), ("alpha",)


class Neighbours(Family):
    """Neighbours and centroids."""

    spaces = {
        "sklearn.KNeighborsClassifier": k_neighbors,
        "sklearn.KNeighborsRegressor": k_neighbors,
        "sklearn.RadiusNeighborsClassifier": radius_neighbors,
        "sklearn.RadiusNeighborsRegressor": radius_neighbors,
        "sklearn.LocalOutlierFactor": local_outlier_factor,
        "sklearn.NearestCentroid": nearest_centroid,
    }
    portfolios = dict.fromkeys(list(spaces)[:2], "KNeighbors")
    larger = ("n_neighbors", "radius")


class Bayes(Family):
    """Naive Bayes, discriminants and mixtures."""

    spaces = {
        "sklearn.GaussianNB": gaussian_nb,
        "sklearn.MultinomialNB": discrete_nb,
        "sklearn.BernoulliNB": discrete_nb,
        "sklearn.CategoricalNB": discrete_nb,
        "sklearn.ComplementNB": complement_nb,
        "sklearn.LinearDiscriminantAnalysis": lda,
        "sklearn.QuadraticDiscriminantAnalysis": qda,
        "sklearn.EllipticEnvelope": elliptic_envelope,
        "sklearn.GaussianMixture": mixture,
        "sklearn.BayesianGaussianMixture": mixture,
    }
    smaller, larger = ("n_components",), ("alpha", "var_smoothing")

    def upper_bound(self, model: Any, name: str) -> float:
        """Return the number of features, or of classes minus one for a discriminant."""
        if name == "n_components" and "sklearn.LinearDiscriminantAnalysis" in class_names(model):
            return most_components(model)
        return super().upper_bound(model, name)


class Projections(Family):
    """Partial least squares."""

    spaces = {
        "sklearn.PLSRegression": pls,
        "sklearn.PLSCanonical": pls,
    }
    smaller = ("n_components",)

    def upper_bound(self, model: Any, name: str) -> float:
        """Return the number of features."""
        if name == "n_components" and "sklearn.PLSRegression" in class_names(model):
            return most_components(model)
        return super().upper_bound(model, name)


class Clusters(Family):
    """Clusters."""

    spaces = {
        "sklearn.KMeans": clusters,
        "sklearn.MiniBatchKMeans": clusters,
        "sklearn.BisectingKMeans": clusters,
        "sklearn.Birch": clusters,
    }
