"""Data sent between processes: shared context, tasks, outputs."""

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from sksearch._utils._compat import BaseSearchCV
from sksearch._utils._pickles import here
from sksearch._utils._typing import Samples, Targets
from sksearch.base import Resource
from sksearch.base._state import Labels
from sksearch.estimators._growth import Allowance
from sksearch.fitting.run._ancestry import Stage
from sksearch.fitting.run._objectives import Aims
from sksearch.fitting.run._states import SavedState
from sksearch.resources._data import first_rows, row_numbers

#: Type of the values that outputs keep of rows. With 4 bytes a target with a large mean, such as
#: seconds since 1970, would lose its differences, and probabilities next to 1 would be equal.
NUMBER = np.dtype("<f8")


@dataclass(frozen=True)
class RowSample:
    """Number of rows of a training fold, and the cost of more rows.

    Parameters
    ----------
    n_rows : int
        Largest number of rows of a training fold.
    growth : float
        Exponent of the seconds of one training over its number of rows, at least 1: scoring is
        excluded, and constant costs do not matter for many rows.
    last_seconds : float
        Predicted seconds of the untuned estimator on all rows of X.
    limit : float or None, default=None
        Seconds that the last training of another candidate may take. None: any.
    latest : bool, default=False
        If True, the last rows of a fold are used instead of random ones.
    """

    n_rows: int
    growth: float
    last_seconds: float
    limit: float | None = None
    latest: bool = False

    def rows(
        self, train: np.ndarray, strata: np.ndarray | None, seed: int, fold: int
    ) -> np.ndarray:
        """Choose the rows of a training fold; classes keep their shares.

        Parameters
        ----------
        train : ndarray of shape (n_train,)
            Row indices of the training fold, or a mask.
        strata : ndarray of shape (n_samples,) or None
            Class index of each row of X.
        seed, fold : int
            Seed of the search, and index of the fold: all candidates get the same rows.

        Returns
        -------
        rows : ndarray
            A subset, in the order of the fold.
        """
        train = row_numbers(train)
        if self.n_rows >= len(train):
            return train
        rng = np.random.default_rng((seed, fold))
        order = np.argsort(train)[::-1] if self.latest else rng.permutation(len(train))
        return first_rows(train, strata, self.n_rows, order)


@dataclass(frozen=True)
class CurveTask:
    """A number of iterations that training finds, and how long that may take.

    Parameters
    ----------
    name : str
        Parameter for the count.
    high : int
        Largest count.
    allowance : Allowance or None
        For training and scoring on one fold; None for no limit.
    is_own : bool
        True for the untuned estimator, which always trains to its own count.
    earlier : dict of int to list of float
        Scores of earlier folds by count, for counts reached by all of them. Training ends by the
        mean over these and its own fold, and not beyond the last of these counts: no other could
        be chosen.
    """

    name: str
    high: int
    allowance: Allowance | None
    is_own: bool
    earlier: dict[int, list[float]] = field(default_factory=dict)

    @property
    def last(self) -> int:
        """Largest count that training may reach."""
        return min(self.high, max(self.earlier, default=self.high))

    def mean(self, count: int, value: float) -> float:
        """Mean over the earlier folds and this one."""
        values = [*self.earlier.get(count, ()), value]
        return sum(values) / len(values)


