"""Params that a training obeys when they change on its way.

Estimators are told by their class names, so that no other library is imported here. What is
made once, at the first training, cannot change: layers of a net, bins of a boosting. Nor can
what is applied to all steps at prediction, such as ``learning_rate`` of GradientBoosting, which
would change the trees of the past.
"""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Any

from sksearch._compat import set_rate_of_mlp
from sksearch.history import Params
from sksearch.resources._ensembles import set_params
from sksearch.resources._epochs import is_searched, path_of_last_step
from sksearch.resources._nets import is_net
from sksearch.resources._pipeline import last_step

TREE = (
    *("max_depth", "max_features", "max_leaf_nodes", "min_impurity_decrease"),
    *("min_samples_leaf", "min_samples_split", "min_weight_fraction_leaf"),
)
#: By the name of a class, the first of an estimator's bases that is here: what may change.
CHANGING: dict[str, tuple[str, ...]] = {
    "BaseSGD": (
        "alpha",
        "C",
        "epsilon",
        "eta0",
        "l1_ratio",
        "learning_rate",
        "penalty",
        "power_t",
    ),
    "BaseMultilayerPerceptron": ("alpha", "batch_size", "learning_rate_init"),
    "BaseHistGradientBoosting": (
        *("l2_regularization", "learning_rate", "max_depth", "max_features", "max_leaf_nodes"),
        "min_samples_leaf",
    ),
    "BaseGradientBoosting": (*TREE, "subsample"),
    "BaseForest": (*TREE, "max_samples"),
    "LGBMModel": (
        *("learning_rate", "num_leaves", "max_depth", "min_split_gain", "min_child_weight"),
        *("min_child_samples", "subsample", "subsample_freq", "colsample_bytree"),
        *("reg_alpha", "reg_lambda"),
    ),
    "XGBModel": (
        *("learning_rate", "max_depth", "max_leaves", "gamma", "min_child_weight"),
        *("max_delta_step", "subsample", "colsample_bytree", "colsample_bylevel"),
        *("colsample_bynode", "reg_alpha", "reg_lambda"),
    ),
    "CatBoost": (
        *("learning_rate", "eta", "depth", "max_depth", "l2_leaf_reg", "reg_lambda", "rsm"),
        *("colsample_bylevel", "random_strength", "bagging_temperature", "subsample"),
        *("min_data_in_leaf", "min_child_samples", "max_leaves", "num_leaves"),
    ),
    "ImageClassifier": ("batch_size", "learning_rate"),
}
NET = ("lr", "batch_size", "optimizer__*")  # of skorch; all but these begin its training anew


def changing_params(estimator: Any, names: Iterable[str]) -> tuple[str, ...]:
    """Return which params may change while the last step is trained step by step.

    Of an estimator of another library than those in the table all own params may: it has to
    read them at each call of ``partial_fit``, or of ``fit`` with ``warm_start``.

    Parameters
    ----------
    estimator : estimator object
        A pipeline, or another estimator.
    names : iterable of str
        Names of searched params, as in ``set_params``.

    Returns
    -------
    changing : tuple of str
        In the order of `names`.
    """
    path, last = path_of_last_step(estimator), last_step(estimator)
    names = list(names)
    if is_searched(path, names):
        return ()  # the last step is searched itself, so nobody knows what it obeys
    prefix = f"{path}__" if path else ""
    patterns = _patterns(last)
    return tuple(
        name
        for name in names
        if name.startswith(prefix)
        and any(fnmatchcase(name.removeprefix(prefix), pattern) for pattern in patterns)
    )


def change(estimator: Any, params: Params) -> None:
    """Set params of a fitted estimator for the training that follows."""
    set_params(estimator, params)
    set_rate_of_mlp(last_step(estimator))


def _patterns(last: Any) -> Iterable[str]:
    if is_net(last):
        return NET
    classes = type(last).__mro__
    known = (CHANGING[cls.__name__] for cls in classes if cls.__name__ in CHANGING)
    foreign = type(last).__module__.partition(".")[0] != "sklearn"
    return next(known, last.get_params(deep=False) if foreign else ())
