"""Text of a report, section by section."""

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import beta

from sksearch._utils._advice import ReportParts
from sksearch._utils._terminal import amount, counted
from sksearch.estimators._model_choice import each_of, named_of
from sksearch.fitting.finish._choose import complexity, has_simplicity
from sksearch.reader._row import folds_text
from sksearch.reader._search_table import SearchTable
from sksearch.reporting import _words as words
from sksearch.reporting._advice import LEVEL, Facts, rung_correlations, stopped_early
from sksearch.reporting._failures import group_failures
from sksearch.reporting._header import lines_of_header
from sksearch.reporting._importance import importance_of, useless_params
from sksearch.reporting._leaderboard import (
    EXPLAINED,
    bars_by_model,
    limits_of,
    lines_of,
    standings,
)
from sksearch.reporting._rivals import (
    aligned,
    audited,
    cut_off,
    finalists,
    fold_ratio,
    is_allowed,
    outcomes_of,
    rivals,
    untuned,
)
from sksearch.stats._row_bootstrap import corrected_by_rows
from sksearch.stats._selection import selected_score
from sksearch.stats._ties import find_ties

N_SHOWN = 4  # parameters, failures and rungs, unless all are asked for


@dataclass(frozen=True)
class Section:
    """One part of a report.

    Parameters
    ----------
    title : str
        One word.
    lines : tuple of str
        Sentences, a line each.
    bars : tuple of (str, float, str)
        Names, shares of one and their texts, for a picture of bars in place of the lines.
    notes : tuple of str
        Sentences below lines or bars.
    """

    title: str
    lines: tuple[str, ...]
    bars: tuple[tuple[str, float, str], ...] = ()
    notes: tuple[str, ...] = ()


def find_facts(table: SearchTable) -> Facts:
    """Compute the facts of a report."""
    parts = ReportParts()
    failures = parts.make("Failed", group_failures, table, otherwise=[])
    none = np.zeros(len(table.candidates), dtype=bool)
    if table.best is None or table.winner is None:
        return Facts(table, None, none, None, failures, [], parts=parts)
    row_scores = getattr(table.source, "_row_scores", None)
    selected = parts.make("Score", _selected, table, row_scores)
    own = parts.make("Untuned", untuned, table)
    ties, by_luck = parts.make("Tied", _ties, table, own, selected, otherwise=(None, False))
    given = parts.make("Params", importance_of, table)
    useless = parts.make("Params", useless_params, table, given, otherwise=[])
    tied = none if ties is None else ties.tied
    return Facts(table, selected, tied, given, failures, useless, own, by_luck, ties, parts)


def _selected(table, row_scores):
    """The winner's score, corrected for selection."""
    could_win = np.where(is_allowed(table)[:, np.newaxis], aligned(table), np.nan)
    selected = selected_score(could_win, chosen=table.best, test_ratio=fold_ratio(table))
    limits = limits_of(table)
    rows, others = rivals(table)
    chosen = int(np.flatnonzero(rows == table.winner.index)[0])
    selected = corrected_by_rows(selected, others, chosen, row_scores, rows, limits)
    return _lowered(selected, getattr(table.source, "_outcome_luck", 0.0), *limits)


def _lowered(selected, luck, lowest, highest):
    """Subtract the gain of choosing counts or thresholds by the same scores."""
    low, high = max(selected.low - luck, lowest), min(selected.high - luck, highest)
    return replace(selected, corrected=selected.corrected - luck, low=low, high=max(low, high))


def _ties(table, own, selected):
    """Candidates tied with the winner, and whether the untuned estimator is one of them."""
    row_scores = getattr(table.source, "_row_scores", None)
    scores = np.where(finalists(table)[:, np.newaxis], table.scores, np.nan)
    scores[table.best] = table.scores[table.best]
    # Its own number of iterations, or a bound, may make it another rival than its candidate.
    is_known = own is None or np.array_equal(own.scores, scores[own.index])
    every = scores if is_known else np.vstack([scores, own.scores])
    z = n_samples = None
    if row_scores is not None:
        z = row_scores.contributions[[candidate.row.index for candidate in table.candidates]]
        n_samples = row_scores.n_samples
        if not is_known:  # rows match its own number of iterations only if scores do
            same = np.array_equal(own.scores, table.scores[own.index], equal_nan=True)
            z = np.vstack([z, z[own.index] if same else np.full(z.shape[1], np.nan)])
    ratio = fold_ratio(table)
    ties = find_ties(every, table.best, z, n_samples=n_samples, test_ratio=ratio)
    if selected is not None and selected.p_value > LEVEL:
        # The winner leads because it was selected: if all candidates together do not differ on
        # folds, folds cannot distinguish a pair.
        alike = np.isfinite(every).all(axis=1) & ~ties.by_rows
        ties = replace(ties, tied=ties.tied | alike)
    n, by_luck = len(scores), bool(own and ties.tied[own.index if is_known else -1])
    return replace(ties, tied=ties.tied[:n], by_rows=ties.by_rows[:n]), by_luck


