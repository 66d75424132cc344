"""A user's script: after each search on an engine its classes and functions are what they were.

What is defined in ``__main__`` travels by value, and must not come back as a copy.
"""

import json
import sys
import tempfile
from contextlib import contextmanager, nullcontext
from enum import Enum

import joblib
import numpy as np
from scipy.stats import uniform
from sklearn.base import BaseEstimator, ClassifierMixin

from sksearch import (
    ASHASearchCV,
    HyperbandSearchCV,
    PBTSearchCV,
    RandomSearchCV,
    SearchCV,
    SuccessiveHalvingSearchCV,
    minimize,
)
from sksearch.executors import FuturesBackend, VirtualClock
from sksearch.fitting.finish._averaged import AveragedClassifier
from sksearch.samplers import RandomSampler
from sksearch.schedulers import FullFidelity
from sksearch.search import IncrementalEvaluationSearchCV
from tests.executors import engines

SCALE = 1


def scaled(value):
    return value * SCALE


class Kind(Enum):
    ODD = 1
    EVEN = 2


class TooGoodError(RuntimeError):
    def __init__(self, text, kind=Kind.ODD):
        super().__init__(text)
        self.kind = kind


class Learner(ClassifierMixin, BaseEstimator):
    n_made = 0

    def __init__(self, quality=0.5, form=scaled, kind=Kind.EVEN, limit=2.0):
        self.quality = quality
        self.form = form
        self.kind = kind
        self.limit = limit

    def fit(self, X, y):
        self.classes_, self.n_epochs_ = np.unique(y), 0
        return self.partial_fit(X, y)

    def partial_fit(self, X, y, classes=None):
        if self.quality > self.limit:
            raise TooGoodError("too good")
        if not hasattr(self, "n_epochs_"):
            self.classes_, self.n_epochs_ = np.asarray(classes), 0
        self.n_epochs_ += 1
        self.own_ = lambda value: value + self.n_epochs_ * 0
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))

    def score(self, X, y=None):
        assert isinstance(self, Learner)
        assert isinstance(self.kind, Kind)
        return scaled(self.form(self.own_(self.quality - (1 - self.quality) / self.n_epochs_)))


def loss(params):
    return scaled((params["quality"] - 0.3) ** 2)


CLASSES = Learner, Kind, TooGoodError
BEFORE = {cls: dict(vars(cls)) for cls in CLASSES}
FUNCTION = scaled
X, Y = np.zeros((24, 1)), np.arange(24) % 2
SPACE = {"quality": uniform(0, 1), "form": [scaled], "kind": [Kind.ODD, Kind.EVEN]}
EPOCHS = {"resource": "epochs", "max_resources": 9}
COMMON = {"cv": 2, "random_state": 0, "error_score": "raise"}
SEARCHES = {
    "pbt": (PBTSearchCV, {"population_size": 4, "step": 3} | EPOCHS),
    "halving": (SuccessiveHalvingSearchCV, {"n_candidates": 9} | EPOCHS),
    "hyperband": (HyperbandSearchCV, {"n_iterations": 1, "ensemble": True} | EPOCHS),
    "asha": (ASHASearchCV, {"n_candidates": 9} | EPOCHS),
    "incremental": (IncrementalEvaluationSearchCV, {"budget": 27} | EPOCHS),
    "ensemble": (RandomSearchCV, {"n_iter": 4, "ensemble": True}),
    "composed": (SearchCV, {"sampler": RandomSampler(), "scheduler": FullFidelity(3)}),
}


def check(where):
    """Assert that nobody has touched what is defined here, and that what changes is seen."""
    global SCALE, scaled
    for cls, attributes in BEFORE.items():
        assert getattr(sys.modules["__main__"], cls.__name__) is cls
        now = dict(vars(cls))
        now.pop("__slotnames__", None)  # Python's own note for pickling
        assert now.keys() == attributes.keys(), (where, cls, now.keys() ^ attributes.keys())
        changed = [name for name in now if now[name] is not attributes[name]]
        assert not changed, (where, cls, changed)
    assert scaled is FUNCTION, where
    assert Learner.fit.__globals__ is globals(), where
    learner = Learner(0.5).fit(X, Y)
    SCALE = 4
    assert learner.score(X, Y) == 0.0, where
    assert Learner(0.75).fit(X, Y).score(X, Y) == 8.0, where
    SCALE, scaled = 1, lambda value: "redefined"
    assert Learner(0.75).fit(X, Y).score(X, Y) == "redefined", where
    scaled = FUNCTION


def check_models(search, where):
    """Assert that models that came back are of the classes here."""
    global SCALE
    models = [search.best_estimator_]
    if isinstance(models[0], AveragedClassifier):
        models = [frozen.estimator for frozen in models[0].models]
    for model in models:
        assert type(model) is Learner, (where, type(model))
        assert type(model.kind) is Kind, where
        assert model.form is scaled, where
        before = model.score(X, Y)
        SCALE = 4
        assert model.score(X, Y) == before * 16, where
        SCALE = 1


def run(engine, n_jobs, limits):
    """Fit all searches, without a checkpoint, with one, and again where it had ended."""
    found = {}
    for name, (cls, options) in SEARCHES.items():
        with tempfile.TemporaryDirectory() as folder:
            for kept in (None, folder, folder):
                search = cls(
                    Learner(), SPACE, n_jobs=n_jobs, checkpoint_dir=kept, **COMMON, **options,
                    **limits,
                )  # fmt: skip
                with engine():
                    search.fit(X, Y)
                where = f"{name}, {'a checkpoint' if kept else 'no checkpoint'}"
                check(where)
                check_models(search, where)
                scores = search.cv_results_["mean_test_score"].tolist()
                if name != "asha":  # which takes results as they come
                    assert found.setdefault(name, scores) == scores, where
    with engine():
        try:
            RandomSearchCV(
                Learner(limit=-1.0), SPACE, n_iter=2, n_jobs=n_jobs, **COMMON, **limits
            ).fit(X, Y)
        except TooGoodError as raised:
            error = raised
        else:
            raise AssertionError("no error")
    assert type(error.kind) is Kind
    assert error.kind is Kind.ODD
    check("an error")
    at_work = {"batch_size": 2} | limits.get("workers", {})
    with engine():
        result = minimize(
            loss,
            SPACE,
            n_iter=6,
            n_jobs=n_jobs,
            workers=at_work,
            random_state=0,
        )
    found["minimize"] = result.fun
    check("minimize")
    return found


def in_process_pool():
    """A pool that says nothing of sharing our memory."""
    from concurrent.futures import Executor, Future

    class Pool(Executor):
        def submit(self, function, /, *args):
            future = Future()
            try:
                future.set_result(function(*args))
            except Exception as error:
                future.set_exception(error)
            return future

    return FuturesBackend(Pool(), n_workers=2)


@contextmanager
def dask_threads():
    import distributed

    with (
        engines.new_dask_cluster(distributed, processes=False) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config("dask", n_jobs=2),
    ):
        yield


LOCAL = {
    "serial": (nullcontext, 1, {}),
    "threading": (lambda: joblib.parallel_config("threading"), 2, {}),
    "workers": (nullcontext, 2, {}),
    "isolated": (nullcontext, 1, {"workers": {"timeout": 600}}),
    "virtual": (VirtualClock, 1, {}),
    "pool": (lambda: joblib.parallel_config(in_process_pool(), n_jobs=2), None, {}),
    "dask threads": (dask_threads, None, {}),
}


if __name__ == "__main__":
    name = sys.argv[1]
    print(json.dumps(run(*LOCAL.get(name, (lambda: engines.engine(name), None, {})))))
