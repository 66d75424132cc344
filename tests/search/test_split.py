"""The folds of a search: chosen by groups and times, and no race where they have an order."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_score,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sksearch import RandomSearchCV, SearchCV, tune
from sksearch.fitting.finish._out_of_fold import digest_of_folds
from sksearch.schedulers import FoldRace, SuccessiveHalving
from tests.interrupted import Hidden

N = 120
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, 3))
Y = X[:, 0] + 0.1 * RNG.standard_normal(N)
LABELS = (Y > 0).astype(int)
GROUPS = np.arange(N) // 10
SHUFFLED = RNG.permutation(N)
DAYS = pd.date_range("2024-01-01", periods=N)
ALPHAS = {"alpha": [0.1, 1.0, 10.0]}
CS = {"C": [0.1, 1.0, 10.0]}


def table(index):
    return pd.DataFrame(X, columns=["a", "b", "c"], index=index)


def has_folds(search, cv, groups=None, y=None):
    """Whether a fitted search had the folds that a splitter makes."""
    return search._folds == digest_of_folds(list(cv.split(X, y, groups)))


def said_of_folds(search, X=X, y=Y, **params):
    """What the plan says of the folds, and its unit."""
    plan = search.plan(X, y, **params)
    return [n.removeprefix("folds: ") for n in plan.notes if n.startswith("folds")], plan.unit


# ---- folds that have an order


class Growing:
    """Each fold trains on more rows than the one before, all of them by chance."""

    def split(self, X, y=None, groups=None):
        rng = np.random.default_rng(0)
        for n in (30, 50, 70, 90):
            rows = rng.permutation(len(X))
            yield rows[:n], rows[n : n + 20]

    def get_n_splits(self, X=None, y=None, groups=None):
        return 4


def windows(first, n_train, order=None):
    """Windows of rows, with 20 to test after each; `first` is where each begins."""
    order = np.arange(N) if order is None else order
    ends = [at + n_train for at in (0, 20, 40)]
    return [(order[first * (end - n_train) : end], order[end : end + 20]) for end in ends]


LATER = "each fold tests rows after its training rows"


@pytest.mark.parametrize(
    ("cv", "reason"),
    [
        (TimeSeriesSplit(5), LATER),
        (TimeSeriesSplit(3, gap=5, max_train_size=20), LATER),
        (windows(0, 40), LATER),
        (iter(windows(1, 40)), LATER),
        ([(np.isin(np.arange(N), a), b) for a, b in windows(1, 40)], LATER),
        (windows(1, 40, SHUFFLED), "no fold trains on rows tested by a later one"),
        (windows(0, 40, SHUFFLED), "no fold trains on rows tested by a later one"),
        (windows(1, 40, SHUFFLED)[::-1], "no fold trains on rows tested by an earlier one"),
        (Growing(), "they train on 30 to 90 rows"),
    ],
    ids=[
        "series", "gap", "expanding", "generator", "mask", "rolling by date", "expanding by date",
        "latest first", "growing",
    ],
)  # fmt: skip
def test_there_is_no_race_over_folds_that_have_an_order(cv, reason):
    search = SearchCV(Ridge(), ALPHAS, n_iter=3, cv=cv, random_state=0)
    notes, unit = said_of_folds(search)
    assert notes == [f"no race over folds, since {reason}; pass resource='folds' for a race"]
    assert unit == "fits"
    assert "n_resources" not in search.fit(X, Y).cv_results_
    assert f"no race over folds, since {reason[:20]}" in str(search.report())


@pytest.mark.parametrize(
    "cv",
    [
        3,
        KFold(5),
        StratifiedKFold(3, shuffle=True, random_state=0),
        ShuffleSplit(4, random_state=0),
        RepeatedKFold(n_splits=2, n_repeats=2, random_state=0),
        LeaveOneOut(),
        list(KFold(4).split(X)),
    ],
    ids=str,
)
def test_folds_that_stand_for_each_other_are_raced_over(cv):
    search = SearchCV(KNeighborsClassifier(), n_iter=3, cv=cv)
    assert said_of_folds(search, y=LABELS) == ([], "folds")


def test_groups_of_like_sizes_are_raced_over_and_others_are_not():
    search = SearchCV(Ridge(), ALPHAS, cv=LeaveOneGroupOut())
    assert said_of_folds(search, groups=GROUPS // 3) == ([], "folds")
    (note,), unit = said_of_folds(search, groups=np.repeat([0, 1, 2], [70, 30, 20]))
    assert "they train on 50 to 100 rows" in note
    assert unit == "fits"


def test_a_race_over_a_series_is_there_for_the_asking():
    for asked in ({"resource": "folds"}, {"scheduler": FoldRace(3)}):
        search = SearchCV(Ridge(), ALPHAS, cv=TimeSeriesSplit(4), **asked)
        assert said_of_folds(search) == ([], "folds")


def test_who_has_other_parts_hears_nothing_of_races():
    for parts in (
        {"scheduler": SuccessiveHalving(3), "resource": "n_samples"},
        {"scoring": ["r2", "neg_mean_absolute_error"], "refit": "r2",
         "objectives": ["r2", "neg_mean_absolute_error"]},
    ):  # fmt: skip
        assert said_of_folds(SearchCV(Ridge(), ALPHAS, cv=TimeSeriesSplit(4), **parts))[0] == []
    assert said_of_folds(RandomSearchCV(Ridge(), ALPHAS, n_iter=2, cv=TimeSeriesSplit(4)))[0] == []


class Moody(Growing):
    """Its folds are alike when it is asked for the first time, and then no more; or vice versa."""

    asked = Hidden(n=0)

    def __init__(self, alike_first):
        self.alike_first = alike_first

    def split(self, X, y=None, groups=None):
        Moody.asked.n += 1
        alike = (Moody.asked.n == 1) == self.alike_first
        return KFold(4, shuffle=True).split(X) if alike else super().split(X)


@pytest.mark.parametrize("alike_first", [True, False])
def test_a_search_that_continues_races_if_it_has_raced(tmp_path, alike_first):
    Moody.asked.n = 0
    kwargs = {"cv": Moody(alike_first), "random_state": 0, "checkpoint_dir": tmp_path}
    first = SearchCV(Ridge(), ALPHAS, n_iter=2, **kwargs).fit(X, Y)
    again = SearchCV(Ridge(), ALPHAS, n_iter=3, **kwargs).fit(X, Y)
    assert first.plan_.unit == again.plan_.unit == ("folds" if alike_first else "fits")
    assert len(again.history_.trials) == 3
    assert again.history_.trials[0].results.keys() == first.history_.trials[0].results.keys()


# ---- groups


@pytest.mark.parametrize(
    ("estimator", "y", "groups", "cv", "expected"),
    [
        (LogisticRegression(), LABELS, GROUPS, None, StratifiedGroupKFold(5)),
        (LogisticRegression(), LABELS, pd.Series(GROUPS.astype(str)), 3, StratifiedGroupKFold(3)),
        (LogisticRegression(), LABELS.astype(str), GROUPS, 4, StratifiedGroupKFold(4)),
        (KNeighborsClassifier(), np.c_[LABELS, 1 - LABELS], GROUPS, None, GroupKFold(5)),
        (Ridge(), Y, list(GROUPS), None, GroupKFold(5)),
        (Ridge(), LABELS, GROUPS, np.int64(3), GroupKFold(3)),
        (KMeans(2, random_state=0), None, GROUPS, None, GroupKFold(5)),
        (make_pipeline(StandardScaler(), Ridge()), Y, GROUPS, 2, GroupKFold(2)),
    ],
    ids=[
        "classes", "series of text", "labels of text", "multilabel", "regression", "whole numbers",
        "clusters", "pipeline",
    ],
)  # fmt: skip
def test_groups_are_kept_together_where_the_search_chooses_the_folds(
    estimator, y, groups, cv, expected
):
    space = {"algorithm": ["elkan", "lloyd"]} if y is None else None
    search = SearchCV(estimator, space, n_iter=2, cv=cv, random_state=0)
    (note,), unit = said_of_folds(search, y=y, groups=groups)
    assert note.startswith(f"{type(expected).__name__}({expected.n_splits}), since groups= is giv")
    assert unit == ("fits" if cv == 2 else "folds")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # "The groups parameter is ignored"
        search.fit(X, y, groups=groups)
    assert has_folds(search, expected, np.asarray(groups), y)
    assert "groups are never split" in str(search.report())


def test_tune_passes_groups_on():
    search = tune(
        Ridge(), X, Y, timeout=30, verbose=0, n_iter=2, random_state=0,
        fit_params={"groups": GROUPS},
    )  # fmt: skip
    assert has_folds(search, GroupKFold(5), GROUPS)


def test_with_fewer_groups_than_five_there_are_as_many_folds():
    (note,), _ = said_of_folds(SearchCV(Ridge(), ALPHAS), groups=GROUPS // 4)
    assert note.startswith("GroupKFold(3), since groups= is given, so groups are never split, and")


@pytest.mark.parametrize(
    ("cv", "groups", "message"),
    [
        (5, GROUPS // 4, "groups has 3 different values, but cv=5 needs 5: pass cv=3"),
        (None, np.zeros(N), "groups has the same value in all rows"),
        (3, GROUPS[1:], "groups has 119 entries, but X has 120 rows"),
        (None, np.where(GROUPS == 2, np.nan, GROUPS), "missing in 10 rows, first .* row 20"),
        (None, ["a", None] * (N // 2), "missing in 60 rows, first in row 1"),
    ],
    ids=["few", "one", "short", "nan", "none"],
)
def test_groups_that_make_no_folds_are_refused_before_anything_is_trained(cv, groups, message):
    with pytest.raises(ValueError, match=message):
        SearchCV(Ridge(), ALPHAS, cv=cv).fit(X, Y, groups=groups)


@pytest.mark.filterwarnings("ignore")  # the classes are rare
@pytest.mark.parametrize(
    ("y", "n_folds"),
    [
        ([0] * 26 + [1] * 4, 4), (["a"] * 28 + ["b"] * 2, 2), ([True, False] * 3, 3),
        ([0, 1, 2] * 3, 3), ([0] * 29 + [1], 5), ([*"ab"] * 10 + ["c"], 5), ([0, 1] * 10, 5),
    ],
)  # fmt: skip
def test_classes_with_few_rows_have_fewer_folds(y, n_folds):
    few = SearchCV(LogisticRegression(), {"C": [1, 2]}, n_iter=2, random_state=0)
    rows = X[: len(y)]
    assert few.fit(rows, y).n_splits_ == n_folds
    assert ("since no more have rows of each class" in str(few.plan_)) == (n_folds < 5)
    if n_folds in (2, 4):
        assert np.isfinite(few.set_params(scoring="roc_auc").fit(rows, y).best_score_)
    named = RandomSearchCV(LogisticRegression(), {"C": [1, 2]}, n_iter=2)
    if n_folds == 4:
        assert named.fit(rows, y).n_splits_ == 5


def test_a_splitter_of_the_users_and_named_searches_are_as_in_scikit_learn():
    own = SearchCV(Ridge(), ALPHAS, n_iter=2, cv=LeaveOneGroupOut(), random_state=0)
    assert has_folds(own.fit(X, Y, groups=GROUPS // 4), LeaveOneGroupOut(), GROUPS // 4)
    named = RandomSearchCV(Ridge(), ALPHAS, n_iter=2, random_state=0)
    with pytest.warns(UserWarning, match="groups parameter is ignored"):
        assert has_folds(named.fit(X, Y, groups=GROUPS), KFold(5))
    times = table(DAYS)
    assert has_folds(named.fit(times, Y), KFold(5))


def test_inside_of_cross_validation_the_groups_of_the_outer_training_rows_count():
    class Watched(Ridge):
        seen: list = []

        def fit(self, X, y):
            self.seen.append(set(X[:, -1]))
            return super().fit(X, y)

    groups = GROUPS[SHUFFLED]
    rows, passed = np.c_[X, groups], {"groups": groups}
    search = SearchCV(Watched(), ALPHAS, n_iter=2, cv=3, random_state=0)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = cross_val_score(search, rows, Y, cv=GroupKFold(3), params=passed)
    plain = cross_val_score(search, rows, Y, groups=groups, cv=GroupKFold(3), params=passed)
    np.testing.assert_array_equal(routed, plain)
    # Of 12 groups 8 are in an outer fold, and of these 5 or 6 in an inner one.
    assert {len(groups) for groups in Watched.seen} == {5, 6, 8}


def test_with_routing_groups_go_to_the_folds_that_are_chosen_and_to_who_asks_for_them():
    class Asks(RegressorMixin, BaseEstimator):
        def __init__(self, shift=0.0):
            self.shift = shift

        def fit(self, X, y, groups=None):
            assert len(groups) == len(X)
            return self

        def predict(self, X):
            return np.full(len(X), self.shift)

    with sklearn.config_context(enable_metadata_routing=True):
        search = SearchCV(Ridge(), ALPHAS, n_iter=2, random_state=0).fit(X, Y, groups=GROUPS)
        assert has_folds(search, GroupKFold(5), GROUPS)
        assert has_folds(search.fit(X, Y), KFold(5))
        asks = Asks().set_fit_request(groups=True)
        search = SearchCV(asks, {"shift": [0.0, 1.0]}, n_iter=2, random_state=0)
        assert has_folds(search.fit(X, Y, groups=GROUPS), GroupKFold(5), GROUPS)
        with pytest.raises(TypeError, match="groups"):  # a splitter's own arguments go with it
            SearchCV(Ridge(), ALPHAS, cv=KFold(3)).fit(X, Y, groups=GROUPS)


def test_checkpoints_and_predictions_out_of_fold_know_the_folds_that_were_chosen(tmp_path):
    kwargs = {"random_state": 0, "checkpoint_dir": tmp_path}
    search = SearchCV(LogisticRegression(), CS, n_iter=2, **kwargs)
    search.fit(X, LABELS, groups=GROUPS)
    assert search.out_of_fold(X, LABELS, groups=GROUPS).shape == (N, 2)
    with pytest.raises(ValueError, match="does not reproduce the folds"):
        search.out_of_fold(X, LABELS)
    more = SearchCV(LogisticRegression(), CS, n_iter=3, **kwargs)
    more.fit(X, LABELS, groups=GROUPS)
    assert len(more.history_.trials) == 3
    with pytest.raises(ValueError, match=r"cv differs: it was .*StratifiedGroupKFold"):
        SearchCV(LogisticRegression(), CS, n_iter=3, **kwargs).fit(X, LABELS)


# ---- times


@pytest.mark.parametrize(
    "index",
    [
        DAYS,
        DAYS.tz_localize("Europe/Rome"),
        pd.date_range("2024-01-01", periods=N, freq="h"),
        pd.period_range("1990-01", periods=N, freq="M"),
        pd.date_range("2020-01-01", periods=9 * N)[np.sort(RNG.permutation(9 * N)[:N])],
    ],
    ids=["days", "zone", "hours", "periods", "gaps"],
)
def test_times_in_order_make_folds_that_do_not_train_on_the_future(index):
    search = SearchCV(Ridge(), ALPHAS, n_iter=2, random_state=0)
    (chosen, no_race), unit = said_of_folds(search, table(index))
    assert chosen.startswith("TimeSeriesSplit(5), since the index of X has times in order")
    assert chosen.endswith("pass cv=5 to ignore the times")
    assert LATER in no_race
    assert unit == "fits"
    assert has_folds(search.fit(table(index), Y), TimeSeriesSplit(5))
    assert "no fold trains on" in str(search.report())
    assert has_folds(search.set_params(cv=5).fit(table(index), Y), KFold(5))
    assert said_of_folds(search, table(index))[0] == []


@pytest.mark.parametrize(
    "index",
    [
        pd.RangeIndex(N),
        pd.DatetimeIndex(["2024-01-01"] * N),
        pd.MultiIndex.from_arrays([np.arange(N) % 3, np.arange(N)]),
        pd.Index([object() for _ in range(N)]),
        pd.Index(DAYS.astype(str)),
    ],
    ids=["numbers", "one time", "two levels", "objects", "texts"],
)
def test_without_times_in_order_folds_match_scikit_learn(index):
    search = SearchCV(Ridge(), ALPHAS, n_iter=2, random_state=0)
    assert said_of_folds(search, table(index)) == ([], "folds")
    assert has_folds(search.fit(table(index), Y), KFold(5))


@pytest.mark.parametrize("index", [DAYS[SHUFFLED], DAYS[::-1]], ids=["shuffled", "latest first"])
def test_times_in_no_order_are_named(index):
    search = SearchCV(Ridge(), ALPHAS, n_iter=2, random_state=0)
    with pytest.warns(UserWarning, match="these are not in order.*sort X and y by time"):
        assert has_folds(search.fit(table(index), Y), KFold(5))
    assert has_folds(search.set_params(cv=5).fit(table(index), Y), KFold(5))


@pytest.mark.parametrize(
    "index",
    [
        pd.DatetimeIndex([pd.NaT, *DAYS[1:]]),
        pd.MultiIndex.from_arrays([DAYS, np.arange(N)]),
        pd.MultiIndex.from_arrays([np.arange(N) % 3, DAYS.to_period("D")]),
        pd.Index([day.date() for day in DAYS]),
        pd.Index([day.to_pydatetime() for day in DAYS], dtype=object),
        DAYS - DAYS[0],
    ],
    ids=["missing", "a panel", "periods by name", "dates", "datetimes", "spans"],
)
def test_times_of_other_forms_are_named(index):
    search = SearchCV(Ridge(), ALPHAS, n_iter=2, random_state=0)
    with pytest.warns(UserWarning, match="index of X has times.*give X a sorted DatetimeIndex"):
        assert has_folds(search.fit(table(index), Y), KFold(5))
    with pytest.warns(UserWarning, match="index of y has times"):
        assert has_folds(search.fit(np.asarray(table(index)), pd.Series(Y, index)), KFold(5))


def test_folds_in_time_have_all_classes_if_two_can():
    labels = np.where(np.arange(N) < N // 3, np.arange(N) % 2, np.arange(N) % 3)
    search = SearchCV(LogisticRegression(), CS, n_iter=2, random_state=0)
    splits = search._prepare(table(DAYS), labels, {}, np.random.RandomState(0)).folds.splits
    assert len(splits) >= 2
    assert all(len(np.unique(labels[part])) == 3 for fold in splits for part in fold)


@pytest.mark.parametrize("n_rows", [2, 7, 30])
def test_rows_of_the_same_time_stay_together(n_rows):
    index = DAYS[np.arange(N) // n_rows]
    (chosen, _), _ = said_of_folds(SearchCV(Ridge(), ALPHAS), table(index))
    assert "or splits rows of the same time" in chosen
    search = SearchCV(Ridge(), ALPHAS, n_iter=2, random_state=0)
    setup = search._prepare(table(index), Y, {}, np.random.RandomState(0))
    assert len(setup.folds.splits) == min(5, index.nunique() - 1)
    for train, test in setup.folds.splits:
        assert index[train].max() < index[test].min()
        np.testing.assert_array_equal(np.r_[train, test], np.arange(len(train) + len(test)))


def test_groups_go_before_times_and_tune_sees_times():
    (chosen,), _ = said_of_folds(SearchCV(Ridge(), ALPHAS), table(DAYS), groups=GROUPS)
    assert chosen.startswith("GroupKFold(5)")
    search = tune(Ridge(), table(DAYS), Y, timeout=30, verbose=0, n_iter=2, random_state=0)
    assert has_folds(search, TimeSeriesSplit(5))


def test_folds_of_a_single_class_are_left_out():
    late = np.where(np.arange(N) < 30, 0, LABELS)  # the first fold would train on one class
    search = SearchCV(LogisticRegression(), CS, n_iter=2, scoring="roc_auc", random_state=0)
    (chosen, _), _ = said_of_folds(search, table(DAYS), late)
    assert chosen.startswith("TimeSeriesSplit(5) except 1 without some classes, since")
    assert np.isfinite(search.fit(table(DAYS), late).cv_results_["mean_test_score"]).all()
    (kept,), unit = said_of_folds(search, table(DAYS), np.sort(LABELS))
    assert "y is sorted by class" in kept
    assert unit == "folds"
    assert search.fit(table(DAYS), np.sort(LABELS)).best_score_ > 0


def test_a_series_continues_from_a_checkpoint_and_works_inside_of_cross_validation(tmp_path):
    kwargs = {"random_state": 0, "checkpoint_dir": tmp_path}
    SearchCV(Ridge(), ALPHAS, n_iter=2, **kwargs).fit(table(DAYS), Y)
    more = SearchCV(Ridge(), ALPHAS, n_iter=3, **kwargs).fit(table(DAYS), Y)
    assert len(more.history_.trials) == 3
    search = SearchCV(Ridge(), ALPHAS, n_iter=2, random_state=0)
    assert (cross_val_score(search, table(DAYS), Y, cv=TimeSeriesSplit(3)) > 0.8).all()


# ---- what a report advises


def test_no_advice_tears_what_the_folds_keep_together():
    noise, space = RNG.integers(2, size=N), {"n_neighbors": [3, 4, 5, 6]}

    def advised(X=X, **kwargs):
        params = {"groups": kwargs.pop("groups")} if "groups" in kwargs else {}
        search = SearchCV(KNeighborsClassifier(), space, n_iter=4, random_state=0, **kwargs)
        return str(search.fit(X, noise, **params).report())

    assert "RepeatedStratifiedKFold" in advised()
    for kwargs in (
        {"groups": GROUPS},
        {"cv": TimeSeriesSplit(5)},
        {"cv": list(KFold(5).split(X))},
        {"X": table(DAYS)},
        {"cv": [(np.arange(80), np.arange(80, N))]},
    ):
        text = advised(**kwargs).partition("Next")[2]
        assert "luck" in text
        assert "cv=" not in text
