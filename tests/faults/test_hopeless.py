"""Searches in which all fails alike end soon and say why; if a part of a space fails they go on.

Rows of the table of faults beside 14 and 15.
"""

import re
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.stats import loguniform, randint, uniform
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin, clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.feature_extraction import DictVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import PoissonRegressor, Ridge, SGDClassifier
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import FixedThresholdClassifier, KFold
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from sksearch import (
    ASHASearchCV,
    GPBayesSearchCV,
    HalvingSearchCV,
    HyperbandSearchCV,
    RandomSearchCV,
    SearchCV,
    SuccessiveHalvingSearchCV,
    TPESearchCV,
)
from sksearch.checkpoint._checkpoint import read_journal
from sksearch.model_selection import GridSearchCV, RandomizedSearchCV
from sksearch.search import PASHASearchCV
from tests.faults.estimators import Everywhere, Fake, trainings

X, y = make_classification(90, 5, n_informative=3, n_redundant=0, random_state=0)
TABLE = pd.DataFrame(X, columns=list("abcde"))
TOWNS = TABLE.assign(city=["Ulm", "Bonn", "Kiel"] * 30, colour=["red", "blue"] * 45)
DATES = TABLE.assign(day=pd.date_range("2020-01-01", periods=90))
HOLE = np.where(np.arange(450).reshape(90, 5) == 17, np.nan, X)
NAMES = np.array(["no", "yes"])[y]
N_FEW = 10  # candidates


@np.errstate(all="ignore")
def log(values):
    return np.log(values)


LOGS = TransformedTargetRegressor(Ridge(), func=log, inverse_func=np.exp, check_inverse=False)
LOGS_CHECKED = clone(LOGS).set_params(check_inverse=True)

CAUSES = {
    "text columns": (GradientBoostingClassifier(), TOWNS, y, "'city', 'colour' .*OneHotEncoder"),
    "text after a scaler": (make_pipeline(StandardScaler(), SVC()), TOWNS, y, "'city', 'colour'"),
    "text and an imputer": (make_pipeline(SimpleImputer(), SVC()), TOWNS, y, "'city', 'colour'"),
    "text for single precision": (DecisionTreeClassifier(), TOWNS, y, "'city', 'colour'"),
    "strings": (DecisionTreeClassifier(), TOWNS.convert_dtypes(), y, "'city', 'colour'"),
    "array of text": (SVC(), TOWNS.to_numpy(), y, "columns 5, 6 of X hold text"),
    "list of texts": (SVC(), ["good day", "bad day"] * 45, y, r"TfidfVectorizer\(\)"),
    "dates": (SVC(), DATES, y, "column 'day' of X holds dates"),
    "one missing value": (SVC(), HOLE, y, r"column 2 of X has missing values.*SimpleImputer\(\)"),
    "infinity": (SVC(), np.nan_to_num(HOLE, nan=np.inf), y, "column 2 of X has infinite"),
    "negative values": (MultinomialNB(), X, y, r"negative values.*MinMaxScaler\(\)"),
    "logarithms of 0": (LOGS, X, np.where(y == 1, 0.0, 2.0), "y has no infinite values, but the"),
    "checked logarithms of 0": (LOGS_CHECKED, X, np.where(y == 1, 0.0, 2.0), "y has no inf"),
    "checked logarithms below 0": (LOGS_CHECKED, X, y - 2.5, "y has no missing values"),
    "logarithms below 0": (LOGS, X, y - 2.5, "y has no missing values .*func, is not def"),
    "negative counts": (PoissonRegressor(), X, X[:, 0], "y has a minimum of -.*Poisson"),
    "one class": (SVC(), X, np.zeros(90), "y contains a single class"),
    "two targets": (SVC(), X, np.c_[y, y], "MultiOutputClassifier"),
    "images": (SVC(), X.reshape(90, 5, 1), y, r"X.reshape\(len\(X\), -1\)"),
    "one column": (SVC(), X[:, 0], y, r"X.reshape\(-1, 1\)"),
    "names of columns": (SVC(), TABLE.rename(columns={"a": 0}), y, "columns.astype"),
}


