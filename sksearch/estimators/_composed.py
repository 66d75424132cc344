"""Search space of an estimator, by its class names and through its components."""

import itertools
from typing import Any

from sksearch._utils._overrides import PREDICTION, TRAINING

from ..space import Outcome
from ._family import class_names, family_named, family_of, own_methods
from ._parts import Size, SpaceDict
from ._pipeline import trains_its_regressor
from ._registered import registered

# The method by which a class declares its own search space.
DECLARED = "__sksearch_space__"
# Maximum number of parameters: of a transformer, a branch of an ensemble, all but the model.
OF_A_TRANSFORMER = 2
OF_A_BRANCH = 3
OF_ALL_OTHERS = 8

# Estimators with nothing to search: no parameters that matter, or tuned by themselves.
_NOTHING = """
    LinearRegression Lars LarsCV LassoCV LassoLarsCV LassoLarsIC ElasticNetCV MultiTaskLassoCV
    MultiTaskElasticNetCV OrthogonalMatchingPursuitCV LogisticRegressionCV RidgeCV
    RidgeClassifierCV ARDRegression BayesianRidge GaussianProcessClassifier IsotonicRegression
    DummyClassifier DummyRegressor FrozenEstimator BaseSearchCV RFECV StandardScaler
    MinMaxScaler MaxAbsScaler RobustScaler Normalizer PowerTransformer QuantileTransformer
    Binarizer FunctionTransformer VarianceThreshold OrdinalEncoder LabelEncoder LabelBinarizer
    MultiLabelBinarizer MissingIndicator DictVectorizer FeatureHasher
"""
# Pretrained on other tables.
_TRAINED = {"tabpfn.TabPFNClassifier", "tabpfn.TabPFNRegressor"}
# Transformers that read table columns.
_READING = {"sksearch.TableColumns", "skrub.ApplyToCols"}
NOTHING = {f"sklearn.{name}" for name in _NOTHING.split()} | _TRAINED | _READING
# Transformers that keep the number of columns, or roughly their total variance: the one-hot
# columns of a category have a total variance below 1.
KEEP_COLUMNS = (
    NOTHING
    | {f"sklearn.{name}" for name in ("SimpleImputer", "KNNImputer", "IterativeImputer")}
    | {f"sklearn.{name}" for name in ("OneHotEncoder", "TargetEncoder", "ColumnTransformer")}
)
# Rows scaled to length 1.
TEXTS = {
    f"sklearn.{name}" for name in ("TfidfVectorizer", "HashingVectorizer", "TfidfTransformer")
}
# Wrappers of one estimator, and the name of its parameter (an older name second).
WRAPPERS = {
    "sklearn.OneVsRestClassifier": ("estimator",),
    "sklearn.OneVsOneClassifier": ("estimator",),
    "sklearn.OutputCodeClassifier": ("estimator",),
    "sklearn.MultiOutputClassifier": ("estimator",),
    "sklearn.MultiOutputRegressor": ("estimator",),
    "sklearn.ClassifierChain": ("estimator", "base_estimator"),
    "sklearn.RegressorChain": ("estimator", "base_estimator"),
    "sklearn.TransformedTargetRegressor": ("regressor",),
    "sklearn.CalibratedClassifierCV": ("estimator",),
    "sklearn.TunedThresholdClassifierCV": ("estimator",),
    "sklearn.FixedThresholdClassifier": ("estimator",),
    "sklearn.SelfTrainingClassifier": ("estimator", "base_estimator"),
    "sklearn.RANSACRegressor": ("estimator",),
    "sklearn.BaggingClassifier": ("estimator",),
    "sklearn.BaggingRegressor": ("estimator",),
    "sklearn.AdaBoostClassifier": ("estimator",),
    "sklearn.AdaBoostRegressor": ("estimator",),
    "mlxtend.StackingClassifier": ("meta_classifier",),
    "mlxtend.StackingCVClassifier": ("meta_classifier",),
    "mlxtend.StackingRegressor": ("meta_regressor",),
    "mlxtend.StackingCVRegressor": ("meta_regressor",),
}
# Ensembles of several parts, and the attributes that hold the parts.
COMPOSED = {"sklearn.Pipeline", "sklearn.ColumnTransformer", "sklearn.FeatureUnion"}
PARTS = ("steps", "transformers", "transformer_list")
# Parameters of the wrappers themselves.
WRAPPERS_OWN: dict[str, SpaceDict] = {
    "sklearn.CalibratedClassifierCV": {"method": ["sigmoid", "isotonic"]},
}
ENSEMBLES = {
    f"sklearn.{kind}{task}"
    for kind in ("Stacking", "Voting")
    for task in ("Classifier", "Regressor")
}


