"""What a search has done, on disk: one line for each event, and files beside it."""

from typing import TYPE_CHECKING

from sksearch._utils._on_demand import on_demand

if TYPE_CHECKING:
    from sksearch.checkpoint._accept import accept_changes
    from sksearch.checkpoint._errors import JournalError, SearchLockedError, SearchMismatchError
    from sksearch.checkpoint._load_history import SavedSearch, load_history
else:
    __getattr__, __dir__ = on_demand(__name__)

# Names written twice are for other packages of the house, not for users.
__all__ = [
    "JournalError",
    "SavedSearch",
    "SearchLockedError",
    "SearchMismatchError",
    "accept_changes",
    "load_history",
]
