"""What a search does where its user has not said it."""

import os
import signal
import time
import warnings
from contextlib import suppress

import numpy as np
import pytest
from scipy.stats import loguniform, uniform
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from sksearch import (
    GPBayesSearchCV,
    HalvingSearchCV,
    RandomSearchCV,
    SearchCV,
    SuccessiveHalvingSearchCV,
    When,
    load_history,
    tune,
)
from sksearch.executors import VirtualClock, spend
from sksearch.history import Problem, Result
from sksearch.model_selection import GridSearchCV
from sksearch.samplers import GPSampler, RandomSampler
from sksearch.schedulers import FoldRace, FullFidelity, MedianStopping
from sksearch.schedulers._iterated_halving import IteratedHalving
from sksearch.search import FabolasSearchCV
from sksearch.space import Space
from sksearch.study import Study

X, y = load_iris(return_X_y=True)
N_ROWS = len(y)
WIDE = {"C": loguniform(1e-2, 1e3)}
WIDER = {"quality": uniform()}


class Slow(ClassifierMixin, BaseEstimator):
    """Takes `seconds` of a virtual clock to train; the better the larger `quality`."""

    def __init__(self, quality=0.5, seconds=1.0):
        self.quality, self.seconds = quality, seconds

    def fit(self, X, y):
        spend(self.seconds)
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.zeros(len(X))

    def score(self, X, y):
        return self.quality


@pytest.mark.whole
def test_a_race_with_three_folds_and_whole_fits_with_two():
    for cv, parts in ((3, (GPSampler(), FoldRace(9))), (2, (GPSampler(), FullFidelity(9)))):
        search = SearchCV(SVC(), WIDE, n_iter=9, cv=cv, random_state=0).fit(X, y)
        by_hand = SearchCV(
            SVC(), WIDE, sampler=parts[0], scheduler=parts[1], cv=cv, random_state=0,
            known={"params": None},
        )  # fmt: skip
        by_hand.set_params(sampler=None).fit(X, y)
        assert search.set_params(known__params=None).fit(X, y).history_.log == by_hand.history_.log


def test_without_a_count_and_a_time_there_are_fifty_candidates():
    assert SearchCV(SVC(), WIDE).plan(X, y).n_candidates == 50
    assert SearchCV(SVC(), {"C": [1, 2, 3]}).plan(X, y).n_candidates == 3
    assert SearchCV(SVC(C=9), {"C": [1, 2, 3]}).plan(X, y).n_candidates == 3  # not the own


def test_the_plan_lists_the_choices():
    text = str(SearchCV(SVC(), timeout=60).plan(X, y))
    assert text.splitlines()[0] == "space: the default for the estimator, C, gamma"
    assert "first candidates: the untuned estimator, then" in text
    assert "scheduler: FoldRace(n_candidates=None" in text
    assert "candidates until the time is up" in text
    by_hand = SearchCV(SVC(), WIDE, sampler=RandomSampler(), scheduler=FullFidelity(3))
    assert by_hand.plan(X, y).notes == ()


def test_a_measured_plan_tells_the_time():
    search = SearchCV(SVC(), WIDE, n_iter=40, cv=2)
    assert search.plan(X, y).seconds_per_fit is None
    plan = search.plan(X, y, measure=True)
    assert 0 < plan.seconds_per_fit < 10
    assert "80 full fits, about" in str(plan)
    assert plan.n_full_fits == 80
    rungs = HalvingSearchCV(SVC(), WIDE, resource="folds", cv=4).plan(X, y)
    assert rungs.n_full_fits == rungs.n_fits - 1


