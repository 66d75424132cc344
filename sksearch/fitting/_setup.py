"""What is settled before the first training: checks, folds, the problem and the plan."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import check_cv

from sksearch._compat import num_samples
from sksearch._seeds import draw_seed
from sksearch.base import Labels, Resource, Sampler, Scheduler
from sksearch.fitting._evaluation import Context
from sksearch.fitting._plan import SearchPlan
from sksearch.history import Problem
from sksearch.space import Space
from sksearch.study import Study


@dataclass
class Setup:
    """Everything that is settled before the first training.

    Parameters
    ----------
    context : Context
        What all trainings share.
    problem : Problem
        What is asked to be solved.
    sampler : Sampler
        What to try.
    scheduler : Scheduler
        How to spend.
    plan : SearchPlan
        What it will cost.
    params : dict
        What the user passed to ``fit``.
    refit_metric : str
        The metric that counts.
    """

    context: Context
    problem: Problem
    sampler: Sampler
    scheduler: Scheduler
    plan: SearchPlan
    params: dict
    refit_metric: str

    def study(self) -> Study:
        """Begin a study of the problem."""
        return Study(self.problem, self.sampler, self.scheduler)


def freeze_folds(cv: Any, estimator: Any, X: Any, y: Any, split_params: dict[str, Any]) -> list:
    """Make the folds once, so that every candidate sees the same ones.

    Parameters
    ----------
    cv : int, cross-validation generator, iterable or None
        As in scikit-learn.
    estimator : estimator object
        Its kind decides whether folds are stratified.
    X, y : array-like
        The data.
    split_params : dict
        What is routed to the splitter.

    Returns
    -------
    splits : list of (train, test)
        Indices of rows.

    Raises
    ------
    ValueError
        If there is no fold, or not as many as the splitter says.
    """
    cv = check_cv(cv, y, classifier=is_classifier(estimator))
    n_splits = cv.get_n_splits(X, y, **split_params)
    splits = list(cv.split(X, y, **split_params))
    if len(splits) != n_splits:
        raise ValueError(
            "cv.split and cv.get_n_splits return inconsistent results. Expected "
            f"{n_splits} splits, got {len(splits)}"
        )
    if not splits:
        raise ValueError(
            "No fits were performed. Was the CV iterator empty? Were there no candidates?"
        )
    return splits


def make_problem(
    space: Space,
    resource: Resource,
    estimator: Any,
    X: Any,
    classes: Labels,
    n_splits: int,
    limits: tuple[Any, Any],
    rng: np.random.RandomState,
    initial_params: dict | list | tuple | None,
) -> Problem:
    """State the problem, with the resource's own limits where the user chose none.

    Parameters
    ----------
    space : Space
        Where candidates come from.
    resource : Resource
        What one unit is.
    estimator : estimator object
        Unfitted.
    X : array-like
        The data.
    classes : ndarray, list of ndarray or None
        Labels.
    n_splits : int
        Count of folds.
    limits : tuple of (int or "auto")
        The user's smallest and largest resource.
    rng : RandomState
        Settles the seed.
    initial_params : dict, list of dict or None
        The user's first guesses.

    Returns
    -------
    problem : Problem
        Its smallest resource is what the resource needs; a scheduler may need more.
    """
    low, high = limits
    n_samples = num_samples(X)
    if "auto" in limits:
        n_classes = len(classes) if isinstance(classes, np.ndarray) else 1
        smallest, largest = _own_limits(resource, estimator, n_samples, n_splits, n_classes, high)
        high = largest if high == "auto" else high
        # Data too small for the usual minimum get a single rung.
        low = min(smallest, high) if low == "auto" else low
    resource.check_max(high, n_samples, n_splits)
    seed = draw_seed(rng)
    return Problem(
        space, low, high, seed, space.check_guesses(initial_params), continues=resource.continues
    )


def _own_limits(resource, estimator, n_samples, n_splits, n_classes, high):
    """The resource's own limits, of which the upper one may not be needed."""
    try:
        return resource.limits(estimator, n_samples, n_splits, n_classes)
    except ValueError:
        if high == "auto":
            raise
        return 1, high
