"""Messages about a fit: scikit-learn's callbacks (from 1.9 on) and ``[CV] END`` lines."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol, Self

from joblib.logger import short_format_time

from sksearch._utils._compat import BaseSearchCV
from sksearch._utils._terminal import say
from sksearch._utils._typing import Estimator, Samples, Scores, Targets
from sksearch.base._decisions import Job
from sksearch.fitting.run._plan import PlannedRung, SearchPlan
from sksearch.fitting.run._tasks import Context, Output, Task

#: From this ``verbose`` on there is a line for each training.
CV_LINES = 3


class CallbackContext(Protocol):
    """A scikit-learn callback context, or a replacement."""

    listens: bool  # whether there are callbacks

    def subcontext(self, **kwargs: Any) -> Self:
        """Return the context of a subtask."""

    def call_on_fit_task_begin(self, **kwargs: Any) -> Self:
        """Notify the callbacks that the task begins."""

    def call_on_fit_task_end(self, **kwargs: Any) -> bool:
        """Notify the callbacks that the task ends; return True if one requests a stop."""

    def propagate_callback_context(self, estimator: Any) -> AbstractContextManager[None]:
        """Return a block in which the estimator uses the search's callbacks."""


class _NoContext:
    """Replacement for a callback context if there are no callbacks."""

    listens = False

    def subcontext(self, **kwargs: Any) -> Self:
        return self

    def call_on_fit_task_begin(self, **kwargs: Any) -> Self:
        return self

    def call_on_fit_task_end(self, **kwargs: Any) -> bool:
        return False

    def propagate_callback_context(self, estimator: Estimator) -> AbstractContextManager[None]:
        return nullcontext()


#: The context without callbacks.
NO_CALLBACKS = _NoContext()


def root_callback_context(search: BaseSearchCV, n_tasks: int) -> CallbackContext:
    """Return the callback context of a whole ``fit`` with that many subtasks.

    It is a stand-in that does nothing before scikit-learn 1.9, and when neither the search nor its
    estimator holds callbacks.
    """
    if not hasattr(search, "_init_callback_context") or not _has_callbacks(search):
        return NO_CALLBACKS
    context = search._init_callback_context(max_subtasks=n_tasks)
    context.listens = True
    return context


def callback_arguments(
    estimator: BaseSearchCV | None, X: Samples, y: Targets, fit_params: dict[str, Any]
) -> dict[str, Any]:
    """Return the arguments of callbacks: the estimator, the rows and their weights."""
    weight = fit_params.get("sample_weight")
    metadata = None if weight is None else {"sample_weight": weight}
    return {"estimator": estimator, "X": X, "y": y, "metadata": metadata}


def _has_callbacks(search: BaseSearchCV) -> bool:
    params: Any = getattr(search.estimator, "get_params", dict)().values()
    held = (
        getattr(listener, "_skl_callbacks", None)
        for listener in (search, search.estimator, *params)
    )
    # A skrub plan among the parameters claims to have any attribute.
    return hasattr(search, "_parent_callback_ctx") or any(isinstance(c, list) and c for c in held)


class RungContexts:
    """Callback contexts: the search, its rungs if there are several, a leaf for each fit.

    An `endless` rung may get more candidates than planned, or fewer.
    """

    def __init__(
        self, root: CallbackContext, plan: SearchPlan, search: BaseSearchCV | None, endless: bool
    ) -> None:
        self._search = search
        self._endless = endless
        self._planned = {(r.bracket, r.n_resources): r for r in plan.rungs}
        self._several = len(plan.rungs) > 1
        n_tasks = len(plan.rungs) if self._several else sum(r.n_fits for r in plan.rungs)
        self._root = self._begin(root, "search", n_tasks)
        self._open: dict[tuple[int, int], CallbackContext] = {}
        self._n_leaves: dict[tuple[int, int], int] = {}
        self._n_told: dict[tuple[int, int], int] = {}

    def leaf(self, job: Job) -> CallbackContext:
        """Return a context for one more fit of this job."""
        key = (job.bracket, job.resource)
        if key not in self._planned:
            raise ValueError(
                f"The scheduler trains a candidate of bracket {job.bracket} up to {job.resource}, "
                "but its plan has no such rung: include all rungs of all brackets in the plan."
            )
        if key not in self._open:
            self._n_leaves[key] = self._n_told[key] = 0
            self._open[key] = self._root
            if self._several:
                rung = self._planned[key]
                self._open[key] = self._begin(
                    self._root, "rung", None if self._endless else rung.n_fits, rung
                )
        self._n_leaves[key] += 1
        return self._open[key].subcontext(
            task_name="candidate-split-evaluation", task_id=self._n_leaves[key] - 1
        )

    def tell(self, job: Job) -> bool:
        """Count a finished job; return True if it was the last one planned for its rung."""
        key = (job.bracket, job.resource)
        self._n_told[key] += 1
        return self._n_told[key] == self._planned[key].n_candidates

    def end(self, job: Job) -> bool:
        """End the context of a rung; return True if a callback requests a stop."""
        if not self._several or self._endless:
            return False
        context = self._open.pop((job.bracket, job.resource))
        return context.call_on_fit_task_end(estimator=self._search)

    def close(self) -> None:
        """End the open contexts."""
        if self._several:
            for context in self._open.values():
                context.call_on_fit_task_end(estimator=self._search)
        self._root.call_on_fit_task_end(estimator=self._search)

    def _begin(
        self,
        parent: CallbackContext,
        name: str,
        n_tasks: int | None,
        rung: PlannedRung | None = None,
    ) -> CallbackContext:
        kwargs = {} if rung is None else {"task_id": list(self._planned.values()).index(rung)}
        context = parent.subcontext(
            task_name=name, max_subtasks=n_tasks, sequential_subtasks=False, **kwargs
        )
        return context.call_on_fit_task_begin(estimator=self._search)


class Message:
    """Prints scikit-learn's ``[CV] END`` lines for one task, from ``verbose=3`` on."""

    def __init__(self, context: Context, task: Task) -> None:
        self.verbose = context.verbose
        if self.verbose < CV_LINES:
            return
        self.progress = f" {task.fold + 1}/{len(context.splits)}"
        if self.verbose > 9:
            self.progress += f"; {task.trial_id + 1}/{context.n_candidates}"
        params = context.resource.params(task.params, task.resource)
        self.params = ", ".join(f"{name}={params[name]}" for name in sorted(params))

    def start(self) -> None:
        """Print that the fit begins."""
        if self.verbose > 9:
            line = f"[CV{self.progress}] START {self.params}"
            say(f"{line}{(80 - len(line)) * '.'}")

    def end(self, output: Output) -> None:
        """Print the result of the fit."""
        if self.verbose < CV_LINES:
            return
        text = self.params + (";" if self.params else "")
        text += _scores(output.test_scores, output.train_scores)
        text += f" total time={short_format_time(output.fit_time + output.score_time)}"
        head = f"[CV{self.progress}] END "
        say(f"{head}{'.' * (80 - len(head) - len(text))}{text}")


def _scores(test: Scores, train: Scores | None) -> str:
    """Scores as scikit-learn prints them."""

    def one(test: float, train: Scores | None) -> str:
        return f"test={test:.3f}" if train is None else f"train={train:.3f}, test={test:.3f}"

    if isinstance(test, dict):
        trains = train if isinstance(train, dict) else {}
        return "".join(f" {k}: ({one(test[k], trains.get(k))})" for k in sorted(test))
    if train is None:
        return f", score={test:.3f}"
    return f", score=({one(test, train)})"
