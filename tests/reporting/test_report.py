"""Text, HTML and file of a report, on searches of all kinds."""

import base64
import hashlib
import re
import signal
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from scipy.stats import loguniform, uniform
from sklearn.datasets import load_iris
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    HalvingRandomSearchCV,
    RandomizedSearchCV,
    ShuffleSplit,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from sksearch import HyperbandSearchCV, RandomSearchCV, SearchCV, When, load_history, report
from sksearch.reader._read import read
from sksearch.reporting import to_frame
from sksearch.reporting._rivals import finalists, fold_ratio
from sksearch.search import Report
from tests.fakes import Failing

X, Y = load_iris(return_X_y=True)
SPACE = {"C": loguniform(1e-3, 1e3), "gamma": loguniform(1e-4, 10)}
TREE = DecisionTreeClassifier(random_state=0)


@pytest.fixture(scope="module")
def search():
    return RandomSearchCV(SVC(), SPACE, n_iter=15, random_state=0).fit(X, Y)


class Tags(HTMLParser):
    """Sees that tags are closed, and collects what a page would load."""

    def __init__(self):
        super().__init__()
        self.open, self.loads, self.text = [], [], ""

    def handle_starttag(self, tag, attrs):
        self.loads += [v for k, v in attrs if k in ("src", "href")]
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += f"{data} "


def parsed(html):
    tags = Tags()
    tags.feed(html)
    assert tags.open == []
    return tags


def test_a_report_is_its_text(search):
    made = search.report()
    assert isinstance(made, Report)
    assert repr(made) == str(made)
    lines = str(made).splitlines()
    assert len(lines) <= 30
    assert max(map(len, lines)) <= 100
    assert f"{search.best_score_:.3f}" in str(made)


def test_html_and_text_have_the_same_content(search):
    made = search.report()
    words = re.findall(r"\w+", parsed(made._repr_html_()).text)
    said = [word for word in re.findall(r"\w+", str(made)) if not word.isdigit()]
    assert {*said} <= {*words}


def test_a_page_has_its_pictures_in_it_and_loads_nothing(search, tmp_path):
    search.report(tmp_path / "page.html")
    html = (tmp_path / "page.html").read_text(encoding="utf-8")
    found = parsed(html)
    assert found.loads == []
    titles = re.findall("<figcaption><b>(.*?)</b>", html)
    assert titles == ["Scores.", "Best candidates.", "Parameters.", "Workers."]
    assert html.count("<svg") == len(titles) + 1  # a picture for each of two parameters
    assert 'name="viewport"' in html
    # Facts, then advice, the winner in large letters, pictures, text, and a table to be sorted.
    places = [html.index(f'class="{name}"') for name in ("tiles", "next", "leader", "pictures")]
    places += [html.index("<dl>"), html.index('class="sort"')]
    assert places == sorted(places)
    assert html.count("<tr ") == 15
    assert html.count('data-t="candidate') == 15 + 15 * 5  # scores, and fits on folds


def test_a_page_allows_its_own_script_alone(search, tmp_path):
    search.report(tmp_path / "page.html")
    html = (tmp_path / "page.html").read_text(encoding="utf-8")
    (script,) = re.findall("<script>(.*?)</script>", html, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-" + digest
    assert policy in unescape(html)


def test_params_cannot_write_html(tmp_path):
    def script(X):
        return X

    script.__qualname__ = script.__name__ = "<script>alert(1)</script>"
    pipe = Pipeline([("step", FunctionTransformer()), ("nb", GaussianNB())])
    evil = [None, FunctionTransformer(script), "passthrough"]
    search = GridSearchCV(pipe, {"step": evil[1:]}).fit(X, Y)
    assert "<script>" in str(report(search))
    assert "<script>" not in report(search)._repr_html_()
    report(search, tmp_path / "page.html")
    assert "<script>alert" not in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_full_leaves_nothing_out(search):
    short, full = str(search.report()), str(search.report(full=True))
    n_tied = int(report(search)._facts.tied.sum())
    assert len(full.splitlines()) >= len(short.splitlines()) + n_tied - 1


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: report(3), TypeError, "a int is not a fitted search"),
        (lambda: report(SVC()), TypeError, "a SVC is not a fitted search"),
        (lambda: report(GridSearchCV(SVC(), {})), ValueError, "is not fitted: call fit first"),
        (lambda: SearchCV(SVC()).report(), ValueError, "is not fitted: call fit first"),
        (lambda: SearchCV(SVC()).best(), ValueError, "is not fitted: call fit first"),
    ],
)
def test_anything_but_a_fitted_search_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_saved_search_has_no_report(tmp_path):
    RandomSearchCV(GaussianNB(), {"var_smoothing": [1e-9]}, n_iter=1, checkpoint_dir=tmp_path).fit(
        X, Y
    )
    with pytest.raises(TypeError, match="SavedSearch without an estimator"):
        report(load_history(tmp_path))
    with pytest.raises(TypeError, match=r"DataFrame without an estimator.*pass the fitted"):
        report(pd.DataFrame(load_history(tmp_path).cv_results_))


def test_a_file_of_another_kind_is_refused(search):
    with pytest.raises(ValueError, match=r"must end with \.html"):
        search.report("page.pdf")


