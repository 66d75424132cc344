"""What is known of estimators, one object a family: spaces, training, what is simpler.

A family of one's own is a class that derives from `Family`, and `register` makes it known.
"""

from sksearch.estimators._catboost import CatBoost
from sksearch.estimators._changing import change as change
from sksearch.estimators._changing import changing_params as changing_params
from sksearch.estimators._composed import NOTHING
from sksearch.estimators._composed import find_space as find_space
from sksearch.estimators._composed import listed as listed
from sksearch.estimators._composed import unknown_parts as unknown_parts
from sksearch.estimators._default import default_space, own_candidate
from sksearch.estimators._epochs import WAYS as WAYS
from sksearch.estimators._epochs import advance as advance
from sksearch.estimators._epochs import has_ended as has_ended
from sksearch.estimators._epochs import refuse_early_stopping as refuse_early_stopping
from sksearch.estimators._epochs import train_calls as train_calls
from sksearch.estimators._epochs import warn_of_own_fit as warn_of_own_fit
from sksearch.estimators._family import Family, Nothing, family_of, register
from sksearch.estimators._family import families as families
from sksearch.estimators._family import fit as fit
from sksearch.estimators._first import first_candidates
from sksearch.estimators._going_on import can_grow as can_grow
from sksearch.estimators._going_on import set_params as set_params
from sksearch.estimators._going_on import ways_to_go_on as ways_to_go_on
from sksearch.estimators._growth import Allowance as Allowance
from sksearch.estimators._growth import Growth, growth_of
from sksearch.estimators._image_nets import ImageNets
from sksearch.estimators._keras import Keras
from sksearch.estimators._kernels import Bayes, Clusters, Kernels, Neighbours, Projections
from sksearch.estimators._lightgbm import LightGBM
from sksearch.estimators._linear import Linear, StochasticGradient
from sksearch.estimators._mlp import MLP
from sksearch.estimators._one_of import WHICH as WHICH
from sksearch.estimators._one_of import OneOf
from sksearch.estimators._one_of import alone_if_not_named as alone_if_not_named
from sksearch.estimators._one_of import as_models as as_models
from sksearch.estimators._one_of import columns_of as columns_of
from sksearch.estimators._one_of import each_of as each_of
from sksearch.estimators._one_of import first_of_each as first_of_each
from sksearch.estimators._one_of import known_of_each as known_of_each
from sksearch.estimators._one_of import model_of as model_of
from sksearch.estimators._one_of import named_of as named_of
from sksearch.estimators._one_of import settle as settle
from sksearch.estimators._one_of import settled as settled
from sksearch.estimators._one_of import union_of_spaces as union_of_spaces
from sksearch.estimators._optima import without_optimum as without_optimum
from sksearch.estimators._others import Probabilistic, Survival, TableNets
from sksearch.estimators._parts import Size
from sksearch.estimators._pipeline import check_resampled as check_resampled
from sksearch.estimators._pipeline import enter as enter
from sksearch.estimators._pipeline import is_searched as is_searched
from sksearch.estimators._pipeline import last_step as last_step
from sksearch.estimators._pipeline import own_names as own_names
from sksearch.estimators._pipeline import path_of_last_step as path_of_last_step
from sksearch.estimators._registered import register_space as register_space
from sksearch.estimators._sklearn_boosting import AdaBoost, GradientBoosting, HistGradientBoosting
from sksearch.estimators._skorch import DivergedError as DivergedError
from sksearch.estimators._skorch import Skorch
from sksearch.estimators._state import Labels as Labels
from sksearch.estimators._state import State as State
from sksearch.estimators._thresholds import Thresholds
from sksearch.estimators._transformers import Transformers
from sksearch.estimators._trees import Forests, Trees
from sksearch.estimators._xgboost import XGBoost, XGBoostForest

__all__ = [
    "Family",
    "Growth",
    "OneOf",
    "Size",
    "default_space",
    "family_of",
    "first_candidates",
    "growth_of",
    "own_candidate",
    "register",
]

for _family in (
    *(Nothing(NOTHING), Transformers(), Linear(), StochasticGradient(), Kernels(), Neighbours()),
    *(Bayes(), Projections(), Clusters(), Trees(), Forests(), AdaBoost()),
    *(HistGradientBoosting(), MLP(), GradientBoosting(), LightGBM(), XGBoost(), XGBoostForest()),
    *(CatBoost(), Skorch(), ImageNets(), Keras(), Probabilistic(), Survival(), TableNets()),
    Thresholds(),
):
    register(_family)
