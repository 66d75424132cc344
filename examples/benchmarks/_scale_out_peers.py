"""Searches of other libraries on real worker processes whose fits sleep.

Each evaluates the same number of candidates on five folds with eight workers. Fits last
log-normally long, drawn for each candidate and fold, or no time at all. Workers have started, and
have imported their modules, before the time begins.
"""

import contextlib
import importlib.metadata
import multiprocessing
import os
import tempfile
import time
import zlib
from pathlib import Path

import joblib
import numpy as np
from scipy.stats import uniform
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import KFold, RandomizedSearchCV

import sksearch as sks

N_WORKERS, N_FOLDS, SIGMA = 8, 5, 0.5
SPACE = {"x": uniform(), "y": uniform()}
DATA = np.arange(50.0)[:, np.newaxis]
SPLITS = list(KFold(N_FOLDS).split(DATA))
N_CANDIDATES = 64


class Asleep(BaseEstimator):
    """An estimator whose fits sleep, `mean` seconds in the mean."""

    def __init__(self, x=0.5, y=0.5, mean=0.0):
        self.x, self.y, self.mean = x, y, mean

    def fit(self, X, y=None):
        """Sleep."""
        if self.mean:
            time.sleep(self.mean * duration(self.x, X))
        return self

    def score(self, X, y=None):
        """Return the negative loss."""
        return -((self.x - 0.3) ** 2) - (self.y - 0.3) ** 2


def duration(x, X):
    """Duration of a fit, 1 in the mean."""
    rng = np.random.default_rng(zlib.crc32(repr((float(x), float(X.sum()))).encode()))
    return float(rng.lognormal(-(SIGMA**2) / 2, SIGMA))


def fold_score(params, mean, fold):
    """Fit and score on one fold."""
    train, test = SPLITS[fold]
    model = clone(Asleep(mean=mean)).set_params(**params)
    return model.fit(DATA[train]).score(DATA[test])


def mean_score(params, mean):
    """Fit and score on all folds, one after another."""
    return float(np.mean([fold_score(params, mean, fold) for fold in range(N_FOLDS)]))


def drawn(n_candidates):
    """Random candidates."""
    rng = np.random.default_rng(0)
    return [dict(zip("xy", rng.random(2).tolist(), strict=True)) for _ in range(n_candidates)]


# ---- each returns the seconds and the values of x


def of_search(cls, mean, n, **args):
    """Time a search with scikit-learn's interface, after a short one that starts the workers."""
    args = {"cv": N_FOLDS, "refit": False} | args
    with contextlib.suppress(TypeError):
        cls(Asleep(), SPACE, n_iter=2 * N_WORKERS, random_state=1, **args).fit(DATA)
    search = cls(Asleep(mean=mean), SPACE, n_iter=n, random_state=0, **args)
    start = time.perf_counter()
    search.fit(DATA)
    return time.perf_counter() - start, [p["x"] for p in search.cv_results_["params"]]


def ours(mean, n):
    """Random search in our worker processes."""
    return of_search(sks.RandomSearchCV, mean, n, n_jobs=N_WORKERS)


def ours_tpe(mean, n):
    """TPE in our worker processes, as typed."""
    return of_search(sks.TPESearchCV, mean, n, n_jobs=N_WORKERS)


def sklearn(mean, n):
    """scikit-learn's random search on loky."""
    return of_search(RandomizedSearchCV, mean, n, n_jobs=N_WORKERS)


def plain(mean, n):
    """joblib on loky, a task for each fold."""
    params = drawn(n)
    with joblib.Parallel(N_WORKERS) as parallel:
        parallel(joblib.delayed(fold_score)(p, 0.01, 0) for p in drawn(4 * N_WORKERS))
        start = time.perf_counter()
        parallel(joblib.delayed(fold_score)(p, mean, k) for p in params for k in range(N_FOLDS))
        return time.perf_counter() - start, [p["x"] for p in params]


def _optuna_storage(kind, folder):
    import optuna

    if kind == "sqlite":
        return optuna.storages.RDBStorage(f"sqlite:///{folder}/study.db")
    from optuna.storages.journal import JournalFileBackend

    return optuna.storages.JournalStorage(JournalFileBackend(f"{folder}/study.log"))


