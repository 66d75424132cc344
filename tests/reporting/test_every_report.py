"""Reports of searches that end oddly: each is a text, a page and a frame, and none raises."""

import re
from functools import cache

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text
from scipy.stats import loguniform, randint, uniform
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import BaggingClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    HalvingGridSearchCV,
    PredefinedSplit,
    RandomizedSearchCV,
    RepeatedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import sksearch
from sksearch import Bound, When, report, watch
from sksearch.plotting import HistoryDisplay, TimelineDisplay
from sksearch.reporting import _sections as sections, to_frame
from sksearch.space import Threshold
from tests.fakes import Curve

pytestmark = pytest.mark.filterwarnings("ignore")

X, Y = make_classification(40, 3, n_informative=2, n_redundant=0, flip_y=0.2, random_state=0)
NUMBERS = X @ [1.0, 2.0, 3.0]
TREE = DecisionTreeClassifier(random_state=0)
DEPTHS = {"max_depth": [1, 2, 3]}
ONE_FOLD = [(range(20), range(20, 40))]
BAG = BaggingClassifier(random_state=0)


class Odd(ClassifierMixin, BaseEstimator):
    """Fails, or predicts a class, as its parameters say."""

    def __init__(self, a=0.5, kind="plain", value=None):
        self.a = a
        self.kind = kind
        self.value = value

    def fit(self, X, y=None):
        if self.kind == "bad" or self.a < 0:
            raise ValueError("" if self.value == "" else f"no {self.kind} for {self.a}")
        self.classes_ = np.unique(Y if y is None else y)
        return self

    def predict(self, X):
        return self.classes_[(np.arange(len(X)) % 3 < 3 * self.a).astype(int)]


class Worse(Odd):
    """Another class."""


class Secret:
    """A value whose text cannot be had."""

    is_closed = False

    def __repr__(self):
        if self.is_closed:
            raise RuntimeError("no text")
        return "Secret()"


class Array:
    """A value that is neither equal nor unequal to others."""

    def __eq__(self, other):
        return np.array([True, False])

    __hash__ = None


def constant(estimator, X, y):
    return 0.5


def infinite(estimator, X, y):
    return np.inf if estimator.get_params().get("max_depth") == 1 else 0.5


def lowest(estimator, X, y):
    return -np.inf if estimator.get_params().get("max_depth") == 1 else 0.5


def missing(estimator, X, y):
    return np.nan if estimator.get_params().get("max_depth") == 1 else 0.5


def huge(estimator, X, y):
    return 1e300 * estimator.get_params().get("max_depth")


def tiny(estimator, X, y):
    return 1e-300 * estimator.get_params().get("max_depth")


def several(estimator, X, y):
    return {"a": 0.5, "b % {c}\n": 1.0}


def search(cls, estimator, space, X=X, y=Y, **options):
    """Return what makes a search and fits it."""
    cls = getattr(sksearch.search, cls) if isinstance(cls, str) else cls
    options = {"cv": 3} | options
    if cls.__module__.startswith("sksearch") and "Grid" not in cls.__name__:
        options = {"random_state": 0} | options
    return lambda: cls(estimator, space, **options).fit(X, y)


def random(space, estimator=TREE, **options):
    return search("RandomSearchCV", estimator, space, **{"n_iter": 4} | options)


def with_two_failing_models(**options):
    models = [("bad", Odd(kind="bad")), ("worse", Worse(kind="bad")), ("tree", TREE)]
    space = {"bad": {"a": uniform(0, 1)}, "worse": {"a": uniform(0, 1)}, "tree": DEPTHS}
    return search("SearchCV", models, space, n_iter=9, **options)


def front():
    space = {"max_depth": randint(1, 6)}
    aims = {"objectives": ["accuracy", "-fit_time"], "scoring": ["accuracy"], "refit": "accuracy"}
    return random(space, **aims)


ODD_NAMES = {"<tree>": TREE, "a b": GaussianNB(), "%s": KNeighborsClassifier(3)}
PIPE = Pipeline([("scale", StandardScaler()), ("model", LogisticRegression())])

