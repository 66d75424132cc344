"""What a search found can be read without it: afterwards, meanwhile, and after a kill."""

import random
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy.stats import uniform
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC

from sksearch import ASHASearchCV, Bound, HyperbandSearchCV, RandomSearchCV, When, load_history
from sksearch.checkpoint._checkpoint import read_journal
from sksearch.checkpoint._lines import encode
from sksearch.plotting import HistoryDisplay
from sksearch.search import JournalError, SavedSearch
from tests.fakes import Curve, Failing

X, y = load_iris(return_X_y=True)
QUALITY = {"quality": uniform(0, 1)}


def hyperband(folder, estimator=None, space=None, **kwargs):
    kwargs = {"resource": "epochs", "max_resources": 9, "cv": 3, "random_state": 0} | kwargs
    return HyperbandSearchCV(
        Curve() if estimator is None else estimator,
        space or QUALITY,
        checkpoint_dir=folder,
        **kwargs,
    )


def check_equal(saved, search):
    """All that a search knows after its fit is in its directory."""
    mine, its = pd.DataFrame(saved.cv_results_), pd.DataFrame(search.cv_results_)
    pd.testing.assert_frame_equal(mine, its)
    assert saved.best_index_ == search.best_index_
    assert saved.best_score_ == search.best_score_
    assert saved.best_params_ == search.best_params_
    assert saved.plan_ == search.plan_
    assert saved.n_splits_ == search.n_splits_
    assert repr(saved.history_.trials) == repr(search.history_.trials)  # NaN equals nothing
    assert saved.history_.log == search.history_.log
    assert saved.finished
    assert len(saved.statuses_) == len(saved.errors_) == len(mine)


def summed_scores(estimator, X, y):
    return {"one": estimator.score(X, y), "twice": 2 * estimator.score(X, y)}


SEARCHES = {
    "epochs": lambda f: hyperband(f, SGDClassifier(), {"alpha": uniform(0, 1)}),
    "rows": lambda f: hyperband(f, SVC(), {"C": uniform(1, 9)}, resource="n_samples",
                                max_resources=81),
    "folds": lambda f: hyperband(f, SVC(), {"C": uniform(1, 9)}, resource="folds",
                                 max_resources=5, cv=5, factor=2),
    "train scores": lambda f: hyperband(f, return_train_score=True),
    "whole": lambda f: RandomSearchCV(SVC(), {"C": [1, 2.0, 3], "gamma": ["scale", 0.5]}, n_iter=5,
                                      scoring="accuracy", random_state=0, checkpoint_dir=f),
    "metrics": lambda f: hyperband(f, SGDClassifier(), {"alpha": uniform(0, 1)},
                                   scoring=["f1_macro", "accuracy"], refit="accuracy"),
    "asynchronous": lambda f: ASHASearchCV(Curve(), QUALITY, resource="epochs", max_resources=9,
                                           random_state=0, checkpoint_dir=f),
    "own scorer": lambda f: hyperband(f, scoring=summed_scores, refit="twice"),
    "conditions": lambda f: hyperband(
        f, SGDClassifier(), {"penalty": ["l2", "elasticnet"],
                             "l1_ratio": When(uniform(0, 1), "penalty", "==", "elasticnet")}),
}  # fmt: skip


def by_quality(estimator, X, y):
    return {"score": estimator.score(X, y), "price": estimator.quality}


QUICK = {
    "folds": lambda f: hyperband(f, resource="folds", max_resources=5, cv=5, factor=2),
    "bounds": lambda f: hyperband(
        f, scoring=by_quality, refit="score", known={"constraints": Bound("price", "<=", 0.5)}),
    "one objective of two is small": lambda f: hyperband(
        f, scoring=by_quality, refit=False, objectives=["score", "-price"]),
    "several metrics and no refit": lambda f: hyperband(f, scoring=by_quality, refit=False),
    "several metrics": lambda f: hyperband(f, scoring=by_quality, refit="price"),
}  # fmt: skip


