"""The winner, as ``best_index_`` says it, is what every report, picture, table and page says."""

import re
from contextlib import ExitStack
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.stats import uniform
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    RandomizedSearchCV,
)

from sksearch import (
    Bound,
    HyperbandSearchCV,
    PBTSearchCV,
    RandomSearchCV,
    SearchCV,
    load_history,
    report,
)
from sksearch.checkpoint._checkpoint import read_journal
from sksearch.executors import VirtualClock, spend
from sksearch.fitting.run._run import Run
from sksearch.plotting import (
    ContourDisplay,
    HistoryDisplay,
    ImportanceDisplay,
    ParallelDisplay,
    ParetoDisplay,
    SliceDisplay,
)
from sksearch.plotting._distribution import DistributionDisplay
from sksearch.plotting._rungs import RungDisplay
from sksearch.plotting._style import ACCENT
from sksearch.reader._read import read
from sksearch.reporting import _mlflow, best, to_frame, to_mlflow
from sksearch.samplers import RandomSampler
from sksearch.schedulers import FoldRace
from sksearch.search import JournalError, SavedSearch
from sksearch.search._tune import summary
from sksearch.stats import _effects, _importance
from sksearch.watch import page

X = np.random.default_rng(0).standard_normal((60, 1))
Y = np.arange(60.0)
SPACE = {"alpha": uniform(0, 1), "beta": uniform(0, 1)}
GRID = {"alpha": [0.11, 0.22, 0.33, 0.44], "beta": [0.5, 0.6, 0.7]}
pytestmark = pytest.mark.filterwarnings(
    "ignore:One or more of the", "ignore:(?s).*fits failed", "ignore:No candidate satisfies",
    "ignore:.*are distinct", "ignore:timeout=.* folds of the first candidate",
)  # fmt: skip


class Noisy(RegressorMixin, BaseEstimator):
    """Its score is noise of its params, epochs, rows and fold: no rung foretells another."""

    def __init__(self, alpha=0.5, beta=0.5, n_units=1, fails_above=2.0, seconds=0, flat=False):
        self.alpha, self.beta, self.n_units = alpha, beta, n_units
        self.fails_above, self.seconds, self.flat = fails_above, seconds, flat

    def fit(self, X, y=None):
        self.n_epochs_ = 0
        return self.partial_fit(X, y)

    def partial_fit(self, X, y=None):
        if self.alpha > self.fails_above:
            raise RuntimeError("too large")
        spend(self.seconds)
        self.n_epochs_ = getattr(self, "n_epochs_", 0) + 1
        self.n_rows_ = len(X)
        return self

    def predict(self, X):
        return np.full(len(X), self.alpha)

    def score(self, X, y=None):
        parts = (self.alpha, self.beta, abs(X[0, 0]), self.n_epochs_, self.n_rows_, self.n_units)
        return 0.5 if self.flat else np.random.default_rng([int(1e6 * p) for p in parts]).random()


def gain_and_price(estimator, X, y):
    return {"gain": estimator.score(X), "price": estimator.alpha**2}


def lowest_rung(results):
    """A row that ranks last of those with a score."""
    scored = np.flatnonzero(results["std_test_score"] > 0)
    return int(scored[np.argmax(np.asarray(results["rank_test_score"])[scored])])


def worst_gain(results):
    return int(np.argmax(results["rank_test_gain"]))


def ours(cls, estimator=None, space=SPACE, **params):
    return cls(estimator or Noisy(), space, **({"cv": 3, "random_state": 0} | params))


def race(**params):
    parts = {"sampler": RandomSampler(), "scheduler": FoldRace(), "resource": "folds", "cv": 4}
    return ours(SearchCV, **({"n_iter": 20} | parts | params))


def aimed(**params):
    return ours(
        RandomSearchCV, n_iter=20, scoring=gain_and_price, objectives=["gain", "-price"], **params
    )


def random(n_iter=20, **params):
    return ours(RandomSearchCV, n_iter=n_iter, **params)


def hyperband(resource="epochs", **params):
    return ours(HyperbandSearchCV, resource=resource, **({"max_resources": 9} | params))


def theirs(cls, space=SPACE, **params):
    return cls(Noisy(), space, cv=3, **params)


