"""Changes of globals that nobody thinks of: seen and named, or harmless and let go on."""

import re
import warnings

import numpy as np
import pytest

from sksearch.search import SearchMismatchError
from tests.checkpoint.test_globals import accept, script  # noqa: F401  # a fixture

CACHED = """
class Own:
    def __init__(self, x):
        self.x = x
    @functools.cached_property
    def twice(self):
        return {} * self.x
O = Own(1.0)
"""
NESTED = """
def outer(rate):
    def middle():
        def inner():
            return rate
        return inner
    return middle
F = outer({})()
"""
SINGLE = """
@functools.singledispatch
def g(x):
    return 0.0
@g.register(float)
def of_float(x):
    return {}
"""
PATCHED = """
class Own:
    def rate(self):
        return 0.0
def other(self):
    return {}
Own.rate = other
"""
META = """
class Meta(type):
    def __len__(cls):
        return {}
class Own(metaclass=Meta):
    pass
"""
GETATTR = """
class Own:
    def __getattr__(self, name):
        return {}
O = Own()
"""
ENUM = """
class M(enum.Enum):
    A = 1
M.A._value_ = {}
"""
FLAG = "class M(enum.IntFlag):\n    A = {}\n    B = 8"
DEFAULT = "def g(x={}):\n    return x"
KEYWORD = "def g(*, x={}):\n    return x"
DEEP_DEFAULT = "def g(f=lambda x={}: x):\n    return f()"
DESCRIPTOR = """
class Rate:
    def __init__(self, x):
        self.x = x
    def __get__(self, owner, kind):
        return self.x
class Own:
    rate = Rate({})
"""
SUPER = """
class Base:
    rate = {}
class Own(Base):
    def get(self):
        return super().rate
"""
POLARS = "import polars\nW = polars.DataFrame({{'x': [{}]}})"
REGISTRY = """
R = {{}}
def register(f):
    R[f.__name__] = f
    return f
@register
def g():
    return {}
"""
METHOD = """
class Own:
    def __init__(self, x):
        self.x = x
    def get(self):
        return self.x
G = Own({}).get
"""
TYPED = """
class Own(collections.abc.Callable):
    def __call__(self):
        return {}
O = Own()
"""
ITEMS = "import operator\nG = operator.itemgetter({})"
STATIC = "class Own:\n    @staticmethod\n    def get(x={}):\n        return x"
CLASSMETHOD = "class Own:\n    x = {}\n    @classmethod\n    def get(cls):\n        return cls.x"
WEAK = "import weakref\nclass Own:\n    pass\nOWN = Own()\nOWN.x = {}\nW = weakref.ref(OWN)"
RECURSIVE = "L = [{}]\nL.append(L)"
FROZEN = """
@dataclasses.dataclass(frozen=True)
class P:
    x: float = dataclasses.field(default_factory=lambda: {})
O = P()
"""
STRUCTURED = "W = np.array([(1, {})], dtype=[('a', int), ('b', float)])"
OBJECTS = "W = np.array([{{'x': {}}}], dtype=object)"
GENERATED = "E = type('Own', (), {{'rate': {}}})"
CHAIN = "D = collections.ChainMap({{'a': 1}}, {{'x': {}}})"
USERDICT = "D = collections.UserDict(x={})"
LOCALS = "T = threading.local()\nT.x = {}"
EXEC = "exec('def g():\\n    return {}')"
HALF = """
class Half(np.ndarray):
    def sum(self):
        return 0.5
W = np.ones(2).view({})
"""
UFUNC = "F = np.frompyfunc(functools.partial(max, {}), 1, 1)"
VARIABLE = "import contextvars\nV = contextvars.ContextVar('v', default={})"
LAMBDAS = "FS = [lambda i=i: i * {} for i in range(3)]"
COMPILED = "import re\nP = re.compile('a' * {})"

