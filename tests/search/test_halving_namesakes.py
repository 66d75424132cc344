"""The halving searches of scikit-learn's names, which are its own but for the import."""

import copy
import warnings
from functools import partial

import numpy as np
import pytest
from scipy.stats import loguniform, randint
from sklearn import model_selection
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import RandomForestClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import Ridge, SGDClassifier
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    ParameterGrid,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import sksearch
from sksearch import SearchCV
from sksearch.model_selection import HalvingGridSearchCV, HalvingRandomSearchCV
from sksearch.space import Space
from tests.fakes import Curve, Sized

X, y = make_classification(240, 6, n_informative=4, random_state=0)
NAMES = ("HalvingGridSearchCV", "HalvingRandomSearchCV")
TREE = DecisionTreeClassifier(random_state=0)
GRID = {"max_depth": [1, 3, None], "min_samples_leaf": [1, 5, 20]}
NO_RESULTS = ("cv_results_", "best_estimator_", "scorer_", "refit_time_")


def both(name, *args, y=y, fit=None, **options):
    """The search of ours and that of scikit-learn, each with its own generator.

    scikit-learn's has no `n_jobs`, on which its results do not depend.
    """
    for module in (sksearch.model_selection, model_selection):
        search = getattr(module, name)(*args, **copy.deepcopy(options))
        if module is model_selection:
            search.set_params(n_jobs=None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield search.fit(X, y, **(fit or {}))


def assert_equal_to_scikit_learn(name, *args, **options):
    ours, theirs = both(name, *args, **options)
    assert list(ours.cv_results_) == list(theirs.cv_results_)
    for column, values in theirs.cv_results_.items():
        if not column.endswith("_time"):
            np.testing.assert_array_equal(ours.cv_results_[column], values, err_msg=column)
            assert getattr(ours.cv_results_[column], "dtype", 0) == getattr(values, "dtype", 0)
    for attribute in vars(theirs):
        if attribute.endswith("_") and attribute not in NO_RESULTS:
            assert getattr(ours, attribute) == getattr(theirs, attribute), attribute
    if hasattr(theirs, "predict"):
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    return ours


def random_settings():
    """Thirty settings of what says how much is spent, drawn once for all."""
    rng = np.random.default_rng(29)
    splitters = [3, 5, KFold(4), StratifiedKFold(3, shuffle=True, random_state=1),
                 ShuffleSplit(3, test_size=0.3, random_state=2),
                 StratifiedShuffleSplit(2, test_size=0.4, random_state=3)]  # fmt: skip
    for i in range(30):
        name = NAMES[i % 2]
        by_rows = rng.random() < 0.7
        low = ["smallest", "exhaust", int(rng.integers(24, 60) if by_rows else rng.integers(1, 4))]
        options = {
            "factor": [1.5, 2, 2.5, 3, 4][rng.integers(5)],
            "aggressive_elimination": bool(rng.random() < 0.4),
            "min_resources": low[rng.integers(3)],
            "max_resources": int(rng.integers(60, 240) if by_rows else rng.integers(6, 20)),
            "cv": splitters[rng.integers(len(splitters))],
            "random_state": int(rng.integers(100)),
        }
        if by_rows and rng.random() < 0.4:
            options["max_resources"] = "auto"
        if not by_rows:
            options["resource"] = "max_leaf_nodes"
            options["min_resources"] = max(2, low[2])
        if name == "HalvingRandomSearchCV" and (
            options["min_resources"] == "exhaust" or i % 4 == 1
        ):
            options["n_candidates"] = int(rng.integers(3, 30))
        yield name, options


@pytest.mark.few(4)
@pytest.mark.parametrize(("name", "options"), list(random_settings()), ids=str)
def test_rows_counts_and_winner_match_scikit_learn(name, options):
    space = GRID if name == "HalvingGridSearchCV" else GRID | {"max_features": randint(1, 6)}
    assert_equal_to_scikit_learn(name, TREE, space, **options)


@pytest.mark.parametrize(
    ("n_candidates", "factor"),
    [
        pytest.param(243, 3, marks=pytest.mark.whole),  # logarithms whose quotient is 4.99...
        pytest.param(243, 5, marks=pytest.mark.whole),
        (125, 5),  # and 3.00...04
        (27, 3),
        (27, 5),
        (9, 3),
    ],
)
def test_counts_of_iterations_match_logarithms_in_floating_point(n_candidates, factor):
    space = {"quality": loguniform(0.1, 1)}
    options = {"n_candidates": n_candidates, "factor": factor, "cv": 2, "random_state": 0}
    options |= {"resource": "n_units", "max_resources": 1000, "refit": False}
    ours, theirs = both("HalvingRandomSearchCV", Sized(), space, **options)
    assert ours.n_candidates_ == theirs.n_candidates_
    assert ours.n_resources_ == theirs.n_resources_


@pytest.mark.parametrize(
    ("name", "options"),
    [
        pytest.param(name, options, marks=() if k == i % 2 else pytest.mark.whole)
        for i, options in enumerate([
            {"random_state": np.random.RandomState(3)},
            {"random_state": np.random.RandomState(4), "resource": "max_leaf_nodes",
             "max_resources": 12, "min_resources": 2},
            {"return_train_score": False, "random_state": 0, "scoring": "balanced_accuracy"},
            {"refit": False, "random_state": 0, "error_score": "raise"},
            {"n_jobs": 2, "random_state": 0},
        ])
        for k, name in enumerate(NAMES)
    ],
)  # fmt: skip
def test_options_do_what_they_do_in_scikit_learn(name, options):
    assert_equal_to_scikit_learn(name, TREE, GRID, **options)


def test_a_generator_that_model_and_search_share_gives_the_same_model():
    ours, theirs = [], []
    for found, module in ((ours, sksearch.model_selection), (theirs, model_selection)):
        rng = np.random.RandomState(0)
        forest = RandomForestClassifier(n_estimators=2, random_state=rng)
        search = module.HalvingRandomSearchCV(
            forest, GRID, n_candidates=4, factor=2, random_state=rng, cv=3
        )
        found += [search.fit(X, y).cv_results_["mean_test_score"], search.predict_proba(X)]
    np.testing.assert_array_equal(ours[0], theirs[0])
    np.testing.assert_array_equal(ours[1], theirs[1])


@pytest.mark.parametrize(
    ("space", "n_candidates"),
    [
        ({"n_neighbors": [1, 2, 3, 2]}, 3),
        ({"n_neighbors": [1, 2, 3]}, 9),
        pytest.param({"n_neighbors": randint(1, 4)}, 9, marks=pytest.mark.whole),
        ([{"n_neighbors": randint(1, 4)}, {"weights": ["uniform", "distance"]}], 9),
    ],
)
def test_draws_that_repeat_have_their_rows(space, n_candidates):
    options = {"n_candidates": n_candidates, "random_state": 0, "cv": 3}
    assert_equal_to_scikit_learn("HalvingRandomSearchCV", KNeighborsClassifier(), space, **options)


@pytest.mark.few(1)
@pytest.mark.parametrize("name", NAMES)
def test_candidates_that_fail_fill_up_an_iteration_as_in_scikit_learn(name):
    space = {"C": [-3, -2, -1, 0, 1], "kernel": ["rbf", "linear"]}
    found = assert_equal_to_scikit_learn(name, SVC(), space, factor=1.5, random_state=0, cv=3)
    assert np.isnan(found.cv_results_["mean_test_score"]).any()


def test_regression_and_groups_are_split_as_in_scikit_learn():
    _, target = make_regression(240, 6, noise=5, random_state=0)
    options = {"cv": GroupKFold(3), "random_state": 0, "y": target + X[:, 0]}
    groups = {"groups": np.arange(240) // 8}
    grid = {"alpha": np.logspace(-3, 3, 12).tolist()}
    assert_equal_to_scikit_learn("HalvingGridSearchCV", Ridge(), grid, fit=groups, **options)


# ---- where they differ


def test_iterations_at_the_same_resource_train_once_and_show_the_same():
    class Counting(DecisionTreeClassifier):
        n_fits = 0

        def fit(self, X, y, sample_weight=None, check_input=True):
            Counting.n_fits += 1
            return super().fit(X, y, sample_weight, check_input)

    options = {"aggressive_elimination": True, "min_resources": 30, "max_resources": 60}
    options |= {"factor": 2, "random_state": 0, "cv": 3, "refit": False}
    model, grid = Counting(random_state=0), GRID | {"min_samples_leaf": [1, 2, 5, 10, 20]}
    ours, theirs = both("HalvingGridSearchCV", model, grid, **options)
    assert ours.n_resources_ == theirs.n_resources_ == [30, 30, 30, 60]
    n_rows = len(theirs.cv_results_["params"])
    assert Counting.n_fits == 3 * (15 + 2) + 3 * n_rows, "ours trains at 30 and at 60"
    assert ours.plan_.n_fits == 3 * (15 + 2)


def test_a_function_as_refit_chooses_the_winner():
    search = HalvingGridSearchCV(TREE, GRID, refit=lambda results: 1, cv=2).fit(X, y)
    assert search.best_index_ == 1
    assert not hasattr(search, "best_score_")


def test_a_rule_chooses_among_the_last_iteration():
    search = HalvingGridSearchCV(TREE, GRID, refit="simplest", cv=2).fit(X, y)
    assert search.cv_results_["iter"][search.best_index_] == search.n_iterations_ - 1


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"resource": "trees", "max_resources": 9}, "resource=trees which is not supported"),
        (
            {"resource": "max_depth", "max_resources": 9},
            "parameter max_depth as the resource since it",
        ),
        ({"resource": "max_leaf_nodes"}, "pass max_resources"),
        (
            {"min_resources": 15, "max_resources": 14},
            "min_resources_=15 is greater than max_resources_=14",
        ),
        ({"min_resources": 3, "cv": 5}, "leaves no row of a fold of 48: pass 5 or more"),
        ({"max_resources": 241}, "more than the 240 rows of X"),
        ({"factor": 1}, "'factor' parameter"),
        ({"min_resources": "auto"}, "'min_resources' parameter"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_is_trained(name, options, message):
    with pytest.raises(ValueError, match=message):
        getattr(sksearch.search, name)(TREE, GRID, **options).fit(X, y)


@pytest.mark.few(1)
@pytest.mark.filterwarnings("ignore:The total space")
@pytest.mark.parametrize("name", NAMES)
def test_the_count_that_an_error_names_is_enough(name):
    make = partial(getattr(sksearch.search, name), TREE, GRID, cv=KFold(2), random_state=0)
    with pytest.raises(ValueError, match=r"of 98 rows .* of a fold of 49: pass 3 or more"):
        make(min_resources=2).fit(X[:98], y[:98])
    assert make(min_resources=3).fit(X[:98], y[:98]).n_resources_[0] >= 3


def test_two_counts_that_follow_from_each_other_are_refused():
    search = HalvingRandomSearchCV(TREE, GRID, min_resources="exhaust")
    with pytest.raises(ValueError, match="cannot be both set to 'exhaust'"):
        search.fit(X, y)


# ---- what ours have, too


@pytest.mark.parametrize(
    ("name", "seed"),
    [
        (NAMES[0], 0),
        pytest.param(NAMES[0], np.random.RandomState(0), marks=pytest.mark.whole),
        pytest.param(NAMES[1], 0, marks=pytest.mark.whole),
        (NAMES[1], np.random.RandomState(0)),
    ],
)
def test_a_search_that_was_stopped_continues_to_the_same_rows(name, seed, tmp_path):
    cls, args = getattr(sksearch.search, name), (TREE, GRID)
    options = {"factor": 2, "cv": 2, "random_state": seed}
    options |= {"n_candidates": 8} if name == "HalvingRandomSearchCV" else {}
    whole = cls(*args, **copy.deepcopy(options)).fit(X, y)
    kept = copy.deepcopy(options) | {"checkpoint_dir": tmp_path}
    cls(*args, **kept, timeout=1e-6).fit(X, y)
    again = cls(*args, **copy.deepcopy(options), checkpoint_dir=tmp_path).fit(X, y)
    for column in ("params", "iter", "mean_test_score", "rank_test_score"):
        np.testing.assert_array_equal(whole.cv_results_[column], again.cv_results_[column])
    assert whole.best_index_ == again.best_index_


def test_a_larger_search_whose_rows_would_be_others_takes_nothing_over(tmp_path):
    space, options = {"max_depth": randint(1, 99)}, {"cv": 3, "checkpoint_dir": tmp_path}
    options["min_resources"] = 60
    for n_candidates in (3, 4):
        rng = np.random.RandomState(0)
        options |= {"n_candidates": n_candidates, "random_state": rng}
        if n_candidates == 3:
            HalvingRandomSearchCV(TREE, space, **options).fit(X, y)
    with pytest.raises(ValueError, match="n_drawn_before"):
        HalvingRandomSearchCV(TREE, space, **options).fit(X, y)


@pytest.mark.filterwarnings("ignore:The first bracket")
def test_when_the_time_is_up_the_best_of_what_was_reached_last_wins():
    grid = {"quality": np.linspace(0, 1, 10_000).tolist()}
    options = {"min_resources": 60, "cv": 2, "timeout": 0.5, "random_state": 0}
    search = HalvingGridSearchCV(Curve(), grid, **options).fit(X, y)
    tried = search.cv_results_["param_quality"].tolist()
    assert tried == grid["quality"][: len(tried)]
    assert search.best_params_["quality"] == max(tried)


def test_points_that_are_not_allowed_are_left_out():
    allowed = [p for p in ParameterGrid(GRID) if p["max_depth"] != 3]
    search = HalvingGridSearchCV(TREE, GRID, known={"constraints": lambda p: p["max_depth"] != 3})
    search.set_params(random_state=0, cv=3).fit(X, y)
    assert search.cv_results_["params"][: len(allowed)] == allowed
    assert search.n_candidates_[0] == len(allowed)


def test_epochs_continue_from_iteration_to_iteration():
    space = {"alpha": loguniform(1e-5, 1)}
    options = {"resource": "epochs", "max_resources": 9, "n_candidates": 9, "random_state": 0}
    search = HalvingRandomSearchCV(SGDClassifier(random_state=0), space, **options).fit(X, y)
    assert (search.n_resources_, search.n_candidates_) == ([1, 3, 9], [9, 3, 1])
    assert search.best_estimator_.t_ == 9 * len(X) + 1


@pytest.mark.few(1)
@pytest.mark.parametrize("name", NAMES)
def test_it_is_the_composition_of_its_sampler_and_its_scheduler(name):
    space, model = {"alpha": np.logspace(-6, 2, 9).tolist()}, SGDClassifier(random_state=0)
    common = {"resource": "epochs", "max_resources": 9, "random_state": 0, "cv": 3}
    named = getattr(sksearch.search, name)(model, space, **common)
    sampler, scheduler = named._compose(Space(space), np.random.RandomState(0))
    parts = {"sampler": sampler, "scheduler": scheduler}
    composed = SearchCV(model, space, **parts, **common).fit(X, y)
    assert named.fit(X, y).plan_ == composed.plan_
    assert named.history_.log == composed.history_.log
    assert named.best_params_ == composed.best_params_


@pytest.mark.few(1)
@pytest.mark.parametrize("name", NAMES)
def test_reports_pictures_and_frames_mark_the_winner_of_the_last_iteration(name):
    search = getattr(sksearch.search, name)(TREE, GRID, factor=2, random_state=0, cv=3)
    if name == "HalvingRandomSearchCV":
        search.set_params(n_candidates=8)
    search.fit(X, y)
    best = search.best_params_
    assert search.best(1) == [best]
    assert "rows)" in str(search.report())
    assert len(search.to_frame()) == search.n_candidates_[0]
    predictions = search.out_of_fold(X, y)
    assert len(predictions) == len(y), "all rows, though iterations test a part of them"
    assert np.isfinite(predictions).all()


def test_others_know_them_as_grid_and_random_search_and_as_those_of_scikit_learn():
    grid, random = HalvingGridSearchCV, HalvingRandomSearchCV
    assert issubclass(grid, model_selection.GridSearchCV)
    assert issubclass(grid, model_selection.HalvingGridSearchCV)
    assert issubclass(random, model_selection.RandomizedSearchCV)
    assert issubclass(random, model_selection.HalvingRandomSearchCV)
    assert not issubclass(model_selection.HalvingGridSearchCV, grid)
    assert not issubclass(
        sksearch.model_selection.GridSearchCV, model_selection.HalvingGridSearchCV
    )


def test_draws_of_few_values_come_again_as_from_scikit_learn():
    space = {"max_depth": randint(1, 3)}
    options = {"n_candidates": 10, "random_state": 0}
    ours, theirs = both("HalvingRandomSearchCV", TREE, space, **options)
    assert ours.n_candidates_ == theirs.n_candidates_
    assert ours.cv_results_["params"] == theirs.cv_results_["params"]
