"""All samplers that learn, in all their forms, and names for them that fit on a line."""

from dataclasses import fields, is_dataclass

from sksearch.samplers import ForestSampler, GPSampler, HypervolumeSampler, TPESampler
from sksearch.samplers._gp import CHOICES, FAMILIES, PENDING

GP = [
    *(GPSampler(acquisition=name) for name in CHOICES),
    *(GPSampler(pending=name) for name in PENDING if name != "believer"),
    *(GPSampler(kernel=name) for name in FAMILIES if name != "matern52"),
    GPSampler(warp=True),
    GPSampler(marginalise=True),
    GPSampler(transfer="joint"),
]
LEARNERS = [
    *GP,
    TPESampler(),
    TPESampler(multivariate=False),
    ForestSampler(),
    HypervolumeSampler(),
]


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
