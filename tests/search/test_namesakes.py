"""`GridSearchCV` and `RandomizedSearchCV`, which are scikit-learn's but for the import."""

import warnings
from functools import singledispatch

import numpy as np
import pytest
from scipy.stats import (
    expon,
    halfnorm,
    loguniform,
    randint,
    rv_continuous,
    rv_discrete,
    uniform,
)
from sklearn import model_selection
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.datasets import load_iris
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, KFold, ParameterGrid, ShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import sksearch
from sksearch import RandomSearchCV, When
from sksearch.model_selection import GridSearchCV, RandomizedSearchCV
from tests.fakes import Curve

X, y = load_iris(return_X_y=True)
QUALITY = {"quality": uniform(0, 1)}
TREE = DecisionTreeClassifier(random_state=0)
KNN = KNeighborsClassifier()
WEIGHTS = ["uniform", "distance"]


def outcome_of(cls, *args, **kwargs):
    """A fitted search or the error that ended it, and the first lines of warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            search = cls(*args, **kwargs).fit(X, y)
        except (TypeError, ValueError) as error:
            search = error
    return search, [str(each.message).strip().split("\n")[0] for each in caught]


def assert_equal_to_scikit_learn(name, *args, **kwargs):
    ours, our_warnings = outcome_of(getattr(sksearch.search, name), *args, **kwargs)
    theirs, their_warnings = outcome_of(getattr(model_selection, name), *args, **kwargs)
    assert our_warnings == their_warnings
    assert list(ours.cv_results_) == list(theirs.cv_results_)
    for column, values in theirs.cv_results_.items():
        if not column.endswith("_time"):
            np.testing.assert_array_equal(ours.cv_results_[column], values)
            assert getattr(ours.cv_results_[column], "dtype", 0) == getattr(values, "dtype", 0)
    for attribute in ("best_params_", "best_score_", "best_index_", "n_splits_", "multimetric_"):
        assert getattr(ours, attribute, None) == getattr(theirs, attribute, None)
    if hasattr(theirs, "predict"):
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


GRIDS = {
    "lists": (SVC(), {"C": [1, 10], "kernel": ["linear", "rbf"]}),
    "arrays, ranges and tuples": (KNN, {"n_neighbors": range(1, 4), "p": np.array([1.0, 2.0]),
                                        "weights": ("uniform", "distance")}),
    "a pair of numbers": (SVC(), {"C": (1, 10)}),
    "equal numbers of several types": (KNN, {"p": [1, 1.0, True]}),
    "values that are twice there": (SVC(), {"C": [1, 10, 1], "gamma": [0.1, 1]}),
    "several dicts with common points": (SVC(), [{"C": [1, 10]}, {"C": [10], "gamma": [1, 2]},
                                                 {"C": [10]}]),
    "nothing": (SVC(), {}),
    "None, strings and dicts": (TREE, {"max_depth": [None, 2],
                                       "class_weight": [None, "balanced", {0: 1, 1: 2, 2: 3}]}),
    "estimators": (model_selection.GridSearchCV(SVC(), {"C": [1]}, cv=3),
                   {"estimator": [SVC(), SVC(kernel="linear")]}),
    "some that fail": (SVC(), {"C": [-1, 1], "gamma": [1, 2]}),
    "numbers that the estimator does not take": (SVC(), {"C": [np.nan, 1]}),
}  # fmt: skip


@pytest.mark.parametrize("name", GRIDS)
def test_a_grid_has_the_rows_of_scikit_learn(name):
    estimator, grid = GRIDS[name]
    assert_equal_to_scikit_learn("GridSearchCV", estimator, grid, cv=3)


@pytest.mark.parametrize(
    "options",
    [
        {"scoring": ["accuracy", "f1_macro"], "refit": "f1_macro", "return_train_score": True},
        {"scoring": ["accuracy", "f1_macro"], "refit": False},
        {"refit": lambda results: 1},
        {"error_score": 0.2, "cv": 2},
        {"scoring": lambda model, X, y: {"a": model.score(X, y), "b": 1}, "refit": "a"},
    ],
)
def test_options_do_what_they_do_in_scikit_learn(options):
    grid = {"max_depth": [1, 3], "min_samples_leaf": [1, 30]}
    assert_equal_to_scikit_learn("GridSearchCV", estimator=TREE, param_grid=grid, **options)


class Triangular(rv_continuous):
    """A law as SciPy's guide writes them."""

    def _pdf(self, x):
        return 2 * x


