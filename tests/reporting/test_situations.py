"""Searches with one known fault each, and what the report says of them."""

import pickle
import re
from functools import cache

import numpy as np
import pytest
from scipy.stats import loguniform, uniform
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.datasets import load_breast_cancer, load_diabetes, make_classification
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import cohen_kappa_score, make_scorer
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    KFold,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from sksearch import RandomSearchCV, SearchCV, SuccessiveHalvingSearchCV, When, report
from sksearch.executors import VirtualClock, spend
from sksearch.schedulers import FullFidelity
from sksearch.space import Outcome, Threshold

X = np.random.default_rng(0).standard_normal((200, 3))
Y = X[:, 0]


class Known(RegressorMixin, BaseEstimator):
    """Its score is a function of its params and of the rows that it is scored on."""

    def __init__(self, a=0.5, b=0.5, kind="plain", n_epochs=1, noise=0.0, truth="a"):
        self.a = a
        self.b = b
        self.kind = kind
        self.n_epochs = n_epochs
        self.noise = noise
        self.truth = truth

    def fit(self, X, y=None):
        if self.kind == "bad":
            raise ValueError(f"kind='bad' does not work with {self.a}")
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        return np.zeros(len(X))

    def score(self, X, y=None):
        value = {
            "a": self.a,
            "peak": -((self.a - 0.5) ** 2) * 4,
            "none": 0.0,
            "late": self.a * (1 if self.n_epochs > 3 else -1),
        }[self.truth]
        seed = abs(hash((round(self.a, 9), round(self.b, 9), float(X[0, 0])))) % 2**32
        fold = np.random.default_rng(int(abs(X[0, 0]) * 1e6)).standard_normal()
        return value + self.noise * (np.random.default_rng(seed).standard_normal() + fold)


class Slow(Known):
    """Takes ten seconds of a virtual clock."""

    def fit(self, X, y=None):
        spend(10)
        return super().fit(X, y)


@cache
def told(search):
    return report(search)


def rules(search):
    return [advice.rule for advice in told(search).advice]


def advice_of(search, rule):
    (found,) = [advice for advice in told(search).advice if advice.rule == rule]
    return found


def random_search(space, n_iter=40, cv=3, **params):
    search = RandomSearchCV(Known(**params), space, n_iter=n_iter, cv=cv, random_state=0)
    return search.fit(X, Y)


def test_an_optimum_at_the_edge_is_widened():
    search = random_search({"a": uniform(0.2, 0.6), "b": uniform(0, 1)}, noise=0.01)
    found = advice_of(search, "edge")
    assert "The best value, a=0.7" in found.text or "The best value, a=0.8" in found.text
    assert "upper end" in found.text
    assert found.code == "param_distributions['a'] = uniform(0.2, 0.8)"  # a share may be no larger
    # The line works, and finds more.
    space = {"a": uniform(0.2, 0.6), "b": uniform(0, 1)}
    exec(found.code, {"param_distributions": space, "uniform": uniform})
    assert random_search(space, noise=0.01).best_params_["a"] > 0.8


def test_an_optimum_inside_is_left_alone():
    assert rules(random_search({"a": uniform(0, 1)}, truth="peak", noise=0.01)) == []


def test_a_bound_of_the_estimator_is_not_an_edge():
    X, y = make_classification(200, random_state=0)
    search = GridSearchCV(SVC(kernel="poly"), {"degree": [0, 1, 2]}).fit(X, y)
    assert "edge" not in rules(search) or search.best_params_["degree"] == 2


def test_a_parameter_of_few_candidates_is_not_accused():
    b = When(uniform(0, 1), "kind", "in", ["plain"])
    kinds = ["plain", *("pqrstu")]
    search = random_search(
        {"a": uniform(0, 1), "kind": kinds, "b": b}, n_iter=60, truth="peak", noise=0.01
    )
    accused = [advice.text for advice in told(search).advice if advice.rule == "no_effect"]
    assert not any(text.startswith("b ") or " b " in text for text in accused)


def test_a_useless_parameter_is_named_and_taken_out():
    space = {"a": uniform(0, 1), "b": uniform(0, 1)}
    search = random_search(space, n_iter=60, truth="peak", noise=0.01)
    found = advice_of(search, "no_effect")
    assert found.text.startswith("b had no visible effect")
    assert found.code == "del param_distributions['b']"
    exec(found.code, {"param_distributions": space})
    assert [*space] == ["a"]


def test_an_early_rung_that_misleads_is_named():
    search = SuccessiveHalvingSearchCV(
        Known(truth="late", noise=0.001), {"a": uniform(0, 1)}, resource="n_epochs",
        min_resources=3, max_resources=27, n_candidates=27, random_state=0,
    ).fit(X, Y)  # fmt: skip
    found = advice_of(search, "rungs")
    assert "Scores at 3 n_epochs do not predict scores at 9" in found.text
    assert found.code == "min_resources=9"


