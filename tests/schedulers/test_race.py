"""Races over folds: the winner stays, the error is as stated, and nothing depends on workers."""

import pickle

import numpy as np
import pytest
from scipy.stats import loguniform, norm, t, uniform
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import LeaveOneGroupOut, LeaveOneOut, RepeatedStratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from sksearch import SearchCV, minimize
from sksearch.base import Start
from sksearch.history import Problem, Result
from sksearch.samplers import GPSampler, GridSampler, RandomSampler, TPESampler
from sksearch.schedulers import FoldRace, FullFidelity
from sksearch.schedulers._race import RaceState, rungs_of_race
from sksearch.space import Space
from sksearch.study import Study
from tests.fakes import Failing

X, y = load_breast_cancer(return_X_y=True)
X, y = X[::3], y[::3]
SVM = make_pipeline(StandardScaler(), SVC())
SPACE = {"svc__C": loguniform(1e-2, 1e3), "svc__gamma": loguniform(1e-4, 1e1)}


def study_of(n_candidates, k, error=0.1, n_own=0, **kwargs):
    own = tuple({"x": (i + 0.5) / (n_own + 1)} for i in range(n_own))
    problem = Problem(Space({"x": uniform(0, 1)}), 1, k, initial_params=own, n_own=n_own, seed=0)
    return Study(problem, RandomSampler(), FoldRace(n_candidates, error, **kwargs))


def race(scores, error=0.1, batch_size=1, with_folds=True, n_own=0):
    """Race recorded scores, shape (n_candidates, k); return the history."""
    study = study_of(len(scores), scores.shape[1], error, n_own)
    running = []
    while True:
        while len(running) < batch_size and (job := study.ask()) is not None:
            running.append(job)
        if not running:
            return study.history
        job = running.pop(0)
        on_folds = scores[job.trial_id, : job.resource]
        result = Result(on_folds.mean(), fold_scores=tuple(on_folds) if with_folds else ())
        study.tell(job, result)


def winner(history):
    top = history.problem.max_resources
    scores = {t.id: t.results[top].score for t in history.trials if top in t.results}
    return max(scores, key=scores.get)


def n_folds(history):
    return sum(trial.resource for trial in history.trials)


def simulated(rng, n, k, spread):
    """Scores with folds that differ, and candidates whose own means do."""
    return rng.normal(0, 3, (1, k)) + rng.normal(0, spread, (n, 1)) + rng.normal(0, 1, (n, k))


# ---- the error rate


def winner_against_an_equal(rng, k, n):
    """The second half of the candidates: the first of them just overtakes all before.

    This is the hardest case: a winner whose lead over all k folds is hardly any. The folds that
    it is behind on are a matter of chance.
    """
    scores = simulated(rng, n, k, 0)
    best = scores[: n - 1].mean(axis=1).argmax()
    scores[n - 1] += scores[best].mean() - scores[n - 1].mean() + 1e-9
    return scores


@pytest.mark.whole
@pytest.mark.parametrize("error", [0.05, 0.2])
@pytest.mark.parametrize("k", [2, 5, 10])
def test_in_the_hardest_case_the_winner_is_dropped_as_rarely_as_stated(k, error):
    n_races = 200
    rng = np.random.default_rng(k)
    n_lost = sum(
        winner(race(winner_against_an_equal(rng, k, 15), error)) != 14 for _ in range(n_races)
    )
    # Three standard errors of a count with this probability.
    assert n_lost <= n_races * error + 3 * np.sqrt(n_races * error * (1 - error))


@pytest.mark.whole
@pytest.mark.parametrize("k", [3, 5, 10])
def test_a_larger_error_saves_more_and_the_winner_stays(k):
    rng = np.random.default_rng(0)
    tables = [simulated(rng, 25, k, 1) for _ in range(60)]
    spent, lost = [], []
    for error in (0.01, 0.1, 0.4):
        histories = [race(scores, error) for scores in tables]
        spent.append(sum(map(n_folds, histories)))
        lost.append(
            sum(winner(h) != s.mean(1).argmax() for h, s in zip(histories, tables, strict=True))
        )
    assert spent[0] > spent[1] > spent[2]
    assert spent[1] < 0.75 * 60 * 25 * k
    assert lost[0] <= 1
    assert lost[1] <= 3
    assert lost[2] <= 24


# ---- the rule


