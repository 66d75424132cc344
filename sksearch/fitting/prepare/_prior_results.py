"""Prior knowledge of a search: results of earlier searches, and the user's beliefs."""

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sksearch._utils._terminal import counted
from sksearch.base import Sampler
from sksearch.fitting.run._objectives import Aims, Allows, allowed_guesses
from sksearch.history import Params, Problem
from sksearch.reader._read import chosen_metric, read
from sksearch.reader._sources import FinishedSearch
from sksearch.samplers import WarmStart
from sksearch.samplers._prior import with_prior
from sksearch.samplers._warm_start import EarlierTask, part_of
from sksearch.space import Space
from sksearch.space._values import equal

ENOUGH = 10  # results at a resource from which on it stands for the candidates


def earlier_results(source: FinishedSearch, *, same_task: bool = False) -> EarlierTask:
    """Read the results of an earlier search, for ``known["results"]`` of a new one.

    Parameters
    ----------
    source : object
        A fitted search of this library or scikit-learn; its ``cv_results_`` as a dict or a
        DataFrame, which may be read from a text file; a DataFrame with a column for each parameter
        and a column "score"; a `checkpoint_dir`; the result of `minimize` or `load_history`; or an
        Optuna study.
    same_task : bool, default=False
        Whether estimator, data, folds and metric are the same as in the new search. If True,
        models use these scores like new results, and the best candidate of `source` is a first
        candidate of the new search. If False, only the order of the scores is used, as long as
        the new results agree with it.

    Returns
    -------
    earlier : EarlierTask
        Candidates and scores, greater is better. If there are several rungs, only the results at
        one resource are used: the largest resource with ten results, otherwise the resource with
        the most results.

    Raises
    ------
    TypeError
        If `source` is none of the above.
    ValueError
        If it has no finite score.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import RandomizedSearchCV
    >>> from sklearn.svm import SVC
    >>> from sksearch import GPBayesSearchCV
    >>> from sksearch.search import earlier_results
    >>> X, y = load_iris(return_X_y=True)
    >>> space = {"C": loguniform(1e-3, 1e3), "gamma": loguniform(1e-4, 1e1)}
    >>> old = RandomizedSearchCV(SVC(), space, n_iter=20, random_state=0).fit(X, y)
    >>> known = earlier_results(old, same_task=True)
    >>> new = GPBayesSearchCV(SVC(), space, n_iter=5, known={"results": known}, random_state=0)
    >>> bool(new.fit(X, y).best_score_ >= old.best_score_)
    True
    """
    if isinstance(source, EarlierTask):
        params, scores = list(source.params), list(source.scores)
    else:
        params, scores = _read(source)
    if not any(map(math.isfinite, scores)):
        raise ValueError(
            f'known["results"]: the {len(scores)} results of a {type(source).__name__} have no '
            "finite score. Leave it out."
        )
    return EarlierTask(params, scores, same_task)


def read_earlier(
    prior_results: Any, space: Space, own: Params | None = None
) -> tuple[EarlierTask, ...]:
    """Read the earlier results of a search, and check that each has candidates inside the space.

    A parameter missing in a candidate gets its value in `own`, the values of the estimator.

    Raises
    ------
    TypeError, ValueError
        As `earlier_results`, and if no candidate of a source lies in the space.
    """
    if prior_results is None:
        return ()
    is_list = isinstance(prior_results, list | tuple)
    tasks = []
    for i, source in enumerate(prior_results if is_list else [prior_results]):
        task = source if isinstance(source, EarlierTask) else earlier_results(source)
        inside = [_within(params, space, own, task.same_task) for params in task.params]
        known = [
            (params, score)
            for params, score in zip(inside, task.scores, strict=True)
            if params is not None and math.isfinite(score)
        ]
        if not known:
            many = counted(len(task.params), "candidate")
            where = 'known["results"]' + (f"[{i}]" if is_list else "")
            raise ValueError(
                f"{where} has {many}, but none of them lies in the space of "
                f"{', '.join(space.names)}: a candidate needs a value for at least one of these "
                "parameters, and its values must be within the ranges."
            )
        candidates, scores = zip(*known, strict=True)
        tasks.append(EarlierTask(candidates, scores, task.same_task))
    return tuple(tasks)


