"""Passes as expressions: each is a grouped count or sum of the rows that count, and nothing else leaves the engine.

A pass comes as JSON (``crates/session/src/elsewhere/pass.rs``) and its counts go back so. No column of a result may be nothing: some libraries
turn whole numbers into floats then.
"""

from __future__ import annotations

import json
import struct
from typing import Any

from .. import _equipoise
from .cells import (
    INFINITE,
    LARGEST,
    as_float,
    column_name,
    either,
    ibis,
    is_whole,
    named,
    nothing,
    number,
    whole,
    with_ordinal,
)
from .engine import Engine
from .rows import Rows
from .steps import Adding, adding

#: Up to so many keys or brackets are written into an expression; more are a table that is joined.
_WRITTEN = 32
_LEAST, _MOST = -(2**63), 2**63 - 1


class Passes:
    """What the compiled part calls: :meth:`begin` once, then :meth:`count` for each pass."""

    def __init__(self, engine: Engine, rows: Rows) -> None:
        self._engine, self._rows = engine, rows
        self._relation: Any = None
        self._all = 0
        #: How many records each group had, by its columns and key.
        self._records: dict[tuple[tuple[str, ...], tuple[str | None, ...]], int] = {}

    def until(self, came: list[BaseException]) -> Passes:
        """The same, which end once something is in this list: what Ctrl-C raised."""
        self._engine.came = came
        return self

    def close(self) -> None:
        """Let go of what is kept in the engine."""
        self._engine.close()

    def begin(self, run_key: str) -> str:
        """Fix the rows that count."""
        relation = self._rows.expression(run_key)
        if self._rows.draws:
            relation = self._engine.keep(relation)
            counted = self._rows.bounded(relation)
        else:
            counted = relation.agg(a_all=relation.count().cast("int64"))
        found = self._engine.run(counted).to_pylist()
        if len(found) != 1 or (self._rows.draws and not self._rows.fits(int(found[0]["a_rows"]), int(found[0]["a_groups"]))):
            raise RuntimeError("more rows of a person than were to be kept")
        self._relation, self._all = relation, int(found[0]["a_all"])
        return ""

    def count(self, text: str) -> str:
        """One pass."""
        asked = json.loads(text)
        found = _Pass(self._engine, self._relation, asked, self._all).run()
        self._same_records(asked, found)
        return json.dumps(found)

    def _same_records(self, asked: dict[str, Any], found: dict[str, list[dict[str, Any]]]) -> None:
        """Hold the records of each group against those of passes before: sums of a table that changed fit to nothing else."""
        if "records" not in asked["counts"]:
            return
        of, by = asked["counts"].index("records"), tuple(map(column_name, asked["by"]))
        now = {(by, tuple(one["key"])): one["count"] for one in found["counts"] if one["of"] == of}
        gone = {(by, tuple(key)) for key in asked["keys"] or []} & self._records.keys() - now.keys()
        if gone or any(self._records.setdefault(group, count) != count for group, count in now.items()):
            raise RuntimeError("other records than before")


