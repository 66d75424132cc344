"""The simulated estimator: its problem's curves, wherever an estimator goes."""

import inspect
import pickle

import numpy as np
import pytest
from sklearn import model_selection
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import GridSearchCV, HalvingRandomSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

import sksearch
from sksearch import HyperbandSearchCV
from sksearch.executors import VirtualClock
from sksearch.simulators import FAMILIES, GammaCurves, NearestCurves, SimulatedEstimator
from sksearch.simulators._functions import Rastrigin
from sksearch.simulators._problem import CurveProblem

PROBLEM = GammaCurves(Rastrigin(2), FAMILIES["rastrigin-1"], n_epochs=27, noise=10)
PARAMS = {"x0": 1.0, "x1": -2.0}
X = np.random.default_rng(0).random((20, 3))
y = np.arange(20) % 2


def curve(params=PARAMS, seed=0):
    return PROBLEM.losses([params], seed)[0].tolist()


# ---- training


def test_each_partial_fit_is_one_epoch_of_the_problems_curve():
    estimator = SimulatedEstimator(PROBLEM, random_state=3, **PARAMS)
    for k in range(1, 28):
        assert estimator.partial_fit(X, y) is estimator
        assert estimator.loss_curve_ == curve(seed=3)[:k]
        assert estimator.n_epochs_ == k
        assert estimator.score(X, y) == -curve(seed=3)[k - 1]


def test_fit_begins_again_and_goes_through_all_epochs():
    estimator = SimulatedEstimator(PROBLEM, **PARAMS).partial_fit(X).partial_fit(X)
    assert estimator.fit(X).loss_curve_ == curve()
    assert estimator.fit().score() == -curve()[-1]
    assert SimulatedEstimator(PROBLEM, n_epochs=5, **PARAMS).fit(X).loss_curve_ == curve()[:5]


def test_there_are_no_more_epochs_than_the_problem_has():
    estimator = SimulatedEstimator(PROBLEM, **PARAMS).fit(X)
    with pytest.raises(ValueError, match=r"n_epochs=28 must be .* to 27"):
        estimator.partial_fit(X)
    with pytest.raises(ValueError, match="n_epochs=0 must be an integer from 1"):
        SimulatedEstimator(PROBLEM, n_epochs=0, **PARAMS).fit(X)
    with pytest.raises(ValueError, match=r"n_epochs=3\.0 must be an integer"):
        SimulatedEstimator(PROBLEM, n_epochs=3.0, **PARAMS).fit(X)


def test_before_training_there_is_no_score():
    with pytest.raises(NotFittedError):
        SimulatedEstimator(PROBLEM, **PARAMS).score(X)


@pytest.mark.parametrize("given", [{}, {"x0": 1.0}])
def test_a_missing_parameter_is_named(given):
    with pytest.raises(ValueError, match=r"lacks 'x[01]': the parameters are \['x0', 'x1'\]"):
        SimulatedEstimator(PROBLEM, **given).fit(X)


def test_params_changed_in_the_middle_continue_with_their_own_curve():
    estimator = SimulatedEstimator(PROBLEM, **PARAMS).partial_fit(X)
    other = {"x0": 3.0, "x1": 0.5}
    estimator.set_params(**other).partial_fit(X)
    assert estimator.loss_curve_ == [curve()[0], curve(other)[1]]


def test_an_integer_fixes_the_curve_and_none_makes_each_training_another():
    def first_loss(random_state):
        return SimulatedEstimator(PROBLEM, random_state=random_state, **PARAMS).partial_fit(X)

    assert first_loss(np.int64(1)).loss_curve_ == first_loss(1).loss_curve_ == curve(seed=1)[:1]
    random = [first_loss(None).loss_curve_[0] for _ in range(5)]
    assert len(set(random)) == 5
    generator = np.random.RandomState(0)
    assert len({first_loss(generator).seed_ for _ in range(5)}) == 5


# ---- as an estimator


def test_params_include_the_problems_and_its_own():
    estimator = SimulatedEstimator(PROBLEM, x1=2)
    assert estimator.get_params() == {
        "problem": PROBLEM, "n_epochs": None, "random_state": 0, "x0": "(unset)", "x1": 2
    }  # fmt: skip
    estimator.set_params(x0=1, random_state=5)
    assert (estimator.x0, estimator.random_state) == (1, 5)
    with pytest.raises(ValueError, match="x2"):
        estimator.set_params(x2=1)
    with pytest.raises(
        TypeError, match=r"\['x2'\] are unknown: the problem's parameters are \['x0', 'x1'\]"
    ):
        SimulatedEstimator(PROBLEM, x2=1)


def test_anything_but_a_problem_is_refused():
    with pytest.raises(TypeError, match="problem=None must be a CurveProblem"):
        SimulatedEstimator(None)


def test_curves_from_a_search_over_a_pipeline_can_be_searched():
    space = {f"sim__{name}": values for name, values in PROBLEM.space.items()}
    pipe = Pipeline([("scale", StandardScaler()), ("sim", SimulatedEstimator(PROBLEM))])
    kwargs = {"resource": "epochs", "max_resources": 27, "cv": 2, "random_state": 0}
    problem = NearestCurves.from_search(HyperbandSearchCV(pipe, space, **kwargs).fit(X))
    search = HyperbandSearchCV(SimulatedEstimator(problem), problem.space, **kwargs).fit(X)
    best = [search.best_params_]
    assert search.best_score_ == -problem.losses(best)[0, -1]
    assert search.best_estimator_.get_params()["sim__x0"] == best[0]["sim__x0"]


