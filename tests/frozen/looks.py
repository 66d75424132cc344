"""What users read: reports, pages, plans, tables, what is logged, statistics."""

import inspect
import re
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
from scipy.stats import loguniform, randint, uniform
from sklearn.ensemble import RandomForestClassifier, StackingClassifier
from sklearn.linear_model import ElasticNet, LogisticRegression, Ridge, SGDClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import sksearch
from sksearch import (
    ASHASearchCV,
    BOHBSearchCV,
    HyperbandSearchCV,
    PBTSearchCV,
    RandomSearchCV,
    SearchCV,
    SuccessiveHalvingSearchCV,
    TPESearchCV,
    report,
)
from sksearch.executors import VirtualClock
from sksearch.model_selection import GridSearchCV
from sksearch.reporting import to_mlflow
from sksearch.search import FabolasSearchCV, IncrementalEvaluationSearchCV, PASHASearchCV
from sksearch.space import default_space, first_candidates
from sksearch.stats import (
    anytime_regret,
    bootstrap_interval,
    draws_to_hit,
    friedman,
    hit_probability,
    importance,
    normalised_regret,
    profiles,
    ranks,
    wilcoxon_holm,
)
from sksearch.stats._density import silverman_bandwidth
from sksearch.stats._profiles import order_kept
from sksearch.stats._ranks import critical_difference
from sksearch.stats._selection import selected_score
from sksearch.stats._ties import find_ties
from tests.comparisons import ks_best_of
from tests.frozen.boosters import description
from tests.frozen.cases import case
from tests.frozen.estimators import PLANE, SPACE, XR, Hill, X, y, yr

RUNGS = {"resource": "epochs", "max_resources": 9, "cv": 2, "random_state": 0}


def on_a_clock(search, X=XR, y=yr):
    """Fit a search in simulated seconds, which its texts name."""
    with VirtualClock():
        return search.fit(X, y)


def texts_of(search):
    """The report of a search in text, in full, and its advice."""
    made, full = report(search), report(search, full=True)
    advice = [[each.rule, each.text, each.code] for each in made.advice]
    return {"text": str(made), "full": str(full), "advice": advice}


@case
def the_report_of_draws():
    search = RandomSearchCV(Hill(), SPACE, n_iter=24, cv=4, random_state=0)
    return texts_of(on_a_clock(search)) | {"best": search.best(4)}


@case
def the_report_of_hyperband():
    search = HyperbandSearchCV(Hill(), SPACE, audit=0.3, **RUNGS)
    return texts_of(on_a_clock(search)) | {"best": search.best(4)}


@case
def the_report_of_a_race():
    search = SearchCV(Hill(), SPACE, n_iter=16, cv=5, random_state=0)
    return texts_of(on_a_clock(search)) | {"best": search.best(4)}


@case
def the_report_of_failures_and_edges():
    space = {"x": uniform(0.35, 0.6), "y": uniform(0, 0.5), "width": randint(1, 60)}
    search = RandomSearchCV(Hill(fails_above=0.8), space, n_iter=20, cv=3, random_state=0)
    return texts_of(on_a_clock(search))


@case
def the_report_of_real_models():
    space = {"C": loguniform(1e-3, 1e3), "gamma": loguniform(1e-4, 10)}
    search = RandomSearchCV(SVC(), space, n_iter=15, cv=5, random_state=0).fit(X, y)
    lines = [re.sub(r"[\d.]+ \w+ of training", "... of training", line)
             for line in str(report(search)).splitlines() if "fastest" not in line]  # fmt: skip
    return {"text": lines}


@case
def the_report_in_html(folder):
    search = on_a_clock(RandomSearchCV(Hill(), SPACE, n_iter=12, cv=3, random_state=0))
    made = search.report()
    html = made._repr_html_()
    folder.mkdir()
    page = made.save(folder / "page.html").read_text(encoding="utf-8")
    tags = re.findall(r"<(\w+)", page)
    return {
        "fragment": html.partition("</style>")[2].replace("><", ">\n<"),
        "captions": re.findall("<figcaption>(.*?)</figcaption>", page),
        "tags": {tag: tags.count(tag) for tag in sorted(set(tags))},
    }


PLANNED = {
    "draws": RandomSearchCV(Hill(), SPACE, n_iter=9),
    "a time": SearchCV(Hill(), SPACE, timeout=60),
    "nothing": SearchCV(DecisionTreeClassifier()),
    "grid": GridSearchCV(Hill(), {"x": [0.1, 0.2], "y": [0.3, 0.4]}),
    "hyperband of epochs": HyperbandSearchCV(Hill(), SPACE, resource="epochs"),
    "hyperband of rows": HyperbandSearchCV(Hill(), SPACE, resource="n_samples"),
    "hyperband of folds": HyperbandSearchCV(Hill(), SPACE, resource="folds", cv=9),
    "algorithm 1": HyperbandSearchCV(Hill(), SPACE, candidates="algorithm1", **RUNGS),
    "audit": HyperbandSearchCV(Hill(), SPACE, audit=0.2, **RUNGS),
    "243 epochs": HyperbandSearchCV(Hill(), SPACE, resource="epochs", max_resources=243),
    "halving": SuccessiveHalvingSearchCV(Hill(), SPACE, n_candidates=20, factor=2, **RUNGS),
    "asha": ASHASearchCV(Hill(), SPACE, **RUNGS),
    "pasha": PASHASearchCV(Hill(), SPACE, **RUNGS),
    "bohb": BOHBSearchCV(Hill(), SPACE, **RUNGS),
    "incremental": IncrementalEvaluationSearchCV(Hill(), SPACE, **RUNGS),
    "population": PBTSearchCV(Hill(), PLANE, **RUNGS),
    "fabolas": FabolasSearchCV(Hill(), PLANE, resource="n_samples"),
}


