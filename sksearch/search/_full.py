"""Searches at full resource by name, and the one that composes anything."""

import copy
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Any, Self

import numpy as np
from sklearn.model_selection import GroupKFold, ParameterGrid, ParameterSampler

from sksearch._utils._compat import StrOptions
from sksearch._utils._terminal import warn
from sksearch.base import Resource, Sampler, Scheduler
from sksearch.fitting.prepare._problem import fits_whole
from sksearch.fitting.prepare._split import leaves_folds
from sksearch.fitting.run._folds import Folds
from sksearch.fitting.run._results import ResultRow
from sksearch.fitting.run._run import Run
from sksearch.history import Params
from sksearch.samplers import (
    METHODS,
    GPSampler,
    GridSampler,
    HypervolumeSampler,
    ListedSampler,
    QuasiRandomSampler,
    RandomSampler,
)
from sksearch.schedulers import FoldRace, FullFidelity
from sksearch.search._base import BaseSearch
from sksearch.search._parameters import Count, CountOrAuto, Select, documented
from sksearch.search._parts import PartOf
from sksearch.space import Outcome, Space, When

N_CANDIDATES = 50  # where nothing else ends the search


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class SearchCV(BaseSearch):
    """The search to begin with: an estimator and a time are enough.

    What is left out is chosen: the space and the first candidates by the estimator, the sampler,
    the scheduler and the resource by estimator, data and folds. Unless a given space excludes it,
    the first candidate is the untuned estimator: then what is found is never behind it in the
    mean score over the folds. Every choice can be made by hand, too: any sampler goes with any
    scheduler on any resource.

    Parameters
    ----------
    {head}
    n_iter : int or None, default=None
        Count of candidates, where the search chooses the scheduler. None: as many as `timeout`,
        `patience` or `stop` allow, and 50 without any of them.
    {common}
    sampler : Sampler or None, default=None
        Sampler to use. None: a Gaussian process, after the first candidates; where a time is given
        and no count, it looks for the largest improvement per second; with several
        `objectives` `sksearch.samplers.HypervolumeSampler`.
    scheduler : Scheduler or None, default=None
        How to spend. None: a race over folds, `sksearch.schedulers.FoldRace`, if there are three
        folds or more that have no order, one objective, no `Bound` and no function as `refit`,
        else whole fits.
    resource : str, Resource or None, default="auto"
        Resource to spend, see `HyperbandSearchCV`. "auto": what the scheduler needs, if it is left
        out or is one for folds or for whole fits. With a `timeout` and no count, and too little
        time for 24 fits, the folds then train on a part of the rows, which `plan_` tells; with
        "folds" on all. None: whole fits.
    min_resources : int or "auto", default="auto"
        Smallest count of units worth a look.
    max_resources : int or "auto", default="auto"
        Count of units that the best candidates get.
    {select}
    {batch_size}

    Attributes
    ----------
    {attributes}
    {fidelity_attributes}

    See Also
    --------
    tune : The same in one call, with a summary at its end.
    sksearch.space.default_space : What is searched where no space is given.
    HyperbandSearchCV : Brackets of successive halving.

    Notes
    -----
    Where `cv` is None, the folds are chosen; `plan` says how and why.

    - With ``groups`` for `fit`, also if `cv` is a count: ``StratifiedGroupKFold`` for classes,
      ``GroupKFold`` for other targets; with fewer groups than five, as many folds.
    - With a table of pandas whose index has times in order: ``TimeSeriesSplit``. Rows of the same
      time stay together, and folds with a single class are left out.
    - Else as for ``GridSearchCV``.

    Folds have an order if each tests rows that come after those it trains on, if none trains on
    what a later one tests, or if the largest has one and a half times the training rows of the
    smallest. A race would judge by the first of them, so it has to be asked for, by
    ``resource="folds"``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from sksearch import SearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> search = SearchCV(SVC(), timeout=2, random_state=0).fit(X, y)
    >>> search.cv_results_["params"][0]["gamma"]  # the untuned estimator
    'scale'
    >>> bool(search.best_score_ > 0.97)
    True

    The best of several models:

    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> models = [KNeighborsClassifier(), SVC()]
    >>> search = SearchCV(models, n_iter=6, random_state=0).fit(X, y)
    >>> sorted({params["model"] for params in search.cv_results_["params"]})
    ['kneighborsclassifier', 'svc']

    Everything by hand:

    >>> from scipy.stats import loguniform
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sksearch.samplers import QuasiRandomSampler
    >>> from sksearch.schedulers import SuccessiveHalving
    >>> search = SearchCV(
    ...     SGDClassifier(random_state=0), {"alpha": loguniform(1e-5, 1)}, resource="epochs",
    ...     max_resources=9, sampler=QuasiRandomSampler(), scheduler=SuccessiveHalving(),
    ...     random_state=0,
    ... ).fit(X, y)
    >>> search.n_candidates_
    [9, 3, 1]
    """

    n_iter: Count | None = None
    sampler: Annotated[Sampler, PartOf(Sampler, "sksearch.samplers.TPESampler()")] | None = None
    scheduler: (
        Annotated[Scheduler, PartOf(Scheduler, "sksearch.schedulers.Hyperband()")] | None
    ) = None
    resource: str | Resource | None = "auto"
    min_resources: CountOrAuto = "auto"
    max_resources: CountOrAuto = "auto"
    select: Select = "auto"
    batch_size: CountOrAuto = "auto"

    def _left(self) -> frozenset[str]:
        """Return what is left to the search; the folds only where no splitter is passed."""
        parts = {name for name in ("sampler", "scheduler") if getattr(self, name) is None}
        return frozenset({"cv", *parts})

    def get_metadata_routing(self) -> Any:
        """Return how metadata are routed; see scikit-learn's guide.

        Returns
        -------
        routing : MetadataRouter
            Where the search chooses the folds, ``groups`` are for them.
        """
        if not leaves_folds(self.cv):
            return super().get_metadata_routing()
        by_group = copy.copy(self)
        by_group.cv = GroupKFold()
        return super(SearchCV, by_group).get_metadata_routing()

    def _filled(self, folds: Folds) -> Self:
        """Choose sampler, scheduler and resource, as far as they are left out."""
        filled = copy.copy(self)
        scheduler, resource, n_iter = self.scheduler, self.resource, self.n_iter
        if resource == "auto":
            if scheduler is None:
                races = self._options().may_race(len(folds.splits)) and not folds.unlike
            else:
                races = (
                    scheduler.told.by_fold and self.min_resources == self.max_resources == "auto"
                )
            filled.resource = resource = "folds" if races else None
        if n_iter is None and (self.timeout, self.patience, self.stop) == (None, None, None):
            n_iter = N_CANDIDATES
        if scheduler is None:
            filled.scheduler = (FoldRace if resource == "folds" else FullFidelity)(n_iter)
        if self.sampler is None:
            is_by_time = self.timeout is not None and n_iter is None
            one = GPSampler("ei_per_second" if is_by_time else "log_ei")
            filled.sampler = HypervolumeSampler() if self.objectives else one
        return filled

    def _compose(self, space: Space, rng: np.random.RandomState) -> tuple[Sampler, Scheduler]:
        """Name the given parts, or those that are chosen; rungs need a resource."""
        if self.sampler is None or self.scheduler is None:
            return self._filled(Folds([]))._compose(space, rng)
        if self.n_iter is not None and self.n_iter != getattr(
            self.scheduler, "n_candidates", None
        ):
            raise ValueError(
                f"n_iter={self.n_iter} is for the scheduler that the search chooses: leave it "
                f"out, the counts of {self.scheduler} are its own."
            )
        if self.resource is None and not (
            fits_whole(self.scheduler, space)
            and self.min_resources == self.max_resources == "auto"
        ):
            raise ValueError(
                f"scheduler={self.scheduler}, min_resources={self.min_resources} and "
                f"max_resources={self.max_resources} need resource=: what is spent on a "
                "candidate step by step, such as 'epochs', 'n_samples' or 'folds'."
            )
        return self.sampler, self.scheduler


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class RandomSearchCV(BaseSearch):
    """Random search: independent draws, each at full resource.

    With the same ``random_state`` it evaluates the candidates of ``RandomizedSearchCV``, in the
    same order and with the same scores, but none of them twice: for a draw that is known already
    there is another one. And it adds first guesses, a time limit and results that survive Ctrl-C.

    Parameters
    ----------
    {head}
    n_iter : int or None, default=10
        Count of candidates. If lists have no more, all are tried in the order of
        ``ParameterGrid``, and entries that a list has twice share their score. None: as many as
        `timeout`, `patience` or `stop` allow, and without any of them all of a finite space.
    {common}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    RandomizedSearchCV : The same, where a draw may come twice as in scikit-learn.
    QuasiRandomSearchCV : Draws cover the space more evenly.
    HyperbandSearchCV : More candidates for the same cost.

    References
    ----------
    .. [1] J. Bergstra, Y. Bengio, "Random search for hyper-parameter optimization", JMLR
       13:281-305, 2012. https://jmlr.org/papers/v13/bergstra12a.html

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from sksearch import RandomSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> search = RandomSearchCV(SVC(), {"C": loguniform(1e-3, 1e3)}, random_state=0).fit(X, y)
    >>> bool(search.best_score_ > 0.9)
    True
    """

    n_iter: Count | None = 10

    def _compose(self, space: Space, rng: np.random.RandomState) -> tuple[Sampler, Scheduler]:
        scheduler = FullFidelity(self.n_iter)
        if self.n_iter is None:
            return self._without_count(space), scheduler
        if not is_for_scikit_learn(space):  # so there is nothing to equal
            return _all_or(RandomSampler(), space, self.n_iter), scheduler
        candidates = ParameterSampler(space.given, self.n_iter, random_state=rng)
        return ListedSampler(CandidateDraws(candidates)), scheduler

    def _without_count(self, space: Space) -> Sampler:
        """Draws until something ends them, or all there is, in its order."""
        if (self.timeout, self.patience, self.stop) != (None, None, None):
            return RandomSampler()
        if space.size < math.inf:
            return GridSampler()
        raise ValueError(
            "n_iter=None draws until something ends that, and nothing would: the space is "
            "infinite. Pass timeout=, patience= or stop='converged', or a count as n_iter."
        )

    def _rows(self, run: Run) -> list[ResultRow]:
        rows, space = run.rows(), run.setup.problem.space
        is_drawn = any(hasattr(v, "rvs") for v in _values(space.given))
        if len(rows) < space.size or is_drawn or not is_for_scikit_learn(space):
            return rows
        # The whole grid was tried: its rows, of which those of repeated entries share scores.
        listed = getattr(run.setup.sampler, "candidates", ())  # not where it is mixed with another
        times = Counter(map(space.key, listed))
        return [row for row in rows for _ in range(max(1, times[space.key(row.params)]))]


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class QuasiRandomSearchCV(BaseSearch):
    """Quasi-random search: candidates that cover the space evenly, each at full resource.

    Parameters
    ----------
    {head}
    n_iter : int, default=10
        Count of candidates. If a finite space has no more, all are tried in the order of
        ``ParameterGrid``.
    method : {"sobol", "halton", "hammersley", "lhs"}, default="sobol"
        Scrambled Sobol or Halton sequence, Hammersley set or Latin hypercube.
    {common}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    RandomSearchCV : Independent draws.
    sksearch.samplers.QuasiRandomSampler : The designs.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from sksearch import QuasiRandomSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> space = {"C": loguniform(1e-3, 1e3), "gamma": loguniform(1e-4, 1e1)}
    >>> search = QuasiRandomSearchCV(SVC(), space, n_iter=16, random_state=0).fit(X, y)
    >>> bool(search.best_score_ > 0.9)
    True
    """

    n_iter: Count = 10
    method: Annotated[str, StrOptions(set(METHODS))] = "sobol"

    def _compose(self, space: Space, rng: np.random.RandomState) -> tuple[Sampler, Scheduler]:
        sampler = QuasiRandomSampler(self.method, self.n_iter)
        return _all_or(sampler, space, self.n_iter), FullFidelity(self.n_iter)


