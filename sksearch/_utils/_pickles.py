"""Pickles between processes, which never bring back a copy of a class defined here.

cloudpickle sends a class or a function of ``__main__``, such as a notebook's, with its code. If
its own process loads this again, cloudpickle replaces all methods of the class, with separate
globals, so that later changes by the user have no effect. So each carries an address: its home
process, and its name or number there. The home process looks the address up; a worker creates the
object as a guest once, and again only if it has changed.
"""

import io
import pickle
import sys
import types
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import reduce
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, WeakSet, WeakValueDictionary

from sksearch._utils._compat import cloudpickle
from sksearch._utils._forks import in_child
from sksearch._utils._installed import is_installed_module


class Address(NamedTuple):
    """Home of a class, a function or a module.

    Parameters
    ----------
    home : str
        The process.
    module, name : str
        Module and name there, if its number is "".
    number : str
        Identifier for an object that cannot be found by name.
    """

    home: str
    module: str
    name: str
    number: str


_here = uuid.uuid4().hex  # this process
# Numbers of objects without a name that were pickled in this process
_numbers: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
_numbered: WeakValueDictionary[str, Any] = WeakValueDictionary()
# Addresses of objects from other processes
_addresses: WeakKeyDictionary[Any, Address] = WeakKeyDictionary()
_guests: WeakValueDictionary[Address, Any] = WeakValueDictionary()
_empty: WeakSet = WeakSet()  # guests created, but not yet filled
_brings_news: ContextVar[bool] = ContextVar("sksearch_brings_news", default=False)
_home: ContextVar[str] = ContextVar("sksearch_home", default="")


class Pickler(cloudpickle.CloudPickler):
    """cloudpickle's pickler, with an address for each object sent with its code.

    Parameters
    ----------
    reduce : callable or None, default=None
        Called first for each object; returns its reduction, or NotImplemented.

    Attributes
    ----------
    modules : dict of str to None
        Names of the modules of classes and functions, in the order in which they came.
    """

    def __init__(self, *args: Any, reduce: Callable | None = None, **options: Any):
        super().__init__(*args, **options)
        self.modules: dict[str, None] = {}
        self._reduce = reduce

    def reducer_override(self, obj: Any) -> Any:
        """Reduce an object, as the standard library has it."""
        if self._reduce is not None and (own := self._reduce(obj)) is not NotImplemented:
            return own
        if isinstance(obj, type | types.FunctionType) and isinstance(obj.__module__, str):
            self.modules[obj.__module__] = None
        if isinstance(obj, types.CodeType):  # cloudpickle forgets the file, tracebacks need it
            return _code_of, (obj.co_filename, *self.dispatch_table[types.CodeType](obj))
        if isinstance(obj, types.ModuleType):
            reduced = self.dispatch_table[types.ModuleType](obj)
            has_code = reduced[0] is not cloudpickle.cloudpickle.subimport
        else:
            reduced = super().reducer_override(obj)
            has_code = isinstance(reduced, tuple) and len(reduced) == 6
        if not has_code or (address := self.address_of(obj)) is None:
            return reduced
        make, args, *rest = reduced
        if not rest:
            return _made, (address, make, args)
        state, _, _, fill = rest
        return _made, (address, make, args), (fill, state), None, None, _fill

    def address_of(self, obj: Any) -> Address | None:
        """Return the address of an object with code; None if it is copied, even at home."""
        if (address := _addresses.get(obj)) is not None:
            return address
        if isinstance(obj, types.ModuleType):
            module, name = obj.__name__, ""
        else:
            module, name = str(obj.__module__), obj.__qualname__
        if _named(module, name) is obj:
            return Address(_here, module, name, "")
        if isinstance(obj, types.FunctionType) and _has_own_data(obj):
            return None  # it may refer to its owner, like a lambda in a fitted model
        number = _numbers.setdefault(obj, uuid.uuid4().hex)
        _numbered[number] = obj
        return Address(_here, module, name, number)


