"""Gradients of validation losses by hyperparameters, and a penalty for each feature."""

from sksearch.hypergradients._choices import relaxed_choices
from sksearch.hypergradients._differentiate import (
    BilevelProblem,
    forward,
    implicit,
    neumann,
    reverse,
    truncated,
)
from sksearch.hypergradients._online import online_rate
from sksearch.hypergradients._penalties import FeaturePenalties
from sksearch.hypergradients._problems import LinearProblem
from sksearch.hypergradients._torch import TorchProblem

__all__ = [
    "BilevelProblem",
    "FeaturePenalties",
    "LinearProblem",
    "TorchProblem",
    "forward",
    "implicit",
    "neumann",
    "online_rate",
    "relaxed_choices",
    "reverse",
    "truncated",
]