@pytest.mark.parametrize("name", QUICK)
def test_all_that_is_known_is_as_the_search_itself_has_it(name, tmp_path):
    search = QUICK[name](tmp_path).fit(X, y)
    saved = load_history(tmp_path)
    pd.testing.assert_frame_equal(
        pd.DataFrame(saved.cv_results_), pd.DataFrame(search.cv_results_)
    )
    mine, its = saved.history_.problem, search.history_.problem
    assert (mine.bounds, mine.objectives, mine.seed) == (its.bounds, its.objectives, its.seed)
    assert (mine.min_resources, mine.max_resources) == (its.min_resources, its.max_resources)
    assert repr(saved.history_.trials) == repr(search.history_.trials)
    assert saved.plan_ == search.plan_
    assert (saved.statuses_, saved.errors_) == (search.statuses_, search.errors_)
    if isinstance(search.refit, str):
        assert saved.best_index_ == search.best_index_
        assert saved.metric_ == search.refit


@pytest.mark.parametrize(
    ("scoring", "name"), [("r2", "r2"), (None, None), (by_quality, None), (["r2"], None)]
)
def test_a_scorer_that_has_a_name_is_known_by_it(scoring, name, tmp_path):
    RandomSearchCV(
        Curve(), QUALITY, n_iter=1, scoring=scoring, refit=False, checkpoint_dir=tmp_path
    ).fit(X, y)
    assert load_history(tmp_path).scoring == name


@pytest.mark.few(1)
@pytest.mark.slow
@pytest.mark.parametrize("name", SEARCHES)
def test_everything_is_as_the_search_itself_has_it(name, tmp_path):
    search = SEARCHES[name](tmp_path / "run").fit(X, y)
    check_equal(load_history(tmp_path / "run"), search)
    check_equal(load_history(str(tmp_path / "run" / "journal.jsonl")), search)


@pytest.mark.slow
def test_the_repr_says_how_far_the_search_is(tmp_path):
    search = hyperband(tmp_path, SGDClassifier(), {"alpha": uniform(0, 1)}).fit(X, y)
    score = f"{search.best_score_:.4g}"
    assert repr(load_history(tmp_path)) == (
        f"<SavedSearch: HyperbandSearchCV, 15 candidates, 20 evaluations, best score {score}, "
        "finished>"
    )
    assert repr(load_history(tmp_path).history_.problem.space) == "the space of alpha"


def test_a_resource_that_is_a_parameter_is_among_the_params(tmp_path):
    search = hyperband(
        tmp_path, RandomForestClassifier(), {"max_features": [1, 2, 3, 4]}, max_resources=4,
        factor=2, resource="n_estimators",
    ).fit(X, y)  # fmt: skip
    header, events, _ = read_journal(tmp_path)
    check_equal(SavedSearch(header | {"adds": "n_estimators"}, events), search)


@pytest.mark.slow
def test_objects_are_shown_as_texts(tmp_path):
    space = {"scale": [StandardScaler(), MinMaxScaler(), None], "sgd__alpha": uniform(0, 1)}
    pipeline = Pipeline([("scale", None), ("sgd", SGDClassifier())])
    search = hyperband(tmp_path, pipeline, space).fit(X, y)
    saved = load_history(tmp_path)
    assert set(saved.cv_results_["param_scale"]) == {"StandardScaler()", "MinMaxScaler()", None}
    its = [None if p["scale"] is None else repr(p["scale"]) for p in search.cv_results_["params"]]
    assert [params["scale"] for params in saved.cv_results_["params"]] == its


# ---- failures


@pytest.mark.parametrize("error_score", [np.nan, 0.0])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.filterwarnings("ignore:One or more")
def test_failures_have_a_status_and_an_error_in_each_row(error_score, tmp_path):
    search = hyperband(tmp_path, Failing(), error_score=error_score).fit(X, y)
    saved = load_history(tmp_path)
    check_equal(saved, search)
    table = pd.DataFrame(saved.cv_results_)
    failed = table["param_quality"] > 0.5
    assert [status == "error" for status in saved.statuses_] == failed.tolist()
    assert all(e.startswith("RuntimeError: quality 0.") for e in np.array(saved.errors_)[failed])
    assert not any(np.array(saved.errors_)[~failed])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.filterwarnings("ignore:One or more")
