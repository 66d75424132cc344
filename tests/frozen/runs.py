"""Fits of all kinds: ensembles, audits, failures, weights, tables, checkpoints, namesakes."""

import json

import numpy as np
import pandas as pd
import sklearn
from scipy.sparse import csr_matrix
from scipy.stats import loguniform, randint, uniform
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sksearch import (
    GPBayesSearchCV,
    HyperbandSearchCV,
    PBTSearchCV,
    RandomSearchCV,
    SearchCV,
    SuccessiveHalvingSearchCV,
    TPESearchCV,
    load_history,
)
from sksearch.executors import VirtualClock
from sksearch.model_selection import GridSearchCV, RandomizedSearchCV
from sksearch.resources._epochs import EpochsResource
from sksearch.samplers import GridSampler, QuasiRandomSampler
from sksearch.schedulers import MedianStopping, SuccessiveHalving
from tests.frozen.answers import error_of, found, rows_of
from tests.frozen.cases import case
from tests.frozen.estimators import ALPHAS, PLANE, SPACE, XR, Hill, X, y, yr
from tests.interrupted import Trouble, scorer

KNN = KNeighborsClassifier()
NEIGHBOURS = {"n_neighbors": [1, 3, 5, 9, 15, 25], "weights": ["uniform", "distance"]}
EPOCHS = {"resource": "epochs", "max_resources": 9, "cv": 2, "random_state": 0}


def first_of(array, n=8):
    """The first rows of an array, and its mean."""
    return [float(np.mean(array)), np.asarray(array)[:n]]


# ---- ensembles, audits, out-of-fold


@case
def an_ensemble_of_classifiers():
    search = RandomSearchCV(KNN, NEIGHBOURS, n_iter=7, cv=3, ensemble=3, random_state=0)
    search.fit(X, y)
    return found(search, X) | {
        "ensemble": repr(search.ensemble_), "shares": first_of(search.predict_proba(X)),
    }  # fmt: skip


@case
def an_ensemble_of_regressors_from_rungs():
    search = SuccessiveHalvingSearchCV(Hill(), PLANE, ensemble=2, **EPOCHS).fit(XR, yr)
    return found(search, XR) | {"ensemble": repr(search.ensemble_)}


@case
def an_audit_of_hyperband():
    return found(HyperbandSearchCV(Hill(), SPACE, audit=0.3, **EPOCHS).fit(XR, yr), XR)


@case
def predictions_out_of_fold():
    search = RandomSearchCV(KNN, NEIGHBOURS, n_iter=5, cv=3, random_state=0).fit(X, y)
    rungs = SuccessiveHalvingSearchCV(
        DecisionTreeRegressor(random_state=0), {"max_depth": [1, 2, 3, 5, 8]},
        resource="n_samples", min_resources=20, cv=3, random_state=0,
    ).fit(XR, yr)  # fmt: skip
    return {
        "winner": first_of(search.out_of_fold(X, y)),
        "three": first_of(search.out_of_fold(X, y, n=3)),
        "labels": first_of(search.out_of_fold(X, y, method="predict")),
        "rungs": first_of(rungs.out_of_fold(XR, yr)),
        "best": search.best(3),
    }


# ---- failures


@case
def failures_are_kept_and_told():
    args = {"resource": "epochs", "max_resources": 9, "cv": 2, "random_state": 0}
    with VirtualClock():
        search = HyperbandSearchCV(Hill(fails_above=0.6), PLANE, **args).fit(XR, yr)
    return found(search, XR, report=str(search.report()).splitlines()[1:])


@case
def failures_have_a_score_of_the_user():
    search = TPESearchCV(Hill(fails_above=0.7), PLANE, n_iter=10, error_score=-9.0, cv=2)
    return found(search.set_params(random_state=0).fit(XR, yr), XR)


def sometimes(model, X, y=None):
    """A score that is not a number in a part of the space."""
    return np.nan if model.x > 0.6 else model.score(X, y)


@case
def scores_that_are_no_numbers():
    search = RandomSearchCV(Hill(), PLANE, n_iter=8, scoring=sometimes, cv=2, random_state=0)
    return found(search.fit(XR, yr), XR)


