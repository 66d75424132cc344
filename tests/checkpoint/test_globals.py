"""Data that a user's code takes from its module: a change is refused, or harmless, or accepted."""

import importlib
import os
import re
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from sksearch import RandomSearchCV, minimize
from sksearch.checkpoint import SearchMismatchError, _fingerprint, accept_changes
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


COUNTING = "D = {'rate': %s}\ndef g():\n    D['n'] = 1"
WRAPPED = """
def wrap(f):
    @functools.wraps(f)
    def inner():
        return f()
    return inner

@wrap
def g():
    return %s
"""
NAMED = "P = collections.namedtuple('P', 'x')(%s)"
KEYED = "K = %s\ndef g(d):\n    d[K] = K\n    return sum(d.values())"
POINT = "@dataclasses.dataclass\nclass Point:\n    x: float = 0.0\n"
OWN = "class Own:\n    def __init__(self, x):\n        self.x = x\n"
SLOTS = "class Own:\n    __slots__ = ('x',)\n    def __init__(self, x):\n        self.x = x\n"
FITTED = (
    "class Learner:\n    def fit(self, X):\n        self.mean_ = X.mean()\n        return self\n"
)
HELPERS = "".join(f"def f{i}():\n    return f{i + 1}()\n" for i in range(40))
HELPERS += "def f40():\n    return R\n"
CHANGES = {  # how it is used, the line that sets it, and the line that it is changed to
    "an int": ("N", "N = 1", "N = 2"),
    "a float": ("R", "R = 0.975", "R = 0.010"),
    "a string": ("len(S)", "S = 'ab'", "S = 'abc'"),
    "None": ("0.0 if N is None else N", "N = None", "N = 1.0"),
    "a scalar of NumPy": ("R", "R = np.float64(0.975)", "R = np.float64(0.010)"),
    "an integer of NumPy": ("R", "R = np.int32(1)", "R = np.int32(2)"),
    "an array": ("W.sum()", "W = np.array([1.0, 2.0])", "W = np.array([1.0, 3.0])"),
    "an array of no dimension": ("float(W)", "W = np.array(1.0)", "W = np.array(2.0)"),
    "a sparse matrix": ("W.sum()", "W = sparse.eye(2)", "W = 2 * sparse.eye(2)"),
    "a Series": ("W.sum()", "W = pd.Series([1.0, 2.0])", "W = pd.Series([1.0, 3.0])"),
    "the index of a Series": (
        "W['b']", "W = pd.Series([1, 2], ['a', 'b'])", "W = pd.Series([1, 2], ['b', 'a'])"
    ),
    "a frame": ("W['x'].sum()", "W = pd.DataFrame({'x': [1]})", "W = pd.DataFrame({'x': [2]})"),
    "an instance": ("O.x", f"{OWN}O = Own(1.0)", f"{OWN}O = Own(2.0)"),
    "an instance with slots": ("O.x", f"{SLOTS}O = Own(1.0)", f"{SLOTS}O = Own(2.0)"),
    "an instance in an instance": ("O.x.x", f"{OWN}O = Own(Own(1))", f"{OWN}O = Own(Own(2))"),
    "a dataclass": ("P.x", f"{POINT}P = Point(1.0)", f"{POINT}P = Point(2.0)"),
    "a default of a dataclass": (
        "P.x", f"{POINT}P = Point()", f"{POINT.replace('0.0', '0.5')}P = Point()"
    ),
    "a named tuple": (
        "P.x", NAMED % 1.0, NAMED % 2.0
    ),
    "a namespace": ("P.x", "P = types.SimpleNamespace(x=1)", "P = types.SimpleNamespace(x=2)"),
    "a member of an enum": (
        "M.A.value", "class M(enum.Enum):\n    A = 1", "class M(enum.Enum):\n    A = 2"
    ),
    "a partial function": (
        "F()", "F = functools.partial(max, 0.1, 0.2)", "F = functools.partial(max, 0.1, 0.3)"
    ),
    "a deque": ("Q[0]", "Q = collections.deque([1.0])", "Q = collections.deque([2.0])"),
    "a counter of words": (
        "Q['a']", "Q = collections.Counter(a=1)", "Q = collections.Counter(a=2)"
    ),
    "a long list": ("L[-1]", "L = [0.0] * 2000 + [1.0]", "L = [0.0] * 2000 + [2.0]"),
    "a long dict": (
        "D[1999]", "D = {i: i for i in range(2000)}", "D = {i: i + 1 for i in range(2000)}"
    ),
    "a set": ("len(S)", "S = {1, 2}", "S = {1, 2, 3}"),
    "a nested dict": ("D['a']['b'][0]", "D = {'a': {'b': [1]}}", "D = {'a': {'b': [2]}}"),
    "bytes": ("B[0]", "B = bytearray(b'a')", "B = bytearray(b'b')"),
    "an attribute of a function": (
        "g.rate", "def g():\n    pass\ng.rate = 1.0", "def g():\n    pass\ng.rate = 2.0"
    ),
    "a fitted linear model": (
        "M.coef_[0]", "M = LinearRegression().fit(rows, target)",
        "M = LinearRegression().fit(rows, 2 * target)",
    ),
    "a fitted scaler": (
        "M.mean_[0]", "M = StandardScaler().fit(rows)", "M = StandardScaler().fit(rows + 1)"
    ),
    "a fitted tree": (
        "M.predict(rows)[0]", "M = DecisionTreeRegressor(random_state=0).fit(rows, target)",
        "M = DecisionTreeRegressor(random_state=0).fit(rows, target[::-1])",
    ),
    "a fitted forest": (
        "M.predict(rows)[0]",
        "M = RandomForestRegressor(3, random_state=0).fit(rows, target)",
        "M = RandomForestRegressor(3, random_state=0).fit(rows, target[::-1])",
    ),
    "a fitted model of the user's own": (
        "M.mean_", f"{FITTED}M = Learner().fit(rows)", f"{FITTED}M = Learner().fit(rows + 1)"
    ),
    "a frozen distribution": ("U.mean()", "U = stats.uniform(0, 1)", "U = stats.uniform(0, 2)"),
    "a function of an installed package": ("F([1.0, 4.0])", "F = np.mean", "F = np.max"),
    "a class of an installed package": ("C().tol", "C = Ridge", "C = KMeans"),
    "the seed of a generator": (
        "R.random()", "R = np.random.default_rng(0)", "R = np.random.default_rng(1)"
    ),
    "the seed of Python's generator": (
        "R.random()", "R = random.Random(0)", "R = random.Random(1)"
    ),
    "a lambda in a dict": ("D['f']()", "D = {'f': lambda: 1.0}", "D = {'f': lambda: 2.0}"),
    "a path": ("len(P.name)", "P = pathlib.Path('a')", "P = pathlib.Path('ab')"),
    "a date": ("T.year", "T = datetime.date(2020, 1, 1)", "T = datetime.date(2021, 1, 1)"),
    "a global with the name of a parameter": ("a", "a = 1.0", "a = 2.0"),
    "a key of an item that is set": ("g({})", KEYED % 2.0, KEYED % 1.0),
    "a constant at the end of forty functions": ("f0()", HELPERS + "R = 1.0", HELPERS + "R = 2.0"),
    "a memoised function": (
        "g()", "R = 1.0\n@functools.lru_cache\ndef g():\n    return R",
        "R = 2.0\n@functools.lru_cache\ndef g():\n    return R",
    ),
    "what a decorator wraps": ("g()", WRAPPED % 1.0, WRAPPED % 2.0),
    "a class used as a namespace": (
        "C.rate[0]", "class C:\n    rate = np.array([1.0])", "class C:\n    rate = np.array([2.0])"
    ),
    "a dict that is changed, too": ("D['rate']", COUNTING % 1.0, COUNTING % 2.0),
    "a number that a function of the module makes": (
        "R", "def make():\n    return time.time() * 0 + 1\nR = make()",
        "def make():\n    return time.time() * 0 + 2\nR = make()",
    ),
}  # fmt: skip
assert len(CHANGES) >= 40