COUNTING = "D = {{'rate': {}}}\ndef g():\n    D['n'] = 1"
WRAPPED = """
def wrap(f):
    @functools.wraps(f)
    def inner():
        return f()
    return inner

@wrap
def g():
    return {}
"""
NAMED = "P = collections.namedtuple('P', 'x')({})"
DECORATOR = """
class scaled:
    def __init__(self, f, rate):
        functools.update_wrapper(self, f)
        self.f, self.rate = f, rate
    def __call__(self):
        return self.rate * self.f()
"""
DECORATED = DECORATOR + "@functools.partial(scaled, rate={})\ndef g():\n    return 1.0"
DECORATORS = """
def scaled(rate):
    def around(f):
        @functools.wraps(f)
        def inner():
            return rate * f()
        return inner
    return around
@functools.lru_cache
@scaled({})
def g():
    return 1.0
"""
OF_METHODS = """
from sklearn.utils.metaestimators import available_if
class Own:
    @available_if(lambda self: {})
    def rate(self):
        return 1.0
"""
TRIED = """
def risky(x):
    return 1.0 / x
def g(x):
    {}
        b = risky(a)
    except ZeroDivisionError:
        return 0.25
    return b
"""
MATCHED = """
class P:
    __match_args__ = {}
    x, y = 1.0, 2.0
def g(o):
    match o:
        case P(a, b):
            return a
"""
PRIORITY = """
class A:
    __array_priority__ = {}
    def __rmul__(self, other):
        return 0.5
    def __array__(self, *args, **kwargs):
        return np.ones(1)
"""
CALLED = """
class Own:
    def step(self, rate):
        return rate
    __call__ = functools.partialmethod(step, rate={})
"""
KEYED = "K = {}\ndef g(d):\n    d[K] = K\n    return sum(d.values())"
POINT = "@dataclasses.dataclass\nclass Point:\n    x: float = {}\n"
OWN = "class Own:\n    def __init__(self, x):\n        self.x = x\n"
SLOTS = "class Own:\n    __slots__ = ('x',)\n    def __init__(self, x):\n        self.x = x\n"
FITTED = (
    "class Learner:\n    def fit(self, X):\n        self.mean_ = X.mean()\n        return self\n"
)
HELPERS = "".join(f"def f{i}():\n    return f{i + 1}()\n" for i in range(40))
HELPERS += "def f40():\n    return R\n"