SEARCHES = {
    "two models fail for one cause": with_two_failing_models(),
    "two models fail, with an average": with_two_failing_models(ensemble=True),
    "some fail": random({"a": uniform(-0.5, 1)}, Odd(), n_iter=8),
    "some fail without a text": random(
        {"a": [-1, 0.2, 0.5, 0.8], "value": [""]}, Odd(), n_iter=4
    ),
    "most fail": random({"a": [-1, -2, -3, 0.5], "kind": ["plain"]}, Odd()),
    "failures are kept as a number": random({"a": [-1, -2, 0.5]}, Odd(), n_iter=3, error_score=0),
    "no score": search("GridSearchCV", TREE, DEPTHS, scoring=lambda e, X, y: np.nan),
    "one candidate": random({"max_depth": [2]}, n_iter=1),
    "one candidate, one fold": random({"max_depth": [2]}, n_iter=1, cv=ONE_FOLD),
    "one fold": random(DEPTHS, cv=ONE_FOLD),
    "an empty space": random({}, n_iter=1),
    "a fold of one row": random(DEPTHS, cv=[(range(39), [39]), (range(1, 40), [0])]),
    "missing scores": random(DEPTHS, scoring=missing, n_iter=3),
    "infinite scores": random(DEPTHS, scoring=infinite, n_iter=3),
    "lowest scores": random(DEPTHS, scoring=lowest, n_iter=3),
    "constant scores": random(DEPTHS, scoring=constant, n_iter=3),
    "huge scores": random(DEPTHS, scoring=huge, n_iter=3),
    "tiny scores": random(DEPTHS, scoring=tiny, n_iter=3),
    "odd names of metrics": random(DEPTHS, scoring=several, refit="b % {c}\n", n_iter=3),
    "no refit": random(DEPTHS, refit=False, n_iter=3),
    "no refit, several metrics": random(
        DEPTHS, refit=False, scoring=["accuracy", "f1"], n_iter=3
    ),
    "several metrics": random(DEPTHS, refit="f1", scoring=["accuracy", "f1"], n_iter=3),
    "refit by a function": random(DEPTHS, refit=lambda results: 1, n_iter=3),
    "refit by a rule": random(DEPTHS, refit="fastest", n_iter=3),
    "training scores": random(DEPTHS, return_train_score=True, n_iter=3),
    "splits as they are": random(DEPTHS, cv=list(RepeatedKFold(n_splits=2).split(X)), n_iter=3),
    "a predefined fold": random(DEPTHS, cv=PredefinedSplit(np.arange(40) % 2 - 1), n_iter=3),
    "shuffled folds": random(DEPTHS, cv=ShuffleSplit(3, test_size=5), n_iter=3),
    "folds in time": random(DEPTHS, cv=TimeSeriesSplit(3), n_iter=3),
    "odd names of models": search(
        "SearchCV", [*ODD_NAMES.items()], {"<tree>": DEPTHS, "a b": {}, "%s": {}}, n_iter=5
    ),
    "odd names of parameters": random(
        {"odd name\n%s__max_depth": [1, 2]}, Pipeline([("odd name\n%s", TREE)]), n_iter=2
    ),
    "an average": random({"max_depth": randint(1, 6)}, ensemble=True),
    "empty texts": random({"value": ["", " ", "\n", "<b>%s</b>", "\x00\ud800"]}, Odd(), n_iter=5),
    "objects": random({"value": [object(), Array(), np.array([1, 2])]}, Odd(), n_iter=3),
    "objects without a text": random({"value": [Secret(), Secret()], "a": [0.4, 0.6]}, Odd()),
    "functions and frames": random(
        {"value": [print, lambda: 1, pd.DataFrame({"a": [1]}), {"a": {1, 2}}]}, Odd()
    ),
    "missing values": random({"value": [None, pd.NA, pd.NaT]}, Odd(), n_iter=3),
    "numbers of many kinds": random(
        {"a": [np.float32(0.1), 1, True, np.int8(0), 0.5 + 0j]}, Odd(), n_iter=5
    ),
    "nested estimators": random(
        {"estimator": [TREE, GaussianNB()], "n_estimators": [2, 3]}, BAG
    ),
    "steps that are left out": random(
        {"scale": [None, "passthrough", MinMaxScaler()], "model__C": loguniform(0.1, 10)}, PIPE
    ),
    "a union": random([{"max_depth": [1, 2]}, {"max_leaf_nodes": randint(2, 9)}]),
    "a condition": random(
        {"criterion": ["gini", "entropy"], "max_depth": When([1, 2], "criterion", "==", "gini")}
    ),
    "a threshold": random(
        {"threshold": Threshold(9)}, FixedThresholdClassifier(GaussianNB()), n_iter=1
    ),
    "bounds that none keeps": random(
        DEPTHS, known={"constraints": [Bound("fit_time", "<=", 1e-12)]}, n_iter=3
    ),
    "a front": front(),
    "several targets": search(
        "RandomSearchCV", DecisionTreeRegressor(), DEPTHS, X, np.c_[NUMBERS, -NUMBERS], n_iter=3
    ),
    "no target": search("RandomSearchCV", PCA(), {"n_components": [1, 2]}, X, None, n_iter=2),
    "a constant target": search("RandomSearchCV", Ridge(), {"alpha": [1, 2]}, X, 0 * Y, n_iter=2),
    "one class": random({"strategy": ["prior", "stratified"]}, DummyClassifier(), n_iter=2),
    "rungs": search(
        "HyperbandSearchCV", TREE, {"max_depth": randint(1, 9)}, resource="n_samples",
        min_resources=10, max_resources=26,
    ),
    "rungs in which some fail": search(
        "SuccessiveHalvingSearchCV", Odd(), {"a": uniform(-0.5, 1)}, resource="n_samples",
        min_resources=6, max_resources=24, n_candidates=6, factor=2,
    ),
    "folds one by one": search("SearchCV", TREE, {"max_depth": randint(1, 9)}, n_iter=6),
    "scikit-learn's grid": search(GridSearchCV, TREE, DEPTHS),
    "scikit-learn's random draws, some fail": search(
        RandomizedSearchCV, Odd(), {"a": uniform(-0.5, 1)}, n_iter=5, random_state=0
    ),
    "scikit-learn's halving": search(HalvingGridSearchCV, TREE, DEPTHS, min_resources=10),
    "scikit-learn's, no refit": search(
        GridSearchCV, TREE, DEPTHS, refit=False, scoring=["f1", "accuracy"]
    ),
}  # fmt: skip
#: Those of which a page and a sheet are drawn, too.
DRAWN = ("two models fail for one cause", "empty texts", "no score")


