"""Multi-fidelity searches of this library and of others behind one pair of verbs.

Every optimizer here has ``ask() -> Ask`` and ``tell(loss)`` for what was asked last. `run` drives
one over the learning curves of a task and counts the epochs that were really trained: Optuna goes
on epoch by epoch; a promotion of a configuration costs the additional epochs only; and the same
configuration up to no more epochs than before has to be trained again.
"""

import math
import tempfile
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from _peers import (
    config_space,
    decode,
    optuna_sampler,
    optuna_suggest,
    our_result,
    our_sampler,
    require,
    smac_facade,
    smac_value,
)

from sksearch.history import Problem
from sksearch.schedulers import ASHA, Fabolas, FullFidelity, Hyperband
from sksearch.schedulers._iterated_halving import IteratedHalving
from sksearch.space import Space
from sksearch.study import Study

FACTOR = 3  # everybody's default; all begin with about one epoch, too


class Ask(NamedTuple):
    """A training that a search wants.

    Parameters
    ----------
    key : int
        Number of the configuration.
    params : dict
        Its params.
    epoch : int
        Where to train it to, from 1.
    trained : int
        Count of epochs that it was trained for before, from which it goes on.
    """

    key: int
    params: dict
    epoch: int
    trained: int


class Evaluation(NamedTuple):
    """What a training brought.

    Parameters
    ----------
    spent : int
        Epochs spent by the whole search when it ended.
    params : dict
        The configuration.
    epoch : int
        Where it was trained to.
    loss : float
        Its loss there.
    """

    spent: int
    params: dict
    epoch: int
    loss: float


def run(method, task, budget, seed):
    """Search until the budget is spent.

    Parameters
    ----------
    method : str
        One of `METHODS`.
    task : Task
        What to tune; one with learning curves.
    budget : int
        Count of epochs in all.
    seed : int
        Seed of the method and of the repetitions that are drawn.

    Returns
    -------
    evaluations : list of Evaluation
        In order; all of them within the budget.
    seconds : float
        Processor time of all that the search itself computed.
    """
    optimizer = METHODS[method](task, budget, seed)
    evaluations, spent, seconds = [], 0, 0.0
    while True:
        start = time.process_time()
        ask = optimizer.ask()
        seconds += time.process_time() - start
        spent += ask.epoch - ask.trained
        if spent > budget:
            return evaluations, seconds
        # One repetition for a configuration: it goes on as it began.
        loss = task.loss(ask.params, np.random.default_rng((seed, 1, ask.key)), ask.epoch)
        start = time.process_time()
        optimizer.tell(loss)
        seconds += time.process_time() - start
        evaluations.append(Evaluation(spent, ask.params, ask.epoch, loss))


def incumbent(evaluations, spent):
    """Return the params with the lowest loss at the largest epoch reached for so many epochs.

    Parameters
    ----------
    evaluations : list of Evaluation
        What `run` returned.
    spent : float
        Count of epochs after which to look.

    Returns
    -------
    params : dict or None
        None if no training had ended, or all had failed.
    """
    done = [e for e in evaluations if e.spent <= spent and not math.isnan(e.loss)]
    largest = max((e.epoch for e in done), default=0)
    best = min((e for e in done if e.epoch == largest), key=lambda e: e.loss, default=None)
    return best and best.params


