"""Compare a search with the one of a checkpoint, part by part."""

import dataclasses
import hashlib
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from sksearch._description import OPAQUE, describe, is_free
from sksearch._digests import cut, digest
from sksearch._plain import warn
from sksearch._typing import Estimator, Folding
from sksearch.checkpoint._errors import SearchMismatchError
from sksearch.checkpoint._folder import rows_of
from sksearch.checkpoint._globals import is_of_start, texts_of, value_of
from sksearch.fitting import Setup
from sksearch.space import When

# Parameters of a search that are parts of their own, or may change from one fit to the next.
NO_SETTINGS = {
    "estimator", "param_distributions", "param_grid", "scoring", "cv", "random_state",
    "refit", "n_jobs", "verbose", "pre_dispatch", "timeout", "target_score", "patience", "stop",
    "overtime", "candidate_timeout", "memory_limit", "max_retries", "devices", "checkpoint_dir",
    "select", "func", "space", "target", "callback",
}  # fmt: skip
# Settings that may grow: the search then goes on where it ended.
GROWING = {"n_iter", "n_candidates", "n_iterations", "max_resources", "audit"}
N_ITEMS = 1000  # largest count of items in a part; a part of more has only a digest and a text
ITEM_LENGTH = 300  # characters of an item
DRAWN = "drawn"
GLOBALS = "globals"  # the part of data that the user's code takes from its module
CODE_CHANGES = "code"  # what is accepted where code has changed
OWN = " With {data} in its path each data set has a directory of its own."
DIGEST = re.compile(r"(?<=[\w>])#[0-9a-f]{16}\b")  # after the name of a class or function


def fingerprint(
    kind: type, params: dict[str, Any], setup: Setup, random_state: object
) -> dict[str, dict]:
    """Describe everything on which the results of a search depend, part by part.

    Each part has its digest ``sha`` and a readable ``text``; a part of several things also has
    ``items``, their texts by name. ``bare`` is the digest without code, which cannot be compared
    between versions of Python. ``code`` has digests of functions and classes by name, which tell
    what has changed in it. All values are strings.
    """
    data: dict = {}
    codes: dict[str, str] = {}
    bare = _parts(partial(describe, memo={}, code=False), kind, params, setup)
    parts = _parts(partial(describe, memo={}, data=data, codes=codes), kind, params, setup)
    for name, part in parts.items():
        part["bare"] = bare[name]["sha"]
    parts[GLOBALS] = _items(texts_of(data)) | {"code": codes}
    if setup.context.estimator is not None:  # and not a plain function
        X, y = map(partial(describe, memo={}), (setup.context.X, setup.context.y))
        parts |= {"data": _items({"X": X, "y": y}), "folds": fold_part(setup.context.splits)}
    return parts | {"random_state": _random_state(random_state)}


def fold_part(splits: list) -> dict[str, str]:
    """Describe the rows of folds."""
    arrays = [rows_of(rows) for pair in splits for rows in pair]
    return _part(f"{len(splits)} folds #{digest(describe(arrays, memo={}))}")


def check_same(
    old_parts: dict,
    new_parts: dict,
    path: str | Path,
    same_python: bool = True,
    accepted: Collection[str] = (),
) -> bool:
    """Compare the fingerprint in a checkpoint with the one of a search that resumes it.

    Return False if they are equal, and True if the new search goes on where the old one ended: a
    count of candidates or the largest resource grew, or code changed and the user accepts that,
    and nothing else differs. If anything else does, raise SearchMismatchError, which names all of
    it. A plain global that a call makes again at each start gives a warning.

    Parameters of an estimator or a search that are there on one side only come from another
    version of scikit-learn or of this library, and are no difference: nobody can have set them
    to anything but their default where they are not known.
    """
    extended, found = False, {}
    with_code = same_python and GLOBALS in old_parts
    for name, new in new_parts.items():
        old = old_parts.get(name, new)  # what an older version did not look at
        if _is_equal(name, old, new, with_code):
            continue
        changes = _changes(old, new)
        if name in ("estimator", "settings", GLOBALS):
            changes = [change for change in changes if None not in change[1:]]
        if name == "settings":
            grown = {key for key, was, now in changes if _has_grown(key, was, now)}
            changes = [change for change in changes if change[0] not in grown]
            extended |= bool(grown)
        if name == GLOBALS:
            changes = _changed_globals(changes, path, with_code, accepted)
        elif CODE_CHANGES in accepted and old.get("bare") == new.get("bare", ""):
            extended, changes = True, []
        if changes:
            found[name] = changes
    if found:
        text = _message(found, old_parts, new_parts, path, with_code)
        raise SearchMismatchError(text)
    return extended


