"""Head of a report, for auditors: data, metric, folds, versions."""

import math
from typing import Any

from sksearch._utils._terminal import counted
from sksearch.estimators._model_choice import columns_of, note_on_weights
from sksearch.reader._search_table import SearchTable
from sksearch.reader._values import default_metric
from sksearch.reporting import _words as words

#: Metrics by the names that people use.
NAMES = {
    "r2": "R²", "roc_auc": "ROC AUC", "roc_auc_ovr": "ROC AUC (one against rest)",
    "roc_auc_ovo": "ROC AUC (one against one)", "neg_mean_absolute_error": "MAE",
    "neg_mean_squared_error": "MSE", "neg_root_mean_squared_error": "RMSE",
    "neg_mean_absolute_percentage_error": "MAPE", "neg_mean_squared_log_error": "MSLE",
    "neg_root_mean_squared_log_error": "RMSLE", "neg_brier_score": "Brier score",
    "f1": "F1", "f1_macro": "macro F1", "f1_micro": "micro F1", "f1_weighted": "weighted F1",
}  # fmt: skip


def lines_of_header(table: SearchTable) -> list[str]:
    """Return the lines; none for a search that does not remember its data."""
    about = getattr(table.source, "_about", None)
    if about is None:
        return []
    seed = getattr(table.source, "random_state", None)
    seed = f"seed {seed}" if seed is None or isinstance(seed, int) else "a generator as seed"
    lines = [
        f"{about['size']}; target: {about['target']}",
        f"{metric_as_written(table)}; {counted(table.n_folds, 'fold')}, {about['split']}; {seed}",
    ]
    lines += note_on_weights(table.estimator)
    lines += [f"columns: {line}" for line in columns_of(table.estimator)]
    return [*lines, about["made"]]


def metric_as_written(table: SearchTable) -> str:
    """Return the metric by its usual name, with the winner's score and the sign that it has."""
    scoring: Any = getattr(table.source, "scoring", None)
    name = scoring if isinstance(scoring, str) and table.metric == "score" else table.metric
    if scoring is None and name == "score":
        name = default_metric(table.estimator) or name
    is_error = name.startswith("neg_")
    text = NAMES.get(name, name.removeprefix("neg_").replace("_", " "))
    score = math.nan if table.winner is None else table.winner.score
    if math.isfinite(score):
        text += f" {words.number(-score if is_error else score)}"
    return f"{text}, {'smaller' if is_error else 'greater'} is better"
