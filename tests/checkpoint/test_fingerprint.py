"""Two searches are the same exactly where their results would be."""

import copy
import ctypes
import functools
import hashlib
import json
import os
import pickle
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse, stats
from scipy.stats import loguniform, randint, uniform
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils import check_random_state, estimator_html_repr

from sksearch import HyperbandSearchCV, RandomSearchCV, SearchCV, TPESearchCV, When
from sksearch._utils._compat import cloudpickle
from sksearch.checkpoint._fingerprint import check_same, fingerprint
from sksearch.checkpoint.identity._description import describe
from sksearch.checkpoint.identity._reached import Reached, fingerprint as fingerprint_of
from sksearch.schedulers import FullFidelity
from sksearch.search import SearchMismatchError
from sksearch.space import LogRandInt
from tests import scripts
from tests.fakes import Curve

X, y = load_iris(return_X_y=True)
SPACE = {"alpha": loguniform(1e-6, 0.1), "penalty": ["l1", "l2"]}


def text(value):
    """Text of a value, and of the code that it leads to."""
    reached = Reached()
    found = describe(value, reached=reached)
    codes = reached.look().codes
    return f"{found} {codes}" if codes else found


def parts(search=None, X=X, y=y, fit_params=None, **params):
    """The fingerprint of a search; `params` are those of a `RandomSearchCV`."""
    if search is None:
        kwargs = {"estimator": SGDClassifier(), "param_distributions": SPACE, "n_iter": 5}
        search = RandomSearchCV(**kwargs | {"random_state": 0} | params)
    setup = search._prepare(X, y, fit_params or {}, check_random_state(search.random_state))
    return fingerprint(type(search), search._flat_params(), setup, search.random_state)


def differing(old, new):
    return [name for name in new if old[name] != new[name]]


def mismatch(old, new):
    with pytest.raises(SearchMismatchError) as caught:
        check_same(old, new, "runs/a")
    return str(caught.value)


# ---- what differs, and what does not


def test_a_search_that_is_made_again_is_the_same():
    again = RandomSearchCV(
        SGDClassifier(), {"penalty": ["l1", "l2"], "alpha": loguniform(1e-6, 0.1)}, n_iter=5,
        random_state=0,
    )  # fmt: skip
    for search in (again, clone(again), pickle.loads(pickle.dumps(again))):
        assert differing(parts(), parts(search)) == []
        assert check_same(parts(), parts(search), "runs/a") is False


@pytest.mark.parametrize(
    ("changed", "part"),
    [
        ({"estimator": SGDClassifier(eta0=0.5)}, "estimator"),
        ({"param_distributions": {**SPACE, "alpha": loguniform(1e-6, 1)}}, "space"),
        ({"param_distributions": {**SPACE, "penalty": ["l2", "l1"]}}, "space"),
        ({"n_iter": 6}, "settings"),
        ({"error_score": 0}, "settings"),
        ({"known": {"params": {"alpha": 0.01, "penalty": "l1"}}}, "settings"),
        ({"scoring": "f1_macro"}, "scoring"),
        ({"cv": 3}, "cv"),
        ({"cv": KFold(5)}, "cv"),
        ({"random_state": 1}, "random_state"),
    ],
)
def test_each_change_shows_in_its_part(changed, part):
    found = differing(parts(), parts(**changed))
    assert [name for name in found if name != "folds"] == [part]
    assert ("folds" in found) == ("cv" in changed)


def test_what_does_not_change_results_may_change():
    other = parts(
        n_jobs=2, verbose=1, refit=False, pre_dispatch="all", timeout=60, stop={"score": 0.9}, cv=5
    )
    assert differing(parts(), other) == []
    one = parts(
        estimator=RandomForestClassifier(n_jobs=1),
        param_distributions={"max_depth": [1, 2, 3, 4, 5]},
    )
    two = parts(
        estimator=RandomForestClassifier(n_jobs=2, verbose=1),
        param_distributions={"max_depth": range(1, 6)},
    )
    assert differing(one, two) == []


