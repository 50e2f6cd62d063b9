"""Which rows of a table in an engine count, and how many of each person: the same rows as here under the same key.

Rows are drawn by the order that ``crates/session/src/rows/rank.rs`` defines: SHA-256 over the run's key and a row's cells, spelt as text. It is a function of
the key and of a person's own rows, so that a task that an engine runs twice keeps the same rows. Privacy holds for any key and any order.
"""

from __future__ import annotations

from typing import Any

from .._errors import DataError
from .cells import (
    cell,
    column_name,
    either,
    ibis,
    is_whole,
    nothing,
    number,
    refusal,
    units,
    whole,
    with_ordinal,
)
from .engine import Engine

#: As many groups as a person has.
_ALL = 2**64 - 1


def canonical(engine: Engine, column: Any) -> Any:
    """An id without the white space of ASCII around it; nothing where it is empty then."""
    if not column.type().is_string():
        return column.cast("string")
    trimmed = engine.plain(column).re_replace(f"^[ \t\n\f\r]+|[ \t\n\f\r]+{engine.end_of_text}", "")
    return either(trimmed == "", nothing("string"), trimmed)


class Rows:
    """The rows that a plan is about, from its description."""

    def __init__(self, engine: Engine, names: list[str], described: dict[str, Any]) -> None:
        self._engine, self._names, self._said = engine, names, described
        self._cells: list[dict[str, Any]] = described["cells"]
        self._per_unit: list[dict[str, Any]] = described["per_unit"]
        self._bound: dict[str, Any] | None = described["bound"]
        self._check()

    def _check(self) -> None:
        """Refuse, by the schema alone, what cannot be read there."""
        unit = [] if self._bound is None else [{"column": self._bound["unit"], "kind": "text"}]
        folded = [one["of"] for one in self._per_unit if one["of"] is not None]
        schema = self._engine.table.schema()
        told = [*self._said["keys"], *unit, *self._keys()]
        for read in [*self._cells, *unit, *self._keys(), *folded]:
            dtype = schema[self._engine.columns[read["column"]]]
            why = refusal(dtype, read["kind"], only_there=read not in told and self._bound is None)
            if why is None and read["kind"] == "timestamp":
                why = self._engine.refused_moments(dtype)
            if why is not None:
                raise DataError(f"the column '{self._shown(read)}' {why}; cast it in the table, and ask about that")
        for one in self._per_unit:
            if one["fold"] != "count" and not is_whole(one["of"]["kind"]):
                raise DataError(
                    f"per_unit of '{self._shown(one['of'])}' adds up floats, which engines do in any order; cast the column to a decimal "
                    "or to whole numbers in the table, and ask about that"
                )
        if self._bound is not None:
            self._engine.check_drawing()

    def _shown(self, read: dict[str, Any]) -> str:
        from .. import _equipoise

        return _equipoise.shown(self._names[read["column"]])

    def _keys(self) -> list[dict[str, Any]]:
        if self._bound is None or self._bound["groups"] is None:
            return []
        keys: list[dict[str, Any]] = self._bound["groups"]["keys"]
        return keys

    def reads(self) -> list[dict[str, Any]]:
        """All cells of the table that are read, each once."""
        folded = [one["of"] for one in self._per_unit if one["of"] is not None]
        found = {column_name(read): read for read in [*self._cells, *self._keys(), *folded]}
        return list(found.values())

    @property
    def draws(self) -> bool:
        """Are people's rows bounded?"""
        return self._bound is not None

    def _read(self, read: dict[str, Any]) -> Any:
        return cell(self._engine.table[self._engine.columns[read["column"]]], read["kind"], self._engine)

    def expression(self, run_key: str) -> Any:
        """The rows that count, with a column for each cell that is handed on."""
        cells = {column_name(read): self._read(read) for read in self.reads()}
        table = self._engine.table
        if self._bound is None:
            # A relation has a column: records are counted too.
            return table.select(**cells) if cells else table.select(c_none=whole(0))
        rows = table.select(**cells, u_id=canonical(self._engine, table[self._engine.columns[self._bound["unit"]]]))
        rows = rows.filter(rows.u_id.notnull())
        return self._drawn(rows, run_key, list(cells))

    def _drawn(self, rows: Any, run_key: str, kept: list[str]) -> Any:
        """At most so many rows of each person, in at most so many groups."""
        assert self._bound is not None
        rows, kept = self._spelt(rows, kept)
        window, row_number = ibis().window, ibis().row_number
        copies = row_number().over(window(group_by=["m_group", "m_row"], order_by=["m_row"])) + 1
        rows = rows.select(*kept, "u_id", "m_group", "m_row", m_copy=copies.cast("string"))
        sha256 = self._engine.sha256
        key = ibis().literal(run_key)
        groups = self._bound["groups"]
        few_groups = groups is not None and groups["most"] < _ALL
        placed = {"p_row": sha256(key + rows.m_group + rows.m_row + rows.m_copy + ",").substr(0, 16)}
        if few_groups:
            placed["p_group"] = sha256(key + rows.m_group).substr(0, 16)
        rows = rows.select(*kept, "u_id", "m_group", "m_row", "m_copy", **placed)
        ranks = {"r_row": row_number().over(window(group_by=["m_group"], order_by=["p_row", "m_row", "m_copy"])) + 1}
        if few_groups:
            ranks["r_group"] = ibis().dense_rank().over(window(group_by=["u_id"], order_by=["p_group", "m_group"])) + 1
        folds = {column_name(one["column"]): self._folded(rows, one) for one in self._per_unit}
        rows = rows.select(*kept, "u_id", "m_group", **ranks, **folds)
        # A person's value stands beside one of the rows that are kept, and beside no other.
        first = rows.r_row == 1
        rows = rows.mutate(**{name: either(first, rows[name], nothing("float64" if rows[name].type().is_floating() else "int64")) for name in folds})
        rows = rows.filter(rows.r_row <= whole(min(self._bound["rows"], 2**63 - 1)))
        if few_groups:
            rows = rows.filter(rows.r_group <= whole(min(groups["most"], 2**63 - 1)))
        return rows.select(*kept, *folds, "u_id", "m_group")

    def _spelt(self, rows: Any, kept: list[str]) -> tuple[Any, list[str]]:
        """The messages of groups and rows."""
        of_group, of_row = list(self._keys()), list(self._cells)
        floats = {column_name(read) for read in [*of_group, *of_row] if read["kind"] == "float"}
        all_kept = [*kept, "u_id"]
        for name in sorted(floats):
            ordinal = f"o_{name}"
            rows = with_ordinal(rows, rows[name], ordinal, all_kept)
            all_kept.append(ordinal)
        message = self._text(rows.u_id)
        for read in of_group:
            message = message + self._spell(rows, read)
        own = ibis().literal("")
        for read in of_row:
            own = own + self._spell(rows, read)
        return rows.select(*kept, "u_id", m_group=message, m_row=own), kept

    def _spell(self, rows: Any, read: dict[str, Any]) -> Any:
        column = rows[column_name(read)]
        if read["kind"] == "text":
            return self._text(column)
        if read["kind"] != "float":
            return column.cast("string").fill_null("") + ","
        digits = rows[f"o_{column_name(read)}"].cast("string")
        # Minus zero is a zero with another spelling.
        minus = (column == number(0.0)) & column.cast("string").startswith("-")
        return either(minus, ibis().literal("-0"), digits).fill_null("") + ","

    def _text(self, column: Any) -> Any:
        return (self._engine.byte_length(column).cast("string") + ":" + column).fill_null("") + ","

    def _folded(self, rows: Any, one: dict[str, Any]) -> Any:
        """All rows of a person in a group made one value, beside each of them."""
        over = ibis().window(group_by=["m_group"])
        if one["of"] is None:
            return rows.m_group.count().over(over).cast("int64")
        column = rows[column_name(one["of"])]
        present = column.count().over(over)
        if one["fold"] == "count":
            return present.cast("int64")
        # In two halves, which no number of rows overflows; what 64 bits do not hold is the nearest that they do. By way of a decimal, since Ibis
        # leaves out casts to what it takes a sum for already.
        shifted = self._engine.shifted
        high = shifted(column, 32).sum().over(over).cast("decimal(38, 0)").cast("int64")
        low = (column & whole(2**32 - 1)).sum().over(over).cast("decimal(38, 0)").cast("int64")
        high, low = high + shifted(low, 32), low & whole(2**32 - 1)
        held = either(high > whole(2**31 - 1), whole(2**31 - 1), either(high < whole(-(2**31)), whole(-(2**31)), high))
        low = either(high > whole(2**31 - 1), whole(2**32 - 1), either(high < whole(-(2**31)), whole(0), low))
        total = held * whole(2**32) + low
        if one["fold"] == "sum":
            return either(present > 0, total, nothing("int64"))
        many = either(present > 0, present, whole(1)).cast("float64")
        mean = total.cast("float64") / number(float(units(one["of"]["kind"]))) / many
        return either(present > 0, mean, nothing("float64"))

    def bounded(self, rows: Any) -> Any:
        """The most rows that a person has in a group of rows that were kept, and the most groups: what no later pass could see; and how many there are."""
        assert self._bound is not None
        by_group = rows.group_by(["u_id", "m_group"]).agg(a_rows=rows.count())
        by_unit = by_group.group_by("u_id").agg(a_rows=by_group.a_rows.max(), a_groups=by_group.count(), a_all=by_group.a_rows.sum())
        return by_unit.agg(
            a_rows=by_unit.a_rows.max().fill_null(0), a_groups=by_unit.a_groups.max().fill_null(0), a_all=by_unit.a_all.sum().fill_null(0).cast("int64")
        )

    def fits(self, rows: int, groups: int) -> bool:
        """Are these within the bound?"""
        assert self._bound is not None
        most = self._bound["groups"]
        return rows <= self._bound["rows"] and groups <= (1 if most is None else most["most"])
