"""Mistakes of a newcomer: none is silent, and each message names the cause and the cure."""

import re
import warnings
from uuid import uuid4

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import loguniform, randint, uniform
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris, make_regression
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.metrics import (
    accuracy_score,
    log_loss,
    make_scorer,
    mean_squared_error,
    zero_one_loss,
)
from sklearn.model_selection import GridSearchCV as TheirGridSearchCV, GroupKFold, KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR

from sksearch import (
    HyperbandSearchCV,
    RandomSearchCV,
    SearchCV,
    default_models,
    load_history,
    minimize,
    report,
    tune,
)
from sksearch.model_selection import GridSearchCV
from sksearch.samplers import TPESampler
from sksearch.schedulers import Hyperband

X, Y = load_iris(return_X_y=True)
X_NUMBERS, Y_NUMBERS = make_regression(60, 4, random_state=0)
TEXTS = pd.DataFrame({"city": ["a", "b", "c"] * 50, "n": range(150)})
WITH_GAPS = np.where(X > 6, np.nan, X)
SPACE = {"C": [1.0, 2.0]}
PIPE = make_pipeline(StandardScaler(), SVC())
NAMESAKE = GridSearchCV
GRID = GridSearchCV(SVC(), {"C": [1]}, cv=2)
ENCODER = OneHotEncoder(handle_unknown="ignore")
FRAME = pd.DataFrame(X, columns=list("abcd"))
FOUR = make_pipeline(
    FunctionTransformer(lambda X: np.asarray(X)[:, :4].astype(float)), GaussianNB()
)
SMOOTH = {"gaussiannb__var_smoothing": [1e-9, 1e-8]}
LINE = {"x": uniform(0, 1)}


def fit(estimator=None, space=SPACE, data=(X, Y), fit_params=None, **params):
    """Fit a small search."""
    params = {"n_iter": 2, "cv": 3} | params
    search = RandomSearchCV(SVC() if estimator is None else estimator, space, **params)
    return search.fit(*data, **(fit_params or {}))


def hyperband(estimator=None, **params):
    """Fit a small Hyperband over epochs."""
    estimator = SGDClassifier() if estimator is None else estimator
    params = {"resource": "epochs", "cv": 3} | params
    return HyperbandSearchCV(estimator, {"alpha": [1e-4, 1e-3]}, **params).fit(X, Y)


class Skopt:
    """Stands for a dimension of scikit-optimize, which need not be installed."""

    __module__ = "skopt.space.space"

    def rvs(self, n_samples=1, random_state=None):
        return [0.5]


