"""Samplers of this library and of others behind one pair of verbs.

Every optimizer here has ``ask() -> params``, ``tell(loss)`` for what was asked first of all that
was not told, and ``fill(list of params, losses)``, which enters results that it did not ask for.
`run` drives one over a task at full fidelity and takes the time of both verbs.

Peers get the friendliest description of a parameter that they have a word for: numbers among
which to choose are ordered to them, not categories, and a parameter that is inactive is left out
where they know conditions. Otherwise they run with their defaults.
"""

import importlib
import importlib.metadata
import logging
import math
import tempfile
import time
import warnings
from collections import deque
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sksearch import samplers
from sksearch.history import Problem, Result
from sksearch.schedulers import FullFidelity
from sksearch.space import Space
from sksearch.study import Study


class Run(NamedTuple):
    """What a search did.

    Parameters
    ----------
    params : list of dict
        In the order of asking.
    losses : list of float
        As they were told.
    seconds : list of float
        Processor time of each ask and tell.
    """

    params: list
    losses: list
    seconds: list


def run(method, task, n_evaluations, seed, batch=1):
    """Search at full fidelity.

    Parameters
    ----------
    method : str
        One of `METHODS`.
    task : Task
        What to tune.
    n_evaluations : int
        Count of trainings.
    seed : int
        Seed of the method and of the repetitions that are drawn.
    batch : int, default=1
        Count of trainings that are asked for at once.

    Returns
    -------
    run : Run
        The search.
    """
    optimizer = make(method, task, n_evaluations, seed)
    rng = np.random.default_rng((seed, 1))
    done = Run([], [], [])
    while len(done.params) < n_evaluations:
        n = min(batch, n_evaluations - len(done.params))
        start = time.process_time()
        optimizer.prepare(n)
        params = [optimizer.ask() for _ in range(n)]
        spent = time.process_time() - start
        losses = [task.loss(item, rng) for item in params]
        start = time.process_time()
        for loss in losses:
            optimizer.tell(loss)
        spent += time.process_time() - start
        done.seconds.extend(n * [spent / n])
        done.params.extend(params)
        done.losses.extend(losses)
    return done


class Optimizer:
    """What all have; ``_asked`` is what was not told yet."""

    def __init__(self):
        self._asked = deque()

    def prepare(self, n):
        """Note that the next n are asked for before any of them is told."""


class Ours(Optimizer):
    """One of this library's samplers.

    Parameters
    ----------
    task : Task
        What to tune.
    n_evaluations : int
        Count of trainings.
    seed : int
        Seed of all that is random.
    sampler : str
        Name of a class of `sksearch.samplers`.
    """

    def __init__(self, task, n_evaluations, seed, sampler):
        super().__init__()
        problem = Problem(Space(task.space), seed=seed)
        self._study = Study(problem, our_sampler(sampler), FullFidelity(n_evaluations))

    def ask(self):
        """Propose params."""
        job = self._study.ask()
        self._asked.append(job)
        return job.params

    def tell(self, loss):
        """Enter what they brought."""
        self._study.tell(self._asked.popleft(), our_result(loss))

    def fill(self, params, losses):
        """Enter results from elsewhere."""
        for item, loss in zip(params, losses, strict=True):
            trial = self._study.history.start(item, 0, 1)
            self._study.history.tell(trial.id, 1, our_result(loss))


def our_sampler(name, **options):
    """Make a sampler of this library by the name of its class."""
    if name not in samplers.__all__:
        raise ImportError(f"sksearch.samplers has no {name}.")
    return getattr(samplers, name)(**options)


def our_result(loss):
    """A score, greater is better."""
    return Result(-loss, status="nan" if math.isnan(loss) else "ok")


