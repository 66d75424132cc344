"""Input that once was accepted, or whose error said too little: refused before any training."""

import signal

import numpy as np
import pandas as pd
import pytest
from scipy.stats import uniform
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sksearch import HyperbandSearchCV, RandomSearchCV, When
from sksearch.executors.local import _devices
from sksearch.space import Space

X, Y = make_classification(60, 4, n_informative=3, n_redundant=0, random_state=0)
ROWS = np.arange(60)


class Counted(LogisticRegression):
    """Counts its trainings."""

    n_fits = 0

    def fit(self, X, y, sample_weight=None):
        Counted.n_fits += 1
        return super().fit(X, y, sample_weight)


@pytest.fixture(autouse=True)
def _reset_count():
    Counted.n_fits = 0


def refuses(match, search=RandomSearchCV, space=None, X=X, y=Y, fit=(), own=True, **params):
    """See that fit raises what names the parameter, and that nothing was trained before."""
    space = {"C": [0.1, 1.0]} if space is None else space
    params = ({"n_iter": 2} if search is RandomSearchCV else {}) | params
    with pytest.raises((ValueError, TypeError), match=match):
        estimator = Counted() if own else LogisticRegression()
        search(estimator, space, **params).fit(X, y, **dict(fit))
    assert Counted.n_fits == 0


def own_metric(y_true, y_pred):
    return 1.0


def weighted_metric(y_true, y_pred, sample_weight=None):
    return 1.0


def of_three(a, b, c):
    return 1.0


@pytest.mark.parametrize("metric", [accuracy_score, own_metric, weighted_metric])
def test_a_metric_is_not_a_scorer(metric):
    refuses(r"scoring=\w+ looks like a metric.*make_scorer", scoring=metric)
    refuses(r"scoring\['a'\]=\w+ looks like a metric", scoring={"a": metric}, refit="a")


def test_what_can_be_called_with_estimator_x_and_y_is_a_scorer():
    for scoring in (of_three, make_scorer(accuracy_score), lambda *args: 0.5):
        search = RandomSearchCV(Counted(), {"C": [0.1]}, n_iter=1, scoring=scoring).fit(X, Y)
        assert search.statuses_ == ["ok"]


@pytest.mark.parametrize("scoring", [{}, [], ()], ids=str)
def test_a_scoring_without_metrics_is_refused(scoring):
    refuses("scoring=.*contains no metric: pass", scoring=scoring)


@pytest.mark.parametrize(
    ("pair", "hint"),
    [
        ((1e-4, 1e-1), r"\[0.0001, 0.1\].*uniform\(0.0001, 0.0999\) or loguniform\(0.0001, 0.1\)"),
        ((-1.0, 1), r"uniform\(-1.0, 2\)"),
        ((1, 9), r"randint\(1, 10\) "),
    ],
)
def test_a_tuple_of_two_numbers_is_two_choices_with_a_warning(pair, hint):
    with pytest.warns(UserWarning, match=f"two choices, not as a range.*{hint}"):
        assert Space({"C": pair}).size == 2


@pytest.mark.parametrize("values", [[1, 2], (1, 2, 3), (2, 1), (True, False), ("a", "b"), (1,)])
def test_other_choices_bring_no_warning(values):
    assert Space({"C": values}).size == len(values)


def test_a_refit_that_cannot_be_called_is_refused():
    refuses("refit=.*one argument that returns the index", refit=lambda: 0)
    refuses("refit=.*one argument that returns the index", refit=lambda results, more: 0)


def test_an_index_beyond_the_rows_is_named_and_the_results_are_kept():
    search = RandomSearchCV(Counted(), {"C": [0.1, 1.0]}, n_iter=2, refit=lambda table: 9)
    with pytest.raises(IndexError, match=r"refit=.*returned 9.*are kept in cv_results_"):
        search.fit(X, Y)
    assert len(search.cv_results_["params"]) == 2


