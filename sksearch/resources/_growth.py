"""Training step by step with a score at each count: boosters, and nets by epochs.

A growth knows one kind of estimator: how to train it further, and how to have it predict as it
did with fewer steps. Estimators of other libraries are told by their class names, so that none
of them is imported here.
"""

import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from sksearch._clock import now
from sksearch._compat import trees_attribute
from sksearch.base import Labels, State, fit
from sksearch.resources._epochs import advance
from sksearch.resources._pipeline import enter, grow, last_step, replace_last_step

Rows = tuple[Any, Any]  # X and y
Score = Callable[[Any, int], float]

FIRST = 32  # trees before the first look
STEP = 1.25  # each look has so many times the trees of the last one
FINE = 2 ** (1 / 3)  # ratio of the counts at which a curve of trees is known
FEWEST = 8  # the first of them
FIRST_EPOCHS = 5
STEP_EPOCHS = 2**0.5
SLACK = 25  # trees beyond the top, however early it was
PATIENCE = 1.3  # training stops at so many times the count with the best score
PATIENCE_EPOCHS = 2.0


def counts(first: int, high: int, ratio: float, own: int | None = None) -> list[int]:
    """Return counts from `first` to `high`, each about `ratio` times the last; `own` is one."""
    found, count = {high}, float(first)
    while count < high:
        found.add(round(count))
        count *= ratio
    if own is not None and own <= high:
        found.add(own)
    return sorted(found)


class Growth(ABC):
    """How one kind of estimator is trained to a count, and seen at smaller counts.

    Parameters
    ----------
    name : str
        The parameter that is the count, as the last step of a pipeline has it.
    own : int or None
        The estimator's own count, at which the curve is known, too.
    """

    patience, slack = PATIENCE, SLACK
    #: Whether a model at a count is, up to draws, the one that ``fit`` with this count makes.
    is_as_fitted: ClassVar[bool] = True
    #: Params with which the estimator never ends training by itself.
    endless: ClassVar[dict[str, Any]] = {}

    def __init__(self, name: str, own: int | None):
        self.name, self.own = name, own

    def looks(self, high: int, estimator: Any) -> list[int]:
        """Return the counts after which training asks whether to go on."""
        return counts(min(FIRST, high), high, STEP)

    def known(self, high: int, estimator: Any) -> list[int]:
        """Return the counts at which the curve is known, if training does not end before."""
        return counts(min(FEWEST, high), high, FINE, self.own)

    @abstractmethod
    def train(self, state: State, rows: Rows, count: int, classes: Labels, params: dict) -> None:
        """Bring the last step from ``state.n_steps`` to `count` steps, on rows (X, y)."""

    @contextmanager
    def at(self, estimator: Any, count: int) -> Iterator[Any]:
        """Give an estimator that predicts with the first `count` steps, while the block lasts."""
        yield estimator

    def curve(
        self,
        state: State,
        rows: Rows,
        high: int,
        classes: Labels,
        params: dict[str, Any],
        score: Score,
        seconds: float | None = None,
        least: int = 1,
    ) -> None:
        """Train until the score has passed its top, or to `high`, or as long as there is time.

        Parameters
        ----------
        state : State
            A clone with the candidate's params; trained in place.
        rows : tuple (X, y)
            Training rows.
        high : int
            Largest count.
        classes : ndarray, list of ndarray or None
            Labels of the whole y.
        params : dict
            Further arguments of ``fit``.
        score : callable
            Called with an estimator that predicts with so many steps, and with their count, in
            ascending order; returns the score on the test rows.
        seconds : float or None, default=None
            Training and scoring go on no longer than that, if `least` steps are done. None: no
            limit.
        least : int, default=1
            Count that is reached however long it takes.
        """
        start = now()
        best, best_count, seen, is_flat = -math.inf, 0, 0, True
        known = self.known(high, state.estimator)
        self._make_endless(state.estimator)
        *rows_in, params = enter(state, *rows, params)
        for look in self.looks(high, state.estimator):
            if seconds is not None and min(least, high) <= seen:
                expected = (now() - start) * look / seen
                if expected > seconds:
                    break
            self.train(state, tuple(rows_in), look, classes, params)
            for count in (count for count in known if seen < count <= look):
                with self.at(state.estimator, count) as seen_at:
                    value = score(seen_at, count)
                if value > best:
                    best, best_count, is_flat = value, count, best == -math.inf
                elif value == best and is_flat:
                    best_count = count  # accuracy on its first plateau, before anything is learnt
            seen = look
            if look >= self.patience * best_count + self.slack:
                break
        state.n_steps = 0  # nothing goes on from here

    def refit(
        self,
        state: State,
        rows: Rows,
        count: int,
        classes: Labels,
        params: dict[str, Any],
    ) -> State:
        """Train on all rows with the count that was found, in one go."""
        self._make_endless(state.estimator)
        last_step(state.estimator).set_params(**{self.name: count})
        fit(state.estimator, rows[0], rows[1], params)
        return state

    def _make_endless(self, estimator):
        owner = last_step(estimator)
        known = owner.get_params()
        owner.set_params(**{name: v for name, v in self.endless.items() if name in known})


class _HistGradientBoosting(Growth):
    """Goes on with ``warm_start``."""

    endless: ClassVar[dict[str, Any]] = {"early_stopping": False}

    def train(self, state, rows, count, classes, params):
        grow(last_step(state.estimator), self.name, count, rows[0], rows[1], params)
        state.n_steps = count

    @contextmanager
    def at(self, estimator, count):
        owner = last_step(estimator)
        name = trees_attribute(owner)
        whole = getattr(owner, name)
        setattr(owner, name, whole[:count])
        try:
            yield estimator
        finally:
            setattr(owner, name, whole)


