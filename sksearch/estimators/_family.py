"""Estimator families: one object with all the facts about a kind of estimator, and their registry.

All other modules ask the family of an estimator. It is found by class names, so that no library is
imported for it.
"""

import functools
import json
import math
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib import resources
from typing import Any, ClassVar, TypeVar

from sksearch._utils._overrides import LIBRARIES, overridden
from sksearch.base._resource import FIT_CONTEXTS, fit

from ._epoch_training import EpochTraining
from ._parts import Size, SpaceDict

T = TypeVar("T")
SpaceOf = Callable[[Any, Size], SpaceDict]


def class_names(estimator: Any) -> list[str]:
    """Return "package.Class" for the class of an estimator and for its base classes."""
    return [f"{cls.__module__.split('.')[0]}.{cls.__name__}" for cls in type(estimator).__mro__]


def of_class(estimator: Any, known: Mapping[str, T]) -> T | None:
    """Return the entry for the first of an estimator's classes that is listed, or None."""
    return next((known[name] for name in class_names(estimator) if name in known), None)


class Family:
    """Description of a kind of estimator; a subclass sets the attributes that apply.

    To use a family, pass an instance to `register`. Call `register` in the module of the
    estimator's class, so that the family is also known in worker processes.

    Attributes
    ----------
    classes : collection of str
        Estimator classes as "package.Class", in addition to the keys of `spaces`. Derived classes
        also belong to the family.
    title : str
        Name of the family in messages.
    spaces : mapping of str to callable
        Functions that return the default space, by class; each is called with an estimator and the
        `Size` of the table.
    portfolios : mapping of str to str
        Name of the recorded first candidates, by class.
    lists_params : bool
        If True, ``get_params`` lists all parameters that the estimator accepts.
    aliases : mapping of str to tuple of str
        Aliases by parameter name. An alias is searched instead of the parameter if the user has
        set it.
    counts : tuple of str
        Name of the parameter for the number of iterations found during training, and its aliases.
    default_count : int or None
        Default number of iterations, if ``get_params`` does not list it.
    smaller, larger : tuple of str
        Parameters for which a smaller, or a larger, value makes a model simpler.
    growth : type of Growth or None
        Class that finds the number of iterations during training. It is created with the name of
        the parameter and its current value. None: the number is searched like other parameters.
    mutable_params : tuple of str or None
        Names, or patterns, of parameters that may change during training: each training step reads
        them again, and a change does not affect earlier steps. None if unknown.
    epochs : EpochTraining
        Training of the estimator epoch by epoch.

    Examples
    --------
    >>> from scipy.stats import uniform
    >>> from sksearch.estimators import Family
    >>> class Stumps(Family):
    ...     classes = ("my_package.StumpClassifier",)
    ...
    ...     def space(self, estimator, size):
    ...         return {"shrinkage": uniform(0, 1)}
    """

    classes: ClassVar[Collection[str]] = ()
    title: ClassVar[str] = ""
    spaces: ClassVar[Mapping[str, SpaceOf]] = {}
    portfolios: ClassVar[Mapping[str, str]] = {}
    lists_params: ClassVar[bool] = True
    aliases: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    counts: ClassVar[tuple[str, ...]] = ()
    default_count: ClassVar[int | None] = None
    smaller: ClassVar[tuple[str, ...]] = ()
    larger: ClassVar[tuple[str, ...]] = ()
    growth: ClassVar[type | None] = None
    mutable_params: ClassVar[tuple[str, ...] | None] = None
    epochs: ClassVar[EpochTraining] = EpochTraining()

    # ---- search space

    def space(self, estimator: Any, size: Size) -> SpaceDict | None:
        """Return the default space of an estimator, or None if it is unknown.

        Parameters
        ----------
        estimator : estimator object
            An estimator of the family.
        size : Size
            The table.

        Returns
        -------
        space : dict or None
            Choices or distributions by parameter name, the most important first. For a number of
            iterations (`counts`), use ``size.count(1000)``, in which 1000 is the maximum.
        """
        space = of_class(estimator, self.spaces)
        return None if space is None else space(estimator, size)

    def first(self, estimator: Any) -> list[dict[str, Any]]:
        """Return the first candidates of a search, in order of decreasing usefulness."""
        name = of_class(estimator, self.portfolios)
        return [] if name is None else portfolios()[name]

    def upper_bound(self, model: Any, name: str) -> float:
        """Return the upper bound of a parameter of a fitted estimator, infinity if unknown."""
        return math.inf

    # ---- training

    def training(self, estimator: Any) -> AbstractContextManager:
        """Return a context manager for a ``fit`` that may train an estimator of the family."""
        return nullcontext()

    def set_params(self, model: Any, params: dict[str, Any]) -> None:
        """Set parameters of an estimator, which may be fitted."""
        model.set_params(**params)

    def can_grow(
        self, model: Any, name: str, names: Collection[str], passed: set[str], n_rows: int
    ) -> bool:
        """Return whether continued training equals a single ``fit``, up to random draws.

        By default True for ensembles with ``warm_start`` if `name` is ``n_estimators``.

        Parameters
        ----------
        model : estimator object
            An estimator of the family.
        name : str
            Name of the parameter for the number of steps.
        names : collection of str
            Searched parameters.
        passed : set of str
            Names of the other arguments passed to ``fit``.
        n_rows : int
            Number of training rows.

        Returns
        -------
        can_grow : bool
            True if `grow` may be called.
        """
        return (
            name == "n_estimators"
            and hasattr(model, "warm_start")
            and not getattr(model, "oob_score", False)
            and getattr(model, "n_iter_no_change", None) is None
        )

    def grow(
        self, model: Any, name: str, done: int, count: int, X: Any, y: Any, params: dict[str, Any]
    ) -> None:
        """Continue training in place from `done` to `count` steps; from 0 this is a ``fit``.

        Parameters
        ----------
        model : estimator object
            Fitted if ``done > 0``.
        name : str
            Name of the parameter for the number of steps.
        done, count : int
            Number of steps before and after training.
        X, y : array-like
            Training rows, the same in each call.
        params : dict
            Other arguments passed to ``fit``.
        """
        before = model.warm_start
        model.set_params(warm_start=True, **{name: count})
        with warnings.catch_warnings():
            # The rows are the same each time, and so are the class weights.
            warnings.filterwarnings("ignore", message="class_weight presets")
            fit(model, X, y, params)
        model.set_params(warm_start=before)

    def check_labels(self, model: Any, labels: Any) -> None:
        """Raise ValueError if the classifier does not support the labels."""


