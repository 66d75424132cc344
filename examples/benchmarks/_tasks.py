"""Tuning tasks: recorded results of real trainings, and functions with a known minimum.

The recorded ones are those of `sksearch.simulators.load_task`; here they get the
parameters of their files, from which each peer's own kind of space is made, and noise from a
generator.
"""

import json
import math
import zlib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from scipy.stats import loguniform, randint, uniform

from sksearch import When, simulators
from sksearch.simulators._tables import task_names, task_path
from sksearch.space import LogRandInt, Space

N_DRAWS = 10_000  # uniform ones, of which the median function value is normalised to 1

RECORDED = task_names()


@dataclass(frozen=True)
class Parameter:
    """One searched parameter, in nobody's dialect.

    Parameters
    ----------
    name : str
        Its name.
    kind : {"float", "int", "ordinal", "cat"}
        An ordinal has choices that are numbers in increasing order.
    lower, upper : float or int
        Both included; None for choices.
    log : bool
        Whether the scale is logarithmic.
    choices : tuple
        The values of an ordinal or a category, else empty.
    parent : str or None
        The parameter that decides whether this one is active; it stands before it.
    when : tuple
        Values of the parent for which this one is active.
    """

    name: str
    kind: str
    lower: float | None = None
    upper: float | None = None
    log: bool = False
    choices: tuple = ()
    parent: str | None = None
    when: tuple = ()

    @classmethod
    def from_meta(cls, entry):
        """Read what the recorded tasks have in ``meta["space"]``."""
        choices = tuple(entry.get("choices", ()))
        kind = entry["type"]
        if choices:
            numbers = all(isinstance(c, (int, float)) and not isinstance(c, bool) for c in choices)
            kind = "ordinal" if numbers and list(choices) == sorted(choices) else "cat"
        as_number = {"int": int, "float": float}.get(kind, lambda bound: None)
        return cls(
            entry["name"],
            kind,
            as_number(entry.get("lower")),
            as_number(entry.get("upper")),
            bool(entry.get("log")) and not choices,
            choices,
            entry.get("parent"),
            tuple(entry.get("when", ())),
        )

    def values(self):
        """What `Space` and scikit-learn take for it."""
        if self.choices:
            values = list(self.choices)
        elif self.kind == "float":
            span = self.upper - self.lower
            values = loguniform(self.lower, self.upper) if self.log else uniform(self.lower, span)
        else:
            values = (LogRandInt if self.log else randint)(self.lower, self.upper + 1)
        return values if self.parent is None else When(values, self.parent, "in", list(self.when))

    def is_active(self, params):
        """Whether it belongs to params that hold its parent already."""
        return self.parent is None or params.get(self.parent) in self.when

    def unit(self, value):
        """Place of numbers between the bounds, 0 to 1."""
        if self.log:
            span = math.log(self.upper / self.lower)
            return np.log(np.asarray(value, dtype=float) / self.lower) / span
        return (np.asarray(value, dtype=float) - self.lower) / (self.upper - self.lower)


class Task(ABC):
    """Something to be tuned.

    Parameters
    ----------
    name : str
        What it is called.
    parameters : list of Parameter
        Parents before their children.
    n_epochs : int or None
        Epochs of a full training; None where there are no learning curves.

    Attributes
    ----------
    best, median : float
        Losses that a regret of 0 and of 1 stand for.
    """

    best: float
    median: float

    def __init__(self, name, parameters, n_epochs=None):
        self.name = name
        self.parameters = parameters
        self.n_epochs = n_epochs

    def __repr__(self):
        return f"<{self.name}: {len(self.parameters)} parameters, {self.n_epochs} epochs>"

    @cached_property
    def space(self):
        """What `Space` takes, a dict."""
        return {parameter.name: parameter.values() for parameter in self.parameters}

    @property
    def is_conditional(self):
        """Whether some parameter is active only at times."""
        return any(parameter.parent for parameter in self.parameters)

    @abstractmethod
    def losses(self, params, epoch=None):
        """Return what was recorded for these params, one number for each repetition."""

    def loss(self, params, rng, epoch=None):
        """Return what one training of these params brings.

        Parameters
        ----------
        params : dict
            The active parameters.
        rng : numpy.random.Generator
            Draws the repetition, the same one at each epoch if it is in the same state.
        epoch : int or None
            The epoch to stop after, from 1; None for the last one.

        Returns
        -------
        loss : float
            To be minimised; NaN for a failed training.
        """
        losses = self.losses(params, epoch)
        loss = float(losses[rng.integers(len(losses))] if len(losses) > 1 else losses[0])
        return loss if math.isfinite(loss) else math.nan

    def regret(self, params, epoch=None):
        """Return the loss without noise: 0 is the best known, 1 the median random params."""
        loss = float(np.mean(self.losses(params, epoch)))
        return (loss - self.best) / (self.median - self.best)

    def regrets(self, params, losses):
        """Return the regret of the incumbent after each evaluation; None without a loss so far."""
        found, best, regret = [], math.inf, None
        for each, loss in zip(params, losses, strict=True):
            if loss < best:
                best, regret = loss, self.regret(each)
            found.append(regret)
        return found