DRAWS = {
    "real numbers": (SVC(), {"C": loguniform(0.1, 10), "kernel": ["rbf", "linear"]}, 6),
    "integers, of which many are drawn twice": (KNN, {"n_neighbors": randint(1, 6)}, 10),
    "more draws than there are candidates": (KNN, {"n_neighbors": randint(1, 3)}, 7),
    "a union": (KNN, [{"n_neighbors": randint(1, 4)}, {"weights": WEIGHTS, "p": [1, 2]}], 9),
    "lists": (KNN, {"n_neighbors": list(range(1, 9)), "weights": WEIGHTS}, 7),
    "whole lists": (KNN, {"n_neighbors": [1, 2, 3]}, 3),
    "fewer than asked for": (KNN, {"n_neighbors": [1, 2, 3]}, 5),
    "laws without arguments": (SVC(), {"C": uniform, "tol": [1e-3]}, 4),
    "unfrozen laws in a union": (SVC(), [{"C": expon}, {"C": halfnorm, "gamma": [1, 2]}], 5),
    "laws of listed values": (KNN, {"p": rv_discrete(values=([1, 2, 5], [0.2, 0.3, 0.5]))}, 4),
    "a law of one's own": (SVC(), {"C": Triangular(a=0, b=1, name="triangular")}, 3),
}  # fmt: skip


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", DRAWS)
def test_draws_match_scikit_learn(name, seed):
    estimator, space, n_iter = DRAWS[name]
    options = {"n_iter": n_iter, "random_state": seed, "cv": 3}
    assert_equal_to_scikit_learn("RandomizedSearchCV", estimator, space, **options)


class Drawing(KNeighborsClassifier):
    """Neighbours of columns with random weights."""

    def __init__(self, n_neighbors=5, p=2, random_state=None):
        super().__init__(n_neighbors, p=p)
        self.random_state = random_state

    def fit(self, X, y):
        self.weights_ = self.random_state.uniform(size=X.shape[1])
        return super().fit(X * self.weights_, y)

    def predict(self, X):
        return super().predict(X * self.weights_)


