"""Checks of a user's data and settings that only advise: they never end a search.

All inputs of scikit-learn's searches are possible here: cells with arrays, missing values neither
equal nor unequal to anything, objects that raise in comparisons.
"""

import functools
import logging
import re
import warnings
from collections.abc import Callable, Iterable
from typing import Any
from uuid import UUID

import numpy as np

from sksearch._utils._terminal import warn

LONGEST = 200  # characters of an error in a report
MANY_ROWS = 50  # from this number of rows, a column without repeated values is an ID
ID = re.compile(r"(?i:(^|[\W_])(id|uuid|guid|key|index)$)|[a-z]I[Dd]$")  # endings of column names


def glance(look: Callable, *args: Any, otherwise: Any = None) -> Any:
    """Return the result of a check of a user's data or settings.

    Parameters
    ----------
    look : callable
        Called with `args`; its errors and warnings are suppressed.
    *args : object
        Data and settings.
    otherwise : object, default=None
        Returned if the check fails on the data.

    Returns
    -------
    result : object
        The result of the check, or `otherwise`.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return look(*args)
        except Exception:  # advice never raises
            return otherwise


class ReportParts:
    """The parts of a report; a failing part does not end the others.

    Attributes
    ----------
    faults : dict of str to str
        A line for each failed part, by its title. The error is logged.
    """

    def __init__(self) -> None:
        self.faults: dict[str, str] = {}

    def make(self, title: str, look: Callable, *args: Any, otherwise: Any = None) -> Any:
        """Return the result of a check, or `otherwise` if it fails."""
        try:
            return look(*args)
        except Exception as error:
            logging.getLogger("sksearch").error("Report: %s failed.", title, exc_info=True)
            text = f"{type(error).__name__}: {glance(str, error, otherwise='')}"[:LONGEST]
            text = " ".join(text.removesuffix(": ").split())
            self.faults.setdefault(title, f"This part of the report could not be made ({text}).")
            return otherwise


def advice(look: Callable[..., Iterable[str]]) -> Callable[..., None]:
    """Turn a generator of texts into a function that warns of them.

    Texts before a failure of the check are still warned of.
    """

    @functools.wraps(look)
    def call(*args: Any) -> None:
        texts: list[str] = []

        def collect() -> None:
            for text in look(*args):
                texts.append(text)  # noqa: PERF402  # what comes before a failure is kept

        glance(collect)
        for text in texts:
            warn(text, stacklevel=3)

    return call


def is_missing(label: object) -> bool:
    """True if a value is None, NaN, or pandas' equivalent."""
    if label is None or type(label).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(label, float | np.floating) and bool(np.isnan(label))


def is_id(name: object, column: Any) -> bool:
    """True if each row has another text without spaces, or integer in a column named so."""
    values = np.asarray(column)
    if values.dtype.kind in "iu":
        return len(np.unique(values)) == len(values) and bool(ID.search(str(name)))
    if values.dtype.kind not in "OUS":
        return False
    texts = values.tolist()
    if len(set(texts)) < len(texts) or not all(
        isinstance(text, str | bytes | UUID) for text in texts
    ):
        return False
    if any(len(str(text).split()) > 1 for text in texts):  # names and documents
        return False
    numbers = glance(values.astype, float)  # texts with measurements: some contain digits
    return numbers is None or bool((numbers == np.floor(numbers)).all())
