"""Helpers for all packages: texts, files, seeds, pickles, the clock, GPUs, other libraries."""
