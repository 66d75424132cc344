"""A search that goes on where another process left it: its journal, written and replayed."""

import platform
import re
import sys
import warnings
from contextlib import contextmanager

import numpy as np
import sklearn
from sklearn.utils import check_random_state

from sksearch.journal import Checkpoint
from sksearch.resources import WholeResource
from sksearch.search._fingerprint import check_same, fingerprint
from sksearch.search._params import decode_params, encode_params
from sksearch.search._states import SavedState, as_record, from_record

NAME = re.compile(r"\d+\.\d+\.\d+\.json$")  # of a task's file in the spool


@contextmanager
def recorder_of(search):
    """A context with the `Recorder` of a search, None if it has no ``checkpoint_dir``."""
    if search.checkpoint_dir is None:
        yield None
        return
    with Checkpoint(search.checkpoint_dir) as checkpoint:
        yield Recorder(checkpoint)


class Recorder:
    """Notes what a run does, and knows what earlier runs did.

    Parameters
    ----------
    checkpoint : Checkpoint
        Open.
    """

    def __init__(self, checkpoint: Checkpoint):
        self.checkpoint = checkpoint
        self.under_way: list = []
        self._space = None
        self._asked: set[tuple[int, int]] = set()
        self._exhausted = False
        self._memo: dict[tuple[int, int, int], tuple] = {}
        self._extends = False
        self._spooled: set[str] = set()

    # ---- before the search

    def rng(self, random_state) -> np.random.RandomState:
        """The generator that settles the search: the one that it began with, if it goes on."""
        header = self.checkpoint.header
        if header is not None and isinstance(header["random_state"], dict):
            rng = np.random.RandomState()
            name, keys, *rest = header["random_state"]["state"]
            rng.set_state((name, np.array(keys, dtype=np.uint32), *rest))
        else:
            rng = check_random_state(random_state)
        self._random_state = random_state
        if random_state is None or isinstance(random_state, np.random.RandomState):
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
        parts = fingerprint(search, setup, search.random_state)
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
        if old is None or self._extends:
            self._keep_unfinished(setup)
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
                run.replay(job, [from_record(o, self.checkpoint.states) for o in record["o"]])
            elif record["k"] == "exhausted":
                run.study.history.exhausted = self._exhausted = True
        self.under_way = list(jobs.values())
        self.checkpoint.events.clear()
        # What is noted has no use for them, and what was never noted may be another candidate now.
        stale = {name for name in self._spooled if _trial_and_resource(name) not in jobs}
        self.checkpoint.remove_spooled(stale)
        self._spooled -= stale
        if not self._same_version:
            run.states.clear()
        self._sweep(run)

    # ---- while it runs

    def known(self, task):
        """The output of a task that was run before, None if there is none."""
        if task.name in self._spooled:
            record = self.checkpoint.spooled(task.name)
            return None if record is None else from_record(record, self.checkpoint.states)
        entry = self._memo.get((task.trial_id, task.resource, task.fold))
        if entry is None or entry[0] != (encode_params(self._space, task.params), task.rungs):
            return None
        return from_record(entry[1], self.checkpoint.states)

    def asked(self, job, exhausted) -> None:
        """Note a job that begins."""
        if exhausted and not self._exhausted:
            self._exhausted = True
            self.checkpoint.append({"k": "exhausted"}, sync=False)
        if (job.trial_id, job.resource) in self._asked:
            return
        record = {"k": "ask", "t": job.trial_id, "r": job.resource, "b": job.bracket}
        record["p"] = None if job.spent else encode_params(self._space, job.params)
        self.checkpoint.append(record | {"parent": job.parent}, sync=False)

    def told(self, job, tasks, outputs) -> None:
        """Note the outputs of a job that has ended."""
        record = {"k": "tell", "t": job.trial_id, "r": job.resource}
        self.checkpoint.append(record | {"o": [as_record(out) for out in outputs]})
        self.checkpoint.remove_spooled(task.name for task in tasks)

    def stop(self, why) -> None:
        """Note that the search has ended."""
        self.checkpoint.append({"k": "stop", "why": why})

    # ---- inside

    def _sweep(self, run):
        """Remove the files of states that nobody will ask for."""
        keep = {state.path.name for state in run.states.values() if isinstance(state, SavedState)}
        memo = (out["state"] for _, out in self._memo.values() if out["state"] is not None)
        self.checkpoint.sweep(keep | {entry["f"] for entry in memo})

    def _keep_unfinished(self, setup):
        """What the search did before it was extended, by trial, resource and fold."""
        header = self.checkpoint.header
        if header is None:
            return
        params: dict[int, dict] = {}
        rungs: dict[int, tuple[int, ...]] = {}
        open_jobs: dict[tuple[int, int], range] = {}
        n_splits = len(setup.splits)
        for record in (*self.checkpoint.earlier, *self.checkpoint.events):
            if record["k"] == "header":
                params, rungs, open_jobs = {}, {}, {}
            if record["k"] == "ask":
                i, resource = record["t"], record["r"]
                params.setdefault(i, record.get("p"))
                spent = rungs.get(i, (0,))[-1]
                open_jobs[i, resource] = setup.resource.folds(n_splits, resource, spent)
            if record["k"] == "tell":
                i, resource = record["t"], record["r"]
                key = params[i], rungs.get(i, ())
                for fold, out in zip(open_jobs.pop((i, resource)), record["o"], strict=True):
                    self._memo[i, resource, fold] = key, out
                rungs[i] = (*rungs.get(i, ()), resource)
        for (i, resource), folds in open_jobs.items():
            for fold in folds:
                name = f"{i}.{resource}.{fold}"
                if (out := self.checkpoint.spooled(name)) is not None:
                    self._memo[i, resource, fold] = (params[i], rungs.get(i, ())), out
        self.checkpoint.remove_spooled(file.stem for file in self.checkpoint.spool.iterdir())


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
        "metric": search.refit if isinstance(search.refit, str) else None,
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