def find_space(estimator: Any, size: Size) -> SpaceDict | None:
    """Return the space of an estimator, the most important parameters first.

    Parameters
    ----------
    estimator : estimator
        Any object with ``get_params``.
    size : Size
        The table.

    Returns
    -------
    dict or None
        None if no class of the estimator is known; empty if there is nothing to search.
    """
    if own_methods(estimator, (*TRAINING, *PREDICTION)):  # cannot find the number of steps
        size = _inner(size)
    for cls, name in zip(type(estimator).__mro__, class_names(estimator), strict=True):
        if (space := registered(cls, estimator, size)) is not None:
            return _checked(space, f"The space registered for {cls.__name__}")
        if DECLARED in vars(cls):
            return _declared(estimator, size)
        if name == "sklearn.Pipeline":
            return _pipeline(estimator, size)
        if name in ("sklearn.ColumnTransformer", "sklearn.FeatureUnion"):
            return _branches(_columns(estimator, size), OF_A_TRANSFORMER)
        if name in ENSEMBLES:
            return _ensemble(estimator, size)
        if name in WRAPPERS:
            return _wrapper(name, estimator, size)
        family = family_named(name)
        space = None if family is None else family.space(estimator, size)
        if space is not None:
            return _listed(estimator, space)
    return None


def _declared(estimator, size):
    """Return the space that a class declares itself."""
    space = getattr(estimator, DECLARED)(n_samples=size.n_samples, n_features=size.n_features)
    return _checked(space, f"{type(estimator).__name__}.{DECLARED}")


def _checked(space, source):
    """Return a space if it is valid, otherwise raise."""
    if not isinstance(space, dict):
        raise TypeError(
            f"{source} returned {space!r:.80}, but must return a dict of parameter names with "
            "choices or distributions."
        )
    return space


def unknown_parts(estimator: Any) -> dict[str, Any]:
    """Name the parts without a known space, which a search leaves unchanged.

    Parameters
    ----------
    estimator : estimator
        Any object with ``get_params``.

    Returns
    -------
    dict of str to estimator
        By name, such as "pipeline__clf"; an estimator that is not a composition has the name "".
    """
    parts = _parts_of(estimator)
    found = {}
    for name, part in parts:
        for path, unknown in unknown_parts(part).items():
            found[f"{name}__{path}" if path else name] = unknown
    if not parts and find_space(estimator, Size()) is None:
        found[""] = estimator
    return found


def listed(parts: dict[str, Any]) -> str:
    """Return the names of parts, with their classes."""
    return ", ".join(f"{name} ({type(part).__name__})" for name, part in parts.items())


def _parts_of(estimator):
    """Names and estimators of the parts, if the kind of composition is known."""
    names = class_names(estimator)
    if not any(name in WRAPPERS or name in ENSEMBLES or name in COMPOSED for name in names):
        return []
    params = estimator.get_params(deep=False)
    parts = [
        (part[0], part[1])
        for attribute in (*PARTS, "estimators")
        for part in params.get(attribute) or ()
    ]
    inner = next((WRAPPERS[name] for name in names if name in WRAPPERS), ("final_estimator",))
    parts += [(key, params[key]) for key in inner if key in params]
    return [(name, part) for name, part in parts if hasattr(part, "get_params")]


def _listed(estimator, space):
    """Leave out parameters that a subclass lacks; some libraries accept more than they list."""
    if not family_of(estimator).lists_params:
        return space
    own = estimator.get_params(deep=False)
    return {name: values for name, values in space.items() if name in own}


