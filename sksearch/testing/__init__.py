"""What a sampler, scheduler, engine, space or search of one's own has to keep, as functions.

Each raises an AssertionError that says which promise is broken, as scikit-learn's
`check_estimator` does. They need no test runner.
"""

from sksearch.testing._engine import check_engine
from sksearch.testing._family import check_family
from sksearch.testing._sampler import check_sampler
from sksearch.testing._scheduler import check_scheduler
from sksearch.testing._search import check_search
from sksearch.testing._space import check_space

__all__ = [
    "check_engine",
    "check_family",
    "check_sampler",
    "check_scheduler",
    "check_search",
    "check_space",
]
