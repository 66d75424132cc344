"""Progress of a search: a snapshot for programs, a status line for people."""

from sksearch.progress._progress import Progress

__all__ = ["Progress"]
