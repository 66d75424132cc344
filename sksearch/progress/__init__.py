"""Progress of a search, as an object and as a status line."""
