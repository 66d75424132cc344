"""One integer from what scikit-learn takes for a source of randomness."""

import numpy as np
from sklearn.utils import check_random_state

MAX_SEED = 2**31 - 1


def draw_seed(random_state: int | np.random.RandomState | None) -> int:
    """Draw the seed of a search from ``random_state``, an int, a RandomState or None."""
    return int(check_random_state(random_state).randint(MAX_SEED))
