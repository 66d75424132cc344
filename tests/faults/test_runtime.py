"""What goes wrong while a search runs; "row" is the line of the table of faults."""

import os
import signal
import sys
import tempfile
import textwrap

import numpy as np
import pytest
from scipy.stats import uniform
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import KFold
from sklearn.svm import SVC

from sksearch import RandomSearchCV
from sksearch._utils._compat import cloudpickle
from sksearch.model_selection import RandomizedSearchCV
from tests import scripts
from tests.faults.estimators import (
    QUALITIES,
    TRIPLE,
    NeverError,
    NotTwiceError,
    X,
    Y,
    hyperband,
    jobs,
    statuses,
)

# Workers cannot import this file, so its estimators travel by value.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

non_finite = pytest.mark.filterwarnings("ignore:One or more of the test scores:UserWarning")
scoring_failed = pytest.mark.filterwarnings("ignore:Scoring failed:UserWarning")
RESOURCES = pytest.mark.parametrize(
    ("resource", "n_jobs"),
    [("epochs", 1), ("epochs", 2), ("n_samples", 1), ("folds", 2), ("n_units", 1)],
)


def not_twice():
    raise RuntimeError("cannot be read back")


class NotTwice:
    """Can be pickled, but not read back."""

    def __reduce__(self):
        return (not_twice, ())


ERRORS = {
    "ValueError": lambda: ValueError("bad value"),
    "NotTwiceError": lambda: NotTwiceError(1, 2),
    "NeverError": lambda: NeverError(lambda: 0),
}


class Fake(ClassifierMixin, BaseEstimator):
    """Scores its quality; those whose quality is in `bad` raise the named error."""

    def __init__(self, quality=0.5, error=None, bad=(), n_units=9, ballast=None):
        self.quality = quality
        self.error = error
        self.bad = bad
        self.n_units = n_units
        self.ballast = ballast

    def partial_fit(self, X, y, classes=None):
        if self.error is not None and (self.bad == "all" or self.quality in self.bad):
            raise ERRORS[self.error]()
        if self.ballast is not None:
            self.ballast_ = self.ballast()
        self.n_calls_ = getattr(self, "n_calls_", 0) + 1
        self.classes_ = np.unique(y) if classes is None else classes
        return self

    def fit(self, X, y):
        self.n_calls_ = 0
        return self.partial_fit(X, y)

    def predict(self, X):
        return np.repeat(self.classes_[:1], len(X))

    def score(self, X, y):
        return float(self.quality)