def test_a_measured_plan_tells_what_each_of_several_models_takes():
    models = [("quick", Slow(seconds=1.0)), ("slow", Slow(seconds=5.0))]
    search = SearchCV(models, {"quick": WIDER, "slow": WIDER}, n_iter=10, cv=2)
    assert search.plan(X, y).seconds_by_model == {}
    with VirtualClock():
        plan = search.plan(X, y, measure=True)
    assert plan.seconds_by_model == {"quick": 1.0, "slow": 5.0}
    assert plan.seconds_per_fit == 3.0
    assert "20 full fits, about 1 minutes" in str(plan)
    assert "3 s for one fit of an untuned model: quick 1 s, slow 5 s" in str(plan)


def test_where_only_a_time_ends_it_improvement_per_second_counts():
    by_time = str(SearchCV(SVC(), timeout=60).plan(X, y))
    assert "sampler: GPSampler(acquisition='ei_per_second'" in by_time
    for params in ({"n_iter": 9}, {"n_iter": 9, "timeout": 60}, {"stop": {"patience": 3}}):
        assert "sampler: GPSampler()" in str(SearchCV(SVC(), **params).plan(X, y))


def test_a_measured_plan_compares_the_bill_with_the_time():
    search = SearchCV(Slow(seconds=3.0), WIDER, n_iter=40, cv=2, timeout=60)
    with VirtualClock():
        text = str(search.plan(X, y, measure=True))
        assert "80 full fits, about 4 minutes" in text
        assert "timeout=60 ends it after about 0.25 of this time" in text
        text = str(clone(search).set_params(n_iter=5).plan(X, y, measure=True))
        assert "timeout" not in text


def test_a_first_bracket_that_does_not_fit_the_time_is_said_early():
    search = SuccessiveHalvingSearchCV(
        Slow(seconds=1.0), WIDER, resource="n_samples", n_candidates=9, cv=2, timeout=12,
        max_resources=90, min_resources=10,
    )  # fmt: skip
    with VirtualClock(), pytest.warns(UserWarning, match="first bracket will take .*timeout=12"):
        search.fit(X, y)
    with VirtualClock(), warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        clone(search).set_params(timeout=300).fit(X, y)
        for n_iter in (None, 40):  # how many get how far is chosen on the way
            FabolasSearchCV(
                Slow(seconds=1.0), WIDER, resource="n_samples", n_iter=n_iter, cv=2, timeout=12,
                max_resources=90, min_resources=10,
            ).fit(X, y)  # fmt: skip
        # Where there are no brackets there is nothing to say.
        SearchCV(Slow(seconds=1.0), WIDER, n_iter=30, cv=3, timeout=12).fit(X, y)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("search", "is_most"),
    [
        (SearchCV(Slow(), WIDER, n_iter=7, cv=3), True),
        (SearchCV(Slow(), WIDER, scheduler=MedianStopping(7), resource="n_samples", cv=3), True),
        (FabolasSearchCV(Slow(), WIDER, n_iter=7, cv=3), True),
        (SuccessiveHalvingSearchCV(Slow(), WIDER, n_candidates=7, cv=3), False),
    ],
    ids=["race", "median", "sizes", "halving"],
)
def test_where_candidates_are_dropped_on_the_way_the_plan_says_at_most(search, is_most, tmp_path):
    with VirtualClock():
        planned = str(search.plan(X, y)).splitlines()[-1]
        found = clone(search).set_params(checkpoint_dir=tmp_path, random_state=0).fit(X, y)
    assert planned.startswith("at most 7 candidates" if is_most else "7 candidates")
    assert str(load_history(tmp_path).plan_).splitlines()[-1] == planned
    assert str(found.plan_).splitlines()[-1] == planned


def test_the_time_includes_the_refit():
    with VirtualClock() as clock:
        search = SearchCV(Slow(seconds=4.0), {"quality": uniform()}, timeout=60, cv=3)
        search.set_params(scheduler=FullFidelity(None)).fit(X, y)
    # Each candidate takes 12 seconds, and the last training 4; 6 are expected, for half as many
    # rows again. The fifth candidate is ended between two folds.
    assert len(search.history_.trials) == 5
    assert not search.history_.trials[-1].results
    assert clock.seconds == 54 + 4