def test_an_informative_early_rung_is_not():
    search = SuccessiveHalvingSearchCV(
        Known(truth="a", noise=0.001), {"a": uniform(0, 1)}, resource="n_epochs",
        min_resources=3, max_resources=27, n_candidates=27, random_state=0,
    ).fit(X, Y)  # fmt: skip
    assert "rungs" not in rules(search)
    assert "were stopped early" in str(told(search))


def test_candidates_cut_by_the_end_of_the_search_are_not_savings():
    whole, cut = (
        SuccessiveHalvingSearchCV(
            Known(truth="late"), {"a": uniform(0, 1)}, resource="n_epochs", max_resources=9,
            factor=3, n_candidates=18, random_state=0, stop=stop,
        ).fit(X, Y)
        for stop in (None, {"score": 0.0})
    )  # fmt: skip
    assert "16 of 18 candidates were stopped early" in str(told(whole))
    assert "had not finished" not in str(told(whole))
    assert "16 of 18 candidates were stopped early" in str(told(cut))
    assert "1 candidate had not finished when the search ended" in str(told(cut))


def test_the_time_limit_is_named_for_the_candidates_that_it_cut():
    with VirtualClock(n_workers=3):
        search = SearchCV(
            Slow(noise=0.1), {"a": uniform(0, 1)}, timeout=40, cv=5, random_state=0, n_jobs=3
        ).fit(X, Y)  # fmt: skip
    assert "when the time was up" in str(told(search))


def test_tied_candidates_are_reported_with_the_simplest_and_the_fastest():
    X, y = make_classification(200, flip_y=0.2, random_state=1)
    search = GridSearchCV(SVC(), {"C": [0.5, 1, 2, 4], "gamma": [0.03, 0.04]}).fit(X, y)
    made = told(search)
    assert search.best_params_ == {"C": 2, "gamma": 0.03}
    assert "8 of 8 candidates, including the winner, are statistically tied" in str(made)
    assert "simplest: C=0.5, gamma=0.03  (0.815)" in str(made)
    assert "fastest: " in str(made)
    assert [advice.rule for advice in made.advice] == ["noise"]


def test_equal_scores_are_not_called_noise():
    search = random_search({"b": uniform(0, 1)}, truth="none")
    assert rules(search) == ["all_equal"]
    assert "30 of 30" in str(report(random_search({"b": uniform(0, 1)}, 30, truth="none")))


@pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.FitFailedWarning", "ignore:One or more of the test"
)
def test_many_failures_are_grouped_and_their_cause_taken_out():
    space = {"a": uniform(0, 1), "kind": ["plain", "bad"]}
    search = random_search(space, noise=0.01)
    found = advice_of(search, "failures")
    n = sum(status == "error" for status in search.statuses_)
    assert n > 10
    assert found.text == f"{n} candidates failed, all with kind='bad'. Remove it."
    exec(found.code, {"param_distributions": space})
    assert space["kind"] == ["plain"]
    text = str(told(search))
    assert f"({n} failed)" in text
    assert f"{n} x ValueError: kind='bad' does not work" in text


def test_noise_alone_is_called_so_and_the_score_is_pulled_in():
    search = random_search({"a": uniform(0, 1), "b": uniform(0, 1)}, truth="none", noise=0.1)
    selected = told(search)._facts.selected
    assert "noise" in rules(search)
    assert not {"edge", "no_effect"} & set(rules(search))
    assert selected.seen - selected.corrected > 0.03
    assert "luck" in advice_of(search, "noise").text


def by_function(model, X, y):
    return float(np.mean(model.predict(X) == y))


@pytest.mark.parametrize("scoring", ["accuracy", by_function])
@pytest.mark.parametrize("seed", range(6))
def test_distinguished_candidates_are_not_called_noise(seed, scoring):
    X, y = make_classification(150, 5, flip_y=0.1, random_state=seed)
    search = GridSearchCV(SVC(), {"C": [0.01, 1, 100]}, cv=3, scoring=scoring).fit(X, y)
    made = told(search)
    is_noise = [advice.rule for advice in made.advice] == ["noise"]
    assert is_noise == ("3 of 3 candidates, including the winner, are statistically" in str(made))


def test_one_candidate_was_no_choice():
    search = random_search({"a": uniform(0, 1)}, n_iter=1, noise=0.01)
    assert rules(search) == ["one_candidate"]
    assert advice_of(search, "one_candidate").code == "n_iter=50"
    selected = told(search)._facts.selected
    assert selected.corrected == pytest.approx(selected.seen)


