"""Searches at full resource by name, and the one that composes anything."""

import warnings
from collections import Counter
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from sklearn.model_selection import ParameterSampler

from sksearch._compat import StrOptions
from sksearch.base import Resource, Sampler, Scheduler
from sksearch.samplers import GridSampler, ListedSampler, QuasiRandomSampler, RandomSampler
from sksearch.samplers._quasi_random import METHODS
from sksearch.schedulers import FullFidelity
from sksearch.search._base import BaseSearch
from sksearch.search._parameters import Count, CountOrAuto, documented
from sksearch.space import Outcome, When


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class SearchCV(BaseSearch):
    """Any sampler with any scheduler on any resource.

    Parameters
    ----------
    {head}
    {common}
    sampler : Sampler or None, default=None
        What to try. None: independent draws.
    scheduler : Scheduler or None, default=None
        How to spend. None: ten candidates at full resource.
    resource : str, Resource or None, default=None
        What is spent, see `HyperbandSearchCV`. None: whole fits.
    min_resources : int or "auto", default="auto"
        Smallest count of units worth a look.
    max_resources : int or "auto", default="auto"
        Count of units that the best candidates get.
    {batch_size}

    Attributes
    ----------
    {attributes}
    {fidelity_attributes}

    See Also
    --------
    RandomSearchCV : Independent draws at full resource.
    HyperbandSearchCV : Brackets of successive halving.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sksearch import SearchCV
    >>> from sksearch.samplers import QuasiRandomSampler
    >>> from sksearch.schedulers import SuccessiveHalving
    >>> X, y = load_iris(return_X_y=True)
    >>> search = SearchCV(
    ...     SGDClassifier(random_state=0), {"alpha": loguniform(1e-5, 1)}, resource="epochs",
    ...     max_resources=9, sampler=QuasiRandomSampler(), scheduler=SuccessiveHalving(),
    ...     random_state=0,
    ... ).fit(X, y)
    >>> search.n_candidates_
    [9, 3, 1]
    """

    sampler: Sampler | None = None
    scheduler: Scheduler | None = None
    resource: str | Resource | None = None
    min_resources: CountOrAuto = "auto"
    max_resources: CountOrAuto = "auto"
    batch_size: Count = 1

    def _compose(self, space, rng):
        """Name the given parts, or those of random search; rungs need a resource."""
        sampler = RandomSampler() if self.sampler is None else self.sampler
        scheduler = FullFidelity() if self.scheduler is None else self.scheduler
        if self.resource is None and not (
            isinstance(scheduler, FullFidelity)
            and self.min_resources == self.max_resources == "auto"
        ):
            raise ValueError(
                f"scheduler={scheduler}, min_resources={self.min_resources} and max_resources="
                f"{self.max_resources} need resource=: what is spent on a candidate step by "
                "step, such as 'epochs', 'n_samples' or 'folds'."
            )
        return sampler, scheduler


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class RandomSearchCV(BaseSearch):
    """Random search: independent draws, each at full resource.

    With the same ``random_state`` it evaluates the candidates of ``RandomizedSearchCV``, in the
    same order and with the same scores, but none of them twice; and it adds first guesses, a
    time limit and results that survive Ctrl-C.

    Parameters
    ----------
    {head}
    n_iter : int, default=10
        Count of candidates. If lists have no more, all are tried in the order of
        ``ParameterGrid``, and entries that a list has twice share their score.
    {common}

    Attributes
    ----------
    {attributes}

    See Also
    --------
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

    n_iter: Count = 10

    def _compose(self, space, rng):
        scheduler = FullFidelity(self.n_iter)
        special = (When, Outcome)
        if any(isinstance(v, special) for v in _values(self.param_distributions)):
            # RandomizedSearchCV knows neither, so there is nothing to equal.
            return _all_or(RandomSampler(), space, self.n_iter), scheduler
        candidates = ParameterSampler(self.param_distributions, self.n_iter, random_state=rng)
        return ListedSampler(tuple(map(_with_python_scalars, candidates))), scheduler

    def _rows(self, run, setup):
        rows, space = run.rows(), setup.problem.space
        if len(rows) < space.size or any(
            hasattr(v, "rvs") or isinstance(v, (When, Outcome)) for v in _values(self.param_distributions)
        ):
            return rows
        # The whole grid was tried: its rows, of which those of repeated entries share scores.
        times = Counter(map(space.key, setup.sampler.candidates))
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

    def _compose(self, space, rng):
        sampler = QuasiRandomSampler(self.method, self.n_iter)
        return _all_or(sampler, space, self.n_iter), FullFidelity(self.n_iter)


def _values(param_distributions):
    """Lists and distributions of all parameters of all dicts."""
    dicts = [param_distributions] if isinstance(param_distributions, dict) else param_distributions
    return [values for d in dicts for values in d.values()]


def _with_python_scalars(params):
    """numpy's scalars as Python's own, which every estimator takes and JSON knows."""
    return {k: v.item() if isinstance(v, np.generic) else v for k, v in params.items()}


def _all_or(sampler, space, n_iter):
    """The sampler, or the grid's order if `n_iter` is enough for the whole space."""
    if space.size > n_iter:
        return sampler
    if space.size < n_iter:
        warnings.warn(
            f"The total space of parameters {space.size} is smaller than n_iter={n_iter}: "
            f"all {space.size} candidates are tried.",
            UserWarning,
            stacklevel=2,
        )
    return GridSampler()