@pytest.mark.parametrize(("timeout", "n_folds"), [(1, 1), (230, 1), (330, 2), (430, 3)])
def test_a_time_for_a_part_of_the_folds_of_the_estimator_as_it_is(timeout, n_folds):
    """A fold takes 100 s, the last training too; 133 s are foretold, for a third more rows."""
    search = SearchCV(Slow(seconds=100.0), {"quality": uniform()}, timeout=timeout, cv=4)
    with VirtualClock() as clock, pytest.warns(UserWarning, match=f"{n_folds} of 4 folds"):
        search.fit(X, y)
    assert len(search.history_.trials) == 1
    assert list(search.cv_results_["n_resources"]) == [n_folds]
    assert search.best_score_ == search.cv_results_["mean_test_score"][0]
    assert search.best_n_resources_ == n_folds
    assert search.best_params_ == {"quality": 0.5}
    assert clock.seconds == 100 * (n_folds + 1)
    assert search.best_estimator_.predict(X[:1]).shape == (1,)
    report = str(search.report())
    assert f"{n_folds} of 4 folds" in report
    assert "before the first candidate finished all folds. Increase the limit." in report
    assert "range" not in report


def test_a_time_that_ends_between_two_ticks_of_a_virtual_clock_ends():
    """The last training is foretold to take 133.33 s, so the fourth fold is waited for 6.67 s."""
    search = SearchCV(Slow(seconds=100.0), {"quality": uniform()}, timeout=440, cv=4)
    with VirtualClock() as clock:
        search.fit(X, y)
    assert clock.seconds == 500
    assert search.best_n_resources_ == 4


def test_a_time_ends_brackets_that_stopped_the_estimator_as_it_is_early():
    search = SearchCV(
        Slow(seconds=10.0, quality=0.0), {"quality": uniform()}, timeout=600, cv=2,
        resource="n_samples", scheduler=IteratedHalving(), known={"params": "auto"},
        random_state=0,
    )  # fmt: skip
    with VirtualClock() as clock:
        search.fit(X, y)
    first = search.history_.trials[0]
    assert search.history_.problem.has_baseline
    assert search.max_resources_ not in first.results
    assert clock.seconds <= 600 + 20


def test_patience_ends_a_search_that_finds_nothing_better():
    search = RandomSearchCV(
        Slow(), {"quality": [0.9, 0.1, 0.2, 0.3, 0.4]}, n_iter=5, cv=2, stop={"patience": 2},
        known={"params": [{"quality": 0.9}]},
    ).fit(X, y)  # fmt: skip
    assert len(search.history_.trials) == 3


def test_candidates_under_way_keep_workers_busy():
    def most_running(search):
        running = most = 0
        with VirtualClock(search.n_jobs):
            search.fit(X, y)
        for event, *_ in search.history_.log:
            running += 1 if event == "ask" else -1
            most = max(most, running)
        return most

    search = GPBayesSearchCV(Slow(), {"quality": uniform()}, n_iter=8, cv=2, n_jobs=6)
    assert most_running(search) == 3
    assert most_running(search.set_params(n_jobs=2)) == 1
    assert most_running(search.set_params(n_jobs=6, workers__batch_size=1)) == 1


def test_a_named_search_needs_no_space():
    search = GPBayesSearchCV(KNeighborsClassifier(), n_iter=6, cv=3, random_state=0).fit(X, y)
    assert search.history_.problem.has_baseline
    assert search.cv_results_["params"][0]["n_neighbors"] == 5
    plan = HalvingSearchCV(HistGradientBoostingClassifier(), resource="max_iter").plan(X, y)
    assert plan.unit == "max_iter"
    epochs = HalvingSearchCV(MLPClassifier(), resource="epochs", max_resources=9).plan(X, y)
    assert epochs.unit == "epochs"


def test_an_estimator_that_is_not_known_needs_a_space():
    with pytest.raises(ValueError, match="Slow"):
        SearchCV(Slow(), timeout=1).fit(X, y)


