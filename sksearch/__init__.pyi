from sksearch.checkpoint import load_history as load_history
from sksearch.fitting.run._objectives import Bound as Bound
from sksearch.reporting._report import report as report
from sksearch.search import (
    ASHASearchCV as ASHASearchCV,
    BOHBSearchCV as BOHBSearchCV,
    CMAESSearchCV as CMAESSearchCV,
    DEHBSearchCV as DEHBSearchCV,
    DESearchCV as DESearchCV,
    FabolasSearchCV as FabolasSearchCV,
    ForestBayesSearchCV as ForestBayesSearchCV,
    GeneticSearchCV as GeneticSearchCV,
    GPBayesSearchCV as GPBayesSearchCV,
    GPHalvingSearchCV as GPHalvingSearchCV,
    GPHyperbandSearchCV as GPHyperbandSearchCV,
    GridSearchCV as GridSearchCV,
    HalvingGridSearchCV as HalvingGridSearchCV,
    HalvingRandomSearchCV as HalvingRandomSearchCV,
    HyperbandSearchCV as HyperbandSearchCV,
    IncrementalEvaluationSearchCV as IncrementalEvaluationSearchCV,
    PASHASearchCV as PASHASearchCV,
    PBTSearchCV as PBTSearchCV,
    PSOSearchCV as PSOSearchCV,
    QuasiRandomSearchCV as QuasiRandomSearchCV,
    RandomizedSearchCV as RandomizedSearchCV,
    RandomSearchCV as RandomSearchCV,
    SearchCV as SearchCV,
    SuccessiveHalvingSearchCV as SuccessiveHalvingSearchCV,
    TPEHalvingSearchCV as TPEHalvingSearchCV,
    TPESearchCV as TPESearchCV,
    earlier_results as earlier_results,
    tune as tune,
)
from sksearch.search._hypergradient import HypergradientSearchCV as HypergradientSearchCV
from sksearch.search._minimize import minimize as minimize
from sksearch.space import When as When

__version__: str
