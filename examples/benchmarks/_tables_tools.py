"""Searches behind one signature for `tables.py`: ``search(case, space, seconds, trace)``.

Peers run until they are killed. What they have noted by then counts: an evaluation that is not
complete at a time has not happened. All have their defaults but for the count of candidates, which
is larger than they can reach; and each has its own space if it has one.
"""

import math
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from _peers import require
from _tables_clock import snapshots
from sklearn.base import clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import HalvingRandomSearchCV, RandomizedSearchCV

import sksearch
from sksearch.space import LogRandInt

#: Mean cost of a random candidate over that of the untuned estimator, on development tables; the
#: last three were not measured. See `size_of_halving`.
COST_OF_DRAWS = {"histgb": 1.5, "lightgbm": 1, "mlp": 3, "svm": 1.8}
COST_OF_DRAWS |= {"forest": 1, "linear": 1, "xgboost": 1}
MANY = 1_000  # candidates: more than there is time for
#: Names of learners in FLAML.
IN_FLAML = {"histgb": "histgb", "lightgbm": "lgbm", "forest": "rf", "xgboost": "xgboost"}


class Watcher:
    """A scorer that notes a candidate when its last fold has been scored.

    Parameters
    ----------
    trace : Trace
        Takes the notes.
    names : iterable of str
        Params of a candidate.
    n_folds : int
        Count of folds.
    """

    def __init__(self, trace, names, n_folds):
        self.trace, self.names, self.n_folds = trace, list(names), n_folds
        self._params, self._scores = None, []

    def __call__(self, estimator, X, y):
        """Score a fold; folds of a candidate come one after the other."""
        score = estimator.score(X, y)
        known = estimator.get_params()
        params = {name: known[name] for name in self.names}
        if params != self._params:
            self._params, self._scores = params, []
        self._scores.append(score)
        if len(self._scores) == self.n_folds:
            self.trace.note(params, np.mean(self._scores))
            self._params = None
        return score


def names_in(space):
    """Names of all params of a space."""
    return space if isinstance(space, dict) else {name: 0 for part in space for name in part}


def options(case, space, trace):
    """Parameters that the peers with scikit-learn's interface share."""
    return {
        "n_iter": MANY,
        "cv": case.folds,
        "scoring": Watcher(trace, names_in(space), len(case.folds)),
        "random_state": case.seed,
        "refit": False,
    }


def randomized(case, space, seconds, trace):
    """scikit-learn's RandomizedSearchCV."""
    search = RandomizedSearchCV(case.model, space, **options(case, space, trace))
    search.fit(case.X, case.y)


def bayes(case, space, seconds, trace):
    """scikit-optimize's BayesSearchCV."""
    translated = {name: to_skopt(values) for name, values in space.items()}
    search = require("skopt").BayesSearchCV(
        with_numbers(case.model, space),
        translated,
        **options(case, space, trace),
    )
    search.fit(case.X, case.y)


def optuna(case, space, seconds, trace):
    """Optuna's TPE, each fold reported and the median pruner asked, without a first guess."""
    library = require("optuna")
    library.logging.set_verbosity(library.logging.ERROR)

    def objective(trial):
        params = {name: suggest(trial, name, values) for name, values in space.items()}
        scores = []
        for step, (train, test) in enumerate(case.folds):
            model = clone(case.model).set_params(**params)
            try:
                model.fit(rows(case.X, train), case.y[train])
                scores.append(model.score(rows(case.X, test), case.y[test]))
            except ValueError as error:
                raise library.TrialPruned from error
            trial.report(np.mean(scores), step)
            if step + 1 < len(case.folds) and trial.should_prune():
                raise library.TrialPruned
        trace.note(params, np.mean(scores), n_started=trial.number + 1)
        return np.mean(scores)

    study = library.create_study(
        direction="maximize",
        sampler=library.samplers.TPESampler(seed=case.seed),
        pruner=library.pruners.MedianPruner(),
    )
    study.optimize(objective)


def rows(X, which):
    """Rows of an array or a DataFrame."""
    return X.iloc[which] if hasattr(X, "iloc") else X[which]


class WatchedHalving(HalvingRandomSearchCV):
    """Notes the best of each rung once the rung is complete."""

    def _run_search(self, evaluate_candidates, callback_ctx=None):
        def watched(*args, **kwargs):
            results = evaluate_candidates(*args, **kwargs)
            iterations = np.array(results["iter"])
            last = np.flatnonzero(iterations == iterations.max())
            scores = np.nan_to_num(results["mean_test_score"][last], nan=-np.inf)
            best = last[np.argmax(scores)]
            self.trace.note(
                results["params"][best],
                results["mean_test_score"][best],
            )
            return results

        super()._run_search(watched, callback_ctx=callback_ctx)