def _changed_globals(
    changes: list, path: str | Path, with_code: bool, accepted: Collection[str]
) -> list:
    """Leave those out that are accepted; warn of those that are of this start.

    Too many to be listed have one name, that of all.
    """
    changes = [change for change in changes if (change[0] or GLOBALS) not in accepted]
    if not with_code or CODE_CHANGES in accepted:
        changes = [each for each in changes if DIGEST.sub("", each[1]) != DIGEST.sub("", each[2])]
    of_start = [change for change in changes if change[0] is not None and is_of_start(*change[1:])]
    if of_start:
        texts = [f"{name} was {value_of(a)}, now {value_of(b)}" for name, a, b in of_start]
        warn(
            f"The search in {str(path)!r} goes on, though your code uses what differs from start "
            f"to start: {'; '.join(texts)}.",
            UserWarning,
            stacklevel=2,
        )
    return [change for change in changes if change not in of_start]


def _message(
    found: dict[str, list], old: dict, new: dict, path: str | Path, with_code: bool
) -> str:
    """Say what differs, what was compared, and what to do."""
    lines = [f"The checkpoint in {str(path)!r} is of another search:"]
    for name, changes in found.items():
        lines.append(f"  {name} differs: {'; '.join(_sentence(*change) for change in changes)}")
    if with_code and (changed := _changed_code(old, new)):
        lines.append(f"  what has changed in the code: {', '.join(changed)}")
    lines.append(compared(new))
    lines.append("Pass another checkpoint_dir, or delete this one to start from the beginning.")
    if "data" in found:
        lines[-1] += OWN
    is_code = {n: n != GLOBALS and old[n].get("bare") == new[n].get("bare", "") for n in found}
    if all(is_code[name] or name == GLOBALS for name in found):
        names = [change[0] or GLOBALS for change in found.get(GLOBALS, [])]
        names += [CODE_CHANGES] * any(is_code.values())
        texts = ", ".join(map(repr, [str(path), *names]))
        lines.append(
            "If you know that this changes no results, accept it and fit again: "
            f"sksearch.checkpoint.accept_changes({texts})"
        )
    return "\n".join(lines)


def _changed_code(old: dict, new: dict) -> list[str]:
    """Name functions and classes that were there before and are others now."""
    was, now = (parts.get(GLOBALS, {}).get("code", {}) for parts in (old, new))
    return [name for name in now if was.get(name, now[name]) != now[name]]


def compared(parts: dict) -> str:
    """Say which parts are compared, and what of them cannot be."""
    opaque = []
    for name, part in parts.items():
        items = part.get("items", {"": part["text"]})
        found = [key for key, text in items.items() if OPAQUE in text or text == DRAWN]
        opaque += [key if name == GLOBALS else f"{name} {key}".strip() for key in found]
    text = f"Compared were {', '.join(parts)}."
    return f"{text} What cannot be looked into is not: {', '.join(opaque)}." if opaque else text


# ---- parts


def _parts(text_of: Callable, kind: type, params: dict[str, Any], setup: Setup) -> dict[str, dict]:
    """Describe all but the data."""
    params = dict(params)
    if params["initial_params"] == "auto" and not setup.problem.initial_params:
        params["initial_params"] = None  # which is what it means there
    if "ensemble" in params:
        params["ensemble"] = bool(params["ensemble"])  # whether predictions are kept
    params["prior_results"] = setup.earlier or None  # whatever they were read from
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
    if setup.context.estimator is None:
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
    """Name the metric on which it depends what is trained; "none" where nothing depends on it."""
    context = setup.context
    decides = setup.learns or len(setup.plan.rungs) > 1
    named = getattr(context.scorer, "_scorers", None)
    is_function = callable(scoring) and not hasattr(scoring, "_score_func")
    if not decides or not (named or is_function):
        return "none"
    return context.metric or next(iter(named or ["the first"]))


