"""Seeds: one integer from any source of randomness, and temporary seeding of global generators."""

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from sksearch._utils._gpus import gpus_in_use

MAX_SEED = 2**31 - 1  # as scikit-learn draws seeds: they fit an int32


def draw_seed(random_state: int | np.random.RandomState | None) -> int:
    """Draw the seed of a search from ``random_state``, an int, a RandomState or None."""
    return int(check_random_state(random_state).randint(MAX_SEED))


@contextmanager
def seeded(*words: int, restores: bool = True) -> Iterator[None]:
    """Seed the global generators temporarily, as a function of the task.

    Estimators with ``random_state=None`` draw from them, so their scores would otherwise depend on
    ``n_jobs`` and on earlier tasks.

    Parameters
    ----------
    *words : int
        Seed of the search, trial, fold, resource.
    restores : bool, default=True
        False to leave the generators seeded, which saves copying their states.
    """
    seed = int(np.random.SeedSequence(words).generate_state(1)[0])
    before = generator_states() if restores else {}
    np.random.seed(seed)
    random.seed(seed)
    if (torch := _torch()) is not None:
        torch.manual_seed(seed)
    try:
        yield
    finally:
        if restores:
            set_generator_states(before)


def _torch() -> Any:
    """Return PyTorch if it has been imported; a module of another name has no generator."""
    torch = sys.modules.get("torch")
    return torch if hasattr(torch, "get_rng_state") else None


def generator_states() -> dict[str, Any]:
    """Return the states of all global generators: NumPy, Python, and PyTorch if in use.

    GPU generators are included once PyTorch has used a GPU in this process.
    """
    states: dict[str, Any] = {"numpy": np.random.get_state(), "python": random.getstate()}
    if (torch := _torch()) is not None:
        states["torch"] = torch.get_rng_state()
        for kind, gpus in gpus_in_use().items():
            # There is one GPU of the kind "mps" at most.
            states[kind] = gpus.get_rng_state() if kind == "mps" else gpus.get_rng_state_all()
    return states


def set_generator_states(states: dict[str, Any]) -> None:
    """Set all global generators to states that `generator_states` returned."""
    np.random.set_state(states["numpy"])
    random.setstate(states["python"])
    if "torch" in states:
        sys.modules["torch"].set_rng_state(states["torch"])
        for kind, gpus in gpus_in_use().items():
            if kind == "mps" and kind in states:
                gpus.set_rng_state(states[kind])
            elif kind in states:
                for device, state in enumerate(states[kind][: gpus.device_count()]):
                    gpus.set_rng_state(state, device)
