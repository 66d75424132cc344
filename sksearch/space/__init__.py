"""What RandomizedSearchCV takes, as a unit cube and back; spaces where none is given.

The names of default spaces are those of the estimators' families, which stand above this room.
"""

from typing import TYPE_CHECKING

from sksearch._utils._on_demand import on_demand

if TYPE_CHECKING:
    from sksearch.estimators import default_space, first_candidates, own_candidate
    from sksearch.estimators._models import default_models
    from sksearch.estimators._registered import register_space
    from sksearch.estimators._tables import TableColumns
    from sksearch.space._beliefs import Beliefs
    from sksearch.space._conditions import When
    from sksearch.space._converters import from_configspace, from_optuna, from_skopt
    from sksearch.space._distributions import LogRandInt
    from sksearch.space._outcome import Outcome, Threshold
    from sksearch.space._space import Space
else:
    __getattr__, __dir__ = on_demand(__name__)

__all__ = [
    "Beliefs",
    "LogRandInt",
    "Outcome",
    "Space",
    "TableColumns",
    "Threshold",
    "When",
    "default_models",
    "default_space",
    "first_candidates",
    "from_configspace",
    "from_optuna",
    "from_skopt",
    "own_candidate",
    "register_space",
]
