"""A finished search is read alike, whoever made it."""

import math

import matplotlib.pyplot as plt
import numpy as np
import optuna
import pandas as pd
import pytest
from scipy.stats import loguniform, uniform
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris
from sklearn.model_selection import RandomizedSearchCV
from sklearn.svm import SVC

from sksearch import Bound, HyperbandSearchCV, RandomSearchCV, load_history, minimize, report
from sksearch.history import History, Problem, Result
from sksearch.plotting import ContourDisplay, HistoryDisplay, ImportanceDisplay, SliceDisplay
from sksearch.plotting._rungs import RungDisplay
from sksearch.plotting._sheet import SearchDisplay
from sksearch.reader._read import read
from sksearch.reporting import _mlflow, best, to_frame
from sksearch.space import Space
from sksearch.stats import importance
from tests.fakes import Curve

X, y = load_iris(return_X_y=True)
SPACE = {"C": loguniform(1e-3, 1e3), "gamma": loguniform(1e-4, 1e1)}


def loss(params):
    return (math.log10(params["C"]) - 1) ** 2 + (math.log10(params["gamma"]) + 2) ** 2


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """The same 15 candidates and scores, in all forms."""
    folder = tmp_path_factory.mktemp("search")
    search = RandomSearchCV(SVC(), SPACE, n_iter=15, random_state=0, checkpoint_dir=folder)
    table = pd.DataFrame(search.fit(X, y).cv_results_)
    plain = pd.DataFrame(search.cv_results_["params"]).assign(score=table["mean_test_score"])
    theirs = RandomizedSearchCV(SVC(), SPACE)
    theirs.cv_results_, theirs.best_index_ = search.cv_results_, search.best_index_
    study = optuna.create_study(direction="maximize")
    for i, params in enumerate(search.cv_results_["params"]):
        found = optuna.distributions.FloatDistribution(1e-4, 1e3)
        study.add_trial(
            optuna.create_trial(
                params=params,
                distributions=dict.fromkeys(params, found),
                value=search.cv_results_["mean_test_score"][i],
            )
        )
    return {
        "ours": search,
        "scikit-learn's": theirs,
        "a history": search.history_,
        "a folder": folder,
        "what load_history returns": load_history(folder),
        "cv_results_": search.cv_results_,
        "a DataFrame": table,
        "a DataFrame of params and scores": plain,
        "to_frame": search.to_frame(),
        "Optuna's": study,
        "what was read": read(search),
    }


