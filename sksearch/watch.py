"""Write a page that shows running and finished searches.

    python -m sksearch.watch DIR [DIR ...] [--every SECONDS] [--output FILE]

DIR is the checkpoint directory of a search, or a directory that contains checkpoint directories of
several searches; all searches are shown on one page. The page is a single HTML file, by default
``watch.html`` in the first directory, and needs no server. With ``--every``, the page is written
again at this interval, and reloaded by the browser, until all searches have ended. The command
only reads the journals of the searches, without a lock and without unpickling, so it does not
affect the searches, and can run on any machine with access to the directories.
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
from urllib.parse import quote

import numpy as np

from sksearch._utils._advice import ReportParts
from sksearch._utils._clock import wall_time
from sksearch._utils._files import write_atomically
from sksearch._utils._html import element, join, paragraphs, table
from sksearch._utils._terminal import amount, say, unit_of
from sksearch.base._decisions import ENDLESS
from sksearch.checkpoint._checkpoint import JOURNAL
from sksearch.checkpoint._errors import JournalError
from sksearch.checkpoint._load_history import load_history
from sksearch.progress._progress import Progress
from sksearch.progress._status_line import duration
from sksearch.reader._read import read
from sksearch.reader._values import model_of
from sksearch.reporting import _words as words
from sksearch.reporting._charts import figure
from sksearch.reporting._leaderboard import standings
from sksearch.reporting._looks import candidates, leader, number, tiles, whole_page
from sksearch.reporting._pictures import pictures
from sksearch.stats._spans import bars_of

__all__: list[str] = []  # a command

N_RUNNING, N_ERRORS, N_RUNGS = 10, 10, 60  # rows shown


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
    parser = argparse.ArgumentParser(
        prog="sksearch.watch", description=(__doc__ or "").split("\n")[0]
    )
    about = "the checkpoint_dir of a search, or a directory with several"
    parser.add_argument("folders", metavar="DIR", nargs="+", help=about)
    parser.add_argument(
        "--every", type=_positive, metavar="SECONDS", help="interval between updates"
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="default: DIR/watch.html")
    args = parser.parse_args(arguments)
    folders = [Path(each).expanduser() for each in args.folders]
    folder = folders[0]
    output = args.output or (folder if folder.is_dir() else folder.parent) / "watch.html"
    if args.output and (output.is_dir() or not output.parent.is_dir()):
        parser.error(f"--output {output} must be a file in an existing folder.")
    while True:
        try:
            is_over, text = _read(folders, args.every)
        except (FileNotFoundError, JournalError) as error:
            # With --every the search may be about to begin.
            if args.every is None:
                say(f"No search to show: {error}", file=sys.stderr)
                return 1
            why = join(element("h1", "No search yet"), element("p", _short(error)))
            is_over, text = False, whole_page("No search yet", [why], args.every)
        if output.parent.is_dir():
            write_atomically(output, text.encode("utf-8", "replace"), sync=False)
        if args.every is None or is_over:
            say(str(output))
            return 0
        try:
            time.sleep(args.every)
        except KeyboardInterrupt:
            return 0


def page(path: str | os.PathLike | Sequence[str | os.PathLike], every: float | None = None) -> str:
    """Return a page for the search of a directory, or for several searches.

    Parameters
    ----------
    path : str, path-like or sequence of these
        The ``checkpoint_dir`` of a search, a directory that contains several of them, or a list.
    every : float or None, default=None
        Seconds after which a browser loads the page again, until all searches have ended.

    Returns
    -------
    html : str
        A self-contained page. Texts of the journal are escaped, and the browser runs only the
        script of the page itself.

    Raises
    ------
    FileNotFoundError
        If no search has used this directory.
    JournalError
        If the file is not a journal of a search, or was written by a newer version.

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
    >>> "RandomSearchCV</h1>" in html
    True
    """
    paths = [path] if isinstance(path, str | os.PathLike) else path
    return _read([Path(each) for each in paths], every)[1]


def _positive(word):
    """Seconds of the command line."""
    with suppress(ValueError):
        if 0 < (seconds := float(word)) < math.inf:
            return seconds
    raise argparse.ArgumentTypeError(f"{word!r} must be a number of seconds above 0.")


def _read(paths, every):
    """The searches of some directories, and their page."""
    folders = [folder for path in paths for folder in _searches_in(path)]
    saved, sections = [], []
    for folder in folders:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")  # warnings about a damaged journal
            saved.append(load_history(folder))
        notes = [element("p", _short(w.message), class_="bad") for w in caught]
        title = _short(saved[-1].header.get("class", "Search"))
        name = folder.name if len(folders) > 1 else ""
        sections.append(_section(saved[-1], folder, title, name, notes))
    is_over = all(each.finished for each in saved)
    if len(saved) > 1:
        title = f"{len(saved)} searches"
        sections.insert(0, join(element("h1", title), _overview(saved, folders)))
    now = time.strftime("%Y-%m-%d %H:%M:%S")
    sections[-1] = join(sections[-1], element("p", f"Updated {now}.", class_="soft"))
    return is_over, whole_page(title, sections, None if is_over else every)


def _searches_in(path):
    """The directory itself, or those in it that contain a search."""
    if path.is_dir() and not (path / JOURNAL).is_file():
        return sorted({file.parent for file in path.glob(f"*/{JOURNAL}")}) or [path]
    return [path]


def _short(value):
    return str(value)[:2000]


# ---- sections


def _overview(searches, folders):
    """A row for each search."""
    rows = []
    for saved, folder in zip(searches, folders, strict=True):
        progress = Progress.of(saved.plan_, saved.history_)
        state = "finished" if saved.finished else "not finished"
        score = "" if saved.best_score_ is None else number(float(saved.best_score_))
        name = element("a", _short(folder.name), href=f"#{quote(folder.name)}")
        rows.append(
            (
                name,
                _short(saved.header.get("class", "")),
                state,
                f"{progress.n_candidates:,}",
                score,
            )
        )
    head = ["directory", "search", "state", "#candidates", "#best score"]
    return element("div", table(head, rows, class_="sort"), class_="wide")


def _section(saved, path, title, name, notes):
    """All facts of one search."""
    found = read(saved)
    seconds = _seconds(saved.history_)
    progress = Progress.of(saved.plan_, saved.history_, seconds=seconds)
    if saved.finished:
        progress = replace(progress, seconds_left=0.0)
    head = [
        element(
            "h1",
            title,
            *[element("span", f" {_short(name)}", class_="soft")] * bool(name),
            id=quote(name),
        )
    ]
    parts = [*head, *notes, paragraphs([_state(saved, path)]), tiles(_facts(saved, progress))]
    if progress.n_planned < ENDLESS and progress.planned:
        share = 1.0 if saved.finished else min(1.0, progress.spent / progress.planned)
        done = element("i", style=f"width:{100 * share:.1f}%")
        parts.append(element("div", done, class_="track"))
    parts += _failures(saved)
    if found.winner is None:
        parts.append(element("p", "No candidate has a score yet."))
    else:
        at = found.has_resources and not found.races
        unit = amount(found.winner.resource, found.unit) * at
        if not found.winner.is_complete:
            unit = ", ".join(filter(None, [unit, found.winner.folds]))
        role = "Winner" if saved.finished else "Best so far"
        parts.append(leader(role, found.winner.params, unit))
    made = ReportParts()
    drawn = [made.make(each, draw) for each, draw in pictures(found).items()]
    models = made.make("Models", lambda: join(*_models(found)))
    drawn += [figure(each, fault) for each, fault in made.faults.items()]
    parts.append(element("div", *filter(None, drawn), class_="pictures"))
    parts += filter(None, [models, *_rungs(saved), *_running(saved)])
    if found.winner is not None:
        parts.append(candidates(found))
    return join(*parts)


def _seconds(history):
    """Seconds of work so far; None before the first result, and without times."""
    try:
        return max(bar.ended for bar in bars_of(history)[0])
    except ValueError:
        return None


def _state(saved, path):
    if saved.finished:
        return "Finished."
    file = path if path.is_file() else path / JOURNAL
    ago = max(0.0, wall_time() - file.stat().st_mtime)
    return f"Not finished; last journal entry {duration(ago)} ago."


def _facts(saved, progress):
    """Values and names for the header."""
    found = [(number(progress.best_score), f"best {_short(saved.metric_)}")]
    found = found if math.isfinite(progress.best_score) else []
    is_planned = progress.n_planned < ENDLESS
    planned = f"of {progress.n_planned:,} " * is_planned
    n = progress.n_planned if is_planned else progress.n_candidates
    found.append((f"{progress.n_candidates:,}", planned + unit_of(n, "candidates")))
    if saved.plan_.unit and 1 < progress.planned < ENDLESS:
        found.append((f"{progress.spent:,}", f"of {progress.planned:,} {saved.plan_.unit}"))
    if progress.seconds is not None:
        found.append((duration(progress.seconds), "of work" if saved.finished else "so far"))
    if progress.seconds_left:
        found.append((duration(progress.seconds_left), "left, estimated"))
    return found


def _models(found):
    """The leaderboard of a list of models."""
    if found.winner is None or not model_of(found.winner.params):
        return
    rows = [
        (
            f"{each.rank}", each.model, number(each.score), number(each.low), number(each.high),
            f"{each.n_candidates:,}", words.seconds(each.seconds),
        )
        for each in standings(found)
    ]  # fmt: skip
    head = ["#rank", "model", "#score", "#low", "#high", "#candidates", "#training"]
    yield element("h3", "Models")
    yield element("div", table(head, rows, class_="sort"), class_="wide")


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
        cells = n_scores, number(float(best)), number(float(middle))
        rows.append((*(f"{n:,}" for n in key), *cells, f"{n_failed:,}" if n_failed else ""))
    head = ["#bracket", f"#{saved.plan_.unit}", "#candidates", "#best", "#median", "#failed"]
    yield element("h3", "Rungs")
    yield element("div", table(head, rows, class_="sort"), class_="wide")


def _running(saved):
    """Candidates asked for that still lack a result."""
    if saved.finished:
        return
    running = [trial for trial in saved.history_.trials if trial.running is not None]
    if running:
        rows = [
            (t.id, f"{t.running:,}", _short(words.params(t.params))) for t in running[:N_RUNNING]
        ]
        more = len(running) - len(rows)
        head = ["#candidate", f"#{saved.plan_.unit}", "params"]
        yield element("h3", "Running")
        yield element("div", table(head, rows, class_="sort"), class_="wide")
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
        yield element("h3", "Failures")
        yield element("div", table(["#times", "error"], rows, class_="sort bad"), class_="wide")


if __name__ == "__main__":
    sys.exit(main())
