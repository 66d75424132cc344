"""Searches with a time, on a clock of simulated seconds."""

import contextlib
import io
import logging

import numpy as np
import pandas as pd
from scipy.stats import uniform
from sklearn.datasets import make_classification
from sklearn.model_selection import KFold, TimeSeriesSplit
from sklearn.preprocessing import StandardScaler

from sksearch import (
    ASHASearchCV,
    BOHBSearchCV,
    GPBayesSearchCV,
    HyperbandSearchCV,
    RandomSearchCV,
    SearchCV,
    TPESearchCV,
    report,
    tune,
)
from sksearch.executors import VirtualClock
from sksearch.samplers import TPESampler
from sksearch.schedulers import FoldRace, FullFidelity
from tests.frozen.answers import error_of, found
from tests.frozen.cases import case
from tests.frozen.estimators import (
    ALPHAS,
    PLANE,
    SPACE,
    XR,
    Hill,
    TimedDecisionTreeClassifier,
    TimedGaussianNB,
    TimedKNeighborsClassifier,
    TimedRidge,
    X,
    y,
    yr,
)

LARGE_X, LARGE_y = make_classification(6000, 5, random_state=0)


def on_a_clock(search, X, y, n_workers=1, **others):
    """Fit a search, and tell what it has found and how long that took."""
    with VirtualClock(n_workers) as clock:
        search.fit(X, y)
    told = [clock.seconds, clock.busy_seconds, search.history_.problem.has_baseline]
    return found(search, X, times=True, clock=told, **others)


@case
def nothing_but_a_time_of_neighbours():
    return on_a_clock(SearchCV(TimedKNeighborsClassifier(), timeout=40, random_state=0), X, y)


@case
def nothing_but_a_time_of_neighbours_by_another_seed():
    return on_a_clock(SearchCV(TimedKNeighborsClassifier(), timeout=40, random_state=1), X, y)


@case
def nothing_but_a_time_of_a_tree_on_three_folds():
    search = SearchCV(TimedDecisionTreeClassifier(random_state=0), timeout=12, cv=3)
    return on_a_clock(search.set_params(random_state=2), X, y)


@case
def nothing_but_a_time_of_a_regression_on_two_folds():
    return on_a_clock(SearchCV(TimedRidge(), timeout=20, cv=2, random_state=3), XR, yr)


@case
def a_given_space_and_a_time():
    search = SearchCV(TimedRidge(), ALPHAS, timeout=60, random_state=0)
    return on_a_clock(search, XR, yr)


@case
def a_hill_for_twelve_seconds():
    return on_a_clock(SearchCV(Hill(), SPACE, timeout=12, cv=4, random_state=0), XR, yr)


@case
def a_hill_for_twelve_seconds_by_another_seed():
    search = SearchCV(Hill(), SPACE, timeout=12, cv=4, random_state=4, refit=False)
    return on_a_clock(search, XR, yr)


@case
def a_time_and_a_count():
    return on_a_clock(SearchCV(Hill(), SPACE, timeout=30, n_iter=9, random_state=0), XR, yr)


@case
def a_count_alone_is_raced_over_folds():
    return on_a_clock(SearchCV(Hill(), SPACE, n_iter=14, cv=6, random_state=1), XR, yr)


@case
def a_time_too_short_for_all_folds():
    return on_a_clock(SearchCV(Hill(width=200), SPACE, timeout=7, random_state=0), XR, yr)


@case
def a_time_too_short_for_the_last_training():
    return on_a_clock(SearchCV(Hill(width=60), PLANE, timeout=3, cv=2, random_state=0), XR, yr)


@case
def four_workers_share_a_time():
    search = SearchCV(Hill(width=30), SPACE, timeout=4, n_jobs=4, cv=3, random_state=0)
    return on_a_clock(search, XR, yr, n_workers=4)


@case
def fewer_rows_where_the_time_is_short():
    search = SearchCV(TimedGaussianNB(), timeout=60, cv=3, random_state=0)
    return on_a_clock(search, LARGE_X, LARGE_y)


@case
def the_latest_rows_where_the_folds_are_in_order():
    search = SearchCV(TimedGaussianNB(), timeout=60, cv=TimeSeriesSplit(3), random_state=0)
    return on_a_clock(search, LARGE_X, LARGE_y)


@case
def times_in_order_choose_the_folds():
    table = pd.DataFrame(X, index=pd.date_range("2024-01-01", periods=len(X)))
    table.columns = list("abcde")
    return on_a_clock(SearchCV(TimedDecisionTreeClassifier(random_state=0), timeout=6,
                               random_state=0), table, y)  # fmt: skip