@pytest.mark.parametrize("what", CHANGES)
def test_a_changed_global_is_refused_by_its_name(what, script):
    value, old, new = CHANGES[what]
    script.start(value, old)
    script.start(value, old)  # the same goes on
    with pytest.raises(SearchMismatchError, match="differs") as caught:
        script.start(value, new)
    accept(caught.value)
    script.start(value, new)


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
def test_a_setting_beside_chance_is_refused(setting, script):
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


HARMLESS = {  # how it is used, and the line that sets it; None: another line the second time
    "a time": ("T0 * 0", "T0 = time.time()", None),
    "the name of a run": ("len(RUN)", "RUN = uuid.uuid4().hex", None),
    "an identifier": ("len(str(RUN))", "RUN = uuid.uuid4()", None),
    "a moment": ("T0.year * 0", "T0 = datetime.datetime.now()", None),
    "the file of a process": ("len(OUT)", "OUT = f'out-{time.time_ns()}.log'", None),
    "a file of a run": ("len(OUT)", "RUN = uuid.uuid4().hex\nOUT = 'out-' + RUN", None),
    "a path of a run": ("len(OUT.name)", "OUT = pathlib.Path(f'{time.time_ns()}')", None),
    "a part of an identifier": ("len(RUN)", "RUN = uuid.uuid4().hex[:8]", None),
    "a token": ("len(RUN)", "from secrets import token_hex as t\nRUN = 'a-' + t(4)", None),
    "a part of a name": ("len(OUT)", "A = uuid.uuid4()\nB = str(A)[:6]\nOUT = f'{B}.log'", None),
    "a time of another form": ("len(T)", "T = time.strftime('%b%d_%H%M%S')", None),
    "the time of day": ("T.hour * 0", "T = datetime.datetime.now().time()", None),
    "the time of the process": ("T * 0", "T = time.process_time()", None),
    "the process before": ("P * 0", "P = os.getppid()", None),
    "bytes by chance": ("len(B)", "B = os.urandom(4)", None),
    "a part of an identifier in a class": (
        "len(C.run)", "class C:\n    run = uuid.uuid4().hex[:8]", None
    ),
    "a time in a class": ("C.t0 * 0", "class C:\n    t0 = time.time()", None),
    "a seed of the moment": ("R.random() * 0", "R = np.random.default_rng()", None),
    "a counter": ("N * 0", "N = 0", "global N; N += 1"),
    "a log": ("len(LOG) * 0", "LOG = []", "LOG.append(1)"),
    "a cache": ("len(CACHE) * 0", "CACHE = {}", "CACHE[self.a] = X.sum()"),
    "a lock": ("0.0", "LOCK = threading.Lock()", "LOCK.locked()"),
    "a logger": ("0.0", "import logging\nLOG = logging.getLogger('x')", "LOG.debug('x')"),
    "an iterator": ("0.0", "IDS = itertools.count()", "next(IDS)"),
}  # fmt: skip


