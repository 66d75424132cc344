from sksearch.stats._importance import importance as importance
from sksearch.stats._optima import compare_optima as compare_optima
from sksearch.stats._random_search import (
    draws_to_hit as draws_to_hit,
    hit_probability as hit_probability,
)
from sksearch.stats._ranks import (
    friedman as friedman,
    ranks as ranks,
    wilcoxon_holm as wilcoxon_holm,
)
from sksearch.stats._regret import (
    anytime_regret as anytime_regret,
    bootstrap_interval as bootstrap_interval,
    normalised_regret as normalised_regret,
)
