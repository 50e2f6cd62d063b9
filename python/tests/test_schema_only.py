"""Whether and what is raised, what a plan says and what shape a release has depends on the schema alone, never on cells.

Two tables of one schema are made of different cells, one of them often of none, and asked the same question. The default run asks
every third question about every kind of column; with `EQUIPOISE_SCHEMA_CASES=20000` there are so many cases.
"""

from __future__ import annotations

import os
import random
import traceback
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import equipoise as eq
from equipoise._columns import Column
from shapes import AWARE, BROKEN, OBJECTS, Hostile, Query, Shape, connection, shapes

KINDS = ("date", "timestamp", "decimal:2", "decimal:18", "integer", "boolean", "number", "text")
QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    ("median", {}),
    ("mean", {}),
    ("count", {"where": "value is not null"}),
    ("count", {"where": "value > 3"}),
    ("count", {"where": "value = 'a'"}),
    ("count", {"privacy_unit": "value"}),
    ("count", {"group_by": "value", "delta": 1e-6}),
    ("mode", {"delta": 1e-6}),
    *(("median", {"types": {"value": kind}}) for kind in KINDS),
    *(("mode", {"types": {"value": kind}, "delta": 1e-6}) for kind in KINDS),
]
SHAPES = shapes()


def raised(error: BaseException, cells: Sequence[Any], data: Any = None) -> tuple[Any, ...]:
    """What an error says, after a look at what it drags along: no other exception, and no cell in the variables of a frame."""
    assert isinstance(error, eq.EquipoiseError), repr(error)
    assert error.__context__ is None and error.__cause__ is None
    line = str(error)
    assert line and "\n" not in line and "secret" not in line and len(line) < 250
    telling = {id(cell) for cell in cells if type(cell) in (str, bytes, float, Decimal, Hostile)}
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if os.sep + "equipoise" + os.sep in frame.f_code.co_filename:
            for value in frame.f_locals.values():
                inside = value if isinstance(value, (list, tuple)) and value is not data else [value]
                assert not telling & {id(one) for one in inside}, frame.f_code
                assert not any(isinstance(one, (str, bytes)) and "secret" in str(one) for one in inside), frame.f_code
    return type(error).__name__, line


def outcome(shape: Shape, cells: list[Any], statistic: str, words: dict[str, Any]) -> Any:
    """The plan, and what becomes of a release, as far as these are public."""
    column = None if statistic == "count" else "value"
    data = shape.build(cells)
    try:
        session = eq.Session(data.run() if isinstance(data, Query) else {"value": data})
        query = getattr(session, statistic)(column, epsilon=1, **words)
        planned = query.summarize()
    except BaseException as error:
        return raised(error, cells)
    try:
        release = query.release().to_dict()
    except BaseException as error:
        assert session.spent["epsilon"] == "0", "whoever pays is answered"
        return planned, raised(error, cells)
    public = ("statistic", "column", "mechanism", "guarantee", "spent", "data", "type")
    return planned, {word: release.get(word) for word in public}


def drawn(shape: Shape, random_: random.Random) -> list[Any]:
    return random_.choices(shape.cells, k=random_.choice((0, 0, 1, 2, 7, 40, 150)))


#: How many cases; the default asks every kind of column every third question.
CASES = int(os.environ.get("EQUIPOISE_SCHEMA_CASES", "0")) or len(SHAPES) * len(QUESTIONS) // 3


@pytest.fixture(scope="module", autouse=True)
def closed() -> Iterator[None]:
    yield
    connection().close()
    connection.cache_clear()


