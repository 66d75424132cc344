"""Estimator families: search spaces, step-by-step training, and complexity parameters.

To add a family, derive a class from `Family` and pass an object of it to `register`.

============================  ==================================================================
modules                       contain
============================  ==================================================================
_family, _epoch_training      the interface of a family, and the lookup of an estimator's family
_linear to _xgboost           the families, one file per library or kind of model
_parts                        distributions and table sizes for their spaces
_default, _composed           `default_space`, through pipelines and ensembles
_first, portfolios.json       `first_candidates`
_models, _model_choice        `default_models`, and several models as one estimator, `OneOf`
_growth                       training that finds the number of steps, with a score at each
_continuation, _epochs        training that continues from rung to rung, by steps or epochs
_mutable_params               parameters that may change between rungs
_pipeline                     training of a pipeline's last step alone
_optima                       estimators' own scores without an optimum
============================  ==================================================================
"""

from sksearch.estimators._catboost import CatBoost
from sksearch.estimators._composed import NOTHING
from sksearch.estimators._family import Family, Nothing, register
from sksearch.estimators._growth import Growth
from sksearch.estimators._image_nets import ImageNets
from sksearch.estimators._keras import Keras
from sksearch.estimators._kernels import Bayes, Clusters, Kernels, Neighbours, Projections
from sksearch.estimators._lightgbm import LightGBM
from sksearch.estimators._linear import Linear, StochasticGradient
from sksearch.estimators._mlp import MLP
from sksearch.estimators._model_choice import OneOf
from sksearch.estimators._sklearn_boosting import AdaBoost, GradientBoosting, HistGradientBoosting
from sksearch.estimators._skorch import Skorch
from sksearch.estimators._third_party import Probabilistic, Survival, TableNets
from sksearch.estimators._thresholds import Thresholds
from sksearch.estimators._transformers import Transformers
from sksearch.estimators._trees import Forests, Trees
from sksearch.estimators._xgboost import XGBoost, XGBoostForest

__all__ = ["Family", "Growth", "OneOf", "register"]

for _family in (
    *(Nothing(NOTHING), Transformers(), Linear(), StochasticGradient(), Kernels(), Neighbours()),
    *(Bayes(), Projections(), Clusters(), Trees(), Forests(), AdaBoost()),
    *(HistGradientBoosting(), MLP(), GradientBoosting(), LightGBM(), XGBoost(), XGBoostForest()),
    *(CatBoost(), Skorch(), ImageNets(), Keras(), Probabilistic(), Survival(), TableNets()),
    Thresholds(),
):
    register(_family)
