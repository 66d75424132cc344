"""One reader of a finished search, whoever made it: for reports, pictures, statistics."""
