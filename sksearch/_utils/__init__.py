"""Helpers of all rooms: texts, files, seeds, pickles, the clock, GPUs, other libraries."""