def test_where_the_time_ends_after_one_candidate_more_time_is_asked_for():
    search = RandomSearchCV(
        Known(), {"a": uniform(0, 1)}, known={"params": {"a": 1.0}}, timeout=1e-9, random_state=0
    ).fit(X, Y)
    assert len(search.history_.trials) == 1
    assert [(each.rule, each.code) for each in told(search).advice] == [
        ("one_candidate", "timeout=1e-08")
    ]


def test_a_space_of_one_candidate_wants_more_values():
    search = random_search({"a": [0.5]}, n_iter=1, noise=0.01)
    code = advice_of(search, "one_candidate").code
    assert code == "param_distributions['a'] = [0.25, 0.5, 1.0]"


def costs(y, predicted):
    return -float(np.mean(np.where(y == 1, 5 * (predicted == 0), predicted == 1)))


@pytest.mark.parametrize(
    "scoring", ["f1", "balanced_accuracy", "matthews_corrcoef", make_scorer(cohen_kappa_score),
                make_scorer(costs)],
    ids=["f1", "balanced", "MCC", "kappa", "costs"],
)  # fmt: skip
def test_the_choice_of_a_threshold_is_a_choice(scoring):
    X, y = make_classification(60, 4, flip_y=0.4, weights=[0.7], random_state=0)
    model = FixedThresholdClassifier(GaussianNB())
    search = RandomSearchCV(model, {"threshold": Threshold(20)}, n_iter=1, scoring=scoring)
    search.fit(X, y)
    text, selected = str(told(search)), told(search)._facts.selected
    assert selected.corrected <= selected.seen - search._outcome_luck < selected.seen
    assert selected.low <= selected.corrected <= selected.high
    assert f"threshold={search.best_params_['threshold']} was chosen by these scores" in text
    advice = advice_of(search, "one_candidate")
    assert "only threshold was chosen" in advice.text
    assert not advice.code


def test_a_count_of_iterations_that_training_finds_is_a_choice():
    X, y = make_classification(60, 4, flip_y=0.4, random_state=0)
    model = GradientBoostingClassifier(random_state=0)
    space = {"n_estimators": Outcome(20), "learning_rate": [0.3]}
    search = RandomSearchCV(model, space, n_iter=1, scoring=make_scorer(costs)).fit(X, y)
    selected = told(search)._facts.selected
    assert selected.corrected == pytest.approx(selected.seen - search._outcome_luck)
    code = advice_of(search, "one_candidate").code
    assert code == "param_distributions['learning_rate'] = [0.15, 0.3, 0.6]"


def test_a_grid_of_scikit_learn_is_read_as_well():
    X, y = load_breast_cancer(return_X_y=True)
    pipe = make_pipeline(StandardScaler(), SVC())
    space = {"svc__C": [1e-3, 1e-2, 1e-1], "svc__shrinking": [True, False]}
    search = GridSearchCV(pipe, space).fit(X, y)
    text = str(told(search))
    assert text.startswith("GridSearchCV(Pipeline): 6 candidates, 5 folds")
    assert advice_of(search, "edge").code == "param_grid['svc__C'] = [0.001, 0.01, 0.1, 1.0, 10.0]"
    assert len(text.splitlines()) <= 30


def test_a_linear_range_over_decades_is_made_logarithmic():
    search = random_search({"a": uniform(1e-4, 10)}, truth="none", noise=0.1)
    assert (
        advice_of(search, "scale").code == "param_distributions['a'] = loguniform(0.0001, 10.0001)"
    )
    search = random_search({"a": loguniform(1e-4, 10)}, truth="none", noise=0.1)
    assert "scale" not in rules(search)


def test_a_single_fold_is_reported():
    cv = [next(KFold(5).split(X))]
    search = random_search({"a": uniform(0, 1)}, cv=cv, noise=0.01)
    assert "folds" in rules(search)
    assert "A single fold gives no confidence interval." in str(told(search))


def test_the_untuned_estimator_is_compared_with_the_winner():
    search = SearchCV(Known(a=0.3, noise=0.001), {"a": uniform(0, 1)}, n_iter=12, random_state=0)
    text = str(report(search.fit(X, Y)))
    assert "for the untuned estimator: tuning gains 0." in text


def line_of(search, title="Untuned"):
    return next(line for line in str(report(search)).splitlines() if line.startswith(title))


@pytest.mark.parametrize("order", [1, -1])
def test_the_untuned_model_of_the_winner_is_compared_whatever_the_order(order):
    models = [("weak", Known(a=0.1, noise=0.01)), ("good", Known(a=0.8, noise=0.01))][::order]
    search = SearchCV(models, {name: {"a": [0.1, 0.8]} for name, _ in models}, n_iter=2, cv=3)
    assert line_of(search.fit(X, Y)).endswith("The winner is the untuned good.")
    space = {"weak": {"a": [0.1, 0.8, 0.9]}, "good": {"a": [0.8]}}
    search = SearchCV(models, space, cv=3, scheduler=FullFidelity(4)).fit(X, Y)
    assert search.best_params_["weak__a"] == 0.9
    assert "for the untuned weak: tuning gains 0.8" in line_of(search)


