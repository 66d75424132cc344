"""Each line of code that advice prints runs, and what it names is valid."""

import copy
import math

import numpy as np
import pytest
from scipy.stats import loguniform, randint, uniform
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import ElasticNet, LogisticRegression, SGDClassifier
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    TimeSeriesSplit,
    cross_validate,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, NuSVC
from sklearn.tree import DecisionTreeClassifier

from sksearch import RandomSearchCV, SearchCV, When, report
from sksearch._utils._compat import fault_of
from sksearch.estimators._model_choice import named_of
from sksearch.reader._read import read
from sksearch.reader._search_table import SearchTable
from sksearch.reporting._advice import Facts, _finer_metric, advise
from sksearch.reporting._edits import remove_choice, remove_params, set_values
from sksearch.reporting._failures import group_failures
from sksearch.space import LogRandInt, Space, default_space
from sksearch.stats._selection import selected_score

X, Y = load_iris(return_X_y=True)
N = 24


class Unknown(ClassifierMixin, BaseEstimator):
    """Says nothing about what its parameters may be."""

    def __init__(self, share=0.5, count=10, rate=0.1, weight=0.0):
        self.share = share
        self.count = count
        self.rate = rate
        self.weight = weight

    def fit(self, X, y):
        return self


def is_known_value(name, value):
    """Whether a value makes sense by what the names of `Unknown` mean."""
    if name == "count":
        return isinstance(value, int) and value >= 1
    return {"share": 0 <= value <= 1, "rate": value > 0, "weight": True}[name]


def fitted(estimator, space, score, first=None, n=N):
    """A search as if it had been fitted, so that hundreds of them take no time.

    `score` gives NaN to a candidate that fails.
    """
    search = RandomSearchCV(estimator, space, n_iter=n, cv=3)
    given = default_space(estimator) if space is None else space
    rng = np.random.default_rng(0)
    known = Space(given, accepts=lambda name, value: True)
    sample = known.sample
    drawn = [sample(rng) for _ in range(n)] if first is None else [first]
    drawn += [sample(rng) for _ in range(n - len(drawn))]
    folds = np.array([[score(each)] * 3 for each in drawn]) + 1e-6 * rng.standard_normal((n, 3))
    means = folds.mean(axis=1)
    search.cv_results_ = {
        "params": drawn, "mean_test_score": means, "mean_fit_time": np.ones(n),
        "mean_score_time": np.ones(n), "rank_test_score": np.argsort(np.argsort(-means)) + 1,
        **{f"split{i}_test_score": folds[:, i] for i in range(3)},
    }  # fmt: skip
    search.statuses_ = ["ok" if np.isfinite(mean) else "error" for mean in means]
    search.errors_ = ["" if np.isfinite(mean) else "ValueError: no" for mean in means]
    search.best_index_ = int(np.nanargmax(means))
    search.n_splits_, search.multimetric_ = 3, False
    search.known_ = known  # for lack of a history
    return search


def advice_on(search, useless=()):
    """All advice, without the models of importance, which take their time."""
    table = read(search)
    vars(table)["space"] = search.known_
    selected = selected_score(table.scores, chosen=table.best) if table.best is not None else None
    tied = np.arange(len(table.candidates)) == table.best
    return advise(Facts(table, selected, tied, None, group_failures(table), list(useless)))


def changed_by(code, search):
    """Run a line of advice; the space, or the parameters of the search, that it leads to."""
    names = {
        "uniform": uniform, "loguniform": loguniform, "randint": randint, "When": When,
        "LogRandInt": LogRandInt, "default_space": default_space, "search": search, "X": X,
        "y": Y, "estimator": search.estimator, "RepeatedKFold": RepeatedKFold,
        "RepeatedStratifiedKFold": RepeatedStratifiedKFold,
        "param_distributions": copy.deepcopy(search.param_distributions),
    }  # fmt: skip
    before = set(names)
    exec(code, names)
    given = {name: names[name] for name in names if name not in before and name[0] != "_"}
    given.pop("x", None)
    return given | {"param_distributions": names["param_distributions"]}


def assert_valid(code, search):
    """See that a line of advice runs, and that the search takes what it leads to."""
    made = search.__class__(search.estimator, **changed_by(code, search))
    made._validate_params()
    given = made.param_distributions
    space = Space(default_space(made.estimator) if given is None else given)
    old = {end for d in search.known_.dimensions for end in d.bounds or ()}
    rng = np.random.default_rng(0)
    values = [pair for _ in range(20) for pair in space.sample(rng).items()]
    values += [(d.name, end) for d in space.dimensions for end in d.bounds or () if end not in old]
    for name, value in values:
        fault = fault_of(made.estimator, name, value)
        assert fault in ("", None), (code, fault)
        assert fault == "" or is_known_value(name, value), (code, name, value)


