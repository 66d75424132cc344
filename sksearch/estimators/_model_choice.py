"""Several models as one estimator, and the union of their spaces."""

import itertools
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import Pipeline
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import has_fit_parameter

from sksearch._utils._compat import routing_enabled
from sksearch.estimators._default import own_candidate
from sksearch.estimators._first import filled, first_candidates
from sksearch.estimators._parts import Size, SpaceDict
from sksearch.estimators._pipeline import compositions, last_step
from sksearch.history import WHICH
from sksearch.space import Outcome, Space
from sksearch.space._conditions import When
from sksearch.space._values import equal

RESERVED = (WHICH, "models", "named", "self")  # names that OneOf uses itself


class OneOf(Pipeline):
    """Estimator that stands for one of several models, from which a search chooses the best.

    A search creates it from a list of estimators. It fits and predicts with the current model.

    Parameters
    ----------
    models : list of estimators, or of pairs (str, estimator)
        All classifiers, or all regressors, including pipelines. Their parameters are
        ``name__param``.
    model : str or None, default=None
        Name of the current model; None: the first.

    Attributes
    ----------
    named : list of tuple (str, estimator)
        Models with their names. The default name is the class name in lower case.

    Raises
    ------
    TypeError
        If a model is not an estimator. ValueError If the list is empty, a name is repeated or
        invalid, or some models are classifiers and some regressors.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.svm import SVC
    >>> from sksearch import SearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> models = [("nearest", KNeighborsClassifier()), ("svm", SVC())]
    >>> search = SearchCV(models, n_iter=12, random_state=0).fit(X, y)
    >>> search.estimator
    OneOf(models=[('nearest', KNeighborsClassifier()), ('svm', SVC())])
    >>> search.best_params_["model"] in dict(models)
    True
    """

    _parameter_constraints: dict = {}
    memory = transform_input = None
    verbose = False
    unweighted: tuple[str, ...] = ()  # models that "auto" leaves out, as they take no weights

    def __init__(self, models: list, model: str | None = None) -> None:
        self.models = models
        self.model = model
        self.named = _named(models)
        self._choose()

    def _choose(self) -> None:
        """Become the named model."""
        known = dict(self.named)
        name = self.named[0][0] if self.model is None else self.model
        if name not in known:
            raise ValueError(f"model={name!r} must be one of {', '.join(known)}.")
        self.steps = [(name, known[name])]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, including all models' parameters.

        Parameters
        ----------
        deep : bool, default=True
            If True, include the parameters of the models.

        Returns
        -------
        params : dict
            Values by name.
        """
        return self._get_params("named", deep=deep)

    def set_params(self, **params: Any) -> Self:
        """Set parameters; a model's parameters are ``name__param``.

        Parameters
        ----------
        **params : dict
            Values by name.

        Returns
        -------
        self : OneOf
            Itself.
        """
        if "models" in params:
            self.models = params.pop("models")
            self.named = _named(self.models)
        is_replaced = any(name in params for name, _ in self.named)
        self._set_params("named", **params)
        if is_replaced:
            self.models = list(self.named)
        self._choose()
        return self

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Fit the current model.

        Parameters
        ----------
        X, y : array-like
            Training data.
        **params : dict
            Arguments of ``fit`` of the model; for a pipeline, of its last step.

        Returns
        -------
        self : OneOf
            Itself.
        """
        return super().fit(X, y, **self.prefixed(params))

    def prefixed(self, fit_params: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of ``fit`` under the names that a pipeline expects."""
        if routing_enabled():
            return fit_params
        path = "__".join(
            each.steps[-1][0] for each in compositions(self) if hasattr(each, "steps")
        )
        return {f"{path}__{name}": value for name, value in fit_params.items()}

    def __getitem__(self, which: Any) -> Any:
        return Pipeline(self.steps)[which]

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return BaseEstimator.__repr__(self, N_CHAR_MAX)


class AutoModels(OneOf):
    """Implementation of ``estimator="auto"``: `default_models` for the data of each `fit`.

    A clone has no data yet.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sksearch import SearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> search = SearchCV("auto", n_iter=5, cv=3, random_state=0)
    >>> search.estimator
    'auto'
    >>> "linear" in str(search.plan(X, y))
    True
    """

    def __init__(self) -> None:
        # Any method that a model may have: meta-estimators look for it before `fit`.
        self.named, self.steps = [], [("auto", DummyClassifier())]

    def settle(self, X: Any, y: Any, fit_params: Mapping[str, Any]) -> None:
        """Choose the models for these data, and for weights if there are any."""
        from ._models import default_models

        if y is None:
            raise ValueError("estimator='auto' chooses models by y, but y is missing: pass y.")
        self.models, self.model, self.unweighted = default_models(X, y), None, ()
        if fit_params.get("sample_weight") is not None:
            self.unweighted = tuple(n for n, model in self.models if not _takes_weights(model))
            self.models = [pair for pair in self.models if pair[0] not in self.unweighted]
        self.named = _named(self.models)
        self._choose()

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters of the models; a clone has none.

        Parameters
        ----------
        deep : bool, default=True
            If True, include the parameters of the models.

        Returns
        -------
        params : dict
            Values by name.
        """
        return super().get_params() if deep and self.named else {}

    def __sklearn_tags__(self) -> Any:
        if self.named:
            return super().__sklearn_tags__()
        # y decides, and is unknown before `fit`. With this tag cross-validation stratifies its
        # folds if y has classes, and otherwise makes those of a regressor.
        tags = BaseEstimator.__sklearn_tags__(self)
        tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        return tags

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return repr("auto")


def as_models(estimator: Any) -> Any:
    """Wrap a list or dict of models, or "auto", in one estimator; return any other unchanged."""
    if isinstance(estimator, dict):
        estimator = list(estimator.items())
    if isinstance(estimator, str) and estimator == "auto":
        return AutoModels()
    return OneOf(list(estimator)) if isinstance(estimator, list | tuple) else estimator


def settle(estimator: Any, X: Any, y: Any, fit_params: Mapping[str, Any]) -> None:
    """Choose the models of "auto" for the given data and arguments of ``fit``."""
    if isinstance(estimator, AutoModels):
        estimator.settle(X, y, fit_params)


def settled(estimator: Any) -> Any:
    """Return the models chosen by "auto" as a `OneOf`; any other estimator unchanged."""
    is_auto = isinstance(estimator, AutoModels) and estimator.named
    return _like(estimator, OneOf(estimator.models)) if is_auto else estimator


def _like(estimator: OneOf, made: OneOf) -> OneOf:
    made.unweighted = estimator.unweighted
    return made


def note_on_weights(estimator: Any) -> list[str]:
    """Return a line on the models that "auto" leaves out, as they take no weights."""
    if not (names := getattr(estimator, "unweighted", ())):
        return []
    return [f"models left out, as their fit accepts no sample_weight: {', '.join(names)}"]


def _takes_weights(model: Any) -> bool:
    last = last_step(model)
    return has_fit_parameter(getattr(last, "estimator", last), "sample_weight")


def without(estimator: Any, names: Collection[str]) -> Any:
    """Return a `OneOf` of the other models; any other estimator unchanged."""
    if not (names and isinstance(estimator, OneOf)):
        return estimator
    kept = [pair for pair in estimator.named if pair[0] not in names]
    made = OneOf(kept, None if estimator.model in names else estimator.model)
    return _like(estimator, made)


def model_of(estimator: Any) -> Any:
    """Return the current model of a `OneOf`; any other estimator unchanged."""
    return estimator.steps[0][1] if isinstance(estimator, OneOf) else estimator


def with_parameter(estimator: Any, name: str) -> Any:
    """Return the model of a `OneOf` that has a parameter; any other estimator unchanged."""
    if not isinstance(estimator, OneOf):
        return estimator
    which = name.partition("__")[0]
    return OneOf(estimator.named, which) if which in dict(estimator.named) else estimator


def named_of(estimator: Any) -> list[tuple[str, Any]]:
    """Return the named models of a `OneOf`; an empty list for any other estimator."""
    return estimator.named if isinstance(estimator, OneOf) else []


def each_of(estimator: Any) -> list[Any]:
    """Return the models of a `OneOf`, or the estimator itself in a list."""
    return [model for _, model in named_of(estimator)] or [estimator]


def columns_of(estimator: Any) -> list[str]:
    """Return a line for each group of columns that models read by a `TableColumns`."""
    models = named_of(estimator) or [("", estimator)]
    steps = [step for _, model in models for _, step in getattr(model, "steps", ())]
    if not any(hasattr(step, "left_out") for step in steps):
        return []
    from ._tables import notes_on_columns

    return notes_on_columns(models)


def _named(models: Sequence) -> list[tuple[str, Any]]:
    """Names and models; raise if they cannot be searched together."""
    if not models:
        raise ValueError("The list of models is empty: pass estimators, such as [SVC()].")
    pairs = [each if _is_pair(each) else ("", each) for each in models]
    for _, model in pairs:
        if isinstance(model, type):
            raise TypeError(f"{model.__name__} is a class: pass an instance, {model.__name__}().")
        if not (hasattr(model, "fit") and hasattr(model, "get_params")):
            raise TypeError(f"{model!r} is not an estimator: pass a list of estimators.")
    kinds = {(is_classifier(model), is_regressor(model)) for _, model in pairs}
    if len(kinds) > 1:
        texts = ", ".join(type(last_step(model)).__name__ for _, model in pairs)
        raise ValueError(
            f"The models are of different kinds: {texts}. Pass only classifiers, or only "
            "regressors."
        )
    given = [name for name, _ in pairs if name]
    for name in given:
        if why := _fault_of(name, given.count(name)):
            raise ValueError(f"{name!r} cannot be the name of a model: {why}.")
    taken, own = {*given, *RESERVED}, [_name_of_class(model) for _, model in pairs]
    times = Counter(name for name, (is_given, _) in zip(own, pairs, strict=True) if not is_given)
    named = []
    for (name, model), of_class in zip(pairs, own, strict=True):
        if not name:
            numbered = (f"{of_class}-{i}" for i in itertools.count(1))
            free = numbered if times[of_class] > 1 else itertools.chain([of_class], numbered)
            name = next(each for each in free if each not in taken)
            taken.add(name)
        named.append((name, model))
    return named


def _fault_of(name: str, times: int) -> str:
    """Return the reason why a model cannot have a name, "" if it can."""
    if times > 1:
        return "it occurs twice"
    if name in RESERVED:
        return f"OneOf has a parameter or an attribute {name!r}"
    if "__" in name or name.endswith("_"):
        return (
            f"{name}__C would not be read as C of {name}, since the name contains __ or ends in _"
        )
    return ""


def _name_of_class(model: Any) -> str:
    """Return the default name of a model: its class name in lower case."""
    return re.sub("_+", "_", type(last_step(model)).__name__.lower()).rstrip("_") or "one"


def _is_pair(value: object) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str)


