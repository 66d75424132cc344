"""Data that a user's code takes from its module: a change is refused, or harmless, or accepted."""

import importlib
import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from sksearch import RandomSearchCV, minimize
from sksearch.checkpoint import _fingerprint, accept_changes
from sksearch.search import SearchMismatchError
from tests import scripts

HEAD = """
import collections, dataclasses, datetime, enum, functools, itertools, json, os, pathlib, random
import socket, threading, time, types, uuid
import numpy as np
import pandas as pd
from scipy import sparse, stats
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor
import users_config
from users_config import DEPTH
rows, target = np.arange(8.0).reshape(4, 2), np.arange(4.0)
{setting}
{definitions}
class Est(BaseEstimator):
    def __init__(self, a=0.0):
        self.a = a
    def fit(self, X, y=None):
        return self
    def score(self, X, y=None):
        {before}
        return float(-abs(self.a - ({value})))
"""
CONFIG = "DEPTH = 3\nRATE = {rate}\nclass Inner:\n    rate = {rate}\n"


class Script:
    """A module of the user's with an estimator, written and imported again for each start."""

    def __init__(self, folder):
        self.folder = folder
        self.n_starts = 0

    def start(self, value="1.0", setting="", definitions="", before="pass", rate=0.5, **params):
        source = HEAD.format(value=value, setting=setting, definitions=definitions, before=before)
        self.n_starts += 1
        for name, text in {
            "users_config": CONFIG.format(rate=rate),
            "users_module": source,
        }.items():
            file = self.folder / f"{name}.py"
            file.write_text(text)
            os.utime(file, (self.n_starts, self.n_starts))
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        module = importlib.import_module("users_module")
        search = RandomSearchCV(
            module.Est(), {"a": [0.01, 0.5, 0.975]}, n_iter=3, cv=2, random_state=0, refit=False,
            checkpoint_dir=self.folder / "run", **params,
        )  # fmt: skip
        return search.fit(np.zeros((4, 1)), np.zeros(4))


