"""Shows the search of a ``checkpoint_dir`` on a page, while it runs or afterwards.

    python -m sksearch.watch DIR [--every SECONDS] [--output FILE]

The page is a single HTML file, by default ``watch.html`` in the directory: open it in a browser.
No server is needed. With ``--every`` it is written again after that many seconds, and an open
browser loads it again, until the search has ended. The search is not disturbed: its journal is
read, no lock is taken, and nothing is unpickled. So this may run on any machine with access to the
directory.
"""

import argparse
import math
import os
import sys
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from sksearch._utils._clock import wall_time
from sksearch._utils._files import write_atomically
from sksearch._utils._html import Markup, element, page as document, paragraphs, table, void
from sksearch._utils._terminal import say
from sksearch.base._decisions import ENDLESS
from sksearch.checkpoint._errors import JournalError
from sksearch.checkpoint._load_history import load_history
from sksearch.plotting._style import near_scores
from sksearch.progress._progress import Progress
from sksearch.progress._status_line import duration
from sksearch.reader._read import read
from sksearch.reporting import _words as words
from sksearch.stats._spans import bars_of

__all__: list[str] = []  # a command

N_BEST, N_ERRORS, N_RUNGS = 10, 10, 60  # rows shown
N_DOTS, N_BARS = 3000, 4000  # drawn
WIDTH, HEIGHT = 800, 240  # of a picture
# Nothing may be loaded from elsewhere, whatever a forged journal contains.
ALONE = Markup(
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
    "style-src 'unsafe-inline'\">"
)
STYLE = """
:root{--ink:#1b2733;--soft:#55616d;--line:#dde3e9;--blue:#0072B2;--pale:#a9c4de;--bad:#D55E00;
--paper:#fff}
@media(prefers-color-scheme:dark){:root{--ink:#e6ebf0;--soft:#a3afba;--line:#2c3742;
--blue:#56B4E9;--pale:#35607f;--bad:#E69F00;--paper:#12181e}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);
max-width:860px;margin:1.2em auto;padding:0 12px;overflow-wrap:anywhere}
h1{font-size:1.3em;margin:0}h2{font-size:1em;margin:1.6em 0 .3em}
p{margin:.2em 0}.soft{color:var(--soft)}.bad{color:var(--bad)}
.track{height:.6em;background:var(--line);border-radius:3px;margin:.5em 0}
.track i{display:block;height:100%;background:var(--blue);border-radius:3px}
.wide{overflow-x:auto}table{border-collapse:collapse;font-size:.93em}
th,td{text-align:left;padding:.15em 1em .15em 0;border-bottom:1px solid var(--line);
vertical-align:top}th{color:var(--soft);font-weight:600}td.n,th.n{text-align:right;white-space:nowrap}
svg{width:100%;height:auto;display:block}svg text{fill:var(--soft);font-size:12px}
.axis{stroke:var(--line);fill:none}.dot{fill:var(--blue);fill-opacity:.45}.far{fill:var(--pale)}
.fail{fill:var(--bad)}.best{fill:none;stroke:var(--bad);stroke-width:2}.bar{fill:var(--blue)}
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    arguments : sequence of str or None, default=None
        The command-line arguments; None: ``sys.argv``.

    Returns
    -------
    status : int
        0 if the page was written, 1 without a search to show.

    Examples
    --------
    >>> from contextlib import redirect_stdout
    >>> from io import StringIO
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from sksearch import RandomSearchCV
    >>> from sksearch.watch import main
    >>> X, y = load_iris(return_X_y=True)
    >>> with TemporaryDirectory() as folder:
    ...     search = RandomSearchCV(SVC(), {"C": [0.1, 1, 10]}, n_iter=3, checkpoint_dir=folder)
    ...     _ = search.fit(X, y)
    ...     with redirect_stdout(StringIO()):  # it names the page
    ...         status = main([folder])
    ...     found = Path(folder, "watch.html").read_text(encoding="utf-8")
    >>> status, found.count("RandomSearch") > 0
    (0, True)
    """
    parser = argparse.ArgumentParser(prog="sksearch.watch", description=__doc__.split("\n")[0])
    parser.add_argument("folder", metavar="DIR", help="the checkpoint_dir of a search")
    parser.add_argument(
        "--every", type=_positive, metavar="SECONDS", help="interval between updates"
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="default: DIR/watch.html")
    args = parser.parse_args(arguments)
    folder = Path(args.folder).expanduser()
    output = args.output or (folder if folder.is_dir() else folder.parent) / "watch.html"
    if args.output and (output.is_dir() or not output.parent.is_dir()):
        parser.error(f"--output {output} must be a file in an existing folder.")
    while True:
        try:
            saved, text = _read(folder, args.every)
        except (FileNotFoundError, JournalError) as error:
            # With --every the search may be about to begin.
            if args.every is None:
                say(f"No search to show: {error}", file=sys.stderr)
                return 1
            why = element("p", _short(error))
            saved, text = None, _document("No search yet", [why], args.every)
        if saved is not None or output.parent.is_dir():
            write_atomically(output, text.encode("utf-8", "replace"), sync=False)
        if args.every is None or (saved is not None and saved.finished):
            say(str(output))
            return 0
        try:
            time.sleep(args.every)
        except KeyboardInterrupt:
            return 0


