"""Many models in one search: a list of estimators in the place of one."""

import datetime
import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from scipy.sparse import csr_matrix
from scipy.stats import loguniform, randint
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier, is_regressor
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import GradientBoostingClassifier, StackingClassifier
from sklearn.linear_model import Ridge
from sklearn.metrics import log_loss, make_scorer
from sklearn.model_selection import (
    KFold,
    StratifiedKFold,
    check_cv,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from sksearch import HyperbandSearchCV, RandomSearchCV, SearchCV, default_models, report
from sksearch.estimators._model_choice import OneOf
from sksearch.fitting.finish._averaged import AveragedClassifier
from sksearch.plotting import ImportanceDisplay, ParallelDisplay, SliceDisplay
from tests import interrupted
from tests.checkpoint.test_resume import fit_and_stop, outcome

X, Y = (each[::2] for each in load_iris(return_X_y=True))
MODELS = [
    DecisionTreeClassifier(random_state=0),
    make_pipeline(StandardScaler(), SVC()),
    GradientBoostingClassifier(n_estimators=5, random_state=0),
]
NAMED = list(zip("ABC", MODELS, strict=True))
ARGS = {"n_iter": 7, "cv": 3, "random_state": 0, "workers": {"batch_size": 1}}


def models_of(search):
    return [params["model"] for params in search.cv_results_["params"]]


@pytest.fixture(scope="session")  # long tests of other files may run in between
def found():
    return SearchCV(NAMED, **ARGS).fit(X, Y)


@pytest.mark.whole
def test_each_model_is_tried_with_its_own_values_before_any_is_tried_twice(found):
    assert models_of(found)[:3] == ["A", "B", "C"]
    assert models_of(found)[3:7] == ["B", "C", "B", "C"]  # nothing is recorded of trees
    first, second, third = found.cv_results_["params"][:3]
    assert first["A__max_depth"] is None  # outside of the default space, as it is
    assert second["B__svc__C"] == 1.0
    assert third["C__learning_rate"] == 0.1


def test_each_candidate_has_the_params_of_its_model_alone(found):
    for params in found.cv_results_["params"]:
        assert {name.partition("__")[0] for name in params} == {"model", params["model"]}


def test_the_best_is_a_plain_model_with_the_best_params(found):
    name = found.best_params_["model"]
    own = {
        key.removeprefix(f"{name}__"): value
        for key, value in found.best_params_.items()
        if key != "model"
    }
    expected = clone(dict(NAMED)[name]).set_params(**own).fit(X, Y)
    best = found.best_estimator_
    assert type(getattr(best, "model", best)) is type(expected)  # but for its probabilities
    assert best.get_params() != {}
    np.testing.assert_array_equal(found.predict(X), expected.predict(X))
    assert found.n_features_in_ == 4
    assert list(found.classes_) == [0, 1, 2]


def test_a_count_of_iterations_is_found_for_the_model_that_has_one(found):
    for params in found.cv_results_["params"][1:]:
        assert ("C__n_estimators" in params) == (params["model"] == "C")


@pytest.mark.whole
def test_report_pictures_and_importance_know_several_models(found):
    text = str(report(found))
    assert text.startswith("SearchCV(3 models): 7 candidates")
    assert f"model='{found.best_params_['model']}'" in text
    for display in (SliceDisplay, ParallelDisplay, ImportanceDisplay):
        assert display.from_search(found).plot().figure_
    assert found.to_frame()["model"].nunique() == 3


def test_the_plan_names_the_models():
    plan = str(SearchCV(NAMED, **ARGS).plan(X, Y))
    assert "models: A, B, C" in plan
    assert "B__svc__gamma" in plan


@pytest.mark.whole
def test_the_count_of_workers_changes_nothing(found):
    with parallel_config("threading"):
        other = SearchCV(NAMED, **ARGS, n_jobs=3).fit(X, Y)
    assert outcome(other) == outcome(found)


@pytest.mark.few(1)
@pytest.mark.parametrize("after", [2, 5, 7])
def test_a_search_that_was_stopped_continues_to_the_same_end(after, tmp_path):
    def search(folder):
        options = ARGS | {"n_iter": 4, "checkpoint_dir": folder}
        return SearchCV(NAMED, **options, scoring=interrupted.scorer)

    fit_and_stop(search(tmp_path), after)
    expected = search(None).fit(interrupted.X, interrupted.Y)
    assert outcome(search(tmp_path).fit(interrupted.X, interrupted.Y)) == outcome(expected)


def test_it_is_an_ordinary_estimator(found):
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.predict(X), found.predict(X))
    copied = clone(found)
    assert copied.estimator.named[1][0] == "B"
    assert is_classifier(copied)
    assert not is_regressor(copied)
    assert copied.get_params()["estimator__B__svc__C"] == 1.0
    copied.set_params(estimator__B__svc__C=9.0, estimator__model="B")
    assert copied.estimator.steps[0][1].get_params()["svc__C"] == 9.0
    scores = cross_validate(
        make_pipeline(StandardScaler(), copied.set_params(n_iter=3)), X, Y, cv=2
    )
    assert scores["test_score"].min() > 0.8


