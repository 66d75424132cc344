"""Detects overridden methods, so that shortcuts are not used in their place.

A shortcut replaces a method of an estimator by a faster equivalent: a score from
``predict``, epochs in the place of ``fit``, a forest that grows. It is valid for the methods that
it was written for, but not for a class that overrides one of them. So functions are compared, not
classes: a method counts as known if it is defined by the library of its class.

=========================  ================================================================
shortcut                   methods that it replaces
=========================  ================================================================
metric from ``predict``    ``score`` and ``predict`` of pipelines, ``score`` of the last step
rows heard by a scorer     ``__call__`` and ``_score`` of a scorer
transformers fitted once   ``fit`` of pipelines (`TRAINING`), ``fit_transform`` of steps
target transformed once    `TRAINING` and `PREDICTION` of a TransformedTargetRegressor
test rows prepared once    `TRAINING` and `PREDICTION` of pipelines
trees added to a model     ``fit`` (`TRAINING`)
epochs drawn as by a fit   ``fit`` and ``partial_fit`` (`TRAINING`)
counts found in training   `TRAINING` and `PREDICTION`, also of the pipelines around
thresholds, as such counts
parameters of a step set   ``set_params`` of pipelines
hypergradients             `TRAINING` and `PREDICTION`
=========================  ================================================================
"""

from collections.abc import Collection, Iterable
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

#: Libraries whose methods shortcuts were written for.
LIBRARIES = frozenset(
    ("sklearn", "imblearn", "lightgbm", "xgboost", "catboost", "skorch", "keras", "sksearch")
)
#: Patterns of training methods, including methods called by them.
TRAINING = ("fit", "fit_*", "partial_fit", "_[!_]*", "__getitem__", "__len__")
#: Patterns of prediction methods, including methods called by them.
PREDICTION = (
    *("predict", "predict_*", "decision_function", "score", "score_*", "staged_*"),
    *("transform", "inverse_transform", "apply", "_[!_]*", "classes_"),
)
#: Private methods that neither train nor predict.
_HARMLESS = {
    *("_get_param_names", "_get_tags", "_more_tags", "_get_doc_link", "_repr_html_"),
    *("_repr_html_inner", "_repr_mimebundle_", "_get_metadata_request", "_get_default_requests"),
}


def overridden(
    estimator: Any, methods: Iterable[str], libraries: Collection[str] = LIBRARIES
) -> list[str]:
    """Return the names of an object's methods that override known ones.

    Parameters
    ----------
    estimator : object
        An estimator, a scorer or the like.
    methods : iterable of str
        Names, or patterns, of the methods replaced by a shortcut. A name counts even if no known
        class has such a method; a pattern is for those that a known class has.
    libraries : collection of str, default=LIBRARIES
        Packages with known functions.

    Returns
    -------
    names : list of str
        Sorted names; empty if the shortcut is valid.
    """
    kind: Any = type(estimator)
    own = getattr(estimator, "__dict__", {})
    names = _names(kind, tuple(methods), frozenset(libraries))
    return [name for name in names if _is_foreign(kind, own, name, libraries)]


@lru_cache(maxsize=512)
def _names(kind, methods, libraries):
    """Methods of a class, sorted: the named ones, and known ones matching patterns."""
    known = [cls for cls in kind.__mro__ if _package(cls.__module__) in libraries]
    patterns = [each for each in methods if "*" in each]
    names = {
        name
        for name in {name for cls in known for name in vars(cls)} - _HARMLESS
        if any(fnmatchcase(name, pattern) for pattern in patterns)
    }
    return sorted(names.union(each for each in methods if "*" not in each))


def _is_foreign(kind, own, name, libraries):
    """True if an object has this method from outside the known libraries, in any class.

    A method behind a known one also counts, since the known one may call it by ``super()``; so
    does a function patched into a library's class.
    """
    if name in own:  # set on the object itself, in the place of its class's
        return callable(own[name])
    for cls in kind.__mro__:
        method = vars(cls).get(name)
        if callable(method) or hasattr(method, "__get__"):  # others are settings
            modules = (cls.__module__, getattr(method, "__module__", None) or cls.__module__)
            if any(_package(module) not in libraries for module in modules):
                return True
    return False


def _package(module):
    return module.partition(".")[0]
