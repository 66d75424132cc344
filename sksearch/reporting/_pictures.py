"""The pictures of a search: of its report, and of its page while it runs."""

import math
from collections.abc import Callable

import numpy as np

from sksearch._utils._html import Markup, element
from sksearch._utils._terminal import amount, counted
from sksearch.history import WHICH, Params
from sksearch.plotting._style import near_scores
from sksearch.progress._status_line import duration
from sksearch.reader._search_table import SearchTable
from sksearch.reader._values import model_of
from sksearch.reporting import _words as words
from sksearch.reporting._advice import Facts
from sksearch.reporting._charts import HEIGHT, LEFT, WIDTH, Chart, figure, span, ticks
from sksearch.reporting._leaderboard import Standing, standings
from sksearch.reporting._looks import cut, plain
from sksearch.reporting._rivals import finalists
from sksearch.stats._candidates import Axis, Candidates
from sksearch.stats._effects import Effects
from sksearch.stats._spans import bars_of

N_BEST = 15  # candidates next to each other
N_DOTS, N_BARS = 1500, 3000  # drawn; a page of more is slow
N_PARAMS, N_RUNGS, N_LINES = 6, 12, 10
N_FOR_EFFECTS = 10  # candidates
LONGEST = 26  # characters of a label
SMALL = 300  # width of the picture of a parameter


def pictures(table: SearchTable, facts: Facts | None = None) -> dict[str, Callable]:
    """Return the pictures by their names; each is drawn by a call, and None if it has no content.

    Parameters
    ----------
    table : SearchTable
        The results.
    facts : Facts or None, default=None
        Facts of a report: ties, intervals and effects of parameters are drawn as well.
    """
    if not np.isfinite(table.means).any():
        return {"Workers": lambda: _workers(table)}
    return {
        "Models": lambda: _models(table),
        "Scores": lambda: _scores(table),
        "Best candidates": lambda: _best(table, facts),
        "Parameters": lambda: _parameters(table, facts),
        "Rungs": lambda: _rungs(table),
        "Predictions": lambda: _predictions(table),
        "Workers": lambda: _workers(table),
    }


def _about(table: SearchTable, score: float, resource: int, params: Params) -> str:
    """Describe a result, for the text at the pointer."""
    at = f", {amount(resource, table.unit)}" if table.has_resources else ""
    return f"{_score(score)}{at}\n{_params(params)}"


def _params(params: Params) -> str:
    """A line for each parameter."""
    shown = [f"{name} = {words.value(value)}" for name, value in params.items()]
    return "\n".join([*shown[:N_LINES], *["..."] * (len(shown) > N_LINES)])


def _score(x: float) -> str:
    return f"{x:.5g}" if np.isfinite(x) else "no score"


# ---- rows next to each other


def _models(table: SearchTable) -> Markup | None:
    """A row for each model of a list, with its interval."""
    found = [each for each in standings(table) if np.isfinite(each.score)]
    if len(found) < 2:
        return None
    ends = [x for each in found for x in (each.low, each.score, each.high) if np.isfinite(x)]
    chart = _rows([each.model for each in found], np.array(ends))
    for row, each in enumerate(found):
        kind = "dot" if row else "won"
        if np.isfinite(each.low):
            chart.line([(each.low, -row), (each.high, -row)], f"span {kind}", _standing(each))
        chart.dot(each.score, -row, kind, _standing(each))
    note = "Best candidate of each model; the line is a 95 % interval for new data."
    return figure("Models.", note, chart.svg("Models"))


def _standing(each: Standing) -> str:
    ends = f" ({each.low:.4g} to {each.high:.4g})" if np.isfinite(each.low) else ""
    return (
        f"{each.model}: {each.score:.5g}{ends}\n{counted(each.n_candidates, 'candidate')}, "
        f"{words.seconds(each.seconds)}" + "\nin the average" * each.in_average
    )


