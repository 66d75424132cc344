"""All samplers that learn, in all their forms, and names for them that fit on a line."""

from dataclasses import fields, is_dataclass, replace

from sksearch.samplers import (
    BORESampler,
    CMAESSampler,
    DESampler,
    ForestSampler,
    GeneticSampler,
    GPSampler,
    HypervolumeSampler,
    PSOSampler,
    TPESampler,
)
from sksearch.samplers._gp import CHOICES, FAMILIES, PENDING

GP = [
    *(GPSampler(acquisition=name) for name in CHOICES),
    *(GPSampler(pending=name) for name in PENDING if name != "believer"),
    *(GPSampler(kernel=name) for name in FAMILIES if name != "matern52"),
    GPSampler(warp=True),
    GPSampler(marginalise=True),
    GPSampler(n_restarts=2),
    GPSampler(guards=()),
    GPSampler(transfer="joint"),
]
EVOLUTION = [CMAESSampler(), DESampler(), GeneticSampler(), PSOSampler()]
LEARNERS = [
    *GP,
    TPESampler(),
    TPESampler(multivariate=False),
    ForestSampler(),
    BORESampler(),
    HypervolumeSampler(),
    *EVOLUTION,
    PSOSampler(asynchronous=False),
]


def beginning_after(sampler, n):
    """The sampler, whose proposals depend on results after n of them, or as few as it can."""
    if sampler in EVOLUTION or isinstance(sampler, PSOSampler):
        return replace(sampler, population_size=max(4, n))
    return replace(sampler, n_initial=n)


def name_of(value):
    """The class of a sampler with what differs from the defaults; of anything else its str."""
    if not is_dataclass(value):
        return str(value)
    changed = [
        f"{field.name}={getattr(value, field.name)}"
        for field in fields(value)
        if getattr(value, field.name) != field.default
    ]
    return f"{type(value).__name__}({', '.join(changed)})"
