"""How far a search is: a snapshot for programs, a status line for people."""

from sksearch.progress._progress import Progress, Watch
from sksearch.progress._status_line import StatusLine, duration

__all__ = ["Progress", "StatusLine", "Watch", "duration"]
