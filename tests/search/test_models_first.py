"""A list of models: each is tried with its own values first, in the order of the list."""

import itertools
import re
import warnings

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sksearch import (
    HyperbandSearchCV,
    RandomSearchCV,
    SearchCV,
    When,
    default_models,
    report,
    tune,
)
from sksearch.estimators import OneOf
from sksearch.model_selection import GridSearchCV, HalvingGridSearchCV

X, Y = make_classification(60, 6, n_informative=4, n_classes=3, random_state=0)
COMMON = {
    type(model).__name__: model
    for model in (
        DecisionTreeClassifier(), RandomForestClassifier(4), ExtraTreesClassifier(4),
        GradientBoostingClassifier(n_estimators=4), HistGradientBoostingClassifier(max_iter=4),
        AdaBoostClassifier(n_estimators=4), SVC(), LinearSVC(), LogisticRegression(),
        RidgeClassifier(), SGDClassifier(), KNeighborsClassifier(), GaussianNB(),
        MLPClassifier(), LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis(),
    )
}  # fmt: skip
CASES = [("tree", DecisionTreeClassifier(random_state=0)), ("linear", LogisticRegression())]
ARGS = {"n_iter": 5, "cv": 3, "random_state": 0}


def asked(models, n, space=None):
    """The first candidates of a search, which is not run."""
    search = SearchCV(models, space, **ARGS)
    setup = search._prepare(X, Y, {}, np.random.RandomState(0))
    assert setup.problem.has_baseline
    return list(setup.problem.initial_params[:n])


def is_own(params, name, model):
    """Whether a candidate is a model with its own values, but for those without a choice."""
    values = model.get_params()
    own = {key.removeprefix(f"{name}__"): value for key, value in params.items()}
    assert own.pop("model") == name
    for fixed in ("early_stopping", "solver"):  # of default spaces, for one model, too
        own.pop(fixed, None)
    return all(values[key] is value or values[key] == value for key, value in own.items())


@pytest.mark.parametrize("first", COMMON)
def test_the_first_candidates_of_ordered_pairs_are_the_models_own_values(first):
    names = [*COMMON]
    for distance in (1, 6, 11):
        second = names[(names.index(first) + distance) % len(names)]
        one, two = asked([("a", COMMON[first]), ("b", COMMON[second])], 2)
        assert is_own(one, "a", COMMON[first]), second
        assert is_own(two, "b", COMMON[second]), second


@pytest.mark.parametrize("seed", range(5))
def test_so_it_is_for_longer_lists(seed):
    rng = np.random.default_rng(seed)
    names = rng.permutation(list(COMMON))[:7].tolist()
    models = [(name.lower(), COMMON[name]) for name in names]
    for (name, model), params in zip(models, asked(models, 7), strict=True):
        assert is_own(params, name, model)


@pytest.mark.parametrize("order", list(itertools.permutations(range(4)))[::5])
def test_and_for_the_default_models(order):
    found = default_models(X, Y)
    models = [found[i] for i in order]
    for (name, model), params in zip(models, asked(models, 4), strict=True):
        values = OneOf([(name, model)]).get_params() | {"model": name}
        assert params == {key: values[key] for key in params}


def test_own_values_are_evaluated_first_and_the_untuned_model_is_the_first():
    search = SearchCV(CASES, **ARGS).fit(X, Y)
    first, second = search.cv_results_["params"][:2]
    assert is_own(first, *CASES[0])
    assert is_own(second, *CASES[1])
    assert "each starting with its own values" in str(search.plan_)
    said = str(report(search))
    assert re.search("the untuned tree", said)
    untuned = search.cv_results_["mean_test_score"][0]
    assert f"{untuned:.3f}" in said


def test_tune_compares_with_the_first_model(capsys):
    tuned = tune([CASES[0][1], CASES[1][1]], X, Y, timeout=1, cv=3, random_state=0)
    assert tuned.history_.problem.has_baseline
    assert tuned.cv_results_["params"][0]["model"] == "decisiontreeclassifier"
    assert "untuned decisiontreeclassifier" in capsys.readouterr().out


def test_it_resumes_with_models_outside_of_their_spaces(tmp_path):
    models = [CASES[1], CASES[0], ("forest", RandomForestClassifier(4, random_state=0))]
    search = SearchCV(models, **ARGS, checkpoint_dir=tmp_path).fit(X, Y)
    again = SearchCV(models, **ARGS, checkpoint_dir=tmp_path).fit(X, Y)
    assert again.cv_results_["params"] == search.cv_results_["params"]
    assert search.cv_results_["params"][2]["forest__max_features"] == "sqrt"


