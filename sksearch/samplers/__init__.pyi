from sksearch.samplers._bore import BORESampler as BORESampler
from sksearch.samplers._cmaes import CMAESSampler as CMAESSampler
from sksearch.samplers._de import DESampler as DESampler
from sksearch.samplers._forest import ForestSampler as ForestSampler
from sksearch.samplers._genetic import GeneticSampler as GeneticSampler
from sksearch.samplers._gp import GPSampler as GPSampler
from sksearch.samplers._grid import GridSampler as GridSampler
from sksearch.samplers._hypervolume import HypervolumeSampler as HypervolumeSampler
from sksearch.samplers._listed import ListedSampler as ListedSampler
from sksearch.samplers._nsga2 import NSGA2Sampler as NSGA2Sampler
from sksearch.samplers._prior import PriorSampler as PriorSampler
from sksearch.samplers._pso import PSOSampler as PSOSampler
from sksearch.samplers._quasi_random import QuasiRandomSampler as QuasiRandomSampler
from sksearch.samplers._random import RandomSampler as RandomSampler
from sksearch.samplers._scalarised import ScalarisedSampler as ScalarisedSampler
from sksearch.samplers._tpe import TPESampler as TPESampler
from sksearch.samplers._warm_start import EarlierTask as EarlierTask, WarmStart as WarmStart
