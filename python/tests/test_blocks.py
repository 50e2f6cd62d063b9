"""A block is made of its own cells and the public schema: whatever the other rows are, equal rows are equal blocks, to the byte.

`EQUIPOISE_BLOCK_CASES=20000` tries so many cases for each library. Every case has a number, by which it can be tried again.
"""

from __future__ import annotations

import datetime
import os
import pickle
import random
import threading
from collections import Counter
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import equipoise as eq
from equipoise import _subsample, _workers
from equipoise._blocks import cutter
from written import DAY, UTC, WITHOUT_NONE, Family, drawn, families, quiet

CASES = int(os.environ.get("EQUIPOISE_BLOCK_CASES", "400"))


def block_of(data: Any, places: list[int]) -> Any:
    return cutter(data)(np.array(places, dtype=np.int64))


def marks(block: Any) -> list[Any]:
    """Everything about a block that a function could look at."""
    buffers: list[pickle.PickleBuffer] = []
    whole = pickle.dumps(block, protocol=5, buffer_callback=buffers.append)
    found = [type(block), pickle.dumps(block, protocol=4), whole, [bytes(buffer.raw()) for buffer in buffers]]
    if isinstance(block, np.ndarray):
        assert block.base is None or (type(block) is not np.ndarray and block.base.base is None)
        found += [block.dtype, block.shape, block.strides, str(block.flags)]
    if isinstance(block, pd.DataFrame):
        inside = [(type(part.values).__name__, part.mgr_locs.as_array.tolist()) for part in block._mgr.blocks]
        found += [list(block.dtypes), repr(block.index), repr(block.columns), block.attrs, inside]
    if isinstance(block, pd.Series):
        found += [block.dtype, repr(block.index), block.name, block.attrs]
    if isinstance(block, (pl.DataFrame, pl.Series)):
        columns = block.get_columns() if isinstance(block, pl.DataFrame) else [block]
        found += [(column.dtype, column.flags, column.n_chunks(), column.estimated_size()) for column in columns]
    if isinstance(block, (pa.Table, pa.RecordBatch)):
        found += [block.schema.serialize().to_pybytes(), [bits(column) for column in block.columns]]
    if isinstance(block, (pa.Array, pa.ChunkedArray)):
        found += [block.type, bits(block)]
    return found


def bits(column: Any) -> list[Any]:
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    return [[buffer and buffer.to_pybytes() for buffer in chunk.buffers()] + [chunk.offset, chunk.nbytes] for chunk in chunks]


def columns_of(block: Any) -> list[list[Any]]:
    """The cells of each column, as Python has them."""
    if isinstance(block, pd.DataFrame):
        return [[plain(cell) for cell in block.iloc[:, place].to_numpy(object)] for place in range(block.shape[1])]
    if isinstance(block, pl.DataFrame):
        return [[plain(cell) for cell in column.to_list()] for column in block.get_columns()]
    if isinstance(block, (pa.Table, pa.RecordBatch)):
        return [[plain(cell) for cell in column.to_pylist()] for column in block.columns]
    if isinstance(block, np.ndarray) and block.dtype.names:
        return [[plain(cell) for cell in block[name]] for name in block.dtype.names]
    if isinstance(block, np.ndarray) and block.ndim == 2:
        return [[plain(cell) for cell in block[:, place]] for place in range(block.shape[1])][:1]
    listed = getattr(block, "to_pylist", getattr(block, "to_list", lambda: block))
    return [[plain(cell) for cell in listed()]]