RANGES = [
    (RandomForestClassifier(), "n_estimators", randint(5, 100)),
    (RandomForestClassifier(), "n_estimators", LogRandInt(2, 100)),
    (RandomForestClassifier(), "max_features", uniform(0.1, 0.5)),
    (RandomForestClassifier(), "max_samples", uniform(0.3, 0.7)),
    (RandomForestClassifier(), "ccp_alpha", uniform(0, 0.1)),
    (DecisionTreeClassifier(), "min_samples_split", randint(2, 20)),
    (DecisionTreeClassifier(), "min_samples_leaf", uniform(0.01, 0.3)),
    (DecisionTreeClassifier(), "max_depth", [2, 4, 6]),
    (DecisionTreeClassifier(), "min_impurity_decrease", [0.0, 0.1, 0.2]),
    (SVC(), "C", loguniform(1e-3, 1e3)),
    (SVC(), "C", [0.1, 1, 10]),
    (SVC(), "coef0", uniform(-1, 2)),
    (SVC(), "degree", randint(0, 5)),
    (SVC(), "tol", loguniform(1e-6, 1e-2)),
    (NuSVC(), "nu", uniform(0.1, 0.6)),
    (ElasticNet(), "l1_ratio", uniform(0.07, 0.83)),
    (ElasticNet(), "l1_ratio", [0.1, 0.5, 0.9]),
    (SGDClassifier(), "alpha", loguniform(1e-6, 1e-1)),
    (MLPClassifier(), "momentum", uniform(0.1, 0.85)),
    (MLPClassifier(), "beta_1", loguniform(0.1, 0.99)),
    (HistGradientBoostingClassifier(), "max_leaf_nodes", LogRandInt(2, 64)),
    (HistGradientBoostingClassifier(), "max_bins", LogRandInt(8, 200)),
    (LogisticRegression(), "C", uniform(0, 1000)),
    (make_pipeline(PCA(), SVC()), "pca__n_components", randint(1, 5)),
    (make_pipeline(PCA(), SVC()), "svc__C", loguniform(1e-2, 1)),
    (Unknown(), "share", uniform(0.5, 0.4)),
    (Unknown(), "share", [0.6, 0.7, 0.8]),
    (Unknown(), "share", uniform(0, 1)),
    (Unknown(), "count", randint(2, 20)),
    (Unknown(), "count", [1, 2, 3]),
    (Unknown(), "count", LogRandInt(1, 1000)),
    (Unknown(), "rate", loguniform(1e-4, 1)),
    (Unknown(), "rate", uniform(1e-4, 10)),
    (Unknown(), "weight", uniform(-1, 2)),
]


def ids_of(cases):
    return [f"{type(case[0]).__name__}-{case[1]}" for case in cases]


def spaces_of(name, values):
    """The ways in which a user writes one parameter."""
    yield {name: values}
    yield [{name: values}, {name: values}]


@pytest.mark.parametrize("sign", [1, -1], ids=["upper", "lower"])
@pytest.mark.parametrize(("estimator", "name", "values"), RANGES, ids=ids_of(RANGES))
def test_a_wider_range_is_code_and_valid(estimator, name, values, sign):
    for space in spaces_of(name, values):
        search = fitted(estimator, space, lambda params: sign * float(params[name]))
        for advice in advice_on(search):
            assert advice.code
            assert_valid(advice.code, search)


