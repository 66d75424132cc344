"""Schema of a record: one declaration per field, used for both writing and reading.

``trial_id: Annotated[int, Entry("t", kinds.count)]`` is the entry "t" of a record, a count.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import cached_property
from typing import Any, Generic, TypeVar, get_type_hints

from sksearch._utils._terminal import short_repr
from sksearch.checkpoint._kinds import Kind

T = TypeVar("T")

KIND, FORMAT = "k", "fmt"  # entries for the kind of a record, and the format of a journal
HEADER = "header"  # the kind of the first record


def is_header(record: Mapping[str, Any]) -> bool:
    """Return whether a record is a header, which describes a search."""
    return record.get(KIND) == HEADER


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a record.

    Parameters
    ----------
    key : str
        Its name in the record.
    kind : callable
        Returns whether a value is valid; called with None, whether the entry may be missing.
    write, read : callable or None, default=None
        Conversion of a value to JSON values, and back. None: no conversion. None itself stays
        None.
    is_sparse : bool, default=False
        If True, the entry is omitted when the field has its default.
    """

    key: str
    kind: Kind
    write: Callable[[Any], Any] | None = None
    read: Callable[[Any], Any] | None = None
    is_sparse: bool = False


@dataclass(frozen=True, eq=False)
class Schema(Generic[T]):
    """All entries of one kind of record.

    Parameters
    ----------
    made : type
        Dataclass of a record read.
    given : dict of str to Entry, default={}
        Entries by field; empty if the annotations of the fields contain them.
    is_closed : bool, default=False
        If True, a record with other entries is refused; otherwise they are ignored.
    """

    made: type[T]
    given: Mapping[str, Entry] = field(default_factory=dict)
    is_closed: bool = False

    @cached_property
    def entries(self) -> dict[str, Entry]:
        """The entry of each field."""
        if self.given:
            return {each.name: self.given[each.name] for each in self._fields}
        hints = get_type_hints(self.made, include_extras=True)
        return {each.name: hints[each.name].__metadata__[0] for each in self._fields}

    @cached_property
    def _fields(self) -> tuple[Field, ...]:
        return fields(self.made)  # type: ignore[arg-type]

    @cached_property
    def _absent(self) -> dict[str, Any]:
        """Default values of missing entries, by key."""
        known = [each.default for each in self._fields]
        made = [each.default_factory for each in self._fields]
        found = [f() if f is not MISSING else d for d, f in zip(known, made, strict=True)]
        keys = [entry.key for entry in self.entries.values()]
        return {k: None if d is MISSING else d for k, d in zip(keys, found, strict=True)}

    @cached_property
    def _needed(self) -> set[str]:
        """Fields without a default."""
        return {f.name for f in self._fields if f.default is f.default_factory is MISSING}

    def write(self, made: T) -> dict[str, Any]:
        """Return JSON values."""
        record = {}
        for name, entry in self.entries.items():
            value = getattr(made, name)
            if not entry.is_sparse or value != self._absent[entry.key]:
                write = entry.write
                record[entry.key] = value if write is None or value is None else write(value)
        return record

    def read(self, record: Any) -> T:
        """Read JSON values; ValueError, which names the entry, if they are invalid."""
        if not isinstance(record, dict):
            raise ValueError(f"{short_repr(record, 80)} is not a record")
        values = {}
        whole = self._absent | record
        for name, entry in self.entries.items():
            key, read = entry.key, entry.read
            value = whole[key]
            if not entry.kind(value):
                what = f"is {short_repr(value, 80)}" if key in record else "is missing"
                raise ValueError(f"{key!r} {what}")
            if key in record or name in self._needed:
                values[name] = value if read is None or value is None else read(value)
        if self.is_closed and len(whole) > len(self._absent):
            raise ValueError(f"{min(record.keys() - self._absent.keys())!r} is unknown")
        return self.made(**values)