MISTAKES = {
    # names that other libraries have
    "n_trials": (lambda: fit(n_trials=20), "n_trials.*write n_iter"),
    "n_calls": (lambda: fit(n_calls=20), "n_calls.*write n_iter"),
    "param_grid": (lambda: RandomSearchCV(SVC(), param_grid=SPACE), "write param_distributions"),
    "search_spaces": (lambda: fit(search_spaces=SPACE), "write param_distributions"),
    "time_budget": (lambda: fit(time_budget=60), "write timeout"),
    "cv_folds": (lambda: fit(cv_folds=5), "write cv"),
    "a typo": (lambda: fit(n_job=2), "n_job: did you mean n_jobs"),
    "model": (lambda: SearchCV(model=SVC()), "write estimator"),
    "callbacks": (lambda: fit(callbacks=[print]), "set_callbacks"),
    "direction": (lambda: fit(direction="minimize"), "scores are maximized.*neg_"),
    "fit_params": (lambda: RandomSearchCV(SVC(), SPACE, fit_params={}), r"pass them to fit"),
    "a count for Hyperband": (lambda: hyperband(n_iter=9), "follows from the resources.*timeout"),
    "a third argument": (lambda: RandomSearchCV(SVC(), SPACE, 20), "by name, as in n_iter="),
    "the data first": (lambda: RandomSearchCV(SVC(), SPACE, X, Y), "by name"),
    # estimators
    "a class": (lambda: fit(SVC), r"pass an instance, SVC\(\)"),
    "a list of estimators": (lambda: fit([SVC(), GaussianNB()]), "Did you mean 'svc__C'"),
    "a name": (lambda: fit("svc"), "estimator.*implementing 'fit'.*'svc'"),
    "swapped": (lambda: RandomSearchCV(SPACE, SVC()).fit(X, Y), "their param_distributions"),
    # spaces
    "a range as a tuple": (lambda: fit(space={"C": (0.1, 10.0)}), r"two choices.*uniform\(0.1, 9"),
    "integers as a tuple": (
        lambda: fit(KNeighborsClassifier(), {"n_neighbors": (1, 20)}), r"randint\(1, 21\)",
    ),
    "skopt's tuple": (lambda: fit(space={"C": (0.1, 10, "log-uniform")}), r"loguniform\(0.1, 10"),
    "skopt's dimension": (lambda: fit(space={"C": Skopt()}), "from_skopt"),
    "the name of a distribution": (
        lambda: fit(space={"C": "loguniform"}), r"scipy.stats.loguniform\(low, high\)",
    ),
    "a distribution without numbers": (lambda: fit(space={"C": loguniform}), "a frozen distr"),
    "a single value": (lambda: fit(space={"kernel": "rbf"}), r"wrap it in a list: \['rbf'\]"),
    "numbers as texts": (lambda: fit(space={"C": ["1", "10"]}), "must be a float.*Got '1'"),
    "floats for a count": (
        lambda: fit(RandomForestClassifier(), {"n_estimators": uniform(5, 20)}),
        r"pass scipy.stats.randint\(5, 26\)",
    ),
    "low and high for uniform": (
        lambda: fit(GradientBoostingClassifier(n_estimators=2), {"subsample": uniform(0.5, 1)},
                    n_iter=8, random_state=0),
        r"takes \(loc, scale\), so write uniform\(0.5, 0.5\)",
    ),
    "zero on a log scale": (lambda: fit(space={"C": loguniform(0, 1)}), "0 < low for a log"),
    "huge integers": (lambda: fit(space={"C": randint(0, 2**70)}), "C.*smaller range"),
    "a misspelt parameter": (lambda: fit(space={"gama": [1, 2]}), "Did you mean 'gamma'"),
    "the name in a pipeline": (lambda: fit(PIPE, SPACE), "Did you mean 'svc__C'"),
    "one underscore": (lambda: fit(PIPE, {"svc_C": [1, 2]}), "Did you mean 'svc__C'"),
    "names alone": (lambda: fit(space=["C", "gamma"]), "every item of the list must be a dict"),
    "a space of none": (lambda: fit(space=[]), "empty.*needs a dict"),
    # counts and times
    "no candidates": (lambda: fit(n_iter=0), r"n_iter.*\[1, inf\).*Got 0"),
    "a count as a text": (lambda: fit(n_iter="10"), "n_iter.*must be an int.*'10'"),
    "seconds as a text": (lambda: fit(timeout="60s"), "timeout.*must be a float.*'60s'"),
    "no workers": (lambda: fit(n_jobs=0), "n_jobs=0.*pass None or 1"),
    "gigabytes": (lambda: fit(workers={"memory": 4}), r"number of bytes.*2\*\*30"),
    # folds
    "a single fold": (lambda: fit(cv=1), r"cv.*\[2, inf\).*Got 1"),
    "more folds than rows": (lambda: fit(cv=200), "n_splits=200 greater.*n_samples=150"),
    "a class of folds": (lambda: fit(cv=KFold), r"pass an instance, KFold\(\)"),
    "no groups": (lambda: fit(cv=GroupKFold(3)), r"fit\(X, y, groups=...\)"),
    # metrics
    "a misspelt metric": (lambda: fit(scoring="acuracy"), "did you mean 'accuracy'"),
    "a short name": (lambda: fit(scoring="mse"), "did you mean 'neg_mean_squared_error'"),
    "a bare metric": (lambda: fit(scoring=accuracy_score), r"make_scorer\(accuracy_score\)"),
    "numbers' metric for classes": (lambda: fit(scoring="r2"), "classes: pass .* 'accuracy'"),
    "classes' metric for numbers": (
        lambda: fit(SVR(), data=(X_NUMBERS, Y_NUMBERS), scoring="accuracy"), "such as 'r2'",
    ),
    "two classes' metric for three": (lambda: fit(scoring="f1"), "pass 'f1_macro'"),
    "a scorer without return": (lambda: fit(scoring=lambda e, X, y: None), "end with return"),
    "several metrics": (lambda: fit(scoring=["accuracy", "f1_macro"]), "refit must be set"),
    "a metric to refit by": (lambda: fit(refit="f1_macro"), "pass scoring='f1_macro'"),
    # data
    "no y": (lambda: fit(data=(X,)), "requires y"),
    "y is shorter": (lambda: fit(data=(X, Y[:99])), r"inconsistent.*\[150, 99\]"),
    "numbers for classes": (
        lambda: fit(data=(X_NUMBERS, Y_NUMBERS)), "Pass class labels, or search over a regressor",
    ),
    "texts for numbers": (
        lambda: fit(SVR(), data=(X, np.array(["a", "b", "c"] * 50))), "search over a classifier",
    ),
    "columns of text": (
        lambda: fit(LogisticRegression(), data=(TEXTS, Y)), "could not convert string|ncode",
    ),
    "gaps": (lambda: fit(data=(WITH_GAPS, Y)), "NaN.*(HistGradientBoosting|imput)"),
    "sparse data": (
        lambda: fit(GaussianNB(), {"var_smoothing": [1e-9]}, (sparse.csr_matrix(X), Y), n_iter=1),
        "dense data is required|toarray",
    ),
    "a file's name": (lambda: fit(data=("iris.csv", Y)), "has no rows: pass an array"),
    "weights of other rows": (
        lambda: fit(fit_params={"sample_weight": np.ones(3)}), "one weight for each row",
    ),
    # resources
    "a misspelt resource": (lambda: hyperband(resource="epoch"), "Did you mean 'epochs'"),
    "rows by another name": (lambda: hyperband(resource="samples"), "Did you mean 'n_samples'"),
    "a resource that it has not": (
        lambda: HyperbandSearchCV(SVC(), SPACE, resource="epochs").fit(X, Y), "needs.*partial_fit",
    ),
    "most below least": (
        lambda: hyperband(min_resources=9, max_resources=3), "lower min_resources",
    ),
    # what is known, and what is asked for
    "a file of results": (lambda: fit(known={"results": "x.pkl"}), "results.*='x.pkl'.*load"),
    "a guess outside": (lambda: fit(known={"params": {"C": 7}}), "'C' to 7: it must be one of"),
    "a sampler's class": (
        lambda: SearchCV(SVC(), SPACE, sampler=TPESampler).fit(X, Y), "sampler.*pass an instance",
    ),
    "predict before fit": (lambda: RandomSearchCV(SVC(), SPACE).predict(X), "Call 'fit'"),
    "report before fit": (lambda: report(RandomSearchCV(SVC(), SPACE)), "call fit first"),
    "report of a model": (lambda: report(SVC()), "pass a fitted search"),
    "data before the model": (lambda: tune(X, Y, SVC(), timeout=1), "estimator"),
    "space before the function": (
        lambda: minimize({"x": uniform(0, 1)}, abs, n_iter=3), "must be callable",
    ),
    "a trial of Optuna": (
        lambda: minimize(lambda trial: trial.suggest_float("x", 0, 1), LINE, n_iter=3),
        r"no attribute 'suggest_float'. func must accept a dict of .* params\['x'\]",
    ),
    "the entries as arguments": (
        lambda: minimize(lambda x, y: x + y, LINE, n_iter=3), r"lambda params: func\(\*\*params\)",
    ),
    "another name for a count of calls": (
        lambda: minimize(abs, LINE, max_evals=9), "has no parameter max_evals: write n_iter",
    ),
    "bounds": (lambda: minimize(abs, bounds=[(0, 1)]), "bounds: write space"),
    "maximise": (lambda: minimize(abs, LINE, mode="max"), "return the negative of a value"),
    "bounds alone": (
        lambda: minimize(abs, [(0.0, 1.0)], n_iter=3), r"such as {'C': scipy.stats.uniform",
    ),
    # more of each kind
    "a task": (lambda: fit(task="classification"), "leave it out"),
    "generations": (lambda: fit(generations=5), "write n_iter"),
    "a sampler by its name": (
        lambda: SearchCV(SVC(), SPACE, sampler="tpe").fit(X, Y),
        r"such as sksearch.samplers.TPESampler\(\)",
    ),
    "a class of schedulers": (
        lambda: SearchCV(SVC(), SPACE, scheduler=Hyperband).fit(X, Y),
        r"scheduler=Hyperband is not a Scheduler: pass an instance",
    ),
    "a pipeline of classes": (
        lambda: fit(Pipeline([("svc", SVC)]), {"svc__C": [1]}),
        r"step 'svc' is the class SVC: pass an instance, SVC\(\)",
    ),
    "a set": (lambda: fit(space={"C": {1, 2}}), r"A set has no order.*sorted"),
    "a function": (lambda: fit(space={"C": np.linspace}), "call it, and pass its result"),
    "a dict in a dict": (lambda: fit(PIPE, {"svc": SPACE}), "write its full name, .* 'svc__C'"),
    "a seed": (
        lambda: fit(RandomForestClassifier(2), {"random_state": randint(0, 9)}), "luckiest one",
    ),
    "an error to be large": (
        lambda: fit(SVR(), scoring=make_scorer(mean_squared_error)), "greater_is_better=False",
    ),
    "an error among several": (
        lambda: fit(SVR(), scoring={"a": make_scorer(mean_squared_error)}, refit="a"),
        "greater_is_better=False",
    ),
    "percent": (lambda: fit(stop={"score": 95}), r"the score is at most 1. Pass a value.*0\.95"),
    "an error to reach": (
        lambda: fit(SVR(), scoring="neg_mean_absolute_error", stop={"score": 40.0}), r"Pass -40\.",
    ),
    "classes in order": (lambda: fit(cv=KFold(3)), r"fold 0 tests only classes.*shuffle=True"),
    "no test rows": (
        lambda: fit(cv=[(np.arange(150), np.arange(150))]), "150 rows that it also trains",
    ),
    "the name of the groups": (
        lambda: fit(cv=GroupKFold(3), fit_params={"groups": "a"}), r"pass the column, X\['a'\]",
    ),
    "a dict of columns": (lambda: fit(data=({"a": X[:, 0]}, Y)), r"pandas.DataFrame\(X\)"),
    "columns of one name": (
        lambda: fit(data=(pd.concat([TEXTS[["n"]], TEXTS[["n"]]], axis=1), Y)),
        r"several columns named 'n'.*columns\.duplicated",
    ),
    "a column without values": (
        lambda: fit(
            HistGradientBoostingClassifier(max_iter=2), {"max_depth": [1, 2]},
            data=(TEXTS[["n"]].assign(z=np.nan), Y),
        ),
        "column 'z' of X: all values are missing",
    ),
    "rows in another order": (
        lambda: fit(data=(TEXTS[["n"]][::-1], pd.Series(Y))), r"pass y\.loc\[X\.index\]",
    ),
    "a distribution in a list": (
        lambda: fit(space={"C": [loguniform(0.1, 1)]}), "itself, not in a list",
    ),
    "a function without a resource": (
        lambda: minimize(abs, LINE, max_resources=9), "leave max_resources out",
    ),
    "groups for tune": (
        lambda: tune(SVC(), X, Y, groups=Y), r"pass fit_params={'groups': \.\.\.}",
    ),
    "spans of time": (
        lambda: fit(data=(TEXTS.assign(city=pd.Timedelta("1D")), Y)), r"\.dt\.total_seconds\(\)",
    ),
    "more neighbours than rows": (
        lambda: fit(KNeighborsClassifier(), {"n_neighbors": [500, 600]}),
        r"No candidate has a finite score.*Expected n_neighbors <= n_samples_fit",
    ),
    "the target among the columns": (
        lambda: fit(SVR(), data=(np.column_stack([X_NUMBERS, Y_NUMBERS]), Y_NUMBERS)),
        "Column 4 of X is y itself.*leave it out of X",
    ),
    "the target in the table": (
        lambda: fit(
            HistGradientBoostingClassifier(max_iter=2), {"max_depth": [1, 2]},
            data=(TEXTS[["n"]].assign(species=Y), pd.Series(Y)),
        ),
        "Column 'species' of X is y itself",
    ),
    "a constant target": (
        lambda: fit(SVR(), data=(X, np.full(len(X), 2.0))), r"y is 2\.0 in each row.*same score",
    ),
    "an unknown class": (lambda: SearchCV(Unknown(), n_iter=2).fit(X, Y), "register_space"),
    "another name of a step": (lambda: fit(PIPE, {"lr__C": [1, 2]}), "Did you mean 'svc__C'"),
    "a step that is not there": (lambda: fit(space={"lr__C": [1, 2]}), "Did you mean 'C'"),
    "a step of no model": (
        lambda: SearchCV([SVC(), LogisticRegression()], {"lr__C": [1]}, n_iter=2).fit(X, Y),
        "'svc__C' or 'logisticregression__C'",
    ),
    "a result before fit": (lambda: SearchCV(SVC()).best_params_, r"best_params_': call fit"),
    "a table before fit": (lambda: NAMESAKE(SVC(), {}).cv_results_, r"cv_results_': call fit"),
    "a history before fit": (lambda: SearchCV(SVC()).history_, r"history_': call fit"),
    "the best by Optuna's name": (lambda: GRID.fit(X, Y).best_value, "write best_score_"),
    "the best by FLAML's name": (lambda: GRID.fit(X, Y).best_config, "write best_params_"),
    "AutoGluon's table": (lambda: GRID.fit(X, Y).leaderboard_, r"write leaderboard\(\)"),
    "a result without its underscore": (
        lambda: GRID.fit(X, Y).best_params, "did you mean best_params_",
    ),
    "a front of one metric": (lambda: GRID.fit(X, Y).pareto_, "pass objectives="),
    "an average that nobody asked for": (lambda: GRID.fit(X, Y).ensemble_, "pass ensemble=True"),
    "the columns of y": (
        lambda: fit(data=(FRAME, ["d"])), r"fit\(X.drop\(columns=\['d'\]\), X\[\['d'\]\]\)",
    ),
    "the score of a function's choice": (
        lambda: NAMESAKE(SVC(), {"C": [1]}, cv=2, refit=lambda r: 0).fit(X, Y).best_score_,
        "refit is a function.*best_index_",
    ),
    "weights by a short name": (
        lambda: fit(fit_params={"weights": Y}), "did you mean sample_weight",
    ),
    "one group": (lambda: fit(fit_params={"group": Y}), "did you mean groups"),
    "numbers for classes, by scikit-learn's name": (
        lambda: GRID.fit(X_NUMBERS, Y_NUMBERS), "Pass class labels, or search over a regressor",
    ),
    "no y, by scikit-learn's name": (lambda: GRID.fit(X), "^SVC requires y to be passed"),
    "y before X": (lambda: fit(data=(Y, X), cv=KFold(3)), r"swapped: write fit\(X, y\)"),
    "a search for load_history": (lambda: load_history(GRID), "pass the checkpoint_dir"),
    "bounds for the space": (
        lambda: minimize(abs, [0.0, 1.0], n_iter=3), "^space contains 0.0: every item",
    ),
    "the model after the data": (lambda: tune(X, Y, SVC()), r"call tune\(estimator, X, y\)"),
    "a shell's variable": (lambda: fit(checkpoint_dir="$HOME/run"), r"expandvars"),
    "a disk of Windows": (lambda: fit(checkpoint_dir="C:\\runs"), "is a Windows path"),
    "another machine": (lambda: fit(checkpoint_dir="me@host:/runs"), "is a URL"),
    "predict without a model": (
        lambda: NAMESAKE(SVC(), {"C": [1]}, cv=2, refit=False).fit(X, Y).predict(X),
        "has no attribute 'predict': refit=False.*pass refit=True",
    ),
    "a model that is not refitted": (
        lambda: NAMESAKE(SVC(), {"C": [1]}, cv=2, refit=False).fit(X, Y).best_estimator_,
        "pass refit=True",
    ),
    "the best by several metrics": (
        lambda: NAMESAKE(
            SVC(), {"C": [1]}, cv=2, refit=False, scoring=["accuracy", "f1_macro"]
        ).fit(X, Y).best_params_,
        "refit='a metric'",
    ),
    "models for targets that are tables": (
        lambda: default_models(X, np.stack([np.eye(2)[Y % 2]] * 2, axis=1)),
        "one or several targets",
    ),
    "a class for each row": (
        lambda: fit(cv=5, data=(X, np.arange(len(Y)))), r"y has \d+ classes in \d+ rows",
    ),
    "rows that are dicts": (
        lambda: fit(data=([{"a": float(row[0])} for row in X], Y)), r"pandas\.DataFrame\(X\)",
    ),
    "a tuple of dicts": (
        lambda: SearchCV(SVC(), n_iter=2).fit(tuple({"a": 1} for _ in X), Y), "DictVectorizer",
    ),
    "IDs of text": (
        lambda: fit(FOUR, SMOOTH, data=(FRAME.assign(who=[f"u{i}" for i in range(150)]), Y)),
        "Column 'who' of X has a different value in each of the 150 rows.*leave it out",
    ),
    "IDs of numbers": (
        lambda: fit(FOUR, SMOOTH, data=(FRAME.assign(user_id=range(7, 157)), Y)),
        "Column 'user_id' of X has a different value",
    ),
    "IDs that are categories": (
        lambda: fit(FOUR, SMOOTH, data=(
            FRAME.assign(key=pd.Categorical([f"u{i}" for i in range(150)])), Y)),
        "Column 'key' of X has a different value",
    ),
    "IDs in an array": (
        lambda: fit(FOUR, SMOOTH, data=(
            np.column_stack([X.astype(object), [uuid4() for _ in X]]), Y)),
        "Column 4 of X has a different value",
    ),
    "IDs of digits": (
        lambda: fit(FOUR, SMOOTH, data=(FRAME.assign(zip=[f"{i:05}" for i in range(150)]), Y)),
        "Column 'zip' of X has a different value",
    ),
    "IDs that a step takes": (
        lambda: fit(
            make_pipeline(ColumnTransformer([("all", ENCODER, ["who"])]), SVC()),
            {"svc__C": [1, 2]}, data=(FRAME.assign(who=[f"u{i}" for i in range(150)]), Y),
        ),
        "Column 'who' of X has a different value",
    ),
}  # fmt: skip