def test_the_first_candidate_gets_all_folds_and_a_weak_one_a_single_fold():
    rng = np.random.default_rng(0)
    scores = 0.9 + 0.001 * rng.normal(size=(6, 5))
    scores[5] = 0.2
    history = race(scores)
    assert history.trials[0].resource == 5
    assert history.trials[5].resource == 1


def test_what_all_candidates_share_of_a_fold_does_not_count():
    rng = np.random.default_rng(0)
    scores = simulated(rng, 20, 5, 1)
    harder = scores + np.array([100.0, -50, 3, 0, 7])
    assert winner(race(harder)) == winner(race(scores))
    # While there are two candidates only, the leader's own spread counts.
    assert n_folds(race(harder)) <= n_folds(race(scores)) + 10


def test_equal_candidates_are_not_dropped():
    rng = np.random.default_rng(0)
    history = race(np.tile(rng.normal(size=(1, 5)), (8, 1)))
    assert n_folds(history) == 40
    assert winner(history) == 0


def test_equal_candidates_give_no_certainty_about_others():
    """Of twenty candidates that score the same nothing follows for one that does not."""
    rng = np.random.default_rng(1)
    scores = np.tile(rng.normal(0, 0.1, (1, 5)), (21, 1))
    scores[20] = scores[0] + [-0.02, 0.2, 0.2, 0.2, 0.2]
    assert winner(race(scores)) == 20


def test_scores_without_any_spread_are_distinguished_at_once():
    scores = np.repeat(np.array([[0.5], [0.4], [0.6], [0.55]]), 5, axis=1)
    assert [t.resource for t in race(scores).trials] == [5, 1, 5, 1]


def test_means_at_the_rungs_do_where_there_are_no_scores_of_folds():
    scores = simulated(np.random.default_rng(0), 20, 5, 1)
    assert race(scores, with_folds=False).log == race(scores).log


def test_rungs_are_all_folds_up_to_five_and_fewer_of_many():
    def rungs(low, k):
        return rungs_of_race(Problem(Space({"x": uniform()}), low, k))

    assert rungs(1, 2) == [1, 2]
    assert rungs(1, 5) == [1, 2, 3, 4, 5]
    assert rungs(1, 10) == [1, 2, 3, 4, 5, 6, 7, 8, 10]
    assert rungs(3, 5) == [3, 4, 5]
    assert len(rungs(1, 100)) == 21
    assert rungs(4, 4) == [4]


def test_a_failure_at_a_later_fold_drops_a_candidate_even_the_first():
    study, resources = study_of(4, 5), {}
    while (job := study.ask()) is not None:
        fails = job.trial_id == 0 and job.resource == 3
        study.tell(job, Result(np.nan if fails else 1.0))
        resources[job.trial_id] = job.resource
    assert resources == {0: 3, 1: 5, 2: 5, 3: 5}


def test_while_the_first_candidate_runs_others_get_one_fold_each():
    study = study_of(10, 5)
    jobs = [study.ask() for _ in range(4)]
    assert [(job.trial_id, job.resource) for job in jobs] == [(0, 1), (1, 1), (2, 1), (3, 1)]
    for job in jobs:
        study.tell(job, Result(1.0))
    jobs = [study.ask() for _ in range(3)]
    assert [(job.trial_id, job.resource) for job in jobs] == [(0, 2), (4, 1), (5, 1)]


@pytest.mark.parametrize(
    ("n_own", "expected"),
    [
        # the second model leads, and the fourth is seen before the third one's second fold
        (4, [(0, 3), (1, 1), (1, 2), (1, 3), (2, 1), (3, 1), (3, 2)]),
        (0, [(0, 3), (1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3)]),
    ],
)
def test_each_model_has_one_fold_before_another_that_does_not_lead_goes_on(n_own, expected):
    noise = np.array([[0.0, 0.04, -0.04], [0.03, -0.02, 0.01], [0.0, 0.02, 0.0], [0.0, 0.0, 0.01]])
    history = race(np.array([[0.6], [0.8], [0.79], [0.795]]) + noise, n_own=n_own)
    asked = [(i, resource) for event, i, resource in history.log if event == "ask"]
    assert [(0, 3), *asked[3:]][: len(expected)] == expected


@pytest.mark.parametrize("kwargs", [{"n_candidates": 0}, {"n_candidates": 1.5}, {"error": 0}])
def test_bad_arguments_say_so(kwargs):
    with pytest.raises(ValueError, match=next(iter(kwargs))):
        FoldRace(**kwargs)


# ---- a function of the history


