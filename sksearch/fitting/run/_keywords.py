"""Parameter names of other libraries, and their names here."""

import difflib
import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable)

COUNTS = (
    *("n_iter", "n_candidates", "n_trials", "n_calls", "max_evals", "num_samples", "n_samples"),
    *("n_points", "num_trials", "max_trials", "n_evals", "max_iter", "n_evaluations", "trials"),
    *("max_iters", "total_iterations", "n_steps"),
)
#: Names here by foreign name: the first that the search has.
MEANT: dict[tuple[str, ...], tuple[str, ...]] = {
    ("n_iter", "n_candidates"): COUNTS,
    ("param_distributions", "param_grid", "space"): (
        "param_distributions", "param_grid", "search_spaces", "search_space", "param_space",
        "space", "params", "parameters", "distributions", "hyperparameters", "param_dist", "grid",
        "config", "bounds", "dimensions", "config_dict",
    ),
    ("timeout",): (
        "time_budget", "time_budget_s", "max_time", "time_limit", "max_seconds", "budget",
        "max_runtime_secs", "timeout_s", "time_left_for_this_task", "max_time_mins", "seconds",
    ),
    ("cv",): ("cv_folds", "n_folds", "folds", "n_splits", "nfold", "kfold", "n_cv", "splits"),
    ("scoring",): ("metric", "metrics", "score", "scorer", "eval_metric", "scorers", "loss"),
    ("random_state",): ("seed", "random_seed", "rng", "rstate"),
    ("n_jobs",): ("n_workers", "num_workers", "jobs", "n_threads", "max_workers", "parallelism"),
    ("estimator",): ("model", "clf", "base_estimator", "pipeline", "classifier", "regressor",
                      "estimator_list"),
    ("func",): ("fn", "fun", "f", "objective", "objective_func"),
    ("n_initial",): ("n_initial_points", "n_random_starts", "n_startup_trials", "init_points"),
    ("factor",): ("eta", "reduction_factor"),
    ("min_resources",): ("grace_period", "min_budget", "min_resource"),
    ("max_resources",): ("max_t", "max_budget", "max_resource", "max_epochs", "R"),
    ("checkpoint_dir",): ("storage", "study_name", "local_dir", "checkpoint", "cache_dir"),
    ("verbose",): ("verbosity", "disp", "progress_bar", "show_progress_bar"),
}  # fmt: skip
#: Foreign names of the keys of a group of parameters; the key itself is one.
GROUPED: dict[str, dict[str, tuple[str, ...]]] = {
    "workers": {
        "timeout": ("trial_timeout", "per_run_time_limit", "max_eval_time_mins"),
        "memory": ("memory_limit", "max_memory", "mem_limit"),
        "retries": ("max_retries", "max_failures"),
        "devices": ("use_gpu", "gpus", "num_gpus", "resources_per_trial"),
        "batch_size": (),
    },
    "stop": {
        "score": (),
        "patience": ("early_stopping", "early_stopping_rounds", "n_iter_no_change"),
        "converged": (),
        "overtime": (),
    },
    "known": {
        "params": ("points_to_evaluate", "x0", "initial_points", "baseline"),
        "results": (),
        "prior": (),
        "constraints": ("constraint",),
    },
}  # fmt: skip
#: Replacements for attributes and methods of other libraries.
ATTRIBUTES: dict[str, tuple[str, ...]] = {
    "best_score_": ("best_value", "best_loss", "best_value_", "best_loss_", "best_result"),
    "best_params_": (
        "best_config", "best_config_", "best_trial", "best_trial_", "best_parameters",
        "get_best_config", "get_best_params",
    ),
    "best_estimator_": (
        "model", "model_", "best_model", "best_model_", "estimator_", "best_pipeline_",
        "fitted_pipeline_", "get_best_model", "export_model",
    ),
    "cv_results_": (
        "trials", "trials_", "trials_dataframe", "results", "results_", "results_df", "dataframe",
        "grid_scores_", "optimizer_results_", "study_", "get_results",
    ),
    "leaderboard()": ("leaderboard_", "show_models"),
    "report(search), of sksearch": (
        "fit_summary", "summary", "report",
        "sprint_statistics", "info",
    ),
    "fit(X, y)": ("optimize", "run", "tune", "search", "train", "minimize", "train_model"),
    "score(X, y)": ("evaluate", "eval"),
    "joblib.dump(search, path)": ("save", "save_model", "dump", "to_pickle"),
    "sklearn.inspection.permutation_importance(search, X, y)": (
        "feature_importance", "feature_importances", "feature_importances_",
    ),
}  # fmt: skip
#: Attributes that need an argument of the search.
ASKED_FOR = {
    **dict.fromkeys(("pareto_", "metric_"), "pass objectives=, such as ['accuracy', '-fit_time']"),
    "ensemble_": "pass ensemble=True",
    "audited_": "pass audit= to a search that stops candidates early",
}
DIRECTIONS = ("direction", "directions", "mode", "maximize", "minimize", "greater_is_better")
#: Settings found elsewhere, or not needed.
ELSEWHERE = {
    **dict.fromkeys(("X", "y", "groups", "sample_weight"), "pass it to fit"),
    "fit_params": "pass them to fit, as in fit(X, y, name=value)",
    "callbacks": "call set_callbacks, which scikit-learn has from 1.9 on",
    "callback": "call set_callbacks, which scikit-learn has from 1.9 on",
    "generations": "write n_iter, the number of candidates of all generations",
    "task": "leave it out: the estimator is a classifier or a regressor",
    "method": "use the search class of the method, or sampler in minimize and SearchCV",
    **dict.fromkeys(
        ("algo", "algorithm", "suggest", "search_optimization", "search_alg"),
        "pass sampler, such as sksearch.samplers.TPESampler()",
    ),
    "args": "bind them to the function, as in functools.partial(func, ...)",
    **dict.fromkeys(("label", "target_column"), "pass the column as y to fit"),
    **dict.fromkeys(("presets", "name", "loggers", "optimizer_kwargs"), "leave it out"),
    "iid": "leave it out: scikit-learn has removed it",
    "enable_pruning": "use a search that stops candidates early, such as HyperbandSearchCV",
    "pruner": "use a search that stops candidates early, such as HyperbandSearchCV",
    **dict.fromkeys(
        ("sampler", "scheduler", "resource"), "use SearchCV, which has this parameter"
    ),
}