GENERATORS = {
    "laws": (lambda rng: 2, {"p": loguniform(1, 5), "n_neighbors": randint(1, 20)}),
    "lists": (lambda rng: 2, {"n_neighbors": list(range(1, 20)), "p": [1, 2]}),
    "few": (lambda rng: 2, {"n_neighbors": [1, 2, 3]}),
    "a union": (lambda rng: 2, [{"p": uniform(1, 3)}, {"n_neighbors": [1, 9]}]),
    "folds of the global generator": (lambda rng: KFold(2, shuffle=True), {"p": uniform(1, 3)}),
    "folds of the same one": (
        lambda rng: ShuffleSplit(2, random_state=rng), {"p": uniform(1, 3)},
    ),
    "folds that are drawn at first": (
        lambda rng: ShuffleSplit(2, random_state=rng).split(X), {"p": uniform(1, 3)},
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:The total space")
@pytest.mark.parametrize("name", GENERATORS)
@pytest.mark.parametrize("kind", ["global", "shared", "shared with the model"])
@pytest.mark.parametrize("cls", ["RandomizedSearchCV", "HalvingRandomSearchCV"])
def test_a_generator_is_used_as_by_scikit_learn_and_left_where_that_leaves_it(cls, kind, name):
    make_cv, space = GENERATORS[name]
    if cls == "HalvingRandomSearchCV" and name in (
        "folds of the global generator",
        "folds of the same one",
    ):
        pytest.skip("which scikit-learn's refuses")
    size = {"n_iter": 4} if cls[0] == "R" else {"n_candidates": 4, "min_resources": 50}
    found = []
    for module in (model_selection, sksearch.model_selection):
        np.random.seed(3)
        rng = None if kind == "global" else np.random.RandomState(5)
        rows = []
        model = Drawing(random_state=rng) if kind == "shared with the model" else KNN
        for _ in range(2):
            search = getattr(module, cls)(model, space, cv=make_cv(rng), random_state=rng, **size)
            rows.append(search.fit(X, y).cv_results_)
        ends = [np.random.random(), (rng or np.random).random()]
        found.append([[each["params"] for each in rows], ends])
        found[-1].append([each["mean_test_score"].tolist() for each in rows])
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "scores",
    [
        [0.1, np.inf, 0.3],
        [0.1, -np.inf, 0.3],
        [np.inf, -np.inf, np.nan],
        [np.nan, -np.inf, 0.2, np.inf, np.inf],
        [np.inf] * 3,
        [-np.inf, -np.inf, 0.5],
        [np.nan, -np.inf, 0.1],
        [-np.inf, np.nan],
    ],
    ids=str,
)
@pytest.mark.parametrize("refit", [True, False])
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore:invalid value:RuntimeWarning")
def test_infinite_scores_rank_as_numbers(scores, refit):
    def scoring(model, X, y):
        return scores[model.n_neighbors - 1]

    grid = {"n_neighbors": list(range(1, 1 + len(scores)))}
    found = []
    for module in (model_selection, sksearch.model_selection):
        search = module.GridSearchCV(KNN, grid, cv=2, refit=refit, scoring=scoring).fit(X, y)
        found.append([search.cv_results_["rank_test_score"].tolist(), search.best_index_])
    assert found[0] == found[1]


@pytest.mark.parametrize("cls", ["GridSearchCV", "HalvingGridSearchCV"])
def test_a_grid_draws_nothing(cls):
    np.random.seed(3)
    getattr(sksearch.search, cls)(KNN, {"n_neighbors": [1, 5]}).fit(X, y)
    after = np.random.random()
    np.random.seed(3)
    getattr(model_selection, cls)(KNN, {"n_neighbors": [1, 5]}).fit(X, y)
    assert np.random.random() == after


@pytest.mark.filterwarnings("ignore:param_distributions")
def test_entries_that_lists_have_twice_are_drawn_as_in_scikit_learn():
    space, options = {"n_neighbors": [1, 2, 1, 3]}, {"n_iter": 4, "random_state": 0, "cv": 3}
    ours = RandomizedSearchCV(KNN, space, **options).fit(X, y)
    theirs = model_selection.RandomizedSearchCV(KNN, space, **options).fit(X, y)
    assert ours.cv_results_["params"] == theirs.cv_results_["params"]


@pytest.mark.parametrize(
    "grid",
    [
        {"C": 1},
        {"C": []},
        {"C": "abc"},
        {"C": np.ones((2, 2))},
        {"C": uniform(0, 1)},
        {"C": randint(1, 3)},
        [{"C": [1]}, {"C": 2}],
        [3],
    ],
)
def test_an_invalid_grid_is_refused_with_the_message_of_scikit_learn(grid):
    ours, _ = outcome_of(GridSearchCV, SVC(), grid)
    theirs, _ = outcome_of(model_selection.GridSearchCV, SVC(), grid)
    assert type(ours) is type(theirs)
    assert str(ours) == str(theirs)


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ({"CC": [1]}, "Invalid parameter 'CC' for estimator SVC.* in param_grid"),
        ({3: [1]}, "param_grid has the key 3"),
        ([], "param_grid is an empty list"),
        ({"C": When([1], "gamma", "==", 1)}, "needs to be a list or a numpy array"),
    ],
)
def test_other_errors_name_the_parameter_that_the_user_wrote(grid, message):
    with pytest.raises((TypeError, ValueError), match=message):
        GridSearchCV(SVC(), grid).fit(X, y)


def test_a_grid_cannot_be_left_out():
    with pytest.raises(TypeError, match="param_grid"):
        GridSearchCV(SVC())
    with pytest.raises(ValueError, match="'param_grid' parameter of GridSearchCV must be"):
        GridSearchCV(SVC(), None).fit(X, y)


def test_a_grid_search_has_the_parameters_of_scikit_learn_and_ours():
    search = GridSearchCV(SVC(), {"C": [1, 2]}, timeout=9)
    assert repr(search) == "GridSearchCV(estimator=SVC(), param_grid={'C': [1, 2]}, timeout=9)"
    assert clone(search).param_grid == {"C": [1, 2]}
    theirs = model_selection.GridSearchCV(SVC(), {}).get_params(deep=False)
    own = search.get_params(deep=False)
    assert own.keys() >= theirs.keys() | {"timeout", "checkpoint_dir", "workers"}
    assert "param_distributions" not in own
    assert "GridSearchCV" in search._repr_html_()
    assert search.set_params(param_grid={"C": [3]}).fit(X, y).best_params_ == {"C": 3}


# ---- what ours has, too


def test_a_grid_ends_when_the_time_is_up():
    grid = {"quality": np.linspace(0, 1, 100_000).tolist()}
    search = GridSearchCV(Curve(), grid, timeout=0.3, cv=2).fit(X, y)
    tried = search.cv_results_["param_quality"].tolist()
    assert tried == grid["quality"][: len(tried)]
    assert 0 < len(tried) < 100_000


