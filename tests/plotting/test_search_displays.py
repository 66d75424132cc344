"""Pictures of fitted searches: importance, slices, two parameters, parallel lines, rungs."""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.stats import loguniform, randint, uniform
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import GridSearchCV, HalvingRandomSearchCV, RandomizedSearchCV

from sksearch import HyperbandSearchCV, RandomSearchCV, When
from sksearch.history import History, Problem, Result
from sksearch.plotting import (
    ContourDisplay,
    ImportanceDisplay,
    ParallelDisplay,
    ParetoDisplay,
    RankDisplay,
    SliceDisplay,
)
from sksearch.plotting._distribution import DistributionDisplay
from sksearch.plotting._rungs import RungDisplay
from sksearch.plotting._sheet import SearchDisplay
from sksearch.plotting._slices import pair_to_draw
from sksearch.plotting._style import short, short_choice
from sksearch.search import ParetoFront
from sksearch.space import Space
from sksearch.stats import importance
from sksearch.stats._candidates import Candidates
from sksearch.stats._importance import Importance
from tests.fakes import Curve

X, Y = np.zeros((12, 1)), np.zeros(12)
LONG = "columntransformer__numeric__simpleimputer__"
SPACE = {
    "kernel": ["linear", "rbf"],
    "gamma": When(loguniform(1e-4, 10), "kernel", "==", "rbf"),
    "C": loguniform(1e-3, 1e3),
    "depth": randint(2, 6),
    LONG + "strategy": ["mean", "median", "most_frequent", None],
}
OF_PARAMETERS = [ImportanceDisplay, SliceDisplay, ContourDisplay, RankDisplay, ParallelDisplay]


def score(p):
    return -((np.log10(p["C"]) - 1) ** 2) - (np.log10(p.get("gamma", 0.01)) + 2) ** 2 / 4


