"""sksearch: hyperparameter search for scikit-learn users, one import away from GridSearchCV."""

from typing import TYPE_CHECKING

from sksearch._utils._on_demand import on_demand

if TYPE_CHECKING:
    from sksearch.checkpoint import load_history
    from sksearch.fitting.run._objectives import Bound
    from sksearch.reporting._report import report
    from sksearch.search import (
        ASHASearchCV,
        BOHBSearchCV,
        CMAESSearchCV,
        DEHBSearchCV,
        DESearchCV,
        FabolasSearchCV,
        ForestBayesSearchCV,
        GeneticSearchCV,
        GPBayesSearchCV,
        GPHalvingSearchCV,
        GPHyperbandSearchCV,
        GridSearchCV,
        HalvingGridSearchCV,
        HalvingRandomSearchCV,
        HyperbandSearchCV,
        IncrementalEvaluationSearchCV,
        PASHASearchCV,
        PBTSearchCV,
        PSOSearchCV,
        QuasiRandomSearchCV,
        RandomizedSearchCV,
        RandomSearchCV,
        SearchCV,
        SuccessiveHalvingSearchCV,
        TPEHalvingSearchCV,
        TPESearchCV,
        earlier_results,
        tune,
    )
    from sksearch.search._hypergradient import HypergradientSearchCV
    from sksearch.search._minimize import minimize
    from sksearch.space import When
else:
    __getattr__, __dir__ = on_demand(__name__)

__version__ = "0.1.0"

__all__ = [
    "ASHASearchCV",
    "BOHBSearchCV",
    "Bound",
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
    "When",
    "__version__",
    "earlier_results",
    "load_history",
    "minimize",
    "report",
    "tune",
]
