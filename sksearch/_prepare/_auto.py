"""What a search does where its user has not said it: space, first candidates, resource.

=====================  ==============================  ===========================================
left out               the search takes                when
=====================  ==============================  ===========================================
space                  ``spaces.default_space``        always
first candidates       the untuned estimator, then    with the space left out
                       ``spaces.first_candidates``
                       those of them that lie in the   with the sampler left out
                       given space
folds                  ``StratifiedGroupKFold``        with ``groups=``, and no `cv` or a count,
                                                       where classes can be stratified
                       ``GroupKFold``                  with ``groups=``, and no `cv` or a count
                       ``TimeSeriesSplit``             with no `cv`, and times in order as the
                                                       index of X
                       as scikit-learn                 otherwise
sampler                Gaussian process, which looks   with a timeout and no count
                       for improvement per second
                       Gaussian process, which looks   otherwise
                       for improvement
scheduler, resource    a race over folds               with three folds or more, none of them in an
                                                       order or far larger than others, one
                                                       objective, no `Bound` and no function as
                                                       `refit`, which reads means over all folds
                       whole fits                      otherwise
rows of the folds      as many as leave time for 24    with a timeout and no count
                       fits, or two candidates on all
                       folds, 2,000 at least; measured
                       the latest as many              likewise, where the folds are in the order
                                                       of the rows
                       all                             otherwise
count of candidates    as many as these allow          with timeout, patience or stop
                       50                              without
=====================  ==============================  ===========================================
"""

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from sksearch._advice import glance
from sksearch._compat import is_valid_value, num_samples
from sksearch._earlier import given_guesses
from sksearch._plain import warn
from sksearch._prepare._checks import (
    check_names,
    check_outcomes,
    check_values,
    cuts_training,
    warn_of_seeds,
)
from sksearch._prepare._options import Composer, Options
from sksearch._typing import Estimator, Samples
from sksearch.base import Resource, Sampler, Scheduler
from sksearch.estimators import (
    OneOf,
    Size,
    default_space,
    first_candidates,
    first_of_each,
    listed,
    named_of,
    union_of_spaces,
    unknown_parts,
    without_optimum,
)
from sksearch.fitting import Allows, Folds, allowed_guesses
from sksearch.history import Problem
from sksearch.samplers import EarlierTask
from sksearch.space import Outcome, Space, equal


def make_space(
    options: Options, own: Space | dict | list | None, estimator: Estimator, X: Samples
) -> Space:
    """Make the space of a search, and see that the estimator has what it names.

    Parameters
    ----------
    options : Options
        Of the search.
    own : Space, dict or None
        What a search with rules of its own makes of the space; None without any.
    estimator : estimator object
        Unfitted.
    X : array-like
        Training data.

    Returns
    -------
    space : Space
        The space that is searched.

    Raises
    ------
    ValueError
        If the estimator cannot be searched over it.
    """
    resource = options.spending.resource
    space = space_for(options.space, estimator, X, resource) if own is None else own
    if not isinstance(space, Space):
        space = Space(space, accepts=lambda name, value: is_valid_value(estimator, name, value))
    check_names(estimator, space)
    check_values(estimator, space)
    warn_of_seeds(space)
    check_outcomes(estimator, space, resource)
    _check_optimum(options, estimator, space)
    return space


def space_for(
    param_distributions: Any, estimator: Estimator, X: Samples, resource: str | Resource | None
) -> Any:
    """Return what the user gave, or the default space of the estimator for these data.

    A default space lacks what the resource is, and a count of iterations that training finds
    where the resource cuts training into pieces.
    """
    size, is_whole = _size(X), not cuts_training(resource)

    def left(space: dict) -> dict:
        return {
            name: values
            for name, values in space.items()
            if name != resource and (is_whole or not isinstance(values, Outcome))
        }

    if isinstance(estimator, OneOf):
        by_model = _is_by_model(param_distributions, estimator)
        if param_distributions is None or by_model:
            return list(map(left, union_of_spaces(estimator, size, param_distributions)))
    if param_distributions is not None:
        return param_distributions
    if any(isinstance(part, OneOf) for part in estimator.get_params().values()):
        raise ValueError(
            "One of the steps is a OneOf, and the models of a search are not searched inside of "
            "another estimator: pass the list to the search, each with the steps before it."
        )
    return left(default_space(estimator, n_samples=size.n_samples, n_features=size.n_features))


def _is_by_model(given: Any, estimator: OneOf) -> bool:
    """Whether a space names models, each with a space; ValueError where some are none."""
    if not isinstance(given, dict) or not all(isinstance(v, dict) for v in given.values()):
        return False
    names = [name for name, _ in estimator.named]
    for name in given:
        if name not in names:
            raise ValueError(f"param_distributions names {name!r}, and the models are {names}.")
    return True