@pytest.mark.parametrize("sign", [1, -1], ids=["upper", "lower"])
@pytest.mark.parametrize(("estimator", "name", "values"), RANGES, ids=ids_of(RANGES))
def test_a_narrower_range_is_code_and_valid(estimator, name, values, sign):
    rng = np.random.default_rng(1)
    middle = np.median([float(Space({name: values}).sample(rng)[name]) for _ in range(99)])

    def half_fail(params):
        inside = sign * params[name] <= sign * middle
        return float(params[name]) if inside else math.nan

    for space in spaces_of(name, values):
        search = fitted(estimator, space, half_fail)
        (advice,) = (each for each in advice_on(search) if each.rule == "failures")
        assert advice.code
        assert_valid(advice.code, search)


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize(
    ("estimator", "name", "own"),
    [
        (RandomForestClassifier(n_estimators=100), "n_estimators", 100),
        (RandomForestClassifier(n_estimators=5), "n_estimators", 5),
        (KNeighborsClassifier(), "n_neighbors", 5),
        (DecisionTreeClassifier(), "max_depth", None),
        (SVC(), "degree", 3),
        (make_pipeline(PCA(), KNeighborsClassifier()), "kneighborsclassifier__leaf_size", 30),
        (Unknown(count=7), "count", 7),
    ],
)
def test_floats_for_a_count_are_mended_by_whole_numbers(estimator, name, own, log):
    space = {name: loguniform(0.5, 15) if log else uniform(0.5, 14.5)}
    search = fitted(
        estimator, space, lambda params: 0.5 if params[name] == own else math.nan, {name: own}, 8
    )
    (advice,) = (each for each in advice_on(search) if each.rule == "failures")
    assert advice.text == f"7 candidates failed, all with fractions for {name}. Draw integers."
    assert advice.code.endswith("LogRandInt(1, 16)" if log else "randint(1, 16)")
    assert_valid(advice.code, search)


class Odd:
    """A choice that no text makes again."""


@pytest.mark.parametrize(
    ("space", "left"),
    [
        ({"kernel": ["rbf", "poly", "linear"]}, ["rbf", "linear"]),
        ({"kernel": ("rbf", "poly")}, ["rbf"]),
        ({"kernel": np.array(["rbf", "poly"])}, ["rbf"]),
        ([{"kernel": ["rbf", "poly"]}, {"kernel": ["poly", "linear"]}], ["rbf"]),
        (
            {"kernel": When(["rbf", "poly"], "probability", "==", False), "probability": [False]},
            [],
        ),
    ],
    ids=["list", "tuple", "array", "union", "condition"],
)
def test_a_choice_is_taken_out_however_it_was_written(space, left):
    search = fitted(SVC(), space, lambda params: math.nan if params["kernel"] == "poly" else 0.5)
    (advice,) = (each for each in advice_on(search) if each.rule == "failures")
    assert advice.text.endswith("all with kernel='poly'. Remove it.")
    made = changed_by(advice.code, search)["param_distributions"]
    grids = made if isinstance(made, list) else [made]
    assert "poly" not in repr(grids)
    assert not left or list(grids[0]["kernel"]) == left
    assert_valid(advice.code, search)


def test_what_cannot_be_written_as_code_is_not():
    odd = Odd()
    space = {"kernel": ["rbf", odd], "C": [1.0, 2.0]}
    search = fitted(SVC(), space, lambda params: 0.5 if params["kernel"] == "rbf" else math.nan)
    (advice,) = (each for each in advice_on(search) if each.rule == "failures")
    assert advice.code == ""


@pytest.mark.parametrize(
    "space",
    [
        None,
        {"C": When(loguniform(1, 10), "kernel", "in", ["rbf"]), "kernel": ["rbf", "linear"]},
        {"C": When(When(uniform(1, 9), "kernel", "==", "rbf"), "shrinking", "==", True),
         "kernel": ["rbf"], "shrinking": [True]},
        [{"C": uniform(1, 9)}, {"C": uniform(1, 9), "shrinking": [True]}, {"degree": [1, 2]}],
    ],
    ids=["default space", "condition", "two conditions", "union"],
)  # fmt: skip
def test_a_range_is_changed_however_it_was_written(space):
    search = fitted(SVC(), space, lambda params: params.get("C", 0.0), n=200)
    edges = [each for each in advice_on(search) if each.rule == "edge" and "C=" in each.text]
    for advice in edges:
        assert_valid(advice.code, search)
        made = changed_by(advice.code, search).pop("param_distributions")
        assert "degree" in repr(made) or "degree" not in repr(space)
        assert repr(made).count("When") == repr(space).count("When")
    assert len(edges) == 1


def test_what_a_condition_depends_on_is_not_taken_out():
    space = {"C": When(uniform(1, 9), "kernel", "==", "rbf"), "kernel": ["rbf"], "tol": [1, 2]}
    search = fitted(SVC(), space, lambda params: params["C"])
    (advice,) = (e for e in advice_on(search, ["kernel", "tol"]) if e.rule == "no_effect")
    assert advice.code == "del param_distributions['tol']"
    search = fitted(SVC(), None, lambda params: params["C"])
    (advice,) = (e for e in advice_on(search, ["gamma"]) if e.rule == "no_effect")
    assert "gamma" not in changed_by(advice.code, search)["param_distributions"]