@pytest.mark.parametrize("name", SEARCHES)
def test_a_report_never_raises(name, monkeypatch):
    found = SEARCHES[name]()
    monkeypatch.setattr(Secret, "is_closed", True)
    told = report(found)
    assert "Winner" in str(told)
    assert "Winner" in told._repr_html_()
    assert str(type(told)(told._facts, full=True))
    assert len(to_frame(found)) >= 1
    if name not in ("empty texts", "objects without a text"):
        assert not told._facts.parts.faults


@pytest.mark.few(1)
@pytest.mark.parametrize("name", DRAWN)
def test_a_page_never_raises(name, tmp_path):
    plt = pytest.importorskip("matplotlib.pyplot")
    found = SEARCHES[name]()
    assert "Winner" in report(found, tmp_path / "page.html")._repr_html_()
    assert "<h2>" in (tmp_path / "page.html").read_text()
    assert found.show().displays_ or name == "no score"
    plt.close("all")


# ---- the guard


def broken(*args, **kwargs):
    raise RuntimeError("broken part")


LINE = "This part of the report could not be made (RuntimeError: broken part)."


@cache
def plain():
    return SEARCHES["some fail"]()


def without_spaces(text):
    return "".join(text.split())


@pytest.mark.parametrize("title", sections.SECTIONS)
def test_a_section_that_fails_is_one_line(title, monkeypatch, caplog):
    monkeypatch.setitem(sections.SECTIONS, title, broken)
    told = report(plain())
    assert without_spaces(LINE) in without_spaces(str(told))
    assert LINE in told._repr_html_()
    assert [each.title for each in told._sections if each.lines == (LINE,)] == [title]
    assert f"Report: {title} failed" in caplog.text
    assert "broken part" in caplog.text
    assert "Next" in str(told)