def _pipeline(pipeline, size):
    """Put the last step first, then the transformers in order."""
    *others, (last_name, last) = pipeline.steps
    found: SpaceDict = {}
    for name, step in others:
        if hasattr(step, "get_params"):
            has_parts = any(hasattr(step, parts) for parts in PARTS)
            at_most = OF_ALL_OTHERS if has_parts else OF_A_TRANSFORMER
            found |= _branches([(name, step, _inner(size))], at_most)
            size = _after(step, size)
    model = [(last_name, last, size)] if hasattr(last, "get_params") else []
    return _branches(model, None) | cut(found, OF_ALL_OTHERS)


def _inner(size):
    return Size(size.n_samples, size.n_features, nested=True)


def _after(step, size):
    """Return the size of the table that a transformer returns."""
    names = class_names(step)
    if hasattr(step, "transformers") and step.remainder == "drop":
        counts = [_count(columns) for _, part, columns in step.transformers if part != "drop"]
        return size.within(sum(counts)) if None not in counts else size
    if any(name in KEEP_COLUMNS for name in names) or not hasattr(step, "transform"):
        return size
    if any(name in TEXTS for name in names):
        return size.within(1)
    n = step.get_params(deep=False).get("n_components", step.get_params(deep=False).get("k"))
    if type(n) is int and n > 0:
        return size.within(n)
    return size if "sklearn.PCA" in names else size.within(None)


def _columns(estimator, size):
    """Branches of a ColumnTransformer or FeatureUnion, and the table size of each."""
    branches = []
    is_union = hasattr(estimator, "transformer_list")
    for name, step, *columns in estimator.transformer_list if is_union else estimator.transformers:
        if hasattr(step, "get_params"):
            own = _inner(size)
            if columns:
                own = own.within(_count(columns[0]))
            branches.append((name, step, own))
    return branches


def _count(columns):
    """Number of columns in a list or mask; None for any other selector."""
    if not isinstance(columns, (list, tuple)):
        return None
    mask = all(isinstance(column, bool) for column in columns)
    return (sum(columns) if mask else len(columns)) or None


def _branches(branches, at_most):
    """Merge the spaces of named parts: the most important parameter of each part comes first."""
    found = []
    for name, part, size in branches:
        inner = cut(find_space(part, size) or {}, at_most)
        found.append([(f"{name}__{key}", values) for key, values in inner.items()])
    rounds = itertools.zip_longest(*found)
    return dict(item for items in rounds for item in items if item is not None)


def _ensemble(estimator, size):
    """Search the members, and the final estimator trained on their predictions."""
    size = _inner(size)
    members = [
        (name, member, size)
        for name, member in estimator.estimators
        if hasattr(member, "get_params")
    ]
    space = cut(_branches(members, OF_A_BRANCH), 2 * OF_ALL_OTHERS)
    final = getattr(estimator, "final_estimator", None)
    if final is not None:
        space |= _branches([("final_estimator", final, size.within(None))], OF_A_BRANCH)
    return space


def _wrapper(name, estimator, size):
    """Search the wrapped estimator, then the wrapper; None if both are unknown."""
    own = family_of(estimator).space(estimator, size) or WRAPPERS_OWN.get(name, {})
    own = _listed(estimator, own)
    params = estimator.get_params(deep=False)
    within = size if trains_its_regressor(estimator) else _inner(size)
    for inner_name in WRAPPERS[name]:
        inner = params.get(inner_name)
        if hasattr(inner, "get_params"):
            found = find_space(inner, within)
            if found is None and not own:
                return None
            if own:
                is_found = all(isinstance(values, Outcome) for values in own.values())
                at_most = None if is_found else OF_A_BRANCH
                return own | _branches([(inner_name, inner, within)], at_most)
            return {f"{inner_name}__{key}": values for key, values in (found or {}).items()}
    return own


def cut(space: SpaceDict, at_most: int | None) -> SpaceDict:
    """Keep the first parameters; those with a single value are kept and not counted.

    Parameters
    ----------
    space : dict
        The most important first.
    at_most : int or None
        Number of parameters to keep; None: all.

    Returns
    -------
    dict
        The shorter space.
    """
    if at_most is None:
        return space
    kept: SpaceDict = {}
    left = at_most
    for name, values in space.items():
        single = isinstance(values, list) and len(values) == 1
        if single or left > 0:
            kept[name] = values
            left -= not single
    return kept
