"""Statistics that tell optimizers apart, what mattered in a search, and the winner."""

from typing import TYPE_CHECKING

from sksearch._utils._on_demand import on_demand

if TYPE_CHECKING:
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
        ranks,
        wilcoxon_holm,
    )
    from sksearch.stats._regret import anytime_regret, bootstrap_interval, normalised_regret
    from sksearch.stats._selection import SelectedScore, selected_score
    from sksearch.stats._ties import holm, tied_candidates
else:
    __getattr__, __dir__ = on_demand(__name__)

__all__ = [
    "Density",
    "Friedman",
    "IdealEvaluation",
    "Importance",
    "OptimaComparison",
    "Profiles",
    "SelectedScore",
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
    "selected_score",
    "silverman_bandwidth",
    "tied_candidates",
    "wilcoxon_holm",
]
