from sksearch.fitting.finish._choose import (
    fastest as fastest,
    one_standard_error as one_standard_error,
    simplest as simplest,
)
from sksearch.reporting._after import (
    best as best,
    to_frame as to_frame,
)
from sksearch.reporting._mlflow import to_mlflow as to_mlflow
from sksearch.reporting._report import Report as Report
