"""Several models as one estimator, and the space that is the union of theirs."""

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Self

from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.pipeline import Pipeline

from sksearch._compat import routing_enabled
from sksearch.space import Outcome

from ._composed import find_space
from ._default import own_candidate
from ._first import filled, first_candidates
from ._parts import Size, SpaceDict
from ._pipeline import last_step, path_of_last_step

WHICH = "model"  # the parameter that names the one that it is


class OneOf(Pipeline):
    """One of several models, of which a search finds the best.

    A search makes it of a list of estimators. It fits and predicts as the model that it is now.

    Parameters
    ----------
    models : list of estimators, or of pairs (str, estimator)
        All classifiers, or all regressors; pipelines, too. Their parameters are ``name__param``.
    model : str or None, default=None
        Name of the one that it is; None: the first.

    Attributes
    ----------
    named : list of tuple (str, estimator)
        The models with their names; without a name it is that of the class, in lower case.

    Raises
    ------
    TypeError
        If a model is no estimator.
    ValueError
        If there is no model, a name is there twice or cannot be one, or some models are
        classifiers and some regressors.

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
    >>> type(search.best_estimator_) is type(dict(models)[search.best_params_["model"]])
    True
    """

    _parameter_constraints: dict = {}
    memory = transform_input = None
    verbose = False

    def __init__(self, models: list, model: str | None = None) -> None:
        self.models = models
        self.model = model
        self.named = _named(models)
        self._choose()

    def _choose(self) -> None:
        """Be the model that is named."""
        known = dict(self.named)
        name = self.named[0][0] if self.model is None else self.model
        if name not in known:
            raise ValueError(f"model={name!r} is none of {', '.join(known)}.")
        self.steps = [(name, known[name])]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, with those of all models.

        Parameters
        ----------
        deep : bool, default=True
            Whether those of the models are in it.

        Returns
        -------
        params : dict
            By name.
        """
        return self._get_params("named", deep=deep)

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of a model as ``name__param``.

        Parameters
        ----------
        **params : dict
            By name.

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
        """Fit the model that it is.

        Parameters
        ----------
        X, y : array-like
            Training data.
        **params : dict
            For ``fit`` of the model, of a pipeline for that of its last step.

        Returns
        -------
        self : OneOf
            Itself.
        """
        return super().fit(X, y, **self.prefixed(params))

    def prefixed(self, fit_params: dict[str, Any]) -> dict[str, Any]:
        """Return parameters of ``fit`` with the names that a pipeline has for them."""
        if routing_enabled():
            return fit_params
        path = path_of_last_step(self)
        return {f"{path}__{name}": value for name, value in fit_params.items()}

    def __getitem__(self, which: Any) -> Any:
        return Pipeline(self.steps)[which]

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return BaseEstimator.__repr__(self, N_CHAR_MAX)


def model_of(estimator: Any) -> Any:
    """Return the model that an estimator is one of several as, or the estimator itself."""
    return estimator.steps[0][1] if isinstance(estimator, OneOf) else estimator


def with_parameter(estimator: Any, name: str) -> Any:
    """Return, of several models, the one that has a parameter; any other estimator as it is."""
    if not isinstance(estimator, OneOf):
        return estimator
    which = name.partition("__")[0]
    return OneOf(estimator.named, which) if which in dict(estimator.named) else estimator


def named_of(estimator: Any) -> list[tuple[str, Any]]:
    """Return the models that an estimator is one of, with their names; any other has none."""
    return estimator.named if isinstance(estimator, OneOf) else []


def each_of(estimator: Any) -> list[Any]:
    """Return the models that an estimator is one of, or the estimator itself."""
    return [model for _, model in named_of(estimator)] or [estimator]


def _named(models: Sequence) -> list[tuple[str, Any]]:
    """Names and models; raise if they cannot be searched together."""
    if not models:
        raise ValueError("The list of models is empty: pass estimators, such as [SVC()].")
    pairs = [each if _is_pair(each) else ("", each) for each in models]
    for _, model in pairs:
        if isinstance(model, type):
            raise TypeError(f"{model.__name__} is a class: pass an instance, {model.__name__}().")
        if not (hasattr(model, "fit") and hasattr(model, "get_params")):
            raise TypeError(f"{model!r} is no estimator: pass a list of estimators.")
    kinds = {(is_classifier(model), is_regressor(model)) for _, model in pairs}
    if len(kinds) > 1:
        texts = ", ".join(type(last_step(model)).__name__ for _, model in pairs)
        raise ValueError(f"The models are not of one kind: {texts}. Pass classifiers alone, say.")
    own = [name or type(last_step(model)).__name__.lower() for name, model in pairs]
    times, seen = Counter(own), Counter[str]()
    names = []
    for name, (given, _) in zip(own, pairs, strict=True):
        seen[name] += 1
        if given and (times[name] > 1 or "__" in name or name in (WHICH, "models")):
            raise ValueError(
                f"The name {name!r} cannot be that of a model: it is there twice, has __ in it, "
                "or is that of a parameter of OneOf."
            )
        names.append(f"{name}-{seen[name]}" if times[name] > 1 else name)
    return [(name, model) for name, (_, model) in zip(names, pairs, strict=True)]


def _is_pair(value: object) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str)


def union_of_spaces(
    estimator: OneOf, size: Size, given: Mapping[str, SpaceDict] | None = None
) -> list[SpaceDict]:
    """Return the space of each model with its own name for it: the default one, or one by name.

    A model of which nothing is known has one candidate, itself.
    """
    parts = []
    for name, model in estimator.named:
        own = _space_of(name, model, size)
        if given is not None and name in given:
            own = {f"{name}__{key}": values for key, values in given[name].items()}
        parts.append({WHICH: [name], **own})
    return parts


def first_of_each(estimator: OneOf, size: Size, spaces: list[SpaceDict]) -> list[dict[str, Any]]:
    """Return candidates to begin with: each model with its own values, then those that are known.

    Own values are taken as far as they lie in the space of the model, one of `spaces`. Of those
    that are known the first of each model come before the second of any.
    """
    own, known = [], []
    for (name, model), found in zip(estimator.named, spaces, strict=True):
        alone, which = OneOf([(name, model)]), {WHICH: name}
        space = {key: values for key, values in found.items() if not isinstance(values, Outcome)}
        own.append(filled(space, own_candidate(alone, space) | which))
        sizes = {"n_samples": size.n_samples, "n_features": size.n_features}
        known.append([which | candidate for candidate in first_candidates(alone, **sizes)])
    rounds = itertools.zip_longest(*known)
    return own + [each for together in rounds for each in together if each is not None]


def _space_of(name: str, model: Any, size: Size) -> SpaceDict:
    """What is searched of a model that is one of several."""
    return find_space(OneOf([(name, model)]), size) or {}
