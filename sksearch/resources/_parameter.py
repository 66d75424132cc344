"""Any integer parameter of the estimator: trees, boosting iterations, components."""

import difflib
from collections.abc import Collection
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from sksearch._utils._compat import is_valid_value, owner_of, unlisted_params
from sksearch.base import Resource
from sksearch.base._resource import fit
from sksearch.base._state import Labels, State
from sksearch.estimators._continuation import can_grow, set_params
from sksearch.estimators._epochs import WAYS
from sksearch.estimators._family import family_of
from sksearch.estimators._pipeline import enter, last_step
from sksearch.history import Params


@dataclass(frozen=True)
class ParameterResource(Resource):
    """Resource measured by an integer parameter of the estimator, such as ``n_estimators``.

    Ensembles grow from rung to rung: scikit-learn's with ``warm_start``, LightGBM, XGBoost and
    CatBoost. If a forest of 9 trees grows to 27, 18 trees are fitted, and it is identical to a
    forest fitted with 27. With other parameters, such as ``max_iter`` of an MLP, continued
    training would give a different model, so candidates are fitted again at each rung.

    Parameters
    ----------
    name : str
        Name as in ``set_params``: ``"n_estimators"``, ``"clf__max_iter"``.
    grows : bool, default=False
        Whether the plan assumes that ensembles grow from rung to rung; set by the search. For each
        candidate the decision is made individually.

    Notes
    -----
    LightGBM, XGBoost and CatBoost continue from the model of the last rung, by ``init_model`` or
    ``xgb_model`` of their ``fit``. If training uses no random numbers (for subsampling, or for
    CatBoost's random strength and permutations), the model equals the result of a single ``fit``:
    bit-identical with LightGBM and XGBoost, up to the last digits with CatBoost. Otherwise the
    random numbers differ, because the seeds of new trees depend on the seed and the number of
    trees so far.

    The following models are fitted again at each rung: boosting that stops by itself or with
    callbacks, ``"dart"``, ``"rf"``, GOSS and ``"gblinear"``, CatBoost with ordered boosting or on
    a GPU, and any ``fit`` with arguments such as ``eval_set``, ``init_score`` or an initial model.
    CatBoost derives some parameters from the number of trees. Training continues only if these are
    set or searched: ``learning_rate``; ``leaf_estimation_iterations``, except for some losses such
    as "RMSE" and "MultiClass"; with ``cat_features`` also ``max_ctr_complexity``.

    Examples
    --------
    >>> from sksearch.resources._parameter import ParameterResource
    >>> ParameterResource("n_estimators").params({"max_depth": 3}, amount=27)
    {'max_depth': 3, 'n_estimators': 27}
    """

    name: str
    grows: bool = False

    comparable = True

    @property
    def continues(self) -> bool:  # type: ignore[override]  # computed, and read only
        """True if a promoted candidate continues training from its last rung."""
        return self.grows

    @property
    def unit(self) -> str:  # type: ignore[override]  # computed, and read only
        """Name of the parameter."""
        return self.name

    def limits(
        self, estimator: Any, n_samples: int, n_splits: int, n_classes: int
    ) -> tuple[int, int]:
        """Return 1 and the value set on the estimator."""
        value = estimator.get_params().get(self.name)
        if value is None:
            value = _own_count(*owner_of(estimator, self.name))
        if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < 1:
            raise ValueError(
                f"The estimator has {self.name}={value!r}, not a positive integer: pass "
                f"max_resources, the {self.name} of the best candidates."
            )
        return 1, int(value)

    def check(self, estimator: Any, names: Collection[str]) -> None:
        """Raise ValueError if the parameter does not exist, or is also searched."""
        owner, leaf = owner_of(estimator, self.name)
        if self.name not in estimator.get_params() and leaf not in unlisted_params(owner):
            known = ["epochs", "n_samples", "folds", "seconds", *estimator.get_params()]
            close = difflib.get_close_matches(self.name, known, n=2)
            hint = f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
            model = type(estimator).__name__
            raise ValueError(
                f"Cannot use resource={self.name} which is not supported by estimator {model}, as "
                f"it has no such parameter.{hint} {WAYS}"
            )
        value = owner.get_params().get(leaf)
        if isinstance(value, str | bool) and not is_valid_value(estimator, self.name, 2):
            raise ValueError(
                f"resource={self.name!r} is not an integer parameter of {type(owner).__name__}, "
                f"which has {leaf}={value!r}. {WAYS}"
            )
        if self.name in names:
            raise ValueError(
                f"Cannot use parameter {self.name} as the resource since it is part of the "
                "searched parameters: the search sets it from rung to rung. Remove it from "
                "param_distributions."
            )
        others = _aliases(owner, leaf) - {leaf}
        prefix = self.name.removesuffix(leaf)
        for other in sorted(prefix + other for other in others):
            if estimator.get_params().get(other) is not None or other in names:
                raise ValueError(
                    f"resource={self.name!r} is another name of {other!r}, already set or "
                    f"searched: pass resource={other!r}, or leave {other!r} out."
                )

    def params(self, params: Params, amount: int) -> Params:
        """Return the parameters including the amount, so that the model can be fitted again."""
        return {**params, self.name: amount}

    def train(
        self,
        state: State,
        X: Any,
        y: Any,
        amount: int,
        spent: int,
        classes: Labels,
        fit_params: dict[str, Any],
    ) -> State:
        """Continue from the last rung if the candidate can grow, otherwise fit from scratch."""
        estimator = state.estimator
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        if can_grow(estimator, self.name, n_rows, fit_params):
            leaf, done = self.name.rpartition("__")[2], state.n_steps
            Xt, yt, fit_params = enter(state, X, y, fit_params)
            model = last_step(estimator)
            family_of(model).grow(model, leaf, done, amount, Xt, yt, fit_params)
            state.n_steps = amount
            return state
        set_params(estimator, {self.name: amount})
        fit(estimator, X, y, fit_params)
        return state

    def refit(
        self,
        state: State,
        X: Any,
        y: Any,
        amount: int,
        n_steps: int,
        classes: Labels,
        fit_params: dict[str, Any],
    ) -> State:
        """Fit once with the amount; continue step by step if parameters change during training."""
        if state.n_steps:
            return self.train(state, X, y, amount, state.n_steps, classes, fit_params)
        state.estimator.set_params(**{self.name: amount})
        fit(state.estimator, X, y, fit_params)
        return state


def _aliases(owner: Any, leaf: str) -> set[str]:
    """All names of a number of trees, if a library has several."""
    counts = set(family_of(owner).counts)
    return counts if leaf in counts else set()


def _own_count(owner: Any, leaf: str) -> int | None:
    """Default number of trees, None if unknown."""
    family = family_of(owner)
    return family.default_count if leaf in family.counts else None