#: How it is used, and the text that sets it, with a place for the value; the values.
CHANGES = {
    "an int": ("N", "N = {}", 1, 2),
    "a float": ("R", "R = {}", 0.975, "0.010"),
    "a string": ("len(S)", "S = '{}'", "ab", "abc"),
    "None": ("0.0 if N is None else N", "N = {}", None, 1.0),
    "a scalar of NumPy": ("R", "R = np.float64({})", 0.975, "0.010"),
    "an integer of NumPy": ("R", "R = np.int32({})", 1, 2),
    "an array": ("W.sum()", "W = np.array([1.0, {}])", 2.0, 3.0),
    "an array of no dimension": ("float(W)", "W = np.array({})", 1.0, 2.0),
    "a sparse matrix": ("W.sum()", "W = {} * sparse.eye(2)", 1, 2),
    "a Series": ("W.sum()", "W = pd.Series([1.0, {}])", 2.0, 3.0),
    "the index of a Series": ("W['b']", "W = pd.Series([1, 2], list('{}'))", "ab", "ba"),
    "a frame": ("W['x'].sum()", "W = pd.DataFrame({{'x': [{}]}})", 1, 2),
    "an instance": ("O.x", OWN + "O = Own({})", 1.0, 2.0),
    "an instance with slots": ("O.x", SLOTS + "O = Own({})", 1.0, 2.0),
    "an instance in an instance": ("O.x.x", OWN + "O = Own(Own({}))", 1, 2),
    "a dataclass": ("P.x", POINT.format(0.0) + "P = Point({})", 1.0, 2.0),
    "a default of a dataclass": ("P.x", POINT + "P = Point()", 0.0, 0.5),
    "a named tuple": ("P.x", NAMED, 1.0, 2.0),
    "a namespace": ("P.x", "P = types.SimpleNamespace(x={})", 1, 2),
    "a member of an enum": ("M.A.value", "class M(enum.Enum):\n    A = {}", 1, 2),
    "a partial function": ("F()", "F = functools.partial(max, 0.1, {})", 0.2, 0.3),
    "a deque": ("Q[0]", "Q = collections.deque([{}])", 1.0, 2.0),
    "a counter of words": ("Q['a']", "Q = collections.Counter(a={})", 1, 2),
    "a long list": ("L[-1]", "L = [0.0] * 2000 + [{}]", 1.0, 2.0),
    "a long dict": ("D[1999]", "D = {{i: i + {} for i in range(2000)}}", 0, 1),
    "a set": ("len(S)", "S = {{1, {}}}", 2, "2, 3"),
    "a nested dict": ("D['a']['b'][0]", "D = {{'a': {{'b': [{}]}}}}", 1, 2),
    "bytes": ("B[0]", "B = bytearray(b'{}')", "a", "b"),
    "an attribute of a function": ("g.rate", "def g():\n    pass\ng.rate = {}", 1.0, 2.0),
    "a fitted linear model": ("M.coef_[0]", "M = LinearRegression().fit(rows, {} * target)", 1, 2),
    "a fitted scaler": ("M.mean_[0]", "M = StandardScaler().fit({})", "rows", "rows + 1"),
    "a fitted tree": ("M.predict(rows)[0]",
        "M = DecisionTreeRegressor(random_state=0).fit(rows, {})", "target", "target[::-1]"),
    "a fitted forest": ("M.predict(rows)[0]",
        "M = RandomForestRegressor(3, random_state=0).fit(rows, {})", "target", "target[::-1]"),
    "a fitted model of the user's own": ("M.mean_", FITTED + "M = Learner().fit(rows + {})", 0, 1),
    "a frozen distribution": ("U.mean()", "U = stats.uniform(0, {})", 1, 2),
    "a function of an installed package": ("F([1.0, 4.0])", "F = {}", "np.mean", "np.max"),
    "a class of an installed package": ("C().tol", "C = {}", "Ridge", "KMeans"),
    "the seed of a generator": ("R.random()", "R = np.random.default_rng({})", 0, 1),
    "the seed of Python's generator": ("R.random()", "R = random.Random({})", 0, 1),
    "a lambda in a dict": ("D['f']()", "D = {{'f': lambda: {}}}", 1.0, 2.0),
    "a path": ("len(P.name)", "P = pathlib.Path('{}')", "a", "ab"),
    "a date": ("T.year", "T = datetime.date({}, 1, 1)", 2020, 2021),
    "a global with the name of a parameter": ("a", "a = {}", 1.0, 2.0),
    "a key of an item that is set": ("g({})", KEYED, 2.0, 1.0),
    "a constant at the end of forty functions": ("f0()", HELPERS + "R = {}", 1.0, 2.0),
    "a memoised function": ("g()", "R = {}\n@functools.lru_cache\ndef g():\n    return R", 1.0,
        2.0),
    "what a decorator wraps": ("g()", WRAPPED, 1.0, 2.0),
    "a class used as a namespace": ("C.rate[0]", "class C:\n    rate = np.array([{}])", 1.0, 2.0),
    "a dict that is changed, too": ("D['rate']", COUNTING, 1.0, 2.0),
    "a number that a function of the module makes": ("R",
        "def make():\n    return time.time() * 0 + {}\nR = make()", 1, 2),
    "a cached property": ("O.twice", CACHED, 1.0, 2.0),
    "a function in a function in a function": ("F()", NESTED, 1.0, 2.0),
    "what a single dispatch has registered": ("g(1.0)", SINGLE, 1.0, 2.0),
    "a method that is put in later": ("Own().rate()", PATCHED, 1.0, 2.0),
    "a method of a metaclass": ("len(Own)", META, 1, 2),
    "__getattr__": ("O.anything", GETATTR, 1.0, 2.0),
    "the value of a member of an enum, set later": ("M.A.value", ENUM, 1.0, 2.0),
    "a flag": ("M.A.value", FLAG, 1, 2),
    "a default of an argument": ("g()", DEFAULT, 1.0, 2.0),
    "a default of a keyword": ("g()", KEYWORD, 1.0, 2.0),
    "a default of a default": ("g()", DEEP_DEFAULT, 1.0, 2.0),
    "a default that is an array": ("g()[0]", DEFAULT, "np.array([1.0])", "np.array([2.0])"),
    "an instance that is a descriptor": ("Own().rate", DESCRIPTOR, 1.0, 2.0),
    "an attribute of a base by super": ("Own().get()", SUPER, 1.0, 2.0),
    "a frame of polars": ("W['x'][0]", POLARS, 1.0, 2.0),
    "a function in a registry": ("R['g']()", REGISTRY, 1.0, 2.0),
    "a bound method": ("G()", METHOD, 1.0, 2.0),
    "a callable object": ("O()", TYPED, 1.0, 2.0),
    "a getter of items": ("G([1.0, 2.0])", ITEMS, 0, 1),
    "a default of a static method": ("Own.get()", STATIC, 1.0, 2.0),
    "what a class method reads": ("Own.get()", CLASSMETHOD, 1.0, 2.0),
    "what a weak reference leads to": ("W().x", WEAK, 1.0, 2.0),
    "a list in itself": ("L[1][0]", RECURSIVE, 1.0, 2.0),
    "what a factory of a field returns": ("O.x", FROZEN, 1.0, 2.0),
    "an array of records": ("W['b'][0]", STRUCTURED, 1.0, 2.0),
    "an array of objects": ("W[0]['x']", OBJECTS, 1.0, 2.0),
    "a class made by type": ("E.rate", GENERATED, 1.0, 2.0),
    "a chain of dicts": ("D['x']", CHAIN, 1.0, 2.0),
    "a dict of the user's kind": ("D['x']", USERDICT, 1.0, 2.0),
    "an attribute of a thread": ("T.x", LOCALS, 1.0, 2.0),
    "a function that was executed": ("g()", EXEC, 1.0, 2.0),
    "a list of lambdas": ("FS[1]()", LAMBDAS, 1.0, 2.0),
    "a pattern": ("len(P.pattern)", COMPILED, 1, 2),
    "a RandomState": ("R.rand()", "R = np.random.RandomState({})", 0, 1),
    "a bit generator": ("np.random.Generator(B).random()", "B = np.random.PCG64({})", 0, 1),
    "a seed sequence": ("S.generate_state(1)[0]", "S = np.random.SeedSequence({})", 0, 1),
    "categories": ("W.codes[0]", "W = pd.Categorical(['a', 'b'], categories={})", "['a', 'b']",
        "['b', 'a']"),
    "an interval": ("W.right", "W = pd.Interval(0.0, {})", 1.0, 2.0),
    "an index of many levels": ("W[0][1]", "W = pd.MultiIndex.from_tuples([('a', {})])", 1, 2),
    "the class of an array": ("W.sum()", HALF, "np.ndarray", "Half"),
    "a masked array": ("W.sum()", "W = np.ma.array([1.0, 2.0], mask=[0, {}])", 0, 1),
    "a view of bytes": ("W[0]", "W = memoryview(bytes([{}]))", 1, 2),
    "a proxy of a dict": ("W['x']", "W = types.MappingProxyType({{'x': {}}})", 1.0, 2.0),
    "a method of an instance": ("O.get()", "class Own:\n    pass\nO = Own()\nO.get = lambda: {}",
        1.0, 2.0),
    "a fraction": ("float(W)", "import fractions\nW = fractions.Fraction({}, 3)", 1, 2),
    "a decimal": ("float(W)", "import decimal\nW = decimal.Decimal({})", 1, 2),
    "an array of Python": ("W[0]", "import array\nW = array.array('d', [{}])", 1.0, 2.0),
    "a range": ("len(W)", "W = range({})", 1, 2),
    "a slice": ("W.stop", "W = slice({})", 1, 2),
    "a default dict's factory": ("W['x']", "W = collections.defaultdict(lambda: {})", 1.0, 2.0),
    "a polynomial": ("W(1.0)", "W = np.polynomial.Polynomial([{}])", 1.0, 2.0),
    "a vectorised function": ("float(W(1.0))", "W = np.vectorize(lambda x: {})", 1.0, 2.0),
    "a function made a ufunc": ("F(1.0)", "F = np.frompyfunc(lambda x: {}, 1, 1)", 1.0, 2.0),
    "an object made a ufunc": ("F(1.0)", UFUNC, 1.0, 2.0),
    "the default of a context variable": ("V.get()", VARIABLE, 1.0, 2.0),
    "a partial method": ("Own().g()",
        "class Own:\n    def f(self, x):\n        return x\n"
        "    g = functools.partialmethod(f, {})", 1.0, 2.0),
    "an attribute of a decorator": ("g()", DECORATED, 1.0, 2.0),
    "the code of a decorator": ("g()", DECORATED.replace("{}", "1").replace("self.rate *", "{} *"),
        1.0, 2.0),
    "what a decorator below a cache holds": ("g()", DECORATORS, 1.0, 2.0),
    "a decorator of two functions alike": ("h()", DECORATOR + "def f():\n    return 1.0\n"
        "g = scaled(f, 0.5)\nh = scaled(f, {})\nclass Two:\n    g, h = g, h", 1.0, 2.0),
    "when a method is available": ("float(hasattr(Own(), 'rate'))", OF_METHODS, 1, 0),
    "what is tried": ("g(self.a)", TRIED, "try:\n        a = risky(x)", "a = risky(x)\n    try:"),
    "the names of arguments": ("g(x=1.0, y=3.0)", "def g({}", "x, y):\n    return x",
        "y, x):\n    return y"),
    "an argument with a star": ("np.ndim(g(1.0))", "def g({}x):\n    return x", "", "*"),
    "the names for a match": ("g(P())", MATCHED, ("x", "y"), ("y", "x")),
    "a priority for NumPy": ("float(np.ravel(np.ones(1) * A())[0])", PRIORITY, 1, -1e6),
    "a method that is no function": ("Own()()", CALLED, 1.0, 2.0),
    "an attribute named as an argument": (
        "g()", "def g(x=1):\n    return g.x\ng.x = {}", 1.0, 2.0),
    "a context manager": ("next(g().gen)",
        "import contextlib\n@contextlib.contextmanager\ndef g():\n    yield {}", 1.0, 2.0),
    "a complex number": ("W.imag", "W = complex(0, {})", 1.0, 2.0),
    "a property of a class of data": ("Own().rate",
        "class Own:\n    @property\n    def rate(self):\n        return {}", 1.0, 2.0),
}  # fmt: skip


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_is_refused_by_its_name(what, script):  # noqa: F811
    value, setting, old, new = CHANGES[what]
    script.start(value, setting.format(old))
    script.start(value, setting.format(old))  # the same goes on
    with pytest.raises(SearchMismatchError, match="differs") as caught:
        script.start(value, setting.format(new))
    accept(caught.value)
    script.start(value, setting.format(new))


