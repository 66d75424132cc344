from sksearch.checkpoint._errors import (
    JournalError as JournalError,
    SearchLockedError as SearchLockedError,
    SearchMismatchError as SearchMismatchError,
)
from sksearch.checkpoint._load_history import SavedSearch as SavedSearch
from sksearch.executors._limits import EngineLostError as EngineLostError
from sksearch.fitting.finish._ensemble import Ensemble as Ensemble
from sksearch.fitting.finish._front import ParetoFront as ParetoFront
from sksearch.fitting.prepare._prior_results import earlier_results as earlier_results
from sksearch.fitting.run._plan import SearchPlan as SearchPlan
from sksearch.progress._progress import Progress as Progress
from sksearch.reporting._report import Report as Report
from sksearch.search._asynchronous import (
    ASHASearchCV as ASHASearchCV,
    PASHASearchCV as PASHASearchCV,
)
from sksearch.search._base import BaseSearch as BaseSearch
from sksearch.search._evolution import (
    DEHBSearchCV as DEHBSearchCV,
    EvolutionSearchCV as EvolutionSearchCV,
)
from sksearch.search._fabolas import FabolasSearchCV as FabolasSearchCV
from sksearch.search._fidelity import (
    HyperbandSearchCV as HyperbandSearchCV,
    SuccessiveHalvingSearchCV as SuccessiveHalvingSearchCV,
)
from sksearch.search._full import (
    QuasiRandomSearchCV as QuasiRandomSearchCV,
    RandomSearchCV as RandomSearchCV,
    SearchCV as SearchCV,
)
from sksearch.search._groups import COUNT as COUNT
from sksearch.search._halving_namesakes import (
    HalvingGridSearchCV as HalvingGridSearchCV,
    HalvingRandomSearchCV as HalvingRandomSearchCV,
)
from sksearch.search._hybrids import (
    BOHBSearchCV as BOHBSearchCV,
    HalvingSearchCV as HalvingSearchCV,
)
from sksearch.search._hypergradient import HypergradientSearchCV as HypergradientSearchCV
from sksearch.search._incremental import (
    IncrementalEvaluationSearchCV as IncrementalEvaluationSearchCV,
)
from sksearch.search._learning import (
    ForestBayesSearchCV as ForestBayesSearchCV,
    GPBayesSearchCV as GPBayesSearchCV,
    TPESearchCV as TPESearchCV,
)
from sksearch.search._minimize import minimize as minimize
from sksearch.search._namesakes import (
    GridSearchCV as GridSearchCV,
    RandomizedSearchCV as RandomizedSearchCV,
)
from sksearch.search._parts import inherits_parameters as inherits_parameters
from sksearch.search._pbt import PBTSearchCV as PBTSearchCV
from sksearch.search._tune import tune as tune