@pytest.mark.parametrize(("index", "error"), [(-1, IndexError), ("a", TypeError)])
def test_what_will_never_be_an_index_is_named_after_the_first_results(index, error):
    search = RandomSearchCV(Counted(), {"C": [0.1, 1.0]}, n_iter=2, refit=lambda table: index)
    with pytest.raises(error, match=f"refit=.*returned {index!r} for the first results"):
        search.fit(X, Y)
    assert len(search.cv_results_["params"]) == 1


@pytest.mark.parametrize(
    ("fold", "match"),
    [
        ((ROWS, []), "test rows of fold 1 are empty"),
        (([], ROWS), "train rows of fold 1 are empty"),
        ((ROWS, np.zeros(60, bool)), "test rows of fold 1 are empty"),
        ((ROWS, np.ones(59, bool)), "mask whose shape is not"),
        ((ROWS, np.array([60])), "range from 60 to 60, but X has 60 rows"),
        ((np.array([-61, 0]), ROWS), "range from -61 to 0"),
        ((ROWS, np.array([0.0, 1.0])), "dtype float64"),
        ((ROWS, np.array([[0, 1]])), r"shape \(1, 2\)"),
        ((ROWS, ROWS, ROWS), r"fold 1 is a tuple of 3, but must be a pair"),
        (ROWS, "fold 1 is a ndarray of 60"),
        (3, "fold 1 is a int, but must be a pair"),
    ],
)
def test_folds_that_cannot_be_trained_and_scored_on_are_refused(fold, match):
    good = (ROWS[:30], ROWS[30:])
    refuses(f"cv: .*{match}.*: pass", cv=[good, fold])
    refuses(f"cv: .*{match}.*: pass", cv=iter([good, fold]))


def test_a_generator_of_folds_that_is_used_up_is_refused():
    folds = KFold(3).split(X)
    list(folds)
    refuses("cv has no folds.*pass a list", cv=folds)


def test_masks_and_negative_rows_are_folds():
    mask = ROWS < 30
    folds = [(mask, ~mask), (ROWS[:30], np.arange(-30, 0))]
    search = RandomSearchCV(Counted(), {"C": [0.1]}, n_iter=1, cv=folds).fit(X, Y)
    assert search.cv_results_["std_test_score"][0] == 0


@pytest.mark.parametrize(
    "condition",
    [
        When([1, 2], "b", "==", 7),
        When([1, 2], "b", ">", 2),
        When([1, 2], "b", "in", [0, 3]),
        When(When([1, 2], "b", "==", 1), "b", "==", 2),
        When([1, 2], "x", ">", 1.5),
        When([1, 2], "x", "==", 7),
    ],
    ids=str,
)
def test_a_condition_that_never_holds_is_refused(condition):
    space = {"b": [1, 2], "a": condition} | ({"x": uniform()} if condition.parent == "x" else {})
    with pytest.raises(ValueError, match=r"'a'\] is active when .*never holds: [bx] is "):
        Space(space)


def test_a_condition_that_never_holds_is_refused_in_an_infinite_space():
    with pytest.raises(ValueError, match=r"a'\] is active when b == 7, which never holds"):
        Space({"b": [1, 2], "a": When(uniform(), "b", "==", 7)})


def test_fit_parameters_that_no_training_takes_are_refused():
    refuses("fit got foo, which fit of Counted does not accept: leave", fit={"foo": 1})
    pipe = make_pipeline(StandardScaler(), SGDClassifier())
    search = RandomSearchCV(pipe, {"sgdclassifier__alpha": [0.1]}, n_iter=1)
    with pytest.raises(
        ValueError, match=r"foo, which does not belong to a step.*sgdclassifier__foo"
    ):
        search.fit(X, Y, foo=1)
    with pytest.raises(ValueError, match="sgdclassifier__foo, which fit of SGDClassifier does"):
        search.fit(X, Y, sgdclassifier__foo=1)
    by_epochs = HyperbandSearchCV(SGDClassifier(), {"alpha": [0.1]}, resource="epochs")
    with pytest.raises(ValueError, match="coef_init, which partial_fit of SGDClassifier does not"):
        by_epochs.fit(X, Y, coef_init=np.ones((1, 4)))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_weights_that_are_not_finite_are_refused(bad):
    weight = np.where(ROWS == 3, bad, 1.0)
    refuses(f"sample_weight is {bad} in row 3: pass", fit={"sample_weight": weight}, own=False)
    refuses("sample_weight is", fit={"sample_weight": pd.Series(weight)}, own=False)


