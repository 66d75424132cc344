"""What a search has found, and what it says: as text that can be compared."""

import errno
import os
import re
import traceback
import warnings

import numpy as np

from sksearch.checkpoint import JournalError
from tests.simulation.computer import FAILING
from tests.simulation.functions import Minimization
from tests.simulation.learners import X, Y

#: What a search may say, and when: the names of what has happened to it before.
WARNINGS = {
    r"journal\.jsonl is damaged after its .* as after a kill": {
        "kill",
        "power",
        "error",
    },
    r"journal\.jsonl is damaged after its first .* later records are intact": {"power", "error"},
    r"journal\.jsonl cannot be written \(.*\)\. The search continues": {"error", "vanish"},
    r"journal\.jsonl is missing": {"vanish", "error"},
    r"contains fitted models written by another user": {"forge", "key", "power", "error"},
    r"key that signs the models of checkpoints, has \d+ bytes": {"key", "power", "error"},
    r"A fitted estimator cannot be stored": {"error", "vanish", "power", "forge"},
    r"was not written by a worker": {"forge"},
    r"scores are non-finite|fits failed|evaluations failed|No candidate has|Only the first": {
        "failures"
    },
    r"timeout=.* was up after|The first bracket will take": {"timeout"},
    r"No candidate satisfies all bounds": {"bounds"},
    r"is resumed, although your code .* between starts: tests\.simulation\.learners\.RUN was": {
        "start"
    },
    r"is locked by .*, or by a process started by it": {"heirs"},
    r"Worker process 0 has not started in 30 seconds": {"start"},
    r"The larger search cannot reuse \d+ of the \d+ evaluations": {"grows"},
}


#: What the system says of an error that the disk has.
WORDS = {os.strerror(getattr(errno, name)) for name in (*FAILING, "ENOENT", "ENOTDIR")}
ALL_FAILED = "ValueError: Every candidate failed"
NO_TIME = "TimeoutError: No candidate was scored"


def undisturbed(search):
    """What a search finds where nothing happens, and what it says."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = outcome(search.fit(X, Y))
        except Exception as error:
            found = told(error)
    return found, {shape(str(warning.message)) for warning in caught}


def outcome(search):
    """Text of everything that a search has found, but for times; a line for each row."""
    if isinstance(search, Minimization):
        return search.outcome()
    columns = {n: list(c) for n, c in search.cv_results_.items() if not n.endswith("_time")}
    columns |= {name: getattr(search, name) for name in ("statuses_", "errors_")}
    of_all = [name for name in columns if name.startswith("rank_")]  # and not of a row alone
    # A parameter that nobody has has no column; `params` say the same.
    own = [name for name in columns if not name.startswith(("rank_", "param_"))]
    lines = [
        "row " + ", ".join(f"{name}={value!r}" for name, value in zip(own, row, strict=True))
        for row in zip(*(columns[name] for name in own), strict=True)
    ]
    lines += [f"{name}: {columns[name]!r}" for name in of_all]
    for name in ("best_index_", "best_params_", "best_score_"):
        lines.append(f"{name}: {getattr(search, name, None)!r}")
    if (model := getattr(search, "best_estimator_", None)) is not None:
        lines.append(f"predicted: {np.asarray(model.predict(X)).tolist()!r}")
    if (ensemble := getattr(search, "ensemble_", None)) is not None:
        lines.append(f"ensemble: {ensemble!r}")
    if (front := getattr(search, "pareto_", None)) is not None:
        lines.append(f"front: {list(front.index)!r}")
    return "\n".join(lines)


def rows_of(found):
    """The rows of an outcome."""
    return {line for line in found.splitlines() if line.startswith("row ")}


def told(error):
    """Kind and text of an error; where all fail, not how many had until that was seen."""
    text = f"{type(error).__name__}: {error}"
    return next((known for known in (ALL_FAILED, NO_TIME) if text.startswith(known)), text)


def difference(found, expected):
    """The first lines that differ."""
    pairs = zip(str(found).splitlines(), str(expected).splitlines(), strict=False)
    lines = [f"  {a[:2000]}\nfor\n  {b[:2000]}" for a, b in pairs if a != b]
    return "\n".join(lines[:2]) or f"{found}\nfor\n{expected}"


def shape(text):
    """A warning but for its numbers."""
    return re.sub(r"[\d.]+", "#", text)[:60]


def names_cause(error):
    """Whether an error says in the system's words what is wrong with which file."""
    text = "".join(traceback.format_exception_only(error))
    return isinstance(error, OSError | JournalError) and any(word in text for word in WORDS)
