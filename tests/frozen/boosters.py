"""Counts of iterations that training finds, and boosters of other libraries.

What boosters of other libraries find depends on their version and on the machine. So their
candidates, their schedules and their spaces are kept, and no counts that training finds; scores
are kept as differences to that of the first candidate, with one digit after the point.
"""

import numpy as np
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.model_selection import KFold
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sksearch import PBTSearchCV, RandomSearchCV, SearchCV, SuccessiveHalvingSearchCV
from sksearch.estimators._growth import growth_of
from sksearch.space import Outcome, default_space, first_candidates
from tests.frozen.answers import log_of, model_of
from tests.frozen.cases import case
from tests.frozen.estimators import XR, X, y, yr

RATES = {"learning_rate": [0.05, 0.2, 0.5]}


def shape(search, without=()):
    """What was tried how far, but for some params, and scores beside the first one."""
    results = search.cv_results_
    scores = np.round(results["mean_test_score"] - results["mean_test_score"][0], 1) + 0.0
    columns = [results[name] for name in ("iter", "n_resources", "trial_id") if name in results]
    rows = [
        [*(int(column[i]) for column in columns), some(params, without), search.statuses_[i],
         float(scores[i])]
        for i, params in enumerate(results["params"])
    ]  # fmt: skip
    return {
        "rows": rows,
        "plan": str(search.plan_),
        "log": log_of(search),
        "space": list(search.history_.problem.space.names),
        "model": some(model_of(search.best_estimator_), without),
    }


def some(params, without):
    """Params but for some."""
    return {name: value for name, value in params.items() if name not in without}


def outcomes(model, count, high, data, resource=None):
    """Three rates, each with the count that training finds."""
    args = {"cv": KFold(3), "random_state": 0}
    if resource:
        args |= {"resource": resource}
    space = RATES | {count: Outcome(high)}
    return shape(SearchCV(model, space, n_iter=3, known={"params": None}, **args).fit(*data))


@case
def outcomes_of_histograms():
    model = HistGradientBoostingRegressor(max_leaf_nodes=4, early_stopping=False)
    return outcomes(model, "max_iter", 60, (XR, yr), "folds")


@case
def outcomes_of_gradients():
    model = GradientBoostingRegressor(max_depth=2, random_state=0)
    return outcomes(model, "n_estimators", 120, (XR, yr))


@case
def outcomes_of_epochs():
    net = MLPClassifier((4,), random_state=0, learning_rate_init=0.05)
    space = {"alpha": [1e-4, 1e-1], "max_iter": Outcome(60)}
    search = RandomSearchCV(net, space, n_iter=2, cv=3, random_state=0).fit(X, y)
    return shape(search)


@case
def outcomes_in_halving_of_rows():
    model = HistGradientBoostingRegressor(max_leaf_nodes=4)
    space = RATES | {"max_iter": Outcome(60)}
    args = {"resource": "n_samples", "min_resources": 20, "cv": 2, "random_state": 0}
    search = SuccessiveHalvingSearchCV(model, space, n_candidates=3, **args).fit(XR, yr)
    return shape(search)


@case
def outcomes_of_a_default_space():
    model = HistGradientBoostingClassifier(random_state=0)
    search = SearchCV(model, n_iter=4, cv=3, random_state=0)
    return shape(search.fit(X, y))


@case
def where_a_curve_is_known_and_when_it_ends():
    """A curve with a top, one with a first plateau, and one that always grows."""
    curves = {
        "a top": lambda count: -abs(count - 20),
        "a plateau at first": lambda count: 0 if count < 50 else 1,
        "a plateau later": lambda count: min(count, 16),
        "always": lambda count: count,
        "never": lambda count: -count,
    }
    growth = growth_of(HistGradientBoostingClassifier(), "max_iter")
    looks = {"looks": growth.looks(500, None), "known": growth.known(500, None)}
    return looks | {name: watched(curve, growth) for name, curve in curves.items()}


