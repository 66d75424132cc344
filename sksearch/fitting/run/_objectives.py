"""Objectives and bounds of a search."""

import difflib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sksearch._utils._compat import MultimetricScorer
from sksearch._utils._typing import Scorer, Scores, Scoring
from sksearch.history import Params
from sksearch.space import Space

#: Measured for each candidate if an objective or a bound names it: smaller is better.
MEASURES = ("fit_time", "predict_time", "model_size")
N_DRAWS = 1_000  # candidates on which a function of parameters is tried before any training


@dataclass(frozen=True)
class Bound:
    """Upper or lower bound on a measured quantity of a candidate.

    Parameters
    ----------
    metric : str
        A metric of ``scoring``, or "fit_time" (seconds of training), "predict_time" (seconds of
        ``predict`` per row) or "model_size" (bytes of the pickled model). The mean over the folds
        is bounded. For `sksearch.minimize`, the name of a number that the function returns.
    op : {"<=", ">="}
        "<=" if it must be at most `value`, ">=" if at least.
    value : float
        The bound.

    Examples
    --------
    >>> from sksearch import Bound
    >>> Bound("predict_time", "<=", 1e-5)
    Bound(metric='predict_time', op='<=', value=1e-05)
    """

    metric: str
    op: str
    value: float

    def __post_init__(self) -> None:
        if self.op not in ("<=", ">="):
            raise ValueError(f"op={self.op!r} must be '<=' or '>='.")
        if not isinstance(self.metric, str):
            raise TypeError(f"metric={self.metric!r} must be the name of a metric.")
        if isinstance(self.value, bool) or not isinstance(self.value, int | float | np.number):
            raise TypeError(f"value={self.value!r} must be a number.")
        if not math.isfinite(self.value):
            raise ValueError(f"value={self.value} must be finite.")

    def slack(self, measured: float) -> float:
        """Return the slack, in units of the bound; negative if the bound is violated."""
        sign = 1 if self.op == "<=" else -1
        return float(sign * (self.value - measured) / (abs(self.value) or 1.0))


