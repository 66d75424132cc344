"""A search that is extended pays for what is new, or says before training what it pays again."""

import inspect
import warnings

import numpy as np
import pytest
from scipy.stats import loguniform, randint, uniform
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import sksearch
from sksearch.samplers import GPSampler
from sksearch.schedulers import FullFidelity
from tests.checkpoint.test_resume import fit_and_stop, lines
from tests.interrupted import Noisy, X, Y, scorer

SPACE = {"quality": uniform(), "n_units": randint(1, 9)}
LISTS = {"quality": [i / 16 for i in range(16)], "n_units": [1, 2, 3]}
SIZES = {"n_iter": (5, 8), "n_iterations": (1, 2), "n_candidates": (3, 9), "max_resources": (4, 8)}
OTHERS = {
    "PBTSearchCV": {"population_size": 4},
    "IncrementalEvaluationSearchCV": {"budget": 12},
    "HalvingRandomSearchCV": {"resource": "n_samples", "max_resources": 36},
}
SEARCHES = [
    name
    for name in sksearch.search.__all__
    # A larger grid is another space; gradients have a test of their own.
    if name.endswith("SearchCV") and "Grid" not in name and name != "HypergradientSearchCV"
]


def grown_by(name):
    """The parameter by which a search grows, with both values, and its other arguments."""
    own = inspect.signature(getattr(sksearch.search, name)).parameters
    key = next(key for key in SIZES if key in own)
    rungs = {"resource": "epochs", "max_resources": 4} | OTHERS.get(name, {})
    return key, SIZES[key], rungs if "resource" in own and name != "SearchCV" else {}


WHOLE = [name for name in SEARCHES if grown_by(name)[0] == "n_iter" and name != "FabolasSearchCV"]


def make(name, size, folder=None, log=None, space=SPACE, **args):
    key, _, rest = grown_by(name)
    rest |= {key: size, "random_state": 0}
    return getattr(sksearch.search, name)(
        Noisy(log=str(log), random_state=0), space, cv=2, scoring=scorer, refit=False,
        checkpoint_dir=folder, **rest | args,
    )  # fmt: skip