class Unknown(ClassifierMixin, BaseEstimator):
    """Of a library that is not known."""

    def __init__(self, rate=1):
        self.rate = rate

    def fit(self, X, y):
        """Learn nothing."""
        return self

    def predict(self, X):
        """Predict one class."""
        return np.zeros(len(X), int)


def told(mistake):
    """What a mistake raises or warns of, "" if nothing."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            mistake()
        except (Exception, SystemExit) as error:
            return str(error)
    return "\n".join(str(each.message) for each in caught)


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_named_with_its_cure(name):
    mistake, cure = MISTAKES[name]
    assert re.search(cure, told(mistake), flags=re.DOTALL)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "search",
    [
        RandomSearchCV(SVR(), SPACE, scoring="neg_mean_absolute_error", stop={"score": -0.4}),
        RandomSearchCV(SVC(), SPACE, scoring="accuracy", stop={"score": 1.0}),
        RandomSearchCV(
            SVR(), SPACE, scoring={"a": make_scorer(mean_squared_error), "r2": "r2"}, refit="r2"
        ),
        RandomSearchCV(SVC(), SPACE, cv=KFold(3, shuffle=True)),
        RandomSearchCV(SVR(), SPACE, cv=KFold(3)),
    ],
    ids=repr,
)
def test_what_looks_like_a_mistake_and_is_none_is_allowed(search):
    search.set_params(n_iter=2, random_state=0).fit(X, Y)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "data",
    [
        (np.column_stack([X, Y != 0]), Y),
        (np.arange(10.0)[:, None], np.arange(10.0)),  # so few rows are a toy
        (pd.DataFrame({"n": X[:, 0], "day": range(150)}), Y),
        (sparse.csr_array(X), Y),
        (X, np.where(np.arange(150) == 149, 1.0, 0.0)),
    ],
    ids=["nearly the target", "few rows", "a counter", "sparse", "nearly constant"],
)
def test_data_that_only_look_wrong_are_allowed(data):
    fit(SVR(), data=data, cv=KFold(2), scoring="neg_mean_absolute_error")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "column",
    [
        [f"Mrs. {i} Smith" for i in range(150)],
        [f"{i / 7:.3f}" for i in range(150)],
        [f"u{i // 2}" for i in range(150)],
        pd.date_range("2020-01-01", periods=150),
        np.linspace(0, 1, 150),
        [np.arange(i) for i in range(150)],
    ],
    ids=["names", "measurements", "pairs", "days", "numbers", "arrays"],
)
def test_columns_that_are_no_ids_are_not_warned_of(column):
    fit(FOUR, SMOOTH, data=(FRAME.assign(own=column), Y))


@pytest.mark.filterwarnings("error")
def test_an_id_that_no_step_takes_is_not_warned_of():
    data = FRAME.assign(who=[f"u{i}" for i in range(150)])
    model = make_pipeline(ColumnTransformer([("some", "passthrough", ["a", "b"])]), GaussianNB())
    fit(model, SMOOTH, data=(data, Y))


@pytest.mark.parametrize("scoring", [mean_squared_error, log_loss, zero_one_loss])
def test_a_loss_is_searched_as_by_scikit_learn_with_a_warning(scoring):
    scorer = make_scorer(
        scoring, **({"response_method": "predict_proba"} if scoring is log_loss else {})
    )
    args = {"scoring": scorer, "cv": 2}
    with pytest.warns(UserWarning, match="greater_is_better=False"):
        ours = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1.0]}, **args).fit(X, Y)
    theirs = TheirGridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1.0]}, **args).fit(X, Y)
    found, expected = (each.cv_results_["mean_test_score"].tolist() for each in (ours, theirs))
    assert (found, ours.best_index_) == (expected, theirs.best_index_)


def test_there_are_sixty():
    assert len(MISTAKES) >= 60
