"""After a search: a report, the best candidates as a table, rules that choose among equals."""

from typing import TYPE_CHECKING

from sksearch._utils._on_demand import on_demand

if TYPE_CHECKING:
    from sksearch.fitting.finish._choose import fastest, one_standard_error, simplest
    from sksearch.fitting.finish._ensemble import Ensemble
    from sksearch.fitting.finish._front import ParetoFront
    from sksearch.reporting._advice import Advice
    from sksearch.reporting._after import AfterSearch, best, to_frame
    from sksearch.reporting._mlflow import to_mlflow
    from sksearch.reporting._nested import NestedReport
    from sksearch.reporting._report import Report, report
    from sksearch.stats._hypervolume import hypervolume_curve
else:
    __getattr__, __dir__ = on_demand(__name__)

__all__ = [
    "Advice",
    "AfterSearch",
    "Ensemble",
    "NestedReport",
    "ParetoFront",
    "Report",
    "best",
    "fastest",
    "hypervolume_curve",
    "one_standard_error",
    "report",
    "simplest",
    "to_frame",
    "to_mlflow",
]
