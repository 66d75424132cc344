"""Training history of a fitted state: stages, some of them in parent trials."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from sksearch.history import Params, Trial


class Stage(NamedTuple):
    """A stage of training with constant parameters, up to a resource."""

    trial_id: int
    params: Params
    resource: int


#: Start of each fit.
NOTHING = Stage(-1, {}, 0)


def stages_to(trials: Sequence[Trial], trial_id: int, resource: int) -> tuple[Stage, ...]:
    """Return all stages of training of a trial up to `resource`, beginning with its ancestors."""
    stages: list[Stage] = []
    at: int | None = trial_id
    while at is not None:
        trial = trials[at]
        own = (r for r in sorted(trial.results, reverse=True) if r <= resource)
        stages += [Stage(trial.id, trial.params, r) for r in own]
        at, resource = trial.parent, trial.inherited
    return tuple(reversed(stages))


def schedule_of(trials: Sequence[Trial], trial_id: int, resource: int) -> list[dict[str, Any]]:
    """Return the parameter schedule of a trial: values, and the unit after which they apply."""
    schedule: list[dict[str, Any]] = []
    before = NOTHING
    for stage in stages_to(trials, trial_id, resource):
        if stage.trial_id != before.trial_id:
            schedule.append({"n_resources": before.resource, "params": stage.params})
        before = stage
    return schedule
