"""Ten scripts of users, each a function, for ``mypy --strict``: none is run.

The comments ``type: ignore`` mark mistakes that a checker must find.
"""

from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import loguniform, randint
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GroupKFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sksearch import (
    BOHBSearchCV,
    Bound,
    GPBayesSearchCV,
    HyperbandSearchCV,
    PBTSearchCV,
    SearchCV,
    When,
    tune,
)
from sksearch.base import Sampler, Scheduler
from sksearch.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    RandomizedSearchCV,
)
from sksearch.samplers import GPSampler, TPESampler
from sksearch.schedulers import Hyperband
from sksearch.search import COUNT, inherits_parameters
from sksearch.space import Space

X: np.ndarray[Any, Any] = np.zeros((100, 3))
y: np.ndarray[Any, Any] = np.arange(100) % 2


def a_grid() -> float:
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, cv=3)
    GridSearchCV(estimator=LogisticRegression(), param_grid=[{"C": [1]}, {"C": [2], "tol": [0.1]}])
    GridSearchCV(LogisticRegression())  # type: ignore[call-arg]
    GridSearchCV(LogisticRegression(), {"C": [1]}, n_iter=3)  # type: ignore[call-arg]
    return search.fit(X, y).best_score_


def one_line() -> SearchCV:
    models = [("linear", LogisticRegression()), ("forest", RandomForestClassifier())]
    SearchCV(models, timeout=60, n_jobs=-1, ensemble=True).fit(X, y)
    SearchCV(LogisticRegression(), time_out=60)  # type: ignore[call-arg]
    SearchCV(LogisticRegression(), stop="convergd")  # type: ignore[arg-type]
    SearchCV(LogisticRegression(), stop={"patience": 5}, known={"params": [{"C": 1}]})
    SearchCV(LogisticRegression(), workers={"mmory": 2**30})  # type: ignore[arg-type]
    SearchCV(LogisticRegression(), workers={"memory": "2G"})  # type: ignore[arg-type]
    SearchCV(LogisticRegression(), stop={"patence": 5})  # type: ignore[arg-type]
    GridSearchCV(LogisticRegression(), {}, workers={"batch_size": 2})  # type: ignore[arg-type]
    return tune(LogisticRegression(), X, y, timeout=10)


def draws() -> dict[str, Any]:
    space = {"max_depth": randint(2, 9), "max_features": ["sqrt", None, 0.5]}
    search = RandomizedSearchCV(
        RandomForestClassifier(), space, n_iter=20, scoring="roc_auc", cv=StratifiedKFold(5),
        random_state=np.random.RandomState(0), error_score="raise", return_train_score=True,
    )  # fmt: skip
    RandomizedSearchCV(RandomForestClassifier(), space, n_iter="20")  # type: ignore[arg-type]
    return search.fit(X, y).best_params_


def several_metrics() -> None:
    scoring = {"accuracy": make_scorer(accuracy_score), "auc": "roc_auc"}
    GPBayesSearchCV(LogisticRegression(), scoring=scoring, refit="auc", n_iter=20).fit(X, y)
    GPBayesSearchCV(LogisticRegression(), scoring=["accuracy", "roc_auc"], refit=False)
    GPBayesSearchCV(LogisticRegression(), scoring=("accuracy",), refit=lambda results: 0)
    SearchCV(
        LogisticRegression(), objectives=["accuracy", "predict_time"], refit={"accuracy": 2.0},
        known={"constraints": [Bound("model_size", "<=", 1e6), lambda params: params["C"] < 3]},
    )  # fmt: skip


def resources() -> list[int]:
    pipe = make_pipeline(StandardScaler(), SGDClassifier())
    space = {"sgdclassifier__alpha": loguniform(1e-6, 1)}
    search = HyperbandSearchCV(pipe, space, resource="epochs", max_resources=27, factor=3)
    BOHBSearchCV(
        pipe, space, transfer="all", workers={"batch_size": "auto"}, checkpoint_dir=Path("here")
    )
    HyperbandSearchCV(pipe, space, factor="3")  # type: ignore[arg-type]
    PBTSearchCV(pipe, space, population_size=8, step=2)
    sizes: list[int] = search.fit(X, y).n_candidates_
    return sizes


def halving() -> None:
    HalvingGridSearchCV(SGDClassifier(), {"alpha": [0.1, 1]}, min_resources="exhaust", factor=2)
    HalvingRandomSearchCV(SGDClassifier(), {"alpha": loguniform(0.1, 1)}, n_candidates=9)
    HalvingRandomSearchCV(SGDClassifier(), {}, min_resources="all")  # type: ignore[arg-type]


def groups_and_folds(groups: list[int]) -> None:
    folds = [(np.arange(50), np.arange(50, 100))]
    SearchCV(LogisticRegression(), cv=GroupKFold(3)).fit(X, y, groups=groups)
    SearchCV(LogisticRegression(), cv=folds).fit(X, y).predict(X)
    print(SearchCV(LogisticRegression(), cv=iter(folds)).plan(X, y).n_candidates)
    cross_val_score(SearchCV(LogisticRegression()), X, y)


def parts() -> None:
    space = {"alpha": loguniform(1e-6, 1), "l1_ratio": When([0.1], "penalty", "==", "l1")}
    search = SearchCV(SGDClassifier(), space, sampler=GPSampler(), scheduler=Hyperband(2))
    search.set_params(sampler=TPESampler(), known__params=[{"alpha": 1e-3}], known__prior=None)
    SearchCV(SGDClassifier(), sampler="tpe")  # type: ignore[arg-type]


@inherits_parameters
class DoubleHyperbandSearchCV(HyperbandSearchCV):
    """A search of a user."""

    _parameter_constraints = HyperbandSearchCV._parameter_constraints | {"n_rounds": [COUNT]}

    def __init__(
        self, estimator: Any, space: dict[str, Any], *, n_rounds: int = 2, **params: Any
    ) -> None:
        super().__init__(estimator, space, **params)
        self.n_rounds = n_rounds

    def _compose(self, space: Space, rng: np.random.RandomState) -> tuple[Sampler, Scheduler]:
        sampler, _ = super()._compose(space, rng)
        return sampler, Hyperband(self.factor, n_iterations=self.n_rounds)


def a_search_of_ones_own() -> int:
    search = DoubleHyperbandSearchCV(SGDClassifier(), {"alpha": [0.1, 1]}, n_rounds=3, cv=2)
    DoubleHyperbandSearchCV(SGDClassifier(), n_rounds=3)  # type: ignore[call-arg]
    return search.fit(X, y).n_rounds


def results() -> tuple[float, int, str]:
    search = GPBayesSearchCV(LogisticRegression(), {"C": loguniform(0.1, 1)}, n_initial=3)
    search.fit(X, y)
    text = str(search.report())
    return (
        search.score(X, y),
        len(search.history_.trials),
        text + str(search.cv_results_["params"]),
    )