def test_a_grid_continues_from_its_checkpoint(tmp_path):
    args = SVC(), {"C": [1, 10, 1]}
    first = GridSearchCV(*args, checkpoint_dir=tmp_path, random_state=0).fit(X, y)
    again = GridSearchCV(*args, checkpoint_dir=tmp_path, random_state=0).fit(X, y)
    np.testing.assert_array_equal(  # and so was not measured again
        first.cv_results_["mean_fit_time"], again.cv_results_["mean_fit_time"]
    )
    with pytest.raises(ValueError, match="a different search:\n  space differs") as caught:
        GridSearchCV(SVC(), {"C": [1, 2]}, checkpoint_dir=tmp_path, random_state=0).fit(X, y)
    assert "settings" not in str(caught.value).split("Compared")[0]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_guesses_come_first_and_each_point_once(n_jobs):
    grid = {"C": [1, 10, 100], "gamma": [0.1, 1]}
    guess = {"C": 10, "gamma": 1}
    search = GridSearchCV(SVC(), grid, cv=2, known={"params": guess}, n_jobs=n_jobs).fit(X, y)
    others = [params for params in ParameterGrid(grid) if params != guess]
    assert search.cv_results_["params"] == [guess, *others]


def test_points_that_are_not_allowed_are_left_out():
    grid = {"C": [1, 10, 100], "gamma": [0.1, 1]}
    search = GridSearchCV(
        SVC(), grid, known={"constraints": lambda p: p["C"] * p["gamma"] < 5}, cv=2
    )
    assert search.plan(X, y).n_candidates == 3
    assert [p["C"] for p in search.fit(X, y).cv_results_["params"]] == [1, 1, 10]


def test_draws_that_are_not_allowed_are_made_again():
    search = RandomizedSearchCV(
        KNN, {"n_neighbors": randint(1, 9)}, cv=2,
        known={"constraints": lambda p: p["n_neighbors"] % 2 == 1}, random_state=0,
    ).fit(X, y)  # fmt: skip
    assert len(search.cv_results_["params"]) == 10
    assert {p["n_neighbors"] % 2 for p in search.cv_results_["params"]} == {1}


def test_a_report_can_be_made_of_rows_that_repeat():
    search = RandomizedSearchCV(KNN, {"n_neighbors": randint(1, 4)}, random_state=0).fit(X, y)
    assert len(search.history_.trials) == len(search.cv_results_["params"]) == 10
    assert "RandomizedSearchCV(KNeighborsClassifier)" in str(search.report())
    assert search.best(1) == [search.best_params_]
    assert sorted(each["n_neighbors"] for each in search.best()) == [1, 2, 3]
    assert len(search.to_frame()) == 10


# ---- draws without a count


@pytest.mark.few(4)
@pytest.mark.parametrize("cls", [RandomSearchCV, RandomizedSearchCV])
@pytest.mark.parametrize(
    ("ends", "space"),
    [
        ({"timeout": 0.3}, QUALITY),
        ({"stop": {"patience": 4}}, QUALITY),
        ({"timeout": 0.3}, {"quality": np.linspace(0, 1, 10_000).tolist()}),
        ({"timeout": 0.3}, {"n": When(randint(1, 9), "quality", ">", 0.5), **QUALITY}),
    ],
)
def test_without_a_count_draws_continue_until_something_ends_them(cls, ends, space):
    class Named(Curve):
        def __init__(self, quality=0.5, n=1):
            super().__init__(quality)
            self.n = n

    search = cls(Named(), space, n_iter=None, cv=2, random_state=0, **ends).fit(X, y)
    tried = [params["quality"] for params in search.cv_results_["params"]]
    assert len(tried) >= 2
    assert max(tried[:20]) > 0.1, "not the first points of a list"


@pytest.mark.parametrize(
    ("space", "size"),
    [
        ({"quality": [0.3, 0.1, 0.2]}, 3),
        ([{"quality": [0.3, 0.1]}, {"quality": [0.7]}], 3),
        ({"quality": randint(0, 5)}, 5),
    ],
)
def test_without_a_count_all_of_a_finite_space_is_tried(space, size):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search = RandomSearchCV(Curve(), space, n_iter=None, cv=2, random_state=0).fit(X, y)
    assert search.plan_.n_candidates == len(search.cv_results_["params"]) == size


def test_lists_without_a_count_and_with_time_enough_are_all_tried():
    space = {"quality": [0.3, 0.1, 0.2]}
    search = RandomSearchCV(Curve(), space, n_iter=None, timeout=60, cv=2, random_state=0)
    assert sorted(search.fit(X, y).cv_results_["param_quality"]) == [0.1, 0.2, 0.3]


def test_draws_that_nothing_would_end_are_refused_before_anything_is_trained():
    Curve.n_calls = 0
    with pytest.raises(ValueError, match=r"n_iter=None would never end.* Pass timeout=, stop="):
        RandomSearchCV(Curve(), QUALITY, n_iter=None).fit(X, y)
    assert Curve.n_calls == 0


