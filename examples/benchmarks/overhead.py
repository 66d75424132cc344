"""What the machinery costs: a search of short fits, and ask + tell of a long study.

(a) 200 fits of a model that computes for about 5 ms: `RandomSearchCV` against scikit-learn's
`RandomizedSearchCV` on the same candidates and folds, alternating, so that other load on the
machine meets both. (b) Milliseconds for one ``ask`` and one ``tell`` of a `Study` that has
already done so many jobs. (c) Milliseconds that a ``checkpoint_dir`` adds to a candidate of which
the training itself takes nearly no time, alternating.

    python examples/benchmarks/overhead.py [--repeats 9]

Exit status 1 if a bar fails.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy.stats import loguniform, randint, uniform
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import RandomizedSearchCV

from sksearch import RandomSearchCV
from sksearch.history import Problem, Result
from sksearch.samplers import RandomSampler
from sksearch.schedulers import FullFidelity, Hyperband
from sksearch.space import Space
from sksearch.study import Study

FIT_SECONDS = 0.005
MAX_RATIO = 1.1
MAX_MILLISECONDS = {1_000: 1.0, 10_000: 3.0}  # at so many jobs
MAX_CHECKPOINT = 2.0  # milliseconds
WINDOW = 200  # jobs around the count that are timed

SPACE = {
    "alpha": loguniform(1e-6, 1),
    "eta0": loguniform(1e-4, 1),
    "l1_ratio": uniform(0, 1),
    "batch_size": randint(16, 512),
    "penalty": ["l1", "l2", "elasticnet"],
}


class BusyClassifier(ClassifierMixin, BaseEstimator):
    """Computes for `n_loops` rounds in ``fit``; its score is a function of its params."""

    def __init__(self, n_loops=1, alpha=1.0, penalty="l2"):
        self.n_loops = n_loops
        self.alpha = alpha
        self.penalty = penalty

    def fit(self, X, y):
        """Burn time."""
        burn(self.n_loops)
        self.classes_ = np.unique(y)
        return self

    def score(self, X, y):
        """A number in (0, 1]."""
        return 1 / (1 + abs(np.log(self.alpha))) - 0.01 * (self.penalty == "l1")


def burn(n_loops):
    """A fixed amount of work on one core."""
    x = np.linspace(0, 1, 2_000)
    for _ in range(n_loops):
        x = np.sin(x)


def calibrate():
    """Rounds that make `FIT_SECONDS` on this machine while nobody disturbs."""
    burn(200)
    seconds = []
    for _ in range(20):
        start = time.perf_counter()
        burn(200)
        seconds.append((time.perf_counter() - start) / 200)
    return max(1, round(FIT_SECONDS / min(seconds)))


def searches(n_loops, n_jobs, repeats):
    """Median seconds of scikit-learn's search and of ours."""
    X, y = np.random.default_rng(0).random((200, 10)), np.arange(200) % 2
    space = {"alpha": loguniform(1e-6, 1), "penalty": ["l1", "l2", "elasticnet"]}
    seconds = {RandomizedSearchCV: [], RandomSearchCV: []}
    scores = {}
    for repeat in range(-1, repeats):  # the first one starts the workers and is not counted
        for cls in list(seconds)[:: -1 if repeat % 2 else 1]:
            search = cls(
                BusyClassifier(n_loops), space, n_iter=100, cv=2, n_jobs=n_jobs, random_state=0
            )
            start = time.perf_counter()
            search.fit(X, y)
            if repeat >= 0:
                seconds[cls].append(time.perf_counter() - start)
            scores[cls] = search.cv_results_["mean_test_score"]
            params = search.cv_results_["params"]
            assert len(params) == 100
        np.testing.assert_array_equal(scores[RandomizedSearchCV], scores[RandomSearchCV])
    return [float(np.median(seconds[cls])) for cls in (RandomizedSearchCV, RandomSearchCV)]


def ask_and_tell(scheduler):
    """Milliseconds of one ask and one tell around each count of jobs."""
    study = Study(Problem(Space(SPACE), 1, 81, seed=0), RandomSampler(), scheduler)
    scores = np.random.default_rng(0).random(max(MAX_MILLISECONDS) + WINDOW)
    found, start = {}, 0.0
    for done, score in enumerate(scores):
        if done + WINDOW // 2 in MAX_MILLISECONDS:
            start = time.perf_counter()
        study.tell(study.ask(), Result(float(score)))
        if (count := done + 1 - WINDOW // 2) in MAX_MILLISECONDS:
            found[count] = (time.perf_counter() - start) * 1_000 / WINDOW
    return found


def of_a_checkpoint(repeats, n_candidates=500):
    """Median milliseconds that a journal adds to a candidate, and those of one without."""
    X, y = np.zeros((20, 1)), np.arange(20) % 2
    seconds = {False: [], True: []}
    for repeat in range(-1, repeats):
        for keeps in list(seconds)[:: -1 if repeat % 2 else 1]:
            with tempfile.TemporaryDirectory() as folder:
                search = RandomSearchCV(
                    BusyClassifier(0), {"alpha": loguniform(1e-6, 1)}, n_iter=n_candidates, cv=2,
                    refit=False, random_state=0, checkpoint_dir=Path(folder, "s") if keeps else None,
                )  # fmt: skip
                start = time.perf_counter()
                search.fit(X, y)
                if repeat >= 0:
                    seconds[keeps].append((time.perf_counter() - start) * 1_000 / n_candidates)
    without, kept = (float(np.median(seconds[keeps])) for keeps in (False, True))
    return kept - without, without


def main():
    """Measure, print a table and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeats", type=int, default=9, help="searches of each kind")
    repeats = parser.parse_args().repeats
    n_loops = calibrate()
    print(
        f"(a) a fit is busy work, {n_loops} rounds of numpy in {FIT_SECONDS * 1000:.0f} ms; "
        f"200 fits = 100 candidates x 2 folds; medians of {repeats}, alternating"
    )
    rows = []
    for n_jobs in (1, 2):
        peer, ours = searches(n_loops, n_jobs, repeats)
        rows.append(
            (
                f"RandomSearchCV / RandomizedSearchCV, n_jobs={n_jobs}",
                f"{ours:.3f} s / {peer:.3f} s",
                ours / peer,
                MAX_RATIO,
            )
        )
    for name, scheduler in {
        "FullFidelity": FullFidelity(20_000),
        "Hyperband, 400 brackets": Hyperband(factor=3, n_iterations=80),
    }.items():
        for count, value in ask_and_tell(scheduler).items():
            rows.append(
                (
                    f"ask + tell, {name}, at {count:,} jobs",
                    f"mean of {WINDOW}, ms",
                    value,
                    MAX_MILLISECONDS[count],
                )
            )
    added, without = of_a_checkpoint(repeats)
    rows.append(
        ("a checkpoint_dir, for a candidate", f"beside {without:.2f} ms", added, MAX_CHECKPOINT)
    )
    print(f"\n{'what':<52} {'measured':<20} {'value':>7} {'bar':>6}  ok")
    for what, measured, value, bar in rows:
        print(f"{what:<52} {measured:<20} {value:>7.3f} {bar:>6.1f}  {_yes(value <= bar)}")
    return int(any(value > bar for *_, value, bar in rows))


def _yes(ok):
    return "yes" if ok else "NO"


if __name__ == "__main__":
    sys.exit(main())