@pytest.fixture
def script(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield Script(tmp_path)
    for name in ("users_module", "users_config"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize(
    "setting",
    [
        "R = uuid.uuid4().hex[:8] + {}",
        "R = uuid.uuid4().hex[:8]\nR += {}",
        "R = uuid.uuid4().hex[:8]\ndef main():\n    global R\n    R = {}\nmain()",
        "def now():\n    return {}\nR = now()",
        "def uuid4():\n    return {}\nR = uuid4()",
        "from os import environ\nenviron['R_OF_TESTS'] = {}\n"
        "R = environ['R_OF_TESTS'] + uuid.uuid4().hex[:8]",
        "N = {}\nR = uuid.uuid4().hex[:8] + N",
        "class C:\n    def uuid4(self):\n        return {}\nR = C().uuid4()",
        "R = [uuid.uuid4().hex[:8]]\nR.append({})",
        "for R in (uuid.uuid4().hex[:8], {}): pass",
    ],
)
def test_a_setting_next_to_chance_is_refused(setting, script):
    script.start("len(R)", setting.format("'a'"))
    with pytest.raises(SearchMismatchError, match=r"users_module\.\w+ was "):
        script.start("len(R)", setting.format("'bcd'"))


def accept(error):
    """Do what the message says."""
    (call,) = re.findall(r"sksearch\.checkpoint\.(accept_changes\(.*\))$", str(error))
    eval(call, {"accept_changes": accept_changes})


def test_a_constant_of_another_module_is_seen(script):
    for value in ("users_config.RATE", "users_config.Inner.rate", "g()"):
        script.folder = script.folder / value
        script.folder.mkdir()
        sys.path.insert(0, str(script.folder))
        definitions = "def g():\n    from users_config import RATE\n    return RATE"
        script.start(value, definitions=definitions)
        with pytest.raises(
            SearchMismatchError, match=r"users_config.*rate was 0\.5, now 0\.75|RATE"
        ):
            script.start(value, definitions=definitions, rate=0.75)


def test_a_counter_continues_within_one_process(script):
    search = script.start("N * 0", "N = 0", before="global N; N += 1")
    assert search.set_params(n_iter=3).fit(np.zeros((4, 1)), np.zeros(4)).best_index_ == 0


def test_a_function_may_count_its_calls_in_its_closure(tmp_path):
    def run(n_iter, factor=1):
        return minimize(
            loss_with(calls, factor), {"x": [1, 2, 3]}, n_iter=n_iter, random_state=0,
            checkpoint_dir=tmp_path,
        )  # fmt: skip

    calls = []
    run(2)
    assert run(2).nfev == len(calls) == 2
    with pytest.raises(SearchMismatchError, match="func differs"):
        run(2, factor=2)


def loss_with(calls, factor):
    def loss(params):
        calls.append(params)
        return factor * params["x"]

    return loss


@pytest.mark.parametrize(
    ("setting", "use"),
    [
        ("LOG = []", "LOG.append(1)"),
        ("LOG = []", "LOG.append(self.a)\n        X.sum()"),
        ("N = 0", "global N; N += 1"),
        ("CACHE = {}", "CACHE[X.sum()] = self.a"),
        ("M = None", "global M; M = M or {'w': 1}"),
        ("Q = None", "if Q: Q.append(1)"),
        ("class C:\n    n = 0", "C.n += 1"),
        ("class C:\n    log = []", "C.log.append(1)"),
    ],
)
def test_what_code_changes_between_two_fits_is_no_difference(setting, use, script):
    """The second start has no fit that changes it: all scores are known."""
    used = re.search(r"\w+", setting.removeprefix("class "))[0]
    for _ in range(2):
        search = script.start(f"0 * ({used} is None)", setting, before=use)
        search.set_params(checkpoint_dir=script.folder / "other")
        sys.modules["users_module"].Est().score(np.zeros((2, 1)))
        search.fit(np.zeros((4, 1)), np.zeros(4))


@pytest.mark.parametrize(
    ("setting", "change"),
    [
        ("R = [0.5]", "R[0] = 0.9"), ("R = [0.5]", "R = [0.9]"),
        ("LOG, R = [], {0: 0.5}", "R[0] = 0.9"), ("LOG, R = [0.5], [1]", "LOG = [0.9]"),
    ],
)  # fmt: skip
def test_what_only_the_user_changes_between_two_fits_is_a_difference(setting, change, script):
    use = "LOG.append(R[0])" if "LOG" in setting else "pass"
    search = script.start("R[0]", setting, before=use)
    exec(change, vars(sys.modules["users_module"]))
    with pytest.raises(SearchMismatchError, match="globals differs"):
        search.fit(np.zeros((4, 1)), np.zeros(4))


def test_a_constant_that_is_set_from_outside_is_refused(script):
    search = script.start("R", "R = 0.975")
    sys.modules["users_module"].R = 0.010
    with pytest.raises(
        SearchMismatchError, match=r"globals differs: users_module\.R was 0\.975, now 0\.01"
    ):
        search.fit(np.zeros((4, 1)), np.zeros(4))


def test_code_that_is_accepted_matches_the_search_from_then_on(script, tmp_path):
    script.start("1.0")
    with pytest.raises(
        SearchMismatchError, match=r"the code of users_module\.Est\.score has changed"
    ) as caught:
        script.start("2.0")
    accept(caught.value)
    script.start("2.0")
    script.start("2.0")
    with pytest.raises(SearchMismatchError):
        script.start("3.0")
    with pytest.raises(SearchMismatchError):
        script.start("1.0")


def test_the_function_that_has_changed_is_named(script):
    helpers = "def near():\n    return far()\ndef far():\n    return %s"
    script.start("near()", definitions=helpers % 1)
    with pytest.raises(SearchMismatchError) as caught:
        script.start("near()", definitions=helpers % 2)
    assert "code differs: the code of users_module.far has changed\n" in str(caught.value)
    with pytest.raises(SearchMismatchError) as caught:
        script.start("near()", definitions=helpers % 1, error_score=0)
    assert "far" not in str(caught.value)


def test_a_global_that_is_accepted_is_no_longer_compared(script, tmp_path):
    script.start("R[0]", "R = [1]")
    accept_changes(tmp_path / "run", "users_module.R")
    for value in (2, 3):
        script.start("R[0]", f"R = [{value}]")
    with pytest.raises(SearchMismatchError, match="the code of"):
        script.start("R[-1]", "R = [3]")


def test_globals_that_are_too_many_to_be_listed_are_accepted_as_one(script, tmp_path, monkeypatch):
    monkeypatch.setattr(_fingerprint, "N_ITEMS", 0)
    script.start("R[0]", "R = [1]")
    with pytest.raises(SearchMismatchError, match=r"accept_changes\('.*', 'globals'\)"):
        script.start("R[0]", "R = [2]")
    with pytest.raises(ValueError, match=r"Changes that can be accepted: code, globals\.$"):
        accept_changes(tmp_path / "run", "users_module.R")
    accept_changes(tmp_path / "run", "globals")
    script.start("R[0]", "R = [2]")


def test_only_what_is_compared_can_be_accepted(script, tmp_path):
    with pytest.raises(FileNotFoundError):
        accept_changes(tmp_path / "run", "code")
    script.start("RATE", "RATE = 1.0")
    with pytest.raises(ValueError, match=r"Did you mean 'users_module\.RATE'\?"):
        accept_changes(tmp_path / "run", "users_module.RAT")
    with pytest.raises(TypeError, match=r"the changes to accept: code, .*users_module\.RATE\."):
        accept_changes(tmp_path / "run")


def test_data_and_space_cannot_be_accepted(script, tmp_path):
    script.start("RATE", "RATE = 1.0")
    with pytest.raises(SearchMismatchError) as caught:
        script.start("RATE", "RATE = 2.0", error_score=0.0)
    assert "settings differs" in str(caught.value)
    assert "accept_changes" not in str(caught.value)


def test_opaque_objects_are_named_when_a_search_resumes(script):
    before = "os.environ[self.__class__.__name__.upper()[:0] or 'PATH']; open(__file__).close(); G"
    setting = "G = (i for i in range(3))"
    script.start(before=before, setting=setting)
    words = r"opaque objects are not compared: files in users_module.Est.score, .*\.G"
    with pytest.warns(UserWarning, match=words):
        script.start(before=before, setting=setting)


@pytest.mark.parametrize(
    "name",
    [
        "f'{PREFIX}_OF_TESTS'", "{'a': 'R_OF_TESTS'}['a']", "PREFIX + '_OF_TESTS'",
        "'{}_OF_TESTS'.format(PREFIX)",
    ],
)  # fmt: skip
def test_variables_of_the_environment_with_a_composed_name_are_named(name, script, monkeypatch):
    monkeypatch.setenv("R_OF_TESTS", "1")
    for value in (f"float(os.environ[{name}])", f"float(os.getenv({name}))"):
        params = {"value": value, "setting": "PREFIX = 'R'", "rate": len(value)}
        script.folder = script.folder / f"{len(value)}"
        script.folder.mkdir()
        sys.path.insert(0, str(script.folder))
        script.start(**params)
        with pytest.warns(UserWarning, match="not compared: environment variables in users_mod"):
            script.start(**params)


def test_a_notebook_knows_its_cells(tmp_path):
    """Each start of a notebook makes a time again, in a cell that is the same."""
    notebook = f"""
import sys
from IPython.core.interactiveshell import InteractiveShell
import __main__
shell = InteractiveShell.instance(user_module=__main__, user_ns=vars(__main__))
for cell in ("%colors nocolor\\nimport time, numpy as np\\nfrom sksearch import RandomSearchCV\\n"
             "from sklearn.base import BaseEstimator", "T0 = time.time()", sys.argv[1],
             '''class Est(BaseEstimator):
    def __init__(self, a=0.0):
        self.a = a
    def fit(self, X, y=None):
        return self
    def score(self, X, y=None):
        return self.a + T0 * 0 + R
''', '''search = RandomSearchCV(Est(), {{"a": [1, 2]}}, n_iter=2, cv=2, random_state=0,
    refit=False, checkpoint_dir={str(tmp_path)!r}).fit(np.zeros((4, 1)), np.zeros(4))'''):
    shell.run_cell(cell, store_history=True).raise_error()
print(search.best_score_)
"""
    pytest.importorskip("IPython")

    def start(cell):
        return scripts.run(["-c", notebook, cell], cwd=Path(__file__).parents[2], timeout=120)

    assert start("R = 1").stdout.endswith("3.0\n")
    again = start("R = 1")
    assert again.stdout.endswith("3.0\n")
    assert "differ between starts: __main__.T0 was" in again.stderr
    assert "globals differs: __main__.R was 1, now 2" in start("R = 2").stdout