def page(path: str | os.PathLike, every: float | None = None) -> str:
    """Return a page for the search of a directory.

    Parameters
    ----------
    path : str or path-like
        The ``checkpoint_dir`` of a search.
    every : float or None, default=None
        Seconds after which a browser loads the page again, while the search has not ended.

    Returns
    -------
    html : str
        A whole page, without scripts or links to other files. Texts of the journal are escaped.

    Raises
    ------
    FileNotFoundError
        If no search has used this directory.
    JournalError
        If the file is not a journal of a search, or of a newer version.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sksearch import RandomSearchCV
    >>> from sksearch.watch import page
    >>> with TemporaryDirectory() as folder:
    ...     search = RandomSearchCV(
    ...         DecisionTreeClassifier(), {"max_depth": [1, 2, 3]}, n_iter=3,
    ...         checkpoint_dir=folder,
    ...     ).fit(*load_iris(return_X_y=True))
    ...     html = page(folder)
    >>> "<h1>RandomSearchCV</h1>" in html
    True
    """
    return _read(Path(path), every)[1]


def _positive(word):
    """Seconds of the command line."""
    with suppress(ValueError):
        if 0 < (seconds := float(word)) < math.inf:
            return seconds
    raise argparse.ArgumentTypeError(f"{word!r} must be a number of seconds above 0.")


