"""Types and constraints of parameters shared by several searches.

Constraints are scikit-learn's, which it validates before ``fit``.
"""

import inspect
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, TypeVar

from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from sksearch._utils._compat import HasMethods, Interval, StrOptions
from sksearch.base import Resource
from sksearch.estimators._model_choice import as_models
from sksearch.fitting.run._objectives import Bound
from sksearch.search._groups import AUTO, BATCHES, COUNT

T = TypeVar("T")
#: Type of `refit`.
Refit = bool | str | Callable | dict | Bound

SELECT = StrOptions({"auto", "best", "top"})
#: Constraints of parameters that several searches share, by name.
MODEL: dict[str, Any] = {"n_initial": [COUNT, None], "workers": [BATCHES, None]}
POPULATION: dict[str, Any] = {
    "population_size": [Interval(Integral, 4, 10**6, closed="both"), None],
    "workers": [BATCHES, None],
}
RESOURCE: dict[str, Any] = {
    "resource": [str, Resource],
    "min_resources": [COUNT, AUTO],
    "max_resources": [COUNT, AUTO],
    "select": [SELECT],
    "audit": [Interval(Real, 0, 1, closed="both")],
}
HALVING: dict[str, Any] = RESOURCE | {"factor": [Interval(Real, 1, None, closed="neither")]}
#: Each iteration is a list of brackets, made before the search starts.
ITERATIONS: dict[str, Any] = {"n_iterations": [Interval(Integral, 1, 10_000, closed="both")]}

MODULE = "torch.nn.modules.module.Module"
SKRUB = ("DataOp", "SkrubLearner", "ParamSearch")


def inherits_parameters(search: type[T]) -> type[T]:
    """Class decorator: replace ``**params`` of ``__init__`` by the parameters of the base class.

    All parameters are then known to ``get_params``, ``clone``, ``help`` and editors.

    Parameters
    ----------
    search : type
        Class with an ``__init__`` that passes ``**params`` to the ``__init__`` of its base class.

    Returns
    -------
    search : type
        The same class.

    Raises
    ------
    TypeError
        If the class does not define an ``__init__`` with ``**params``.

    Examples
    --------
    >>> from sksearch import HyperbandSearchCV
    >>> from sksearch.search import inherits_parameters
    >>> @inherits_parameters
    ... class MySearchCV(HyperbandSearchCV):
    ...     def __init__(self, estimator, param_distributions=None, *, note="", **params):
    ...         super().__init__(estimator, param_distributions, **params)
    ...         self.note = note
    >>> from sklearn.linear_model import SGDClassifier
    >>> MySearchCV(SGDClassifier(), note="first", factor=2).get_params()["factor"]
    2
    """
    init: Any = vars(search).get("__init__", object)
    own = inspect.signature(init).parameters.values()
    if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in own):
        raise TypeError(
            f"{search.__name__} has no __init__ with **params to replace: define one that passes "
            "them to super().__init__, or remove the decorator."
        )
    base: Any = super(search, search)
    others = inspect.signature(base.__init__).parameters.values()
    known = {parameter.name for parameter in own}
    parameters = [p for p in own if p.kind is not p.VAR_KEYWORD]
    parameters += [p.replace(kind=p.KEYWORD_ONLY) for p in others if p.name not in known]
    init.__signature__ = inspect.Signature(parameters)
    return search


class CanFit(HasMethods):
    """Constraint of an estimator: it has scikit-learn's interface."""

    def __init__(self) -> None:
        super().__init__("fit")

    def is_satisfied_by(self, val: object) -> bool:
        """Return whether a value is valid; raise TypeError for other libraries' wrappers."""
        kind = val if isinstance(val, type) else type(val)
        hidden = any(cls.__name__ in SKRUB and _is_of("skrub", cls) for cls in kind.__mro__)
        if hidden and not hasattr(val, "environment"):  # set by skrub's own search
            raise TypeError(
                f"estimator is a skrub {kind.__name__}, which hides its steps in a plan: write "
                "data_op.skb.make_randomized_search().set_params(search=SearchCV(None, "
                "timeout=60)), or pass a pipeline, such as skrub.tabular_pipeline(...)."
            )
        if any(f"{cls.__module__}.{cls.__name__}" == MODULE for cls in kind.__mro__):
            text = f"{kind.__name__}{'' if isinstance(val, type) else '(...)'}"
            raise TypeError(
                f"estimator={text} is a torch.nn.Module, not an estimator: pass "
                f"skorch.NeuralNetClassifier({text}, train_split=None), or NeuralNetRegressor."
            )
        if isinstance(val, type) and super().is_satisfied_by(val):
            raise TypeError(
                f"estimator={val.__name__} is a class: pass an instance, {val.__name__}()."
            )
        for name, step in val.steps if isinstance(val, Pipeline) else ():
            if isinstance(step, type):
                raise TypeError(
                    f"estimator: its step {name!r} is the class {step.__name__}: pass an "
                    f"instance, {step.__name__}()."
                )
        named = val.values() if isinstance(val, dict) else ()
        if isinstance(val, list | tuple) or any(map(_fits, named)):
            as_models(val)  # raises the error that occurred when the object was passed
        if isinstance(val, dict):
            raise TypeError(
                f"estimator={val!r:.80} is a dict without estimators: pass an estimator, or "
                "several by name, {'svc': SVC()}, before their param_distributions."
            )
        _check_kind(val, kind)
        if not super().is_satisfied_by(val):
            return False
        try:
            get_tags(val)
        except AttributeError:
            raise TypeError(
                f"estimator is a {kind.__name__}, which does not have scikit-learn's tags "
                "(__sklearn_tags__): derive it from sklearn.base.BaseEstimator, or search it with "
                "the tools of its library, such as sktime's ForecastingRandomizedSearchCV."
            ) from None
        return True

    __repr__ = HasMethods.__str__


class PartOf(HasMethods):
    """Constraint of a part of a search: an object, not its class or its name.

    Parameters
    ----------
    kind : type
        Class of the part.
    example : str
        Code to write.
    """

    def __init__(self, kind: type, example: str) -> None:
        super().__init__([])
        self._kind, self._example = kind, example

    def is_satisfied_by(self, val: object) -> bool:
        """Return whether a value is valid; raise TypeError for a class and a name."""
        if isinstance(val, type | str):
            text = val.__name__ if isinstance(val, type) else repr(val)
            name = self._kind.__name__
            raise TypeError(
                f"{name.lower()}={text} is not a {name}: pass an instance, such as "
                f"{self._example}."
            )
        return isinstance(val, self._kind)

    def __str__(self) -> str:
        return f"an instance of {self._kind.__name__}, such as {self._example}"

    __repr__ = __str__


def _fits(value: object) -> bool:
    return hasattr(value, "fit")


def _is_of(package: str, cls: type) -> bool:
    return cls.__module__.split(".")[0] == package


def _check_kind(val: object, kind: type) -> None:
    """Raise TypeError for a forecaster or a string, with the correct way to search."""
    if any(_is_of("sktime", cls) and "Forecaster" in cls.__name__ for cls in kind.__mro__):
        raise TypeError(
            f"estimator is an sktime {kind.__name__}, fitted to a series: pass "
            "sksearch.bridges.from_sktime(forecaster)."
        )
    if isinstance(val, str):
        raise TypeError(
            f"estimator={val!r} is a string, but must be an object implementing 'fit': pass an "
            f"estimator instead of {val!r}, such as RandomForestClassifier(), or a list of models "
            "to choose from; 'auto' chooses them by X and y."
        )
