"""What a finished search is read from, as types: the attributes that tell each kind."""

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
    """What `load_history` returned."""

    @property
    def history_(self) -> History:
        """Everything that the search was told."""


class Minimum(Protocol):
    """What `minimize` returned."""

    @property
    def history(self) -> History:
        """Everything that the search was told."""


class Frame(Protocol):
    """A table of pandas."""

    @property
    def columns(self) -> Any:
        """Their names."""

    def to_dict(self, orient: Any, /) -> Any:
        """Return the columns as a dict of lists."""


class OptunaStudy(Protocol):
    """A study of Optuna."""

    @property
    def trials(self) -> Any:
        """What was tried."""

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
