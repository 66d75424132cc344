"""How far a search is: a snapshot for programs, a status line for people."""

from sksearch.progress._progress import Progress

# Names written twice are for other packages of the house, not for users.
__all__ = ["Progress"]
