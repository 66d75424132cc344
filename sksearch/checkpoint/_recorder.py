"""Resumed searches: writing and replaying the journal."""

import json
import re
import sys
from contextlib import nullcontext, suppress
from dataclasses import astuple, replace
from functools import partial
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from sksearch._utils._advice import glance
from sksearch._utils._compat import num_samples
from sksearch._utils._terminal import say, warn
from sksearch._utils._typing import Seed
from sksearch._utils._versions import differences
from sksearch.base._decisions import Job
from sksearch.checkpoint._accept import accepted_names
from sksearch.checkpoint._checkpoint import JOURNAL, Checkpoint
from sksearch.checkpoint._errors import JournalError
from sksearch.checkpoint._evaluations import Evaluations, key_of
from sksearch.checkpoint._events import WRONG, blaming, check_scores, header_of, read_events
from sksearch.checkpoint._fingerprint import (
    WHOLE,
    check_same,
    compared,
    fingerprint,
    fold_part,
    note_changes,
    user_parts,
    versions_of_setup,
)
from sksearch.checkpoint._log import ANEW
from sksearch.checkpoint._params import contradicts, decode_params, encode_params
from sksearch.checkpoint._records import (
    Asked,
    Event,
    Exhausted,
    Header,
    Spool,
    Stopped,
    ToldEvent,
    Won,
    seconds_of,
    state_in_folder,
)
from sksearch.checkpoint._signature import is_signed, key_file, key_trouble, make_key
from sksearch.checkpoint.identity._description import describe
from sksearch.checkpoint.identity._digests import digest
from sksearch.fitting.run._run import Ending, Recorder, Run
from sksearch.fitting.run._setup import Setup
from sksearch.fitting.run._states import SavedState, first_line
from sksearch.fitting.run._tasks import Output, RowSample, Task
from sksearch.reader._values import default_metric

NAME = re.compile(r"\d+\.\d+\.\d+$")  # name of the file of a task


