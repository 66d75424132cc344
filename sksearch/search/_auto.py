"""What a search does where its user has not said it: space, first candidates, resource.

=====================  ==============================  ===========================================
left out               the search takes                when
=====================  ==============================  ===========================================
space                  ``spaces.default_space``        always
first candidates       the estimator as it is, then    with the space left out
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
from dataclasses import fields, is_dataclass, replace
from typing import Any

from joblib import effective_n_jobs

from sksearch._compat import is_valid_value, num_samples
from sksearch._earlier import given_guesses
from sksearch._plain import warn
from sksearch.estimators import default_space, first_candidates
from sksearch.estimators._composed import listed, unknown_parts
from sksearch.estimators._optima import without_optimum
from sksearch.fitting._aims import Allows, allowed_guesses, bounds_of
from sksearch.fitting._checks import (
    check_names,
    check_outcomes,
    check_values,
    cuts_training,
    warn_of_seeds,
)
from sksearch.fitting._evaluation import Context
from sksearch.fitting._folds import Folds
from sksearch.fitting._input import count_rows
from sksearch.fitting._plan import SearchPlan
from sksearch.fitting._row_sample import measured_sample
from sksearch.fitting._setup import Setup
from sksearch.history import Problem
from sksearch.samplers import EarlierTask
from sksearch.space import Outcome, Space
from sksearch.space._values import equal

MIN_FOLDS_TO_RACE = 3
N_CANDIDATES = 50  # where nothing else ends the search


def is_auto(search: Any) -> bool:
    """Whether a search chooses its first candidates, unless its user does."""
    return search.param_distributions is None or getattr(search, "sampler", search) is None


def has_aims(search: Any) -> bool:
    """Whether a search has objectives or bounds: a race compares scores alone."""
    return bool(search.objectives or bounds_of(search.constraints))


def leaves_spending(search: Any) -> bool:
    """Whether a search is left how it spends, and on what."""
    return getattr(search, "scheduler", search) is None and search.resource == "auto"


def may_race(search: Any, n_splits: int) -> bool:
    """Whether a search that says nothing else races over so many folds, if they are alike."""
    is_free = leaves_spending(search) and search.min_resources == search.max_resources == "auto"
    reads_means = has_aims(search) or callable(search.refit)
    return is_free and n_splits >= MIN_FOLDS_TO_RACE and not reads_means


def make_space(search: Any, estimator: Any, X: Any) -> Space:
    """Make the space of a search, and see that the estimator has what it names."""
    if search._own_space:
        given = search._own_space(estimator)
    else:
        given = space_for(search.param_distributions, estimator, X, search.resource)
    space = given
    if not isinstance(given, Space):
        space = Space(given, accepts=lambda name, value: is_valid_value(estimator, name, value))
    check_names(estimator, space)
    check_values(estimator, space)
    warn_of_seeds(space)
    check_outcomes(estimator, space, search)
    check_optimum(search, estimator, space)
    return space


def count_under_way(search: Any, context: Context) -> int:
    """Count of candidates under way at a time: "auto" is as many as keep all workers busy."""
    if search.batch_size != "auto":
        return search.batch_size
    n_folds = len(context.resource.folds(len(context.splits), 1, 0))
    return max(1, -(-effective_n_jobs(search.n_jobs) // n_folds))


def space_for(param_distributions: Any, estimator: Any, X: Any, resource: Any) -> Any:
    """Return what the user gave, or the default space of the estimator for these data.

    A default space lacks what the resource is, and a count of iterations that training finds
    where the resource cuts training into pieces.
    """
    if param_distributions is not None:
        return param_distributions
    is_whole = not cuts_training(resource)
    return {
        name: values
        for name, values in default_space(estimator, **_sizes(X)).items()
        if name != resource and (is_whole or not isinstance(values, Outcome))
    }


def check_optimum(search: Any, estimator: Any, space: Space) -> None:
    """Refuse a default space in which the estimator's own score has no optimum; else warn."""
    why = "" if search.scoring is not None else without_optimum(estimator, space.names)
    if why and search.param_distributions is None:
        raise ValueError(why)
    if why:
        warn(why, UserWarning, stacklevel=2)


