"""The training behind a fitted state: stretch by stretch, from nothing, also by other trials."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from sksearch.history import Params, Trial


class Leg(NamedTuple):
    """A stretch of training with the same params, up to a resource."""

    trial_id: int
    params: Params
    resource: int


#: Where each training begins.
NOTHING = Leg(-1, {}, 0)


def legs_to(trials: Sequence[Trial], trial_id: int, resource: int) -> tuple[Leg, ...]:
    """Return all stretches that brought a trial up to `resource`, those of its ancestors first."""
    legs: list[Leg] = []
    at: int | None = trial_id
    while at is not None:
        trial = trials[at]
        own = (r for r in sorted(trial.results, reverse=True) if r <= resource)
        legs += [Leg(trial.id, trial.params, r) for r in own]
        at, resource = trial.parent, trial.inherited
    return tuple(reversed(legs))


def schedule_of(trials: Sequence[Trial], trial_id: int, resource: int) -> list[dict[str, Any]]:
    """Return which params hold from which count of units on, on the way of a trial."""
    schedule: list[dict[str, Any]] = []
    before = NOTHING
    for leg in legs_to(trials, trial_id, resource):
        if leg.trial_id != before.trial_id:
            schedule.append({"n_resources": before.resource, "params": leg.params})
        before = leg
    return schedule
