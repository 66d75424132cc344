"""What a terminal obeys, such as escape sequences in names and errors, never reaches it."""

import ast
import contextlib
import io
import logging
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

import sksearch
from sksearch import RandomSearchCV, SearchCV, When, minimize, report
from sksearch._utils._terminal import OBEYED, printable
from sksearch.samplers import RandomSampler
from sksearch.space import Space

EVIL = "a\x1b]0;title\x07\x1b[2J\b\r\x9b31m\u202e\u2066z\x7f\ud800"
X, Y = np.arange(40.0).reshape(20, 2), np.arange(20) % 2


class Model(ClassifierMixin, BaseEstimator):
    """Its score is its parameter; from 3 on it fails."""

    def __init__(self, level=0.0, label=""):
        self.level, self.label = level, label

    def fit(self, X, y):
        if self.level >= 3:
            raise ValueError(f"no {self.label}{EVIL}")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.zeros(len(X), dtype=int)

    def score(self, X, y):
        return self.level / 10


Evil = type(EVIL.replace("\ud800", ""), (Model,), {})


class Odd:
    """Its repr is what a terminal obeys."""

    def __repr__(self):
        return EVIL


@contextlib.contextmanager
def heard():
    """All that this process prints, logs and warns of."""
    texts, file = [], io.StringIO()

    class Keep(logging.Handler):
        def emit(self, record):
            texts.append(self.format(record))

    handler, logger = Keep(logging.DEBUG), logging.getLogger("sksearch")
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        with (
            contextlib.redirect_stdout(file),
            contextlib.redirect_stderr(file),
            warnings.catch_warnings(record=True) as caught,
        ):
            warnings.simplefilter("always")
            yield texts
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)
    texts += [str(each.message) for each in caught] + [file.getvalue()]


def loss_of(params):
    if params["n" + EVIL] == 2:
        raise ValueError(EVIL)
    return float(params["n" + EVIL])


def search_of(estimator=None, space=None, **options):
    space = {"level": [0, 1, 2, 3], "label": [EVIL, "b"]} if space is None else space
    options = {"n_iter": 8, "cv": 2, "random_state": 0} | options
    return RandomSearchCV(Evil() if estimator is None else estimator, space, **options)


def fits():
    table = pd.DataFrame(X, columns=["c" + EVIL.replace("\ud800", ""), "d"])
    for verbose in (1, 2, 3, 10):
        search = search_of(verbose=verbose).fit(table, Y)
        print(report(search), report(search, full=True), search.plan(X, Y), search.progress_)
    search_of(space={"level": [0, 1], "label": [Odd(), Odd()]}, n_iter=4, verbose=10).fit(X, Y)


def metrics():
    scoring = {"m" + EVIL: lambda estimator, X, y: estimator.level, "n": "accuracy"}
    search = search_of(scoring=scoring, refit="n", verbose=3).fit(X, Y)
    print(report(search, full=True))


def loads():
    name = "n" + EVIL
    print(minimize(loss_of, {name: [1, 2, 3]}, n_iter=3, sampler=RandomSampler()).message)


@pytest.mark.parametrize("act", [fits, metrics, loads])
def test_nothing_that_a_search_tells_has_an_escape_sequence(act):
    with heard() as texts:
        act()
    assert any("\\x1b" in text for text in texts)
    assert [text for text in texts if OBEYED.search(text)] == []


def all_fail():
    search_of(space={"level": [3, 4], "label": [EVIL, "b"]}, n_iter=4).fit(X, Y)


def raising(params):
    raise ValueError(EVIL)


ERRORS = {
    "all fail": all_fail,
    "all calls fail": lambda: minimize(raising, {"x" + EVIL: [1, 2]}, n_iter=2),
    "a name that the estimator lacks": lambda: search_of(space={EVIL: [1]}).fit(X, Y),
    "a guess": lambda: search_of(known={"params": {EVIL: 1}}).fit(X, Y),
    "a guess of an odd value": lambda: search_of(known={"params": {"level": Odd()}}).fit(X, Y),
    "a metric": lambda: search_of(scoring=EVIL).fit(X, Y),
    "a refit": lambda: search_of(refit=EVIL).fit(X, Y),
    "an objective": lambda: search_of(objectives=["score", EVIL]).fit(X, Y),
    "a bound": lambda: search_of(known={"constraints": sksearch.Bound(EVIL, "<=", 1)}).fit(X, Y),
    "a belief": lambda: search_of(known={"prior": {EVIL: [1]}}).fit(X, Y),
    "a parent": lambda: search_of(space={"level": When([1], EVIL, "==", 1)}).fit(X, Y),
    "a resource": lambda: SearchCV(Evil(), {"level": [1]}, resource=EVIL, n_iter=2).fit(X, Y),
    "weights": lambda: search_of(Model()).fit(X, Y, sample_weight=[Odd()] * 20),
    "an argument of fit": lambda: search_of().fit(X, Y, **{EVIL: 1}),
    "a constraint that raises": lambda: minimize(
        len, {"x" + EVIL: [1, 2]}, known={"constraints": raising}, n_iter=2
    ),
    "an odd option of a search": lambda: search_of(timeout=Odd()).fit(X, Y),
    "an odd option": lambda: minimize(len, {"x": [1, 2]}, timeout=Odd()),
}


@pytest.mark.parametrize("name", ERRORS)
def test_no_error_of_a_search_has_an_escape_sequence(name):
    with heard() as texts, pytest.raises((ValueError, TypeError, RuntimeError)) as caught:
        ERRORS[name]()
    texts += [str(caught.value), *getattr(caught.value, "__notes__", ())]
    assert [text for text in texts if OBEYED.search(text)] == []


def test_the_error_of_a_user_is_left_as_it_is():
    with pytest.raises(ValueError) as caught:
        search_of(space={"level": [3]}, n_iter=1, error_score="raise").fit(X, Y)
    assert EVIL in str(caught.value)


def test_lines_tabs_and_letters_of_all_languages_stay():
    text = "one\n\ttwo é 日本 עברית 👩‍🔬"
    assert printable(text) == text
    assert printable(EVIL) == (
        "a\\x1b]0;title\\x07\\x1b[2J\\x08\\r\\x9b31m\\u202e\\u2066z\\x7f\\ud800"
    )


def test_a_space_says_what_it_refuses_in_printable_text():
    with pytest.raises(ValueError) as caught:
        Space({EVIL: []})
    assert not OBEYED.search(str(caught.value))


def calls_of(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func)


def test_one_module_prints_and_warns():
    root = Path(sksearch.__file__).parent
    found = {
        str(path.relative_to(root))
        for path in root.rglob("*.py")
        if re.search(r"print\(|warnings\.warn\(", text := path.read_text())
        and {"print", "warnings.warn"} & set(calls_of(ast.parse(text)))
    }
    assert found == {"_utils/_terminal.py"}
