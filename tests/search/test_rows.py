"""Fewer rows in the training folds of a search whose time is short for all of them."""

import math
import re
import signal
import warnings
from contextlib import suppress
from unittest.mock import patch

import numpy as np
import pytest
from scipy.stats import uniform
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import KFold, PredefinedSplit, TimeSeriesSplit

from sksearch import Bound, GPBayesSearchCV, SearchCV
from sksearch._utils._time_limit import TimeLimit
from sksearch.executors import VirtualClock, spend
from sksearch.fitting.run._row_sample import MIN_ROWS, N_FITS, choose_sample
from sksearch.fitting.run._tasks import RowSample
from sksearch.schedulers import FoldRace, FullFidelity
from sksearch.space import Outcome

N = 10_000
X = np.arange(N, dtype=float)[:, None]
y = (np.arange(N) % 10 == 0).astype(int)  # one row in ten
SPACE = {"quality": uniform()}


class Costly(ClassifierMixin, BaseEstimator):
    """Takes a second of a virtual clock for a thousand rows; the better the larger `quality`."""

    def __init__(self, quality=0.5, power=1.0, dear=1.0):
        self.quality, self.power, self.dear = quality, power, dear

    def fit(self, X, y):
        spend((len(X) / 1000) ** self.power * (self.dear if self.quality > 0.7 else 1))
        self.classes_, self.n_rows_, self.n_ones_ = np.unique(y), len(X), int(y.sum())
        SEEN.append(len(X))
        return self

    def predict(self, X):
        return np.zeros(len(X))

    def predict_proba(self, X):
        return np.full((len(X), 2), [1 - self.n_rows_ / N, self.n_rows_ / N])

    def score(self, X, y):
        return self.quality


SEEN: list[int] = []


@pytest.fixture(autouse=True)
def none_seen():
    SEEN.clear()


def fitted(timeout=60, **kwargs):
    """A search on a virtual clock, and the seconds that it took."""
    search = SearchCV(Costly(), SPACE, timeout=timeout, cv=4, random_state=0)
    with VirtualClock() as clock:
        search.set_params(**kwargs).fit(X, y)
    return search, clock.seconds


def rows_of(search):
    """The number of rows in a training fold, and whether they are the latest; None for all."""
    found = re.search(r"rows: (the latest )?([\d,]+) of", str(search.plan_))
    return found and (int(found[2].replace(",", "")), bool(found[1]))


class Measured:
    """The cost of a training by its count of rows, and which counts were measured."""

    def __init__(self, seconds):
        self.seconds, self.asked = seconds, []

    def __call__(self, n_rows):
        self.asked.append(n_rows)
        return self.seconds(n_rows), 0.0


@pytest.mark.parametrize("power", [0.6, 1.0, 2.0, 3.0])
def test_the_time_is_enough_for_some_trainings_of_the_estimator_as_it_is(power):
    def seconds(n_rows):
        return 4 * (n_rows / 10_000) ** power

    sample = choose_sample(Measured(seconds), 40_000, 50_000, TimeLimit(60))
    assert sample.growth == pytest.approx(max(power, 1.0))
    if sample.n_rows > MIN_ROWS:
        left = max(60 - seconds(50_000), 15)
        assert N_FITS * seconds(sample.n_rows) == pytest.approx(left, rel=0.01)
    more = choose_sample(Measured(seconds), 40_000, 50_000, TimeLimit(60), n_workers=2)
    assert more is None or more.n_rows >= sample.n_rows


@pytest.mark.parametrize(
    ("seconds", "n_train"),
    [
        (lambda n: 1e-4 * n, MIN_ROWS),  # few rows
        (lambda n: 1e-6 * n, 100_000),  # much time
        (lambda n: 30.0, 100_000),  # rows cost nothing
        (lambda n: 0.0, 100_000),  # a clock that stands
        (lambda n: math.nan, 100_000),  # the estimator fails
        (lambda n: 60 / (N_FITS + 3) * n / 10_000, 10_000),  # nearly time enough
    ],
)  # fmt: skip
def test_all_rows_where_fewer_would_not_help(seconds, n_train):
    assert choose_sample(Measured(seconds), n_train, n_train, TimeLimit(60)) is None