class _Pass:
    def __init__(self, engine: Engine, relation: Any, asked: dict[str, Any], records: int) -> None:
        self._engine, self._asked, self._records = engine, asked, records
        self._by: list[dict[str, Any]] = asked["by"]
        self._keys: list[list[str | None]] | None = asked["keys"]
        self._counts: list[Any] = asked["counts"]
        self._found: dict[str, list[dict[str, Any]]] = {"counts": [], "sums": []}
        #: All rows, and those of groups that are wanted.
        self._everybody = self._source = relation
        #: How many rows of a group are counted by cell or bin.
        self._expected: dict[tuple[tuple[str | None, ...], int], int] = {}
        #: By which columns of ours results are grouped.
        self._group: list[str] = []
        self._indexed = False
        self._nobody = False
        #: Those of wanted groups, where these are a table that is joined.
        self._joined_rows: Any = None
        self._keyed()

    # Groups.

    def _keyed(self) -> None:
        """The rows of the wanted groups, with their keys as texts that are always there: an empty one for a field that is empty."""
        rows = self._everybody
        keys = {f"k{place}": self._key(rows, read) for place, read in enumerate(self._by)}
        if keys:
            rows = rows.mutate(**keys)
        self._group = list(keys)
        width = 0 if not self._keys else len(self._keys[0])
        if self._keys is not None and not self._keys:
            self._nobody = True
        elif self._keys is not None and width:
            rows = self._wanted(rows, width)
        self._everybody = self._source = rows
        if self._joined_rows is not None:
            self._source = self._joined_rows
        elif self._indexed and not self._nobody:
            self._source = rows.filter(rows.g >= 0)

    @staticmethod
    def _key(rows: Any, read: dict[str, Any]) -> Any:
        return rows[column_name(read)].cast("string").fill_null("")

    def _wanted(self, rows: Any, width: int) -> Any:
        """Rows with the place of the wanted key that theirs begins like; -1 where it begins like none, and then all in one group."""
        assert self._keys is not None
        written: dict[tuple[str, ...], int] = {}
        for place, key in enumerate(self._keys):
            cells = [self._stated(text, read) for text, read in zip(key, self._by)]
            if None not in cells:
                written.setdefault(tuple(str(one) for one in cells), place)
        self._indexed = True
        self._group = ["g", *(f"k{place}" for place in range(width, len(self._by)))]
        if not written:
            self._nobody = True
            return rows
        if len(written) <= _WRITTEN:
            cases = [(_all(rows[f"k{place}"] == text for place, text in enumerate(key)), whole(at)) for key, at in written.items()]
            return self._others_together(rows.mutate(g=ibis().cases(*cases, else_=whole(-1))), width)
        columns: dict[str, list[Any]] = {f"w{place}": [key[place] for key in written] for place in range(width)}
        columns["w"] = list(written.values())
        schema = {**{f"w{place}": "string" for place in range(width)}, "w": "int64"}
        table = self._engine.small(columns, schema)
        same = [rows[f"k{place}"] == table[f"w{place}"] for place in range(width)]
        inner = rows.inner_join(table, same)
        self._joined_rows = inner.mutate(g=inner.w)
        rows = rows.left_join(table, same)
        return self._others_together(rows.mutate(g=rows.w.fill_null(whole(-1))), width)

    def _others_together(self, rows: Any, width: int) -> Any:
        rest = [f"k{place}" for place in range(width, len(self._by))]
        return rows.mutate(**{name: either(rows.g < 0, ibis().literal(""), rows[name]) for name in rest}) if rest else rows

    @staticmethod
    def _stated(text: str | None, read: dict[str, Any]) -> str | None:
        """A stated key as our texts have it; nothing where no row can have it."""
        if text is None:
            return ""
        if not is_whole(read["kind"]):
            return text or None
        inside = _equipoise.read(text, named(read["kind"]))
        return None if inside is None else str(inside)

    def _told(self, row: dict[str, Any]) -> list[str | None]:
        """The key of a row of a result."""
        key: list[str | None] = []
        if self._indexed:
            assert self._keys is not None
            key = list(self._keys[int(row["g"])])
        for place in range(len(key), len(self._by)):
            text, kind = row[f"k{place}"], self._by[place]["kind"]
            if text == "":
                key.append(None)
            else:
                key.append(_equipoise.write(int(text), named(kind)) if is_whole(kind) else text)
        return key

    # What is counted.

    def run(self) -> dict[str, Any]:
        if self._nobody:
            return self._found
        plain = [(place, counting) for place, counting in enumerate(self._counts) if _is_plain(counting)]
        inside = {place: _columns(counting) for place, counting in enumerate(self._counts) if _columns(counting)}
        if plain or inside:
            self._plain(plain, inside)
        for place, counting in enumerate(self._counts):
            if not _is_plain(counting):
                ((what, said),) = counting.items()
                getattr(self, f"_{what}")(place, said)
        if any(self._expected.values()):
            raise RuntimeError("cells or bins that do not add up")
        return self._found

    def _plain(self, countings: list[tuple[int, Any]], inside: dict[int, list[dict[str, Any]]]) -> None:
        """Records, values and sums: one row for each group, and one for all records of no group that is wanted. They add up to all records, or a row of
        the result is missing or there twice. ``inside`` has what is counted by cell or bin, which is held against these."""
        rows = self._everybody
        added: dict[int, Adding] = {}
        for place, counting in countings:
            if isinstance(counting, dict) and "sums" in counting:
                rows, added[place] = adding(self._engine, rows, counting["sums"], f"s{place}")
        measures: dict[str, Any] = {"n": rows.count().cast("int64")}
        for place, counting in countings:
            if isinstance(counting, dict) and "values" in counting:
                there = self._there(rows, counting["values"]["columns"])
                measures[f"v{place}"] = either(there, whole(1), whole(0)).sum().fill_null(0).cast("int64")
            elif place in added:
                measures.update(added[place].measures(rows))
        for place, columns in inside.items():
            measures[f"i{place}"] = either(self._there(rows, columns), whole(1), whole(0)).sum().fill_null(0).cast("int64")
        result = rows.group_by(self._group).agg(**measures) if self._group else rows.agg(**measures)
        found = list(self._rows_of(result, self._group))
        if sum(int(row["n"]) for row in found) != self._records or (not self._group and len(found) != 1):
            raise RuntimeError("records that do not add up")
        for row in found:
            if self._indexed and int(row["g"]) < 0:
                continue
            key = self._told(row)
            self._expected.update({(tuple(key), place): int(row[f"i{place}"]) for place in inside})
            for place, counting in countings:
                if place in added:
                    sums = added[place].total(row)
                    if int(row["n"]) or self._group:
                        self._found["sums"].append({"key": key, "of": place, "sums": sums})
                else:
                    self._add(key, place, 0, 0, int(row["n" if counting == "records" else f"v{place}"]))

    def _add(self, key: list[str | None], of: int, bracket: int, bucket: int, count: int) -> None:
        if (tuple(key), of) in self._expected:
            self._expected[tuple(key), of] -= count
        if count:
            self._found["counts"].append({"key": key, "of": of, "bracket": bracket, "bucket": bucket, "count": count})

    @staticmethod
    def _there(rows: Any, columns: list[dict[str, Any]]) -> Any:
        return _all(rows[column_name(read)].notnull() for read in columns)

    def _rows_of(self, result: Any, by: list[str]) -> Any:
        """The rows of a result, each of another group."""
        table = self._engine.run(result)
        if by and table.group_by(by).aggregate([]).num_rows != table.num_rows:
            raise RuntimeError("a group that comes twice")
        columns = [table.column(name).to_pylist() for name in table.column_names]
        return (dict(zip(table.column_names, row)) for row in zip(*columns))

    def _bucketed(self, rows: Any, bucket: Any, more: dict[str, Any] | None = None) -> Any:
        """How many rows there are in each bucket of each group."""
        rows = rows.select(*self._group, b=bucket, **(more or {}))
        by = [*self._group, "b", *(more or {})]
        return self._rows_of(rows.group_by(by).agg(n=rows.count().cast("int64")), by)

    def _places(self, of: int, said: dict[str, Any]) -> None:
        rows, read = self._source, said["column"]
        lattice, brackets, of_nothing = said["places"]["lattice"]["of"], said["brackets"], said["places"]["of_nothing"]
        value = rows[column_name(read)]
        if of_nothing is None:
            # By the cell itself, and never by its place: see `with_ordinal`.
            rows = rows.filter(value.notnull())
            value = rows[column_name(read)]
        if lattice != "floats":
            assert lattice["wholes"]["step"] == 1, "whole numbers as they are"
            rows = rows.select(*self._group, p=value)
        elif len(brackets) <= _WRITTEN and all(bracket["shift"] == 63 for bracket in brackets):
            # All that is asked for is the sign, for which no bits are needed.
            there = value if of_nothing is None else value.fill_null(number(_float(of_nothing)))
            # With a nothing of 64 bits among them: two small numbers have 32 in some engines, which a shift by 63 leaves nothing of.
            sign = either(there.isnull(), nothing("int64"), either(there < number(0.0), whole(-1), whole(0)))
            rows = rows.select(*self._group, x=there, p=sign)
        else:
            rows = self._near(rows, read, said)
            rows = with_ordinal(rows, rows[column_name(read)], "p", self._group)
        # Always there, so that no engine looks whether it is.
        rows = rows.mutate(p=rows.p.fill_null(whole(of_nothing or 0)))
        for layer in _layers(list(enumerate(brackets))):
            self._layer(of, rows, layer)

    def _near(self, rows: Any, read: dict[str, Any], said: dict[str, Any]) -> Any:
        """The rows that lie in a bracket, by their floats: bits are computed of no other row."""
        brackets = said["brackets"]
        if len(brackets) > _WRITTEN or any(bracket["low"] <= -INFINITE and bracket["high"] >= INFINITE for bracket in brackets):
            return rows
        value = rows[column_name(read)]
        found = value.isnull() if said["places"]["of_nothing"] is not None else ibis().literal(False)
        for bracket in brackets:
            inside = (value >= number(_float(bracket["low"]))) & (value <= number(_float(bracket["high"])))
            if self._indexed and bracket["group"] is not None:
                inside = inside & (rows.g == whole(bracket["group"]))
            found = found | inside
        return rows.filter(found)

    def _layer(self, of: int, rows: Any, layer: list[tuple[int, dict[str, Any]]]) -> None:
        """Brackets with one shift, no two of which have a place of one group in common."""
        shift = layer[0][1]["shift"]
        places = [place for place, _ in layer]
        if len(layer) <= _WRITTEN:
            cases = [(self._inside(rows, bracket), whole(at)) for at, (_, bracket) in enumerate(layer)]
            rows = rows.mutate(a=ibis().cases(*cases, else_=whole(-1)))
        else:
            rows = self._joined(rows, [bracket for _, bracket in layer])
        # What lies in no bracket is one more bucket, which is left out here.
        bucket = either(rows.a < 0, whole(0), self._engine.shifted(rows.p, shift))
        for row in self._bucketed(rows, bucket, {"a": rows.a}):
            if int(row["a"]) < 0:
                continue
            place = places[int(row["a"])]
            low = self._counts[of]["places"]["brackets"][place]["low"]
            self._add(self._told(row), of, place, _wrapped(int(row["b"]) - (low >> shift)), int(row["n"]))

    def _inside(self, rows: Any, bracket: dict[str, Any]) -> Any:
        conditions = [ibis().literal(True)]
        if "x" in rows.columns:
            conditions += [rows.x >= number(_float(bracket["low"])), rows.x <= number(_float(bracket["high"]))]
        else:
            if bracket["low"] > _LEAST:
                conditions.append(rows.p >= whole(bracket["low"]))
            if bracket["high"] < _MOST:
                conditions.append(rows.p <= whole(bracket["high"]))
        if self._indexed and bracket["group"] is not None:
            conditions.append(rows.g == whole(bracket["group"]))
        return _all(conditions)

    def _joined(self, rows: Any, brackets: list[dict[str, Any]]) -> Any:
        columns = {
            "a": list(range(len(brackets))),
            "a_low": [bracket["low"] for bracket in brackets],
            "a_high": [bracket["high"] for bracket in brackets],
            "a_group": [bracket["group"] if self._indexed and bracket["group"] is not None else 0 for bracket in brackets],
        }
        table = self._engine.small(columns, dict.fromkeys(columns, "int64"))
        rows = rows.mutate(j=rows.g if self._indexed else whole(0))
        joined = rows.inner_join(table, [rows.j == table.a_group])
        return joined.filter((joined.p >= joined.a_low) & (joined.p <= joined.a_high))

    def _cells(self, of: int, said: dict[str, Any]) -> None:
        rows = self._source.filter(self._there(self._source, said["columns"]))
        value = as_float(rows, said["columns"][said["of"]])
        rows = with_ordinal(rows, value, "p", self._group)
        held = either(rows.p > whole(LARGEST), whole(LARGEST), either(rows.p < whole(-LARGEST), whole(-LARGEST), rows.p))
        for row in self._bucketed(rows, self._engine.shifted(held, said["shift"])):
            self._add(self._told(row), of, 0, int(row["b"]), int(row["n"]))

    def _bins(self, of: int, said: dict[str, Any]) -> None:
        rows, read = self._source, said["column"]
        ((way, bins),) = said["bins"].items()
        of_wholes = way in ("between_wholes", "multiples_of_wholes")
        value = rows[column_name(read)] if of_wholes else as_float(rows, read)
        rows = rows.select(*self._group, x=value)
        rows = rows.filter(rows.x.notnull())
        scale, more = 1, None
        if way == "between" or way == "between_wholes":
            bucket = _bin(rows.x, bins["edges"], bins["on_edge"], whole if of_wholes else number)
        elif way == "multiples":
            rows, bucket = _multiples(rows, self._group, bins["over"], bins["under"])
        else:
            # The first multiple below the least number of 64 bits is none of them: what lies so low is counted one width higher.
            scale = bins["width"]
            low = rows.x < whole(_LEAST + scale)
            moved = either(low, rows.x + whole(scale), rows.x)
            rest = moved % whole(scale)
            bucket, more = moved - either(rest < 0, rest + whole(scale), rest), {"a": either(low, whole(1), whole(0))}
        for row in self._bucketed(rows, bucket, more):
            self._add(self._told(row), of, 0, int(row["b"]) // scale - int(row.get("a", 0)), int(row["n"]))


def _columns(counting: Any) -> list[dict[str, Any]]:
    """The columns in which a row has to have a value to be counted by cell or bin; none where it is not."""
    if not isinstance(counting, dict) or not counting.keys() & {"cells", "bins"}:
        return []
    ((_, said),) = counting.items()
    return list(said["columns"]) if "columns" in said else [said["column"]]


def _is_plain(counting: Any) -> bool:
    return counting == "records" or "values" in counting or "sums" in counting


def _all(conditions: Any) -> Any:
    found = None
    for one in conditions:
        found = one if found is None else found & one
    return ibis().literal(True) if found is None else found


def _wrapped(value: int) -> int:
    """As 64 bits have it."""
    return (value + 2**63) % 2**64 - 2**63


def _float(place: int) -> float:
    """The float at a place."""
    size = float(struct.unpack("<d", struct.pack("<q", min(abs(place), INFINITE)))[0])
    return -size if place < 0 else size


def _layers(brackets: list[tuple[int, dict[str, Any]]]) -> list[list[tuple[int, dict[str, Any]]]]:
    """Brackets in layers of one shift, in each of which those of one group do not overlap."""
    layers: list[tuple[int, dict[Any, int], list[tuple[int, dict[str, Any]]]]] = []
    for place, bracket in sorted(brackets, key=lambda one: one[1]["low"]):
        for shift, ends, layer in layers:
            if shift == bracket["shift"] and ends.get(bracket["group"], _LEAST - 1) < bracket["low"] and (bracket["group"] is None) == (None in ends):
                break
        else:
            ends, layer = {}, []
            layers.append((bracket["shift"], ends, layer))
        ends[bracket["group"]] = bracket["high"]
        layer.append((place, bracket))
    return [layer for _, _, layer in layers]


def _bin(value: Any, edges: list[Any], on_edge: str, literal: Any) -> Any:
    """How many edges lie before a value: a tree of comparisons."""

    def beyond(edge: Any) -> Any:
        return value > literal(edge) if on_edge == "before" else value >= literal(edge)

    def tree(low: int, high: int) -> Any:
        if low == high:
            return whole(low)
        middle = (low + high) // 2
        return either(beyond(edges[middle]), tree(middle + 1, high), tree(low, middle))

    found = tree(0, len(edges))
    if on_edge == "behind" and edges:
        return either(value == literal(edges[-1]), whole(len(edges) - 1), found)
    return found


def _multiples(rows: Any, kept: list[str], over: float, under: float) -> tuple[Any, Any]:
    """The last multiple of ``over / under`` that is not above a number, as ``row_facts::bins`` has it."""
    far = float(2**53)
    # So far out that the quotient is beyond the last multiple, and no farther: some engines fail where a double overflows.
    end = min(far / under * over * 2.0, 1.7976931348623157e308)
    # So near zero that the quotient is below one: some engines fail where a double underflows.
    tiny = abs(over / under) * 2.0**-60
    held = either(rows.x > number(end), number(end), either(rows.x < number(-end), number(-end), rows.x))
    near = either(held.abs() < number(tiny), number(0.0), held) / number(over) * number(under)
    near = near.floor()
    near = either((held < number(0.0)) & (held.abs() < number(tiny)), number(-1.0), near)
    near = either(near > number(far), number(far), either(near < number(-far), number(-far), near))
    rows = rows.select(*kept, x=held, m=near)
    here = rows.m * number(over) / number(under)
    after = (rows.m + number(1.0)) * number(over) / number(under)
    place = either(here > rows.x, rows.m - number(1.0), either(after <= rows.x, rows.m + number(1.0), rows.m))
    place = either(place > number(far), number(far), either(place < number(-far), number(-far), place))
    return rows, place.cast("int64")


