"""How many threads BLAS may use."""

import threading
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache

from threadpoolctl import ThreadpoolController


def one_blas_thread() -> AbstractContextManager:
    """A context in which BLAS uses one thread.

    Sums of several threads differ in the last bits from those of one, so results would depend
    on ``n_jobs``. OpenMP loops (HistGradientBoosting, forests) do not, and keep theirs.
    """
    if threading.current_thread() is not threading.main_thread():
        return nullcontext()  # the limit is of the whole process, and others may be using it
    return controller().limit(limits=1, user_api="blas")


@lru_cache(maxsize=1)
def controller() -> ThreadpoolController:
    """Return the thread pools of this process, which are listed once."""
    return ThreadpoolController()