class Broken(ClassifierMixin, BaseEstimator):
    """Fails with a text if its rate is above a limit, which is below its own rate or not."""

    def __init__(self, rate=0.5, limit=0.0, says="it cannot be done", size=1):
        self.rate, self.limit, self.says, self.size = rate, limit, says, size

    def fit(self, X, y):
        if self.rate > self.limit:
            raise RuntimeError(self.says.format(rate=self.rate))
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.repeat(self.classes_[:1], len(X))


def first_line(search, X, y, **params):
    with pytest.raises(ValueError) as caught:
        search.fit(X, y, **params)
    assert len(search.history_.trials) <= N_FEW
    assert search.interrupted_
    return str(caught.value).splitlines()[0]


@pytest.mark.filterwarnings("ignore:Scoring failed:UserWarning")
@pytest.mark.parametrize("name", CAUSES)
def test_the_first_line_names_cause_and_cure(name):
    estimator, X, y, says = CAUSES[name]
    assert re.search(says, first_line(SearchCV(estimator, timeout=60, random_state=0), X, y))


DAYS = np.datetime64("2024-01-01") + np.arange(90)
THRESHOLD = FixedThresholdClassifier(SVC())
THRICE = "threshold between two classes, but y has 3: search over its estimator, SVC, instead"


@pytest.mark.parametrize(
    ("estimator", "target", "says"),
    [
        (Ridge(), np.where(y == 1, np.nan, 0.0), "y has 45 missing values .NaN.*in row"),
        (Ridge(), np.r_[y[:89], np.nan], "y has 1 missing value .NaN.*in row 89"),
        (Ridge(), np.r_[DAYS[:89], np.datetime64("NaT")], "y has 1 missing value .NaT.*in row 89"),
        (Ridge(), np.r_[np.inf, y[:89]], "y is infinite in row 0"),
        (THRESHOLD, np.arange(90) % 3, THRICE),
    ],
)
def test_a_target_that_no_candidate_takes_is_refused(estimator, target, says):
    search = SearchCV(estimator, n_iter=20, random_state=0)
    with pytest.raises(ValueError, match=says):
        search.fit(X, target)
    assert not hasattr(search, "history_")


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_one_missing_number_in_many_rows_is_named_after_few_candidates(value):
    rows = np.tile(X, (100, 1))
    target = np.r_[rows[:-1, 0], value]
    line = first_line(SearchCV(Ridge(), cv=KFold(5), n_iter=40, random_state=0), rows, target)
    assert re.search(r"y is (missing \(NaN\)|infinite) in 1 row: leave", line)


class SomeLabels(RegressorMixin, BaseEstimator):
    """Learns from the rows with a target."""

    def __init__(self, alpha=1.0):
        self.alpha = alpha

    def fit(self, X, y):
        self.model_ = Ridge(alpha=self.alpha).fit(X[~np.isnan(y)], y[~np.isnan(y)])
        return self

    def predict(self, X):
        return self.model_.predict(X)


def test_missing_numbers_that_an_estimator_takes_are_accepted():
    def score(model, X, y):
        return -float(np.nanmean(np.abs(model.predict(X) - y)))

    target = np.where(np.arange(90) % 4, X[:, 0], np.nan)
    space = {"alpha": loguniform(0.1, 10)}
    search = RandomSearchCV(SomeLabels(), space, n_iter=3, scoring=score).fit(X, target)
    assert set(search.statuses_) == {"ok"}


@pytest.mark.parametrize(
    "search",
    [
        RandomSearchCV(SVC(), {"C": loguniform(0.1, 10)}, n_iter=40),
        TPESearchCV(SVC(), {"C": loguniform(0.1, 10)}, n_iter=40, n_jobs=2),
        GPBayesSearchCV(SVC(), {"C": loguniform(0.1, 10)}, n_iter=40),
        HyperbandSearchCV(SGDClassifier(), {"alpha": loguniform(1e-4, 1)}, resource="epochs"),
        ASHASearchCV(SGDClassifier(), {"alpha": loguniform(1e-4, 1)}, resource="epochs"),
        SuccessiveHalvingSearchCV(SVC(), {"C": loguniform(0.1, 10)}, resource="n_samples"),
        SearchCV(SVC(), {"C": loguniform(0.1, 10)}, timeout=60, workers={"timeout": 30}),
    ],
    ids=lambda search: type(search).__name__,
)
def test_every_search_ends_soon(search):
    assert "'city', 'colour'" in first_line(search.set_params(random_state=0), TOWNS, y)