SITUATIONS = {
    "random": lambda: random(),
    "ties": lambda: random(estimator=Noisy(flat=True)),
    "a grid that repeats entries": lambda: random(12, space={**GRID, "beta": [0.5, 0.5, 0.6]}),
    "failures": lambda: random(estimator=Noisy(fails_above=0.6), error_score=9.0),
    "race": race,
    "race, error_score a number": lambda: race(estimator=Noisy(fails_above=0.5), error_score=9.0),
    "race, time up before all folds": lambda: race(estimator=Noisy(seconds=1), timeout=3.5),
    "folds in brackets": lambda: hyperband("folds", cv=9),
    "epochs": hyperband,
    "epochs, the best of the top": lambda: hyperband(select="top"),
    "epochs, a function of all rungs": lambda: hyperband(refit=lowest_rung),
    "epochs with failures": lambda: hyperband(estimator=Noisy(fails_above=0.6)),
    "rows": lambda: hyperband("n_samples", max_resources=27),
    "a parameter": lambda: hyperband("n_units"),
    "a population": lambda: ours(
        PBTSearchCV, population_size=8, resource="epochs", max_resources=9, step=3
    ),
    "objectives, knee": aimed,
    "objectives, bound": lambda: aimed(refit=Bound("price", "<=", 0.2)),
    "objectives, weights": lambda: aimed(refit={"gain": 0.1, "price": 1.0}),
    "objectives, by name": lambda: aimed(refit="price"),
    "objectives, a function off the front": lambda: aimed(refit=worst_gain),
    "objectives, no refit": lambda: aimed(refit=False),
    "objectives at rungs": lambda: hyperband(
        scoring=gain_and_price, objectives=["gain", "-price"], refit="knee"
    ),
    "bounds that some keep": lambda: random(
        scoring=gain_and_price, refit="gain", known={"constraints": Bound("price", "<=", 0.1)}
    ),
    "bounds that nobody keeps": lambda: random(
        scoring=gain_and_price, refit="gain", known={"constraints": Bound("price", "<=", -1.0)}
    ),
    "1se": lambda: random(refit="1se"),
    "simplest": lambda: random(refit="simplest"),
    "fastest": lambda: hyperband(refit="fastest"),
    "a function": lambda: random(refit=lowest_rung),
    "no refit": lambda: random(refit=False),
    "metrics": lambda: random(scoring=gain_and_price, refit="price"),
    "metrics, no refit": lambda: random(scoring=gain_and_price, refit=False),
    "interrupted": hyperband,
    "interrupted race": race,
    "interrupted, simplest": lambda: random(refit="simplest"),
    "their grid": lambda: theirs(GridSearchCV, GRID),
    "their random search": lambda: theirs(RandomizedSearchCV, n_iter=12, random_state=0),
    "their function": lambda: theirs(GridSearchCV, GRID, refit=lowest_rung),
    "their metrics, no refit": lambda: theirs(
        GridSearchCV, GRID, scoring=gain_and_price, refit=False
    ),
    "their halving of rows": lambda: theirs(
        HalvingRandomSearchCV, n_candidates=18, min_resources=6, random_state=0
    ),
    "their halving of a parameter": lambda: theirs(
        HalvingGridSearchCV, GRID, resource="n_units", max_resources=9
    ),
}