def first_guesses(
    search: Any,
    estimator: Any,
    space: Space,
    X: Any,
    earlier: Sequence[EarlierTask] = (),
    allows: Allows | None = None,
) -> tuple[tuple[dict, ...], bool]:
    """Return what is evaluated first, and whether that begins with the estimator as it is.

    Parameters
    ----------
    search : BaseSearch
        Its `initial_params` are what the user gave.
    estimator : estimator object
        Unfitted.
    space : Space
        What is searched.
    X : array-like
        Training data.
    earlier : sequence of EarlierTask
        What earlier searches have found. The best for the same task follow the user's; where
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
    is_named = not isinstance(search.initial_params, str)
    if is_named or not is_auto(search):
        given = search.initial_params if is_named else None
        return given_guesses(given, space, earlier, allows), False
    # A default space is ours: there the estimator's own values may lie outside, and win. A space
    # that the user gave is a promise.
    values, is_given = estimator.get_params(), search.param_distributions is not None
    own = space.baseline(values, inside=is_given)
    guesses = {} if own is None else {space.key(own): own}
    others = () if earlier else first_candidates(estimator, **_sizes(X))
    for params in (*given_guesses(None, space, earlier, None), *others):
        if space.contains(params):
            guesses.setdefault(space.key(params), params)
    # Where the space leaves a parameter no choice, the first guess may differ from the estimator.
    is_own = own is not None and (not is_given or all(equal(own[k], values[k]) for k in own))
    return allowed_guesses((tuple(guesses.values()), is_own), allows, given=False)


def limits_trainings(search: Any) -> bool:
    """Whether all is trained by workers, which limit a training or have the devices."""
    limits = search.candidate_timeout, search.memory_limit, search.overtime, search.devices
    return any(each is not None for each in limits)


def choose_rows(search: Any, setup: Setup) -> None:
    """Measure how many rows the training folds may have, where the search may leave some out.

    It may where the time is what counts, and the search says how it is spent.
    """
    if not leaves_spending(search) or limits_trainings(search) or has_aims(search):
        return
    if search.timeout is None or search.n_iter is not None:
        return
    n_workers = effective_n_jobs(search.n_jobs)
    args = setup.time, n_workers, bool(search.refit)
    sample = setup.context.sample = measured_sample(setup.context, *args)
    if sample is not None and search.refit and sample.last_seconds > search.timeout:
        warn(
            f"On all rows the last training will take about {sample.last_seconds:.0f} s, as that "
            f"of the estimator as it is, and timeout={search.timeout:g}. Pass a larger timeout, "
            "or fewer rows.",
            UserWarning,
            stacklevel=2,
        )


def with_rows(setup: Setup) -> SearchPlan:
    """Return the plan of a search, which says how many rows are left out."""
    sample = setup.context.sample
    if sample is None:
        return setup.plan
    n = max(count_rows(train) for train, _ in setup.context.splits)
    which = "the latest " if sample.latest else ""
    of = f"{which}{sample.n_rows:,} of {n:,} in each training fold"
    note = f"rows: {of}, and all in the last training"
    return replace(setup.plan, notes=(*setup.plan.notes, note))


def choices(search: Any, filled: Any, problem: Problem, folds: Folds) -> tuple[str, ...]:
    """Say what was chosen for the user: `filled` has the parameters that `search` left out."""
    notes = [f"folds: {note}" for note in folds.notes]
    if search.param_distributions is None:
        names = [*problem.space.names, *problem.space.outcomes]
        unknown = listed(unknown_parts(search.estimator))
        rest = f"; nothing is known of {unknown}" if unknown else ""
        notes.append(f"space: the default for the estimator, {', '.join(sorted(names))}{rest}")
    if problem.has_baseline:
        n = len(problem.initial_params) - 1
        more = f", then {n} that are good on many data sets" if n else ""
        notes.append(f"first candidates: the estimator as it is{more}")
    elif problem.initial_params and isinstance(search.initial_params, str):
        n = len(problem.initial_params)
        notes.append(f"first candidates: {n} known ones that lie in the space")
    if problem.changing is not None:
        fixed = sorted(set(problem.space.names) - set(problem.changing))
        rest = f"; drawn once and inherited: {', '.join(fixed)}" if fixed else ""
        notes.append(f"may change during training: {', '.join(problem.changing)}{rest}")
    notes += [
        f"{name}: {_brief(getattr(filled, name))}"
        for name in ("sampler", "scheduler")
        if getattr(search, name, search) is None
    ]
    return tuple(notes)


def _brief(part):
    """Text of a sampler or scheduler, with the parameters that are not as by default."""
    if not is_dataclass(part):
        return str(part)
    given = {f.name: getattr(part, f.name) for f in fields(part) if f.init}
    own = (f.name for f in fields(part) if f.init and given[f.name] != f.default)
    return f"{type(part).__name__}({', '.join(f'{name}={given[name]!r}' for name in own)})"


def _sizes(X):
    shape: Any = getattr(X, "shape", ())
    n_features = int(shape[1]) if len(shape) == 2 else None
    return {"n_samples": max(1, num_samples(X)), "n_features": n_features or None}
