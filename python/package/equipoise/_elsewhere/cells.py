"""Cells of a table in an engine, as expressions that are total: no cell makes one fail, and each cell has one meaning.

A cell is read as one of three things: a float, nothing where it is missing or not a number; a whole number of 64 bits, which is what whole numbers,
decimals, days, moments, and yes or no are inside; or a text, nothing where it is missing or empty. Which of them is decided by the schema.

Floats are compared as engines compare them, but counted by their *ordinals*: their 63 bits as a whole number, with their sign. Engines have no
common way to ask for bits, so they are computed from logarithms and powers of two, whose every step is exact in doubles (a logarithm that is off
by one is put right). What an engine makes of it is :mod:`examined <equipoise._elsewhere.examine>` on public numbers before anything is charged.
"""

from __future__ import annotations

from typing import Any

#: The bits of an infinite float, and of the largest finite one.
INFINITE = 0x7FF0_0000_0000_0000
LARGEST = INFINITE - 1
_LEAST_NORMAL = 2.2250738585072014e-308
_LARGEST_FLOAT = 1.7976931348623157e308


def ibis() -> Any:
    import ibis as module

    return module


def number(value: float) -> Any:
    """A double, to the last bit: a text that is read as one, since literals with a point are decimals to many engines."""
    text = {float("inf"): "Infinity", float("-inf"): "-Infinity"}.get(value, repr(float(value)))
    return ibis().literal(text).cast("float64")


def whole(value: int) -> Any:
    """A whole number of 64 bits. The least one is no literal: it would be the negative of a number that 64 bits do not hold."""
    literal = ibis().literal
    if value == -(2**63):
        return literal(-(2**63 - 1), type="int64") - literal(1, type="int64")
    return literal(value, type="int64")


def nothing(kind: str) -> Any:
    return ibis().null(kind)


def either(condition: Any, one: Any, other: Any) -> Any:
    return ibis().ifelse(condition, one, other)


def between(value: Any, low: float, high: float) -> Any:
    """A float that is there, moved between two ends. Comparisons, since engines differ in what is least of nothing."""
    return either(value < number(low), number(low), either(value > number(high), number(high), value))


def is_whole(kind: Any) -> bool:
    """Is a column of this kind, as passes write it, a whole number inside?"""
    return kind not in ("float", "text")


def units(kind: Any) -> int:
    """How many whole numbers one unit of a kind takes: of a moment a second, of a decimal one."""
    if isinstance(kind, dict):
        return int(10 ** kind["decimal"]["digits"])
    return 1_000_000 if kind == "timestamp" else 1


def named(kind: Any) -> str:
    """A kind in the words of ``types=``."""
    if isinstance(kind, dict):
        return f"decimal:{kind['decimal']['digits']}"
    return "number" if kind == "float" else str(kind)


def column_name(read: dict[str, Any]) -> str:
    """What a column that is read as a kind is called among ours."""
    return f"c{read['column']}_{named(read['kind']).replace(':', '_')}"


def _has_texts(dtype: Any) -> bool:
    """Do engines write cells of this type as texts as files have them?"""
    return bool(dtype.is_string() or dtype.is_integer() or dtype.is_boolean() or dtype.is_date())


def refusal(dtype: Any, kind: Any, only_there: bool) -> str | None:
    """Why a column of this type cannot be read as a kind there, as the rest of a line; nothing where it can. ``only_there`` says that only the number of cells
    that are there is asked for."""
    if kind == "float":
        fits = dtype.is_floating() or dtype.is_integer() or dtype.is_decimal() or dtype.is_boolean()
    elif kind == "text":
        fits = _has_texts(dtype) or (only_there and (dtype.is_floating() or dtype.is_decimal() or dtype.is_timestamp()))
    elif kind == "integer":
        fits = dtype.is_integer()
    elif kind == "boolean":
        fits = dtype.is_boolean()
    elif kind == "date":
        fits = dtype.is_date()
    elif kind == "timestamp":
        fits = dtype.is_timestamp()
    else:
        digits = kind["decimal"]["digits"]
        fits = dtype.is_decimal() and dtype.scale == digits
    return None if fits else f"is of the type {dtype} there, which is not read as {named(kind)}"