def test_without_the_untuned_model_of_the_winner_the_best_untuned_one_is_compared():
    models = [(name, Known(a=a, noise=0.01)) for name, a in (("a", 0.1), ("b", 0.3), ("c", 0.2))]
    space = {"a": {"a": [0.1]}, "b": {"a": [0.3]}, "c": {"a": [0.9]}}
    search = SearchCV(models, space, cv=3, scheduler=FullFidelity(3)).fit(X, Y)
    line = line_of(search)
    assert "for the untuned b, the best untuned model: tuning gains 0.6" in line


def test_the_copy_of_the_winner_says_nothing_about_the_precision():
    X, y = make_classification(60, random_state=0)
    poor = GaussianNB(priors=[0.98, 0.02])
    models = [("good", DecisionTreeClassifier(max_depth=1)), ("poor", poor)]
    search = SearchCV(models, n_iter=2, cv=2, random_state=0).fit(X, y)
    assert "The winner is the untuned good" in line_of(search)
    assert not re.search(r"difference of 0\.0+ would", str(report(search)))


def scored_untuned(model, **params):
    """A search that finds a count of iterations, and what its report says of the model untuned."""
    X, y = load_diabetes(return_X_y=True)
    folds = KFold(3, shuffle=True, random_state=0)
    search = SearchCV(model, cv=folds, n_iter=2, random_state=0, **params).fit(X, y)
    return search, line_of(search), (X, y, folds)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("package", "name", "params"),
    [
        ("sklearn.ensemble", "HistGradientBoostingRegressor", {"max_iter": 90}),
        ("sklearn.ensemble", "GradientBoostingRegressor", {"random_state": 0}),
        ("xgboost", "XGBRegressor", {}),  # whose count is None, for 100
    ],
)
def test_the_untuned_estimator_is_scored_with_its_own_count_of_iterations(package, name, params):
    model = getattr(pytest.importorskip(package), name)(**params)
    search, line, (X, y, folds) = scored_untuned(model)
    expected = cross_val_score(clone(model), X, y, cv=folds).mean()
    (count,) = {"max_iter", "n_estimators"} & search.cv_results_["params"][0].keys()
    own = getattr(model, count) or 100
    assert search.cv_results_["params"][0][count] < own, "training finds fewer"
    assert f" {expected:.3f} " in line
    assert "for the untuned estimator: tuning gains" in line
    assert search.cv_results_["mean_test_score"][0] > expected
    again = str(report(pickle.loads(pickle.dumps(search))))
    assert line in again


def test_where_training_does_not_come_to_the_own_count_that_is_said():
    model = HistGradientBoostingRegressor(max_iter=100_000)  # there is no room for so many
    search, line, _ = scored_untuned(model)
    found = search.cv_results_["params"][0]["max_iter"]
    assert f"the untuned estimator with max_iter={found}" in line


class NeverA(ClassifierMixin, BaseEstimator):
    def __init__(self, a=0.5):
        self.a = a

    def fit(self, X, y):
        raise ValueError("no")

    def predict(self, X):  # so that the metric could score it
        return np.zeros(len(X))


class NeverB(NeverA):
    def __init__(self, b=0.5):
        self.b = b


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning", "ignore:One or more")
def test_models_of_a_list_that_fail_for_one_cause_are_reported(tmp_path):
    models = [("bad", NeverA()), ("worse", NeverB()), ("tree", DecisionTreeClassifier())]
    space = {"bad": {"a": uniform(0, 1)}, "worse": {"b": uniform(0, 1)}}
    X, y = make_classification(90, random_state=0)
    search = SearchCV(models, space, n_iter=8, cv=2, random_state=0).fit(X, y)
    assert "ValueError: no" in str(search.report())
    assert search.report(tmp_path / "page.html", full=True)
    assert len(search.to_frame()) == 8


class NoPredictions(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        return self


@pytest.mark.filterwarnings("ignore:Scoring failed", "ignore:One or more of the test scores")
def test_a_model_without_predictions_is_a_failed_candidate():
    models = [("mute", NoPredictions()), ("tree", DecisionTreeClassifier(random_state=0))]
    X, y = make_classification(90, random_state=0)
    search = SearchCV(models, {"mute": {}, "tree": {"max_depth": [None, 3]}}, n_iter=3, cv=3).fit(
        X, y
    )
    assert search.best_params_["model"] == "tree"
    assert "untuned mute" not in str(search.report())
    assert "2. mute: no score" in str(search.report())
