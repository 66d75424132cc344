from sksearch.checkpoint._accept import accept_changes as accept_changes
from sksearch.checkpoint._errors import (
    JournalError as JournalError,
    SearchLockedError as SearchLockedError,
    SearchMismatchError as SearchMismatchError,
)
