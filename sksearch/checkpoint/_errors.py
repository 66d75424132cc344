"""Why a checkpoint directory cannot be used."""


class JournalError(ValueError):
    """A journal is not one, is damaged at its beginning, or is of a newer version."""


class SearchLockedError(RuntimeError):
    """Another search uses the same checkpoint directory."""


class SearchMismatchError(ValueError):
    """A checkpoint directory is of a search with other settings or other data."""
