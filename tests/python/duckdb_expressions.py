"""What DuckDB makes of the expressions that both know, for each row of a table with nulls and odd values.

Run with a file name: writes one line for each expression, tabs between its values. `crates/expression/tests/duckdb.rs` holds our own values
against the file that is kept there, `crates/expression/tests/duckdb.tsv`. A row on which DuckDB fails is written as `error`.
"""

from __future__ import annotations

import datetime
import math
import sys

import duckdb

COLUMNS = "f DOUBLE, i BIGINT, b BOOLEAN, t VARCHAR, d DATE, m TIMESTAMP"
ROWS = [
    (2.5, 7, True, "New York", "2026-01-31", "2026-01-31 12:30:00.5"),
    (-2.5, -7, False, "  Ayr ", "1969-12-31", "1969-12-31 23:59:59.999999"),
    (0.0, 0, True, "42", "2000-02-29", "2000-02-29 00:00:00"),
    (None, None, None, None, None, None),
    (1e308, 2**63 - 1, False, "Übergröße", "9999-12-31", "9999-12-31 23:59:59"),
    (-1e-300, -(2**63), True, "a%b_c", "0001-01-01", "0001-01-01 00:00:00"),
    (0.1, 3, None, "-1.5e3", "1970-01-01", "1970-01-01 06:07:08"),
    (1234.5678, 100, False, "2026-02-28", "2024-12-30", "2024-12-30 18:00:00"),
    (3.5, 1, True, "true", "2021-01-04", "2021-01-04 01:01:01"),
    (4.5, 2, False, "x", "1900-03-01", "1900-03-01 13:00:00"),
]
EXPRESSIONS = """
f + 1 | f - 1 | f * 2 | f / 2 | f / 0 | f % 2 | -f | f + i | f * f | f - f | 1 / f | f * 1e10
i + 1 | i - 1 | i * 2 | i % 5 | i % 0 | -i | i / 2 | i / 0 | i * i | i + i | 10 - i | i % -3 | i * 0.5 | 7 % i
f > 2 | f >= 2.5 | f = 0 | f <> 0 | f < i | i <= 7 | i = 100 | i <> 7 | i > 1.5 | f between 0 and 3 | i between -7 and 7 | i not between 0 and 5
f in (2.5, 0) | i in (1, 2, 3) | i not in (7) | t in ('x', '42') | t not in ('x')
f is null | i is not null | t is null | b is null
b and i > 5 | b or i > 5 | not b | not (b and f > 0) | b = true | b <> true | b and null | b or null | (i > 5) = (f > 0)
t = 'x' | t < 'a' | t >= 'N' | t > 'true' | t like 'N%' | t like '%o%' | t like '_y%' | t like '%_' | t not like 'x' | t like '42' | t like '%b%c' | t like 'Ü%e'
lower(t) | upper(t) | length(t) | substr(t, 2) | substr(t, 1, 2) | substr(t, -3) | substr(t, -3, 2) | substr(t, 0, 3) | substr(t, 50) | substr(t, 3, 0) | substr(t, -50, 3)
t || '!' | t || t | concat(t, '-', i) | concat(t, null) | t || null | upper(substr(t, 1, 1)) || lower(substr(t, 2)) | length(t || 'abc')
abs(f) | abs(i) | floor(f) | ceil(f) | round(f) | round(f, 1) | round(f, 2) | round(f, -2) | ln(f) | exp(f) | sqrt(f) | sqrt(i) | floor(i / 2) | round(f * 3, 3)
least(f, 1) | greatest(f, 1) | least(i, 5, 10) | greatest(i, 5) | least(t, 'm') | greatest(f, i)
coalesce(f, 0) | coalesce(i, -1) | coalesce(t, 'none') | coalesce(null, i, 5) | nullif(i, 7) | nullif(t, 'x') | nullif(f, 0)
case when i > 5 then 'many' when i > 0 then 'few' else 'none' end | case when f > 0 then 1 end | case i when 7 then 'seven' when 1 then 'one' end | if(b, 1, 2) | if(f > 0, f, -f) | case when b then i else f end
year(d) | month(d) | day(d) | weekday(d) | year(m) | month(m) | day(m) | hour(m) | weekday(m) | month(d) + 12 * year(d)
date_trunc('month', d) | date_trunc('year', d) | date_trunc('quarter', d) | date_trunc('week', d) | date_trunc('day', m) | date_trunc('hour', m) | date_trunc('minute', m) | date_trunc('second', m)
d + 1 | d - 30 | d - cast('2000-01-01' as date) | d > '2000-01-01' | d between '1970-01-01' and '2026-01-31' | m >= '2000-02-29' | m < d | cast(m as date) = d | date_trunc('month', m) = date_trunc('month', d)
cast(f as integer) | cast(i as float) | cast(i as text) | cast(t as integer) | cast(t as float) | cast(t as date) | cast(t as boolean) | cast(b as integer) | cast(b as text) | cast(i as boolean) | cast(d as text) | cast(d as timestamp) | cast(m as date) | cast(f as boolean)
"""
# Where our words are not DuckDB's.
WORDS = {" as float)": " as double)", " as integer)": " as bigint)"}


def written(value: object) -> str:
    """A value as the test reads it: what is no value here, among it what is infinite or empty, as null."""
    if value is None or value == "" or (isinstance(value, float) and not math.isfinite(value)):
        return "null"
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep="T") + "Z"
    if isinstance(value, datetime.date):
        return value.isoformat()
    return repr(float(value)) if not isinstance(value, (int, str)) else str(value)


def lines() -> list[str]:
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE rows (place INTEGER, {COLUMNS})")
    for place, row in enumerate(ROWS):
        connection.execute("INSERT INTO rows VALUES (?, ?, ?, ?, ?, ?, ?)", [place, *row])
    found = []
    names = [name.split()[0] for name in COLUMNS.split(", ")]
    for name in names:
        values = connection.execute(f"SELECT {name} FROM rows ORDER BY place").fetchall()
        found.append("\t".join(["column " + name, *(written(value) for (value,) in values)]))
    for expression in EXPRESSIONS.replace("\n", " | ").split(" | "):
        if not (expression := expression.strip()):
            continue
        sql = expression
        for ours, theirs in WORDS.items():
            sql = sql.replace(ours, theirs)
        values = []
        for place in range(len(ROWS)):
            try:
                (value,) = connection.execute(f"SELECT {sql} FROM rows WHERE place = {place}").fetchone()
                values.append(written(value))
            except duckdb.Error:
                values.append("error")
        found.append("\t".join([expression, *values]))
    return found


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        out.write("\n".join(lines()) + "\n")