class Skopt(Optimizer):
    """scikit-optimize's GP, which knows no conditions: inactive parameters do not matter.

    Parameters
    ----------
    task, n_evaluations, seed
        See `Ours`.
    """

    def __init__(self, task, n_evaluations, seed):
        super().__init__()
        skopt = require("skopt")
        self._task = task
        self._prepared = deque()
        self._optimizer = skopt.Optimizer(
            [self._dimension(skopt.space, p) for p in task.parameters], random_state=seed
        )

    @staticmethod
    def _dimension(space, p):
        if p.kind == "cat":
            return space.Categorical(range(len(p.choices)))
        if p.kind == "ordinal":
            return space.Integer(0, len(p.choices) - 1)
        kind = space.Real if p.kind == "float" else space.Integer
        return kind(p.lower, p.upper, "log-uniform" if p.log else "uniform")

    def prepare(self, n):
        """Ask for several at once: one after the other they would be the same."""
        if n > 1:
            self._prepared.extend(self._optimizer.ask(n))

    def ask(self):
        """Propose params."""
        x = self._prepared.popleft() if self._prepared else self._optimizer.ask()
        self._asked.append(x)
        names = [p.name for p in self._task.parameters]
        return decode(self._task, dict(zip(names, x, strict=True)))

    def tell(self, loss):
        """Enter what they brought; a failure counts as the worst so far."""
        if math.isnan(loss):
            loss = max(self._optimizer.yi, default=0.0)
        self._optimizer.tell(self._asked.popleft(), loss)

    def fill(self, params, losses):
        """Enter results from elsewhere, fitting once."""
        X = []
        for item in params:
            codes = encode(self._task, item)
            # Anything inside will do for what is inactive.
            low = {p.name: 0 if p.choices else p.lower for p in self._task.parameters}
            X.append(list((low | codes).values()))
        self._optimizer.tell(X[:-1], losses[:-1], fit=False)
        self._optimizer.tell(X[-1], losses[-1])


class Optuna(Optimizer):
    """One of Optuna's samplers.

    Parameters
    ----------
    task, n_evaluations, seed
        See `Ours`.
    sampler : {"tpe", "univariate", "gp"}
        Multivariate TPE, in groups if there are conditions; univariate TPE; GPSampler.
    """

    def __init__(self, task, n_evaluations, seed, sampler):
        super().__init__()
        self._optuna = require("optuna")
        self._optuna.logging.set_verbosity(self._optuna.logging.ERROR)
        self._task = task
        self._study = self._optuna.create_study(sampler=optuna_sampler(sampler, task, seed))

    def ask(self):
        """Propose params."""
        trial = self._study.ask()
        self._asked.append(trial)
        return optuna_suggest(trial, self._task)

    def tell(self, loss):
        """Enter what they brought."""
        trial = self._asked.popleft()
        if math.isnan(loss):
            self._study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
        else:
            self._study.tell(trial, loss)

    def fill(self, params, losses):
        """Enter results from elsewhere."""
        space = {p.name: self._distribution(p) for p in self._task.parameters}
        for item, loss in zip(params, losses, strict=True):
            codes = encode(self._task, item)
            distributions = {name: space[name] for name in codes}
            self._study.add_trial(
                self._optuna.create_trial(params=codes, distributions=distributions, value=loss)
            )

    def _distribution(self, p):
        kinds = self._optuna.distributions
        if p.kind == "cat":
            return kinds.CategoricalDistribution(range(len(p.choices)))
        if p.kind == "ordinal":
            return kinds.IntDistribution(0, len(p.choices) - 1)
        kind = kinds.FloatDistribution if p.kind == "float" else kinds.IntDistribution
        return kind(p.lower, p.upper, log=p.log)


def optuna_sampler(name, task, seed):
    """Make one of Optuna's samplers, see `Optuna`."""
    optuna = require("optuna")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        if name == "gp":
            require("torch")
            return optuna.samplers.GPSampler(seed=seed, warn_independent_sampling=False)
        return optuna.samplers.TPESampler(
            seed=seed,
            multivariate=name == "tpe",
            group=name == "tpe" and task.is_conditional,
            constant_liar=True,  # advised where trials run side by side; no matter elsewhere
        )


def optuna_suggest(trial, task):
    """Let an Optuna trial propose params."""
    params = {}
    for p in task.parameters:
        if not p.is_active(params):
            continue
        if p.kind == "cat":
            code = trial.suggest_categorical(p.name, range(len(p.choices)))
        elif p.kind == "ordinal":
            code = trial.suggest_int(p.name, 0, len(p.choices) - 1)
        else:
            suggest = trial.suggest_float if p.kind == "float" else trial.suggest_int
            code = suggest(p.name, p.lower, p.upper, log=p.log)
        params[p.name] = value_of(p, code)
    return params


