from sksearch.checkpoint._load_history import load_history as load_history
from sksearch.estimators._models import default_models as default_models
from sksearch.fitting.run._objectives import Bound as Bound
from sksearch.reporting._report import report as report
from sksearch.search import (
    ASHASearchCV as ASHASearchCV,
    BOHBSearchCV as BOHBSearchCV,
    GPBayesSearchCV as GPBayesSearchCV,
    HalvingSearchCV as HalvingSearchCV,
    HyperbandSearchCV as HyperbandSearchCV,
    PBTSearchCV as PBTSearchCV,
    RandomSearchCV as RandomSearchCV,
    SearchCV as SearchCV,
    SuccessiveHalvingSearchCV as SuccessiveHalvingSearchCV,
    TPESearchCV as TPESearchCV,
    tune as tune,
)
from sksearch.search._minimize import minimize as minimize
from sksearch.space._conditions import When as When

__version__: str
