"""Pictures of a fitted search, as its method."""

from typing import Any


class Shown:
    """A search that draws itself."""

    def show(self) -> Any:
        """Draw what matters on one sheet: curves, importance, slices, and rungs or two parameters.

        Returns
        -------
        display : sksearch.plotting.SearchDisplay
            Its ``figure_`` is a figure of matplotlib.

        Raises
        ------
        ValueError
            If the search is not fitted, or no candidate has a score.
        """
        from sksearch.plotting import SearchDisplay

        return SearchDisplay.from_search(self)
