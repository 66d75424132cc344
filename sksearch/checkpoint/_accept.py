"""Acceptance of harmless changes in the user's code."""

import os
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

from sksearch.checkpoint._checkpoint import JOURNAL, Checkpoint, read_journal
from sksearch.checkpoint._errors import JournalError
from sksearch.checkpoint._events import read_events
from sksearch.checkpoint._fingerprint import CODE, GLOBALS, WHOLE
from sksearch.checkpoint._records import Accepted, Header, read_as


def accept_changes(checkpoint_dir: str | os.PathLike, *names: str) -> None:
    """Allow a search to resume although your code, or data used by it, has changed.

    Parameters
    ----------
    checkpoint_dir : str or path
        Directory of the search.
    *names : str
        Names listed in the error raised by `fit`. ``"code"`` accepts the versions of your
        functions and classes that the next run uses. The name of a global, such as
        ``"__main__.T0"``, excludes this global from the comparison in this directory, and
        ``"globals"`` excludes all of them.

    Raises
    ------
    FileNotFoundError
        If the directory has no search.
    SearchLockedError
        If a search is using the directory.
    TypeError, ValueError
        If no name is passed, or a name is unknown.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from sksearch import RandomSearchCV
    >>> from sksearch.checkpoint import accept_changes
    >>> X, y = load_iris(return_X_y=True)
    >>> with TemporaryDirectory() as folder:
    ...     search = RandomSearchCV(SVC(), {"C": [1, 10]}, n_iter=2, checkpoint_dir=folder)
    ...     _ = search.fit(X, y)
    ...     accept_changes(folder, "code")  # of a function or class of your own
    ...     search.fit(X, y).best_params_ in ({"C": 1}, {"C": 10})
    True
    """
    header, _, earlier = read_journal(checkpoint_dir)
    if header is None:
        raise JournalError(f"{os.fspath(checkpoint_dir)!r} does not contain a search yet.")
    journal = Path(checkpoint_dir).expanduser() / JOURNAL
    _, search = next(read_events([header], journal, len(earlier) + 1))
    parts = search.parts if isinstance(search, Header) else {}
    known = [CODE, *(name if name != WHOLE else GLOBALS for name in parts.get(GLOBALS, ()))]
    if not names:
        raise TypeError(f"Pass the names of the changes to accept: {', '.join(known)}.")
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise ValueError(
                f"{name!r} is not compared.{hint} Changes that can be accepted: "
                f"{', '.join(known)}."
            )
    with Checkpoint(checkpoint_dir) as checkpoint:
        checkpoint.append(Accepted(list(names)).to_record())


def accepted_names(earlier: Iterable[dict], events: Iterable[dict]) -> set[str]:
    """Return the accepted names: all globals, and code accepted since the last header."""
    names = {name for record in earlier for name in _names(record)} - {CODE}
    return names.union(*map(_names, events))


def _names(record: dict) -> list[str]:
    accepted = read_as(Accepted, record)
    return [] if accepted is None else accepted.names
