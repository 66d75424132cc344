"""Population-based training, as a user sees it."""

import math
from contextlib import nullcontext
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.stats import loguniform, randint, uniform
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import load_iris
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sksearch import HyperbandSearchCV, PBTSearchCV, SearchCV, When
from sksearch.base._state import State
from sksearch.estimators._mutable_params import change, mutable_params
from sksearch.history import Problem, Result
from sksearch.plotting import ScheduleDisplay
from sksearch.resources import as_resource
from sksearch.samplers import RandomSampler
from sksearch.schedulers import PopulationBasedTraining
from sksearch.space import Space
from sksearch.study import Study
from tests.comparisons import assert_same_results

X, y = load_iris(return_X_y=True)
X = StandardScaler().fit_transform(X)
EPOCHS = 24


class Descent(RegressorMixin, BaseEstimator):
    """Descent with noisy gradients: a large rate is fast, and only a small one comes near."""

    def __init__(self, rate=1.0, kind="a", fails_above=math.inf):
        self.rate = rate
        self.kind = kind
        self.fails_above = fails_above

    def partial_fit(self, X, y=None):
        if self.rate > self.fails_above:
            raise FloatingPointError("too large a rate")
        self.rates_ = [*getattr(self, "rates_", []), self.rate]
        self.loss_ = loss_after(getattr(self, "loss_", 100.0), self.rate)
        return self

    def fit(self, X, y=None):
        return self.partial_fit(X, y)

    def predict(self, X):
        return np.zeros(len(X))

    def score(self, X, y=None):
        return -math.log(self.loss_)


def loss_after(loss, rate):
    """Loss after one more epoch, on a parabola with noise of variance 1."""
    return (1 - rate) ** 2 * loss + rate**2


class Unpicklable(Descent):
    """Its state cannot be written, so it is trained again from the beginning."""

    def __getstate__(self):
        if hasattr(self, "rates_"):
            raise TypeError("no pickle")
        return super().__getstate__()


RATES = {"rate": loguniform(1e-3, 1)}


def pbt(estimator=None, space=RATES, **params):
    defaults = {
        "population_size": 10,
        "step": 1,
        "max_resources": EPOCHS,
        "cv": 2,
        "random_state": 0,
    }
    return PBTSearchCV(estimator or Descent(), space, **(defaults | params))


@pytest.fixture(scope="session")  # long tests of other files may run in between
def found():
    return pbt().fit(X, y)


def rates_of(schedule, n_epochs):
    """The rate of each epoch."""
    ends = [entry["n_resources"] for entry in schedule] + [n_epochs]
    pairs = zip(schedule, pairwise(ends), strict=True)
    return [entry["params"]["rate"] for entry, (a, b) in pairs for _ in range(a, b)]


def test_the_schedule_is_what_the_best_model_was_trained_by(found):
    search = found
    n = search.best_n_resources_
    rates = rates_of(search.schedule_, n)
    assert len(search.schedule_) > 2
    assert search.schedule_[0]["n_resources"] == 0
    assert search.best_estimator_.rates_ == rates
    assert search.best_score_ == pytest.approx(search.best_estimator_.score(X))
    assert search.best_params_ == search.schedule_[-1]["params"]
    assert search.replay(X[:7], y[:7]).rates_ == rates


@pytest.mark.whole
def test_a_schedule_beats_the_best_constant_value_with_the_same_epochs():
    search = pbt(population_size=16).fit(X, y)
    rates, loss = np.geomspace(1e-3, 1, 1000), 100.0
    for _ in range(EPOCHS):
        loss = loss_after(loss, rates)
    assert search.best_score_ > -math.log(loss.min()), "of all rates, and not only of 16"
    first, *_, last = rates_of(search.schedule_, EPOCHS)
    assert first > 3 * last