@dataclass
class Context:
    """Shared context of all tasks of a search."""

    X: Samples
    splits: list  # the frozen folds, pairs of (train, test)
    resource: Resource
    seed: int  # seed of the search
    n_candidates: int  # planned number, for messages
    estimator: Any = None  # unfitted; None if a function is minimized
    y: Targets = None
    scorer: Any = None  # scorer of one metric or of several
    metric: str | None = None  # the one to optimise; None: the only one, or the first
    # Whether scores have names; None: unknown for a user's function
    has_names: bool | None = False
    fit_params: dict = field(default_factory=dict)  # routed to the estimator
    score_params: dict = field(default_factory=dict)  # routed to the scorer
    strata: np.ndarray | None = None  # class index of each row
    classes: Labels = None  # labels of the whole y
    error_score: Any = np.nan
    return_train_score: bool = False
    verbose: int = 0
    #: Objects passed to callbacks as being fitted; None without callbacks.
    search: BaseSearchCV | None = None
    spool: Any = None  # copies of outputs until the search has recorded them
    aims: Aims = field(default_factory=Aims)  # objectives and bounds
    changing: tuple[str, ...] | None = None  # parameters that may change in training; None: all
    sample: RowSample | None = None  # rows of the training folds; None: all
    home: str = field(default_factory=here)  # process that defines the classes of states
    # Block of each row; contributions to scores are stored per block
    blocks: np.ndarray | None = None
    #: Test rows of the kept predictions by fold, for an average; None if not needed.
    kept: list[np.ndarray] | None = None
    #: Best methods of models without probabilities, for scores that need some.
    calibrates: frozenset[str] = frozenset()
    doubt: str = ""  # why fits to the data are likely to fail, otherwise ""

    @property
    def is_function(self) -> bool:
        """True if a plain function is called, and no estimator trained."""
        return self.estimator is None

    def folds(self, amount: int, spent: int) -> range:
        """Return the indices of the folds that a job from `spent` to `amount` evaluates."""
        return self.resource.folds(len(self.splits), amount, spent)


@dataclass
class Task:
    """One candidate to be brought up to a resource on one fold."""

    trial_id: int
    fold: int
    params: dict
    resource: int  # target resource of the candidate
    spent: int  # resource spent before
    callbacks: Any  # a leaf of the tree of contexts
    state: Any = None  # a State, SavedState or bytes from the last rung; None: new, or lost
    before: tuple[Stage, ...] = ()  # stages to continue from, from the beginning
    # Whether there was a state; a lost state is trained again, stage by stage
    continues: bool = False
    keep: bool = False  # whether a later rung may continue from here
    curve: CurveTask | None = None  # set if the number of steps is found in training
    predicts: bool = False  # whether to return predictions, for an average of candidates
    seconds_before: float = 0.0  # training time at the earlier rungs from which this one continues

    @property
    def name(self) -> str:
        """A unique name of the task, valid for a file."""
        return f"{self.trial_id}.{self.resource}.{self.fold}"

    @property
    def stage(self) -> Stage:
        """The requested stretch of training."""
        return Stage(self.trial_id, self.params, self.resource)

    def carrying(self) -> Self:
        """The task with the content of its state's file, for a worker that does not see it."""
        if not isinstance(self.state, SavedState):
            return self
        try:
            return replace(self, state=self.state.read())
        except (OSError, ValueError):  # missing or replaced: the model is trained again
            return replace(self, state=None)


@dataclass(slots=True)
class Output:
    """Output of one candidate on one fold."""

    fit_error: str | None = None  # traceback of the training's error, as in scikit-learn
    status: str = "ok"  # as in `Result`, and so is the error
    error: str = ""
    state: Any = None  # a State, SavedState or bytes, if a later rung may need it
    lost_state: str = ""  # why a state could not be read or written
    fit_time: float = 0.0  # seconds, and so is the score_time
    test_scores: Any = None  # a number, or a dict of them by metric
    score_time: float = 0.0
    train_scores: Any = None  # None if not asked for
    stop: bool = False  # whether a callback requests a stop
    n_test_samples: int = 0
    n_steps: int = 0  # steps of training that a later rung continues from
    seconds: float = 0.0  # spent in training since the beginning
    curve: list | None = None  # scores by count, see `_curves`; None if no count is to be found
    span: Any = None  # when it began and ended, and the worker's name; None if unknown
    measures: dict | None = None  # measures for objectives and bounds, by name
    rows: bytes | None = None  # contributions of blocks of test rows to the score; None: unknown
    # For test rows, see `_predictions`; None: not needed or not available
    predictions: bytes | None = None
    are_decisions: bool = False  # whether predictions have no probabilities yet
