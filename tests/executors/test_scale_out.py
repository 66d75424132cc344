"""Many workers: searches that learn keep them busy, and promise equal results where they did."""

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import joblib
import numpy as np
import pytest
from joblib.parallel import SequentialBackend
from scipy.stats import uniform
from sklearn.base import BaseEstimator

import sksearch as sks
from sksearch import samplers, schedulers
from sksearch.executors import VirtualClock, spend
from sksearch.executors._limits import Limits, Workers
from sksearch.executors._loop import Workload, drive
from sksearch.executors._virtual import VirtualExecutor
from sksearch.executors.remote import _executor
from sksearch.executors.remote._base import Engine
from sksearch.executors.remote._executor import RemoteExecutor
from sksearch.history import Problem, Result
from sksearch.space import Space
from sksearch.study import Study
from tests.executors.engines import new_dask_cluster

X = np.zeros((50, 1))
SPACE = {"a": uniform(), "b": uniform()}
EPOCHS = {"resource": "epochs", "max_resources": 3}
LEARNING = {
    "SearchCV": (sks.SearchCV, {"n_iter": 12}),
    "whole fits": (sks.SearchCV, {"n_iter": 12, "scheduler": schedulers.FullFidelity(12)}),
    "GP": (sks.GPBayesSearchCV, {"n_iter": 12}),
    "TPE": (sks.TPESearchCV, {"n_iter": 12}),
    "forest": (sks.search.ForestBayesSearchCV, {"n_iter": 12}),
    "CMA-ES": (sks.search.EvolutionSearchCV, {"n_iter": 12, "method": "cma-es"}),
    "DE": (sks.search.EvolutionSearchCV, {"n_iter": 12}),
    "genetic": (sks.search.EvolutionSearchCV, {"n_iter": 12, "method": "genetic"}),
    "swarm": (sks.search.EvolutionSearchCV, {"n_iter": 12, "method": "pso"}),
    "BOHB": (sks.BOHBSearchCV, EPOCHS | {"n_iterations": 3}),
    "lanes": (sks.BOHBSearchCV, EPOCHS | {"n_iterations": 3, "transfer": "none"}),
    "DEHB": (sks.search.DEHBSearchCV, EPOCHS | {"n_iterations": 3}),
    "GPHyperband": (sks.HyperbandSearchCV, EPOCHS | {"n_iterations": 3, "sampler": "gp"}),
    "TPEHalving": (sks.HalvingSearchCV, EPOCHS | {"n_iterations": 3, "sampler": "tpe"}),
    "incremental": (sks.search.IncrementalEvaluationSearchCV, EPOCHS | {"population": "gp"}),
    "race": (
        sks.SearchCV,
        {"n_iter": 12, "sampler": samplers.RandomSampler(), "scheduler": schedulers.FoldRace(12),
         "resource": "folds"},
    ),
}  # fmt: skip


class Unlike(BaseEstimator):
    """Fits last from one second to three, by candidate."""

    def __init__(self, a=0.5, b=0.5):
        self.a, self.b = a, b

    def fit(self, X, y=None):
        return self.partial_fit(X)

    def partial_fit(self, X, y=None):
        spend(1 + 2 * self.a)
        self.row_ = float(len(X))
        return self

    def score(self, X, y=None):
        return -((self.a - 0.3) ** 2) - self.b + 0.3 * np.sin(99 * self.a + X.sum())


def fitted(name, n_workers, **kwargs):
    cls, args = LEARNING.get(name, (sks.RandomSearchCV, {"n_iter": 12}))
    search = cls(Unlike(), SPACE, cv=5, refit=False, random_state=0, **(args | kwargs))
    with VirtualClock(n_workers) as clock:
        search.fit(X + np.arange(50)[:, np.newaxis])
    return search, clock


def most_running(search):
    log = search.history_.log
    return np.cumsum([1 if event == "ask" else -1 for event, _, _ in log]).max()