@pytest.mark.parametrize("stop_after", [1, 7, 30])
@pytest.mark.parametrize("batch_size", [1, 4])
def test_a_history_without_its_cache_decides_the_same(batch_size, stop_after):
    scores = simulated(np.random.default_rng(3), 15, 5, 1)
    study, running, n = study_of(15, 5), [], 0
    while True:
        while len(running) < batch_size and (job := study.ask()) is not None:
            running.append(job)
        if not running:
            break
        job = running.pop(0)
        study.tell(job, Result(scores[job.trial_id, : job.resource].mean()))
        n += 1
        if n == stop_after:
            study = pickle.loads(pickle.dumps(study))
    assert study.history.log == race(scores, batch_size=batch_size, with_folds=False).log


def search(**kwargs):
    kwargs = {"scheduler": FoldRace(12), "resource": "folds", "cv": 4, "random_state": 0} | kwargs
    return SearchCV(SVM, SPACE, **kwargs)


@pytest.mark.few(2)
@pytest.mark.parametrize("batch_size", [1, 3])
@pytest.mark.parametrize("sampler", [RandomSampler(), TPESampler()], ids=str)
def test_the_number_of_workers_changes_nothing(sampler, batch_size):
    alone = search(sampler=sampler, workers={"batch_size": batch_size}).fit(X, y)
    others = search(sampler=sampler, workers={"batch_size": batch_size}, n_jobs=2).fit(X, y)
    assert others.history_.log == alone.history_.log
    assert others.best_params_ == alone.best_params_
    assert n_folds(alone.history_) < 12 * 4


@pytest.mark.whole
@pytest.mark.parametrize("n_told", [1, 3, 9, 17])
def test_it_continues_from_a_checkpoint_at_any_point(n_told, tmp_path):
    whole = search(sampler=GPSampler()).fit(X, y)
    search(sampler=GPSampler(), checkpoint_dir=tmp_path).fit(X, y)
    lines = (tmp_path / "journal.jsonl").read_bytes().splitlines(keepends=True)
    told = [i for i, line in enumerate(lines) if b'"k":"tell"' in line]
    (tmp_path / "journal.jsonl").write_bytes(b"".join(lines[: told[n_told - 1] + 1]))
    for state in tmp_path.glob("spool*"):
        assert state.exists()
    rest = search(sampler=GPSampler(), checkpoint_dir=tmp_path).fit(X, y)
    assert rest.history_.log == whole.history_.log
    assert rest.best_params_ == whole.best_params_


# ---- as a user has it


@pytest.mark.whole
def test_the_winner_matches_full_cross_validation_for_less():
    full = search(scheduler=FullFidelity(12), resource=None).fit(X, y)
    raced = search().fit(X, y)
    assert raced.best_params_ == full.best_params_
    assert raced.best_score_ == full.best_score_
    assert n_folds(raced.history_) <= 0.8 * 12 * 4
    assert raced.cv_results_["n_resources"][raced.best_index_] == 4


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("cv", "groups"),
    [
        (2, None),
        (RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0), None),
        (LeaveOneGroupOut(), np.arange(60) % 4),
        (LeaveOneOut(), None),
    ],
    ids=["two", "repeated", "groups", "one out"],
)
def test_any_folds_will_do(cv, groups):
    space = {"svc__C": [1, 0.3, 3, 10, 1e-2, 1e-3, 1e-4, 30, 100]}
    kwargs = {"sampler": GridSampler(), "cv": cv}
    n = 30 if isinstance(cv, LeaveOneOut) else 60
    race = SearchCV(SVM, space, scheduler=FoldRace(9), resource="folds", **kwargs).fit(
        X[:n], y[:n], groups=groups
    )
    whole = SearchCV(SVM, space, scheduler=FullFidelity(9), **kwargs)
    whole.fit(X[:n], y[:n], groups=groups)
    assert race.best_score_ == pytest.approx(whole.best_score_)
    assert n_folds(race.history_) < 9 * race.n_splits_


@pytest.mark.filterwarnings("ignore")
def test_failing_candidates_cost_themselves_alone():
    search = SearchCV(
        Failing(), {"quality": uniform(0, 1)}, scheduler=FoldRace(20), resource="folds", cv=3,
        random_state=0,
    ).fit(X, y)  # fmt: skip
    assert 0.4 < search.best_params_["quality"] <= 0.5
    assert all(t.resource == 1 for t in search.history_.trials if t.params["quality"] > 0.5)


