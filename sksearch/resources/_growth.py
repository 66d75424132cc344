"""Training step by step with a score at each count: boosters, and nets by epochs.

A growth knows one kind of estimator: how to train it further, and how to have it predict as it
did with fewer steps. Estimators of other libraries are told by their class names, so that none
of them is imported here.
"""

import math
import warnings
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, ClassVar

from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from sksearch._clock import now
from sksearch._compat import trees_attribute
from sksearch.base import Labels, State, fit
from sksearch.resources._ensembles import grow
from sksearch.resources._epochs import advance
from sksearch.resources._pipeline import enter, last_step, replace_last_step
from sksearch.spaces._boosting import CATBOOST_COUNTS, LIGHTGBM_COUNTS

Rows = tuple[Any, Any]  # X and y
Score = Callable[[Any, int], float]

FIRST = 32  # trees before the first look
STEP = 1.25  # each look has so many times the trees of the last one
FINE = 2 ** (1 / 3)  # ratio of the counts at which a curve of trees is known
FEWEST = 8  # the first of them
FIRST_EPOCHS = 5
STEP_EPOCHS = 2**0.5
SLACK = 40  # trees beyond the top, however early it was
PATIENCE = 1.6  # training stops at so many times the count with the best score
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


@dataclass
class Watch:
    """Scores an estimator while it grows, and says when that should end.

    Parameters
    ----------
    known : list of int
        Counts at which it is scored, ascending; the last one is the largest count.
    score : callable
        Called with an estimator that predicts with so many steps, and with their count; returns
        the score on the test rows.
    patience, slack : float
        It ends at so many times the count with the best score, and so many steps more.
    seconds : float or None
        Training and scoring go on no longer than that, if `least` steps are done. None: no limit.
    least : int
        Count that is reached however long it takes.
    """

    known: list[int]
    score: Score
    patience: float
    slack: int
    seconds: float | None
    least: int
    _start: float = field(default_factory=now)
    _best: float = -math.inf
    _best_count: int = 0
    _seen: int = 0
    _is_flat: bool = True

    def has_time_for(self, count: int) -> bool:
        """Whether training may go on to a count."""
        if self.seconds is None or self._seen < min(self.least, self.known[-1]):
            return True
        return (now() - self._start) * count / max(1, self._seen) <= self.seconds

    def see(self, count: int, at: Callable[[int], AbstractContextManager]) -> bool:
        """Score at the known counts up to this one, and return whether the top has passed."""
        for each in self.known[bisect_right(self.known, self._seen) :]:
            if each > count:
                break
            with at(each) as estimator:
                value = self.score(estimator, each)
            if value > self._best:
                self._is_flat = self._best == -math.inf
                self._best, self._best_count = value, each
            elif value == self._best and self._is_flat:
                self._best_count = each  # accuracy on its first plateau, before it has learnt
        self._seen = count
        return count >= self.patience * self._best_count + self.slack

    def ends(self, estimator: Any, count: int) -> bool:
        """See an estimator after each single step, and return whether training should end."""
        i = bisect_right(self.known, count)
        if self.known[i - 1 : i] != [count]:
            return False
        has_passed = self.see(count, lambda _: nullcontext(estimator))
        return has_passed or not all(map(self.has_time_for, self.known[i : i + 1]))


class Growth:
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

    def train(self, state: State, rows: Rows, count: int, classes: Labels, params: dict) -> None:
        """Bring the last step from ``state.n_steps`` to `count` steps, on rows (X, y)."""
        raise NotImplementedError  # by those that are watched after each single step

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
        known = self.known(high, state.estimator)
        watch = Watch(known, score, self.patience, self.slack, seconds, least)
        self._make_endless(state.estimator)
        *rows_in, params = enter(state, *rows, params)
        self._grow(state, tuple(rows_in), watch, classes, params)
        state.n_steps = 0  # nothing goes on from here

    def _grow(self, state, rows, watch, classes, params):
        """Train from look to look, as long as `watch` says."""
        for look in self._looks(watch, state.estimator):
            if not watch.has_time_for(look):
                return
            self.train(state, rows, look, classes, params)
            if watch.see(look, lambda count: self.at(state.estimator, count)):
                return

    def _looks(self, watch, estimator):
        """Counts after which it is asked whether to go on; the least one for those next to it."""
        looks = self.looks(watch.known[-1], estimator)
        if not 1 < watch.least < looks[-1]:
            return looks
        apart = (look for look in looks if not 1 / STEP < look / watch.least < STEP)
        return sorted({*apart, looks[-1], watch.least})

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
        grow(last_step(state.estimator), self.name, state.n_steps, count, rows[0], rows[1], params)
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


