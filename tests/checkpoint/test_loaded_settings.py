"""A setting that code loads, another one at the next start: refused by its name, or let go on."""

import functools
import json
import os
import subprocess
import sys
import types
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyRegressor

from sksearch import RandomSearchCV
from sksearch.checkpoint.identity import _description
from sksearch.search import SearchMismatchError
from tests.checkpoint.test_globals import accept

EST = """
import argparse, collections, dataclasses, datetime, enum, functools, importlib, json, os, pathlib
import random, socket, sys, tempfile, threading, time, uuid
import numpy as np
import sksearch
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyRegressor
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV
class Est(BaseEstimator):
    def __init__(self, a=0.5):
        self.a = a
    def fit(self, X, y=None):
        return self
    def predict(self, X):
        return np.full(len(X), self.a)
    def score(self, X, y=None):
        return float(self.a * value())
"""
# What sets a value, and the value that the score uses; `given` differs at the next start.
OWN = "import own_settings\nown_settings.ALPHA = given"
LOADED = {
    "a dict that a function updates": (
        "CFG = {}\ndef load(d):\n    CFG.update(d)\nload({'w': given})", "CFG['w']"),
    "an item": ("D = {}\ndef init(v):\n    D['w'] = v\ninit(given)", "D['w']"),
    "a global of main": ("def main(alpha):\n    global ALPHA\n    ALPHA = alpha\nmain(given)",
        "ALPHA"),
    "a list that is appended to": ("L = []\nL.append(given)", "L[0]"),
    "the command line": ("W = float(sys.argv[1])", "W"),
    "the command line when it is used": ("", "float(sys.argv[1])"),
    "the environment": ("W = float(os.environ['W_OF_TESTS'])", "W"),
    "the environment when it is used": ("", "float(os.environ['W_OF_TESTS'])"),
    "the environment by a global that names it": ("NAME = 'W_OF_TESTS'",
        "float(os.environ[NAME])"),
    "the environment in lower case": ("", "float(os.environ['w_of_tests'])"),
    "the environment by a prefix": ("",
        "float(next(v for k, v in os.environ.items() if k.startswith('W_OF_')))"),
    "the environment by a helper": (
        "def env(name, kind=float):\n    return kind(os.environ[name])", "env('W_OF_TESTS')"),
    "the environment in bytes": ("", "float(os.environb[b'W_OF_TESTS'])"),
    "the order of an ordered dict": (
        "W = collections.OrderedDict([('a', 1.0), ('b', 2.0)][:: 3 - 2 * int(given)])",
        "next(iter(W.values()))"),
    "getenv with a default": ("", "float(os.getenv('W_OF_TESTS', 1))"),
    "a file of JSON": ("W = json.loads((folder / 'w.json').read_text())['w']", "W"),
    "an item of an array": ("W = np.load(folder / 'w.npy')[0]", "W"),
    "a whole array": ("W = np.load(folder / 'w.npy')", "W[0]"),
    "arguments": (
        "p = argparse.ArgumentParser()\np.add_argument('w', type=float)\nargs = p.parse_args()",
        "args.w"),
    "a dataclass": ("@dataclasses.dataclass\nclass S:\n    w: float = 0.0\nS_ = S(given)", "S_.w"),
    "an attribute of a class": ("class C:\n    w = 0\nC.w = given", "C.w"),
    "setattr on a class": ("class C: pass\nsetattr(C, 'w', given)", "C.w"),
    "a closure": ("def make(w):\n    return lambda: w\nvalue = make(given)", None),
    "a partial function": ("def two(w):\n    return w\nvalue = functools.partial(two, given)",
        None),
    "another module": (OWN, "own_settings.ALPHA"),
    "another module by text": (OWN, "getattr(own_settings, 'AL' + 'PHA')"),
    "a module that is handed on": (OWN + "\ndef get(m, n):\n return getattr(m, n)",
        "get(own_settings, 'ALP' + 'HA')"),
    "an imported module by its name": (OWN, "importlib.import_module('own_settings').ALPHA"),
    "sys.modules": (OWN, "sys.modules['own_settings'].ALPHA"),
    "an import in a function": (
        OWN + "\ndef get():\n from own_settings import ALPHA\n return ALPHA", "get()"),
    "globals": ("W = given", "globals()['W']"),
    "globals by a name that is made": ("_w = given", "globals()['_' + chr(119)]"),
    "an attribute of a thread": ("T = threading.local()\nT.w = given", "T.w"),
    "eval": ("W = given", "eval('W')"),
    "vars of a module": (OWN, "vars(own_settings)['ALPHA']"),
    "a module that leads to itself": (
        OWN + "\nown_settings.me = own_settings", "own_settings.me.__dict__['ALPHA']"),
    "a builtin": ("import builtins\nbuiltins.W_OF_TESTS = given", "W_OF_TESTS"),
    "what is set in place": ("W = np.zeros(2)\nW[:] = given", "W[1]"),
    "arguments that are parsed when they are used": (
        "def get():\n p = argparse.ArgumentParser()\n p.add_argument('w', type=float)\n"
        " return p.parse_args().w", "get()"),
    "an attribute of a member of an enum": (
        "class M(enum.Enum):\n A = (1, given)\n def __new__(cls, v, w):\n"
        "  o = object.__new__(cls)\n  o._value_ = v\n  o.w = w\n  return o", "M.A.w"),
    "what is not a field of a dataclass": (
        "@dataclasses.dataclass\nclass S:\n n: str = 'a'\nS_ = S()\nS_.w = given", "S_.w"),
    "a special name of a class": ("class C:\n __rate__ = given", "C.__rate__"),
    "what a module answers to a name": (
        OWN + "\nown_settings.__getattr__ = lambda name, v=given: v", "own_settings.OTHER"),
    "a slot of a kind of list": (
        "class L(list):\n __slots__ = ('w',)\nL_ = L()\nL_.w = given", "L_.w"),
    "a dict with attributes": (
        "class D(dict):\n __getattr__ = dict.__getitem__\nD_ = D(w=given)", "D_.w"),
    "an attribute of a kind of thread": (
        "class T(threading.Thread):\n pass\nT_ = T()\nT_.w = given", "T_.w"),
    "an attribute of a kind of handler": (
        "import logging\nclass H(logging.Handler):\n pass\nH_ = H()\nH_.w = given", "H_.w"),
    "an attribute of a logger": (
        "import logging\nL = logging.getLogger('of_tests')\nL.w = given", "L.w"),
    "an attribute of a date": (
        "class D(datetime.date):\n pass\nD_ = D(2000, 1, 1)\nD_.w = given", "D_.w"),
    **{
        f"what a method of a kind of {what} reads": (
            f"{imports}\nK = given\nclass Own({base}):\n def rate(self):\n  return K\n"
            f"O = Own({args})", "O.rate()")
        for what, imports, base, args in [
            ("thread", "", "threading.Thread", ""), ("generator", "", "random.Random", "0"),
            ("partial function", "", "functools.partial", "max"),
            ("frame", "import pandas as pd", "pd.DataFrame", "{'a': [1]}"),
            ("series", "import pandas as pd", "pd.Series", "[1]"),
            ("sparse matrix", "from scipy import sparse", "sparse.csr_matrix", "np.eye(2)"),
            ("float", "", "np.float64", "1.0"), ("reference", "import weakref", "weakref.ref",
            "Est"),
        ]
    },
    "compiled code": ("C = compile(str(given), 'x', 'eval')", "eval(C)"),
    "what a law has noted": (
        "from scipy import stats\nclass L(stats.rv_continuous):\n def _pdf(self, x):\n"
        "  return self.w['a']\nL_ = L(a=0, b=1)\nL_.w = {'a': given}", "L_.w['a']"),
    "an attribute that is set in a library": ("np.w_of_tests = given", "np.w_of_tests"),
    "an attribute that is set in a class of a library": (
        "BaseEstimator.w_of_tests = given", "BaseEstimator.w_of_tests"),
    "a name in a query": (
        "import pandas as pd\nW = given\nF = pd.DataFrame({'a': [1.0, 2.0]})",
        "float(len(F.query('a <= @W')))"),
    "a name in SQL": (
        "import polars as pl\nW = given\ndef sql(text):\n return 1.0",
        "(sql if sys.argv else pl.sql)('select v from W')"),
    "a name in an expression of pandas": (
        "import pandas as pd\nW = given\nF = pd.DataFrame({'a': [1.0, 2.0]})",
        "float(F.eval('a * @W').sum())"),
    "the environment by its own name": (
        "E_ = os.environ", "float(E_['W_OF_TESTS'])"),
    "the command line of the process": (
        "sys.orig_argv[:] = [str(given)]", "float(sys.orig_argv[0]) * float(sys.argv[1])"),
    "a named setting beside a time": ("CFG = {'w': given, 't': time.time()}", "CFG['w']"),
    "many objects": ("class O: pass\nL = [O() for _ in range(20_000)]\nL[-1].w = given",
        "L[-1].w"),
}  # fmt: skip
# Whatever the start, `value` is the same; what else it names is of the start by its nature.
OF_START = {
    "seconds": "time.time()", "nanoseconds": "time.time_ns()", "whole seconds": "int(time.time())",
    "a counter": "time.perf_counter()", "a moment": "datetime.datetime.now()",
    "a moment in a text": "f'out-{datetime.datetime.now():%Y%m%d-%H%M%S}'",
    "a moment as NumPy has it": "np.datetime64('now')", "a random name": "uuid.uuid4()",
    "a random name in a path": "pathlib.Path('runs') / uuid.uuid4().hex",
    "a temporary folder": "tempfile.mkdtemp()",
    "a generator that chance seeds": "np.random.default_rng()",
    "another generator": "np.random.RandomState()", "a lock": "threading.Lock()",
    "a dict with a time": "{'w': 1, 'began': time.time()}",
    "many settings with a time": "{'a': 250 * 'w', 'began': time.time(), 'z': 2000 * 'w'}",
    "a pool of threads": "__import__('concurrent.futures').futures.ThreadPoolExecutor(1)",
    "a pool of processes": "__import__('concurrent.futures').futures.ProcessPoolExecutor(1)",
    "a value for processes": "__import__('multiprocessing').Value('i', 0)",
    "an array for processes": "__import__('multiprocessing').Array('i', 3)",
    "a queue of processes": "__import__('multiprocessing').Queue()",
    "a command": "__import__('subprocess').Popen(['true'])", "a socket": "socket.socket()",
    "a loop of events": "__import__('asyncio').new_event_loop()",
    "a fitted search": "sksearch.RandomSearchCV(DummyRegressor(), {'strategy': ['mean']},"
        " n_iter=1, cv=2).fit([[1], [2], [3], [4]], [1, 2, 3, 4])",
    "a fitted search of scikit-learn": "GridSearchCV(DummyRegressor(), {'strategy': ['mean']},"
        " cv=2).fit([[1], [2], [3], [4]], [1, 2, 3, 4])",
}  # fmt: skip


