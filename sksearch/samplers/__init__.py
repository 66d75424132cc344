"""What to try: each sampler proposes the params of the next candidate."""

from typing import TYPE_CHECKING

from sksearch._utils._on_demand import on_demand

if TYPE_CHECKING:
    from sksearch.samplers._cmaes import CMAESSampler
    from sksearch.samplers._de import DESampler
    from sksearch.samplers._forest import ForestSampler
    from sksearch.samplers._genetic import GeneticSampler
    from sksearch.samplers._gp import GPSampler
    from sksearch.samplers._grid import GridSampler
    from sksearch.samplers._hypervolume import HypervolumeSampler
    from sksearch.samplers._listed import ListedSampler
    from sksearch.samplers._nsga2 import NSGA2Sampler
    from sksearch.samplers._prior import PriorSampler
    from sksearch.samplers._pso import PSOSampler
    from sksearch.samplers._quasi_random import QuasiRandomSampler
    from sksearch.samplers._random import RandomSampler
    from sksearch.samplers._scalarised import ScalarisedSampler
    from sksearch.samplers._tpe import TPESampler
    from sksearch.samplers._warm_start import EarlierTask, WarmStart
else:
    __getattr__, __dir__ = on_demand(__name__)

__all__ = [
    "CMAESSampler",
    "DESampler",
    "EarlierTask",
    "ForestSampler",
    "GPSampler",
    "GeneticSampler",
    "GridSampler",
    "HypervolumeSampler",
    "ListedSampler",
    "NSGA2Sampler",
    "PSOSampler",
    "PriorSampler",
    "QuasiRandomSampler",
    "RandomSampler",
    "ScalarisedSampler",
    "TPESampler",
    "WarmStart",
]