@pytest.mark.parametrize("name", ["solver", "fit_intercept"])
def test_a_resource_whose_values_are_no_integers_is_refused(name):
    refuses(
        f"resource='{name}' is not an integer", HyperbandSearchCV, resource=name, max_resources=9
    )


def test_weights_that_are_texts_are_refused():
    weight = ["a"] * len(ROWS)
    refuses("sample_weight contains 'a': pass", fit={"sample_weight": weight}, own=False)


@pytest.mark.parametrize("data", ["abc", b"abc", 3, None, {1, 2}, iter([1, 2])])
def test_data_without_rows_are_named(data):
    refuses(r"X=.*has no rows: pass", X=data)
    if data is not None:
        refuses(r"y=.*has no rows: pass", y=data)


@pytest.mark.parametrize(
    ("label", "match"),
    [
        (np.nan, "y has 1 missing label.*row 4"),
        (None, "y has 1 missing label.*row 4"),
        (pd.NA, "y has 1 missing label.*row 4"),
        (3, "y mixes labels of the types int and str"),
    ],
)
def test_labels_that_are_missing_or_mixed_are_refused(label, match):
    labels = np.where(Y, "yes", "no").astype(object)
    labels[4] = label
    refuses(match, y=labels)
    refuses(match, y=pd.Series(labels))
    refuses("y has 60 missing labels", y=np.full(60, np.nan))


@pytest.mark.parametrize(
    "params",
    [
        {"stop": {"score": np.nan}},
        {"stop": {"score": np.inf}},
        {"n_iter": True},
        {"ensemble": 0},
        {"workers": {"retries": True}},
        {"stop": {"patience": True}},
        {"timeout": True},
        {"workers": {"timeout": True}},
        {"stop": {"overtime": 1.0}},
        {"stop": {"overtime": -1.0}, "timeout": 1.0},
        {"workers": {"memory": True}},
        {"pre_dispatch": 0},
        {"pre_dispatch": True},
        {"pre_dispatch": "0*n_jobs"},
        {"pre_dispatch": "twice"},
        {"checkpoint_dir": "a\0b"},
    ],
    ids=str,
)
def test_counts_and_numbers_that_are_none_are_refused(params):
    refuses(next(iter(params)), **params)


def test_a_device_is_refused_where_there_is_no_driver(monkeypatch):
    monkeypatch.setattr(_devices, "_count_devices", lambda: 0)
    monkeypatch.setattr(_devices, "_has_driver", lambda: False)
    monkeypatch.delenv(_devices.VARIABLE, raising=False)
    refuses(
        r"devices.*=\[0\] contains 0, but this process sees 0 CUDA devices",
        workers={"devices": [0]},
    )


class InterruptedRefit(Counted):
    """A Ctrl-C comes while it is trained on all rows."""

    def fit(self, X, y, sample_weight=None):
        if len(X) == 60:
            signal.raise_signal(signal.SIGINT)
        return super().fit(X, y, sample_weight)


def test_a_search_whose_refit_is_interrupted_is_reported():
    search = RandomSearchCV(InterruptedRefit(), {"C": [0.1, 1.0]}, n_iter=2)
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, Y)
    assert search.interrupted_
    assert search.set_params(refit=False).fit(X, Y).interrupted_ is False
