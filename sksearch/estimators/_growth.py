"""Training step by step with a score at each number of steps: boosters, and nets by epochs.

A growth handles one kind of estimator: it continues training, and predicts as the estimator did
with fewer steps. The family of an estimator names its growth.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

from sksearch._utils._clock import now
from sksearch._utils._overrides import PREDICTION, TRAINING, overridden
from sksearch.base._resource import fit
from sksearch.base._state import Labels, State
from sksearch.estimators._model_choice import with_parameter

from ._family import families, family_of, own_methods
from ._pipeline import compositions, enter, last_step, replace_last_step

Rows = tuple[Any, Any]  # X and y
Score = Callable[[Any, int], float]

FIRST = 32  # trees before the first look
STEP = 1.25  # ratio of the trees at two successive looks
FINE = 2 ** (1 / 3)  # ratio of the counts at which a curve of trees is known
FEWEST = 8  # the first of them
SLACK = 40  # trees beyond the best count, however early it was
PATIENCE = 1.6  # training stops at this multiple of the best count
MOST = 2.0  # the untuned estimator continues to its own count, up to this multiple of its stop


def counts(first: int, high: int, ratio: float, own: int | None = None) -> list[int]:
    """Return counts from `first` to `high`, each about `ratio` times the last; includes `own`."""
    found, count = {high}, float(first)
    while count < high:
        found.add(round(count))
        count *= ratio
    if own is not None and own <= high:
        found.add(own)
    return sorted(found)


@dataclass(frozen=True)
class Allowance:
    """Time limit for a fit on a fold.

    Parameters
    ----------
    seconds : float
        Limit for any fit.
    longest : float
        Limit if the score still rises and is at least the rival's after the same time.
    rival : tuple of (float, float)
        Training seconds of the best candidate so far, ascending, and its best score by then.
    """

    seconds: float
    longest: float
    rival: tuple[tuple[float, float], ...] = ()

    def suffices(self, expected: float, elapsed: float, best: float, rises: bool) -> bool:
        """Return whether training may continue if it takes `expected` seconds, `elapsed` so far.

        `best` is its best score; `rises` is True if that score is a recent one.
        """
        if expected <= self.seconds:
            return True
        n_rival = bisect_right(self.rival, (elapsed, math.inf))
        leads = n_rival == 0 or best >= self.rival[n_rival - 1][1]
        return rises and leads and expected <= self.longest


@dataclass
class GrowthScoring:
    """Scores an estimator during its growth, and decides when to stop.

    Parameters
    ----------
    known : list of int
        Counts at which it is scored, ascending; the last one is the largest count.
    score : callable
        Called with an estimator that predicts with a number of steps, and with that number;
        returns the score on the test rows.
    patience, slack : float
        Training stops at `patience` times the best count plus `slack` steps.
    allowance : Allowance or None
        Time limit for training and scoring, which applies after `least` steps. None: no limit.
    least : int
        Minimum number of steps. While the score rises, it is reached regardless of time; after the
        peak, only if it is close and there is time.
    """

    known: list[int]
    score: Score
    patience: float
    slack: int
    allowance: Allowance | None
    least: int
    _start: float = field(default_factory=now)
    _best: float = -math.inf
    _best_count: int = 0
    _seen: int = 0
    _is_flat: bool = True

    def has_time_for(self, count: int) -> bool:
        """Return whether training may continue to a count."""
        if self.allowance is None or self._seen < min(self.least, self.known[-1]):
            return True
        elapsed, expected = self._seconds_to(count)
        rises = self._best_count * STEP >= self._seen
        return self.allowance.suffices(expected, elapsed, self._best, rises)

    def _seconds_to(self, count: int) -> tuple[float, float]:
        """Seconds so far, and the expected total for a count."""
        elapsed = now() - self._start
        return elapsed, elapsed * count / max(1, self._seen)

    def _owes(self, most: float) -> bool:
        """Return True if the least count is ahead, at most `most`, and reachable in time."""
        return self._seen < self.least <= min(most, self.known[-1]) and self._is_short(self.least)

    def _is_short(self, count: int) -> bool:
        """Return True if a count is expected within the time that any fit may take."""
        return self.allowance is None or self._seconds_to(count)[1] <= self.allowance.seconds

    @property
    def _end(self) -> float:
        """Count before which training does not end, unless its time is over."""
        return self.patience * self._best_count + self.slack

    def next_of(self, looks: list[int]) -> int | None:
        """Return the next of these ascending counts to train to; None if the time is up.

        Skips counts at which training would continue regardless of the score.
        """
        n_ahead = bisect_left(looks, self._end) + 1 if self._seen else 1
        short = [look for look in looks[:n_ahead] if self._is_short(look)]
        look = short[-1] if short else looks[0]
        return look if self.has_time_for(look) else None

    def see(self, count: int, truncated: Callable[[int], AbstractContextManager]) -> bool:
        """Score at the known counts up to this one, and return True if training may stop."""
        for each in self.known[bisect_right(self.known, self._seen) :]:
            if each > count:
                break
            with truncated(each) as estimator:
                value = self.score(estimator, each)
            if value > self._best:
                self._is_flat = self._best == -math.inf
                self._best, self._best_count = value, each
            elif value == self._best and self._is_flat:
                self._best_count = each  # accuracy on its first plateau, before it has learned
        self._seen = count
        return count >= self._end and not self._owes(MOST * self._end)

    def ends(self, estimator: Any, count: int) -> bool:
        """Score an estimator after each single step, and return True if training should end."""
        i = bisect_right(self.known, count)
        if self.known[i - 1 : i] != [count]:
            return False
        is_enough = self.see(count, lambda _: nullcontext(estimator))
        return is_enough or not all(map(self.has_time_for, self.known[i : i + 1]))


class Growth:
    """Training of an estimator step by step, with a score after some of the steps.

    Training continues by `Family.grow`. If a fitted estimator can also predict with only its first
    steps, such as the first trees, a subclass can implement `truncated`, so that training is
    interrupted less often.

    Parameters
    ----------
    name : str
        Name of the parameter for the number of steps; in a pipeline, without the prefix of the
        last step.
    own : int or None
        Number of steps set on the estimator, at which the score is also measured.

    Examples
    --------
    >>> from sksearch.estimators._growth import growth_of
    >>> from sklearn.ensemble import GradientBoostingClassifier
    >>> growth_of(GradientBoostingClassifier(), "n_estimators").looks(100, None)
    [32, 40, 50, 62, 78, 98, 100]
    """

    patience, slack = PATIENCE, SLACK
    #: True if, up to draws, a model at a count equals the ``fit`` with this count.
    is_as_fitted: ClassVar[bool] = True
    #: True to skip looks after which training cannot end; `truncated` goes back to them.
    leaves_out: ClassVar[bool] = False
    #: Parameters with which the estimator never ends training by itself.
    endless: ClassVar[dict[str, Any]] = {}

    def __init__(self, name: str, own: int | None):
        self.name, self.own = name, own

    @property
    def can_truncate(self) -> bool:
        """True if a fitted estimator can predict with only its first steps."""
        return type(self).truncated is not Growth.truncated

    def looks(self, high: int, estimator: Any) -> list[int]:
        """Return the numbers of steps after which training may stop."""
        if not self.can_truncate:
            return self.known(high, estimator)
        return counts(min(FIRST, high), high, STEP)

    def known(self, high: int, estimator: Any) -> list[int]:
        """Return the numbers of steps with a measured score, unless training ends earlier."""
        return counts(min(FEWEST, high), high, FINE, self.own)

    def train(self, state: State, rows: Rows, count: int, classes: Labels, params: dict) -> None:
        """Train from ``state.n_steps`` to `count` steps on the rows (X, y)."""
        model = last_step(state.estimator)
        family_of(model).grow(model, self.name, state.n_steps, count, rows[0], rows[1], params)

    def truncated(self, model: Any, count: int) -> AbstractContextManager:
        """Return a context manager with an estimator that predicts with the first `count` steps.

        Parameters
        ----------
        model : estimator object
            Estimator of the family, fitted with more than `count` steps. It is restored at the end
            of the block.
        count : int
            Number of steps.

        Returns
        -------
        context : context manager
            Yields `model` itself or another estimator.
        """
        raise NotImplementedError  # optional: see `can_truncate`

    def curve(
        self,
        state: State,
        rows: Rows,
        high: int,
        classes: Labels,
        params: dict[str, Any],
        score: Score,
        allowance: Allowance | None = None,
        least: int = 1,
    ) -> None:
        """Train until the score has passed its peak, to `high` steps, or until the time is up.

        Parameters
        ----------
        state : State
            A clone with the candidate's parameters; trained in place.
        rows : tuple (X, y)
            Training rows.
        high : int
            Largest number of steps.
        classes : ndarray, list of ndarray or None
            Labels of the whole y.
        params : dict
            Other arguments of ``fit``.
        score : callable
            ``score(estimator, count)`` returns the score on the test rows; `estimator` predicts
            with `count` steps. Called with increasing `count`.
        allowance : Allowance or None, default=None
            Time limit for training and scoring, which applies after `least` steps. None: no limit.
        least : int, default=1
            Minimum number of steps. While the score rises, it is reached regardless of time; after
            the peak, only if it is close and there is time.
        """
        known = self.known(high, state.estimator)
        scoring = GrowthScoring(known, score, self.patience, self.slack, allowance, least)
        self._make_endless(state.estimator)
        *rows_in, params = enter(state, *rows, params)
        self._grow(state, tuple(rows_in), scoring, classes, params)
        state.n_steps = 0  # training never continues from here

    def _grow(self, state, rows, scoring, classes, params):
        """Train from look to look until `scoring` ends it."""
        looks, is_enough = self._looks(scoring, state.estimator), False
        if not self.can_truncate:
            scoring.known = looks  # without truncation only the current count has a score
        while looks and not is_enough:
            look = scoring.next_of(looks if self.leaves_out and self.can_truncate else looks[:1])
            if look is None:
                return
            self.train(state, rows, look, classes, params)
            state.n_steps = look
            is_enough = scoring.see(look, partial(self._shown, state.estimator, look))
            looks = looks[bisect_right(looks, look) :]

    @contextmanager
    def _shown(self, estimator, reached, count):
        """Context with an estimator of `reached` steps that predicts with `count` of them."""
        if count == reached:
            yield estimator
            return
        whole = last_step(estimator)
        with self.truncated(whole, count) as model:
            try:
                yield replace_last_step(estimator, model)
            finally:
                replace_last_step(estimator, whole)

    def _looks(self, scoring, estimator):
        """Counts after which training may stop; the least count replaces its neighbours."""
        looks = self.looks(scoring.known[-1], estimator)
        if not 1 < scoring.least < looks[-1]:
            return looks
        apart = (look for look in looks if not 1 / STEP < look / scoring.least < STEP)
        return sorted({*apart, looks[-1], scoring.least})

    def refit(
        self,
        state: State,
        rows: Rows,
        count: int,
        classes: Labels,
        params: dict[str, Any],
    ) -> State:
        """Train once on all rows with the number of steps found."""
        self._make_endless(state.estimator)
        last_step(state.estimator).set_params(**{self.name: count})
        fit(state.estimator, rows[0], rows[1], params)
        return state

    def _make_endless(self, estimator):
        owner = last_step(estimator)
        known = owner.get_params()
        owner.set_params(**{name: v for name, v in self.endless.items() if name in known})


def find_own_methods(estimator: Any) -> str:
    """Return the methods that prevent a score at each count, otherwise ""."""
    last = last_step(estimator)
    found = {type(each): overridden(each, PREDICTION) for each in compositions(estimator)}
    if family_of(last).counts:  # otherwise its family explains why not
        found[type(last)] = own_methods(last, (*TRAINING, *PREDICTION))
    return "; ".join(
        f"{kind.__name__} overrides {' and '.join(names)}"
        for kind, names in found.items()
        if names
    )


def growth_of(estimator: Any, name: str) -> Growth:
    """Return the growth that trains an estimator, with a candidate's parameters, to a count.

    Parameters
    ----------
    estimator : estimator object
        Unfitted; in a pipeline the last step grows.
    name : str
        The parameter that counts the steps, as in ``set_params``.

    Returns
    -------
    growth : Growth
        For `Growth.curve` and `Growth.refit`.

    Raises
    ------
    ValueError
        If training of the estimator cannot be continued by this parameter.

    Examples
    --------
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> from sksearch.estimators._growth import growth_of
    >>> growth_of(HistGradientBoostingClassifier(max_iter=30), "max_iter").own
    30
    """
    estimator = with_parameter(estimator, name)
    owner = last_step(estimator)
    path, _, leaf = name.rpartition("__")
    at = estimator.get_params()[path] if path else estimator
    family, own = family_of(owner), owner.get_params().get(leaf)
    own = own if isinstance(own, int) else family.default_count
    growth = family.growth(leaf, own) if family.growth else None
    own_ones = find_own_methods(estimator)
    if own_ones:
        raise ValueError(
            f"param_distributions[{name!r}] is an Outcome, found by training "
            f"{type(owner).__name__} step by step, but {own_ones}: pass a list or a distribution "
            "of integers instead."
        )
    if growth is None or leaf not in family.counts or at is not owner:
        with_count = [each for each in families() if each.counts and each.title]
        known = [f"{each.counts[0]} of {each.title}" for each in with_count]
        raise ValueError(
            f"param_distributions[{name!r}] is an Outcome, but {type(owner).__name__} cannot "
            "continue training by it. An Outcome can be the number of iterations of the last "
            f"step: {', '.join(known)}."
        )
    return growth