@pytest.mark.parametrize("what", HARMLESS)
def test_what_each_start_makes_anew_goes_on(what, script):
    value, setting, before = HARMLESS[what]
    results = []
    for _ in range(3):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            search = script.start(value, setting, before=before or "pass")
        results.append(search.cv_results_["mean_test_score"].tolist())
        assert len(caught) <= 1
        for each in caught:
            words = r"differs from start to start: users_module\.\S+ was .*, now|looked into"
            assert re.search(words, str(each.message))
    assert results[0] == results[1] == results[2]


def test_a_counter_goes_on_within_one_process(script):
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


def test_a_constant_that_is_set_from_outside_is_refused(script):
    search = script.start("R", "R = 0.975")
    sys.modules["users_module"].R = 0.010
    with pytest.raises(
        SearchMismatchError, match=r"globals differs: users_module\.R was 0\.975, now 0\.01"
    ):
        search.fit(np.zeros((4, 1)), np.zeros(4))


def test_code_that_is_accepted_is_that_of_the_search_from_then_on(script, tmp_path):
    script.start("1.0")
    with pytest.raises(
        SearchMismatchError, match=r"the code of users_module\.Est\.score is another one"
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
    assert "code differs: the code of users_module.far is another one\n" in str(caught.value)
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
    with pytest.raises(ValueError, match=r"What can be accepted: code, globals\.$"):
        accept_changes(tmp_path / "run", "users_module.R")
    accept_changes(tmp_path / "run", "globals")
    script.start("R[0]", "R = [2]")


def test_only_what_is_compared_can_be_accepted(script, tmp_path):
    with pytest.raises(FileNotFoundError):
        accept_changes(tmp_path / "run", "code")
    script.start("RATE", "RATE = 1.0")
    with pytest.raises(ValueError, match=r"Did you mean 'users_module\.RATE'\?"):
        accept_changes(tmp_path / "run", "users_module.RAT")
    with pytest.raises(TypeError, match=r"Known are code, .*users_module\.RATE\."):
        accept_changes(tmp_path / "run")


def test_data_and_space_cannot_be_accepted(script, tmp_path):
    script.start("RATE", "RATE = 1.0")
    with pytest.raises(SearchMismatchError) as caught:
        script.start("RATE", "RATE = 2.0", error_score=0.0)
    assert "settings differs" in str(caught.value)
    assert "accept_changes" not in str(caught.value)


def test_what_cannot_be_looked_into_is_named_where_a_search_goes_on(script):
    before = "os.environ[self.__class__.__name__.upper()[:0] or 'PATH']; open(__file__).close(); G"
    setting = "G = (i for i in range(3))"
    script.start(before=before, setting=setting)
    words = r"cannot be looked into is not compared: files in users_module.Est.score, .*\.G"
    with pytest.warns(UserWarning, match=words):
        script.start(before=before, setting=setting)


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
    assert "differs from start to start: __main__.T0 was" in again.stderr
    assert "globals differs: __main__.R was 1, now 2" in start("R = 2").stdout