def by_model(estimator: OneOf, given: Any) -> dict[str, list[SpaceDict]] | None:
    """Return the user's dicts for each model, each with the model's name as its only choice.

    Parameters are ``name__param``, or ``param`` in a dict under the name of the model.

    Parameters
    ----------
    estimator : OneOf
        The models.
    given : dict, list of dict or None
        A space, as passed by the user.

    Returns
    -------
    dicts : dict of str to list of dict or None
        Omits models without a dict. None if `given` contains a parameter of no model, such as the
        choice of the model: then it is an ordinary space.

    Raises
    ------
    ValueError
        If a dict is given under a name that no model has.
    """
    found: dict[str, list[SpaceDict]] = {}
    dicts: Any = [given or {}] if given is None or isinstance(given, Mapping) else given
    if not isinstance(dicts, Sequence) or not all(isinstance(each, Mapping) for each in dicts):
        return None
    names = list(dict(estimator.named))
    for each in dicts:
        parts: dict[str, SpaceDict] = {}
        for key, values in each.items():
            name = str(key).partition("__")[0]
            if isinstance(values, Mapping) and key not in names:
                raise ValueError(
                    f"param_distributions contains {key!r}, but the models are {names}."
                )
            if name not in names:
                return None
            own = values if isinstance(values, Mapping) else None
            part = parts.setdefault(name, {WHICH: [name]})
            part |= {key: values} if own is None else _prefixed(name, own)
        for name, part in parts.items():
            found.setdefault(name, []).append(part)
    return found