class _LightGBM(Growth):
    """Trained once; a callback sees it after each tree."""

    def _grow(self, state, rows, watch, classes, params):
        """Have the callback make a fitted estimator of what there is, and end the training."""
        from lightgbm.callback import EarlyStopException

        owner = last_step(state.estimator)
        owner.set_params(**{self.name: watch.known[-1]})

        def after(env):
            booster = env.model
            owner._Booster, owner._n_features = booster, booster.num_feature()
            owner.fitted_ = True
            if watch.ends(state.estimator, env.iteration + 1):
                raise EarlyStopException(env.iteration, [])

        callbacks = [*(params.get("callbacks") or []), after]
        fit(owner, rows[0], rows[1], params | {"callbacks": callbacks})


class _XGBoost(Growth):
    """Trained once; a callback sees it after each tree."""

    endless: ClassVar[dict[str, Any]] = {"early_stopping_rounds": None}

    def _grow(self, state, rows, watch, classes, params):
        """Have the callback make a fitted estimator of what there is, and end the training."""
        from xgboost.callback import TrainingCallback

        owner = last_step(state.estimator)

        class After(TrainingCallback):
            def after_iteration(self, model, epoch, evals_log):
                owner._Booster = model
                return watch.ends(state.estimator, epoch + 1)

        callbacks = [*(owner.get_params().get("callbacks") or []), After()]
        owner.set_params(**{self.name: watch.known[-1]}, callbacks=callbacks)
        fit(owner, rows[0], rows[1], params)


class _CatBoost(Growth):
    def looks(self, high, estimator):
        # CatBoost chooses a rate by the count, which then has to be known from the first tree on.
        chosen = last_step(estimator).get_params().get("learning_rate")
        return [high] if chosen is None else super().looks(high, estimator)

    def train(self, state, rows, count, classes, params):
        owner, done = last_step(state.estimator), state.n_steps
        model = {}
        if done:  # in one process it goes on with its generators, as one fit does
            model = {"init_model": owner}
            owner = clone(owner)
        owner.set_params(**{self.name: count - done})
        fit(owner, rows[0], rows[1], params | model)
        state.estimator = replace_last_step(state.estimator, owner)
        state.n_steps = count

    @contextmanager
    def at(self, estimator, count):
        whole = last_step(estimator)
        if (whole.get_params().get("grow_policy") or "SymmetricTree") != "SymmetricTree":
            with _first_trees(whole, count):
                yield estimator
            return
        shrunk = whole.copy()
        shrunk.shrink(count)
        try:
            yield replace_last_step(estimator, shrunk)
        finally:
            replace_last_step(estimator, whole)


@contextmanager
def _first_trees(model, count):
    """Have CatBoost predict with the first trees: those of other shapes cannot be shrunk."""
    predict = model._base_predict

    def predict_with_first(data, prediction_type, ntree_start, ntree_end, *rest):
        return predict(data, prediction_type, ntree_start, ntree_end or count, *rest)

    model._base_predict = predict_with_first
    try:
        yield
    finally:
        del model._base_predict


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


#: By the name of a class: who trains it further, and which parameters are the count.
_KINDS: dict[str, tuple[type[Growth], tuple[str, ...]]] = {
    "HistGradientBoostingClassifier": (_HistGradientBoosting, ("max_iter",)),
    "HistGradientBoostingRegressor": (_HistGradientBoosting, ("max_iter",)),
    "GradientBoostingClassifier": (_GradientBoosting, ("n_estimators",)),
    "GradientBoostingRegressor": (_GradientBoosting, ("n_estimators",)),
    "LGBMModel": (_LightGBM, LIGHTGBM_COUNTS),
    "XGBModel": (_XGBoost, ("n_estimators",)),
    "CatBoost": (_CatBoost, CATBOOST_COUNTS),
    "BaseMultilayerPerceptron": (_Epochs, ("max_iter",)),
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
    kind, names = next((_KINDS[cls] for cls in classes if cls in _KINDS), (None, ()))
    at = estimator.get_params()[path] if path else estimator
    if kind is None or leaf not in names or at is not owner:
        raise ValueError(
            f"param_distributions[{name!r}] is an Outcome, but {type(owner).__name__} cannot be "
            "trained further and further by it. It is for the count of iterations of the last "
            "step: max_iter of HistGradientBoosting and of MLP, n_estimators of "
            "GradientBoosting, LightGBM and XGBoost, iterations of CatBoost."
        )
    own = owner.get_params().get(leaf)
    return kind(leaf, own if isinstance(own, int) else None)
