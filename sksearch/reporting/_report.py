"""The report of a fitted search: text, HTML, a file."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sksearch._utils._numerics import own_numerics
from sksearch._utils._terminal import printable
from sksearch.reader._sources import FinishedSearch
from sksearch.reporting import _words as words
from sksearch.reporting._advice import Advice, Facts, advise
from sksearch.reporting._html import fragment, page
from sksearch.reporting._nested import NestedReport, is_nested
from sksearch.reporting._rivals import read_results
from sksearch.reporting._sections import Section, find_facts, headline, write_sections

N_ADVICE = 5  # shown unless the report is full; the most urgent come first


class Report:
    """Report of a search: text if printed, HTML in a notebook.

    Parameters
    ----------
    facts : object
        Findings computed from the results.
    full : bool, default=False
        If True, list all tied candidates, parameters, rungs and failures.

    Attributes
    ----------
    advice : list of Advice
        Advice, the most urgent first, with the attributes ``rule``, ``text`` and ``code``.

    See Also
    --------
    sksearch.report : Creates a report.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.svm import SVC
    >>> from sksearch import report
    >>> X, y = load_iris(return_X_y=True)
    >>> search = GridSearchCV(SVC(), {"C": [0.01, 0.1, 1]}).fit(X, y)
    >>> [(advice.rule, advice.code) for advice in report(search).advice]
    [('noise', 'cv=RepeatedStratifiedKFold(n_splits=5, n_repeats=5)')]
    """

    def __init__(self, facts: Facts, full: bool = False):
        self._facts, self._full = facts, full
        self._sections: list[Section] = write_sections(facts, full)
        self.advice: list[Advice] = advise(facts)

    @own_numerics()
    def __str__(self) -> str:
        lines = [self._headline()]
        for section in self._sections:
            lines += words.block(section.title, (*section.lines, *section.notes))
        return printable("\n".join([*lines, *self._next()]))

    def __repr__(self) -> str:
        return str(self)

    @own_numerics()
    def _repr_html_(self) -> str:
        return fragment(self._headline(), self._sections, self._shown_advice(), self._facts)

    @own_numerics()
    def save(self, path: str | os.PathLike) -> Path:
        """Write a self-contained HTML page with plots.

        Parameters
        ----------
        path : str or path-like
            Path of the file, with the ending ".html".

        Returns
        -------
        path : Path
            The file.

        Raises
        ------
        ValueError
            If the path does not end with ".html".
        """
        file = Path(path)
        if file.suffix.lower() not in (".html", ".htm"):
            raise ValueError(
                f"path={str(path)!r} must end with .html, since a report is an HTML page."
            )
        text = page(self._facts, self._headline(), self._sections, self._shown_advice())
        file.write_text(text, encoding="utf-8")
        return file

    def _headline(self):
        table = self._facts.table
        name = type(table.source).__name__
        return self._facts.parts.make("Search", headline, table, otherwise=name)

    def _shown_advice(self):
        return self.advice if self._full else self.advice[:N_ADVICE]

    def _next(self):
        """Advice, numbered."""
        shown = self._shown_advice()
        if not shown:
            return words.block("Next", ("Nothing looks wrong.",))
        lines = []
        for i, advice in enumerate(shown, 1):
            lines.append(f"{i}. {advice.text}")
            if advice.code:
                lines.append(f"       {advice.code}")
        return words.block("Next", tuple(lines))


def report(
    search: FinishedSearch | Mapping[str, Any],
    path: str | os.PathLike | None = None,
    *,
    full: bool = False,
) -> Report | NestedReport:
    """Summarise the results of a fitted search, and advise on the next step.

    Parameters
    ----------
    search : estimator
        A fitted search of this library or scikit-learn, or the result of scikit-learn's
        ``cross_validate`` for a search with ``return_estimator=True``. Nothing is trained.
    path : str, path-like or None, default=None
        HTML file to which the report is written, with plots. None: no file.
    full : bool, default=False
        If True, list all tied candidates, parameters, rungs and failures.

    Returns
    -------
    report : Report or NestedReport
        Report, shown as text by ``print`` and as HTML in a notebook. The report of a nested
        cross-validation is text only.

    Raises
    ------
    TypeError
        If `search` is not a search.
    ValueError
        If it is not fitted, or the path does not end with ".html".

    See Also
    --------
    sksearch.stats.importance : Which parameters matter.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sksearch import RandomSearchCV, report
    >>> X, y = load_iris(return_X_y=True)
    >>> search = RandomSearchCV(KNeighborsClassifier(), {"n_neighbors": [5]}, n_iter=1).fit(X, y)
    >>> print(report(search))  # doctest: +ELLIPSIS
    RandomSearchCV(KNeighborsClassifier): 1 candidate, 5 folds, ... of training
    Data      150 rows, 4 columns; target: 3 classes (0 33 %, 1 33 %, 2 33 %)
              accuracy 0.9733, greater is better; 5 folds, StratifiedKFold(n_splits=5,
                random_state=None, shuffle=False); seed None
              sksearch ...
    Winner    n_neighbors=5
    Score     0.973  observed score, mean of 5 folds
              0.973  expected on new data, 0.933 to 1.000 with 95 % confidence (150 rows)
              A single candidate needs no correction.
    Untuned   The winner is the untuned estimator.
    Next      1. There was one candidate, so nothing was chosen. Pass several values.
                     param_distributions['n_neighbors'] = [2, 5, 10]
    """
    return NestedReport(search) if is_nested(search) else report_of(search, path, full=full)


@own_numerics()
def report_of(
    search: FinishedSearch, path: str | os.PathLike | None = None, *, full: bool = False
) -> Report:
    """Make the report of one search; same arguments as `report`."""
    table = read_results(search)
    if table.estimator is None:
        cure = "pass the fitted search itself; sksearch.stats and sksearch.plotting accept this"
        if isinstance(search, str | os.PathLike) or type(search).__name__ == "SavedSearch":
            cure = "call fit of the search with its checkpoint_dir, which repeats no training"
        elif hasattr(search, "x") or hasattr(search, "directions"):  # of minimize or Optuna
            cure = (
                "pass this to sksearch.stats.importance, sksearch.reporting.to_frame or a display "
                "of sksearch.plotting instead"
            )
        raise TypeError(
            f"search is a {type(search).__name__} without an estimator, which a report needs: "
            f"{cure}."
        )
    made = Report(find_facts(table), full)
    if path is not None:
        made.save(path)
    return made