@pytest.mark.filterwarnings("ignore:Scoring failed:UserWarning")
@pytest.mark.parametrize(
    ("estimator", "scoring", "target", "says"),
    [
        (
            SVC(),
            make_scorer(f1_score),
            y + (X[:, 0] > 0),
            "for two classes, but y has 3: .*'f1_macro'",
        ),
        (SVC(), "f1", NAMES, "pos_label='yes'"),
        (SVC(), "f1", np.where(np.arange(90) % 3, "well", "sick"), "pos_label='sick'"),
        (SVC(), "neg_log_loss", y, r"CalibratedClassifierCV\(estimator\)"),
    ],
)
def test_a_metric_that_does_not_fit_is_named(estimator, scoring, target, says):
    search = SearchCV(estimator, scoring=scoring, timeout=60, random_state=0)
    assert re.search(says, first_line(search, X, target))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("models", "scoring", "target", "says"),
    [
        ([SVC(), SVC(gamma=1)], "f1", NAMES, "pos_label=1 is .*pos_label='yes'"),
        (SVC(), "roc_auc", np.arange(90) < 3, "Class True .* 3 rows, .* in 2 of the 5 test folds"),
        (SVC(), "roc_auc", np.where(np.arange(90) < 4, "a", "b"), "Class 'a' .* in 1 of the 5"),
    ],
)
def test_scores_that_are_never_finite_have_their_cause_named(models, scoring, target, says):
    search = RandomSearchCV(models, n_iter=2, cv=5, scoring=scoring, random_state=0)
    with pytest.raises(ValueError, match=f"No candidate has a finite score.*{says}"):
        search.fit(X, target)


def test_a_step_that_has_not_asked_for_its_metadata_is_named():
    with config_context(enable_metadata_routing=True):
        pipe = make_pipeline(StandardScaler(), SVC().set_fit_request(sample_weight=True))
        line = first_line(SearchCV(pipe, timeout=60), X, y, sample_weight=np.ones(90))
    assert "StandardScaler().set_fit_request(sample_weight=True)" in line


def test_a_fold_of_one_class_is_named():
    search = SearchCV(SVC(), timeout=60, cv=KFold(2))
    assert "fold 0 trains on 45 rows of one class only" in first_line(search, X, np.sort(y))


@pytest.mark.parametrize("space", [None, {"pca__n_components": [2], "svc__C": randint(1, 999)}])
def test_an_unknown_cause_is_reported_unchanged(space):
    if space is None:
        search = SearchCV(make_pipeline(PCA(50), SVC()), {"svc__C": randint(1, 999)}, timeout=60)
        assert "n_components=50 must be between" in first_line(search, X, y)
    else:
        search = RandomSearchCV(Broken(), {"size": randint(1, 999)}, n_iter=50)
        assert "RuntimeError: it cannot be done." in first_line(search, X, y)