def test_members_continue_from_the_models_of_their_parents(found):
    history, children = found.history_, 0
    for trial in history.trials:
        if trial.parent is None:
            continue
        children += 1
        parent = history.trials[trial.parent]
        first = min(trial.results)
        assert trial.inherited == first - 1
        assert trial.inherited in parent.results
        loss = math.exp(-parent.results[trial.inherited].score)
        expected = -math.log(loss_after(loss, trial.params["rate"]))
        assert trial.results[first].score == pytest.approx(expected)
    assert children == 2 * (EPOCHS - 1)


def test_the_count_of_workers_changes_nothing():
    one, other = (pbt(n_jobs=n, max_resources=5).fit(X, y) for n in (1, 2))
    assert_same_results(one, other)
    assert one.schedule_ == other.schedule_


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_models_that_cannot_travel_are_trained_again_leg_by_leg(n_jobs):
    params = {"max_resources": 5, "population_size": 5}
    expected = pbt(**params).fit(X, y)
    with (
        pytest.warns(UserWarning, match="cannot be stored between rungs")
        if n_jobs == 2
        else nullcontext()
    ):
        search = pbt(Unpicklable(), n_jobs=n_jobs, **params).fit(X, y)
    assert search.schedule_ == expected.schedule_
    assert search.best_score_ == expected.best_score_
    assert search.best_estimator_.rates_ == expected.best_estimator_.rates_


def test_who_fails_is_replaced():
    with pytest.warns(FitFailedWarning), pytest.warns(UserWarning, match="non-finite"):
        search = pbt(Descent(fails_above=0.2), max_resources=8).fit(X, y)
    trials = search.history_.trials
    failed = [t for t in trials if any(math.isnan(r.score) for r in t.results.values())]
    assert failed
    assert all(len(trial.results) == 1 for trial in failed)
    assert not {trial.id for trial in failed} & {trial.parent for trial in trials}
    assert max(search.best_estimator_.rates_) <= 0.2


def test_progress_counts_members_and_epochs(found):
    search, progress = found, found.progress_
    assert progress.n_candidates == progress.n_planned == 10
    assert progress.spent == progress.planned == search.plan_.total_resources == 10 * EPOCHS


def test_the_report_says_nothing_of_early_stopping(found):
    assert "stopped early" not in str(found.report())


def test_every_candidate_keeps_what_is_asked_of_it():
    search = pbt(known={"constraints": lambda params: params["rate"] < 0.5}, max_resources=8).fit(
        X, y
    )
    assert all(trial.params["rate"] < 0.5 for trial in search.history_.trials)


def test_what_cannot_change_is_inherited():
    space = [{"kind": ["a", "b"], "rate": When(loguniform(1e-4, 1), "kind", "in", ["a", "b"])},
             {"rate": loguniform(1e-3, 1)}]  # fmt: skip
    search = pbt(space=space, max_resources=8).fit(X, y)
    for trial in search.history_.trials:
        if trial.parent is not None:
            parent = search.history_.trials[trial.parent]
            assert trial.params.keys() == parent.params.keys()
            assert trial.params.get("kind") == parent.params.get("kind")
    assert "drawn once and inherited: kind" in str(search.plan_)


def test_the_estimator_as_it_is_may_be_a_parent(tmp_path):
    mlp = MLPClassifier((5,), learning_rate_init=0.9, random_state=0)  # outside of its space
    params = {"population_size": 4, "max_resources": 3, "cv": 2, "random_state": 0}
    search = PBTSearchCV(mlp, checkpoint_dir=tmp_path, **params).fit(X, y)
    again = PBTSearchCV(mlp, checkpoint_dir=tmp_path, **params).fit(X, y)
    assert_same_results(search, again)


def test_in_a_pipeline_the_last_step_is_trained_by_the_schedule():
    pipe = make_pipeline(StandardScaler(), SGDClassifier(learning_rate="constant", eta0=1))
    space = {"sgdclassifier__eta0": loguniform(1e-5, 10), "sgdclassifier__alpha": [1e-4, 1e-3]}
    search = pbt(pipe, space, max_resources=6).fit(X, y)
    replayed = search.replay(X, y)
    np.testing.assert_array_equal(replayed[-1].coef_, search.best_estimator_[-1].coef_)
    assert replayed[-1].t_ == 1 + len(X) * search.best_n_resources_
    oof = search.out_of_fold(X, y, method="predict")
    assert np.mean(oof == y) == pytest.approx(search.best_score_)


