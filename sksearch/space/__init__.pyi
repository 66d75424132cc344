from sksearch.estimators._default import default_space as default_space
from sksearch.estimators._first import first_candidates as first_candidates
from sksearch.estimators._registered import register_space as register_space
from sksearch.space._beliefs import Beliefs as Beliefs
from sksearch.space._converters import (
    from_configspace as from_configspace,
    from_optuna as from_optuna,
    from_skopt as from_skopt,
)
from sksearch.space._distributions import LogRandInt as LogRandInt
from sksearch.space._outcome import (
    Outcome as Outcome,
    Threshold as Threshold,
)
from sksearch.space._space import Space as Space
