"""Abort of searches in which all candidates fail for a reason that parameters cannot fix."""

import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.stats import qmc

from sksearch._utils._advice import glance
from sksearch._utils._clock import now
from sksearch._utils._seeds import seeded
from sksearch.base._decisions import Job
from sksearch.executors._base import TaskEnvironment
from sksearch.executors._signals import Interrupts
from sksearch.fitting.run._callbacks import NO_CALLBACKS
from sksearch.fitting.run._diagnosis import cause_of, untested_class
from sksearch.fitting.run._evaluation import evaluate
from sksearch.fitting.run._folds import trains_on_the_past
from sksearch.fitting.run._row_sample import MIN_ROWS, seconds_of_one_fit
from sksearch.fitting.run._tasks import Context, Output, RowSample, Task
from sksearch.history import Params, Problem

# Number of candidates that fail in the same way, after which the search checks the cause
N_ALIKE = 3
N_IN_VAIN = 100  # failures of any kind, if only the time ends the search
#: Points spread over the space that must fail as well. A Sobol sequence has one in each 128th of a
#: range, and of candidates of which 3 % succeed 128 draws miss all once in 50 times.
N_PROBES = 128
N_PROBES_OF_KNOWN = 32  # if the data show the cause
PROBE_SECONDS = 5.0  # limit for all points; a search with slow failures continues


@dataclass
class AbortRule:
    """Tracks failures until the first success.

    A search is aborted if some candidates have failed with the same error on the same fold, none
    of the searched parameters can be the cause, and the untuned estimator and many points spread
    over the space fail the same way at the largest resource. If there is no time to try these, the
    cause must be found in the data. The search continues if only a part of a space, or only small
    sizes, fail.

    Parameters
    ----------
    context : Context
        Context of the search.
    problem : Problem
        Its space, and whether the first candidate is the untuned estimator.
    may_train : bool
        True if candidates may be trained in this process.
    is_endless : bool
        True if candidates follow each other until the time is up.

    Attributes
    ----------
    is_lost : bool
        True if no candidate can be expected to succeed.
    """

    context: Context
    problem: Problem
    may_train: bool
    is_endless: bool
    is_lost: bool = False
    #: Causes of errors, or their texts, by rung and fold.
    _errors: dict[tuple[int, int], set[str]] = field(default_factory=dict)
    _texts: set[str] = field(default_factory=set)  # of all errors
    _failed: dict[int, dict] = field(default_factory=dict)  # parameters, by trial
    _has_ended: bool = False  # whether any fit has not failed
    _causes: dict[str, str] = field(default_factory=dict)  # by error
    _space_fails: bool | None = None  # whether points all over the space fail; None: not tried

    def see(self, job: Job, folds: range, outputs: list[Output]) -> None:
        """Enter the outputs of a job."""
        self._has_ended |= any(output.status != "error" for output in outputs)
        if self._has_ended or self.is_lost:
            return
        self._failed[job.trial_id] = job.params
        for fold, output in zip(folds, outputs, strict=True):
            self._errors.setdefault((job.resource, fold), set()).add(self._kind(output))
            self._texts.add(output.error)
        if len(self._failed) >= N_ALIKE:
            in_vain = self.is_endless and len(self._failed) >= N_IN_VAIN
            self.is_lost = in_vain or self._params_are_not_to_blame(outputs)

    def _params_are_not_to_blame(self, outputs: list[Output]) -> bool:
        """True if all other parameters would fail in the same way as these outputs."""
        if any(len(errors) > 1 for errors in self._errors.values()) or self._may_be_params():
            return False
        is_known = bool(self._cause(outputs[0]))
        if any(output.fit_error is None for output in outputs):  # a scorer's own failure
            return is_known
        if self._space_fails is None:
            self._space_fails = self._all_fail(outputs[0]) if self.may_train else is_known
        return self._space_fails

    def _cause(self, output: Output) -> str:
        """The cause of a failure; the data are examined once per error."""
        if output.error not in self._causes:
            self._causes[output.error] = _cause(self.context, output)
        return self._causes[output.error]

    def _kind(self, output: Output) -> str:
        """The part of an error text that is the same for all errors of its kind."""
        return self._cause(output) or _masked(output.error)

    def _is_untuned(self, trial_id: int) -> bool:
        return trial_id == 0 and self.problem.has_baseline

    def _may_be_params(self) -> bool:
        """True if an error names a searched parameter, or some choices are untried."""
        space = self.problem.space
        params = [p for i, p in self._failed.items() if not self._is_untuned(i)]
        U = np.array([space.place(each) for each in params])
        text = " ".join(self._texts)
        for dimension, column in zip(space.dimensions, U.T, strict=True):
            n_tried = len(np.unique(column[~np.isnan(column)]))
            choices = getattr(dimension, "choices", ())
            if choices and n_tried == len(choices):
                continue
            leaf = dimension.name.rpartition("__")[2]
            if re.search(rf"\b{re.escape(leaf)}\b", text) or (choices and n_tried < 2):
                return True
            # Another step, or another dict of the space, may succeed.
            if dimension.name == "(dict)" or any(hasattr(c, "get_params") for c in choices):
                return True
        return False

    def _all_fail(self, example: Output) -> bool:
        """True if the untuned estimator, and then points all over the space, fail like an example.

        If this takes more than a few seconds, the data must show the cause.
        """
        known = bool(self._cause(example))  # explained by the data, using all rows
        context = self.context if known else _on_few_rows(self.context)
        n, start = N_PROBES_OF_KNOWN if known else N_PROBES, now()
        for params in ({}, *_probes(self.problem, n, self._failed.values())):
            if now() - start > PROBE_SECONDS:
                return known
            output = _tried(context, self.problem, params)
            if output.status != "error" or self._kind(output) != self._kind(example):
                return False
        return True


