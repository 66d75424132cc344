"""One change of a user's script at a time: what changes results is refused, all else goes on."""

import platform
import re
import sys
import types

import pytest

from sksearch.checkpoint.identity._reached import Reached
from sksearch.search import SearchMismatchError
from tests.checkpoint.test_resume import fit_and_stop, make, outcome
from tests.interrupted import X, Y, scorer

SCRIPT = '''
import numpy as np
from scipy.stats import uniform
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import KFold
from sksearch import SuccessiveHalvingSearchCV

RATE = 0.5
LAYERS = [3, 2]
calls = []
n_calls = 0


def helper(x):
    """Halve it."""
    return x * RATE


class Config:
    bias = 0.25


class Base:
    scale = 1.0
    n_made = 0

    def boost(self):
        return helper(self.scale)


class Net(Base, ClassifierMixin, BaseEstimator):
    """A net."""

    def __init__(self, quality=0.5, depth=2, verbose=0, memory=None, n_jobs=None):
        self.quality = quality
        self.depth = depth
        self.verbose = verbose
        self.memory = memory
        self.n_jobs = n_jobs

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        # One step.
        global n_calls
        n_calls += 1
        calls.append(len(X))
        Base.n_made += 1
        self.n_ = getattr(self, "n_", 0) + 1
        self.classes_ = np.unique(y)
        return self

    def fit(self, X, y, sample_weight=None):
        self.n_ = 0
        return self.partial_fit(X, y)

    @property
    def strength(self):
        return self.boost() + Config.bias

    @staticmethod
    def weigh(x):
        return x / 7

    @classmethod
    def size(cls):
        return sum(LAYERS)

    def score(self, X, y):
        odd = np.abs(np.sum(X)) + 2 * np.mean(y) + self.depth
        extra = self.verbose + len(self.memory or "")
        found = self.quality * self.strength + self.weigh(self.n_) + self.size() + extra
        return found * np.sin(odd)


def scorer(net, X, y, sample_weight=None):
    first = net.score(X, y)
    return {"one": first, "two": -first}


rng = np.random.RandomState(0)
X = rng.normal(size=(24, 2))
y = np.tile([0, 1], 12)
weight = None
folds = list(KFold(3).split(X))
search = SuccessiveHalvingSearchCV(
    Net(), {"quality": uniform(0, 1), "depth": [1, 2, 3]}, resource="epochs", max_resources=9,
    cv=folds, scoring=scorer, refit="one", random_state=0,
)
'''


