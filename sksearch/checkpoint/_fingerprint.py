"""Compare a search with the one of a checkpoint, part by part."""

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from sksearch._utils._terminal import warn
from sksearch._utils._typing import Estimator, Folding
from sksearch._utils._versions import versions_of
from sksearch.checkpoint._errors import SearchMismatchError
from sksearch.checkpoint._folder import rows_of
from sksearch.checkpoint.identity._description import describe, is_free
from sksearch.checkpoint.identity._digests import OPAQUE, cut, digest
from sksearch.checkpoint.identity._of_start import equal_starts, without_marks
from sksearch.checkpoint.identity._reached import Reached
from sksearch.fitting.run._setup import Setup
from sksearch.space._conditions import When

# Parameters of a search that are separate parts, or may change from one fit to the next.
NO_SETTINGS = {
    *("estimator", "param_distributions", "param_grid", "scoring", "cv", "random_state"),
    *("refit", "n_jobs", "verbose", "pre_dispatch", "timeout", "stop", "workers"),
    *("checkpoint_dir", "select", "func", "space", "target", "callback"),
}
BATCH = 'workers["batch_size"]'  # the only setting of the workers that changes results
# Settings that may grow: the search then resumes at its end.
GROWING = {"n_iter", "n_candidates", "n_iterations", "max_resources", "audit"}
N_ITEMS = 1000  # items; a longer part has only a digest
ITEM_LENGTH = 300  # characters of an item
WHOLE = ""  # the item that represents a whole part
DRAWN = "drawn"
CODE = "code"  # the part of functions and classes, and the name that accepts their changes
GLOBALS = "globals"  # the part of the data that this code uses
OWN = " With {data} in its path, each data set gets its own directory."

Part = dict[str, str]  # texts by name, each at most ITEM_LENGTH characters

# Changes made by fits of this process: (part, item, text after) -> text before.
_changed_by_fits: dict[tuple[str, str, str], str | None] = {}
# Data that code changes itself: by name, where they are set and their text at the first fit.
_at_first_fit: dict[str, tuple[Any, str]] = {}


def fingerprint(
    kind: type, params: dict[str, Any], setup: Setup, random_state: object
) -> dict[str, Part]:
    """Describe everything on which the results of a search depend, part by part.

    A part is a dict of texts by name; a part with a single text has the name "".
    """
    parts = user_parts(kind, params, setup)
    if not setup.context.is_function:
        X, y = map(partial(describe, memo={}), (setup.context.X, setup.context.y))
        parts |= {"data": _items({"X": X, "y": y}), "folds": fold_part(setup.context.splits)}
    return parts | {"random_state": _random_state(random_state)}


def user_parts(kind: type, params: dict[str, Any], setup: Setup) -> dict[str, Part]:
    """Describe everything but the data, including the code used and the values that it names.

    Values changed by fits of this process, such as a call counter, have their earlier texts. Data
    changed by the code itself, also outside a fit, have their texts of the first fit of this
    process. Changes of these data by the user remain unnoticed until the next start, unless a new
    object replaces one that the code changes in place.
    """
    reached = Reached()
    parts = _parts(partial(describe, memo={}, reached=reached), kind, params, setup)
    reached.look()
    for name, home in reached.changed.items():
        if name not in _at_first_fit or _at_first_fit[name][0] is not home:
            _at_first_fit[name] = home, reached.data[name]
        reached.data[name] = _at_first_fit[name][1]
    parts |= {CODE: _items(reached.codes), GLOBALS: _items(reached.data)}
    for name, part in parts.items():
        before = {k: _changed_by_fits.get((name, k, text), text) for k, text in part.items()}
        parts[name] = {k: text for k, text in before.items() if text is not None}
    return parts


def note_changes(before: dict[str, Part], after: dict[str, Part]) -> None:
    """Record changes made by a fit, for later fits of this process."""
    for name, part in after.items():
        for item, text in part.items():
            if text != before[name].get(item):
                _changed_by_fits[name, item, text] = before[name].get(item)