def test_guesses_of_ours_count_where_there_are_any():
    ours = parts(SearchCV(SGDClassifier(), random_state=0))
    assert differing(
        ours, parts(SearchCV(SGDClassifier(), random_state=0, known={"params": None}))
    )
    unknown = {"estimator": Curve(), "param_distributions": {"quality": uniform()}}
    without = parts(**unknown, known={"params": None})
    assert differing(parts(**unknown, known={"params": "auto"}), without) == []


def deciding(**kwargs):
    """The metric on which it depends what is trained, of a search by halving or another one."""
    common = {"estimator": SGDClassifier(), "param_distributions": SPACE, "random_state": 0}
    halving = {"resource": "epochs", "max_resources": 9}
    cls = kwargs.pop("cls", HyperbandSearchCV)
    search = cls(**common | (halving if cls is HyperbandSearchCV else {}) | kwargs)
    return parts(search)["refit"][""]


def by_two(estimator, X, y):
    """Two metrics from one function."""
    return {"one": 1.0, "two": 2.0}


def test_the_metric_of_the_refit_counts_where_it_decides_what_is_trained():
    several = ["accuracy", "f1_macro"]
    assert deciding(scoring=several, refit="f1_macro") == "f1_macro"
    assert deciding(scoring=several, refit=False) == "accuracy"
    assert deciding(scoring=by_two, refit="two") == "two"
    assert deciding(scoring=by_two, refit=False) == "the first"
    assert deciding(scoring="accuracy") == "none"
    assert deciding(scoring=make_scorer(f1_score, average="macro")) == "none"
    assert deciding(cls=RandomSearchCV, scoring=several, refit="f1_macro") == "none"
    assert deciding(cls=TPESearchCV, scoring=several, refit="f1_macro") == "f1_macro"


def test_a_drawn_seed_is_not_compared_and_a_given_one_is():
    drawn = parts(random_state=None)
    assert drawn["random_state"][""] == "drawn"
    assert check_same(drawn, parts(random_state=None), "a") is False
    assert check_same(parts(random_state=3), drawn, "a") is False
    assert "random_state differs: it was drawn, now 3" in mismatch(drawn, parts(random_state=3))


@pytest.mark.filterwarnings("ignore:cv. fold 0 tests only classes:UserWarning")
def test_folds_that_are_listed_count_by_their_rows_and_those_of_a_generator_by_their_number():
    folds = list(KFold(3).split(X))
    once, listed = parts(cv=iter(folds)), parts(cv=folds)
    assert check_same(once, listed, "a") is False
    assert check_same(listed, once, "a") is False
    shuffled = list(KFold(3, shuffle=True, random_state=0).split(X))
    assert "folds differs: it was 3 folds #" in mismatch(listed, parts(cv=shuffled))
    assert "cv differs: it was given: 3 folds, now given: 2 folds" in mismatch(
        listed, parts(cv=folds[:2])
    )


def test_fit_params_are_compared_one_by_one():
    plain = parts(fit_params={"sample_weight": np.ones(150)})
    other = parts(fit_params={"sample_weight": np.arange(150.0)})
    assert differing(parts(), plain) == ["fit_params"]
    assert "fit_params differs: sample_weight was ndarray (150,)" in mismatch(plain, other)


@pytest.mark.filterwarnings("ignore:.*luckiest one:UserWarning")
def test_texts_are_short_and_all_is_json():
    steps = [(f"scale{i}", StandardScaler()) for i in range(100)]
    estimator = Pipeline([*steps, ("sgd", SGDClassifier())])
    space = {"sgd__random_state": list(range(5000))}
    found = parts(estimator=estimator, param_distributions=space)
    assert json.loads(json.dumps(found)) == found
    items = found["estimator"]
    assert max(map(len, items.values())) <= 300
    assert items["scale7__with_std"] == "True"


# ---- errors name what to do


