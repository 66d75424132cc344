"""Statistics that tell optimizers apart, and what mattered in a search."""

from sksearch.stats._density import Density, silverman_bandwidth
from sksearch.stats._importance import Importance, importance
from sksearch.stats._optima import (
    IdealEvaluation,
    OptimaComparison,
    compare_optima,
    ideal_evaluation,
    ks_best_of,
)
from sksearch.stats._profiles import Profiles, area_under_curve, order_kept, profiles
from sksearch.stats._random_search import draws_to_hit, hit_probability
from sksearch.stats._ranks import (
    Friedman,
    critical_difference,
    friedman,
    holm,
    ranks,
    wilcoxon_holm,
)
from sksearch.stats._regret import anytime_regret, bootstrap_interval, normalised_regret

__all__ = [
    "Density",
    "Friedman",
    "IdealEvaluation",
    "Importance",
    "OptimaComparison",
    "Profiles",
    "anytime_regret",
    "area_under_curve",
    "bootstrap_interval",
    "compare_optima",
    "critical_difference",
    "draws_to_hit",
    "friedman",
    "hit_probability",
    "holm",
    "ideal_evaluation",
    "importance",
    "ks_best_of",
    "normalised_regret",
    "order_kept",
    "profiles",
    "ranks",
    "silverman_bandwidth",
    "wilcoxon_holm",
]
