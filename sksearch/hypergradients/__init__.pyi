from sksearch.hypergradients._choices import relaxed_choices as relaxed_choices
from sksearch.hypergradients._differentiate import (
    BilevelProblem as BilevelProblem,
    forward as forward,
    implicit as implicit,
    neumann as neumann,
    reverse as reverse,
    truncated as truncated,
)
from sksearch.hypergradients._momentum import MomentumProblem as MomentumProblem
from sksearch.hypergradients._online import online_rate as online_rate
from sksearch.hypergradients._penalties import FeaturePenalties as FeaturePenalties
from sksearch.hypergradients._problems import LinearProblem as LinearProblem
from sksearch.hypergradients._torch import TorchProblem as TorchProblem
