from sksearch.schedulers._asha import ASHA as ASHA
from sksearch.schedulers._async_hyperband import AsyncHyperband as AsyncHyperband
from sksearch.schedulers._brackets import BracketScheduler as BracketScheduler
from sksearch.schedulers._fabolas import Fabolas as Fabolas
from sksearch.schedulers._full_fidelity import FullFidelity as FullFidelity
from sksearch.schedulers._hyperband import Hyperband as Hyperband
from sksearch.schedulers._incremental_evaluation import (
    IncrementalEvaluation as IncrementalEvaluation,
)
from sksearch.schedulers._median_stopping import MedianStopping as MedianStopping
from sksearch.schedulers._pasha import PASHA as PASHA
from sksearch.schedulers._pbt import PopulationBasedTraining as PopulationBasedTraining
from sksearch.schedulers._race import FoldRace as FoldRace
from sksearch.schedulers._successive_halving import SuccessiveHalving as SuccessiveHalving