def _probes(problem: Problem, n: int, tried: Iterable[Params] = ()) -> Iterator[Params]:
    """Yield untried candidates spread over a space."""
    space = problem.space
    known = set(map(space.key, tried))
    if space.n_dims == 0:
        return
    for u in qmc.Sobol(space.n_dims, rng=problem.seed).random(n):
        params = space.from_unit(u)
        is_allowed = problem.allows is None or problem.allows(params)
        if (key := space.key(params)) not in known and is_allowed:
            known.add(key)
            yield params


def fails_everywhere(context: Context, problem: Problem) -> bool:
    """True if the untuned estimator fails, and so do points all over the space.

    The test is limited to a few seconds, and uses some rows of the first fold.
    """
    if error_of_untuned(context) is None:
        return False
    context, start = _on_few_rows(context), now()
    for params in _probes(problem, N_PROBES_OF_KNOWN):
        if now() - start > PROBE_SECONDS:
            break
        if _tried(context, problem, params).status != "error":
            return False
    return True


def _on_few_rows(context: Context) -> Context:
    latest = trains_on_the_past(context.splits)
    sample = context.sample or RowSample(MIN_ROWS, 1.0, 0.0, latest=latest)
    return replace(context, sample=sample)


def _tried(context: Context, problem: Problem, params: Params) -> Output:
    """Train and score a candidate as the search would, on the first fold."""
    context = replace(context, spool=None, search=None, verbose=0, error_score=np.nan)
    # Epochs fail from the first one on, but a size that is too small fails for its own reason.
    amount = problem.min_resources if problem.continues else problem.max_resources
    task = Task(0, 0, params, amount, 0, NO_CALLBACKS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        output = evaluate(context, task, TaskEnvironment())
    Interrupts.heed()
    return output


def error_of_untuned(context: Context) -> Exception | None:
    """Train and score the untuned estimator on some rows, and return its error."""
    with warnings.catch_warnings(), seeded(context.seed, MIN_ROWS):
        warnings.simplefilter("ignore")
        try:
            seconds_of_one_fit(context, MIN_ROWS)
        except Exception as error:
            return error
        finally:
            Interrupts.heed()  # scikit-learn's MLP catches it
    return None


def explained(context: Context, outputs: list[Output], text: str) -> str:
    """Add a first line with the cause and the remedy to the text of an error.

    Parameters
    ----------
    context : Context
        Context of the search.
    outputs : list of Output
        Outputs of failed fits.
    text : str
        scikit-learn's text about them, including tracebacks.

    Returns
    -------
    str
        The line, and below it the text.
    """
    cause, first = common_cause(context, outputs)
    if not cause:
        most = "all" if len({_masked(output.error) for output in outputs}) == 1 else "most"
        cause = (
            f"Every candidate failed, {most} with this error: {first.rstrip('.')}. Correct the "
            "estimator, scorer, space or data: error_score='raise' shows the traceback."
        )
    return f"{cause}\n{text}"


def common_cause(context: Context, outputs: list[Output]) -> tuple[str, str]:
    """Return the cause of the commonest error, "" if it is unknown, and that error."""
    errors = Counter(output.error for output in outputs if output.error)
    if not errors:
        return glance(untested_class, context, otherwise=""), ""
    first = errors.most_common(1)[0][0]
    return _cause(context, next(each for each in outputs if each.error == first)), first


def _cause(context: Context, output: Output) -> str:
    """The cause of a failure found in the data, otherwise ""."""
    return glance(cause_of, context, _message(output), otherwise="") or context.doubt


def _message(output: Output) -> str:
    """The text of an error, all of its lines, without the code that raised it."""
    if output.fit_error is None:
        return output.error
    lines = output.fit_error.splitlines()
    last = max((i for i, line in enumerate(lines) if line.startswith("  File ")), default=-1)
    begin = next((i for i, s in enumerate(lines) if i > last and not s.startswith(" ")), 0)
    return "\n".join(lines[begin:])


def _masked(error: str) -> str:
    """An error without addresses."""
    return re.sub(r"0x[0-9a-fA-F]+", "0x", error)