def plain(cell: Any) -> Any:
    """One of all that mean the same: no number is no cell, and times are microseconds."""
    if isinstance(cell, datetime.datetime):
        cell = cell.astimezone(datetime.timezone.utc).replace(tzinfo=None) if cell.tzinfo else cell
        return None if cell is pd.NaT else ("moment", (cell - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1))
    if isinstance(cell, datetime.timedelta):
        return ("duration", cell // datetime.timedelta(microseconds=1))
    if isinstance(cell, (np.datetime64, np.timedelta64)):
        return None if np.isnat(cell) else ("moment" if cell.dtype.kind == "M" else "duration", int(cell.astype("i8")))
    return None if isinstance(cell, (float, complex)) and cell != cell else cell


WRAPPED = {
    "numpy": ["array", "strided", "reversed", "read-only", "square", "fields", "records"],
    "pandas": ["Series", "DataFrame", "DataFrame", "DataFrame by insertion", "DataFrame of a slice"],
    "polars": ["Series", "DataFrame", "DataFrame", "DataFrame in chunks", "DataFrame of a slice"],
    "arrow": ["Array", "ChunkedArray", "Table", "Table in chunks", "Table of a slice", "RecordBatch"],
}


class Case:
    """Two tables that agree on the rows of a block in cells, and neither in types nor in places nor in other rows."""

    def __init__(self, library: str, number: int) -> None:
        self.rng = random.Random(f"{library} {number}")
        self.families = families(library)
        self.rows = self.rng.choice([0, 1, 2, 5, 9])
        self.wrapped = self.rng.choice(WRAPPED[library])
        single = self.wrapped in ("array", "strided", "reversed", "read-only", "square", "Series", "Array", "ChunkedArray")
        self.kinds = [self.rng.choice(list(self.families)) for _ in range(1 if single else self.rng.choice([1, 2, 3]))]
        self.cells = [self.own(self.families[kind]) for kind in self.kinds]
        self.said = [self.wrapped]

    def own(self, family: Family) -> list[Any]:
        missing = self.rng.random()
        if missing < 0.15:
            return [None] * self.rows
        cells = drawn(self.rng, family.cells, self.rows, missing < 0.5, "")
        fitting = any(name not in WITHOUT_NONE for name in family.encodings)
        return cells if fitting else [cell if cell is not None else family.cells[0] for cell in cells]

    def table(self) -> tuple[Any, list[int]]:
        """A table with these rows somewhere in it, and where."""
        count = self.rows + self.rng.choice([0, 1, 3, 20])
        places = self.rng.sample(range(count), self.rows)
        columns = [self.column(kind, cells, places, count) for kind, cells in zip(self.kinds, self.cells)]
        return wrap(self.wrapped, columns, self.rng), places

    def column(self, kind: str, cells: list[Any], places: list[int], count: int) -> Any:
        family = self.families[kind]
        if all(cell is None for cell in cells):  # a column without a value here may be anything elsewhere
            family = self.families[self.rng.choice([name for name in self.families if name != "bytes"])]
        unfit = {*(WITHOUT_NONE if None in cells else ()), *("T" if self.wrapped in ("fields", "records") else ())}
        encoding = self.rng.choice([name for name in family.encodings if name not in unfit])
        self.said.append(f"{kind} as {encoding}")
        whole = drawn(self.rng, family.beside(encoding, self.rng.random() < 0.5), count, self.rng.random() < 0.5, encoding)
        for place, cell in zip(places, cells):
            whole[place] = cell
        return family.encodings[encoding](whole)


def wrap(kind: str, columns: list[Any], rng: random.Random) -> Any:
    """Columns as a table of this kind, with marks of other rows all over it."""
    column, rows = columns[0], len(columns[0])
    if isinstance(column, np.ndarray):
        return wrap_numpy(kind, columns, rng)
    names = [f"c{place}" for place in range(len(columns))]
    if isinstance(column, pd.Series):
        return wrap_pandas(kind, dict(zip(names, columns)), rng)
    cut = rng.randrange(rows + 1)
    if isinstance(column, pl.Series):
        table = pl.DataFrame([one.alias(name) for name, one in zip(names, columns)])
        if kind == "Series":
            return table["c0"].set_sorted() if rng.random() < 0.3 else table["c0"]
        if kind == "DataFrame in chunks":
            return pl.concat([table[:cut], table[cut:]], rechunk=False)
        return pl.concat([table, table])[:rows] if kind == "DataFrame of a slice" else table
    if kind == "Array":
        return column
    fields = [pa.field(name, one.type, not rng.random() < 0.3 or one.null_count > 0, {"note": str(rng.random())}) for name, one in zip(names, columns)]
    batch = pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields, {"rows": str(rows)}))
    if kind == "RecordBatch":
        return batch
    table = pa.Table.from_batches([batch])
    if kind in ("Table in chunks", "ChunkedArray"):
        table = pa.concat_tables([table.slice(0, cut), table.slice(cut)])
    if kind == "Table of a slice":
        table = pa.concat_tables([table, table]).slice(rows)
    return table["c0"] if kind == "ChunkedArray" else table


