"""A space that the user gives is a promise: nothing outside of it is tried, ranked or returned."""

import inspect
import warnings
import zlib
from numbers import Integral

import numpy as np
import pytest
from scipy.stats import loguniform, randint, uniform
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_digits, load_iris
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

import sksearch
from sksearch import When
from sksearch.search import earlier_results
from sksearch.space import LogRandInt, Outcome, Space

IRIS = load_iris(return_X_y=True)
DIGITS = tuple(part[:400] for part in load_digits(return_X_y=True))
OWN = "the estimator's own"

#: Those that take any space; of the others one needs gradients, and two a full grid.
OF_THEIR_OWN = ("HypergradientSearchCV", "GridSearchCV", "HalvingGridSearchCV")
SEARCHES = sorted(
    name
    for name in sksearch.search.__all__
    if name.endswith("SearchCV") and name not in OF_THEIR_OWN
)
SIZES = {
    "n_iter": 4, "n_candidates": 4, "population_size": 4, "n_iterations": 1, "budget": 8,
    "resource": "epochs", "max_resources": 4, "factor": 2, "n_initial": 2,
}  # fmt: skip
#: Whose counts have another meaning, or none.
SPECIAL = {
    "SearchCV": {"n_iter": 4},
    "PBTSearchCV": {"population_size": 4, "max_resources": 4, "resource": "epochs"},
    "IncrementalEvaluationSearchCV": {"resource": "epochs", "max_resources": 4, "budget": 12},
}


class Anything(ClassifierMixin, BaseEstimator):
    """Takes any values; its score is a function of them, and of the count of its epochs."""

    def __init__(self, a=OWN, b=OWN, c=OWN, eta0=0.123456, alpha=0.123456):
        self.a = a
        self.b = b
        self.c = c
        self.eta0 = eta0
        self.alpha = alpha

    def fit(self, X, y):
        self.n_epochs_ = 0
        return self.partial_fit(X, y)

    def partial_fit(self, X, y, classes=None):
        self.classes_ = np.unique(y) if classes is None else classes
        self.n_epochs_ = getattr(self, "n_epochs_", 0) + 1
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])

    def score(self, X, y):
        # The own values are the best ones by far: a search that tried them would return them.
        own = OWN in (self.a, self.b, self.c) or 0.123456 in (self.eta0, self.alpha)
        text = repr(sorted(self.get_params().items()))
        return 9.0 if own else zlib.crc32(text.encode()) / 2**32 + 1e-3 * self.n_epochs_


def random_space(rng, continuous=False):
    """A dict of one to three parameters of any kind; at times one has a condition."""

    def values():
        low = rng.uniform(0.01, 5)
        start = int(rng.integers(-3, 4))
        kinds = [
            lambda: uniform(low, rng.uniform(0.1, 3)),
            lambda: loguniform(low, low * rng.uniform(1.5, 1e3)),
            lambda: randint(start, start + int(rng.integers(1, 30))),
            lambda: LogRandInt(1, int(rng.integers(3, 200))),
            lambda: rng.permutation(12)[: rng.integers(1, 6)].tolist(),
            lambda: rng.uniform(0, 1, rng.integers(1, 4)).round(3).tolist(),
            lambda: ["x", "y", None, True, 2.5, (1, 2)][: rng.integers(1, 7)],
        ]
        return kinds[rng.integers(2 if continuous else len(kinds))]()

    names = rng.permutation(["eta0", "alpha"] if continuous else ["a", "b", "c"])
    space = {str(name): values() for name in names[: rng.integers(1, len(names) + 1)]}
    # The parameters that a space leaves out keep the estimator's values, which are not "own".
    if not continuous and len(space) > 1 and rng.random() < 0.3:
        parent = str(names[0])
        space[parent] = ["on", "off"]
        space[str(names[1])] = When(values(), parent, "==", "on")
    return space


def is_inside(space, params):
    """Whether params are of a space, by other means than those of `Space`."""
    active = {}
    for name, values in space.items():
        if isinstance(values, When):
            if params.get(values.parent) != values.threshold:
                continue
            values = values.values
        active[name] = values
    return params.keys() == active.keys() and all(
        may_be(values, params[name]) for name, values in active.items()
    )


