"""Types of sources of a finished search, by their attributes."""

import os
from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias

from sksearch.history import History
from sksearch.reader._search_table import SearchTable


class FittedSearch(Protocol):
    """A fitted search of this library, of scikit-learn or of any other."""

    @property
    def cv_results_(self) -> Mapping[str, Any]:
        """Columns, one entry for each row."""


class HasHistory(Protocol):
    """Result of `load_history`."""

    @property
    def history_(self) -> History:
        """History of the search."""


class Minimum(Protocol):
    """Result of `minimize`."""

    @property
    def history(self) -> History:
        """History of the search."""


class Frame(Protocol):
    """A pandas DataFrame."""

    @property
    def columns(self) -> Any:
        """Their names."""

    def to_dict(self, orient: Any, /) -> Any:
        """Return the columns as a dict of lists."""


class OptunaStudy(Protocol):
    """An Optuna study."""

    @property
    def trials(self) -> Any:
        """Trials of the study."""

    @property
    def directions(self) -> Any:
        """True if each objective is minimised or maximised."""


FinishedSearch: TypeAlias = (
    SearchTable
    | FittedSearch
    | HasHistory
    | Minimum
    | History
    | Frame
    | Mapping[str, Any]  # ``cv_results_``
    | OptunaStudy
    | str  # a ``checkpoint_dir``
    | os.PathLike[str]
)
