"""Columns as people have them: what each is taken for, and models that live with them."""

import datetime
import decimal
import pickle
import sys
import uuid
import warnings
import zoneinfo
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import ShuffleSplit

from sksearch import RandomSearchCV, SearchCV, default_models
from sksearch.estimators import _dates, _models, _tables
from sksearch.estimators._pipeline import last_step
from sksearch.estimators._tables import TableColumns, column_at, look_at, notes_on_columns
from sksearch.space import default_space
from tests import forms

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "benchmarks"))
import systems

sys.path.pop(0)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

N = 120
rng = np.random.default_rng(0)
UP = np.arange(N)
Y = np.where(UP % 3 == 0, "yes", "no")


def kind(values, name="x"):
    frame = values if hasattr(values, "columns") else pd.DataFrame({name: values})
    return look_at(name, column_at(frame, 0))


def gaps(values, dtype=object, missing=None):
    values = list(values)
    values[5] = missing
    return pd.Series(values, dtype=dtype)


STREETS = [f"{i} high street" for i in UP]
KINDS = {
    "floats": (UP / 7, "numbers"),
    "Int64 with gaps": (gaps(UP % 50, "Int64", pd.NA), "numbers"),
    "Float64 with gaps": (gaps(UP / 7, "Float64", pd.NA), "numbers"),
    "boolean with gaps": (gaps(UP % 2 == 0, "boolean", pd.NA), "numbers"),
    "arrow integers": (gaps(UP % 50, "int64[pyarrow]"), "numbers"),
    "arrow truth values": (gaps((UP % 2 == 0).tolist(), "bool[pyarrow]"), "numbers"),
    "objects that are numbers": (gaps(UP % 50, object, pd.NA), "numbers"),
    "objects that are truth values": (gaps([True, False] * (N // 2)), "numbers"),
    "decimals": ([decimal.Decimal(int(i)) / 7 for i in UP], "numbers"),
    "spans": (pd.to_timedelta(UP, unit="h"), "numbers"),
    "arrow spans": (
        pd.Series(pd.to_timedelta(UP, "h")).astype("duration[ns][pyarrow]"),
        "numbers",
    ),
    "times of day": ([datetime.time(i % 24) for i in UP], "numbers"),
    "numbers as texts": ([f"{i / 7:.3f}" for i in UP], "numbers"),
    "numbers as texts with question marks": (
        gaps([f"{i / 7:.3f}" for i in UP], object, "?"),
        "numbers",
    ),
    "amounts of money": ([f"${1000 * i:,}" for i in UP], "numbers"),
    "negative amounts of euros": ([f"-{i / 7:.2f} €" for i in UP], "numbers"),
    "percentages of few values": ([f"{i % 9}.5%" for i in UP], "numbers"),
    "counts as texts with gaps": (gaps([str(1000 + i) for i in UP], object, "?"), "numbers"),
    "keys as texts": ([str(1000 + i) for i in UP], ""),
    "whole texts of few values": ([str(i % 9) for i in UP], "categories"),
    "decimal commas": ([f"{i},5" for i in UP], "texts"),
    "phone numbers": ([f"555-{1000 + i % 60}" for i in UP], "texts"),
    "texts of few values": (gaps([*"abc"] * (N // 3)), "categories"),
    "strings with NA": (gaps([*"abc"] * (N // 3), "string", pd.NA), "categories"),
    "category": (pd.Categorical([*"abc"] * (N // 3)), "categories"),
    "category of numbers": (pd.Categorical(UP % 9), "categories"),
    "ordered category with gaps": (
        pd.Categorical(gaps([*"abc"] * 40), ordered=True),
        "categories",
    ),
    "mixed objects": (gaps([1, "a", 2.5, True] * (N // 4), object, pd.NA), "categories"),
    "bytes": ([b"a", b"b"] * (N // 2), "categories"),
    "intervals": (pd.cut(UP, 5), "categories"),
    "dates": (pd.date_range("2020-01-01", periods=N, freq="7h"), "dates"),
    "dates with a zone": (pd.date_range("2020-01-01", periods=N, tz="Asia/Tokyo"), "dates"),
    "dates with gaps": (gaps(pd.date_range("2020-01-01", periods=N), "datetime64[ns]"), "dates"),
    "arrow dates": (
        pd.Series(pd.date_range("2020", periods=N)).astype("timestamp[us][pyarrow]"),
        "dates",
    ),
    "days as objects": ([datetime.date(2020, 1, i % 28 + 1) for i in UP], "dates"),
    "periods": (pd.period_range("2020-01", periods=N, freq="M"), "dates"),
    "dates as ISO texts": ([f"2020-01-{i % 28 + 1:02} 10:00" for i in UP], "dates"),
    "dates as other texts": ([f"{i % 28 + 1:02}/03/2020" for i in UP], "dates"),
    "dates with short years": (
        [f"{d.month}/{d.day}/{d:%y}" for d in pd.date_range("2019-12-01", periods=N)],
        "dates",
    ),
    "days before months, short years": ([f"{i % 28 + 1:02}/03/20" for i in UP], "dates"),
    "times of day as texts": ([f"{i % 24:02}:{i % 60:02}" for i in UP], "numbers"),
    "texts": (STREETS, "texts"),
    "texts with NA": (gaps(STREETS, "string", pd.NA), "texts"),
    "arrow texts": (pd.Series(STREETS, dtype="string[pyarrow]"), "texts"),
    "codes": ([f"k{i}" for i in UP], ""),
    "keys of UUIDs": ([uuid.UUID(int=int(i)) for i in UP], ""),
    "constant": (np.ones(N), ""),
    "constant text": (["a"] * N, ""),
    "constant date": ([pd.Timestamp("2020-01-01")] * N, ""),
    "nothing": ([None] * N, ""),
    "no numbers": (np.full(N, np.nan), ""),
    "only NA": (pd.array([pd.NA] * N, "Int64"), ""),
    "complex": (UP + 1j, ""),
    "lists": ([[1, i] for i in UP], ""),
    "dicts": ([{"a": 1}] * N, ""),
    "polars integers": (pl.DataFrame({"x": [None, *UP[1:]]}), "numbers"),
    "polars truth values": (pl.DataFrame({"x": [None, *[True, False, True] * 40][:N]}), "numbers"),
    "polars decimals": (pl.DataFrame({"x": pl.Series(UP).cast(pl.Decimal(9, 2))}), "numbers"),
    "polars spans": (pl.DataFrame({"x": pl.Series(UP * 10**6).cast(pl.Duration)}), "numbers"),
    "polars categories": (
        pl.DataFrame({"x": pl.Series([*"ab"] * 60, dtype=pl.Categorical)}),
        "categories",
    ),
    "polars dates": (pl.DataFrame({"x": pl.Series(UP).cast(pl.Date)}), "dates"),
    "polars dates with a zone": (
        pl.DataFrame({"x": pl.Series(UP * 10**9).cast(pl.Datetime("us", "Asia/Tokyo"))}),
        "dates",
    ),
    "polars texts": (pl.DataFrame({"x": STREETS}), "texts"),
    "polars lists": (pl.DataFrame({"x": [[1, 2]] * N}), ""),
}


@pytest.mark.parametrize(("values", "expected"), KINDS.values(), ids=KINDS)
def test_a_column_is_what_its_values_are(values, expected):
    found, of = kind(values)
    assert found == expected
    assert found or of  # with a reason
    if found:
        frame = values if hasattr(values, "columns") else pd.DataFrame({"x": values})
        made = TableColumns(**{found: {"x": of} if found == "dates" else ["x"]}).fit_transform(
            frame
        )
        assert made.shape == (N, 1)
        assert made["x"].nunique() > 1  # it was read


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("id", UP % 7, ""),
        ("ID", UP / 1.0, ""),
        ("Unnamed: 0", UP, ""),
        ("uuid", [*"abc"] * 40, ""),
        ("user_id", UP, ""),
        ("userId", UP + 10**6, ""),
        ("PassengerId", UP, ""),
        ("store_id", UP % 9, "categories"),
        ("km", UP, "numbers"),
        ("paid", UP, "numbers"),
        ("price_index", UP / 7, "numbers"),
        ("is_id", UP % 2, "numbers"),
        ("user_id", gaps(UP, "Int64", pd.NA), ""),
    ],
)
def test_ids_are_left_out_by_their_names_and_values(name, values, expected):
    assert kind(values, name)[0] == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (pd.array([1, None, 3], "Int64"), [1, np.nan, 3]),
        (pd.array([True, None, False], "boolean"), [1, np.nan, 0]),
        (pd.to_timedelta([1, None, 3], unit="h"), [3600, np.nan, 10800]),
        (np.array([1, np.inf, 1e300]), [1, np.nan, np.nan]),
        (pd.Series(["1", " 2.5", ""]), [1, 2.5, np.nan]),
        (pd.Series(["$1,200.5", "$-3", "-£4", "?"]), [1200.5, -3, -4, np.nan]),
        (pd.Series(["12 %", "1,234,567€", "True", "false"]), [12, 1234567, 1, 0]),
        (pd.arrays.SparseArray([1, 0, 0]), [1, 0, 0]),
        (pd.Categorical([1, None, 2]), [1, np.nan, 2]),
        (pl.Series([1, None, 3]), [1, np.nan, 3]),
        (pl.Series([True, None, False]), [1, np.nan, 0]),
    ],
)
def test_numbers_are_read_from_any_dtype(values, expected):
    frame = values.to_frame("x") if isinstance(values, pl.Series) else pd.DataFrame({"x": values})
    found = TableColumns(numbers=["x"]).fit_transform(frame)["x"].to_numpy()
    np.testing.assert_array_equal(found, expected)


DAYS = pd.Series(pd.to_datetime(["2024-08-05", "2024-09-06", "2024-10-01", "2024-11-30"]))
WRITTEN = {form: DAYS.dt.strftime(form) for form in ("%d.%m.%Y", "%Y/%m/%d", "%Y-%m-%dT%H:%MZ")}
OTHER_FORMS = [
    (DAYS, WRITTEN["%d.%m.%Y"], False),
    (DAYS, DAYS.astype("int64"), False),
    (DAYS, DAYS.dt.date, True),
    (DAYS, WRITTEN["%Y-%m-%dT%H:%MZ"], True),
    (WRITTEN["%d.%m.%Y"], DAYS.astype(str), True),
    (WRITTEN["%d.%m.%Y"], DAYS.astype(object), True),
    (WRITTEN["%d.%m.%Y"], DAYS.dt.strftime("%m/%d/%Y"), False),
    (WRITTEN["%Y/%m/%d"], WRITTEN["%d.%m.%Y"], False),
    (WRITTEN["%Y/%m/%d"] + " 1 pm", WRITTEN["%d.%m.%Y"], False),
]


@pytest.mark.parametrize(("given", "new", "is_known"), OTHER_FORMS)
@pytest.mark.parametrize("as_looked_at", [True, False])
def test_dates_in_another_form_are_read_the_same_or_missing(given, new, is_known, as_looked_at):
    """No day and month are swapped, and no unit of time is guessed."""
    form = {"x": kind(given)[1]} if as_looked_at else ["x"]
    reader = TableColumns(dates=form).fit(pd.DataFrame({"x": given}))
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        found = reader.transform(pd.DataFrame({"x": new}))["x"].dt.tz_localize(None)
    if is_known:
        assert (found == DAYS).all()
        assert heard == []
    else:
        assert found.isna().all()
        assert len(heard) == 1
        assert "100 % of column 'x' as dates" in str(heard[0].message)


def test_one_warning_names_all_columns_with_values_that_cannot_be_read():
    frame = pd.DataFrame({"n": UP, "ok": UP % 2 == 0, "when": pd.date_range("2020", periods=N)})
    reader = TableColumns(numbers=["n", "ok"], dates=["when"]).fit(frame)
    new = frame.astype(object)
    new.loc[:29, "ok"] = "yes"
    new.loc[:1, ["n", "when"]] = "next week"
    new.loc[2:9, :] = None
    with pytest.warns(UserWarning, match="cannot be read") as heard:
        found = reader.transform(new)
    assert len(heard) == 1
    text = "1.67 % of column 'n' as numbers, 18.3 % of column 'ok' as numbers, 1.67 % of column 'w"
    assert text in str(heard[0].message)
    assert found.isna().sum().tolist() == [10, 30, 10]


ZONE = "America/New_York"


@pytest.mark.parametrize(
    "new",
    [
        pd.date_range("2024-03-01 08:30", periods=N, tz=ZONE),
        pd.date_range("2024-03-01 08:30", periods=N, tz=ZONE).tz_convert("Asia/Tokyo"),
        pd.date_range("2024-03-01 08:30", periods=N, tz=ZONE).astype(str),
        pd.date_range("2024-03-01 08:30", periods=N),
        pd.date_range("2024-03-01 08:30", periods=N).astype(str),
    ],
)
def test_hours_and_weekdays_are_those_of_the_local_time(new):
    moments = pd.date_range("2024-03-01 08:30", periods=N, tz=ZONE)  # until daylight saving time
    model = dict(default_models(pd.DataFrame({"when": moments}), Y))["linear"]
    model = cheap([("linear", model)])[0][1].fit(pd.DataFrame({"when": moments}), Y)
    found = model[0].transform(pd.DataFrame({"when": new}))["when"]
    assert (found == moments).all()
    assert set(found.dt.hour) == {8}
    expected = model.predict_proba(pd.DataFrame({"when": moments}))
    np.testing.assert_array_equal(model.predict_proba(pd.DataFrame({"when": new})), expected)


def test_dates_with_several_zones_are_in_utc():
    texts = ["2024-08-05T08:30+02:00", "2024-12-05T08:30+01:00"]
    found = TableColumns(dates=["x"]).fit_transform(pd.DataFrame({"x": texts}))["x"]
    assert found.dt.hour.tolist() == [6, 7]


def at(hours, month=1, **more):
    zone = datetime.timezone(datetime.timedelta(hours=hours))
    return datetime.datetime(2024, month, 31, 12, tzinfo=zone, **more)


BERLIN = zoneinfo.ZoneInfo("Europe/Berlin")
NOON = datetime.datetime(2024, 1, 31, 12)
ANY_DATES = [
    at(1),
    at(2, 7),
    NOON,
    NOON.replace(tzinfo=BERLIN),
    NOON.date(),
    datetime.datetime(9999, 12, 31),
    np.datetime64("2024-01-31T12:00", "ns"),
    pd.Timestamp(NOON, tz="Asia/Tokyo").as_unit("ns"),
    pd.Period("2024-01"),
    None,
    "2024-01-31T12:00",
    "2024-01-31 12:00:00.123456789",
    b"2024-01-31T12:00Z",
    "2024-01-31 12:00+01:00",
    "20240131T1200-0500",
    "2024-01-31T12+02",
    "9999-12-31",
]


def objects(cells):
    return pd.DataFrame({"x": pd.Series(cells, dtype=object)})


@pytest.mark.parametrize(
    ("given", "zone"),
    [
        ([NOON, NOON.date()], None),
        (["31.01.2024", "01.02.2024"], None),
        ([at(1), at(2, 7)], "UTC"),
        ([at(1), at(1, 7)], "UTC+01:00"),
        ([at(1), "2024-01-31 12:00+0100"], "UTC+01:00"),
        (["31.01.2024 12:00 +0100", "01.02.2024 12:00 +0100"], "UTC+01:00"),
        (["2024-01-31T12:00Z", "2024-01-31T12:00+00:00"], "UTC"),
        ([at(1), pd.Period("2024-01")], "UTC+01:00"),
        ([NOON, NOON.replace(tzinfo=BERLIN), at(2, 7).astimezone(BERLIN)], "Europe/Berlin"),
        (pd.date_range("2024", periods=3, tz=BERLIN).to_list(), "Europe/Berlin"),
        (ANY_DATES, "UTC"),
    ],
)
def test_a_date_is_read_the_same_whatever_the_other_rows_are(given, zone):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        reader = TableColumns(dates=["x"])
        trained = reader.fit_transform(objects(given))
        found = reader.transform(objects(ANY_DATES))["x"]
    pd.testing.assert_frame_equal(trained, reader.transform(objects(given)))
    assert trained["x"].isna().tolist() == [cell is None for cell in given]
    assert str(found.dt.tz) == str(zone)
    assert np.flatnonzero(found.isna()).tolist() == [ANY_DATES.index(None)]
    for i, cell in enumerate(ANY_DATES):
        alone = reader.transform(objects([cell]))["x"].iloc[0]
        assert cell is None or alone == found[i]
    assert found[0] == (pd.Timestamp(at(1)) if zone else datetime.datetime(2024, 1, 31, 11))
    assert found[2].tz_localize(None) == found[10].tz_localize(None) == NOON  # local times


def test_the_form_of_many_dates_is_one_that_reads_all(monkeypatch):
    """The first days could be months."""
    monkeypatch.setattr(_dates, "N_FORMS", 2)
    texts = [f"{day:02}/03/2020" for day in (1, 2, 3, 25, 5, 6)]
    found = TableColumns(dates=["x"]).fit_transform(pd.DataFrame({"x": texts}))["x"]
    assert found.dt.month.tolist() == [3] * 6


def table(n=N):
    return pd.DataFrame(
        {
            "count": gaps(UP % 9, "Int64", pd.NA),
            "ok": gaps(UP % 2 == 0, "boolean", pd.NA),
            "city": gaps([*"abc"] * (n // 3), object, pd.NA),
            "when": pd.date_range("2020", periods=n, freq="7h"),
            "words": [f"{c} of {i % 60}" for i, c in enumerate([*"abc"] * (n // 3))],
            "key": [f"k{i}" for i in UP],
            "here": "x",
        }
    )


@pytest.mark.parametrize(
    "X", [table().iloc[0], table().to_dict("records"), [1, 2], "words", None, np.arange(3)]
)
def test_what_is_no_table_is_named_in_training_and_prediction(X):
    reader = TableColumns(numbers=["count"]).fit(table())
    for call in (reader.fit, reader.transform):
        with pytest.raises(ValueError, match="X must be a table with columns, got"):
            call(X)
    assert len(reader.transform(table().iloc[:0])) == 0


def cheap(models):
    """The same models, with little to train."""
    for _, model in models:
        last, prefix = last_step(model), ""
        if last is not model:
            prefix = f"{model.steps[-1][0]}__"
        small = {"n_estimators": 4, "max_iter": 4, "random_state": 0}
        taken = last.get_params()
        small |= {"n_jobs": 1} if "n_estimators" in taken else {}
        model.set_params(**{prefix + name: v for name, v in small.items() if name in taken})
    return models


def searched(X, y, **options):
    models = cheap(default_models(X, y))
    space = [{"model": [name]} for name, _ in models]
    return RandomSearchCV(
        models, space, n_iter=len(models), random_state=0, **{"cv": 2, **options}
    ).fit(X, y)


@pytest.fixture(scope="module")
def found():
    return searched(table(), Y)


def test_values_too_large_for_trees_are_counted():
    frame = table().assign(large=np.where(UP % 3, UP, 1e39), all=1e300 * (UP + 1), e=np.inf)
    with pytest.warns(UserWarning, match="'large' of X has 40 values larger than float32 allows"):
        models = default_models(frame, Y)
    left_out = models[0][1].steps[0][1].left_out
    assert left_out["all"] == "its values are larger than float32 allows"
    assert left_out["e"] == "it has no finite values"


def test_no_model_fails_on_gaps_dates_texts_and_ids(found):
    assert set(found.statuses_) == {"ok"}
    assert np.isfinite(found.cv_results_["mean_test_score"]).all()


def test_each_column_has_a_line_in_the_plan_which_says_how_it_is_used():
    plan = str(SearchCV(default_models(table(), Y), n_iter=5).plan(table(), Y))
    lines = [line for line in plan.splitlines() if line.startswith("columns: ")]
    for name in table().columns:
        assert [line for line in lines if name in line], name
    assert "columns: key is left out: its values identify the rows, like an ID" in lines
    assert "columns: here is left out: it is constant" in lines
    assert any("city: " in line and "OneHotEncoder in linear" in line for line in lines)
    assert any("when: " in line and "DatetimeEncoder" in line for line in lines)
    assert any("words: " in line and "StringEncoder" in line for line in lines)


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%SZ", "%m/%d/%y", "%d.%m.%Y"])
def test_dates_as_texts_are_not_warned_of_as_ids(form):
    frame = pd.DataFrame({"when": pd.date_range("2020-01-01", periods=N).strftime(form), "a": UP})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plan = str(SearchCV("auto", n_iter=1).plan(frame, Y))
    assert "columns: when: dates, DatetimeEncoder" in plan


def test_a_column_without_a_name_is_seen_in_the_plan():
    plan = str(SearchCV("auto", n_iter=1).plan(pd.DataFrame({"": UP, "a": UP}), Y))
    assert "columns: '', a: numbers" in plan


def test_ids_that_are_left_out_are_not_warned_of():
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        SearchCV(default_models(table(), Y)[:1], n_iter=1).plan(table(), Y)
    assert not [w for w in heard if "key" in str(w.message)]


@pytest.mark.parametrize("place", range(5))
def test_new_rows_may_have_new_categories_gaps_and_dtypes(place):
    model = cheap(default_models(table(), Y))[place][1].fit(table(), Y)
    expected = model.predict(table())
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(table()), expected)
    np.testing.assert_array_equal(
        clone(model).set_params(**model.get_params()).steps[0][1].used, model.steps[0][1].used
    )
    others = {
        "other order": table()[table().columns[::-1]],
        "polars": pl.from_pandas(table()),
        "objects": table().astype(object),
        "converted": table().convert_dtypes(),
        "a column more": table().assign(more=1),
    }
    for name, other in others.items():
        np.testing.assert_array_equal(model.predict(other), expected, err_msg=name)
    new = table().assign(city="never seen", words=None, when=pd.NaT, count=pd.NA, ok=None)
    assert len(model.predict(new)) == N
    assert len(model.predict(table().iloc[:1])) == 1
    with pytest.raises(ValueError, match="X has no column 'city', which it had during training"):
        model.predict(table().drop(columns="city"))


@pytest.mark.parametrize(
    "names",
    [
        [3, 1, 0, 2],
        ["a", "a", "b", "c"],
        [("a", 1), ("a", 2), ("b", 1), ("c", "x")],
        ["a:b", 'say "x"', "[1]", "{<,>}"],
        ["a b", "a_b", "a.b", "a b 2"],
        ["a", 1, None, 2.5],
        ["when", "when_year", "dates__when_year", "numbers__when"],
        ["ä", "日", "", " "],
        [*pd.date_range("2020", periods=4)],
        [0.5, np.nan, None, pd.NA],
        ["a.1", "a", "a", "a"],
    ],
)
def test_columns_may_have_any_names(names):
    frame = pd.DataFrame(
        {
            0: pd.date_range("2020", periods=N),
            1: UP % 50,
            2: [*"abc"] * 40,
            3: rng.normal(size=N),
        }
    ).set_axis(
        pd.Index(names, dtype=object)
        if not isinstance(names[0], tuple)
        else pd.MultiIndex.from_tuples(names),
        axis=1,
    )
    models = default_models(frame, Y)
    lines = [line.split(": ")[0] for line in notes_on_columns(models)]
    shown = [name for line in lines for name in line.split(", ")]
    if all(isinstance(name, str | pd.Timestamp) for name in names):
        assert {str(name) if str(name).strip() else repr(name) for name in names} <= set(shown)
    reader = models[0][1].steps[0][1]
    assert [len(getattr(reader, k)) for k in ("numbers", "categories", "dates")] == [2, 1, 1]
    for name, model in cheap(models):
        assert len(model.fit(frame, Y).predict(frame)) == N, name


@pytest.mark.filterwarnings("ignore:X has values that cannot be read.* of column 'here'")
def test_a_column_that_is_added_to_a_kind_is_used():
    models = cheap(default_models(table(), Y))
    for name, model in models:
        reader = model.steps[0][1]
        reader.set_params(numbers=[*reader.numbers, "here"], categories=["city", "key"])
        taken = model.fit(table(), Y).steps[1][1].transformers_
        assert {"here", "key"} <= {each for _, _, names in taken for each in names}, name
    lines = notes_on_columns(models)
    assert not [line for line in lines if "left out" in line]
    plain = table()[["count", "city"]]
    models = default_models(plain.assign(when=table()["when"]), Y)[:1]
    models[0][1].steps[0][1].set_params(texts=["words"])
    assert "words: left out, as no step takes them" in notes_on_columns(models)


@pytest.mark.parametrize(
    "X",
    [
        np.column_stack([UP, UP % 7]).tolist(),
        [[float(i), "abc"[i % 3], None if i == 5 else i % 9] for i in UP],
        [(str(i % 7), i / 7) for i in UP],
        np.column_stack([UP / np.maximum(UP % 9, 0.5), np.where(UP % 9, UP, -np.inf)]),
        sparse.csr_matrix(np.eye(N)[:, :9]),
        sparse.csc_matrix(np.eye(N)[:, :9]),
        np.column_stack([np.array([*"abc"] * 40, dtype=object), UP % 50]),
        np.array([*"abc"] * 40)[:, None],
        np.array([True, False] * 60)[:, None],
        np.arange(N).astype("datetime64[h]")[:, None],
    ],
)
def test_arrays_of_all_dtypes_are_read(X):
    for name, model in cheap(default_models(X, Y)):
        assert len(model.fit(X, Y).predict(X)) == N, name


@pytest.mark.parametrize(
    "form", [k for k in forms.XS if k.startswith(("frame", "arrow", "polars"))]
)
def test_each_form_of_a_frame_is_read_or_named(form):
    X = forms.XS[form]
    if len(getattr(X, "shape", ())) != 2:
        return
    model = cheap(default_models(X, forms.LABELS))[1][1]
    reader = model.steps[0][1]
    assert len(reader.used) + len(reader.left_out) == X.shape[1]
    assert len(model.fit(X, forms.LABELS).predict(X)) == forms.N


def test_without_skrub_its_columns_are_named(monkeypatch):
    from importlib.util import find_spec

    def spec(name):
        return None if name == "skrub" else find_spec(name)

    monkeypatch.setattr(_models, "find_spec", spec)
    monkeypatch.setattr(_tables, "find_spec", spec)
    models = cheap(default_models(table(), Y))
    out = models[0][1].steps[0][1].left_out
    assert out["when"] == "dates need skrub: pip install skrub"
    assert out["words"] == "texts need skrub: pip install skrub"
    for name, model in models:
        assert len(model.fit(table(), Y).predict(table())) == N, name
    many = pd.DataFrame({"zone": [f"z{i}" for i in rng.integers(0, 60, 900)]})
    label = np.arange(900) % 2
    assert default_models(many, label)[0][1].fit(many, label)


def test_a_table_of_nothing_to_learn_from_is_refused():
    frame = table()[["key", "here"]]
    with pytest.raises(
        ValueError, match=r"no column that a model can learn from .*here: it is con"
    ):
        default_models(frame, Y)


def test_the_steps_can_be_edited_and_searched():
    models = dict(default_models(table(), Y))
    step = models["linear"].steps[0][0]
    edited = clone(models["linear"]).set_params(
        **{f"{step}__dates": [], f"{step}__numbers": ["count"]}
    )
    assert "ok" not in edited.steps[0][1].fit_transform(table())
    assert not [name for name in default_space(models["forest"]) if "skrub" in name]
    grid = {"columntransformer__categories__max_categories": [2, 3]}
    search = RandomSearchCV(models["linear"], grid, n_iter=2, cv=2).fit(table(), Y)
    assert set(search.statuses_) == {"ok"}


def test_boosting_takes_categories_as_they_are():
    frame = table()[["city", "count"]]
    boosting = dict(default_models(frame, Y))["boosting"]
    made = boosting[:-1].fit_transform(frame)
    assert str(made["city"].dtype) == "category"
    with_dates = dict(default_models(table(), Y))["boosting"][:-1].fit_transform(table())
    assert "category" in {str(dtype) for dtype in with_dates.dtypes}


@pytest.mark.few(4)
@pytest.mark.parametrize("form", systems.FORMS)
@pytest.mark.parametrize("name", systems.FRAMES)
def test_no_frame_as_people_have_them_fails_or_loses_a_column(name, form):
    X, y = systems.load(name, form, n_rows=120)
    search = searched(X, y, cv=ShuffleSplit(1, random_state=0))
    assert set(search.statuses_) == {"ok"}
    text = str(search.plan_)
    assert all(str(column) in text for column in X.columns)
    assert len(search.predict(X)) == len(X)
    if hasattr(search, "predict_proba"):
        assert search.predict_proba(X).shape[0] == len(X)
    assert np.isfinite(search.score(X, y))
    again = pickle.loads(pickle.dumps(search))
    np.testing.assert_array_equal(again.predict(X), search.predict(X))
    assert str(search.report()).startswith("RandomSearchCV(")
    plt.close(search.show().figure_)


def test_the_number_of_workers_changes_no_prediction(found):
    from joblib import parallel_config

    with parallel_config("threading"):
        other = searched(table(), Y, n_jobs=2)
    np.testing.assert_array_equal(
        other.cv_results_["mean_test_score"], found.cv_results_["mean_test_score"]
    )


def test_the_benchmark_runs_and_continues(tmp_path, capsys):
    record = tmp_path / "record.jsonl"
    args = ["--frames", "penguins", "--forms", "converted", "--names", "list", "--seconds", "1"]
    for _ in range(2):
        systems.main([*args, "--seeds", "1", "--record", str(record)])
    assert len(record.read_text().splitlines()) == 1
    assert capsys.readouterr().out.startswith("penguins converted list 1.0 0 4000 error")


def test_scikit_learns_boosting_takes_categories_as_they_are(monkeypatch):
    monkeypatch.setattr(_models, "_boosting", lambda name, n_threads: None)
    for frame in (table(), table()[["city", "count"]]):
        model = dict(cheap(default_models(frame, Y)))["boosting"].fit(frame, Y)
        assert any(model[-1].is_categorical_)
        assert len(model.predict(frame.assign(city="never seen", count=pd.NA))) == N


@pytest.mark.parametrize("output", ["pandas", "polars"])
@pytest.mark.parametrize("columns", [None, ["words"]])
def test_models_work_if_all_transformers_return_frames(columns, output):
    frame = table() if columns is None else table()[columns]
    for name, model in cheap(default_models(frame, Y))[::2]:
        expected = clone(model).fit(frame, Y).predict(frame)
        with config_context(transform_output=output):
            found = model.fit(frame, Y).predict(frame)
        np.testing.assert_array_equal(found, expected, err_msg=name)


def test_texts_are_encoded_once_for_all_models_with_the_same_rows(monkeypatch):
    skrub = pytest.importorskip("skrub")
    n_fits, fit = [], skrub.StringEncoder.fit_transform

    def counted(self, X, y=None):
        n_fits.append(X)
        return fit(self, X)

    monkeypatch.setattr(skrub.StringEncoder, "fit_transform", counted)
    X = pd.DataFrame({"words": [f"the {i} of {i % 7}" for i in range(60)], "n": range(60)})
    y = np.arange(60) % 2
    models = dict(default_models(X, y))
    first = models["linear"].fit(X[:40], y[:40])
    models["forest"].fit(X[:40].copy(), y[:40])
    assert len(n_fits) == 1
    again = clone(first).fit(X[:40], y[:40])
    assert (first.predict_proba(X[40:]) == again.predict_proba(X[40:])).all()
    models["linear"].fit(X[:41], y[:41])  # other rows
    assert len(n_fits) == 2
    changed = X[:41].assign(words=X["words"][40::-1].to_numpy())
    models["linear"].fit(changed, y[:41])
    assert len(n_fits) == 3
    encoder = _models.EncodedOnce(skrub.ApplyToCols(skrub.StringEncoder(random_state=0)))
    names = list(encoder.fit_transform(X[["words"]]).columns)
    encoder.transform(X[["words"]]).columns = range(len(names))  # as scikit-learn does it
    assert list(encoder.transform(X[["words"]]).columns) == names
    loaded = pickle.loads(pickle.dumps(first))
    assert (loaded.predict(X) == first.predict(X)).all()