def test_measuring_takes_a_small_part_of_the_time():
    for power in (1.0, 2.0):
        measured = Measured(lambda n, power=power: (n / 10_000) ** power)
        choose_sample(measured, 400_000, 500_000, TimeLimit(60))
        assert sum(map(measured.seconds, measured.asked)) < 0.12 * 60
    small = Measured(lambda n: 1.0)
    choose_sample(small, MIN_ROWS, MIN_ROWS, TimeLimit(60))
    assert not small.asked


def test_a_training_that_takes_all_the_time_leaves_the_fewest_rows():
    assert (
        choose_sample(Measured(lambda n: n / 100), 40_000, 50_000, TimeLimit(20)).n_rows
        == MIN_ROWS
    )


def test_a_short_time_is_spent_on_a_part_of_the_rows():
    search, seconds = fitted(timeout=60)
    n_rows, _ = rows_of(search)
    assert 2_000 < n_rows < 7_500
    assert sum(n == n_rows for n in SEEN) > 20  # of 24 for which there is time
    assert SEEN[-1] == N == search.best_estimator_.n_rows_
    assert search.best_estimator_.n_ones_ == y.sum()
    assert len(search.history_.trials) > 5
    assert 50 < seconds <= 60 + n_rows / 1000
    assert f"rows: {n_rows:,} of 7,500 in each training fold" in str(search.plan_)
    assert f"models trained on {n_rows:,} rows" in str(search.report())
    alone, _ = fitted(timeout=60, scheduler=FoldRace(None), resource="folds", sampler=None)
    assert len(alone.history_.trials) < len(search.history_.trials)


class Scored(Costly):
    """Its training is quadratic in the rows, and its scoring takes longer at few rows."""

    def fit(self, X, y):
        spend(50 * (len(X) / N) ** 2)
        self.classes_ = np.unique(y)
        SEEN.append(len(X))
        return self

    def score(self, X, y):
        spend(10 * (SEEN[-1] / N) ** 0.8)
        return self.quality


def test_the_last_training_is_predicted_without_the_scoring():
    search = SearchCV(Scored(), SPACE, timeout=150, cv=4, random_state=0)
    with VirtualClock() as clock:
        search.fit(X, y)
    assert search._sample.growth == pytest.approx(2.0)
    assert SEEN[-1] == N
    assert clock.seconds < 160


def test_a_cost_that_is_hidden_at_few_rows_grows_like_the_rows_at_least():
    sample = choose_sample(lambda n_rows: (1 + n_rows / 2_000, 0.0), 40_000, 50_000, TimeLimit(60))
    assert sample.growth == 1.0


def test_without_a_last_training_there_is_time_for_more_rows():
    refitted, _ = fitted(timeout=60)
    alone, _ = fitted(timeout=60, refit=False)
    assert rows_of(alone)[0] > 1.15 * rows_of(refitted)[0]


def test_there_is_time_for_two_candidates_on_many_folds():
    search, _ = fitted(cv=30, timeout=200)
    assert 30 in search.history_.trials[0].results  # all folds of the untuned estimator
    assert len(search.history_.trials) > 1


class Swallows(Costly):
    """Ends its training at Ctrl-C, as an MLP of scikit-learn does."""

    def fit(self, X, y):
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        return super().fit(X, y)


def test_ctrl_c_ends_the_search_while_the_cost_is_measured():
    with pytest.raises(KeyboardInterrupt), VirtualClock():
        SearchCV(Swallows(), SPACE, timeout=60, cv=4).fit(X, y)
    assert SEEN == [500]


def test_classes_keep_their_shares():
    train = np.flatnonzero(np.arange(N) % 4)
    rows = RowSample(3_000, 1.0, 10.0).rows(train, y, 0, 1)
    assert len(rows) == 3_000
    assert np.all(np.isin(rows, train))
    assert np.all(np.diff(rows) > 0)
    assert y[rows].mean() == pytest.approx(y[train].mean(), abs=1e-3)
    mask = np.arange(N) % 4 > 0
    np.testing.assert_array_equal(RowSample(3_000, 1.0, 10.0).rows(mask, y, 0, 1), rows)
    assert not np.array_equal(RowSample(3_000, 1.0, 10.0).rows(train, y, 0, 2), rows)


