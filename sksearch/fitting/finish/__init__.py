"""The last stage of a fit: what was found, and the best candidate trained on all rows."""