def test_the_error_names_what_differs_and_what_to_do():
    new = parts(
        param_distributions={"alpha": loguniform(1e-6, 1), "eta0": uniform(0, 1)},
        estimator=Pipeline([("sgd", SGDClassifier())])[0].set_params(loss="log_loss"),
        X=X + 1,
    )
    message = mismatch(parts(), new)
    assert message.splitlines()[0] == "The checkpoint in 'runs/a' belongs to a different search:"
    assert "alpha was loguniform(1e-06, 0.1), now loguniform(1e-06, 1)" in message
    assert "eta0 is new, uniform(0, 1)" in message
    assert "penalty was removed, it was ['l1', 'l2']" in message
    assert "estimator differs: loss was 'hinge', now 'log_loss'\n" in message
    assert "data differs: X was ndarray (150, 4) float64 #" in message
    assert " y was" not in message
    assert message.splitlines()[-1].startswith("Pass another checkpoint_dir, or delete this one")


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", ["set_output", "set_fit_request"])
def test_what_a_clone_has_beside_its_parameters_is_compared(name):
    def pipeline(value):
        scale = StandardScaler()
        if value is not None:
            getattr(scale, name)(**{value: "pandas" if value == "transform" else True})
        return Pipeline([("scale", scale), ("sgd", SGDClassifier())])

    space = {"sgd__eta0": uniform(0, 1)}
    value = "transform" if name == "set_output" else "sample_weight"
    with config_context(enable_metadata_routing=True):
        old, again, new = (
            parts(estimator=pipeline(v), param_distributions=space) for v in (None, None, value)
        )
    assert differing(old, again) == []
    assert "  estimator differs: it was " in mismatch(old, new)


def test_a_parameter_deep_in_a_pipeline_is_named_alone():
    def pipeline(alpha):
        steps = [("scale", StandardScaler()), ("sgd", SGDClassifier(alpha=alpha))]
        return Pipeline(steps, memory="cache" if alpha == 1 else None)

    space = {"sgd__eta0": uniform(0, 1)}
    old, new = (parts(estimator=pipeline(a), param_distributions=space) for a in (1.0, 2.0))
    assert "  estimator differs: sgd__alpha was 1.0, now 2.0\n" in mismatch(old, new)


def test_dicts_of_a_union_are_distinguished():
    old = parts(param_distributions=[{"alpha": [1, 2]}, {"alpha": uniform(0, 1)}])
    new = parts(param_distributions=[{"alpha": [1, 2]}, {"alpha": uniform(0, 2)}])
    assert "alpha (dict 1) was uniform(0, 1), now uniform(0, 2)" in mismatch(old, new)


def test_a_long_list_of_candidates_is_compared_as_a_whole():
    def listed(last):
        return [{"alpha": [1 / i]} for i in range(1, 1500)] + [{"alpha": [last]}]

    old, new = parts(param_distributions=listed(5.0)), parts(param_distributions=listed(6.0))
    assert list(old["space"]) == [""]
    assert "space differs: it was alpha (dict 0): [1.0]" in mismatch(old, new)


def test_long_values_that_differ_at_their_end_differ():
    def search(last):
        guesses = [{"alpha": 1 / i, "penalty": "l1"} for i in (*range(20, 500), last)]
        return parts(known={"params": guesses})

    old, new = search(500), search(501)
    assert old["settings"] != new["settings"]
    assert 'settings differs: known["params"] was [{' in mismatch(old, new)


# ---- the same search going on


def test_growth_does_not_hide_another_difference():
    message = mismatch(parts(), parts(n_iter=9, error_score=0.0, cv=3))
    assert "settings differs: error_score was nan, now 0.0\n" in message
    assert "cv differs: it was 5: 5 folds, now 3: 3 folds" in message
    assert "n_iter" not in message


def test_settings_of_a_scheduler_are_compared_one_by_one():
    def search(n, **params):
        scheduler = FullFidelity(n)
        return parts(SearchCV(SGDClassifier(), SPACE, scheduler=scheduler, **params))

    assert check_same(search(5), search(10), "a") is True
    assert "scheduler.n_candidates was 10, now 5" in mismatch(search(10), search(5))


def test_a_larger_resource_continues_and_auto_does_not_grow():
    def search(largest):
        return parts(
            HyperbandSearchCV(SGDClassifier(), SPACE, resource="epochs", max_resources=largest)
        )

    assert check_same(search(9), search(27), "a") is True
    assert "max_resources was 9, now 'auto'" in mismatch(search(9), search("auto"))


# ---- descriptions


def make_adder(n):
    def add(x, *rest):
        return x + n

    return add


