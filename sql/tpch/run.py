"""The queries of TPC-H in private form beside the truth, as a table of Markdown.

    pip install tpchgen-cli duckdb datafusion
    python sql/tpch/run.py FOLDER equipoise-sql [SCALE]

Makes the tables in FOLDER at the scale factor where there are none yet, gives lineitem the column l_custkey, and asks each query once, with
epsilon 1 and delta 1e-6. The truth is DuckDB's. Times are those of whole processes for the private form, and of the query alone in DuckDB and
in plain DataFusion, each the faster of two.
"""

import json
import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

import datafusion
import duckdb

UNITS = {"customer": "c_custkey", "orders": "o_custkey", "lineitem": "l_custkey"}
TABLES = [*UNITS, "part", "supplier", "partsupp", "nation", "region"]


def tables(folder: Path, scale: str) -> None:
    if (folder / "region.parquet").exists():
        return
    subprocess.run(["tpchgen-cli", "parquet", "-s", scale, "--output-dir", str(folder)], check=True)
    os.chdir(folder)
    duckdb.sql(
        "COPY (SELECT l.*, o.o_custkey AS l_custkey FROM 'lineitem.parquet' l JOIN 'orders.parquet' o ON l_orderkey = o_orderkey)"
        " TO 'with_custkey.parquet' (FORMAT parquet)"
    )
    (folder / "with_custkey.parquet").replace(folder / "lineitem.parquet")


def queries() -> list[tuple[str, str]]:
    text = (Path(__file__).parent / "queries.sql").read_text()
    return re.findall(r"-- Q(\d+)[^\n]*\n(.*?)(?=\n\n-- Q|\Z)", text, re.S)


def private_form(query: str) -> str:
    named = sorted(set(re.findall(r"(\w+)\.parquet", query)))
    units = ", ".join(f"{name}.{UNITS[name]}" for name in named if name in UNITS)
    public = ", ".join(name for name in named if name not in UNITS)
    options = ["epsilon=1", "delta=1e-6"]
    options += [f"privacy_unit_column=[{units}]"] if units else []
    options += [f"public_tables=[{public}]"] if public else []
    return query.replace("OPTIONS(..", f"OPTIONS({', '.join(options)}").strip()


def plain_form(query: str) -> str:
    query = re.sub(r"WITH DIFFERENTIAL_PRIVACY OPTIONS\([^)]*\)", "", query)
    query = re.sub(r"COUNTIF\(([^()]*\([^()]*\))\)", r"COUNT(CASE WHEN \1 THEN 1 END)", query)
    query = re.sub(r" LIMIT \d+", "", query)
    return re.sub(r"(\w+)\.parquet(?! [a-z]\w*\b(?!\())", r"\1", query).replace(".parquet", "")


def timed(run) -> tuple[float, object]:
    times = []
    for _ in range(2):
        start = time.perf_counter()
        found = run()
        times.append(time.perf_counter() - start)
    return min(times), found


def compared(answer: dict, truth: list[tuple]) -> str:
    """How many groups were released, how far off their values are, and how many bars hold the truth."""
    aggregates = [place for place, column in enumerate(answer["columns"]) if answer["errors"] and any(
        row[place] is not None for row in answer["errors"])]
    keys = [place for place in range(len(answer["columns"])) if place not in aggregates]
    as_key = lambda row: tuple(str(row[place]).removesuffix(".0") for place in keys)
    true = {as_key(row): row for row in truth}
    off, held, bars = [], 0, 0
    for row, errors in zip(answer["rows"], answer["errors"]):
        for place in aggregates:
            exact = true[as_key(row)][place]
            if row[place] is None or exact is None:
                continue
            off.append(abs(float(row[place]) - float(exact)) / max(abs(float(exact)), 1e-9))
            if errors[place] and errors[place].get("low") is not None:
                bars += 1
                held += float(errors[place]["low"]) <= float(exact) <= float(errors[place]["high"])
    middle = f"{100 * statistics.median(off):.1f} %" if off else "none"
    return f"{len(answer['rows'])} of {len(truth)} | {middle} | {held} of {bars}"


def main() -> None:
    folder, program = Path(sys.argv[1]).resolve(), str(Path(sys.argv[2]).resolve())
    tables(folder, sys.argv[3] if len(sys.argv) > 3 else "1")
    os.chdir(folder)
    engine, other = duckdb.connect(), datafusion.SessionContext()
    for name in TABLES:
        engine.execute(f"CREATE VIEW {name} AS SELECT * FROM '{name}.parquet'")
        other.register_parquet(name, f"{name}.parquet")
    print("| query | groups released | median error | bars that hold | private | DataFusion | DuckDB |\n|---|---|---|---|---|---|---|")
    for number, query in queries():
        start = time.perf_counter()
        words = [program, "sql", private_form(query), "--json", "--ledger", "tpch.ledger"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        took = time.perf_counter() - start
        if done.returncode not in (0, 3):
            line = json.loads(done.stderr)["error"]
            print(f"| Q{number} | rejected: {line.split(': ', 1)[-1]} | | | | | |", flush=True)
            continue
        plain = plain_form(query)
        duck, truth = timed(lambda plain=plain: engine.execute(plain).fetchall())
        fusion, _ = timed(lambda plain=plain: other.sql(plain).collect())
        print(f"| Q{number} | {compared(json.loads(done.stdout), truth)} | {took:.1f} s | {fusion:.2f} s | {duck:.2f} s |", flush=True)


main()
