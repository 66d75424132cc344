"""The searches of scikit-learn's names: with the same candidates, in the same rows."""

import warnings
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from numbers import Integral
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np
from sklearn import model_selection
from sklearn.model_selection import ParameterGrid, ParameterSampler

from sksearch._utils._typing import Estimator
from sksearch.base import Sampler, Scheduler
from sksearch.estimators import alone_if_not_named
from sksearch.fitting.run._objectives import make_allows
from sksearch.fitting.run._results import ResultRow
from sksearch.fitting.run._run import Run
from sksearch.fitting.run._setup import Setup
from sksearch.samplers import ListedSampler
from sksearch.schedulers import FullFidelity
from sksearch.search._base import BaseSearch
from sksearch.search._full import CandidateDraws, RandomSearchCV
from sksearch.search._parameters import documented
from sksearch.space import Space


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class GridSearchCV(BaseSearch):
    """Grid search: scikit-learn's, to the last row of ``cv_results_``.

    All points of a grid are tried, in the order of ``ParameterGrid``. Beside what scikit-learn's
    has there are a time limit, checkpoints, clusters, `report` and what else searches share.

    Parameters
    ----------
    {estimator}
    param_grid : dict or list of dict
        As for scikit-learn's: lists of values by name of the parameter. A list of dicts is tried
        one dict after another.
    {common}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    RandomizedSearchCV : Draws instead of all points.
    SearchCV : Better candidates in the same time, without a grid.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from sksearch import GridSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> search = GridSearchCV(SVC(), {"kernel": ["linear", "rbf"], "C": [1, 10]}).fit(X, y)
    >>> search.cv_results_["rank_test_score"].tolist()
    [1, 4, 3, 1]
    """

    param_grid: dict | list | tuple = field(kw_only=False)  # type: ignore[misc]
    # No parameter here: what the other searches call their space, for whoever reads it.
    param_distributions: ClassVar[Any] = property(attrgetter("param_grid"))  # type: ignore

    _known_as: ClassVar[tuple[Any, ...]] = (model_selection.GridSearchCV,)
    _is_namesake: ClassVar[bool] = True

    def _own_space(self, estimator: Estimator) -> Any:
        """The grid, with scikit-learn's errors where it is none."""
        ParameterGrid(self._grid())
        with warnings.catch_warnings():
            # A pair is no range here, and a repeated value has its rows.
            warnings.simplefilter("ignore")
            return Space(self._grid(), accepts=lambda name, value: True)

    def _prepare(self, *args: Any) -> Setup:
        try:
            return super()._prepare(*args)
        except (TypeError, ValueError) as error:
            # The same checks for all searches; what they check has another name here.
            texts = [str(each).replace("param_distributions", "param_grid") for each in error.args]
            error.args = tuple(texts)
            raise

    def _compose(self, space: Space, rng: np.random.RandomState) -> tuple[Sampler, Scheduler]:
        return ListedSampler(self._points(), repeats=True), FullFidelity(self._n_points(space))

    def _points(self) -> CandidateDraws:
        return CandidateDraws(ParameterGrid(self._grid()))

    def _grid(self) -> Any:
        """The grid; of several models those without a part of it are tried as they are."""
        return alone_if_not_named(self.estimator, self.param_grid)

    def _n_points(self, space: Space) -> int:
        """Count of points that the constraints allow."""
        points = self._points()
        allows = make_allows(self.constraints, space)
        return len(points) if allows is None else sum(map(allows, points))


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class RandomizedSearchCV(RandomSearchCV):
    """Random search: scikit-learn's, to the last row of ``cv_results_``.

    With the same ``random_state`` there are the same candidates, in the same order and with the
    same scores. It is `RandomSearchCV` but for one rule: a candidate that is drawn twice, from
    discrete distributions, is trained twice, as by scikit-learn; there another one is drawn in
    its place.

    Parameters
    ----------
    {head}
    n_iter : int or None, default=10
        Count of draws. If lists have no more candidates, all are tried in the order of
        ``ParameterGrid``. None: as many different ones as `timeout`, `patience` or `stop` allow,
        and without any of them all of a finite space.
    {common}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    RandomSearchCV : No candidate is drawn twice.
    GridSearchCV : All points of a grid.

    Examples
    --------
    >>> from scipy.stats import randint
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sksearch import RandomizedSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> space = {"n_neighbors": randint(1, 20)}
    >>> search = RandomizedSearchCV(KNeighborsClassifier(), space, random_state=0).fit(X, y)
    >>> len(search.cv_results_["params"]), len(search.history_.trials)
    (10, 10)
    """

    _is_namesake: ClassVar[bool] = True

    def _compose(self, space: Space, rng: np.random.RandomState) -> tuple[Sampler, Scheduler]:
        sampler, scheduler = super()._compose(space, rng)
        one_dict = isinstance(space.given, Mapping)
        if one_dict and any(dimension.kind == "real" for dimension in space.dimensions):
            return sampler, scheduler  # no real number is drawn twice
        if isinstance(sampler, ListedSampler):
            sampler = ListedSampler(sampler.candidates, repeats=True)
            scheduler = FullFidelity(len(sampler.candidates))
        return sampler, scheduler

    def _draw_candidates(self, rng: np.random.RandomState) -> None:
        if self.n_iter is None or isinstance(self.random_state, Integral):
            return
        with warnings.catch_warnings(), suppress(Exception):  # which come when it is composed
            warnings.simplefilter("ignore")
            deque(ParameterSampler(self.param_distributions, self.n_iter, random_state=rng), 0)

    def _rows(self, run: Run) -> list[ResultRow]:
        return run.rows()  # of which none stands for two draws
