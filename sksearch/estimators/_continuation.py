"""Continue training of ensembles with more trees, as their family supports it."""

from collections.abc import Collection
from typing import Any

from sksearch._utils._overrides import TRAINING, overridden
from sksearch.estimators._boosters import Booster
from sksearch.estimators._family import families, family_of, own_methods
from sksearch.estimators._pipeline import last_step, own_names, params_of_last_step, resamples
from sksearch.history import Params


def can_grow(
    estimator: Any,
    name: str,
    n_rows: int,
    fit_params: dict[str, Any],
    names: Collection[str] = (),
) -> bool:
    """Return whether continued training equals a single ``fit``, up to random draws.

    Only a last step can continue, and only if no step before it resamples rows.

    Parameters
    ----------
    estimator : estimator object
        A pipeline, or another estimator.
    name : str
        The parameter that counts the trees, as in ``set_params``.
    n_rows : int
        Number of training rows.
    fit_params : dict
        Other arguments of ``fit`` of the whole estimator.
    names : collection of str, default=()
        Further parameters of candidates, as in ``set_params``.

    Returns
    -------
    can : bool
        True if `Family.grow` may be called.
    """
    path, _, leaf = name.rpartition("__")
    owner = estimator.get_params().get(path, estimator)
    if owner is not last_step(estimator) or resamples(estimator):
        return False
    if own_methods(owner, TRAINING):
        return False
    own_params = params_of_last_step(estimator, fit_params)
    passed = {each for each, value in own_params.items() if value is not None}
    prefix = f"{path}__" if path else ""
    leaves = {each.removeprefix(prefix) for each in names if each.startswith(prefix)}
    return family_of(owner).can_grow(owner, leaf, leaves, passed, n_rows)


def set_params(estimator: Any, params: Params) -> None:
    """Set parameters even if the last step is fitted, which some libraries refuse."""
    last, own = last_step(estimator), own_names(estimator, params)
    if overridden(estimator, ("set_params",)):
        own = {}
    if own:
        family_of(last).set_params(last, {short: params[name] for short, name in own.items()})
    others = {name: value for name, value in params.items() if name not in own.values()}
    if others:
        estimator.set_params(**others)


def ways_to_go_on() -> str:
    """Return the libraries whose training can continue, and the settings that this requires."""
    boosters = [each for each in families() if isinstance(each, Booster) and each.title]
    *first, last = [each.title for each in boosters]
    needs = [each.needs for each in boosters if each.needs]
    return f"plain {', '.join(first)} or {last}, " + "; ".join(
        ["without early stopping, callbacks and eval_set", *needs]
    )