class _GradientBoosting(_HistGradientBoosting):
    endless: ClassVar[dict[str, Any]] = {"n_iter_no_change": None}


class _FromModel(Growth):
    """Goes on from an earlier model, which ``fit`` takes."""

    @abstractmethod
    def model(self, owner: Any) -> dict[str, Any]:
        """Return the model of a fitted estimator, as ``fit`` takes it."""

    def train(self, state, rows, count, classes, params):
        owner, done = last_step(state.estimator), state.n_steps
        owner.set_params(**{self.name: count - done})
        model = self.model(owner) if done else {}
        fit(owner, rows[0], rows[1], params | model)
        owner.set_params(**{self.name: count})
        state.n_steps = count


class _LightGBM(_FromModel):
    def model(self, owner):
        return {"init_model": owner.booster_}

    @contextmanager
    def at(self, estimator, count):
        booster = last_step(estimator).booster_
        before, booster.best_iteration = booster.best_iteration, count
        try:
            yield estimator
        finally:
            booster.best_iteration = before


class _XGBoost(_FromModel):
    endless: ClassVar[dict[str, Any]] = {"early_stopping_rounds": None}

    def model(self, owner):
        return {"xgb_model": owner.get_booster()}

    @contextmanager
    def at(self, estimator, count):
        booster = last_step(estimator).get_booster()
        booster.set_attr(best_iteration=str(count - 1))
        try:
            yield estimator
        finally:
            booster.set_attr(best_iteration=None)


class _CatBoost(Growth):
    def looks(self, high, estimator):
        # CatBoost chooses a rate by the count, which then has to be known from the first tree on.
        chosen = last_step(estimator).get_params().get("learning_rate")
        return [high] if chosen is None else super().looks(high, estimator)

    def train(self, state, rows, count, classes, params):
        owner, done = last_step(state.estimator), state.n_steps
        model = {}
        if done:
            model = {"init_model": owner}
            owner = clone(owner)
        owner.set_params(**{self.name: count - done})
        fit(owner, rows[0], rows[1], params | model)
        state.estimator = replace_last_step(state.estimator, owner)
        state.n_steps = count

    @contextmanager
    def at(self, estimator, count):
        whole = last_step(estimator)
        shrunk = whole.copy()
        shrunk.shrink(count)
        try:
            yield replace_last_step(estimator, shrunk)
        finally:
            replace_last_step(estimator, whole)


class _Epochs(Growth):
    """Nets that ``partial_fit`` trains, seen only where they are."""

    patience, slack = PATIENCE_EPOCHS, 0
    is_as_fitted: ClassVar[bool] = False  # ``fit`` ends when the loss does not fall any more
    endless: ClassVar[dict[str, Any]] = {"early_stopping": False}

    def looks(self, high, estimator):
        if not hasattr(last_step(estimator), "partial_fit"):  # an MLP with solver="lbfgs"
            return [high]
        return counts(min(FIRST_EPOCHS, high), high, STEP_EPOCHS)

    def known(self, high, estimator):
        return self.looks(high, estimator)

    def train(self, state, rows, count, classes, params):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            advance(state, rows[0], rows[1], count, classes, params)

    def refit(self, state, rows, count, classes, params):
        """Train epoch by epoch on all rows, as it was scored."""
        X, y, params = enter(state, rows[0], rows[1], params)
        self.train(state, (X, y), count, classes, params)
        last_step(state.estimator).set_params(**{self.name: count})
        return state


#: By the name of a class: who trains it further, and which parameter is the count.
_KINDS: dict[str, tuple[type[Growth], str]] = {
    "HistGradientBoostingClassifier": (_HistGradientBoosting, "max_iter"),
    "HistGradientBoostingRegressor": (_HistGradientBoosting, "max_iter"),
    "GradientBoostingClassifier": (_GradientBoosting, "n_estimators"),
    "GradientBoostingRegressor": (_GradientBoosting, "n_estimators"),
    "LGBMModel": (_LightGBM, "n_estimators"),
    "XGBModel": (_XGBoost, "n_estimators"),
    "CatBoost": (_CatBoost, "iterations"),
    "BaseMultilayerPerceptron": (_Epochs, "max_iter"),
}


def growth_of(estimator: Any, name: str) -> Growth:
    """Return how an estimator, with a candidate's params, is trained to a count.

    Parameters
    ----------
    estimator : estimator object
        Unfitted; of a pipeline the last step grows.
    name : str
        The parameter that is the count, as in ``set_params``.

    Returns
    -------
    growth : Growth
        For `Growth.curve` and `Growth.refit`.

    Raises
    ------
    ValueError
        If the estimator cannot be trained further and further by this parameter.
    """
    owner = last_step(estimator)
    path, _, leaf = name.rpartition("__")
    classes = (cls.__name__ for cls in type(owner).__mro__)
    kind, expected = next((_KINDS[cls] for cls in classes if cls in _KINDS), (None, ""))
    at = estimator.get_params()[path] if path else estimator
    if kind is None or leaf != expected or at is not owner:
        raise ValueError(
            f"param_distributions[{name!r}] is an Outcome, but {type(owner).__name__} cannot be "
            "trained further and further by it. It is for the count of iterations of the last "
            "step: max_iter of HistGradientBoosting and of MLP, n_estimators of "
            "GradientBoosting, LightGBM and XGBoost, iterations of CatBoost."
        )
    own = owner.get_params().get(leaf)
    return kind(leaf, own if isinstance(own, int) else None)
