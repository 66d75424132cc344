"""Experiments: searches on several problems with several seeds, as one tidy table."""

from sksearch.experiment._experiment import run_experiment

__all__ = ["run_experiment"]