class Ours:
    """One of this library's samplers with one of its schedulers.

    Parameters
    ----------
    task : Task
        What to tune.
    budget : int
        Count of epochs in all.
    seed : int
        Seed of all that is random.
    sampler : str
        Name of a class of `sksearch.samplers`.
    scheduler : {"hyperband", "halving", "asha", "sizes", "full"}, default="hyperband"
        All brackets, a wide bracket and then short ones, asynchronous halving, sizes chosen with
        the params, or all in full.
    depth : int, default=10
        Rungs below the last at most.
    **options
        Of the sampler.
    """

    def __init__(self, task, budget, seed, sampler, scheduler="hyperband", depth=10, **options):
        times = 1 + budget // task.n_epochs  # at least as often as the budget allows
        lowest = max(1, task.n_epochs // FACTOR**depth)
        schedulers = {
            "hyperband": Hyperband(FACTOR, n_iterations=times),
            "halving": IteratedHalving(FACTOR, times),
            "sizes": Fabolas(None, cost="resource"),
            "asha": ASHA(times * task.n_epochs, FACTOR),
            "full": FullFidelity(times),
        }
        problem = Problem(Space(task.space), lowest, task.n_epochs, seed)
        adapted, min_resources = schedulers[scheduler].adapt(problem)
        problem = replace(problem, min_resources=min_resources)
        self._study = Study(problem, our_sampler(sampler, **options), adapted)

    def ask(self):
        """Ask for a job."""
        self._job = job = self._study.ask()
        return Ask(job.trial_id, job.params, job.resource, job.spent)

    def tell(self, loss):
        """Enter what it brought."""
        self._study.tell(self._job, our_result(loss))


class OneEpoch:
    """One epoch of many random candidates, then the best of them in full, again and again.

    Parameters
    ----------
    task, budget, seed
        See `Ours`.

    References
    ----------
    R. Egele, I. Guyon, Y. Sun, P. Balaprakash, "Is one epoch all you need for multi-fidelity
    hyperparameter optimization?", ESANN 2023. https://arxiv.org/abs/2307.15422
    """

    N_FULL = 3

    def __init__(self, task, budget, seed):
        self._n_epochs, self._space = task.n_epochs, Space(task.space)
        self._rng, self._n = np.random.default_rng((seed, 2)), 0
        self._begin()

    def _begin(self):
        self._losses, self._best = [], None

    def ask(self):
        """Ask for an epoch of a new candidate, or for one of the best in full."""
        if self._best is None and len(self._losses) == self._n_epochs:
            self._best = sorted(self._losses, key=lambda each: each[0])[: self.N_FULL]
        if self._best is None:
            self._n += 1
            self._asked = self._n, self._space.sample(self._rng)
            return Ask(*self._asked, 1, 0)
        _, key, params = self._best.pop(0)
        return Ask(key, params, self._n_epochs, 1)

    def tell(self, loss):
        """Enter what it brought."""
        if self._best is None:
            self._losses.append((math.inf if math.isnan(loss) else loss, *self._asked))
        elif not self._best:
            self._begin()


class PowerLaw:
    """Random candidates, each until a power law of its curve promises less than the best has.

    Parameters
    ----------
    task, budget, seed
        See `Ours`.
    """

    N_FIRST = 4  # epochs before a curve is believed
    POWERS = np.linspace(0.1, 2.0, 20)

    def __init__(self, task, budget, seed):
        self._n_epochs, self._space = task.n_epochs, Space(task.space)
        self._rng, self._key, self._best = np.random.default_rng((seed, 2)), 0, math.inf
        self._begin()

    def _begin(self):
        self._key, self._curve = self._key + 1, []
        self._params = self._space.sample(self._rng)

    def ask(self):
        """Ask for the next epoch."""
        epoch = len(self._curve) + 1
        return Ask(self._key, self._params, epoch, epoch - 1)

    def tell(self, loss):
        """Go on while the curve promises more."""
        self._curve.append(loss)
        n = len(self._curve)
        if n == self._n_epochs and not math.isnan(loss):
            self._best = min(self._best, loss)
        is_hopeless = n >= self.N_FIRST and self._promised() > self._best
        if math.isnan(loss) or n == self._n_epochs or is_hopeless:
            self._begin()

    def _promised(self):
        """The loss of the last epoch, by the power law with the least squares."""
        y, found = np.array(self._curve), []
        for power in self.POWERS:
            x = np.arange(1.0, len(y) + 1) ** -power
            slope = max(0.0, np.cov(x, y, bias=True)[0, 1] / x.var())
            level = y.mean() - slope * x.mean()
            error = np.sum((level + slope * x - y) ** 2)
            found.append((error, level + slope * self._n_epochs**-power))
        return min(found)[1]


def plan_of(task):
    """One iteration of Hyperband."""
    problem = Problem(Space(task.space), 1, task.n_epochs)
    return Hyperband(FACTOR).plan(problem)


class OptunaHyperband:
    """Optuna's TPE with its Hyperband pruner, which is asked after each epoch.

    Parameters
    ----------
    task, budget, seed
        See `Ours`.
    """

    def __init__(self, task, budget, seed):
        optuna = require("optuna")
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._state = optuna.trial.TrialState
        self._task = task
        # The pruner hashes the name of the study: a random one would make it another search.
        self._study = optuna.create_study(
            study_name=f"{task.name} {seed}",
            sampler=optuna_sampler("tpe", task, seed),
            pruner=optuna.pruners.HyperbandPruner(1, task.n_epochs, FACTOR),
        )
        self._trial = None

    def ask(self):
        """Ask for the next epoch of the running trial, or for a new one."""
        if self._trial is None:
            self._trial = self._study.ask()
            self._params, self._epoch = optuna_suggest(self._trial, self._task), 0
        self._epoch += 1
        return Ask(self._trial.number, self._params, self._epoch, self._epoch - 1)

    def tell(self, loss):
        """Report, and stop the trial if it is told to."""
        if math.isnan(loss):
            self._finish(state=self._state.FAIL)
            return
        self._trial.report(loss, self._epoch)
        if self._epoch == self._task.n_epochs:
            self._finish(values=loss)
        elif self._trial.should_prune():
            self._finish(state=self._state.PRUNED)

    def _finish(self, **outcome):
        self._study.tell(self._trial, **outcome)
        self._trial = None


class Trained:
    """Numbers configurations, and knows how far each was trained."""

    def __init__(self):
        self._keys = {}
        self._epochs = {}

    def ask(self, params, resource):
        """Make an `Ask` of params and a resource that need not be a whole number."""
        epoch = max(1, round(resource))
        key = self._keys.setdefault(tuple(sorted(params.items())), len(self._keys))
        before = self._epochs.get(key, 0)
        self._epochs[key] = max(epoch, before)
        return Ask(key, params, epoch, before if before < epoch else 0)


class SmacHyperband:
    """SMAC3's multi-fidelity facade.

    Parameters
    ----------
    task, budget, seed
        See `Ours`.
    """

    def __init__(self, task, budget, seed):
        smac = require("smac")
        self._task, self._trained = task, Trained()
        self._folder = tempfile.TemporaryDirectory()
        plan = plan_of(task)
        # The initial design is a share of all trials: of as many as the budget will do for.
        n_trials = budget * plan.n_jobs / plan.total_resources(continues=True)
        scenario = smac.Scenario(
            config_space(task, seed),
            deterministic=True,
            n_trials=math.ceil(n_trials),
            min_budget=1,
            max_budget=task.n_epochs,
            seed=seed,
            output_directory=Path(self._folder.name),
        )
        self._facade = smac_facade(smac.MultiFidelityFacade, scenario)

    def ask(self):
        """Ask for a trial."""
        self._info = self._facade.ask()
        params = decode(self._task, dict(self._info.config))
        return self._trained.ask(params, self._info.budget)

    def tell(self, loss):
        """Enter what it brought."""
        self._facade.tell(self._info, smac_value(loss), save=False)


class Dehb:
    """DEHB.

    Parameters
    ----------
    task, budget, seed
        See `Ours`.
    """

    def __init__(self, task, budget, seed):
        dehb = require("dehb")
        self._task, self._trained, self._worst = task, Trained(), 0.0
        self._folder = tempfile.TemporaryDirectory()
        self._dehb = dehb.DEHB(
            cs=config_space(task, seed),
            min_fidelity=1,
            max_fidelity=task.n_epochs,
            eta=FACTOR,
            seed=seed,
            n_workers=1,
            save_freq="end",
            output_path=self._folder.name,
            log_level="ERROR",
        )
        require("loguru").logger.remove()  # its log file

    def ask(self):
        """Ask for a job."""
        self._job = self._dehb.ask()
        params = decode(self._task, dict(self._job["config"]))
        return self._trained.ask(params, self._job["fidelity"])

    def tell(self, loss):
        """Enter what it brought; a failure counts as the worst so far."""
        self._worst = np.fmax(self._worst, loss)
        fitness = self._worst if math.isnan(loss) else loss
        self._dehb.tell(self._job, {"fitness": fitness, "cost": self._job["fidelity"]})


EI = {"acquisition": "ei_distribution"}
GP_HALVING = partial(Ours, sampler="GPSampler", scheduler="halving", transfer="joint", **EI)
OURS = {
    "GPHalving": GP_HALVING,
    "TPEHalving": partial(Ours, sampler="TPESampler", scheduler="halving"),
    "BOHB": partial(Ours, sampler="TPESampler"),
    "GPHyperband": partial(Ours, sampler="GPSampler", **EI),
    "GPHalving, two rungs below": partial(GP_HALVING, depth=2),
    "GPHalving, one rung below": partial(GP_HALVING, depth=1),
    "ASHA": partial(Ours, sampler="RandomSampler", scheduler="asha"),
    "Fabolas": partial(Ours, sampler="QuasiRandomSampler", scheduler="sizes"),
    "Hyperband": partial(Ours, sampler="RandomSampler"),
    "One epoch, then the best": OneEpoch,
    "Power law": PowerLaw,
    "Random": partial(Ours, sampler="RandomSampler", scheduler="full"),
}
#: Constructors: ``METHODS[name](task, budget, seed)``.
METHODS = OURS | {
    "Optuna TPE Hyperband": OptunaHyperband,
    "SMAC3 multi-fidelity": SmacHyperband,
    "DEHB": Dehb,
}
PACKAGES = {"Optuna": "optuna", "SMAC3": "smac", "DEHB": "dehb"}