@case
def a_target_that_is_just_reached():
    args = {"n_iter": 12, "cv": KFold(3), "refit": False, "random_state": 0}
    first = RandomSearchCV(Hill(), PLANE, **args).fit(XR, yr)
    scores = first.cv_results_["mean_test_score"]
    target = float(np.max(scores[:6]))
    search = RandomSearchCV(Hill(), PLANE, stop={"score": target}, **args)
    above = RandomSearchCV(Hill(), PLANE, stop={"score": np.nextafter(target, 2)}, **args)
    parts = on_a_clock(search, XR, yr, reached=[len(search.fit(XR, yr).history_.trials)])
    return parts | {"just missed": [len(above.fit(XR, yr).history_.trials)]}


@case
def a_target_at_the_last_rung_of_rows():
    search = HyperbandSearchCV(Hill(), PLANE, resource="n_samples", min_resources=6,
                               stop={"score": 0.3}, cv=2, random_state=0)  # fmt: skip
    return on_a_clock(search, XR, yr)


@case
def patience_ends_it():
    search = RandomSearchCV(Hill(), PLANE, n_iter=60, stop={"patience": 5}, cv=3, random_state=0)
    return on_a_clock(search, XR, yr)


@case
def convergence_ends_it():
    search = GPBayesSearchCV(Hill(), {"x": uniform(0, 1)}, n_iter=60, stop="converged", cv=4)
    return on_a_clock(search.set_params(random_state=0), XR, yr)


@case
def hyperband_until_its_time_is_up():
    search = HyperbandSearchCV(Hill(), SPACE, resource="epochs", max_resources=9, timeout=40)
    return on_a_clock(search.set_params(cv=2, random_state=0), XR, yr)


@case
def three_workers_promote_at_once():
    search = ASHASearchCV(Hill(), SPACE, resource="epochs", max_resources=9, n_candidates=14)
    return on_a_clock(search.set_params(cv=2, random_state=0, n_jobs=3), XR, yr, n_workers=3)


@case
def bohb_on_two_workers_that_never_wait():
    search = BOHBSearchCV(Hill(), SPACE, resource="epochs", max_resources=9, cv=2, n_jobs=2,
                          scheduler="asynchronous", random_state=0)  # fmt: skip
    return on_a_clock(search, XR, yr, n_workers=2)


@case
def seconds_are_the_resource():
    search = HyperbandSearchCV(Hill(), SPACE, resource="seconds", max_resources=9, cv=2)
    return on_a_clock(search.set_params(random_state=0), XR, yr)


@case
def a_race_of_densities():
    search = SearchCV(Hill(), SPACE, sampler=TPESampler(), scheduler=FoldRace(16, error=0.3),
                      resource="folds", cv=8, random_state=0)  # fmt: skip
    return on_a_clock(search, XR, yr)


@case
def batches_of_candidates_at_full_resource():
    search = TPESearchCV(
        Hill(), SPACE, n_iter=14, workers={"batch_size": 4}, cv=2, n_jobs=2, random_state=0
    )
    return on_a_clock(search, XR, yr, n_workers=8)


@case
def a_training_that_takes_too_long():
    search = RandomSearchCV(
        Hill(), SPACE, n_iter=8, cv=2, workers={"timeout": 0.5}, random_state=0
    )
    return on_a_clock(search, XR, yr)


@case
def the_time_is_up_before_the_first_score():
    search = SearchCV(
        Hill(width=900), PLANE, timeout=1, stop={"overtime": 0}, scheduler=FullFidelity(3)
    )
    with VirtualClock():
        return {"error": error_of(lambda: search.set_params(random_state=0).fit(XR, yr))}


@case
def tune_prints_a_summary():
    out = io.StringIO()
    with VirtualClock() as clock, contextlib.redirect_stdout(out):
        search = tune(TimedRidge(), XR, yr, timeout=30, cv=3, random_state=0)
    texts = {"printed": out.getvalue(), "report": str(report(search))}
    return texts | {"clock": [clock.seconds], "progress": str(search.progress_)}


@case
def what_is_logged():
    told, logger = [], logging.getLogger("sksearch")
    handler = logging.Handler()
    handler.emit = lambda record: told.append(f"{record.levelname} {record.getMessage()}")
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        with VirtualClock(), contextlib.redirect_stdout(io.StringIO()) as out:
            HyperbandSearchCV(
                Hill(fails_above=0.9), {"x": uniform(0, 1)}, resource="epochs", max_resources=9,
                cv=2, random_state=0, verbose=2,
            ).fit(XR, yr)  # fmt: skip
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)
    return {"log": told, "printed": out.getvalue()}


@case
def a_plan_that_measures_one_training():
    search = SearchCV(TimedKNeighborsClassifier(), timeout=60, cv=3, random_state=0)
    with VirtualClock():
        measured = search.plan(LARGE_X, LARGE_y, measure=True)
        plain = SearchCV(StandardScaler(), {"with_mean": [True, False]}, cv=3, timeout=9,
                         scoring=lambda model, X, y=None: 0.0)  # fmt: skip
        return {"measured": str(measured), "plain": str(plain.plan(X, y))}
