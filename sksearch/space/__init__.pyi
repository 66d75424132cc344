from sksearch.estimators import (
    default_space as default_space,
    first_candidates as first_candidates,
    own_candidate as own_candidate,
)
from sksearch.estimators._models import default_models as default_models
from sksearch.estimators._registered import register_space as register_space
from sksearch.estimators._tables import TableColumns as TableColumns
from sksearch.space._beliefs import Beliefs as Beliefs
from sksearch.space._conditions import When as When
from sksearch.space._converters import (
    from_configspace as from_configspace,
    from_optuna as from_optuna,
    from_skopt as from_skopt,
)
from sksearch.space._distributions import LogRandInt as LogRandInt
from sksearch.space._outcome import Outcome as Outcome, Threshold as Threshold
from sksearch.space._space import Space as Space