def test_the_latest_rows_are_those_at_the_end_of_each_class():
    sample, train = RowSample(3_000, 1.0, 10.0, latest=True), np.arange(8_000)
    np.testing.assert_array_equal(sample.rows(train, None, 0, 1), np.arange(5_000, 8_000))
    np.testing.assert_array_equal(sample.rows(train < 9_000, None, 0, 1), np.arange(5_000, 8_000))
    np.testing.assert_array_equal(sample.rows(train, y, 0, 1), np.arange(5_000, 8_000))
    by_class = np.repeat([0, 1], [6_000, N - 6_000])  # else there would be a single one
    rows = sample.rows(train, by_class, 0, 1)
    np.testing.assert_array_equal(rows, np.r_[3_750:6_000, 7_250:8_000])


@pytest.mark.parametrize(
    "given",
    [
        {"timeout": 400},
        {"n_iter": 3},
        {"scheduler": FullFidelity(3)},
        {"resource": "folds"},
        {"workers": {"timeout": 50}},
        {"stop": {"overtime": 5}},
        {"known": {"constraints": Bound("fit_time", "<=", 50)}},
    ],
    ids=str,
)  # fmt: skip
def test_all_rows_where_the_search_is_not_free_to_choose(given):
    search, _ = fitted(**given)
    assert "rows:" not in str(search.plan_)
    assert set(SEEN) <= {500, 1_000, 2_000, 4_000, 7_500, N}
    assert (500 in SEEN) == ("timeout" in given)


def test_a_last_training_that_takes_too_long_is_said_before():
    search = SearchCV(Costly(power=2), SPACE, timeout=60, cv=4, random_state=0)
    with VirtualClock(), pytest.warns(UserWarning, match="about 100 s.*timeout=60"):
        search.fit(X, y)
    assert rows_of(search) == (2_000, False)
    with VirtualClock(), pytest.warns(UserWarning, match="about 100 s"):
        search.plan(X, y, measure=True)
    with VirtualClock(), warnings.catch_warnings():
        warnings.simplefilter("error")
        search.set_params(refit=False).fit(X, y)


def test_a_last_training_that_takes_too_long_leaves_time_to_choose():
    search = SearchCV(Costly(power=2), SPACE, timeout=98, cv=4, random_state=0)
    with VirtualClock() as clock, pytest.warns(UserWarning, match="about 100 s.*timeout=98"):
        search.fit(X, y)
    assert len(search.history_.trials) > 1
    assert clock.seconds < 0.25 * 98 + 100 + 8


@pytest.mark.filterwarnings("ignore:One or more of the test scores")
def test_who_would_take_too_long_on_all_rows_does_not_win():
    """The better ones take ten times as long: 100 s on all rows."""
    search = SearchCV(Costly(dear=10), SPACE, timeout=60, cv=4, random_state=0)
    with VirtualClock() as clock, pytest.warns(FitFailedWarning, match="would take about 100 s"):
        search.fit(X, y)
    assert clock.seconds < 90
    assert "timeout=180" in str(search.report())
    assert search.best_params_["quality"] <= 0.7
    assert set(search.statuses_) == {"ok", "timeout"}
    dear = [row["quality"] > 0.7 for row in search.cv_results_["params"]]
    assert [status == "timeout" for status in search.statuses_] == dear
    with VirtualClock():  # without a last training it does not matter
        search.set_params(refit=False).fit(X, y)
    assert set(search.statuses_) == {"ok"}


@pytest.mark.filterwarnings("ignore:One or more of the test scores")
def test_a_count_that_training_finds_does_not_hide_who_takes_too_long():
    space = {"n_estimators": Outcome(50), "learning_rate": [0.1, 0.2]}
    context = RowSample(2_000, 3.0, 0.1, limit=1e-6)
    with patch("sksearch.fitting.prepare._rows.measured_sample", return_value=context):
        search = SearchCV(
            GradientBoostingClassifier(n_estimators=5), space, timeout=20, cv=3, random_state=0
        )
        with pytest.warns(FitFailedWarning, match="on all rows"):
            search.fit(X[::4], y[::4])
    assert search.statuses_[0] == "ok"
    late = [status == "timeout" for status in search.statuses_]
    assert any(late)
    np.testing.assert_array_equal(np.isnan(search.cv_results_["mean_test_score"]), late)
    assert search.best_params_["learning_rate"] == 0.1


