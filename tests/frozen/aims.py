"""Objectives, bounds, and rules that choose the winner."""

import numpy as np
from scipy.stats import randint
from sklearn.tree import DecisionTreeClassifier

from sksearch import (
    Bound,
    GPBayesSearchCV,
    HyperbandSearchCV,
    RandomSearchCV,
    SearchCV,
    SuccessiveHalvingSearchCV,
    TPESearchCV,
)
from sksearch.executors import VirtualClock
from sksearch.reporting import hypervolume_curve, one_standard_error
from sksearch.samplers import NSGA2Sampler, ScalarisedSampler, TPESampler
from sksearch.search import ForestBayesSearchCV
from tests.frozen.answers import found, front_of
from tests.frozen.cases import case
from tests.frozen.estimators import PLANE, SPACE, WIDTHS, XR, Hill, X, y, yr

TREE = DecisionTreeClassifier(random_state=0)
DEPTHS = {"max_depth": [1, 2, 3, 4, 5, 6, 7, 8]}


def height_and_price(model, X, y=None):
    """A score, what is paid for it, and something else."""
    return {
        "height": model.score(X, y),
        "price": model.width + 10 * model.x,
        "luck": 1 - model.x * model.y,
    }


TWO = {"scoring": height_and_price, "objectives": ["height", "-price"], "cv": 2, "refit": "knee"}


def fronts(search, **others):
    """Fit a search with objectives, and tell its front, too."""
    search.set_params(random_state=0).fit(XR, yr)
    curve = hypervolume_curve(search, [-1.0, 100.0])
    return found(search, XR, front=front_of(search.pareto_), curve=[curve]) | others


@case
def two_objectives_by_default():
    return fronts(SearchCV(Hill(), WIDTHS, n_iter=8, **TWO))


@case
def two_objectives_by_sorting():
    sampler = NSGA2Sampler(population_size=6)
    return fronts(SearchCV(Hill(), WIDTHS, n_iter=20, sampler=sampler, **TWO))


@case
def two_objectives_weighted_for_densities():
    sampler = ScalarisedSampler(TPESampler())
    return fronts(SearchCV(Hill(), WIDTHS, n_iter=16, sampler=sampler, **TWO))


@case
def two_objectives_in_hyperband():
    args = TWO | {"refit": {"height": 1.0, "price": 0.01}}
    return fronts(HyperbandSearchCV(Hill(), WIDTHS, resource="epochs", max_resources=9, **args))


@case
def the_best_of_a_front_within_a_bound():
    args = TWO | {"refit": Bound("price", "<=", 9.0)}
    return fronts(RandomSearchCV(Hill(), WIDTHS, n_iter=14, **args))


@case
def the_smallest_tree_of_a_front():
    args = {"objectives": ["score", "model_size"], "refit": "score", "random_state": 0}
    search = RandomSearchCV(TREE, DEPTHS, n_iter=8, cv=3, **args).fit(X, y)
    # Bytes of a pickle are not the same from version to version.
    return {"front": [search.cv_results_["params"][i] for i in search.pareto_.index],
            "best": [search.best_params_, search.metric_, search.best_score_]}  # fmt: skip


# ---- constraints


def small(params):
    """Which params are allowed."""
    return params["x"] + params["y"] < 0.8


@case
def a_function_refuses_candidates():
    search = GPBayesSearchCV(
        Hill(), PLANE, n_iter=9, known={"constraints": small}, cv=2, random_state=0
    )
    return found(search.fit(XR, yr), XR)


@case
def draws_that_a_function_allows():
    search = SearchCV(
        Hill(x=0.2), PLANE, n_iter=8, known={"constraints": [small]}, cv=3, random_state=0
    )
    return found(search.fit(XR, yr), XR)


BOUNDED = {"scoring": height_and_price, "refit": "height", "cv": 2, "random_state": 0}
CHEAP = Bound("price", "<=", 8.0)


@case
def densities_learn_a_bound():
    search = TPESearchCV(Hill(), WIDTHS, n_iter=16, known={"constraints": CHEAP}, **BOUNDED)
    return found(search.fit(XR, yr), XR)


@case
def a_process_learns_a_bound():
    search = GPBayesSearchCV(
        Hill(), WIDTHS, n_iter=9, known={"constraints": [CHEAP, small_width]}, **BOUNDED
    )
    return found(search.fit(XR, yr), XR)


def small_width(params):
    """Which widths are allowed."""
    return params["width"] < 40


@case
def a_forest_learns_a_bound():
    search = ForestBayesSearchCV(
        Hill(), WIDTHS, n_iter=10, known={"constraints": CHEAP}, **BOUNDED
    )
    return found(search.fit(XR, yr), XR)


@case
def who_breaks_a_bound_is_promoted_last():
    args = {"resource": "epochs", "max_resources": 9, "known": {"constraints": CHEAP}}
    search = SuccessiveHalvingSearchCV(Hill(), WIDTHS, **args, **BOUNDED)
    with VirtualClock():
        search.fit(XR, yr)
    return found(search, XR, report=str(search.report()).splitlines()[1:])


@case
def nobody_keeps_a_bound():
    never = Bound("price", "<=", -1.0)
    search = RandomSearchCV(Hill(), WIDTHS, n_iter=5, known={"constraints": never}, **BOUNDED)
    return found(search.fit(XR, yr), XR)


# ---- the winner


def worst(results):
    """The row of the lowest rank."""
    return int(np.argmax(results["rank_test_score"]))


@case
def rules_choose_among_equals():
    space = {"max_depth": randint(1, 9), "min_samples_leaf": randint(1, 12)}
    parts = {}
    for refit in (True, "1se", "simplest", one_standard_error, worst, False):
        search = RandomSearchCV(TREE, space, n_iter=9, cv=4, refit=refit, random_state=0).fit(X, y)
        name = getattr(refit, "__name__", refit)
        chosen = [getattr(search, a, None) for a in ("best_index_", "best_params_", "best_score_")]
        parts[f"refit {name}"] = [*chosen, hasattr(search, "best_estimator_")]
    return parts


@case
def a_metric_is_named():
    metrics = ["accuracy", "balanced_accuracy", "neg_log_loss"]
    args = {"scoring": metrics, "cv": 3, "random_state": 0, "n_iter": 8}
    search = RandomSearchCV(TREE, DEPTHS, refit="neg_log_loss", **args).fit(X, y)
    whole = RandomSearchCV(TREE, DEPTHS, refit=False, return_train_score=True, **args).fit(X, y)
    return found(search, X) | {"train": found(whole)["rows"]}


@case
def the_best_of_any_rung_or_of_the_top():
    parts = {}
    for select in ("auto", "best", "top"):
        args = {"resource": "trees", "min_resources": 1, "max_resources": 9, "select": select}
        search = HyperbandSearchCV(Peak(), SPACE, cv=2, random_state=0, **args).fit(XR, yr)
        ranks = search.cv_results_["rank_test_score"]
        parts[select] = [search.best_index_, search.best_n_resources_, search.best_score_, ranks]
    return parts | found(search, XR)


class Peak(Hill):
    """More trees than four are too many for it."""

    def score(self, X, y=None):
        return super().score(X, y) - 0.1 * abs(self.trees - 4)
