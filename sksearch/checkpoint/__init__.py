"""What a search has done, on disk: one line for each event, and files beside it."""

from sksearch.checkpoint._checkpoint import Checkpoint, read_journal
from sksearch.checkpoint._errors import JournalError, SearchLockedError, SearchMismatchError
from sksearch.checkpoint._folder import write_spool
from sksearch.checkpoint._load_history import SavedSearch, load_history
from sksearch.checkpoint._recorder import recorder_of

__all__ = [
    "Checkpoint",
    "JournalError",
    "SavedSearch",
    "SearchLockedError",
    "SearchMismatchError",
    "load_history",
    "read_journal",
    "recorder_of",
    "write_spool",
]
