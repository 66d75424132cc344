"""Options of a search in groups, and the interface of the search itself."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from sksearch._utils._typing import Estimator, Folding, Scoring
from sksearch.base import Resource, Sampler, Scheduler
from sksearch.executors._limits import Workers
from sksearch.fitting.run._folds import Folds
from sksearch.fitting.run._objectives import bounds_of
from sksearch.fitting.run._setup import Stops
from sksearch.fitting.run._top_trials import N_AVERAGED
from sksearch.space import Space

MIN_FOLDS_TO_RACE = 3


@dataclass(frozen=True)
class Goal:
    """Metric, objectives and constraints, as passed by the user.

    Parameters
    ----------
    scoring, refit, objectives, constraints : object
        Parameters of a search.
    """

    scoring: Scoring = None
    refit: Any = True
    objectives: Sequence[str] | None = None
    constraints: Any = None

    @property
    def has_aims(self) -> bool:
        """True if there are objectives or bounds: a race compares scores alone."""
        return bool(self.objectives or bounds_of(self.constraints))


@dataclass(frozen=True)
class Knowledge:
    """Prior knowledge, as passed by the user.

    Parameters
    ----------
    initial_params, prior_results, prior : object
        Parameters of a search.
    """

    initial_params: Any = None
    prior_results: Any = None
    prior: dict[str, Any] | None = None

    @property
    def is_left(self) -> bool:
        """True if the search chooses the first candidates."""
        return isinstance(self.initial_params, str)


@dataclass(frozen=True)
class Spending:
    """Budget of each candidate, as passed by the user.

    Parameters
    ----------
    min_resources, max_resources, select, audit, n_iter : object
        Parameters of a search; `n_iter` is None if it has none.
    resource : str, Resource or None
        The resource.
    """

    resource: str | Resource | None = None
    min_resources: int | str = "auto"
    max_resources: int | str = "auto"
    select: str = "auto"
    audit: float = 0.0
    n_iter: int | None = None

    @property
    def has_no_rungs(self) -> bool:
        """True if the user sets neither `min_resources` nor `max_resources`."""
        return self.min_resources == self.max_resources == "auto"


def most_averaged(ensemble: Any) -> int:
    """Return the maximum number of averaged models; 0 without averaging.

    `ensemble` is the parameter of a search: a bool or a number.
    """
    is_flag = isinstance(ensemble, bool | np.bool_)
    return (N_AVERAGED if ensemble else 0) if is_flag else int(ensemble)


@dataclass(frozen=True)
class Options:
    """Options of a search.

    Parameters
    ----------
    estimator : estimator object
        To tune.
    space : dict, list of dict or None
        As given; None for the default one.
    cv : object
        As given.
    goal, knowledge, stops, spending, workers
        Slices.
    timeout, overtime : float or None
        Seconds.
    error_score, return_train_score, verbose : object
        Parameters of a search.
    ensemble : int
        Largest number of models averaged; 0 for the best one alone.
    left : frozenset of str
        "sampler" and "scheduler" if left to the search, "cv" for a search that chooses folds if no
        splitter is passed, and "n_folds" if their number may follow from the time.
    """

    estimator: Estimator
    space: Any
    cv: Folding
    goal: Goal
    knowledge: Knowledge
    stops: Stops
    spending: Spending
    workers: Workers
    timeout: float | None
    overtime: float | None
    error_score: Any
    return_train_score: bool
    verbose: int
    ensemble: int
    left: frozenset[str] = frozenset()

    @property
    def is_auto(self) -> bool:
        """True if the search chooses first candidates by default."""
        return self.space is None or "sampler" in self.left

    @property
    def ends_early(self) -> bool:
        """True if time or a lack of progress ends the search."""
        return self.timeout is not None or self.stops.by_progress

    @property
    def leaves_spending(self) -> bool:
        """True if the search chooses sampler and scheduler."""
        return "scheduler" in self.left and self.spending.resource == "auto"

    def may_race(self, n_splits: int) -> bool:
        """True if a search races over this number of folds by default, if they are unordered."""
        is_free = self.leaves_spending and self.spending.has_no_rungs
        reads_means = self.goal.has_aims or callable(self.goal.refit)
        return is_free and n_splits >= MIN_FOLDS_TO_RACE and not reads_means


class Composer(Protocol):
    """Interface of a search: its parts, and its methods from scikit-learn."""

    resource: Any
    _own_space: Callable[[Any], Any] | None
    _columns: ClassVar[tuple[str, ...]]
    _is_namesake: ClassVar[bool]

    def _compose(self, space: Space, rng: np.random.RandomState) -> tuple[Sampler, Scheduler]:
        """Return the sampler and the scheduler."""

    def _filled(self, folds: Folds) -> Self:
        """Return a copy of the search with the parts that the user did not pass."""

    def _cv(self) -> Folding:
        """`cv`, with the folds of a one-shot iterator."""

    def _get_scorers(self) -> tuple[Any, str]:
        """Same as in scikit-learn."""

    def _get_routed_params_for_fit(self, params: dict[str, Any]) -> Any:
        """Same as in scikit-learn."""