CHANGING = {  # what is changed, and what the error names
    "a constant": ("RATE = 0.5", "RATE = 0.6", "globals"),
    "a constant list": ("LAYERS = [3, 2]", "LAYERS = [3, 3]", "globals"),
    "a function that a base class calls": ("return x * RATE", "return x * RATE * 2", "code"),
    "the constant of a class that is used": ("bias = 0.25", "bias = 0.5", "globals"),
    "the constant of a base class": ("scale = 1.0", "scale = 2.0", "globals"),
    "a method of a base class": ("helper(self.scale)", "helper(self.scale) + 1", "code"),
    "a property": ("self.boost() + Config", "self.boost() - Config", "code"),
    "a static method": ("return x / 7", "return x / 8", "code"),
    "a class method": ("return sum(LAYERS)", "return max(LAYERS)", "code"),
    "a step": ('getattr(self, "n_", 0) + 1', 'getattr(self, "n_", 0) + 2', "code"),
    "the first step": ("self.n_ = 0\n", "self.n_ = 1\n", "code"),
    "the score": ("2 * np.mean(y)", "3 * np.mean(y)", "code"),
    "a function of NumPy": ("np.sin(odd)", "np.cos(odd)", "code"),
    "a default": ("depth=2", "depth=3", "estimator"),
    "a parameter": ("Net(),", "Net(depth=7),", "estimator"),
    "its own verbose": ("Net(),", "Net(verbose=1),", "estimator"),
    "its own memory": ("Net(),", 'Net(memory="cache"),', "estimator"),
    "the name of the class": ("Net", "Nett", "estimator"),
    "a base class more": ("class Net(Base,", "class Net(Base, Config,", "code"),
    "the scorer": ('"one": first', '"one": 2 * first', "code"),
    "the scorer's sign": ("first = net", "first = -net", "code"),
    "the metric that promotes": ('refit="one"', 'refit="two"', "refit"),
    "a range": ("uniform(0, 1)", "uniform(0, 2)", "space"),
    "the law": ("uniform(0, 1)", "[0.25, 0.5, 0.75]", "space"),
    "the choices": ("[1, 2, 3]", "[1, 2, 4]", "space"),
    "the order of choices": ("[1, 2, 3]", "[3, 2, 1]", "space"),
    "a parameter less": (', "depth": [1, 2, 3]', "", "space"),
    "the data": ("y = np", "X[3, 1] += 1e-9\ny = np", "data"),
    "a column more": ("size=(24, 2)", "size=(24, 3)", "data"),
    "the target": ("[0, 1], 12", "[1, 0], 12", "data"),
    "the order of rows": ("y = np", "X = X[::-1]\ny = np", "data"),
    "their type": ("size=(24, 2))", 'size=(24, 2)).astype("float32")', "data"),
    "other folds": ("KFold(3)", "KFold(3, shuffle=True, random_state=0)", "folds"),
    "the order of folds": ("KFold(3).split(X))", "KFold(3).split(X))[::-1]", "folds"),
    "fewer folds": ("KFold(3)", "KFold(2)", "cv"),
    "the seed": ("random_state=0,", "random_state=1,", "random_state"),
    "the factor": ("random_state=0,", "random_state=0, factor=2,", "settings"),
    "the resource": ("max_resources=9", "max_resources=6", "settings"),
    "a first guess": (
        "random_state=0,",
        'random_state=0, known={"params": {"quality": 0.5, "depth": 1}},',
        "settings",
    ),
    "weights": ("weight = None", "weight = np.ones(24)", "fit_params"),
    "what a list begins with": ("calls = []", "calls = [1]", "globals"),
    "what a count begins with": ("n_calls = 0", "n_calls = 5", "globals"),
    "what a class counts from": ("n_made = 0", "n_made = 7", "globals"),
}
HARMLESS = {
    "nothing": ("", ""),
    "a comment": ("# One step.", "# One step of training."),
    "a docstring": ('"""A net."""', '"""A net of mine."""'),
    "the docstring of a function": ('"""Halve it."""', ""),
    "empty lines": ("    def fit", "\n\n\n    def fit"),
    "the name of a local variable": ("odd", "strange"),
    "an import": ("import numpy as np\nfrom", "import math\nimport numpy as np\nfrom"),
    "a function that nobody uses": ("def helper", "def unused():\n    return 1\n\n\ndef helper"),
    "its count of workers": ("Net(),", "Net(n_jobs=2),"),
    "the count of workers": ("random_state=0,", "random_state=0, n_jobs=1,"),
    "the search's verbose": ("random_state=0,", "random_state=0, verbose=1,"),
    "limits": ("random_state=0,", 'random_state=0, timeout=600, stop={"score": 1e9},'),
    "folds as arrays": ("list(KFold(3).split(X))", "[tuple(f) for f in KFold(3).split(X)]"),
    "folds of a generator": ("list(KFold(3).split(X))", "KFold(3).split(X)"),
    "the same numbers in another order in memory": ("y = np", "X = np.asfortranarray(X)\ny = np"),
}
assert len(CHANGING) + len(HARMLESS) - 1 >= 50  # and not one twice


def run(source, folder=None):
    """Execute a script as a module of its own, and fit its search."""
    module = types.ModuleType("users_script")
    sys.modules[module.__name__] = module
    exec(source, vars(module))
    search = module.search.set_params(checkpoint_dir=folder)
    params = {} if module.weight is None else {"sample_weight": module.weight}
    return search.fit(module.X, module.y, **params)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The checkpoint of the script's search, and what it found."""
    folder = tmp_path_factory.mktemp("mutations") / "checkpoint"
    yield folder, outcome(run(SCRIPT, folder))
    del sys.modules["users_script"]


