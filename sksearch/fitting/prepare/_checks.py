"""Errors about incompatible parts of a search, raised before any training."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn import get_config
from sklearn.base import clone, is_classifier

from sksearch._utils._advice import advice, glance
from sksearch._utils._compat import (
    fault_of,
    num_samples,
    owner_of,
    to_numpy,
    unlisted_params,
    whole_range,
)
from sksearch._utils._typing import Estimator, Samples, Targets
from sksearch.base import Plan, Resource, Rung, Scheduler
from sksearch.base._state import Labels
from sksearch.estimators._continuation import ways_to_go_on
from sksearch.estimators._family import family_of
from sksearch.estimators._growth import growth_of
from sksearch.estimators._mutable_params import mutable_params
from sksearch.estimators._pipeline import (
    check_resampled,
    is_searched,
    last_step,
    own_names,
    path_of_last_step,
)
from sksearch.executors._limits import can_limit_memory
from sksearch.fitting.prepare._input import check_fit_params
from sksearch.fitting.run._objectives import Aims
from sksearch.fitting.run._plan import SearchPlan
from sksearch.fitting.run._setup import Stops
from sksearch.history import Problem
from sksearch.resources import acts_on
from sksearch.space import Space
from sksearch.space._conditions import When
from sksearch.space._dimensions import Dimension
from sksearch.space._values import native

MIN_MEMORY = 2**20


def check_memory_limit(n_bytes: int | None) -> None:
    """Raise ValueError for a limit that is too small, or that cannot be set."""
    if n_bytes is not None and n_bytes < MIN_MEMORY:
        raise ValueError(
            f'workers["memory"]={n_bytes} is a number of bytes, and must be at least a '
            f"mebibyte ({MIN_MEMORY}): pass 4 * 2**30 for 4 GiB."
        )
    if n_bytes is not None and not can_limit_memory():
        raise ValueError(
            f'workers["memory"]={n_bytes}, but this system cannot limit the memory of a process: '
            "leave it out, or run the search on Linux."
        )


def check_training(
    resource: Resource, estimator: Estimator, space: Space, fit_params: dict, X: Samples
) -> None:
    """Raise an error if the estimator cannot use this resource or these parameters."""
    _check_futures(estimator, space)
    resource.check(estimator, space.names)
    check_fit_params(estimator, fit_params, space.names, resource.acts_on == "calls")
    if resource.continues and resource.comparable:  # otherwise pipelines are fitted as a whole
        check_resampled(estimator, fit_params, num_samples(X))


def _check_futures(estimator: Estimator, space: Space) -> None:
    """Raise TypeError for a parameter that is a Dask future, since clones have unusable copies."""
    values = dict(estimator.get_params())
    values |= {d.name: v for d in space.all_dimensions for v in getattr(d, "choices", ())}
    for name, value in values.items():
        classes = [f"{cls.__module__}.{cls.__name__}" for cls in type(value).__mro__]
        if "distributed.client.Future" in classes:
            raise TypeError(
                f"The parameter {name!r} is a Dask Future, which scikit-learn's clone copies, and "
                "a copy has no client: pass its value, future.result(); each worker gets it "
                "once."
            )


def check_rates(
    resource: Resource, estimator: Estimator, space: Space, n_rows: int, amount: int
) -> None:
    """Raise ValueError for a learning-rate schedule shorter than the longest fit."""
    if resource.unit != "epochs":
        return
    if is_searched(path_of_last_step(estimator), space.names):
        return  # checked for each candidate
    last = last_step(estimator)
    family_of(last).epochs.check_rates(last, own_names(estimator, space.names), n_rows, amount)


def cuts_training(resource: str | Resource | None) -> bool:
    """True if a resource, as passed by the user, splits a fit into several steps."""
    return acts_on(resource) in ("calls", "training")


def check_outcomes(estimator: Estimator, space: Space, resource: str | Resource | None) -> None:
    """Raise ValueError for a number of iterations that cannot be found in training."""
    for name in space.outcomes:
        steps = [name[:i] for i in range(len(name)) if name.startswith("__", i)]
        if not any(step in space.names for step in steps):  # otherwise each candidate is checked
            growth_of(estimator, name)
        if cuts_training(resource):
            raise ValueError(
                f"param_distributions[{name!r}] is an Outcome, found within one fit of a "
                f"candidate, but resource={resource!r} interrupts training: pass "
                "resource='n_samples' or 'folds', or remove the Outcome from the space."
            )


def planned(scheduler: Scheduler, problem: Problem) -> Plan:
    """Return the plan of a scheduler; TypeError or ValueError if invalid."""
    plan = scheduler.plan(problem)
    if not isinstance(plan, Plan):
        raise TypeError(
            f"scheduler={scheduler} plans {plan!r}: return a Plan, such as "
            "Plan(((Rung(1, 9), Rung(3, 3)),)), or derive from BracketScheduler."
        )
    if not plan.brackets:
        raise ValueError(f"scheduler={scheduler} plans no bracket: plan at least one.")
    for rungs in {id(rungs): rungs for rungs in plan.brackets}.values():  # many may be one
        _check_bracket(rungs, scheduler)
    top = max(rungs[-1].resource for rungs in plan.brackets)
    if top > problem.max_resources:
        raise ValueError(
            f"scheduler={scheduler} has a rung of {top}, but max_resources is "
            f"{problem.max_resources}: lower the rung, or pass max_resources={top}."
        )
    return plan


def _check_bracket(rungs: tuple[Rung, ...], scheduler: Scheduler) -> None:
    """Raise ValueError unless this is a bracket of increasing whole-number rungs."""
    if isinstance(rungs, Rung) or not rungs:
        raise ValueError(
            f"scheduler={scheduler} plans the bracket {rungs!r}, but a bracket must be a tuple of "
            "at least one Rung: Plan(((Rung(1, 9), Rung(3, 3)),)) has one bracket of two rungs."
        )
    for rung in rungs:
        for name, value in vars(rung).items():
            if not (isinstance(value, Integral) and int(value) >= 1):
                raise ValueError(
                    f"scheduler={scheduler} plans {rung}: {name} must be an integer of at least 1."
                )
    resources = [rung.resource for rung in rungs]
    if resources != sorted(set(resources)):
        raise ValueError(
            f"scheduler={scheduler} plans a bracket with the resources {resources}: each must be "
            "larger than the previous one."
        )


def check_schedule(
    plan: SearchPlan, scheduler: Scheduler, resource: Resource, stops: Stops, aims: Aims
) -> None:
    """Raise ValueError for a race over anything but folds, and for a search without an end."""
    if scheduler.told.by_fold and resource.acts_on != "folds":
        raise ValueError(
            f"scheduler={scheduler} compares candidates fold by fold, but the unit of the "
            f"resource is {resource.unit}: pass resource='folds'."
        )
    check_ranks(scheduler, aims)
    if aims.objectives and stops.converged:
        raise ValueError(
            "stop='converged' considers one score, but objectives= has several: pass timeout= or "
            "a number of candidates instead."
        )
    if plan.by_folds and plan.any_rung_wins:
        raise ValueError(
            "select='best' compares scores of different rungs, but means over different folds "
            "cannot be compared: leave select out to choose the best over all folds."
        )
    if plan.is_endless and plan.timeout is None and not stops.are_any:
        raise ValueError(
            f"scheduler={scheduler} would never end: pass timeout=, stop='converged', "
            "stop={'patience': 20} or a number of candidates."
        )
    if stops.converged and plan.n_splits < 2:
        raise ValueError(
            "stop='converged' compares improvements with the standard error over folds, but cv "
            "has one fold: pass a cv with at least two folds, or stop={'patience': 20} instead."
        )


def check_ranks(scheduler: Scheduler, aims: Aims) -> None:
    """Raise ValueError for a single-score scheduler with several objectives or bounds."""
    reads = scheduler.reads
    if (aims.objectives and not reads.objectives) or (aims.bounds and not reads.bounds):
        raise ValueError(
            f"scheduler={scheduler} compares the values of a single score, so it does not support "
            "objectives= or a Bound in known: pass scheduler=FullFidelity(), or one that "
            "promotes by rank, such as SuccessiveHalving(), Hyperband() or ASHA()."
        )


def check_inheritance(
    scheduler: Scheduler, resource: Resource, estimator: Estimator, space: Space
) -> tuple[str, ...]:
    """Return the parameters that may change during training; ValueError without any."""
    name = type(last_step(estimator)).__name__
    if not resource.continues or resource.measured or resource.acts_on == "folds":
        raise ValueError(
            f"scheduler={scheduler} continues training fitted models, but {name} cannot do this "
            f"reproducibly with a resource of {resource.unit}: pass resource='epochs' for an "
            "estimator with partial_fit, or the number of trees, such as 'n_estimators' or "
            f"'max_iter', for an ensemble with warm_start, or for {ways_to_go_on()}."
        )
    changing = mutable_params(estimator, space.changeable_names)
    if not changing:
        known = mutable_params(estimator, estimator.get_params())
        ways = f"add one of {', '.join(known)}" if known else "it has no such parameter"
        raise ValueError(
            f"scheduler={scheduler} changes parameters during training, but {name} cannot change "
            f"{', '.join(space.names)} then, or a condition depends on it: {ways}; or use a "
            "search with fixed parameters, such as HyperbandSearchCV."
        )
    return changing


def check_names(estimator: Estimator, space: Space) -> None:
    """Raise ValueError if the estimator lacks a parameter of the space."""
    known = list(estimator.get_params())
    for name in [*space.names, *space.outcomes]:
        if name in known:
            continue
        parents = [name[:i] for i in range(len(name)) if name.startswith("__", i)]
        if any(parent in space.names for parent in parents):
            continue  # a parameter of a step that is itself searched: ask per candidate
        owner, leaf = owner_of(estimator, name)
        unlisted = unlisted_params(owner)
        if leaf in unlisted:
            continue
        if (unlisted and "__" not in leaf) or not _accepts(estimator, name):
            prefix = name.removesuffix(leaf)
            known = [*known, *(prefix + other for other in unlisted)]
            # The most common mistakes are a name without its step, and a wrong step.
            last = name.rpartition("__")[2]
            close = [each for each in known if each == last or each.endswith(f"__{last}")][:3]
            close = close or difflib.get_close_matches(name, known, n=3, cutoff=0.5)
            hint = f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
            raise ValueError(
                f"Invalid parameter {name!r} for estimator {estimator}: it is in "
                f"param_distributions, but not in estimator.get_params().{hint} "
                f"Valid parameters are: {sorted(known)!r}."
            )


def check_values(estimator: Estimator, space: Space) -> None:
    """Raise ValueError for a parameter without any valid value."""
    if not isinstance(space.given, Mapping) or get_config()["skip_parameter_validation"]:
        return  # with several dicts, a parameter need not be in all of them
    for dimension in space.all_dimensions:
        _warn_of_width(estimator, dimension)
        if fault := glance(_fault_of_values, estimator, space, dimension, otherwise=""):
            raise ValueError(f"param_distributions[{dimension.name!r}]: {fault}")


def _fault_of_values(estimator: Estimator, space: Space, dimension: Dimension) -> str:
    """Return why the estimator rejects all values of a parameter, "" if it accepts one."""
    given: Any = space.given
    name, values = dimension.name, given[dimension.name]
    owner, _ = owner_of(estimator, name)
    # A derived class may convert a value to one that its base accepts.
    if isinstance(values, When) or not type(owner).__module__.startswith("sklearn."):
        return ""
    shown = getattr(dimension, "choices", ())
    if dimension.kind in ("real", "integer"):
        shown = [native(dimension.from_unit(u)) for u in np.linspace(0.01, 0.99, 12)]
    if not shown or not all(fault_of(estimator, name, value) for value in shown):
        return ""
    return f"{fault_of(estimator, name, shown[0])} {_cure(estimator, dimension, shown)}"


@advice
def warn_of_seeds(space: Space) -> Iterator[str]:
    """Warn if a seed is searched, because this selects the luckiest fit."""
    for name in space.names:
        if name.rpartition("__")[2] in ("random_state", "random_seed", "seed"):
            yield (
                f"param_distributions[{name!r}]: a search over seeds selects the luckiest one, "
                "which does not generalise to new data. Remove it from the space; RepeatedKFold() "
                "as cv reduces the influence of luck."
            )


@advice
def _warn_of_width(estimator: Estimator, dimension: Dimension) -> Iterator[str]:
    """Warn if the width of a uniform distribution looks like its upper end."""
    if dimension.kind != "real" or dimension.log or not np.isfinite(dimension.bounds).all():
        return
    low, high = map(float, dimension.bounds)
    width, name = high - low, dimension.name
    if 0 < low < width and fault_of(estimator, name, width) == "" != fault_of(
        estimator, name, high
    ):
        yield (
            f"param_distributions[{name!r}] ranges from {low:g} to {high:g}, but the estimator "
            "only accepts a part of this range: uniform takes (loc, scale), so write "
            f"uniform({low:g}, {width - low:g}) for {low:g} to {width:g}."
        )


def _cure(estimator: Estimator, dimension: Dimension, shown: Sequence[Any]) -> str:
    """Suggested replacements for values that an estimator rejects."""
    if any(hasattr(value, "rvs") for value in shown):
        return "Pass the distribution itself, not in a list."
    ends = None
    if dimension.kind == "real":
        bounds = dimension.bounds if np.isfinite(dimension.bounds).all() else (shown[0], shown[-1])
        ends = whole_range(estimator, dimension.name, *bounds)
    if ends is not None:
        name = "sksearch.space.LogRandInt" if dimension.log else "scipy.stats.randint"
        return f"The distribution draws fractions: pass {name}({ends[0]}, {ends[1] + 1})."
    return "None of its values is valid: pass values that the estimator accepts."


def _accepts(estimator: Estimator, name: str) -> bool:
    """Some estimators (skorch's ``module__*``) take more names than they list."""
    try:
        clone(estimator).set_params(**{name: None})
    except (ValueError, TypeError, AttributeError):
        return False
    return True


def classes_of(estimator: Estimator, y: Targets) -> tuple[Labels, np.ndarray | None]:
    """Return the labels of the whole y for ``partial_fit``, and each row's class index.

    Labels are a list of arrays if y has several columns, without indices. Both are None if the
    labels have no order, and for a regressor.
    """
    if y is None or not is_classifier(estimator):
        return None, None
    return glance(_classes_of, y, otherwise=(None, None))


def _classes_of(y: Any) -> tuple[Labels, np.ndarray | None]:
    """Return labels and class indices of an unknown target."""
    if issparse(y):
        columns = y.tocsc()
        y = None if columns.shape[1] > 1 else columns.toarray()
        if y is None:
            each = (columns[:, [i]].toarray() for i in range(columns.shape[1]))
            return [np.unique(column) for column in each], None
    labels = to_numpy(y)
    if labels.ndim == 2 and labels.shape[1] > 1:
        return [np.unique(column) for column in labels.T], None
    if labels.size != len(labels):
        return None, None
    classes, strata = np.unique(labels.ravel(), return_inverse=True)
    return classes, strata
