"""A search that goes on where another process left it: its journal, written and replayed."""

import json
import platform
import re
import sys
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path

import numpy as np
import sklearn
from sklearn.utils import check_random_state

from sksearch.checkpoint._checkpoint import Checkpoint
from sksearch.checkpoint._fingerprint import check_same, fingerprint
from sksearch.checkpoint._folder import write_spool
from sksearch.checkpoint._params import decode_params, encode_params
from sksearch.fitting._states import SavedState, as_record, from_record
from sksearch.resources import WholeResource

NAME = re.compile(r"\d+\.\d+\.\d+\.json$")  # of a task's file in the spool


@contextmanager
def recorder_of(search):
    """A context with the `Recorder` of a search, None if it has no ``checkpoint_dir``."""
    if search.checkpoint_dir is None:
        yield None
        return
    with Checkpoint(search.checkpoint_dir) as checkpoint:
        yield Recorder(checkpoint)


@dataclass(frozen=True)
class Spool:
    """Where workers leave a copy of each output until the journal has it.

    Parameters
    ----------
    folder : Path
        The checkpoint's.
    """

    folder: Path

    def write(self, name: str, output: dict) -> None:
        """Keep an output; a full disk is no reason to lose it, it travels in another way, too."""
        write_spool(self.folder, name, as_record(output))


class Recorder:
    """Notes what a run does, and knows what earlier runs did.

    Parameters
    ----------
    checkpoint : Checkpoint
        Open.
    """

    def __init__(self, checkpoint: Checkpoint):
        self.checkpoint = checkpoint
        self.unfinished_jobs: list = []
        self._space = None
        self._asked: set[tuple[int, int]] = set()
        self._exhausted = False
        self._memo: dict[str, dict] = {}
        self._extends = False
        self._spooled: set[str] = set()

    # ---- before the search

    def rng(self, random_state) -> np.random.RandomState:
        """The generator that settles the search: the one that it began with, if it goes on."""
        header = self.checkpoint.header
        # Who leaves the seed out goes on with that of the checkpoint; another is refused later.
        saved = random_state if header is None else header["random_state"]
        if isinstance(saved, dict):
            rng = np.random.RandomState()
            name, keys, *rest = saved["state"]
            rng.set_state((name, np.array(keys, dtype=np.uint32), *rest))
        else:
            rng = check_random_state(saved)
        self._random_state = saved
        if saved is None or isinstance(saved, np.random.RandomState):
            name, keys, *rest = rng.get_state()
            self._random_state = {"state": [name, keys.tolist(), *rest]}
        return rng

    def open(self, search, setup) -> None:
        """See that this is the search that the journal is of, or begin a journal.

        Raises
        ------
        SearchMismatchError
            If it is of another search.
        """
        checkpoint = self.checkpoint
        given = isinstance(search.random_state, Integral)
        parts = fingerprint(search, setup, search.random_state if given else self._random_state)
        if (old := checkpoint.header) is not None:
            self._extends = check_same(old["parts"], parts, checkpoint.path)
            setup.splits = checkpoint.load_splits()
        self._space = setup.problem.space
        self._same_version = old is None or _minor(old["versions"]) == _minor(_versions())
        if not self._same_version:
            warnings.warn(
                f"{checkpoint.path} was written with scikit-learn {old['versions']['sklearn']}, "
                f"and this is {sklearn.__version__}: its results are kept, its fitted models are "
                "trained again.",
                UserWarning,
                stacklevel=2,
            )
        self._remember(setup)
        if old is None or self._extends:
            header = _header(search, setup, parts, self._random_state)
            checkpoint.begin(header, setup.splits)
        self._spooled = {file.stem for file in checkpoint.spool.iterdir() if NAME.match(file.name)}

    def replay(self, run) -> None:
        """Bring a run to where the journal ends."""
        jobs: dict[tuple[int, int], object] = {}
        for record in self.checkpoint.events:
            if record["k"] == "ask":
                params = decode_params(self._space, record["p"]) if record.get("p") else None
                key = record["t"], record["r"]
                jobs[key] = run.study.replay(
                    record["t"], params, record["r"], record["b"], record["parent"]
                )
                self._asked.add(key)
            elif record["k"] == "tell":
                job = jobs.pop((record["t"], record["r"]))
                run.replay(job, [self._output(out) for out in record["o"]])
            elif record["k"] == "exhausted":
                run.study.history.exhausted = self._exhausted = True
        self.unfinished_jobs = list(jobs.values())
        self.checkpoint.events.clear()
        # What is noted has no use for them, and what was never noted may be another candidate now.
        stale = {name for name in self._spooled if _trial_and_resource(name) not in jobs}
        self.checkpoint.remove_spooled(stale)
        self._spooled -= stale
        self._sweep(run)

    # ---- while it runs

    def recorded_output(self, task):
        """The output of a task that was run before, None if there is none."""
        record = None
        if task.name in self._spooled:
            record = self.checkpoint.spooled(task.name)
        elif self._memo:
            params = encode_params(self._space, task.params)
            record = self._memo.get(self._key(params, task.rungs, task.resource, task.fold))
        return None if record is None else self._output(record)

    def record_job(self, job, exhausted) -> None:
        """Note a job that begins."""
        if exhausted and not self._exhausted:
            self._exhausted = True
            self.checkpoint.append({"k": "exhausted"}, sync=False)
        if (job.trial_id, job.resource) in self._asked:
            return
        record = {"k": "ask", "t": job.trial_id, "r": job.resource, "b": job.bracket}
        record["p"] = None if job.spent else encode_params(self._space, job.params)
        self.checkpoint.append(record | {"parent": job.parent}, sync=False)

    def record_outputs(self, job, tasks, outputs) -> None:
        """Note the outputs of a job that has ended."""
        record = {"k": "tell", "t": job.trial_id, "r": job.resource}
        self.checkpoint.append(record | {"o": [as_record(out) for out in outputs]})
        if self.checkpoint.complete:  # else these are the only ones on disk
            self.checkpoint.remove_spooled(task.name for task in tasks)

    def stop(self, why, keep) -> None:
        """Note that the search has ended; if it is finished only the states to keep are needed."""
        self.checkpoint.append({"k": "stop", "why": why})
        if why == "finished":
            self.checkpoint.sweep(keep)

    # ---- inside

    def _output(self, record):
        """The output of a record; a model of another version of scikit-learn is left alone."""
        if not self._same_version:
            record = record | {"state": None}
        return from_record(record, self.checkpoint.states)

    def _key(self, params, rungs, resource, fold):
        """What an evaluation is known by when the number of its trial has changed.

        None if params were only described, and cannot be told from others that look alike.
        """
        if decode_params(self._space, params) is None:
            return None
        return json.dumps([params, rungs, resource, fold], sort_keys=True)

    def _sweep(self, run):
        """Remove the files of states that nobody will ask for."""
        keep = {state.path.name for state in run.states.values() if isinstance(state, SavedState)}
        memo = (out["state"] for out in self._memo.values() if out["state"] is not None)
        self.checkpoint.sweep(keep | {entry["f"] for entry in memo})

    def _remember(self, setup):
        """Know what the search did before it was extended, by params, rungs and fold."""
        checkpoint = self.checkpoint
        params: dict[int, dict] = {}
        rungs: dict[int, tuple[int, ...]] = {}
        open_jobs: dict[tuple[int, int], range] = {}
        for record in (*checkpoint.earlier, *(checkpoint.events if self._extends else ())):
            if record["k"] == "header":
                params, rungs, open_jobs = {}, {}, {}
            if record["k"] not in ("ask", "tell"):
                continue
            i, resource = record["t"], record["r"]
            done = rungs.setdefault(i, ())
            if record["k"] == "ask":
                params.setdefault(i, record["p"])
                spent = max(done, default=0)
                folds = setup.resource.folds(len(setup.splits), resource, spent)
                open_jobs[i, resource] = folds
            else:
                for fold, out in zip(open_jobs.pop((i, resource)), record["o"], strict=True):
                    self._memo[self._key(params[i], done, resource, fold)] = out
                rungs[i] = (*done, resource)
        if self._extends:  # what workers have left is of the smaller search
            for (i, resource), folds in open_jobs.items():
                for fold in folds:
                    if (out := checkpoint.spooled(f"{i}.{resource}.{fold}")) is not None:
                        self._memo[self._key(params[i], rungs[i], resource, fold)] = out
            checkpoint.remove_spooled(file.stem for file in checkpoint.spool.iterdir())
        self._memo.pop(None, None)