def _best(table: SearchTable, facts: Facts | None) -> Markup | None:
    """A row for each of the best candidates, with a dot for each fold."""
    if table.best is None or table.n_folds < 2:
        return None
    could_win = finalists(table)
    ids = [i for i in table.order.tolist() if could_win[i] or i == table.best][:N_BEST]
    names = list(dict.fromkeys(n for i in ids for n in table.candidates[i].params))[:2]
    if facts is not None and facts.importance is not None:
        names = facts.importance.names[:2]
    labels = [_label(table, i, names) for i in ids]
    scores = table.scores[ids]
    selected = facts.selected if facts is not None else None
    if selected is not None and not math.isfinite(selected.low):
        selected = None
    ends = [] if selected is None else [selected.low, selected.high]
    chart = _rows([*labels, *["expected"] * bool(ends)], np.r_[scores[np.isfinite(scores)], ends])
    for row, i in enumerate(ids):
        each = table.candidates[i]
        tied = facts is None or facts.tied[i]
        kind = "won" if i == table.best else "dot" if tied else "far"
        text = _about(table, each.row.score, each.row.resource, each.params)
        for k in np.flatnonzero(np.isfinite(table.scores[i])):
            score = float(table.scores[i, k])
            chart.dot(score, -row, f"fold {kind}", f"fold {k}: {_score(score)}\n{text}")
        if np.isfinite(each.row.score):
            x, y = each.row.score, -row
            chart.line([(x, y - 0.35), (x, y + 0.35)], f"mean {kind}", text, each.row.trial_id)
    if selected is not None:
        y, text = -len(ids), f"expected on new data: {_score(selected.corrected)}"
        chart.line([(selected.low, y), (selected.high, y)], "span won", text)
        chart.dot(selected.corrected, y, "won", text)
    note = "Each fold is a dot, the mean a line."
    if facts is not None:
        note += " Strong blue: statistically tied with the winner."
    return figure("Best candidates.", note, chart.svg("Best candidates"))


