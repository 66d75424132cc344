"""The search estimators, and what a search of your own is made of."""

from typing import TYPE_CHECKING

from sksearch._utils._on_demand import on_demand

if TYPE_CHECKING:
    from sksearch.fitting.prepare._prior_results import earlier_results
    from sksearch.search._asynchronous import ASHASearchCV, PASHASearchCV
    from sksearch.search._base import BaseSearch
    from sksearch.search._evolution import (
        CMAESSearchCV,
        DEHBSearchCV,
        DESearchCV,
        GeneticSearchCV,
        PSOSearchCV,
    )
    from sksearch.search._fabolas import FabolasSearchCV
    from sksearch.search._fidelity import HyperbandSearchCV, SuccessiveHalvingSearchCV
    from sksearch.search._full import QuasiRandomSearchCV, RandomSearchCV, SearchCV
    from sksearch.search._halving_hybrids import GPHalvingSearchCV, TPEHalvingSearchCV
    from sksearch.search._halving_namesakes import HalvingGridSearchCV, HalvingRandomSearchCV
    from sksearch.search._hybrids import BOHBSearchCV, GPHyperbandSearchCV
    from sksearch.search._hypergradient import HypergradientSearchCV
    from sksearch.search._incremental import IncrementalEvaluationSearchCV
    from sksearch.search._learning import ForestBayesSearchCV, GPBayesSearchCV, TPESearchCV
    from sksearch.search._namesakes import GridSearchCV, RandomizedSearchCV
    from sksearch.search._parts import COUNT, inherits_parameters
    from sksearch.search._pbt import PBTSearchCV
    from sksearch.search._tune import tune
else:
    __getattr__, __dir__ = on_demand(__name__)

__all__ = [
    "COUNT",
    "ASHASearchCV",
    "BOHBSearchCV",
    "BaseSearch",
    "CMAESSearchCV",
    "DEHBSearchCV",
    "DESearchCV",
    "FabolasSearchCV",
    "ForestBayesSearchCV",
    "GPBayesSearchCV",
    "GPHalvingSearchCV",
    "GPHyperbandSearchCV",
    "GeneticSearchCV",
    "GridSearchCV",
    "HalvingGridSearchCV",
    "HalvingRandomSearchCV",
    "HyperbandSearchCV",
    "HypergradientSearchCV",
    "IncrementalEvaluationSearchCV",
    "PASHASearchCV",
    "PBTSearchCV",
    "PSOSearchCV",
    "QuasiRandomSearchCV",
    "RandomSearchCV",
    "RandomizedSearchCV",
    "SearchCV",
    "SuccessiveHalvingSearchCV",
    "TPEHalvingSearchCV",
    "TPESearchCV",
    "earlier_results",
    "inherits_parameters",
    "tune",
]
