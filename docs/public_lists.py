"""Lists of public classes and functions, from each package's ``__all__``: the API page, a table.

Sphinx calls it (see ``conf.py``), so nobody edits a list.
"""

import importlib
import inspect
import re
from importlib.util import find_spec
from typing import Any

from sksearch.base import Resource, Sampler, Scheduler

#: Sections of the API page; an object that several modules export is listed at the first.
SECTIONS = {
    "Searches of daily use": "sksearch",
    "Searches with scikit-learn's names": "sksearch.model_selection",
    "All searches": "sksearch.search",
    "Spaces": "sksearch.space",
    "Estimator families": "sksearch.estimators",
    "Samplers": "sksearch.samplers",
    "Schedulers": "sksearch.schedulers",
    "Resources": "sksearch.resources",
    "Checkpoints": "sksearch.checkpoint",
    "Execution": "sksearch.executors",
    "Study": "sksearch.study",
    "Problems, trials and results": "sksearch.history",
    "Protocols, jobs and plans": "sksearch.base",
    "Acquisition functions": "sksearch.acquisition",
    "Surrogate models": "sksearch.models",
    "Hypergradients": "sksearch.hypergradients",
    "Simulators": "sksearch.simulators",
    "Experiments": "sksearch.experiment",
    "Reports": "sksearch.reporting",
    "Statistics": "sksearch.stats",
    "Displays": "sksearch.plotting",
    "Nets for images": "sksearch.neural",
    "Estimators of sktime and skforecast": "sksearch.bridges",
    "Checks of your own parts": "sksearch.testing",
    "Data": "sksearch.datasets",
}
if not (find_spec("torch") and find_spec("skorch")):
    del SECTIONS["Nets for images"]  # they cannot be imported
#: The first family.
FIRST = ("SearchCV", "tune", "default_models", "report")
#: Families of searches, by the last part of their modules' names; the last one has all others.
FAMILIES = {
    "Start here": (),
    "Random and quasi-random draws": ("_full",),
    "Weak candidates are stopped early": ("_fidelity", "_incremental", "_asynchronous"),
    "Candidates are learnt": ("_learning",),
    "Learnt, and stopped early": ("_hybrids", "_fabolas"),
    "Evolution and populations": ("_evolution", "_pbt"),
    "Gradients": ("_hypergradient",),
    "A search of your own": ("_base", "_parts"),
    "Results": (
        "_load_history",
        "_ensemble",
        "_front",
        "_plan",
        "_progress",
        "_report",
        "_errors",
        "_limits",
    ),
    "Spaces, functions and results": (),
}
SEARCHES = ("sksearch", "sksearch.search")  # modules listed by family
PROTOCOLS = (Sampler, Scheduler, Resource)
MARK = re.compile(r"<!-- (sksearch[\w.]*) -->.*?<!-- -->")


def public_objects(module_name: str) -> dict[str, Any]:
    """Return classes and functions of a module by name, in the order of ``__all__``.

    Parameters
    ----------
    module_name : str
        A module without ``__all__`` has public what it defines without an underscore.

    Returns
    -------
    objects : dict of str to (type or function)
        By name.
    """
    module = importlib.import_module(module_name)
    own = [name for name, obj in vars(module).items() if _is_own(name, obj, module_name)]
    objects = {name: getattr(module, name) for name in getattr(module, "__all__", own)}
    return {
        name: obj
        for name, obj in objects.items()
        if inspect.isclass(obj) or inspect.isfunction(obj)
    }


def api_page() -> str:
    """Return the page that lists every public object of the package."""
    listed, parts = set(), ["# API\n"]
    for title, module_name in SECTIONS.items():
        objects = public_objects(module_name)
        new = [name for name, obj in objects.items() if obj not in listed]
        listed.update(objects.values())
        if new:
            intro = importlib.import_module(module_name).__doc__.partition("\n")[0]
            parts.append(f"## {title}\n\n{intro}\n")
            families = _families(objects, new) if module_name in SEARCHES else {"": new}
            parts += [_list(family, module_name, names) for family, names in families.items()]
    return "\n".join(parts)


def _families(objects: dict[str, Any], names: list[str]) -> dict[str, list[str]]:
    """Return names by family, in the order of `FAMILIES`; `FIRST` come first."""
    found: dict[str, list[str]] = {family: [] for family in FAMILIES}
    for name in sorted(names, key=lambda name: ([*FIRST, name].index(name), name)):
        home = objects[name].__module__
        of = (f for f, homes in FAMILIES.items() if home.endswith(tuple(f".{h}" for h in homes)))
        family = next(iter(FAMILIES)) if name in FIRST else next(of, [*FAMILIES][-1])
        found[family].append(name)
    return {family: names for family, names in found.items() if names}


def fill_table(page: str) -> str:
    """Replace what stands between two comments by the classes that a package exports.

    ``<!-- sksearch.samplers -->random draws, forest<!-- -->`` becomes the names of all samplers,
    with links. The file itself has the words between the comments.

    Parameters
    ----------
    page : str
        Markdown.

    Returns
    -------
    page : str
        Markdown of MyST.
    """
    return MARK.sub(lambda mark: _classes(mark[1]), page)


def _is_own(name, obj, module_name):
    return name[0] != "_" and getattr(obj, "__module__", "") == module_name


def _list(family, module_name, names):
    """A list of the API page, under the name of its family if it has one."""
    prefix = f"{module_name}.".removeprefix("sksearch.")
    rows = "\n".join(f"   {prefix}{name}" for name in names)
    return f"### {family}\n\n" * bool(family) + (
        "```{eval-rst}\n.. currentmodule:: sksearch\n\n"
        f".. autosummary::\n   :toctree: generated\n   :nosignatures:\n\n{rows}\n```\n"
    )


def _classes(module_name):
    """Links to the classes of a package that can be parts of a search."""
    return ", ".join(
        f"{{py:obj}}`~{module_name}.{name}`"
        for name, obj in public_objects(module_name).items()
        if inspect.isclass(obj) and issubclass(obj, PROTOCOLS) and not inspect.isabstract(obj)
    )
