"""What is imported: little for ``import sksearch``, and for a search nothing that it does not use.

Modules are counted, since times vary; `examples/benchmarks/imports.py` measures the time.
"""

import ast
import importlib
import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest
import sklearn.model_selection
from sklearn.experimental import enable_halving_search_cv  # noqa: F401

import sksearch

#: Packages of scikit-learn with dozens of estimators each, a tenth of the time of its own import.
HEAVY = {
    *("sklearn.ensemble", "sklearn.linear_model", "sklearn.svm", "sklearn.neighbors"),
    *("sklearn.decomposition", "sklearn.tree", "sklearn.kernel_ridge", "sklearn.compose"),
}
WING = {
    *("sksearch.chaos", "sksearch.neural", "sksearch.watch", "sksearch.experiment"),
    *("sksearch.simulators", "sksearch.hypergradients", "sksearch.executors.remote"),
    *("sksearch.stats._optima", "sksearch.stats._profiles", "sksearch.stats._random_search"),
    *("sksearch.stats._ranks", "sksearch.stats._regret"),
    *("sksearch.plotting._critical_difference", "sksearch.plotting._profiles"),
    "sksearch.plotting._regret",
}
SEARCH = """
from sksearch import SearchCV
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB
search = SearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}, n_iter=2, cv=2)
str(search.fit(*load_iris(return_X_y=True)).report())
"""


def modules_after(code):
    """Names of the modules that a fresh process has after some code."""
    code = f"import json, sys\n{code}\nprint(json.dumps(sorted(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return set(json.loads(run.stdout))


@pytest.fixture(scope="module")
def theirs():
    return modules_after("import sklearn.model_selection")


def own(modules):
    return {name for name in modules if name.partition(".")[0] == "sksearch"}


def test_importing_the_library_imports_hardly_anything(theirs):
    modules = modules_after("import sksearch")
    assert own(modules) == {"sksearch", "sksearch._utils", "sksearch._utils._on_demand"}
    assert own(modules) >= modules - theirs


def test_a_search_imports_little_beyond_that_of_scikit_learn(theirs):
    further = modules_after("from sksearch import SearchCV") - theirs
    assert len(further - own(further)) <= 15  # 400 with all that the library can use
    assert len(own(further)) <= 215  # of 340
    assert not further & HEAVY
    assert not further & (WING | {"sksearch.plotting", "sksearch.reporting._report"})


@pytest.mark.whole
def test_a_fit_and_its_report_need_nothing_of_the_wing():
    assert not modules_after(SEARCH) & (WING | {"mlflow"})


# ---- names that are imported when they are asked for

LAZY = [
    f"sksearch{each}"
    for each in (
        *(
            "",
            ".model_selection",
            ".search",
            ".samplers",
            ".schedulers",
            ".executors",
            ".checkpoint",
            ".space",
        ),
        *(
            ".reporting",
            ".stats",
            ".plotting",
            ".simulators",
            ".hypergradients",
            ".testing",
            ".models",
        ),
    )
]


@pytest.mark.parametrize("package", LAZY)
def test_all_names_of_a_package_are_there(package):
    module = importlib.import_module(package)
    assert set(module.__all__) <= set(dir(module))
    assert all(getattr(module, name) is not None for name in module.__all__)
    assert set(module.__all__) <= set(vars(module))  # the second time without a detour


@pytest.mark.parametrize("package", LAZY)
def test_a_name_that_is_nowhere_is_missing_as_usual(package):
    module = importlib.import_module(package)
    with pytest.raises(AttributeError, match=rf"module '{package}' has no attribute 'nothing'"):
        _ = module.nothing
    with pytest.raises(ImportError, match="cannot import name 'nothing'"):
        exec(f"from {package} import nothing")


@pytest.mark.whole
def test_packages_are_attributes():
    used = "sksearch.plotting.RegretDisplay, sksearch.simulators"
    modules = modules_after(f"import sksearch; {used}")
    assert modules >= {"sksearch.plotting._regret", "sksearch.simulators"}


def test_a_star_imports_all_and_shadows_nothing():
    names = {}
    exec("from sksearch import *", names)
    assert set(sksearch.__all__) <= set(names)
    assert not {*sksearch.__all__} & {*sklearn.model_selection.__all__}


@pytest.mark.parametrize("name", sksearch.model_selection.__all__)
def test_the_searches_of_scikit_learn_are_one_word_away(name):
    ours, theirs = importlib.import_module("sksearch.model_selection"), sklearn.model_selection
    first = [[*inspect.signature(getattr(each, name)).parameters] for each in (ours, theirs)]
    assert set(first[1]) <= set(first[0])


# ---- the surface: names that a reader has to hold, and parameters


def public_names():
    """Public names by module, as files have them: some cannot be imported everywhere."""
    root = Path(sksearch.__file__).parent
    names = {"sksearch": sksearch.__all__}
    for path in root.iterdir():
        if path.name[0] != "_" and (path.suffix == ".py" or (path / "__init__.py").exists()):
            names[f"sksearch.{path.stem}"] = names_in(path)
    return names


def names_in(path):
    """Names that a module or package defines for others."""
    if (path / "__init__.pyi").exists():
        return sorted(importlib.import_module(f"sksearch.{path.stem}").__all__)
    body = ast.parse((path if path.suffix else path / "__init__.py").read_text("utf-8")).body
    listed = [
        ast.literal_eval(node.value)
        for node in body
        if isinstance(node, ast.Assign | ast.AnnAssign) and "__all__" in ast.unparse(node)
    ]
    own = [getattr(node, "name", "_") for node in body]
    return sorted(listed[0] if listed else [name for name in own if name[0] != "_"])


def test_the_surface_can_be_held():
    names = public_names()
    assert len(names["sksearch"]) <= 20
    outside = {name for module in names for name in names[module]} - {*names["sksearch.search"]}
    assert len(outside) <= 150
