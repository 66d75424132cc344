"""The search estimators."""

from sksearch.search._asynchronous import ASHASearchCV, PASHASearchCV
from sksearch.search._ensemble import AveragedClassifier, AveragedRegressor
from sksearch.search._fidelity import HyperbandSearchCV, SuccessiveHalvingSearchCV
from sksearch.search._full import QuasiRandomSearchCV, RandomSearchCV, SearchCV
from sksearch.search._halving_hybrids import GPHalvingSearchCV, TPEHalvingSearchCV
from sksearch.search._hybrids import BOHBSearchCV, GPHyperbandSearchCV
from sksearch.search._incremental import IncrementalEvaluationSearchCV
from sksearch.search._learning import ForestBayesSearchCV, GPBayesSearchCV, TPESearchCV
from sksearch.search._load_history import SavedSearch, load_history
from sksearch.search._plan import SearchPlan
from sksearch.search._progress import Progress

__all__ = [
    "ASHASearchCV",
    "AveragedClassifier",
    "AveragedRegressor",
    "BOHBSearchCV",
    "ForestBayesSearchCV",
    "GPBayesSearchCV",
    "GPHalvingSearchCV",
    "GPHyperbandSearchCV",
    "HyperbandSearchCV",
    "IncrementalEvaluationSearchCV",
    "PASHASearchCV",
    "Progress",
    "QuasiRandomSearchCV",
    "RandomSearchCV",
    "SavedSearch",
    "SearchCV",
    "SearchPlan",
    "SuccessiveHalvingSearchCV",
    "TPEHalvingSearchCV",
    "TPESearchCV",
    "load_history",
]