def fold_part(splits: list) -> Part:
    """Describe the rows of folds."""
    arrays = [rows_of(rows) for pair in splits for rows in pair]
    return _part(f"{len(splits)} folds #{digest(describe(arrays, memo={}))}")


def check_same(
    old_parts: dict[str, Part],
    new_parts: dict[str, Part],
    path: str | Path,
    same_python: bool = True,
    accepted: Collection[str] = (),
) -> bool:
    """Compare the fingerprint in a checkpoint with the fingerprint of a search that resumes it.

    Return False if they are equal, and True if the new search only extends the old one: a number
    of candidates or the largest resource grew, or code changed and the user accepts it. Any other
    difference raises SearchMismatchError, which lists all differences. Natural differences between
    two starts, and parts that cannot be compared, give a warning.
    """
    extended, found = False, {}
    for name, new in new_parts.items():
        changes = _changes(name, old_parts.get(name, new), new)
        if name == "settings":
            grown = [change for change in changes if _has_grown(*change)]
            changes = [change for change in changes if change not in grown]
            extended |= bool(grown)
        if name == CODE and (CODE in accepted or not same_python):
            extended |= bool(changes) and same_python
            changes = []
        if name == GLOBALS:
            changes = [change for change in changes if (change[0] or GLOBALS) not in accepted]
            if CODE in accepted or not same_python:  # ignore texts of other code
                extended |= same_python and any(None in change for change in changes)
                changes = [change for change in changes if None not in change]
        if changes:
            found[name] = changes
    if found:
        raise SearchMismatchError(_message(found, new_parts, path))
    _warn_of_rest(old_parts.get(GLOBALS, {}), new_parts, path)
    return extended


def _changes(name: str, old: Part, new: Part) -> list[tuple]:
    """List differences as (name, text before, text now); None represents a missing text.

    Parameters of an estimator or a search that exist on one side only come from another version of
    scikit-learn or of this library, and are not a difference: the other version has only their
    default. New functions are named by other code that has changed.
    """
    if name == "cv":  # folds in a list and folds of a generator are described alike
        old, new = (
            {k: v.replace(f" {OPAQUE}", "") for k, v in part.items()} for part in (old, new)
        )
    names = [*new, *(each for each in old if each not in new)]
    changes = [(n, old.get(n), new.get(n)) for n in names if not _is_equal(old.get(n), new.get(n))]
    if name == "random_state" and new.get(WHOLE) == DRAWN:
        return []
    if name in ("estimator", "settings", CODE):
        named = [change for change in changes if change[0] != WHOLE]
        changes = [change for change in changes if None not in change[1:]]
        changes = changes if len(named) == 0 else [change for change in changes if change[0]]
    return changes


def _is_equal(was: str | None, now: str | None) -> bool:
    """Return whether texts are equal, ignoring natural differences between two starts."""
    return was is now if was is None or now is None else equal_starts(was, now)


def _warn_of_rest(old: Part, new: dict[str, Part], path: str | Path) -> None:
    """Warn of differences between starts, and of parts not compared."""
    now, sentences = new.get(GLOBALS, {}), []
    of_start = [
        f"{name} was {without_marks(old[name])}, now {without_marks(now[name])}"
        for name in now
        if _is_equal(old.get(name), now[name])
        and without_marks(old[name]) != without_marks(now[name])
    ]
    if of_start:
        sentences.append(
            f"your code uses values that differ between starts: {'; '.join(of_start)}"
        )
    if opaque := _opaque(new):
        sentences.append(f"opaque objects are not compared: {', '.join(opaque)}")
    if sentences:
        warn(
            f"The search in {str(path)!r} is resumed, although {'; and '.join(sentences)}.",
        )


