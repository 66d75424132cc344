"""Estimators' own scores that are best at the end of a parameter's range."""

from typing import Any

from sksearch._utils._overrides import overridden

from ._family import class_names

# Minus the inertia, which falls with each additional cluster and each removed column.
CLUSTERS = {"sklearn.KMeans", "sklearn.MiniBatchKMeans", "sklearn.BisectingKMeans"}
# The likelihood of held-out rows has an optimum in each of these estimators' parameters. But it
# refers to the columns made by an earlier step: fewer or smaller columns increase it.
DENSITIES = {
    f"sklearn.{name}"
    for name in (
        *("GaussianMixture", "BayesianGaussianMixture", "KernelDensity", "PCA", "FactorAnalysis"),
        *("LatentDirichletAllocation", "EmpiricalCovariance"),
    )
}
SCORING = "scoring=lambda model, X, y=None: silhouette_score(X, model.predict(X))"


def without_optimum(estimator: Any, names: list[str]) -> str:
    """Return a warning about parameters with which the estimator's own score always grows.

    Parameters
    ----------
    estimator : estimator
        A pipeline scores with its last step.
    names : list of str
        Searched parameters.

    Returns
    -------
    str
        A sentence with their names and a remedy, "" without such parameters.
    """
    prefix, model = "", estimator
    while "sklearn.Pipeline" in class_names(model) and not overridden(model, ("score",)):
        name, model = model.steps[-1]
        prefix += f"{name}__"
    kinds, score, cure = set(class_names(model)), "", ""
    if overridden(model, ("score",)):
        return ""
    found = [name for name in names if not name.startswith(prefix)]
    if kinds & CLUSTERS:
        found += [name for name in names if name == f"{prefix}n_clusters"]
        score = "minus its inertia"
        cure = (
            f"Pass another scoring, such as {SCORING}, with silhouette_score from sklearn.metrics "
            "(and cv=KFold(5, shuffle=True) if similar rows follow each other)."
        )
    elif kinds & DENSITIES:
        score = "the likelihood of its input columns"
        cure = (
            f"Search only {prefix.removesuffix('__')}, with names that begin with {prefix}, or "
            "pass a scoring with an optimum."
        )
    if not (score and found):
        return ""
    return (
        f"{type(model).__name__} scores itself by {score}, which has no optimum in "
        f"{', '.join(found)}: an end of the range is always best, whatever the data. {cure}"
    )
