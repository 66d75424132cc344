"""Seeds: one integer from any source of randomness, and global generators seeded for a while."""

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from sklearn.utils import check_random_state

MAX_SEED = 2**31 - 1


def draw_seed(random_state: int | np.random.RandomState | None) -> int:
    """Draw the seed of a search from ``random_state``, an int, a RandomState or None."""
    return int(check_random_state(random_state).randint(MAX_SEED))


@contextmanager
def seeded(*words: int) -> Iterator[None]:
    """Seed the global generators for a while, as a function of what is computed.

    Estimators with ``random_state=None`` draw from them, so without this their scores would
    depend on ``n_jobs`` and on what ran before.

    Parameters
    ----------
    *words : int
        Seed of the search, trial, fold, resource.
    """
    seed = int(np.random.SeedSequence(words).generate_state(1)[0])
    legacy, own = np.random.get_state(), random.getstate()
    torch = sys.modules.get("torch")
    torch_state = torch.get_rng_state() if torch is not None else None
    np.random.seed(seed)
    random.seed(seed)
    if torch is not None:
        torch.manual_seed(seed)
    try:
        yield
    finally:
        np.random.set_state(legacy)
        random.setstate(own)
        if torch is not None:
            torch.set_rng_state(torch_state)
