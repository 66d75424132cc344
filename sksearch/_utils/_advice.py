"""Checks of a user's data and settings that only advise: they never end a search.

All inputs of scikit-learn's searches are possible here: cells with arrays, missing values neither
equal nor unequal to anything, objects that raise in comparisons.
"""

import functools
import logging
import math
import re
import warnings
from collections.abc import Callable, Iterable
from typing import Any
from uuid import UUID

import numpy as np

from sksearch._utils._terminal import counted, warn

LONGEST = 200  # characters of an error in a report
MANY_ROWS = 50  # of which no two have the same value, as an ID
AMOUNT = re.compile(  # of money, or in percent
    r"([-+$€£¥\s]*)((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d*)?)\s*[%$€£¥]?\s*"
)
NUMERAL = re.compile(r"[-+$€£¥\s]*[\d.,]+\s*[%$€£¥]?\s*")  # also with a decimal comma
DATE = re.compile(  # as a text without spaces
    r"\d{4}([-/.])[01]?\d\1[0-3]?\d(T\S*)?|[0-3]?\d([-/.])[0-3]?\d\3(\d\d)?\d\d"
)
CLOCK = re.compile(r"\s*(\d{1,2}):([0-5]\d)(?::([0-5]\d(?:\.\d*)?))?\s*")  # times of day, spans
ID = re.compile(r"(?i:(^|[\W_])(id|uuid|guid|key|index)$)|[a-z]I[Dd]$")  # as names of columns end


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


def missing(values: np.ndarray) -> np.ndarray:
    """Mask of the entries of an array that are NaN, None or similar."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind in "mM":
        return np.isnat(values)
    if values.dtype != object:
        return np.zeros(values.shape, dtype=bool)
    return np.array([is_missing(each) for each in values.ravel()]).reshape(values.shape)


def doubt_of_gaps(labels: np.ndarray, noun: str = "label") -> str:
    """Name missing entries of a target, "" without any."""
    gaps = missing(labels)
    if not gaps.any():
        return ""
    kind = "NaT" if labels.dtype.kind in "mM" else "NaN"
    return (
        f"y has {counted(int(gaps.sum()), f'missing {noun}')} ({kind}), the first in row "
        f"{int(np.argwhere(gaps)[0][0])}: fill in these rows, or leave them out of X and y."
    )


def doubt_of_infinity(target: np.ndarray) -> str:
    """Name an infinite value of a numeric target, "" without any."""
    if target.dtype.kind != "f" or not np.isinf(target).any():
        return ""
    row = int(np.argwhere(np.isinf(target))[0][0])
    return f"y is infinite in row {row}: correct this row, or leave it out of X and y."


def number_in(text: object) -> float:
    """Return the number in a text such as "$1,200.50", "12 %", "true" or "13:05" (seconds).

    NaN for any other text.
    """
    if isinstance(text, str) and (clock := CLOCK.fullmatch(text)):
        return 3600.0 * int(clock[1]) + 60 * int(clock[2]) + float(clock[3] or 0)
    found = AMOUNT.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        return {"true": 1.0, "false": 0.0}.get(str(text).strip().lower(), math.nan)
    return float(found[2].replace(",", "")) * (-1 if "-" in found[1] else 1)


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
    if all(DATE.fullmatch(str(text)) or CLOCK.fullmatch(str(text)) for text in texts):
        return False
    numbers = glance(values.astype, float)  # of measurements as texts some have digits
    if numbers is None:
        return not all(NUMERAL.fullmatch(str(text)) for text in texts)
    return bool((numbers == np.floor(numbers)).all())
