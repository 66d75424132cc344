"""CatBoost without files: it writes ``catboost_info`` into the working directory at each training.

Of hundreds of trainings nobody reads them, and workers would write into one another's.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

NAME = "allow_writing_files"
#: Whoever sets one of these wants files.
WANTED = (NAME, "train_dir", "save_snapshot", "snapshot_file", "snapshot_interval")


@contextmanager
def without_files(estimator: Any) -> Iterator[None]:
    """A context in which CatBoost models of an estimator train without a file.

    Afterwards all of them have the params that they had, so that nobody sees a difference.
    """
    if "catboost" not in sys.modules:
        yield
        return
    given = [estimator, *estimator.get_params().values()]
    models = [each for each in given if _is_model(each) and _is_quiet(each)]
    for model in models:
        model.__setstate__({NAME: False})  # set_params refuses to change a fitted model
    try:
        yield
    finally:
        if models:  # meta-estimators have trained clones of them
            for model in (*models, *_trained(estimator)):
                vars(model)["_init_params"].pop(NAME, None)
                model.__setstate__({})  # it has a cache of its params


def _is_model(value: Any) -> bool:
    return any(cls.__name__ == "CatBoost" for cls in type(value).__mro__)


def _is_quiet(model: Any) -> bool:
    return all(model.get_params().get(name) is None for name in WANTED)


def _trained(estimator: Any) -> list[Any]:
    """CatBoost models among the attributes of an estimator."""
    found, seen, stack = [], set(), [estimator]
    while stack:
        value = stack.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if _is_model(value):
            found.append(value)
        elif isinstance(value, list | tuple):
            stack += value
        elif hasattr(value, "get_params") and not isinstance(value, type):
            stack += vars(value).values()
    return found
