"""Identity of an experiment: code, values and settings as comparable texts."""
