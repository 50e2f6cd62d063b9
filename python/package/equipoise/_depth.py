"""How deep columns lie in columns, before a library follows them by calls within calls, which ends the process where they go too deep.

Types are walked here one by one: those of pyarrow and Polars as they are, those of anything else that speaks Arrow in the shape in which
it hands its schema over (https://arrow.apache.org/docs/format/CDataInterface.html).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from . import _equipoise
from ._errors import DataError

#: Columns in columns, as of files.
DEEPEST = 64


def leaves(kind: Any, parts: Callable[[Any], list[Any] | None], name: str | None = None) -> Iterator[Any]:
    """The types inside of a type that have no parts; refused where they lie too deep."""
    waiting = [(kind, 1)]
    while waiting:
        one, depth = waiting.pop()
        if depth > DEEPEST:
            what = "the data" if name is None else f"the column '{_equipoise.shown(name)}'"
            raise DataError(f"{what} is nested more than {DEEPEST} levels deep; leave such columns out, or unnest them first")
        inside = parts(one)
        if inside is None:
            yield one
        else:
            waiting += [(part, depth + 1) for part in inside]


def shallow(data: Any) -> Any:
    """Something that speaks Arrow, as something that can be taken over; refused where it is too deep."""
    root = type(data).__module__.partition(".")[0]
    if root == "pyarrow":
        kinds = [data.type] if hasattr(data, "type") else list(data.schema.types)
        _exhaust(kind for one in kinds for kind in leaves(one, _of_pyarrow))
        return data
    if root == "polars":
        kinds = [data.dtype] if hasattr(data, "dtype") else list(data.dtypes)
        _exhaust(kind for one in kinds for kind in leaves(one, _of_polars))
        return data
    return _handed_over(data)


def _exhaust(kinds: Iterable[Any]) -> None:
    for _ in kinds:
        pass


def _of_pyarrow(kind: Any) -> list[Any] | None:
    # Of extensions; of lists, dictionaries and runs; of maps.
    inside = [getattr(kind, part) for part in ("storage_type", "value_type", "key_type", "item_type") if hasattr(kind, part)]
    return inside or [kind.field(place).type for place in range(kind.num_fields)] or None


def _of_polars(dtype: Any) -> list[Any] | None:
    if hasattr(dtype, "fields"):
        return [field.dtype for field in dtype.fields]
    return [dtype.inner] if getattr(dtype, "inner", None) is not None else None


class _HandedOver:
    """What something handed over, to be taken once."""

    def __init__(self, stream: Any = None, array: Any = None) -> None:
        if stream is not None:
            self.__arrow_c_stream__ = lambda requested_schema=None: stream
        else:
            self.__arrow_c_array__ = lambda requested_schema=None: array


def _handed_over(data: Any) -> Any:
    """Take hold of a stream or an array, and look at its schema before anybody else does."""
    import ctypes

    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]

    class Schema(ctypes.Structure):
        _fields_ = [
            ("format", ctypes.c_void_p),
            ("name", ctypes.c_void_p),
            ("metadata", ctypes.c_void_p),
            ("flags", ctypes.c_int64),
            ("n_children", ctypes.c_int64),
            ("children", ctypes.POINTER(ctypes.c_void_p)),
            ("dictionary", ctypes.c_void_p),
            ("release", ctypes.c_void_p),
            ("private_data", ctypes.c_void_p),
        ]

    def parts(address: int) -> list[Any] | None:
        schema = Schema.from_address(address)
        inside = [schema.children[place] for place in range(schema.n_children)]
        return [*inside, *([schema.dictionary] if schema.dictionary else [])] or None

    if not hasattr(data, "__arrow_c_stream__"):
        array = data.__arrow_c_array__()
        _exhaust(leaves(pointer(array[0], b"arrow_schema"), parts))
        return _HandedOver(array=array)
    stream = data.__arrow_c_stream__()
    address = pointer(stream, b"arrow_array_stream")
    found = Schema()
    # The first entry of a stream is what gives its schema, which does not use the stream up.
    given = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p).from_address(address)
    if given(address, ctypes.addressof(found)) != 0:
        raise DataError("the data is of a type that cannot be read; give another")
    try:
        _exhaust(leaves(ctypes.addressof(found), parts))
    finally:
        if found.release:
            ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(found.release)(ctypes.addressof(found))
    return _HandedOver(stream=stream)