def write_sections(facts: Facts, full: bool) -> list[Section]:
    """Write all sections with content, and a line for each that fails."""
    found = []
    for title, write in SECTIONS.items():
        section = facts.parts.make(title, write, facts, full)
        if fault := facts.parts.faults.get(title):
            section = Section(title, (fault,))
        found.append(section)
    return [section for section in found if section is not None]


def headline(table: SearchTable) -> str:
    """Return the headline: the search, candidates, folds and training time."""
    n_failed = len(table.failed)
    failed = f" ({n_failed:,} failed)" if n_failed else ""
    models = each_of(table.estimator)
    estimator = type(table.estimator).__name__ if len(models) == 1 else f"{len(models)} models"
    parts = [
        counted(len(table.candidates), "candidate") + failed,
        counted(table.n_folds, "fold"),
        f"{words.seconds(total_seconds(table))} of training",
    ]
    return f"{type(table.source).__name__}({estimator}): {', '.join(parts)}"


def total_seconds(table: SearchTable) -> float:
    """Total seconds of fits and scorings."""
    return sum(r.cost for trial in table.history.trials for r in trial.results.values())


# ---- sections


def _data(facts, full):
    """Facts for an auditor: data, metric, folds, seed, versions, time."""
    lines = lines_of_header(facts.table)
    return Section("Data", tuple(lines)) if lines else None


def _models(facts, full):
    """The models of a list side by side."""
    if not named_of(facts.table.estimator):
        return None
    note = getattr(facts.table.source, "_about_probabilities", "")
    notes = (f"probabilities: {note}",) if note else ()
    plan = getattr(facts.table.source, "plan_", None)
    notes += tuple(each for each in getattr(plan, "notes", ()) if each.startswith("models left"))
    return Section("Models", tuple(lines_of(standings(facts.table))), notes=notes)


def _winner(facts, full):
    """The winner and its settings."""
    table = facts.table
    best = table.winner
    if best is None:
        nobody = not np.isfinite(table.means).any()
        why = (
            "no candidate has a score" if nobody else "refit selected a candidate without a score"
        )
        return Section("Winner", (f"none: {why}",))
    has_unit = table.has_resources and not table.races
    at = f"  ({amount(best.resource, table.unit)})" if has_unit else ""
    lines = [words.params(best.params) + at]
    broken = np.isfinite(table.means) & (table.violations > 0)
    if broken.any():
        many = counted(len(table.candidates), "candidate")
        lines.append(f"{broken.sum():,} of {many} violate a bound")
    return Section("Winner", tuple(lines))


def _score(facts, full):
    """The score, as it was seen and corrected."""
    table, selected = facts.table, facts.selected
    if selected is None:
        return None
    error = (selected.high - selected.low) / 4
    seen = words.score(selected.seen, error)
    lines = [f"{seen}  observed {table.score_name}, {table.winner.folds}"]
    if math.isfinite(selected.corrected):
        text = f"{words.score(selected.corrected, error)}  expected on new data"
        ends = words.score(selected.low, error), words.score(selected.high, error)
        text += f", {ends[0]} to {ends[1]} with 95 % confidence"
        folds = counted(table.winner.n_folds, "fold")
        of = counted(selected.n_samples, "row") if selected.n_samples else folds
        text += f" ({of})"
        lines.append(text)
        n = facts.n_scored
        other = words.score(selected.tibshirani, error)
        other = "" if math.isnan(selected.tibshirani) else f" (Tibshirani and Tibshirani: {other})"
        lines.append(
            f"The best of {n} scores is partly luck.{other}" if n > 1 else _chosen_alone(table)
        )
    else:
        lines.append("A single fold gives no confidence interval.")
    sample = getattr(table.source, "_sample", None)
    if sample is not None:
        of = counted(sample.n_rows, "row")
        lines.append(
            f"All scores are from models trained on {of}. The final model is trained on all rows."
        )
    return Section("Score", tuple(lines))


def _chosen_alone(table):
    """Values chosen in training if there is a single candidate."""
    found = outcomes_of(table, table.winner.params)
    if not found:
        return "A single candidate needs no correction."
    return f"{words.params(found)} was chosen by these scores, which is partly luck."