def _check_optimum(options: Options, estimator: Estimator, space: Space) -> None:
    """Refuse a default space in which the estimator's own score has no optimum; else warn."""
    why = ""
    if options.goal.scoring is None:
        why = glance(without_optimum, estimator, space.names, otherwise="")
    if why and options.space is None:
        raise ValueError(why)
    if why:
        warn(why, UserWarning, stacklevel=2)


def first_guesses(
    options: Options,
    estimator: Estimator,
    space: Space,
    X: Samples,
    earlier: Sequence[EarlierTask] = (),
    allows: Allows | None = None,
) -> tuple[tuple[dict, ...], bool]:
    """Return what is evaluated first, and whether that begins with the untuned estimator.

    Parameters
    ----------
    options : Options
        Of the search.
    estimator : estimator object
        Unfitted.
    space : Space
        The space that is searched.
    X : array-like
        Training data.
    earlier : sequence of EarlierTask
        Results of earlier searches. The best for the same task follow the user's; where
        there is any, none are taken from other data sets.
    allows : Allows or None, default=None
        Whether a candidate may be evaluated.

    Returns
    -------
    guesses : tuple of dict
        Distinct candidates.
    has_baseline : bool
        Whether the first is the estimator's own.
    """
    knowledge = options.knowledge
    if not (knowledge.is_left and options.is_auto):
        given = None if knowledge.is_left else knowledge.initial_params
        return given_guesses(given, space, earlier, allows), False
    # A default space is ours: there the estimator's own values may lie outside, and win. A space
    # that the user gave is a promise.
    values, is_given = estimator.get_params(), options.space is not None
    own = space.baseline(values, inside=is_given)
    guesses = {} if own is None else {space.key(own): own}
    others = () if earlier else _known_candidates(options, estimator, X, own is not None)
    for params in (*given_guesses(None, space, earlier, None), *others):
        if space.contains(params):
            guesses.setdefault(space.key(params), params)
    # Where the space leaves a parameter no choice, the first guess may differ from the estimator.
    is_own = own is not None and (not is_given or all(equal(own[k], values[k]) for k in own))
    return allowed_guesses((tuple(guesses.values()), is_own), allows, given=False)


def _known_candidates(
    options: Options, estimator: Estimator, X: Samples, has_own: bool
) -> list[dict]:
    """What is good on many tables; of several models their own values come before it."""
    size = _size(X)
    if isinstance(estimator, OneOf):
        given = options.space if _is_by_model(options.space, estimator) else None
        spaces = union_of_spaces(estimator, size, given)
        return first_of_each(estimator, size, spaces)[has_own:]
    return first_candidates(estimator, n_samples=size.n_samples, n_features=size.n_features)


def choices(options: Options, filled: Composer, problem: Problem, folds: Folds) -> tuple[str, ...]:
    """Say what was chosen for the user: `filled` has the parts that were left to the search."""
    notes = [f"folds: {note}" for note in folds.notes]
    if names := [name for name, _ in named_of(options.estimator)]:
        notes.append(f"models: {', '.join(names)}, each with its own values at first")
    if options.space is None:
        names = [*problem.space.names, *problem.space.outcomes]
        unknown = listed(_unknown_of(options.estimator))
        rest = f"; nothing is known of {unknown}" if unknown else ""
        notes.append(f"space: the default for the estimator, {', '.join(sorted(names))}{rest}")
    if problem.has_baseline:
        n = len(problem.initial_params) - 1
        more = f", then {n} that are good on many data sets" if n else ""
        notes.append(f"first candidates: the untuned estimator{more}")
    elif problem.initial_params and options.knowledge.is_left:
        n = len(problem.initial_params)
        notes.append(f"first candidates: {n} known ones that lie in the space")
    if problem.changing is not None:
        fixed = sorted(set(problem.space.names) - set(problem.changing))
        rest = f"; drawn once and inherited: {', '.join(fixed)}" if fixed else ""
        notes.append(f"may change during training: {', '.join(problem.changing)}{rest}")
    notes += [
        f"{name}: {_brief(getattr(filled, name))}"
        for name in ("sampler", "scheduler")
        if name in options.left
    ]
    return tuple(notes)


def _unknown_of(estimator: Estimator) -> dict[str, Any]:
    """Parts that nothing is known of, by name; of several models those of each."""
    models = named_of(estimator)
    if not models:
        return unknown_parts(estimator)
    return {
        f"{name}__{path}" if path else name: part
        for name, model in models
        for path, part in unknown_parts(model).items()
    }


def _brief(part: Sampler | Scheduler) -> str:
    """Text of a sampler or scheduler, with the parameters that are not as by default."""
    if not is_dataclass(part):
        return str(part)
    given = {f.name: getattr(part, f.name) for f in fields(part) if f.init}
    own = (f.name for f in fields(part) if f.init and given[f.name] != f.default)
    return f"{type(part).__name__}({', '.join(f'{name}={given[name]!r}' for name in own)})"


def _size(X: Samples) -> Size:
    shape: Any = getattr(X, "shape", ())
    n_features = int(shape[1]) if len(shape) == 2 else None
    return Size(max(1, num_samples(X)), n_features or None)