class RecordedTask(Task):
    """Recorded results of real trainings.

    Parameters
    ----------
    name : str
        One of `sksearch.simulators._tables.task_names`.
    parameters : list of Parameter
        What was searched.
    """

    def __init__(self, name, parameters):
        self._problem = simulators.load_task(name)
        n_epochs = self._problem.max_resources
        super().__init__(name, parameters, n_epochs if n_epochs > 1 else None)
        self.best, self.median = self._problem.best, self._problem.median

    def losses(self, params, epoch=None):
        """Return all repetitions of the nearest configuration at this epoch."""
        return self._problem.repetitions([params])[0, (epoch or self._problem.max_resources) - 1]


class FunctionTask(Task):
    """A function with a known minimum, without noise.

    Parameters
    ----------
    name : str
        What it is called.
    parameters : list of Parameter
        Its arguments.
    function : callable
        ``function(params) -> float``.
    best : float
        Its minimum.
    """

    def __init__(self, name, parameters, function, best=0.0):
        super().__init__(name, parameters)
        self.best = best
        self._function = function

    @cached_property
    def median(self):
        """Median value of uniform draws."""
        space, rng = Space(self.space), np.random.default_rng(0)
        return float(np.median([self._function(space.sample(rng)) for _ in range(N_DRAWS)]))

    def losses(self, params, epoch=None):
        """Return the value."""
        return [self._function(params)]


def _vector(params):
    return np.array([params[f"x{i}"] for i in range(len(params))])


def branin(params):
    """Branin's function of [-5, 10] x [0, 15]."""
    x, y = _vector(params)
    valley = y - 5.1 / (4 * np.pi**2) * x**2 + 5 / np.pi * x - 6
    return valley**2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(x) + 10


_HARTMANN_A = np.array(
    [
        [10, 3, 17, 3.5, 1.7, 8],
        [0.05, 10, 17, 0.1, 8, 14],
        [3, 3.5, 1.7, 10, 17, 8],
        [17, 8, 0.05, 10, 0.1, 14],
    ]
)
_HARTMANN_P = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)


def hartmann6(params):
    """Hartmann's function of the 6-dimensional unit cube."""
    exponents = (_HARTMANN_A * (_vector(params) - _HARTMANN_P) ** 2).sum(axis=1)
    return -float(np.array([1, 1.2, 3, 3.2]) @ np.exp(-exponents))


