"""The last stage of a fit: results and refit."""
