"""More and more rows through a bounded memory: one median of a Parquet file, by row and by person, and one for each of few or very
many groups.

Time should grow with the rows and memory should not. Each run is the whole command line, from its start to its receipt. People have
four rows each on average, in any order; a median for each of fifty towns is told, one for each person is not.

rows.py EQUIPOISE [--json] [--most N]
"""

import json
import os
import subprocess
import sys
import tempfile
import time

SIZES = [10**6, 10**7, 10**8]

MAKE = """
import sys, duckdb
path, rows = sys.argv[1:]
duckdb.sql("SET enable_progress_bar = false")
duckdb.sql(f'''COPY (SELECT
    round(45000 * exp(0.6 * sqrt(-2 * ln(1 - random())) * cos(6.283185307179586 * random())), 2) AS salary,
    CAST(floor({rows} / 4 * random()) AS BIGINT) AS person,
    'town ' || CAST(floor(50 * random()) AS BIGINT) AS town
FROM range({rows})) TO '{path}' (FORMAT parquet)''')
"""


GROUPS = ["--delta", "1e-12", "--group-by"]
RUNS = [("row", []), ("person", ["--unit", "person"]), ("town", [*GROUPS, "town"]), ("key", [*GROUPS, "person"])]


def run(command):
    """Seconds, CPU seconds and peak megabytes."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    printed = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    refused = 3
    if process.returncode not in (0, refused):
        sys.exit(f"{command[0]} failed: {printed}")
    seconds = time.monotonic() - begin
    return {"seconds": seconds, "cpu": usage.ru_utime + usage.ru_stime, "megabytes": usage.ru_maxrss / 1024}


def main():
    program, *flags = sys.argv[1:]
    most = int(flags[flags.index("--most") + 1]) if "--most" in flags else SIZES[-1]
    results = []
    for rows in [size for size in SIZES if size <= most]:
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/rows.parquet"
            # In a process of its own: a child begins with the peak of its parent.
            subprocess.run([sys.executable, "-c", MAKE, path, str(rows)], check=True)
            for by, words in RUNS:
                ledger = ["--ledger", f"{folder}/{by}.ledger"]
                command = [program, "median", path, "salary", "--epsilon", "1", "--json", *words, *ledger]
                results.append({"rows": rows, "by": by, **run(command)})
    if "--json" in flags:
        print(json.dumps({"unit": "seconds, megabytes", "runs": results}, indent=1))
        return
    print("One median of a Parquet file.")
    print(f"{'rows':>12} {'by':>7} {'seconds':>8} {'CPU':>8} {'CPU us a row':>13} {'peak MB':>8}")
    for run_ in results:
        each = run_["cpu"] / run_["rows"] * 1e6
        print(
            f"{run_['rows']:>12,} {run_['by']:>7} {run_['seconds']:>8.2f} {run_['cpu']:>8.2f} {each:>13.3f}"
            f" {run_['megabytes']:>8.0f}"
        )


main()