def test_a_boosting_that_grows_is_replayed_exactly():
    trees = HistGradientBoostingClassifier(early_stopping=False, min_samples_leaf=5)
    space = {"learning_rate": loguniform(1e-3, 1e-2)}
    params = {"resource": "max_iter", "step": 2, "max_resources": 6, "scoring": "neg_log_loss"}
    params["population_size"] = 5
    search = pbt(trees, space, **params).fit(X, y)
    assert len(search.schedule_) > 1
    assert search.best_estimator_.n_iter_ == search.best_n_resources_
    replayed = search.replay(X, y)
    np.testing.assert_array_equal(
        replayed.predict_proba(X), search.best_estimator_.predict_proba(X)
    )
    constant = trees.set_params(**search.best_params_).fit(X, y)
    assert not np.array_equal(constant.predict_proba(X), replayed.predict_proba(X))


# ---- what a training obeys

SGD = {"alpha": (1e-4, 1.0), "eta0": (0.1, 1e-3), "l1_ratio": (0.1, 0.9), "power_t": (0.1, 0.9),
       "penalty": ("l2", "l1"), "learning_rate": ("invscaling", "constant")}  # fmt: skip
HIST = {"learning_rate": (0.1, 0.5), "max_leaf_nodes": (31, 2), "max_depth": (None, 1),
        "min_samples_leaf": (5, 30), "l2_regularization": (0.0, 10.0), "max_features": (1.0, 0.3),
        }  # fmt: skip
TREES = {"max_depth": (3, 1), "max_features": (None, 1), "max_leaf_nodes": (None, 2),
         "min_samples_leaf": (1, 30), "min_samples_split": (2, 80),
         "min_impurity_decrease": (0.0, 0.1), "min_weight_fraction_leaf": (0.0, 0.3)}  # fmt: skip
