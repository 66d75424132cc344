"""Pareto front, and rules for picking one of its candidates."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from sksearch._utils._fronts import fronts, hypervolume
from sksearch._utils._terminal import warn
from sksearch.fitting.run._objectives import Aims, Bound
from sksearch.fitting.run._results import ResultRow, chosen_index, text_of_violation
from sksearch.history import Result


@dataclass(frozen=True, eq=False)
class ParetoFront:
    """Pareto front of a search: the candidates that no other candidate dominates.

    A candidate dominates another one if it is at least as good in all objectives and better in at
    least one. Candidates that failed or violate a bound are left out, as are results of lower
    rungs if rungs are not comparable.

    Parameters
    ----------
    index : ndarray of shape (n,)
        Rows of ``cv_results_``, sorted by the first objective, best first.
    values : ndarray of shape (n, n_objectives)
        Measured objectives of these rows.
    names : tuple of str
        Names of the objectives.
    signs : ndarray of shape (n_objectives,)
        1 for a maximised objective, -1 for a minimised one.
    all_values : ndarray of shape (n_all, n_objectives)
        Objectives of all candidates that might be on the front.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sksearch import Bound, RandomSearchCV
    >>> search = RandomSearchCV(
    ...     DecisionTreeClassifier(random_state=0), {"max_leaf_nodes": [2, 3, 16]}, n_iter=3,
    ...     objectives=["score", "model_size"], random_state=0,
    ... ).fit(*load_iris(return_X_y=True))
    >>> front = search.pareto_
    >>> len(front)  # more leaves score better, and need more bytes
    3
    >>> search.cv_results_["params"][front.within(Bound("model_size", "<=", 100_000))]
    {'max_leaf_nodes': 16}
    """

    index: np.ndarray
    values: np.ndarray
    names: tuple[str, ...]
    signs: np.ndarray
    all_values: np.ndarray

    @classmethod
    def of(
        cls, aims: Aims, rows: Sequence[ResultRow], results: Sequence[Result], any_rung_wins: bool
    ) -> "ParetoFront":
        """Create the front from the rows of ``cv_results_`` and their results."""
        ok = [not math.isnan(r.score) and r.violation == 0 for r in results]
        top = max((row.n_resources for row, good in zip(rows, ok, strict=True) if good), default=0)
        may_win = np.array(
            [
                i
                for i, row in enumerate(rows)
                if ok[i] and (any_rung_wins or row.n_resources == top)
            ],
            dtype=int,
        )
        Y = np.array([results[i].objectives for i in may_win]).reshape(-1, len(aims.names))
        best = np.flatnonzero(fronts(Y) == 0) if len(Y) else np.array([], dtype=int)
        best = best[np.argsort(-Y[best, 0], kind="stable")]
        return cls(may_win[best], Y[best] * aims.signs, aims.names, aims.signs, Y * aims.signs)

    def __len__(self) -> int:
        return len(self.index)

    def hypervolume(self, reference: Sequence[float]) -> float:
        """Return the volume between the front and a reference point.

        Parameters
        ----------
        reference : sequence of float
            Worst value to take into account, for each objective in its own unit.

        Returns
        -------
        volume : float
            Hypervolume, in the product of the units of the objectives. Three or more objectives
            require moocore.

        Raises
        ------
        ValueError
            If `reference` has the wrong length.
        """
        return hypervolume(self.values * self.signs, self._signed(reference))

    def knee(self) -> int:
        """Return the row farthest from the plane through the extremes of the scaled objectives."""
        return int(self.index[np.argmax(self._scaled().sum(axis=1))])

    def within(self, bound: Bound) -> int:
        """Return the best row in the first objective among the rows that satisfy a bound.

        Parameters
        ----------
        bound : Bound
            Bound on one of the objectives.

        Returns
        -------
        index : int
            Row of ``cv_results_``; if no row satisfies the bound, the row with the smallest
            violation.

        Raises
        ------
        ValueError
            If the bound is not on an objective.

        Warns
        -----
        UserWarning
            If no row satisfies the bound.
        """
        slack = self._slack(bound)
        if text := self.about_bound(bound):
            warn(text)
            return int(self.index[np.argmax(slack)])
        return int(self.index[np.argmax(slack >= 0)])

    def about_bound(self, bound: Bound) -> str:
        """Return a text about a bound that no row satisfies.

        Parameters
        ----------
        bound : Bound
            Bound on one of the objectives.

        Returns
        -------
        text : str
            The smallest violation and the remedy; "" if a row satisfies the bound.
        """
        unmet = f"No candidate of the Pareto front satisfies {bound}"
        most = self._slack(bound).max()
        return text_of_violation(-most, unmet) if most < 0 else ""

    def _slack(self, bound: Bound) -> np.ndarray:
        return np.array([bound.slack(v) for v in self.values[:, self._column(bound.metric)]])

    def weighted(self, weights: Mapping[str, float]) -> int:
        """Return the row with the greatest weighted sum of objectives, each scaled to [0, 1].

        Parameters
        ----------
        weights : dict of str to float
            Non-negative weights by name of the objective, by default 0. Minimised objectives also
            have positive weights.

        Returns
        -------
        index : int
            Row of ``cv_results_``.

        Raises
        ------
        ValueError
            If a weight is negative, all weights are 0, or a name is not an objective.
        """
        _check_weights(weights, self.names)
        w = np.array([weights.get(name, 0.0) for name in self.names])
        return int(self.index[np.argmax(self._scaled() @ w)])

    def best(self, name: str) -> int:
        """Return the best row in one objective; raise ValueError if it does not exist."""
        j = self._column(name)
        return int(self.index[np.argmax(self.signs[j] * self.values[:, j])])

    def _signed(self, reference: Sequence[float]) -> np.ndarray:
        if np.shape(reference) != (len(self.names),):
            raise ValueError(
                f"reference={reference} must have a value for each of {', '.join(self.names)}."
            )
        return np.asarray(reference) * self.signs

    def _column(self, name: str) -> int:
        if name not in self.names:
            raise ValueError(f"{name!r} is not an objective: pass one of {', '.join(self.names)}.")
        return self.names.index(name)

    def _scaled(self) -> np.ndarray:
        """Values on the front from 0, the worst, to 1."""
        Y = self.values * self.signs
        spread = np.ptp(Y, axis=0)
        return (Y - Y.min(axis=0)) / np.where(spread > 0, spread, 1.0)


# ---- candidates that are trained on all rows


def check_choice(refit: Any, aims: Aims, metrics: Sequence[str] | None) -> None:
    """Raise ValueError for a `refit` that chooses no candidate from a front.

    `metrics` are the metrics of ``scoring``, None if a function names them when it is called.
    """
    names = set(aims.names)
    if isinstance(refit, Bound) and refit.metric not in names:
        raise ValueError(
            f"refit={refit} bounds {refit.metric!r}, but must bound one of the objectives "
            f"{sorted(names)}."
        )  # fmt: skip
    if isinstance(refit, Mapping):
        _check_weights(refit, aims.names, "refit=")
    if isinstance(refit, str) and metrics is not None:
        _check_known(refit, {"knee", *names, *metrics})


def _check_weights(weights: Mapping[str, Any], names: Sequence[str], where: str = "") -> None:
    """Raise ValueError if a weight is invalid or does not belong to an objective."""
    values = list(weights.values())
    is_weight = [isinstance(w, Real) and 0 <= float(w) < math.inf for w in values]
    if not (set(names).issuperset(weights) and all(is_weight) and any(values)):
        raise ValueError(
            f"{where}{weights} must have weights of the objectives {', '.join(names)}: at least "
            "0, and one above 0, also for objectives to minimize."
        )


def _check_known(refit: str, known: set[str]) -> None:
    if refit not in known:
        raise ValueError(
            f"refit={refit!r} must be one of {sorted(known)}, a Bound on an objective, a dict of "
            "weights by objective, a function of cv_results_, True or False."
        )


def choose(refit: Any, front: ParetoFront, results: dict[str, Any], metric: str) -> int:
    """Return the row of ``cv_results_`` that `refit` chooses; `metric` counts without a front."""
    if callable(refit):
        return chosen_index(refit, results)
    if not len(front):
        return int(np.argmin(results[f"rank_test_{metric}"]))
    if isinstance(refit, Bound):
        return front.within(refit)
    if isinstance(refit, Mapping):
        return front.weighted(refit)
    if isinstance(refit, str) and refit in front.names:
        return front.best(refit)
    if isinstance(refit, str) and refit != "knee":
        metrics = {name[10:] for name in results if name.startswith("rank_test_")}
        _check_known(refit, {"knee", *front.names, *metrics})
        return int(np.argmin(results[f"rank_test_{refit}"]))
    return front.knee()