@pytest.mark.parametrize(
    ("estimator", "space", "values"),
    [
        (SVC(), {"C": [1.0]}, [0.5, 1.0, 2.0]),
        (KNeighborsClassifier(), {"n_neighbors": [1]}, [1, 2]),
        (ElasticNet(), {"l1_ratio": [0.7]}, [0.35, 0.7]),
        (SVC(), {"shrinking": [True]}, [False, True]),
        (SVC(), {"kernel": ["rbf"], "C": [4]}, [2, 4, 8]),
        (SVC(), {"kernel": ["rbf"]}, None),
    ],
)
def test_one_candidate_gets_others_that_are_valid(estimator, space, values):
    search = fitted(estimator, space, lambda params: 0.5, n=1)
    (advice,) = (e for e in advice_on(search) if e.rule == "one_candidate")
    made = changed_by(advice.code, search)["param_distributions"]
    assert values is None or values in made.values()
    assert_valid(advice.code, search)


@pytest.mark.parametrize(
    ("estimator", "scoring", "code"),
    [
        (DecisionTreeClassifier(), None, 'scoring="roc_auc_ovr"'),
        (SVC(), None, ""),  # three classes, and no probabilities
        (ElasticNet(), None, ""),  # r2 sees what there is
        (ElasticNet(), "max_error", 'scoring="r2"'),
    ],
)
def test_a_finer_metric_is_one_that_the_estimator_has(estimator, scoring, code):
    search = RandomSearchCV(estimator, {"tol": [1]}, cv=3, scoring=scoring)
    search.best_estimator_ = estimator.fit(X, Y)
    assert _finer_metric(SearchTable(search, (), None)) == code


@pytest.mark.parametrize(
    ("cv", "code"),
    [
        (None, "cv=RepeatedStratifiedKFold(n_splits=3, n_repeats=5)"),
        (3, "cv=RepeatedStratifiedKFold(n_splits=3, n_repeats=5)"),
        (KFold(3), "cv=RepeatedKFold(n_splits=3, n_repeats=5)"),
        (RepeatedKFold(n_splits=3, n_repeats=1), "cv=RepeatedKFold(n_splits=3, n_repeats=5)"),
        (TimeSeriesSplit(3), ""),
        (GroupKFold(3), ""),
    ],
    ids=str,
)
def test_folds_are_drawn_again_only_where_chance_draws_them(cv, code):
    search = fitted(SVC(), {"C": [1.0, 2.0, 3.0]}, lambda params: 0.5)
    search.cv = cv
    (advice,) = (e for e in advice_on(search) if e.rule == "noise")
    assert advice.code == code
    if code:
        assert list(changed_by(code, search)["cv"].split(X, Y))


@pytest.mark.parametrize(
    ("params", "status", "code"),
    [
        ({"workers": {"timeout": 2.0}}, "timeout", 'workers={"timeout": 6.0}'),
        ({"timeout": 10.0}, "timeout", "timeout=30"),
        ({"workers": {"memory": 10**9}}, "memory", 'workers={"memory": 2000000000}'),
        ({"n_jobs": 4}, "memory", "n_jobs=1"),
        ({}, "memory", ""),
    ],
)
def test_limits_are_raised_where_there_are_any(params, status, code):
    search = fitted(SVC(), {"C": [1.0, 2.0]}, lambda p: 0.5 if p["C"] == 1 else math.nan)
    search.set_params(**params)
    search.statuses_ = [status if each == "error" else each for each in search.statuses_]
    (advice,) = (e for e in advice_on(search) if e.rule == "failures")
    assert advice.code == code
    search.set_params(**(changed_by(code, search) | {"param_distributions": {}}))
    search._validate_params()


class Fragile(DecisionTreeClassifier):
    """Fails with one depth: in training, or when it predicts."""

    def __init__(self, max_depth=None, min_samples_leaf=1, when="fit", random_state=0):
        super().__init__(
            max_depth=max_depth, min_samples_leaf=min_samples_leaf, random_state=random_state
        )
        self.when = when

    def fit(self, X, y):
        self._fail("fit")
        return super().fit(X, y)

    def predict(self, X):
        self._fail("predict")
        return super().predict(X)

    def _fail(self, when):
        if self.max_depth == 3 and self.when == when:
            raise RuntimeError("no depth of 3.")


