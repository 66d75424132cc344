"""Groups of parameters: ``workers``, ``stop`` and ``known`` are dicts of rarely used settings.

A group is None or a dict with some of its keys. ``get_params`` and ``set_params`` treat the keys
as nested parameters, such as ``workers__memory``.
"""

import difflib
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any, Self

from sksearch._utils._compat import (
    BaseSearchCV,
    HasMethods,
    Interval,
    StrOptions,
    validate_parameter_constraints,
)

AUTO = StrOptions({"auto"})
#: Positive number of something: an integer from 1 on.
COUNT = Interval(Integral, 1, None, closed="left")
SECONDS = Interval(Real, 0, None, closed="neither")


class Group(HasMethods):
    """Constraint of a group: a dict with some of its keys.

    Parameters
    ----------
    keys : dict of str to tuple (object, constraints)
        Default and constraints of each key.
    flag : str or None, default=None
        Key that may stand for the whole dict, with True as its value.
    """

    def __init__(self, keys: dict[str, tuple[Any, Any]], flag: str | None = None) -> None:
        super().__init__([])
        self.keys, self.flag = keys, flag

    def __or__(self, keys: dict[str, tuple[Any, Any]]) -> "Group":
        """Return a group with further keys."""
        return Group(self.keys | keys, self.flag)

    def only(self, *keys: str) -> "Group":
        """Return a group with some of these keys."""
        return Group({key: self.keys[key] for key in keys}, self.flag)

    def is_satisfied_by(self, val: object) -> bool:
        """Return whether a value is a dict, or stands for one."""
        return isinstance(val, dict) or (isinstance(val, str) and val == self.flag)

    def given(self, value: Any) -> dict[str, Any]:
        """Return a group as a new dict; an invalid value has no keys."""
        if isinstance(value, str) and value == self.flag:
            return {value: True}
        return dict(value) if isinstance(value, dict) else {}

    def filled(self, value: Any) -> dict[str, Any]:
        """Return the value of each key, the default if it is not given."""
        given = self.given(value)
        return {key: given.get(key, default) for key, (default, _) in self.keys.items()}

    def check_keys(self, name: str, keys: Iterable[Any]) -> None:
        """Raise ValueError for a key that does not exist."""
        for key in keys:
            if key not in self.keys:
                close = difflib.get_close_matches(str(key), self.keys, n=1)
                hint = f": did you mean {close[0]!r}?" if close else "."
                known = ", ".join(map(repr, self.keys))
                raise ValueError(f"{name} has no key {key!r}{hint} Its keys are {known}.")

    def check(self, owner: str, name: str, value: Any) -> None:
        """Raise ValueError for an unknown key, and for an invalid value of a key."""
        given = self.given(value)
        self.check_keys(name, given)
        validate_parameter_constraints(
            {f'{name}["{key}"]': self.keys[key][1] for key in given},
            {f'{name}["{key}"]': each for key, each in given.items()},
            caller_name=owner,
        )

    def __str__(self) -> str:
        or_flag = f"{self.flag!r} or " if self.flag else ""
        return f"{or_flag}a dict with the keys {', '.join(map(repr, self.keys))}"

    __repr__ = __str__


WORKERS = Group(
    {
        "timeout": (None, [SECONDS, None]),
        "memory": (None, [COUNT, None]),
        "retries": (1, [Interval(Integral, 0, None, closed="left")]),
        "devices": (None, [list, tuple, None]),
    }
)
#: Workers of a search with proposals that depend on results.
BATCHES = WORKERS | {"batch_size": ("auto", [COUNT, AUTO])}
STOP = Group(
    {
        "score": (None, [Interval(Real, None, None, closed="neither"), None]),  # so not NaN
        "patience": (None, [COUNT, None]),
        "converged": (False, ["boolean"]),
        "overtime": (None, [Interval(Real, 0, None, closed="left"), None]),
    },
    flag="converged",
)
KNOWN = Group(
    {
        "params": ("auto", [dict, list, tuple, AUTO, None]),
        "results": (None, "no_validation"),  # `fit` checks it
        "prior": (None, [dict, None]),
        "constraints": (None, "no_validation"),
    }
)
GROUPS: dict[str, list[Any]] = {
    "workers": [WORKERS, None],
    "stop": [STOP, None],
    "known": [KNOWN, None],
}


def flat(params: dict[str, Any], groups: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return parameters with each key of a group on its own, as messages name it."""
    others = {name: value for name, value in params.items() if name not in groups}
    return others | {
        f'{name}["{key}"]': value for name, group in groups.items() for key, value in group.items()
    }


class Grouped(BaseSearchCV):
    """A search with groups of parameters; their keys are nested parameters."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters of the search.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include the parameters of the estimator, such as ``estimator__alpha``, and
            each key of a group, such as ``workers__memory``.

        Returns
        -------
        params : dict of str to object
            Values by name.
        """
        params = super().get_params(deep)
        if deep:
            for name, group in self._groups().items():
                if name in params:
                    keys = group.filled(params[name])
                    params |= {f"{name}__{key}": value for key, value in keys.items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the search, of the estimator, or keys of a group.

        Parameters
        ----------
        **params : dict of str to object
            Values by name, such as ``n_jobs=2``, ``estimator__alpha=0.1`` or ``stop__patience=5``.
            Other keys of the group keep their values.

        Returns
        -------
        self : object
            The search.
        """
        groups = self._groups()
        changed: dict[str, dict[str, Any]] = {}
        for name in list(params):
            group, is_nested, key = name.partition("__")
            if is_nested and group in groups:
                groups[group].check_keys(group, [key])
                changed.setdefault(group, {})[key] = params.pop(name)
        super().set_params(**params)
        for name, new in changed.items():
            given, now = groups[name].given(getattr(self, name)), self._group(name)
            # A value that is set already changes nothing, as in set_params(**get_params()).
            if new := {key: value for key, value in new.items() if value is not now[key]}:
                setattr(self, name, given | new)
        return self

    def __sklearn_clone__(self) -> Self:
        """Clone, but keep the results of earlier searches: clones of these would be unfitted."""
        copied = super().__sklearn_clone__()
        known, new = (getattr(each, "known", None) for each in (self, copied))
        if isinstance(known, dict) and isinstance(new, dict) and "results" in known:
            new["results"] = known["results"]
        return copied

    def _groups(self) -> dict[str, Group]:
        """Return the groups of this class by name."""
        found = {}
        for name, default in GROUPS.items():
            constraints = self._parameter_constraints.get(name, default)
            found[name] = next((c for c in constraints if isinstance(c, Group)), default[0])
        return found

    def _group(self, name: str) -> dict[str, Any]:
        """Return the values of a group, defaults included."""
        return self._groups()[name].filled(getattr(self, name))

    def _flat_params(self) -> dict[str, Any]:
        """Return all parameters, and the keys of groups by their names in messages."""
        return flat(self.get_params(deep=False), {name: self._group(name) for name in GROUPS})

    def _validate_params(self) -> None:
        """Check the parameters, and the keys of each group."""
        super()._validate_params()
        for name, group in self._groups().items():
            group.check(type(self).__name__, name, getattr(self, name))
