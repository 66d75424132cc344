"""Memory maps travel as the place of their values, and all other arrays with their values."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

from sksearch.executors import _shared_data
from sksearch.executors._mapped_files import UnseenFileError, _mapped
from sksearch.executors.local import _pool

SHAPE = (1500, 200)  # more than SHARED_FROM bytes, in each view below


@pytest.fixture
def file(tmp_path):
    np.save(tmp_path / "X.npy", np.random.default_rng(0).random(SHAPE))
    return tmp_path / "X.npy"


def changed(values, mode):
    values = np.load(values, mmap_mode=mode)
    values[7] = -1.0
    return values


def removed(file):
    values = np.load(file, mmap_mode="r")
    file.unlink()
    return values


def replaced(file):
    values = np.load(file, mmap_mode="r")
    file.unlink()
    np.save(file, np.zeros(SHAPE))
    return values


def replaced_in_one_place(file):
    values = np.load(file, mmap_mode="r")
    other = np.array(values)
    other[711, 3] = -1.0
    file.unlink()
    np.save(file, other)
    return values


def of(mode, view=lambda values: values):
    return lambda file: view(np.load(file, mmap_mode=mode))


MAPS = {
    "whole": of("r"),
    "rows": of("r", lambda values: values[200:]),
    "every second row": of("r", lambda values: values[::2]),
    "backwards": of("r", lambda values: values[::-1]),
    "columns, transposed": of("r", lambda values: values[:, 3:150].T),
    "as an array": of("r", np.asarray),
    "a view of an array": of("r", lambda values: np.asarray(values)[:, ::-1][10:]),
    "other numbers": of("r", lambda values: values.view(np.int64)),
    "writable": of("r+"),
    "changed, and so is the file": lambda file: changed(file, "r+"),
}
COPIES = {
    "changed in memory only": lambda file: changed(file, "c"),
    "file removed": removed,
    "file replaced": replaced,
    "file replaced by one that differs in a number": replaced_in_one_place,
    "fancy rows": of("r", lambda values: values[np.arange(1000)]),
    "strided": lambda file: np.load(file)[::2],
    "in memory": np.load,
}


def sent(obj, folder):
    """Write an object, and read it as a worker does; the size of what was written."""
    ref = _shared_data.write(obj, folder / "context")
    found = _shared_data.fetch(ref)
    _shared_data._loaded.clear()
    return ref, found, (folder / "context").stat().st_size


@pytest.mark.parametrize("name", MAPS)
def test_a_map_is_not_written_again(name, file, tmp_path):
    values = MAPS[name](file)
    ref, found, size = sent(values, tmp_path)
    assert (ref.maps, size < 1000) == ((str(file),), True)
    assert (type(found), found.dtype, found.strides) == (
        type(values),
        values.dtype,
        values.strides,
    )
    assert not found.flags.writeable
    np.testing.assert_array_equal(found, values)


@pytest.mark.parametrize("name", COPIES)
def test_values_that_are_in_no_file_are_written(name, file, tmp_path):
    values = COPIES[name](file)
    ref, found, size = sent(values, tmp_path)
    assert (ref.maps, size > values.nbytes) == ((), True)
    assert type(found) is type(values)
    assert not found.flags.writeable  # shared by the workers, not copied
    np.testing.assert_array_equal(found, values)


@pytest.mark.parametrize("name", ["whole", "backwards", "as an array", "strided"])
def test_a_worker_that_sees_no_file_is_sent_the_values(name, file, tmp_path):
    values = (MAPS | COPIES)[name](file)
    ref = _shared_data.write({"X": values}, tmp_path / "context")
    payload = _shared_data.payload_of({"X": values}, ref)
    file.unlink()
    if ref.maps:  # the context is seen, and the map is not
        assert _shared_data.fetch(ref) is _shared_data.MISSING
    found = _shared_data.fetch(ref, payload)["X"]
    assert type(found) is type(values)
    np.testing.assert_array_equal(found, values)


def test_arrays_inside_of_other_objects_are_mapped(file, tmp_path):
    values = np.load(file, mmap_mode="r")
    rows = np.arange(0, SHAPE[0] * SHAPE[1] + 1, SHAPE[1])
    columns = np.tile(np.arange(SHAPE[1]), SHAPE[0])
    sparse = csr_array((np.asarray(values).ravel(), columns, rows), SHAPE)
    ref, found, size = sent({"sparse": sparse}, tmp_path)
    assert ref.maps == (str(file),)
    assert size < 8 * columns.size + 20_000 + 8 * rows.size
    np.testing.assert_array_equal(found["sparse"].toarray(), values)


def test_a_masked_array_shares_its_values(tmp_path):
    values = np.ma.MaskedArray(np.arange(300_000.0), fill_value=-9.0)
    values[::7] = np.ma.masked
    _, found, _ = sent(values, tmp_path)
    assert not found.data.flags.owndata
    assert found.fill_value == -9
    np.testing.assert_array_equal(found.mask, values.mask)
    np.testing.assert_array_equal(found.filled(), values.filled())


def test_another_file_of_the_name_is_not_taken_for_it(file):
    with pytest.raises(UnseenFileError):
        _mapped(str(file), 0, np.dtype(float), 128, SHAPE, (1600, 8))
    with pytest.raises(UnseenFileError):
        _mapped(str(file), 0, np.dtype(float), 128, (9000, 200), (1600, 8))


def test_a_worker_of_this_machine_is_sent_the_values_of_a_removed_file(monkeypatch):
    calls = []

    def run_limited(worker, ref, task, folder, limits, payload=None):
        calls.append(payload)
        return _shared_data.MISSING if payload is None else task

    monkeypatch.setattr(_pool, "run_limited", run_limited)
    with _pool.ProcessExecutor(print, "context", 1, 1, "sequential") as executor:
        assert executor.submit("task").result() == "task"
    assert calls[0] is None
    assert isinstance(calls[1], bytes)


class ObjectRef:
    """As Ray has it: its plain pickle lacks the owner."""

    owner = None

    def __reduce__(self):
        return ObjectRef, ()


def with_owner():
    found = ObjectRef()
    found.owner = "driver"
    return found


@pytest.mark.parametrize("inside", [lambda ref: ref, lambda ref: {"X": [ref]}])
def test_references_of_ray_are_pickled_by_ray(inside, monkeypatch, tmp_path):
    def owner_of_sent():
        ref = _shared_data.write(inside(ObjectRef()), tmp_path / "context")
        found = _shared_data.fetch(ref)
        _shared_data._loaded.clear()
        return (found["X"][0] if isinstance(found, dict) else found).owner

    dispatch = {}
    ray = SimpleNamespace(CloudPickler=SimpleNamespace(dispatch=dispatch))
    monkeypatch.setitem(sys.modules, "ray.cloudpickle", ray)
    assert owner_of_sent() is None  # another's class of this name
    dispatch[ObjectRef] = lambda ref: (with_owner, ())
    assert owner_of_sent() == "driver"


NUMBERS = np.arange(200_000.0)
MISSING = np.where(NUMBERS % 9, NUMBERS, np.nan)
COLUMNS = {
    "numbers": lambda pl: pl.DataFrame({"a": NUMBERS, "b": NUMBERS[::-1]}),
    "every second row": lambda pl: pl.DataFrame({"a": np.repeat(NUMBERS, 2)})[::2],
    "missing values": lambda pl: pl.Series("a", MISSING, nan_to_null=True).to_frame(),
    "text": lambda pl: pl.DataFrame({"a": NUMBERS}).with_columns(
        text=pl.format("some longer text {}", "a")
    ),
    "categories": lambda pl: pl.DataFrame({"a": list("abcde" * 60_000)}).cast(pl.Categorical),
    "durations": lambda pl: pl.DataFrame({"a": NUMBERS.astype(int)}).cast(pl.Duration("ms")),
    "lists": lambda pl: pl.DataFrame({"a": NUMBERS}).group_by(pl.col("a") // 4).agg(b=pl.col("a")),
    "parts": lambda pl: pl.concat([pl.DataFrame({"a": NUMBERS})] * 2, rechunk=False),
    "Series": lambda pl: pl.Series("y", NUMBERS),
    "Series without a name": lambda pl: pl.Series(MISSING, nan_to_null=True),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_of_polars_are_shared_as_those_of_arrow(name, tmp_path):
    frame = COLUMNS[name](pytest.importorskip("polars"))
    pytest.importorskip("pyarrow")
    head, buffers, _ = _shared_data._pickled(frame, set())
    assert (len(head) < 3000, sum(part.nbytes for part in buffers) > 1_000_000) == (True, True)
    _, found, _ = sent({"X": frame}, tmp_path)
    assert type(found["X"]) is type(frame)
    kind = "dtype" if hasattr(frame, "dtype") else "schema"
    assert getattr(found["X"], kind) == getattr(frame, kind)
    assert getattr(found["X"], "name", None) == getattr(frame, "name", None)
    assert found["X"].equals(frame, null_equal=True)


@pytest.mark.parametrize("kind", ["small", "type of polars alone", "subclass"])
def test_other_frames_of_polars_have_its_own_pickle(kind, tmp_path):
    polars = pytest.importorskip("polars")
    numbers = polars.Series("a", np.arange(9 if kind == "small" else 200_000))
    frame = (numbers.cast(polars.Int128) if "alone" in kind else numbers).to_frame()
    if kind == "subclass":
        frame = type("Mine", (polars.DataFrame,), {})(frame)
    assert _shared_data._pickled(frame, set())[1] == []
    _, found, _ = sent(frame, tmp_path)
    assert type(found).__name__ == type(frame).__name__
    assert found.schema == frame.schema
    assert found.equals(frame)