FORMS = {
    "single": KNeighborsClassifier(),
    "pipeline": make_pipeline(PCA(), SVC()),
    "list": [("b", LogisticRegression(max_iter=10_000)), ("a", make_pipeline(PCA(), SVC()))],
    "list without names": [LogisticRegression(max_iter=10_000), KNeighborsClassifier()],
    "dict": {"b": LogisticRegression(max_iter=10_000), "a": KNeighborsClassifier()},
    "auto": "auto",
}


@pytest.mark.parametrize("form", FORMS)
def test_code_for_a_default_space_is_for_any_form_of_estimator(form):
    search = SearchCV(FORMS[form], n_iter=3, cv=2, random_state=0).fit(X, Y)
    table, models = read(search), dict(named_of(search.estimator))
    names = {name for trial in search.history_.trials for name in trial.params} - {"model"}
    model, first = next(iter(models), ""), min(names)
    codes = {
        set_values(table, first, "[1, 2]"): lambda made: [1, 2] in values_of(made),
        remove_params(table, [first]): lambda made: first not in repr(made),
    }
    if models:
        codes[remove_choice(table, "model", model)] = lambda made: model not in dict(made)
    for code, holds in codes.items():
        names = {"default_space": default_space, "search": search, "estimator": FORMS[form]}
        exec(code, names)
        changed = {n: names[n] for n in ("estimator", "param_distributions") if n in names}
        assert holds(names.get("param_distributions", names["estimator"]))
        SearchCV(**changed, n_iter=3, cv=2).plan(X, Y)


def values_of(space):
    inner = [values_of(each) for each in space.values() if isinstance(each, dict)]
    return [*(v for v in space.values() if isinstance(v, list)), *(v for i in inner for v in i)]


@pytest.mark.parametrize(
    "space", [{"a": {"C": [1, 2]}}, {"a__C": [1, 2]}, [{"a": {"C": [1, 2]}}, {"b": {"C": [1]}}]]
)
def test_code_for_the_space_of_one_model_is_in_its_place(space):
    models = [("b", LogisticRegression(max_iter=10_000)), ("a", SVC())]
    search = SearchCV(models, space, n_iter=3, cv=2).fit(X, Y)
    for code in (
        set_values(read(search), "a__C", "[3]"), remove_choice(read(search), "a__C", 1),
        remove_choice(read(search), "model", "a"),
    ):  # fmt: skip
        names = {"search": search, "estimator": models}
        names["param_distributions"] = copy.deepcopy(space)
        exec(code, names)
        assert names["param_distributions"] != space
        SearchCV(names["estimator"], names["param_distributions"], n_iter=3).plan(X, Y)


@pytest.mark.filterwarnings("ignore:(?s).*fits failed", "ignore:One or more", "ignore:Scoring")
@pytest.mark.parametrize("when", ["fit", "predict"])
@pytest.mark.parametrize("as_list", [False, True])
def test_code_repeats_an_error_and_leaves_the_search_unchanged(when, as_list):
    space = {"max_depth": [1, 3], "min_samples_leaf": [1, 2]}
    estimator = [("a", Fragile(when=when)), ("b", SVC())] if as_list else Fragile(when=when)
    search = SearchCV(estimator, {"a": space, "b": {}} if as_list else space, n_iter=6, cv=2)
    before = repr(search.fit(X, Y).get_params())
    (advice,) = (each for each in search.report().advice if each.rule == "failures")
    assert "2 candidates failed" in advice.text
    assert "too few" in advice.text
    assert ".." not in advice.text
    with pytest.raises(RuntimeError, match="no depth of 3"):
        exec(advice.code, {
            "search": search, "clone": clone, "cross_validate": cross_validate, "X": X, "y": Y,
        })  # fmt: skip
    assert repr(search.get_params()) == before


@pytest.mark.filterwarnings("ignore:(?s).*fits failed", "ignore:One or more", "ignore:Scoring")
def test_code_for_the_first_error_leaves_the_search_unchanged(tmp_path):
    search = GridSearchCV(Fragile(), {"max_depth": [3, 1]}, cv=2).fit(X, Y)
    (advice,) = (each for each in report(search).advice if each.rule == "failures")
    with pytest.raises(RuntimeError, match="no depth of 3"):
        exec(advice.code, {"search": search, "clone": clone, "X": X, "y": Y})
    assert np.isnan(search.error_score)