def start(source, given, folder, monkeypatch):
    """Execute the user's module, and fit a search with its estimator."""
    monkeypatch.setattr(sys, "argv", ["script.py", str(given)])
    for name in ("W_OF_TESTS", "w_of_tests"):
        monkeypatch.setenv(name, str(given))
    (folder / "w.json").write_text(json.dumps({"w": given}))
    np.save(folder / "w.npy", np.array([given, 0.0]))
    for name in ("own_settings", "users_script"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    module = sys.modules["users_script"]
    vars(module).update(given=given, folder=folder)
    exec(EST, vars(module))
    exec(source, vars(module))
    del module.given, module.folder
    search = RandomSearchCV(
        module.Est(), {"a": [0.1, 0.5, 0.9]}, n_iter=3, cv=2, random_state=0, refit=False,
        checkpoint_dir=folder / "run",
    )  # fmt: skip
    return search.fit(np.zeros((4, 1)), np.zeros(4))


@pytest.mark.filterwarnings("ignore:.*uses values that differ between starts:UserWarning")
@pytest.mark.parametrize("what", LOADED)
def test_a_setting_that_is_another_one_is_refused_and_can_be_accepted(what, tmp_path, monkeypatch):
    source, value = LOADED[what]
    if value is not None:
        source += f"\ndef value():\n    return {value}"
    start(source, 1.0, tmp_path, monkeypatch)
    start(source, 1.0, tmp_path, monkeypatch)  # the same goes on
    with pytest.raises(SearchMismatchError, match=r"globals differs: .* was .*, now ") as caught:
        start(source, 2.0, tmp_path, monkeypatch)
    accept(caught.value)
    start(source, 2.0, tmp_path, monkeypatch)


def close():
    """Let the user's object end, if it is a running one."""
    made = sys.modules["users_script"].W
    names = ("close",) if hasattr(made, "close") else ("wait", "shutdown")
    for name in {*names} & {*dir(made)}:
        getattr(made, name)()


@pytest.mark.parametrize("what", OF_START)
def test_natural_differences_between_starts_do_not_prevent_a_resume(what, tmp_path, monkeypatch):
    source = f"W = {OF_START[what]}\ndef value():\n    return W is not None"
    start(source, 1.0, tmp_path, monkeypatch)
    close()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start(source, 1.0, tmp_path, monkeypatch)
    close()
    caught = [each for each in caught if each.category is UserWarning]
    assert len(caught) <= (what != "a lock")  # in the same second there may be none
    assert all("users_script.W was" in str(each.message) for each in caught)


def test_an_order_that_may_come_from_a_set_is_named(tmp_path, monkeypatch):
    source = "D = dict([('a', 1.0), ('b', 2.0)][:: 3 - 2 * int(given)])\n"
    source += "def value():\n    return next(iter(D.values()))"
    start(source, 1.0, tmp_path, monkeypatch)
    with pytest.warns(UserWarning, match=r"users_script.D was .*, now .* in the order 2, 1"):
        start(source, 2.0, tmp_path, monkeypatch)


@pytest.mark.parametrize("name", ["pandas", "sklearn", "numpy", "decimal"])
def test_what_is_read_beside_the_values_is_named(name, tmp_path, monkeypatch):
    values = {
        "pandas": "__import__('pandas').get_option('display.max_rows')",
        "sklearn": "__import__('sklearn').get_config()['working_memory']",
        "numpy": "len(np.geterr())", "decimal": "__import__('decimal').getcontext().prec",
    }  # fmt: skip
    source = f"def value():\n    return {values[name]}"
    start(source, 1.0, tmp_path, monkeypatch)
    with pytest.warns(UserWarning, match="settings of libraries in users_script.value"):
        start(source, 1.0, tmp_path, monkeypatch)


@pytest.mark.parametrize(
    "many",
    [
        "[datetime.date.fromordinal(i + 1) for i in range(2000)]",
        "{i: {i, os.getpid()} for i in range(2000)}",
        "[lambda i=i: i for i in range(2000)]",
        "[[[j] for j in range(20)] for i in range(300)]",
        "{(i, 'a'): np.zeros(1) for i in range(2000)}",
    ],
)
def test_what_is_made_of_very_many_objects_is_named_and_costs_no_more(many, tmp_path, monkeypatch):
    monkeypatch.setattr(_description, "MOST", 20_000)
    source = f"W = given\nL = {many}\ndef value():\n    return W * len(L)"
    start(source, 1.0, tmp_path, monkeypatch)
    with pytest.warns(UserWarning, match=r"not compared: users_script\.L\."):
        start(source, 1.0, tmp_path, monkeypatch)
    with pytest.raises(SearchMismatchError, match=r"differs: users_script\.W was 1\.0, now 2"):
        start(source, 2.0, tmp_path, monkeypatch)


@pytest.mark.parametrize(
    "many",
    [
        "{n + i for i in range(-2000, 2000)}", "[n + i for i in range(-2000, 2000)]",
        "[{n + i} for i in range(-2000, 2000)]", "{str(n + i) for i in range(-2000, 2000)}",
        "{(n + i, i): n + i for i in range(-2000, 2000)}",
    ],
)  # fmt: skip
def test_one_of_many_numbers_may_match_a_process_by_chance(many, tmp_path, monkeypatch):
    """The second process has another number."""
    source = f"n = {os.getpid()}\nL = {many}\ndef value():\n    return len(L)"
    start(source, 1.0, tmp_path, monkeypatch)
    monkeypatch.setattr(os, "getpid", functools.partial(int, os.getpid() + 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        start(source, 1.0, tmp_path, monkeypatch)


ONE, TWO = "def value():\n    return 1.0", "def value():\n    return f()"
ITEM = "def value():\n    return D['a']"
# What is set, what happens in the second start alone, and the value that the score uses
EQUAL = [
    ("import logging\nL = logging.getLogger('of_tests')", "logging.getLogger('of_tests.other')",
     "L.level * 0 + 1.0"),
    ("E_ = os.environ", "os.environ['OTHER_OF_TESTS'] = 'a'", "float(E_.get('W_OF_TESTS'))"),
    ("", "os.environ['_OF_TESTS'] = os.environ['_'] = 'a'",
     "float(os.environ['W_OF_TESTS']) + len('_')"),
    ("import pandas as pd\nG = pd.DataFrame({'k': ['a', 'b'], 'v': [1.0, 2.0]}).groupby('k')",
     "G.mean()", "len(G.mean()) / 2"),
    ("class C: w = 1.0", "C.__types_resolved__ = C", "C.w"),
    ("class Net:\n def eval(self): return 1.0\nO = Net()", "OTHER = 1", "O.eval()"),
    ("class Tree:\n def query(self, x): return x\nO = Tree()", "OTHER = 1", "O.query(1.0)"),
    ("from sklearn.feature_extraction.text import CountVectorizer\n"
     "V = CountVectorizer(stop_words=['cc']).fit(['aa bb'])",
     "V = CountVectorizer(stop_words=['cc']).fit(['aa bb'])", "len(V.vocabulary_) / 2"),
    ("import collections.abc\n@functools.singledispatch\ndef g(x):\n return 1.0\n"
     "g.register(collections.abc.Sized)(lambda x: 2.0)",
     "collections.abc.Sized.register(type('Own', (), {}))\ng(2)", "g(1.0)"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new"),
    [
        *(
            (
                f"{old}\ndef value():\n    return {value}",
                f"{old}\n{more}\ndef value():\n    return {value}",
            )
            for old, more, value in EQUAL
        ),
        ("def value():\n    return 1.0", "# text\ndef value():\n    'Docs.'\n    return 1.0"),
        ("def value():\n    w = 1.0\n    return w", "def value():\n    v = 1.0\n    return v"),
        (ONE, f"def unused():\n    pass\n\n{ONE}"),
        (f"{TWO}\ndef f():\n    return 1", f"def f():\n    return 1\n{TWO}"),
        (f"D = {{'a': 2}}\n{ITEM}", f"D = {{'a': 1 + 1}}\n{ITEM}"),
        (ONE, f"UNUSED = 3\n{ONE}"),
        (
            "def value():\n    if True: return 1.0",
            "def value():\n    if True:\n        return 1.0",
        ),
        (
            "def value():\n    for i in range(3):\n        try: x = 2 / i\n"
            "        except Exception: pass\n        else: return x",
            "def value():\n    for i in range(3):\n        try:\n            x = 2 / i\n"
            "        except Exception:\n            pass\n        else:\n            return x",
        ),
    ],
)
def test_a_harmless_change_does_not_prevent_a_resume(old, new, tmp_path, monkeypatch):
    start(old, 1.0, tmp_path, monkeypatch)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        start(new, 1.0, tmp_path, monkeypatch)


DATES = pd.date_range("2020-01-01", periods=4)


class Measured(pd.DataFrame):
    """A table that notes a unit."""

    _metadata = ["unit"]  # as pandas has it

    @property
    def _constructor(self):
        return Measured


@pytest.mark.parametrize(
    "change",
    [
        lambda X: X.set_axis([4, 3, 2, 1]),
        lambda X: X.set_axis(DATES + pd.Timedelta(1, "D")),
        lambda X: X.set_axis(pd.DatetimeIndex(DATES, freq=None)),
        lambda X: setattr(X, "unit", "m") or X,
        lambda X: X.rename_axis("rows"),
        lambda X: X.rename_axis("features", axis=1),
        lambda X: X.astype({"b": "category"}),
        lambda X: X.astype({"a": "float32"}),
        lambda X: X.rename(columns={"a": "c"}),
        lambda X: X.attrs.update(unit="m") or X,
    ],
)
def test_further_attributes_of_a_frame_are_compared(change, tmp_path):
    def fit(X):
        search = RandomSearchCV(
            DummyRegressor(), {"strategy": ["mean", "median"]}, n_iter=2, cv=2, random_state=0,
            refit=False, checkpoint_dir=tmp_path,
        )  # fmt: skip
        return search.fit(X, np.arange(4.0))

    X = Measured({"a": [1.0, 2.0, 3.0, 5.0], "b": [1, 2, 1, 2]}, index=DATES)
    X.unit = "mm"
    fit(X)
    fit(X.copy())
    with pytest.raises(SearchMismatchError, match="data differs: X was"):
        fit(change(X.copy()))


@pytest.mark.whole
@pytest.mark.slow
def test_real_starts_see_the_value_whatever_the_seed_of_hashes(tmp_path):
    code = EST + (
        "CFG = {}\ndef load(w):\n    CFG.update(w=w, names={'a', 'b', 'c'}, at=time.time())\n"
        "def value():\n    return CFG['w'] * len(CFG['names'])\nload(float(sys.argv[1]))\n"
        "from sksearch import RandomSearchCV\n"
        "s = RandomSearchCV(Est(), {'a': [.1, .9]}, n_iter=2, cv=2, random_state=0, refit=False,\n"
        "    checkpoint_dir=sys.argv[2]).fit(np.zeros((4, 1)), np.zeros(4))\n"
        "print(s.best_score_)\n"
    )
    (tmp_path / "s.py").write_text(code)

    def run(w, seed):
        env = os.environ | {"PYTHONHASHSEED": str(seed)}
        done = subprocess.run(
            [sys.executable, tmp_path / "s.py", str(w), tmp_path / "run"],
            capture_output=True, text=True, env=env, timeout=120,
        )  # fmt: skip
        return done.stdout, done.stderr

    assert run(1.0, 1)[0] == run(1.0, 2)[0] == "2.7\n"
    assert "__main__.CFG was {'at'" in run(-1.0, 3)[1]
