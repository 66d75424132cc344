"""Progress of a search: a snapshot for programs, a status line for people."""