def _optimize(kind, folder, mean, n, ready):
    """One process of a study, which ends when the study has n finished or running trials."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.load_study(study_name="study", storage=_optuna_storage(kind, folder))
    limit = optuna.study.MaxTrialsCallback(n, states=None)

    def objective(trial):
        return mean_score({k: trial.suggest_float(k, 0, 1) for k in "xy"}, mean)

    ready.wait()
    ready.wait()
    study.optimize(objective, callbacks=[limit])


def of_optuna(kind, mean, n):
    """Optuna's TPE: eight processes with one storage, each with the folds of a candidate."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        optuna.create_study(
            study_name="study", storage=_optuna_storage(kind, folder), direction="maximize"
        )
        ready = context.Barrier(N_WORKERS + 1)
        args = kind, folder, mean, n, ready
        processes = [context.Process(target=_optimize, args=args) for _ in range(N_WORKERS)]
        for process in processes:
            process.start()
        ready.wait()
        ready.wait()
        start = time.perf_counter()
        for process in processes:
            process.join()
        seconds = time.perf_counter() - start
        study = optuna.load_study(study_name="study", storage=_optuna_storage(kind, folder))
        return seconds, [trial.params["x"] for trial in study.trials]


def optuna_sqlite(mean, n):
    """Optuna with SQLite."""
    return of_optuna("sqlite", mean, n)


def optuna_journal(mean, n):
    """Optuna with a journal file."""
    return of_optuna("journal", mean, n)


def ray_tune(mean, n):
    """Ray Tune's random search, a trial for each candidate."""
    os.environ |= {"RAY_AUTH_MODE": "disabled", "PYTHONPATH": os.pathsep.join(_paths())}
    import ray
    from ray import tune

    ray.init(num_cpus=N_WORKERS, log_to_driver=False, include_dashboard=False)
    try:
        searched = []
        for count, seconds in ((N_WORKERS, 0.0), (n, mean)):
            start = time.perf_counter()
            tuner = tune.Tuner(
                tune.with_parameters(_ray_trial, mean=seconds),
                param_space={k: tune.uniform(0, 1) for k in "xy"},
                tune_config=tune.TuneConfig(num_samples=count, metric="score", mode="max"),
                run_config=tune.RunConfig(verbose=0, storage_path=tempfile.mkdtemp()),
            )
            searched = [result.config["x"] for result in tuner.fit()]
        return time.perf_counter() - start, searched
    finally:
        ray.shutdown()


def _ray_trial(config, mean):
    from _scale_out_peers import mean_score as score  # in Ray's worker

    return {"score": score(config, mean)}


def _paths():
    return [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]


@contextlib.contextmanager
def _dask_client():
    import distributed

    os.environ["PYTHONPATH"] = os.pathsep.join(_paths())
    cluster = distributed.LocalCluster(
        n_workers=N_WORKERS, threads_per_worker=1, dashboard_address=":0"
    )
    with cluster, distributed.Client(cluster) as client:
        yield client


def dask_ml(mean, n):
    """dask-ml's random search."""
    from dask_ml.model_selection import RandomizedSearchCV as Search

    with _dask_client() as client:
        return of_search(Search, mean, n, scheduler=client)


def ours_dask(mean, n):
    """Our random search on the same Dask cluster."""
    with _dask_client(), joblib.parallel_config("dask"):
        return of_search(sks.RandomSearchCV, mean, n)


PEERS = {
    "joblib": plain,
    "RandomSearchCV": ours,
    "TPESearchCV": ours_tpe,
    "scikit-learn": sklearn,
    "Optuna, SQLite": optuna_sqlite,
    "Optuna, journal": optuna_journal,
    "Ray Tune": ray_tune,
    "dask-ml": dask_ml,
    "RandomSearchCV on Dask": ours_dask,
}
#: The module that a search needs.
PACKAGES = dict.fromkeys(PEERS) | {
    "Optuna, SQLite": "optuna",
    "Optuna, journal": "optuna",
    "Ray Tune": "ray",
    "dask-ml": "dask_ml",
    "RandomSearchCV on Dask": "distributed",
}
VERSIONS = "sksearch", "scikit-learn", "joblib", "optuna", "ray", "dask-ml", "distributed"


def measured(name, mean):
    """Run one search, and return its figures."""
    seconds, values = PEERS[name](mean, N_CANDIDATES)
    slept = sum(mean * duration(x, DATA[train]) for x in values for train, _ in SPLITS)
    versions = {}
    for package in VERSIONS:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[package] = importlib.metadata.version(package)
    return {
        "n_workers": N_WORKERS, "n_candidates": len(values), "seconds": round(seconds, 3),
        "per_second": round(N_FOLDS * len(values) / seconds, 2),
        "busy": round(slept / (N_WORKERS * seconds), 4), "versions": versions,
    }  # fmt: skip