def _folds(facts, full):
    """Decisions of the search about its folds."""
    notes = getattr(facts.table.source, "_notes_on_folds", ())
    return Section("Folds", notes) if notes else None


def _default(facts, full):
    """The untuned estimator, next to the winner."""
    table = facts.table
    own = facts.untuned
    if own is None:
        return None
    row = table.candidates[own.index].row
    if own.index == table.best and np.array_equal(own.scores, row.scores, equal_nan=True):
        return Section("Untuned", (f"The winner is {own.name}.",))
    folds, tail = "", ""
    if row.is_complete:
        gain = facts.selected.corrected - own.mean
        if not math.isfinite(gain):
            gain = facts.selected.seen - own.mean
        tail = ", which may be due to chance" if facts.by_luck else ""
    else:  # it was dropped: compare its folds only
        gain = float(np.nanmean(table.winner.scores - own.scores))
        folds, tail = f", {row.folds}", " on these folds"
    score, gained = (words.score(value, _error(facts)) for value in (own.mean, max(gain, 0)))
    return Section("Untuned", (f"{score}  for {own.name}{folds}: tuning gains {gained}{tail}",))


def _ensemble(facts, full):
    """Averaged candidates, and the gain on folds not used for the selection."""
    ensemble = getattr(facts.table.source, "ensemble_", None)
    if ensemble is None:
        return None
    return Section("Ensemble", tuple(str(ensemble).splitlines()[:1]))


def _tied(facts, full):
    """Candidates tied with the winner, and the simplest and the fastest of them."""
    table = facts.table
    ids = np.flatnonzero(facts.tied)
    n = int(finalists(table).sum())
    if table.best is None or n < 2:
        return None
    limits = _limits_of_ties(facts, n)
    if len(ids) == 1:
        others = f"none of the other {n - 1} candidates" if n > 2 else "not the other candidate"
        return Section("Tied", (f"{others}: the winner is better", *limits))
    lines = [
        f"{len(ids)} of {n} candidates, including the winner, are statistically tied",
        *limits,
    ]
    given = [table.candidates[i] for i in ids]
    seconds = np.array([c.fit_seconds + c.row.score_seconds for c in given])
    names = {name for c in given for name in c.params}
    picks = []
    if has_simplicity(names):
        cost = complexity([c.params for c in given])
        picks.append(("simplest", int(np.lexsort((-table.means[ids], cost))[0])))
    picks.append(("fastest", int(np.argmin(seconds))))
    own = seconds[list(ids).index(table.best)]
    for label, k in picks:
        if ids[k] == table.best:
            lines.append(f"{label}: the winner")
            continue
        score = words.score(table.means[ids[k]], _error(facts))
        faster = own / seconds[k] if seconds[k] > 0 else 1
        speed = f", {faster:.2g} times as fast" if label == "fastest" and faster >= 1.1 else ""
        lines.append(f"{label}: {words.params(given[k].params, 6)}  ({score}{speed})")
    if full:
        order = ids[np.argsort(-table.means[ids], kind="stable")]
        lines += [
            f"{words.score(table.means[i], _error(facts))}  "
            f"{words.params(table.candidates[i].params)}"
            for i in order
        ]
    return Section("Tied", tuple(lines))


def _limits_of_ties(facts, n):
    """Precision of the comparison, and candidates left out of it."""
    ties, lines = facts.ties, []
    if ties is not None and math.isfinite(ties.visible):
        by = "row by row" if ties.by_rows.any() else "by fold scores only"
        gap = words.score(ties.visible, _error(facts))
        lines.append(f"compared {by}: a difference of {gap} would be detected in 80 % of cases")
    if rest := facts.n_scored - n:
        lines.append(
            f"{counted(rest, 'more candidate')} with fewer folds or less resource: not tested"
        )
    return lines


def _params(facts, full):
    """Shares of the parameters."""
    given = facts.importance
    if given is None or facts.all_equal:
        return None
    if named_of(facts.table.estimator):
        return _params_of_models(facts, full)
    if given.explained < EXPLAINED:
        n = counted(given.n_candidates, "candidate")
        return Section("Params", (f"{n} do not show which parameters matter.",))
    shown = len(given.names) if full else N_SHOWN
    bars = tuple(
        (name, float(share), f"{words.percent(share)} ({100 * low:.0f} to {100 * high:.0f})")
        for name, share, low, high in zip(
            given.names[:shown], given.shares, given.low, given.high, strict=False
        )
    )
    together = words.percent(given.interactions)
    table = facts.table
    is_part = table.races and given.resource is not None and given.resource < table.n_folds
    of = f" ({folds_text(given.resource, table.n_folds)})" if is_part else ""
    notes = [f"shares of the score differences{of}; {together} is due to interactions"]
    rest = len(given.names) - shown
    if rest > 0:
        share = words.percent(sum(given.shares[shown:]))
        notes.insert(0, f"{rest} more, together {share}")
    texts = [f"{name} {text}" for name, _, text in bars]
    lines = [", ".join(texts[i : i + 2]) for i in range(0, len(texts), 2)]
    return Section("Params", tuple(lines), bars, tuple(notes))