@case
def nobody_can_be_trained():
    args = {"n_iter": 5, "cv": 2, "random_state": 0}
    never, rungs = Hill(fails_above=-1.0), HyperbandSearchCV(Hill(fails_above=-1.0), PLANE)
    raising = RandomSearchCV(Hill(fails_above=0.6), PLANE, error_score="raise", **args)
    return {
        "all": error_of(lambda: RandomSearchCV(never, PLANE, **args).fit(XR, yr)),
        "rungs": error_of(lambda: rungs.set_params(**EPOCHS).fit(XR, yr)),
        "raise": error_of(lambda: raising.fit(XR, yr)),
        "race": error_of(lambda: SearchCV(never, PLANE, n_iter=5, random_state=0).fit(XR, yr)),
    }


# ---- what comes with the data

WEIGHTS = np.linspace(0.5, 2, len(XR))
GROUPS = np.arange(len(X)) // 6


@case
def weights_of_rows():
    plain = RandomSearchCV(Ridge(), ALPHAS, n_iter=5, cv=3, random_state=0)
    plain.fit(XR, yr, sample_weight=WEIGHTS)
    epochs = HyperbandSearchCV(Hill(), PLANE, **EPOCHS).fit(XR, yr, sample_weight=WEIGHTS)
    return found(plain, XR) | {f"epochs {k}": v for k, v in found(epochs, XR).items()}


@case
def groups_choose_the_folds():
    search = SearchCV(KNN, NEIGHBOURS, n_iter=6, random_state=0).fit(X, y, groups=GROUPS)
    return found(search, X)


@case
def metadata_is_routed():
    with sklearn.config_context(enable_metadata_routing=True):
        model = Ridge().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        search = RandomSearchCV(model, ALPHAS, n_iter=4, cv=KFold(3), random_state=0)
        search.fit(XR, yr, sample_weight=WEIGHTS)
        other = clone(search)
        refused = error_of(lambda: other.fit(XR, yr, groups=np.arange(len(XR))))
    return found(search, XR) | {"refused": refused}


@case
def a_table_with_categories():
    table = pd.DataFrame(X, columns=list("abcde"))
    table["town"] = np.where(X[:, 0] > 0, "Bern", "Chur")
    columns = make_column_transformer(
        (StandardScaler(), list("abcde")), (OneHotEncoder(), ["town"]),
    )  # fmt: skip
    model = make_pipeline(columns, LogisticRegression(max_iter=500))
    search = SearchCV(model, n_iter=6, cv=3, random_state=0, scoring="neg_log_loss")
    return found(search.fit(table, y), table)


@case
def sparse_rows_and_halving():
    args = {"resource": "n_samples", "min_resources": 15, "cv": 3, "random_state": 0}
    search = SuccessiveHalvingSearchCV(KNN, NEIGHBOURS, n_candidates=6, **args)
    return found(search.fit(csr_matrix(X), y), csr_matrix(X))


# ---- compositions


@case
def a_design_with_halving_of_trees():
    search = SearchCV(Hill(), SPACE, sampler=QuasiRandomSampler(), resource="trees",
                      scheduler=SuccessiveHalving(9), min_resources=1, max_resources=9,
                      cv=2, random_state=0)  # fmt: skip
    return found(search.fit(XR, yr), XR)


@case
def a_grid_with_median_stopping():
    search = SearchCV(Hill(), {"x": [0.1, 0.4, 0.7], "y": [0.2, 0.6]}, sampler=GridSampler(),
                      scheduler=MedianStopping(6), resource=EpochsResource(), max_resources=6,
                      cv=2, random_state=0)  # fmt: skip
    return found(search.fit(XR, yr), XR)


@case
def a_population_is_trained():
    search = PBTSearchCV(Hill(), PLANE, population_size=4, step=3, **EPOCHS).fit(XR, yr)
    return found(search, XR) | {"schedule": [search.schedule_]}