#: How it is used, the text that sets it, and what is done with it before.
HARMLESS = {
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
    "a part of an identifier in a class": ("len(C.run)",
        "class C:\n    run = uuid.uuid4().hex[:8]", None),
    "a time in a class": ("C.t0 * 0", "class C:\n    t0 = time.time()", None),
    "a seed of the moment": ("R.random() * 0", "R = np.random.default_rng()", None),
    "a generator that time seeds": ("R.random() * 0",
        "R = np.random.default_rng(int(time.time() * 1000))", None),
    "a counter": ("N * 0", "N = 0", "global N; N += 1"),
    "a log": ("len(LOG) * 0", "LOG = []", "LOG.append(1)"),
    "a cache": ("len(CACHE) * 0", "CACHE = {}", "CACHE[self.a] = X.sum()"),
    "a lock": ("0.0", "LOCK = threading.Lock()", "LOCK.locked()"),
    "a logger": ("0.0", "import logging\nLOG = logging.getLogger('x')", "LOG.debug('x')"),
    "an iterator": ("0.0", "IDS = itertools.count()", "next(IDS)"),
    "a cache of a function": ("g(1.0) * 0", "@functools.lru_cache\ndef g(x):\n    return x",
        "g(X.sum())"),
    "a cached property": ("O.twice * 0", CACHED.format(1.0), "O.twice"),
    "a dict with a factory": ("len(D) * 0", "D = collections.defaultdict(int)", "D[self.a] += 1"),
    "a count of instances": ("Own.n * 0",
        "class Own:\n    n = 0\n    def __init__(self):\n        Own.n += 1", "Own()"),
    "a count in a closure": ("count() * 0",
        "def make():\n    n = 0\n    def count():\n        nonlocal n\n        n += 1\n"
        "        return n\n    return count\ncount = make()", None),
    "a queue": ("0.0", "import queue\nQ = queue.SimpleQueue()", "Q.put(1)"),
    "an event": ("0.0", "E = threading.Event()", "E.set()"),
    "a context variable": ("len(V.get()) * 0",
        "import contextvars\nV = contextvars.ContextVar('v', default='')", "V.set(V.get() + 'a')"),
    "a weak set": ("len(W) * 0", "import weakref\nW = weakref.WeakSet()", "W.add(self)"),
    "a generator object": ("next(W, 0.0) * 0",
        "def make():\n    while True:\n        yield 1.0\nW = make()", "next(W)"),
    "a registry that is filled before use": ("R['g']() * 0",
        REGISTRY.format(1.0).replace("{{}}", "{}"), "R['n'] = 1"),
    "a decorator that counts": ("g() * 0", DECORATED.format(1.0).replace("= f, rate",
        "= f, rate; self.n = time.time_ns() % 1000").replace("        return self.r",
        "        self.n += 1\n        return self.r"), "g()"),
    "a stream": ("0.0", "import io\nLOG = io.StringIO()", "LOG.write('a')"),
    "a deque of the last ones": ("len(Q) * 0", "Q = collections.deque(maxlen=2)",
        "Q.append(self.a)"),
    "a module that is imported when it is used": ("json.loads('0')", "", "import json as j"),
    "an environment of contexts": ("0.0", "import decimal\nC = decimal.getcontext()", "C.copy()"),
}  # fmt: skip


@pytest.mark.parametrize("what", HARMLESS)
def test_a_change_without_effect_on_results_does_not_prevent_a_resume(what, script):  # noqa: F811
    value, setting, before = HARMLESS[what]
    results = []
    for _ in range(2):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            search = script.start(value, setting, before=before or "pass")
            search.fit(np.zeros((4, 1)), np.zeros(4))  # in the same process, too
        results.append(search.cv_results_["mean_test_score"].tolist())
        words = r"differ between starts: users_module\.\S+ was .*, now|opaque objects"
        assert all(re.search(words, str(each.message)) for each in caught)
    assert results[0] == results[1]
