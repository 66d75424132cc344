"""Whether a checkpoint is of this very search: what both are made of, part by part."""

import dataclasses
import hashlib
from collections.abc import Mapping
from numbers import Integral

import numpy as np

from sksearch._description import FREE, Describer, cut, path_of
from sksearch.checkpoint._errors import SearchMismatchError
from sksearch.space import When

# Parameters of a search that are parts of their own, or may change from one fit to the next.
NO_SETTINGS = {
    "estimator", "param_distributions", "scoring", "cv", "random_state",
    "refit", "n_jobs", "verbose", "pre_dispatch", "timeout", "target_score",
    "candidate_timeout", "memory_limit", "max_retries", "devices", "checkpoint_dir",
    "ensemble_size",
}  # fmt: skip
# Settings of which more is the same search going on.
GROWING = {"n_iter", "n_candidates", "n_iterations", "max_resources"}
N_ITEMS = 1000  # of a part; a list of more candidates than that is described as a whole
ITEM = 300  # characters of an item
DRAWN = "drawn"


def fingerprint(search, setup, random_state):
    """Describe everything on which the results of a search depend.

    Parameters
    ----------
    search : BaseSearch
        Not fitted yet, or not anew.
    setup : Setup
        What it prepared for its data.
    random_state : int, RandomState or None
        The user's.

    Returns
    -------
    parts : dict of str to dict
        For each part ``sha``, a readable ``text``, and where there are several things in it
        ``items``, their texts by name. Strings only.
    """
    describer = Describer()
    params = search.get_params(deep=False)
    n_splits = len(setup.context.splits)
    return {
        "class": _part(path_of(type(search))),
        "settings": _items(_settings(describer, params)),
        "estimator": _estimator(describer, params["estimator"]),
        "space": _items(_space(describer, params["param_distributions"])),
        "scoring": _part(describer.text(params["scoring"])),
        "cv": _part(f"{_splitter(describer, params['cv'])}: {n_splits} folds"),
        "data": _items(
            {"X": describer.text(setup.context.X), "y": describer.text(setup.context.y)}
        ),
        "fit_params": _items({k: describer.text(v) for k, v in setup.params.items()}),
        "random_state": _random_state(random_state),
    }


def check_same(old_parts, new_parts, path):
    """Compare the fingerprint in a checkpoint with the one of the search that found it.

    Parameters
    ----------
    old_parts, new_parts : dict of str to dict
        As `fingerprint` returns them.
    path : str or Path
        The checkpoint's directory, for the error.

    Returns
    -------
    extended : bool
        False if they are equal; True if the new search goes on where the old one ended: a
        count of candidates or the largest resource grew, and nothing else differs.

    Raises
    ------
    SearchMismatchError
        If anything else differs; it names all of it.

    Notes
    -----
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


def _part(text):
    return {"sha": _sha(text), "text": cut(text)}


def _items(texts):
    """A part made of several named things."""
    text = ", ".join(f"{name}: {texts[name]}" for name in sorted(texts))
    part = {"sha": _sha(text), "text": cut(text)}
    if len(texts) <= N_ITEMS:
        part["items"] = {name: cut(text, ITEM) for name, text in texts.items()}
    return part


def _sha(text):
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _settings(describer, params):
    """The search's own parameters; those of a sampler or scheduler one by one."""
    texts = {}
    for name, value in params.items():
        if name in NO_SETTINGS:
            continue
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            texts[name] = path_of(type(value))
            for field in dataclasses.fields(value):
                texts[f"{name}.{field.name}"] = describer.text(getattr(value, field.name))
        else:
            texts[name] = describer.text(value)
    return texts


def _estimator(describer, estimator):
    part = _part(describer.text(estimator))
    shallow = Describer(into_estimators=False)
    params = estimator.get_params(deep=True)
    names = [name for name in params if name.rpartition("__")[2] not in FREE]
    if len(names) <= N_ITEMS:
        items = {name: cut(shallow.text(params[name]), ITEM) for name in names}
        part["items"] = {"class": path_of(type(estimator)), **items}
    return part


def _space(describer, param_distributions):
    """What each parameter is drawn from; names of several dicts are told apart by number."""
    if isinstance(param_distributions, Mapping):
        return {name: _values(describer, v) for name, v in param_distributions.items()}
    return {
        f"{name} (dict {i})": _values(describer, values)
        for i, each in enumerate(param_distributions)
        for name, values in each.items()
    }


def _values(describer, values):
    if isinstance(values, When):
        condition = f"{values.parent} {values.op} {describer.text(values.threshold)}"
        return f"{_values(describer, values.values)} when {condition}"
    if isinstance(values, np.ndarray) or (hasattr(values, "tolist") and np.ndim(values) == 1):
        values = values.tolist()
    if isinstance(values, (tuple, range)):
        values = list(values)  # choices are the same in any container
    return describer.text(values)


def _splitter(describer, cv):
    if cv is None or isinstance(cv, Integral):
        return str(5 if cv is None else cv)
    # Folds that are given as such are in the checkpoint, and those of a generator are gone.
    return describer.text(cv) if hasattr(cv, "split") else "given (opaque)"


def _random_state(random_state):
    if isinstance(random_state, Integral):
        return _part(str(int(random_state)))
    return {"sha": "", "text": DRAWN}


# ---- differences


def _changes(old, new):
    """What differs, as (name, text before, text now); None for what is not there."""
    was, now = old.get("items", {}), new.get("items", {})
    names = [*now, *(name for name in was if name not in now)]
    changes = [(n, was.get(n), now.get(n)) for n in names if was.get(n) != now.get(n)]
    if not (was and now and changes):
        return [(None, cut(old["text"], ITEM), cut(new["text"], ITEM))]
    return changes


def _has_grown(name, was, now):
    if name.rpartition(".")[2] not in GROWING:
        return False
    try:
        return float(now) > float(was)
    except (TypeError, ValueError):  # None or "auto"
        return False


def _sentence(name, was, now):
    if was is None:
        return f"{name} is new, {now}"
    if now is None:
        return f"{name} is gone, it was {was}"
    return f"{name or 'it'} was {was}, now {now}"