class JournalRecorder(Recorder):
    """Records a run in a journal, and reads the records of earlier runs.

    Parameters
    ----------
    checkpoint : Checkpoint
        Open checkpoint.
    """

    folder: Path

    def __init__(self, checkpoint: Checkpoint):
        make_key()
        self.checkpoint = checkpoint
        self.folder = checkpoint.states
        self._know_search()
        self.unfinished_jobs: list  # set when the journal is replayed
        self.ending = Ending()
        header = checkpoint.header
        self.goes_on = header is not None
        self._journal = checkpoint.path / JOURNAL
        self._line = len(checkpoint.earlier) + 1  # line number of the header
        self._header: Any = None
        if header is not None:
            self._header = header_of(read_events([header], self._journal, self._line))
            self.unit, self.left_out = self._header.unit, self._header.left_out
        self._space: Any = None  # set, with the rungs, when the search is opened
        self._rungs: set[tuple[int, int]] = set()
        self._asked: set[tuple[int, int]] = set()
        self._exhausted = False
        self._memo: dict[str | None, Output] = {}
        # Evaluations of the smaller search, until this search has used them
        self._known: Evaluations | None = None
        # The evaluations among them that this search has used
        self._taken: set[str | None] = set()
        self._extends, self._same_versions = False, True
        self._versions: dict[str, str]
        self._warned = self._says_lost = False
        self._spooled: set[str] = set()
        self._parts: dict[str, dict] = {}
        self._look: Any = None

    # ---- before the search

    def rng(self, random_state: Seed) -> np.random.RandomState:
        """Return the initial generator of the search if it is resumed."""
        # If no seed was passed, use the checkpoint's; a different seed is refused later.
        saved: Any = random_state if self._header is None else self._header.random_state
        with blaming(self._journal, self._line) if self._header is not None else nullcontext():
            if isinstance(saved, dict):
                rng = np.random.RandomState()
                name, keys, *rest = saved["state"]
                rng.set_state((name, np.array(keys, dtype=np.uint32), *rest))
                if isinstance(random_state, np.random.RandomState):
                    rng = self._from_the_beginning(random_state, rng, saved.get("left"))
            else:
                rng = super().rng(saved)
        self._rng, self._random_state = rng, saved
        if saved is None or isinstance(saved, np.random.RandomState):
            state: Any = rng.get_state()
            name, keys, *rest = state
            self._random_state = {"state": [name, keys.tolist(), *rest]}
        return rng

    def _from_the_beginning(
        self, given: np.random.RandomState, rng: np.random.RandomState, left: str | None
    ) -> np.random.RandomState:
        """Return the user's generator, possibly shared with the folds, in its initial state.

        In the same process the search has advanced it. A different one is refused later.
        """
        if describe(given.get_state()) not in (describe(rng.get_state()), left):
            return rng
        given.set_state(rng.get_state())
        return given

    def open(self, kind: type, params: dict[str, Any], setup: Setup) -> None:
        """Check that the journal belongs to this search, or begin a journal.

        Raises
        ------
        SearchMismatchError
            If it belongs to another search.
        """
        checkpoint, old = self.checkpoint, self._header
        self._time = setup.time
        self._space = setup.problem.space
        self._rungs = {(rung.bracket, rung.n_resources) for rung in setup.plan.rungs}
        self._versions = versions_of_setup(setup)
        seed = self._given_seed(params["random_state"])
        self._parts = parts = fingerprint(kind, params, setup, seed)
        self._look = partial(user_parts, kind, params, setup)
        if old is not None:
            self._compare(setup, parts)
        self._remember(setup)
        if old is None or self._extends:
            if isinstance(given := params["random_state"], np.random.RandomState):
                self._random_state |= {"left": describe(given.get_state())}
            self._header = self._header_of(kind, params, setup)
            checkpoint.begin(self._header.to_record(), setup.context.splits)
            self._know_search()
        if self._extends:  # spooled outputs are the smaller search's, and in the journal
            checkpoint.remove_spooled(checkpoint.names_in_spool())
        self._spooled = set(filter(NAME.match, checkpoint.names_in_spool()))

    def replay(self, run: Run) -> None:
        """Bring a run to the state at the end of the journal."""
        jobs: dict[tuple[int, int], Job] = {}
        records: Any = [self.checkpoint.header, *self.checkpoint.events]
        for line, event in read_events(records, self._journal, self._line):
            self.ending = _ending(event, self.ending)
            match event:
                case Asked():
                    key = event.trial_id, event.resource
                    with blaming(self._journal, line):
                        jobs[key] = self._replay_job(run, event)
                    self._asked.add(key)
                case ToldEvent():
                    job = jobs.pop((event.trial_id, event.resource))
                    with blaming(self._journal, line):
                        _check_folds(event, run.context.folds(job.resource, job.spent))
                    run.replay(job, [self._with_state(output) for output in event.outputs])
                case Exhausted():
                    run.study.history.exhausted = self._exhausted = True
        self.unfinished_jobs = list(jobs.values())
        if self.goes_on:
            written = (*self.checkpoint.earlier, *self.checkpoint.events, {})
            self._time.go_on(max(map(seconds_of, written)))
        self.checkpoint.events.clear()
        # Spooled outputs of recorded jobs are obsolete; the rest may belong to other candidates
        # now.
        stale = {name for name in self._spooled if _trial_and_resource(name) not in jobs}
        self.checkpoint.remove_spooled(stale)
        self._spooled -= stale
        # Keep also the states of finished evaluations that wait in the spool for others of their
        # job or for an older job; no other spooled state is needed.
        waiting = [*self._memo.values(), *filter(None, map(self._in_spool, self._spooled))]
        known = {output.state.path.name for output in waiting if output.state is not None}
        self.checkpoint.sweep(run.states.files().keys() | known)
        self._time.was_up = self.ending.up
        is_ahead = not self.ending.why and bool(self._memo or self._spooled)
        self._time.stands_still = is_ahead or self.ending.why == "finished"

    def close(self) -> None:
        """Record changes made by this fit to compared values, for later fits of this process."""
        if self._look is not None:
            note_changes(self._parts, self._look())

    # ---- while it runs

    def recorded_output(self, task: Task) -> Output | None:
        """Return the output of a task that was run before, otherwise None."""
        output = self._in_spool(task.name) if task.name in self._spooled else None
        if output is None and (self._memo or self._known):
            params = encode_params(self._space, task.params)
            before = [
                (encode_params(self._space, stage.params), stage.resource) for stage in task.before
            ]
            key = key_of(self._space, before, params, task.resource, task.fold)
            output = self._memo.get(key)
            self._see_what_is_left(key)
        if output is None:
            self._time.stands_still = False
            if self._extends and task.continues and task.state is None and not self._says_lost:
                self._says_lost = True
                n = sum(output.n_steps > 0 for output in self._memo.values())
                warn(
                    f"The fitted models of {n} evaluations in {str(self.checkpoint.path)!r} were "
                    "deleted when that search finished: the candidates that the larger search "
                    "continues are trained again from scratch.",
                )
            return None
        return self._with_state(output)

    def adopt(self, task: Task, output: Output) -> None:
        """Write a state that arrived as bytes from another machine to a file."""
        if isinstance(output.state, bytes):
            with suppress(OSError):  # a full disk: the state stays in memory
                output.state = SavedState.write(output.state, self.folder, task.name)

    def keep(self, task: Task, output: Output) -> None:
        """Store an output for a worker that does not see the folder."""
        if not self.checkpoint.has_spooled(task.name):
            self.adopt(task, output)
            self.spool.write(task.name, output)

    def record_job(self, job: Job, exhausted: bool) -> None:
        """Append the start of a job."""
        if exhausted and not self._exhausted:
            self._exhausted = True
            self._append(Exhausted(), sync=False)
        if (job.trial_id, job.resource) in self._asked:
            return
        is_new = job.spent == 0 or job.parent is not None
        params = encode_params(self._space, job.params) if is_new else None
        key = job.trial_id, job.resource, job.bracket
        self._append(Asked(*key, params, job.parent, job.prediction), sync=False)

    def record_outputs(self, job: Job, tasks: list[Task], outputs: list[Output]) -> None:
        """Append the outputs of a finished job."""
        self._append(ToldEvent(job.trial_id, job.resource, outputs))
        if self.checkpoint.complete:  # otherwise the spooled outputs are the only ones on disk
            self.checkpoint.remove_spooled(task.name for task in tasks)

    def stop(self, why: str, timeout: float | None = None) -> None:
        """Append the end of the search; if it is finished, remove all states."""
        if not self.ending.why or why == "finished" != self.ending.why:  # otherwise nothing is new
            self._append(Stopped(why, timeout))
        if why == "finished":
            self.checkpoint.sweep(set())

    def record_winner(self, trial_id: int, resource: int) -> None:
        """Append the winner: a ``refit`` function or a rule cannot be called later."""
        if self.ending.won != (trial_id, resource):
            self._append(Won(trial_id, resource))

    # ---- inside

    def _append(self, event: Event, sync: bool = True) -> None:
        """Append an event of the search with its time."""
        self.ending = _ending(event, self.ending)
        self._time.was_up = self.ending.up
        self.checkpoint.append(event.to_record(self._time.elapsed()), sync)

    def _know_search(self) -> None:
        """Identify, by the header, the worker outputs that belong to this search."""
        header = self.checkpoint.header
        name = "" if header is None else digest(json.dumps(header, sort_keys=True))
        self.spool = Spool(self.checkpoint.spool, name)

    def _given_seed(self, random_state: Seed) -> object:
        """Return the seed to compare: the checkpoint's, unless a different one is given."""
        other = isinstance(random_state, np.random.RandomState) and random_state is not self._rng
        if other or isinstance(random_state, Integral):
            return random_state
        return self._random_state

    def _header_of(self, kind: type, params: dict[str, Any], setup: Setup) -> Header:
        """Return the first record of this search's journal."""
        problem, resource = setup.problem, setup.context.resource
        aims, sample = setup.context.aims, setup.context.sample
        names_metric = isinstance(params.get("refit"), str)
        own = params.get("scoring") is None and not setup.context.is_function
        own_metric = glance(default_metric, setup.context.estimator, otherwise="") if own else ""
        return Header(
            search=kind.__name__,
            sksearch=sys.modules["sksearch"].__version__,
            versions=self._versions,
            seed=problem.seed,
            random_state=self._random_state,
            parts=self._parts,
            n_splits=len(setup.context.splits),
            unit=resource.unit,
            whole=resource.acts_on == "fits",
            adds=next(iter(resource.params({}, 1)), None),
            finds=problem.space.outcomes[0] if len(problem.space.outcomes) == 1 else None,
            metric=setup.context.metric if names_metric or aims.metric else None,
            refit=setup.plan.refit,
            any_rung_wins=setup.plan.any_rung_wins,
            is_most=setup.plan.is_most,
            return_train_score=bool(setup.context.return_train_score),
            min_resources=problem.min_resources,
            max_resources=problem.max_resources,
            plan=[list(astuple(rung)) for rung in setup.plan.rungs],
            names=problem.space.names,
            objectives=list(aims.objectives),
            bounds=[[bound.metric, bound.op, float(bound.value)] for bound in aims.bounds],
            sample=None if sample is None else list(astuple(sample)),
            own_metric=own_metric,
            left_out=list(setup.left_out),
        )

    def _compare(self, setup: Setup, parts: dict[str, dict]) -> None:
        """Raise SearchMismatchError unless the journal is this search's; load its folds."""
        old, path = self._header, self.checkpoint.path
        changed = differences(
            {"sksearch": old.sksearch} | old.versions,
            {"sksearch": sys.modules["sksearch"].__version__} | self._versions,
        )
        self._same_versions = not changed
        splits = self.checkpoint.load_splits()
        found = fold_part(splits)
        if len(splits) != old.n_splits or found != old.parts.get("folds", found):
            raise JournalError(
                f"{path / 'splits.npz'} does not contain the folds of {self._journal}: {ANEW}"
            )
        is_listed = "cv" in parts and parts["cv"][WHOLE].startswith("given:")
        new = parts if is_listed else {n: part for n, part in parts.items() if n != "folds"}
        same_python = "python" not in changed
        accepted = accepted_names(self.checkpoint.earlier, self.checkpoint.events)
        old_parts = old.parts | {"folds": found}
        self._extends = check_same(old_parts, new, path, same_python, accepted)
        n_rows = num_samples(setup.context.X)
        if not all(
            np.all((rows >= -n_rows) & (rows < n_rows)) for pair in splits for rows in pair
        ):
            raise JournalError(
                f"{path / 'splits.npz'} contains rows that the data do not have: {ANEW}"
            )
        setup.context.splits = splits
        setup.context.sample = old.sample and RowSample(*old.sample)
        if setup.context.verbose > 0:
            say(f"Resuming the search in {str(path)!r}. {compared(new)}")
        if changed:
            note = "" if same_python else " Your own code cannot be compared."
            warn(
                f"{path} was written with {', '.join(sorted(changed.values()))}: its results are "
                f"kept, but its fitted models are trained again.{note}",
            )

    def _in_spool(self, name: str) -> Output | None:
        """Return the spooled output of a task; None if unusable."""
        record = self.checkpoint.spooled(name)
        if record is None:
            return None
        try:
            output = self.spool.output_of(record)
            if output is not None:
                check_scores(output, self._header)
        except WRONG as error:
            file = self.checkpoint.spool / f"{name}.json"
            warn(
                f"{file} was not written by a worker ({first_line(error)}), and is ignored.",
            )
            return None
        return output

    def _with_state(self, output: Output) -> Output:
        """Return an output with its state; models of other library versions are not loaded."""
        if not self._same_versions:
            return replace(output, state=None)
        state = output.state
        if state is not None and not self._warned and not is_signed(state.sha, state.signature):
            self._warned = True
            warn(
                f"{self.checkpoint.path} contains fitted models written by another user, or "
                f"signed with a key other than the one in {key_file()}. Reading them could run "
                f"arbitrary code, so they are trained again. {key_trouble()}".rstrip(),
            )
        return state_in_folder(output, self.folder)

    def _replay_job(self, run: Run, event: Asked) -> Job:
        """Enter a job that was asked for according to the journal."""
        if (event.bracket, event.resource) not in self._rungs:
            raise ValueError(f"bracket {event.bracket} has no rung at {event.resource}")
        params = decode_params(self._space, event.params) if event.params else None
        # Untuned models, and candidates derived from them, may lie outside the space.
        n_own = len(run.study.history.problem.own)
        may_be_outside = event.trial_id < n_own or (n_own and event.parent is not None)
        if params is not None and not may_be_outside:
            self._space.check(params, where="its candidate")
        key = event.resource, event.bracket, event.parent
        job = run.study.replay(event.trial_id, params, *key, event.prediction)
        if event.params and params is None and contradicts(self._space, event.params, job.params):
            raise ValueError(
                "some of its values cannot be stored, so its candidates are proposed again, and "
                f"candidate {event.trial_id} differs: it was written by another version of "
                "sksearch"
            )
        return job

    def _see_what_is_left(self, key: str | None) -> None:
        """Warn of results that are not reused, before the first new evaluation."""
        if self._known is None or key in self._known.asked:
            self._taken.add(key)
            return
        n_all = len(self._known.told) + self._known.n_unknown
        n_left, self._known = n_all - len(self._taken & self._known.told), None
        if n_left:
            warn(
                f"The larger search cannot reuse {n_left} of the {n_all} evaluations in "
                f"{str(self.checkpoint.path)!r}: it reuses an evaluation only if it reaches the "
                "same candidate by the same rungs, and runs all others.",
            )

    def _remember(self, setup: Setup) -> None:
        """Load the evaluations before the search was extended, by parameters, rungs and fold.

        If each candidate gets its full resource immediately, the larger search begins with the
        candidates of the smaller one.
        """
        checkpoint = self.checkpoint
        known = Evaluations(setup, self._memo, partial(key_of, self._space))
        records: Any = checkpoint.earlier
        if self._extends:
            records = [*records, checkpoint.header, *checkpoint.events]
        for line, event in read_events(records, self._journal):
            with blaming(self._journal, line):
                known.read(event)
        if self._extends:
            for kept in known.in_spool(self._in_spool):
                checkpoint.append(kept.to_record(), sync=False)  # synced together with the header
                known.read(kept)
        self._memo.pop(None, None)
        for keys in (known.asked, known.told):
            keys.discard(None)
        self._known = known if self._extends else None
        if setup.problem.n_candidates is not None and not setup.is_namesake:
            started = known.candidates(self._space, setup.problem.max_resources)
            setup.problem = replace(setup.problem, started=started)


def _ending(event: Event | None, before: Ending) -> Ending:
    """Return how a search has ended after an event, given its earlier end."""
    match event:
        case Asked() | ToldEvent() | Exhausted() | Stopped(why="interrupted"):
            return Ending()
        case Stopped():
            return Ending(event.why, event.timeout or 0.0, before.won)
        case Won():
            return replace(before, won=(event.trial_id, event.resource))
    return before


def _check_folds(told: ToldEvent, folds: range) -> None:
    """Raise ValueError unless a job has an output for each of its folds."""
    if len(told.outputs) != len(folds):
        raise ValueError(f"it has {len(told.outputs)} of {len(folds)} folds")


def _trial_and_resource(name: str) -> tuple[int, ...]:
    """Return the first two parts of a task's name."""
    return tuple(int(part) for part in name.split(".")[:2])