def history_of(n, rungs=(1,), n_failed=0):
    """History of random candidates, a third of which goes on from rung to rung."""
    rng, space = np.random.default_rng(0), Space(SPACE)
    history = History(Problem(space, max_resources=rungs[-1]))
    left = list(range(n))
    for _ in left:
        history.start(space.sample(rng), 0, rungs[0])
    for k, resource in enumerate(rungs):
        for i in left:
            if k:
                history.resume(i, resource)
            value = score(history.trials[i].params) + rng.normal() / resource
            history.tell(i, resource, Result(np.nan if i < n_failed else value))
        left.sort(
            key=lambda i: -np.nan_to_num(history.trials[i].results[resource].score, nan=-9e9)
        )
        left = left[: -(-n // 3 ** (k + 1))]
    return history


def texts_fit(figure):
    """Assert that no label lies outside of the figure or upon its neighbour."""
    figure.canvas.draw()
    renderer, whole = figure.canvas.get_renderer(), figure.bbox
    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            for text in [axis.label, *axis.get_ticklabels()]:
                if text.get_text() and text.get_visible() and ax.axison:
                    box = text.get_window_extent(renderer)
                    inside = box.x0 > -2 and box.x1 < whole.width + 2
                    inside &= box.y0 > -2 and box.y1 < whole.height + 2
                    assert inside or not _in_view(axis, text), text.get_text()


def _in_view(axis, text):
    low, high = sorted(axis.get_view_interval())
    place = text.get_position()[0 if axis.axis_name == "x" else 1]
    return text is axis.label or low <= place <= high


@pytest.mark.few(2)
@pytest.mark.parametrize("n", [40, 1000])
@pytest.mark.parametrize("display", [*OF_PARAMETERS, DistributionDisplay])
def test_long_names_conditions_and_failures_are_drawn_inside_the_figure(display, n):
    found = display.from_search(history_of(n, n_failed=3))
    texts_fit(found.figure_)
    assert found.ax_.figure is found.figure_


@pytest.mark.few(4)
@pytest.mark.parametrize("display", [*OF_PARAMETERS, DistributionDisplay, RungDisplay])
def test_given_axes_are_drawn_on(display):
    fig, axes = plt.subplots(ncols=2, layout="constrained")
    found = display.from_search(history_of(40, (1, 3)), ax=axes[1])
    assert (found.ax_, found.figure_) == (axes[1], fig)
    assert len(plt.get_fignums()) == 1


def test_bars_are_the_shares_in_their_order():
    history = history_of(100)
    truth = importance(history)
    display = ImportanceDisplay.from_search(history)
    widths = [patch.get_width() for patch in display.ax_.patches]
    np.testing.assert_allclose(widths, [*truth.shares, truth.interactions])
    labels = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert labels[0] == truth.names[0]
    assert labels[-1] == "interactions"
    assert all(len(label) <= 36 for label in labels)


def test_noise_is_reported_as_noise():
    rng, space = np.random.default_rng(0), {"a": uniform(0, 1), "b": uniform(0, 1)}
    history = History(Problem(Space(space)))
    for i in range(150):
        history.start({"a": rng.random(), "b": rng.random()}, 0, 1)
        history.tell(i, 1, Result(rng.normal()))
    assert "too noisy" in ImportanceDisplay.from_search(history).ax_.get_title("left")


def test_slices_have_the_candidates_and_an_effect_with_its_maximum():
    history = history_of(200, n_failed=5)
    display = SliceDisplay.from_search(history, params=["C", "kernel"])
    dots, star, failed, effect = display.axes_[0].get_lines()
    scores = [t.results[1].score for t in history.trials[5:]]
    np.testing.assert_allclose(dots.get_ydata(), scores)
    assert star.get_ydata()[0] == max(scores)
    assert len(failed.get_xdata()) == 5
    top = effect.get_xdata()[np.argmax(effect.get_ydata())]
    assert abs(top - 4 / 6) < 0.15, "C = 10 on the scale from 0.001 to 1000"
    assert [t.get_text() for t in display.axes_[1].get_xticklabels()] == ["linear", "rbf"]


def test_integers_have_integer_ticks_and_logarithmic_ones_powers_of_ten():
    axes = SliceDisplay.from_search(history_of(60), params=["depth", "C"]).axes_
    assert {t.get_text() for t in axes[0].get_xticklabels()} == {"2", "3", "4", "5"}
    assert {"0.001", "1000"} <= {t.get_text() for t in axes[1].get_xticklabels()}


def test_the_maximum_of_two_parameters_is_where_it_is():
    display = ContourDisplay.from_search(history_of(60), params=("C", "gamma"))
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("C", "gamma")
    dots = display.ax_.get_lines()[0].get_xydata()
    n_with = sum("gamma" in t.params for t in history_of(60).trials)
    assert np.isfinite(dots).all(axis=1).sum() == n_with


def test_ranks_match_the_scores_and_the_best_is_drawn_last():
    history = history_of(40, n_failed=4)
    display = RankDisplay.from_search(history, params=("C", "kernel"))
    (dots,) = display.ax_.collections
    ranks = dots.get_array()
    assert ranks.tolist() == sorted(range(1, 37), reverse=True)
    failed, star = display.ax_.get_lines()
    assert len(failed.get_xydata()) == 4
    best = max(history.trials, key=lambda trial: np.nan_to_num(trial.results[1].score, nan=-9e9))
    assert dots.get_offsets()[-1].tolist() == pytest.approx(star.get_xydata()[0].tolist())
    assert star.get_xydata()[0, 0] == pytest.approx((np.log10(best.params["C"]) + 3) / 6)


def test_equal_scores_share_a_rank():
    history = History(Problem(Space({"a": uniform(0, 1), "b": uniform(0, 1)})))
    for i in range(5):
        history.start({"a": i / 5, "b": 0.5 * i / 5}, 0, 1)
        history.tell(i, 1, Result(float(i >= 3)))
    display = RankDisplay.from_search(history, params=("a", "b"))
    assert display.ax_.collections[0].get_array().tolist() == [4, 4, 4, 1.5, 1.5]


def test_nothing_is_predicted_where_a_choice_leaves_no_candidate():
    display = ContourDisplay.from_search(history_of(100), params=("kernel", "gamma"))
    values = display.ax_.collections[0].get_array().reshape(-1, 2)
    assert np.ma.getmaskarray(values)[:, 0].all()
    assert not np.ma.getmaskarray(values)[:, 1].any()


def test_parallel_lines_have_gaps_where_a_parameter_lacks():
    history = history_of(30)
    display = ParallelDisplay.from_search(history, params=["kernel", "gamma", "C"])
    segments = [s for c in display.ax_.collections for s in c.get_segments()]
    with_gamma = sum("gamma" in trial.params for trial in history.trials)
    assert sum(len(s) == 4 for s in segments) == with_gamma
    assert sum(len(s) == 2 for s in segments) == 30 - with_gamma, "C and the score"


def test_rungs_tell_how_they_ordered():
    display = RungDisplay.from_search(history_of(300, (1, 3, 9, 27)))
    assert list(display.correlations_) == [(1, 3), (3, 9), (9, 27)]
    assert all(-1 <= rho <= 1 for rho in display.correlations_.values())
    shown = [text.get_text() for text in display.ax_.texts]
    assert shown == [f"{rho:.2f}" for rho in display.correlations_.values()]
    ticks = [text.get_text() for text in display.ax_.get_xticklabels()]
    assert ticks == ["1\n(300)", "3\n(100)", "9\n(34)", "27\n(12)"]
    with pytest.raises(ValueError, match="the same resource"):
        RungDisplay.from_search(history_of(20))


def test_a_rung_in_the_opposite_order_has_the_correlation_minus_one():
    rows = [({"x": i}, float(i)) for i in range(6)]
    opposite = [(params, -s) for params, s in rows]
    assert RungDisplay(rungs={1: rows, 3: opposite}).plot().correlations_ == {(1, 3): -1.0}


def test_the_distribution_counts_failures_as_reaching_nothing():
    scores = np.array([1.0, 2.0, np.nan, np.nan])
    ax = DistributionDisplay(scores={"": scores}).plot().ax_
    assert ax.get_lines()[0].get_ydata().tolist() == [0.5, 0.5, 0.25, 0]
    assert ax.get_ylim() == (0, 1.02)  # all of what is reached is seen, whatever it is


SEARCHES = [
    RandomizedSearchCV(Curve(), {"quality": uniform(0, 1)}, n_iter=12, cv=2, random_state=0),
    GridSearchCV(Curve(), {"quality": np.linspace(0, 1, 12).tolist()}, cv=2),
    RandomSearchCV(Curve(), {"quality": uniform(0, 1)}, n_iter=12, cv=2, random_state=0),
    RandomSearchCV(Curve(), {"quality": uniform(0, 1)}, n_iter=3, cv=2, random_state=0),
    HyperbandSearchCV(
        Curve(), {"quality": uniform(0, 1)}, resource="epochs", max_resources=9, cv=2,
        random_state=0,
    ),
    HalvingRandomSearchCV(
        Curve(), {"quality": uniform(0, 1)}, n_candidates=30, cv=2, random_state=0,
        resource="n_samples", min_resources=4, max_resources=12,
    ),
]  # fmt: skip


@pytest.mark.few(2)
@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: type(search).__name__)
def test_searches_of_both_libraries_fill_a_sheet(search):
    display = SearchDisplay.from_search(search.fit(X, Y))
    texts_fit(display.figure_)
    names = [type(part).__name__ for part in display.displays_]
    assert names[0] == "HistoryDisplay"
    has_rungs = len(set(search.cv_results_.get("n_resources", [1]))) > 1
    assert ("RungDisplay" in names) == has_rungs


def test_a_search_shows_itself():
    search = RandomSearchCV(Curve(), {"quality": uniform(0, 1)}, n_iter=10, cv=2, random_state=0)
    assert len(search.fit(X, Y).show().displays_) == 3
    with pytest.raises(ValueError, match="not fitted"):
        RandomSearchCV(Curve(), {"quality": uniform(0, 1)}).show()


@pytest.mark.whole
def test_two_parameters_and_more_show_four_pictures():
    names = [type(part).__name__ for part in SearchDisplay.from_search(history_of(40)).displays_]
    assert names == ["HistoryDisplay", "ImportanceDisplay", "SliceDisplay", "ContourDisplay"]


def test_unknown_names_are_refused():
    for display in (SliceDisplay, ParallelDisplay):
        with pytest.raises(ValueError, match="'nu': the parameters with two values"):
            display.from_search(history_of(20), params=["nu"])
    for display in (ContourDisplay, RankDisplay):
        with pytest.raises(ValueError, match="must name two"):
            display.from_search(history_of(20), params=("C", "C"))
    with pytest.raises(ValueError, match="searches is empty"):
        DistributionDisplay.from_searches({})


UNION = [{"depth": randint(1, 9), "alpha": loguniform(1e-6, 1)}, {"leaf": randint(1, 20)}]


def history_of_union(n=20):
    """History of candidates of two dicts; those of the second one, without a partner, are best."""
    rng, space = np.random.default_rng(0), Space(UNION)
    history = History(Problem(space))
    for i in range(n):
        history.start(space.sample(rng), 0, 1)
        history.tell(i, 1, Result(history.trials[i].params.get("leaf", 0) + rng.random()))
    return history


@pytest.mark.parametrize("display", [ContourDisplay, RankDisplay])
def test_default_pairs_are_active_together(display):
    history = history_of_union()
    found = display.from_search(history)
    assert {found.x, found.y} == {"alpha", "depth"}
    n_both = sum("alpha" in trial.params for trial in history.trials)
    assert found.ax_.get_title("left").splitlines()[0] == f"{n_both} of 20 candidates"
    with pytest.raises(ValueError, match="No candidate has 'leaf' and 'alpha'"):
        display.from_search(history, params=("leaf", "alpha"))


def test_a_choice_is_not_paired_with_a_parameter_of_one_of_its_values():
    places = [{"model": "a", "a": i, "b": i % 2} for i in range(3)] + [{"model": "c", "c": 1}]
    candidates = Candidates([*places, {"model": "c", "c": 2}], np.arange(5.0))
    assert pair_to_draw(candidates, ["model", "c", "a", "b"]) == ["a", "b"]
    assert pair_to_draw(candidates, ["a", "c"]) == []


def test_a_value_between_two_gaps_is_a_dot():
    history = history_of_union()
    display = ParallelDisplay.from_search(history, params=["leaf", "alpha", "depth"])
    dots = np.vstack([line.get_xydata() for line in display.ax_.get_lines()])
    alone = sum("leaf" in trial.params for trial in history.trials)
    assert sum(dots[:, 0] == 0) == alone
    assert sum(dots[:, 0] == 3) >= alone, "their scores"


def history_with_low_scores():
    """History of 20 candidates, of which two have far lower scores."""
    history = History(Problem(Space({"a": uniform(0, 1), "b": uniform(0, 1)}), max_resources=3))
    for i in range(20):
        history.start({"a": i / 20, "b": i % 7 / 7}, 0, 1)
        history.tell(i, 1, Result(-1e6 if i in (3, 8) else i / 100))
    return history


def below(ax):
    """Places of the marks of scores below the axes."""
    marks = [line for line in ax.get_lines() if line.get_marker() in ("v", "<")]
    return [x for line in marks for x in line.get_xdata()]


def test_scores_cut_off_are_marked_and_counted():
    history = history_with_low_scores()
    slices = SliceDisplay.from_search(history, params=["a", "b"])
    np.testing.assert_allclose(below(slices.axes_[0]), [3 / 20, 8 / 20])
    assert slices.axes_[0].get_title("left") == "Score: 20 candidates (2 below)"
    parallel = ParallelDisplay.from_search(history)
    assert below(parallel.ax_) == [2, 2]
    assert parallel.ax_.get_xticklabels()[-1].get_text() == "Score\n(2 below)"
    assert parallel.ax_.child_axes[-1].yaxis.get_ticks_position() == "right", "off the lines"
    share = DistributionDisplay.from_search(history)
    assert len(below(share.ax_)) == 1
    assert share.ax_.get_xlabel() == "Score (2 below)"
    for i in (3, 8, 17, 18, 19):
        history.resume(i, 3)
        history.tell(i, 3, Result(-1e6 if i == 3 else i / 100))
    rungs = RungDisplay.from_search(history)
    assert below(rungs.ax_) == [0, 0, 1]
    assert rungs.ax_.get_ylabel() == "Score (3 below)"


def test_predictions_are_inside_the_axes_of_slices():
    history = History(Problem(Space({"kind": ["bad", "good"]})))
    for i in range(40):
        history.start({"kind": "good" if i % 5 else "bad"}, 0, 1)
        history.tell(i, 1, Result(i / 100 if i % 5 else -1e6))
    (ax,) = SliceDisplay.from_search(history).axes_
    means = [segment[0, 1] for segment in ax.collections[0].get_segments()]
    assert ax.get_ylim()[0] < min(means) < 0


def test_labels_of_numbers_leave_out_what_does_not_fit():
    history = History(Problem(Space({name: loguniform(2e-6, 9) for name in "abc"})))
    for i in range(5):
        history.start(dict.fromkeys("abc", 10.0**-i), 0, 1)
        history.tell(i, 1, Result(float(i)))
    display = SliceDisplay.from_search(history)
    display.figure_.canvas.draw()
    for ax in display.axes_:
        boxes = [text.get_window_extent() for text in ax.get_xticklabels()]
        assert len(boxes) > 1
        assert all(a.x1 < b.x0 for a, b in pairwise(boxes))


@pytest.mark.parametrize("n_scores", [1, 20])
def test_equal_scores_are_drawn_in_the_middle_and_named(n_scores):
    history = History(Problem(Space({"a": uniform(0, 1), "b": [1, 2, 3]})))
    for i in range(n_scores):
        history.start({"a": i / 20, "b": 1 + i % 3}, 0, 1)
        history.tell(i, 1, Result(0.5))
    ranks = RankDisplay.from_search(history).ax_
    assert ranks.get_xlim() == (-0.06, 1.06), "the whole range, not that of the candidates"
    winner = ParallelDisplay.from_search(history).ax_.collections[-1].get_segments()[0]
    assert winner[-1].tolist() == [2, 0.5]
    if n_scores > 1:
        title = ImportanceDisplay.from_search(history).ax_.get_title("left")
        assert title.endswith("(all scores are equal)")


def test_labels_cut_short_stay_distinct():
    names = [f"preprocessor__{kind}__simpleimputer__strategy" for kind in ("num", "cat")]
    assert [short(name, 26, names) for name in names] == [
        "…m__simpleimputer__strategy",
        "…t__simpleimputer__strategy",
    ]
    assert short_choice("most_frequent_value", 14) == "most_fr…_value"
    assert short_choice("Pipeline(\n    steps=[])", 30) == "Pipeline( steps=[])"


def test_candidates_of_two_choices_are_spread_in_both_directions():
    history = History(Problem(Space({"a": [1, "x"], "b": [2, "y"]})))
    for i in range(8):
        history.start({"a": [1, "x"][i % 2], "b": [2, "y"][i // 4]}, 0, 1)
        history.tell(i, 1, Result(float(i)))
    x, y = RankDisplay.from_search(history).ax_.collections[0].get_offsets().T
    assert abs(np.corrcoef(x - x.round(), y - y.round())[0, 1]) < 0.9


def test_the_title_of_importance_is_inside_the_figure():
    figure = ImportanceDisplay.from_search(history_of(100)).figure_
    figure.canvas.draw()
    (title,) = figure.findobj(lambda each: "held-out" in getattr(each, "get_text", str)())
    assert title.get_window_extent().x1 < figure.bbox.width


def test_a_winner_that_is_not_drawn_is_named():
    title = RankDisplay.from_search(history_of_union()).ax_.get_title("left")
    assert title.endswith("\n(the winner does not have both parameters)")


def test_rounding_errors_of_predictions_are_one_color():
    history = History(Problem(Space({"a": uniform(0, 1), "b": uniform(0, 1)})))
    for i in range(12):
        history.start({"a": i / 12, "b": i % 5 / 5}, 0, 1)
        history.tell(i, 1, Result(0.1 * 7))
    surface = ContourDisplay.from_search(history).ax_.collections[0]
    assert len(np.unique(surface.get_array())) == 1


def test_shares_stand_right_of_bars_and_intervals():
    found = Importance(["a"], np.array([0.2]), np.zeros(1), np.array([0.1]), 0.8, 0.5, 9, 0, None)
    share, _ = ImportanceDisplay(importance=found).plot().ax_.texts
    assert share.get_position()[0] > 0.2


def test_a_front_of_three_objectives_has_no_line():
    values = np.arange(6.0).reshape(2, 3)
    front = ParetoFront(np.arange(2), values, ("a", "b", "c"), np.ones(3), values)
    (line,) = ParetoDisplay(front=front).plot().ax_.get_lines()
    assert line.get_linestyle() == "None"


def test_choices_with_dollar_signs_are_no_formulas():
    assert short_choice("$x^2$", 20) == r"\$x^2\$"
