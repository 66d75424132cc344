"""One reader for finished searches of any library: for reports, pictures, statistics."""
