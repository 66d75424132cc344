"""What scikit-learn's RandomizedSearchCV takes, as a unit cube and back."""

from sksearch.space._conditions import unwrap as unwrap
from sksearch.space._dimensions import Dimension as Dimension
from sksearch.space._values import equal as equal
from sksearch.space._values import native as native

from ._beliefs import Beliefs
from ._conditions import When
from ._converters import from_configspace, from_optuna, from_skopt
from ._distributions import LogRandInt
from ._distributions import with_frozen_laws as with_frozen_laws
from ._outcome import Outcome, Threshold
from ._outcome import outcome_named as outcome_named
from ._scaling import scaled as scaled
from ._space import Space

__all__ = [
    "Beliefs",
    "LogRandInt",
    "Outcome",
    "Space",
    "Threshold",
    "When",
    "from_configspace",
    "from_optuna",
    "from_skopt",
]