def test_a_search_by_name_has_all_rows():
    with VirtualClock():
        GPBayesSearchCV(Costly(), SPACE, n_iter=3, timeout=60, cv=4).fit(X, y)
    assert set(SEEN) <= {7_500, N}


def test_a_plan_measures_only_when_asked():
    search = SearchCV(Costly(), SPACE, timeout=60, cv=4)
    with VirtualClock():
        assert "rows:" not in str(search.plan(X, y))
        assert not SEEN
        plan = search.plan(X, y, measure=True)
    assert "rows:" in str(plan)
    assert plan.seconds_per_fit == pytest.approx(SEEN[-1] / 1000)


def test_a_search_that_continues_has_the_rows_that_it_began_with(tmp_path):
    first, _ = fitted(checkpoint_dir=tmp_path / "search")
    n_seen = len(SEEN)
    again, _ = fitted(checkpoint_dir=tmp_path / "search", timeout=90)
    assert rows_of(again) == rows_of(first)
    assert set(SEEN[n_seen:]) == {rows_of(first)[0], N}
    assert str(again.plan_).count("rows:") == 1
    n = len(first.history_.trials)
    for before, after in zip(first.history_.trials, again.history_.trials[:n], strict=True):
        assert before.params == after.params


def test_a_search_that_continues_with_listed_folds(tmp_path):
    folds = list(KFold(4).split(X))
    first, _ = fitted(checkpoint_dir=tmp_path / "search", cv=folds)
    again, _ = fitted(checkpoint_dir=tmp_path / "search", cv=folds, timeout=90)
    assert rows_of(again) == rows_of(first)
    assert len(again.history_.trials) > len(first.history_.trials)


def test_folds_that_grow_are_measured_by_the_largest():
    search, _ = fitted(cv=TimeSeriesSplit(4))  # 2,000, 4,000, 6,000 and 8,000 rows
    n_rows, _ = rows_of(search)
    assert 2_000 < n_rows < 4_000
    assert set(SEEN) == {500, 1_000, 2_000, n_rows, N}


class Dated(Costly):
    """Notes the first and the last row that it was trained on, and how many there were."""

    def fit(self, X, y):
        ENDS.append((int(X[0, 0]), int(X[-1, 0]), len(X)))
        return super().fit(X, y)


ENDS: list = []


@pytest.mark.parametrize(
    "cv",
    [
        TimeSeriesSplit(4),
        TimeSeriesSplit(2, gap=10),
        PredefinedSplit(np.where(np.arange(N) < 8_000, -1, 0)),
        [(np.arange(n), np.arange(n, n + 1_000)) for n in (5_000, 7_000, 9_000)],
        [(np.arange(n - 5_000, n), np.arange(n, n + 1_000)) for n in (5_000, 7_000, 9_000)],
    ],
    ids=["series", "gap", "hold-out", "expanding", "rolling"],
)
def test_where_the_future_is_tested_the_latest_rows_are_taken(cv):
    ENDS.clear()
    search, _ = fitted(estimator=Dated(), cv=cv)
    assert rows_of(search)[1]
    folds = list(cv.split(X)) if hasattr(cv, "split") else cv
    lasts = {int(train[-1]) for train, _ in folds}
    assert {last for _, last, _ in ENDS} == {*lasts, N - 1}
    assert all(last - first + 1 <= n + 10 for first, last, n in ENDS)  # the shares of classes


@pytest.mark.parametrize("cv", [KFold(4), [(p[:7_500], p[7_500:]) for p in [np.arange(N)[::-1]]]])
def test_where_the_past_is_tested_too_rows_are_taken_by_chance(cv):
    search, _ = fitted(cv=cv)
    assert not rows_of(search)[1]


def test_a_search_that_continues_takes_the_latest_rows_as_before(tmp_path):
    kwargs = {"checkpoint_dir": tmp_path / "search", "cv": TimeSeriesSplit(4)}
    first, _ = fitted(**kwargs)
    again, _ = fitted(timeout=90, **kwargs)
    assert rows_of(again) == rows_of(first)
    assert rows_of(again)[1]


def test_predictions_out_of_fold_are_of_the_same_rows():
    search, _ = fitted()
    predicted = search.out_of_fold(X, y)
    np.testing.assert_allclose(predicted[:, 1], rows_of(search)[0] / N)
