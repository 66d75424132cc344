"""Errors and warnings about what users give, and spaces as arrays."""

import numpy as np
from scipy.stats import loguniform, norm, randint, uniform
from sklearn.model_selection import GroupKFold, KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from sksearch import (
    ASHASearchCV,
    Bound,
    GPBayesSearchCV,
    HyperbandSearchCV,
    PBTSearchCV,
    RandomSearchCV,
    SearchCV,
    TPESearchCV,
    When,
    load_history,
    minimize,
    report,
)
from sksearch.samplers import GPSampler, TPESampler
from sksearch.schedulers import FoldRace, FullFidelity, Hyperband, SuccessiveHalving
from sksearch.search import earlier_results
from sksearch.space import LogRandInt, Outcome, Space
from tests.frozen.answers import errors_of
from tests.frozen.cases import case
from tests.frozen.estimators import PLANE, SPACE, XR, Hill, X, y, yr

PIPE = make_pipeline(StandardScaler(), SVC())


def fit(space=PLANE, model=None, data=(XR, yr), **params):
    """A small search."""
    params = {"n_iter": 2, "cv": 2} | params
    return lambda: RandomSearchCV(model or Hill(), space, **params).fit(*data)


def rungs(cls=HyperbandSearchCV, model=None, **params):
    """A small Hyperband."""
    params = {"resource": "epochs", "max_resources": 9, "cv": 2} | params
    return lambda: cls(model or Hill(), PLANE, **params).fit(XR, yr)


@case
def errors_about_spaces():
    return errors_of({
        "tuple": fit({"x": (0.1, 0.9)}),
        "name": fit({"z": [1, 2]}),
        "pipeline": fit({"C": [1.0]}, PIPE, (X, y)),
        "empty": fit([]),
        "empty list": fit({"x": []}),
        "text": fit({"x": "uniform"}),
        "class": fit({"x": uniform}),
        "log of zero": fit({"x": loguniform(0, 1)}),
        "huge": fit({"width": randint(0, 2**70)}),
        "when": fit({"x": When(uniform(0, 1), "other", "==", 1)}),
        "outcome": fit({"width": Outcome(100)}),
        "guess": fit(known={"params": {"x": 7.0, "y": 0.5}}),
        "guess without": fit(known={"params": [{"x": 0.5}]}),
        "unknown": lambda: SearchCV(Hill(), n_iter=2).fit(XR, yr),
    })  # fmt: skip


@case
def errors_about_counts_and_times():
    return errors_of({
        "n_iter": fit(n_iter=0),
        "timeout": fit(timeout=-1),
        "overtime": fit(stop={"overtime": 3}),
        "patience": fit(stop={"patience": 0}),
        "n_jobs": fit(n_jobs=0),
        "batch": lambda: TPESearchCV(Hill(), PLANE, workers={"batch_size": 0}).fit(XR, yr),
        "memory": fit(workers={"memory": 4}),
        "stop": fit(stop="now"),
        "never ends": lambda: SearchCV(
            Hill(), PLANE, scheduler=FullFidelity(None), cv=2
        ).fit(XR, yr),
        "no count": fit(n_iter=None),
        "ensemble": fit(ensemble=0),
        "pre_dispatch": fit(pre_dispatch="all of them"),
    })  # fmt: skip


@case
def errors_about_folds_and_metrics():
    return errors_of({
        "one fold": fit(cv=1),
        "class of folds": fit(cv=KFold),
        "no groups": fit(cv=GroupKFold(3)),
        "many folds": fit(cv=100),
        "metric": fit(scoring="acuracy"),
        "several": fit(scoring=["r2", "max_error"]),
        "refit": fit(refit="r2"),
        "refit rule": fit(refit="2se"),
        "other task": fit(scoring="accuracy"),
        "nothing": fit(scoring=lambda model, X, y: None),
        "short y": fit(data=(XR, yr[:20])),
        "no rows": fit(data=("file.csv", yr)),
    })  # fmt: skip


@case
def errors_about_resources():
    return errors_of({
        "name": rungs(resource="epoch"),
        "none": lambda: HyperbandSearchCV(SVC(), {"C": [1.0]}, resource="epochs").fit(X, y),
        "order": rungs(min_resources=9, max_resources=3),
        "seconds": lambda: HyperbandSearchCV(Hill(), PLANE, resource="seconds", cv=2).fit(XR, yr),
        "factor": rungs(factor=1),
        "audit": rungs(audit=1.5),
        "audit of asha": rungs(ASHASearchCV, audit=0.5),
        "searched": lambda: HyperbandSearchCV(
            Hill(), SPACE | {"trees": [1, 2]}, resource="trees", cv=2
        ).fit(XR, yr),
        "folds": rungs(resource="folds", max_resources=9),
        "race": lambda: SearchCV(Hill(), PLANE, scheduler=FoldRace(), resource="epochs").fit(
            XR, yr
        ),
        "population": lambda: PBTSearchCV(
            Hill(), PLANE, population_size=1, resource="epochs"
        ).fit(XR, yr),
        "rows": lambda: HyperbandSearchCV(Hill(), PLANE, resource="n_samples", cv=2,
                                          min_resources=200).fit(XR, yr),
    })  # fmt: skip


