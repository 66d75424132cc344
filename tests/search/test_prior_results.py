"""Results in `known`: what earlier searches found, whoever made them, and what becomes of it."""

import math
from types import SimpleNamespace

import numpy as np
import optuna
import pandas as pd
import pytest
from scipy.stats import loguniform, uniform
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from sksearch import (
    BOHBSearchCV,
    Bound,
    GPBayesSearchCV,
    HyperbandSearchCV,
    RandomSearchCV,
    SearchCV,
    TPESearchCV,
    load_history,
    minimize,
)
from sksearch.base import Reads
from sksearch.fitting.prepare._prior_results import read_earlier
from sksearch.history import History, Problem, Result
from sksearch.samplers import (
    GPSampler,
    NSGA2Sampler,
    RandomSampler,
    TPESampler,
    WarmStart,
    _warm_start,
)
from sksearch.samplers._scalarised import for_aims
from sksearch.samplers._warm_start import EarlierTask
from sksearch.schedulers import FullFidelity
from sksearch.search import SearchMismatchError, earlier_results
from sksearch.space import Space
from sksearch.study import Study
from tests.fakes import Curve

X, y = load_iris(return_X_y=True)
SPACE = {"C": loguniform(1e-3, 1e3), "gamma": loguniform(1e-4, 1e1)}
FLAT = {"x": uniform(0, 1), "z": uniform(0, 1)}


def random_search(**kwargs):
    return RandomSearchCV(SVC(), SPACE, n_iter=12, random_state=0, **kwargs).fit(X, y)


def optuna_study(direction="maximize"):
    sign = 1 if direction == "maximize" else -1
    study = optuna.create_study(direction=direction, sampler=optuna.samplers.RandomSampler(seed=0))

    def objective(trial):
        C = trial.suggest_float("C", 1e-3, 1e3, log=True)
        gamma = trial.suggest_float("gamma", 1e-4, 1e1, log=True)
        if trial.number == 3:
            raise optuna.TrialPruned
        return -sign * (math.log10(C) - 1) ** 2 - gamma * sign

    study.optimize(objective, 12)
    return study


# ---- reading


def test_all_forms_of_the_same_search_are_read_alike(tmp_path):
    search = random_search(checkpoint_dir=tmp_path)
    table = pd.DataFrame(search.cv_results_)
    plain = table[["param_C", "param_gamma"]].rename(columns=lambda name: name[6:])
    forms = [
        search,
        search.cv_results_,
        table,
        table.drop(columns="params"),
        plain.assign(score=table["mean_test_score"]),
        tmp_path,
        str(tmp_path),
        load_history(tmp_path),
        search.history_,
        earlier_results(search),
    ]
    found = [earlier_results(form) for form in forms]
    for each in found:
        assert each.params == tuple(search.cv_results_["params"])
        np.testing.assert_allclose(each.scores, search.cv_results_["mean_test_score"])


def test_a_table_that_was_a_file_is_read(tmp_path):
    search = random_search()
    pd.DataFrame(search.cv_results_).to_csv(tmp_path / "results.csv")
    found = earlier_results(pd.read_csv(tmp_path / "results.csv"))
    assert found.params == tuple(search.cv_results_["params"])


def test_searches_of_scikit_learn_are_read():
    for search in (
        GridSearchCV(SVC(), {"C": [0.1, 1, 10]}),
        RandomizedSearchCV(SVC(), SPACE, n_iter=5, random_state=0),
    ):
        search.fit(X, y)
        found = earlier_results(search)
        assert found.params == tuple(search.cv_results_["params"])
        assert max(found.scores) == search.best_score_