def test_models_without_names_have_those_of_their_classes():
    assert [name for name, _ in OneOf([*MODELS, SVC()]).named] == [
        "decisiontreeclassifier", "svc-1", "gradientboostingclassifier", "svc-2",
    ]  # fmt: skip
    assert SearchCV(MODELS).estimator.named == SearchCV(MODELS).estimator.named


@pytest.mark.whole
def test_a_space_may_be_given_for_some_models():
    search = SearchCV(NAMED, {"A": {"max_depth": [1, 2]}}, **ARGS).fit(X, Y)
    of_a = [p for p in search.cv_results_["params"] if p["model"] == "A"]
    assert of_a
    assert all(set(p) == {"model", "A__max_depth"} for p in of_a)
    assert all(p["A__max_depth"] in (1, 2) for p in of_a)


def test_a_space_of_ones_own_is_as_it_is():
    space = [
        {"model": ["A"], "A__max_depth": randint(1, 5)},
        {"model": ["B"], "B__svc__C": loguniform(0.1, 10)},
    ]
    search = RandomSearchCV(NAMED, space, n_iter=8, cv=3, random_state=0).fit(X, Y)
    assert set(models_of(search)) == {"A", "B"}


def test_rungs_go_with_several_models():
    search = HyperbandSearchCV(
        NAMED[:2], None, resource="n_samples", min_resources=30, cv=3, random_state=0
    ).fit(*load_iris(return_X_y=True))
    assert set(models_of(search)) == {"A", "B"}


