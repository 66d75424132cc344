"""After a search: a report, the best candidates as a table, rules that choose among equals."""

from typing import TYPE_CHECKING

from sksearch._utils._on_demand import on_demand

if TYPE_CHECKING:
    from sksearch.reporting._advice import Advice
    from sksearch.reporting._after import AfterSearch, best, to_frame
    from sksearch.reporting._after import about_fit as about_fit
    from sksearch.reporting._autolog import autologged as autologged
    from sksearch.reporting._choose import check_rule as check_rule
    from sksearch.reporting._choose import fastest, one_standard_error, simplest
    from sksearch.reporting._choose import index_by_rule as index_by_rule
    from sksearch.reporting._choose import rule_of as rule_of
    from sksearch.reporting._ensemble import Ensemble
    from sksearch.reporting._front import ParetoFront
    from sksearch.reporting._front import check_choice as check_choice
    from sksearch.reporting._front import choose as choose
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