def wrap_numpy(kind: str, columns: list[Any], rng: random.Random) -> Any:
    column = columns[0]
    if kind in ("fields", "records"):
        dtype = np.dtype([(f"c{place}", one.dtype) for place, one in enumerate(columns)], align=rng.random() < 0.5)
        table = np.zeros(len(column), dtype)
        for place, one in enumerate(columns):
            table[f"c{place}"] = one
        return table.view(np.recarray) if kind == "records" else table
    if kind == "strided":
        whole = np.empty((len(column), 3), column.dtype)
        whole[:] = column.reshape(-1, 1)
        return whole[:, 1]
    if kind == "square":
        whole = np.empty((len(column), 2), column.dtype, order=rng.choice("CF"))
        whole[:] = column.reshape(-1, 1)
        return whole
    if kind == "reversed":
        return column[::-1].copy()[::-1]
    column.flags.writeable = kind != "read-only"
    return column


@quiet
def wrap_pandas(kind: str, columns: Any, rng: random.Random) -> Any:
    rows = len(columns["c0"])
    index: Any = rng.choice([pd.RangeIndex(rows), pd.Index([f"row {rng.random()}" for _ in range(rows)], name="who"), pd.RangeIndex(7, rows + 7)])
    columns = {name: column.set_axis(index) for name, column in columns.items()}
    if kind == "Series":
        column = columns["c0"].rename("c0")
        column.attrs["rows"] = rows
        return column
    if kind == "DataFrame by insertion":
        table = pd.DataFrame(index=index)
        for name, column in columns.items():
            table[name] = column
        return table
    table = pd.DataFrame(columns)
    table.attrs["rows"] = rows
    if kind == "DataFrame of a slice":
        table = pd.concat([table, table])[["c0", *table.columns]].iloc[:rows, 1:]
    return table


def check(library: str, number: int) -> None:
    case = Case(library, number)
    (one, here), (two, there) = case.table(), case.table()
    said = f"case {number} of {library}: {case.said}, {case.cells} at {here} and {there}"
    first, second = block_of(one, here), block_of(two, there)
    assert marks(first) == marks(second), said
    assert columns_of(first) == [[plain(cell) for cell in cells] for cells in case.cells], said


@pytest.mark.parametrize("library", list(WRAPPED))
def test_equal_rows_are_equal_blocks_whatever_the_others_are(library: str) -> None:
    for number in range(CASES):
        check(library, number)