@pytest.fixture(autouse=True)
def temp_dir(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


# ---- candidates that fail


@pytest.mark.few(3)
@non_finite
@RESOURCES
def test_a_search_in_which_all_fail_raises_after_the_first_rung(resource, n_jobs):  # row 14
    search = hyperband(Fake(error="ValueError", bad="all"), resource=resource, n_jobs=n_jobs)
    with pytest.raises(ValueError, match=r"(?s)All the .*bad value"):
        search.fit(X, Y)
    lowest = search.n_resources_[0]
    assert {r for t in search.history_.trials if t.bracket == 0 for r in t.results} == {lowest}
    assert not any(t.results for t in search.history_.trials if t.bracket > 1)
    assert search.interrupted_


@pytest.mark.few(1)
@jobs
def test_a_search_at_full_fidelity_in_which_all_fail_raises(n_jobs):  # row 14
    search = RandomSearchCV(Fake(error="ValueError", bad="all"), TRIPLE, n_iter=3, n_jobs=n_jobs)
    with pytest.raises(ValueError, match="All the 15 fits failed"):
        search.fit(X, Y)


@pytest.mark.few(2)
@non_finite
@RESOURCES
@pytest.mark.parametrize("error_score", [np.nan, 0.0, 99.0])
def test_failed_candidates_are_never_promoted(resource, error_score, n_jobs):  # row 15
    bad = (0.7, 0.8, 0.9)
    search = hyperband(
        Fake(error="ValueError", bad=bad), QUALITIES, resource, error_score=error_score,
        n_jobs=n_jobs, refit=False,
    )  # fmt: skip
    with pytest.warns(FitFailedWarning, match="bad value"):
        search.fit(X, Y)
    for trial in search.history_.trials:
        failed = trial.params["quality"] in bad
        assert all((r.status == "error") == failed for r in trial.results.values())
        assert len(trial.results) == 1 or not failed
    if not error_score > 1:  # else it is the best by number, as in scikit-learn
        assert search.best_params_["quality"] == 0.6


@non_finite
@jobs
def test_if_all_scores_are_nan_the_search_raises_and_a_namesake_warns(n_jobs):  # row 16
    args = {"n_iter": 3, "scoring": lambda e, X, y: np.nan, "n_jobs": n_jobs}
    with pytest.raises(ValueError, match="No candidate has a finite score"):
        RandomSearchCV(Fake(), TRIPLE, **args).fit(X, Y)
    search = RandomizedSearchCV(Fake(), TRIPLE, **args)
    with pytest.warns(UserWarning, match="No candidate has a finite score"):
        search.fit(X, Y)
    assert search.best_index_ == 0
    assert search.cv_results_["rank_test_score"].tolist() == [1, 1, 1]


@non_finite
@RESOURCES
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_a_score_that_is_not_finite_never_wins(value, resource, n_jobs):  # rows 17 and 18
    def scorer(estimator, X, y):
        return value if estimator.quality in (0.1, 0.9) else estimator.quality

    search = hyperband(Fake(), QUALITIES, resource, scoring=scorer, n_jobs=n_jobs).fit(X, Y)
    assert search.best_params_["quality"] == 0.8
    found = statuses(search)
    assert found.pop(0.1) == found.pop(0.9) == {"nan"}
    assert set().union(*found.values()) == {"ok"}


@non_finite
def test_one_infinite_fold_is_enough_to_be_out():  # row 17
    def scorer(estimator, X, y):
        return np.inf if estimator.quality == 0.3 and X[0, 0] == X[0, 0].max() else 0.1

    search = RandomSearchCV(Fake(), TRIPLE, n_iter=3, scoring=scorer).fit(X, Y)
    assert search.best_params_ == {"quality": 0.1}


@scoring_failed
@pytest.mark.parametrize(
    ("value", "n_jobs"),
    [
        ("good", 1),
        ("good", 2),
        (None, 1),
        (np.array([1.0, 2.0]), 1),
        (1j, 1),
        ([0.5], 1),
        ({"a": "good"}, 1),
        ({"a": None}, 1),
    ],
    ids=str,
)
def test_a_scorer_without_numbers_raises_after_some_candidates(value, n_jobs, temp_dir):  # row 19
    """After three; None may be what a scorer says of a candidate, so after ten."""

    def my_scorer(estimator, X, y):
        return value

    refit = "a" if isinstance(value, dict) else True
    search = hyperband(Fake(), scoring=my_scorer, n_jobs=n_jobs, refit=refit)
    match = r"scoring must return a number.*scorer=(.*my_scorer|a)"
    with pytest.raises(ValueError, match=match) as caught:
        search.fit(X, Y)
    assert isinstance(caught.value, TypeError)
    n = 10 if "None" in str(value) else 3
    assert sum(len(trial.results) for trial in search.history_.trials) == n
    assert not list(temp_dir.iterdir())


@pytest.mark.parametrize("wrap", [np.array, np.float32, int, bool], ids=str)
def test_a_score_that_is_any_kind_of_number_is_taken(wrap):  # row 19
    def scorer(estimator, X, y):
        return wrap(estimator.quality == 0.9)

    search = hyperband(Fake(), QUALITIES, scoring=scorer).fit(X, Y)
    assert search.best_params_ == {"quality": 0.9}
    assert search.best_score_ == 1.0


def failing_scorer(estimator, X, y):
    if estimator.quality == 0.9:
        raise RuntimeError("cannot score this")
    return estimator.quality


def failing_dict_scorer(estimator, X, y):
    return {"a": failing_scorer(estimator, X, y), "b": 0.0}


@non_finite
@pytest.mark.parametrize(
    ("scoring", "refit"),
    [
        (failing_scorer, True),
        ({"a": failing_scorer, "b": "accuracy"}, "a"),
        (failing_dict_scorer, "a"),
    ],
    ids=["one", "several", "a dict"],
)
def test_a_scorer_that_raises_costs_that_candidate_only(scoring, refit):  # row 20
    search = hyperband(Fake(), QUALITIES, scoring=scoring, refit=refit)
    with pytest.warns(UserWarning, match=r"(?s)Scoring failed.*cannot score this"):
        search.fit(X, Y)
    assert search.best_params_ == {"quality": 0.8}
    failed = next(t for t in search.history_.trials if t.params["quality"] == 0.9)
    assert [r.status for r in failed.results.values()] == ["error"]
    assert "cannot score this" in next(iter(failed.results.values())).error


@pytest.mark.few(2)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("error", "n_jobs"),
    [("NotTwiceError", 1), ("NeverError", 1), ("NotTwiceError", 2), ("NeverError", 2)],
)
def test_error_score_raise_tells_what_the_fit_raised(error, n_jobs, temp_dir):  # row 28
    search = RandomSearchCV(
        Fake(error=error, bad="all"), TRIPLE, n_iter=3, error_score="raise", n_jobs=n_jobs
    )
    with pytest.raises(Exception, match=r".") as caught:
        search.fit(X, Y)
    assert error in repr(caught.value) + str(caught.value.__cause__)
    assert not list(temp_dir.glob("sksearch-*"))


