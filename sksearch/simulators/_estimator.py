"""A scikit-learn estimator that only simulates learning."""

from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from sksearch._utils._clock import spend
from sksearch._utils._seeds import draw_seed
from sksearch.simulators._problem import CurveProblem

UNSET = "(unset)"  # not None, which may be a value
OWN_PARAMS = ("problem", "n_epochs", "random_state")


class SimulatedEstimator(BaseEstimator):
    """Estimator with a simulated loss curve; a fit takes microseconds.

    The estimator has the parameters of the space of the problem. It can be used like any
    estimator: in search classes of this and other libraries, in a Pipeline and with
    `sklearn.base.clone`. The training data have no effect.

    Parameters
    ----------
    problem : CurveProblem
        Problem with the loss curves.
    n_epochs : int or None, default=None
        Number of epochs in `fit`, which can be the resource of a search. None: all epochs of the
        problem.
    random_state : int, RandomState instance or None, default=0
        Seed of the curve, in addition to the parameters. With an integer, a candidate has the same
        curve on all folds and in all searches. With None, each fit has a different curve.
    **params : object
        Values of the parameters of the problem. They need not be set before training. Inactive
        parameters are not set.

    Attributes
    ----------
    loss_curve_ : list of float
        Loss after each epoch so far.
    n_epochs_ : int
        Number of epochs so far.
    seed_ : int
        Seed of the curve.

    Raises
    ------
    TypeError
        If `problem` is not a CurveProblem, or does not have one of the parameters. ValueError If a
        parameter of the problem has the name of a parameter or method of this class.

    See Also
    --------
    play : Runs a search without estimators, much faster.
    sksearch.executors.VirtualClock : Counts the simulated seconds of training.

    Notes
    -----
    The curve is ``problem.losses([params], seed)[0]``, with `random_state` as the seed if it is an
    integer. If parameters change during training, later epochs are taken from the curve of the new
    parameters. If a virtual clock is open, each epoch advances it by its simulated seconds. There
    is no ``predict``; searches use ``score`` by default.

    Examples
    --------
    >>> from sksearch import HyperbandSearchCV
    >>> from sksearch.simulators import FAMILIES, GammaCurves, SimulatedEstimator
    >>> from sksearch.simulators._functions import Rastrigin
    >>> problem = GammaCurves(Rastrigin(2), FAMILIES["rastrigin-1"], noise=10)
    >>> search = HyperbandSearchCV(
    ...     SimulatedEstimator(problem), problem.space, resource="epochs", cv=2, random_state=0
    ... )
    >>> _ = search.fit([[0.0]] * 4)  # any data will do
    >>> bool(180 < search.best_score_ < -problem.minimum)
    True
    """

    def __init__(
        self,
        problem: CurveProblem,
        *,
        n_epochs: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
        **params: Any,
    ):
        if not isinstance(problem, CurveProblem):
            raise TypeError(f"problem={problem!r} must be a CurveProblem, such as GammaCurves.")
        taken = [name for name in problem.names if hasattr(type(self), name) or name in OWN_PARAMS]
        if taken:
            raise ValueError(
                f"{taken} are parameters of SimulatedEstimator: choose other names in the problem."
            )
        if unknown := sorted(set(params) - set(problem.names)):
            raise TypeError(
                f"{unknown} are unknown: the problem's parameters are {problem.names}."
            )
        self.problem = problem
        self.n_epochs = n_epochs
        self.random_state = random_state
        for name, value in params.items():
            setattr(self, name, value)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, including the parameters of the problem.

        Parameters
        ----------
        deep : bool, default=True
            If True, also return the parameters of contained estimators.

        Returns
        -------
        params : dict
            Values by parameter name; "(unset)" for parameters that are not set.
        """
        params = super().get_params(deep)
        return params | {name: getattr(self, name, UNSET) for name in self.problem.names}

    def set_params(self, **params: Any) -> Self:
        """Set parameters.

        Parameters
        ----------
        **params : object
            Parameters of this class and of the problem. Names of parameters of the problem may
            contain "__", such as in curves from a search of a pipeline.

        Returns
        -------
        self : SimulatedEstimator
            Estimator instance.

        Raises
        ------
        ValueError
            If a parameter is unknown.
        """
        names = set(self.problem.names)
        super().set_params(**{name: v for name, v in params.items() if name not in names})
        for name in names & set(params):
            setattr(self, name, params[name])
        return self

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Train for `n_epochs` epochs.

        Parameters
        ----------
        X, y : object, default=None
            Ignored.

        Returns
        -------
        self : SimulatedEstimator
            Fitted estimator.

        Raises
        ------
        ValueError
            If a parameter is missing or unknown, or `n_epochs` is too large.
        """
        self._begin()
        return self._advance(
            self.problem.max_resources if self.n_epochs is None else self.n_epochs
        )

    def partial_fit(self, X: Any = None, y: Any = None) -> Self:
        """Train for one more epoch.

        Parameters
        ----------
        X, y : object, default=None
            Ignored.

        Returns
        -------
        self : SimulatedEstimator
            Fitted estimator.

        Raises
        ------
        ValueError
            If a parameter is missing or unknown, or the problem has no more epochs.
        """
        if not hasattr(self, "loss_curve_"):
            self._begin()
        return self._advance(self.n_epochs_ + 1)

    def score(self, X: Any = None, y: Any = None) -> float:
        """Return the negative loss after the last epoch.

        Parameters
        ----------
        X, y : object, default=None
            Ignored.

        Returns
        -------
        score : float
            Score, greater is better.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        """
        check_is_fitted(self, "loss_curve_")
        return -self.loss_curve_[-1]

    @property
    def n_epochs_(self) -> int:
        """Number of epochs so far."""
        check_is_fitted(self, "loss_curve_")
        return len(self.loss_curve_)

    def __getstate__(self):
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_whole"}

    def _begin(self) -> None:
        self.loss_curve_: list[float] = []
        seed = self.random_state
        self.seed_ = int(seed) if isinstance(seed, Integral) else draw_seed(seed)

    def _advance(self, n_epochs: int) -> Self:
        """Continue training up to a number of epochs."""
        done = self.n_epochs_
        n_max = self.problem.max_resources
        if not isinstance(n_epochs, Integral) or not done < n_epochs <= n_max:
            raise ValueError(
                f"n_epochs={n_epochs!r} must be an integer from {done + 1} to {n_max}, the epochs "
                "of the problem: lower max_resources of the search, or use a problem with longer "
                "curves."
            )
        losses, seconds = self._curve()
        self.loss_curve_ += losses[done:n_epochs].tolist()
        spend(float(seconds[n_epochs - 1] - (seconds[done - 1] if done else 0.0)))
        return self

    def _curve(self) -> tuple[np.ndarray, np.ndarray]:
        """Return losses and seconds of the whole curve of the present parameters."""
        values = {name: getattr(self, name, UNSET) for name in self.problem.names}
        params = {n: v for n, v in values.items() if not (isinstance(v, str) and v == UNSET)}
        if getattr(self, "_whole", (None,))[0] != params:
            losses = self.problem.losses([params], self.seed_)[0]
            self._whole = params, losses, self.problem.seconds([params])[0]
        return self._whole[1:]
