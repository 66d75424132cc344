"""What a search has done, on disk: one line for each event, and files beside it."""

from typing import TYPE_CHECKING

from sksearch._utils._on_demand import on_demand

if TYPE_CHECKING:
    from sksearch.checkpoint._accept import accept_changes
    from sksearch.checkpoint._checkpoint import Checkpoint as Checkpoint
    from sksearch.checkpoint._checkpoint import read_journal as read_journal
    from sksearch.checkpoint._errors import JournalError, SearchLockedError, SearchMismatchError
    from sksearch.checkpoint._folder import write_spool as write_spool
    from sksearch.checkpoint._load_history import SavedSearch, load_history
    from sksearch.checkpoint._recorder_of import recorder_of as recorder_of
    from sksearch.checkpoint._records import ToldEvent as ToldEvent
    from sksearch.checkpoint._records import read_as as read_as
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