def halving(case, space, seconds, trace, n_candidates):
    """scikit-learn's HalvingRandomSearchCV over rows; its last rung has nearly all of them."""
    search = WatchedHalving(
        case.model,
        space,
        n_candidates=n_candidates,
        min_resources="exhaust",
        cv=case.folds,
        random_state=case.seed,
        refit=False,
    )
    search.trace = trace
    search.fit(case.X, case.y)


def size_of_halving(case, seconds, scale, factor=3):
    """Largest count of candidates whose schedule fits into the time.

    The untuned estimator is trained and scored on one fold, on all rows and on a ninth; between
    them the cost is a straight line. `COST_OF_DRAWS` says how much more candidates take.

    Parameters
    ----------
    case : Case
        What to tune.
    seconds : float
        There are so many.
    scale : float
        Processor seconds here in one second.
    factor : int, default=3
        One candidate in `factor` goes on.

    Returns
    -------
    n_candidates : int
        At least `factor`.
    """
    train, test = case.folds[0]
    shares, costs = (1 / 9, 1), []
    order = np.random.default_rng(case.seed).permutation(train)
    for share in shares:
        start = time.process_time()
        some = order[: int(len(train) * share)]
        model = clone(case.model).fit(rows(case.X, some), case.y[some])
        model.score(rows(case.X, test), case.y[test])
        costs.append((time.process_time() - start) / scale * COST_OF_DRAWS[case.name])
    slope = max(costs[1] - costs[0], 0) / (shares[1] - shares[0])
    smallest = 2 * len(case.folds) * (len(np.unique(case.y)) if case.is_classifier else 1)

    def cost(n):
        n_rungs = 1 + math.floor(math.log(n, factor) + 1e-9)
        n_possible = 1 + math.floor(math.log(len(case.y) // smallest, factor))
        total = 0
        for below in range(min(n_rungs, n_possible)):
            total += n * (
                costs[1] - slope * (1 - factor ** -(min(n_rungs, n_possible) - 1 - below))
            )
            n = math.ceil(n / factor)
        return len(case.folds) * total

    n = factor
    while n < MANY and cost(n + 1) <= seconds:
        n += 1
    return n


class FrozenFolds:
    """A splitter of folds that are known."""

    shuffle = False  # FLAML would change the order of rows

    def __init__(self, folds):
        self.folds = folds

    def split(self, X, y=None, groups=None):
        """The folds."""
        return iter(self.folds)

    def get_n_splits(self, X=None, y=None, groups=None):
        """Count of folds."""
        return len(self.folds)


def flaml(case, space, seconds, trace):
    """FLAML's AutoML with one learner, its own space and its own measure of cost."""
    library = require("flaml")
    trace.clock.install("flaml")

    class Watched(library.AutoML):
        def _log_trial(self, search_state, estimator):
            trace.note(search_state.config, 1 - search_state.val_loss)

    with tempfile.TemporaryDirectory() as folder:
        Watched().fit(
            case.X,
            case.y,
            task=task_in_flaml(case),
            metric="accuracy" if case.is_classifier else "r2",
            estimator_list=[IN_FLAML[case.name]],
            time_budget=seconds,
            eval_method="cv",
            split_type=FrozenFolds(case.folds),
            n_splits=len(case.folds),
            auto_augment=False,
            retrain_full=False,
            n_jobs=1,
            seed=case.seed,
            log_file_name=str(Path(folder) / "log"),  # without it no trial is told
            log_type="all",
            verbose=0,
        )


def task_in_flaml(case):
    """Name of the task."""
    if not case.is_classifier:
        return "regression"
    return "binary" if len(np.unique(case.y)) == 2 else "multiclass"


def from_flaml(case, config):
    """The estimator that FLAML trains for this configuration."""
    factory = require("flaml.automl.task.factory").task_factory
    task = factory(task_in_flaml(case), case.X, case.y)
    kind = task.estimator_class_from_str(IN_FLAML[case.name])
    learner = kind(task=task, n_jobs=1, **config)
    return learner.estimator_class(**learner.params)


def ours(case, space, seconds, trace, make, checkpoints):
    """One of this library's searches, which looks at the clock itself.

    At each checkpoint a copy of it is interrupted by Ctrl-C, and what the copy has then is what
    the search would have returned.
    """
    trace.clock.install("sksearch._utils._clock")
    search = make(case, space, seconds)

    def keep(at):
        if hasattr(search, "best_params_"):
            note(trace, search, of=at)

    snapshots(checkpoints, trace, keep)(lambda: search.fit(case.X, case.y))
    test = search.score(case.X_test, case.y_test)
    note(trace, search, of=None, test=test)


def note(trace, search, **more):
    """Note what a search has found."""
    n_started = len(search.history_.trials)
    trace.note(search.best_params_, search.best_score_, n_started=n_started, **more)


def our_default(case, space, seconds):
    """What a person meets first: no space, no resource, no count."""
    return sksearch.SearchCV(
        clone(case.model), timeout=seconds, cv=case.folds, random_state=case.seed
    )


def our_class(case, space, seconds, name, **options):
    """A search by the name of its class, on the space of the peers."""
    kind = getattr(sksearch.search, name)
    return kind(
        clone(case.model),
        space,
        timeout=seconds,
        cv=case.folds,
        random_state=case.seed,
        **options,
    )


def to_skopt(values):
    """A dimension of scikit-optimize; choices that are not all of one plain type are numbered."""
    space = require("skopt.space")
    if isinstance(values, list):
        return space.Categorical(list(range(len(values))) if needs_numbers(values) else values)
    low, high, is_integer, is_log = range_of(values)
    kind = space.Integer if is_integer else space.Real
    return kind(low, high, "log-uniform" if is_log else "uniform")


def needs_numbers(values):
    """Whether scikit-optimize changes or refuses such choices: tuples, or None among numbers."""
    kinds = {type(value) for value in values}
    return len(kinds) > 1 or not kinds <= {bool, int, float, str}


def with_numbers(model, space):
    """The model, with choices set by number where scikit-optimize needs that."""
    codes = {
        name: values
        for name, values in space.items()
        if isinstance(values, list) and needs_numbers(values)
    }
    kind = type(model)

    def set_params(self, **params):
        decoded = {name: codes[name][v] if name in codes else v for name, v in params.items()}
        return kind.set_params(self, **decoded)

    numbered = type(kind.__name__, (kind,), {"set_params": set_params})
    return numbered(**model.get_params(deep=False))


def suggest(trial, name, values):
    """Ask Optuna for a value; a choice that is no plain value is asked for by its number."""
    if isinstance(values, list):
        plain = all(v is None or isinstance(v, bool | int | float | str) for v in values)
        if plain:
            return trial.suggest_categorical(name, values)
        return values[trial.suggest_categorical(name, list(range(len(values))))]
    low, high, is_integer, is_log = range_of(values)
    kind = trial.suggest_int if is_integer else trial.suggest_float
    return kind(name, low, high, log=is_log)


def range_of(values):
    """Bounds, both included, and whether values are integers and on a logarithmic scale."""
    if isinstance(values, LogRandInt):
        return values.low, values.high - 1, True, True
    low, high = values.support()
    kind = values.dist.name
    if kind not in ("loguniform", "reciprocal", "uniform", "randint"):
        raise ValueError(f"Peers have no word for {kind}.")
    is_integer = kind == "randint"
    number = int if is_integer else float
    return number(low), number(high), is_integer, kind in ("loguniform", "reciprocal")


def refitted(case, params):
    """The model with these params, trained on all rows to search with."""
    return clone(case.model).set_params(**params).fit(case.X, case.y)


@dataclass(frozen=True)
class Tool:
    """A row of the tables.

    Parameters
    ----------
    search : callable
        ``search(case, space, seconds, trace)``; ours also has ``checkpoints``.
    package : str
        Its name for the version.
    modules : tuple of str
        To be loaded before the clock starts.
    is_ours : bool, default=False
        Whether it looks at the clock.
    runs_each : bool, default=False
        Whether each checkpoint needs a run of its own.
    estimators : tuple of str or None, default=None
        Those that it knows; None: all.
    """

    search: Callable[..., Any]
    package: str
    modules: tuple = ()
    is_ours: bool = False
    runs_each: bool = False
    estimators: tuple | None = None


def _our_tool(make):
    return Tool(partial(ours, make=make), "sksearch", is_ours=True)


UNTUNED = "untuned"
#: All but the untuned estimators, whose record is made otherwise.
TOOLS = {
    "SearchCV": _our_tool(our_default),
    "GPBayesSearchCV": _our_tool(partial(our_class, name="GPBayesSearchCV", n_iter=MANY)),
    "HalvingSearchCV folds": _our_tool(
        partial(our_class, name="HalvingSearchCV", resource="folds")
    ),
    "RandomizedSearchCV": Tool(randomized, "scikit-learn"),
    "Optuna TPE": Tool(optuna, "optuna", ("optuna", "optuna.samplers", "optuna.pruners")),
    "BayesSearchCV": Tool(bayes, "scikit-optimize", ("skopt", "skopt.space")),
    "FLAML": Tool(
        flaml,
        "flaml",
        ("flaml", "flaml.automl", "flaml.tune.tune"),
        estimators=tuple(IN_FLAML),
    ),
    "HalvingRandomSearchCV": Tool(halving, "scikit-learn", runs_each=True),
}
OURS = tuple(name for name, tool in TOOLS.items() if tool.is_ours)