def union_of_spaces(
    estimator: OneOf, given: Any, rest: Callable[[OneOf], SpaceDict]
) -> list[SpaceDict] | None:
    """Return the spaces of all models; `rest` makes the space of models without a dict.

    `rest` is called with a `OneOf` of the single model. None if the user's space is for all models
    together, see `by_model`.
    """
    found = by_model(estimator, given)
    if found is None:
        return None
    parts = []
    for name, model in estimator.named:
        alone = OneOf([(name, model)])
        parts += found.get(name) or [{WHICH: [name], **rest(alone)}]
    return parts


def alone_if_not_named(estimator: Any, grid: Any) -> Any:
    """Fix models missing in a grid by model to their own values; return other grids unchanged."""
    if not isinstance(estimator, OneOf):
        return grid
    parts = union_of_spaces(estimator, grid, lambda one: {})
    return grid if parts is None else parts


def first_of_each(estimator: OneOf, given: Any, space: Space) -> tuple[list[dict[str, Any]], bool]:
    """Return each model with its own values, and whether the first candidate is untuned.

    In a space that the user passed for a model, the values are as near to the model's own as
    possible. Models outside the space have no candidate.
    """
    found, values, firsts, is_own = by_model(estimator, given), estimator.get_params(), [], False
    dicts: Any = [space.given] if isinstance(space.given, Mapping) else space.given
    for i, (name, model) in enumerate(estimator.named):
        is_given = found is None or name in found
        own = space.baseline(values | {WHICH: name}, inside=is_given, kept=[WHICH])
        if own is not None and i == 0:
            is_own = not is_given or all(equal(own[k], values[k]) for k in own if k != WHICH)
        if own is None:
            mine = [each for each in dicts if each.get(WHICH) == [name]]
            if mine and not any(isinstance(each, When) for each in mine[0].values()):
                own = _nearest(OneOf([(name, model)]), mine[0])
            elif mine:
                outside = space.baseline(values | {WHICH: name}, kept=[WHICH])
                own = space.from_unit(np.nan_to_num(space.place(outside or {}), nan=0.5))
        if own is not None and (not is_given or space.contains(own)):
            firsts.append(own)
    return firsts, is_own


def known_of_each(estimator: OneOf, size: Size) -> list[dict[str, Any]]:
    """Return candidates that are good on many tables: one of each model before a second."""
    sizes = {"n_samples": size.n_samples, "n_features": size.n_features}
    known = [
        [{WHICH: name} | each for each in first_candidates(OneOf([(name, model)]), **sizes)]
        for name, model in estimator.named
    ]
    rounds = itertools.zip_longest(*known)
    return [each for together in rounds for each in together if each is not None]


def _nearest(alone: OneOf, given: SpaceDict) -> dict[str, Any]:
    """Return a candidate of an unconditional space, with a model's own values if possible."""
    space = {key: values for key, values in given.items() if not isinstance(values, Outcome)}
    return filled(space, own_candidate(alone, space) | {WHICH: alone.named[0][0]})


def _prefixed(name: str, space: Mapping[str, Any]) -> SpaceDict:
    """Convert a model's space into its space as one of several models."""
    return {f"{name}__{key}": _under(name, values) for key, values in space.items()}


def _under(name: str, values: Any) -> Any:
    """Prefix the conditions of values, which refer to parameters of the same model."""
    if not isinstance(values, When):
        return values
    return replace(values, values=_under(name, values.values), parent=f"{name}__{values.parent}")