def _part(text: str) -> dict[str, Any]:
    return {"sha": _sha(text), "text": cut(text)}


def _items(texts: dict[str, str]) -> dict[str, Any]:
    """Make a part of several named things."""
    text = ", ".join(f"{name}: {texts[name]}" for name in sorted(texts))
    part: dict[str, Any] = {"sha": _sha(text), "text": cut(text)}
    if len(texts) <= N_ITEMS:
        part["items"] = {name: cut(text, ITEM_LENGTH) for name, text in texts.items()}
    return part


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _settings(text_of: Callable, params: dict) -> dict[str, str]:
    """Describe the search's own parameters, and each field of its sampler and scheduler."""
    texts = {}
    for name, value in params.items():
        if name in NO_SETTINGS:
            continue
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            texts[name] = text_of(type(value))
            for field in dataclasses.fields(value):
                texts[f"{name}.{field.name}"] = text_of(getattr(value, field.name))
        else:
            texts[name] = text_of(value)
    return texts


def _estimator(text_of: Callable, estimator: Estimator) -> dict[str, Any]:
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
        items = {name: cut(shallow(params[name]), ITEM_LENGTH) for name in names}
        part["items"] = {"class": shallow(type(estimator)), **items}
    return part


def _space(text_of: Callable, param_distributions: Mapping | Sequence[Mapping]) -> dict[str, str]:
    """Describe the values of each parameter; in a list of dicts a name has its dict's number."""
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
    # The rows of folds that are listed are compared; those of a generator are made again.
    return f"given {OPAQUE}" if hasattr(cv, "__next__") else "given"


def _random_state(random_state: object) -> dict[str, str]:
    if isinstance(random_state, Integral):
        return _part(str(int(random_state)))
    if isinstance(random_state, np.random.RandomState):
        return _part("another generator, or one that has drawn numbers since")
    return {"sha": "", "text": DRAWN}


# ---- differences


def _is_equal(name: str, old: dict, new: dict, with_code: bool) -> bool:
    """Whether a part has not changed, as far as it can be compared."""
    if name == "random_state" and new["text"] == DRAWN:
        return True
    if name == "cv" and new["text"].startswith("given"):
        return _listed(old) == _listed(new)
    digests = "sha" if with_code or "bare" not in old else "bare"
    return old[digests] == new[digests]


def _listed(part: dict) -> str:
    """Describe folds in the same way if they are in a list or come from a generator."""
    return part["text"].replace(f" {OPAQUE}", "")


def _changes(old: dict, new: dict) -> list[tuple]:
    """List differences as (name, text before, text now); None stands for what is missing."""
    was, now = old.get("items", {}), new.get("items", {})
    names = [*now, *(name for name in was if name not in now)]
    changes = [(n, was.get(n), now.get(n)) for n in names if was.get(n) != now.get(n)]
    if not (was and now and changes):
        return [(None, cut(old["text"], ITEM_LENGTH), cut(new["text"], ITEM_LENGTH))]
    return changes


def _has_grown(name: str | None, was: str, now: str) -> bool:
    if name is None or name.rpartition(".")[2] not in GROWING:
        return False
    try:
        return float(now) > float(was)
    except (TypeError, ValueError):  # None or "auto"
        return False


def _sentence(name: str | None, was: str | None, now: str | None) -> str:
    if was is None:
        return f"{name} is new, {now}"
    if now is None:
        return f"{name} is gone, it was {was}"
    if DIGEST.sub("", was) == DIGEST.sub("", now):
        return f"the code of {DIGEST.sub('', now)} is another one"
    return f"{name or 'it'} was {was}, now {now}"