def test_a_space_with_a_search_by_hand_has_no_first_candidates():
    named = GPBayesSearchCV(SVC(), WIDE)
    assert named.plan(X, y).notes == ()
    problem = named.set_params(n_iter=2).fit(X, y).history_.problem
    assert not problem.has_baseline
    assert problem.initial_params == ()


@pytest.mark.parametrize(
    ("params", "match"),
    [
        ({"scheduler": FullFidelity(3), "n_iter": 4}, "n_iter=4"),
        ({"scheduler": FullFidelity(None)}, "never end"),
        ({"max_resources": 9}, "need resource="),
        ({"known": {"params": "some"}}, "known.*params"),
        ({"workers": {"batch_size": "all"}}, "batch_size"),
        ({"stop": {"patience": 0}}, "patience"),
        ({"n_iter": 0}, "n_iter"),
        ({"timeout": 0}, "timeout"),
    ],
)
def test_bad_arguments_are_refused(params, match):
    with pytest.raises(ValueError, match=match):
        SearchCV(SVC(), WIDE, **params).fit(X, y)


@pytest.mark.whole
def test_a_checkpoint_of_one_line_continues(tmp_path):
    search = SearchCV(SVC(), n_iter=12, cv=3, random_state=0, checkpoint_dir=tmp_path)
    whole = clone(search).set_params(checkpoint_dir=None).fit(X, y)
    search.set_params(stop__patience=1).fit(X, y)
    assert len(search.history_.trials) < 12
    search.set_params(stop__patience=None).fit(X, y)
    assert search.best_params_ == whole.best_params_
    assert [t.params for t in search.history_.trials] == [t.params for t in whole.history_.trials]


# ---- the untuned estimator, in a space that may not hold it


@pytest.mark.parametrize(
    ("space", "own", "place"),
    [
        ({"C": loguniform(1e-2, 1e2)}, {"C": 1.0}, [0.5]),
        ({"C": loguniform(10, 100)}, {"C": 1.0}, [0.0]),
        ({"gamma": loguniform(1e-2, 1e2)}, {"gamma": "scale"}, [0.5]),
        ({"max_leaf_nodes": [5, 9], "C": [1]}, {"C": 1, "max_leaf_nodes": None}, [1.0]),
        ({"a": loguniform(1, 10)}, {}, [0.5]),
        (
            {"kernel": ["rbf", "poly"], "degree": When([2, 3], "kernel", "==", "poly")},
            {"kernel": "rbf"},
            [np.nan, 0.25],
        ),
    ],
)
def test_what_is_outside_has_a_place(space, own, place):
    values = {"C": 1, "gamma": "scale", "max_leaf_nodes": None, "kernel": "rbf", "degree": 3}
    space = Space(space)
    found = space.baseline(values if own else {})
    assert found == own
    assert np.allclose(space.place(found), place, equal_nan=True)


def test_the_own_params_of_a_union_match_a_dict_that_holds_them():
    space = Space([{"C": [5, 6]}, {"C": [1.0, 2.0], "kernel": ["rbf"]}])
    assert space.baseline(SVC().get_params()) == {"C": 1.0, "kernel": "rbf"}
    listed = Space([{"C": [5]}, {"C": [6]}])
    assert listed.baseline(SVC().get_params()) is None
    assert listed.baseline(SVC(C=6).get_params()) == {"C": 6}


def test_a_value_that_is_given_matches_the_space():
    space = Space({"early_stopping": [False], "learning_rate": loguniform(0.01, 1)})
    own = space.baseline(HistGradientBoostingClassifier().get_params())
    assert own == {"early_stopping": False, "learning_rate": 0.1}


def test_a_finite_space_is_searched_next_to_what_is_outside():
    problem = Problem(Space({"x": [1, 2]}), initial_params=({"x": 9},), has_baseline=True)
    study = Study(problem, RandomSampler(), FullFidelity(5))
    seen = []
    while (job := study.ask()) is not None:
        seen.append(job.params["x"])
        study.tell(job, Result(0.0))
    assert seen[0] == 9
    assert sorted(seen) == [1, 2, 9]
    assert problem.size == 3