@pytest.fixture(scope="module", autouse=True)
def coarse_models():
    """Effects of params are none of this file's business, and take most of the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_effects, "N_PLANE", 4)
        patch.setattr(_effects, "N_POINTS", 4)
        patch.setattr(_effects, "N_OTHERS", 10)
        patch.setattr(_importance, "N_MODELS", 2)
        yield


@pytest.fixture(scope="module", params=SITUATIONS)
def situation(request, tmp_path_factory):
    """A fitted search, and its checkpoint_dir or None."""
    search, folder = SITUATIONS[request.param](), None
    if hasattr(search, "checkpoint_dir"):
        folder = search.checkpoint_dir = tmp_path_factory.mktemp("search")
    with VirtualClock(), pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        if "interrupted" in request.param:
            patch.setattr(Run, "on_result", Interrupt(Run.on_result))
            stack.enter_context(pytest.raises(KeyboardInterrupt))
        search.fit(X, Y)
    return search, folder


class Interrupt:
    """Ctrl-C after the fifteenth result."""

    def __init__(self, on_result):
        self.on_result, self.n = on_result, 0

    def __get__(self, run, cls=None):
        return lambda job: self(run, job)

    def __call__(self, run, job):
        self.on_result(run, job)
        self.n += 1
        if self.n == 15:
            raise KeyboardInterrupt


def alpha_of_winner(search):
    results = search.cv_results_
    first = next(name for name in results if name.startswith("rank_test_"))
    row = getattr(search, "best_index_", int(np.argmin(results[first])))
    return results["params"][row]["alpha"]


# ---- readers: each says the alpha of the winner, None if it says nothing of such a search


def by_report(search, folder):
    line = re.search(r"^\s*Winner\s(.*)", str(report(search)), flags=re.MULTILINE)[1]
    return float(re.search(r"alpha=([\d.e-]+)", line)[1])


def by_frame(search, folder):
    return to_frame(search)["alpha"].iloc[0]


def by_best(search, folder):
    return best(search, 1)[0]["alpha"]


def by_summary(search, folder):
    if folder is None or not hasattr(search, "best_params_"):
        return None
    return float(re.search(r"alpha: ([\d.e-]+)", summary(search))[1])


def by_history(search, folder):
    ax = HistoryDisplay.from_search(search).ax_
    (star,) = [line for line in ax.get_lines() if line.get_label() == "winner"]
    ((x, score),) = star.get_xydata()
    trials = read(search).history.trials
    if ax.get_xlabel() == "Candidate":
        return trials[int(x) - 1].params["alpha"]
    return alpha_with(trials, int(x), score)


def by_rungs(search, folder):
    try:
        ax = RungDisplay.from_search(search).ax_
    except ValueError:
        return None
    (star,) = stars(ax)
    ((x, score),) = star.get_xydata()
    level = ax.get_xticklabels()[int(x)].get_text().split("\n")[0]
    return alpha_with(read(search).history.trials, int(level), score)


def by_slices(search, folder):
    display = SliceDisplay.from_search(search, params=["alpha"])
    (star,) = stars(display.axes_[0])
    low, high = display.axes_[0].get_ylim()
    assert low <= star.get_ydata()[0] <= high
    return display.candidates.axes["alpha"].decode(star.get_xdata())[0]


def by_contour(search, folder):
    display = ContourDisplay.from_search(search, params=("alpha", "beta"))
    (star,) = stars(display.ax_)
    return display.candidates.axes["alpha"].decode(star.get_xdata())[0]


def by_parallel(search, folder):
    display = ParallelDisplay.from_search(search, params=["alpha", "beta"])
    lines = [line for line in display.ax_.get_lines() if line.get_color() == ACCENT]
    place = next(line.get_ydata() for line in lines if len(line.get_ydata()))  # of each a line
    return display.candidates.axes["alpha"].decode(place)[0]


def by_front(search, folder):
    if not hasattr(search, "pareto_"):
        return None
    ax = ParetoDisplay.from_search(search, objectives=("gain", "price")).ax_
    (ring,) = [line for line in ax.get_lines() if line.get_label() == "winner"]
    return float(np.sqrt(ring.get_ydata()[0]))  # the price is alpha squared


class FakeRuns:
    """What `to_mlflow` would send of the search itself."""

    def __init__(self, *where):
        self.sent = []

    def begin(self, name, tags, time):
        return name if tags else "search"

    def log(self, run_id, params, metrics, time):
        if run_id == "search":
            FakeRuns.params, FakeRuns.metrics = params, list(metrics)

    def end(self, run_id, status, time):
        pass


def by_mlflow(search, folder, monkeypatch=None):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_mlflow, "_Runs", FakeRuns)
        to_mlflow(search)
    return FakeRuns.params["alpha"]


def by_saved(search, folder):
    return None if folder is None else load_history(folder).best_params_["alpha"]


def by_page(search, folder):
    if folder is None:
        return None
    text = page(folder)
    ring = re.search(r'd="M([\d.]+) [\d.]+a7 [^"]*" class="best"', text)[1]
    circles = re.findall(r'<circle cx="([\d.]+)"[^>]*data-t="[^"]*alpha = ([\d.e-]+)', text)
    at = min(circles, key=lambda circle: abs(float(circle[0]) - float(ring) - 7))
    assert abs(float(at[0]) - float(ring) - 7) < 0.11
    large = re.search(r"<span>alpha</span><b>([\d.e-]+)</b>", text)[1]
    assert large == at[1]
    return float(large)


READERS = [
    by_report, by_frame, by_best, by_summary, by_history, by_rungs, by_slices, by_contour,
    by_parallel, by_front, by_mlflow, by_saved, by_page,
]  # fmt: skip


def stars(ax):
    return [line for line in ax.get_lines() if line.get_marker() == "*"]


def alpha_with(trials, resource, score):
    (found,) = [
        trial.params["alpha"]
        for trial in trials
        if resource in trial.results and trial.results[resource].score == pytest.approx(score)
    ]
    return found


@pytest.mark.few(6)
def test_everybody_names_the_candidate_of_best_index(situation):
    search, folder = situation
    won = pytest.approx(alpha_of_winner(search), rel=1e-3)
    for reader in READERS:
        said = reader(search, folder)
        plt.close("all")
        assert said is None or said == won, reader.__name__


# ---- what is said of the folds, and of another resource


def fitted(name, **params):
    with VirtualClock():
        return SITUATIONS[name]().set_params(**params).fit(X, Y)


def test_pictures_say_that_a_mean_is_of_some_folds():
    search = fitted("race")
    of = "mean of 3 of 4 folds"
    title = SliceDisplay.from_search(search).axes_[0].get_title("left")
    won = f"{search.best_score_:.4g}, mean of 4 folds"
    assert title == f"Score, {of}: 10 candidates\nstar: the winner, {won}"
    assert ContourDisplay.from_search(search).ax_.get_title("left").endswith(won)
    parallel = ParallelDisplay.from_search(search).ax_
    assert parallel.get_xticklabels()[-1].get_text() == f"Score\n{of}"
    assert parallel.get_legend().get_texts()[0].get_text() == f"winner, {won}"
    assert ImportanceDisplay.from_search(search).ax_.get_xlabel().endswith(f"({of})")
    assert DistributionDisplay.from_search(search).ax_.get_xlabel() == f"Score, {of}"
    for display in (HistoryDisplay, RungDisplay):
        assert display.from_search(search).ax_.get_ylabel() == "Score, mean over folds so far"


def test_the_folds_of_an_incomplete_winner_are_reported(tmp_path):
    search = fitted("race, time up before all folds", checkpoint_dir=tmp_path)
    of = "mean of 3 of 4 folds"
    assert of in str(report(search))
    assert of in summary(search)
    assert of in HistoryDisplay.from_search(search).ax_.get_title("left")
    assert of in page(tmp_path)


def test_the_untuned_estimator_is_compared_on_the_folds_that_it_has():
    search = fitted("race")
    results = search.cv_results_
    dropped = np.flatnonzero(results["n_resources"] == 1)[0]
    search.estimator = Noisy(**results["params"][dropped])
    gain = (results["split0_test_score"][[search.best_index_, dropped]] @ [1, -1]).item()
    line = next(s for s in str(report(search)).splitlines() if s.startswith("Untuned"))
    assert line.endswith(f"1 of 4 folds: tuning gains {max(gain, 0):.2f} on these folds")


def test_a_star_is_hollow_where_the_winner_has_no_score():
    search = fitted("objectives at rungs")
    display = SliceDisplay.from_search(search, params=["alpha"])
    (star,) = stars(display.axes_[0])
    assert display.candidates.resource < search.best_n_resources_
    assert star.get_markerfacecolor() == "w"
    assert star.get_ydata()[0] == pytest.approx(search.best_score_)
    title = display.axes_[0].get_title("left").splitlines()
    assert title[0].endswith("candidates at 1 epoch")
    assert title[1] == f"star: the winner, {search.best_score_:.4g} at 9 epochs"
    (star,) = stars(SliceDisplay.from_search(fitted("random"), params=["alpha"]).axes_[0])
    assert star.get_markerfacecolor() == ACCENT


def test_a_star_far_below_all_others_is_inside_the_axes():
    search = fitted("random")
    worst = int(np.argmin(search.cv_results_["mean_test_score"]))
    for name in search.cv_results_:
        if name.startswith(("split", "mean_test")):
            search.cv_results_[name][worst] -= 100
    result = search.history_.trials[worst].results[1]
    search.history_.trials[worst].results[1] = replace(result, score=result.score - 100)
    search.best_index_ = worst
    axes = [SliceDisplay.from_search(search).axes_[0], HistoryDisplay.from_search(search).ax_]
    assert all(ax.get_ylim()[0] < -99 for ax in axes)


# ---- the journal


def test_a_search_that_continues_has_no_winner_until_its_end(tmp_path):
    search = fitted("simplest", checkpoint_dir=tmp_path)
    journal = tmp_path / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    assert b'"k":"won"' in lines[-1]
    assert load_history(tmp_path).best_params_ == search.best_params_
    *_, last = [line for line in lines if b'"k":"tell"' in line]
    cut = lines.index(last) - 1  # the job of the last candidate, then its result
    journal.write_bytes(b"".join([*lines[:cut], lines[-1], *lines[cut:-1]]))
    saved = load_history(tmp_path)
    assert saved.best_index_ == np.argmin(saved.cv_results_["rank_test_score"])


@pytest.mark.few(2)
@pytest.mark.parametrize(("trial_id", "resource"), [(99, 1), (0, 7), (-1, 1), (0, None)])
def test_a_winner_that_was_never_told_is_refused(tmp_path, trial_id, resource):
    fitted("simplest", checkpoint_dir=tmp_path)
    header, events, _ = read_journal(tmp_path)
    with pytest.raises(JournalError, match="is not a valid entry"):
        SavedSearch(header, [*events, {"k": "won", "t": trial_id, "r": resource}])


def test_mlflow_has_the_scores_of_candidates_that_were_dropped():
    search = fitted("race")
    table = read(search)
    for candidate in table.candidates:
        trial = search.history_.trials[candidate.row.trial_id]
        steps = {n: x for name, x, n in _mlflow._metrics(table, candidate.rows) if name == "score"}
        assert steps.keys() == set(range(1, trial.resource + 1))
        assert steps[trial.resource] == pytest.approx(trial.results[trial.resource].score)
