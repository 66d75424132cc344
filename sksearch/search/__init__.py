"""The search estimators."""

from sksearch.search._asynchronous import ASHASearchCV, PASHASearchCV
from sksearch.search._fidelity import HyperbandSearchCV, SuccessiveHalvingSearchCV
from sksearch.search._full import QuasiRandomSearchCV, RandomSearchCV, SearchCV
from sksearch.search._halving_hybrids import GPHalvingSearchCV, TPEHalvingSearchCV
from sksearch.search._hybrids import BOHBSearchCV, GPHyperbandSearchCV
from sksearch.search._incremental import IncrementalEvaluationSearchCV
from sksearch.search._learning import ForestBayesSearchCV, GPBayesSearchCV, TPESearchCV

__all__ = [
    "ASHASearchCV",
    "BOHBSearchCV",
    "ForestBayesSearchCV",
    "GPBayesSearchCV",
    "GPHalvingSearchCV",
    "GPHyperbandSearchCV",
    "HyperbandSearchCV",
    "IncrementalEvaluationSearchCV",
    "PASHASearchCV",
    "QuasiRandomSearchCV",
    "RandomSearchCV",
    "SearchCV",
    "SuccessiveHalvingSearchCV",
    "TPEHalvingSearchCV",
    "TPESearchCV",
]