def rosenbrock(params):
    """Rosenbrock's valley."""
    x = _vector(params)
    return float((100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum())


def ackley(params):
    """Ackley's function."""
    x = _vector(params)
    waves = np.exp(np.cos(2 * np.pi * x).mean())
    return float(-20 * np.exp(-0.2 * np.sqrt((x**2).mean())) - waves + 20 + np.e)


def levy(params):
    """Levy's function."""
    w = 1 + (_vector(params) - 1) / 4
    middle = (w[:-1] - 1) ** 2 * (1 + 10 * np.sin(np.pi * w[:-1] + 1) ** 2)
    last = (w[-1] - 1) ** 2 * (1 + np.sin(2 * np.pi * w[-1]) ** 2)
    return float(np.sin(np.pi * w[0]) ** 2 + middle.sum() + last)


def mixed(params):
    """Floats, integers and categories; the best learning rate depends on two of them."""
    offset, rate = {"sgd": (0.3, -1), "adam": (0, -3), "rmsprop": (0.1, -3), "lbfgs": (0.5, 0)}[
        params["solver"]
    ]
    rate -= 0.5 * math.log2(params["width"] / 64) / 4
    gaps = [
        (math.log10(params["rate"]) - rate) / 2,
        (math.log10(params["decay"]) + 4) / 4,
        (params["depth"] - 6) / 6 * (0.3 if params["norm"] else 1),
        math.log2(params["width"] / 128) / 4,
        (params["dropout"] - 0.2) / 0.5,
    ]
    return offset + 0.2 * (not params["norm"]) + sum(gap**2 for gap in gaps)


def conditional(params):
    """Three models with params of their own; the one with the best minimum needs most care."""
    log10 = math.log10
    if params["model"] == "svm":
        gaps = [(log10(params["C"]) - 1) / 3, (log10(params["gamma"]) + 2) / 3]
        if params["kernel"] == "poly":
            gaps.append((params["degree"] - 3) / 3)
        return 0.2 + 0.1 * (params["kernel"] != "rbf") + sum(gap**2 for gap in gaps)
    if params["model"] == "forest":
        gaps = [(params["depth"] - 15) / 30, params["features"] - 0.4]
        return 0.3 + sum(gap**2 for gap in gaps)
    gaps = [
        (log10(params["rate"]) + 3) / 2,
        (log10(params["decay"]) + 5) / 4,
        (params["layers"] - 3) / 4,
        params["dropout"] - 0.3,
    ]
    return sum(gap**2 for gap in gaps)


def _box(*bounds):
    return [Parameter(f"x{i}", "float", *bound) for i, bound in enumerate(bounds)]


def _mixed_parameters():
    return [
        Parameter("solver", "cat", choices=("sgd", "adam", "rmsprop", "lbfgs")),
        Parameter("norm", "cat", choices=(True, False)),
        Parameter("rate", "float", 1e-6, 10.0, log=True),
        Parameter("decay", "float", 1e-8, 1.0, log=True),
        Parameter("dropout", "float", 0.0, 0.9),
        Parameter("depth", "int", 1, 20),
        Parameter("width", "int", 8, 1024, log=True),
    ]


def _conditional_parameters():
    svm, forest, net = ({"parent": "model", "when": (m,)} for m in ("svm", "forest", "net"))
    return [
        Parameter("model", "cat", choices=("svm", "forest", "net")),
        Parameter("C", "float", 1e-3, 1e3, log=True, **svm),
        Parameter("gamma", "float", 1e-5, 1e1, log=True, **svm),
        Parameter("kernel", "cat", choices=("rbf", "poly", "sigmoid"), **svm),
        Parameter("degree", "int", 2, 6, parent="kernel", when=("poly",)),
        Parameter("depth", "int", 1, 40, **forest),
        Parameter("features", "float", 0.05, 1.0, **forest),
        Parameter("rate", "float", 1e-6, 1.0, log=True, **net),
        Parameter("decay", "float", 1e-8, 1e-1, log=True, **net),
        Parameter("layers", "int", 1, 8, **net),
        Parameter("dropout", "float", 0.0, 0.9, **net),
    ]


FUNCTIONS = {
    "branin": lambda: (_box((-5.0, 10.0), (0.0, 15.0)), branin, 0.39788735772973816),
    "hartmann6": lambda: (_box(*[(0.0, 1.0)] * 6), hartmann6, -3.3223680114155147),
    "rosenbrock4": lambda: (_box(*[(-5.0, 10.0)] * 4), rosenbrock),
    # The minimum is at 0: ranges that have it in the middle would flatter whoever starts there.
    "ackley5": lambda: (_box(*[(-15.0, 30.0)] * 5), ackley),
    "levy8": lambda: (_box(*[(-10.0, 10.0)] * 8), levy),
    "mixed": lambda: (_mixed_parameters(), mixed),
    "conditional": lambda: (_conditional_parameters(), conditional),
}

TASKS = [*RECORDED, *FUNCTIONS]


def seed_of_task(name, seed):
    """A seed of its own for each task: with one for all they would share first points."""
    return zlib.crc32(f"{name} {seed}".encode())


@cache
def load_task(name):
    """Make a task, once in each process.

    Parameters
    ----------
    name : str
        One of `TASKS`, or of `_development.development_tasks`.

    Returns
    -------
    task : Task
        The task.
    """
    if "/" in name:
        from _development import DevelopmentTask

        return DevelopmentTask(name)
    if name in FUNCTIONS:
        return FunctionTask(name, *FUNCTIONS[name]())
    with np.load(task_path(name)) as arrays:
        entries = json.loads(str(arrays["meta"]))["space"]
    return RecordedTask(name, [Parameter.from_meta(entry) for entry in entries])
