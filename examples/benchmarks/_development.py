"""Tuning tasks beside those that come with the data folder: other people's recorded results.

Their reader is a module `tuning_tasks` in ``tools`` beside the data folder. Where it is missing
there are none of them. Those of ``yahpo_*`` are networks, and need onnxruntime. Names are
"family/name"; a family names all of its tasks.
"""

import json
import sys
from functools import cache

import numpy as np
from _tasks import Parameter, Task

from sksearch.datasets import _data_folder

N_REPETITIONS = 10  # at most that a recorded configuration has
EPOCHS = ("epoch", "steps")  # ends of units in which a training goes on
HALVES = {"choose": 0, "report": 1}  # by their first task


@cache
def reader():
    """Return the module that reads them, None where it is missing."""
    sys.path.append(str(_data_folder().resolve().parent / "tools"))
    try:
        import tuning_tasks
    except ImportError:
        return None
    return tuning_tasks


def development_tasks(half=None):
    """Return the names of all tasks, by family; of one of the `HALVES` every second one."""
    families = {}
    for name in reader().list_tasks() if reader() else ():
        families.setdefault(name.partition("/")[0], []).append(name)
    part = slice(HALVES.get(half), None, 2 if half else 1)
    return {family: tasks[part] for family, tasks in families.items()}


class DevelopmentTask(Task):
    """One of them.

    Parameters
    ----------
    name : str
        "family/name".
    """

    def __init__(self, name):
        self._task = reader().load(name)
        n_epochs = self._task.fidelity
        if not str(self._task.fidelity_unit).endswith(EPOCHS):
            n_epochs = None  # rows, of which a larger training begins again
        parameters = [Parameter.from_meta(entry.dump()) for entry in self._task.space]
        super().__init__(name, parameters, n_epochs)
        self.best, self.median = self._task.best["loss"], self._task.median
        self._known = {}

    def losses(self, params, epoch=None):
        """Return all repetitions, at this epoch."""
        key = json.dumps(params, sort_keys=True, default=str), epoch
        if key not in self._known:
            self._known[key] = self._read(params, epoch)
        return self._known[key]

    def _read(self, params, epoch):
        """Ask the reader, which has one repetition after the other."""
        recorded = getattr(self._task, "valid", None)
        n = 1 if recorded is None else min(recorded.shape[-1], N_REPETITIONS)
        seeds = range(n) if n > 1 else [None]
        return np.array([self._task.lookup(params, epoch, seed) for seed in seeds])
