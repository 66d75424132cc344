"""Dates of a table: the form and the time zone of dates written as text or mixed."""

import datetime
import re
from importlib.util import find_spec
from typing import Any

import numpy as np

from sksearch._utils._advice import glance

YEAR_FIRST = re.compile(r"\s*\d{4}[-/.]\d{1,2}[-/.]\d{1,2}")
YEAR_LAST = re.compile(
    r"(?i)\s*(\d{1,2}[-/.]\d{1,2}[-/.]\d{4}|\d{1,2}[ -][a-z]{3,9}[ ,-]+\d{4}"
    r"|[a-z]{3,9}\.? \d{1,2},? \d{4})"
)
SHORT_YEAR = re.compile(r"\s*\d{1,2}([-/.])\d{1,2}\1\d{2}\s*")
#: Forms of dates with a short year, the first of which that reads all is taken.
SHORT_FORMS = {"/": ("%m/%d/%y", "%d/%m/%y"), ".": ("%d.%m.%y",), "-": ("%d-%m-%y", "%m-%d-%y")}
#: End of a text with a time and its zone.
ZONE = re.compile(
    r"(?i)(?:\d\s*(?:z|utc|gmt)|\d[t ]\s*\d{1,2}[\d:.,]*\s*(?:[ap]m\s*)?([+-]\d\d(?::?\d\d)?))$"
)
N_FORMS = 1000  # texts from which the form of dates is found


def learn_dates(cells: Any, form: str) -> tuple[str, Any]:
    """Return the format of dates, which is found if it is "", and the dates as parsed."""
    if form:
        return form, parse_dates(cells, form)
    texts = [cell for cell in cells if isinstance(cell, str)] if cells.dtype == object else []
    # If a form that is found in some texts reads all, it is the one found in all.
    some = texts[:: -(-len(texts) // N_FORMS) or 1]
    form = glance(date_format, some, otherwise="") or "ISO8601"
    dates, has_zone = parse_dates(cells, form)
    if len(some) < len(texts) and (dates.isna() & cells.notna()).any():
        form = glance(date_format, texts, otherwise="") or form
        dates, has_zone = parse_dates(cells, form)
    return form, (dates, has_zone)


def parse_dates(cells: Any, form: str) -> tuple[Any, np.ndarray]:
    """Return dates in UTC, and a mask of those with a zone; others are taken as UTC."""
    zone = getattr(cells.dtype, "tz", None)
    if cells.dtype != object:
        has_zone = np.full(len(cells), zone is not None)
        return (cells.dt.tz_localize("UTC") if zone is None else cells).dt.as_unit("us"), has_zone
    dates, has_zone = _read(cells, form), _have_zones(cells, form)
    others = (dates.isna() & cells.notna()).to_numpy()
    if form != "ISO8601" and others.any():
        dates[others] = _read(cells[others], "ISO8601")
        has_zone[others] = _have_zones(cells[others], "ISO8601")
    return dates, has_zone


def _read(cells: Any, form: str) -> Any:
    """Dates of a form in UTC, as if it were the zone of those without one."""
    import pandas as pd

    if form == "mixed":  # days and months of other texts would be guessed
        are_others = [isinstance(cell, str) and not YEAR_FIRST.match(cell) for cell in cells]
        cells = cells.mask(np.array(are_others, dtype=bool))
    return pd.to_datetime(cells, errors="coerce", utc=True, format=form).dt.as_unit("us")


def _have_zones(cells: Any, form: str) -> np.ndarray:
    """Mask of the dates with a time zone."""
    is_in_form = "%z" in form.lower()
    return np.array(
        [
            is_in_form or (len(cell) > 10 and ZONE.search(cell, 5) is not None)
            if isinstance(cell, str)
            else getattr(cell, "tzinfo", None) is not None
            for cell in cells
        ],
        dtype=bool,
    )


def zone_of(cells: Any, form: str, dates: Any, has_zone: np.ndarray) -> Any:
    """Return the time zone of dates, UTC if it differs, None if no date has one."""
    import pandas as pd

    if cells.dtype != object:
        return cells.dt.tz
    cells = cells[has_zone & dates.notna().to_numpy()]
    by_end = {cell[-6:] if isinstance(cell, str) else str(cell.tzinfo): cell for cell in cells}
    n_zones = len({_name_of_zone(cell) for cell in by_end.values()})
    if n_zones != 1:
        return datetime.UTC if n_zones else None
    for each in (form, "ISO8601"):
        found = pd.to_datetime(cells.iloc[:1], errors="coerce", format=each)
        if found.notna().all():
            return found.dt.tz
    return datetime.UTC


def _name_of_zone(cell: Any) -> str:
    if not isinstance(cell, str):
        return str(cell.tzinfo)
    found = ZONE.search(cell)
    if found is None:
        return cell.split()[-1]
    digits = (found[1] or "+0000").replace(":", "").ljust(5, "0")
    return "UTC" if digits[1:] == "0000" else f"UTC{digits[:3]}:{digits[3:]}"


def in_zone(dates: Any, has_zone: np.ndarray, zone: Any) -> Any:
    """Return dates in a time zone, or without one in UTC."""
    import pandas as pd

    found = dates.dt.tz_convert(zone)
    if not has_zone.all():  # local times
        how: dict[str, Any] = {"nonexistent": "shift_forward"}
        how["ambiguous"] = np.zeros(len(dates), dtype=bool)  # standard time
        local = dates.dt.tz_localize(None).dt.tz_localize(zone, **({} if zone is None else how))
        found = found.where(has_zone, local)
    return pd.DatetimeIndex(found)


def date_format(texts: list[str]) -> str:
    """Return the format of dates written as text, "" if they are not dates."""
    if all(YEAR_FIRST.match(text) for text in texts):
        forms: tuple[str, ...] = ("ISO8601", "mixed")
    elif all(YEAR_LAST.match(text) for text in texts):
        forms = ()
    elif all(SHORT_YEAR.fullmatch(text) for text in texts):
        forms = next(forms for sign, forms in SHORT_FORMS.items() if sign in texts[0])
    else:
        return ""
    if find_spec("skrub") is None:
        return "".join(forms[:1]) or "mixed"
    import pandas as pd

    if not forms:
        from skrub import ToDatetime

        forms = (ToDatetime().fit(pd.Series(texts)).format_,)
    column = pd.Series([text.strip() for text in texts])
    for form in forms:
        if not pd.to_datetime(column, format=form, utc=True, errors="coerce").isna().any():
            return form
    return ""
