"""What the model expected of each candidate: made before it was evaluated, kept, and shown."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.stats import loguniform, uniform

from sksearch import GPBayesSearchCV, HyperbandSearchCV, RandomSearchCV, load_history
from sksearch.base import Start
from sksearch.history import History, Prediction, Problem, Result
from sksearch.models._transforms import inverse_power_transform, robust_power_transform
from sksearch.plotting import PredictionDisplay
from sksearch.samplers import GPSampler, RandomSampler, WarmStart
from sksearch.samplers._calibration import inflation, widest
from sksearch.samplers._warm_start import EarlierTask
from sksearch.schedulers import FullFidelity
from sksearch.space import Space
from sksearch.study import Study
from tests.fakes import Curve

X, Y = np.zeros((12, 1)), np.zeros(12)
SPACE = {"x": uniform(-2, 4), "lr": loguniform(1e-3, 1)}


@pytest.fixture(autouse=True)
def drawn_off_screen():
    backend = plt.get_backend()
    plt.switch_backend("Agg")
    yield
    plt.close("all")
    plt.switch_backend(backend)


def score(params, rng, noise=0.1):
    value = -(params["x"] ** 2) - (np.log10(params["lr"]) + 1.5) ** 2
    return float(value + noise * rng.normal())


def played(sampler, n, seed=0, noise=0.1, function=None):
    """The history of a study with a noisy objective."""
    function = function or (lambda params, rng: score(params, rng, noise))
    rng = np.random.default_rng(seed)
    study = Study(Problem(Space(SPACE), seed=seed), sampler, FullFidelity(n))
    while (job := study.ask()) is not None:
        study.tell(job, Result(float(function(job.params, rng)), 1.0))
    return study.history


def up_to(history, n):
    """The history as it was when trial n was asked for, one job at a time."""
    earlier = History(history.problem)
    for trial in history.trials[:n]:
        earlier.start(trial.params, trial.bracket, 1)
        earlier.tell(trial.id, 1, trial.results[1])
    return earlier


def test_each_candidate_after_the_first_ones_has_the_prediction_of_its_moment():
    sampler = GPSampler(n_initial=5)
    history = played(sampler, 14)
    assert [t.prediction is None for t in history.trials] == [True] * 5 + [False] * 9
    for trial in history.trials[5:]:
        again = sampler.predict(up_to(history, trial.id), Start(1), trial.params)
        assert again == trial.prediction
        assert again.resource == 1


def test_predicting_changes_no_proposal():
    class Mute(GPSampler):
        def predict(self, history, start, params):
            return None

    with_them, without = played(GPSampler(), 14), played(Mute(), 14)
    assert [t.params for t in with_them.trials] == [t.params for t in without.trials]


def waves(params, rng):
    return np.cos(6 * params["x"]) - abs(np.log10(params["lr"]) + 1) + 0.05 * rng.normal()


def with_a_cliff(params, rng):
    return score(params, rng, noise=0.0) - 2.0 * (params["x"] > 0.3)


@pytest.mark.whole
@pytest.mark.parametrize("function", [score, waves, with_a_cliff])
def test_intervals_of_95_percent_have_about_95_percent_of_the_scores(function):
    inside = []
    for seed in range(5):
        history = played(GPSampler(), 35, seed, function=function)
        inside += [
            t.prediction.low <= t.results[1].score <= t.prediction.high
            for t in history.trials
            if t.prediction is not None
        ]
    # Intervals no wider than the scores so far pay for a cliff: a value beyond it is a surprise.
    assert (0.88 if function is with_a_cliff else 0.9) <= np.mean(inside) <= 0.99
    assert len(inside) > 120


def test_an_interval_is_as_wide_as_earlier_misses_demand():
    def history(*misses, widened=1.0):
        history = History(Problem(Space({"x": uniform(0, 1)})))
        for i, miss in enumerate(misses):
            history.start({"x": i / 1e3}, 0, 1, None, Prediction(0.0, -1.0, 2.0, 1, widened))
            history.tell(i, 1, Result(miss))
        return history

    usual = inflation(history(), 1)
    assert 2 < usual < 3.5
    assert inflation(history(*[0.01] * 50), 1) == usual  # some misses are always kept in mind
    assert inflation(history(-5.0), 1) == 5.0  # below the median a half width is 1
    assert inflation(history(8.0), 1) == 4.0  # and above 2
    assert inflation(history(-5.0, widened=3.0), 1) == 15.0  # of the model's own interval
    assert inflation(history(-1e9), 1) == 100.0
    assert inflation(history(-5.0, *[0.0] * 20), 1) == usual  # long ago
    assert inflation(history(-5.0), 3) == usual  # at another resource
    assert inflation(history(np.nan), 1) == usual


@pytest.mark.parametrize(
    ("scores", "expected", "width"),
    [
        ([], 0.0, np.inf),
        ([1.0], 0.0, np.inf),
        ([3.0, 3.0, 3.0], 0.0, np.inf),  # nothing is known of the first that is not equal
        ([0.0, 1.0], 0.0, 2 * 12.706 * np.sqrt(0.5 * 1.5)),  # Student's t of two scores
        ([0.0, 1.0, np.nan], 0.0, 2 * 12.706 * np.sqrt(0.5 * 1.5)),
        ([0.0, 1.0] * 9, 0.5, 2 * 2.1098 * np.sqrt(18 / 17 / 4 * 19 / 18)),
        ([0.0, 1.0] * 10, 0.5, 1.0),  # the misses of twenty
        ([1e9] + [0.0, 1.0] * 10, 0.5, 1.0),  # long ago
        ([0.0, 1.0] * 10, np.nan, 2 * 2.093 * np.sqrt(20 / 19 / 4 * 21 / 20)),  # no predictions
    ],
)
def test_an_interval_is_no_wider_than_what_is_known_without_a_model(scores, expected, width):
    history = History(Problem(Space({"x": uniform(0, 1)})))
    for i, score in enumerate(scores):
        middle = None if np.isnan(expected) else Prediction(expected, -9.0, 9.0, 1)
        history.start({"x": i / 1e3}, 0, 1, None, middle)
        history.tell(i, 1, Result(score))
    np.testing.assert_allclose(widest(history, 1), width, rtol=1e-3)
    assert widest(history, 3) == np.inf, "at another resource"


def test_intervals_of_a_rough_function_are_better_than_the_mean_and_its_spread():
    def rough(params, rng):
        x = np.array([params["x"], np.log10(params["lr"])])
        return -float((x**2 - 10 * np.cos(2 * np.pi * x)).sum())

    history = played(GPSampler(), 25, function=rough)
    scores = np.array([trial.results[1].score for trial in history.trials])
    ours, simple = [], []
    for i, trial in enumerate(history.trials):
        if (found := trial.prediction) is None:
            continue
        middle, half = scores[:i].mean(), 1.96 * scores[:i].std()
        for losses, low, high in ((ours, found.low, found.high),
                                  (simple, middle - half, middle + half)):  # fmt: skip
            off = max(low - scores[i], scores[i] - high, 0)
            losses.append(high - low + 40 * off)
        assert found.high - found.low <= widest(
            history_before(history, i), found.resource
        ) * (1 + 1e-9)  # fmt: skip
    assert np.mean(ours) < np.mean(simple)


def history_before(history, n):
    """The history as it was when trial n was proposed."""
    before = History(history.problem)
    for trial in history.trials[:n]:
        before.start(trial.params, 0, 1, None, trial.prediction)
        before.tell(trial.id, 1, trial.results[1])
    return before


def test_a_prediction_says_by_how_much_it_is_widened():
    sampler = GPSampler(n_initial=5)
    for trial in played(sampler, 14).trials[5:]:
        found = trial.prediction
        assert found.widened > 1
        assert found.low < found.score < found.high


def test_a_model_that_knows_the_function_has_narrow_intervals():
    history = played(GPSampler(), 40, noise=0.0)
    widths = [t.prediction.high - t.prediction.low for t in history.trials if t.prediction]
    assert np.median(widths[-10:]) < 0.5 * np.median(widths[:5])


@pytest.mark.parametrize("transfer", ["rung", "joint", "all"])
def test_of_several_resources_a_prediction_names_its_own(transfer):
    search = HyperbandSearchCV(
        Curve(), {"quality": uniform(0, 1)}, resource="epochs", max_resources=9, cv=2,
        sampler=GPSampler("ei_distribution", transfer=transfer, n_initial=3), random_state=0,
    ).fit(X, Y)  # fmt: skip
    found = [t.prediction for t in search.history_.trials if t.prediction is not None]
    assert found
    assert {p.resource for p in found} <= {1, 3, 9}
    if transfer == "joint":
        assert {p.resource for p in found} == {9}


def test_predictions_are_in_the_journal_and_a_search_that_continues_has_them(tmp_path):
    args = {"n_iter": 9, "n_initial": 4, "cv": 2, "random_state": 0}
    space = {"quality": uniform(0, 1), "other": uniform(0, 1)}

    def fit(folder, **more):
        return GPBayesSearchCV(Curve(), space, checkpoint_dir=folder, **args, **more).fit(X, Y)

    def predictions(search):
        return [trial.prediction for trial in search.history_.trials]

    whole = fit(None)
    first = fit(tmp_path, timeout=1e-9)  # ends after its first candidate
    assert len(first.history_.trials) < 9
    assert predictions(fit(tmp_path)) == predictions(whole)
    assert predictions(load_history(tmp_path)) == predictions(whole)
    assert predictions(fit(tmp_path)) == predictions(whole)
    assert sum(p is not None for p in predictions(whole)) == 5


def test_a_baseline_outside_of_the_space_is_predicted_where_it_counts():
    known = tuple(({"C": c}, -((np.log10(c) - 1) ** 2)) for c in np.geomspace(0.1, 100, 9))
    problem = Problem(
        Space({"C": loguniform(0.1, 100)}), seed=0, initial_params=({"C": "scale"},),
        has_baseline=True, known=known,
    )  # fmt: skip
    job = Study(problem, GPSampler(), FullFidelity(3)).ask()
    assert job.params == {"C": "scale"}
    assert job.prediction.low < job.prediction.high


def test_a_warm_start_predicts_as_its_sampler_does():
    task = EarlierTask([{"x": u, "lr": u} for u in (0.1, 0.3, 0.7)], [1.0, 2.0, 0.5])
    history = played(WarmStart(GPSampler(n_initial=5), [task]), 8)
    assert [trial.prediction is None for trial in history.trials] == [True] * 5 + [False] * 3


def test_samplers_without_a_model_predict_nothing():
    history = played(RandomSampler(), 5)
    assert {trial.prediction for trial in history.trials} == {None}
    with pytest.raises(ValueError, match="only GPSampler makes them"):
        PredictionDisplay(history=history).plot()


@pytest.mark.parametrize("ends", [(0, 1, 3), (0, np.nan, 1), (0, -np.inf, 1)])
def test_a_prediction_is_three_numbers_in_order(ends):
    with pytest.raises(ValueError, match="in this order"):
        Prediction(*ends, 1)


# ---- the transformation back


@pytest.mark.parametrize("seed", range(5))
def test_the_inverse_leads_back_to_the_scores_that_were_not_moved(seed):
    rng = np.random.default_rng(seed)
    for y in (rng.normal(size=30), np.exp(rng.normal(size=12)), 0.9 + 1e-3 * rng.random(7)):
        z = robust_power_transform(y)
        kept = z > z.min()
        np.testing.assert_allclose(inverse_power_transform(y, z)[kept], y[kept], rtol=1e-6)


def test_the_inverse_is_monotone_and_stays_near():
    y = np.r_[np.random.default_rng(0).random(20), -1e6]
    scores = inverse_power_transform(y, np.linspace(-50, 50, 1000))
    assert np.isfinite(scores).all()
    assert (np.diff(scores) >= 0).all()
    assert scores.max() <= y.max() + np.ptp(y)
    np.testing.assert_array_equal(inverse_power_transform(np.ones(4), np.array([-1.0, 3])), 1)


# ---- the display


def told(pairs):
    """A history of predictions (score, low, high) and what came."""
    history = History(Problem(Space({"x": uniform(0, 1)})))
    for i, (expected, came) in enumerate(pairs):
        history.start({"x": i / 1e4}, 0, 1, None, expected and Prediction(*expected, 1))
        history.tell(i, 1, Result(came))
    return history


def test_the_display_counts_what_is_inside():
    pairs = [((0.0, -1.96, 1.96), s) for s in (0.5, -3.0, 1.0, 0.0)] + [(None, 1.0)]
    pairs.append(((0.0, -1.0, 1.0), np.nan))
    display = PredictionDisplay(history=told(pairs)).plot()
    assert (display.n_predicted_, display.coverage_) == (4, 0.75)
    # Within half a standard deviation are 38 %, within one 68 %.
    assert display.calibration_[[0, 36, 38, 66, 68]].tolist() == [0.25, 0.25, 0.5, 0.5, 0.75]


def test_a_calibrated_model_is_on_the_diagonal_and_a_proud_one_below():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=2000)
    for width, where in ((1.96, 0.0), (0.98, -0.3)):
        pairs = [((0.0, -width, width), s) for s in scores]
        display = PredictionDisplay(history=told(pairs)).plot()
        gap = display.calibration_[67] - 0.68
        assert gap == pytest.approx(where, abs=0.1)
        assert (gap < -0.2) == (where < 0)


def test_scores_far_below_are_counted_and_candidates_are_whole_numbers():
    pairs = [((0.0, -1.0, 1.0), score) for score in (0.5, 0.4, 0.6, 0.3, -1e6)]
    ax = PredictionDisplay(history=told(pairs)).plot().axes_[0]
    assert ax.get_ylabel() == "Score (1 below)"
    assert all(place == int(place) for place in ax.get_xticks())


def test_searches_of_any_size_are_drawn():
    search = GPBayesSearchCV(
        Curve(), {"quality": uniform(0, 1)}, n_iter=12, cv=2, scoring="r2", random_state=0
    )
    search.set_params(scoring=None).fit(X, Y)
    display = PredictionDisplay.from_search(search)
    assert display.axes_[0].get_ylabel() == "Score, mean over folds (1 below)"
    with pytest.raises(ValueError, match="no predictions"):
        PredictionDisplay.from_search(
            RandomSearchCV(Curve(), {"quality": uniform(0, 1)}, n_iter=3, cv=2).fit(X, Y)
        )
