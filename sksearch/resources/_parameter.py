"""Any integer parameter of the estimator: trees, boosting iterations, components."""

import warnings
from dataclasses import dataclass
from numbers import Integral

from sksearch._compat import is_hist_gradient_boosting
from sksearch.base import Resource, fit
from sksearch.resources._epochs import WAYS
from sksearch.resources._pipeline import enter, last_step

N_ROWS_AUTO_EARLY_STOPPING = 10_000  # where HistGradientBoosting's "auto" begins to stop early


@dataclass(frozen=True)
class ParameterResource(Resource):
    """One unit is one unit of an integer parameter, such as ``n_estimators``.

    Ensembles with ``warm_start`` grow: a forest of 9 trees that is brought to 27 pays for 18,
    and is tree by tree the forest that ``fit`` with 27 gives. Everything else is fitted anew at
    each rung, since for other parameters (``max_iter`` of an MLP) continuing is not the same.

    Parameters
    ----------
    name : str
        As in ``set_params``: ``"n_estimators"``, ``"clf__max_iter"``.
    grows : bool, default=False
        What is expected when planning; filled in by the search. Each candidate is looked at by
        itself.
    """

    name: str
    grows: bool = False

    @property
    def continues(self):
        """Whether the difference alone is paid."""
        return self.grows

    @classmethod
    def of(cls, name, estimator, n_rows=0):
        """The resource for this estimator and count of training rows, with what to expect."""
        owner = estimator.get_params().get(name.rpartition("__")[0], estimator)
        return cls(name, _grows(estimator, owner, name, n_rows))

    @property
    def unit(self):
        """The parameter's name."""
        return self.name

    def limits(self, estimator, n_samples, n_splits, n_classes):
        """From 1 to the estimator's own value."""
        value = estimator.get_params()[self.name]
        if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
            raise ValueError(
                f"The estimator has {self.name}={value!r}, which is no positive integer: pass "
                f"max_resources, the {self.name} of the best candidates."
            )
        return 1, int(value)

    def check(self, estimator, names):
        """See that the parameter exists, and is not searched as well."""
        if self.name not in estimator.get_params():
            raise ValueError(
                f"resource={self.name!r} is no parameter of {type(estimator).__name__}. {WAYS}"
            )
        if self.name in names:
            raise ValueError(
                f"resource={self.name!r} is also in param_distributions: the search sets it "
                "from rung to rung. Take it out of the space."
            )

    def params(self, params, amount):
        """Add the amount, which the model needs to be made again."""
        return {**params, self.name: amount}

    def train(self, state, X, y, amount, spent, classes, fit_params):
        """Grow if the candidate can, else fit from nothing."""
        estimator = state.estimator
        owner_name, _, leaf = self.name.rpartition("__")
        owner = estimator.get_params()[owner_name] if owner_name else estimator
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        if _grows(estimator, owner, leaf, n_rows):
            Xt, fit_params = enter(state, X, y, fit_params)
            owner = last_step(estimator)
            before = owner.warm_start
            owner.set_params(warm_start=True, **{leaf: amount})
            with warnings.catch_warnings():
                # The class weights are those of the same rows at each rung.
                warnings.filterwarnings("ignore", message="class_weight presets")
                fit(owner, Xt, y, fit_params)
            owner.set_params(warm_start=before)
            state.n_steps = amount
            return state
        estimator.set_params(**{self.name: amount})
        fit(estimator, X, y, fit_params)
        return state

    def refit(self, state, X, y, amount, n_steps, classes, fit_params):
        """Fit with the amount; it is the same model."""
        state.estimator.set_params(**{self.name: amount})
        fit(state.estimator, X, y, fit_params)
        return state


def _grows(estimator, owner, name, n_rows):
    """Whether a warm start continues exactly: boosting and bagging that do not stop early.

    Only a last step can be continued, and not if its rows are sampled anew before it.
    """
    leaf = name.rpartition("__")[2]
    if owner is not last_step(estimator) or any(
        hasattr(step, "fit_resample") for _, step in getattr(estimator, "steps", ())
    ):
        return False
    if not hasattr(owner, "warm_start") or getattr(owner, "oob_score", False):
        return False
    if leaf == "n_estimators":
        return getattr(owner, "n_iter_no_change", None) is None
    if leaf == "max_iter" and is_hist_gradient_boosting(owner):
        stops = owner.early_stopping
        return not (n_rows > N_ROWS_AUTO_EARLY_STOPPING if stops == "auto" else stops)
    return False