def test_the_metric_that_was_refitted_counts():
    search = GridSearchCV(
        LogisticRegression(max_iter=500),
        {"C": [0.1, 1]},
        scoring=["accuracy", "neg_log_loss"],
        refit="accuracy",
    ).fit(X, y)
    assert earlier_results(search).scores == tuple(search.cv_results_["mean_test_accuracy"])
    with pytest.raises(
        ValueError, match="columns of scores, mean_test_accuracy, mean_test_neg_log_loss"
    ):
        earlier_results(search.cv_results_)


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_scores_of_optuna_are_greater_for_better(direction):
    study = optuna_study(direction)
    found = earlier_results(study)
    assert len(found.params) == 11, "the pruned trial has no result"
    assert found.params[int(np.argmax(found.scores))] == study.best_params


def test_minima_are_read():
    result = minimize(
        lambda params: (params["x"] - 0.3) ** 2, {"x": uniform(0, 1)}, n_iter=12, random_state=0
    )
    found = earlier_results(result)
    assert len(found.params) == 12
    assert found.params[int(np.argmax(found.scores))] == result.x


def test_of_several_resources_the_largest_with_ten_results_counts():
    search = HyperbandSearchCV(
        Curve(), {"quality": uniform(0, 1)}, resource="epochs", max_resources=27, random_state=0
    ).fit(X, y)
    resources = np.array(search.cv_results_["n_resources"])
    largest = max(r for r in set(resources) if (resources == r).sum() >= 10)
    for form in (search, search.cv_results_):
        assert len(earlier_results(form).params) == (resources == largest).sum()


def test_gaps_of_a_table_are_parameters_that_were_inactive():
    table = pd.DataFrame(
        {"kernel": ["rbf", "linear"], "gamma": [0.1, np.nan], "score": [0.5, 0.7]}
    )
    assert earlier_results(table).params == ({"kernel": "rbf", "gamma": 0.1}, {"kernel": "linear"})


@pytest.mark.parametrize(
    ("source", "error", "text"),
    [
        (SVC(), TypeError, "SVC is not a fitted search"),
        (3, TypeError, "int is not a fitted search"),
        (GridSearchCV(SVC(), {"C": [1]}), ValueError, "GridSearchCV is not fitted"),
        (GPBayesSearchCV(SVC(), SPACE), ValueError, "GPBayesSearchCV is not fitted"),
        ({"params": [{"C": 1}]}, ValueError, "needs a column of scores"),
        ([{"C": 1.0}], TypeError, "a dict of C is not a fitted search"),
        ({"params": [{"C": 1}], "mean_test_score": [np.nan]}, ValueError, "no finite score"),
        ("no such folder", FileNotFoundError, "no such folder"),
        (
            SimpleNamespace(trials=[], directions=[1, 2]),
            ValueError,
            "one objective, not several",
        ),
    ],
    ids=range(9),
)
def test_what_cannot_be_read_is_refused_before_any_training(source, error, text):
    search = GPBayesSearchCV(Curve(), {"quality": uniform(0, 1)}, known={"results": source})
    before = Curve.n_calls
    with pytest.raises(error, match=text):
        search.fit(X, y)
    assert Curve.n_calls == before


def test_results_outside_of_the_space_are_left_out_and_refused_if_all_are():
    known = {
        "params": [{"C": 1e9, "gamma": 1}, {"C": 1, "gamma": 1}],
        "mean_test_score": [0.9, 0.8],
    }
    search = GPBayesSearchCV(
        SVC(), SPACE, n_iter=1, known={"results": earlier_results(known, same_task=True)}
    ).fit(X, y)
    assert search.best_params_ == {"C": 1, "gamma": 1}
    search.set_params(known__results=[random_search(), {"params": [{"C": 1e9}], "score": [1.0]}])
    with pytest.raises(ValueError, match=r"results.*\[1\] has 1 candidate, but none"):
        search.fit(X, y)


# ---- the same task


@pytest.mark.few(2)
@pytest.mark.parametrize("kind", [GPBayesSearchCV, TPESearchCV, RandomSearchCV])
def test_a_search_for_the_same_task_begins_with_the_best_candidate(kind):
    old = random_search()
    known = earlier_results(old, same_task=True)
    new = kind(SVC(), SPACE, n_iter=4, known={"results": known}, random_state=1).fit(X, y)
    assert new.cv_results_["params"][0] == old.best_params_
    assert new.best_score_ >= old.best_score_


