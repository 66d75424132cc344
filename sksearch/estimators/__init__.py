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

from sksearch.estimators._catboost import CatBoost
from sksearch.estimators._composed import NOTHING
from sksearch.estimators._default import default_space, own_candidate
from sksearch.estimators._epoch_training import EpochTraining
from sksearch.estimators._family import Family, Nothing, family_of, register
from sksearch.estimators._first import first_candidates
from sksearch.estimators._growth import Growth, growth_of
from sksearch.estimators._image_nets import ImageNets
from sksearch.estimators._keras import Keras
from sksearch.estimators._kernels import Bayes, Clusters, Kernels, Neighbours, Projections
from sksearch.estimators._lightgbm import LightGBM
from sksearch.estimators._linear import Linear, StochasticGradient
from sksearch.estimators._mlp import MLP
from sksearch.estimators._model_choice import OneOf
from sksearch.estimators._parts import Size
from sksearch.estimators._sklearn_boosting import AdaBoost, GradientBoosting, HistGradientBoosting
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