@case
def a_finite_space_ends():
    search = TPESearchCV(Hill(), {"x": [0.1, 0.2], "kind": ["a", "b"]}, n_iter=9, cv=2)
    return found(search.set_params(random_state=0).fit(XR, yr), XR)


# ---- scikit-learn's names


@case
def a_grid():
    grid = [{"x": [0.1, 0.5], "y": [0.2, 0.2]}, {"kind": ["a", "b"]}]
    search = GridSearchCV(Hill(), grid, cv=3, return_train_score=True).fit(XR, yr)
    return found(search, XR)


@case
def a_grid_of_several_metrics():
    search = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 3, 5]}, cv=3,
                          scoring=["accuracy", "f1"], refit="f1").fit(X, y)  # fmt: skip
    return found(search, X)


@case
def draws_as_of_scikit_learn():
    mixed = RandomizedSearchCV(Hill(), {"x": uniform(0, 1), "width": randint(1, 5)}, n_iter=6)
    lists = RandomizedSearchCV(Hill(), {"depth": [1, 2, 3], "kind": ["a", "b"]}, n_iter=4)
    logs = RandomizedSearchCV(Ridge(), {"alpha": loguniform(1e-3, 1)}, n_iter=4)
    parts = {}
    for name, search in {"mixed": mixed, "lists": lists, "logs": logs}.items():
        parts[name] = rows_of(search.set_params(cv=2, random_state=0).fit(XR, yr))
    return parts


# ---- checkpoints


def records_of(folder):
    """The records of a journal, without times, versions and digests."""
    lines = (folder / "journal.jsonl").read_text().splitlines()
    return [without_chance(json.loads(line[9:])) for line in lines]


LEFT_OUT = {"h", "s", "sha", "versions", "sksearch", "span", "spans", "n", "code", "data", "folds",
            "globals", "pid", "host", "folder", "key", "python"}  # fmt: skip
SECONDS = {"fit_time", "score_time", "seconds", "began", "ended", "time", "at"}


def without_chance(value, name=""):
    """A record whose times and digests are only named."""
    if name in LEFT_OUT or name in SECONDS:
        return "..."
    if isinstance(value, dict):
        return {k: without_chance(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [without_chance(v, name) for v in value]
    return value


def went_on(make, folder, n):
    """What a search that was interrupted finds when it goes on, and whether that is the same."""
    whole = make().fit(XR, yr)
    Trouble.after, Trouble.happens = n, interrupt
    told = error_of_interrupt(lambda: make().set_params(checkpoint_dir=folder).fit(XR, yr))
    again = make().set_params(checkpoint_dir=folder).fit(XR, yr)
    same = [rows_of(again) == rows_of(whole), again.history_.log == whole.history_.log]
    return found(again, XR, same=[told, *same], journal=records_of(folder))


def interrupt():
    """What Ctrl-C does."""
    raise KeyboardInterrupt


def error_of_interrupt(call):
    """Whether a call was interrupted."""
    try:
        call()
    except KeyboardInterrupt:
        return "interrupted"
    return "not interrupted"


@case
def halving_goes_on(folder):
    args = EPOCHS | {"scoring": scorer}
    return went_on(lambda: HyperbandSearchCV(Hill(), SPACE, **args), folder, 23)


@case
def a_process_goes_on(folder):
    args = {"n_iter": 9, "cv": 2, "scoring": scorer, "random_state": 0}
    return went_on(lambda: GPBayesSearchCV(Hill(), PLANE, **args), folder, 13)


@case
def a_larger_search_takes_over(folder):
    args = {"cv": 2, "random_state": 0, "checkpoint_dir": folder}
    small = TPESearchCV(Hill(), PLANE, n_iter=6, **args).fit(XR, yr)
    large = TPESearchCV(Hill(), PLANE, n_iter=12, **args).fit(XR, yr)
    other = error_of(lambda: TPESearchCV(Hill(), PLANE, n_iter=12, **args).fit(XR[:70], yr[:70]))
    saved = load_history(folder)
    parts = {"small": rows_of(small), "saved": str(saved).splitlines()[:3], "other": other}
    return found(large, XR) | parts | {"journal": records_of(folder)}