# ---- how other libraries know a search

KINDS = (model_selection.GridSearchCV, model_selection.RandomizedSearchCV)
SEARCHES = [
    getattr(sksearch.search, name) for name in sksearch.search.__all__ if name.endswith("SearchCV")
]


@pytest.mark.parametrize("cls", SEARCHES)
def test_each_search_is_known_as_one_of_scikit_learn(cls):
    is_grid, is_random = (issubclass(cls, kind) for kind in KINDS)
    assert is_grid == issubclass(cls, GridSearchCV)
    assert is_random != is_grid


def test_a_search_of_a_users_own_is_known_as_its_base_is():
    class MyGrid(GridSearchCV):
        pass

    class MyRandom(RandomSearchCV):
        pass

    assert isinstance(MyGrid(SVC(), {}), KINDS[0])
    assert not isinstance(MyGrid(SVC(), {}), KINDS[1])
    assert isinstance(MyRandom(SVC(), {}), KINDS[1])


def test_scikit_learns_searches_are_none_of_ours_and_functions_tell_all_apart():
    assert not isinstance(KINDS[0](SVC(), {}), (GridSearchCV, RandomizedSearchCV))
    name = singledispatch(lambda search: "none")
    name.register(KINDS[0], lambda search: "grid")
    name.register(KINDS[1], lambda search: "random")
    assert [name(cls(SVC(), {})) for cls in (*KINDS, GridSearchCV, RandomSearchCV)] == [
        "grid", "random", "grid", "random",
    ]  # fmt: skip
    assert name(SVC()) == "none"


class Residuals(RegressorMixin, BaseEstimator):
    """As econml does it: of a search that it knows, the winner is taken and scored by weight."""

    def __init__(self, model):
        self.model = model

    def fit(self, X, y, sample_weight):
        self.model_ = clone(self.model).fit(X, y, sample_weight=sample_weight)
        if isinstance(self.model_, KINDS):
            self.model_ = self.model_.best_estimator_
        self.score_ = self.model_.score(X, y, sample_weight=sample_weight)
        return self


@pytest.mark.parametrize(
    "search",
    [
        GridSearchCV(Ridge(), {"alpha": [0.1, 1]}),
        RandomSearchCV(Ridge(), {"alpha": loguniform(0.1, 1)}, n_iter=2),
        sksearch.SearchCV(Ridge(), n_iter=2),
        sksearch.HyperbandSearchCV(Ridge(), {"alpha": loguniform(0.1, 1)}),
    ],
    ids=lambda search: type(search).__name__,
)
def test_a_client_that_asks_for_the_class_can_score_by_weights(search):
    search = search.set_params(cv=3, random_state=0)
    weights = np.linspace(0.5, 1.5, len(y))
    assert Residuals(search).fit(X, y.astype(float), weights).score_ > 0.8


class Halves(GroupKFold):
    """A splitter that takes groups, and does without them."""

    def split(self, X, y=None, groups=None):
        yield range(0, len(X), 2), range(1, len(X), 2)
        yield range(1, len(X), 2), range(0, len(X), 2)

    def get_n_splits(self, X=None, y=None, groups=None):
        return 2


def test_a_splitter_of_a_users_own_need_not_have_groups():
    ours, theirs = (
        cls(TREE, {"max_depth": [1, 2]}, cv=Halves()).fit(X, y).cv_results_["mean_test_score"]
        for cls in (GridSearchCV, model_selection.GridSearchCV)
    )
    np.testing.assert_array_equal(ours, theirs)
    with pytest.raises(ValueError, match="splits by groups, but groups is missing"):
        GridSearchCV(TREE, {"max_depth": [1, 2]}, cv=GroupKFold(2)).fit(X, y)


def test_numbers_in_an_array_of_objects_are_a_target():
    search = GridSearchCV(Ridge(), {"alpha": [0.1, 1]}, cv=2, error_score="raise")
    assert np.isfinite(search.fit(X, y.astype(object)).best_score_)


def test_weights_reach_a_grid_search_as_they_do_scikit_learns():
    weights = np.linspace(0.1, 2, len(y))
    grid = {"C": [0.01, 1]}
    ours, theirs = (
        cls(LogisticRegression(), grid, cv=3).fit(X, y, sample_weight=weights)
        for cls in (GridSearchCV, model_selection.GridSearchCV)
    )
    np.testing.assert_array_equal(
        ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"]
    )
    np.testing.assert_array_equal(ours.best_estimator_.coef_, theirs.best_estimator_.coef_)
