"""What a user has set (errors of numbers, warnings, texts) acts on the user's code alone."""

import decimal
import doctest
import random
import sys
import warnings
from contextlib import contextmanager, nullcontext
from functools import lru_cache
from importlib import import_module

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import special
from scipy.stats import loguniform, randint, uniform
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification

import sksearch
from sksearch import SearchCV, report
from sksearch._utils._compat import cloudpickle
from sksearch._utils._numerics import own_numerics
from sksearch.samplers import GPSampler, HypervolumeSampler

cloudpickle.register_pickle_by_value(sys.modules[__name__])
X, Y = make_classification(60, 4, random_state=0)
SPACE = {"a": uniform(-1, 2), "b": loguniform(1e-30, 1e3), "n": randint(1, 9)}


class Curved(ClassifierMixin, BaseEstimator):
    """Has a score of its own that three params, and passes, change."""

    def __init__(self, a=0.0, b=1.0, n=5):
        self.a, self.b, self.n = a, b, n

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def partial_fit(self, X, y, classes=None):
        self.n_passes_ = getattr(self, "n_passes_", 0) + 1
        return self.fit(X, y)

    def predict_proba(self, X):
        p = np.clip(0.5 + self.a * X[:, 1] / 9 + 0.1 * X[:, 0], 0.01, 0.99)
        return np.column_stack([1 - p, p])

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def score(self, X, y):
        score = super().score(X, y) - 1e-3 * (self.a - 0.3) ** 2 - 1e-4 * np.log10(self.b) ** 2
        return float(score - 1e-3 * self.n + 1e-3 * getattr(self, "n_passes_", 0))


@contextmanager
def warnings_are_errors():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@contextmanager
def decimals_are_exact():
    with decimal.localcontext() as context:
        context.prec, context.traps[decimal.Inexact] = 2, True
        yield


@contextmanager
def short_tables():
    import polars

    options = {"display.precision": 1, "display.max_rows": 3, "display.max_colwidth": 5}
    options |= {"display.float_format": "{:.0f}".format, "mode.string_storage": "python"}
    pairs = (x for pair in options.items() for x in pair)
    with pd.option_context(*pairs), polars.Config(tbl_rows=1, float_precision=1):
        yield


SETTINGS = {
    "numpy raises": lambda: np.errstate(all="raise"),
    "scipy raises": lambda: special.errstate(all="raise"),
    "warnings are errors": warnings_are_errors,
    "scikit-learn": lambda: sklearn.config_context(
        transform_output="pandas", enable_metadata_routing=True, assume_finite=True
    ),
    "arrays are printed short": lambda: np.printoptions(
        precision=1, threshold=2, suppress=True, legacy="1.13"
    ),
    "tables are printed short": short_tables,
    "decimals are exact": decimals_are_exact,
}


def full(name):
    return lambda: getattr(sksearch.search, name)(Curved(), SPACE, n_iter=9, cv=3, random_state=0)


def by_passes(name):
    return lambda: getattr(sksearch.search, name)(
        Curved(), SPACE, resource="epochs", max_resources=4, factor=2, cv=3, random_state=0
    )


def search(*args, **kwargs):
    return lambda: SearchCV(*args or (Curved(), SPACE), n_iter=9, cv=3, random_state=0, **kwargs)


SEARCHES = {
    name: full(name)
    for name in (
        "RandomSearchCV", "RandomizedSearchCV", "TPESearchCV", "GPBayesSearchCV",
        "ForestBayesSearchCV", "EvolutionSearchCV",
    )
} | {
    name: by_passes(name) for name in ("HyperbandSearchCV", "BOHBSearchCV", "ASHASearchCV")
} | {
    "FabolasSearchCV": lambda: sksearch.search.FabolasSearchCV(
        Curved(), SPACE, n_iter=8, cv=3, random_state=0
    ),
    "HalvingRandomSearchCV": lambda: sksearch.model_selection.HalvingRandomSearchCV(
        Curved(), SPACE, n_candidates=8, cv=3, random_state=0
    ),
    "GridSearchCV": lambda: sksearch.search.GridSearchCV(Curved(), {"a": [0.1, 0.3, 0.9]}, cv=3),
    "average": search(ensemble=True, scoring="neg_log_loss"),
    "race": lambda: sksearch.search.IncrementalEvaluationSearchCV(
        Curved(), SPACE, max_resources=4, cv=3, random_state=0
    ),
    "converged": search(stop="converged", sampler=GPSampler()),
    "objectives": search(
        objectives=["accuracy", "neg_log_loss"], scoring=["accuracy", "neg_log_loss"],
        refit="accuracy", sampler=HypervolumeSampler(),
    ),
}  # fmt: skip