def dumps(obj: Any) -> bytes:
    """Pickle anything that cloudpickle can pickle.

    Parameters
    ----------
    obj : object
        The object to send.

    Returns
    -------
    content : bytes
        For `loads`.

    Raises
    ------
    Exception
        Any exception of pickling.
    """
    return _pickled(obj, None)[0]


def dumps_with_modules(
    obj: Any, buffer_callback: Callable | None = None, reduce: Callable | None = None
) -> tuple[bytes, tuple[str, ...]]:
    """Return the result of `dumps`, and the installed modules imported by loading it."""
    content, names = _pickled(obj, buffer_callback, reduce)
    loaded = ((name, sys.modules.get(name)) for name in names)
    return content, tuple(
        name for name, module in loaded if module and is_installed_module(module)
    )


def _pickled(
    obj: Any, buffer_callback: Callable | None, reduce: Callable | None = None
) -> tuple[bytes, Iterable[str]]:
    """Pickle an object, and name the modules of its classes and functions."""
    file = io.BytesIO()
    pickler = Pickler(file, protocol=5, buffer_callback=buffer_callback, reduce=reduce)
    pickler.dump(obj)
    return file.getvalue(), pickler.modules


def loads(content: Any, buffers: Iterable | None = None, is_live: bool = False) -> Any:
    """Load the result of `dumps`, without changing the classes of this process.

    Parameters
    ----------
    content : bytes-like
        The return value of `dumps`.
    buffers : iterable or None, default=None
        Buffers passed to its `buffer_callback`.
    is_live : bool, default=False
        If True, it comes from the search's process, and guest classes are updated to their present
        state there.

    Returns
    -------
    obj : object
        A copy of the pickled object.

    Raises
    ------
    Exception
        Any exception of loading.
    """
    token = _brings_news.set(is_live)
    try:
        return pickle.loads(content, buffers=buffers)
    finally:
        _brings_news.reset(token)


def here() -> str:
    """Return a unique id of this process."""
    return _here


@contextmanager
def classes_of(home: str) -> Iterator[None]:
    """A context in which names from a process that has ended resolve in a home process.

    Parameters
    ----------
    home : str
        Value of `here` in the process of the search.
    """
    token = _home.set(home)
    try:
        yield
    finally:
        _home.reset(token)


def _code_of(file: str, make: Callable, args: tuple) -> types.CodeType:
    """Code with its file name."""
    return make(*args).replace(co_filename=file)


def _made(address: Address, make: Callable, args: tuple) -> Any:
    """The class, function or module of an address, or one made."""
    if (obj := _at(address)) is None:
        obj = make(*args)
        _addresses[obj], _guests[address] = address, obj
        _empty.add(obj)
    return obj


def _fill(obj: Any, content: tuple) -> None:
    """Fill a newly made object, and no other."""
    fill, state = content
    if obj in _empty:
        _empty.discard(obj)
        fill(obj, state)


def _at(address):
    """The object at an address in this process, None if missing or outdated."""
    if address.home == _here:
        if address.number:
            return _numbered.get(address.number)
        return _named(address.module, address.name)
    if _brings_news.get():
        return None
    found = _guests.get(address)
    home = _home.get()
    if found is None and home and not address.number:
        own = address._replace(home=home)
        found = _named(own.module, own.name) if home == _here else _guests.get(own)
    return found


def _named(module, name):
    """The object of this name, otherwise None; the module itself if the name is ""."""
    try:
        return reduce(getattr, filter(None, name.split(".")), sys.modules.get(module))
    except AttributeError:  # "<locals>" for instance
        return None


def _has_own_data(function):
    """True if a function has more state than its code and its module's globals."""
    return bool(
        function.__closure__
        or function.__defaults__
        or function.__kwdefaults__
        or function.__dict__
    )


def _move_in() -> None:
    """Give a forked process its own home, so that changes in its parent reach it."""
    global _here
    _here = uuid.uuid4().hex


in_child(_move_in)