def test_functions_of_installed_packages_are_compared_by_their_name():
    assert text(f1_score) == "sklearn.metrics._classification.f1_score"
    assert text(np.mean) == "numpy.mean"
    assert text(np.exp) == "numpy.exp"
    assert text(len) == "len"
    assert text(time.sleep) == "time.sleep"
    scorers = [make_scorer(f1_score, average=a) for a in ("macro", "macro", "micro")]
    assert text(scorers[0]) == text(scorers[1]) != text(scorers[2])


def test_plain_values_of_other_types_differ():
    values = [1, 1.0, True, "1", b"1", None, "None", 1j, (1,), [1], {1}, {1: 1}, -0.0, 0.0]
    assert len({text(value) for value in values}) == len(values)
    assert text(np.float64(0.1)) == text(0.1)
    assert text(float("nan")) == text(np.nan)


class Colour(str):
    __slots__ = ()


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a):
        self.a = a


@dataclass
class Point:
    x: object
    y: object = 0


class Plain:
    def __init__(self, **attributes):
        self.__dict__.update(attributes)


class Unreadable:
    def __init__(self):
        self.a = 1

    def __getattribute__(self, name):
        raise RuntimeError("no")

    def __repr__(self):
        raise RuntimeError("no")


def test_objects_are_compared_by_their_attributes():
    for make in (Colour, Slotted, Point, lambda a: Plain(a=a), lambda a: Plain(b=Plain(a=a))):
        assert text(make("x")) == text(make("x")) != text(make("y"))
    assert text(Plain(a=1, b=2)) == text(Plain(b=2, a=1))
    assert text(StratifiedKFold(3)) != text(StratifiedKFold(4))
    assert text(SVC(C=2)) != text(SVC(C=3))
    assert text(SVC().fit(X, y)) == text(SVC())
    assert text(SVC) == "sklearn.svm._classes.SVC"


class Cached:
    @functools.cached_property
    def answer(self):
        return 42


def test_use_changes_no_description():
    """Paths keep their hash, which is another one in each process."""
    path, cached = Path("a") / "b", Cached()
    before = text(path), text(cached)
    assert {path, Path("a/b")} == {path}
    assert cached.answer == 42
    assert (text(path), text(cached)) == before
    assert text(Path("a/b")) == text(path) != text(Path("a/c"))


@pytest.mark.parametrize(
    "use",
    [copy.copy, copy.deepcopy, repr, estimator_html_repr, clone, cloudpickle.dumps],
    ids=lambda use: use.__name__,
)
def test_use_changes_no_class(use):
    """Python notes in a class how its objects are copied, and their first copy may be any time."""

    class Own(ClassifierMixin, BaseEstimator):
        rate: float = 2.0

        def fit(self, X, y):
            return self

    before = fingerprint_of(Own())
    use(Own())
    assert fingerprint_of(Own()) == before
    Own.rate = 3.0
    assert fingerprint_of(Own()) != before


def test_names_that_end_in_underscores_are_compared():
    def of(value):
        class Own(BaseEstimator):
            def rate(self, rate__=value):
                return rate__

        return fingerprint_of(Own())

    assert of(1) != of(2)


def period(n):
    return pd.Period(ordinal=n, freq="D")


@pytest.mark.parametrize("make", [pd.Timestamp, pd.Timedelta, period])
def test_objects_without_attributes_are_compared_by_their_text(make):
    assert text(make(1)) == text(make(1)) != text(make(10**6))


@pytest.mark.parametrize(
    "value",
    [(i for i in range(3)), np.random.RandomState(0), ctypes.c_void_p(3)],
    ids=lambda value: type(value).__name__,
)
def test_opaque_objects_are_compared_by_type(value):
    assert text(value).endswith("(opaque)")
    assert text(ctypes.CDLL(None)) == "library None"
    assert "Unreadable (opaque)" in text(Unreadable())


def test_distributions_are_compared_by_law_and_arguments():
    assert text(loguniform(1e-6, 0.1)) == "loguniform(1e-06, 0.1)"
    assert text(randint(1, high=9)) == "randint(1, high=9)"
    assert text(LogRandInt(1, 9)) == text(LogRandInt(1, 9)) != text(LogRandInt(1, 10))

    def weighted(p):
        return stats.rv_discrete(values=([1, 2], [p, 1 - p]))()

    def histogram(top):
        return stats.rv_histogram(np.histogram([1.0, 2.0, top], bins=3))()

    for make in (weighted, histogram):
        assert text(make(0.25)) == text(make(0.25)) != text(make(0.5))


