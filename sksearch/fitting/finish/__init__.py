"""The last stage of a fit: results, and the best candidate trained on all rows."""
