from sksearch.fitting.finish._choose import (
    fastest as fastest,
    one_standard_error as one_standard_error,
    simplest as simplest,
)
from sksearch.fitting.finish._ensemble import Ensemble as Ensemble
from sksearch.fitting.finish._front import ParetoFront as ParetoFront
from sksearch.reporting._advice import Advice as Advice
from sksearch.reporting._after import (
    AfterSearch as AfterSearch,
    best as best,
    to_frame as to_frame,
)
from sksearch.reporting._mlflow import to_mlflow as to_mlflow
from sksearch.reporting._nested import NestedReport as NestedReport
from sksearch.reporting._report import Report as Report, report as report
from sksearch.stats._hypervolume import hypervolume_curve as hypervolume_curve
