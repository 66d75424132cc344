"""Many searches on many problems with many seeds, as one tidy table."""

from sksearch.experiment._experiment import run_experiment

__all__ = ["run_experiment"]