def said_by(fit):
    """What a fit warns of about the smaller search."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit()
    return [str(w.message) for w in caught if "larger search" in str(w.message)]


def results_of(search):
    return [trial.results[trial.resource] for trial in search.history_.trials]


def params_of(search):
    return [trial.params for trial in search.history_.trials]


def n_fits(search):
    return sum(len(result.fold_scores) for result in results_of(search))


@pytest.mark.few(5)
@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("space", [SPACE, LISTS], ids=["laws", "lists"])
def test_what_is_new_is_paid_and_nothing_else(name, space, tmp_path):
    folder, log = tmp_path / "folder", tmp_path / "log"
    smaller = make(name, 5, folder, log, space).fit(X, Y)
    larger = make(name, 8, folder, log, space)
    said = said_by(lambda: larger.fit(X, Y))
    assert said == []
    assert params_of(larger)[:5] == params_of(smaller)
    assert len({str(params) for params in params_of(larger)}) == 8
    assert len(lines(log)) == n_fits(larger) > n_fits(smaller)
    assert larger.best_score_ >= smaller.best_score_


@pytest.mark.few(6)
@pytest.mark.parametrize("name", sorted({*SEARCHES} - {*WHOLE}))
def test_with_rungs_nothing_is_paid_again_or_it_is_said(name, tmp_path):
    _, sizes, _ = grown_by(name)
    log, alone = tmp_path / "log", tmp_path / "alone"
    make(name, sizes[0], tmp_path / "folder", log).fit(X, Y)
    larger = make(name, sizes[1], tmp_path / "folder", log)
    said = said_by(lambda: larger.fit(X, Y))
    make(name, sizes[1], None, alone).fit(X, Y)
    assert said or len(lines(log)) == len(lines(alone))


# ---- searches of other kinds, which ended in other ways


def grow(tmp_path, *sizes, name="SearchCV", **args):
    """Fit searches of these sizes in one folder; return the last, its warnings and its log."""
    for size in sizes:
        search = make(name, size, tmp_path / "folder", tmp_path / "log", **args)
        said = said_by(lambda fit=search.fit: fit(X, Y))
    return search, said, lines(tmp_path / "log")


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "args",
    [
        pytest.param({"n_jobs": 2}, marks=pytest.mark.slow),
        {"known": {"params": [{"quality": 0.5, "n_units": i} for i in range(1, 8)]}},
        {"stop": {"patience": 50}},
        {"sampler": GPSampler(n_initial=4)},
        {"name": "TPESearchCV", "error_score": 0.0, "return_train_score": True},
        {"name": "GPBayesSearchCV", "random_state": None},
    ],
    ids=str,
)
@pytest.mark.parametrize("sizes", [(1, 6), (3, 4, 6)])
def test_it_grows_from_any_size_and_more_than_once(args, sizes, tmp_path):
    larger, said, paid = grow(tmp_path, *sizes, **args)
    assert said == []
    assert len(paid) == n_fits(larger)
    assert len({str(params) for params in params_of(larger)}) == 6


def test_one_that_was_killed_between_two_others_loses_nothing(tmp_path):
    grow(tmp_path, 5)
    fit_and_stop(make("SearchCV", 7, tmp_path / "folder", tmp_path / "log"), 1)
    larger, said, paid = grow(tmp_path, 9)
    assert said == []
    assert n_fits(larger) <= len(paid) <= n_fits(larger) + 1
    again = make("SearchCV", 9, tmp_path / "folder", tmp_path / "log").fit(X, Y)
    assert params_of(again) == params_of(larger)


def test_several_models_are_tried_with_their_own_values_before_and_after(tmp_path):
    models = [DecisionTreeClassifier(random_state=0), KNeighborsClassifier(), GaussianNB()]

    def search(n_iter):
        return sksearch.SearchCV(
            models, n_iter=n_iter, cv=2, refit=False, random_state=0, checkpoint_dir=tmp_path
        )

    smaller, larger = search(2).fit(X, Y), search(6).fit(X, Y)
    assert params_of(larger)[:2] == params_of(smaller)
    assert len({params["model"] for params in params_of(larger)[:3]}) == 3
    assert len({str(params) for params in params_of(larger)}) == 6


class Arrays:
    """Draws what a journal cannot have."""

    def rvs(self, size=None, random_state=None):
        return np.arange(random_state.randint(2, 9))


@pytest.mark.parametrize(
    ("args", "n_lost"),
    [
        ({"space": SPACE | {"n_units": Arrays()}, "name": "RandomSearchCV"}, "10 of the 10"),
        ({"name": "FabolasSearchCV"}, " of the "),
        ({"name": "SuccessiveHalvingSearchCV"}, "2 of the 8"),
    ],
)
def test_the_number_of_lost_evaluations_is_reported_before_any_training(args, n_lost, tmp_path):
    """As an error the warning ends the search."""
    args = {"name": "SearchCV"} | args
    smaller, larger = grown_by(args["name"])[1]
    *_, paid = grow(tmp_path, smaller, **args)
    with warnings.catch_warnings(), pytest.raises(UserWarning, match=n_lost):
        warnings.filterwarnings("error", message="(?!.*opaque objects)")
        make(size=larger, folder=tmp_path / "folder", log=tmp_path / "log", **args).fit(X, Y)
    assert lines(tmp_path / "log") == paid


def test_candidates_of_a_larger_resource_are_proposed_again_with_a_warning(tmp_path):
    def search(top, n_iter=4):
        return sksearch.SearchCV(
            Noisy(random_state=0), SPACE, scheduler=FullFidelity(n_iter), resource="epochs",
            sampler=GPSampler(n_initial=3), max_resources=top, cv=2, random_state=0,
            scoring=scorer, refit=False, checkpoint_dir=tmp_path / "folder",
        )  # fmt: skip

    search(2).fit(X, Y)
    with pytest.warns(UserWarning, match="reuse 8 of the 8 evaluations"):
        search(4).fit(X, Y)
    larger = search(4, 6)
    assert said_by(lambda: larger.fit(X, Y)) == []


def test_steps_of_gradients_are_taken_over(tmp_path):
    for n_iter in (3, 5):
        search = sksearch.search.HypergradientSearchCV(
            Ridge(), {"alpha": loguniform(1e-3, 1e3)}, n_iter=n_iter, cv=2, random_state=0,
            checkpoint_dir=tmp_path,
        )  # fmt: skip
        assert said_by(lambda fit=search.fit: fit(X, X[:, 0])) == []
    assert len(search.history_.trials) == 5


def test_a_function_is_called_for_new_candidates_alone(tmp_path):
    calls = []

    def loss(params):
        calls.append(params)
        return params["x"]

    for n_iter in (3, 12):
        args = {"n_iter": n_iter, "random_state": 0, "checkpoint_dir": tmp_path}
        found = sksearch.minimize(loss, {"x": uniform()}, **args)
    assert len(calls) == len(found.history.trials) == 12