#: For each type the cells that a block has, and the families that can write them, each with how it does.
DECLARED: dict[Any, tuple[list[Any], dict[str, Any]]] = {
    "number": ([0, 1, 7, 100], {"numbers": int, "texts": str, "fractions": float, "complex": complex}),
    "integer": ([0, 1, 7, 100], {"numbers": int, "texts": str}),
    "decimal:2": ([0, 1, 7, 100], {"numbers": int, "texts": "{}.00".format}),
    "boolean": ([0, 1], {"booleans": bool, "texts": lambda cell: "ny"[cell], "numbers": int}),
    "text": (["Ayr", "b", "7"], {"texts": str}),
    ("b", "Ayr", "never"): (["Ayr", "b"], {"texts": str}),
    # With as many digits as a number needs, whatever its column has.
    ("0.1", "never", "123.3", "7", "0.7"): (["0.1", "7", "123.3"], {"texts": str, "fractions": float, "complex": complex}),
    "decimal:1": ([Decimal("0.1"), Decimal("7.0"), Decimal("123.3")], {"texts": str, "fractions": float, "complex": complex}),
    "date": ([DAY, DAY + datetime.timedelta(days=9)], {"days": lambda day: day, "texts": lambda day: str(day.date())}),
    "timestamp": (
        [DAY, DAY + datetime.timedelta(seconds=9)],
        {"moments": lambda at: at, "texts": lambda at: f"{at.isoformat()}Z", "zoned": lambda at: at.replace(tzinfo=UTC)},
    ),
}


def check_declared(library: str, number: int) -> None:
    rng = random.Random(f"{library} declared {number}")
    word = rng.choice(list(DECLARED))
    pool, ways = DECLARED[word]
    known = families(library)
    cells = [rng.choice(pool) for _ in range(rng.choice([0, 1, 2, 5]))]
    blank = rng.random() < 0.2
    found, said = [], [str(word)]
    for _ in range(2):
        count = len(cells) + rng.choice([0, 1, 20])
        places = rng.sample(range(count), len(cells))
        way = rng.choice([way for way in ways if way in known])
        family = known[rng.choice([name for name in known if name != "bytes"]) if blank else way]
        encoding = rng.choice([name for name in family.encodings if not (blank and name in WITHOUT_NONE)])
        whole = drawn(rng, family.beside(encoding, rng.random() < 0.5), count, rng.random() < 0.5, encoding)
        for place, cell in zip(places, cells):
            whole[place] = None if blank else ways[way](cell)
        said.append(f"{way} as {encoding}")
        data = family.encodings[encoding](whole)
        found.append(cutter(data, list(word) if isinstance(word, tuple) else word)(np.array(places, dtype=np.int64)))
    assert marks(found[0]) == marks(found[1]), f"case {number} of {library}: {said}, {cells}"
    read = [None if cell is pd.NA else plain(cell) for cell in columns_of(found[0])[0]]
    if word == "date":
        read = [plain(datetime.datetime.combine(cell, datetime.time())) if isinstance(cell, datetime.date) else cell for cell in read]
        read = [("moment", cell[1] * 86_400_000_000) if library == "numpy" and cell else cell for cell in read]
    assert read == [None if blank else plain(cell) for cell in cells], f"case {number} of {library}: {said}"


@pytest.mark.parametrize("library", list(WRAPPED))
def test_a_declared_type_is_the_type_of_every_block_whatever_the_table_s_is(library: str) -> None:
    for number in range(CASES):
        check_declared(library, number)


def test_types_are_words_of_questions_or_categories() -> None:
    table = pd.DataFrame({"n": [1, 2**60 + 1, None], "t": ["a", "b", "rare"]}, dtype=object)
    types = {"n": "integer", "t": ["b", "a"]}
    block = cutter(table, types)(np.array([1, 2]))
    assert block["n"].tolist() == [2**60 + 1, pd.NA] and list(block["t"].cat.categories) == ["b", "a"] and block["t"].isna()[1]
    before = eq.spent()
    for data, said, what in [
        (table, {"x": "text"}, "no column is called 'x'. There are: n, t"),
        (table, {"n": "int"}, "types= of 'n' is not accepted; give number, integer"),
        (table, {"n": "decimal:19"}, "not accepted"),
        (table, {"t": []}, "a list of different texts"),
        (table, {"t": ["a", "a"]}, "a list of different texts"),
        ([1, 2], "number", "types= has no place"),
        (pd.DataFrame([[1, 2]], columns=["c", "c"]), {"c": "text"}, "more than one column is called 'c'"),
    ]:
        with pytest.raises(eq.EquipoiseError, match=what):
            eq.subsample(len, data, epsilon=10, blocks=50, types=said)
    assert eq.spent() == before


