"""Parameters that may change while training continues.

Objects created once, at the first training, cannot change, such as the layers of a net or the bins
of boosting. Parameters applied to all steps at prediction cannot change either: ``learning_rate``
of GradientBoosting would also change the earlier trees.
"""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Any

from sksearch.estimators._continuation import set_params
from sksearch.estimators._family import family_of
from sksearch.estimators._pipeline import is_searched, last_step, own_names, path_of_last_step
from sksearch.history import Params


def mutable_params(estimator: Any, names: Iterable[str]) -> tuple[str, ...]:
    """Return the parameters that may change while the last step is trained step by step.

    For a third-party estimator whose family does not declare them, all its own parameters may
    change: it has to read them at each call of ``partial_fit``, or of ``fit`` with ``warm_start``.

    Parameters
    ----------
    estimator : estimator object
        A pipeline, or another estimator.
    names : iterable of str
        Names of searched parameters, as in ``set_params``.

    Returns
    -------
    changing : tuple of str
        In the order of `names`.
    """
    path, last = path_of_last_step(estimator), last_step(estimator)
    names = list(names)
    if is_searched(path, names):
        return ()  # the last step itself is searched, so its parameters are unknown
    patterns = _patterns(last)
    return tuple(
        name
        for short, name in own_names(estimator, names).items()
        if any(fnmatchcase(short, pattern) for pattern in patterns)
    )


def change(estimator: Any, params: Params) -> None:
    """Set parameters of a fitted estimator for its further training."""
    set_params(estimator, params)
    last = last_step(estimator)
    family_of(last).epochs.after_change(last)


def _patterns(last: Any) -> Iterable[str]:
    known = family_of(last).mutable_params
    foreign = type(last).__module__.partition(".")[0] != "sklearn"
    return known if known is not None else last.get_params(deep=False) if foreign else ()