def test_a_problem_cannot_take_the_estimators_names():
    class Taken(CurveProblem):
        space = {"score": [1], "n_epochs": [1]}
        max_resources = 1

        def losses(self, params, seed=0):
            return np.zeros((len(params), 1))

    with pytest.raises(ValueError, match=r"\['score', 'n_epochs'\]"):
        SimulatedEstimator(Taken())


def test_clones_share_the_problem_and_forget_the_training():
    estimator = SimulatedEstimator(PROBLEM, n_epochs=7, random_state=1, **PARAMS).fit(X)
    other = clone(estimator)
    assert other.problem is PROBLEM
    assert other.get_params() == estimator.get_params()
    assert not hasattr(other, "loss_curve_")
    assert other.fit(X).loss_curve_ == estimator.loss_curve_
    assert clone(SimulatedEstimator(PROBLEM)).get_params()["x0"] == "(unset)"


def test_a_pickled_training_continues():
    estimator = SimulatedEstimator(PROBLEM, random_state=2, **PARAMS).partial_fit(X)
    other = pickle.loads(pickle.dumps(estimator))
    assert other.partial_fit(X).loss_curve_ == curve(seed=2)[:2]
    assert "_whole" not in estimator.__getstate__(), "it can be made again"


def test_it_can_be_shown():
    assert "x0=1.0" in repr(SimulatedEstimator(PROBLEM, **PARAMS))
    assert "(unset)" in SimulatedEstimator(PROBLEM)._repr_html_()


# ---- in searches

GRID = {"x0": [-1.0, 0.0, 1.5], "x1": [0.0, 2.0]}
SPACE = PROBLEM.space
OWN = [
    getattr(sksearch.search, name) for name in sksearch.search.__all__ if name.endswith("SearchCV")
]
OWN.remove(sksearch.SearchCV)  # named by its parts, all of which are here
OWN.remove(sksearch.search.HypergradientSearchCV)  # a table of scores has no gradient
OWN = [cls for cls in OWN if not hasattr(model_selection, cls.__name__)]  # scikit-learn's are here


def own(cls):
    """One of this library's classes, with few candidates."""
    known = inspect.signature(cls).parameters
    few = {"n_iter": 6, "resource": "epochs", "max_resources": 27, "cv": 2, "random_state": 0}
    kwargs = {name: value for name, value in few.items() if name in known}
    if "max_resources" not in known:
        kwargs.pop("resource", None)
    return lambda estimator, space: cls(estimator, space, **kwargs)


SEARCHES = {cls.__name__: own(cls) for cls in OWN} | {
    "GridSearchCV": lambda e, s: GridSearchCV(e, s, cv=2),
    "RandomizedSearchCV": lambda e, s: RandomizedSearchCV(e, s, n_iter=6, cv=2, random_state=0),
    "HalvingRandomSearchCV": lambda e, s: HalvingRandomSearchCV(
        e, s, resource="n_epochs" if "x0" in s else "sim__n_epochs", min_resources=3,
        max_resources=27, n_candidates=6, cv=2, random_state=0,
    ),
}  # fmt: skip


@pytest.mark.few(4)
@pytest.mark.parametrize("in_pipeline", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", SEARCHES)
def test_every_search_finds_scores_of_the_problem(name, in_pipeline):
    estimator, space = SimulatedEstimator(PROBLEM), GRID if name == "GridSearchCV" else SPACE
    if in_pipeline:
        estimator = Pipeline([("scale", StandardScaler()), ("sim", estimator)])
        space = {f"sim__{parameter}": values for parameter, values in space.items()}
    search = SEARCHES[name](estimator, space).fit(X, y)
    best = search.best_estimator_[-1] if in_pipeline else search.best_estimator_
    params = {parameter: getattr(best, parameter) for parameter in SPACE}
    assert search.best_score_ == -curve(params)[best.n_epochs_ - 1]
    results = search.cv_results_
    np.testing.assert_array_equal(results["split0_test_score"], results["split1_test_score"])
    assert search.score(X) == search.best_score_, "the refitted one has the same curve"


@pytest.mark.slow
def test_workers_in_other_processes_find_the_same():
    def results(n_jobs):
        search = HyperbandSearchCV(
            SimulatedEstimator(PROBLEM), SPACE, resource="epochs", max_resources=27, cv=2,
            random_state=0, n_jobs=n_jobs,
        )  # fmt: skip
        return search.fit(X).cv_results_["mean_test_score"]

    np.testing.assert_array_equal(results(1), results(2))


@pytest.mark.parametrize("n_workers", [1, 4])
def test_epochs_take_their_simulated_seconds_on_a_virtual_clock(n_workers):
    search = HyperbandSearchCV(
        SimulatedEstimator(PROBLEM), SPACE, resource="epochs", max_resources=27, cv=2,
        random_state=0, refit=False,
    )  # fmt: skip
    with VirtualClock(n_workers) as clock:
        search.fit(X)
    seconds = 2 * sum(
        search.history_.trials[i].resource for i in range(len(search.history_.trials))
    )
    assert clock.busy_seconds == seconds
    assert clock.seconds == seconds if n_workers == 1 else clock.seconds < seconds / 2


def test_fit_takes_the_seconds_of_all_its_epochs():
    with VirtualClock() as clock:
        SimulatedEstimator(PROBLEM, n_epochs=5, **PARAMS).fit(X).partial_fit(X)
    assert clock.seconds == 6
