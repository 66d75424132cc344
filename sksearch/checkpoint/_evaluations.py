"""Evaluations of a smaller search, reused by the larger search that extends it."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from sksearch.checkpoint._params import decode_params
from sksearch.checkpoint._records import Asked, Event, Header, Kept, ToldEvent
from sksearch.fitting.run._setup import Setup
from sksearch.fitting.run._tasks import Output
from sksearch.space import Space


def key_of(
    space: Space,
    before: Sequence[tuple[dict[str, Any], int]],
    params: dict[str, Any],
    resource: int,
    fold: int,
) -> str | None:
    """Return a key of an evaluation that does not depend on the number of its trial.

    `before` are the parameters and resources from which it continues. None if the parameters are
    only described, and cannot be distinguished from similar ones.
    """
    if any(decode_params(space, each) is None for each in (params, *(p for p, _ in before))):
        return None
    return json.dumps([before, params, resource, fold], sort_keys=True)


class Evaluations:
    """Evaluations of an earlier, smaller search, read from its events into a dict by key.

    A smaller search with other resources contributes nothing else.

    Attributes
    ----------
    asked, told : set of (str or None)
        Keys of the evaluations that were asked for, and of those that ended.
    started : dict of int to (dict or None)
        Encoded parameters of the trials.
    n_unknown : int
        Number of evaluations whose parameters could not be stored.
    """

    def __init__(
        self, setup: Setup, memo: dict[str | None, Output], key: Callable[..., str | None]
    ) -> None:
        self._resource, self._n_splits = setup.context.resource, len(setup.context.splits)
        self._memo, self._key = memo, key
        self._top = -1
        self._begin(0)

    def _begin(self, top: int) -> None:
        if top != self._top:
            self.asked: set[str | None] = set()
            self.told: set[str | None] = set()
            self.started: dict[int, Any] = {}
            self.n_unknown, self._top = 0, top
        self._params: dict[int, Any] = {}
        self._done: dict[
            int, tuple[tuple[Any, int], ...]
        ] = {}  # parameters and resource of each stage
        self._open: dict[tuple[int, int], range] = {}

    def read(self, event: Event | None) -> None:
        """Enter one event."""
        match event:
            case Header(max_resources=top):
                self._begin(top)
            case Asked(trial_id=i, resource=resource, parent=parent):
                self._params.setdefault(i, event.params)
                self.started[i] = self._params[i]
                above = () if parent is None else self._done.get(parent, ())
                done = self._done.setdefault(
                    i, tuple(stage for stage in above if stage[1] < resource)
                )
                spent = done[-1][1] if done else 0
                folds = self._resource.folds(self._n_splits, resource, spent)
                self._open[i, resource] = folds
                self.asked.update(self._key(done, self._params[i], resource, k) for k in folds)
            case ToldEvent(trial_id=i, resource=resource):
                done, params = self._done[i], self._params[i]
                folds = self._open.pop((i, resource))
                for fold, output in zip(folds, event.outputs, strict=True):
                    key = self._key(done, params, resource, fold)
                    self._memo[key] = output
                    self.told.add(key)
                    self.n_unknown += key is None
                self._done[i] = (*done, (params, resource))
            case Kept(trial_id=i, resource=resource, fold=fold):
                key = self._key(self._done[i], self._params[i], resource, fold)
                self._memo[key] = event.output
                self.told.add(key)

    def candidates(self, space: Space, top: int) -> tuple[dict[str, Any] | None, ...]:
        """Return the parameters of trials that reached `top`; None if not stored."""
        encoded = self.started.values() if top == self._top else ()
        return tuple(decode_params(space, each) for each in encoded)

    def in_spool(self, find: Callable[[str], Output | None]) -> list[Kept]:
        """List stored outputs of jobs without a result; `find` returns an output."""
        return [
            Kept(i, resource, fold, output)
            for (i, resource), folds in self._open.items()
            for fold in folds
            if (output := find(f"{i}.{resource}.{fold}")) is not None
        ]