def _label(table: SearchTable, i: int, names: list[str]) -> str:
    """The values of the most important parameters, next to the name of the model if several."""
    params = table.candidates[i].params
    model = model_of(params)
    if model:
        names = [name for name in params if name != WHICH][:2]
    text = ", ".join(cut(plain(params[name]), LONGEST // 2) for name in names if name in params)
    return cut(
        f"{model} {text}".strip() or f"candidate {table.candidates[i].row.trial_id}", LONGEST
    )


def _rows(labels: list[str], values: np.ndarray) -> Chart:
    """A chart with a row for each label, from top to bottom."""
    left = 16 + 6.7 * max(map(len, labels))
    height = 34 + 20 * max(len(labels), 4)
    chart = Chart(span(values), (-len(labels) + 0.4, 0.6), WIDTH, height, left)
    chart.label_y([-float(k) for k in range(len(labels))], labels)
    places = ticks(*chart.x, 3)
    chart.label_x(places, [f"{x:.4g}" for x in places])
    return chart


# ---- scores


def _scores(table: SearchTable) -> Markup | None:
    """Each score as a dot, in the order of results, and the best so far as a line."""
    told = [(i, r) for event, i, r in table.history.log if event == "tell"]
    trials = table.history.trials
    scores = np.array([trials[i].results[r].score for i, r in told])
    ok = np.isfinite(scores)
    resources = np.array([resource for _, resource in told])
    top = ok & (table.any_rung_wins | (resources == resources[ok].max()))
    key = table.winner and (table.winner.trial_id, table.winner.resource)
    won = [place for place, each in enumerate(told) if each == key]
    chart = Chart((0, len(told) + 1), span(np.append(near_scores(scores[ok]), scores[won])))
    chart.scale_y()
    places = [x for x in ticks(0, len(told) + 1) if x == int(x)]
    chart.label_x(places, [f"{x:,.0f}" for x in places])
    best = np.maximum.accumulate(np.where(top, scores, -np.inf))
    steps = np.flatnonzero(np.isfinite(best) & np.r_[True, best[1:] != best[:-1]])
    corners = [(steps[0] + 1, best[steps[0]])] if len(steps) else []
    for i in steps[1:]:
        corners += [(i + 1, corners[-1][1]), (i + 1, best[i])]
    if corners:
        chart.line([*corners, (len(told), corners[-1][1])], "step")
    shown = np.flatnonzero(ok)
    for i in shown[np.unique(np.linspace(0, len(shown) - 1, N_DOTS).round().astype(int))]:
        trial, resource = told[i]
        text = _about(table, scores[i], resource, trials[trial].params)
        kind = "dot" if top[i] else "far"
        chart.dot(i + 1, scores[i], kind, f"candidate {trial}: {text}", trial)
    for i in won:
        chart.ring(i + 1, scores[i])
    note = "In order of evaluation; the line is the best so far, the ring marks the winner."
    note += f" Pale: fewer {table.unit}." * (not top[ok].all())
    return figure("Scores.", note, chart.svg("Scores in the order of evaluation"))


def _rungs(table: SearchTable) -> Markup | None:
    """Candidates as lines from rung to rung."""
    levels = sorted(table.levels)
    if len(levels) < 2 or table.races:
        return None
    shown = np.unique(np.linspace(0, len(levels) - 1, N_RUNGS).round()).astype(int)
    levels = [levels[k] for k in shown]
    lines = []
    for trial in table.history.trials:
        scores = [trial.results[r].score if r in trial.results else math.nan for r in levels]
        lines.append((trial, [(k, s) for k, s in enumerate(scores) if math.isfinite(s)]))
    every = [s for _, points in lines for _, s in points]
    won = table.winner and table.winner.trial_id
    best = [] if table.winner is None else [table.winner.score]
    chart = Chart((-0.3, len(levels) - 0.7), span(np.r_[near_scores(np.array(every)), best]))
    chart.scale_y()
    chart.label_x(range(len(levels)), [f"{level:,}" for level in levels])
    for trial, points in sorted(lines[-N_DOTS:], key=lambda each: each[0].id == won):
        is_last = bool(points) and points[-1][0] == len(levels) - 1
        kind = "won" if trial.id == won else "dot" if is_last else "far"
        text = f"candidate {trial.id}\n{_params(trial.params)}"
        if len(points) > 1:
            chart.line(points, f"curve {kind}", text, trial.id)
        for k, score in points:
            at = f"{_score(score)} at {amount(levels[k], table.unit)}"
            chart.dot(k, score, kind, f"{at}\n{text}", trial.id)
    note = f"Scores of each candidate over its {table.unit}, the winner in orange."
    return figure("Rungs.", note, chart.svg("Scores by rung"))


def _predictions(table: SearchTable) -> Markup | None:
    """Predicted intervals of candidates with their scores."""
    found = []
    for trial in table.history.trials:
        given = trial.prediction
        if given is None:
            continue
        result = trial.results.get(given.resource)
        if result is not None and math.isfinite(result.score):
            found.append((trial.id, result.score, given))
    if not found:
        return None
    found = found[-N_BEST * 6 :]
    scores = np.array([score for _, score, _ in found])
    near = near_scores(scores)
    low, high = span(near, 0.6)
    chart = Chart((found[0][0] - 1, found[-1][0] + 1), (low, high))
    chart.scale_y()
    places = [x for x in ticks(*chart.x) if x == int(x)]
    chart.label_x(places, [f"{x:,.0f}" for x in places])
    n_inside = 0
    for i, score, given in found:
        inside = given.low <= score <= given.high
        n_inside += inside
        text = (
            f"candidate {i}: {_score(score)}\nexpected {given.score:.4g}, "
            f"{given.low:.4g} to {given.high:.4g}"
        )
        chart.line([(i, given.low), (i, given.high)], "span far", text, i)
        chart.dot(i, score, "dot" if inside else "fail", text, i)
    note = (
        f"{100 * n_inside / len(found):.0f} % of {len(found):,} scores are inside the 95 % "
        "interval predicted by the model."
    )
    return figure("Predictions.", note, chart.svg("Predicted and observed scores"))


# ---- parameters


def _parameters(table: SearchTable, facts: Facts | None) -> Markup | None:
    """The scores over each of the most important parameters."""
    found = Candidates.of(table)
    names = [] if found.winner is None else [*found.winner.params]
    names = [name for name in names if name in found.axes and name != WHICH]
    if facts is not None and facts.importance is not None:
        # Other models lack the parameters of the winner's.
        own = names if found.winner and model_of(found.winner.params) else found.axes
        names = [name for name in facts.importance.names if name in own]
    names = (names or list(found.axes))[:N_PARAMS]
    if not names:
        return None
    many = facts is not None and len(found.scores) >= N_FOR_EFFECTS
    effects = Effects(found) if many else None
    drawn = [_parameter(found, found.axes[name], effects) for name in names]
    note = f"Scores by value{found.where}"
    note += "; the line is the mean predicted by a model." if effects else "."
    return figure("Parameters.", note, element("div", *drawn, class_="small"), class_="broad")


def _parameter(found: Candidates, axis: Axis, effects: Effects | None) -> Markup:
    """Scores over one parameter, with its effect."""
    star = [found.star[1]] if found.star else []
    margin = 0.5 / max(1, len(axis.choices) - 1) if axis.choices else 0.05
    ends = (-margin, 1 + margin), span(np.append(near_scores(found.scores), star))
    chart = Chart(*ends, SMALL, 0.6 * HEIGHT + 20, LEFT - 6)
    chart.scale_y()
    places, labels = _ticks_of(axis)
    chart.label_x(places, labels)
    x = axis.encode(found.params)
    if axis.choices:
        x = x + np.random.default_rng(0).uniform(-margin / 2, margin / 2, len(x))
    for i in range(len(x))[:N_DOTS]:
        if np.isfinite(x[i]):
            value = words.value(found.params[i][axis.name])
            text = f"{_score(found.scores[i])}\n{axis.name} = {value}"
            chart.dot(x[i], found.scores[i], "dot", text)
    if effects is not None:
        effect = effects.of(axis.name)
        points = list(zip(effect.places.tolist(), effect.mean.tolist(), strict=True))
        if axis.choices:
            for place, mean in points:
                chart.line([(place - margin / 2, mean), (place + margin / 2, mean)], "step")
        else:
            chart.line(points, "step")
    if found.star:
        place = axis.encode([found.star[0]])[0] if found.at is None else x[found.at]
        if np.isfinite(place):
            chart.ring(place, found.star[1])
    return element("div", chart.svg(axis.name), element("code", axis.name))


def _ticks_of(axis: Axis) -> tuple[list[float], list[str]]:
    """Places and labels of the values of a parameter."""
    if axis.choices:
        n = len(axis.choices)
        shown = np.unique(np.linspace(0, n - 1, min(n, 4)).round().astype(int)).tolist()
        labels = [cut(plain(axis.choices[i]), max(5, 40 // len(shown))) for i in shown]
        return [i / max(1, n - 1) for i in shown], labels
    if axis.log:
        powers = range(int(np.ceil(np.log10(axis.low))), int(np.floor(np.log10(axis.high))) + 1)
        values = [10.0**k for k in powers][:: -(-len(powers) // 4) or 1]
        values = values if len(values) > 1 else [axis.low, axis.high]
    else:
        values = ticks(axis.low, axis.high, 3)
        values = [v for v in values if not axis.integer or v == int(v)] or [axis.low, axis.high]
    places = axis.encode([{axis.name: value} for value in values])
    return places.tolist(), [f"{value:.4g}".replace("e-0", "e-") for value in values]


# ---- workers


def _workers(table: SearchTable) -> Markup | None:
    """A row for each worker, and a bar for each fold trained by it."""
    try:
        bars, cuts = bars_of(table.history)
    except ValueError:  # without times
        return None
    n, end = 1 + max(bar.row for bar in bars), max(bar.ended for bar in bars) or 1.0
    row = min(26.0, max(2.0, 440 / n))
    chart = Chart((0, end), (-n, 0), WIDTH, n * row + 34, 20)
    busy = sum(bar.ended - bar.began for bar in bars) / (n * end)
    for bar in bars[-N_BARS:]:
        text = f"candidate {bar.trial_id}, {duration(bar.ended - bar.began)}"
        text += f"\n{amount(bar.resource, table.unit)}" * table.has_resources
        kind = "bar fail" if bar.failed else "bar"
        y = -bar.row - 0.9, -bar.row - 0.1
        chart.box((bar.began, bar.ended), y, kind, text, bar.trial_id)
    for pause in cuts:
        chart.line([(pause, -n), (pause, 0)], "axis")
    chart.label_x([0, end], ["0", duration(end)])
    note = f"{counted(n, 'worker')}, busy {100 * min(busy, 1):.0f} % of the time."
    return figure("Workers.", note, chart.svg("Fits by worker"))