class Unknown(ClassifierMixin, BaseEstimator):
    """A model that nobody knows: it says the class of the largest column."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[np.zeros(len(X), int)]


def test_a_model_that_nothing_is_known_of_takes_part_as_it_is():
    search = SearchCV([("A", MODELS[0]), ("U", Unknown())], **ARGS).fit(X, Y)
    assert models_of(search).count("U") == 1
    assert {"model": "U"} in list(search.cv_results_["params"])
    assert "no default space for U (Unknown)" in str(search.plan(X, Y))


def test_regressors_as_well():
    Xr, yr = load_diabetes(return_X_y=True)
    search = SearchCV([Ridge(), KNeighborsRegressor()], n_iter=4)
    assert is_regressor(search)
    assert search.fit(Xr, yr).best_score_ > 0.4


@pytest.mark.parametrize(
    ("models", "error", "words"),
    [
        ([], ValueError, "list of models is empty"),
        ([SVC], TypeError, r"pass an instance, SVC\(\)"),
        ([SVC(), 3], TypeError, "3 is not an estimator"),
        ([SVC(), Ridge()], ValueError, "of different kinds: SVC, Ridge"),
        ([("a", SVC()), ("a", SVC())], ValueError, "'a' cannot be the name of a model"),
        ([("a__b", SVC())], ValueError, "'a__b' cannot be the name of a model"),
        ([("model", SVC())], ValueError, "'model' cannot be the name of a model"),
    ],
)
def test_what_cannot_be_searched_together_is_refused(models, error, words):
    search = SearchCV(models, timeout=1)
    with pytest.raises(error, match=words):
        search.fit(X, Y)


def test_a_space_for_a_model_that_is_none_is_refused():
    with pytest.raises(
        ValueError,
        match=re.escape("contains 'D', but the models are ['A', 'B', 'C']"),
    ):
        SearchCV(NAMED, {"D": {"C": [1]}}, **ARGS).fit(X, Y)
    with pytest.raises(ValueError, match="model='Z' must be one of A, B, C"):
        OneOf(NAMED, "Z")


def test_weights_go_to_each_model():
    weights = np.where(Y == 2, 0.0, 1.0)  # the third class counts for nothing
    search = SearchCV(NAMED, **ARGS | {"n_iter": 3}).fit(X, Y, sample_weight=weights)
    assert set(search.statuses_) == {"ok"}
    assert 2 not in search.predict(X)
    with pytest.raises(ValueError, match=r"svc__sample_weight, which contains .* write"):
        SearchCV(NAMED, **ARGS).fit(X, Y, svc__sample_weight=weights)
    with pytest.raises(ValueError, match="sample_weight, which fit of KNeighborsClassifier"):
        SearchCV([("K", KNeighborsClassifier())], **ARGS).fit(X, Y, sample_weight=weights)
    with pytest.raises(ValueError, match=r"does not accept: K\. Remove"):
        SearchCV([*NAMED, ("K", KNeighborsClassifier())], **ARGS).fit(X, Y, sample_weight=weights)


def test_a_model_can_be_replaced():
    one = OneOf(NAMED).set_params(B=KNeighborsClassifier(), model="B")
    assert type(clone(one).steps[0][1]) is KNeighborsClassifier
    assert [name for name, _ in clone(one).named] == ["A", "B", "C"]
    assert one.set_params(models=[SVC()], model=None).get_params()["svc__C"] == 1.0


def test_models_inside_of_a_pipeline_are_refused_and_not_left_out():
    with pytest.raises(ValueError, match="pass the list of models to the search"):
        SearchCV(make_pipeline(StandardScaler(), OneOf(NAMED)), **ARGS).fit(X, Y)


def test_an_ensemble_is_of_plain_models():
    space = {"A": {"max_features": [1, 2]}, "B": {"svc__C": [1, 2]}}
    rows, labels = load_iris(return_X_y=True)
    noisy = rows[:, :2] + np.random.default_rng(0).normal(size=(150, 2))
    search = SearchCV(NAMED[:2], space, **ARGS | {"n_iter": 9}, ensemble=True).fit(noisy, labels)
    average = search.best_estimator_
    assert type(average) is AveragedClassifier
    models = [getattr(each.estimator, "model", each.estimator) for each in average.models]
    assert {type(model) for model in models} <= {type(m) for m in MODELS}


# ---- a list for the data at hand


def table(n=90):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({
        "age": rng.normal(40, 9, n), "n": rng.integers(0, 9, n), "city": rng.choice([*"abc"], n),
        "kind": pd.Categorical(rng.choice(["u", "v"], n)), "ok": rng.random(n) < 0.5,
        "day": pd.date_range("2020-01-01", periods=n),
    })  # fmt: skip
    frame.loc[::9, "age"] = np.nan
    frame.loc[3, "city"] = None
    return frame, np.where((frame["age"].fillna(40) > 42) ^ (frame["city"] == "a"), "yes", "no")


@pytest.mark.whole
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_default_models_take_mixed_columns_with_gaps():
    frame, y = table()
    for name, model in default_models(frame, y):
        fitted = clone(model).fit(frame, y)
        assert fitted.score(frame, y) > 0.6, name
        assert list(fitted.feature_names_in_) == list(frame.columns)
    polars = pytest.importorskip("polars")
    assert default_models(polars.from_pandas(frame), y)[0][1].fit(frame, y)


@pytest.mark.whole
def test_default_models_of_arrays():
    gaps = np.where(X > 6.5, np.nan, X)
    names = [name for name, _ in default_models(gaps, Y)]
    assert names == ["linear", "boosting", "forest", "extra", "net", "kernel", "nearest"]
    for _, model in default_models(gaps, Y)[:3]:
        assert clone(model).fit(gaps, Y).score(gaps, Y) > 0.8
    assert [n for n, _ in default_models(np.zeros((5001, 2)), np.arange(5001) % 2)][-1] == "net"


@pytest.mark.parametrize(
    ("y", "task", "classifies"),
    [
        (["a", "b"] * 50, None, True), (np.arange(100) % 20, None, True),
        (np.arange(100.0) % 2, None, True), (np.arange(100), None, False),
        (np.arange(100) / 7, None, False), (np.arange(100) % 2, "regression", False),
        (np.arange(100), "classification", True), ([*"0123"] * 25, None, True),
        ([f"{i}" for i in range(50)] * 2, "classification", True),
        (pd.Series(np.arange(100) // 2, dtype="category"), None, True),
        (pd.DataFrame({"y": pd.Categorical(np.arange(100) // 2)}), None, True),
        (pd.Series(np.arange(100) / 7, dtype=object), None, False),
    ],
)  # fmt: skip
def test_the_task_follows_from_the_target(y, task, classifies):
    models = default_models(np.zeros((100, 2)), y, task=task)
    assert all(is_classifier(model) == classifies for _, model in models)


@pytest.mark.parametrize(
    ("X", "y", "task", "words"),
    [
        (X, Y, "ranking", "task='ranking' must be"), (X, Y[:9], None, "one or several targets"),
        (X[:, 0], Y, None, r"a table.* X.to_frame\(\)"),
        (X, np.stack([X, X]), None, "got X of shape"),
        (X, [None, *Y[1:]], None, "y has 1 missing label .NaN., the first in row 0"),
        (X, np.where(Y == 1, np.nan, Y), None, "missing labels"),
        (X, pd.Series(Y == 1, dtype="boolean").where(Y != 1), None, "missing labels"),
        (X, pd.Series(["a", None, *Y[2:].astype(str)], dtype="string"), None, "in row 1"),
        (X, (Y == 1).astype(object), None, r"pass y.astype\(bool\)"),
        (X, Y.astype(object), None, r"type int, .*: pass y.astype\(int\)"),
        (X, csr_matrix(np.eye(len(Y))), None, r"pass y.toarray\(\)"),
        (X, pd.Series(pd.date_range("2020", periods=len(Y))), None, "y contains dates or dur"),
        (X, pd.to_timedelta(np.arange(len(Y)), unit="h"), None, "y contains dates or durations"),
        (X, pd.Series(pd.period_range("2020", periods=len(Y))), None, "y contains dates or dur"),
        (X, [datetime.date(2020, 1, 1 + i % 28) for i in range(len(Y))], None, "contains dates"),
        (X, np.where(np.arange(len(Y)) == 7, np.inf, X[:, 0]), None, "infinite in row 7"),
        (X, np.ones(len(Y)), None, "y has a single class or value, 1.0"),
        (X, ["a"] * len(Y), None, "y has a single class or value, 'a'"),
        (X, [f"{i / 7:.3f}" for i in range(len(Y))], None, "different numbers as texts"),
        (X, pd.Series([f"${i}.50" for i in range(len(Y))]), None, "numbers as texts: pass num"),
    ],
)  # fmt: skip
def test_data_without_a_table_have_no_default_models(X, y, task, words):
    with pytest.raises(ValueError, match=words):
        default_models(X, y, task=task)


@pytest.mark.parametrize("dtype", ["double[pyarrow]", "Float64", object, float])
def test_boosting_takes_the_dtype_of_any_number(dtype):
    y = pd.Series(X[:, 0]).astype(dtype)
    frame = pd.DataFrame(X, columns=[*"abcd"])
    for target in (y, y.array, pd.Index(y)):
        models = dict(default_models(frame, target))
        assert models["boosting"].fit(frame, target).predict(frame).shape == Y.shape


@pytest.mark.parametrize(
    ("y", "words"),
    [("city", "y='city' is the name of a column"), (["city"], "name of a column")],
)
def test_auto_names_the_cause_as_any_estimator_does(y, words):
    for estimator in ("auto", Ridge()):
        with pytest.raises(TypeError, match=words):
            SearchCV(estimator, n_iter=1).fit(table()[0], y)


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_meta_estimators_see_the_methods_of_auto_before_fit(method):
    search = RandomSearchCV("auto", [{"model": ["linear"]}], n_iter=1, cv=2)
    assert cross_val_predict(search, X, Y, cv=2, method=method).shape[0] == len(Y)


def test_a_search_over_the_default_models():
    frame, y = table()
    search = SearchCV(default_models(frame, y)[:3:2], n_iter=5, cv=3, random_state=0).fit(frame, y)
    assert search.score(frame, y) > 0.6
    assert list(search.feature_names_in_) == list(frame.columns)


# ---- "auto", and a dict of models


def test_auto_chooses_the_models_for_the_data_of_each_fit():
    search = SearchCV("auto", n_iter=3, cv=2, random_state=0)
    assert "models: linear, boosting, forest, extra, net, kernel" in str(search.plan(X, Y))
    assert clone(search).get_params(deep=False)["estimator"].named == []
    search.set_params(n_iter=1).fit(X, Y)
    assert is_classifier(search)
    assert search.predict(X).shape == Y.shape
    assert str(search.report()).startswith("SearchCV(7 models): 1 candidate")
    again = pickle.loads(pickle.dumps(search))
    np.testing.assert_array_equal(again.predict(X), search.predict(X))
    rows, target = (each[:60] for each in load_diabetes(return_X_y=True))
    assert is_regressor(clone(search).fit(rows, target))
    assert is_regressor(search.fit(rows, target))
    assert search.get_params()["estimator__linear__ridge__alpha"] == 1.0


def test_auto_leaves_out_the_models_that_take_no_weights_with_a_line():
    weights, line = np.linspace(0.1, 1, len(Y)), "fit accepts no sample_weight: nearest"
    search = SearchCV("auto", n_iter=1, cv=2, random_state=0)
    assert line in str(search.plan(X, Y, sample_weight=weights))
    search.fit(X, Y, sample_weight=weights)
    assert line in " ".join(str(search.report()).split())
    assert "nearest" not in search.leaderboard()["model"].tolist()
    assert line not in str(search.plan(X, Y))


def test_weights_reach_the_models_of_several_targets():
    rows, target = load_diabetes(return_X_y=True)
    several, weights = np.column_stack([target, -target])[:60], np.ones(60)
    plan = SearchCV("auto", n_iter=1, cv=2).plan(rows[:60], several, sample_weight=weights)
    assert "fit accepts no sample_weight: nearest\n" in f"{plan}\n"


def test_auto_takes_a_frame_and_goes_in_cross_validation():
    frame, y = table()
    search = RandomSearchCV("auto", [{"model": ["linear"]}], n_iter=1, cv=2)
    assert min(cross_validate(search, frame, y, cv=2)["test_score"]) > 0.4
    assert min(cross_validate(search, frame.drop(columns="day"), y, cv=2)["test_score"]) > 0.4
    with pytest.raises(ValueError, match="chooses models by y, but y is missing"):
        search.fit(frame)


@pytest.mark.parametrize(
    "data", [load_iris, load_diabetes, lambda **_: (X, np.sort(Y)), lambda **_: (X, Y > 0)]
)
def test_auto_has_the_folds_of_a_classifier_if_y_has_classes(data):
    rows, target = data(return_X_y=True)
    target = target + 0.5 if data is load_diabetes else np.sort(target)  # classes in blocks
    search = RandomSearchCV("auto", [{"model": ["linear"]}], n_iter=1, cv=2)
    has_classes = data is not load_diabetes
    assert is_classifier(search)
    assert is_classifier(clone(search))
    split = check_cv(3, target, classifier=is_classifier(search))
    assert isinstance(split, StratifiedKFold if has_classes else KFold)
    fitted = cross_validate(search, rows, target, cv=3, return_estimator=True)["estimator"]
    assert all(is_classifier(each) == has_classes for each in fitted)
    assert all(is_regressor(each) != has_classes for each in fitted)
    if has_classes:
        assert all(list(each.classes_) == list(np.unique(target)) for each in fitted)
        StackingClassifier([("auto", search)])._validate_estimators()


SEVERAL = {
    "labels that are there or not": np.column_stack([Y > 0, Y > 1]).astype(int),
    "a rare label": np.column_stack([Y > 0, np.arange(len(Y)) % 19 == 0]).astype(int),
    "classes": np.column_stack([Y, 2 - Y]),
    "names": np.array([*"abc"])[np.column_stack([Y, 2 - Y])],
    "objects": np.array([*"abc"], object)[np.column_stack([Y, Y > 1])],
    "numbers": X[:, :2] + 0.01 * np.arange(len(X))[:, None] ** 0.5,
    "three numbers": pd.DataFrame(X[:, :3] / 7, columns=[*"abc"]),
    "a column": Y[:, None] > 0,
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", SEVERAL)
def test_auto_takes_several_targets(name):
    y = SEVERAL[name]
    assert len(default_models(X, y)) == 7
    search = RandomSearchCV("auto", [{"model": ["linear", "nearest"]}], n_iter=2, cv=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.fit(X, y.ravel() if name == "a column" else y)
    assert "ok" in search.statuses_  # a fold may lack a rare label
    assert is_classifier(search) == ("number" not in name)
    assert len(search.predict(X)) == len(X)
    assert np.shape(search.predict(X)) == (np.shape(y) if name != "a column" else (len(X),))
    if is_classifier(search):
        assert hasattr(search, "predict_proba")
    assert np.isfinite(search.score(X, y))
    assert str(search.report())


def test_auto_has_the_result_of_its_list():
    options = {"n_iter": 3, "cv": 2, "random_state": 0}
    listed = SearchCV(default_models(X, Y)[:1], **options).fit(X, Y)
    space = {"linear": {"simpleimputer__strategy": ["mean", "median"]}}
    auto = RandomSearchCV("auto", [{"model": ["linear"]}], n_iter=1, cv=2).fit(X, Y)
    own = RandomSearchCV(default_models(X, Y), [{"model": ["linear"]}], n_iter=1, cv=2).fit(X, Y)
    assert outcome(auto) == outcome(own)
    assert type(auto.best_estimator_) is type(listed.best_estimator_)
    assert SearchCV("auto", space, n_iter=1).plan(X, Y).n_candidates == 1


def test_a_dict_of_models_is_a_list_with_names():
    search = SearchCV(dict(NAMED), **ARGS)
    assert [name for name, _ in search.estimator.named] == ["A", "B", "C"]
    assert search.get_params()["estimator__B__svc__C"] == 1.0
    with pytest.raises(TypeError, match="3 is not an estimator"):
        SearchCV({"a": SVC(), "b": 3}, n_iter=1).fit(X, Y)
    with pytest.raises(ValueError, match="'a__b' cannot be the name of a model"):
        SearchCV({"a__b": SVC()}, n_iter=1).fit(X, Y)
    with pytest.raises(TypeError, match="is a dict without estimators"):
        SearchCV({"C": [1, 2]}, n_iter=1).fit(X, Y)


# ---- rare classes


def with_rare(n_rows):
    y = Y.astype(str).astype(object)
    y[np.linspace(0, len(y) - 1, n_rows).astype(int)] = "rare"
    return y


RARE = pytest.mark.filterwarnings("ignore:The least populated class")


@RARE
@pytest.mark.parametrize("scoring", ["neg_log_loss", ["accuracy", "neg_log_loss"]])
def test_log_loss_of_folds_that_lack_a_class(scoring):
    y, args = with_rare(3), {"n_iter": 1, "cv": 4, "refit": "neg_log_loss", "random_state": 0}
    search = SearchCV(GaussianNB(), scoring=scoring, **args).fit(X, y)
    with_labels = make_scorer(
        log_loss, response_method="predict_proba", greater_is_better=False, labels=np.unique(y)
    )
    expected = cross_val_score(search.best_estimator_, X, y, cv=4, scoring=with_labels)
    assert search.best_score_ == pytest.approx(expected.mean())
    assert np.isfinite(search.score(X[:9], y[:9]))
    assert "log loss" in str(search.report())


@RARE
@pytest.mark.parametrize(
    ("n_rows", "scoring", "part"),
    [(1, "neg_log_loss", "training"), (3, "roc_auc_ovr", "test"), (1, "roc_auc_ovo", "")],
)
def test_a_class_that_a_metric_needs_in_each_fold_is_named_before_training(n_rows, scoring, part):
    search = SearchCV("auto", n_iter=1, cv=4, scoring=scoring)
    with pytest.raises(ValueError, match=f"{part} rows of fold . lack the class 'rare' of y"):
        search.fit(X, with_rare(n_rows))