def _within(params: Params, space: Space, own: Params | None, is_exact: bool) -> Params | None:
    """Return a candidate's values for the space, with own values for missing ones.

    An own value outside of its range is clipped, unless the scores must belong to exactly these
    candidates.
    """
    inside = part_of(params, space)
    known = {name: value for name, value in params.items() if name in space.names}
    if inside is not None or own is None or not known or known.keys() >= set(space.names):
        return inside
    rough = space.baseline({**own, **known})
    if rough is None:
        return None
    if not space.contains(rough):
        if is_exact:
            return None
        near = space.from_unit(np.nan_to_num(space.place(rough), nan=0.5))
        rough = {name: known.get(name, value) for name, value in near.items()}
    is_kept = all(equal(rough[name], value) for name, value in known.items() if name in rough)
    return rough if is_kept and space.contains(rough) else None


def best_of(task: EarlierTask) -> Params:
    """Return the candidate with the best score."""
    return task.params[int(np.nanargmax(task.scores))]


def check_same_task(aims: Aims, earlier: Sequence[EarlierTask]) -> None:
    """Raise ValueError if scores of the same task lack required objectives or bounds."""
    if (aims.objectives or aims.bounds) and any(task.same_task for task in earlier):
        raise ValueError(
            'known["results"] of the same task contain only scores, but the search has objectives '
            "or bounds: pass them as results of another task, earlier_results(source), which only "
            "uses their order; or pass the best candidates as first ones."
        )


def given_guesses(
    initial_params: Any,
    space: Space,
    earlier: Sequence[EarlierTask],
    allows: Allows | None,
    own: Sequence[Params] = (),
) -> tuple[Params, ...]:
    """Return distinct first candidates: the user's, then the best of each same-task source.

    Raises
    ------
    TypeError, ValueError
        If one of the user's is neither in the space nor one of `own`, or is not allowed.
    """
    given = (space.check_guesses(initial_params, 'known["params"]', own), False)
    best = (tuple(best_of(task) for task in earlier if task.same_task), False)
    first = allowed_guesses(given, allows, given=True)[0]
    then = allowed_guesses(best, allows, given=False)[0]
    return tuple({space.key(params): params for params in (*first, *then)}.values())


def with_knowledge(
    problem: Problem, sampler: Sampler, earlier: Sequence[EarlierTask], prior: Any
) -> tuple[Problem, Sampler]:
    """Give the problem its earlier results and beliefs, and the sampler other tasks' results.

    Raises
    ------
    TypeError, ValueError
        If the beliefs do not fit the space, see `Beliefs`.
    """
    known = tuple(
        pair
        for task in earlier
        if task.same_task
        for pair in zip(task.params, task.scores, strict=True)
    )
    try:
        problem, sampler = with_prior(replace(problem, known=known), sampler, prior)
    except (TypeError, ValueError) as error:
        error.args = tuple(re.sub(r"^prior", 'known["prior"]', str(each)) for each in error.args)
        raise
    others = tuple(task for task in earlier if not task.same_task)
    return problem, WarmStart(sampler, others) if others else sampler


def _read(source: FinishedSearch) -> tuple[list[Params], list[float]]:
    """Return candidates and scores of any source, at the deciding resource."""
    name = type(source).__name__
    if (
        not hasattr(source, "cv_results_")
        and hasattr(source, "fit")
        and hasattr(source, "estimator")
    ):
        raise ValueError(f'known["results"]: this {name} is not fitted. Call its fit first.')
    found = read(source, 'known["results"]')
    level = found.level_with(ENOUGH)
    if found.told is not None:
        trials = found.levels.get(level, [])
        return [dict(t.params) for t in trials], [t.results[level].score for t in trials]
    if found.results and chosen_metric(found.source, found.results) is None:
        means = [column for column in found.results if column.startswith("mean_test_")]
        raise ValueError(
            f'known["results"] has several columns of scores, {", ".join(means)}: pass a '
            "DataFrame with a column for each parameter, and the scores in the column 'score'."
        )
    rows = [row for row in found.rows if row.resource == level]
    return [dict(row.shown) for row in rows], [row.score for row in rows]
