"""What is no Exception ends a search, as it ends scikit-learn's, and what is known is kept."""

import asyncio
import signal
import threading

import joblib
import numpy as np
import pytest
import sklearn.model_selection
from sklearn.base import BaseEstimator, ClassifierMixin

import sksearch
from sksearch import load_history, minimize
from tests import interrupted
from tests.checkpoint.test_resume import make, outcome
from tests.interrupted import Trouble

X, Y = np.arange(24.0).reshape(12, 2), np.tile([0, 1], 6)
THREADS = {"n_jobs": 2, "backend": "threading"}
QUALITIES = {"quality": [0.1, 0.2, 0.3, 0.4]}


class TimerError(BaseException):
    """A timer of the user's has raised it."""


class OwnInterrupt(KeyboardInterrupt):
    """A library's own way to end all."""


class OwnExit(SystemExit):
    """Another one."""


def time_out(kind):
    """Have a timer raise an error in this moment, with a handler that stays, as in a script."""

    def handler(number, frame):
        raise kind("the time is up")

    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 1e-3)
    threading.Event().wait(5)


@pytest.fixture(autouse=True)
def calm():
    """Give the timer's signal back."""
    before, Trouble.after = signal.getsignal(signal.SIGALRM), None
    yield
    signal.signal(signal.SIGALRM, before)
    Trouble.after = None


def cancel():
    """Cancel a task."""
    raise asyncio.CancelledError


ENDS = {
    "pytest.fail": (lambda: pytest.fail("Timeout >1.0s"), pytest.fail.Exception),
    "cancelled": (cancel, asyncio.CancelledError),
    "closed": (lambda: (_ for _ in ()).throw(GeneratorExit()), GeneratorExit),
    "own": (lambda: (_ for _ in ()).throw(TimerError("late")), TimerError),
    "derived from Ctrl-C": (lambda: (_ for _ in ()).throw(OwnInterrupt()), OwnInterrupt),
    "derived from an exit": (lambda: (_ for _ in ()).throw(OwnExit(3)), OwnExit),
    "group": (
        lambda: (_ for _ in ()).throw(BaseExceptionGroup("both", [TimerError()])),
        BaseExceptionGroup,
    ),
}
TIMERS = {
    "timer": (lambda: time_out(TimerError), TimerError),
    "timer like Ctrl-C": (lambda: time_out(KeyboardInterrupt), KeyboardInterrupt),
    "timer that exits": (lambda: time_out(SystemExit), SystemExit),
}


class Ending(ClassifierMixin, BaseEstimator):
    """The third candidate ends the search, in the place that is named."""

    def __init__(self, quality=0.5, end=None, at="fit"):
        self.quality = quality
        self.end = end
        self.at = at

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self._reach("fit")
        return self

    def _reach(self, place):
        if self.quality == 0.3 and self.end is not None and self.at == place:
            {**ENDS, **TIMERS}[self.end][0]()

    def predict(self, X):
        self._reach("predict")
        return np.repeat(self.classes_[:1], len(X))

    def score(self, X, y):
        self._reach("score")
        return self.quality

    def set_params(self, **params):
        super().set_params(**params)
        self._reach("set_params")
        return self


def search_of(cls, end, at="fit", **args):
    return cls(Ending(end=end, at=at), QUALITIES, cv=2, refit=False, **args)


@pytest.mark.few(5)
@pytest.mark.parametrize("end", [*ENDS, *TIMERS])
@pytest.mark.parametrize("at", ["fit", "score", "set_params"])
def test_it_ends_the_search_as_it_ends_that_of_scikit_learn(end, at, tmp_path):
    error = {**ENDS, **TIMERS}[end][1]
    with pytest.raises(error):
        search_of(sklearn.model_selection.GridSearchCV, end, at).fit(X, Y)
    search = search_of(sksearch.model_selection.GridSearchCV, end, at, checkpoint_dir=tmp_path)
    with pytest.raises(error):
        search.fit(X, Y)
    assert search.interrupted_
    assert search.cv_results_["mean_test_score"].tolist() == [0.1, 0.2]
    assert len(load_history(tmp_path).cv_results_["params"]) == 2


@pytest.mark.few(3)
@pytest.mark.parametrize("end", ["cancelled", "own"])
@pytest.mark.parametrize(
    "args",
    [pytest.param({"n_jobs": 2}, marks=pytest.mark.slow), {"workers": {"timeout": 30}}, THREADS],
    ids=str,
)
def test_it_does_so_from_workers(end, args):
    args = dict(args)
    with joblib.parallel_config(args.pop("backend", "loky")), pytest.raises(ENDS[end][1]):
        search = search_of(sksearch.model_selection.GridSearchCV, end, **args)
        search.fit(X, Y)
    assert search.interrupted_
    assert search.cv_results_["mean_test_score"].tolist()[:2] == [0.1, 0.2]


@pytest.mark.parametrize("name", ["random", "hyperband"])
def test_a_search_that_it_has_ended_continues(name, tmp_path):
    def happens():
        raise TimerError("late")

    Trouble.after, Trouble.happens = 7, happens
    with pytest.raises(TimerError):
        make(name, tmp_path).fit(interrupted.X, interrupted.Y)
    found = make(name, tmp_path).fit(interrupted.X, interrupted.Y)
    assert outcome(found) == outcome(make(name).fit(interrupted.X, interrupted.Y))


@pytest.mark.few(4)
@pytest.mark.parametrize("end", [*ENDS, *TIMERS])
def test_minimize_ends(end):
    def loss(params):
        if params["x"] == 0.5:
            {**ENDS, **TIMERS}[end][0]()
        return params["x"]

    guesses = [{"x": 0.25}, {"x": 0.5}]
    with pytest.raises({**ENDS, **TIMERS}[end][1]):
        minimize(loss, {"x": [0.25, 0.5, 0.75]}, known={"params": guesses}, n_iter=3)
