"""``fit`` of an estimator, as candidates are fitted everywhere."""

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import Any

#: Called with an estimator, which may contain others; the contexts in which it is fitted.
FIT_CONTEXTS: list[Callable[[Any], AbstractContextManager]] = []


def fit(estimator: Any, X: Any, y: Any, fit_params: dict[str, Any]) -> Any:
    """Fit an estimator in the contexts that its parts need; y is None where there is none."""
    with ExitStack() as contexts:
        for context in FIT_CONTEXTS:
            contexts.enter_context(context(estimator))
        return estimator.fit(X, *(() if y is None else (y,)), **fit_params)