def test_without_a_count_it_ends_with_the_space_or_the_time():
    space = {"n_neighbors": [1, 3, 5, 7]}
    knn, kwargs = KNeighborsClassifier(), {"resource": "folds", "scheduler": FoldRace(None)}
    assert SearchCV(knn, space, **kwargs).plan(X, y).n_candidates == 4
    assert len(SearchCV(knn, space, **kwargs).fit(X, y).history_.trials) == 4
    with pytest.raises(ValueError, match="never end"):
        search(scheduler=FoldRace(None)).fit(X, y)
    assert search(scheduler=FoldRace(None), timeout=1).fit(X, y).best_score_ > 0.9


def test_it_needs_folds():
    with pytest.raises(ValueError, match="resource='folds'"):
        search(resource="n_samples").fit(X, y)


def test_a_plain_function_of_the_count_of_repetitions_is_raced():
    def func(params, n):
        noise = np.random.default_rng(int(params["x"] * 1e9)).normal(0, 0.01, 10)
        return (params["x"] - 0.3) ** 2 + noise[:n].mean()

    result = minimize(
        func, {"x": uniform(0, 1)}, scheduler=FoldRace(30), max_resources=10, random_state=0
    )
    assert result.x["x"] == pytest.approx(0.3, abs=0.1)
    assert n_folds(result.history) < 0.7 * 300


# ---- what models learn


def test_models_learn_from_dropped_candidates_as_if_they_had_all_folds():
    from sksearch.samplers._observations import observe

    study = study_of(3, 4)
    folds = {0: [0.5, 0.7, 0.8, 0.8], 1: [0.1], 2: [0.6, 0.8, 0.9, 0.9]}
    for trial_id in (0, 1, 2):
        for r in range(1, len(folds[trial_id]) + 1):
            study.history.start({"x": trial_id / 3}, 0, 1) if r == 1 else study.history.resume(
                trial_id, r
            )
            scores = folds[trial_id][:r]
            result = Result(np.mean(scores), 1.0, fold_scores=tuple(scores))
            study.history.tell(trial_id, r, result)
    data = observe(study.history, Start(1))
    # The first fold is 0.2 harder than the mean of all four.
    assert data.y == pytest.approx([0.7, 0.3, 0.8])
    assert data.cost == pytest.approx([4, 4, 4])
    assert data.U[:, 0] == pytest.approx([0, 1 / 3, 2 / 3])
    assert set(data.resource) == {4}
    assert len(data.pending) == len(data.failed) == 0


def test_others_count_for_no_more_than_sixteen_degrees_of_freedom():
    rng = np.random.default_rng(0)
    state = RaceState(list(range(1, 7)), 0.2, leader=0)
    state.finished = {i: rng.random(6) for i in range(4)}
    assert state._pooled()[1] == 15
    state.finished[4] = rng.random(6)
    assert state._pooled()[1] == 16


@pytest.mark.parametrize("r", [1, 2, 4])
def test_a_candidate_is_dropped_beyond_the_quantile_that_the_notes_state(r):
    rng, k, share = np.random.default_rng(r), 5, 0.2 / 5
    state = RaceState([1, 2, 3, 4, 5], 0.2, leader=0)
    state.finished = {i: rng.random(k) for i in range(3)}
    state.finished[3] = state.finished[0] - 0.1  # whose differences say nothing
    state._variances = state._pooled()
    differences = state.finished[0] - np.array([state.finished[1], state.finished[2]])
    q = norm.isf(share)
    selected = 1 - q * norm.pdf(q) / norm.cdf(q)
    pattern = rng.normal(size=r) * 0.1
    squares = 8 * differences.var(axis=1, ddof=1).mean() / selected
    squares += ((pattern - pattern.mean()) ** 2).sum()
    nu = 8 + r - 1
    edge = t.isf(share, nu) * np.sqrt(squares / nu * (k - r) / (k * r))
    for behind, hopeless in ((edge * 1.001, True), (edge * 0.999, False)):
        state.idle[9] = state.finished[0][:r] - (pattern - pattern.mean()) - behind
        assert state._is_hopeless(9) == hopeless


def test_while_none_has_finished_but_the_leader_its_own_spread_stands_for_differences():
    state = RaceState([1, 2, 3], 0.2, leader=0)
    state.finished = {0: np.array([0.1, 0.2, 0.6])}
    assert state._pooled() == (pytest.approx(np.var([0.1, 0.2, 0.6], ddof=1)), 1)
    state.finished[1] = state.finished[0] + 0.5
    assert state._pooled() == (pytest.approx(np.var([0.1, 0.2, 0.6], ddof=1)), 1)
