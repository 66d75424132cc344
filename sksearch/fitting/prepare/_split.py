"""Default folds of a search."""

import sys
from numbers import Integral
from typing import Any, TypeGuard

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import is_classifier
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold, TimeSeriesSplit
from sklearn.utils.multiclass import type_of_target

from sksearch._utils._advice import glance
from sksearch._utils._compat import num_samples, to_numpy
from sksearch._utils._terminal import warn
from sksearch._utils._typing import Estimator, Folding, Samples, Targets
from sksearch.estimators._model_choice import named_of
from sksearch.fitting.prepare._checks import classes_of
from sksearch.fitting.prepare._input import check_groups
from sksearch.fitting.prepare._options import Options
from sksearch.fitting.run._folds import Folds, freeze_folds, warn_of_folds, why_unlike

N_FOLDS = 5  # as scikit-learn
N_FOLDS_IF_SHORT = 3
SECONDS_OF_A_MODEL = 1 / 500  # for each row and model, with less of which time is short
MIN_TIMES = 3  # for two folds that do not train on the future


def make_folds(
    options: Options,
    given: Folding,
    X: Samples,
    y: Targets,
    split_params: dict,
    unit: str | None = None,
) -> Folds:
    """Make the folds of a search, and choose the defaults.

    Parameters
    ----------
    options : Options
        Options of the search.
    given : object
        Its `cv`; a list of folds in place of a one-shot iterator.
    X, y : array-like
        Training data.
    split_params : dict
        Arguments of the splitter, such as ``groups``.
    unit : str or None, default=None
        Unit spent by an earlier process of this search, if any: a splitter without a seed may now
        make folds of other sizes, and a race continues as a race.

    Returns
    -------
    folds : Folds
        With a note on each decision.
    """
    cv, note, estimator = options.cv, "", options.estimator
    if "cv" in options.left:
        cv, note = choose_cv(cv, estimator, X, y, split_params.get("groups"))
        if cv is None and not note and _is_short(options, num_samples(X)):
            cv = N_FOLDS_IF_SHORT
            note = f"{cv}, since timeout={options.timeout:g} is short for these models and rows"
    splits = freeze_folds(given if cv is options.cv else cv, estimator, X, y, split_params)
    warn_of_folds(splits, classes_of(estimator, y)[1])
    unlike = ""
    if options.may_race(len(splits)) and unit != "folds":
        unlike = why_unlike(splits, num_samples(X))
        if unit is not None:
            unlike = unlike or "the search began with folds of different kinds"
    notes = [note] if note else []
    if unlike:
        notes.append(f"no race over folds, since {unlike}; pass resource='folds' for a race")
    return Folds(splits, cv, unlike, tuple(notes))


def _is_short(options: Options, n_rows: int) -> bool:
    """Return True if a list of models has little time, and the number of folds is not fixed."""
    n_models = len(named_of(options.estimator))
    if options.timeout is None or n_models < 2 or "n_folds" not in options.left:
        return False
    seconds = options.timeout * effective_n_jobs(options.workers.n_jobs)
    return seconds < SECONDS_OF_A_MODEL * n_models * n_rows


def leaves_folds(cv: Folding) -> TypeGuard[int | None]:
    """True if `cv` is only a number of folds."""
    return cv is None or (isinstance(cv, Integral) and not isinstance(cv, bool))


def choose_cv(
    cv: Folding, estimator: Estimator, X: Samples, y: Targets, groups: Targets
) -> tuple[Folding, str]:
    """Choose a splitter that keeps groups together, or the future out of training, if needed.

    Parameters
    ----------
    cv, estimator : object
        Parameters of the search.
    X, y : array-like
        Training data.
    groups : array-like of shape (n_samples,) or None
        As passed to ``fit``. They take precedence over times, because the user passed them
        explicitly.

    Returns
    -------
    cv : object
        The chosen splitter; otherwise the `cv` of the search.
    note : str
        The choice, the reason, and the argument that changes it.

    Raises
    ------
    ValueError
        If groups are missing, or there are fewer than folds are asked for.
    """
    if groups is not None and leaves_folds(cv):
        return _by_group(cv, X, y, groups, _can_stratify(estimator, y))
    if cv is None and (index := _times_of(X)) is not None:
        return _by_time(index, y, _can_stratify(estimator, y))
    if cv is None and (doubt := glance(_unused_times, X, y)):
        note = f"scikit-learn's default, although the index of {doubt}, or pass cv={N_FOLDS}"
        warn(f"Folds are {note}.")
        return cv, note
    n_folds = _fewer_folds(y) if cv is None and _can_stratify(estimator, y) else N_FOLDS
    if n_folds < N_FOLDS:
        return (
            n_folds,
            f"{n_folds}, since no more have rows of each class; pass another number as cv",
        )
    return cv, ""


def _fewer_folds(y: Targets) -> int:
    """Return the number of folds that classes with few rows allow, at least 2.

    Most metrics of two classes are undefined in a fold without one of them. Of many classes a rare
    one may be missing, as in scikit-learn.
    """
    counts = np.unique(to_numpy(y), return_counts=True)[1]
    n = int(counts.min() if len(counts) == 2 else counts.max())
    return n if n > 1 else N_FOLDS