@lru_cache
def outcome(name):
    """Return what a search finds with nothing set."""
    return found(SEARCHES[name]())


def found(search):
    """Fit; return params, scores, and the report without its times."""
    before = np.random.get_state()[1].tolist(), random.getstate()
    search.fit(X, Y)
    lines = str(report(search)).splitlines()
    after = np.random.get_state()[1].tolist(), random.getstate()
    assert after == before or search.random_state is None  # as in scikit-learn's
    scores = {k: v.tolist() for k, v in search.cv_results_.items() if k.endswith("score")}
    expected = [line.split("(")[0] for line in lines if "expected on new data" in line]
    return search.best_params_, scores, expected


@pytest.mark.few(10)
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.filterwarnings("ignore")
def test_a_search_finds_the_same_whatever_its_user_has_set(name, setting):
    plain = outcome(name)
    with SETTINGS[setting]():
        if setting == "warnings are errors":
            warnings.simplefilter("ignore", UserWarning)  # of a search that tells its user
        np.testing.assert_equal(found(SEARCHES[name]()), plain)


class Feels(ClassifierMixin, BaseEstimator):
    """Has a score of 1 if ``fit`` and ``score`` run with what the user has set, 0 otherwise."""

    def __init__(self, a=0):
        self.a = a

    def felt(self):
        action = next(f[0] for f in warnings.filters if issubclass(RuntimeWarning, f[2]))
        is_pandas = sklearn.get_config()["transform_output"] == "pandas"
        return np.geterr()["under"] == "raise" and action == "error" and is_pandas

    def fit(self, X, y):
        self.classes_, self.in_fit_ = np.unique(y), self.felt()
        return self

    def score(self, X, y):
        return float(self.in_fit_ and self.felt())


@pytest.mark.few(5)
@pytest.mark.parametrize("engine", ["here", "processes", "threads"])
@pytest.mark.parametrize("name", ["RandomSearchCV", "GPBayesSearchCV", "GridSearchCV"])
def test_the_users_estimator_runs_with_what_the_user_has_set(name, engine):
    values = [*range(5)] if name == "GridSearchCV" else randint(0, 9)
    size = {} if name == "GridSearchCV" else {"n_iter": 5, "random_state": 0}
    n_jobs = 1 if engine == "here" else 2
    search = getattr(sksearch.search, name)(Feels(), {"a": values}, cv=2, n_jobs=n_jobs, **size)
    backend = "threading" if engine == "threads" else None
    with SETTINGS["scikit-learn"](), SETTINGS["numpy raises"](), warnings_are_errors():
        with joblib.parallel_config(backend) if backend else nullcontext():
            search.fit(X, Y)
        assert np.geterr()["under"] == "raise", "as before"
    assert search.cv_results_["mean_test_score"].min() == 1
    assert search.best_estimator_.in_fit_


@pytest.mark.parametrize("raises", [np.errstate, special.errstate])
def test_our_settings_end_with_our_code(raises):
    with raises(all="raise"):
        before = np.geterr(), special.geterr()
        with own_numerics():
            assert np.exp(np.array([-1e9]))[0] == 0
            assert np.isnan(special.ndtri(-1.0))
            assert special.geterr()["memory"] == "raise", "SciPy's default"
        assert (np.geterr(), special.geterr()) == before


def test_every_statistic_has_our_settings():
    """Their examples, with errors of floating-point numbers raised."""
    for module in (
        "_importance",
        "_optima",
        "_profiles",
        "_ranks",
        "_regret",
        "_selection",
        "_ties",
    ):
        module = import_module(f"sksearch.stats.{module}")
        with np.errstate(all="raise"), special.errstate(all="raise"):
            assert doctest.testmod(module).failed == 0, module