@pytest.mark.parametrize("what", CHANGING)
def test_a_change_that_changes_results_is_refused(what, finished):
    old, new, part = CHANGING[what]
    assert old in SCRIPT
    with pytest.raises(SearchMismatchError, match=f"{part} differs"):
        run(SCRIPT.replace(old, new), finished[0])


@pytest.mark.parametrize("what", HARMLESS)
def test_a_change_without_effect_does_not_prevent_a_resume(what, finished):
    old, new = HARMLESS[what]
    folder, expected = finished
    changed = SCRIPT.replace(old, new, 1 if not old else -1)
    assert outcome(run(changed, folder)) == expected


def test_the_metric_of_the_refit_may_change_where_nothing_that_is_trained_depends_on_it(tmp_path):
    def search(refit, **kwargs):
        scoring = {"one": scorer, "two": scorer}
        return make("random", tmp_path, scoring=scoring, refit=refit, **kwargs)

    search("one").fit(X, Y)
    assert len(search("two").fit(X, Y).cv_results_["params"]) == 12


def test_a_class_is_compared_by_all_that_its_code_is_made_of():
    """Code that is no longer there is changed, too."""
    parts = {
        "x": "class A:\n    def f(self):\n        return 1\n",
        "y": "class A:\n    def f(self):\n        return 1\n    def g(self):\n        return 2\n",
        "z": "class A:\n    f = 1\n",
    }
    texts = set()
    for source in parts.values():
        space = {"__name__": "users_script"}
        exec(source, space)
        reached = Reached()
        reached.name_of(space["A"])
        texts.add(str(reached.look().codes))
    assert len(texts) == 3


@pytest.mark.parametrize("package", ["numpy", "python", "sksearch", "tests"])
def test_models_of_other_versions_are_trained_again(package, tmp_path, monkeypatch):
    """The version of the package that an estimator comes from counts, too."""
    monkeypatch.setattr("tests.__version__", "1.0.0", raising=False)
    fit_and_stop(make(folder=tmp_path), 21)
    if package == "python":
        monkeypatch.setattr(platform, "python_version", lambda: "3.99.1")
    else:
        monkeypatch.setattr(f"{package}.__version__", "99.0.0")
    with pytest.warns(UserWarning, match=rf"(?i)was written with {package} \S+ \(now"):
        search = make(folder=tmp_path).fit(X, Y)
    assert outcome(search) == outcome(make().fit(X, Y))


def test_code_is_not_compared_between_versions_of_python(tmp_path, monkeypatch):
    source = SCRIPT.replace('"one": first', '"one": first + 0')
    run(SCRIPT, tmp_path)
    with pytest.raises(SearchMismatchError, match=r"code differs: the code of .*scorer"):
        run(source, tmp_path)
    monkeypatch.setattr(platform, "python_version", lambda: "3.99.1")
    with pytest.warns(UserWarning, match="Your own code cannot be compared"):
        run(source, tmp_path)
    with pytest.raises(SearchMismatchError, match="space differs"):
        run(source.replace("[1, 2, 3]", "[1, 2]"), tmp_path)


def test_a_resumed_search_reports_the_compared_parts(tmp_path, capsys):
    source = SCRIPT.replace("list(KFold(3).split(X))", "KFold(3).split(X)")
    run(source, tmp_path)
    assert "Compared" not in capsys.readouterr().out
    run(source.replace("random_state=0,", "random_state=0, verbose=1,"), tmp_path)
    not_seen = r"Not compared, because opaque: cv\."
    assert re.search(
        rf"Resuming the search .* Compared: class, .*\. {not_seen}",
        capsys.readouterr().out,
    )
    with pytest.raises(SearchMismatchError, match=rf"Compared: class.*\. {not_seen}"):
        run(source.replace("[1, 2, 3]", "[1, 2]"), tmp_path)
