"""How to spend: start a new candidate, or bring an old one further."""

from typing import TYPE_CHECKING

from sksearch._utils._on_demand import on_demand

if TYPE_CHECKING:
    from sksearch.schedulers._asha import ASHA
    from sksearch.schedulers._async_hyperband import AsyncHyperband
    from sksearch.schedulers._asynchronous import AsynchronousScheduler
    from sksearch.schedulers._audited import Audited
    from sksearch.schedulers._brackets import BracketScheduler, ladder
    from sksearch.schedulers._fabolas import Fabolas
    from sksearch.schedulers._full_fidelity import FullFidelity
    from sksearch.schedulers._hyperband import Hyperband
    from sksearch.schedulers._incremental_evaluation import IncrementalEvaluation
    from sksearch.schedulers._iterated_halving import IteratedHalving
    from sksearch.schedulers._median_stopping import MedianStopping
    from sksearch.schedulers._pasha import PASHA
    from sksearch.schedulers._pbt import PopulationBasedTraining
    from sksearch.schedulers._race import FoldRace
    from sksearch.schedulers._successive_halving import SuccessiveHalving
else:
    __getattr__, __dir__ = on_demand(__name__)

__all__ = [
    "ASHA",
    "PASHA",
    "AsyncHyperband",
    "AsynchronousScheduler",
    "Audited",
    "BracketScheduler",
    "Fabolas",
    "FoldRace",
    "FullFidelity",
    "Hyperband",
    "IncrementalEvaluation",
    "IteratedHalving",
    "MedianStopping",
    "PopulationBasedTraining",
    "SuccessiveHalving",
    "ladder",
]