def test_first_guesses_come_before_the_best_candidate():
    known = earlier_results(random_search(), same_task=True)
    search = GPBayesSearchCV(
        SVC(), SPACE, n_iter=3, known={"results": known, "params": {"C": 1.0, "gamma": 0.5}}
    ).fit(X, y)
    assert search.cv_results_["params"][0] == {"C": 1.0, "gamma": 0.5}
    assert search.cv_results_["params"][1] == known.params[int(np.argmax(known.scores))]


def scores_of(params):
    return -sum((value - 0.3) ** 2 for value in params.values())


def observed(n, seed=5):
    rng = np.random.default_rng(seed)
    params = [Space(FLAT).sample(rng) for _ in range(n)]
    return params, list(map(scores_of, params))


@pytest.mark.parametrize("sampler", [GPSampler(), TPESampler()], ids=["GP", "TPE"])
def test_models_learn_from_results_of_the_same_task_at_once(sampler):
    regrets = {}
    for known in ((), tuple(zip(*observed(30), strict=True))):
        best = []
        for seed in range(8):
            problem = Problem(Space(FLAT), seed=seed, known=known)
            study = Study(problem, sampler, FullFidelity(4))
            while (job := study.ask()) is not None:
                study.tell(job, Result(scores_of(job.params)))
            best.append(max(t.results[1].score for t in study.history.trials))
        regrets[len(known)] = -np.mean(best)
    assert regrets[30] < 0.2 * regrets[0]


def test_brackets_learn_from_results_of_the_same_task():
    earlier = EarlierTask(
        [{"quality": q} for q in np.linspace(0, 1, 30)], np.linspace(0, 1, 30), True
    )
    kwargs = {"resource": "epochs", "max_resources": 9, "random_state": 0}
    cold, warm = (
        BOHBSearchCV(Curve(), {"quality": uniform(0, 1)}, known={"results": prior}, **kwargs).fit(
            X, y
        )
        for prior in (None, earlier)
    )
    mean = [np.mean(s.cv_results_["param_quality"].astype(float)) for s in (cold, warm)]
    assert mean[1] > mean[0] + 0.03


# ---- other tasks


def run(sampler, seed, n, f=scores_of):
    study = Study(Problem(Space(FLAT), seed=seed, n_candidates=n), sampler, FullFidelity(n))
    while (job := study.ask()) is not None:
        study.tell(job, Result(f(job.params)))
    return np.maximum.accumulate([t.results[1].score for t in study.history.trials])


def tasks(shift, sign=1.0):
    """Results of three other tasks whose optimum is `shift` away; -1 turns their order round."""
    rng = np.random.default_rng(0)
    for _ in range(3):
        params = [Space(FLAT).sample(rng) for _ in range(40)]
        center = 0.3 + shift * rng.standard_normal()
        yield EarlierTask(
            params, [-sign * sum(abs(v - center) ** 1.5 for v in p.values()) for p in params]
        )


KINDS = {"random": RandomSampler(), "TPE": TPESampler(), "GP": GPSampler()}


