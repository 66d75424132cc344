"""The list of cases, and how what a case gives becomes lines of text."""

import hashlib
import json
import math
import numbers
import re
import tempfile
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.metadata import version
from inspect import signature
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from threadpoolctl import threadpool_limits

FILE = Path(__file__).parent / "frozen.json"
MODULES = ("aims", "boosters", "checks", "functions", "knowledge", "looks", "runs", "timed")
LIBRARIES = ("numpy", "scipy", "scikit-learn", "lightgbm", "xgboost", "catboost")
DIGITS = 4  # of numbers: the last bits depend on the machine, and on versions of NumPy
N_WHOLE = 12  # lines of a part that are kept as they are; of longer ones the first, and digests
N_HEAD = 4
LONG = re.compile(r"\d+\.\d{6,}(e[-+]\d+)?")  # numbers with more digits than any text shows
#: What is another one in each run: folders, addresses, digests of data, lines of tracebacks.
OTHERWISE = re.compile(
    r"(?<=')/[^']*(?=')|(?<=at )0x[0-9a-f]+|#[0-9a-f]{16}|(Below are more|Traceback \().*",
    re.DOTALL,
)
WIDTH = 160  # characters of a line that are kept as they are

Case = Callable[..., dict[str, Any]]
_cases: dict[str, Case] = {}


def case(function: Case) -> Case:
    """Enter a function in the list by its module and name; it returns parts by name."""
    name = f"{function.__module__.rpartition('.')[2]}: {function.__name__.replace('_', ' ')}"
    _cases[name] = function
    return function


def all_cases() -> dict[str, Case]:
    """Return all cases by name."""
    for module in MODULES:
        import_module(f"tests.frozen.{module}")
    return dict(_cases)


def run(function: Case) -> dict[str, Any]:
    """Return the parts of a case, and what it has warned of; it may want a folder."""
    made = patch("sksearch.reporting._after.made_with", lambda *args: "made once")
    with warnings.catch_warnings(record=True) as caught, threadpool_limits(1), made:
        warnings.simplefilter("always")
        if signature(function).parameters:
            with tempfile.TemporaryDirectory() as folder:
                parts = function(Path(folder) / "search")
        else:
            parts = function()
    ours = [w for w in caught if issubclass(w.category, UserWarning | RuntimeWarning)]
    told = list(dict.fromkeys(f"{w.category.__name__}: {w.message}" for w in ours))
    return parts | ({"warnings": told} if told else {})


# ---- lines of text


def lines_of(part: Any, digits: int | None = DIGITS) -> list[str]:
    """Write a part line by line: a text as it is, of a list each item, of a dict each value."""
    if isinstance(part, str):
        return [_rounded(line, digits) for line in part.splitlines()]
    if isinstance(part, Mapping):
        return [f"{key}: {text_of(value, digits)}" for key, value in part.items()]
    if isinstance(part, list):
        return [text_of(each, digits) for each in part]
    return [text_of(part, digits)]


def text_of(value: Any, digits: int | None) -> str:
    """Write any value in one line, numbers with so many digits; None: with all bits."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{k}: {text_of(v, digits)}' for k, v in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(text_of(v, digits) for v in value)}]"
    if isinstance(value, bool | numbers.Integral) or value is None:
        return str(value)
    if isinstance(value, float):
        return repr(value) if digits is None or not math.isfinite(value) else _short(value, digits)
    return _rounded(str(value), digits)


def _rounded(text: str, digits: int | None) -> str:
    text = OTHERWISE.sub("...", text)
    if digits is None:
        return text
    return LONG.sub(lambda number: _short(float(number[0]), digits), text)


def _short(x: float, digits: int) -> str:
    # Without the sign of what is nothing but rounding.
    return f"{x:.{digits}g}" if abs(x) > 1e-12 else "0"


def frozen(part: Any) -> dict[str, Any]:
    """Return what is kept of a part: short ones whole, of long ones the head and digests."""
    lines = lines_of(part)
    if len(lines) <= N_WHOLE and all(len(line) <= WIDTH for line in lines):
        return {"lines": lines}
    head = [line[:WIDTH] for line in lines[:N_HEAD]]
    return {"head": head, "n": len(lines), "digests": "".join(map(digest, lines))}


def digest(line: str) -> str:
    """Return four characters that tell one line from another."""
    return hashlib.blake2b(line.encode(), digest_size=2).hexdigest()


def difference(name: str, part: Any, kept: Mapping[str, Any] | None) -> str:
    """Say where a part is not what was kept; "" where it is."""
    lines = [] if part is None else lines_of(part)
    if kept is None:
        return f"{name} is new: {lines[:N_HEAD]}"
    now = {} if part is None else frozen(part)
    if now == kept:
        return ""
    if "lines" in kept:
        before, own = kept["lines"], lines
    else:
        before = [kept["digests"][i : i + 4] for i in range(0, 4 * kept["n"], 4)]
        own = [digest(line) for line in lines]
    rows = range(max(len(before), len(own)))
    first = next((i for i in rows if before[i : i + 1] != own[i : i + 1]), 0)
    shown = kept.get("lines") or kept["head"]
    was = f"\n  was {shown[first]!r}" if first < len(shown) else ""
    is_now = repr(lines[first]) if first < len(lines) else "nothing"
    n = f"{len(before)} lines were kept, {len(own)} there are"
    return f"{name}: line {first + 1} is {is_now}{was}\n  {n}"


def write_file(answers: Mapping[str, Mapping[str, Any]]) -> None:
    """Freeze the parts of all cases, a part to a line."""
    versions = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    blocks = [
        f"{json.dumps(name)}: {{\n"
        + ",\n".join(
            f" {json.dumps(part)}: {_json(frozen(parts[part]))}" for part in sorted(parts)
        )
        + "\n}"
        for name, parts in sorted(answers.items())
    ]
    text = f'{{"with": {_json(versions)},\n"cases": {{\n' + ",\n".join(blocks) + "\n}}\n"
    FILE.write_text(text, encoding="utf-8")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def as_json(parts: Mapping[str, Any]) -> Any:
    """Return parts with all bits, for a comparison on one machine."""
    return json.loads(json.dumps({name: lines_of(part, None) for name, part in parts.items()}))
