"""One query about ten million rows of a Parquet file, private and not: a count, a mean of an expression and a median for each of fifty towns,
of the rows that a filter leaves.

The private one is the whole command line, from its start to its receipt; the other one is DuckDB, from its import to its rows. Both run
one after the other, five times; of the times, the middle one is told. Each query is also asked with one aggregate alone.

sql.py EQUIPOISE [--json] [--rows N] [--rounds N]
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

MAKE = """
import sys, duckdb
path, rows = sys.argv[1:]
duckdb.sql("SET enable_progress_bar = false")
duckdb.sql(f'''COPY (SELECT
    round(45000 * exp(0.6 * sqrt(-2 * ln(1 - random())) * cos(6.283185307179586 * random())), 2) AS salary,
    CAST(floor(18 + 60 * random()) AS BIGINT) AS age,
    'town ' || CAST(floor(50 * random()) AS BIGINT) AS town
FROM range({rows})) TO '{path}' (FORMAT parquet)''')
"""
ASK = "import sys, duckdb; duckdb.sql('SET enable_progress_bar = false'); print(len(duckdb.sql(sys.argv[1]).fetchall()))"

AGGREGATES = {
    "count": "COUNT(*)",
    "avg": "AVG(salary * 12 / 1000)",
    "median": "MEDIAN(salary)",
    "all three": "COUNT(*), AVG(salary * 12 / 1000), MEDIAN(salary)",
}
EPSILON = ["--epsilon", "1", "--delta", "1e-9"]


def run(command):
    """Seconds, CPU seconds and peak megabytes."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    printed = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{command[0]} failed: {printed}")
    seconds = time.monotonic() - begin
    return {"seconds": seconds, "cpu": usage.ru_utime + usage.ru_stime, "megabytes": usage.ru_maxrss / 1024}


def middle(runs):
    return {name: statistics.median(run_[name] for run_ in runs) for name in runs[0]}


def number(flags, name, default):
    return int(flags[flags.index(name) + 1]) if name in flags else default


def main():
    program, *flags = sys.argv[1:]
    rows, rounds = number(flags, "--rows", 10**7), number(flags, "--rounds", 5)
    results = []
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/rows.parquet"
        # In a process of its own: a child begins with the peak of its parent.
        subprocess.run([sys.executable, "-c", MAKE, path, str(rows)], check=True)
        for name, aggregates in AGGREGATES.items():
            query = f"SELECT town, {aggregates} FROM '{path}' WHERE age >= 30 GROUP BY town"
            private = [program, "sql", query, *EPSILON, "--json", "--ledger", f"{folder}/{name}.ledger"]
            exact = [sys.executable, "-c", ASK, query]
            both = [(run(private), run(exact)) for _ in range(rounds)]
            results.append({"query": name, "equipoise": middle([one for one, _ in both]), "duckdb": middle([other for _, other in both])})
    if "--json" in flags:
        print(json.dumps({"rows": rows, "rounds": rounds, "unit": "seconds, megabytes", "queries": results}, indent=1))
        return
    print(f"{rows:,} rows of a Parquet file by 50 towns, WHERE age >= 30; the middle of {rounds} rounds.")
    print(f"{'':>10} {'Equipoise':>26} {'DuckDB, not private':>26} {'CPU':>7}")
    print(f"{'query':>10} {'seconds':>9} {'CPU':>8} {'MB':>7} {'seconds':>10} {'CPU':>8} {'MB':>6} {'ratio':>7}")
    for one in results:
        ours, theirs = one["equipoise"], one["duckdb"]
        print(
            f"{one['query']:>10} {ours['seconds']:>9.2f} {ours['cpu']:>8.2f} {ours['megabytes']:>7.0f}"
            f" {theirs['seconds']:>10.2f} {theirs['cpu']:>8.2f} {theirs['megabytes']:>6.0f} {ours['cpu'] / theirs['cpu']:>7.2f}"
        )


main()
