"""Compare a search with the one of a checkpoint, part by part."""

import dataclasses
import hashlib
from collections.abc import Callable, Mapping
from functools import partial
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from sksearch._description import cut, describe, is_free
from sksearch.checkpoint._errors import SearchMismatchError
from sksearch.space import When

# Parameters of a search that are parts of their own, or may change from one fit to the next.
NO_SETTINGS = {
    "estimator", "param_distributions", "scoring", "cv", "random_state",
    "refit", "n_jobs", "verbose", "pre_dispatch", "timeout", "target_score", "patience", "stop",
    "candidate_timeout", "memory_limit", "max_retries", "devices", "checkpoint_dir",
    "ensemble_size", "select",
}  # fmt: skip
# Settings that may grow: the search then goes on where it ended.
GROWING = {"n_iter", "n_candidates", "n_iterations", "max_resources"}
N_ITEMS = 1000  # largest count of items in a part; a part of more has only a digest and a text
ITEM_LENGTH = 300  # characters of an item
DRAWN = "drawn"


def fingerprint(search: Any, setup: Any, random_state: Any) -> dict[str, dict]:
    """Describe everything on which the results of a search depend, part by part.

    Each part has its digest ``sha`` and a readable ``text``; a part of several things also has
    ``items``, their texts by name. All values are strings.
    """
    text_of = partial(describe, memo={})
    params = search.get_params(deep=False)
    if params["initial_params"] == "auto" and not setup.problem.initial_params:
        params["initial_params"] = None  # which is what it means there
    n_splits = len(setup.context.splits)
    return {
        "class": _part(text_of(type(search))),
        "settings": _items(_settings(text_of, params)),
        "estimator": _estimator(text_of, params["estimator"]),
        "space": _items(_space(text_of, setup.problem.space.given)),
        "scoring": _part(text_of(params["scoring"])),
        "cv": _part(f"{_splitter(text_of, params['cv'])}: {n_splits} folds"),
        "data": _items({"X": text_of(setup.context.X), "y": text_of(setup.context.y)}),
        "fit_params": _items({k: text_of(v) for k, v in setup.params.items()}),
        "random_state": _random_state(random_state),
    }


def check_same(old_parts: dict, new_parts: dict, path: str | Path) -> bool:
    """Compare the fingerprint in a checkpoint with the one of a search that resumes it.

    Return False if they are equal, and True if the new search goes on where the old one ended: a
    count of candidates or the largest resource grew, and nothing else differs. If anything else
    does, raise SearchMismatchError, which names all of it.

    Parameters of an estimator or a search that are there on one side only come from another
    version of scikit-learn or of this library, and are no difference: nobody can have set them
    to anything but their default where they are not known.
    """
    extended, lines = False, []
    for name, new in new_parts.items():
        old = old_parts.get(name, {"sha": None, "text": "unknown"})
        if old["sha"] == new["sha"] or (name == "random_state" and new["text"] == DRAWN):
            continue
        changes = _changes(old, new)
        if name in ("estimator", "settings"):
            changes = [change for change in changes if None not in change[1:]]
        if name == "settings":
            grown = {key for key, was, now in changes if _has_grown(key, was, now)}
            changes = [change for change in changes if change[0] not in grown]
            extended |= bool(grown)
        if changes:
            texts = [_sentence(*change) for change in changes]
            lines.append(f"  {name} differs: {'; '.join(texts)}")
    if lines:
        raise SearchMismatchError(
            f"The checkpoint in {str(path)!r} is of another search:\n"
            + "\n".join(lines)
            + "\nPass another checkpoint_dir, or delete this one to start from the beginning."
        )
    return extended


# ---- parts


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


def _estimator(text_of: Callable, estimator: Any) -> dict[str, Any]:
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


def _space(text_of: Callable, param_distributions: Any) -> dict[str, str]:
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


def _splitter(text_of: Callable, cv: Any) -> str:
    if cv is None or isinstance(cv, Integral):
        return str(5 if cv is None else cv)
    # The checkpoint holds folds that the user listed; those of a generator are used up.
    return text_of(cv) if hasattr(cv, "split") else "given (opaque)"


def _random_state(random_state: Any) -> dict[str, str]:
    if isinstance(random_state, Integral):
        return _part(str(int(random_state)))
    return {"sha": "", "text": DRAWN}


# ---- differences


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
    return f"{name or 'it'} was {was}, now {now}"