def _read(path, every):
    """The search of a directory, and its page."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")  # of a damaged journal
        saved = load_history(path)
    texts = [element("p", _short(w.message), class_="bad") for w in caught]
    found = read(saved)
    parts = [*texts, *_head(saved, path), *_best(found), *_scores(found), *_rungs(saved)]
    parts += [*_workers(saved), *_running(saved), *_failures(saved)]
    every = None if saved.finished else every
    return saved, _document(saved.header.get("class", "Search"), parts, every)


def _document(title, body, every):
    """A whole page; a browser loads it again after `every` seconds."""
    now = time.strftime("%Y-%m-%d %H:%M:%S")
    head = [ALONE, element("style", Markup(STYLE))]
    if every is not None:
        head.append(void("meta", **{"http-equiv": "refresh", "content": math.ceil(every)}))
    title = _short(title)
    return document(title, element("h1", title), *body, _aside(f"Updated {now}."), head=head)


def _short(value):
    return str(value)[:2000]


def _params(params):
    return _short(words.params(params))


def _number(value):
    return "" if value is None or math.isnan(value) else f"{value:.5g}"


def _table(head, rows):
    return element("div", table(head, rows), class_="wide")


def _aside(text):
    return element("p", text, class_="soft")


# ---- sections


def _head(saved, path):
    """Progress of the search, and its end."""
    plan, history = saved.plan_, saved.history_
    try:
        seconds = max(bar.ended for bar in bars_of(history)[0])
    except ValueError:  # before the first result
        seconds = None
    progress = Progress.of(plan, history, seconds=seconds)
    if saved.finished:
        state = "Finished."
        progress = replace(progress, seconds_left=0.0)
    else:
        file = path if path.is_file() else path / "journal.jsonl"
        ago = max(0.0, wall_time() - file.stat().st_mtime)
        state = f"Not finished; last journal entry {duration(ago)} ago."
    lines = [state, str(progress) + ("" if seconds is None else f", {duration(seconds)} so far")]
    yield paragraphs(lines)
    if progress.n_planned < ENDLESS and progress.planned:
        share = 1.0 if saved.finished else min(1.0, progress.spent / progress.planned)
        yield element("div", element("i", style=f"width:{100 * share:.1f}%"), class_="track")


def _best(table):
    """The best candidates, best first."""
    saved = table.source
    if saved.best_index_ is None:
        yield element("p", "No candidate has a score yet.")
        return
    shown = [table.candidates[i].row for i in table.order if math.isfinite(table.means[i])]
    of = f" of {saved.n_splits_}" if table.races else ""
    rows = [
        (
            _number(each.score),
            _number(float(np.nanstd(each.scores))),
            *([f"{each.resource:,}{of}"] if table.has_resources else []),
            _params(each.shown),
        )
        for each in shown[:N_BEST]
    ]
    unit = [f"#{saved.plan_.unit}"] if table.has_resources else []
    yield element("h2", "Best candidates")
    yield _table(["#score", "#std", *unit, "params"], rows)
    role = "the winner" if saved.finished else "the best so far"
    yield _aside(f"The first candidate is {role}, marked with a ring in the picture.")


def _rungs(saved):
    """A row for each planned or started rung."""
    found: dict[tuple[int, int], list[float]] = {}
    for trial in saved.history_.trials:
        for resource, result in trial.results.items():
            found.setdefault((trial.bracket, resource), []).append(result.score)
    planned = {(r.bracket, r.n_resources): r.n_candidates for r in saved.plan_.rungs}
    if len(planned) < 2 or saved.plan_.is_endless:
        return
    rows = []
    for key in sorted(planned.keys() | found.keys())[:N_RUNGS]:
        scores = np.array(found.get(key, []))
        known = scores[np.isfinite(scores)]
        best, middle = (known.max(), np.median(known)) if len(known) else (math.nan, math.nan)
        n_failed = len(scores) - len(known)
        n_scores = f"{len(scores):,} of {max(planned.get(key, 0), len(scores)):,}"
        cells = n_scores, _number(float(best)), _number(float(middle))
        rows.append((*(f"{n:,}" for n in key), *cells, f"{n_failed:,}" if n_failed else ""))
    head = ["#bracket", f"#{saved.plan_.unit}", "#candidates", "#best", "#median", "#failed"]
    yield element("h2", "Rungs")
    yield _table(head, rows)


def _running(saved):
    """Candidates asked for that still lack a result."""
    if saved.finished:
        return
    running = [trial for trial in saved.history_.trials if trial.running is not None]
    if running:
        rows = [(t.id, f"{t.running:,}", _params(t.params)) for t in running[:N_BEST]]
        more = len(running) - len(rows)
        yield element("h2", "Running")
        yield _table(["#candidate", f"#{saved.plan_.unit}", "params"], rows)
        yield paragraphs([f"and {more:,} more"] * bool(more))


def _failures(saved):
    """First lines of errors, with their frequency."""
    errors = Counter(
        f"{status}: {error}" if error else status
        for status, error in zip(saved.statuses_, saved.errors_, strict=True)
        if status != "ok"
    )
    if errors:
        rows = [(f"{n:,}", _short(error)) for error, n in errors.most_common(N_ERRORS)]
        yield element("h2", "Failures")
        yield _table(["#times", "error"], rows)


# ---- pictures


def _scores(table):
    """Each score as a dot, in the order of results, and the best so far as a line."""
    saved, trials = table.source, table.history.trials
    told = [
        (i, r, trials[i].results[r].score) for event, i, r in table.history.log if event == "tell"
    ]
    scores = np.array([score for *_, score in told])
    ok = np.isfinite(scores)
    if not ok.any():
        return
    # The place of the result that the winner won with: a list of one, or of none.
    key = table.winner and (table.winner.trial_id, table.winner.resource)
    won = [place for place, (*each, _) in enumerate(told) if tuple(each) == key]
    near = np.append(near_scores(scores[ok]), scores[won])
    low, high = float(near.min()), float(near.max())
    margin = 0.05 * (high - low) or max(abs(high), 1.0) * 0.05
    low, high = low - margin, high + margin
    x = 60 + (WIDTH - 70) * (np.arange(len(told)) + 0.5) / len(told)
    y = (HEIGHT - 30) * (high - np.clip(scores, low, high)) / (high - low) + 5
    resources = np.array([resource for _, resource, _ in told])
    top = ok & (saved.plan_.any_rung_wins | (resources == resources[ok].max()))
    best = np.fmax.accumulate(np.where(top, scores, -np.inf))
    shown = np.flatnonzero(ok)
    shown = shown[np.unique(np.linspace(0, len(shown) - 1, N_DOTS).round().astype(int))]
    dots = "".join(
        f'<circle class="{"dot" if top[i] else "far"}" cx="{x[i]:.1f}" cy="{y[i]:.1f}" r="3"/>'
        for i in shown
    )
    steps = np.flatnonzero(np.isfinite(best) & np.r_[True, best[1:] != best[:-1]])
    line = "".join(
        f"{'M' if k == 0 else 'H'}{x[i]:.1f}{' ' if k == 0 else 'V'}"
        f"{(HEIGHT - 30) * (high - min(max(best[i], low), high)) / (high - low) + 5:.1f}"
        for k, i in enumerate(steps)
    )
    labels = "".join(
        f'<text x="52" y="{(HEIGHT - 30) * (high - v) / (high - low) + 9:.1f}" '
        f'text-anchor="end">{v:.4g}</text>'
        for v in np.linspace(low + margin, high - margin, 3)
    )
    end = f"H{x[-1]:.1f}" if line else ""
    yield element("h2", "Scores in the order of evaluation")
    yield _drawing(
        HEIGHT,
        f'<path class="axis" d="M60 5V{HEIGHT - 25}H{WIDTH - 10}"/>{labels}{dots}'
        f'<path class="best" d="{line}{end}"/>{_rings(x[won], y[won])}'
        f'<text x="{WIDTH - 10}" y="{HEIGHT - 6}" text-anchor="end">{len(told):,}</text>',
    )
    if not top[ok].all():
        yield _aside(f"Pale: candidates with fewer {saved.plan_.unit}.")


def _rings(x, y):
    """A ring around each point."""
    return "".join(
        f'<path class="best" d="M{a - 7:.1f} {b:.1f}a7 7 0 1 0 14 0a7 7 0 1 0 -14 0"/>'
        for a, b in zip(x, y, strict=True)
    )


def _workers(saved):
    """A row for each worker, and a bar for each fold trained by it."""
    try:
        bars, cuts = bars_of(saved.history_)
    except ValueError:  # no times of the workers are stored
        return
    n, end = 1 + max(bar.row for bar in bars), max(bar.ended for bar in bars) or 1.0
    row = min(22.0, max(2.0, 440 / n))
    height = n * row + 30
    scale = (WIDTH - 70) / end
    bars = bars if len(bars) <= N_BARS else bars[-N_BARS:]
    drawn = "".join(
        f'<rect class="{"fail" if bar.failed else "bar"}" x="{60 + bar.began * scale:.2f}" '
        f'y="{5 + bar.row * row:.1f}" height="{row * 0.8:.1f}" '
        f'width="{max(0.3, (bar.ended - bar.began) * scale - 0.6):.2f}"/>'
        for bar in bars
    )
    lines = "".join(
        f'<path class="axis" d="M{60 + c * scale:.1f} 5V{height - 25}"/>' for c in cuts
    )
    busy = sum(bar.ended - bar.began for bar in bars) / (n * end)
    yield element("h2", "Workers")
    yield element("p", f"{n:,} busy {100 * min(busy, 1):.0f} % of the time")
    yield _drawing(
        height,
        f'{drawn}{lines}<text x="60" y="{height - 6:.0f}">0</text>'
        f'<text x="{WIDTH - 10}" y="{height - 6:.0f}" text-anchor="end">{duration(end)}</text>',
    )


def _drawing(height, shapes):
    """A picture of shapes, with trusted numbers and words only."""
    box = {"viewBox": f"0 0 {WIDTH} {height:.0f}", "role": "img"}
    return element("svg", Markup(shapes), **box)


if __name__ == "__main__":
    sys.exit(main())