@pytest.mark.slow
def test_a_model_that_cannot_be_read_back_is_trained_again():  # row 28
    search = hyperband(Fake(ballast=NotTwice), QUALITIES, n_jobs=2)
    with pytest.warns(UserWarning, match="cannot be read back"):
        search.fit(X, Y)
    assert search.best_params_ == {"quality": 0.9}
    assert search.cv_results_["n_resources"].max() == 9


def test_an_estimator_that_cannot_be_pickled_leaves_no_files(temp_dir):  # row 28
    class Rooted(Fake):
        def __reduce__(self):
            raise TypeError("stays at home")

    with pytest.raises(TypeError, match="stays at home"):
        RandomSearchCV(Rooted(), TRIPLE, n_iter=3, n_jobs=2).fit(X, Y)
    assert not list(temp_dir.glob("sksearch-*"))


def run_script(text, **kwargs):
    """Start a Python script that imports nothing of this file."""
    head = """
    import numpy as np, os, signal, sys, time
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.datasets import make_classification
    from sksearch import HyperbandSearchCV, RandomSearchCV
    X, Y = make_classification(60, 4, n_informative=3, n_redundant=0, random_state=0)
    """
    script = textwrap.dedent(head) + textwrap.dedent(text)
    return scripts.start(["-W", "error", "-c", script], **kwargs)


def test_folds_with_one_class_are_named_if_all_candidates_fail():  # row 30
    y = np.repeat([0, 1], 30)
    search = RandomSearchCV(SVC(), {"C": [0.1, 1.0]}, n_iter=2, cv=KFold(2))
    match = r"(?s)^fold 0 trains on 30 rows of one class.*fold 1 trains on 30.*fits failed"
    with pytest.raises(ValueError, match=match):
        search.fit(X, y)


# ---- Ctrl-C


@pytest.mark.slow
def test_ctrl_c_with_workers_keeps_the_results_and_leaves_nothing(tmp_path):  # row 23
    process = run_script(
        """
    class Slow(ClassifierMixin, BaseEstimator):
        def __init__(self, a=0):
            self.a = a
        def partial_fit(self, X, y, classes=None):
            time.sleep(0.05)
            return self
        fit = partial_fit
        def score(self, X, y):
            return self.a
    search = HyperbandSearchCV(
        Slow(), {"a": list(range(2000))}, resource="epochs", max_resources=243, n_jobs=2, cv=2,
        random_state=0, scoring=lambda e, X, y: os.write(1, b"scored\\n") * 0 + e.a,
    )
    try:
        search.fit(X, Y)
    except KeyboardInterrupt:
        known = search.cv_results_["param_a"]
        print(search.interrupted_, search.best_params_["a"] == max(known), os.listdir(DIR))
    """.replace("DIR", repr(str(tmp_path))),
        env=os.environ | {"TMPDIR": str(tmp_path), "JOBLIB_TEMP_FOLDER": str(tmp_path)},
    )
    try:
        for _ in range(8):
            assert process.stdout.readline() == "scored\n"
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the workers get it as well
        out, err = process.communicate(timeout=60)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    words = out.replace("scored\n", "").split(maxsplit=2)
    assert words[:2] == ["True", "True"], err
    assert "sksearch-" not in words[2]


@jobs
def test_a_timeout_that_leaves_no_time_evaluates_one_candidate(n_jobs):
    search = RandomSearchCV(Fake(), {"quality": uniform()}, timeout=1e-9, n_jobs=n_jobs)
    search.fit(X, Y)
    assert len(search.cv_results_["params"]) == 1
    assert hasattr(search, "best_estimator_")
