"""Joint results of the searches of a nested cross-validation."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, TypeGuard

import numpy as np

from sksearch._utils._terminal import printable
from sksearch.estimators._pipeline import last_step
from sksearch.reader._search_table import SearchTable
from sksearch.reporting import _words as words
from sksearch.reporting._html import fragment
from sksearch.reporting._rivals import read_results, untuned
from sksearch.reporting._sections import Section, find_facts, headline


class NestedReport:
    """The reports of the searches of a nested cross-validation, side by side.

    Parameters
    ----------
    results : dict
        Results of scikit-learn's ``cross_validate`` for a search, or for a pipeline that ends
        with one, with ``return_estimator=True``.

    Attributes
    ----------
    scores : dict of str to ndarray of shape (n_folds,)
        Scores by metric, on the outer folds.
    best_params : list of dict
        Best parameters of each search.
    gains : ndarray of shape (n_folds,)
        How much tuning gained in each search, on its inner folds and corrected for selection; NaN
        if the untuned estimator has no score.

    Raises
    ------
    ValueError
        If the results have no fitted searches.

    See Also
    --------
    sksearch.report : Makes it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_validate
    >>> from sklearn.svm import SVC
    >>> from sksearch import SearchCV, report
    >>> X, y = load_iris(return_X_y=True)
    >>> search = SearchCV(SVC(), n_iter=4, random_state=0)
    >>> nested = report(cross_validate(search, X, y, cv=3, return_estimator=True))
    >>> len(nested.best_params), nested.gains.shape
    (3, (3,))
    """

    def __init__(self, results: Mapping[str, Any]) -> None:
        if "estimator" not in results:
            raise ValueError(
                "A report needs the searches of cross_validate: call it with "
                "return_estimator=True."
            )
        self._tables = [_table_of(estimator) for estimator in results["estimator"]]
        self.scores = {
            name.removeprefix("test_"): np.asarray(values, float)
            for name, values in results.items()
            if name.startswith("test_")
        }
        self.best_params = [_chosen(table) for table in self._tables]
        selected = [find_facts(table).selected for table in self._tables]
        self._seen = np.array([np.nan if each is None else each.seen for each in selected])
        expected = np.array([np.nan if each is None else each.corrected for each in selected])
        self.gains = expected - np.array([_own_score(table) for table in self._tables])

    def __str__(self) -> str:
        lines = [self._title()]
        for section in self._sections():
            lines += words.block(section.title, section.lines)
        return printable("\n".join(lines))

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return fragment(self._title(), self._sections(), ())

    def _title(self) -> str:
        name = headline(self._tables[0]).partition(":")[0]
        return f"{name} in {len(self._tables)} outer folds"

    def _sections(self) -> list[Section]:
        return [
            Section("Score", tuple(self._score_lines())),
            Section("Untuned", tuple(self._gain_lines())),
            Section("Chosen", tuple(self._chosen_lines())),
        ]

    def _score_lines(self) -> list[str]:
        """Scores on the outer folds, and how kind the inner ones were."""
        lines = []
        for name, scores in self.scores.items():
            text = words.score(scores.mean(), scores.std(ddof=1) if len(scores) > 1 else np.nan)
            low, high = (words.number(x) for x in (scores.min(), scores.max()))
            lines.append(f"{text}  {name}, mean of the outer folds, from {low} to {high}")
        if len(self.scores) == 1:
            (scores,) = self.scores.values()
            kind = self._seen.mean() - scores.mean()
            word = "too optimistic" if kind >= 0 else "too pessimistic"
            lines.append(
                f"{words.number(self._seen.mean())}  mean of the inner scores: "
                f"{words.number(abs(kind))} {word}"
            )
        return lines

    def _gain_lines(self) -> list[str]:
        known = self.gains[np.isfinite(self.gains)]
        if not len(known):
            return ["No search has scored the untuned estimator."]
        n_better = int((known > 0).sum())
        return [
            f"Tuning gains {words.number(known.mean())} on average on the inner folds, corrected "
            f"for selection bias, and helps in {n_better} of {len(known)} searches."
        ]

    def _chosen_lines(self) -> list[str]:
        """Each parameter: its range, or its values by how often they were chosen."""
        names = dict.fromkeys(name for params in self.best_params for name in params)
        return [f"{name}: {_values(name, self.best_params)}" for name in names]


def is_nested(results: object) -> TypeGuard[Mapping[str, Any]]:
    """True for results of ``cross_validate``."""
    return isinstance(results, Mapping) and {"fit_time", "score_time"} <= results.keys()


def _table_of(estimator: Any) -> SearchTable:
    search = last_step(estimator, is_fitted=True)
    if not hasattr(search, "cv_results_"):
        raise ValueError(
            f"A {type(search).__name__} is not a fitted search: pass a search to cross_validate, "
            "with return_estimator=True."
        )
    return read_results(search)


def _chosen(table: SearchTable) -> dict[str, Any]:
    """The winner's parameters; empty without a winner."""
    return {} if table.best is None else dict(table.candidates[table.best].params)


def _own_score(table: SearchTable) -> float:
    """Score of the untuned estimator on the inner folds, NaN if it has none."""
    own = untuned(table)
    return np.nan if own is None else own.mean


def _values(name: str, chosen: list[dict[str, Any]]) -> str:
    """Chosen values of a parameter."""
    values = [params[name] for params in chosen if name in params]
    rest = "" if len(values) == len(chosen) else f" (in {len(values)} of {len(chosen)})"
    numbers = all(isinstance(x, int | float | np.number) for x in values)
    if numbers and not any(isinstance(x, bool) for x in values):
        low, middle, high = (words.number(x) for x in np.quantile(values, [0, 0.5, 1]))
        return f"{low} to {high}, median {middle}{rest}" if low != high else f"{low}{rest}"
    times = Counter(map(words.value, values)).most_common()
    return ", ".join(f"{text} {n} times" for text, n in times) + rest