class CandidateDraws(Sequence):
    """Candidates of a ``ParameterSampler`` or a grid, in its order, drawn when they are read.

    A plan of many candidates, or a search that ends early, need not wait for all of them.
    """

    def __init__(self, sampler: ParameterSampler | ParameterGrid) -> None:
        self._n, self._iterator = len(sampler), iter(sampler)
        # The first one is drawn at once, since then there may be a warning or an error.
        self._drawn = [_with_python_scalars(params) for params in islice(self._iterator, 1)]

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, i: Any) -> Any:
        new = islice(self._iterator, max(0, range(self._n)[i] + 1 - len(self._drawn)))
        self._drawn += map(_with_python_scalars, new)
        return self._drawn[i]

    def __getstate__(self) -> dict:
        self[-1]  # a generator cannot be pickled, nor copied
        return vars(self) | {"_iterator": iter(())}


def is_for_scikit_learn(space: Space) -> bool:
    """Whether a ``ParameterSampler`` can draw from a space: it knows no condition, no outcome."""
    return not any(isinstance(v, (When, Outcome)) for v in _values(space.given))


def _values(given: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> list:
    """Lists and distributions of all parameters of all dicts."""
    dicts = [given] if isinstance(given, Mapping) else given
    return [values for each in dicts for values in each.values()]


def _with_python_scalars(params: dict[str, Any]) -> Params:
    """numpy's scalars as Python's own, which every estimator takes and JSON knows."""
    return {k: v.item() if isinstance(v, np.generic) else v for k, v in params.items()}


def _all_or(sampler: Sampler, space: Space, n_iter: int) -> Sampler:
    """The sampler, or the grid's order if `n_iter` is enough for the whole space."""
    if space.size > n_iter:
        return sampler
    if space.size < n_iter:
        warn(
            f"The total space of parameters {space.size} is smaller than n_iter={n_iter}: "
            f"all {space.size} candidates are tried.",
            UserWarning,
            stacklevel=2,
        )
    return GridSampler()