def _message(found: dict[str, list], new: dict[str, Part], path: str | Path) -> str:
    """Describe the differences, the parts compared, and the remedy."""
    lines = [f"The checkpoint in {str(path)!r} belongs to a different search:"]
    for name, changes in found.items():
        if name == CODE:
            changed = ", ".join(change[0] or "your functions and classes" for change in changes)
            lines.append(f"  code differs: the code of {changed} has changed")
        else:
            texts = "; ".join(_sentence(*change) for change in changes)
            lines.append(f"  {name} differs: {texts}")
    lines.append(compared(new))
    lines.append("Pass another checkpoint_dir, or delete this one to start again.")
    if "data" in found:
        lines[-1] += OWN
    if found.keys() <= {CODE, GLOBALS}:
        names = [each[0] or GLOBALS for each in found.get(GLOBALS, []) if each[1] is not None]
        is_code = CODE in found or any(each[1] is None for each in found.get(GLOBALS, []))
        texts = ", ".join(map(repr, [str(path), *names, *([CODE] if is_code else [])]))
        lines.append(
            "If this does not change any results, accept it and fit again: "
            f"sksearch.checkpoint.accept_changes({texts})"
        )
    return "\n".join(lines)


def compared(parts: dict[str, Part]) -> str:
    """Describe the parts compared, and their opaque items."""
    text, opaque = f"Compared: {', '.join(parts)}.", _opaque(parts)
    return f"{text} Not compared, because opaque: {', '.join(opaque)}." if opaque else text


def _opaque(parts: dict[str, Part]) -> list[str]:
    """Name the opaque items."""
    found = []
    for name, part in parts.items():
        items = [item for item, text in part.items() if OPAQUE in text]
        items = [item for item in items if item] or items  # the whole part last
        found += [i if name == GLOBALS and i else f"{name} {i}".strip() for i in items]
    return found


# ---- parts


def _parts(text_of: Callable, kind: type, params: dict[str, Any], setup: Setup) -> dict[str, Part]:
    """Describe everything but the data."""
    params = dict(params)
    first, earlier = 'known["params"]', 'known["results"]'
    if isinstance(params[first], str) and not setup.problem.initial_params:
        params[first] = None  # the meaning of "auto" there
    if "ensemble" in params:
        params["ensemble"] = bool(params["ensemble"])  # True if predictions are kept
    params[earlier] = setup.earlier or None  # whatever their source
    n_splits = len(setup.context.splits)
    resource = setup.context.resource
    if resource.drawn_in_sequence:
        params["drawn_for"] = list(resource.drawn_in_sequence)
        params["n_drawn_before"] = params.get("n_candidates")
    common = {
        "class": _part(text_of(kind)),
        "settings": _items(_settings(text_of, params)),
    }
    space = _items(_space(text_of, setup.problem.space.given))
    if setup.context.is_function:
        return common | {"func": _part(text_of(params["func"])), "space": space}
    return common | {
        "estimator": _estimator(text_of, params["estimator"]),
        "space": space,
        "scoring": _part(text_of(params["scoring"])),
        "refit": _part(_deciding_metric(setup, params["scoring"])),
        "cv": _part(f"{_splitter(text_of, setup.folds.cv)}: {n_splits} folds"),
        "fit_params": _items({k: text_of(v) for k, v in setup.params.items()}),
    }


def _deciding_metric(setup: Setup, scoring: object) -> str:
    """Name the metric that influences training; "none" if no metric does."""
    context = setup.context
    decides = setup.learns or len(setup.plan.rungs) > 1
    named = getattr(context.scorer, "_scorers", None)
    is_function = callable(scoring) and not hasattr(scoring, "_score_func")
    if not decides or not (named or is_function):
        return "none"
    return context.metric or next(iter(named or ["the first"]))


def _part(text: str) -> Part:
    return {WHOLE: cut(text, ITEM_LENGTH)}


def _items(texts: dict[str, str]) -> Part:
    """Make a part of several named texts."""
    if len(texts) > N_ITEMS:
        return _part(", ".join(f"{name}: {texts[name]}" for name in sorted(texts)))
    return {name: cut(text, ITEM_LENGTH) for name, text in sorted(texts.items())}


