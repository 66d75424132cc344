"""What to try: each sampler proposes the params of the next candidate."""

from sksearch.samplers._grid import GridSampler
from sksearch.samplers._listed import ListedSampler
from sksearch.samplers._quasi_random import QuasiRandomSampler
from sksearch.samplers._random import RandomSampler

__all__ = ["GridSampler", "ListedSampler", "QuasiRandomSampler", "RandomSampler"]