def test_conditions_are_part_of_the_space():
    def space(threshold):
        return {"penalty": ["l1", "elasticnet"],
                "l1_ratio": When(uniform(0, 1), "penalty", "==", threshold)}  # fmt: skip

    old = parts(param_distributions=space("elasticnet"))
    message = mismatch(old, parts(param_distributions=space("l1")))
    assert "l1_ratio was uniform(0, 1) when penalty == 'elasticnet', now" in message


@pytest.mark.timeout(30)
def test_cycles_and_repetitions_do_not_hang():
    ring = []
    ring.append(ring)
    selfish = Plain()
    selfish.me, selfish.too = selfish, {"me": selfish}
    grown = [0]
    for _ in range(60):
        grown = [grown, grown]
    deep = []
    for _ in range(5000):
        deep = [deep]
    for value in (ring, selfish, grown, deep, [ring] * 2000):
        assert text(value) == text(value)

    def recursive(n):
        return recursive(n - 1)

    assert text(recursive) == text(recursive)


# ---- data


def test_arrays_are_compared_by_values_type_and_shape():
    rng = np.random.default_rng(0)
    a = rng.random((300, 7))
    assert text(a) == text(np.asfortranarray(a)) == text(np.hstack([a, a])[:, :7])
    others = [a.astype("float32"), a.T, a.reshape(7, 300), a[:, ::-1], a + 1e-16, a > 0.5]
    assert len({text(other) for other in [a, *others]}) == 7
    assert text(np.array(3.0)) == text(np.array(3.0)) != text(np.array([3.0]))
    assert text(np.empty((0, 3))) != text(np.empty((0, 4)))
    assert text(np.array(["a", "b"])) != text(np.array(["a", "c"]))
    assert text(np.ma.array(a, mask=a > 0.5)) != text(np.ma.array(a, mask=a > 0.6))


def test_memory_mapped_data_are_the_same_data(tmp_path):
    a = np.arange(12.0).reshape(3, 4)
    np.save(tmp_path / "a.npy", a)
    assert text(np.load(tmp_path / "a.npy", mmap_mode="r")) == text(a)


def test_arrays_of_objects_are_compared_by_their_items():
    mixed = ["a", None, 1, 1.0, np.nan, np.float32(2), ("t", 1), {"k": [1]}]

    def array(items):
        a = np.empty(len(items), dtype=object)
        a[:] = items
        return a

    assert text(array(mixed)) == text(array(list(mixed)))
    for i in range(len(mixed)):
        assert text(array(mixed)) != text(array([*mixed[:i], "other", *mixed[i + 1 :]]))
    odd = array([{(1, 2): 3}, {4, 5}])
    assert text(odd) == text(array([{(1, 2): 3}, {5, 4}])) != text(array([{(1, 2): 4}, {5, 4}]))


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok"])
def test_sparse_data_are_compared_by_their_entries(kind):
    a = np.arange(12.0).reshape(3, 4) * (np.arange(4) % 2)
    b = a.copy()
    b[2, 3] += 1
    make = functools.partial(getattr(sparse, f"{kind}_array"))
    assert text(make(a)) == text(make(a)) != text(make(b))
    assert text(make(a)).startswith(f"sparse {kind} (3, 4) float64 #")
    turned = make(a[:, ::-1]).tocsc()[:, ::-1].tocsr()[:, [1, 0, 3, 2]]
    assert text(turned) == text(turned.sorted_indices())


def frame(**changed):
    n = 5
    columns = {
        "number": np.arange(n) / 3,
        "count": pd.array([1, 2, None, 4, 5], dtype="Int64"),
        "text": ["a", "b", None, "d", "e"],
        "kind": pd.Categorical(["x", "y", "x", "y", "x"], categories=["x", "y", "z"]),
        "when": pd.date_range("2026-01-01", periods=n, tz="Europe/Berlin"),
        "flag": [True, False, True, False, True],
    }
    return pd.DataFrame(columns | changed)


