"""Settings of computations: the search's own, whatever the user's are, and the reverse.

The user's settings apply to the user's code: estimators, scorers, splitters, callbacks.
"""

import functools
import math
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import special
from threadpoolctl import ThreadpoolController

#: Largest number of values for which threads are not worth their risk.
FEW_FOR_THREADS = 200_000


@contextmanager
def own_numerics() -> Iterator[None]:
    """A context, or a decorator, in which floating-point errors are ignored.

    Models and statistics rely on an underflowing ``exp`` being zero; a user who lets NumPy or
    SciPy raise does not mean this code. Warning filters are left alone, since they are of the
    whole process: with these settings there is nothing to filter.
    """
    wanted = {"memory": "raise"}  # as by default
    errors = special.geterr()
    is_default = all(errors[name] == wanted.get(name, "ignore") for name in errors)
    # SciPy's settings are global to the process, so defaults are not touched.
    scipy = nullcontext() if is_default else special.errstate(all="ignore", **wanted)
    with np.errstate(all="ignore"), scipy:
        yield


def with_users_errors(function: Callable) -> Callable:
    """Make a picklable `function` run with this thread's handling of floating-point errors.

    Workers have NumPy's default otherwise, so failures would depend on ``n_jobs``.
    """
    # A function or a log for errors stays here: it may hold anything.
    errors: Any = {k: v for k, v in np.geterr().items() if v not in ("call", "log")}
    return functools.partial(_call_with_errors, errors, function)


def _call_with_errors(errors: dict[str, Any], function: Callable, *args: Any) -> Any:
    with np.errstate(**errors):
        return function(*args)


def one_blas_thread() -> AbstractContextManager:
    """A context in which BLAS uses one thread.

    Sums over several threads differ in the last bits, so results would depend on ``n_jobs``.
    OpenMP loops (HistGradientBoosting) give identical results, see `one_openmp_thread_for_few`.
    """
    if threading.current_thread() is not threading.main_thread():
        return nullcontext()  # the limit is of the whole process, and others may be using it
    return one_thread("blas")


def one_openmp_thread_for_few(X: Any) -> AbstractContextManager:
    """A context for a fit on `X` in which OpenMP uses one thread if there are few values.

    On few values threads save little, and they wait for each other after each loop: if other
    programs occupied the cores, a fit of HistGradientBoosting on 535 x 97 values took 150 s with
    two threads and .8 s with one. Results are identical. The limit is of this thread only.
    """
    return one_thread("openmp") if needs_no_threads(X) else nullcontext()


def one_thread(user_api: str) -> AbstractContextManager:
    """A context in which the thread pools of a kind, "blas" or "openmp", have one thread each."""
    pools = _pools(user_api)
    # To set and restore a limit that holds already takes longer than to clone an estimator.
    if all(pool.num_threads == 1 for pool in pools.lib_controllers):
        return nullcontext()
    return pools.limit(limits=1)


def needs_no_threads(X: Any) -> bool:
    """Return whether a fit on `X` gains little from threads."""
    shape = X.shape if hasattr(X, "shape") else (len(X),) if hasattr(X, "__len__") else ()
    return bool(shape) and math.prod(shape) <= FEW_FOR_THREADS


@lru_cache(maxsize=1)
def controller() -> ThreadpoolController:
    """Return the thread pools of this process, listed once."""
    return ThreadpoolController()


@lru_cache(maxsize=2)
def _pools(user_api: str) -> ThreadpoolController:
    return controller().select(user_api=user_api)
