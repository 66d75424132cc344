"""How a user's code looks to a type checker: every line is checked, none is run.

The comments ``type: ignore`` mark mistakes that a checker must find: it complains of one that it
does not need.
"""

from pathlib import Path
from typing import Any, assert_type

import numpy as np
from scipy.stats import loguniform
from sklearn.linear_model import SGDClassifier

from sksearch import (
    ASHASearchCV,
    BOHBSearchCV,
    GPBayesSearchCV,
    HalvingSearchCV,
    HyperbandSearchCV,
    RandomSearchCV,
    SearchCV,
    SuccessiveHalvingSearchCV,
    TPESearchCV,
    When,
    load_history,
    minimize,
    report,
)
from sksearch.base import Plan, Sampler, Scheduler, Start
from sksearch.base._decisions import Job
from sksearch.history import History, Problem, Result
from sksearch.resources import as_resource
from sksearch.resources._epochs import EpochsResource
from sksearch.samplers import GPSampler, RandomSampler, TPESampler
from sksearch.schedulers import ASHA, FullFidelity, Hyperband
from sksearch.search import (
    ForestBayesSearchCV,
    IncrementalEvaluationSearchCV,
    PASHASearchCV,
    QuasiRandomSearchCV,
)
from sksearch.space import Space
from sksearch.study import Study

MODEL = SGDClassifier()
SPACE = {
    "alpha": loguniform(1e-6, 1),
    "penalty": ["l2", "elasticnet"],
    "l1_ratio": When([0.1, 0.5, 0.9], "penalty", "==", "elasticnet"),
}


def searches() -> None:
    RandomSearchCV(MODEL, SPACE, n_iter=20, cv=5, n_jobs=2, random_state=0)
    QuasiRandomSearchCV(MODEL, SPACE, n_iter=20, method="halton")
    TPESearchCV(MODEL, SPACE, n_iter=20, n_initial=5, workers={"batch_size": 2})
    GPBayesSearchCV(MODEL, SPACE, n_iter=20, timeout=60.0)
    ForestBayesSearchCV(MODEL, SPACE, n_iter=20, stop={"score": 0.99})
    SuccessiveHalvingSearchCV(MODEL, SPACE, factor=2, n_candidates=30, resource="folds")
    HyperbandSearchCV(MODEL, SPACE, resource="epochs", max_resources=27, n_iterations=2)
    ASHASearchCV(MODEL, SPACE, resource=EpochsResource(), n_candidates=30)
    PASHASearchCV(MODEL, SPACE, resource="epochs", checkpoint_dir="here")
    BOHBSearchCV(MODEL, SPACE, scheduler="asynchronous", transfer="all", min_resources="auto")
    HyperbandSearchCV(MODEL, SPACE, sampler="gp", known={"params": {"alpha": 1e-3}})
    HalvingSearchCV(MODEL, SPACE, sampler="tpe", workers={"devices": [0, 1]})
    HalvingSearchCV(MODEL, SPACE, ensemble=5)
    IncrementalEvaluationSearchCV(MODEL, [SPACE], population="gp", budget=100, keep=0.5, step=2)
    SearchCV(MODEL, timeout=60)
    SearchCV(
        estimator=MODEL, param_distributions=SPACE, sampler=GPSampler(), scheduler=Hyperband(2)
    )


def mistakes() -> None:
    RandomSearchCV()  # type: ignore[call-arg]
    RandomSearchCV(MODEL, SPACE, 20)  # type: ignore[call-arg]
    RandomSearchCV(MODEL, SPACE, n_itr=20)  # type: ignore[call-arg]
    RandomSearchCV(MODEL, SPACE, factor=3)  # type: ignore[call-arg]
    BOHBSearchCV(MODEL, SPACE, scheduler="async")  # type: ignore[arg-type]
    BOHBSearchCV(MODEL, SPACE, resource=81)  # type: ignore[arg-type]
    SearchCV(MODEL, SPACE, sampler=Hyperband())  # type: ignore[arg-type]
    minimize(lambda p: p["x"], {"x": [1, 2]}, n_itr=20)  # type: ignore[call-arg]
    TPESampler(n_start=5)  # type: ignore[call-arg]
    ASHA(factor="3")  # type: ignore[arg-type]
    report(5)  # type: ignore[arg-type]


def a_fit(X: np.ndarray, y: np.ndarray) -> None:
    search = RandomSearchCV(MODEL, SPACE)
    assert_type(search.plan(X, y).n_candidates, int)
    assert_type(search.fit(X, y), RandomSearchCV)
    assert_type(search.fit(X, y, groups=y).best_score_, float)
    assert_type(search.score(X, y), float)
    search.predict(X)
    assert_type(search.progress_.n_candidates, int)
    assert_type(load_history("here").history_, History)
    found = minimize(lambda params: params["x"] ** 2, {"x": loguniform(1, 9)}, n_iter=5)
    print(found.x, found.fun)
    report(search), report(found), report(found.history), report(load_history("here"))
    report(search.cv_results_), report(Path("here"))


class Cycle(Sampler):
    """A sampler of a user's own."""

    def ask(self, history: History, start: Start, rng: np.random.Generator) -> dict[str, Any]:
        return history.problem.space.candidate(len(history.trials))


def parts() -> None:
    problem = Problem(Space(SPACE), max_resources=81)
    scheduler: Scheduler = FullFidelity(5)
    assert_type(scheduler.plan(problem), Plan)
    study = Study(problem, RandomSampler(), scheduler)
    assert_type(study.ask(), Job | None)
    study = Study(problem, Cycle(), ASHA(9, factor=3.0))
    if (job := study.ask()) is not None:
        study.tell(job, Result(score=0.5))
    as_resource("epochs", MODEL).check(MODEL, ["alpha"])
