"""What a search has done, on disk: one line for each event, and files beside it."""

from sksearch.journal._checkpoint import Checkpoint, read_journal
from sksearch.journal._errors import JournalError, SearchLockedError, SearchMismatchError
from sksearch.journal._folder import write_spool

__all__ = [
    "Checkpoint",
    "JournalError",
    "SearchLockedError",
    "SearchMismatchError",
    "read_journal",
    "write_spool",
]