@pytest.mark.parametrize("name", LEARNING)
def test_a_search_that_learns_keeps_more_workers_busy_than_a_candidate_has_folds(name):
    search, _ = fitted(name, 16)
    one_fold = search.plan_.by_folds
    assert most_running(search) >= (12 if one_fold else 3)
    # The first results are used before the last of those that began with them are known.
    told = [i for event, i, _ in search.history_.log if event == "tell"]
    assert one_fold or told != sorted(told) or "n_iterations" in LEARNING[name][1]


@pytest.mark.few(3)
@pytest.mark.parametrize("name", [n for n in LEARNING if n not in ("SearchCV", "race")])
def test_workers_for_the_folds_of_a_candidate_and_a_batch_size_change_nothing(name):
    one, _ = fitted(name, 1)
    for n_workers, kwargs in ((5, {}), (16, {"workers": {"batch_size": 1}})):
        search, _ = fitted(name, n_workers, **kwargs)
        assert search.history_.log == one.history_.log
        assert search.history_.trials == one.history_.trials
    three, few = (fitted(name, n, workers={"batch_size": 3})[0] for n in (2, 16))
    assert three.history_.trials == few.history_.trials


@pytest.mark.parametrize(
    ("name", "n_workers", "kwargs", "line"),
    [
        ("random", 16, {}, "workers: 16 of 16 are used"),
        ("random", 100, {}, "workers: 60 of 100 are used: the search begins with 60 fits"),
        ("TPE", 3, {}, "workers: 3 of 3 are used"),
        ("TPE", 5, {}, "workers: 5 of 5 are used"),
        ("TPE", 16, {}, "workers: 16 of 16 are used; results are used as they arrive"),
        ("TPE", 16, {"workers": {"batch_size": 1}},
         "workers: 5 of 16 are used: 1 candidate at a time, each with 5 fits"),
        ("TPE", 16, {"workers": {"batch_size": 2}},
         "workers: 10 of 16 are used: 2 candidates at a time, each with 5 fits"),
        ("SearchCV", 16, {}, "workers: 12 of 16 are used: the search begins with 12 fits; results "
         "are used as they arrive"),
        ("SearchCV", 2, {"workers": {"batch_size": 1}},
         "workers: 1 of 2 are used: 1 candidate at a time, each with 1 fit"),
        ("lanes", 100, {"workers": {"batch_size": 1}},
         "workers: 30 of 100 are used: 6 candidates at a time, each with 5 fits"),
        ("TPE", 1, {}, None),
    ],
)  # fmt: skip
def test_a_line_of_the_plan_says_how_many_workers_are_used(name, n_workers, kwargs, line, capsys):
    search, _ = fitted(name, n_workers, verbose=1, **kwargs)
    lines = str(search.plan_).splitlines()
    assert [each for each in lines if each.startswith("workers")] == [line] * (line is not None)
    assert line is None or line in capsys.readouterr().out.splitlines()


def test_a_race_with_more_workers_than_candidates_takes_several_folds_at_once():
    search, clock = fitted("race", 60)
    again, slow = fitted("race", 60, workers={"batch_size": 12})
    assert clock.seconds < 0.7 * slow.seconds
    assert search.best_params_ == again.best_params_


def test_a_scheduler_is_asked_to_fill_idle_workers_only_where_results_come_as_they_arrive():
    asked = []

    class Asked(schedulers.FullFidelity):
        def fill(self, history, n_idle):
            asked.append(n_idle)

    search = sks.SearchCV(
        Unlike(), SPACE, scheduler=Asked(8), sampler=samplers.TPESampler(), cv=2, random_state=0
    )
    with VirtualClock(2):
        search.fit(X)
    assert not asked
    with VirtualClock(5):
        search.fit(X)
    assert asked[:3] == [5, 3, 1]


# ---- workers that come and go


class Growing(VirtualExecutor):
    """Workers whose number depends on the time."""

    recount_seconds = 1.0
    counts = ((0, 1), (4, 16), (8, 2))

    @property
    def n_workers(self):
        return [n for begin, n in self.counts if begin <= self._clock.seconds][-1]

    @n_workers.setter
    def n_workers(self, value):
        pass

    @property
    def window(self):
        return 2 * self.n_workers

    @window.setter
    def window(self, value):
        pass