def _params_of_models(facts, full):
    """Shares of the parameters of each of several models, among its own candidates."""
    bars = bars_by_model(facts.table, len(facts.table.candidates) if full else N_SHOWN)
    if not bars:
        return Section(
            "Params", ("No model has enough candidates to show which parameters matter.",)
        )
    by_model: dict[str, list[str]] = {}
    for name, _, text in bars:
        model, _, own = name.partition(": ")
        by_model.setdefault(model, []).append(f"{own} {text}")
    lines = [f"{model}: {', '.join(texts)}" for model, texts in by_model.items()]
    notes = ("shares of the score differences between the candidates of each model",)
    return Section("Params", tuple(lines), tuple(bars), notes)


def _rungs(facts, full):
    """Candidates stopped early, and how well lower rungs predicted upper ones."""
    table = facts.table
    stopped = stopped_early(table)
    if stopped is None:
        return None
    n, saved = stopped[0] + len(audited(table)), stopped[1]
    were = "was" if n == 1 else "were"
    lines = [
        f"{n:,} of {counted(len(table.candidates), 'candidate')} {were} stopped early: this saved "
        f"{words.percent(saved)} of the {table.unit}"
    ]
    if n_cut := len(cut_off(table)):
        lines = lines if n else []
        end = "the time was up" if getattr(table.source, "_is_up", False) else "the search ended"
        lines.append(f"{counted(n_cut, 'candidate')} had not finished when {end}")
    correlations = rung_correlations(table)
    shown = correlations if full else correlations[:N_SHOWN]
    if shown:
        text = ", ".join(f"{low:,} to {high:,}: {rho:.2f}" for low, high, rho, _, _ in shown)
        lines.append(f"rank correlation of scores between rungs: {text}")
    lines += _audit(facts)
    return Section("Rungs", tuple(lines))


def _audit(facts):
    """Audit: results of stopped candidates trained to the end."""
    table = facts.table
    ids = audited(table)
    others = np.where(finalists(table), table.means, np.nan)
    others[ids] = np.nan
    ids = ids[np.isfinite(table.means[ids])]
    if not len(ids) or not np.isfinite(others).any():
        return []
    best, scores = np.nanmax(others), np.where(is_allowed(table), table.means, -np.inf)[ids]
    n, better = len(ids), int((scores > best).sum())
    most = beta.ppf(0.95, better + 1, n - better) if better < n else 1.0
    several = bool(getattr(table.source, "objectives", None))
    won = f"won by {table.score_name} alone" if several else "won"
    if better:
        gain = words.score(scores.max() - best, _error(facts))
        found = f"{better} would have {won}, by up to {gain}"
    else:
        found = f"none would have {won}"
    what = counted(n, "stopped candidate")
    most = (
        f"at most {words.percent(most)} of all stopped candidates would have, with 95 % confidence"
    )
    return [f"audit of {what}: {found}; {most}"]


def _failed(facts, full):
    """Failures by cause."""
    if not facts.failures:
        return None
    shown = facts.failures if full else facts.failures[:N_SHOWN]
    lines = [f"{len(facts.table.failed):,} of {counted(len(facts.table.candidates), 'candidate')}"]
    for group in shown:
        cause = group.cause or "cause unknown (not recorded by scikit-learn)"
        status = "" if group.status == "error" else f"{group.status}: "
        where = f"  [all with {group.where}]" if group.where else ""
        lines.append(f"{len(group.ids):,} x {status}{cause}{where}")
    rest = len(facts.failures) - len(shown)
    if rest:
        lines.append(f"and {counted(rest, 'more cause')}")
    return Section("Failures", tuple(lines))


def _error(facts):
    """Half of the half-width of the interval, for rounding scores."""
    return (facts.selected.high - facts.selected.low) / 4


SECTIONS = {
    "Data": _data,
    "Models": _models,
    "Winner": _winner,
    "Score": _score,
    "Folds": _folds,
    "Untuned": _default,
    "Ensemble": _ensemble,
    "Tied": _tied,
    "Params": _params,
    "Rungs": _rungs,
    "Failed": _failed,
}
