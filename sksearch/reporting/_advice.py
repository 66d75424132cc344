"""Advice: a rule for each fault of a search, with the line of code that fixes it."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
from scipy.stats import spearmanr
from sklearn.base import is_classifier, is_regressor
from sklearn.model_selection import (
    KFold,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
)

from sksearch._utils._advice import ReportParts
from sksearch._utils._terminal import amount, counted
from sksearch.estimators._model_choice import named_of
from sksearch.fitting.run._objectives import Bound
from sksearch.fitting.run._results import text_of_violation
from sksearch.history import WHICH
from sksearch.reader._search_table import SearchTable
from sksearch.reporting import _words as words
from sksearch.reporting._edits import is_condition, remove_params, set_values, space_name
from sksearch.reporting._failures import MIN_FAILED, Failures
from sksearch.reporting._ranges import Range, around, code_of_range, ranges_of
from sksearch.reporting._rivals import Untuned, cut_off, finalists, fold_ratio, outcomes_of
from sksearch.stats._selection import SelectedScore, selected_score
from sksearch.stats._ties import Ties

EDGE = 0.05  # share of a range that counts as its end
MISLEADING = 0.3  # rank correlation of two rungs below which the lower one is misleading
MIN_SHARED = 5  # candidates for a rank correlation
SURE = 0.3  # share of the variance that a model must explain before its shares count
MINOR = 0.05  # share of a parameter whose range need not be widened
LEVEL = 0.05  # of tests
MANY, NEARLY_ALL = 10, 0.8  # candidates, and the share of them beyond which an edge means nothing
DECADES = 100  # largest over smallest number from which on a linear range is a fault
#: Splitters of random folds that test each row once, or some of the rows.
FOLDS = (KFold, StratifiedKFold, RepeatedKFold, RepeatedStratifiedKFold)
SHUFFLES = (ShuffleSplit, StratifiedShuffleSplit)
SCALES = frozenset(
    [
        "C",
        "alpha",
        "gamma",
        "learning_rate",
        "learning_rate_init",
        "eta0",
        "reg_alpha",
        "reg_lambda",
        "l2_regularization",
        "tol",
        "var_smoothing",
        "weight_decay",
        "lr",
        "ccp_alpha",
        "epsilon",
    ]
)


@dataclass(frozen=True)
class Advice:
    """One thing to do.

    Parameters
    ----------
    rule : str
        Name of the rule, such as "edge".
    text : str
        The problem and its remedy.
    code : str
        The line of code to change, otherwise "".

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.svm import SVC
    >>> from sksearch import report
    >>> X, y = load_digits(return_X_y=True)
    >>> grid = GridSearchCV(SVC(), {"C": [0.001, 0.01, 0.1]}, cv=3).fit(X[:600], y[:600])
    >>> advice = report(grid).advice[0]
    >>> advice.rule, advice.code
    ('edge', "param_grid['C'] = [0.001, 0.01, 0.1, 1.0, 10.0]")
    """

    rule: str
    text: str
    code: str = ""


@dataclass(frozen=True)
class Facts:
    """Input of the rules.

    Parameters
    ----------
    table : SearchTable
        The results.
    selected : SelectedScore or None
        The winner's score, corrected; None without a winner.
    tied : ndarray of bool of shape (n_candidates,)
        True for candidates statistically tied with the winner.
    importance : Importance or None
        Which parameters matter; None if unknown.
    failures : list of Failures
        Failures by cause.
    useless : list of str
        Parameters without effect.
    untuned : Untuned or None, default=None
        The untuned estimator; None without a score of it.
    by_luck : bool, default=False
        True if the winner is statistically tied with the untuned estimator.
    ties : Ties or None, default=None
        Precision of the comparison with the winner.
    parts : ReportParts
        Parts of the report that could not be made.
    """

    table: SearchTable
    selected: SelectedScore | None
    tied: np.ndarray
    importance: Any
    failures: list[Failures]
    useless: list[str]
    untuned: Untuned | None = None
    by_luck: bool = False
    ties: Ties | None = None
    parts: ReportParts = field(default_factory=ReportParts)

    @property
    def n_scored(self) -> int:
        """Number of candidates with a score."""
        return int(np.isfinite(self.table.means).sum())

    @property
    def is_noise(self) -> bool:
        """True if the candidates differ no more than by noise, and all are tied."""
        if self.selected is None or self.n_scored < 2 or not self.selected.p_value > LEVEL:
            return False
        return self.ties is None or not (finalists(self.table) & ~self.tied).any()

    @property
    def nearly_all_tied(self) -> bool:
        """True if few of many candidates are worse than the winner."""
        n = int(finalists(self.table).sum())
        return n >= MANY and self.tied.sum() > NEARLY_ALL * n

    @property
    def all_equal(self) -> bool:
        """True if all candidates have the same score on every fold."""
        scores = self.table.scores[finalists(self.table)]
        return len(scores) > 1 and bool((np.ptp(scores, axis=0) == 0).all())


def advise(facts: Facts) -> list[Advice]:
    """Apply all rules, the most urgent first."""
    make = facts.parts.make
    return [advice for rule in RULES for advice in make("Next", rule, facts, otherwise=())]


# ---- rules


def no_winner(facts: Facts) -> list[Advice]:
    """Nothing has a score."""
    if facts.table.best is not None:
        return []
    text = "No candidate has a score. Print the first error in full."
    return [Advice("no_winner", text, _raising(facts.table.source))]


def _raising(search: Any) -> str:
    """Code of the search that ends at the first error."""
    journal = ", checkpoint_dir=None" if getattr(search, "checkpoint_dir", None) else ""
    return f'clone(search).set_params(error_score="raise"{journal}).fit(X, y)'


def failures(facts: Facts) -> list[Advice]:
    """Candidates fail for a cause that one line of code removes."""
    if facts.table.best is None:
        return []
    return [Advice("failures", *_cure(facts.table, group)) for group in facts.failures[:3]]


def _cure(table: SearchTable, group: Failures) -> tuple[str, str]:
    """Text and code for candidates with the same cause of failure."""
    many, search = counted(len(group.ids), "candidate"), table.source
    if group.status == "timeout":
        limit = getattr(search, "timeout", None)
        code = _raised(search, "timeout", 3) or (f"timeout={3 * limit:g}" if limit else "")
        return (
            f"{many} reached the time limit. Increase it, or narrow the range of slow values.",
            code,
        )
    if group.status == "memory":
        if code := _raised(search, "memory", 2):
            return f"{many} ran out of memory. Increase the limit.", code
        code = "n_jobs=1" if getattr(search, "n_jobs", None) not in (None, 1) else ""
        way = "Train fewer at once" if code else "Narrow the range of large values"
        return f"{many} ran out of memory. {way}.", code
    if group.where:
        return f"{many} failed, all with {group.where}. {group.cure}.", group.remedy
    if not group.cause:
        return f"{many} failed. Print the error.", _raising(search)
    why = "No single parameter explains the failures."
    if len(group.ids) < MIN_FAILED:
        why = "These are too few to find the parameter that explains them."
    end = "" if group.cause.endswith(".") else "."
    return f"{many} failed: {group.cause}{end} {why}", _repeated(table, group)


def _repeated(table: SearchTable, group: Failures) -> str:
    """Code that trains and scores a failed candidate, which may fail on one of the folds only."""
    if group.status == "crash":  # it would end the user's process
        return ""
    row, estimator, own, prefix = table.candidates[group.ids[0]].row, "search.estimator", "", ""
    if (model := row.params.get(WHICH)) in dict(named_of(table.estimator)):
        estimator, prefix = f"dict(search.estimator.named)[{model!r}]", f"{model}__"
        own = f".items() if name.startswith({prefix!r})}}"
    params = words.dict_of(
        {name.removeprefix(prefix): v for name, v in row.params.items() if name.startswith(prefix)}
    )
    if params is None:  # no text makes its values again
        params = f'search.cv_results_["params"][{row.index}]'
        if own:
            params = f"{{name.removeprefix({prefix!r}): value for name, value in {params}{own}"
    return (
        f"cross_validate(clone({estimator}).set_params(**{params}), X, y, cv=search.cv, "
        'scoring=search.scoring, error_score="raise")'
    )


def _raised(search: Any, key: str, factor: int) -> str:
    """Code of the workers with a limit `factor` times as large; "" without this limit."""
    given = getattr(search, "workers", None)
    if not isinstance(given, dict) or not given.get(key):
        return ""
    new = given | {key: factor * given[key]}
    texts = [f'"{name}": {value!r}' for name, value in new.items()]
    return f"workers={{{', '.join(texts)}}}"


def broken_bounds(facts: Facts) -> list[Advice]:
    """The winner itself breaks a bound."""
    table, text = facts.table, ""
    refit, front = (getattr(table.source, name, None) for name in ("refit", "pareto_"))
    if table.best is not None and table.violations[table.best] > 0:
        text = text_of_violation(table.violations[table.best])
    elif isinstance(refit, Bound) and front:
        text = front.about_bound(refit)
    return [Advice("bounds", text)] if text else []


def one_candidate(facts: Facts) -> list[Advice]:
    """There was no choice."""
    if len(facts.table.candidates) != 1:
        return []
    space = facts.table.space
    timeout = getattr(facts.table.source, "timeout", None)
    plan = getattr(facts.table.source, "plan_", None)
    if timeout and plan is not None and (plan.is_endless or plan.n_candidates > 1):
        is_partial = facts.table.races and not facts.table.candidates[0].row.is_complete
        what = (
            "the first candidate finished all folds"
            if is_partial
            else "a second candidate started"
        )
        text = f"The time was up before {what}. Increase the limit."
        return [Advice("one_candidate", text, f"timeout={10 * timeout:g}")]
    params = facts.table.candidates[0].params
    found = outcomes_of(facts.table, params)
    chosen = f"only {words.listed(found)}" if found else "nothing"
    text, code = f"There was one candidate, so {chosen} was chosen. ", ""
    if (space is not None and space.size == 1) or not hasattr(facts.table.source, "n_iter"):
        text += "Pass several values" + (" of other parameters." if found else ".")
        for name, value in params.items():
            if name not in found and (values := around(facts.table, name, value)) and not code:
                code = set_values(facts.table, name, words.code_of(values))
    else:
        text, code = f"{text}Try more candidates.", "n_iter=50"
    return [Advice("one_candidate", text, code)]


def noise_only(facts: Facts) -> list[Advice]:
    """The candidates differ no more than noise."""
    if facts.all_equal:
        text = (
            "All candidates have the same score on every fold: their parameters have no effect, "
            "or the metric is too coarse. Inspect the predictions, or use a finer metric."
        )
        return [Advice("all_equal", text, _finer_metric(facts.table))]
    if not facts.is_noise:
        return []
    code = _more_folds(facts.table)
    text = (
        "The differences between candidates are within the noise, so the winner is a matter of "
        f"luck. Use {'more repetitions' if code else 'more folds'}, or search other parameters."
    )
    return [Advice("noise", text, code)]


def _finer_metric(table: SearchTable) -> str:
    """Code for a more sensitive metric, "" if unknown."""
    best, own = table.trained, getattr(table.source, "scoring", None)
    if is_regressor(best):
        return "" if own in (None, "r2") else 'scoring="r2"'
    name = "roc_auc_ovr" if hasattr(best, "predict_proba") else "roc_auc"
    is_binary = len(getattr(best, "classes_", ())) == 2
    known = hasattr(best, "predict_proba") or (is_binary and hasattr(best, "decision_function"))
    return f'scoring="{name}"' if is_classifier(best) and known and own != name else ""


def _more_folds(table: SearchTable) -> str:
    """Code for more folds of the same kind, "" if they are not random."""
    cv = getattr(table.source, "cv", None)
    plain = cv is None or isinstance(cv, Integral)
    if not _folds_by_chance(table) or isinstance(cv, SHUFFLES):
        return ""
    n_repeats = getattr(cv, "n_repeats", None)
    n_repeats = n_repeats if isinstance(n_repeats, int) else 1
    labels = getattr(table.source, "classes_", None)  # a list of them for several targets
    stratified = is_classifier(table.estimator) and not isinstance(labels, list)
    stratified = "Stratified" in type(cv).__name__ or (plain and stratified)
    name = "RepeatedStratifiedKFold" if stratified else "RepeatedKFold"
    n_splits = table.n_folds // n_repeats
    return f"cv={name}(n_splits={n_splits}, n_repeats={max(5, 2 * n_repeats)})"


def few_folds(facts: Facts) -> list[Advice]:
    """A single fold gives no estimate of the noise."""
    if facts.table.n_folds > 1:
        return []
    code = "cv=5" if _folds_by_chance(facts.table) else ""
    return [
        Advice("folds", "A single fold cannot distinguish luck from merit. Use several.", code)
    ]


def edges(facts: Facts) -> list[Advice]:
    """The best value, and the values of the other top candidates, are at the end of the range."""
    table = facts.table
    if table.best is None or not facts.tied.any() or len(table.candidates) == 1:
        return []
    if facts.is_noise or facts.all_equal or facts.nearly_all_tied:
        return []
    found = []
    for each in ranges_of(table):
        value = table.candidates[table.best].params.get(each.name)
        at = each.place(value)
        if not (at <= EDGE or at >= 1 - EDGE) or not _matters(facts, each.name):
            continue
        places = [
            each.place(candidate.params.get(each.name))
            for candidate, tied in zip(table.candidates, facts.tied, strict=True)
            if tied
        ]
        upper = at > 0.5
        middle = float(np.nanmedian(places))
        if (middle if upper else 1 - middle) < 2 / 3 or not _improves(table, each, upper):
            continue
        wider = each.widened(upper, table)
        if wider is None:  # there is nothing beyond
            continue
        end = "upper" if upper else "lower"
        text = (
            f"The best value, {each.name}={words.value(value)}, is at the {end} end of its range. "
            "Widen the range."
        )
        found.append(Advice("edge", text, set_values(table, each.name, wider)))
    return found


def without_effect(facts: Facts) -> list[Advice]:
    """A searched parameter does not change the score."""
    names = [name for name in facts.useless if not is_condition(facts.table, name)]
    if not names or facts.is_noise or facts.all_equal:
        return []
    them = "it" if len(names) == 1 else "them"
    text = (
        f"{words.listed(names)} had no visible effect on the score. Remove {them}: a smaller "
        "space is searched faster."
    )
    return [Advice("no_effect", text, remove_params(facts.table, names[:3]))]


def linear_scales(facts: Facts) -> list[Advice]:
    """A linear range over decades spends nearly all candidates on the largest one."""
    found = []
    for each in ranges_of(facts.table):
        leaf = each.name.rpartition("__")[2]
        wide = each.low > 0 and each.high >= DECADES * each.low
        from_zero = each.low == 0 and leaf in SCALES and not each.is_integer
        if each.log or each.choices or not (wide or from_zero):
            continue
        if each.is_integer and each.high < 10 * DECADES * max(each.low, 1) / 10:
            continue
        low = each.low or each.high * 1e-4
        text = (
            f"{each.name} is drawn uniformly from {words.number(each.low)} to "
            f"{words.number(each.high)}, so nine of ten draws are in the upper 90 %. Use a log "
            "scale."
        )
        code = code_of_range(low, each.high, True, each.is_integer)
        found.append(Advice("scale", text, set_values(facts.table, each.name, code)))
    return found


def misleading_rungs(facts: Facts) -> list[Advice]:
    """A lower rung ranks candidates differently from the next one."""
    for low, high, rho, n, is_real in rung_correlations(facts.table):
        if is_real and rho < MISLEADING:
            first = amount(low, facts.table.unit)
            text = (
                f"Scores at {first} do not predict scores at {high:,} (rank correlation "
                f"{rho:.2f} of {n} candidates). Start higher."
            )
            has_it = hasattr(facts.table.source, "min_resources")
            return [Advice("rungs", text, f"min_resources={high}" if has_it else "")]
    return []


def found_late(facts: Facts) -> list[Advice]:
    """The best candidate came at the end, and no earlier one was as good."""
    table = facts.table
    n = len(table.candidates)
    if table.best is None or n < 20 or space_name(table) == "param_grid" or facts.is_noise:
        return []
    if table.rungs or table.best < 0.8 * n or facts.tied[: int(0.8 * n)].any():
        return []
    text = (
        f"The best candidate is number {table.best + 1} of {n}, and better than all earlier ones. "
        "Search longer."
    )
    limit = getattr(table.source, "timeout", None)
    code = f"timeout={2 * limit:g}" if limit and not _count(table) else f"n_iter={2 * n}"
    return [Advice("more", text, code)]


RULES: tuple[Callable[[Facts], list[Advice]], ...] = (
    no_winner,
    broken_bounds,
    failures,
    one_candidate,
    few_folds,
    noise_only,
    misleading_rungs,
    edges,
    linear_scales,
    without_effect,
    found_late,
)


# ---- what several rules ask


def rung_correlations(table: SearchTable) -> list[tuple[int, int, float, int, bool]]:
    """Compare each rung with the next one sharing enough candidates.

    Parameters
    ----------
    table : SearchTable
        The results.

    Returns
    -------
    correlations : list of tuple
        Resources of both rungs, Spearman's rank correlation of their scores, number of candidates,
        and whether these differ at the upper rung by more than noise.
    """
    if table.races:
        return []  # rungs share the scores of their folds
    found = []
    for low, high in zip(table.rungs[:-1], table.rungs[1:], strict=True):
        _, i, j = np.intersect1d(low.ids, high.ids, return_indices=True)
        a, b = low.scores[i], high.scores[j]
        kept = np.isfinite(a).all(axis=1) & np.isfinite(b).all(axis=1)
        a, b = a[kept], b[kept]
        if len(a) < MIN_SHARED or np.ptp(a.mean(axis=1)) == 0 or np.ptp(b.mean(axis=1)) == 0:
            continue
        rho = float(spearmanr(a.mean(axis=1), b.mean(axis=1)).statistic)
        p_value = selected_score(b, test_ratio=fold_ratio(table)).p_value
        found.append((low.resource, high.resource, rho, len(a), not p_value > LEVEL))
    return found


def _matters(facts: Facts, name: str) -> bool:
    """True if a parameter is known to matter, or nothing is known about it."""
    given = facts.importance
    if name in facts.useless:
        return False
    if given is None or given.explained < SURE or name not in given.names:
        return True
    return bool(given.shares[given.names.index(name)] > MINOR)


def _improves(table: SearchTable, each: Range, upper: bool) -> bool:
    """True if candidates near this end are better than those in the middle."""
    places = np.array(
        [each.place(candidate.params.get(each.name)) for candidate in table.candidates]
    )
    places = places if upper else 1 - places
    scored = np.isfinite(table.means)
    near, middle = scored & (places > 2 / 3), scored & (places > 1 / 4) & (places <= 2 / 3)
    if not near.any() or not middle.any():
        return True
    return bool(np.median(table.means[near]) > np.median(table.means[middle]))


def _folds_by_chance(table: SearchTable) -> bool:
    """True if random folds may replace the splitter's: it respects no groups and no order."""
    cv = getattr(table.source, "cv", None)
    is_by_chance = cv is None or isinstance(cv, (Integral, *FOLDS, *SHUFFLES))
    return is_by_chance and not getattr(table.source, "_notes_on_folds", ())


def _count(table: SearchTable) -> Any:
    return getattr(table.source, "n_iter", None)


def stopped_early(table: SearchTable) -> tuple[int, float] | None:
    """Number of candidates stopped below the top, and the share of units this saved.

    Candidates that the end of the search cut are left out.

    Parameters
    ----------
    table : SearchTable
        The results.

    Returns
    -------
    stopped : tuple of (int, float), or None
        None if there is a single resource, or if others continued from their models.
    """
    if not table.rungs or any(trial.parent is not None for trial in table.history.trials):
        return None
    cut = cut_off(table)
    reached: dict[int, list[int]] = {}
    for rung in table.rungs:
        for i in set(rung.ids.tolist()) - cut:
            reached.setdefault(i, []).append(rung.resource)
    top = table.rungs[-1].resource
    continues = table.races or table.history.problem.continues
    paid = sum(max(r) if continues else sum(r) for r in reached.values())
    saved = 1 - paid / (top * len(reached)) if reached else 0.0
    return sum(max(r) < top for r in reached.values()), max(0.0, saved) if math.isfinite(
        saved
    ) else 0.0
