"""Searches on a plain function, drawn as those of `searches.py` are."""

import math
from dataclasses import dataclass, field, replace

from scipy.stats import uniform

from sksearch import Bound, minimize
from sksearch.samplers import GPSampler, QuasiRandomSampler, RandomSampler, TPESampler
from sksearch.schedulers import FullFidelity, Hyperband, SuccessiveHalving
from tests.simulation import learners
from tests.simulation.chance import happens


@dataclass(frozen=True)
class Loss:
    """A function of a few parameters, which may fail."""

    fails_above: float = 2.0
    is_several: bool = False

    def __call__(self, params, n=1):
        """Return the loss, or several numbers by name."""
        quality, _ = params["quality"], learners.NOTE
        if quality > self.fails_above:
            raise RuntimeError(f"quality {quality:.2f} is too good to be true")
        loss = (quality - 0.3) ** 2 + 0.01 * params.get("other", 0) + 1 / n + learners.LEVEL
        if not self.is_several:
            return loss if quality > 0.05 else math.nan
        return {"loss": loss, "price": quality + 0.1 * (params.get("kind") == "b")}


def is_allowed(params):
    """What a candidate must be."""
    return params["quality"] < 0.95


class Minimization:
    """A call of `minimize` with the method of a search."""

    def __init__(self, **kwargs):
        self.kwargs = kwargs

    def fit(self, X, y):
        """Call it."""
        self.result_ = minimize(**self.kwargs)
        return self

    def outcome(self):
        """Text of everything that was found, but for times; a line for each evaluation."""
        found = self.result_
        lines = [
            f"row {trial.id} {trial.params!r} {n} {result.score!r} {result.status} {result.error}"
            for trial in found.history.trials
            for n, result in trial.results.items()
        ]
        names = ("x", "fun", "nfev", "nit", "success", "message")
        lines += [f"{name}: {found[name]!r}" for name in names]
        lines += [f"front: {list(found.pareto.index)!r}" for _ in range("pareto" in found)]
        return "\n".join(lines)


@dataclass
class DrawnFunction:
    """A call of `minimize` as it can be made again and again."""

    kwargs: dict
    loss: dict
    n_workers: int = 1
    estimator: dict = field(default_factory=dict)  # as it fails
    small: dict = field(default_factory=dict)  # what it has less of at first, until it grows

    def make(self, folder=None, **changes):
        """Make the call, not made yet."""
        kwargs = {"func": Loss(**self.loss)} | self.kwargs | changes
        return Minimization(checkpoint_dir=folder, **kwargs)

    def another(self, rng):
        """A call that differs."""
        kwargs, loss = self.kwargs, self.loss
        kind = rng.randrange(3)
        if kind == 0:
            kwargs = kwargs | {"random_state": kwargs["random_state"] + 1}
        elif kind == 1:
            loss = loss | {"fails_above": 1.5}
        else:
            kwargs = kwargs | {"space": kwargs["space"] | {"quality": uniform(0, 0.9)}}
        return replace(self, kwargs=kwargs, loss=loss, small={})

    def __str__(self):
        return f"minimize({self.loss}, {self.kwargs})"


def draw_function(rng, space):
    """Draw a call with four to twenty evaluations or so."""
    kwargs = {"space": space, "random_state": rng.randrange(1000), "n_iter": rng.randint(4, 16)}
    samplers = [RandomSampler(), RandomSampler(), QuasiRandomSampler(), TPESampler(), GPSampler()]
    kwargs["sampler"] = rng.choices(samplers, [3, 3, 2, 2, 0.3])[0]
    if happens(rng, 0.4):
        kwargs["max_resources"] = rng.choice([3, 4, 9])
        schedulers = [SuccessiveHalving(rng.randint(4, 12), 2), Hyperband(3), FullFidelity(6)]
        kwargs["scheduler"] = rng.choice(schedulers)
    loss = {}
    if happens(rng, 0.3):
        loss["fails_above"] = rng.uniform(0.6, 1.0)
    if happens(rng, 0.2):
        kwargs["target"] = rng.uniform(0.01, 0.5)
    if happens(rng, 0.3):
        kwargs["known"] = {"constraints": [is_allowed]}
    if happens(rng, 0.3):
        loss["is_several"] = True
        if happens(rng, 0.5) and "scheduler" not in kwargs:
            kwargs["objectives"] = ["loss", "price"]
        else:
            kwargs["known"] = {"constraints": [Bound("price", "<=", rng.uniform(0.3, 0.9))]}
    # Otherwise the order of results depends on the workers.
    kwargs["workers"] = {"batch_size": rng.randint(1, 4) if happens(rng, 0.3) else 1}
    small = {}
    if type(kwargs["sampler"]) is RandomSampler and not kwargs.keys() & {"scheduler", "target"}:
        small = {"n_iter": rng.randint(2, kwargs["n_iter"])} if happens(rng, 0.4) else {}
    return DrawnFunction(kwargs, loss, rng.randint(1, 4), loss, small)