NAMES = [
    "ours", "scikit-learn's", "a history", "a folder", "what load_history returns", "cv_results_",
    "a DataFrame", "a DataFrame of params and scores", "to_frame", "Optuna's", "what was read",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_candidates_scores_and_the_winner_match_the_search(sources, name):
    search, found = sources["ours"], read(sources[name])
    assert [row.params for row in found.rows] == search.cv_results_["params"]
    means = search.cv_results_["mean_test_score"]
    np.testing.assert_allclose([row.score for row in found.rows], means)
    assert found.winner.index == found.winner.trial_id == search.best_index_
    assert [trial.params for trial in found.history.trials] == search.cv_results_["params"]
    assert [row.rank for row in found.rows] == search.cv_results_["rank_test_score"].tolist()


@pytest.mark.parametrize("name", NAMES)
def test_tables_and_lists_name_the_winner_first(sources, name):
    search, frame = sources["ours"], to_frame(sources[name])
    assert frame.index.tolist() == search.to_frame().index.tolist()
    np.testing.assert_allclose(frame["score"], search.to_frame()["score"])
    assert best(sources[name], 3) == search.best(3)


@pytest.mark.parametrize("name", NAMES)
def test_pictures_mark_the_winner(sources, name):
    search = sources["ours"]
    ax = HistoryDisplay.from_search(sources[name]).ax_
    (star,) = [line for line in ax.get_lines() if line.get_label() == "winner"]
    assert star.get_xdata() == [search.best_index_ + 1]
    assert star.get_ydata() == pytest.approx([search.best_score_])
    display = SliceDisplay.from_search(sources[name], params=["C"])
    (star,) = [line for line in display.axes_[0].get_lines() if line.get_marker() == "*"]
    at = display.candidates.axes["C"].decode(star.get_xdata())
    assert at == pytest.approx([search.best_params_["C"]])
    plt.close("all")


@pytest.mark.whole
@pytest.mark.parametrize("name", ["a folder", "Optuna's", "a DataFrame of params and scores"])
def test_importance_and_the_sheet_take_any_source(sources, name):
    assert set(importance(sources[name]).names) == {"C", "gamma"}
    kinds = [type(each) for each in SearchDisplay.from_search(sources[name]).displays_]
    assert kinds == [HistoryDisplay, ImportanceDisplay, SliceDisplay, ContourDisplay]
    plt.close("all")


def test_mlflow_has_the_scores_of_a_history(sources):
    found = read(sources["a history"])
    scores = list(_mlflow._metrics(found, [found.winner]))
    assert scores == [("score", pytest.approx(sources["ours"].best_score_), 1)]


def test_rungs_of_a_table_match_its_search():
    search = HyperbandSearchCV(
        Curve(), {"quality": uniform(0, 1)}, resource="epochs", max_resources=9, random_state=0
    ).fit(X, y)
    shown = [RungDisplay.from_search(each) for each in (search, pd.DataFrame(search.cv_results_))]
    known, found = (display.correlations_ for display in shown)
    assert found.keys() == known.keys()
    np.testing.assert_allclose([*found.values()], [*known.values()])
    plt.close("all")


def test_the_winner_of_minimize_is_its_x():
    """With objectives it is the knee of the front, and not the first in one of them."""
    found = minimize(
        lambda p: {"loss": loss(p), "price": p["C"] ** 0.3}, SPACE, n_iter=40,
        objectives=["loss", "price"], random_state=0,
    )  # fmt: skip
    winner = read(found).winner
    assert winner.params == found.x
    assert winner.params != read(found.history).winner.params
    (star,) = [
        line
        for line in HistoryDisplay.from_search(found).ax_.get_lines()
        if line.get_label() == "winner"
    ]
    assert found.history.trials[int(star.get_xdata()[0]) - 1].params == found.x
    plt.close("all")


def test_the_winner_of_a_study_is_its_best_trial():
    """The trial with the best value breaks a constraint."""
    study = optuna.create_study(direction="minimize")
    for x, value, slack in ((0.1, 3.0, -1.0), (0.2, 1.0, 1.0), (0.3, 2.0, -1.0)):
        study.add_trial(
            optuna.create_trial(
                params={"x": x},
                distributions={"x": optuna.distributions.FloatDistribution(0, 1)},
                value=value,
                system_attrs={"constraints": [slack]},
            )
        )
    found = read(study)
    assert found.winner.params == study.best_params == {"x": 0.3}
    assert [row.score for row in found.rows] == [-3.0, -1.0, -2.0]


def test_folds_that_a_history_lacks_are_missing():
    history = History(Problem(Space({"C": [1, 2, 3]}), max_resources=2))
    for C, scores in ((1, (0.5, 0.7)), (2, (0.4,)), (3, ())):
        trial = history.start({"C": C}, 0, len(scores) or 1)
        result = Result(math.nan, 0, "error", "no")
        if scores:
            result = Result(np.mean(scores), fold_scores=scores)
        history.tell(trial.id, len(scores) or 1, result)
    found = read(history)
    np.testing.assert_array_equal(found.scores, [[0.5, 0.7], [0.4, np.nan], [np.nan, np.nan]])
    assert [each.row.folds for each in found.candidates[:2]] == ["mean of 2 folds", "1 of 2 folds"]
    assert found.winner.params == {"C": 1}
    assert [each.error for each in found.failed] == ["no"]
    assert to_frame(history)["n_folds"].tolist() == [2, 1, 0]


@pytest.mark.parametrize("source", [SVC(), 3, {"C": 1.0}], ids=str)
def test_anything_but_a_search_is_refused(source):
    with pytest.raises(TypeError, match=r"search: a .* is not a fitted search"):
        to_frame(source)


def test_a_report_needs_an_estimator(sources):
    found = minimize(loss, SPACE, n_iter=3, random_state=0)
    for source in (sources["Optuna's"], found):
        with pytest.raises(TypeError, match=r"without an estimator.*pass this"):
            report(source)


class Reserved(BaseEstimator):
    """Its parameters have the names of columns; some values fail."""

    def __init__(self, std=0, error=None, status="a"):
        self.std, self.error, self.status = std, error, status

    def fit(self, X, y):
        if self.std == 3:
            raise ValueError("std is 3")
        return self

    def score(self, X, y):
        return self.std + 0.1 * (self.error or 0) + (self.status == "b")


def assert_same(frame, search):
    """Reading the frame finds the candidates of the search, with their values and types."""
    table, found = read(search), read(frame)
    assert [row.params for row in found.rows] == [row.params for row in table.rows]
    ours, theirs = ([sorted(each.items()) for each in best(s, 5)] for s in (search, frame))
    assert repr(ours) == repr(theirs)  # types as well
    assert [(c.status, c.error) for c in found.candidates] == [
        (c.status, c.error) for c in table.candidates
    ]
    given, expected = importance(frame), importance(pd.DataFrame(search.cv_results_))
    assert given.names == expected.names
    np.testing.assert_allclose(given.shares, expected.shares)


@pytest.mark.filterwarnings("ignore:(?s).*fits failed", "ignore:One or more of the test")
def test_a_frame_is_read_as_its_search_even_if_parameters_have_names_of_columns():
    space = [{"std": [0, 1, 2, 3], "error": [None, 1]}, {"std": [1, 2], "status": ["a", "b"]}]
    search = RandomSearchCV(Reserved(), space, n_iter=12, cv=2, random_state=0).fit(X, y)
    frame = search.to_frame()
    assert {"param_std", "std", "param_error", "error", "param_status"} <= set(frame)
    assert_same(frame, search)
    assert_same(frame.sample(frac=1, random_state=0), search)


def test_a_frame_saved_as_text_is_read_as_its_search(sources, tmp_path):
    search = sources["ours"]
    search.to_frame().to_csv(tmp_path / "table.csv")
    assert_same(pd.read_csv(tmp_path / "table.csv"), search)


@pytest.mark.filterwarnings("ignore:No candidate satisfies all bounds")
def test_a_frame_has_violations_and_other_objectives():
    aims = {"scoring": ["accuracy"], "objectives": ["accuracy", "model_size"]}
    space = {"C": [0.01, 0.1, 1.0, 10.0]}
    search = RandomSearchCV(
        SVC(), space, n_iter=4, cv=2, random_state=0, refit="accuracy", **aims,
        known={"constraints": Bound("model_size", "<=", 1)},
    ).fit(X, y)  # fmt: skip
    frame = search.to_frame().sort_index()
    for name in ("violation", "mean_model_size"):
        np.testing.assert_allclose(frame[name], search.cv_results_[name])
    assert read(frame).winner.params == search.best_params_
