"""How to spend: start a new candidate, or bring an old one further."""

from sksearch.schedulers._brackets import BracketScheduler, ladder
from sksearch.schedulers._full_fidelity import FullFidelity
from sksearch.schedulers._hyperband import Hyperband
from sksearch.schedulers._incremental_evaluation import IncrementalEvaluation
from sksearch.schedulers._successive_halving import SuccessiveHalving

__all__ = [
    "BracketScheduler",
    "FullFidelity",
    "Hyperband",
    "IncrementalEvaluation",
    "SuccessiveHalving",
    "ladder",
]
