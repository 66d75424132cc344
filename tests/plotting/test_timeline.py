"""The timeline of workers: when each fold was trained, and where."""

import numpy as np
import pytest
from scipy.stats import uniform

from sksearch import HyperbandSearchCV, RandomSearchCV, load_history, minimize
from sksearch.executors import VirtualClock, spend
from sksearch.history import History, Problem, Result, Span
from sksearch.plotting import TimelineDisplay
from sksearch.space import Space
from tests.fakes import Curve, Failing

X, Y = np.zeros((12, 1)), np.zeros(12)
SPACE = {"quality": uniform(0, 1)}


class Slow(Curve):
    """Takes a simulated second for each epoch."""

    def partial_fit(self, X, y=None):
        spend(1.0)
        return super().partial_fit(X, y)


def spans_of(search):
    trials = search.history_.trials
    return [s for t in trials for r in t.results.values() for s in r.spans]


def history_of(spans):
    history = History(Problem(Space(SPACE)))
    for i, span in enumerate(spans):
        history.start({"quality": i / 100}, 0, 1)
        history.tell(i, 1, Result(0.5, spans=(span,)))
    return history


def rows_of(display):
    return [round(bar.get_y() + 0.4) for group in display.ax_.containers for bar in group]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_fold_of_every_job_has_its_time_and_its_worker(n_jobs):
    args = {"max_resources": 9, "cv": 3, "resource": "epochs", "random_state": 0}
    search = HyperbandSearchCV(Curve(), SPACE, n_jobs=n_jobs, **args).fit(X, Y)
    spans = spans_of(search)
    assert len(spans) == search.plan_.n_fits - 1
    assert all(span.began <= span.ended and span.worker for span in spans)
    assert len({span.worker for span in spans}) <= n_jobs
    for trial in search.history_.trials:
        assert [s.fold for s in trial.results[trial.resource].spans] == [0, 1, 2]
    display = TimelineDisplay.from_search(search)
    assert display.n_workers_ == len({span.worker for span in spans})
    assert 0 < display.busy_ <= 1


def test_folds_that_come_one_by_one_have_their_own_numbers():
    search = HyperbandSearchCV(Curve(), SPACE, resource="folds", cv=9, random_state=0).fit(X, Y)
    trial = search.history_.trials[search.cv_results_["trial_id"][search.best_index_]]
    folds = [span.fold for r in sorted(trial.results) for span in trial.results[r].spans]
    assert folds == list(range(9))


def test_times_are_in_the_journal_and_results_are_equal_without_them(tmp_path):
    args = {"n_iter": 4, "cv": 3, "random_state": 0}
    search = RandomSearchCV(Curve(), SPACE, checkpoint_dir=tmp_path, **args).fit(X, Y)
    assert spans_of(load_history(tmp_path)) == spans_of(search)
    again = RandomSearchCV(Curve(), SPACE, checkpoint_dir=tmp_path, **args).fit(X, Y)
    assert spans_of(again) == spans_of(search)
    other = RandomSearchCV(Curve(), SPACE, **args).fit(X, Y)
    assert spans_of(other) != spans_of(search)
    assert TimelineDisplay.from_search(load_history(tmp_path)).n_workers_ == 1
    first, second = (s.history_.trials[0].results[1] for s in (search, other))
    assert first.spans != second.spans
    assert first == Result(first.score, first.cost, fold_scores=second.fold_scores)


def test_simulated_workers_have_simulated_times():
    search = RandomSearchCV(Slow(), SPACE, n_iter=8, cv=2, random_state=0, n_jobs=4)
    with VirtualClock(n_workers=4):
        search.fit(X, Y)
    display = TimelineDisplay.from_search(search)
    assert (display.n_workers_, display.seconds_, display.busy_) == (4, 4.0, 1.0)


@pytest.mark.filterwarnings("ignore:.*non-finite", "ignore:(?s).*fits failed")
def test_failed_folds_are_drawn_in_their_own_colour():
    search = RandomSearchCV(Failing(), SPACE, n_iter=6, cv=2, random_state=0).fit(X, Y)
    display = TimelineDisplay.from_search(search)
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels == ["1 fit", "failed"]


def test_a_new_worker_has_the_row_of_one_that_has_ended():
    spans = [
        Span(0, 0, 5, "a"), Span(0, 0, 2, "b"), Span(0, 2, 3, "b"), Span(0, 4, 6, "c"),
        Span(0, 5, 7, "a"),
    ]  # fmt: skip
    display = TimelineDisplay(history=history_of(spans)).plot()
    assert display.n_workers_ == 2
    assert rows_of(display) == [0, 1, 0, 0, 1]


def test_a_pause_of_all_workers_is_cut_out():
    spans = [Span(0, 0, 5, "a"), Span(0, 1, 5, "b"), Span(0, 1000, 1004, "c")]
    display = TimelineDisplay(history=history_of(spans)).plot()
    assert display.seconds_ == 9
    assert display.n_workers_ == 2
    assert [line.get_xdata()[0] for line in display.ax_.lines] == [5]


@pytest.mark.whole
def test_thousands_of_bars_and_hundreds_of_workers_are_drawn():
    spans = [Span(0, i // 100, i // 100 + 0.9, f"{i % 100}") for i in range(4000)]
    display = TimelineDisplay(history=history_of(spans)).plot()
    assert display.n_workers_ == 100
    assert len(display.ax_.get_yticks()) <= 24
    assert display.busy_ == pytest.approx(0.9, abs=0.01)


def test_a_search_without_times_is_reported():
    found = minimize(lambda p: p["quality"], SPACE, n_iter=3, random_state=0)
    with pytest.raises(ValueError, match="were not recorded"):
        TimelineDisplay.from_search(found)