@pytest.mark.whole
@pytest.mark.parametrize(("kind", "n"), [("random", 10), ("TPE", 10), ("GP", 6)])
def test_results_of_like_tasks_save_half_of_the_candidates(kind, n):
    sampler, like = KINDS[kind], list(tasks(0.03))
    warm = np.mean([run(WarmStart(sampler, like), s, n) for s in range(6)], axis=0)
    cold = np.mean([run(sampler, s, n) for s in range(6)], axis=0)
    assert warm[n // 2 - 1] >= cold[n - 1]


def winners(earlier):
    return [dict(task.params[int(np.argmax(task.scores))]) for task in earlier]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shift", [0.03, 0.2])
def test_the_best_candidates_of_two_earlier_tasks_come_first(kind, shift):
    earlier = list(tasks(shift))
    study = Study(Problem(Space(FLAT)), WarmStart(KINDS[kind], earlier), FullFidelity(3))
    first = []
    while (job := study.ask()) is not None:
        first.append(job.params)
        study.tell(job, Result(scores_of(job.params)))
    values = [list(params.values()) for params in first]
    near = [[np.allclose(v, list(w.values())) for w in winners(earlier)] for v in values]
    assert [any(each) for each in near[:2]] == [True, True]
    assert near[0] != near[1]


@pytest.mark.parametrize("n_guesses", [1, 2])
def test_guesses_of_the_user_come_before_the_winners_and_are_not_repeated(n_guesses):
    earlier = list(tasks(0.1))
    guesses = tuple(winners(earlier)[:n_guesses])
    problem = Problem(Space(FLAT), initial_params=guesses)
    study = Study(problem, WarmStart(RandomSampler(), earlier), FullFidelity(3))
    found = []
    while (job := study.ask()) is not None:
        found.append(tuple(np.round(list(job.params.values()), 9)))
        study.tell(job, Result(scores_of(job.params)))
    assert found[:n_guesses] == [tuple(np.round(list(g.values()), 9)) for g in guesses]
    assert set(found) == {tuple(np.round(list(w.values()), 9)) for w in winners(earlier)}


@pytest.mark.parametrize("learns", [True, False])
def test_where_earlier_tasks_expect_no_improvement_a_sampler_that_learns_proposes(learns):
    """Their optimum is a candidate of a finite space, and it was tried at once."""
    space = Space({"x": list(range(40))})
    grid = [{"x": x} for x in range(40)]
    like = [EarlierTask(grid, [-abs(x - best) for x in range(40)]) for best in (9, 9, 9)]
    asked = []

    class Counted(RandomSampler):
        reads = Reads(results=learns)

        def ask(self, history, start, rng):
            asked.append(len(history.trials))
            return super().ask(history, start, rng)

    study = Study(Problem(space, seed=1), WarmStart(Counted(), like), FullFidelity(20))
    while (job := study.ask()) is not None:
        study.tell(job, Result(-float(abs(job.params["x"] - 9))))
    assert (set(range(6, 20)) <= set(asked)) is learns


@pytest.mark.whole
@pytest.mark.parametrize("kind", KINDS)
def test_results_of_tasks_that_mislead_are_soon_forgotten(kind):
    sampler, others = KINDS[kind], list(tasks(0, -1))
    seeds = range(40 if kind == "random" else 6)  # the best of 30 draws is a matter of luck
    warm = np.mean([run(WarmStart(sampler, others), s, 33) for s in seeds], axis=0)
    cold = np.mean([run(sampler, s, 30) for s in seeds], axis=0)
    assert -warm[32] <= 1.5 * -cold[29] + 1e-4


def test_what_earlier_tasks_weigh_is_seldom_asked_when_they_hardly_count(monkeypatch):
    asked = []
    weights = _warm_start._weights
    monkeypatch.setattr(_warm_start, "_weights", lambda *a: asked.append(1) or weights(*a))
    run(WarmStart(RandomSampler(), list(tasks(0.03))), 0, 80)
    assert 1 < len(asked) < 30  # 4 / n of the proposals: about 16


def test_warm_starts_may_be_nested_and_each_has_its_own_tasks():
    near, far = list(tasks(0.03)), list(tasks(0, -1))
    history = History(Problem(Space(FLAT), seed=0))
    inner = WarmStart(RandomSampler(), far)
    outer = WarmStart(inner, near)
    assert len(outer._tasks(history)) == len(inner._tasks(history)) == 3
    best = [each._tasks(history)[0].top[0] for each in (outer, inner)]
    assert not np.allclose(*best)


@pytest.mark.parametrize("aims", [{"bounds": ("b",)}, {"objectives": ("a", "b")}], ids=str)
def test_a_warm_start_of_a_search_with_bounds_or_objectives(aims, monkeypatch):
    learnt = []
    make = _warm_start._PriorTask
    monkeypatch.setattr(_warm_start, "_PriorTask", lambda *args: learnt.append(1) or make(*args))
    problem = Problem(Space(FLAT), seed=0, **aims)
    sampler = for_aims(WarmStart(RandomSampler(), tasks(0.03)), problem)
    study = Study(problem, sampler, FullFidelity(9))
    while (job := study.ask()) is not None:
        score = scores_of(job.params)
        values = {"slacks": (score + 1,)} if problem.bounds else {"objectives": (score, -score)}
        study.tell(job, Result(score, **values))
    assert len(study.history.trials) == 9
    assert len(learnt) == 3, "models of earlier tasks are learnt once"


AIMS = {
    "objectives": {"objectives": ["score", "model_size"]},
    "bounds": {"known": {"constraints": [Bound("model_size", "<=", 5_000)]}},
}


@pytest.mark.parametrize("aims", AIMS.values(), ids=AIMS)
@pytest.mark.parametrize("sampler", [TPESampler(), NSGA2Sampler(), RandomSampler()], ids=str)
def test_a_search_with_objectives_or_bounds_begins_where_others_were_good(sampler, aims):
    """Earlier scores say that only one leaf count in fifty is any good, and so it is."""
    space = {"max_leaf_nodes": list(range(2, 52))}
    earlier = EarlierTask(
        [{"max_leaf_nodes": n} for n in space["max_leaf_nodes"]], [-abs(n - 4) for n in range(50)]
    )
    search = SearchCV(
        DecisionTreeClassifier(random_state=0), space, sampler=sampler, n_iter=5, cv=3,
        random_state=0, **aims,
    )  # fmt: skip
    search.set_params(known__results=earlier).fit(X, y)
    found = [params["max_leaf_nodes"] for params in search.cv_results_["params"]]
    assert 6 in found[:2]
    assert np.median(np.abs(np.array(found) - 6)) <= 4


@pytest.mark.parametrize("aims", AIMS.values(), ids=AIMS)
def test_scores_of_the_same_task_lack_objectives_and_bounds(aims):
    known = earlier_results(random_search(), same_task=True)
    search = GPBayesSearchCV(SVC(), SPACE, n_iter=4, **aims)
    with pytest.raises(
        ValueError, match=r"of the same task contain only scores.*as results of ano"
    ):
        search.set_params(known__results=known).fit(X, y)


def test_only_the_order_of_earlier_scores_counts():
    plain = list(tasks(0.03))
    bent = [EarlierTask(t.params, np.exp(7 * np.array(t.scores)) * 1e6) for t in plain]
    results = [run(WarmStart(TPESampler(), each), 0, 8) for each in (plain, bent)]
    np.testing.assert_array_equal(*results)


def test_a_clone_has_what_the_search_begins_with():
    old = random_search()
    search = SearchCV(SVC(), SPACE, n_iter=4, known={"results": old.cv_results_}, random_state=0)
    scores = [each.fit(X, y).cv_results_["mean_test_score"] for each in (clone(search), search)]
    np.testing.assert_array_equal(*scores)


def test_earlier_tasks_are_checked():
    with pytest.raises(ValueError, match="1 candidates, but 2 scores"):
        EarlierTask([{"C": 1}], [1, 2])
    with pytest.raises(TypeError, match=r"earlier\[0\] is a dict"):
        WarmStart(GPSampler(), [{}])


# ---- checkpoints


def test_a_checkpoint_knows_what_its_search_began_with(tmp_path):
    old = random_search()
    kwargs = {"n_iter": 4, "random_state": 0, "checkpoint_dir": tmp_path}
    first = TPESearchCV(SVC(), SPACE, known={"results": old}, **kwargs).fit(X, y)
    same = TPESearchCV(SVC(), SPACE, known={"results": old.cv_results_}, **kwargs).fit(X, y)
    assert same.cv_results_["params"] == first.cv_results_["params"]
    for other in (None, earlier_results(old, same_task=True)):
        with pytest.raises(SearchMismatchError, match="results"):
            TPESearchCV(SVC(), SPACE, known={"results": other}, **kwargs).fit(X, y)


# ---- a parameter that is new

OWN = {"C": 1.0, "gamma": "scale", "kernel": "rbf", "shrinking": True, "tol": 1e-3}
OLD = pd.DataFrame({"C": [0.1, 1.0, 10.0], "score": [0.5, 0.9, 0.7]})


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"tol": loguniform(1e-4, 1e-1)}, 1e-3),
        ({"kernel": ["rbf", "poly"]}, "rbf"),
        ({"shrinking": [False, True]}, True),
        ({"gamma": ["scale", "auto"]}, "scale"),
        ({"tol": [1e-5, 1e-3], "kernel": ["rbf", "linear"]}, 1e-3),
    ],
)
@pytest.mark.parametrize("same_task", [False, True])
def test_a_missing_parameter_has_the_estimator_s_own_value(more, expected, same_task):
    space = Space({"C": SPACE["C"], **more})
    known = earlier_results(OLD, same_task=same_task)
    (task,) = read_earlier(known, space, OWN)
    assert [params["C"] for params in task.params] == [0.1, 1.0, 10.0]
    assert {params[next(iter(more))] for params in task.params} == {expected}