@pytest.mark.parametrize(
    ("name", "titles"),
    {
        "group_failures": {"Failed"},
        "selected_score": {"Score"},
        "corrected_by_rows": {"Score"},
        "rivals": {"Score"},
        "untuned": {"Untuned"},
        "find_ties": {"Tied"},
        "importance_of": {"Params"},
        "useless_params": {"Params"},
    }.items(),
)
def test_facts_that_cannot_be_computed_are_named(name, titles, monkeypatch):
    monkeypatch.setattr(sections, name, broken)
    told = report(plain())
    assert titles <= {each.title for each in told._sections if each.lines == (LINE,)}
    assert "Winner" in str(told)
    assert "Next" in str(told)


def test_headlines_rules_and_pictures_are_guarded(monkeypatch, tmp_path):
    plt = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.setattr("sksearch.reporting._report.headline", broken)
    monkeypatch.setattr("sksearch.reporting._advice.RULES", [broken])
    monkeypatch.setattr("sksearch.reporting._pictures._best", broken)
    monkeypatch.setattr("sksearch.reporting._html.candidates", broken)
    assert str(report(plain(), tmp_path / "page.html")).startswith("RandomSearchCV\nData ")
    page = (tmp_path / "page.html").read_text()
    assert f"Best candidates</b> {LINE}" in page
    assert "<b>Scores.</b>" in page
    monkeypatch.setattr("sksearch.plotting._sheet.HistoryDisplay.from_search", broken)
    display = plain().show()
    assert type(display.displays_[0]).__name__ == "DistributionDisplay"
    plt.close("all")


ONES = {
    "one candidate": (sksearch.RandomSearchCV, {"n_iter": 1}),
    "one epoch": (
        sksearch.SuccessiveHalvingSearchCV, {"n_candidates": 3, "max_resources": 3}
    ),
    "one stopped": (
        sksearch.SuccessiveHalvingSearchCV, {"n_candidates": 2, "max_resources": 3}
    ),
    "one after another": (sksearch.GPBayesSearchCV, {"n_iter": 2}),
    "one until the time is up": (sksearch.SearchCV, {"timeout": 60, "n_iter": 1}),
    "one worker": (sksearch.HyperbandSearchCV, {"max_resources": 9}),
}  # fmt: skip


@pytest.mark.parametrize("case", ONES)
def test_one_is_singular(case, caplog, tmp_path):
    """In the report and its page, the plan, progress, logs, pictures and the page of a journal."""
    kind, options = ONES[case]
    if "max_resources" in options:
        options = options | {"resource": "epochs", "min_resources": 1}
    caplog.set_level("DEBUG", logger="sksearch")
    search = kind(
        Curve(), {"quality": uniform(0, 1)}, cv=ONE_FOLD, random_state=0,
        checkpoint_dir=tmp_path / "kept", **options,
    ).fit(X, NUMBERS)  # fmt: skip
    found = report(search)
    progress = search.progress_
    texts = [str(found), found._repr_html_(), str(search.plan_), search.plan_._repr_html_()]
    texts += [progress.line(width) for width in (40, 80, 200)] + [progress.last_line()]
    texts += [*caplog.messages, watch.page(tmp_path / "kept")]
    for display in (HistoryDisplay, TimelineDisplay):
        axes = display.from_search(search).ax_
        texts += [text.get_text() for text in axes.findobj(Text)]
    text = "\n".join(texts)
    assert re.findall(r"(?<![\w.,/:=\"-])1 (?!was\b|is\b|has\b)\w+s\b.*", text) == []
    assert re.search(r"\b1 (candidate|epoch|fit|fold)\b", text)