def may_be(values, value):
    if isinstance(values, list):
        return any(type(each) is type(value) and each == value for each in values)
    if isinstance(values, LogRandInt):
        return isinstance(value, int) and values.low <= value < values.high
    low, high = values.support()
    is_whole = values.dist.name == "randint"
    return low <= value <= high and (isinstance(value, Integral) or not is_whole)


def search_of(name, estimator, space, **params):
    cls = getattr(sksearch.search, name)
    known = inspect.signature(cls).parameters
    sizes = SPECIAL.get(name, {key: value for key, value in SIZES.items() if key in known})
    return cls(estimator, space, cv=2, **sizes, **params)


def fit(search, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of spaces smaller than n_iter
        return search.fit(X, y)


def assert_kept(search, space):
    """Trials, rows and winner are of the space, and no more than were asked for."""
    trials = [trial.params for trial in search.history_.trials]
    assert trials
    legs = search.cv_results_["params"] if search.history_.problem.changing is None else []
    for params in [*trials, *legs, search.best_params_]:
        assert is_inside(space, params), (space, params)
    if hasattr(search, "n_iter"):
        assert len(trials) <= search.n_iter
    # Scikit-learn's own draws are with replacement where a value is a distribution.
    is_of_lists = all(isinstance(value, list) for value in space.values())
    repeats = type(search).__name__ in ("RandomizedSearchCV", "HalvingRandomSearchCV")
    if is_of_lists or not repeats:
        assert len(trials) <= Space(space).size


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", SEARCHES)
def test_no_search_leaves_a_random_space(name, seed):
    check_random_spaces(name, range(2 * seed, 2 * seed + 2))


@pytest.mark.whole
@pytest.mark.few(4)
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", SEARCHES)
def test_no_search_leaves_two_hundred_random_spaces(name):
    check_random_spaces(name, range(200))


def check_random_spaces(name, seeds):
    X, y = np.zeros((8, 2)), np.array([0, 1] * 4)
    for seed in seeds:
        rng = np.random.default_rng(seed)
        changes = name == "PBTSearchCV"
        space = random_space(rng, continuous=changes)
        unsearched = {k: 7.0 for k in ("a", "b", "c", "eta0", "alpha") if k not in space}
        # Results of before, of which the best are outside; a part of them is of this very task.
        earlier = [Space(space).sample(rng) for _ in range(3)]
        earlier += [dict.fromkeys(space, OWN), dict.fromkeys(space, -1e9)]
        table = {"params": earlier, "mean_test_score": [0.1, 0.2, 0.3, 99.0, 98.0]}
        known = earlier_results(table, same_task=seed % 4 == 0)
        given = {} if seed % 2 else {"known": {"results": known}}
        search = search_of(name, Anything(**unsearched), space, random_state=seed, **given)
        assert_kept(fit(search, X, y), space)


FOREST = {"max_depth": [1, 2], "n_estimators": randint(5, 15)}


@pytest.mark.parametrize(
    ("estimator", "space", "n_candidates"),
    [
        (RandomForestClassifier(random_state=0), FOREST, 5),
        (SVC(), {"C": [1e-3, 1e-2]}, 2),
        (SVC(), {"C": loguniform(10, 100), "gamma": loguniform(1e-3, 1e-1)}, 5),
        (SVC(), [{"kernel": ["linear"], "C": [2, 3]}, {"kernel": ["poly"], "degree": [2]}], 3),
        (KNeighborsClassifier(), {"n_neighbors": randint(1, 4)}, 3),
        (SVC(), {"kernel": ["poly"], "degree": When(randint(2, 9), "kernel", "==", "poly")}, 5),
        (RandomForestClassifier(5), {"max_features": ["log2", 0.5], "max_depth": [3]}, 2),
    ],
)
def test_a_search_by_default_stays_in_the_space(estimator, space, n_candidates):
    """Its own first candidates, untuned or from other data sets, may lie outside."""
    search = fit(sksearch.SearchCV(estimator, space, n_iter=5, cv=2, random_state=0), *DIGITS)
    assert len(search.history_.trials) == len(search.cv_results_["params"]) == n_candidates
    inside = Space(space)
    tried = [trial.params for trial in search.history_.trials] + search.cv_results_["params"]
    assert all(inside.contains(params) for params in [*tried, search.best_params_])
    assert not search.history_.problem.has_baseline
    assert "untuned" not in str(search.plan_) + str(search.report())


def test_what_the_space_holds_is_tried_first():
    search = sksearch.SearchCV(SVC(), {"C": [0.1, 1, 10], "gamma": ["auto", "scale"]}, n_iter=4)
    assert "the untuned estimator" in str(search.plan(*IRIS))
    search.fit(*IRIS)
    assert search.history_.trials[0].params == {"C": 1, "gamma": "scale"}
    assert len(search.history_.trials) == 4
    assert search.history_.problem.has_baseline


def test_a_space_without_a_choice_makes_the_first_candidate_no_untuned_one():
    space = {"C": loguniform(0.1, 10), "kernel": ["linear"]}
    search = sksearch.SearchCV(SVC(), space, n_iter=4, random_state=0).fit(*IRIS)
    assert search.history_.trials[0].params == {"C": 1.0, "kernel": "linear"}
    assert "untuned" not in str(search.plan_) + str(search.report())


@pytest.mark.parametrize(("high", "is_inside"), [(50, False), (100, True)])
def test_a_count_beyond_the_largest_is_outside(high, is_inside):
    """The untuned model has 100 trees."""
    space = {"learning_rate": loguniform(0.05, 0.5), "max_iter": Outcome(high)}
    model = HistGradientBoostingClassifier(max_leaf_nodes=4)
    search = sksearch.SearchCV(model, space, n_iter=2, cv=2, random_state=0).fit(*IRIS)
    assert search.history_.problem.has_baseline == is_inside
    assert (search.history_.trials[0].params == {"learning_rate": 0.1}) == is_inside
    assert all(1 <= params["max_iter"] <= high for params in search.cv_results_["params"])


@pytest.mark.parametrize("name", SEARCHES)
def test_a_first_guess_outside_is_an_error(name):
    Counted.n_fits = 0
    search = search_of(name, Counted(), {"eta0": uniform(0, 1)}, known={"params": {"eta0": 1.5}})
    with pytest.raises(ValueError, match=r"params.*\[0\] sets 'eta0' to 1.5: it must be"):
        search.fit(*IRIS)
    assert Counted.n_fits == 0


class Counted(Anything):
    n_fits = 0  # of all instances

    def partial_fit(self, X, y, classes=None):
        Counted.n_fits += 1
        return super().partial_fit(X, y, classes)


def test_steps_along_a_gradient_stay_in_the_ranges():
    search = sksearch.search.HypergradientSearchCV(
        LogisticRegression(), {"C": loguniform(10, 20)}, n_iter=4, cv=3, random_state=0
    )
    tried = [trial.params["C"] for trial in fit(search, *IRIS).history_.trials]
    assert all(10 <= C <= 20 for C in tried)


def test_the_best_of_an_earlier_search_counts_only_inside():
    wide, narrow = {"C": loguniform(1e-4, 1e3)}, {"C": loguniform(1e-4, 1e-3)}
    earlier = sksearch.RandomSearchCV(SVC(), wide, n_iter=20, random_state=0).fit(*IRIS)
    assert earlier.best_params_["C"] > 1e-3
    for known in (earlier, earlier_results(earlier, same_task=True)):
        search = sksearch.SearchCV(
            SVC(), narrow, n_iter=3, known={"results": known}, random_state=0
        )
        assert all(t.params["C"] <= 1e-3 for t in search.fit(*IRIS).history_.trials)


def test_the_default_space_is_ours_and_the_untuned_model_may_win():
    search = sksearch.SearchCV(SVC(), n_iter=2, random_state=0).fit(*IRIS)
    assert search.history_.trials[0].params["gamma"] == "scale"
    assert not search.history_.problem.space.contains(search.history_.trials[0].params)