@pytest.mark.parametrize("name", SHAPES)
def test_what_is_said_before_the_charge_depends_on_the_schema(name: str) -> None:
    place, shape, random_ = list(SHAPES).index(name), SHAPES[name], random.Random(name)
    for case in range(place, CASES, len(SHAPES)):
        # Neighbouring kinds of columns begin with other questions, so that few cases cover many pairs.
        statistic, words = QUESTIONS[(place + 7 * (case // len(SHAPES))) % len(QUESTIONS)]
        first, second = drawn(shape, random_), drawn(shape, random_)
        if not first and not second:
            second = list(shape.cells)
        told = [outcome(shape, cells, statistic, words) for cells in (first, second)]
        assert told[0] == told[1], (statistic, words)


def test_a_plan_does_not_tell_whether_a_query_found_rows() -> None:
    people = connection().sql("select 'p' || i as name, i::int as age, i * 0.5::decimal(9,2) as pay from range(300) r(i)")
    for column in ("age", "pay", "name"):
        told = []
        for name in ("p7", "nobody"):
            query = eq.Session(people.filter(f"name = '{name}'")).mode(column, epsilon=1, delta=1e-6)
            release = query.release().to_dict()
            told.append((query.summarize(), release.get("type"), sorted(release)))
        assert told[0] == told[1]
    for data in (people.filter("false"), people.filter("false").to_arrow_table(), people.to_arrow_table().schema.empty_table()):
        assert eq.Session(data).median("age", epsilon=1).release().type == "integer"


@pytest.mark.parametrize("order", ["", "order by x"])
def test_a_query_that_does_not_run_to_its_end_is_a_lost_answer(order: str) -> None:
    # The one fails while its rows are fetched, the other before the first of them.
    query = f"select case when i = {{}} then 'secret-7f3a' else i::varchar end::int as x from range(10000) r(i) {order}"
    good, bad = (eq.Session(connection().sql(query.format(row))) for row in (-1, 5000))
    plans = [session.median("x", epsilon=1) for session in (good, bad)]
    assert plans[0].summarize() == plans[1].summarize()
    assert plans[0].release().type == "integer"
    with pytest.raises(eq.LostError) as caught:
        plans[1].release()
    raised(caught.value, [])
    assert bad.spent["epsilon"] == good.spent["epsilon"] == "1"
    told = []
    for session in (good, bad):
        with pytest.raises(eq.RequestError, match="cannot be read as date") as caught:
            session.median("x", epsilon=1, types={"x": "date"})
        told.append(raised(caught.value, []))
    assert told[0] == told[1]


def test_rows_that_are_nothing_as_a_whole_are_nothing_in_each_column() -> None:
    class Rows:
        def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
            return pa.array([{"x": 1}, None, {"x": None}] * 400, pa.struct({"x": pa.int64()})).__arrow_c_array__(requested_schema)

    # At epsilon 200 the noise is off by one with a chance of e^-200.
    assert eq.count(Rows(), epsilon=200, where="x is null").value == 800


class Watched(Column):
    """A column that counts how often it is read, or fails with a cell on its lips."""

    kind = "number"

    def __init__(self, fails: bool = False) -> None:
        super().__init__(10)
        self.reads, self._fails = 0, fails

    def read(self, kind: str) -> Any:
        self.reads += 1
        if self._fails:
            raise ValueError("secret-7f3a")
        return [1.0] * 10


def test_columns_are_read_after_the_charge_and_for_it_alone() -> None:
    column = Watched()
    session = eq.Session({"x": column}, budget=1)
    session.median("x", epsilon=1).summarize()
    assert column.reads == 0
    first = session.median("x", epsilon=1).release(request_id="once")
    assert column.reads == 1
    with pytest.raises(eq.BudgetError):
        session.median("x", epsilon=1).release()
    assert session.median("x", epsilon=1).release(request_id="once").to_dict() == first.to_dict()
    assert column.reads == 1, "neither what is too dear nor what was answered before reads rows"


def test_what_fails_while_reading_is_lost_and_quotes_nothing() -> None:
    session = eq.Session({"x": Watched(fails=True)}, budget=1)
    with pytest.raises(eq.LostError, match="the charge stands and the answer is lost") as caught:
        session.median("x", epsilon=1).release()
    raised(caught.value, [])
    assert session.remaining_budget == {"epsilon": "0", "delta": "0"}


CELLS: dict[str, tuple[Any, dict[str, Any]]] = {
    "a large number as a decimal": (np.array([1.0, 1e11]), {"types": {"value": "decimal:18"}}),
    "half a pair of surrogates": (pd.Series(["1", "secret \udc80"], dtype=object), {"types": {"value": "integer"}}),
    "a text of numpy's": (np.array(["1", "\udc80"]), {"types": {"value": "date"}}),
    "129 values": (pa.chunked_array([pa.array([f"v{k}"]).dictionary_encode().cast(pa.dictionary(pa.int8(), pa.string())) for k in range(129)]), {}),
    "the first year in the east": (pd.Series(AWARE[:1], dtype=object), {}),
    "the first year as a moment": (pd.Series(AWARE[:1], dtype=object), {"types": {"value": "timestamp"}}),
    "5001 digits": (pd.Series([10**5000], dtype=object), {}),
    "5001 digits as a decimal": (pd.Series([10**5000], dtype=object), {"types": {"value": "decimal:2"}}),
    "everything": (pd.Series(OBJECTS, dtype=object), {}),
    "everything as a moment": (pd.Series(OBJECTS, dtype=object), {"types": {"value": "timestamp"}}),
}


@pytest.mark.parametrize("name", CELLS)
def test_no_cell_of_a_typed_column_raises(name: str) -> None:
    column, words = CELLS[name]
    for data in (column, column[:0]):
        assert isinstance(eq.mode(data, epsilon=1, delta=1e-6, **words).refused, bool)


def test_a_plain_list_is_looked_at_and_its_errors_quote_nothing() -> None:
    for value in OBJECTS:
        for statistic in (eq.median, eq.mode):
            for words in ({}, {"types": {"value": "integer"}}, {"types": {"value": "timestamp"}}):
                data = [value]
                try:
                    statistic(data, epsilon=1, delta=1e-6, **words)
                except Exception as error:
                    raised(error, (value,), data)


def test_a_column_of_objects_is_no_column_of_numbers_until_types_says_so() -> None:
    for cells in ([], [1.0], [1.0, "secret-7f3a"], [object()]):
        column = pd.Series(cells, dtype=object)
        with pytest.raises(eq.DataError, match="the column 'value' holds objects, which are numbers only where types= says so") as caught:
            eq.median(column, epsilon=1)
        raised(caught.value, [])
        for kind in ("integer", "decimal:2", "boolean", "date", "timestamp"):
            assert isinstance(eq.median(column, epsilon=1, types={"value": kind}).refused, bool)