def test_an_own_value_outside_of_the_range_is_as_near_as_possible_for_another_task():
    space = Space({"C": SPACE["C"], "tol": loguniform(1e-2, 1e-1)})
    (task,) = read_earlier(OLD, space, OWN)
    assert [params["tol"] for params in task.params] == pytest.approx([1e-2] * 3)
    assert [params["C"] for params in task.params] == [0.1, 1.0, 10.0]
    with pytest.raises(ValueError, match="none of them lies in the space"):
        read_earlier(earlier_results(OLD, same_task=True), space, OWN)
    (task,) = read_earlier(OLD, Space(SPACE), OWN)  # gamma="scale" has no place in it
    assert len(task.params) == 3


@pytest.mark.parametrize(
    "space", [{"tol": loguniform(1e-4, 1e-1)}, {"C": loguniform(100, 1000), "tol": [1e-3, 1e-2]}]
)
def test_results_that_tell_nothing_of_the_space_are_still_refused(space):
    with pytest.raises(ValueError, match="none of them lies in the space"):
        read_earlier(OLD, Space(space), OWN)


def test_a_search_begins_with_results_that_lack_a_parameter():
    space = {"C": SPACE["C"], "shrinking": [True, False]}
    search = GPBayesSearchCV(SVC(), space, n_iter=2, cv=2, known={"results": OLD}, random_state=0)
    assert search.fit(X, y).cv_results_["params"][0] == {"C": 1.0, "shrinking": True}


BOOSTING = HistGradientBoostingClassifier(max_iter=3)
NET = MLPClassifier((3,), max_iter=3)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "estimator",
    [BOOSTING, NET, RandomForestClassifier(3), [("tree", DecisionTreeClassifier()), ("net", NET)]],
    ids=["boosting", "net", "forest", "list"],
)
def test_the_best_candidates_of_a_search_are_first_ones_of_another(estimator, tmp_path):
    """Also those found in training, and untuned models, which may lie outside the space."""

    def values(params):
        return repr(sorted(pair for pair in params.items() if not pair[0].endswith("max_iter")))

    def fit(known):
        folder = tmp_path / type(known).__name__
        search = SearchCV(
            estimator, n_iter=4, cv=2, random_state=0, known={"params": known},
            checkpoint_dir=folder,
        )  # fmt: skip
        return search.fit(X, y)

    best = fit("auto").best(4)
    assert len(best) == 4
    found, again = fit(best), fit(best)
    assert sorted(map(values, found.best(4))) == sorted(map(values, best))
    assert again.cv_results_["params"] == found.cv_results_["params"]
