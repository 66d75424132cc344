from sksearch.stats._density import Density as Density, silverman_bandwidth as silverman_bandwidth
from sksearch.stats._importance import Importance as Importance, importance as importance
from sksearch.stats._optima import (
    IdealEvaluation as IdealEvaluation,
    OptimaComparison as OptimaComparison,
    compare_optima as compare_optima,
    ideal_evaluation as ideal_evaluation,
    ks_best_of as ks_best_of,
)
from sksearch.stats._profiles import (
    Profiles as Profiles,
    area_under_curve as area_under_curve,
    order_kept as order_kept,
    profiles as profiles,
)
from sksearch.stats._random_search import (
    draws_to_hit as draws_to_hit,
    hit_probability as hit_probability,
)
from sksearch.stats._ranks import (
    Friedman as Friedman,
    critical_difference as critical_difference,
    friedman as friedman,
    ranks as ranks,
    wilcoxon_holm as wilcoxon_holm,
)
from sksearch.stats._regret import (
    anytime_regret as anytime_regret,
    bootstrap_interval as bootstrap_interval,
    normalised_regret as normalised_regret,
)
from sksearch.stats._selection import (
    SelectedScore as SelectedScore,
    selected_score as selected_score,
)
from sksearch.stats._ties import holm as holm, tied_candidates as tied_candidates
