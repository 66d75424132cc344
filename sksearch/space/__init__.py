"""What scikit-learn's RandomizedSearchCV takes, as a unit cube and back."""

from ._beliefs import Beliefs
from ._conditions import When
from ._converters import from_configspace, from_optuna, from_skopt
from ._distributions import LogRandInt
from ._outcome import Outcome
from ._scaling import scaled as scaled
from ._space import Space

__all__ = [
    "Beliefs",
    "LogRandInt",
    "Outcome",
    "Space",
    "When",
    "from_configspace",
    "from_optuna",
    "from_skopt",
]
