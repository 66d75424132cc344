"""What it costs to be able to go on: time, memory and disk; and what a second worker brings.

    python examples/benchmarks/survival.py [journal reading memory states speed] [--trials 5000]

Exit status 1 if a bar fails.
"""

import argparse
import os
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path
from statistics import median
from subprocess import check_output

import numpy as np
import psutil
from _report import print_bars
from scipy.stats import uniform
from sklearn.base import BaseEstimator
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import HalvingRandomSearchCV

from sksearch import ASHASearchCV, HyperbandSearchCV, RandomSearchCV, load_history
from sksearch.checkpoint._checkpoint import Checkpoint, read_journal

MAX_JOURNAL_MS, MAX_OPEN_SECONDS, MAX_GROWTH, MIN_SPEED_UP = 5.0, 5.0, 1.10, 1.8
N_RESULTS, N_SAVED = 300, 100_000
MODEL_BYTES = 1_000_000
N_LOOPS = 400_000  # of an epoch that needs the processor, some 20 ms

X, SPLIT = np.zeros((40, 1)), [(np.arange(20), np.arange(20, 40))]
SPACE = {"x": uniform()}


class Learner(BaseEstimator):
    """Its score is its parameter; it may weigh something, and work for it.

    Parameters
    ----------
    x : float
        The score.
    weight : int
        Bytes of the fitted model.
    work : int
        Loops of an epoch.
    watch : str or None
        A folder; the largest count of files that was seen in it is kept in `Learner.most`.
    epochs : int
        For estimators without ``partial_fit``.
    """

    most = 0

    def __init__(self, x=0.0, weight=0, work=0, watch=None, epochs=1):
        self.x = x
        self.weight = weight
        self.work = work
        self.watch = watch
        self.epochs = epochs

    def fit(self, X, y=None):
        """Train for all epochs."""
        for _ in range(self.epochs):
            self.partial_fit(X, y)
        return self

    def partial_fit(self, X, y=None):
        """Train for one epoch."""
        total = 0
        for i in range(self.work):
            total += i & 1
        self.model_ = os.urandom(self.weight)
        if self.watch is not None:
            Learner.most = max(Learner.most, sum(name[0].isdigit() for name in _names(self.watch)))
        return self

    def score(self, X, y=None):
        """Return the parameter."""
        return self.x


def _names(folder):
    return os.listdir(folder) if os.path.isdir(folder) else []


def seconds(function, *args, **kwargs):
    """Duration of a call."""
    start = time.perf_counter()
    function(*args, **kwargs)
    return time.perf_counter() - start


# ---- what a result costs


def journal_ms(n_jobs, n=N_RESULTS):
    """Milliseconds that a result costs more with a checkpoint, and to read it again."""
    plain, kept, again = [], [], []
    for _ in range(4):
        with tempfile.TemporaryDirectory() as folder:
            common = {"n_iter": n, "cv": SPLIT, "n_jobs": n_jobs, "random_state": 0}
            search = RandomSearchCV(Learner(), SPACE, refit=False, **common)
            plain.append(seconds(search.fit, X))
            search.set_params(checkpoint_dir=Path(folder, "search"))
            kept.append(seconds(search.fit, X))
            again.append(seconds(search.fit, X))
    extra = [b - a for a, b in zip(plain[1:], kept[1:], strict=True)]  # the first warms up
    return 1000 * median(extra) / n, 1000 * median(again) / n


def optuna_ms(n=N_RESULTS):
    """The same for Optuna's journal, and for reading it."""
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def objective(trial):
        return trial.suggest_float("x", 0, 1)

    def study(storage):
        return optuna.create_study(
            storage=storage, sampler=optuna.samplers.RandomSampler(0), study_name="s",
            load_if_exists=True,
        )  # fmt: skip

    plain = seconds(study(None).optimize, objective, n)
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder, "journal"))
        kept = seconds(study(JournalStorage(JournalFileBackend(file))).optimize, objective, n)
        read = seconds(lambda: study(JournalStorage(JournalFileBackend(file))).trials)
    return 1000 * (kept - plain) / n, 1000 * read / n


def measure_journal():
    """Cost of keeping a result."""
    bars = []
    for n_jobs in (1, 2):
        ms, again = journal_ms(n_jobs)
        print(f"journal, n_jobs={n_jobs}: {ms:.2f} ms a result; {again:.2f} ms to replay it")
        name = f"a result costs at most {MAX_JOURNAL_MS:g} ms more, n_jobs={n_jobs}"
        bars.append((name, ms <= MAX_JOURNAL_MS))
    try:
        theirs, read = optuna_ms()
        print(f"Optuna's journal: {theirs:.2f} ms a trial, {theirs / ms:.1f} times ours")
        print(f"    {read:.2f} ms to read it")
    except ImportError:
        print("without Optuna: it is not installed")
    return bars


