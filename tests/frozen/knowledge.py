"""What is known beforehand: beliefs, first guesses, results of earlier searches."""

import pandas as pd
from scipy.stats import norm, uniform
from sklearn.model_selection import GridSearchCV

from sksearch import (
    GPBayesSearchCV,
    HyperbandSearchCV,
    RandomSearchCV,
    SearchCV,
    TPESearchCV,
    minimize,
)
from sksearch.search import earlier_results
from tests.frozen.answers import found
from tests.frozen.cases import case
from tests.frozen.estimators import PLANE, SPACE, XR, Hill, TimedKNeighborsClassifier, X, y, yr

BELIEF = {"x": norm(0.3, 0.1), "y": norm(0.6, 0.1)}


def fitted(search, **others):
    """Fit a search on two folds, and tell what it has found."""
    search.set_params(cv=2, random_state=0).fit(XR, yr)
    guesses = list(search.history_.problem.initial_params)
    return found(search, XR, guesses=guesses, **others)


@case
def a_process_follows_a_belief():
    return fitted(GPBayesSearchCV(Hill(), PLANE, n_iter=9, known={"prior": BELIEF}))


@case
def densities_follow_a_belief_in_choices():
    prior = BELIEF | {"kind": {"a": 3.0, "b": 1.0}}
    return fitted(TPESearchCV(Hill(), SPACE, n_iter=14, known={"prior": prior}))


@case
def draws_follow_a_wrong_belief_at_first():
    prior = {"x": norm(0.9, 0.05), "y": norm(0.1, 0.05)}
    return fitted(RandomSearchCV(Hill(), PLANE, n_iter=12, known={"prior": prior}))


@case
def hyperband_follows_a_belief():
    args = {"resource": "epochs", "max_resources": 9, "known": {"prior": BELIEF}}
    return fitted(HyperbandSearchCV(Hill(), PLANE, **args))


@case
def first_guesses_come_first():
    guesses = [{"x": 0.5, "y": 0.5}, {"x": 0.25, "y": 0.75}]
    return fitted(TPESearchCV(Hill(), PLANE, n_iter=6, known={"params": guesses}))


@case
def first_guesses_of_a_default_space():
    search = SearchCV(TimedKNeighborsClassifier(), n_iter=7, cv=3, random_state=0).fit(X, y)
    return found(search, X, guesses=list(search.history_.problem.initial_params))


def earlier(height=0.0):
    """A search of before."""
    args = {"n_iter": 12, "cv": 2, "random_state": 7, "refit": False}
    return RandomSearchCV(Hill(depth=2), PLANE, **args).fit(XR + height, yr)


@case
def results_of_the_same_task():
    known = earlier_results(earlier(), same_task=True)
    return fitted(GPBayesSearchCV(Hill(), PLANE, n_iter=5, known={"results": known}),
                  known=[known.params, known.scores])  # fmt: skip


@case
def results_of_another_task():
    return fitted(TPESearchCV(Hill(), PLANE, n_iter=12, known={"results": [earlier(0.1)]}))


@case
def results_of_another_task_for_a_process():
    return fitted(GPBayesSearchCV(Hill(), PLANE, n_iter=8, known={"results": earlier(0.1)}))


@case
def tables_and_functions_are_results_too():
    table = pd.DataFrame(earlier().cv_results_)
    plain = pd.DataFrame({"x": [0.1, 0.2], "y": [0.5, 0.7], "score": [1.0, 2.0]})
    grid = GridSearchCV(Hill(), {"x": [0.1, 0.4], "y": [0.2]}, cv=2, refit=False).fit(XR, yr)
    function = minimize(lambda p: (p["x"] - 0.3) ** 2, {"x": uniform(0, 1)}, n_iter=6,
                        random_state=0)  # fmt: skip
    rungs = HyperbandSearchCV(Hill(), PLANE, resource="epochs", max_resources=9, cv=2,
                              random_state=0).fit(XR, yr)  # fmt: skip
    sources = {"table": table, "plain": plain, "grid": grid, "function": function, "rungs": rungs}
    read = {name: earlier_results(source) for name, source in sources.items()}
    search = GPBayesSearchCV(Hill(), PLANE, n_iter=5, known={"results": [table, plain, grid]})
    return fitted(search) | {n: [e.params, e.scores, e.same_task] for n, e in read.items()}
