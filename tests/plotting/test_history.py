"""Pictures of searches show which candidate was stopped where."""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.stats import uniform
from sklearn.model_selection import KFold, RandomizedSearchCV

from sksearch import HyperbandSearchCV, RandomSearchCV, SearchCV, minimize
from sksearch.history import History, Problem, Result
from sksearch.plotting import HistoryDisplay
from sksearch.schedulers import FoldRace
from sksearch.space import Space
from tests.fakes import Curve

X, Y = np.zeros((12, 1)), np.zeros(12)
SPACE = {"quality": uniform(0, 1)}


def history_of(scores, max_resources=9):
    """History of trials with these scores, dicts by resource."""
    history = History(Problem(Space(SPACE), max_resources=max_resources))
    for i, by_resource in enumerate(scores):
        for k, (resource, score) in enumerate(by_resource.items()):
            if k == 0:
                history.start({"quality": i / 100}, 0, resource)
            else:
                history.resume(i, resource)
            history.tell(i, resource, Result(score))
    return history


def line(ax, label):
    """Points of the line that the legend names so."""
    found = [artist for artist in ax.get_lines() if artist.get_label() == label]
    assert len(found) == 1, f"{label} in {[artist.get_label() for artist in ax.get_lines()]}"
    return found[0].get_xydata().tolist()


def legend_texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def segments(ax):
    return [
        segment.tolist() for collection in ax.collections for segment in collection.get_segments()
    ]


THREE = [{1: 0.1}, {1: 0.3, 3: 0.4}, {1: 0.2, 3: 0.5, 9: 0.6}]


def test_each_trial_is_a_line_up_to_where_it_was_stopped():
    ax = HistoryDisplay.from_history(history_of(THREE), unit="epochs").ax_
    assert segments(ax) == [[[1, 0.1]], [[1, 0.3], [3, 0.4]]]
    assert [[1, 0.2], [3, 0.5], [9, 0.6]] in [a.get_xydata().tolist() for a in ax.get_lines()]
    assert line(ax, "winner") == [[9, 0.6]]
    assert line(ax, "1 (1)") == [[1, 0.1]]
    assert line(ax, "3 (1)") == [[3, 0.4]]
    assert legend_texts(ax) == ["1 (1)", "3 (1)", "9 (1)", "winner"]
    assert ax.get_legend().get_title().get_text() == "epochs reached (candidates)"


def test_the_further_the_darker():
    ax = HistoryDisplay.from_history(history_of(THREE)).ax_
    brightness = [sum(c.get_colors()[0][:3]) for c in ax.collections]
    assert brightness == sorted(brightness, reverse=True)
    assert len(set(brightness)) == 3


def test_the_best_is_at_the_largest_resource():
    scores = [{1: 0.9}, {1: 0.5, 3: 0.6}, {1: 0.4, 3: 0.5}]
    ax = HistoryDisplay.from_history(history_of(scores)).ax_
    assert line(ax, "winner") == [[3, 0.6]]


def test_axes_are_named_and_rungs_are_ticks():
    ax = HistoryDisplay.from_history(history_of(THREE), unit="epochs", score_name="accuracy").ax_
    assert ax.get_xlabel() == "Epochs"
    assert ax.get_ylabel() == "Accuracy"
    assert ax.get_xscale() == "log"
    assert [text.get_text() for text in ax.get_xticklabels()] == ["1", "3", "9"]
    assert ax.get_title("left") == "3 candidates, the winner has 0.6"


def test_a_short_range_of_resources_has_an_even_axis():
    assert HistoryDisplay.from_history(history_of(THREE[:2])).ax_.get_xscale() == "linear"


def test_a_legend_of_many_resources_stays_short():
    scores = [{k: k / 100} for k in range(1, 41)]
    ax = HistoryDisplay.from_history(history_of(scores, 40)).ax_
    labels = [text.get_text() for text in ax.get_xticklabels()]
    assert {"1", "2", "5", "10", "20"} <= set(labels), "rather than powers of ten alone"
    texts = legend_texts(ax)
    assert texts[0] == "1 (1)"
    assert texts[-2:] == ["40 (1)", "winner"]
    assert len(texts) == 9
    assert len(ax.collections) == 40


def test_what_failed_is_a_cross_at_the_foot():
    scores = [*THREE, {1: 0.2, 3: np.nan}, {1: np.nan}]
    ax = HistoryDisplay.from_history(history_of(scores)).ax_
    assert [x for x, _ in line(ax, "failed (2)")] == [3, 1]
    assert all(0 < y < 0.1 for _, y in line(ax, "failed (2)")), "in shares of the axes"
    assert [[1, 0.2]] in segments(ax), "the score before the failure is kept"


def test_scores_far_below_are_counted_and_do_not_squeeze_the_others():
    scores = [{1: 0.5 + i / 100} for i in range(20)] + [{1: -1e6}, {1: 0.2, 3: -1e9}]
    scores += [{1: 0.3, 3: 0.69}]
    ax = HistoryDisplay.from_history(history_of(scores)).ax_
    assert sorted(x for x, _ in line(ax, "below (2)")) == [1, 3]
    bottom, top = ax.get_ylim()
    assert 0 < bottom < 0.2
    assert 0.69 < top < 0.8