@dataclass(frozen=True)
class Aims:
    """Objectives and bounds, and the measures needed for them.

    Parameters
    ----------
    objectives : tuple of str
        Names of metrics, with a minus if smaller is better; empty for the score alone.
    bounds : tuple of Bound
        Bounds to satisfy.
    """

    objectives: tuple[str, ...] = ()
    bounds: tuple[Bound, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the objectives, without signs."""
        return tuple(name.removeprefix("-") for name in self.objectives)

    @property
    def signs(self) -> np.ndarray:
        """1 for each maximised objective, -1 for each minimised one."""
        small = [name[0] == "-" or name in MEASURES for name in self.objectives]
        return np.where(small, -1.0, 1.0)

    @property
    def used(self) -> tuple[str, ...]:
        """Names of all metrics used, each once."""
        return tuple(dict.fromkeys([*self.names, *(bound.metric for bound in self.bounds)]))

    @property
    def measures(self) -> tuple[str, ...]:
        """Measures needed besides the scores."""
        return tuple(name for name in self.used if name in MEASURES)

    @property
    def metrics(self) -> tuple[str, ...]:
        """Metrics needed from the scorer."""
        return tuple(name for name in self.used if name not in MEASURES)

    @property
    def metric(self) -> str | None:
        """The first objective if it is a score; None without objectives."""
        signs = self.signs
        return next((n for n, s in zip(self.names, signs, strict=True) if s > 0), None)

    def vectors(self, outputs: Sequence[Any]) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Return the objectives, greater is better, and the slacks of a candidate's outputs."""
        if not self.objectives and not self.bounds:
            return (), ()
        means = {name: _mean(name, outputs) for name in self.used}
        values = self.signs * [means[name] for name in self.names]
        slacks = (bound.slack(means[bound.metric]) for bound in self.bounds)
        return tuple(map(float, values)), tuple(slacks)

    def check(self, scores: object, scorer: object) -> None:
        """Raise ValueError if scores by metric lack an objective or a bounded metric."""
        if isinstance(scores, dict) and (missing := [n for n in self.metrics if n not in scores]):
            raise ValueError(
                f"scoring must return {missing}, used as objectives or bounds, got the metrics "
                f"{[*scores]}. (scorer={scorer})"
            )


def _mean(name: str, outputs: Sequence[Any]) -> float:
    """Mean over folds of a metric or another measure."""
    values = [_value(name, output.measures or {}, output.test_scores) for output in outputs]
    return float(np.add.reduce(values) / len(values))


def _value(name: str, measures: dict[str, float], scores: Scores) -> float:
    if name in measures or name in MEASURES:
        return measures.get(name, math.nan)
    return scores.get(name, math.nan) if isinstance(scores, dict) else scores


# ---- what the user gave


def make_aims(objectives: object, constraints: object, scoring: Scoring, scorer: Scorer) -> Aims:
    """Check the user's aims.

    Parameters
    ----------
    objectives, constraints, scoring : object
        As passed by the user.
    scorer : callable
        The scorer that ``scoring`` names.

    Returns
    -------
    aims : Aims
        Objectives and the bounds among the constraints.

    Raises
    ------
    ValueError, TypeError
        If they name an unknown measure, or there are too few objectives.
    """
    bounds = bounds_of(constraints)
    if objectives is None:
        return _checked(Aims((), bounds), scoring, scorer)
    names: list[Any] = list(objectives) if isinstance(objectives, list | tuple) else [objectives]
    if not all(isinstance(name, str) and name.strip("-") for name in names):
        raise TypeError(
            f"objectives={objectives!r} must be a list of names of metrics, such as "
            "['accuracy', 'predict_time']."
        )
    aims = Aims(tuple(names), bounds)
    if len(set(aims.names)) < max(2, len(names)):
        raise ValueError(
            f"objectives={objectives!r} must contain at least two distinct metrics: for a single "
            "metric, only pass scoring=."
        )
    if aims.metric is None:
        raise ValueError(
            f"objectives={objectives!r} must contain a metric of scoring to maximize, such as "
            "'accuracy'."
        )
    return _checked(aims, scoring, scorer)


def bounds_of(constraints: object) -> tuple[Bound, ...]:
    """Return the bounds among the constraints that the user gave."""
    return tuple(each for each in _listed(constraints) if isinstance(each, Bound))


def _checked(aims: Aims, scoring: Scoring, scorer: Scorer) -> Aims:
    """The aims; ValueError if the scorer does not return a metric that they name."""
    if isinstance(scorer, MultimetricScorer):
        known = [*scorer._scorers]
    elif isinstance(scoring, str) or scoring is None:
        known = ["score", *([scoring] if scoring else [])]
    else:
        return aims  # a function names its metrics when it is called
    for name in aims.metrics:
        if name not in known:
            close = difflib.get_close_matches(name, [*known, *MEASURES], n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise ValueError(
                f"{name!r} is an objective or a bound, but scoring={scoring!r} does not measure "
                "it: pass a list or dict of metrics with it as scoring, or use one of "
                f"{[*known, *MEASURES]}.{hint}"
            )
    return aims


# ---- functions of params


@dataclass(frozen=True)
class Allows:
    """Checks the constraints on a candidate's parameters before training.

    Parameters
    ----------
    functions : tuple of callable
        Each is ``function(params) -> bool``.
    """

    functions: tuple[Callable[[Params], Any], ...]

    def __call__(self, params: Params) -> bool:
        """Call all functions.

        Raises
        ------
        ValueError
            If one raises an error.
        TypeError
            If one does not return True or False.
        """
        for function in self.functions:
            name = getattr(function, "__name__", repr(function))
            try:
                answer = function(dict(params))
            except Exception as error:
                raise ValueError(
                    f'known["constraints"]: {name} raised {type(error).__name__}: {error} for the '
                    f"candidate {params}. Inactive parameters are absent: use params.get(...)."
                ) from error
            if not isinstance(answer, bool | np.bool_):
                raise TypeError(
                    f'known["constraints"]: {name} must return True or False, got {answer!r} for '
                    f"the candidate {params}."
                )
            if not answer:
                return False
        return True


def make_allows(constraints: object, space: Space) -> Allows | None:
    """Combine the functions among the constraints, and test them on many candidates.

    Parameters
    ----------
    constraints : object
        As passed by the user.
    space : Space
        Space of the candidates.

    Returns
    -------
    allows : Allows or None
        None without such constraints.

    Raises
    ------
    TypeError
        If a constraint is neither a function nor a `Bound`.
    ValueError
        If no candidate is allowed, or a function raises an error.
    """
    functions = tuple(each for each in _listed(constraints) if not isinstance(each, Bound))
    for i, each in enumerate(functions):
        if not callable(each):
            raise TypeError(
                f'known["constraints"]: {each!r}, at index {i}, must be a function that '
                "returns True or False for a dict of parameters, or a Bound, such as "
                "Bound('predict_time', '<=', 1e-5)."
            )
    if not functions:
        return None
    allows, rng = Allows(functions), np.random.default_rng(0)
    some = [None for _ in range(N_DRAWS) if allows(space.sample(rng))]
    if not some and space.sample_unseen(set(), rng, allows) is None:
        raise ValueError(
            'known["constraints"]: no allowed candidate was found in the space. Check the '
            "functions, or narrow the space to the allowed region."
        )
    return allows


def allowed_guesses(
    guesses: tuple[tuple[Params, ...], bool], allows: Allows | None, given: bool
) -> tuple[tuple[Params, ...], bool]:
    """Leave out disallowed first candidates; raise ValueError if the user has passed them."""
    params, has_baseline = guesses
    if allows is None:
        return guesses
    keep = [_is_allowed(allows, each, given) for each in params]
    if given and not all(keep):
        raise ValueError(
            f'known["params"][{keep.index(False)}]={params[keep.index(False)]} is not allowed by '
            'known["constraints"]: leave it out.'
        )
    kept = tuple(each for each, ok in zip(params, keep, strict=True) if ok)
    return kept, has_baseline and keep[0]


def _is_allowed(allows: Allows, params: Params, given: bool) -> bool:
    try:
        return allows(params)
    except (ValueError, TypeError):  # the value set on the estimator may be None or a str
        if given:
            raise
        return False


def _listed(constraints: object) -> list:
    """Constraints as a list, even if there is only one."""
    if constraints is None:
        return []
    return list(constraints) if isinstance(constraints, list | tuple) else [constraints]
