"""What to try: each sampler proposes the params of the next candidate."""

from typing import TYPE_CHECKING

from sksearch._utils._on_demand import on_demand

if TYPE_CHECKING:
    from sksearch.samplers._cmaes import CMAESSampler
    from sksearch.samplers._de import DESampler
    from sksearch.samplers._forest import ForestSampler
    from sksearch.samplers._genetic import GeneticSampler
    from sksearch.samplers._gp import CHOICES as CHOICES
    from sksearch.samplers._gp import GPSampler
    from sksearch.samplers._gp_proposal import Proposal as Proposal
    from sksearch.samplers._gp_proposal import margin_of_ties as margin_of_ties
    from sksearch.samplers._grid import GridSampler
    from sksearch.samplers._hypervolume import HypervolumeSampler
    from sksearch.samplers._listed import ListedSampler
    from sksearch.samplers._nsga2 import NSGA2Sampler
    from sksearch.samplers._observations import TRANSFERS as TRANSFERS
    from sksearch.samplers._observations import WITHOUT_JOINT as WITHOUT_JOINT
    from sksearch.samplers._observations import Observations as Observations
    from sksearch.samplers._observations import observe as observe
    from sksearch.samplers._prior import PriorSampler
    from sksearch.samplers._prior import with_prior as with_prior
    from sksearch.samplers._pso import PSOSampler
    from sksearch.samplers._quasi_random import METHODS as METHODS
    from sksearch.samplers._quasi_random import QuasiRandomSampler
    from sksearch.samplers._random import RandomSampler
    from sksearch.samplers._scalarised import ScalarisedSampler
    from sksearch.samplers._scalarised import for_aims as for_aims
    from sksearch.samplers._surrogate import best_points as best_points
    from sksearch.samplers._tpe import TPESampler
    from sksearch.samplers._warm_start import EarlierTask, WarmStart
    from sksearch.samplers._warm_start import part_of as part_of
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