RATES = {"rate": np.linspace(0.09, 0.9, 24).tolist()}
PARTS = {
    "one text, and the untuned estimator can be trained": (Broken(0.05, 0.1), X, RATES),
    "a text that depends on the candidate": (Broken(0.5, 0.1, "{rate} is too much"), X, RATES),
    "a text that names the parameter": (Broken(0.5, 0.1, "lower the rate"), X, RATES),
    "a kernel": (SVC(), X, {"kernel": ["nope", "rbf"], "C": list(range(1, 13))}),
    "counts of components": (
        make_pipeline(PCA(), GaussianNB()), X, {"pca__n_components": [2, *range(6, 30)]},
    ),
    "a step that is left out": (
        Pipeline([("fill", "passthrough"), ("svc", SVC())]), HOLE,
        {"fill": ["passthrough", SimpleImputer()], "svc__C": list(range(1, 13))},
    ),
    "a dict of several": (
        Pipeline([("fill", "passthrough"), ("svc", SVC())]), HOLE,
        [{"svc__C": list(range(1, 24))}, {"fill": [SimpleImputer()], "svc__C": [1, 2]}],
    ),
    "models": (
        Pipeline([("model", SVC())]), HOLE,
        {"model": [*(SVC(C=c) for c in range(1, 9)), HistGradientBoostingClassifier(max_iter=2)]},
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.filterwarnings("ignore:One or more of the test scores:UserWarning")
@pytest.mark.filterwarnings("ignore:Scoring failed:UserWarning")
@pytest.mark.filterwarnings("ignore:The total space of parameters:UserWarning")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", PARTS)
def test_a_space_of_which_a_part_fails_is_searched_to_its_end(name, seed):
    estimator, data, space = PARTS[name]
    search = RandomSearchCV(estimator, space, n_iter=30, cv=3, random_state=seed).fit(data, y)
    assert "error" in search.statuses_
    assert search.statuses_[search.best_index_] == "ok"


@pytest.mark.parametrize("search", [SearchCV, RandomSearchCV])
def test_if_all_own_candidates_fail_the_search_raises_though_the_untuned_model_does_not(search):
    space = {"rate": [0.6, 0.7, 0.8, 0.9]}
    with pytest.raises(ValueError, match=r"it cannot be done[\s\S]*fits failed"):
        search(Broken(0.05, 0.1), space, n_iter=4, cv=3, random_state=0).fit(X, y)


def test_a_search_that_only_the_time_ends_gives_up_after_a_hundred_failures():
    estimator = Broken(0.05, 0.1, "{rate} is too much")
    search = SearchCV(estimator, {"rate": loguniform(0.2, 0.9)}, timeout=60, random_state=0)
    with pytest.raises(ValueError, match=r"is too much"):
        search.fit(X, y)
    assert len(search.history_.trials) == 100


@pytest.mark.few(1)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_it_ends_at_the_same_failure_for_any_n_jobs_and_when_it_continues(tmp_path, n_jobs):
    log = tmp_path / "log"
    fake = Fake(act=no_license, at=Everywhere(), log=str(log))
    space = {"quality": (np.arange(1, 30) / 30).tolist()}
    search = RandomSearchCV(
        fake, space, n_iter=29, cv=2, random_state=0, n_jobs=n_jobs, checkpoint_dir=tmp_path / "c"
    )
    texts = []
    for _ in range(2):
        with pytest.raises(ValueError, match="no license") as caught:
            search.fit(X, y)
        texts.append(str(caught.value).splitlines()[:2])
        assert len(search.statuses_) == 3
    assert texts[0] == texts[1]
    _, events, _ = read_journal(tmp_path / "c")
    assert [event["k"] for event in events].count("tell") == 3
    if n_jobs == 1:  # the untuned estimator and the rest of the space, before and when it goes on
        assert 3 * 2 + 2 < len(trainings(log)) <= 3 * 2 + 2 * (1 + 26)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.filterwarnings("ignore:One or more of the test scores:UserWarning")
def test_where_only_the_untuned_model_has_a_score_that_is_said():
    class Fragile(SVC):
        def fit(self, X, y):
            if self.C != 1.0:
                raise RuntimeError("it cannot be done")
            return super().fit(X, y)

    Fragile.__module__ = "sklearn.svm"
    Fragile.__name__ = "SVC"
    search = SearchCV(Fragile(), n_iter=6, cv=2, random_state=0)
    with pytest.warns(UserWarning, match="the result is not tuned"):
        search.fit(X, y)
    assert search.best_params_["C"] == 1.0


def no_license():
    raise RuntimeError("no license")


# ---- errors that differ


class Fragile(ClassifierMixin, BaseEstimator):
    """Fails with the word of the part of the range that its parameter is in."""

    words = ("tin", "tin", "copper", "tin")

    def __init__(self, a=0.1):
        self.a = a

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        if self.a < 0.8:
            raise RuntimeError(f"the {self.words[int(5 * self.a)]} is brittle")
        return self

    def predict(self, X):
        return np.repeat(self.classes_[0], len(X))


class Brittle(Fragile):
    """Always fails with the same word."""

    words = ("tin",) * 4


def search_of(estimator, places):
    guesses = [{"a": place} for place in places]
    return RandomSearchCV(
        estimator, {"a": uniform(0, 1)}, n_iter=len(places), known={"params": guesses}, cv=2
    )


def test_where_errors_differ_the_search_continues_and_finds_what_works():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = search_of(Fragile(), [0.1, 0.5, 0.15, 0.12, 0.9]).fit(X, y)
    assert search.best_params_ == {"a": 0.9}
    assert np.isfinite(search.cv_results_["mean_test_score"]).sum() == 1


class Hopeless(Brittle):
    """Fails wherever its parameter is."""

    def fit(self, X, y):
        raise RuntimeError("the tin is brittle")


def test_where_all_of_the_space_fails_as_the_estimator_itself_does_it_gives_up():
    search = search_of(Hopeless(), [0.1, 0.5, 0.15, 0.12, 0.9])
    with warnings.catch_warnings(), pytest.raises(ValueError, match="the tin is brittle"):
        warnings.simplefilter("ignore")
        search.fit(X, y)
    assert len(search.history_.trials) == 3


# ---- a part of the space that is not tried at first


class Picky(ClassifierMixin, BaseEstimator):
    """Fails with one text unless its parameters are where it works; its own are not."""

    def __init__(self, a=0.0, b=0.0, n=1, kind="none"):
        self.a, self.b, self.n, self.kind = a, b, n, kind

    def works(self):
        return self.a >= 0.8

    def fit(self, X, y):
        if not self.works():
            raise np.linalg.LinAlgError("Singular matrix")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.repeat(self.classes_[0], len(X))


class PickyTwice(Picky):
    def works(self):
        return self.a >= 0.6 and self.b <= 0.4


class PickyCount(Picky):
    def works(self):
        return self.n > 85


class PickyLog(Picky):
    def works(self):
        return self.a < 1e-5


class PickyWord(Picky):
    def works(self):
        return self.kind == "j" and self.a > 0.3


class PickyMiddle(Picky):
    def works(self):
        return 0.45 < self.a < 0.55


PICKY = {
    "the upper end": (Picky(), {"a": uniform(0, 1)}),
    "a corner": (PickyTwice(), {"a": uniform(0, 1), "b": uniform(0, 1)}),
    "large counts": (PickyCount(), {"n": randint(1, 100)}),
    "small numbers": (PickyLog(1.0), {"a": loguniform(1e-6, 1)}),
    "one of ten words": (PickyWord(), {"kind": list("abcdefghij"), "a": uniform(0, 1)}),
    "the middle": (PickyMiddle(), {"a": uniform(0, 1)}),
}


@pytest.mark.few(4)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.filterwarnings("ignore:One or more of the test scores:UserWarning")
@pytest.mark.parametrize("kind", [RandomSearchCV, TPESearchCV, GPBayesSearchCV])
@pytest.mark.parametrize("name", PICKY)
def test_a_search_does_not_end_while_a_part_of_the_space_that_was_not_tried_works(name, kind):
    estimator, space = PICKY[name]
    search = kind(estimator, space, n_iter=40, cv=2, random_state=0).fit(X, y)
    assert len(search.history_.trials) == 40
    assert "ok" in search.statuses_


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.filterwarnings("ignore:One or more of the test scores:UserWarning")
def test_a_namesake_ends_no_earlier_than_that_of_scikit_learn():
    grid = {"a": [*np.linspace(0, 0.7, 50), 0.9]}
    assert GridSearchCV(Picky(), grid, cv=2).fit(X, y).best_params_ == {"a": 0.9}
    with pytest.raises(ValueError, match="All the 102 fits failed"):
        GridSearchCV(Hopeless(), grid, cv=2).fit(X, y)
    with pytest.raises(ValueError, match="All the 40 fits failed"):
        RandomizedSearchCV(Hopeless(), {"a": uniform(0, 1)}, n_iter=20, cv=2).fit(X, y)


# ---- data that only a part of the space can be trained on


class Threshold(ClassifierMixin, BaseEstimator):
    """Makes classes of numbers if it is told where to cut."""

    def __init__(self, at=None):
        self.at = at

    def cut(self, y):
        return y if self.at is None else (y > self.at).astype(int)

    def fit(self, X, y):
        self.model_ = GaussianNB().fit(X, self.cut(y))
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)

    def score(self, X, y):
        return self.model_.score(X, self.cut(y))


class WithoutTarget(Picky):
    def fit(self, X, y=None):
        if self.n < 8:
            raise ValueError("y is needed")
        self.classes_ = [0]
        return self

    def score(self, X, y=None):
        return self.n


class Lenient(Picky):
    """A regressor's target may be texts if it is told so."""

    _estimator_type = "regressor"

    def fit(self, X, y):
        np.asarray(y, dtype=object if self.kind == "text" else float)
        self.classes_ = np.unique(y)
        return self


class Gaps(TransformerMixin, BaseEstimator):
    """Leaves out columns with a share of gaps."""

    def __init__(self, share=0.5):
        self.share = share

    def fit(self, X, y=None):
        self.kept_ = np.isnan(X).mean(axis=0) < self.share
        return self

    def transform(self, X):
        return X[:, self.kept_]


class Shift(Gaps):
    def transform(self, X):
        return X + self.share


class SaysSparse(Picky):
    """Its text speaks of a cause that the data have not."""

    def fit(self, X, y):
        if self.a < 0.8:
            raise TypeError("Sparse data was passed, but dense data is required.")
        return super().fit(X, y)


GAPPED = np.where(np.arange(450).reshape(90, 5) % 25 == 17, np.nan, X)
DICTS = [{"a": row[0], "b": row[1]} for row in X]
VECTORS = Pipeline([("vectors", "passthrough"), ("model", GaussianNB())])
FEW_WORK = {
    "dicts": (VECTORS, {"vectors": ["passthrough", DictVectorizer(sparse=False)]}, DICTS, y),
    "numbers for a classifier": (Threshold(), {"at": [0.0, 0.1, None]}, X, X[:, 1]),
    "no target": (WithoutTarget(), {"n": list(range(10))}, X, None),
    "texts for a regressor": (Lenient(), {"kind": ["none", "text"], "a": [0.9, 1.0]}, X, NAMES),
    "gaps": (make_pipeline(Gaps(), GaussianNB()), {"gaps__share": uniform(0, 0.8)}, GAPPED, y),
    "below zero": (
        make_pipeline(Shift(), MultinomialNB()), {"shift__share": uniform(-20, 30)}, X, y
    ),
    "a text": (SaysSparse(), {"a": uniform(0, 1)}, X, y),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", [RandomizedSearchCV, RandomSearchCV, TPESearchCV, SearchCV])
@pytest.mark.parametrize("name", FEW_WORK)
def test_data_that_the_own_values_cannot_be_trained_on_are_searched(name, kind):
    estimator, space, X, y = FEW_WORK[name]
    search = kind(estimator, space, n_iter=30, cv=KFold(2), random_state=0).fit(X, y)
    assert {"error", "ok"} <= set(search.statuses_)


# ---- sizes that are too small


class Hungry(Picky):
    """Needs a number of rows."""

    def fit(self, X, y):
        if len(X) < self.n:
            raise ValueError("more rows are needed")
        self.classes_ = np.unique(y)
        return self


SMALL = {"resource": "n_samples", "min_resources": 10, "max_resources": 90, "cv": 2}


@pytest.mark.few(4)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.filterwarnings("ignore:One or more of the test scores:UserWarning")
@pytest.mark.parametrize("n_rows", [12, 40])
@pytest.mark.parametrize(
    "kind",
    [
        SuccessiveHalvingSearchCV,
        HyperbandSearchCV,
        ASHASearchCV,
        PASHASearchCV,
        partial(HalvingSearchCV, sampler="tpe"),
    ],
)
def test_a_rung_in_which_all_fail_grows_to_the_next_size(kind, n_rows):
    search = kind(Hungry(n=n_rows), {"a": uniform(0, 1)}, random_state=0, **SMALL).fit(X, y)
    assert "ok" in search.statuses_
    assert search.history_.trials[0].results[10].status == "error"


@pytest.mark.few(2)
@pytest.mark.parametrize("kind", [SuccessiveHalvingSearchCV, HyperbandSearchCV, ASHASearchCV])
def test_if_all_sizes_fail_the_search_gives_up(kind):
    search = kind(Hungry(n=500), {"a": uniform(0, 1)}, random_state=0, **SMALL)
    with pytest.raises(ValueError, match="more rows are needed"):
        search.fit(X, y)
    assert len(search.history_.trials) == 3