@case
def plans_in_text():
    return {
        name: str(search.plan(XR, yr)) for name, search in PLANNED.items() if name != "nothing"
    }


@case
def plans_of_default_spaces_and_in_html():
    plan = PLANNED["hyperband of epochs"].plan(XR, yr)
    return {
        "html": plan._repr_html_().replace("><", ">\n<"),
        "counts": [plan.n_candidates, plan.n_fits, plan.total_resources],
        "nothing": str(PLANNED["nothing"].plan(X, y)),
    }


# ---- tables


@case
def tables_of_pandas():
    parts = {}
    searches = {
        "draws": RandomSearchCV(Hill(), SPACE, n_iter=8, cv=3, random_state=0),
        "rungs": SuccessiveHalvingSearchCV(Hill(fails_above=0.7), SPACE, **RUNGS),
        "race": SearchCV(Hill(), SPACE, n_iter=8, cv=4, random_state=0),
    }
    for name, search in searches.items():
        frame = on_a_clock(search).to_frame()
        parts[f"{name} columns"] = [list(frame.columns), frame.index.tolist()]
        parts[name] = frame.values.tolist()
    return parts


@case
def what_is_sent_to_mlflow(folder):
    from mlflow.tracking import MlflowClient

    folder.mkdir()
    search = on_a_clock(SuccessiveHalvingSearchCV(Hill(fails_above=0.8), SPACE, **RUNGS))
    client = _Memory(MlflowClient)
    run_id = client.log(search)
    return {"run": [run_id], "runs": client.told}


class _Memory:
    """Stands for a server of MLflow: it keeps what it is told."""

    def __init__(self, client):
        self.client, self.told = client, []

    def log(self, search):
        """Log a search, with a server in memory."""
        names = ("get_experiment_by_name", "create_experiment", "create_run", "log_batch",
                 "set_terminated")  # fmt: skip
        with patch.multiple(self.client, **{name: getattr(self, name) for name in names}):
            return to_mlflow(search, tracking_uri="http://localhost:1")

    def get_experiment_by_name(self, name):
        self.told.append(f"experiment {name}")

    def create_experiment(self, name):
        return "1"

    def create_run(self, experiment, time, tags, name):
        number = sum(line.startswith("run ") for line in self.told)
        self.told.append(f"run {number}: {name}, {tags}")
        return SimpleNamespace(info=SimpleNamespace(run_id=str(number)))

    def log_batch(self, run_id, params=(), metrics=()):
        for each in params:
            self.told.append(f"{run_id} param {each.key}={each.value}")
        for each in metrics:
            self.told.append(f"{run_id} metric {each.key}={each.value:.4g} at {each.step}")

    def set_terminated(self, run_id, status, time):
        self.told.append(f"{run_id} ends {status}")


# ---- what is known of estimators

KNOWN = {
    "ridge": Ridge(), "net": ElasticNet(), "logistic": LogisticRegression(), "svc": SVC(),
    "neighbours": KNeighborsClassifier(), "forest": RandomForestClassifier(),
    "sgd": SGDClassifier(), "mlp": MLPClassifier(),
    "pipeline": make_pipeline(StandardScaler(), PolynomialFeatures(), SVC()),
    "stack": StackingClassifier([("svc", SVC()), ("tree", DecisionTreeClassifier())]),
}  # fmt: skip


@case
def default_spaces():
    sizes = {"n_samples": 500, "n_features": 10}
    parts = {}
    for name, model in KNOWN.items():
        space = default_space(model, **sizes)
        parts[name] = {key: description(values) for key, values in sorted(space.items())}
        parts[f"{name} first"] = first_candidates(model, **sizes)
    return parts


@case
def signatures_of_all_searches():
    names = [name for name in sksearch.search.__all__ if name.endswith("SearchCV")]
    return {
        name: [f"{p.name}={p.default!r}" for p in
               inspect.signature(getattr(sksearch.search, name)).parameters.values()]
        for name in names
    }  # fmt: skip


# ---- statistics


@case
def statistics_of_one_search():
    search = on_a_clock(TPESearchCV(Hill(), SPACE, n_iter=24, cv=4, random_state=0))
    scores = np.column_stack([search.cv_results_[f"split{k}_test_score"] for k in range(4)])
    best, found = search.best_index_, importance(search, random_state=0)
    return {
        "importance": vars(found),
        "selected": vars(selected_score(scores, chosen=best)),
        "tied": [find_ties(scores, best).tied.tolist()],
        "order": [order_kept(scores[:, :2].mean(axis=1), scores.mean(axis=1))],
        "bandwidth": [silverman_bandwidth(scores[:, 0])],
    }


@case
def statistics_of_optimizers():
    rng = np.random.default_rng(0)
    losses = np.minimum.accumulate(rng.random((3, 6, 20)), axis=2)
    finals = losses[:, :, -1]
    return {
        "regret": [normalised_regret(finals, 0.0, 1.0)],
        "ranks": [ranks(finals)],
        "friedman": [friedman(finals)],
        "difference": [critical_difference(3, 6)],
        "wilcoxon": [wilcoxon_holm(finals)],
        "interval": [bootstrap_interval(finals[0], random_state=0)],
        "hits": [hit_probability(60, 3, 20), draws_to_hit(60, 3, 0.95)],
        "best of": [ks_best_of(finals[0], 20, uniform(0, 1).cdf)],
        "anytime": [anytime_regret(np.arange(1, 21), losses[0, 0], [0.5, 4, 9.5, 30])],
        "profiles": vars(profiles(losses[0])),
    }