@functools.cache
def portfolios() -> dict[str, list[dict[str, Any]]]:
    """Read the recorded candidates; layers of a net are tuples."""
    text = resources.files(__package__).joinpath("portfolios.json").read_text(encoding="utf-8")
    return {
        family: [
            {k: tuple(v) if isinstance(v, list) else v for k, v in entry.items()}
            for entry in entries
        ]
        for family, entries in json.loads(text).items()
    }


class Nothing(Family):
    """Estimators with nothing to search: no parameters that matter, or tuned by themselves."""

    def __init__(self, classes: Collection[str]):
        self.spaces = dict.fromkeys(classes, lambda estimator, size: {})  # type: ignore[misc]


#: All registered families, in the order of registration.
_FAMILIES: list[Family] = []
_BY_CLASS: dict[str, Family] = {}
_UNKNOWN = Family()


def register(family: Family) -> None:
    """Register a family for default spaces, resources, searches and reports.

    Parameters
    ----------
    family : Family
        Family to register. This family takes precedence over families registered earlier for the
        same class.

    Examples
    --------
    >>> from sksearch.estimators import Family, register
    >>> class Stumps(Family):
    ...     classes = ("my_package.StumpClassifier",)
    >>> register(Stumps())
    """
    _FAMILIES.append(family)
    if getattr(family.training, "__func__", None) is not Family.training:  # it does something
        FIT_CONTEXTS.append(family.training)
    _BY_CLASS.update(dict.fromkeys({*family.classes, *family.spaces}, family))


@contextmanager
def registered_for_now(family: Family) -> Iterator[None]:
    """Register a family within a context, as `register` does."""
    known, by_class, contexts = list(_FAMILIES), dict(_BY_CLASS), list(FIT_CONTEXTS)
    if family not in known:
        register(family)
    try:
        yield
    finally:
        _FAMILIES[:] = known
        _BY_CLASS.clear()
        _BY_CLASS.update(by_class)
        FIT_CONTEXTS[:] = contexts


def families() -> tuple[Family, ...]:
    """Return all families."""
    return tuple(_FAMILIES)


def family_named(name: str) -> Family | None:
    """Return the family that names a class, as "package.Class"."""
    return _BY_CLASS.get(name)


def family_of(estimator: Any) -> Family:
    """Return the family of an estimator, or one without any facts.

    Parameters
    ----------
    estimator : object
        Fitted or not.

    Returns
    -------
    family : Family
        The family of the first of its classes that belongs to one.

    Examples
    --------
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> from sksearch.estimators._family import family_of
    >>> family_of(HistGradientBoostingClassifier()).counts
    ('max_iter',)
    """
    return of_class(estimator, _BY_CLASS) or _UNKNOWN


def own_methods(estimator: Any, methods: Iterable[str]) -> list[str]:
    """Name the methods defined neither by the estimator's family nor by a known library.

    Parameters
    ----------
    estimator : object
        Fitted or not.
    methods : iterable of str
        Names, or patterns.

    Returns
    -------
    names : list of str
        For a class without a family, all methods that it defines itself.
    """
    listed = [name.partition(".")[0] for name in class_names(estimator) if name in _BY_CLASS]
    return overridden(estimator, methods, LIBRARIES.union(listed[:1]))