# ---- tune


def test_tune_summarises_its_result(capsys):
    tuned = tune(RandomForestClassifier(10, random_state=0), X, y, timeout=2, cv=3, random_state=0)
    out = capsys.readouterr().out
    assert f"best score {tuned.best_score_:.4g}, mean of 3 folds" in out
    assert "for the untuned estimator" in out
    assert all(f"    {name}: " in out for name in tuned.best_params_)
    assert tuned.predict(X).shape == y.shape


def test_tune_passes_on_its_arguments(capsys):
    start = time.perf_counter()
    tuned = tune(
        SGDClassifier(), X, y, timeout=30, verbose=0, n_iter=3, refit=False,
        param_distributions={"alpha": loguniform(1e-5, 1)},
        fit_params={"sample_weight": np.ones(len(y))},
    )  # fmt: skip
    assert capsys.readouterr().out == ""
    assert len(tuned.history_.trials) == 3
    assert not hasattr(tuned, "best_estimator_")
    assert time.perf_counter() - start < 30


def swallow_ctrl_c():
    with suppress(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)


class Swallows(Slow):
    """Goes on training at Ctrl-C, as scikit-learn's MLP does."""

    def fit(self, X, y):
        swallow_ctrl_c()
        return super().fit(X, y)


def test_ctrl_c_ends_a_search_though_an_estimator_swallows_it():
    search = RandomSearchCV(Swallows(), {"quality": uniform()}, n_iter=5, cv=2)
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, y)


class SwallowsAtLast(Slow):
    """Hears Ctrl-C while it is trained on all rows, and makes nothing or an error of it."""

    def __init__(self, quality=0.5, seconds=1.0, error=None):
        super().__init__(quality, seconds)
        self.error = error

    def fit(self, X, y):
        if len(X) == N_ROWS:
            swallow_ctrl_c()
            if self.error is not None:
                raise self.error
        return super().fit(X, y)


@pytest.mark.parametrize("error", [None, ValueError("not a valid format string")])
def test_ctrl_c_ends_the_last_training_though_an_estimator_swallows_it(error):
    model = SwallowsAtLast(error=error)
    search = RandomSearchCV(model, {"quality": uniform()}, n_iter=3, cv=2)
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, y)
    assert search.interrupted_
    assert len(search.cv_results_["params"]) == 3
    assert not hasattr(search, "best_estimator_")


def test_ctrl_c_ends_the_training_of_an_average_though_an_estimator_swallows_it():
    class SwallowsAtSecond(DecisionTreeClassifier):
        n_whole = 0

        def fit(self, X, y):
            if len(X) == N_ROWS:
                SwallowsAtSecond.n_whole += 1
                if SwallowsAtSecond.n_whole == 2:
                    swallow_ctrl_c()
            return super().fit(X, y)

    space = {"max_depth": [1, 2, 3, 4], "max_features": [1, 2, 3]}
    search = RandomSearchCV(
        SwallowsAtSecond(random_state=0),
        space,
        n_iter=12,
        ensemble=True,
        random_state=0,
        scoring="neg_log_loss",
    )
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, y)
    assert SwallowsAtSecond.n_whole == 2
    assert search.interrupted_


@pytest.mark.parametrize("error_score", [np.nan, "raise"])
def test_an_error_that_was_ctrl_c_is_not_a_failure_of_a_candidate(error_score):
    class Breaks(Slow):
        def fit(self, X, y):
            if self.quality < 0.5:
                return super().fit(X, y)
            swallow_ctrl_c()
            raise ValueError("not a valid format string")

    search = GridSearchCV(Breaks(), {"quality": [0.1, 0.9, 0.2]}, error_score=error_score)
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, y)
    assert search.statuses_ == ["ok"]