def _trial_and_resource(name):
    """The first two parts of a task's name."""
    return tuple(int(part) for part in name.split(".")[:2])


def _header(search, setup, parts, random_state):
    plan = [
        [r.bracket, r.iter, r.n_resources, r.n_candidates, r.resources, r.n_fits]
        for r in setup.plan.rungs
    ]
    return {
        "sksearch": sys.modules["sksearch"].__version__,
        "class": type(search).__name__,
        "versions": _versions(),
        "seed": setup.problem.seed,
        "random_state": random_state,
        "parts": parts,
        "n_splits": len(setup.splits),
        "unit": setup.resource.unit,
        "whole": isinstance(setup.resource, WholeResource),
        "adds": next(iter(setup.resource.params({}, 1)), None),  # the param that the resource is
        "metric": search.refit if isinstance(search.refit, str) else None,
        "refit": bool(search.refit),
        "return_train_score": bool(search.return_train_score),
        "min_resources": setup.problem.min_resources,
        "max_resources": setup.problem.max_resources,
        "plan": plan,
        "names": setup.problem.space.names,
    }


def _versions():
    return {
        "python": platform.python_version(),
        "sklearn": sklearn.__version__,
        "numpy": np.__version__,
    }


def _minor(versions):
    return versions["sklearn"].split(".")[:2]
