"""Global random generators, seeded for a while."""

import random
import sys
from contextlib import contextmanager

import numpy as np


@contextmanager
def seeded(*words):
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
