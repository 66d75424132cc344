"""Classes and functions of a user's script are the same objects after a search as before it."""

import json
import os
import subprocess
import sys
from functools import cache

import pytest

from tests import scripts
from tests.executors.engines import ENGINES, ROOT
from tests.executors.live_classes import LOCAL

WHOLE = ("isolated", "virtual", "threads", "dask threads", "dask", "ray", "mpi", "spark")

NEW = ("loky", *ENGINES)  # a new Python; the others are forks of one

KILLED = """
import json, os, signal, sys
import numpy as np
from scipy.stats import uniform
from sklearn.base import BaseEstimator, ClassifierMixin
from sksearch import SuccessiveHalvingSearchCV

folder, n_jobs = sys.argv[1], int(sys.argv[2])

class Part:
    pass

class Learner(ClassifierMixin, BaseEstimator):
    def __init__(self, quality=0.5):
        self.quality = quality

    def fit(self, X, y):
        self.n_epochs_, self.classes_, self.part_ = 0, np.unique(y), Part()
        return self.partial_fit(X, y)

    def partial_fit(self, X, y, classes=None):
        if not hasattr(self, "n_epochs_"):
            return self.fit(X, y)
        self.n_epochs_ += 1
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])

def scoring(estimator, X, y):
    if estimator.n_epochs_ > 1 and os.path.exists("it kills"):
        os.kill(int(os.environ["MASTER"]), signal.SIGKILL)
    known = isinstance(estimator, Learner) + isinstance(estimator.part_, Part)
    return estimator.quality * estimator.n_epochs_ + 100 * known

if __name__ == "__main__":
    os.environ["MASTER"] = str(os.getpid())
    search = SuccessiveHalvingSearchCV(
        Learner(), {"quality": uniform(0, 1)}, n_candidates=9, resource="epochs", max_resources=9,
        cv=2, random_state=0, scoring=scoring, n_jobs=n_jobs, checkpoint_dir=folder,
    )
    search.fit(np.zeros((20, 1)), np.arange(20) % 2)
    print(json.dumps(search.cv_results_["mean_test_score"].tolist()))
"""


def python(*args, cwd=ROOT):
    """Run a script with this package, and return what it did."""
    return scripts.run([*map(str, args)], cwd=cwd, env=os.environ | {"PYTHONPATH": str(ROOT)})


def new_python(*args):
    """Run a script in a new Python."""
    return subprocess.run(
        [sys.executable, *args],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )


@cache
def found_by_one_core():
    return json.loads(python("tests/executors/live_classes.py", "serial").stdout)


@pytest.mark.whole
@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "engine",
    [
        pytest.param(name, marks=[pytest.mark.whole] * (name in WHOLE))
        for name in dict.fromkeys((*LOCAL, *ENGINES))
    ],
)
def test_a_search_leaves_the_classes_and_functions_of_a_script_as_they_are(engine):
    for module in {"mpi": ["mpi4py"], "spark": ["pyspark", "joblibspark"]}.get(engine, []):
        pytest.importorskip(module)
    for module in {"dask": ["distributed"], "ray": ["ray"]}.get(engine.split()[0], []):
        pytest.importorskip(module)
    done = (new_python if engine in NEW else python)("tests/executors/live_classes.py", engine)
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout.splitlines()[-1]) == found_by_one_core()


@pytest.mark.whole
@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_models_of_a_search_that_was_killed_are_of_the_classes_of_the_new_process(
    tmp_path, n_jobs
):
    script = tmp_path / "script.py"
    script.write_text(KILLED)
    whole = python(script, tmp_path / "whole", n_jobs, cwd=tmp_path)
    (tmp_path / "it kills").touch()
    assert python(script, tmp_path / "cut", n_jobs, cwd=tmp_path).returncode != 0
    (tmp_path / "it kills").unlink()
    again = python(script, tmp_path / "cut", n_jobs, cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert again.stdout == whole.stdout != ""
