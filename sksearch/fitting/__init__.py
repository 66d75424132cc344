"""One fit: its plan, its run, the evaluation of a candidate on a fold, and its results."""

from typing import TYPE_CHECKING

from sksearch._utils._on_demand import on_demand

if TYPE_CHECKING:
    from sksearch.fitting._aims import MEASURES as MEASURES
    from sksearch.fitting._aims import Aims as Aims
    from sksearch.fitting._aims import Allows as Allows
    from sksearch.fitting._aims import Bound
    from sksearch.fitting._aims import allowed_guesses as allowed_guesses
    from sksearch.fitting._aims import bounds_of as bounds_of
    from sksearch.fitting._aims import make_aims as make_aims
    from sksearch.fitting._aims import make_allows as make_allows
    from sksearch.fitting._calibration import Calibrated as Calibrated
    from sksearch.fitting._calibration import cross_mapped as cross_mapped
    from sksearch.fitting._calibration import fit_maps as fit_maps
    from sksearch.fitting._callbacks import CV_LINES as CV_LINES
    from sksearch.fitting._callbacks import NO_CALLBACKS as NO_CALLBACKS
    from sksearch.fitting._callbacks import CallbackContext as CallbackContext
    from sksearch.fitting._callbacks import callback_arguments as callback_arguments
    from sksearch.fitting._callbacks import root_callback_context as root_callback_context
    from sksearch.fitting._curves import luck_of_counts as luck_of_counts
    from sksearch.fitting._curves import scores_at as scores_at
    from sksearch.fitting._curves import value_of as value_of
    from sksearch.fitting._ensemble import AveragedClassifier, AveragedRegressor
    from sksearch.fitting._evaluation import change_to as change_to
    from sksearch.fitting._evaluation import evaluate as evaluate
    from sksearch.fitting._folds import Folds as Folds
    from sksearch.fitting._folds import count_rows as count_rows
    from sksearch.fitting._folds import freeze_folds as freeze_folds
    from sksearch.fitting._folds import warn_of_folds as warn_of_folds
    from sksearch.fitting._folds import why_unlike as why_unlike
    from sksearch.fitting._function import FunctionContext as FunctionContext
    from sksearch.fitting._function import Units as Units
    from sksearch.fitting._function_run import FunctionRun as FunctionRun
    from sksearch.fitting._heard import Call as Call
    from sksearch.fitting._heard import Heard as Heard
    from sksearch.fitting._hopeless import fails_everywhere as fails_everywhere
    from sksearch.fitting._keywords import KnownNames as KnownNames
    from sksearch.fitting._keywords import known_names as known_names
    from sksearch.fitting._keywords import meant_attribute as meant_attribute
    from sksearch.fitting._keywords import meant_by as meant_by
    from sksearch.fitting._known_model import NotOfPredictionsError as NotOfPredictionsError
    from sksearch.fitting._known_model import ScoredRows as ScoredRows
    from sksearch.fitting._known_model import known_model as known_model
    from sksearch.fitting._known_model import true_shares as true_shares
    from sksearch.fitting._known_model import warn_of_no_average as warn_of_no_average
    from sksearch.fitting._known_model import why_not_of_predictions as why_not_of_predictions
    from sksearch.fitting._known_model import why_not_served as why_not_served
    from sksearch.fitting._lineage import legs_to as legs_to
    from sksearch.fitting._lineage import schedule_of as schedule_of
    from sksearch.fitting._out_of_fold import METHODS as METHODS
    from sksearch.fitting._out_of_fold import digest_of_folds as digest_of_folds
    from sksearch.fitting._out_of_fold import out_of_fold as out_of_fold
    from sksearch.fitting._plan import PlannedRung, SearchPlan
    from sksearch.fitting._predictions import as_classes as as_classes
    from sksearch.fitting._predictions import kept_rows as kept_rows
    from sksearch.fitting._predictions import read_predictions as read_predictions
    from sksearch.fitting._results import COLUMNS as COLUMNS
    from sksearch.fitting._results import Outputs as Outputs
    from sksearch.fitting._results import Row as Row
    from sksearch.fitting._results import best_of_last_iteration as best_of_last_iteration
    from sksearch.fitting._results import chosen_index as chosen_index
    from sksearch.fitting._results import cv_results as cv_results
    from sksearch.fitting._results import job_result as job_result
    from sksearch.fitting._results import metric_that_counts as metric_that_counts
    from sksearch.fitting._results import name_error_scores as name_error_scores
    from sksearch.fitting._results import rank as rank
    from sksearch.fitting._results import results_of as results_of
    from sksearch.fitting._results import table_of as table_of
    from sksearch.fitting._results import warn_if_none_keeps_bounds as warn_if_none_keeps_bounds
    from sksearch.fitting._row_sample import RowSample as RowSample
    from sksearch.fitting._row_sample import measured_sample as measured_sample
    from sksearch.fitting._row_sample import seconds_of_models as seconds_of_models
    from sksearch.fitting._row_sample import seconds_of_one_fit as seconds_of_one_fit
    from sksearch.fitting._row_scores import RowScores as RowScores
    from sksearch.fitting._row_scores import blocks_of_rows as blocks_of_rows
    from sksearch.fitting._run import Ending as Ending
    from sksearch.fitting._run import Recorder as Recorder
    from sksearch.fitting._run import Replayable as Replayable
    from sksearch.fitting._run import Run as Run
    from sksearch.fitting._scores import score as score
    from sksearch.fitting._scores import scores_have_names as scores_have_names
    from sksearch.fitting._setup import Setup as Setup
    from sksearch.fitting._setup import Stops as Stops
    from sksearch.fitting._states import SavedState as SavedState
    from sksearch.fitting._states import as_state as as_state
    from sksearch.fitting._states import dump_state as dump_state
    from sksearch.fitting._states import first_line as first_line
    from sksearch.fitting._tasks import Context as Context
    from sksearch.fitting._tasks import Output as Output
    from sksearch.fitting._tasks import Task as Task
    from sksearch.fitting._top_trials import N_AVERAGED as N_AVERAGED
else:
    __getattr__, __dir__ = on_demand(__name__)

__all__ = ["AveragedClassifier", "AveragedRegressor", "Bound", "PlannedRung", "SearchPlan"]