class TwoFolds(Workload):
    def __init__(self):
        self.running = []

    def tasks(self, job):
        return [2.0, 2.0]

    def collect(self, job, outputs):
        return Result(job.params["a"])

    def on_result(self, job):
        pass


def take(context, seconds, environment):
    spend(seconds)


@pytest.mark.parametrize("sampler", [samplers.TPESampler(), samplers.RandomSampler()])
def test_workers_that_come_later_are_used_and_when_they_go_nothing_is_lost(sampler):
    learns = sampler.reads.results
    study = Study(Problem(Space(SPACE)), sampler, schedulers.FullFidelity(40))
    running, original = [], study.ask

    def ask(n_idle=0, n_each=None):
        job = original(n_idle)
        running.append((clock.seconds, study.history.n_running))
        return job

    study.ask = ask
    batch = partial(Workers(batch_size="auto").n_under_way, n_tasks=2) if learns else None
    with VirtualClock(32) as clock, Growing(take, None, clock) as executor:
        drive(study, executor, TwoFolds(), batch)
    most = [max(n for t, n in running if a <= t < b) for a, b in ((0, 4), (4, 8), (9, 1e9))]
    assert most == ([1, 8, 1] if learns else [1, 16, 2])
    assert all(trial.results for trial in study.history.trials)
    assert len(study.history.trials) == 40


class Named(BaseEstimator):
    """Its score is the number of its process."""

    def __init__(self, a=0.0, b=0.0):
        self.a, self.b = a, b

    def fit(self, X, y=None):
        time.sleep(0.25)
        return self

    def score(self, X, y=None):
        return float(os.getpid())


@pytest.mark.whole
@pytest.mark.parametrize("cls", [sks.RandomSearchCV, sks.TPESearchCV])
def test_workers_that_join_a_dask_cluster_are_used(cls):
    distributed = pytest.importorskip("distributed")
    kwargs = {"n_iter": 60, "cv": 2, "refit": False, "n_jobs": -1, "random_state": 0}
    with new_dask_cluster(distributed, n_workers=1) as cluster, distributed.Client(cluster):
        timer = threading.Timer(1, cluster.scale, [3])
        timer.start()
        with joblib.parallel_config("dask"):
            search = cls(Named(), SPACE, **kwargs).fit(X)
        timer.join()
    scores = np.array([search.cv_results_[f"split{i}_test_score"] for i in range(2)])
    assert len(np.unique(scores[:, -20:])) == 3


class FakeCluster(Engine):
    counts = [1, 1, 4, 4, 2]

    def __init__(self, backend, n_workers):
        self.pool, self.n_counted, self.now, self.most = ThreadPoolExecutor(8), 0, 0, 0

    def start(self, message, payload):
        return self.pool.submit(self.run, message, payload)

    def run(self, message, payload):
        self.now += 1
        self.most = max(self.most, self.now)
        time.sleep(0.02)
        self.now -= 1
        return self.run_message(message, payload)

    def count_workers(self):
        self.n_counted += 1
        return self.counts[min(self.n_counted, len(self.counts)) - 1]

    def close(self):
        self.pool.shutdown()


@pytest.mark.parametrize(("follows", "window"), [(True, 4), (False, 2)])
def test_a_cluster_is_counted_while_it_runs_if_all_its_workers_are_asked_for(
    monkeypatch, follows, window
):
    monkeypatch.setattr(_executor, "COUNT_SECONDS", 0.05)
    shared = (lambda context, task, environment: task, None, "sequential")
    executor = RemoteExecutor(FakeCluster, SequentialBackend(), shared, 1, Limits(), None)
    executor.follows = follows
    with executor:
        futures = [executor.submit(i) for i in range(40)]
        assert [future.result() for future in futures] == list(range(40))
        assert executor._engine.most == (5 if follows else 2)
        assert executor.recount_seconds == (0.05 if follows else np.inf)
        assert executor.window == window