class KnownNames:
    """Rejects unknown parameters of a search, and suggests the right ones."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # Not as ``cls.__init__ = ...``, which editors take for the definition.
        for name in {"__init__"} & vars(cls).keys():
            setattr(cls, name, known_names(vars(cls)[name]))


def known_names(function: F) -> F:
    """Make a function reject unknown arguments, and suggest the right ones."""
    is_init = function.__name__ == "__init__"

    @wraps(function)
    def checked(*args: object, **params: object) -> Any:
        taken = list(inspect.signature(checked).parameters.values())[is_init:]
        owner = type(args[0]).__name__ if is_init else function.__name__
        _check_arguments(owner, taken, args[is_init:], params)
        return function(*args, **params)

    return checked  # type: ignore[return-value]


def _check_arguments(
    owner: str, taken: list[inspect.Parameter], args: tuple, params: dict[str, object]
) -> None:
    """Raise TypeError for an unknown name, and for a positional value of a keyword."""
    kinds, names = {p.kind for p in taken}, [p.name for p in taken]
    wrong = [name for name in params if name not in names]
    if wrong and inspect.Parameter.VAR_KEYWORD not in kinds:
        raise TypeError(f"{owner} has no parameter {wrong[0]}: {_cure(wrong[0], names)}.")
    places = [p.name for p in taken if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    if len(args) > len(places) and inspect.Parameter.VAR_POSITIONAL not in kinds:
        raise TypeError(
            f"{owner} takes {' and '.join(places)} by position, but got another positional "
            f"argument {args[len(places)]!r:.80}: pass it by name, as in {names[len(places)]}=..."
        )


def meant_by(name: str, value: object) -> str:
    """Return code that passes a value to a search, for a name of ours or of another library."""
    own = {each for names in MEANT for each in names} - {"func", "estimator", "space"}
    for names, others in MEANT.items():
        if name in (*names, *others) and names[0] in own:
            return f"{name if name in names else names[0]}={value!r:.80}"
    return _in_group(name, GROUPED, f"{value!r:.80}")


def _in_group(name: str, groups: Iterable[str], value: str = "...") -> str:
    """Return code that passes a value as a key of a group, "" for another name."""
    for group in groups:
        for key, others in GROUPED.get(group, {}).items():
            if name in (key, *others):
                return f'{group}={{"{key}": {value}}}'
    return ""


def meant_attribute(name: str, names: Iterable[str]) -> str:
    """Return the remedy for an unknown attribute of a search, "" if nothing is similar."""
    for own, others in ATTRIBUTES.items():
        if name in others:
            return f"write {own}."
    if name in ASKED_FOR:
        return f"{ASKED_FOR[name]}."
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.8)
    return f"did you mean {close[0]}?" if close else ""


def _cure(name: str, names: list[str]) -> str:
    """Suggestion for an unknown name."""
    for own, others in MEANT.items():
        meant = next((each for each in own if each in names), None)
        if name in others and meant is not None:
            return f"write {meant}"
    if grouped := _in_group(name, names):
        return f"write {grouped}"
    if name in COUNTS and "param_grid" in names:
        return (
            "all points of the grid are tried; n_iter is a parameter of SearchCV and "
            "RandomizedSearchCV"
        )
    if name in COUNTS:
        return "the number of candidates follows from the resources; timeout ends it sooner"
    if name in DIRECTIONS:
        return "func is minimized: return the negative of a value to maximize" * (
            "func" in names
        ) or ("scores are maximized: for an error, pass scoring='neg_mean_squared_error'")
    if name in ELSEWHERE:
        return ELSEWHERE[name]
    close = difflib.get_close_matches(name, names, n=3)
    if close:
        return f"did you mean {' or '.join(close)}"
    return f"its parameters are {', '.join(names)}"
