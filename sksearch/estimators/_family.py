"""What an estimator family is: one object that says everything, and the list of all families.

Everybody else asks the family of an estimator. It is found by the names of classes, so that no
library is imported for it.
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
    """Return "package.Class" for the class of an estimator and for those that it derives from."""
    return [f"{cls.__module__.split('.')[0]}.{cls.__name__}" for cls in type(estimator).__mro__]


def of_class(estimator: Any, known: Mapping[str, T]) -> T | None:
    """Return what is known of the first of an estimator's classes that is listed, or None."""
    return next((known[name] for name in class_names(estimator) if name in known), None)


class Family:
    """Knowledge about a kind of estimators; this one knows nothing.

    A subclass states what it knows, and one object of it is passed to `register`. Worker processes
    know it if it is registered in the module of the estimator's class.

    Attributes
    ----------
    classes : collection of str
        "package.Class" of its estimators, in addition to those of `spaces`. The family also
        has the classes that derive from them.
    title : str
        Name in messages.
    spaces : mapping of str to callable
        Space of a class; called with an estimator and the `Size` of the table.
    portfolios : mapping of str to str
        Of a class, the name of its recorded first candidates.
    lists_params : bool
        Whether ``get_params`` lists all that the estimator takes.
    aliases : mapping of str to tuple of str
        Other names of parameters, which are searched in place of ours where the user has set them.
    counts : tuple of str
        Names of the number of iterations that training finds; aliases of one parameter.
    default_count : int or None
        The number if ``get_params`` does not list it.
    smaller, larger : tuple of str
        Parameters of which a smaller, or a larger, value makes a model simpler.
    growth : type of Growth or None
        Finds one of `counts` in training; made with its name and the estimator's own number. None
        if the number has to be searched.
    mutable_params : tuple of str or None
        Names, or patterns, of parameters that each further step of training reads again, and that
        leave the steps before as they are. None if unknown.
    epochs : EpochTraining
        How it is trained epoch by epoch.

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

    # ---- what is searched

    def space(self, estimator: Any, size: Size) -> SpaceDict | None:
        """Return the default space of an estimator, None if it is unknown.

        Parameters
        ----------
        estimator : estimator object
            One of the family.
        size : Size
            The table.

        Returns
        -------
        space : dict or None
            Choices or distributions by name, the most important first. ``size.count(1000)`` is the
            space of one of `counts`.
        """
        space = of_class(estimator, self.spaces)
        return None if space is None else space(estimator, size)

    def first(self, estimator: Any) -> list[dict[str, Any]]:
        """Return the first candidates of a search, the one that helps most often first."""
        name = of_class(estimator, self.portfolios)
        return [] if name is None else portfolios()[name]

    def upper_bound(self, model: Any, name: str) -> float:
        """Return the largest value of a parameter of a fitted estimator, infinity if unknown."""
        return math.inf

    # ---- how it is trained

    def training(self, estimator: Any) -> AbstractContextManager:
        """Return a context for a ``fit`` of any estimator, which may contain one of the family."""
        return nullcontext()

    def set_params(self, model: Any, params: dict[str, Any]) -> None:
        """Set params of an estimator that may be fitted."""
        model.set_params(**params)

    def can_grow(
        self, model: Any, name: str, names: Collection[str], passed: set[str], n_rows: int
    ) -> bool:
        """Return whether training that continues gives the model of one ``fit``, but for draws.

        By default it does for ensembles with ``warm_start``, by their ``n_estimators``.

        Parameters
        ----------
        model : estimator object
            One of the family.
        name : str
            The parameter that is the count.
        names : collection of str
            Searched parameters.
        passed : set of str
            Names of further arguments of ``fit``.
        n_rows : int
            Number of training rows.

        Returns
        -------
        can_grow : bool
            Whether `grow` may be called.
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
        """Continue training from `done` steps to `count`, in place; from 0 it is a ``fit``.

        Parameters
        ----------
        model : estimator object
            Fitted if ``done > 0``.
        name : str
            The parameter that is the count.
        done, count : int
            Number of steps before and after.
        X, y : array-like
            The training rows, the same at each call.
        params : dict
            Further arguments of ``fit``.
        """
        before = model.warm_start
        model.set_params(warm_start=True, **{name: count})
        with warnings.catch_warnings():
            # The rows are the same each time, so the class weights are, too.
            warnings.filterwarnings("ignore", message="class_weight presets")
            fit(model, X, y, params)
        model.set_params(warm_start=before)

    def check_labels(self, model: Any, labels: Any) -> None:
        """Raise ValueError for labels that a classifier cannot be trained on."""


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
    """Estimators with nothing to search: no parameters that matter, or they find them."""

    def __init__(self, classes: Collection[str]):
        self.spaces = dict.fromkeys(classes, lambda estimator, size: {})  # type: ignore[misc]


#: All families that are known, in the order of registration.
_FAMILIES: list[Family] = []
_BY_CLASS: dict[str, Family] = {}
_UNKNOWN = Family()


def register(family: Family) -> None:
    """Make a family known: to default spaces, resources, searches and reports.

    Parameters
    ----------
    family : Family
        It is asked before those that were registered earlier for the same class.

    Examples
    --------
    >>> from sksearch.estimators import Family, register
    >>> class Stumps(Family):
    ...     classes = ("my_package.StumpClassifier",)
    >>> register(Stumps())
    """
    _FAMILIES.append(family)
    FIT_CONTEXTS.append(family.training)
    _BY_CLASS.update(dict.fromkeys({*family.classes, *family.spaces}, family))


@contextmanager
def registered_for_now(family: Family) -> Iterator[None]:
    """A context in which a family is known, as after `register`."""
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
    """Return the family of an estimator, or one that knows nothing.

    Parameters
    ----------
    estimator : object
        Fitted or not.

    Returns
    -------
    family : Family
        The one of the first of its classes that is known.

    Examples
    --------
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> from sksearch.estimators import family_of
    >>> family_of(HistGradientBoostingClassifier()).counts
    ('max_iter',)
    """
    return of_class(estimator, _BY_CLASS) or _UNKNOWN


def own_methods(estimator: Any, methods: Iterable[str]) -> list[str]:
    """Name the methods that are neither those of the estimator's family nor of a known library.

    Parameters
    ----------
    estimator : object
        Fitted or not.
    methods : iterable of str
        Names, or patterns.

    Returns
    -------
    names : list of str
        Of a class without a family all that it has of its own.
    """
    listed = [name.partition(".")[0] for name in class_names(estimator) if name in _BY_CLASS]
    return overridden(estimator, methods, LIBRARIES.union(listed[:1]))