def test_a_list_gives_copies_of_its_own_elements() -> None:
    whole = np.arange(12.0).reshape(4, 3)
    word = "".join(["a text", " that others have too"])
    data = [whole[0], {"k": word}, word, word, None, 7, (word, [1]), lambda: 1]
    first = block_of(data, [0, 1, 2, 3, 4, 5, 6])
    assert first[0].base is None and first[0].tolist() == whole[0].tolist()
    assert first[1] == data[1] and first[1] is not data[1] and first[2] is first[3] is not word
    assert pickle.dumps(first) == pickle.dumps(block_of([*map(pickle.loads, map(pickle.dumps, data[:7])), "other"], [*range(7)]))
    first[1]["k"] = "changed"
    assert data[1] == {"k": word}
    assert block_of(data, [7]) == [data[7]]  # what cannot be copied is given as it is
    assert block_of(range(5), [1, 3]) == [1, 3] == block_of((0, 1, 2, 3), [1, 3])


def test_how_many_rows_share_a_number_is_not_to_be_seen() -> None:
    """Objects count who refers to them: a number that is one object in many rows told how many they are."""
    for shared in (1234.5, 10**30, 1 + 2j, -0.0):
        for data in ([shared, "x"], np.array([shared, "x"], dtype=object), pd.Series([shared, "x"], dtype=object)):
            first = block_of(data, [0, 1])[0]
            assert first is not shared and first == shared and type(first) is type(shared) and repr(first) == repr(shared)


def test_columns_nested_too_deeply_are_refused_in_a_line_of_ours() -> None:
    before = eq.spent()
    kind, dtype = pa.int64(), pl.Int64()
    for _ in range(1000):
        kind = pa.struct([("f", kind)])
    for _ in range(100):
        dtype = pl.List(dtype)
    for data in (
        pa.table({"x": pa.array([1.0] * 200), "deep": pa.nulls(200, kind)}),
        pl.DataFrame({"deep": pl.Series([None] * 200, dtype=dtype)}),
        pd.DataFrame({"deep": pd.Series(pd.arrays.ArrowExtensionArray(pa.nulls(200, kind)))}),
    ):
        with pytest.raises(eq.DataError, match="the column 'deep' is nested more than 64 levels deep; leave such columns out"):
            eq.subsample(len, data, epsilon=10, blocks=50, default=0.0)
    assert eq.spent() == before


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_arrays_of_other_shapes_and_classes() -> None:
    cube = np.arange(24).reshape(4, 3, 2)
    assert block_of(cube, [2, 0]).tolist() == cube[[2, 0]].tolist() and block_of(cube, [2]).dtype == np.float64
    matrix = block_of(np.matrix([[1, 2], [3, 4]]), [1])
    assert type(matrix) is np.matrix and matrix.tolist() == [[3.0, 4.0]]
    for junk in (["x", 5.0], [-1, 2**40], [datetime.date(1999, 1, 1), None]):
        masked = np.ma.array([7, *junk], mask=[False, True, True], dtype=object)
        assert marks(block_of(masked, [0, 1])) == marks(block_of(np.ma.array([7, 0], mask=[False, True]), [0, 1]))
    for dtype in ("f4", "M8[s]", "U9", "m8[D]", "c8", "S3"):
        shown, hidden = (np.ma.array(np.array(cells, "i4").astype(dtype), mask=[True, False]) for cells in ([5, 1], [6, 1]))
        assert marks(block_of(shown, [0, 1])) == marks(block_of(hidden, [0, 1])), dtype
    inner = np.zeros(3, [("a", "i2"), ("b", [("c", "U40"), ("d", "f4", (2,))])])
    assert block_of(inner, [1]).dtype == np.dtype([("a", "<f8"), ("b", [("c", "O"), ("d", "<f8", (2,))])])