def test_failures_under_a_scorer_that_names_its_metrics_only_when_called(tmp_path):
    search = hyperband(tmp_path, Failing(), scoring=summed_scores, refit="one", error_score=-1.0)
    search.fit(X, y)
    check_equal(load_history(tmp_path), search)


@pytest.mark.filterwarnings("ignore:One or more|No candidate")
def test_scores_that_are_no_numbers_are_not_best(tmp_path):
    def bad(estimator, X, y):
        return np.inf if estimator.quality > 0.5 else np.nan

    with pytest.raises(ValueError, match="No candidate has a finite score"):
        hyperband(tmp_path, scoring=bad).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the search has said it
        saved = load_history(tmp_path)
    assert set(saved.statuses_) == {"nan"}
    assert set(saved.errors_) == {"the scorer returned inf", "the scorer returned nan"}
    assert saved.best_index_ is saved.best_score_ is saved.best_params_ is None
    assert "no score, finished" in repr(saved)


# ---- while it runs, and after a kill


def test_each_prefix_of_a_journal_can_be_read(tmp_path):
    hyperband(tmp_path / "whole").fit(X, y)
    content = (tmp_path / "whole" / "journal.jsonl").read_bytes()
    lines = content.splitlines(keepends=True)
    (tmp_path / "part").mkdir()
    journal = tmp_path / "part" / "journal.jsonl"
    n_rows = []
    for i in range(1, len(lines)):
        journal.write_bytes(b"".join(lines[:i]) + lines[i][: len(lines[i]) // 2])
        saved = load_history(tmp_path / "part")
        assert saved.finished == (i == len(lines) - 1)  # the last record is the winner
        assert len(pd.DataFrame(saved.cv_results_)) == len(saved.statuses_)
        assert (saved.best_score_ is None) == (not saved.statuses_)
        n_rows.append(len(saved.statuses_))
    assert n_rows[0] == 0
    assert n_rows[-1] == len(load_history(tmp_path / "whole").statuses_)
    journal.write_bytes(lines[0])
    assert "0 candidates, 0 evaluations, no score, not finished" in repr(
        load_history(tmp_path / "part")
    )


class Reading(Curve):
    """Looks at the search that trains it."""

    folder = None
    seen = []

    def partial_fit(self, X, y=None):
        Reading.seen.append(load_history(Reading.folder))
        return super().partial_fit(X, y)


@pytest.mark.slow
def test_a_running_search_can_be_read(tmp_path):
    Reading.folder, Reading.seen = tmp_path, []
    search = hyperband(tmp_path, Reading()).fit(X, y)
    n_rows = [len(saved.statuses_) for saved in Reading.seen]
    assert n_rows == sorted(n_rows)
    assert set(n_rows[:-9]) >= set(range(15))
    running = Reading.seen[20]
    assert "not finished" in repr(running)
    its = pd.DataFrame(search.cv_results_).set_index(["trial_id", "n_resources"])
    mine = pd.DataFrame(running.cv_results_).set_index(["trial_id", "n_resources"])
    pd.testing.assert_series_equal(mine["mean_test_score"], its.loc[mine.index, "mean_test_score"])


def test_reading_writes_nothing(tmp_path):
    hyperband(tmp_path).fit(X, y)

    def state():
        return {
            str(path): (path.stat().st_mtime_ns, path.stat().st_size)
            for path in [tmp_path, *tmp_path.rglob("*")]
        }

    before = state()
    load_history(tmp_path)
    assert state() == before


@pytest.mark.slow
def test_what_an_extended_search_did_before_counts_once(tmp_path):
    def search(n_iter):
        return RandomSearchCV(
            LogisticRegression(max_iter=500), {"C": uniform(0.1, 1)}, n_iter=n_iter,
            random_state=0, checkpoint_dir=tmp_path,
        ).fit(X, y)  # fmt: skip

    search(3)
    longer = search(6)
    check_equal(load_history(tmp_path), longer)


# ---- bad input


def test_a_directory_without_a_search_is_reported(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_history(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError):
        load_history(tmp_path)
    (tmp_path / "journal.jsonl").write_bytes(b"")
    with pytest.raises(FileNotFoundError, match="has not started"):
        load_history(tmp_path)
    (tmp_path / "journal.jsonl").write_bytes(b"a,b\n1,2\n")
    with pytest.raises(JournalError):
        load_history(tmp_path)


def test_what_no_search_writes_is_named_by_its_line_also_after_an_extension(tmp_path):
    for n_iter in (1, 2):
        RandomSearchCV(
            Curve(), QUALITY, n_iter=n_iter, cv=2, random_state=0, checkpoint_dir=tmp_path
        ).fit(X, y)
    journal = tmp_path / "journal.jsonl"
    with open(journal, "ab") as file:
        file.write(encode({"k": "ask", "t": 99}))
    n_lines = len(journal.read_bytes().splitlines())
    with pytest.raises(JournalError, match=rf"line {n_lines}, is not a valid entry"):
        load_history(tmp_path)


def test_a_header_that_no_search_writes_is_named_by_its_line(tmp_path):
    search = RandomSearchCV(
        Curve(), QUALITY, n_iter=1, cv=2, random_state=0, checkpoint_dir=tmp_path
    ).fit(X, y)
    journal = tmp_path / "journal.jsonl"
    with open(journal, "ab") as file:
        file.write(encode({"k": "header", "fmt": 1}))
    n_lines = len(journal.read_bytes().splitlines())
    for read in (lambda: search.fit(X, y), lambda: load_history(tmp_path)):
        with pytest.raises(JournalError, match=rf"line {n_lines}, is not a valid entry"):
            read()


# ---- plots and size


@pytest.mark.few(1)
@pytest.mark.slow
@pytest.mark.parametrize("name", ["epochs", "whole"])
def test_a_saved_search_can_be_drawn(name, tmp_path):
    search = SEARCHES[name](tmp_path).fit(X, y)
    saved = load_history(tmp_path)
    mine, its = HistoryDisplay.from_search(saved), HistoryDisplay.from_search(search)
    assert mine.ax_.get_ylabel() == its.ax_.get_ylabel()
    assert mine.ax_.get_xlabel() == its.ax_.get_xlabel()
    assert mine.ax_.get_title(loc="left") == its.ax_.get_title(loc="left")
    plt.close(mine.figure_)
    plt.close(its.figure_)


def write_journal(path, header, n):
    """A journal of `n` candidates with one result of one fold each."""
    rng = random.Random(0)
    out = {"fit_error": None, "status": "ok", "error": "", "lost_state": "", "stop": False,
           "n_test_samples": 30, "n_steps": 1, "seconds": 0.1, "fit_time": 0.1,
           "score_time": 0.01, "state": {"f": "0.1.0", "h": "0" * 64, "n": 1000}}  # fmt: skip
    with open(path, "wb") as file:
        file.write(encode(header | {"n_splits": 1}))
        for t in range(n):
            params = {
                "alpha": rng.random(),
                "loss": rng.choice(["a", "b"]),
                "model": {"is": "choice", "k": 0, "i": 1, "t": "SVC(C=3)"},
            }
            ask = {"k": "ask", "t": t, "r": 1, "b": 0, "p": params, "parent": None}
            file.write(encode(ask))
            outputs = [out | {"test_scores": rng.random()}]
            file.write(encode({"k": "tell", "t": t, "r": 1, "o": outputs}))


def test_two_thousand_results_are_read(tmp_path):
    hyperband(tmp_path, cv=2).fit(X, y)
    header, _, _ = read_journal(tmp_path)
    write_journal(tmp_path / "journal.jsonl", header, 2_000)
    saved = load_history(tmp_path)
    assert len(saved.cv_results_["params"]) == len(saved.history_.trials) == 2_000
    assert set(saved.cv_results_["param_model"]) == {"SVC(C=3)"}