def _settings(text_of: Callable, params: dict) -> dict[str, str]:
    """Describe the search's own parameters, and each field of its sampler and scheduler."""
    texts = {}
    for name, value in params.items():
        if name.partition("[")[0] in NO_SETTINGS and name != BATCH:
            continue
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            texts[name] = text_of(type(value))
            for field in dataclasses.fields(value):
                if field.name != "select":  # may change, as that of a search
                    texts[f"{name}.{field.name}"] = text_of(getattr(value, field.name))
        else:
            texts[name] = text_of(value)
    return texts


def _estimator(text_of: Callable, estimator: Estimator) -> Part:
    """Describe an estimator as a whole, and each of its nested parameters."""
    part = _part(text_of(estimator))
    shallow = partial(describe, memo={}, deep=False)
    params = estimator.get_params(deep=True)
    owners = {"": estimator} | params
    names = []
    for name in params:
        owner, _, own_name = name.rpartition("__")
        if not is_free(own_name, owners.get(owner, estimator)):
            names.append(name)
    if len(names) <= N_ITEMS:
        part |= {"class": shallow(type(estimator))}
        part |= {name: cut(shallow(params[name]), ITEM_LENGTH) for name in names}
    return part


def _space(text_of: Callable, param_distributions: Mapping | Sequence[Mapping]) -> dict[str, str]:
    """Describe the values of each parameter; in a list of dicts, names carry the dict's number."""
    if isinstance(param_distributions, Mapping):
        return {name: _values(text_of, v) for name, v in param_distributions.items()}
    return {
        f"{name} (dict {i})": _values(text_of, values)
        for i, each in enumerate(param_distributions)
        for name, values in each.items()
    }


def _values(text_of: Callable, values: Any) -> str:
    if isinstance(values, When):
        condition = f"{values.parent} {values.op} {text_of(values.threshold)}"
        return f"{_values(text_of, values.values)} when {condition}"
    if isinstance(values, np.ndarray) or (hasattr(values, "tolist") and np.ndim(values) == 1):
        values = values.tolist()
    if isinstance(values, (tuple, range)):
        values = list(values)  # choices are the same in any container
    return text_of(values)


def _splitter(text_of: Callable, cv: Folding) -> str:
    if cv is None or isinstance(cv, Integral):
        return str(5 if cv is None else cv)
    if hasattr(cv, "split"):
        return text_of(cv)
    # The rows of listed folds are compared; folds of a generator are made again.
    return f"given {OPAQUE}" if hasattr(cv, "__next__") else "given"


def _random_state(random_state: object) -> Part:
    if isinstance(random_state, Integral):
        return _part(str(int(random_state)))
    if isinstance(random_state, np.random.RandomState):
        return _part("another generator, or one that has drawn numbers since")
    return _part(DRAWN)


# ---- differences


def _has_grown(name: str, was: str | None, now: str | None) -> bool:
    if name.rpartition(".")[2] not in GROWING or was is None or now is None:
        return False
    try:
        return float(now) > float(was)
    except ValueError:  # None or "auto"
        return False


def _sentence(name: str, was: str | None, now: str | None) -> str:
    if was is None:
        return f"{name} is new, {without_marks(now or '')}"
    if now is None:
        return f"{name} was removed, it was {without_marks(was)}"
    return f"{name or 'it'} was {without_marks(was)}, now {without_marks(now)}"


def versions_of_setup(setup: Setup) -> dict[str, str]:
    """Return the versions for an estimator, if there is one, and for its inputs."""
    estimator = setup.context.estimator
    space = setup.problem.space
    own = [] if estimator is None else [estimator, *estimator.get_params(deep=True).values()]
    choices = [
        choice
        for dimension in space.all_dimensions
        if dimension.kind == "categorical"
        for choice in getattr(dimension, "choices", ())
    ]
    return versions_of([*own, *choices])