def test_times_at_the_ends_of_their_units_are_times_or_none() -> None:
    for unit in ("Y", "M", "W", "D", "h", "s", "ms", "us", "ns", "as"):
        for kind in "Mm":
            if kind == "m" and unit in "YM":
                continue
            ends = np.array([-(2**63) + 1, -(2**62), 0, 2**62, 2**63 - 1]).view(f"{kind}8[{unit}]")
            found = block_of(ends, [0, 1, 2, 3, 4])
            known = ~np.isnat(found)
            assert known[2] and (np.abs(found[known].astype("i8").astype(float)) <= 2**63).all()
            assert unit in ("us", "ns", "as") or not known[[0, 1, 3, 4]].any(), unit
    days = pa.array([-(2**31), 0, 2**31 - 1, None], pa.int32()).cast(pa.date32())
    assert block_of(days, [0, 1, 2, 3]).null_count == 3
    assert block_of(pl.Series([-(2**31), 0, 2**31 - 1, None], dtype=pl.Int32).cast(pl.Date), [0, 1, 2, 3]).null_count() == 3


def test_names_stay_and_everything_else_about_a_table_goes() -> None:
    names = pd.MultiIndex.from_tuples([("a", 1), ("a", 2)], names=["x", "y"])
    table = pd.DataFrame(np.arange(6).reshape(3, 2), columns=names)
    assert block_of(table, [1]).columns.equals(names) and block_of(table, [1]).columns.names == ["x", "y"]
    twice = pd.DataFrame([[1, "a"], [2, "b"]], columns=["c", "c"])
    assert list(block_of(twice, [1]).columns) == ["c", "c"] and list(block_of(twice, [1]).dtypes) == [np.float64, object]
    assert block_of(pd.DataFrame(index=range(5)), [1, 2]).shape == (2, 0)
    assert block_of(pl.DataFrame({"a": [1], "é": ["x"]}), [0]).columns == ["a", "é"]
    assert block_of(pd.Index([3, 1, 2], name="n"), [1]).tolist() == [1.0]
    assert block_of(pd.array([1, None], dtype="Int64"), [0]).dtype == np.float64
    categories = block_of(pd.Series(pd.cut(np.arange(9), 3)), [0, 1])
    assert categories.dtype == object and categories[0] == categories[1]


def test_of_what_can_carry_anything_no_blocks_are_made() -> None:
    before = eq.spent()
    table = pl.DataFrame({"o": pl.Series([object(), object()], dtype=pl.Object)})
    unions = pa.UnionArray.from_sparse(pa.array([0, 0], pa.int8()), [pa.array([1, 2])])
    for data, said in [
        (table, "column 'o' of type Object"),
        (pa.table({"u": unions}), "column 'u'"),
        (np.zeros(3, "V8"), "array of"),
        (np.array(5), "rows|data"),
        (type("Odd", (np.ndarray,), {})(3), "Odd"),
        (memoryview(b"abc"), "memoryview"),
    ]:
        with pytest.raises(eq.DataError, match=said) as caught:
            eq.subsample(len, data, epsilon=10, blocks=50)
        assert "\n" not in str(caught.value)
    assert eq.spent() == before


def dummies(block: Any) -> float:
    """How many different texts a block seems to hold, and how wide they seem to be."""
    if isinstance(block, np.ndarray):
        return float(block.dtype.itemsize if block.dtype.kind == "U" else max(map(len, block)))
    if isinstance(block, pl.DataFrame):
        column = block["d"]
        return float(len(column.cat.get_categories()) if isinstance(column.dtype, pl.Categorical) else column.n_unique())
    return float(pd.get_dummies(block if isinstance(block, pd.DataFrame) else block.to_pandas()).shape[1])


TABLES = {
    "pandas": lambda rows: pd.DataFrame({"d": pd.Categorical(rows)}),
    "polars": lambda rows: pl.DataFrame({"d": pl.Series(rows, dtype=pl.Categorical)}),
    "arrow": lambda rows: pa.table({"d": pa.array(rows).dictionary_encode()}),
    "numpy": lambda rows: np.array(rows),
}