def _by_group(
    cv: int | None, X: Samples, y: Targets, groups: Targets, stratifies: bool
) -> tuple[Folding, str]:
    """Folds that keep the rows of a group together, and the classes in proportion."""
    n_groups = check_groups(groups, X)
    n_folds = N_FOLDS if cv is None else int(cv)
    if n_groups == 1:
        raise ValueError(
            "groups has the same value in all rows, but folds need at least two groups: leave it "
            "out, or pass a splitter as cv."
        )
    few = ""
    if n_groups < n_folds:
        if cv is not None:
            raise ValueError(
                f"groups has {n_groups} different values, but cv={n_folds} needs {n_folds}: pass "
                f"cv={n_groups}, or leave cv out."
            )
        n_folds, few = n_groups, f", and the number of groups is {n_groups}"
    kind = StratifiedGroupKFold if stratifies else GroupKFold
    return kind(n_folds), (
        f"{kind.__name__}({n_folds}), since groups= is given, so groups are never split{few}; "
        "pass another splitter as cv for other folds"
    )


def _by_time(index: Any, y: Targets, stratifies: bool) -> tuple[Folding, str]:
    """Folds that train on the past and test on the future; rows at the same time stay together.

    Classifiers cannot be trained on a single class, nor can many metrics score it, so such folds
    are left out.
    """
    codes, times = index.factorize()
    n_folds = min(N_FOLDS, len(times) - 1)
    ends = [(train[-1], test[-1]) for train, test in TimeSeriesSplit(n_folds).split(times)]
    splits = [
        (np.arange(middle), np.arange(middle, end))
        for middle, end in (np.searchsorted(codes, pair, side="right") for pair in ends)
    ]
    if stratifies:
        splits = _with_classes(splits, to_numpy(y).ravel())
    if len(splits) < 2:
        return None, (
            "scikit-learn's default, although the index of X has times in order: y is sorted by "
            "class, so most folds in this order have a single class; pass cv=TimeSeriesSplit() "
            "for these"
        )
    left_out = n_folds - len(splits)
    few = f" except {left_out} without some classes" if left_out else ""
    ties = " or splits rows of the same time" if len(times) < len(codes) else ""
    return splits, (
        f"TimeSeriesSplit({n_folds}){few}, since the index of X has times in order, so no fold "
        f"trains on the future{ties}; pass cv={N_FOLDS} to ignore the times"
    )


def _with_classes(splits: list, labels: np.ndarray) -> list:
    """Leave out folds that lack classes in one of their parts.

    A class too rare for two folds may be missing in both parts of a fold.
    """
    present = [tuple(set(labels[part].tolist()) for part in fold) for fold in splits]
    every = set(labels.tolist())
    whole = [all(part == every for part in parts) for parts in present]
    if sum(whole) < 2:
        whole = [tested <= trained and len(tested) > 1 for trained, tested in present]
    return [fold for fold, is_whole in zip(splits, whole, strict=True) if is_whole]


def _can_stratify(estimator: Estimator, y: Targets) -> bool:
    """True if folds can be stratified, by scikit-learn's rule."""
    if y is None or not is_classifier(estimator):
        return False
    return glance(type_of_target, y) in ("binary", "multiclass")


def _times_of(X: Samples) -> Any:
    """The index of a pandas DataFrame, if it has times in order, enough of them for folds."""
    pandas, index = sys.modules.get("pandas"), getattr(X, "index", None)
    if pandas is None or not isinstance(index, pandas.DatetimeIndex | pandas.PeriodIndex):
        return None
    in_order = index.is_monotonic_increasing and not index.hasnans
    return index if in_order and index.nunique() >= MIN_TIMES else None


def _unused_times(X: Samples, y: Targets) -> str:
    """Say that an index, of y if X has none, has times that give no folds; otherwise ""."""
    pandas = sys.modules.get("pandas")
    if pandas is None:
        return ""
    name, index = "X", getattr(X, "index", None)
    if not isinstance(index, pandas.Index):
        name, index = "y", getattr(y, "index", None)
    if not isinstance(index, pandas.Index):
        return ""
    levels = [index.get_level_values(n) for n in range(index.nlevels)]
    if not any(_are_times(pandas, each) and each.nunique() >= MIN_TIMES for each in levels):
        return ""
    plain = isinstance(index, pandas.DatetimeIndex | pandas.PeriodIndex)
    if name == "X" and plain and not index.hasnans:
        return (
            "X has times: these are not in order, so folds train on the future; sort X and y by "
            "time to avoid this"
        )
    return (
        f"{name} has times, so folds train on the future; give X a sorted DatetimeIndex to avoid "
        "this"
    )


def _are_times(pandas: Any, index: Any) -> bool:
    """True if an index contains times, as dtype or as objects."""
    kinds = pandas.DatetimeIndex | pandas.PeriodIndex | pandas.TimedeltaIndex
    if isinstance(index, kinds):
        return True
    is_object = index.dtype == object
    return is_object and pandas.api.types.infer_dtype(index, skipna=True) in ("date", "datetime")