def measure_reading(n=N_SAVED):
    """Time to open many results."""
    with tempfile.TemporaryDirectory() as folder:
        search = RandomSearchCV(Learner(), SPACE, n_iter=2, cv=SPLIT, random_state=0)
        search.set_params(checkpoint_dir=folder).fit(X)
        ask, tell = read_journal(folder)[1][:2]
        with Checkpoint(folder) as checkpoint:
            for i in range(2, n):
                params = {"x": i / n}
                checkpoint.append(ask | {"t": i, "p": params}, sync=False)
                out = tell["o"][0] | {"test_scores": i / n}
                checkpoint.append(tell | {"t": i, "o": [out]}, sync=False)
        size = Path(folder, "journal.jsonl").stat().st_size
        parsing = seconds(read_journal, folder)
        opening = seconds(load_history, folder)
    print(
        f"{n} results, {size / 1e6:.0f} MB: opened in {opening:.2f} s, of which {parsing:.2f} s "
        "are for reading the file"
    )
    return [
        (f"{n} results are opened in {MAX_OPEN_SECONDS:g} s", opening <= MAX_OPEN_SECONDS),
    ]


# ---- memory and disk


def grow(n_trials, n_jobs, checkpoint):
    """Run so many trials of a large model, in this process; print how its memory grew."""
    process, samples, done = psutil.Process(), [], threading.Event()

    def sample():
        while not done.wait(0.05):
            samples.append(process.memory_info().rss)

    with tempfile.TemporaryDirectory() as folder:
        search = HyperbandSearchCV(
            Learner(weight=MODEL_BYTES), SPACE, resource="epochs", max_resources=9, cv=SPLIT,
            n_iterations=-(-n_trials // 15), n_jobs=n_jobs, random_state=0, refit=False,
            checkpoint_dir=Path(folder, "search") if checkpoint else None,
        )  # fmt: skip
        thread = threading.Thread(target=sample, daemon=True)
        thread.start()
        search.fit(X)
        done.set()
        thread.join()
    tenth = len(samples) // 10
    early, late = max(samples[tenth : 2 * tenth]), max(samples[-tenth:])
    print(len(search.history_.trials), early, late)


def measure_memory(n_trials):
    """Whether the search's memory is flat after a tenth of the trials."""
    bars = []
    for n_jobs in (1, 2):
        for checkpoint in (0, 1):
            command = [sys.executable, __file__, "--grow", n_trials, n_jobs, checkpoint]
            n, early, late = map(int, check_output([str(word) for word in command]).split())
            name = f"n_jobs={n_jobs}, {'with' if checkpoint else 'without'} checkpoint_dir"
            print(
                f"memory, {name}: {n} trials, {early / 1e6:.0f} MB after a tenth of the time, "
                f"{late / 1e6:.0f} MB at the end"
            )
            bars.append((f"memory is flat, {name}", late <= MAX_GROWTH * early))
    return bars


def measure_states():
    """How many files of states there are at a time."""
    most = {}
    for cls, kwargs in (
        (HyperbandSearchCV, {"n_iterations": 20}),
        (ASHASearchCV, {"n_candidates": 340}),
    ):
        with tempfile.TemporaryDirectory() as folder:
            Learner.most = 0
            search = cls(
                Learner(watch=str(Path(folder, "states"))), SPACE, resource="epochs",
                max_resources=9, cv=SPLIT, random_state=0, checkpoint_dir=folder, **kwargs,
            ).fit(X)  # fmt: skip
            left = len(_names(Path(folder, "states")))
            most[cls] = Learner.most
        n = len(search.history_.trials)
        print(f"states, {cls.__name__}: {n} trials, at most {Learner.most} files, {left} at last")
    largest = 9  # candidates of the first bracket, which are all compared with each other
    return [
        (f"Hyperband keeps at most {largest} states", most[HyperbandSearchCV] <= largest),
        ("no state is left", left == 0),
    ]


# ---- speed


def speed_up(search):
    """How many times faster two workers are than one; the workers are there."""
    search.set_params(n_jobs=2).fit(X)
    two = [seconds(search.fit, X) for _ in range(2)]
    search.set_params(n_jobs=1)
    one = [seconds(search.fit, X) for _ in range(2)]
    return min(one) / min(two)


def measure_speed():
    """What a second worker brings, and what it brings scikit-learn's halving."""
    common = {"cv": SPLIT * 2, "random_state": 0, "refit": False}
    ours = speed_up(
        HyperbandSearchCV(
            Learner(work=N_LOOPS), SPACE, resource="epochs", max_resources=27, **common
        )
    )
    kwargs = {"max_resources": 27, "min_resources": 1, "n_candidates": 27} | common
    theirs = speed_up(
        HalvingRandomSearchCV(Learner(work=N_LOOPS), SPACE, resource="epochs", **kwargs)
    )
    print(f"two workers: {ours:.2f} times as fast; scikit-learn's halving: {theirs:.2f} times")
    return [(f"two workers are at least {MIN_SPEED_UP:g} times as fast", ours >= MIN_SPEED_UP)]


def main():
    """Measure, print and return the exit status."""
    parts = {
        "journal": measure_journal,
        "reading": measure_reading,
        "memory": lambda: measure_memory(args.trials),
        "states": measure_states,
        "speed": measure_speed,
    }
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="part", help=f"of {', '.join(parts)}")
    parser.add_argument("--trials", type=int, default=5000, help="for memory")
    parser.add_argument("--grow", type=int, nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    if args.grow:
        grow(*args.grow)
        return 0
    bars = [bar for part in args.parts or parts for bar in parts[part]()]
    return 0 if print_bars(bars) else 1


if __name__ == "__main__":
    sys.exit(main())