@pytest.mark.parametrize(
    ("library", "how"), [*((library, {}) for library in TABLES), ("pandas", {"n_jobs": 2}), ("pandas", {"time_limit": 600})]
)
def test_a_rare_diagnosis_is_seen_in_one_block_only(library: str, how: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """The attack that was: one-hot columns of a block were those of all rows, so that every block told of one person."""
    votes: list[list[float]] = []
    counted = _subsample.votes_of
    monkeypatch.setattr(_subsample, "votes_of", lambda *said, **words: votes.append(counted(*said, **words)) or votes[-1])
    rows = ["cold", "flu"] * 1500
    eq.subsample(dummies, TABLES[library]([*rows, "a rare one"]), epsilon=10, blocks=50, **how)
    # A block is without one of the two common words with a chance of (49/50)^1500, so all have both but with a chance of 1e-11.
    assert sorted(Counter(votes[0]).values()) == [1, 49]


def codes(block: Any) -> float:
    """What the categories of a block are to Polars, which counts them through all of a process."""
    return float(block["d"].cast(pl.Categorical).to_physical().max())


def keeps_a_cycle(block: Any) -> float:
    column = block["d"].cast(pl.Categorical)
    cycle: list[Any] = [column]
    cycle.append(cycle)
    return float(column.to_physical().max())


def keeps(block: Any) -> float:
    column = block["d"].cast(pl.Categorical)
    KEPT.append(column)
    return float(column.to_physical().max())


KEPT: list[Any] = []


@pytest.mark.parametrize(
    ("f", "how", "given", "alive"),
    [
        (codes, {}, pl.Categorical, False),
        (codes, {}, pl.String, True),
        (codes, {}, pl.String, False),
        (codes, {"n_jobs": 2}, pl.String, False),
        (codes, {"n_jobs": None}, pl.String, False),  # as many as joblib was told
        (keeps_a_cycle, {}, pl.String, False),
    ],
)
def test_codes_of_polars_categories_are_those_of_the_block(
    f: Any, how: dict[str, Any], given: Any, alive: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its caller's table kept a rare category known to every block, and a block those of others."""
    import joblib

    votes: list[list[float]] = []
    counted = _subsample.votes_of
    monkeypatch.setattr(_subsample, "votes_of", lambda *said, **words: votes.append(counted(*said, **words)) or votes[-1])
    table = pl.DataFrame({"d": pl.Series(["a rare one", *["cold", "flu"] * 200], dtype=pl.Categorical)})
    kept = table if alive else None
    with joblib.parallel_config(backend="threading", n_jobs=2 if how else 1):
        eq.subsample(f, table.cast(given), epsilon=60, blocks=30, default=0.0, **how)
    # A block without one of the common words has a smaller code. One that is larger than 1 is in the one block with three words.
    assert len([vote for vote in votes[0] if vote > 1]) <= 1 and set(votes[0]) <= {0.0, 1.0, 2.0}
    assert kept is None or kept.height == 401


def test_a_process_in_which_a_function_keeps_categories_is_used_once() -> None:
    worker = _workers._Worker(_workers._Answer(keeps, None, False))
    try:
        assert [worker.vote(pl.DataFrame({"d": [word]}), None) for word in ("a rare one", "flu")] == [0.0, 0.0]
    finally:
        worker.stop()


def test_a_function_that_no_process_can_be_given_is_refused_where_polars_has_categories() -> None:
    lock = threading.Lock()
    before = eq.spent()
    with pytest.raises(eq.RequestError, match="categories of Polars are shared by all of a process, so f runs in another, and f cannot"):
        eq.subsample(lambda block: float(lock.locked()), pl.DataFrame({"d": pl.Series(["a"], dtype=pl.Categorical)}), epsilon=10, blocks=50)
    assert eq.spent() == before