@case
def errors_about_aims_and_knowledge():
    return errors_of({
        "objectives": fit(objectives=["score"]),
        "unknown objective": fit(objectives=["score", "prize"]),
        "constraint": fit(known={"constraints": lambda params: 1}),
        "nobody": fit(known={"constraints": lambda params: False}),
        "bound": fit(known={"constraints": Bound("widt", "<=", 1)}),
        "way of a bound": lambda: Bound("fit_time", "<", 1),
        "race with a bound": lambda: SearchCV(
            Hill(), PLANE, scheduler=FoldRace(4), resource="folds", cv=4,
            known={"constraints": Bound("fit_time", "<=", 1)},
        ).fit(XR, yr),
        "prior": fit(known={"prior": {"z": norm()}}),
        "kind of prior": fit(known={"prior": {"x": 0.1}}),
        "mass": fit(known={"prior": {"x": norm(50, 1)}}),
        "results": fit(known={"results": "x.pkl"}),
        "no scores": lambda: earlier_results({"params": [{"x": 1}], "mean_test_score": [np.nan]}),
        "other params": fit(known={"results": {"params": [{"C": 1}], "mean_test_score": [1.0]}}),
        "folder": lambda: load_history("/nowhere"),
    })  # fmt: skip


@case
def errors_about_parts():
    return errors_of({
        "sampler": lambda: SearchCV(Hill(), PLANE, sampler=TPESampler).fit(XR, yr),
        "scheduler": lambda: SearchCV(Hill(), PLANE, scheduler="hyperband").fit(XR, yr),
        "estimator": lambda: RandomSearchCV(Hill, PLANE).fit(XR, yr),
        "swapped": lambda: RandomSearchCV(PLANE, Hill()).fit(XR, yr),
        "keyword": lambda: RandomSearchCV(Hill(), PLANE, n_trials=3),
        "typo": lambda: GPBayesSearchCV(Hill(), PLANE, n_inital=3),
        "gp": lambda: GPSampler(acquisition="ie"),
        "hyperband": lambda: Hyperband(factor=0.5),
        "halving": lambda: SuccessiveHalving(0),
        "error of a race": lambda: FoldRace(error=2),
        "not fitted": lambda: report(RandomSearchCV(Hill(), PLANE)),
        "predict": lambda: RandomSearchCV(Hill(), PLANE).predict(XR),
        "no model": lambda: RandomSearchCV(Hill(), PLANE, n_iter=2, cv=2, refit=False)
        .fit(XR, yr).predict(XR),
        "n of best": lambda: fit()().best(0),
        "out of fold": lambda: fit()().out_of_fold(XR, yr, method="transform"),
    })  # fmt: skip


@case
def errors_of_minimize():
    def bowl(params):
        return (params["x"] - 0.3) ** 2

    space = {"x": uniform(0, 1)}
    return errors_of({
        "function": lambda: minimize(space, bowl),
        "count": lambda: minimize(bowl, space, n_iter=0),
        "timeout": lambda: minimize(bowl, space, timeout=0),
        "scheduler": lambda: minimize(bowl, space, scheduler=Hyperband()),
        "resources": lambda: minimize(bowl, space, min_resources=9, max_resources=3),
        "callback": lambda: minimize(bowl, space, callback=3),
        "sampler": lambda: minimize(bowl, space, sampler="tpe"),
        "all fail": lambda: minimize(lambda params: "a", space, n_iter=2),
        "objectives": lambda: minimize(bowl, space, objectives=["loss"]),
        "no end": lambda: minimize(bowl, space, n_iter=None),
    })  # fmt: skip


@case
def warnings_about_what_is_given():
    parts = {}
    large = KNeighborsClassifier(n_neighbors=5)
    parts["few"] = len(RandomSearchCV(large, {"n_neighbors": [1, 3]}, n_iter=9, cv=2).fit(X, y)
                       .history_.trials)  # fmt: skip
    args = {"resource": "n_samples", "cv": 2, "random_state": 0, "min_resources": 70}
    parts["no rungs"] = str(HyperbandSearchCV(Hill(), PLANE, **args).plan(XR, yr))
    guesses = [{"x": 0.5, "y": 0.5}] * 2
    parts["twice"] = len(RandomSearchCV(Hill(), PLANE, n_iter=3, cv=2, known={"params": guesses},
                                        random_state=0).fit(XR, yr).history_.trials)  # fmt: skip
    constant = RandomSearchCV(Hill(), PLANE, n_iter=3, cv=2, scoring=lambda model, X, y: 0.0)
    parts["constant"] = str(constant.fit(XR, yr).best_index_)
    return parts


@case
def spaces_are_arrays():
    mixed = Space(
        {
            "real": uniform(-1, 3),
            "log": loguniform(1e-3, 1e3),
            "int": randint(2, 9),
            "logint": LogRandInt(1, 1000),
            "normal": norm(0, 2),
            "list": ["a", "b", "c"],
            "numbers": [1, 2, 4, 8],
            "when": When(uniform(0, 1), "list", "==", "b"),
        }
    )
    union = Space([{"kind": ["p"], "x": uniform(0, 1)}, {"kind": ["q"], "n": [1, 2, 3]}])
    rng = np.random.RandomState(0)
    parts = {}
    for name, space in {"mixed": mixed, "union": union}.items():
        drawn = [space.sample(rng) for _ in range(6)]
        U = np.array([space.to_unit(params) for params in drawn])
        parts[name] = drawn
        parts[f"{name} in units"] = [row.tolist() for row in U]
        parts[f"{name} from units"] = [
            space.from_unit(np.where(np.isnan(row), 0.5, row) ** 2) for row in U
        ]
        parts[f"{name} has"] = [space.names, space.size, space.n_dims]
    return parts