CHANGES = {
    "number": np.arange(5) / 4,
    "count": pd.array([1, 2, 3, 4, 5], dtype="Int64"),
    "text": ["a", "b", "", "d", "e"],
    "kind": pd.Categorical(["x", "y", "x", "y", "x"], categories=["x", "z", "y"]),
    "when": pd.date_range("2026-01-01", periods=5, tz="UTC"),
    "flag": [1, 0, 1, 0, 1],
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_in_any_column_of_a_frame_is_seen(name):
    assert text(frame()) == text(frame()) != text(frame(**{name: CHANGES[name]}))
    assert text(frame()[name]) == text(frame()[name]) != text(pd.Series(CHANGES[name], name=name))
    assert text(frame()) != text(frame().rename(columns={name: "other"}))


def test_frames_show_their_columns():
    assert "'number': float64, 'count': Int64" in text(frame())
    numbers = pd.DataFrame(X, columns=list("abcd"))
    assert text(numbers) == text(pd.DataFrame(np.asfortranarray(X), columns=list("abcd")))
    assert text(numbers) != text(numbers[list("abdc")])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (pl.Series([1.5, 2.0, None]), pl.Series([1.5, 2.0, 0.0])),
        (pl.Series([1, 2, 3]), pl.Series([1, 2, 3], dtype=pl.Int32)),
        (pl.Series(["a", "b", None]), pl.Series(["a", "b", ""])),
        (pl.Series([True, False, True]), pl.Series([1, 0, 1])),
        (
            pl.Series(["a", "b", "a"], dtype=pl.Categorical),
            pl.Series(["a", "c", "a"], dtype=pl.Categorical),
        ),
        (pl.Series([1, 2, None]).cast(pl.Date), pl.Series([1, 3, None]).cast(pl.Date)),
        (pl.Series([[1], [2, 3], []]), pl.Series([[1], [2], [3]])),
    ],
    ids=lambda series: str(series.dtype),
)
def test_a_change_in_any_column_of_polars_is_seen(old, new):
    assert text(old) == text(old.clone()) != text(new)
    assert text(old.to_frame("a")) == text(old.to_frame("a")) != text(new.to_frame("a"))
    assert text(old.to_frame("a")) != text(old.to_frame("b"))


def test_other_arrays_and_lists_are_data_as_well():
    xp = pytest.importorskip("array_api_strict")
    assert text(xp.asarray(X)) == text(xp.asarray(X)) != text(xp.asarray(X + 1))
    rows = X.tolist() * 20
    assert text(rows) == text(list(rows)) != text([*rows[:-1], [0.0] * 4])


@pytest.mark.parametrize("make", [np.asarray, np.asfortranarray, pd.DataFrame])
def test_much_data_takes_little_more_than_their_checksum(make):
    data = make(np.random.default_rng(0).random((25_000, 100)))

    def seconds(function):
        start = time.process_time()
        function()
        return time.process_time() - start

    checksums = min(seconds(lambda: hashlib.sha256(np.asarray(data).tobytes())) for _ in range(3))
    assert min(seconds(lambda: text(data)) for _ in range(3)) < 5 * checksums


# ---- other processes

SCRIPT = """
import sys
sys.path.insert(0, {root!r})
import numpy as np
from tests.checkpoint.test_fingerprint import Plain, Point, make_adder, text, parts
from sklearn.svm import SVC
from scipy.stats import uniform
import json
value = Plain(
    s={{"a", "b", "c", (1, 2)}}, d={{"x": 1, "y": {{"q", "r"}}}}, f=make_adder(3),
    g=lambda x: x in {{"p", "q", "r"}}, h=uniform(0, 1), o=object(), e=SVC(), p=Point(1),
    r=np.random.RandomState(0), i=iter([1]), m="abc".upper,
)
print(text(value))
print(json.dumps(parts(param_distributions={{"alpha": uniform(0, 1)}}, scoring=make_adder(1))))
"""


@pytest.mark.slow
def test_descriptions_are_the_same_in_every_process(request):
    script = SCRIPT.format(root=str(request.config.rootpath))
    new = subprocess.run(
        [sys.executable, "-c", script], env=os.environ | {"PYTHONHASHSEED": "0"},
        capture_output=True, text=True, check=True, timeout=90,
    )  # fmt: skip
    assert new.stdout == scripts.run(["-c", script], check=True, timeout=90).stdout != ""