def test_the_regression_scores_are_negative_and_bounded():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    search = RandomizedSearchCV(
        Ridge(), {"alpha": loguniform(1e-3, 1e3)}, random_state=0,
        scoring="neg_mean_squared_error", cv=ShuffleSplit(4, test_size=0.25, random_state=0),
    ).fit(X, X[:, 0] + 0.1 * rng.standard_normal(60))  # fmt: skip
    made = report(search)
    assert "neg mean squared error, mean of 4 folds" in str(made)
    assert made._facts.selected.high <= 0
    assert fold_ratio(made._facts.table) == pytest.approx(1 / 3)


def test_several_metrics_are_reported_by_the_one_that_counts():
    search = GridSearchCV(
        SVC(), {"C": [0.1, 1.0, 10.0]}, scoring=["accuracy", "f1_macro"], refit="f1_macro"
    ).fit(X, Y)
    assert report(search)._facts.selected.seen == pytest.approx(search.best_score_)
    no_refit = GridSearchCV(
        SVC(), {"C": [0.1, 1.0]}, scoring=["accuracy", "f1_macro"], refit=False
    ).fit(X, Y)
    assert report(no_refit)._facts.table.metric == "accuracy"


def test_a_halving_search_of_scikit_learn_has_rungs():
    search = HalvingRandomSearchCV(SVC(), SPACE, n_candidates=9, random_state=0).fit(X, Y)
    text = str(report(search))
    assert "9 candidates" in text
    assert "6 of 9 candidates were stopped early" in text


def test_rungs_of_epochs_are_compared_with_each_other():
    from sklearn.linear_model import SGDClassifier

    search = HyperbandSearchCV(
        SGDClassifier(random_state=0), {"alpha": loguniform(1e-5, 1)}, resource="epochs",
        max_resources=9, cv=2, random_state=0,
    ).fit(X, Y)  # fmt: skip
    table = read(search)
    assert len(table.candidates) == 15
    assert table.candidates[table.best].row.score == pytest.approx(search.best_score_)
    assert table.candidates[table.best].row.resource == search.best_n_resources_
    assert "of the epochs" in str(search.report())


def test_a_race_over_folds_counts_those_that_were_dropped():
    search = SearchCV(SVC(), SPACE, n_iter=15, random_state=0).fit(X, Y)
    table = read(search)
    dropped = [c for c in table.candidates if not c.row.is_complete]
    assert dropped
    assert all(np.isfinite(c.row.score) for c in dropped)
    assert not finalists(table)[[c in dropped for c in table.candidates]].any()
    assert "of the folds" in str(search.report())


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_a_number_as_error_score_is_not_a_score():
    search = RandomSearchCV(
        Failing(threshold=0.5), {"quality": uniform(0, 1)}, n_iter=20, error_score=99.0,
        random_state=0,
    ).fit(X, Y)  # fmt: skip
    made = search.report()
    assert made._facts.selected.seen == search.best_score_ < 1
    text = str(made)
    frame = to_frame(search)
    assert (frame["score"].isna() == (frame["status"] == "error")).all()
    assert "quality > 0.4" in text


def test_unions_conditions_and_none_are_read():
    space = [
        {"kernel": ["linear"], "C": loguniform(0.1, 10)},
        {"kernel": ["rbf"], "C": loguniform(0.1, 10), "gamma": loguniform(1e-3, 1)},
    ]
    union = RandomSearchCV(SVC(), space, n_iter=6, cv=2, random_state=0).fit(X, Y)
    when = RandomSearchCV(
        SVC(), {"kernel": ["linear", "rbf"], "gamma": When([0.1, 1.0], "kernel", "==", "rbf")},
        n_iter=3, cv=2, random_state=0,
    ).fit(X, Y)  # fmt: skip
    none = GridSearchCV(TREE, {"max_depth": [None, 1, 2, 3]}, cv=2).fit(X, Y)
    for search in (union, when, none):
        assert str(report(search)).startswith(type(search).__name__)
        report(search)._repr_html_()


def test_a_report_of_an_interrupted_search_has_the_results_so_far():
    def stop(estimator, X, y):
        stop.n += 1
        if stop.n > 12:
            signal.raise_signal(signal.SIGINT)
        return estimator.score(X, y)

    stop.n = 0
    search = RandomSearchCV(LogisticRegression(), {"C": loguniform(1e-3, 1)}, scoring=stop, cv=3)
    with pytest.raises(KeyboardInterrupt):
        search.fit(StandardScaler().fit_transform(X), Y)
    assert "4 candidates" in str(search.report())


def test_four_thousand_candidates_are_reported_in_seconds():
    rng = np.random.default_rng(0)
    C = np.exp(rng.uniform(-5, 5, 4000))
    scores = 0.9 - (np.log(C)[:, None] - 1) ** 2 / 100 + rng.normal(0, 0.02, (4000, 5))
    search = RandomizedSearchCV(SVC(), {"C": loguniform(1e-3, 1e3)})
    search.cv_results_ = {
        "params": [{"C": float(c)} for c in C],
        **{f"split{k}_test_score": scores[:, k] for k in range(5)},
        "mean_test_score": scores.mean(axis=1),
        "rank_test_score": (-scores.mean(axis=1)).argsort().argsort() + 1,
        "mean_fit_time": np.full(4000, 0.1),
        "mean_score_time": np.full(4000, 0.1),
    }
    made = report(search)
    assert len(str(made).splitlines()) <= 30
    assert made._facts.selected.corrected < made._facts.selected.seen - 0.01
