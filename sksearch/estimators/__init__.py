"""What is known of estimators, one object a family: spaces, training, what is simpler.

A family of one's own is a class that derives from `Family`, and `register` makes it known.

============================  ==================================================================
modules                       contain
============================  ==================================================================
_family, _epoch_training      what a family may say, and which one an estimator has
_linear to _xgboost           the families, one file a library or a kind of models
_parts                        distributions and sizes that their spaces are made of
_default, _composed           `default_space`, through pipelines and ensembles
_first, portfolios.json       `first_candidates`
_models, _model_choice        `default_models`, and several models as one estimator, `OneOf`
_growth                       training that finds a number of steps, with a score at each
_continuation, _epochs        training that continues from rung to rung, by steps or epochs
_mutable_params               parameters that may change in between
_pipeline                     the last step of a pipeline, which is trained alone
_optima                       scores of estimators that have no optimum
============================  ==================================================================
"""

from sksearch.base import Labels as Labels
from sksearch.base import State as State
from sksearch.estimators._catboost import CatBoost
from sksearch.estimators._composed import NOTHING
from sksearch.estimators._composed import find_space as find_space
from sksearch.estimators._composed import listed as listed
from sksearch.estimators._composed import unknown_parts as unknown_parts
from sksearch.estimators._continuation import can_grow as can_grow
from sksearch.estimators._continuation import set_params as set_params
from sksearch.estimators._continuation import ways_to_go_on as ways_to_go_on
from sksearch.estimators._default import default_space, own_candidate
from sksearch.estimators._epoch_training import EpochTraining
from sksearch.estimators._epochs import WAYS as WAYS
from sksearch.estimators._epochs import advance as advance
from sksearch.estimators._epochs import has_ended as has_ended
from sksearch.estimators._epochs import refuse_early_stopping as refuse_early_stopping
from sksearch.estimators._epochs import train_calls as train_calls
from sksearch.estimators._epochs import warn_of_own_fit as warn_of_own_fit
from sksearch.estimators._family import Family, Nothing, family_of, register
from sksearch.estimators._family import families as families
from sksearch.estimators._first import first_candidates
from sksearch.estimators._growth import Allowance as Allowance
from sksearch.estimators._growth import Growth, growth_of
from sksearch.estimators._image_nets import ImageNets
from sksearch.estimators._keras import Keras
from sksearch.estimators._kernels import Bayes, Clusters, Kernels, Neighbours, Projections
from sksearch.estimators._lightgbm import LightGBM
from sksearch.estimators._linear import Linear, StochasticGradient
from sksearch.estimators._mlp import MLP
from sksearch.estimators._model_choice import OneOf
from sksearch.estimators._model_choice import alone_if_not_named as alone_if_not_named
from sksearch.estimators._model_choice import as_models as as_models
from sksearch.estimators._model_choice import columns_of as columns_of
from sksearch.estimators._model_choice import each_of as each_of
from sksearch.estimators._model_choice import first_of_each as first_of_each
from sksearch.estimators._model_choice import known_of_each as known_of_each
from sksearch.estimators._model_choice import model_of as model_of
from sksearch.estimators._model_choice import named_of as named_of
from sksearch.estimators._model_choice import settle as settle
from sksearch.estimators._model_choice import settled as settled
from sksearch.estimators._model_choice import union_of_spaces as union_of_spaces
from sksearch.estimators._mutable_params import change as change
from sksearch.estimators._mutable_params import mutable_params as mutable_params
from sksearch.estimators._optima import without_optimum as without_optimum
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
from sksearch.estimators._third_party import Probabilistic, Survival, TableNets
from sksearch.estimators._thresholds import Thresholds
from sksearch.estimators._transformers import Transformers
from sksearch.estimators._trees import Forests, Trees
from sksearch.estimators._xgboost import XGBoost, XGBoostForest

__all__ = [
    "EpochTraining",
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