def cell(column: Any, kind: Any, engine: Any) -> Any:
    """A column as a kind, as its :class:`engine <equipoise._elsewhere.engine.Engine>` does that."""
    dtype = column.type()
    if kind == "float":
        if dtype.is_boolean():
            return either(column.isnull(), nothing("float64"), either(column, number(1.0), number(0.0)))
        floats = column.cast("float64")
        if not dtype.is_floating():
            return floats
        floats = engine.as_it_is(floats)
        return either(floats.isnan(), nothing("float64"), floats)
    if kind == "text" and not _has_texts(dtype):
        there = cell(column, "float", engine).notnull() if dtype.is_floating() else column.notnull()
        return either(there, ibis().literal("there"), nothing("string"))
    if kind == "text":
        if dtype.is_boolean():
            return either(column.isnull(), nothing("string"), either(column, ibis().literal("true"), ibis().literal("false")))
        text = engine.plain(column) if dtype.is_string() else column.cast("string")
        return either(text == "", nothing("string"), text)
    if kind == "boolean":
        return either(column.isnull(), nothing("int64"), either(column, whole(1), whole(0)))
    if kind == "date":
        return column.epoch_days().cast("int64")
    if kind == "timestamp":
        return engine.moment(column).cast("int64")
    if kind == "integer":
        if str(dtype).lstrip("!") == "uint64":
            fits = column <= ibis().literal(2**63 - 1, type="uint64")
            return either(fits, column, nothing("uint64")).cast("int64")
        return column.cast("int64")
    return _decimal(column, kind["decimal"]["digits"])


def _decimal(column: Any, digits: int) -> Any:
    """A decimal as so many units of its last digit; nothing where 64 bits do not hold it."""
    most = (2**63 - 1) // 10**digits
    end = ibis().literal(most, type="int64")
    inside = (column < end) & (column > -end)
    # No wider than it has to be: the digits of factors add up, and 38 are the most.
    kept = either(inside, column, nothing(str(column.type()))).cast(f"decimal(19, {digits})")
    scaled = kept * ibis().literal(10**digits, type="int64")
    return scaled.cast("int64")


def as_float(rows: Any, read: dict[str, Any]) -> Any:
    """A column of ours as a float: of a whole kind in its own unit."""
    column = rows[column_name(read)]
    if not is_whole(read["kind"]):
        return column
    floats = column.cast("float64")
    parts = units(read["kind"])
    return floats if parts == 1 else floats / number(float(parts))


def with_ordinal(rows: Any, value: Any, name: str, kept: list[str]) -> Any:
    """The rows with the ordinal of a float under a name, and these columns: nothing where the float is nothing.

    One small step after the other, and no filter behind them by what they find: engines push a filter down by writing the steps into each other, and what is used
    thrice is then there 3 · 3 · 3 times.
    """

    def step(*carried: str, **made: Any) -> Any:
        return rows.select(*kept, *carried, **made)

    rows = step(o_there=value.notnull(), o_value=value)
    rows = step("o_there", o_value=either(rows.o_there, rows.o_value, number(0.0)))
    rows = step(
        "o_there",
        o_sign=either(rows.o_value < number(0.0), whole(-1), whole(1)),
        o_far=(rows.o_value > number(_LARGEST_FLOAT)) | (rows.o_value < number(-_LARGEST_FLOAT)),
        o_size=between(rows.o_value, -_LARGEST_FLOAT, _LARGEST_FLOAT).abs(),
    )
    carried = ("o_there", "o_sign", "o_far")
    rows = step(*carried, "o_size", o_normal=rows.o_size >= number(_LEAST_NORMAL))
    # Numbers below the normal ones are whole multiples of 2^-1074, which is no factor that doubles have.
    rows = step(
        *carried,
        "o_normal",
        o_small=either(rows.o_normal, number(0.0), rows.o_size) * number(2.0**537) * number(2.0**537),
        o_size=either(rows.o_normal, rows.o_size, number(1.0)),
    )
    all_carried = (*carried, "o_normal", "o_small")
    rows = step(*all_carried, "o_size", o_power=(rows.o_size.ln() * number(1.4426950408889634)).floor())
    rows = step(*all_carried, "o_size", o_power=between(rows.o_power, -1022.0, 1023.0))
    rows = step(*all_carried, "o_power", o_rest=rows.o_size / number(2.0).pow(rows.o_power))
    # A logarithm may be off by one where a number lies next to a power of two.
    above, below = rows.o_rest >= number(2.0), rows.o_rest < number(1.0)
    rows = step(
        *all_carried,
        o_power=either(above, rows.o_power + number(1.0), either(below, rows.o_power - number(1.0), rows.o_power)),
        o_rest=either(above, rows.o_rest * number(0.5), either(below, rows.o_rest * number(2.0), rows.o_rest)),
    )
    bits = (rows.o_power.cast("int64") + whole(1023)) * whole(1 << 52)
    bits = bits + ((rows.o_rest - number(1.0)) * number(2.0**52)).cast("int64")
    size = either(rows.o_normal, bits, rows.o_small.cast("int64"))
    size = either(rows.o_far, whole(INFINITE), size)
    return step(**{name: either(rows.o_there, size * rows.o_sign, nothing("int64"))})
