"""Functions instead of estimators: a call is the evaluation of a candidate on a single fold."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from traceback import format_exc
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from sksearch._utils._clock import now, wall_time
from sksearch._utils._terminal import printable, short_repr
from sksearch.base import Resource
from sksearch.executors._base import TaskEnvironment
from sksearch.executors._signals import Interrupts
from sksearch.fitting.run._evaluation import as_it_travels
from sksearch.fitting.run._objectives import Aims
from sksearch.fitting.run._scores import failure
from sksearch.fitting.run._states import shortened
from sksearch.fitting.run._tasks import Context, Output, Task

LOSS = "loss"  # entry of a returned dict that is minimised
LONGEST = 200  # maximum length of a returned value in an error message


class Units(Resource):
    """The second argument of a function."""

    def limits(
        self, estimator: object, n_samples: int, n_splits: int, n_classes: int
    ) -> tuple[int, int]:
        """Return 1 and 1: the meaning of a unit is up to the function."""
        return 1, 1


@dataclass(kw_only=True)
class FunctionContext(Context):
    """Shared context of all calls of a function, without rows and estimator."""

    func: Callable
    names: tuple[str, ...]  # of the numbers that the function returns; the score is the first,
    sign: float  # times this
    used: tuple[str, ...]  # names used by objectives and bounds
    error: BaseException | None = None  # last error of the calls in this process

    @classmethod
    def of(cls, func: Callable, resource: Resource, aims: Aims, seed: int, n: int) -> Self:
        """Make the context for `n` candidates of a function."""
        names = dict.fromkeys((*(aims.names or (LOSS,)), *aims.used))
        sign = float(aims.signs[0]) if aims.objectives else -1.0
        no_rows = np.empty(0, dtype=np.int64)
        own: dict[str, Any] = {"func": func, "names": tuple(names), "sign": sign}
        own |= {"used": aims.used, "aims": aims, "resource": resource, "seed": seed}
        return cls(X=np.empty((0, 0)), splits=[(no_rows, no_rows)], n_candidates=n, **own)


def call(context: FunctionContext, task: Task, environment: TaskEnvironment) -> Output:
    """Call the function for a candidate; an error or invalid value affects only this candidate."""
    output, began, start = Output(test_scores=math.nan), wall_time(), now()
    try:
        # A function may change its argument.
        params = {name: clone(value, safe=False) for name, value in task.params.items()}
        units = () if context.resource.acts_on == "fits" else (task.resource,)
        found = context.func(params, *units)
        _enter(context, output, found)
    except (Exception, SystemExit) as error:
        Interrupts.let_pass(error)
        context.error = error
        output.status, output.error = failure(error)
        output.fit_error = shortened(printable(format_exc()))
    output.fit_time = now() - start
    if environment.shares_memory and context.spool is None:
        return output  # saves microseconds, which matter for fast functions
    return as_it_travels(context, task, output, began, output.fit_time)


def _enter(context: FunctionContext, output: Output, found: Any) -> None:
    """Enter a function's return value as a score, greater is better, and as measures by name."""
    is_loss = type(found) is float and not context.used
    numbers = {LOSS: found} if is_loss else _numbers(context, found)
    output.test_scores = context.sign * numbers[context.names[0]]
    if not is_loss:
        output.measures = {name: numbers[name] for name in context.used} or None
    if not all(map(math.isfinite, numbers.values())):
        bad = [f"{value} as {name}" for name, value in numbers.items() if not math.isfinite(value)]
        output.status, output.test_scores = "nan", math.nan
        output.error = f"func returned {', '.join(bad)}, which is not a finite number"


def _numbers(context: FunctionContext, found: Any) -> Any:
    """A function's return value, by name; TypeError if a name is missing."""
    names, objectives = context.names, context.aims.names
    if isinstance(found, Mapping):
        values = found
    elif objectives and np.ndim(found) == 1 and len(found) == len(objectives):
        values = dict(zip(objectives, found, strict=True))
    else:
        values = {LOSS: found}
    if missing := [name for name in names if name not in values]:
        raise TypeError(
            f"func returned {short_repr(found, LONGEST)}, which lacks {', '.join(missing)}: "
            f"return a dict with numbers for {', '.join(names)}."
        )
    return {name: _number(values[name]) for name in names}


def _number(value: Any) -> float:
    """Any number as a float; TypeError for anything else, including text."""
    if type(value) is float:
        return value
    try:
        # Arrays and tensors with one element
        value = value.item() if hasattr(value, "item") else value
        if not isinstance(value, str | bytes):
            return float(value)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        pass  # the error below names what was returned
    raise TypeError(f"func returned {short_repr(value, LONGEST)}, but must return a number.")
