"""How far a search is: a snapshot for programs, a status line for people."""

from sksearch.progress._progress import Progress
from sksearch.progress._progress import Watch as Watch
from sksearch.progress._status_line import StatusLine as StatusLine
from sksearch.progress._status_line import duration as duration

# Names written twice are for other packages of the house, not for users.
__all__ = ["Progress"]