class Smac(Optimizer):
    """SMAC3's facade for hyperparameters: each configuration is trained once.

    Parameters
    ----------
    task, n_evaluations, seed
        See `Ours`.
    n_initial : int or None
        Size of the initial design, None for the default.
    """

    def __init__(self, task, n_evaluations, seed, n_initial=None):
        super().__init__()
        smac = require("smac")
        self._task = task
        self._space = config_space(task, seed)
        self._folder = tempfile.TemporaryDirectory()
        facade = smac.HyperparameterOptimizationFacade
        # Told that results are noisy, SMAC trains good configurations up to three times, which
        # few can afford; peers and we take one noisy number, so SMAC does, too.
        scenario = smac.Scenario(
            self._space,
            deterministic=True,
            n_trials=n_evaluations,
            seed=seed,
            output_directory=Path(self._folder.name),
        )
        design = facade.get_initial_design(scenario, n_configs=n_initial)
        self._facade = smac_facade(facade, scenario, design)

    def ask(self):
        """Propose params."""
        info = self._facade.ask()
        self._asked.append(info)
        return decode(self._task, dict(info.config))

    def tell(self, loss):
        """Enter what they brought."""
        self._facade.tell(self._asked.popleft(), smac_value(loss), save=False)

    def fill(self, params, losses):
        """Enter results from elsewhere, before the first proposal."""
        configuration = require("ConfigSpace").Configuration
        info = require("smac.runhistory").TrialInfo
        for item, loss in zip(params, losses, strict=True):
            config = configuration(self._space, values=encode(self._task, item))
            self._facade.tell(info(config, seed=0), smac_value(loss), save=False)


def smac_facade(facade, scenario, design=None):
    """Make a silent facade of SMAC for asking and telling."""
    logging.getLogger("smac").setLevel(logging.ERROR)
    return facade(scenario, None, initial_design=design, logging_level=False, overwrite=True)


def smac_value(loss):
    """What SMAC is told; infinite for a failure, which it replaces by the worst."""
    runhistory = require("smac.runhistory")
    if math.isnan(loss):
        return runhistory.TrialValue(math.inf, status=runhistory.StatusType.CRASHED)
    return runhistory.TrialValue(loss)


def config_space(task, seed):
    """Translate a task's parameters to ConfigSpace, choices by their index."""
    cs = require("ConfigSpace")
    space = cs.ConfigurationSpace(seed=seed)
    parents = {p.name: p for p in task.parameters}
    for p in task.parameters:
        if p.kind == "cat":
            space.add(cs.CategoricalHyperparameter(p.name, list(range(len(p.choices)))))
        elif p.kind == "ordinal":
            space.add(cs.OrdinalHyperparameter(p.name, list(range(len(p.choices)))))
        elif p.kind == "float":
            space.add(cs.UniformFloatHyperparameter(p.name, p.lower, p.upper, log=p.log))
        else:
            space.add(cs.UniformIntegerHyperparameter(p.name, p.lower, p.upper, log=p.log))
        if p.parent:
            codes = [parents[p.parent].choices.index(value) for value in p.when]
            space.add(cs.InCondition(space[p.name], space[p.parent], codes))
    return space


def decode(task, codes):
    """Make params from numbers and indices of choices, leaving out what is inactive."""
    params = {}
    for p in task.parameters:
        if p.is_active(params):
            params[p.name] = value_of(p, codes[p.name])
    return params


def encode(task, params):
    """Turn params into numbers and indices of choices."""
    return {
        p.name: p.choices.index(params[p.name]) if p.choices else params[p.name]
        for p in task.parameters
        if p.name in params
    }


def value_of(p, code):
    """The value that a number or the index of a choice stands for."""
    if p.choices:
        return p.choices[int(code)]
    return float(code) if p.kind == "float" else int(code)


def require(module):
    """Import a peer, or say how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{module} is missing: pip install -r examples/benchmarks/requirements.txt"
        ) from error


OURS = {
    name: partial(Ours, sampler=sampler)
    for name, sampler in {
        "GP": "GPSampler",
        "TPE": "TPESampler",
        "Forest": "ForestSampler",
        "Sobol": "QuasiRandomSampler",
        "Random": "RandomSampler",
    }.items()
}
#: Constructors: ``METHODS[name](task, n_evaluations, seed)``.
METHODS = OURS | {
    "scikit-optimize GP": Skopt,
    "Optuna TPE": partial(Optuna, sampler="tpe"),
    "Optuna univariate TPE": partial(Optuna, sampler="univariate"),
    "Optuna GP": partial(Optuna, sampler="gp"),
    "SMAC3": Smac,
}
PACKAGES = {"scikit-optimize": "scikit-optimize", "Optuna": "optuna", "SMAC3": "smac"}


def make(method, task, n_evaluations, seed):
    """Make the optimizer of this name.

    Parameters
    ----------
    method : str
        One of `METHODS`.
    task : Task
        What to tune.
    n_evaluations : int
        Count of trainings.
    seed : int
        Seed of all that is random.

    Returns
    -------
    optimizer : Ours or a peer
        See the top of this file.
    """
    return METHODS[method](task, n_evaluations, seed)