def test_with_rungs_and_for_regression():
    Xr, yr = make_regression(60, 4, random_state=0)
    models = [("tree", DecisionTreeRegressor(random_state=0)), ("ridge", Ridge()),
              ("forest", RandomForestRegressor(4, random_state=0))]  # fmt: skip
    search = HyperbandSearchCV(models, resource="n_samples", min_resources=20, random_state=0)
    first = [trial.params for trial in search.fit(Xr, yr).history_.trials[:3]]
    for params, pair in zip(first, models, strict=True):
        assert is_own(params, *pair)


# ---- spaces of a list


def models_of(search):
    return {params["model"] for params in search.cv_results_["params"]}


FLAT = {
    "one parameter of the first": {"tree__max_depth": [1, 2]},
    "one parameter of the second": {"linear__C": [0.1, 1.0]},
    "parameters of both": {"tree__max_depth": [1, 2, 3], "linear__C": [0.1, 1.0, 3.0]},
    "a list of dicts": [{"tree__max_depth": [1, 2]}, {"linear__C": [0.1]}, {"linear__C": [9.0]}],
    "by model": {"linear": {"C": [0.1, 1.0]}},
    "a model in place of another": {"tree": [DecisionTreeClassifier(max_depth=1)]},
}


@pytest.mark.few(5)
@pytest.mark.parametrize("name", FLAT)
@pytest.mark.parametrize("kind", [SearchCV, RandomSearchCV])
def test_a_flat_space_is_for_the_models_that_it_names_and_drops_none(kind, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # there may be fewer candidates
        search = kind(CASES, FLAT[name], **ARGS | {"n_iter": 8}).fit(X, Y)
    assert models_of(search) == {"tree", "linear"}
    for params in search.cv_results_["params"]:
        others = {"tree", "linear"} - {params["model"]}
        assert not any(key.partition("__")[0] in others for key in params)


@pytest.mark.parametrize("kind", [GridSearchCV, HalvingGridSearchCV])
@pytest.mark.parametrize("name", FLAT)
def test_a_grid_tries_the_other_models_as_they_are(kind, name):
    args = {"min_resources": 60} if kind is HalvingGridSearchCV else {}
    search = kind(CASES, FLAT[name], cv=3, **args).fit(X, Y)
    assert models_of(search) == {"tree", "linear"}


def test_a_space_that_names_the_model_is_as_it_is():
    search = SearchCV(CASES, {"model": ["linear"], "linear__C": [0.1, 1.0]}, cv=3).fit(X, Y)
    assert models_of(search) == {"linear"}


def test_conditions_of_a_model_are_on_its_own_parameters():
    space = {
        "svm": {"kernel": ["rbf", "linear"], "gamma": When([0.1, 1.0], "kernel", "==", "rbf")}
    }
    search = SearchCV([*CASES, ("svm", SVC())], space, **ARGS).fit(X, Y)
    of_svm = [p for p in search.cv_results_["params"] if p["model"] == "svm"]
    assert search.cv_results_["params"][2]["svm__kernel"] == "rbf"  # as near as the space allows
    assert all(("svm__gamma" in p) == (p["svm__kernel"] == "rbf") for p in of_svm)


def test_an_unknown_parameter_is_refused():
    for space in ({"tree__depth": [1]}, {"max_depth": [1]}):
        with pytest.raises(ValueError, match="Invalid parameter"):
            SearchCV(CASES, space, **ARGS).fit(X, Y)


# ---- names


@pytest.mark.parametrize("name", ["a_", "_", "a__b", "model", "models", "named", "__"])
def test_a_name_that_cannot_be_read_is_refused_before_anything_is_trained(name):
    with pytest.raises(ValueError, match=f"'{name}' cannot be the name of a model"):
        SearchCV([(name, SVC()), ("b", LogisticRegression())], **ARGS).fit(X, Y)


@pytest.mark.few(7)
@pytest.mark.parametrize(
    "name",
    [
        "a b",
        "c.d",
        "é",
        "1",
        'a"b',
        "a'b",
        "a\nb",
        "(dict)",
        "None",
        "_a",
        "a=b",
        "steps",
        "fit",
        "nan",
    ],
)
def test_any_other_name_will_do(name, tmp_path):
    models = [(name, LogisticRegression()), ("b", SVC())]
    for _ in range(2):
        search = SearchCV(models, n_iter=2, cv=2, checkpoint_dir=tmp_path).fit(X, Y)
        assert models_of(search) == {name, "b"}
        assert str(report(search))


class Model(LogisticRegression):
    """A class of this name is common."""


class My__Net_(SVC):  # noqa: N801  # as others write
    """A class whose name could not be that of a model."""


def test_names_of_classes_are_made_such_that_they_can_be_read():
    models = [
        Model(), My__Net_(), ("svc-1", SVC()), SVC(), SVC(), ("ridge", SVC()), RidgeClassifier(),
        ("gaussiannb", GaussianNB()), GaussianNB(),
    ]  # fmt: skip
    names = [name for name, _ in OneOf(models).named]
    assert names == [
        "model-1", "my_net", "svc-1", "svc-2", "svc-3", "ridge", "ridgeclassifier", "gaussiannb",
        "gaussiannb-1",
    ]  # fmt: skip
    search = SearchCV([Model(), My__Net_()], **ARGS).fit(X, Y)
    assert models_of(search) == {"model-1", "my_net"}


# ---- scorers


def coefficients(estimator, X, y):
    return float(np.mean(estimator.predict(X) == y)) + 0 * np.sum(estimator.coef_)


def last_step(estimator, X, y):
    return float(np.mean(estimator.predict(X) == y)) + 0 * np.sum(estimator[-1].coef_)


def of_class(estimator, X, y):
    assert type(estimator) in (LogisticRegression, RidgeClassifier)
    return float(np.mean(estimator.predict(X) == y))


def metrics(estimator, X, y):
    return {"a": coefficients(estimator, X, y), "b": float(np.sum(estimator.coef_ != 0))}


def parameters(estimator, X, y):
    assert "model" not in estimator.get_params()
    return float(np.mean(estimator.predict(X) == y))


LINEAR = [("a", LogisticRegression()), ("b", RidgeClassifier())]
PIPES = [("a", make_pipeline(StandardScaler(), LogisticRegression())),
         ("b", make_pipeline(StandardScaler(), RidgeClassifier()))]  # fmt: skip
SCORERS = {
    "attributes": (LINEAR, coefficients),
    "the class": (LINEAR, of_class),
    "the last step": (PIPES, last_step),
    "the parameters": (LINEAR, parameters),
}


@pytest.mark.few(5)
@pytest.mark.parametrize("name", SCORERS)
@pytest.mark.parametrize("kind", [SearchCV, RandomSearchCV, HyperbandSearchCV])
def test_a_scorer_gets_the_model_that_would_be_the_best_estimator(kind, name):
    models, scorer = SCORERS[name]
    rungs = {"resource": "n_samples", "min_resources": 30}
    args = rungs if kind is HyperbandSearchCV else {"n_iter": 4}
    search = kind(models, scoring=scorer, cv=3, random_state=0, **args).fit(X, Y)
    assert set(search.statuses_) == {"ok"}
    assert np.isfinite(search.best_score_)


def test_so_it_does_with_several_metrics_and_a_count_of_iterations():
    search = SearchCV(LINEAR, scoring=metrics, refit="a", n_iter=4, cv=3, random_state=0)
    assert set(search.fit(X, Y).statuses_) == {"ok"}
    boosting = [("g", GradientBoostingClassifier(n_estimators=4)), LINEAR[0]]

    def by_trees(estimator, X, y):
        return float(np.mean(estimator.predict(X) == y)) + 0 * len(vars(estimator)["classes_"])

    search = SearchCV(boosting, scoring=by_trees, n_iter=3, cv=3, random_state=0).fit(X, Y)
    assert set(search.statuses_) == {"ok"}


def test_scores_match_the_plain_models():
    for pair in LINEAR:
        alone = GridSearchCV(pair[1], {"C" if pair[0] == "a" else "alpha": [1.0]}, cv=3)
        both = GridSearchCV(LINEAR, {}, cv=3).fit(X, Y)
        row = [p["model"] for p in both.cv_results_["params"]].index(pair[0])
        assert both.cv_results_["mean_test_score"][row] == alone.fit(X, Y).best_score_