def test_one_resource_shows_the_best_so_far():
    ax = HistoryDisplay.from_history(history_of([{1: 0.3}, {1: np.nan}, {1: 0.2}, {1: 0.7}])).ax_
    assert line(ax, "candidate") == [[1, 0.3], [3, 0.2], [4, 0.7]]
    assert line(ax, "best so far") == [[1, 0.3], [3, 0.3], [4, 0.7], [5, 0.7]]
    assert line(ax, "winner") == [[4, 0.7]]
    assert [x for x, _ in line(ax, "failed (1)")] == [2]
    assert ax.get_xlabel() == "Candidate"


def test_a_search_brings_its_own_names():
    search = HyperbandSearchCV(
        Curve(), SPACE, resource="epochs", max_resources=9, cv=2, random_state=0
    ).fit(X, Y)
    display = HistoryDisplay.from_search(search)
    ends = [tuple(segment[-1]) for segment in segments(display.ax_)]
    ends += map(tuple, line(display.ax_, "winner"))
    told = [(t.resource, t.results[t.resource].score) for t in search.history_.trials]
    assert sorted(ends) == sorted(told)
    assert line(display.ax_, "winner")[0] == [9, pytest.approx(search.best_score_)]
    assert display.ax_.get_xlabel() == "Epochs"
    assert display.ax_.get_ylabel() == "Score, mean over folds"


def test_a_full_fidelity_search_is_drawn_candidate_by_candidate():
    search = RandomSearchCV(
        Curve(), SPACE, n_iter=6, cv=2, scoring="neg_mean_absolute_error", random_state=0
    ).fit(X, Y)
    ax = HistoryDisplay.from_search(search).ax_
    assert ax.get_ylabel() == "Neg mean absolute error, mean over folds"
    np.testing.assert_allclose(
        [y for _, y in line(ax, "candidate")], search.cv_results_["mean_test_score"]
    )
    assert line(ax, "winner")[0][0] == search.best_index_ + 1


def test_a_race_is_drawn_candidate_by_candidate_with_the_best_of_all_folds():
    search = SearchCV(Curve(), SPACE, scheduler=FoldRace(12), cv=KFold(4), random_state=0)
    search.fit(X, Y)
    ax = HistoryDisplay.from_search(search).ax_
    trials = search.history_.trials
    whole = {t.id + 1: t.results[4].score for t in trials if 4 in t.results}
    assert line(ax, "candidate") == [[x, y] for x, y in whole.items()]
    assert len(line(ax, "stopped early")) == len(trials) - len(whole) > 0
    assert line(ax, "best so far")[-1] == [len(trials) + 1, max(whole.values())]
    assert line(ax, "winner") == [[search.best_index_ + 1, search.best_score_]]
    assert ax.get_xlabel() == "Candidate"


def test_a_race_whose_losers_are_far_below_marks_them_at_the_bottom():
    scores = [{1: 0.5 + i / 100, 2: 0.6, 4: 0.5 + i / 50} for i in range(8)] + [{1: -90.0}]
    history = history_of(scores, 4)
    history.problem = replace(history.problem, races=True)
    ax = HistoryDisplay.from_history(history).ax_
    assert [x for x, _ in line(ax, "below (1)")] == [9]


def test_minimize_has_a_history_as_well():
    result = minimize(lambda p: p["quality"], SPACE, n_iter=5, random_state=0)
    ax = HistoryDisplay.from_history(result.history).ax_
    assert line(ax, "best so far")[-1][1] == -result.fun


def test_given_axes_are_drawn_on():
    fig, axes = plt.subplots(ncols=2)
    display = HistoryDisplay(history=history_of(THREE)).plot(axes[1])
    assert (display.ax_, display.figure_) == (axes[1], fig)
    assert not axes[0].lines
    assert len(plt.get_fignums()) == 1


def test_searches_of_scikit_learn_are_drawn_as_well():
    search = RandomizedSearchCV(Curve(), SPACE, n_iter=5, cv=2, random_state=0).fit(X, Y)
    ax = HistoryDisplay.from_search(search).ax_
    np.testing.assert_allclose(
        [y for _, y in line(ax, "candidate")], search.cv_results_["mean_test_score"]
    )


def test_what_has_no_history_is_refused():
    with pytest.raises(ValueError, match=r"RandomSearchCV is not fitted: call fit"):
        HistoryDisplay.from_search(RandomSearchCV(Curve(), SPACE))
    with pytest.raises(ValueError, match="RandomizedSearchCV is not fitted"):
        HistoryDisplay.from_search(RandomizedSearchCV(Curve(), SPACE))
    with pytest.raises(ValueError, match="No trial"):
        HistoryDisplay.from_history(history_of([{1: np.nan}]))
