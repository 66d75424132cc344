"""Growth of the hypervolume of several objectives during a search."""

from collections.abc import Sequence

import numpy as np

from sksearch._utils._compat import BaseSearchCV
from sksearch._utils._fronts import hypervolume
from sksearch._utils._numerics import own_numerics
from sksearch.history import History


@own_numerics()
def hypervolume_curve(
    search: BaseSearchCV, reference: Sequence[float] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the volume under the Pareto front after each result of a search.

    Parameters
    ----------
    search : search estimator
        Fitted, with several objectives.
    reference : sequence of float or None, default=None
        Reference point: for each objective, in its own unit, the value that candidates must
        improve on to count. None: the worst measured value.

    Returns
    -------
    n_evaluations, volume : ndarray of shape (n,)
        Number of results at the largest resource, and the volume after this number of results.

    Raises
    ------
    ValueError
        If the search has one objective, or the number of values in the reference is wrong.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sksearch import RandomSearchCV
    >>> from sksearch.reporting import hypervolume_curve
    >>> search = RandomSearchCV(
    ...     DecisionTreeClassifier(random_state=0), {"max_leaf_nodes": [2, 3, 16]}, n_iter=3,
    ...     objectives=["score", "model_size"], random_state=0,
    ... ).fit(*load_iris(return_X_y=True))
    >>> n_evaluations, volume = hypervolume_curve(search, reference=[0.5, 10_000])
    >>> n_evaluations.tolist()
    [1, 2, 3]
    """
    history: History | None = getattr(search, "history_", None)
    if history is None:
        raise TypeError(
            f"search is a {type(search).__name__} without history_: pass a fitted search of this "
            "library, or a result of load_history."
        )
    if not history.problem.objectives:
        raise ValueError(
            "The search has one objective: search with objectives=[...] to obtain a Pareto front."
        )
    top = max((trial.resource for trial in history.trials), default=0)
    found = [
        history.trials[i].results[r] for event, i, r in history.log if event == "tell" and r == top
    ]
    good = [i for i, r in enumerate(found) if r.objectives and r.violation == 0]
    Y = np.array([found[i].objectives for i in good]).reshape(-1, len(history.problem.objectives))
    volume = np.zeros(len(found))
    if not len(Y):
        return np.arange(1, len(found) + 1), volume
    low = Y.min(axis=0) if reference is None else search.pareto_._signed(reference)
    for n in range(len(found)):
        now = np.searchsorted(good, n, side="right")
        volume[n] = hypervolume(Y[:now], low) if now else 0.0
    return np.arange(1, len(found) + 1), volume