def watched(curve, growth):
    """The counts that were scored before the training ended."""
    from sksearch.estimators._growth import GrowthScoring

    seen = []

    def score(estimator, count):
        seen.append(count)
        return curve(count)

    scoring = GrowthScoring(growth.known(500, None), score, growth.patience, growth.slack, None, 1)
    end = next((n for n in range(1, 501) if scoring.ends(None, n)), None)
    return [end, seen]


# ---- LightGBM, XGBoost, CatBoost


def lightgbm():
    """A small one."""
    from lightgbm import LGBMClassifier

    args = {"verbose": -1, "n_jobs": 1, "num_leaves": 4, "min_child_samples": 3}
    return LGBMClassifier(n_estimators=20, random_state=0, **args), "n_estimators"


def xgboost():
    """A small one."""
    from xgboost import XGBClassifier

    args = {"n_jobs": 1, "max_depth": 2, "random_state": 0}
    return XGBClassifier(n_estimators=20, **args), "n_estimators"


def catboost():
    """A small one."""
    from catboost import CatBoostClassifier

    args = {"verbose": 0, "thread_count": 1, "allow_writing_files": False, "depth": 2}
    model = CatBoostClassifier(
        iterations=20, random_seed=0, learning_rate=0.1, leaf_estimation_iterations=1, **args
    )
    return model, "iterations"


def known_of(model):
    """What is known of an estimator without any training."""
    own = default_space(model, n_samples=90, n_features=5)
    plan = SearchCV(model, timeout=60, cv=3).plan(X, y)
    return {
        "space": {name: description(values) for name, values in own.items()},
        "first": first_candidates(model, n_samples=90, n_features=5),
        "plan": str(plan),
        "in a pipeline": sorted(default_space(make_pipeline(StandardScaler(), model))),
    }


def description(values):
    """The name and the arguments of a distribution."""
    if hasattr(values, "dist"):
        return [values.dist.name, values.args, values.kwds]
    return repr(values)


def by_rate(model, X, y):
    """A score that ranks models by their params, whatever they have learnt."""
    return float(-abs(model.get_params()["learning_rate"] - 0.2) + 1e-3 * model.score(X, y))


def all_ways(model, count):
    """A default space, a count that is found, and trees as the resource."""
    args = {"cv": 3, "random_state": 0}
    auto = SearchCV(model, n_iter=3, **args).fit(X, y)
    given = SearchCV(model, RATES | {count: Outcome(60)}, n_iter=3, known={"params": None},
                     scoring=by_rate, resource="folds", **args).fit(X, y)  # fmt: skip
    rungs = SuccessiveHalvingSearchCV(model, RATES, n_candidates=3, resource=count,
                                      min_resources=5, max_resources=20, scoring=by_rate,
                                      **args).fit(X, y)  # fmt: skip
    tried = {
        "auto tried": [some(trial.params, [count]) for trial in auto.history_.trials],
        "auto plan": str(auto.plan_),
    }
    return (
        known_of(model)
        | tried
        | {f"given {k}": v for k, v in shape(given, [count]).items()}
        | {f"rungs {k}": v for k, v in shape(rungs).items()}
    )


@case
def lightgbm_in_all_ways():
    return all_ways(*lightgbm())


@case
def xgboost_in_all_ways():
    return all_ways(*xgboost())


@case
def catboost_in_all_ways():
    return all_ways(*catboost())


@case
def populations_of_boosters():
    parts = {}
    for make in (lightgbm, xgboost, catboost):
        model, count = make()
        args = {"population_size": 4, "step": 4, "cv": 2, "random_state": 0}
        search = PBTSearchCV(model, {"learning_rate": [0.05, 0.1, 0.2, 0.4]}, resource=count,
                             max_resources=12, **args).fit(X, y)  # fmt: skip
        parts[f"{make.__name__} log"] = log_of(search)
        parts[f"{make.__name__} n"] = [int(np.max(search.cv_results_["n_resources"])),
                                       len(search.schedule_) > 0]  # fmt: skip
        parts[f"{make.__name__} first"] = [t.params for t in search.history_.trials[:4]]
    return parts