OBEYED = [
    (SGDClassifier(learning_rate="invscaling", eta0=0.1, penalty="elasticnet"), "epochs", SGD),
    (SGDRegressor(loss="epsilon_insensitive"), "epochs", {"epsilon": (0.1, 1.0)}),
    (MLPClassifier((5,), solver="adam"), "epochs",
     {"alpha": (1e-4, 10.0), "learning_rate_init": (1e-2, 1e-4), "batch_size": (10, 50)}),
    (MLPClassifier((5,), solver="sgd"), "epochs", {"learning_rate_init": (1e-2, 1e-4)}),
    (HistGradientBoostingClassifier(early_stopping=False, min_samples_leaf=5), "max_iter", HIST),
    (GradientBoostingClassifier(), "n_estimators", TREES | {"subsample": (1.0, 0.5)}),
    (RandomForestClassifier(), "n_estimators", TREES | {"max_samples": (None, 0.2)}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("estimator", "resource", "name", "values"),
    [(e, r, name, values) for e, r, params in OBEYED for name, values in params.items()],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_training_obeys_what_changes(estimator, resource, name, values):
    assert mutable_params(estimator, [name]) == (name,)
    before, after = values

    def trained(second):
        state = State(type(estimator)(**estimator.get_params()))
        state.estimator.set_params(random_state=0, **{name: before})
        unit, args = as_resource(resource, state.estimator, len(X)), (np.unique(y), {})
        state = unit.train(state, X, y, 3, 0, *args)
        at_3 = output(state.estimator)
        if second is not None:
            change(state.estimator, {name: second})
        assert np.array_equal(at_3, output(state.estimator)), "the past does not change"
        return output(unit.train(state, X, y, 6, 3, *args).estimator)

    def output(model):
        return (
            model.predict_proba(X)
            if hasattr(model, "predict_proba")
            else (
                model.decision_function(X)
                if hasattr(model, "decision_function")
                else model.predict(X)
            )
        )

    unchanged = trained(None)
    assert np.array_equal(unchanged, trained(before)), "to set the same value is nothing"
    assert not np.array_equal(unchanged, trained(after))


@pytest.mark.parametrize("solver", ["adam", "sgd"])
def test_an_mlp_trains_on_with_its_new_rate(solver):
    mlp = MLPClassifier((5,), solver=solver, learning_rate_init=0.1, momentum=0, random_state=0)
    mlp.partial_fit(X, y, classes=[0, 1, 2])
    change(mlp, {"learning_rate_init": 1e-12})
    before = mlp.coefs_[0].copy()
    mlp.partial_fit(X, y)
    assert np.abs(mlp.coefs_[0] - before).max() < 1e-9


@pytest.mark.parametrize(
    ("estimator", "names", "changing"),
    [
        (MLPClassifier(), ["hidden_layer_sizes", "alpha", "activation"], ("alpha",)),
        (GradientBoostingClassifier(), ["learning_rate", "max_depth"], ("max_depth",)),
        (HistGradientBoostingClassifier(), ["max_bins", "learning_rate"], ("learning_rate",)),
        (GaussianNB(), ["var_smoothing"], ()),
        (Descent(), ["rate", "kind"], ("rate", "kind")),
        (make_pipeline(StandardScaler(), SGDClassifier()),
         ["standardscaler__with_mean", "sgdclassifier__alpha"], ("sgdclassifier__alpha",)),
        (make_pipeline(StandardScaler(), SGDClassifier()),
         ["sgdclassifier", "sgdclassifier__alpha"], ()),
    ], ids=str,
)  # fmt: skip
def test_what_may_change_is_known_for_each_estimator(estimator, names, changing):
    assert mutable_params(estimator, names) == changing


@pytest.mark.parametrize(
    ("estimator", "space", "params", "message"),
    [
        (GaussianNB(), {"var_smoothing": loguniform(1e-9, 1)}, {},
         "GaussianNB cannot change var_smoothing then.*no such parameter"),
        (MLPClassifier(), {"activation": ["relu", "tanh"]}, {},
         "MLPClassifier cannot change activation.*add one of alpha, batch_size, learning"),
        (SGDClassifier(), {"alpha": [0.1]}, {}, "cannot change alpha"),
        (SGDClassifier(), [{"alpha": [0.1]}, {"alpha": [1]}], {}, "cannot change alpha"),
        (SGDClassifier(), {"alpha": uniform()}, {"resource": "n_samples"}, "resource='epochs'"),
        (SGDClassifier(), {"alpha": uniform()}, {"resource": "folds", "max_resources": "auto"},
         "resource='epochs'"),
        (SGDClassifier(), {"alpha": uniform()}, {"resource": "max_iter"}, "resource='epochs'"),
        (SGDClassifier(), {"alpha": uniform()}, {"resource": "seconds"}, "resource='epochs'"),
        (SGDClassifier(), {"alpha": uniform()}, {"population_size": 1}, "population_size"),
        (SGDClassifier(), {"alpha": uniform()}, {"step": 0}, "step"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused_before_any_training(estimator, space, params, message):
    with pytest.raises(ValueError, match=message):
        pbt(estimator, space, **params).fit(X, y)


def test_a_composed_search_has_the_schedule_too_and_others_have_none(found):
    common = {"resource": "epochs", "max_resources": EPOCHS, "cv": 2, "random_state": 0}
    composed = SearchCV(
        Descent(), RATES, sampler=RandomSampler(), scheduler=PopulationBasedTraining(10, 1),
        **common,
    ).fit(X, y)  # fmt: skip
    assert composed.schedule_ == found.schedule_
    other = HyperbandSearchCV(Descent(), RATES, **common | {"max_resources": 3})
    assert not hasattr(other.fit(X, y), "schedule_")


# ---- the scheduler by itself


def generation(space, scores, size=10, seed=0, **problem):
    """Children after one generation with these scores, as (parent, params), and which go on."""
    scheduler = PopulationBasedTraining(size, step=1)
    study = Study(Problem(Space(space), 1, 2, seed, **problem), RandomSampler(), scheduler)
    for score in scores:
        study.tell(study.ask(), Result(score))
    jobs = [study.ask() for _ in range(size)]
    trials = study.history.trials
    children = [(trials[job.parent].params, job.params) for job in jobs if job.parent is not None]
    parents = {job.parent for job in jobs} - {None}
    return children, parents, {job.trial_id for job in jobs if job.parent is None}


def test_the_worst_fifth_copies_the_best_fifth():
    scores = [3, 9, 1, 4, 8, 5, 0, 7, 2, 6]
    _, parents, staying = generation({"x": uniform()}, scores)
    assert parents <= {1, 4}  # scores 9 and 8
    assert staying == set(range(10)) - {2, 6}  # scores 1 and 0
    scores[:7] = [math.nan] * 7
    _, parents, staying = generation({"x": uniform()}, scores)
    assert staying == {7, 8, 9}
    assert parents <= {7, 9}


def test_params_change_by_a_factor_or_are_drawn():
    space = {"x": loguniform(1e-6, 1e6), "n": randint(10, 100), "c": [1, 2, 4, 8], "s": ["a", "b"]}
    pairs = [p for seed in range(100) for p in generation(space, range(10), seed=seed)[0]]
    ratios = np.array([child["x"] / parent["x"] for parent, child in pairs])
    by_factor = np.isclose(ratios, 0.8) | np.isclose(ratios, 1.2)
    assert by_factor.mean() == pytest.approx(0.75, abs=0.1)
    n = np.array([(parent["n"], child["n"]) for parent, child in pairs])
    near = np.isin(n[:, 1], np.r_[10:100]) & (np.abs(n[:, 1] - n[:, 0]) <= 0.2 * n[:, 0] + 1)
    assert near.mean() > 0.7
    steps = [abs([1, 2, 4, 8].index(b["c"]) - [1, 2, 4, 8].index(a["c"])) for a, b in pairs]
    assert np.mean(np.array(steps) <= 1) > 0.75
    assert np.mean([a["s"] == b["s"] for a, b in pairs]) == pytest.approx(0.875, abs=0.1)


def test_params_stay_inside_of_the_space():
    space = {"x": uniform(0.9, 0.1), "n": randint(1, 3), "c": [8, 4]}
    for seed in range(30):
        for _, child in generation(space, range(10), seed=seed)[0]:
            assert Space(space).contains(child)


# ---- its picture


def test_the_picture_has_the_schedule_and_the_population():
    search = pbt(space={**RATES, "kind": ["a", "b"]}, max_resources=8).fit(X, y)
    display = ScheduleDisplay.from_search(search)
    assert "rate" in display.names_
    assert len(display.figure_.axes) == 1 + len(display.names_)
    ax = display.figure_.axes[1 + display.names_.index("rate")]
    *others, best = ax.lines
    assert len(others) == len(search.history_.trials)
    ends = [(*line.get_xdata(), line.get_ydata()[0]) for line in others]
    assert all((t.inherited, t.resource, t.params["rate"]) in ends for t in search.history_.trials)
    n = search.best_n_resources_
    x, values = best.get_xdata(), best.get_ydata()
    at = [values[np.flatnonzero(x <= epoch)[-1]] for epoch in range(n)]
    assert at == rates_of(search.schedule_, n)
    plt.close(display.figure_)


def test_there_is_no_picture_without_a_schedule():
    search = HyperbandSearchCV(Descent(), RATES, resource="epochs", max_resources=3, cv=2)
    with pytest.raises(ValueError, match="has no schedule_"):
        ScheduleDisplay.from_search(search.fit(X, y))
