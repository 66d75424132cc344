"""Processor time in units that serve on any machine, and runs that end when it is used up.

A run is a process of its own. It first times a fixed workload; one *second* of a run is that many
seconds of processor time as the workload takes times longer here than `REFERENCE_SECONDS`.
"""

import os
import pickle
import signal
import sys
import tempfile
import time
import traceback
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.svm import SVC

#: Processor seconds of `workload` on the machine on which the records were begun.
REFERENCE_SECONDS = 0.95
#: A run may need this many times its seconds on the wall before it is killed.
PATIENCE = 20


def workload():
    """Train and multiply; return the processor seconds that it took, the median of three times.

    Returns
    -------
    seconds : float
        Three times the median of the three parts.
    """
    X, y = make_classification(1_200, 20, n_informative=10, n_classes=3, random_state=0)
    matrix = np.random.default_rng(0).standard_normal((300, 300))
    parts = []
    for _ in range(3):
        start = time.process_time()
        HistGradientBoostingClassifier(max_iter=36, random_state=0).fit(X, y)
        SVC().fit(X, y).predict(X)
        product = matrix
        for _ in range(60):
            product = product @ matrix
            product /= np.abs(product).max()
        parts.append(time.process_time() - start)
    return 3 * float(np.median(parts))


class Clock:
    """Seconds of this process since now, in place of the module ``time`` where it is installed.

    Parameters
    ----------
    scale : float
        Processor seconds here in one second.
    """

    def __init__(self, scale):
        self.scale, self._start = scale, time.process_time()

    def now(self):
        """Seconds that this process has computed."""
        return (time.process_time() - self._start) / self.scale

    time = perf_counter = monotonic = process_time = now

    def __getattr__(self, name):
        return getattr(time, name)

    def install(self, *prefixes):
        """Let the loaded modules whose names begin so tell the time by this clock.

        Parameters
        ----------
        *prefixes : str
            Of full names of modules.

        Raises
        ------
        RuntimeError
            If none of them imports ``time``.
        """
        modules = [m for name, m in list(sys.modules.items()) if name.startswith(prefixes)]
        modules = [module for module in modules if getattr(module, "time", None) is time]
        if not modules:
            raise RuntimeError(f"No module of {prefixes} imports time: it cannot be replaced.")
        for module in modules:
            module.time = self


class Trace:
    """What a search has done so far, in a file: it outlives the process of the search.

    Parameters
    ----------
    path : Path
        The file.
    clock : Clock
        Of the search.
    """

    def __init__(self, path, clock):
        self.path, self.clock = path, clock

    def note(self, params, cv, **more):
        """Append an evaluation, or whatever a search would return now.

        Parameters
        ----------
        params : dict
            Of the candidate.
        cv : float
            Its score, mean over folds.
        **more : dict of str to object
            Kept with it.
        """
        entry = {"at": self.clock.now(), "params": params, "cv": float(cv)} | more
        with self.path.open("ab") as file:
            file.write(pickle.dumps(entry))


def run_for(seconds, scale, search, ends_itself=False):
    """Let a search run in a process of its own for so long, and read its trace.

    Parameters
    ----------
    seconds : float
        The process is killed after that, in whatever it computes, unless it ends itself.
    scale : float
        Processor seconds here in one second.
    search : callable
        ``search(trace)``.
    ends_itself : bool, default=False
        Whether it looks at the clock. If so it is killed much later.

    Returns
    -------
    entries : list of dict
        What was noted.

    Raises
    ------
    RuntimeError
        If the search failed.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace"
        limit = None if ends_itself else seconds * scale
        process = get_context("fork").Process(target=_search, args=(search, path, scale, limit))
        process.start()
        process.join(PATIENCE * seconds * scale + 60)
        late = process.is_alive()
        if late:
            process.kill()
            process.join()
        entries = list(_entries(path))
    for entry in entries:
        if "error" in entry:
            raise RuntimeError(entry["error"])
    if late or process.exitcode not in (0, -signal.SIGPROF):
        raise RuntimeError(f"The search ended with {'a kill' if late else process.exitcode}.")
    return entries


def _search(search, path, scale, limit):
    """Run a search in this process, which the system ends after `limit` processor seconds."""
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # ignored in the background of a shell
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    trace = Trace(path, Clock(scale))
    if limit is not None:
        signal.setitimer(signal.ITIMER_PROF, limit)
    try:
        search(trace)
    except BaseException as error:
        signal.setitimer(signal.ITIMER_PROF, 0)
        text = "".join(traceback.format_exception(error)[-3:])
        trace.note({}, np.nan, error=f"{type(error).__name__}: {error}\n{text}")


def _entries(path):
    """Entries of a trace; one that a kill cut off is left out."""
    if not path.is_file():
        return
    with path.open("rb") as file:
        while True:
            try:
                yield pickle.load(file)
            except (EOFError, pickle.UnpicklingError):
                return


def snapshots(checkpoints, trace, keep):
    """Have a copy of this process interrupted by Ctrl-C at each checkpoint.

    Parameters
    ----------
    checkpoints : list of float
        Seconds from now on.
    trace : Trace
        Of the search.
    keep : callable
        ``keep(at)`` in each copy, after its interrupt: notes what the search would return.

    Returns
    -------
    search_with : callable
        ``search_with(fit)`` runs the fit, and returns whether this process went through to the
        end: a copy never returns.
    """
    left, copies = list(checkpoints), []

    def arm():
        if left:
            wait = max(left[0] - trace.clock.now(), 1e-3) * trace.clock.scale
            signal.setitimer(signal.ITIMER_PROF, wait)

    def interrupt(number, frame):
        at = left.pop(0)
        copy = os.fork()
        if copy == 0:
            left.clear()
            copies[:] = [at]
            os.kill(os.getpid(), signal.SIGINT)
        else:
            copies.append(copy)
            arm()

    def search_with(fit):
        main = os.getpid()
        signal.signal(signal.SIGPROF, interrupt)
        arm()
        try:
            fit()
        except KeyboardInterrupt:
            if os.getpid() == main:
                raise
        signal.setitimer(signal.ITIMER_PROF, 0)
        if os.getpid() != main:
            keep(copies[0])
            os._exit(0)
        for copy in copies:
            os.waitpid(copy, 0)

    return search_with
