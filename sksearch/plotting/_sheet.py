"""Overview of a search on one sheet."""

from functools import partial
from typing import TYPE_CHECKING, Any, Self

from sksearch._utils._advice import ReportParts
from sksearch.plotting._contour import ContourDisplay
from sksearch.plotting._distribution import DistributionDisplay
from sksearch.plotting._history import HistoryDisplay
from sksearch.plotting._importance import ImportanceDisplay
from sksearch.plotting._rungs import RungDisplay
from sksearch.plotting._slices import MIN_FOR_EFFECTS, SliceDisplay, most_important, pair_to_draw
from sksearch.plotting._style import import_pyplot
from sksearch.reader._read import read
from sksearch.reader._search_table import SearchTable
from sksearch.reader._sources import FinishedSearch
from sksearch.stats._candidates import Candidates

if TYPE_CHECKING:
    from matplotlib.figure import Figure

N_SLICES = 6  # parameters: two rows fit into a quarter of the sheet


class SearchDisplay:
    """Four pictures of a search: scores, importance, slices, and rungs or two parameters.

    The last one shows the rungs if there are several resources, otherwise the two most important
    parameters together. If there are fewer than ten scores, or no parameter has two values, the
    distribution of the scores takes the place of the missing pictures.

    Parameters
    ----------
    search : object
        A fitted search of this library or scikit-learn, or any other input that
        `sksearch.stats.importance` accepts.

    Attributes
    ----------
    displays_ : list
        The displays of the four pictures.
    figure_ : matplotlib Figure
        The sheet.

    See Also
    --------
    HistoryDisplay : Scores of all candidates.
    ImportanceDisplay : Which parameters mattered.
    SliceDisplay : Scores over each parameter.
    RungDisplay : How well rungs order candidates.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from sksearch import RandomSearchCV
    >>> space = {"C": loguniform(1e-3, 1e3), "gamma": loguniform(1e-4, 1)}
    >>> search = RandomSearchCV(SVC(), space, n_iter=12, random_state=0)
    >>> display = search.fit(*load_iris(return_X_y=True)).show()
    >>> [type(part).__name__ for part in display.displays_]
    ['HistoryDisplay', 'ImportanceDisplay', 'SliceDisplay', 'ContourDisplay']
    >>> plt.close(display.figure_)
    """

    def __init__(self, *, search: FinishedSearch):
        self.search = search

    @classmethod
    def from_search(cls, search: FinishedSearch) -> Self:
        """Draw a fitted search.

        Parameters
        ----------
        search : object
            A fitted search of this library or scikit-learn, or any other input that
            `sksearch.stats.importance` accepts.

        Returns
        -------
        display : SearchDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If the search is not fitted.
        """
        return cls(search=search).plot()

    def plot(self, figure: "Figure | None" = None) -> Self:
        """Draw the plot.

        Parameters
        ----------
        figure : matplotlib Figure or None, default=None
            An empty figure; None: a new one.

        Returns
        -------
        display : SearchDisplay
            This display. If no candidate has a score, its parts show a message.
        """
        search = read(self.search)
        found: Any = ReportParts().make("Candidates", Candidates.of, search)
        names = [] if found is None else most_important(search, found)
        n_scored = 0 if found is None else len(found.scores)
        plt = import_pyplot(type(self).__name__)
        self.figure_ = figure or plt.figure(figsize=(13.5, 9.5), layout="constrained")
        parts: Any = self.figure_.subfigures(2, 2, squeeze=False, hspace=0.05, wspace=0.04)
        history, importance, slices, last = (part.subplots() for part in parts.ravel())
        self.displays_: list = []
        self._add(HistoryDisplay, search, history)
        if n_scored < MIN_FOR_EFFECTS or not names:
            self._add(DistributionDisplay, search, importance)
        else:
            self._add(ImportanceDisplay, search, importance)
        if names:
            self._add(SliceDisplay, search, slices, params=names[:N_SLICES])
        else:
            slices.set_axis_off()
        if len(search.levels) > 1:
            self._add(RungDisplay, search, last)
        elif n_scored >= MIN_FOR_EFFECTS and (pair := pair_to_draw(found, names)):
            self._add(ContourDisplay, search, last, params=pair)
        else:
            last.set_axis_off()
        return self

    def _add(self, display: Any, search: SearchTable, ax: Any, **options: Any) -> None:
        """Draw a part; one that fails leaves a line in its place."""
        parts, name = ReportParts(), display.__name__
        drawn = parts.make(name, partial(display.from_search, search, ax=ax, **options))
        if name in parts.faults:
            ax.clear()
            ax.set_axis_off()
            ax.text(0.5, 0.5, f"{name}: {parts.faults[name]}", ha="center", wrap=True)
        else:
            self.displays_.append(drawn)
