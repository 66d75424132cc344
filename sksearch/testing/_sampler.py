"""The contract of a sampler."""

import pickle
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.stats import loguniform, randint, uniform

from sksearch.base import Sampler, Start
from sksearch.history import History, Problem, Result
from sksearch.schedulers import FullFidelity
from sksearch.space import Space
from sksearch.space._conditions import When
from sksearch.study import Study
from sksearch.testing._require import require

FINITE = {"a": list(range(7)), "b": ["x", "y", "z"], "c": randint(0, 3)}
MIXED = {
    "lr": loguniform(1e-4, 1),
    "n_layers": [1, 2, 3],
    "width_2": When(randint(8, 65), "n_layers", ">=", 2),
    "kind": ["a", "b", (1, 2)],
}
UNION = [{"kernel": ["rbf"], "gamma": loguniform(1e-3, 1)}, {"kernel": ["linear"], "C": [1, 2]}]
#: Numbers and choices, some of them conditional; spaces start from a single number.
SPACES = {"finite": FINITE, "mixed": MIXED, "union": UNION, "one": {"x": uniform(0, 1)}}
#: Number of trials, and the scores that they take in turn; trials without scores are running.
HISTORIES: dict[str, tuple[int, list[float | None]]] = {
    "empty": (0, []),
    "one": (1, [0.5]),
    "pending": (5, [None]),
    "failed": (9, [np.nan]),
    "all equal": (9, [1.0]),
    "some failed": (20, [0.1, np.nan, 0.7]),
    "some pending": (20, [0.1, 0.5, None, 0.7, 0.3]),
    "failed or pending": (20, [np.nan, None]),
}


def check_sampler(sampler: Sampler, spaces: Mapping[str, Any] | None = None) -> None:
    """Check that a sampler meets the requirements of a search.

    Proposals must be in the space for any history (empty, with failures, ties or running
    candidates). They must not change the history, and must depend only on the history and the
    generator, even if both were pickled. A study must not start a candidate twice, and must try
    all candidates of a finite space.

    Parameters
    ----------
    sampler : Sampler
        Sampler to check.
    spaces : mapping of str to dict or list, or None, default=None
        Spaces by name. None: a finite space, a space with conditional numbers and choices, a union
        of two spaces, and a space with a single number.

    Raises
    ------
    AssertionError
        If a requirement is violated.

    Examples
    --------
    >>> from sksearch.samplers import TPESampler
    >>> from sksearch.testing import check_sampler
    >>> check_sampler(TPESampler())
    """
    for name, space in (SPACES if spaces is None else spaces).items():
        for known in HISTORIES:
            _check_proposals(sampler, space, f"{name}, {known}", *HISTORIES[known])
        _check_that_proposals_repeat(sampler, space, name)
        _check_that_none_is_started_twice(sampler, space, name)


def _check_proposals(
    sampler: Sampler, space: Any, where: str, n_trials: int, scores: list[float | None]
) -> None:
    """They lie in the space, and leave the history unchanged."""
    history = _history_of(space, n_trials, scores)
    before = pickle.dumps(history)
    params = _asked(sampler, history)
    try:
        history.problem.space.check(params, where=where)
    except (TypeError, ValueError) as error:
        raise AssertionError(f"{sampler!r} left the space: {error}") from error
    require(pickle.dumps(history) == before, f"{sampler!r} changed the history ({where}).")


def _check_that_proposals_repeat(sampler: Sampler, space: Any, where: str) -> None:
    """With and without the cache, and after pickling."""
    first = _asked(sampler, _history_of(space, 6, [0.1, 0.2]))
    history = _history_of(space, 6, [0.1, 0.2])
    for way in ("the same history", "the same history with its cache"):
        again = _asked(sampler, history)
        require(again == first, f"{sampler!r} gave {again} for {first} from {way} ({where}).")
    copies = (pickle.loads(pickle.dumps(x)) for x in (sampler, history))
    require(_asked(*copies) == first, f"{sampler!r} proposed another candidate after pickling.")


def _check_that_none_is_started_twice(sampler: Sampler, space: Any, where: str) -> None:
    """All candidates of a small finite space are started."""
    n = 11 if sampler.reads.results else 60
    finite = Space(space).size if Space(space).size <= 100 else None
    study = Study(Problem(Space(space), seed=1), sampler, FullFidelity(1_000 if finite else n))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # when the whole space has been tried
        for job in iter(study.ask, None):
            study.tell(job, Result(0.0))
    n_trials = len(study.history.trials)
    require(len(study.history.keys) == n_trials, f"A candidate was started twice ({where}).")
    require(n_trials == (finite or n), f"{n_trials} candidates, expected {finite or n} ({where}).")


def _history_of(space: Any, n_trials: int, scores: list[float | None]) -> History:
    """Return a history of draws with these scores in turn; None: running."""
    history = History(Problem(Space(space), 1, 9, seed=3))
    rng = np.random.default_rng(5)
    for i in range(n_trials):
        trial = history.start(history.problem.space.sample(rng), 0, 1)
        if (score := scores[i % len(scores)]) is not None:
            history.tell(trial.id, 1, Result(score))
    return history


def _asked(sampler: Sampler, history: History) -> dict:
    return sampler.ask(history, Start(1), np.random.default_rng(7))
